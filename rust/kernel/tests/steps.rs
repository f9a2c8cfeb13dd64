//! Searches that cost upstream exponential time take few steps here.

use drayman_api::{
    ConstraintKind, Counter, CounterSet, Device, DeviceClass, DeviceConstraint, DeviceCounterConsumption,
    DeviceRequest, DeviceSelector, DeviceSubRequest, ExactDeviceRequest, Object, Quantity, RequestKind, ResourceClaim,
    ResourceSlice,
};
use drayman_kernel::{
    AllocatedState, AllocationError, Allocator, Budget, Compatibility, Features, Interrupt, Inventory, Outcome,
};
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

#[test]
fn constraint_that_only_the_last_request_breaks_is_refused_in_few_steps() {
    let gpus = (0..16).map(|index| device_with(&format!("gpu-{index:02}"), &[("kind", "gpu"), ("root", "root-0")]));
    let nic = device_with("nic-0", &[("kind", "nic"), ("root", "root-1")]);
    let mut requests: Vec<_> = (0..8).map(|index| of_kind(&format!("gpu-{index}"), "gpu")).collect();
    requests.push(of_kind("nic", "nic"));
    let mut wanted = claim("c", requests);
    wanted.spec.devices.constraints = vec![match_attribute("gpu.example.com/root")];
    let (fits, steps) = search(vec![node_slice(WORKER, gpus.chain([nic]).collect())], &[wanted]);
    assert!(!fits);
    assert_few(steps, 40);
}

#[test]
fn lists_of_alternatives_before_an_impossible_request_do_not_multiply() {
    let devices = (0..12).map(|index| device_with(&format!("gpu-{index:02}"), &[("kind", "gpu")]));
    let mut requests: Vec<_> = (0..9).map(|index| alternatives(&format!("list-{index}"), 8)).collect();
    requests.push(of_kind("never", "other"));
    let (fits, steps) = search(vec![node_slice(WORKER, devices.collect())], &[claim("c", requests)]);
    assert!(!fits);
    assert_few(steps, 100);
}

#[test]
fn lists_of_alternatives_for_too_few_devices_do_not_multiply() {
    let requests = (0..9).map(|index| alternatives(&format!("list-{index}"), 8)).collect();
    let devices = (0..8).map(|index| device_with(&format!("gpu-{index}"), &[("kind", "gpu")])).collect();
    let (fits, steps) = search(vec![node_slice(WORKER, devices)], &[claim("c", requests)]);
    assert!(!fits);
    assert_few(steps, 200);
}

#[test]
fn different_values_for_more_devices_than_there_are_values_are_refused_in_few_steps() {
    let devices = (0..24).map(|index| device_with(&format!("gpu-{index:02}"), &[("rack", &format!("{}", index % 5))]));
    let mut wanted = claim("c", (0..6).map(|index| request(&format!("gpu-{index}"), 1)).collect());
    wanted.spec.devices.constraints = vec![distinct_attribute("gpu.example.com/rack")];
    let (fits, steps) = search(vec![node_slice(WORKER, devices.collect())], &[wanted]);
    assert!(!fits);
    assert_few(steps, 40);
}

#[test]
fn more_shares_than_the_capacity_of_all_devices_are_refused_in_few_steps() {
    let shares = (0..11).map(|index| share(&format!("share-{index}"), "30Gi")).collect();
    let (fits, steps) = search(vec![node_slice(WORKER, (0..5).map(shared).collect())], &[claim("c", shares)]);
    assert!(!fits);
    assert_few(steps, 60);
}

#[test]
fn pairs_under_one_root_with_a_partner_missing_are_refused_in_few_steps() {
    let gpus =
        (0..8).map(|index| device_with(&format!("gpu-{index}"), &[("kind", "gpu"), ("root", &format!("{index}"))]));
    // Root 0 has two, and root 7 none.
    let nics = (0..8)
        .map(|index| device_with(&format!("nic-{index}"), &[("kind", "nic"), ("root", &format!("{}", index % 7))]));
    let slices = vec![node_slice(WORKER, gpus.chain(nics).collect())];
    let pair = |index: usize| [of_kind(&format!("gpu-{index}"), "gpu"), of_kind(&format!("nic-{index}"), "nic")];
    let mut together = claim("c", (0..8).flat_map(pair).collect());
    let one_root = |index: usize| DeviceConstraint {
        requests: vec![format!("gpu-{index}"), format!("nic-{index}")],
        ..match_attribute("gpu.example.com/root")
    };
    together.spec.devices.constraints = (0..8).map(one_root).collect();
    let apart = (0..8).map(|index| {
        let mut claim = claim(&format!("c-{index}"), pair(index).into());
        claim.spec.devices.constraints = vec![match_attribute("gpu.example.com/root")];
        claim
    });
    for claims in [vec![together], apart.collect()] {
        let (fits, steps) = search(slices.clone(), &claims);
        assert!(!fits);
        assert_few(steps, 60);
        let (fits, steps) = search(slices.clone(), &without_last_pair(claims));
        assert!(fits);
        assert_few(steps, 60);
    }
}

