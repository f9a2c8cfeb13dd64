//! Searches that cost upstream exponential time take few steps here.

use drayman_api::{
    Counter, CounterSet, Device, DeviceClass, DeviceCounterConsumption, DeviceRequest, Quantity, RequestKind,
    ResourceClaim, ResourceSlice,
};
use drayman_kernel::{AllocatedState, AllocationError, Allocator, Budget, Compatibility, Features, Interrupt, Outcome};
use drayman_testkit::build::{
    DRIVER, claim, class, device, device_with, exactly, match_attribute, node, node_slice, request, selector,
};

const WORKER: &str = "worker-1";

/// Whether the claims fit, and how many steps it took to find out.
fn search(slices: Vec<ResourceSlice>, claims: &[ResourceClaim]) -> (bool, u64) {
    let mut budget = Budget::unlimited();
    let outcome = allocator([class()], slices).allocate(&node(WORKER), claims, &mut budget);
    let fits = match outcome {
        Ok(Outcome::Allocated(_)) => true,
        Ok(Outcome::Unallocatable) => false,
        other => unreachable!("neither yes nor no: {other:?}"),
    };
    (fits, budget.used())
}

fn allocator(classes: impl IntoIterator<Item = DeviceClass>, slices: Vec<ResourceSlice>) -> Allocator {
    Allocator::new(Features::ALL, Compatibility::V1_37, &AllocatedState::default(), classes, slices)
}

fn devices(count: usize) -> Vec<Device> {
    (0..count).map(|index| device(&format!("gpu-{index}"))).collect()
}

fn assert_few(steps: u64, at_most: u64) {
    assert!(steps <= at_most, "{steps} steps instead of at most {at_most}");
}

#[test]
fn one_device_more_than_there_are_is_refused_in_few_steps() {
    let (fits, steps) = search(vec![node_slice(WORKER, devices(31))], &[claim("c", vec![request("gpus", 32)])]);
    assert!(!fits);
    assert_few(steps, 40);
}

#[test]
fn ten_single_requests_for_nine_devices_are_refused_in_few_steps() {
    let requests = (0..10).map(|index| request(&format!("gpu-{index}"), 1)).collect();
    let (fits, steps) = search(vec![node_slice(WORKER, devices(9))], &[claim("c", requests)]);
    assert!(!fits);
    assert_few(steps, 40);
}

#[test]
fn ten_claims_for_nine_different_devices_are_refused_in_few_steps() {
    let devices = (0..9).map(|index| device_with(&format!("gpu-{index}"), &[("uuid", &format!("uuid-{index}"))]));
    let claims: Vec<_> = (0..10).map(|index| claim(&format!("c-{index}"), vec![request("gpu", 1)])).collect();
    let (fits, steps) = search(vec![node_slice(WORKER, devices.collect())], &claims);
    assert!(!fits);
    assert_few(steps, 50);
}

#[test]
fn more_equal_devices_than_any_group_has_are_refused_in_few_steps() {
    let groups = (0..4).flat_map(|group| {
        (0..16).map(move |index| device_with(&format!("gpu-{group}-{index}"), &[("rack", &format!("rack-{group}"))]))
    });
    let mut wanted = claim("c", vec![request("gpus", 17)]);
    wanted.spec.devices.constraints = vec![match_attribute("gpu.example.com/rack")];
    let (fits, steps) = search(vec![node_slice(WORKER, groups.collect())], &[wanted]);
    assert!(!fits);
    assert_few(steps, 60);
}

#[test]
fn pairs_in_one_group_are_found_past_groups_that_are_too_small() {
    let in_rack = |name: String, rack: usize| device_with(&name, &[("rack", &format!("rack-{rack}"))]);
    let small = (0..8).flat_map(|rack| (0..3).map(move |index| (rack, index)));
    let mut devices: Vec<_> = small.map(|(rack, index)| in_rack(format!("gpu-{rack}-{index}"), rack)).collect();
    devices.extend((0..4).map(|index| in_rack(format!("gpu-8-{index}"), 8)));
    let mut wanted = claim("c", vec![request("first", 2), request("second", 2)]);
    wanted.spec.devices.constraints = vec![match_attribute("gpu.example.com/rack")];
    let (fits, steps) = search(vec![node_slice(WORKER, devices)], &[wanted]);
    assert!(fits);
    assert_few(steps, 60);
}

/// Devices of one card, each consuming so much of two counters of the card.
fn card(counters: [i64; 2], consumed: &[[i64; 2]]) -> Vec<ResourceSlice> {
    let amounts = |values: [i64; 2]| {
        let counter = |(index, value): (usize, i64)| {
            (
                format!("counter-{index}"),
                Counter { value: Quantity::from_i64(value, drayman_api::quantity::Format::DecimalSi) },
            )
        };
        values.into_iter().enumerate().map(counter).collect()
    };
    let partition = |(index, consumed): (usize, &[i64; 2])| Device {
        consumes_counters: vec![DeviceCounterConsumption {
            counter_set: "card".to_owned(),
            counters: amounts(*consumed),
            compatibility_groups: Vec::new(),
        }],
        ..device(&format!("partition-{index}"))
    };
    let mut partitions = node_slice(WORKER, consumed.iter().enumerate().map(partition).collect());
    partitions.spec.pool.resource_slice_count = 2;
    let mut shared = partitions.clone();
    shared.metadata.name = format!("{WORKER}-counters");
    shared.spec.devices.clear();
    shared.spec.shared_counters = vec![CounterSet { name: "card".to_owned(), counters: amounts(counters) }];
    vec![partitions, shared]
}

