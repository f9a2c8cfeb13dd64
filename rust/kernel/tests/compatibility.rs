//! Where upstream 1.37.2 contradicts itself: what it does, and what it means to do.

use std::collections::BTreeMap;

use drayman_api::{
    AllocationMode, CapacityRequirements, Counter, CounterSet, Device, DeviceAttribute, DeviceCapacity,
    DeviceCounterConsumption, DeviceRequest, Quantity, RequestKind, ResourceClaim, ResourceSlice, SharedDeviceId,
};
use drayman_kernel::{AllocatedState, Allocator, Budget, Compatibility, Features, Outcome};
use drayman_testkit::build::{
    DRIVER, claim, class, device, exactly, match_attribute, named, node, node_slice, request,
};

const WORKER: &str = "worker-1";

fn outcome(
    compatibility: Compatibility,
    slices: &[ResourceSlice],
    state: &AllocatedState,
    claim: &ResourceClaim,
) -> Outcome {
    let features = Features::from_gates(["DRAAdminAccess", "DRAPartitionableDevices", "DRAConsumableCapacity"]);
    let mut allocator = Allocator::new(features, compatibility, state, [class()], slices.iter().cloned());
    let outcome = allocator.allocate(&node(WORKER), std::slice::from_ref(claim), &mut Budget::unlimited());
    outcome.expect("an unlimited budget is not interrupted")
}

/// Whether the claim fits under 1.37 and under the fixed behaviour.
fn fits(slices: &[ResourceSlice], state: &AllocatedState, claim: &ResourceClaim) -> (bool, bool) {
    let fits = |compatibility| match outcome(compatibility, slices, state, claim) {
        Outcome::Allocated(_) => true,
        Outcome::Unallocatable => false,
        Outcome::Failed(error) => unreachable!("the allocation failed: {error}"),
    };
    (fits(Compatibility::V1_37), fits(Compatibility::Fixed))
}

fn free() -> AllocatedState {
    AllocatedState::default()
}

fn quantity(text: &str) -> Quantity {
    text.parse().expect("a quantity")
}

#[test]
fn all_devices_of_an_incomplete_pool_fail_one_node_or_the_whole_attempt() {
    let mut slice = node_slice(WORKER, vec![device("gpu-0")]);
    slice.spec.pool.resource_slice_count = 2;
    let all = RequestKind::Exactly(drayman_api::ExactDeviceRequest {
        allocation_mode: Some(AllocationMode::All),
        count: None,
        ..exactly(1)
    });
    let claim = claim("c", vec![DeviceRequest { name: "gpus".to_owned(), kind: all }]);
    let error = |compatibility| match outcome(compatibility, std::slice::from_ref(&slice), &free(), &claim) {
        Outcome::Failed(error) => (error.to_string(), error.node_local()),
        other => unreachable!("no error: {other:?}"),
    };
    let text = "claim default/c, request gpus: asks for all devices, but resource pool gpu.example.com/worker-1 is currently being updated";
    assert_eq!(error(Compatibility::V1_37), (text.to_owned(), false));
    assert_eq!(error(Compatibility::Fixed), (text.to_owned(), true));
}

#[test]
fn slices_that_count_differently_make_a_pool_incomplete_or_are_believed_in_their_order() {
    let mut first = node_slice(WORKER, vec![device("gpu-0")]);
    let mut second = node_slice(WORKER, vec![device("gpu-1")]);
    first.spec.pool.resource_slice_count = 2;
    second.spec.pool.resource_slice_count = 3;
    second.metadata = named("worker-1-more");
    let claim = claim("c", vec![request("gpu", 1)]);
    assert_eq!(fits(&[first.clone(), second.clone()], &free(), &claim), (true, false));
    assert_eq!(fits(&[second, first], &free(), &claim), (false, false));
}

