//! The inventory under changes: it answers as if it had been built anew.

use drayman_api::{AllocationResult, Node, NodeSelector, Object, Resource, ResourceClaim, ResourceSlice};
use drayman_kernel::{Budget, Compatibility, Depth, Evaluation, Features, Inventory, Outcome};
use drayman_testkit::build::{
    DRIVER, claim, class, device, device_with, match_attribute, named, node, node_slice, request,
};
use proptest::collection::vec;
use proptest::prelude::*;

fn inventory() -> Inventory {
    let mut inventory = Inventory::new(Features::ALL, Compatibility::V1_37);
    inventory.apply_object(Object::DeviceClass(class()));
    inventory
}

fn one_gpu() -> ResourceClaim {
    claim("wanted", vec![request("gpu", 1)])
}

fn found(evaluation: &Evaluation, position: usize) -> Option<Vec<AllocationResult>> {
    match evaluation.outcome(position).expect("the node was asked for") {
        Outcome::Allocated(allocated) => Some(allocated.results(&mut |_: &ResourceClaim, _: usize| String::new())),
        Outcome::Unallocatable => None,
        Outcome::Failed(error) => unreachable!("the evaluation failed: {error}"),
    }
}

/// `node: device` for every node that has one for a claim, `node: -` for the others.
fn offers(inventory: &mut Inventory, claims: &[ResourceClaim]) -> Vec<String> {
    offers_on(inventory, claims, None)
}

fn offers_on(inventory: &mut Inventory, claims: &[ResourceClaim], nodes: Option<&[&str]>) -> Vec<String> {
    let evaluation = inventory.evaluate(claims, nodes, &mut Budget::unlimited());
    let offer = |(position, node): (usize, &str)| {
        let device = found(&evaluation, position).map(|results| results[0].devices.results[0].device.clone());
        format!("{node}: {}", device.as_deref().unwrap_or("-"))
    };
    evaluation.nodes().enumerate().map(offer).collect()
}

fn gpus(node: &str, count: usize) -> ResourceSlice {
    node_slice(node, (0..count).map(|index| device(&format!("gpu-{index}"))).collect())
}

/// A claim that holds what was found for it on a node.
fn allocated(inventory: &mut Inventory, name: &str, node: &str) -> ResourceClaim {
    let mut claim = claim(name, vec![request("gpu", 1)]);
    let evaluation = inventory.evaluate(&[claim.clone()], Some(&[node]), &mut Budget::unlimited());
    claim.status.allocation = found(&evaluation, 0).and_then(|results| results.into_iter().next());
    claim
}

#[test]
fn held_device_is_not_offered_until_its_claim_is_gone() {
    let mut inventory = inventory();
    inventory.apply_object(Object::ResourceSlice(gpus("worker-1", 2)));
    let holder = allocated(&mut inventory, "holder", "worker-1");
    let change = inventory.apply_object(Object::ResourceClaim(holder));
    assert!(!change.devices_freed && !change.capacity_added);
    assert_eq!(offers(&mut inventory, &[one_gpu()]), ["worker-1: gpu-1"]);
    assert_eq!(inventory.holders(&format!("{DRIVER}/worker-1/gpu-0").parse().expect("an ID")), ["default/holder"]);
    let change = inventory.remove("ResourceClaim", "default", "holder");
    assert!(change.devices_freed);
    assert_eq!(offers(&mut inventory, &[one_gpu()]), ["worker-1: gpu-0"]);
}