#[test]
fn more_partitions_than_counters_allow_are_refused_in_few_steps() {
    let (fits, steps) = search(card([7, 70], &[[1, 10]; 20]), &[claim("c", vec![request("partitions", 8)])]);
    assert!(!fits);
    assert_few(steps, 20);
}

#[test]
fn more_single_partitions_than_counters_allow_are_refused_in_few_steps() {
    let different: Vec<_> = (0..20).map(|index| [1, index]).collect();
    let requests = (0..8).map(|index| request(&format!("partition-{index}"), 1)).collect();
    let (fits, steps) = search(card([7, 1000], &different), &[claim("c", requests)]);
    assert!(!fits);
    assert_few(steps, 30);
}

#[test]
fn search_leaves_the_partition_that_is_too_large() {
    let mut consumed = [[1, 10]; 8];
    consumed[0] = [1, 20];
    let (fits, steps) = search(card([8, 70], &consumed), &[claim("c", vec![request("partitions", 7)])]);
    assert!(fits);
    assert_few(steps, 30);
}

#[test]
fn search_ends_with_its_budget() {
    let claims = [claim("c", vec![request("gpus", 8)])];
    let mut budget = Budget::unlimited().with_steps(3);
    let outcome =
        allocator([class()], vec![node_slice(WORKER, devices(8))]).allocate(&node(WORKER), &claims, &mut budget);
    assert_eq!(outcome.err(), Some(Interrupt::Steps));
}

#[test]
fn interrupted_search_says_what_it_had_found() {
    let claims = [claim("c", vec![request("gpus", 8)])];
    let mut allocator = allocator([class()], vec![node_slice(WORKER, devices(8))]);
    let evaluation = allocator.evaluate(&node(WORKER), &claims, &mut Budget::unlimited().with_steps(3));
    assert_eq!((evaluation.len(), evaluation.interrupted, evaluation.steps), (0, Some(Interrupt::Steps), 3));
    let unfinished = evaluation.unfinished.expect("it was interrupted");
    let taken: Vec<_> =
        unfinished.taken.iter().map(|taken| format!("{} {} {}", taken.claim, taken.request, taken.device)).collect();
    assert_eq!(&*unfinished.node, WORKER);
    assert_eq!(
        taken,
        ["default/c gpus gpu.example.com/worker-1/gpu-0", "default/c gpus gpu.example.com/worker-1/gpu-1"]
    );
}

#[test]
fn search_that_is_not_wanted_any_more_does_not_begin() {
    let claims = [claim("c", vec![request("gpus", 8)])];
    let mut budget = Budget::unlimited().interrupted(Interrupt::Cancelled);
    let outcome =
        allocator([class()], vec![node_slice(WORKER, devices(8))]).allocate(&node(WORKER), &claims, &mut budget);
    assert_eq!((outcome.err(), budget.used()), (Some(Interrupt::Cancelled), 0));
}

#[test]
fn lenient_search_does_not_go_on_to_an_error() {
    let with = |name: &str, expression: &str| {
        let mut request = exactly(1);
        request.selectors = vec![selector(expression)];
        DeviceRequest { name: name.to_owned(), kind: RequestKind::Exactly(request) }
    };
    let main = with("main", &format!("has(device.attributes[\"{DRIVER}\"].main)"));
    let broken = with("broken", &format!("device.attributes[\"{DRIVER}\"].nope == 1"));
    // `any` takes the main device first and has to give it back; then `broken` is reached. There are never five more devices.
    let claims = [claim("c", vec![request("any", 1), main, broken, request("many", 5)])];
    let devices = vec![device_with("a", &[("main", "yes")]), device("b"), device("c")];
    let outcome = |strict| {
        let mut allocator = allocator([class()], vec![node_slice(WORKER, devices.clone())]).strict_errors(strict);
        allocator.allocate(&node(WORKER), &claims, &mut Budget::unlimited()).expect("it is not interrupted")
    };
    assert!(matches!(outcome(true), Outcome::Failed(AllocationError::SelectorRuntime { .. })));
    assert!(matches!(outcome(false), Outcome::Unallocatable));
}

#[test]
fn search_ends_when_the_caller_says_so() {
    let claims: Vec<_> = (0..64).map(|index| claim(&format!("c-{index}"), vec![request("gpus", 8)])).collect();
    let mut poll = || Some(Interrupt::Deadline);
    let mut budget = Budget::unlimited().with_poll(&mut poll);
    let outcome =
        allocator([class()], vec![node_slice(WORKER, devices(512))]).allocate(&node(WORKER), &claims, &mut budget);
    assert_eq!(outcome.err(), Some(Interrupt::Deadline));
}
