//! That a reader finds the cause soon: what is alike is told once, and what it comes to stands where it is seen.

use drayman_kernel::Features;
use serde_json::{Map, Value, json};

use crate::case::{Case, claim, class, counters, gpu, gpus, holding, requests, selecting, slice};

/// Two cards of four parts of memory, each of which can be had by itself.
fn cards(devices_of_claim: Value) -> Case {
    let one = || json!({"value": "1"});
    let all = || (0..4).map(|index| (format!("memory-{index}"), one())).collect::<Map<_, _>>();
    let device = |name: String, set: &str, profile: &str, taken: Map<String, Value>| {
        let consumed = json!([{"counterSet": set, "counters": taken}]);
        gpu(&name, json!({"consumesCounters": consumed, "attributes": {"profile": {"string": profile}}}))
    };
    let mut devices = Vec::new();
    for set in ["card-0", "card-1"] {
        devices.push(device(set.to_owned(), set, "whole", all()));
        let partition = |index| {
            let taken = [(format!("memory-{index}"), one())].into_iter().collect();
            device(format!("{set}-mig-{index}"), set, "part", taken)
        };
        devices.extend((0..4).map(partition));
    }
    let sets = json!([{"name": "card-0", "counters": all()}, {"name": "card-1", "counters": all()}]);
    let mut partitions = slice("n1", json!(devices));
    partitions["spec"]["pool"]["resourceSliceCount"] = json!(2);
    let objects = vec![class(), partitions, counters("n1", sets), claim("c", devices_of_claim)];
    Case { objects, features: Features::ALL }
}