#[test]
fn device_in_flight_is_held_until_it_is_forgotten_or_written() {
    let mut inventory = inventory();
    inventory.apply_object(Object::ResourceSlice(gpus("worker-1", 2)));
    let mut holder = allocated(&mut inventory, "holder", "worker-1");
    let allocation = holder.status.allocation.take().expect("it was allocated");
    inventory.assume("default/holder", &allocation);
    // A claim that does not say anything yet does not end it.
    inventory.apply_object(Object::ResourceClaim(holder.clone()));
    assert_eq!(offers(&mut inventory, &[one_gpu()]), ["worker-1: gpu-1"]);
    assert!(inventory.forget("default/holder"));
    assert_eq!(offers(&mut inventory, &[one_gpu()]), ["worker-1: gpu-0"]);
    inventory.assume("default/holder", &allocation);
    holder.status.allocation = Some(allocation);
    inventory.apply_object(Object::ResourceClaim(holder));
    assert!(!inventory.forget("default/holder"), "the claim itself holds the device now");
    assert_eq!(offers(&mut inventory, &[one_gpu()]), ["worker-1: gpu-1"]);
}

#[test]
fn pool_is_used_only_when_all_its_slices_are_there() {
    let mut inventory = inventory();
    let mut slice = gpus("worker-1", 1);
    slice.spec.pool.resource_slice_count = 2;
    inventory.apply_object(Object::ResourceSlice(slice.clone()));
    assert_eq!(offers(&mut inventory, &[one_gpu()]), ["worker-1: -"]);
    slice.metadata = named("worker-1-more");
    slice.spec.devices = vec![device("gpu-9")];
    assert!(inventory.apply_object(Object::ResourceSlice(slice)).capacity_added);
    // Slices are tried by name: `worker-1-more` comes first.
    assert_eq!(offers(&mut inventory, &[one_gpu()]), ["worker-1: gpu-9"]);
}

#[test]
fn newer_generation_replaces_the_older_one() {
    let mut inventory = inventory();
    inventory.apply_object(Object::ResourceSlice(gpus("worker-1", 1)));
    let mut newer = gpus("worker-1", 0);
    newer.metadata = named("worker-1-newer");
    newer.spec.pool.generation = 2;
    newer.spec.devices = vec![device("gpu-new")];
    inventory.apply_object(Object::ResourceSlice(newer));
    assert_eq!(offers(&mut inventory, &[one_gpu()]), ["worker-1: gpu-new"]);
    inventory.remove("ResourceSlice", "", "worker-1-newer");
    assert_eq!(offers(&mut inventory, &[one_gpu()]), ["worker-1: gpu-0"]);
}

#[test]
fn unchanged_slice_adds_no_capacity() {
    let mut inventory = inventory();
    assert!(inventory.apply_object(Object::ResourceSlice(gpus("worker-1", 1))).capacity_added);
    assert!(!inventory.apply_object(Object::ResourceSlice(gpus("worker-1", 1))).capacity_added);
}

#[test]
fn node_without_object_is_known_while_a_slice_names_it() {
    let mut inventory = inventory();
    inventory.apply_object(Object::ResourceSlice(gpus("worker-1", 1)));
    assert_eq!(inventory.node_names(), ["worker-1"]);
    inventory.apply_object(Object::Node(node("worker-2")));
    assert_eq!(inventory.node_names(), ["worker-1", "worker-2"]);
    inventory.remove("ResourceSlice", "", "worker-1-slice");
    assert_eq!(inventory.node_names(), ["worker-2"]);
}

#[test]
fn rule_taints_a_device_while_it_is_there() {
    let mut inventory = inventory();
    inventory.apply_object(Object::ResourceSlice(gpus("worker-1", 2)));
    let rule = br#"{"apiVersion": "resource.k8s.io/v1", "kind": "DeviceTaintRule", "metadata": {"name": "faulty"}, "spec": {
        "deviceSelector": {"pool": "worker-1", "device": "gpu-0"}, "taint": {"key": "faulty", "effect": "NoSchedule"}}}"#;
    assert!(inventory.apply(rule).expect("a rule").capacity_added);
    assert_eq!(offers(&mut inventory, &[one_gpu()]), ["worker-1: gpu-1"]);
    // Slices that come later are tainted, too.
    inventory.apply_object(Object::ResourceSlice(gpus("worker-1", 1)));
    assert_eq!(offers(&mut inventory, &[one_gpu()]), ["worker-1: -"]);
    assert!(inventory.remove("DeviceTaintRule", "", "faulty").capacity_added);
    assert_eq!(offers(&mut inventory, &[one_gpu()]), ["worker-1: gpu-0"]);
}