#[test]
fn capacity_with_and_without_its_domain_is_one_or_two() {
    let mut shared = device("gpu-0");
    shared.allow_multiple_allocations = Some(true);
    let capacity = DeviceCapacity { value: quantity("80Gi"), request_policy: None };
    shared.capacity.insert("memory".to_owned(), capacity);
    let mut wanted = exactly(1);
    let amounts = BTreeMap::from([(format!("{DRIVER}/memory"), quantity("40Gi"))]);
    wanted.capacity = Some(CapacityRequirements { requests: amounts });
    let claim = claim("c", vec![DeviceRequest { name: "gpu".to_owned(), kind: RequestKind::Exactly(wanted) }]);
    assert_eq!(fits(&[node_slice(WORKER, vec![shared])], &free(), &claim), (false, true));
}

#[test]
fn admin_access_is_charged_for_counters_or_not() {
    let amounts = || BTreeMap::from([("slices".to_owned(), Counter { value: quantity("2") })]);
    let whole = Device {
        consumes_counters: vec![DeviceCounterConsumption {
            counter_set: "card".to_owned(),
            counters: amounts(),
            compatibility_groups: Vec::new(),
        }],
        ..device("whole")
    };
    let mut devices = node_slice(WORKER, vec![whole]);
    devices.spec.pool.resource_slice_count = 2;
    let mut counters = devices.clone();
    counters.metadata = named("worker-1-counters");
    counters.spec.devices.clear();
    counters.spec.shared_counters = vec![CounterSet { name: "card".to_owned(), counters: amounts() }];
    let mut monitor = exactly(1);
    monitor.admin_access = Some(true);
    let claim = claim("c", vec![DeviceRequest { name: "monitor".to_owned(), kind: RequestKind::Exactly(monitor) }]);
    let held = format!("{DRIVER}/{WORKER}/whole").parse().expect("an ID");
    let state = AllocatedState { devices: vec![held], ..free() };
    assert_eq!(fits(&[devices, counters], &state, &claim), (false, true));
}

#[test]
fn device_that_is_no_longer_shareable_is_given_out_beside_a_share_or_not() {
    let share =
        SharedDeviceId { device: format!("{DRIVER}/{WORKER}/gpu-0").parse().expect("an ID"), share_id: "a".to_owned() };
    let state = AllocatedState { shared: vec![share], ..free() };
    let claim = claim("c", vec![request("gpu", 1)]);
    assert_eq!(fits(&[node_slice(WORKER, vec![device("gpu-0")])], &state, &claim), (true, false));
}

#[test]
fn versions_that_differ_in_build_metadata_match_or_not() {
    let versioned = |name: &str, version: &str| Device {
        attributes: BTreeMap::from([("firmware".to_owned(), DeviceAttribute::Version(version.to_owned()))]),
        ..device(name)
    };
    let devices = vec![versioned("gpu-0", "1.0.0+a"), versioned("gpu-1", "1.0.0+b")];
    let mut claim = claim("c", vec![request("gpus", 2)]);
    claim.spec.devices.constraints = vec![match_attribute("gpu.example.com/firmware")];
    assert_eq!(fits(&[node_slice(WORKER, devices)], &free(), &claim), (false, true));
}

#[test]
fn slice_whose_node_selector_cannot_be_parsed_fails_the_attempt_or_serves_no_node() {
    let mut broken = node_slice(WORKER, vec![device("gpu-9")]);
    broken.metadata = named("broken");
    "elsewhere".clone_into(&mut broken.spec.pool.name);
    broken.spec.node_name = None;
    let term = serde_json::json!({"matchExpressions": [{"key": "zone", "operator": "Near", "values": ["a"]}]});
    broken.spec.node_selector =
        serde_json::from_value(serde_json::json!({"nodeSelectorTerms": [term]})).expect("a selector");
    let slices = [broken, node_slice(WORKER, vec![device("gpu-0")])];
    let claim = claim("c", vec![request("gpu", 1)]);
    match outcome(Compatibility::V1_37, &slices, &free(), &claim) {
        Outcome::Failed(error) => {
            let text = error.to_string();
            assert!(
                text.contains("failed to perform node selection for slice broken") && !error.node_local(),
                "{text}"
            );
        }
        other => unreachable!("no error: {other:?}"),
    }
    assert!(matches!(outcome(Compatibility::Fixed, &slices, &free(), &claim), Outcome::Allocated(_)));
}
