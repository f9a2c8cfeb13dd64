//! What is said about claims that do not fit.

use drayman_api::{Device, DeviceTaint, DeviceTaintEffect, ResourceClaim, ResourceSlice};
use drayman_kernel::{AllocatedState, Allocator, Compatibility, Depth, Explanation, Features};
use drayman_testkit::build::{DRIVER, claim, class, device, node, node_slice, request};

const WORKER: &str = "worker-1";

fn explain(slices: Vec<ResourceSlice>, held: &[&str], claims: &[ResourceClaim]) -> Explanation {
    let held = held.iter().map(|device| format!("{DRIVER}/{WORKER}/{device}").parse().expect("an ID"));
    let state = AllocatedState { devices: held.collect(), ..AllocatedState::default() };
    Allocator::new(Features::ALL, Compatibility::V1_37, &state, [class()], slices).explain(
        &node(WORKER),
        claims,
        Depth::All,
    )
}

fn tainted(name: &str) -> Device {
    let taint = DeviceTaint {
        key: "example.com/ecc".to_owned(),
        value: String::new(),
        effect: DeviceTaintEffect::NoSchedule,
        time_added: None,
    };
    Device { taints: vec![taint], ..device(name) }
}

#[test]
fn devices_are_grouped_by_what_is_against_them() {
    let devices = vec![device("gpu-0"), device("gpu-1"), tainted("gpu-2"), device("gpu-3")];
    let explanation =
        explain(vec![node_slice(WORKER, devices)], &["gpu-0", "gpu-1"], &[claim("c", vec![request("gpus", 2)])]);
    assert_eq!(
        explanation.tree(),
        "\
no allocation on node `worker-1`
├─ claim `default/c`, request `gpus` needs 2 devices of class `gpu`, 1 of 4 can be used
│  ├─ 2 devices: in use (gpu.example.com/worker-1/gpu-0, gpu-1)
│  └─ 1 device: taint `example.com/ecc:NoSchedule` is not tolerated (gpu.example.com/worker-1/gpu-2)
└─ hint: each of these alone makes it fit:
   ├─ tolerate taint `example.com/ecc:NoSchedule` in request `gpus` of claim `default/c`
   └─ ask for at most 1 device in request `gpus` of claim `default/c`"
    );
    assert_eq!(
        explanation.line(),
        "claim `default/c`, request `gpus` needs 2 devices of class `gpu`, 1 of 4 can be used: 2 devices: in use; 1 device: \
         taint `example.com/ecc:NoSchedule` is not tolerated; hint: tolerate taint `example.com/ecc:NoSchedule` in request \
         `gpus` of claim `default/c`"
    );
}

#[test]
fn requests_that_only_together_find_too_little_are_said_to_compete() {
    let claims = [claim("c", vec![request("first", 1), request("second", 1)])];
    let explanation = explain(vec![node_slice(WORKER, vec![device("gpu-0")])], &[], &claims);
    assert_eq!(
        explanation.line(),
        "2 requests (`first`, `second` of claim `default/c`) each need 1 device of class `gpu`: 2 together, 1 of 1 can be used; \
         hint: remove request `first` of claim `default/c`"
    );
}

#[test]
fn claims_that_fit_are_said_to_fit() {
    let explanation =
        explain(vec![node_slice(WORKER, vec![device("gpu-0")])], &[], &[claim("c", vec![request("gpu", 1)])]);
    assert_eq!(explanation.line(), "the claims fit");
    assert!(explanation.tree().starts_with("the claims fit on node `worker-1`\n"));
}

#[test]
fn node_without_devices_is_said_to_have_none() {
    let explanation = explain(Vec::new(), &[], &[claim("c", vec![request("gpu", 1)])]);
    assert_eq!(
        explanation.tree(),
        "\
no allocation on node `worker-1`
├─ the node has no devices
└─ claim `default/c`, request `gpu` needs 1 device of class `gpu`, 0 of 0 can be used"
    );
}

#[test]
fn line_is_cut_at_its_limit() {
    let devices = (0..40).map(|index| {
        let mut device = tainted(&format!("gpu-{index}"));
        device.taints[0].key = format!("example.com/a-rather-long-key-{index}");
        device
    });
    let explanation = explain(vec![node_slice(WORKER, devices.collect())], &[], &[claim("c", vec![request("gpu", 1)])]);
    assert!(explanation.line().len() <= 300);
    assert!(explanation.line().ends_with(" …"));
}