/// The same claims without what is asked for last: one GPU and one NIC.
fn without_last_pair(mut claims: Vec<ResourceClaim>) -> Vec<ResourceClaim> {
    if claims.len() > 1 {
        claims.pop();
    } else if let Some(claim) = claims.first_mut() {
        claim.spec.devices.requests.truncate(14);
        claim.spec.devices.constraints.truncate(7);
    }
    claims
}

#[test]
fn shares_of_two_sizes_that_fill_all_devices_leave_nothing_for_one_more() {
    let devices = || vec![node_slice(WORKER, (0..6).map(shared).collect())];
    let mut shares: Vec<_> = (0..6).map(|index| share(&format!("small-{index}"), "30Gi")).collect();
    shares.extend((0..6).map(|index| share(&format!("large-{index}"), "50Gi")));
    let (fits, _) = search(devices(), &[claim("c", shares.clone())]);
    assert!(fits);
    shares.push(share("more", "10Gi"));
    let (fits, steps) = search(devices(), &[claim("c", shares)]);
    assert!(!fits);
    assert_few(steps, 400);
}

#[test]
fn all_nodes_but_one_are_too_small_and_none_is_searched_for_long() {
    let mut inventory = Inventory::new(Features::ALL, Compatibility::V1_37);
    inventory.apply_object(Object::DeviceClass(class()));
    for (index, count) in [31, 31, 30, 32, 31].into_iter().enumerate() {
        inventory.apply_object(Object::ResourceSlice(node_slice(&format!("worker-{index}"), devices(count))));
    }
    let evaluation = inventory.evaluate(&[claim("c", vec![request("gpus", 32)])], None, &mut Budget::unlimited());
    let fitting: Vec<_> = (0..evaluation.len()).map(|position| evaluation.fits(position)).collect();
    assert_eq!(fitting, [false, false, false, true, false]);
    assert_few(evaluation.steps, 110);
}

/// A device of which shares are given out.
fn shared(index: usize) -> Device {
    let device = serde_json::json!({"name": format!("gpu-{index}"), "allowMultipleAllocations": true,
        "capacity": {"memory": {"value": "80Gi"}}});
    serde_json::from_value(device).expect("a device")
}

/// A request for a share of a device.
fn share(name: &str, memory: &str) -> DeviceRequest {
    let mut wanted = exactly(1);
    wanted.capacity = serde_json::from_value(serde_json::json!({"requests": {"memory": memory}})).expect("a capacity");
    DeviceRequest { name: name.to_owned(), kind: RequestKind::Exactly(wanted) }
}

fn kind_selector(kind: &str) -> DeviceSelector {
    selector(&format!("device.attributes[\"{DRIVER}\"].?kind.orValue(\"\") == \"{kind}\""))
}

/// One device whose attribute `kind` has this value.
fn of_kind(name: &str, kind: &str) -> DeviceRequest {
    let wanted = ExactDeviceRequest { selectors: vec![kind_selector(kind)], ..exactly(1) };
    DeviceRequest { name: name.to_owned(), kind: RequestKind::Exactly(wanted) }
}

/// A request for a GPU with several alternatives, each of which any GPU satisfies.
fn alternatives(name: &str, count: usize) -> DeviceRequest {
    let alternative = |index: usize| {
        let request = ExactDeviceRequest { selectors: vec![kind_selector("gpu")], ..exactly(1) };
        DeviceSubRequest { name: format!("choice-{index}"), request }
    };
    DeviceRequest { name: name.to_owned(), kind: RequestKind::FirstAvailable((0..count).map(alternative).collect()) }
}

fn distinct_attribute(attribute: &str) -> DeviceConstraint {
    DeviceConstraint { requests: Vec::new(), kind: ConstraintKind::DistinctAttribute(attribute.to_owned()) }
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