#[test]
fn share_of_a_device_leaves_the_rest_of_it() {
    let mut inventory = inventory();
    let mut slice = gpus("worker-1", 1);
    slice.spec.devices[0].allow_multiple_allocations = Some(true);
    let capacity = |text: &str| serde_json::from_value(serde_json::json!({"value": text})).expect("a capacity");
    slice.spec.devices[0].capacity.insert("memory".to_owned(), capacity("80Gi"));
    inventory.apply_object(Object::ResourceSlice(slice));
    let wanted = |name: &str, amount: &str| {
        let mut wanted = one_gpu();
        wanted.metadata.name = name.to_owned();
        let request = serde_json::json!({"name": "gpu", "exactly": {
            "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1, "capacity": {"requests": {"memory": amount}}}});
        wanted.spec.devices.requests = vec![serde_json::from_value(request).expect("a request")];
        wanted
    };
    let mut holder = wanted("holder", "60Gi");
    let evaluation = inventory.evaluate(&[holder.clone()], None, &mut Budget::unlimited());
    holder.status.allocation = found(&evaluation, 0).and_then(|results| results.into_iter().next());
    inventory.apply_object(Object::ResourceClaim(holder));
    assert_eq!(offers(&mut inventory, &[wanted("small", "20Gi")]), ["worker-1: gpu-0"]);
    assert_eq!(offers(&mut inventory, &[wanted("large", "21Gi")]), ["worker-1: -"]);
    assert!(inventory.remove("ResourceClaim", "default", "holder").devices_freed);
    assert_eq!(offers(&mut inventory, &[wanted("large", "21Gi")]), ["worker-1: gpu-0"]);
}

#[test]
fn object_that_cannot_be_decoded_changes_nothing() {
    let mut inventory = inventory();
    inventory.apply_object(Object::ResourceSlice(gpus("worker-1", 1)));
    let broken = br#"{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "worker-1-slice"}, "spec": {"devices": 3}}"#;
    let error = inventory.apply(broken).expect_err("devices are not a number");
    assert_eq!(
        error.to_string(),
        "ResourceSlice worker-1-slice: spec.devices: invalid type: integer `3`, expected a sequence"
    );
    assert_eq!(offers(&mut inventory, &[one_gpu()]), ["worker-1: gpu-0"]);
}

/// One change of a small cluster.
#[derive(Clone, Debug)]
enum Operation {
    Slice(ResourceSlice),
    RemoveSlice(String),
    Node(Node),
    RemoveNode(String),
    Hold(String, String),
    Release(String),
}

const NODES: [&str; 3] = ["worker-0", "worker-1", "worker-2"];

fn operation() -> impl Strategy<Value = Operation> {
    let name = (0..5usize).prop_map(|index| format!("slice-{index}"));
    let node_name = prop::sample::select(&NODES[..]).prop_map(str::to_owned);
    let claim_name = (0..2usize).prop_map(|index| format!("default/holder-{index}"));
    prop_oneof![
        6 => slice().prop_map(Operation::Slice),
        2 => name.prop_map(Operation::RemoveSlice),
        3 => (node_name.clone(), 0..3u8).prop_map(|(name, zone)| {
            let mut node = node(&name);
            node.metadata.labels.insert("zone".to_owned(), zone.to_string());
            Operation::Node(node)
        }),
        1 => node_name.prop_map(Operation::RemoveNode),
        2 => (claim_name.clone(), (0..2usize).prop_map(|pool| format!("pool-{pool}"))).prop_map(|(name, pool)| Operation::Hold(name, pool)),
        1 => claim_name.prop_map(Operation::Release),
    ]
}

fn slice() -> impl Strategy<Value = ResourceSlice> {
    (0..5usize, 0..2usize, 1..3i64, 1..3i64, 0..3usize, 0..5usize).prop_map(
        |(index, pool, generation, count, devices, placement)| {
            let mut slice = gpus("worker-0", 0);
            slice.metadata = named(&format!("slice-{index}"));
            slice.spec.pool.name = format!("pool-{pool}");
            slice.spec.pool.generation = generation;
            slice.spec.pool.resource_slice_count = count;
            slice.spec.devices =
                (0..devices).map(|device_index| device(&format!("gpu-{index}-{device_index}"))).collect();
            slice.spec.node_name = NODES.get(placement).map(|node| (*node).to_owned());
            slice.spec.all_nodes = (placement == 3).then_some(true);
            slice.spec.node_selector = (placement == 4).then(|| zone_selector(&generation.to_string()));
            slice
        },
    )
}

fn zone_selector(zone: &str) -> NodeSelector {
    let requirement = serde_json::json!({"key": "zone", "operator": "In", "values": [zone]});
    serde_json::from_value(serde_json::json!({"nodeSelectorTerms": [{"matchExpressions": [requirement]}]}))
        .expect("a node selector")
}

/// All objects of a small cluster, slices in the order of their arrival.
#[derive(Clone, Debug, Default)]
struct Objects {
    slices: Vec<ResourceSlice>,
    nodes: Vec<Node>,
    holders: Vec<ResourceClaim>,
}

impl Objects {
    /// Makes a change here and in an inventory.
    fn change(&mut self, operation: Operation, inventory: &mut Inventory) {
        match operation {
            Operation::Slice(slice) => {
                replace(&mut self.slices, slice.clone(), |slice| slice.metadata.name.clone());
                inventory.apply_object(Object::ResourceSlice(slice));
            }
            Operation::RemoveSlice(name) => {
                self.slices.retain(|slice| slice.metadata.name != name);
                inventory.remove("ResourceSlice", "", &name);
            }
            Operation::Node(node) => {
                replace(&mut self.nodes, node.clone(), |node| node.metadata.name.clone());
                inventory.apply_object(Object::Node(node));
            }
            Operation::RemoveNode(name) => {
                self.nodes.retain(|node| node.metadata.name != name);
                inventory.remove("Node", "", &name);
            }
            Operation::Hold(name, pool) => {
                let holder = holder(&name, &pool);
                replace(&mut self.holders, holder.clone(), |claim| claim.metadata.key());
                inventory.apply_object(Object::ResourceClaim(holder));
            }
            Operation::Release(name) => {
                self.holders.retain(|claim| claim.metadata.key() != name);
                inventory.remove("ResourceClaim", "default", name.trim_start_matches("default/"));
            }
        }
    }

    fn inventory(&self) -> Inventory {
        let mut inventory = inventory();
        let slices = self.slices.iter().cloned().map(Object::ResourceSlice);
        let nodes = self.nodes.iter().cloned().map(Object::Node);
        let holders = self.holders.iter().cloned().map(Object::ResourceClaim);
        for object in slices.chain(nodes).chain(holders) {
            inventory.apply_object(object);
        }
        inventory
    }
}

fn replace<T>(list: &mut Vec<T>, object: T, key: impl Fn(&T) -> String) {
    match list.iter_mut().find(|known| key(known) == key(&object)) {
        Some(known) => *known = object,
        None => list.push(object),
    }
}

/// A claim that holds the first device of every slice of a pool.
fn holder(key: &str, pool: &str) -> ResourceClaim {
    let mut holder = claim(key.trim_start_matches("default/"), Vec::new());
    let result = |index: usize| drayman_api::DeviceRequestAllocationResult {
        request: "gpu".to_owned(),
        driver: DRIVER.to_owned(),
        pool: pool.to_owned(),
        device: format!("gpu-{index}-0"),
        ..Default::default()
    };
    let mut allocation = AllocationResult::default();
    allocation.devices.results = (0..5).map(result).collect();
    holder.status.allocation = Some(allocation);
    holder
}

/// Objects that use every part of the API, as one list.
fn valid_objects() -> serde_json::Value {
    serde_json::json!([
        {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"},
         "spec": {"selectors": [{"cel": {"expression": "device.driver == 'gpu.example.com'"}}], "config": [{"opaque": {"driver": "d", "parameters": {}}}]}},
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "worker-1", "labels": {"zone": "a"}}},
        {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "devices"}, "spec": {
            "driver": "gpu.example.com", "pool": {"name": "pool", "generation": 1, "resourceSliceCount": 2},
            "nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]},
            "devices": [
                {"name": "gpu-0", "attributes": {"index": {"int": 0}, "firmware": {"version": "1.0.0"}}, "allowMultipleAllocations": true,
                 "capacity": {"memory": {"value": "80Gi", "requestPolicy": {"default": "1Gi", "validRange": {"min": "1Gi", "max": "40Gi", "step": "1Gi"}}}}},
                {"name": "gpu-1", "attributes": {"index": {"int": 0}}, "taints": [{"key": "k", "effect": "NoSchedule"}],
                 "consumesCounters": [{"counterSet": "set", "counters": {"slices": {"value": "1"}}, "compatibilityGroups": ["g"]}]}]}},
        {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "counters"}, "spec": {
            "driver": "gpu.example.com", "pool": {"name": "pool", "generation": 1, "resourceSliceCount": 2}, "allNodes": true,
            "sharedCounters": [{"name": "set", "counters": {"slices": {"value": "7"}}}]}},
        {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceTaintRule", "metadata": {"name": "rule"},
         "spec": {"deviceSelector": {"pool": "pool"}, "taint": {"key": "r", "effect": "None"}}},
        {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"namespace": "default", "name": "holder"},
         "status": {"allocation": {"devices": {"results": [{"request": "r", "driver": "gpu.example.com", "pool": "pool", "device": "gpu-0",
             "shareID": "s", "consumedCapacity": {"memory": "8Gi"}}]}}}},
        {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"namespace": "default", "name": "claim"}, "spec": {"devices": {
            "requests": [
                {"name": "one", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1,
                    "selectors": [{"cel": {"expression": "device.attributes['gpu.example.com'].index >= 0"}}],
                    "tolerations": [{"key": "k", "operator": "Exists"}], "capacity": {"requests": {"memory": "2Gi"}},
                    "derivedAttributes": [{"name": "gpu.example.com/twice", "expression": "device.attributes['gpu.example.com'].index * 2"}]}},
                {"name": "two", "firstAvailable": [{"name": "all", "deviceClassName": "gpu", "allocationMode": "All"},
                    {"name": "three", "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 3}]}],
            "constraints": [{"matchAttribute": "gpu.example.com/index"}, {"requests": ["one"], "distinctAttribute": "gpu.example.com/twice"}],
            "config": [{"requests": ["one"], "opaque": {"driver": "d", "parameters": {}}}]}}}
    ])
}

