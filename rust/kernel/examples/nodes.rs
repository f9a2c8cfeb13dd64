//! Prints how many milliseconds an evaluation of 5,000 different nodes takes: warm, and with a selector that was never seen before.
//!
//! To compare: once as it is, and once with `--features rayon`.

use std::time::Instant;

use drayman_api::{Object, ResourceClaim};
use drayman_kernel::{Budget, Compatibility, Features, Inventory};
use drayman_testkit::build::{DRIVER, claim, class, device_with, match_attribute, node_slice, request, selector};

const NODES: usize = 5_000;
const REPETITIONS: usize = 21;

fn main() {
    let mut inventory = Inventory::new(Features::ALL, Compatibility::V1_37);
    inventory.apply_object(Object::DeviceClass(class()));
    for node in 0..NODES {
        let of_uuid = |index: usize| device_with(&format!("gpu-{index}"), &[("uuid", &format!("{node}-{index}"))]);
        let devices = (0..8).map(of_uuid).collect();
        inventory.apply_object(Object::ResourceSlice(node_slice(&format!("worker-{node:04}"), devices)));
    }
    // Every node has values of its own, so that none is searched for another.
    let mut alike = claim("alike", vec![request("gpus", 2)]);
    alike.spec.devices.constraints = vec![match_attribute(&format!("{DRIVER}/uuid"))];
    println!("warm {:.1}", median((0..REPETITIONS).map(|_| milliseconds(&mut inventory, &alike))));
    let new = (0..REPETITIONS).map(|index| {
        let mut new = claim("new", vec![request("gpu", 1)]);
        if let drayman_api::RequestKind::Exactly(exactly) = &mut new.spec.devices.requests[0].kind {
            let expression = format!("device.attributes[\"{DRIVER}\"].uuid != \"{index}\"");
            exactly.selectors = vec![selector(&expression)];
        }
        milliseconds(&mut inventory, &new)
    });
    println!("new selector {:.1}", median(new));
}

fn milliseconds(inventory: &mut Inventory, claim: &ResourceClaim) -> f64 {
    let start = Instant::now();
    let evaluation = inventory.evaluate(std::slice::from_ref(claim), None, &mut Budget::unlimited());
    assert_eq!(evaluation.len(), NODES);
    start.elapsed().as_secs_f64() * 1e3
}

fn median(times: impl Iterator<Item = f64>) -> f64 {
    let mut times: Vec<_> = times.collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