/// A request for a card or for a part of one.
fn profiled(name: &str, profile: &str) -> Value {
    let expression = format!(r#"device.attributes["gpu.example.com"].profile == "{profile}""#);
    named(name, selecting(&expression))
}

fn named(name: &str, mut devices: Value) -> Value {
    devices["requests"][0]["name"] = json!(name);
    devices["requests"][0].clone()
}

#[track_caller]
fn reads(case: &Case, tree: &str) {
    assert_eq!(case.explain().tree(), tree.trim());
}

#[test]
fn counters_that_the_same_claims_use_up_are_one_fact_and_come_after_the_hints() {
    let mut devices = json!({"requests": [profiled("one", "part"), profiled("two", "part")]});
    devices["requests"][1]["exactly"]["count"] = json!(2);
    let case = cards(devices).with(holding("a", &["card-0"])).with(holding("b", &["card-1"]));
    reads(
        &case,
        r#"
no allocation on node `n1`
├─ hint: each of these alone makes it fit:
│  ├─ move pod `default/pod-a` (claim `default/a`) elsewhere
│  └─ move pod `default/pod-b` (claim `default/b`) elsewhere
├─ claim `default/c`, request `one` needs 1 device of class `gpu`, 0 of 10 can be used
│  ├─ 8 devices: counters `memory-0…3` are short: each device needs 1
│  │  │  (gpu.example.com/n1/card-0-mig-0, card-1-mig-0, card-0-mig-1, …)
│  │  ├─ counters `memory-0…3` of sets `card-0`, `card-1`: 0 of 1 left
│  │  ├─ 1 device held by claim `default/a` (pod `pod-a`)
│  │  └─ 1 device held by claim `default/b` (pod `pod-b`)
│  └─ 2 devices: selector #0 of the request is false (gpu.example.com/n1/card-0, card-1)
│     └─ `device.attributes["gpu.example.com"].profile == "part"`: profile is "whole"
└─ claim `default/c`, request `two` needs 2 devices of class `gpu`, 0 of 10 can be used
   ├─ 8 devices: counters `memory-0…3` are short: each device needs 1
   │  │  (gpu.example.com/n1/card-0-mig-0, card-1-mig-0, card-0-mig-1, …)
   │  ├─ counters `memory-0…3` of sets `card-0`, `card-1`: 0 of 1 left
   │  └─ held by the same 2 claims
   └─ 2 devices: selector #0 of the request is false, as above
"#,
    );
}

#[test]
fn claims_that_are_alike_are_told_together_with_what_they_need_together() {
    let objects = vec![class(), slice("n1", gpus(3))];
    let mut case = Case { objects, features: Features::ALL };
    for index in 8..12 {
        case = case.with(claim(&format!("c{index:02}"), requests(json!({}))));
    }
    reads(
        &case,
        "
no allocation on node `n1`
├─ 4 requests (`r` of claims `default/c08…11`) each need 1 device of class `gpu`: 4 together, 3 of 3
│     can be used
├─ every request finds devices by itself, but not all together: 4 are needed, 3 are there
└─ hint: this makes it fit:
   └─ remove request `r` of claim `default/c08`
",
    );
    assert_eq!(
        case.explain().line(),
        "4 requests (`r` of claims `default/c08…11`) each need 1 device of class `gpu`: 4 together, 3 of 3 can be used; \
         hint: remove request `r` of claim `default/c08`"
    );
}

#[test]
fn requests_that_find_enough_are_told_in_a_line_where_others_do_not() {
    let devices =
        json!([gpu("gpu-0", json!({"attributes": {"profile": {"string": "whole"}}})), gpu("gpu-1", json!({}))]);
    let selected = r#"device.attributes["gpu.example.com"].?profile.orValue("") == "none""#;
    let guarded = r#"device.attributes["gpu.example.com"].?profile.orValue("") == "whole""#;
    let both = json!({"requests": [named("met", selecting(guarded)), named("unmet", selecting(selected))]});
    reads(
        &Case::new(devices, both),
        r#"
no allocation on node `n1`
├─ claim `default/c`, request `unmet` needs 1 device of class `gpu`, 0 of 2 can be used
│  └─ 2 devices: selector #0 of the request is false (gpu.example.com/n1/gpu-0, gpu-1)
│     └─ `device.attributes["gpu.example.com"].?profile.orValue("") == "none"`: profile is "whole"
│           on 1 device, profile is missing on 1 device
├─ claim `default/c`, request `met` needs 1 device of class `gpu`, 1 of 2 can be used
└─ hint: this makes it fit:
   └─ do not ask for `device.attributes["gpu.example.com"].?profile.orValue("") == "none"` in
         selector #0 of request `unmet` of claim `default/c`
"#,
    );
}

#[test]
fn slices_that_declare_fewer_than_there_are_are_told_as_they_are() {
    let mut case = Case::new(gpus(1), requests(json!({})));
    case.objects[1]["spec"]["pool"]["resourceSliceCount"] = json!(0);
    reads(
        &case,
        "
no allocation on node `n1`
├─ 1 device: pool `gpu.example.com/n1` is incomplete or being updated: its slices declare
│     resourceSliceCount 0, but 1 of generation 5 is there
├─ claim `default/c`, request `r` needs 1 device of class `gpu`, 0 of 1 can be used
└─ hint: this makes it fit:
   └─ set resourceSliceCount to 1 in all slices of pool `gpu.example.com/n1`: so many are there, and
         they suffice
",
    );
}

#[test]
fn nodes_on_which_other_devices_of_a_common_pool_are_in_use_are_told_apart() {
    let mut rack =
        slice("n1", json!([gpu("gpu-1", json!({"nodeName": "n1"})), gpu("gpu-2", json!({"nodeName": "n2"}))]));
    rack["spec"].as_object_mut().expect("a spec").remove("nodeName");
    rack["spec"]["perDeviceNodeSelection"] = json!(true);
    let objects = vec![class(), rack, claim("c", requests(json!({})))];
    let case = Case { objects, features: Features::ALL };
    let explanation = case.with(holding("a", &["gpu-1"])).with(holding("b", &["gpu-2"])).explain_on(&["n1", "n2"]);
    assert_eq!(
        explanation.tree(),
        "
no allocation on node `n1`
├─ claim `default/c`, request `r` needs 1 device of class `gpu`, 0 of 2 can be used
│  ├─ 1 device: in use (gpu.example.com/n1/gpu-1)
│  │  └─ 1 device held by claim `default/a` (pod `pod-a`)
│  └─ 1 device: not reachable from the node (gpu.example.com/n1/gpu-2)
└─ hint: this makes it fit:
   └─ move pod `default/pod-a` (claim `default/a`) elsewhere
no allocation on node `n2`
├─ claim `default/c`, request `r` needs 1 device of class `gpu`, 0 of 2 can be used
│  ├─ 1 device: in use (gpu.example.com/n1/gpu-2)
│  │  └─ 1 device held by claim `default/b` (pod `pod-b`)
│  └─ 1 device: not reachable from the node (gpu.example.com/n1/gpu-1)
└─ hint: this makes it fit:
   └─ move pod `default/pod-b` (claim `default/b`) elsewhere
"
        .trim()
    );
}

#[test]
fn nodes_that_are_told_together_say_whose_names_are_told() {
    let mut second = slice("n2", gpus(1));
    second["spec"]["nodeName"] = json!("n2");
    let mut held = holding("b", &["gpu-0"]);
    held["status"]["allocation"]["devices"]["results"][0]["pool"] = json!("n2");
    let case = Case::new(gpus(1), requests(json!({}))).with(second).with(holding("a", &["gpu-0"])).with(held);
    assert_eq!(
        case.explain_on(&["n1", "n2"]).tree(),
        "
no allocation on 2 nodes: `n1`, `n2`; names of devices and claims are those on `n1`
├─ claim `default/c`, request `r` needs 1 device of class `gpu`, 0 of 1 can be used
│  └─ 1 device: in use (gpu.example.com/n1/gpu-0)
│     └─ 1 device held by claim `default/a` (pod `pod-a`)
└─ hint: this makes it fit on `n1`:
   └─ move pod `default/pod-a` (claim `default/a`) elsewhere
"
        .trim()
    );
}

#[test]
fn node_with_devices_in_use_is_nearer_than_one_without_devices() {
    let all = requests(json!({"allocationMode": "All"}));
    let case = Case::new(gpus(2), all).with(holding("a", &["gpu-0", "gpu-1"]));
    assert_eq!(
        case.explain_on(&["empty", "n1"]).line(),
        "nearest node `n1`: claim `default/c`, request `r` needs all devices of class `gpu`, 0 of 2 can be used: 2 devices: \
         in use by claim `default/a` (pod `pod-a`); hint: move pod `default/pod-a` (claim `default/a`) elsewhere"
    );
}

#[test]
fn line_leaves_devices_of_other_classes_out_where_there_are_some_of_the_class() {
    let mut nics = slice("nics", json!([{"name": "nic-0"}]));
    nics["spec"]["driver"] = json!("nic.example.com");
    let case = Case::new(gpus(1), requests(json!({}))).with(nics).with(holding("a", &["gpu-0"]));
    assert_eq!(
        case.explain().line(),
        "claim `default/c`, request `r` needs 1 device of class `gpu`, 0 of 2 can be used: 1 device: in use by claim \
         `default/a` (pod `pod-a`); hint: move pod `default/pod-a` (claim `default/a`) elsewhere"
    );
}

#[test]
fn line_about_invalid_pools_says_what_is_invalid() {
    let case = Case::new(json!([{"name": "gpu-0"}, {"name": "gpu-0"}]), requests(json!({})));
    assert_eq!(
        case.explain().line(),
        "invalid resource pools were encountered: 2 devices: pool `gpu.example.com/n1` is invalid: duplicate device name \
         gpu-0"
    );
}

#[test]
fn line_about_a_selector_that_fails_has_the_form_that_does_not() {
    let case = Case::new(gpus(1), selecting(r#"device.attributes["gpu.example.com"].rack == "r7""#));
    assert_eq!(
        case.explain().line(),
        "claim default/c: selector #0 on device gpu.example.com/n1/gpu-0: CEL runtime error: no such key: rack; write it as \
         `device.attributes[\"gpu.example.com\"].?rack.orValue(\"\") == \"r7\"`"
    );
}

#[test]
fn attribute_that_is_missing_is_told_with_one_that_is_named_alike() {
    let root = json!({"attributes": {"pciRoot": {"string": "pci0000:00"}}});
    let mut devices = requests(json!({"count": 2}));
    devices["constraints"] = json!([{"matchAttribute": "resource.kubernetes.io/pcieRoot"}]);
    reads(
        &Case::new(json!([gpu("gpu-0", root.clone()), gpu("gpu-1", root)]), devices),
        "
no allocation on node `n1`
├─ claim `default/c`, request `r` needs 2 devices of class `gpu`, 0 of 2 can be used
│  └─ 2 devices: without attribute `resource.kubernetes.io/pcieRoot`, but with
│        `gpu.example.com/pciRoot` (gpu.example.com/n1/gpu-0, gpu-1)
└─ hint: this makes it fit:
   └─ drop constraint #0 of claim `default/c`: matchAttribute `resource.kubernetes.io/pcieRoot`
",
    );
}

#[test]
fn all_devices_of_which_one_is_tainted_could_be_a_number_of_them() {
    let taint = json!({"taints": [{"key": "example.com/ecc", "effect": "NoSchedule"}]});
    let devices = json!([gpu("gpu-0", taint), gpu("gpu-1", json!({})), gpu("gpu-2", json!({}))]);
    reads(
        &Case::new(devices, requests(json!({"allocationMode": "All"}))),
        "
no allocation on node `n1`
├─ claim `default/c`, request `r` needs all devices of class `gpu`, 2 of 3 can be used
│  └─ 1 device: taint `example.com/ecc:NoSchedule` is not tolerated (gpu.example.com/n1/gpu-0)
└─ hint: each of these alone makes it fit:
   ├─ tolerate taint `example.com/ecc:NoSchedule` in request `r` of claim `default/c`
   └─ ask for at most 2 devices, instead of all, in request `r` of claim `default/c`
",
    );
}

#[test]
fn five_hints_are_told_at_most_of_different_kinds() {
    let memory = |index: usize, more: Value| {
        let mut device = gpu(&format!("gpu-{index}"), json!({"capacity": {"memory": {"value": format!("{index}Gi")}}}));
        device["taints"] = more;
        device
    };
    let taint = json!([{"key": "example.com/ecc", "effect": "NoSchedule"}]);
    let devices = json!([
        memory(10, json!([])),
        memory(11, json!([])),
        memory(12, json!([])),
        memory(80, taint),
        memory(81, json!([])),
        memory(82, json!([])),
        memory(83, json!([])),
    ]);
    let expression = r#"device.capacity["gpu.example.com"].memory.compareTo(quantity("80Gi")) >= 0"#;
    let mut case = Case::new(devices, selecting(expression));
    for index in 81..84 {
        case = case.with(holding(&format!("h{index}"), &[&format!("gpu-{index}")]));
    }
    let hints: Vec<_> = case.explain().groups[0].hints.iter().map(|hint| hint.text.clone()).collect();
    assert_eq!(
        hints,
        [
            "tolerate taint `example.com/ecc:NoSchedule` in request `r` of claim `default/c`",
            "accept `memory` 10Gi instead of 80Gi in selector #0 of request `r` of claim `default/c`",
            "accept `memory` 11Gi instead of 80Gi in selector #0 of request `r` of claim `default/c`",
            "move pod `default/pod-h81` (claim `default/h81`) elsewhere",
            "move pod `default/pod-h82` (claim `default/h82`) elsewhere",
        ]
    );
}