/// Values that stand where they are not expected.
fn odd() -> impl Strategy<Value = serde_json::Value> {
    let nested = (0..100).fold(serde_json::Value::Null, |inner, _| serde_json::json!([inner]));
    prop::sample::select(vec![
        serde_json::json!(null),
        serde_json::json!(true),
        serde_json::json!(-1),
        serde_json::json!(i64::MAX),
        serde_json::json!(u64::MAX),
        serde_json::json!(1.5),
        serde_json::json!(""),
        serde_json::json!("x".repeat(5000)),
        serde_json::json!("1e999999999"),
        serde_json::json!("-9223372036854775809"),
        serde_json::json!("a/b/c"),
        serde_json::json!("All"),
        serde_json::json!("Some"),
        serde_json::json!("[1].map(x, [x, x])"),
        serde_json::json!("(".repeat(300)),
        serde_json::json!([]),
        serde_json::json!({}),
        serde_json::json!({"": {}}),
        serde_json::json!([[], {}, null]),
        nested,
    ])
}

/// Puts an odd value in one of all places.
fn mutate(objects: &mut serde_json::Value, index: prop::sample::Index, odd: serde_json::Value) {
    let mut places = Vec::new();
    let mut open = vec![(String::new(), &*objects)];
    while let Some((path, value)) = open.pop() {
        let escaped = |name: &String| name.replace('~', "~0").replace('/', "~1");
        match value {
            serde_json::Value::Object(members) => {
                open.extend(members.iter().map(|(name, value)| (format!("{path}/{}", escaped(name)), value)));
            }
            serde_json::Value::Array(items) => {
                open.extend(items.iter().enumerate().map(|(index, value)| (format!("{path}/{index}"), value)));
            }
            _ => {}
        }
        places.push(path);
    }
    if let Some(place) = objects.pointer_mut(&places[index.index(places.len())]) {
        *place = odd;
    }
}

