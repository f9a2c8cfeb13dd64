//! One small case for each code of a fact, with the whole tree that is told.

use drayman_kernel::{Feature, Features};
use serde_json::{Value, json};

use crate::case::{ALL_GATES, Case, claim, class, counters, gpu, gpus, holding, requests, selecting, slice};

const MEMORY: &str = r#"device.capacity["gpu.example.com"].memory.compareTo(quantity("80Gi")) >= 0"#;

#[test]
fn no_pool() {
    let case = Case { objects: vec![class(), claim("c", requests(json!({})))], features: Features::ALL };
    case.tells(
        "no-pool",
        "
no allocation on node `n1`
├─ the node has no devices
└─ claim `default/c`, request `r` needs 1 device of class `gpu`, 0 of 0 can be used
",
    );
}

#[test]
fn pool_incomplete() {
    let mut first = slice("n1", gpus(1));
    first["spec"]["pool"]["resourceSliceCount"] = json!(3);
    let mut second = slice("n1", json!([{"name": "gpu-9"}]));
    second["metadata"]["name"] = json!("n1-second");
    second["spec"]["pool"]["resourceSliceCount"] = json!(3);
    let objects = vec![class(), first, second, claim("c", requests(json!({})))];
    Case { objects, features: Features::ALL }.tells(
        "pool-incomplete",
        "
no allocation on node `n1`
├─ 2 devices: pool `gpu.example.com/n1` is incomplete or being updated: 2 of 3 slices of generation
│     5 are there
├─ claim `default/c`, request `r` needs 1 device of class `gpu`, 0 of 2 can be used
└─ hint: this makes it fit:
   └─ complete pool `gpu.example.com/n1`: 2 of 3 slices of generation 5 are there, and they suffice
",
    );
}

#[test]
fn pool_invalid() {
    Case::new(json!([{"name": "gpu-0"}, {"name": "gpu-0"}]), requests(json!({}))).tells(
        "pool-invalid",
        "
no allocation on node `n1`
├─ invalid resource pools were encountered
├─ 2 devices: pool `gpu.example.com/n1` is invalid: duplicate device name gpu-0
└─ claim `default/c`, request `r` needs 1 device of class `gpu`, 0 of 2 can be used
",
    );
}

#[test]
fn device_held() {
    let case = Case::new(gpus(3), requests(json!({"count": 2})));
    case.with(holding("a", &["gpu-0"])).with(holding("b", &["gpu-2"])).tells(
        "device-held",
        "
no allocation on node `n1`
├─ claim `default/c`, request `r` needs 2 devices of class `gpu`, 1 of 3 can be used
│  └─ 2 devices: in use (gpu.example.com/n1/gpu-0, gpu-2)
│     ├─ 1 device held by claim `default/a` (pod `pod-a`)
│     └─ 1 device held by claim `default/b` (pod `pod-b`)
└─ hint: each of these alone makes it fit:
   ├─ move pod `default/pod-a` (claim `default/a`) elsewhere
   ├─ move pod `default/pod-b` (claim `default/b`) elsewhere
   └─ ask for at most 1 device in request `r` of claim `default/c`
",
    );
}

