//! Small clusters that claims do not fit on.

use drayman_api::{Object, ResourceClaim};
use drayman_kernel::{Compatibility, Depth, Explanation, Features, Inventory};
use serde_json::{Value, json};

pub(crate) const NODE: &str = "n1";

/// Objects that stand beside a node `n1`, and the claims `default/c…` among them that are asked about.
pub(crate) struct Case {
    pub(crate) objects: Vec<Value>,
    pub(crate) features: Features,
}

impl Case {
    /// A slice of `n1` with devices, a class for them, and a claim.
    pub(crate) fn new(devices: Value, devices_of_claim: Value) -> Self {
        Self { objects: vec![class(), slice("n1", devices), claim("c", devices_of_claim)], features: Features::ALL }
    }

    pub(crate) fn with(mut self, object: Value) -> Self {
        self.objects.push(object);
        self
    }

    pub(crate) fn without(mut self, gate: &str) -> Self {
        let gates = ALL_GATES.iter().copied().filter(|other| *other != gate);
        self.features = Features::from_gates(gates);
        self
    }

    pub(crate) fn explain(&self) -> Explanation {
        self.explain_on(&[NODE])
    }

    pub(crate) fn explain_on(&self, nodes: &[&str]) -> Explanation {
        let mut inventory = Inventory::new(self.features, Compatibility::V1_37);
        let mut claims: Vec<ResourceClaim> = Vec::new();
        for object in &self.objects {
            let object = Object::from_json(object.to_string().as_bytes()).expect("an object");
            match &object {
                Object::ResourceClaim(claim) if claim.status.allocation.is_none() => {
                    let mut claim = claim.clone();
                    claim.spec.set_defaults();
                    claims.push(claim);
                }
                _ => {
                    inventory.apply_object(object);
                }
            }
        }
        inventory.explain(&claims, nodes, Depth::All)
    }

    /// Checks the tree, and that the code is among the facts.
    #[track_caller]
    pub(crate) fn tells(&self, code: &str, tree: &str) {
        let explanation = self.explain();
        assert_eq!(explanation.tree(), tree.trim());
        let json = explanation.json().to_string();
        assert!(json.contains(&format!("\"code\":\"{code}\"")), "{code}: {json}");
    }
}

pub(crate) const ALL_GATES: [&str; 13] = [
    "DRAAdminAccess",
    "DRAConsumableCapacity",
    "DRADerivedAttributes",
    "DRADeviceBindingConditions",
    "DRADeviceCompatibilityGroups",
    "DRADeviceTaintRules",
    "DRADeviceTaints",
    "DRAFractionalCapacityRange",
    "DRAListTypeAttributes",
    "DRAOptionalNodeOperations",
    "DRAPartitionableDevices",
    "DRAPrioritizedList",
    "DRAResourceClaimDeviceStatus",
];

pub(crate) fn object(kind: &str, name: &str, rest: Value) -> Value {
    let version = if kind == "Node" { "v1" } else { "resource.k8s.io/v1" };
    let mut object = json!({"apiVersion": version, "kind": kind, "metadata": {"name": name}});
    for (name, value) in rest.as_object().expect("members") {
        object[name] = value.clone();
    }
    object
}

pub(crate) fn class() -> Value {
    let selectors = json!([{"cel": {"expression": "device.driver == \"gpu.example.com\""}}]);
    object("DeviceClass", "gpu", json!({"spec": {"selectors": selectors}}))
}

pub(crate) fn slice(pool: &str, devices: Value) -> Value {
    let pool_of_slice = json!({"name": pool, "generation": 5, "resourceSliceCount": 1});
    let spec = json!({"driver": "gpu.example.com", "nodeName": NODE, "pool": pool_of_slice, "devices": devices});
    object("ResourceSlice", pool, json!({"spec": spec}))
}

pub(crate) fn counters(pool: &str, sets: Value) -> Value {
    let mut counters = slice(pool, json!([]));
    counters["metadata"]["name"] = json!(format!("{pool}-counters"));
    counters["spec"]["pool"]["resourceSliceCount"] = json!(2);
    counters["spec"].as_object_mut().expect("a spec").remove("devices");
    counters["spec"]["sharedCounters"] = sets;
    counters
}

pub(crate) fn claim(name: &str, devices: Value) -> Value {
    let mut claim = object("ResourceClaim", name, json!({"spec": {"devices": devices}}));
    claim["metadata"]["namespace"] = json!("default");
    claim
}

/// A claim that holds devices of pool `n1` for a pod.
pub(crate) fn holding(name: &str, devices: &[&str]) -> Value {
    let results = devices
        .iter()
        .map(|device| json!({"request": "r", "driver": "gpu.example.com", "pool": "n1", "device": device}));
    let mut claim = claim(name, requests(json!({})));
    claim["status"] = json!({
        "allocation": {"devices": {"results": results.collect::<Vec<_>>()}},
        "reservedFor": [{"resource": "pods", "name": format!("pod-{name}"), "uid": "1"}],
    });
    claim
}

/// One request `r` of class `gpu`.
pub(crate) fn requests(more: Value) -> Value {
    let mut exactly = json!({"deviceClassName": "gpu"});
    for (name, value) in more.as_object().expect("members") {
        exactly[name] = value.clone();
    }
    json!({"requests": [{"name": "r", "exactly": exactly}]})
}

pub(crate) fn selecting(expression: &str) -> Value {
    requests(json!({"selectors": [{"cel": {"expression": expression}}]}))
}

pub(crate) fn gpus(count: usize) -> Value {
    (0..count).map(|index| json!({"name": format!("gpu-{index}")})).collect()
}

pub(crate) fn gpu(name: &str, more: Value) -> Value {
    let mut device = json!({"name": name});
    for (name, value) in more.as_object().expect("members") {
        device[name] = value.clone();
    }
    device
}