#[test]
fn nodes_that_offer_the_same_are_searched_once() {
    let mut inventory = inventory();
    for node in 0..1000 {
        let of_uuid = |index: usize| device_with(&format!("gpu-{index}"), &[("uuid", &format!("{node}-{index}"))]);
        inventory.apply_object(Object::ResourceSlice(node_slice(
            &format!("worker-{node:03}"),
            (0..8).map(of_uuid).collect(),
        )));
    }
    let wanted = [claim("wanted", vec![request("gpu", 2)])];
    let evaluation = inventory.evaluate(&wanted, None, &mut Budget::unlimited());
    assert_eq!((evaluation.len(), evaluation.steps, evaluation.selector_evaluations), (1000, 6, 1));
    assert!((0..1000).all(|position| evaluation.fits(position)));
    // A node of which more is held is searched by itself.
    let holder = allocated(&mut inventory, "holder", "worker-007");
    inventory.apply_object(Object::ResourceClaim(holder));
    assert_eq!(inventory.evaluate(&wanted, None, &mut Budget::unlimited()).steps, 12);
    // So are nodes that a constraint tells apart.
    let mut alike = wanted[0].clone();
    alike.spec.devices.constraints = vec![match_attribute(&format!("{DRIVER}/uuid"))];
    let evaluation = inventory.evaluate(&[alike], None, &mut Budget::unlimited());
    assert!(evaluation.steps >= 1000 && !evaluation.fits(0));
}