#[test]
fn selector_false() {
    let memory =
        |value: &str| json!({"capacity": {"memory": {"value": value}}, "attributes": {"model": {"string": "a100"}}});
    let devices = json!([gpu("gpu-0", memory("40Gi")), gpu("gpu-1", memory("40Gi")), gpu("gpu-2", memory("16Gi"))]);
    let case =
        Case::new(devices, selecting(&format!(r#"device.attributes["gpu.example.com"].model == "a100" && {MEMORY}"#)));
    case.tells(
        "selector-false",
        r#"
no allocation on node `n1`
├─ claim `default/c`, request `r` needs 1 device of class `gpu`, 0 of 3 can be used
│  └─ 3 devices: selector #0 of the request is false (gpu.example.com/n1/gpu-0, gpu-1, gpu-2)
│     └─ `device.capacity["gpu.example.com"].memory.compareTo(quantity("80Gi")) >= 0`: memory is
│           40Gi on 2 devices, memory is 16Gi on 1 device
└─ hint: each of these alone makes it fit:
   ├─ accept `memory` 40Gi instead of 80Gi in selector #0 of request `r` of claim `default/c`
   ├─ accept `memory` 16Gi instead of 80Gi in selector #0 of request `r` of claim `default/c`
   └─ do not ask for `device.capacity["gpu.example.com"].memory.compareTo(quantity("80Gi")) >= 0` in
         selector #0 of request `r` of claim `default/c`
"#,
    );
}

#[test]
fn nearest_device_is_marked() {
    let device = |name: &str, model: &str| {
        gpu(name, json!({"capacity": {"memory": {"value": "40Gi"}}, "attributes": {"model": {"string": model}}}))
    };
    let devices = json!([device("gpu-0", "t4"), device("gpu-1", "a100")]);
    let case =
        Case::new(devices, selecting(&format!(r#"device.attributes["gpu.example.com"].model == "a100" && {MEMORY}"#)));
    case.tells(
        "selector-false",
        r#"
no allocation on node `n1`
├─ claim `default/c`, request `r` needs 1 device of class `gpu`, 0 of 2 can be used
│  ├─ 1 device: selector #0 of the request is false (gpu.example.com/n1/gpu-0)
│  │  ├─ `device.attributes["gpu.example.com"].model == "a100"`: model is "t4"
│  │  └─ `device.capacity["gpu.example.com"].memory.compareTo(quantity("80Gi")) >= 0`: memory is
│  │        40Gi
│  └─ 1 device: selector #0 of the request is false (gpu.example.com/n1/gpu-1, nearest to fitting)
│     └─ `device.capacity["gpu.example.com"].memory.compareTo(quantity("80Gi")) >= 0`: memory is
│           40Gi
└─ hint: each of these alone makes it fit:
   ├─ accept `memory` 40Gi instead of 80Gi in selector #0 of request `r` of claim `default/c`
   ├─ accept `model` "t4" instead of "a100" and `memory` 40Gi instead of 80Gi in selector #0 of
   │     request `r` of claim `default/c`
   └─ do not ask for `device.capacity["gpu.example.com"].memory.compareTo(quantity("80Gi")) >= 0` in
         selector #0 of request `r` of claim `default/c`
"#,
    );
}

#[test]
fn class_selector_false() {
    let mut slice = slice("n1", json!([{"name": "nic-0"}]));
    slice["spec"]["driver"] = json!("nic.example.com");
    let objects = vec![class(), slice, claim("c", requests(json!({})))];
    Case { objects, features: Features::ALL }.tells(
        "class-selector-false",
        r#"
no allocation on node `n1`
└─ claim `default/c`, request `r` needs 1 device of class `gpu`, 0 of 1 can be used
   └─ 1 device: selector #0 of class `gpu` is false (nic.example.com/n1/nic-0)
      └─ `device.driver == "gpu.example.com"`: driver is "nic.example.com"
"#,
    );
}

#[test]
fn selector_failed() {
    let rack = json!({"attributes": {"rack": {"string": "r7"}}});
    let devices = json!([gpu("gpu-0", json!({})), gpu("gpu-1", rack)]);
    Case::new(devices, selecting(r#"device.attributes["gpu.example.com"].rack == "r7""#)).tells(
        "selector-failed",
        r#"
no allocation on node `n1`
├─ claim default/c: selector #0 on device gpu.example.com/n1/gpu-0: CEL runtime error: no such key:
│  │  rack. consider using CEL optional chaining (.? followed by orValue()) or guarding the check
│  │  with has() for optional fields
│  └─ write it as `device.attributes["gpu.example.com"].?rack.orValue("") == "r7"`
├─ claim `default/c`, request `r` needs 1 device of class `gpu`, 1 of 2 can be used
│  └─ 1 device: selector #0 of the request fails: no such key: rack (gpu.example.com/n1/gpu-0)
└─ hint: this makes it fit:
   └─ write selector #0 of request `r` of claim `default/c` as
         `device.attributes["gpu.example.com"].?rack.orValue("") == "r7"`
"#,
    );
}

#[test]
fn selector_invalid() {
    Case::new(gpus(1), selecting("device.vendor == 1")).tells(
        "selector-invalid",
        "
no allocation on node `n1`
├─ claim default/c: selector #0: CEL compile error: compilation failed: ERROR: <input>:1:7:
│     undefined field 'vendor'
└─ claim `default/c`, request `r` needs 1 device of class `gpu`, 0 of 1 can be used
   └─ 1 device: selector #0 of the request does not compile: undefined field 'vendor'
         (gpu.example.com/n1/gpu-0)
",
    );
}

#[test]
fn derived_attribute_failed() {
    let derived = json!({
        "derivedAttributes": [{"name": "gpu.example.com/half", "expression": "1 / 0"}],
    });
    let mut devices = requests(derived);
    devices["constraints"] = json!([{"matchAttribute": "gpu.example.com/half"}]);
    Case::new(gpus(1), devices).tells(
        "derived-attribute-failed",
        "
no allocation on node `n1`
├─ evaluate derived attribute gpu.example.com/half on device gpu.example.com/n1/gpu-0 failed:
│     division by zero
└─ claim `default/c`, request `r` needs 1 device of class `gpu`, 0 of 1 can be used
   └─ 1 device: evaluate derived attribute gpu.example.com/half on device gpu.example.com/n1/gpu-0
         failed: division by zero (gpu.example.com/n1/gpu-0)
",
    );
}

#[test]
fn device_not_on_node() {
    let mut slice =
        slice("n1", json!([gpu("gpu-0", json!({"nodeName": "n1"})), gpu("gpu-1", json!({"nodeName": "n2"}))]));
    slice["spec"].as_object_mut().expect("a spec").remove("nodeName");
    slice["spec"]["perDeviceNodeSelection"] = json!(true);
    let objects = vec![class(), slice, claim("c", requests(json!({"count": 2})))];
    Case { objects, features: Features::ALL }.tells(
        "device-not-on-node",
        "
no allocation on node `n1`
├─ claim `default/c`, request `r` needs 2 devices of class `gpu`, 1 of 2 can be used
│  └─ 1 device: not reachable from the node (gpu.example.com/n1/gpu-1)
└─ hint: this makes it fit:
   └─ ask for at most 1 device in request `r` of claim `default/c`
",
    );
}

fn shareable(policy: Value) -> Value {
    let mut memory = json!({"value": "40Gi"});
    if !policy.is_null() {
        memory["requestPolicy"] = policy;
    }
    json!([gpu("gpu-0", json!({"allowMultipleAllocations": true, "capacity": {"memory": memory}}))])
}

fn asking(name: &str, amount: &str) -> Value {
    requests(json!({"capacity": {"requests": {name: amount}}}))
}

#[test]
fn capacity_missing() {
    Case::new(shareable(Value::Null), asking("cores", "1")).tells(
        "capacity-missing",
        "
no allocation on node `n1`
├─ claim `default/c`, request `r` needs 1 device of class `gpu`, 0 of 1 can be used
│  └─ 1 device: without capacity `cores` (gpu.example.com/n1/gpu-0)
└─ hint: this makes it fit:
   └─ do not ask for capacity `cores` in request `r` of claim `default/c`
",
    );
}

#[test]
fn capacity_too_small() {
    Case::new(shareable(Value::Null), asking("memory", "80Gi")).tells(
        "capacity-too-small",
        "
no allocation on node `n1`
├─ claim `default/c`, request `r` needs 1 device of class `gpu`, 0 of 1 can be used
│  └─ 1 device: too small: asks for `memory` 80Gi, has 40Gi (gpu.example.com/n1/gpu-0)
└─ hint: this makes it fit:
   └─ ask for at most 40Gi of capacity `memory` in request `r` of claim `default/c`
",
    );
}

#[test]
fn capacity_refused() {
    let policy = json!({"default": "1Gi", "validRange": {"min": "1Gi", "max": "10Gi", "step": "2Gi"}});
    Case::new(shareable(policy), asking("memory", "10Gi")).tells(
        "capacity-refused",
        "
no allocation on node `n1`
├─ claim `default/c`, request `r` needs 1 device of class `gpu`, 0 of 1 can be used
│  └─ 1 device: refuses the amount: asks for `memory` 10Gi, rounded to 11Gi, allows from 1Gi to 10Gi
│        in steps of 2Gi (gpu.example.com/n1/gpu-0)
└─ hint: this makes it fit:
   └─ ask for at most 9Gi of capacity `memory` in request `r` of claim `default/c`
",
    );
}

#[test]
fn capacity_taken() {
    let policy = json!({"default": "1Gi", "validRange": {"min": "1Gi", "max": "40Gi", "step": "4Gi"}});
    let mut holder = holding("a", &["gpu-0"]);
    let result = &mut holder["status"]["allocation"]["devices"]["results"][0];
    result["shareID"] = json!("a671734a-e8e5-11e4-8fde-42010af09327");
    result["consumedCapacity"] = json!({"memory": "25Gi"});
    Case::new(shareable(policy), asking("memory", "15Gi")).with(holder).tells(
        "capacity-taken",
        "
no allocation on node `n1`
├─ claim `default/c`, request `r` needs 1 device of class `gpu`, 0 of 1 can be used
│  └─ 1 device: too little left: asks for `memory` 15Gi, rounded to 17Gi, 15Gi of 40Gi left
│     │  (gpu.example.com/n1/gpu-0)
│     └─ 1 device held by claim `default/a` (pod `pod-a`)
└─ hint: each of these alone makes it fit:
   ├─ ask for at most 13Gi of capacity `memory` in request `r` of claim `default/c`
   └─ move pod `default/pod-a` (claim `default/a`) elsewhere
",
    );
}

fn partitions(more: Value) -> Value {
    let partition = |name: &str| {
        let consumed = json!([{"counterSet": "card-0", "counters": {"memory": {"value": "10Gi"}}}]);
        let mut device =
            gpu(name, json!({"attributes": {"profile": {"string": "1g.10gb"}}, "consumesCounters": consumed}));
        for (name, value) in more.as_object().expect("members") {
            device["consumesCounters"][0][name] = value.clone();
        }
        device
    };
    let mut slice = slice("n1", json!([partition("mig-0"), partition("mig-1"), partition("mig-2")]));
    slice["spec"]["pool"]["resourceSliceCount"] = json!(2);
    slice
}

fn partitioned(total: &str) -> Case {
    let sets = json!([{"name": "card-0", "counters": {"memory": {"value": total}}}]);
    let objects = vec![class(), partitions(json!({})), counters("n1", sets), claim("c", requests(json!({})))];
    Case { objects, features: Features::ALL }
}

#[test]
fn counter_short() {
    partitioned("25Gi").with(holding("a", &["mig-0", "mig-1"])).tells(
        "counter-short",
        "
no allocation on node `n1`
├─ claim `default/c`, request `r` needs 1 device of class `gpu`, 0 of 3 can be used
│  ├─ 2 devices: in use (gpu.example.com/n1/mig-0, mig-1)
│  │  └─ 2 devices held by claim `default/a` (pod `pod-a`)
│  └─ 1 device: counter `memory` is short: needs 10Gi (gpu.example.com/n1/mig-2)
│     ├─ counter `memory` of set `card-0`: 5Gi of 25Gi left
│     └─ 2 devices held by claim `default/a` (pod `pod-a`)
└─ hint: this makes it fit:
   └─ one more `1g.10gb` would fit if pod `default/pod-a` (claim `default/a`) moved
",
    );
}

#[test]
fn pool_overcommitted() {
    partitioned("15Gi").with(holding("a", &["mig-0", "mig-1"])).tells(
        "pool-overcommitted",
        "
no allocation on node `n1`
├─ claim `default/c`, request `r` needs 1 device of class `gpu`, 0 of 3 can be used
│  ├─ 2 devices: in use (gpu.example.com/n1/mig-0, mig-1)
│  │  └─ 2 devices held by claim `default/a` (pod `pod-a`)
│  └─ 1 device: more is in use than there is of counter `memory`: nothing more is given out of the
│        pool (gpu.example.com/n1/mig-2)
└─ hint: this makes it fit:
   └─ move pod `default/pod-a` (claim `default/a`) elsewhere
",
    );
}

#[test]
fn groups_incompatible() {
    let mut case = partitioned("100Gi").with(holding("a", &["mig-0"]));
    case.objects[1] = partitions(json!({"compatibilityGroups": ["x"]}));
    let devices = &mut case.objects[1]["spec"]["devices"];
    for device in 1..3 {
        devices[device]["consumesCounters"][0]["compatibilityGroups"] = json!(["y"]);
    }
    case.tells(
        "groups-incompatible",
        "
no allocation on node `n1`
├─ claim `default/c`, request `r` needs 1 device of class `gpu`, 0 of 3 can be used
│  ├─ 1 device: in use (gpu.example.com/n1/mig-0)
│  │  └─ 1 device held by claim `default/a` (pod `pod-a`)
│  └─ 2 devices: compatibility groups differ from those of devices in use (gpu.example.com/n1/mig-1,
│        mig-2)
└─ hint: this makes it fit:
   └─ move pod `default/pod-a` (claim `default/a`) elsewhere
",
    );
}

#[test]
fn taint_not_tolerated() {
    let taint = json!({"taints": [{"key": "example.com/ecc", "value": "high", "effect": "NoSchedule"}]});
    Case::new(json!([gpu("gpu-0", taint)]), requests(json!({}))).tells(
        "taint-not-tolerated",
        "
no allocation on node `n1`
├─ claim `default/c`, request `r` needs 1 device of class `gpu`, 0 of 1 can be used
│  └─ 1 device: taint `example.com/ecc=high:NoSchedule` is not tolerated (gpu.example.com/n1/gpu-0)
└─ hint: this makes it fit:
   └─ tolerate taint `example.com/ecc=high:NoSchedule` in request `r` of claim `default/c`
",
    );
}

#[test]
fn taint_in_the_way_of_every_request() {
    let taint = json!({"taints": [{"key": "example.com/ecc", "effect": "NoExecute"}]});
    let both = json!({"requests": [
        {"name": "a", "exactly": {"deviceClassName": "gpu"}}, {"name": "b", "exactly": {"deviceClassName": "gpu"}},
    ]});
    Case::new(json!([gpu("gpu-0", taint.clone()), gpu("gpu-1", taint)]), both).tells(
        "taint-not-tolerated",
        "
no allocation on node `n1`
├─ 2 requests (`a`, `b` of claim `default/c`) each need 1 device of class `gpu`: 2 together, 0 of 2
│  │  can be used
│  └─ 2 devices: taint `example.com/ecc:NoExecute` is not tolerated (gpu.example.com/n1/gpu-0,
│        gpu-1)
└─ hint: this makes it fit:
   └─ tolerate taint `example.com/ecc:NoExecute` in every request
",
    );
}

fn matching(attribute: &str, count: usize) -> Value {
    let mut devices = requests(json!({"count": count}));
    devices["constraints"] = json!([{"matchAttribute": attribute}]);
    devices
}

#[test]
fn attribute_missing() {
    let numa = json!({"attributes": {"numaNode": {"int": 0}}});
    let devices = json!([gpu("gpu-0", numa), gpu("gpu-1", json!({}))]);
    Case::new(devices, matching("gpu.example.com/numaNode", 2)).tells(
        "attribute-missing",
        "
no allocation on node `n1`
├─ claim `default/c`, request `r` needs 2 devices of class `gpu`, 1 of 2 can be used
│  └─ 1 device: without attribute `gpu.example.com/numaNode` (gpu.example.com/n1/gpu-1)
└─ hint: each of these alone makes it fit:
   ├─ drop constraint #0 of claim `default/c`: matchAttribute `gpu.example.com/numaNode`
   └─ ask for at most 1 device in request `r` of claim `default/c`
",
    );
}

#[test]
fn attribute_not_comparable() {
    let empty = json!({"attributes": {"links": {"ints": []}}});
    Case::new(json!([gpu("gpu-0", empty)]), matching("gpu.example.com/links", 1)).tells(
        "attribute-not-comparable",
        "
no allocation on node `n1`
├─ claim `default/c`, request `r` needs 1 device of class `gpu`, 0 of 1 can be used
│  └─ 1 device: attribute `gpu.example.com/links` is an empty list or of an unknown type
│        (gpu.example.com/n1/gpu-0)
└─ hint: this makes it fit:
   └─ drop constraint #0 of claim `default/c`: matchAttribute `gpu.example.com/links`
",
    );
}

#[test]
fn constraint_unmet() {
    let numa = |name: &str, value: u8| gpu(name, json!({"attributes": {"numaNode": {"int": value}}}));
    Case::new(json!([numa("gpu-0", 0), numa("gpu-1", 1)]), matching("gpu.example.com/numaNode", 2)).tells(
        "constraint-unmet",
        "
no allocation on node `n1`
├─ claim `default/c`, request `r` needs 2 devices of class `gpu`, 2 of 2 can be used
├─ claim `default/c`: matchAttribute `gpu.example.com/numaNode` cannot be met: numaNode: 0 → 1 free,
│     1 → 1 free, 2 needed
└─ hint: each of these alone makes it fit:
   ├─ drop constraint #0 of claim `default/c`: matchAttribute `gpu.example.com/numaNode`
   └─ ask for at most 1 device in request `r` of claim `default/c`
",
    );
}

#[test]
fn distinct_constraint_unmet() {
    let numa = |name: &str| gpu(name, json!({"attributes": {"numaNode": {"int": 0}}}));
    let mut devices = requests(json!({"count": 2}));
    devices["constraints"] = json!([{"distinctAttribute": "gpu.example.com/numaNode"}]);
    Case::new(json!([numa("gpu-0"), numa("gpu-1")]), devices).tells(
        "constraint-unmet",
        "
no allocation on node `n1`
├─ claim `default/c`, request `r` needs 2 devices of class `gpu`, 2 of 2 can be used
├─ claim `default/c`: distinctAttribute `gpu.example.com/numaNode` cannot be met: numaNode: 0 → 2
│     free, 2 different values needed
└─ hint: each of these alone makes it fit:
   ├─ drop constraint #0 of claim `default/c`: distinctAttribute `gpu.example.com/numaNode`
   └─ ask for at most 1 device in request `r` of claim `default/c`
",
    );
}

#[test]
fn attribute_types_differ() {
    let int = json!({"attributes": {"numaNode": {"int": 0}}});
    let text = json!({"attributes": {"numaNode": {"string": "0"}}});
    let devices = json!([gpu("gpu-0", int), gpu("gpu-1", text)]);
    Case::new(devices, matching("gpu.example.com/numaNode", 2)).tells(
        "attribute-types-differ",
        r#"
no allocation on node `n1`
├─ claim `default/c`, request `r` needs 2 devices of class `gpu`, 2 of 2 can be used
├─ claim `default/c`: matchAttribute `gpu.example.com/numaNode` cannot be met: numaNode: 0 → 1 free,
│     "0" → 1 free, 2 needed; values of different types are never equal
└─ hint: each of these alone makes it fit:
   ├─ drop constraint #0 of claim `default/c`: matchAttribute `gpu.example.com/numaNode`
   └─ ask for at most 1 device in request `r` of claim `default/c`
"#,
    );
}

#[test]
fn attribute_list() {
    let list = json!({"attributes": {"links": {"ints": [1, 2]}}});
    let devices = json!([gpu("gpu-0", list.clone()), gpu("gpu-1", list)]);
    Case::new(devices, matching("gpu.example.com/links", 2)).without("DRAListTypeAttributes").tells(
        "attribute-list",
        "
no allocation on node `n1`
├─ claim `default/c`, request `r` needs 2 devices of class `gpu`, 2 of 2 can be used
├─ claim `default/c`: matchAttribute `gpu.example.com/links` cannot be met: links: lists, 2 needed;
│     lists are compared only with the gate `DRAListTypeAttributes`
└─ hint: each of these alone makes it fit:
   ├─ enable the feature gate `DRAListTypeAttributes`
   ├─ drop constraint #0 of claim `default/c`: matchAttribute `gpu.example.com/links`
   └─ ask for at most 1 device in request `r` of claim `default/c`
",
    );
}

#[test]
fn feature_off_for_a_device() {
    partitioned("100Gi").without("DRAPartitionableDevices").tells(
        "feature-off",
        "
no allocation on node `n1`
├─ claim `default/c`, request `r` needs 1 device of class `gpu`, 0 of 3 can be used
│  └─ 3 devices: needs the feature gate `DRAPartitionableDevices`, which is off
│        (gpu.example.com/n1/mig-0, mig-1, mig-2)
└─ hint: this makes it fit:
   └─ enable the feature gate `DRAPartitionableDevices`
",
    );
}

#[test]
fn feature_off_for_a_request() {
    Case::new(gpus(1), requests(json!({"adminAccess": true}))).without("DRAAdminAccess").tells(
        "feature-off",
        "
no allocation on node `n1`
├─ claim default/c, request r: admin access is requested, but the feature is disabled
└─ hint: this makes it fit:
   └─ enable the feature gate `DRAAdminAccess`
",
    );
}

#[test]
fn node_lacks_feature() {
    let mut case = Case::new(gpus(1), requests(json!({})));
    case.objects[1]["spec"]["skipNodeOperations"] = json!(["NodePrepareResources"]);
    case.tells(
        "node-lacks-feature",
        "
no allocation on node `n1`
└─ claim `default/c`, request `r` needs 1 device of class `gpu`, 0 of 1 can be used
   └─ 1 device: needs the feature `DRAOptionalNodeOperations`, which the node does not declare
         (gpu.example.com/n1/gpu-0)
",
    );
}

#[test]
fn too_many_devices() {
    Case::new(gpus(33), requests(json!({"allocationMode": "All"}))).tells(
        "too-many-devices",
        "
no allocation on node `n1`
├─ claim default/c, request r: adding 33 devices exceeds the claim limit of 32, with 0 already
│     accounted for
├─ claim `default/c`, request `r` needs all devices of class `gpu`, 33 of 33 can be used
│  └─ all 33 devices are asked for, but an allocation holds at most 32
└─ hint: this makes it fit:
   └─ ask for at most 32 devices, instead of all, in request `r` of claim `default/c`
",
    );
}

#[test]
fn too_many_devices_by_count() {
    Case::new(gpus(40), requests(json!({"count": 40}))).tells(
        "too-many-devices",
        "
no allocation on node `n1`
├─ claim default/c, request r: adding 40 devices exceeds the claim limit of 32, with 0 already
│     accounted for
├─ claim `default/c`, request `r` needs 40 devices of class `gpu`, 40 of 40 can be used
└─ hint: this makes it fit:
   └─ ask for at most 32 devices in request `r` of claim `default/c`
",
    );
}

#[test]
fn class_missing() {
    let mut case = Case::new(gpus(1), requests(json!({})));
    case.objects[2]["spec"]["devices"]["requests"][0]["exactly"]["deviceClassName"] = json!("gpus");
    case.tells(
        "class-missing",
        r#"
no allocation on node `n1`
├─ claim default/c, request r: could not retrieve device class gpus: deviceclass.resource.k8s.io
│     "gpus" not found
└─ hint: this makes it fit:
   └─ use class `gpu` instead of `gpus`, which does not exist
"#,
    );
}

#[test]
fn requests_that_compete() {
    let both = json!({"requests": [
        {"name": "a", "exactly": {"deviceClassName": "gpu"}}, {"name": "b", "exactly": {"deviceClassName": "gpu"}},
    ]});
    let tree = Case::new(gpus(1), both).explain().tree();
    assert_eq!(
        tree.trim(),
        "
no allocation on node `n1`
├─ 2 requests (`a`, `b` of claim `default/c`) each need 1 device of class `gpu`: 2 together, 1 of 1
│     can be used
├─ every request finds devices by itself, but not all together: 2 are needed, 1 is there
└─ hint: this makes it fit:
   └─ remove request `a` of claim `default/c`
"
        .trim()
    );
}

#[test]
fn constraint_in_a_clash_shows_its_values() {
    let device = |name: &str, numa: u8, model: &str| {
        gpu(name, json!({"attributes": {"numaNode": {"int": numa}, "model": {"string": model}}}))
    };
    let devices = json!([device("gpu-0", 0, "a"), device("gpu-1", 0, "a"), device("gpu-2", 1, "b")]);
    let select = |name: &str, model: &str| {
        let expression = format!(r#"device.attributes["gpu.example.com"].model == "{model}""#);
        json!({"name": name, "exactly": {"deviceClassName": "gpu", "selectors": [{"cel": {"expression": expression}}]}})
    };
    let constraints = json!([{"matchAttribute": "gpu.example.com/numaNode"}]);
    let both = json!({"requests": [select("one", "a"), select("other", "b")], "constraints": constraints});
    let tree = Case::new(devices, both).explain().tree();
    assert_eq!(
        tree,
        r#"
no allocation on node `n1`
├─ claim `default/c`, request `one` needs 1 device of class `gpu`, 2 of 3 can be used
│  └─ 1 device: selector #0 of the request is false (gpu.example.com/n1/gpu-2)
│     └─ `device.attributes["gpu.example.com"].model == "a"`: model is "b"
├─ claim `default/c`, request `other` needs 1 device of class `gpu`, 1 of 3 can be used
│  └─ 2 devices: selector #0 of the request is false (gpu.example.com/n1/gpu-0, gpu-1)
│     └─ `device.attributes["gpu.example.com"].model == "b"`: model is "a"
├─ every request finds devices by itself, but not all together: these do not fit, and without any
│  │  one of them it would
│  ├─ constraint #0 of claim `default/c`: matchAttribute `gpu.example.com/numaNode` (numaNode: 0 → 2
│  │     free, 1 → 1 free, 2 needed)
│  ├─ request `one` of claim `default/c`
│  └─ request `other` of claim `default/c`
└─ hint: each of these alone makes it fit:
   ├─ drop constraint #0 of claim `default/c`: matchAttribute `gpu.example.com/numaNode`
   ├─ accept `model` "a" instead of "b" in selector #0 of request `other` of claim `default/c`
   └─ do not ask for `device.attributes["gpu.example.com"].model == "b"` in selector #0 of request
         `other` of claim `default/c`
"#
        .trim()
    );
}

#[test]
fn features_are_named_as_they_are() {
    assert!(Features::from_gates(ALL_GATES).has(Feature::BindingConditions));
    assert_eq!(Features::from_gates(ALL_GATES), Features::ALL);
}

#[test]
fn pool_outdated() {
    let mut newer = slice("n1", gpus(1));
    newer["metadata"]["name"] = json!("elsewhere");
    newer["spec"]["nodeName"] = json!("n2");
    newer["spec"]["pool"]["generation"] = json!(6);
    let mut older = slice("n1", gpus(2));
    older["spec"]["pool"]["resourceSliceCount"] = json!(2);
    let objects = vec![class(), older, newer, claim("c", requests(json!({})))];
    Case { objects, features: Features::ALL }.tells(
        "pool-outdated",
        "
no allocation on node `n1`
├─ 2 devices: pool `gpu.example.com/n1` is being updated: its slices for this node are of generation
│     5, elsewhere there is 6
└─ claim `default/c`, request `r` needs 1 device of class `gpu`, 0 of 2 can be used
",
    );
}

#[test]
fn feature_off_for_a_slice() {
    let mut slice = slice("n1", json!([gpu("gpu-0", json!({"nodeName": "n1"}))]));
    slice["spec"].as_object_mut().expect("a spec").remove("nodeName");
    slice["spec"]["perDeviceNodeSelection"] = json!(true);
    let objects = vec![class(), slice, claim("c", requests(json!({})))];
    Case { objects, features: Features::ALL }.without("DRAPartitionableDevices").tells(
        "feature-off",
        "
no allocation on node `n1`
├─ 1 device: pool `gpu.example.com/n1` needs the feature gate `DRAPartitionableDevices`, which is
│     off
├─ claim `default/c`, request `r` needs 1 device of class `gpu`, 0 of 1 can be used
└─ hint: this makes it fit:
   └─ enable the feature gate `DRAPartitionableDevices`
",
    );
}

#[test]
fn device_held_and_tainted() {
    let taint = json!({"taints": [{"key": "example.com/ecc", "effect": "NoSchedule"}]});
    let case = Case::new(json!([gpu("gpu-0", taint)]), requests(json!({}))).with(holding("a", &["gpu-0"]));
    case.tells(
        "device-held",
        "
no allocation on node `n1`
└─ claim `default/c`, request `r` needs 1 device of class `gpu`, 0 of 1 can be used
   └─ 1 device: taint `example.com/ecc:NoSchedule` is not tolerated, and in use
      │  (gpu.example.com/n1/gpu-0)
      └─ 1 device held by claim `default/a` (pod `pod-a`)
",
    );
}