#[test]
fn outcomes_are_those_of_the_time_of_the_evaluation() {
    let mut inventory = inventory();
    inventory.apply_object(Object::ResourceSlice(gpus("worker-1", 2)));
    let evaluation = inventory.evaluate(&[one_gpu()], None, &mut Budget::unlimited());
    inventory.remove("ResourceSlice", "", "worker-1-slice");
    inventory.apply_object(Object::ResourceSlice(gpus("worker-0", 1)));
    offers(&mut inventory, &[one_gpu()]);
    assert_eq!(evaluation.nodes().collect::<Vec<_>>(), ["worker-1"]);
    let results = found(&evaluation, 0).expect("it fitted");
    assert_eq!((&*results[0].devices.results[0].pool, &*results[0].devices.results[0].device), ("worker-1", "gpu-0"));
}

#[test]
fn what_is_not_used_of_a_slice_is_said() {
    let mut inventory = Inventory::new(Features::NONE, Compatibility::V1_37);
    let slice = br#"{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s"}, "spec": {"driver": "d",
        "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}, "somewhereElse": "moon", "devices": [{"name": "a",
        "attributes": {"color": {"rgb": "fff"}}, "taints": [{"key": "k", "effect": "Explode"}]}]}}"#;
    let partitions = br#"{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "t"}, "spec": {"driver": "d",
        "pool": {"name": "q", "generation": 1, "resourceSliceCount": 1}, "perDeviceNodeSelection": true, "devices": []}}"#;
    inventory.apply(slice).expect("a slice");
    inventory.apply(partitions).expect("a slice");
    let remarks = inventory.remarks();
    let said: Vec<_> =
        remarks.iter().map(|remark| format!("{} {}: {}", remark.pool, remark.slice, remark.message)).collect();
    assert_eq!(
        said,
        [
            "d/p s: the slice is passed over: it says in no known way which nodes it serves",
            "d/p s: device a, attribute color: the value is of no known type",
            "d/p s: device a, taint k: the effect `Explode` is not known, so it has none",
            "d/q t: the slice is passed over: it needs the feature gate DRAPartitionableDevices",
        ]
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changed_inventory_answers_like_a_new_one(operations in vec(operation(), 1..25)) {
        let (mut changed, mut objects) = (inventory(), Objects::default());
        for operation in operations {
            objects.change(operation, &mut changed);
            let mut anew = objects.inventory();
            let claims = [claim("wanted", vec![request("gpu", 2)])];
            let found = offers(&mut changed, &claims);
            prop_assert_eq!(&found, &offers(&mut anew, &claims));
            // Nodes that offer the same are searched once; each by itself has the same answer.
            let alone = anew.node_names().into_iter().map(|node| offers_on(&mut anew, &claims, Some(&[&node]))[0].clone());
            prop_assert_eq!(found, alone.collect::<Vec<_>>());
        }
    }

    #[test]
    fn mutated_objects_end_in_an_outcome_or_an_error(mutations in vec((any::<prop::sample::Index>(), odd()), 1..4), fixed in any::<bool>()) {
        let mut objects = valid_objects();
        for (index, odd) in mutations {
            mutate(&mut objects, index, odd);
        }
        let compatibility = if fixed { Compatibility::Fixed } else { Compatibility::V1_37 };
        let mut inventory = Inventory::new(Features::ALL, compatibility);
        let objects: Vec<_> = objects.as_array().into_iter().flatten().map(serde_json::Value::to_string).collect();
        for object in &objects {
            if let Err(error) = inventory.apply(object.as_bytes()) {
                prop_assert!(!error.to_string().is_empty());
            }
        }
        inventory.remarks();
        if let Some(Ok(claim)) = objects.last().map(|claim| ResourceClaim::from_json(claim.as_bytes())) {
            let evaluation = inventory.evaluate(std::slice::from_ref(&claim), None, &mut Budget::unlimited().with_steps(10_000));
            for (position, node) in evaluation.nodes().enumerate() {
                if let Some(Outcome::Allocated(allocated)) = evaluation.outcome(position) {
                    allocated.results(&mut |_: &ResourceClaim, _: usize| String::new());
                } else {
                    inventory.explain(std::slice::from_ref(&claim), &[node], Depth::All);
                }
            }
        }
    }

    #[test]
    fn bytes_never_panic(bytes in vec(any::<u8>(), 0..200)) {
        let mut inventory = inventory();
        prop_assert!(inventory.apply(&bytes).is_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn thousands_of_changes_that_end_where_they_began_leave_nothing_behind(operations in vec(operation(), 40..60)) {
        let (mut inventory, mut objects) = (inventory(), Objects::default());
        let mut round = |inventory: &mut Inventory, times: usize| {
            for _ in 0..times {
                for operation in &operations {
                    objects.change(operation.clone(), inventory);
                    offers(inventory, &[one_gpu()]);
                }
                // All slices, nodes and claims go.
                for index in 0..5 {
                    inventory.remove("ResourceSlice", "", &format!("slice-{index}"));
                    inventory.remove("ResourceClaim", "default", &format!("holder-{index}"));
                }
                for node in NODES {
                    inventory.remove("Node", "", node);
                }
                offers(inventory, &[one_gpu()]);
            }
            // Everything that is kept shows in its text.
            format!("{inventory:?}").len()
        };
        let before = round(&mut inventory, 5);
        let after = round(&mut inventory, 100);
        // Caches have room for some more; a few bytes a change would be seen.
        prop_assert!(after < before + 50_000, "{before} bytes of text became {after}");
    }
}
