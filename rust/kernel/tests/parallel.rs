//! Nodes that are searched on all cores have the answers of a search over one node after the other.
#![cfg(feature = "rayon")]

use drayman_api::{Object, ResourceClaim};
use drayman_kernel::{Budget, Compatibility, Evaluation, Features, Interrupt, Inventory};
use drayman_testkit::build::{DRIVER, claim, class, device_with, match_attribute, node_slice, request};

const NODES: usize = 700;

/// Nodes with two to nine devices in racks; the `uuid` makes each node different to a claim that compares it.
fn inventory() -> Inventory {
    let mut inventory = Inventory::new(Features::ALL, Compatibility::V1_37);
    inventory.apply_object(Object::DeviceClass(class()));
    for node in 0..NODES {
        let device = |index: usize| {
            let (rack, uuid) = (format!("{}", (node * 7 + index * index) % 3), format!("{node}-{index}"));
            device_with(&format!("gpu-{index}"), &[("rack", &rack), ("uuid", &uuid)])
        };
        let devices = (0..2 + node % 8).map(device).collect();
        inventory.apply_object(Object::ResourceSlice(node_slice(&format!("worker-{node:04}"), devices)));
    }
    inventory
}

fn claims() -> [ResourceClaim; 2] {
    let mut alike = claim("alike", vec![request("two", 2), request("one", 1)]);
    alike.spec.devices.constraints = vec![match_attribute(&format!("{DRIVER}/rack"))];
    let mut other = claim("other", vec![request("gpu", 1)]);
    other.spec.devices.constraints = vec![match_attribute(&format!("{DRIVER}/uuid"))];
    [alike, other]
}

/// What came out for a node, as text.
fn outcome(evaluation: &Evaluation, position: usize) -> String {
    match evaluation.outcome(position) {
        Some(drayman_kernel::Outcome::Allocated(allocated)) => {
            format!("{:?}", allocated.results(&mut |_: &ResourceClaim, _: usize| String::new()))
        }
        other => format!("{other:?}"),
    }
}

/// Name, outcome and steps of each node, searched by itself.
fn one_by_one(inventory: &mut Inventory) -> Vec<(String, String, u64)> {
    let names = inventory.node_names();
    let alone = names.into_iter().map(|name| {
        let evaluation = inventory.evaluate(&claims(), Some(&[&name]), &mut Budget::unlimited());
        let outcome = outcome(&evaluation, 0);
        (name, outcome, evaluation.steps)
    });
    alone.collect()
}

#[test]
fn answers_are_those_of_one_node_after_the_other() {
    let mut inventory = inventory();
    let evaluation = inventory.evaluate(&claims(), None, &mut Budget::unlimited());
    let expected = one_by_one(&mut inventory);
    let found =
        evaluation.nodes().enumerate().map(|(position, node)| (node.to_owned(), outcome(&evaluation, position)));
    assert_eq!(
        found.collect::<Vec<_>>(),
        expected.iter().map(|(name, found, _)| (name.clone(), found.clone())).collect::<Vec<_>>()
    );
    assert_eq!(evaluation.steps, expected.iter().map(|(_, _, steps)| steps).sum::<u64>());
    let fitting = (0..NODES).filter(|position| evaluation.fits(*position)).count();
    assert!(fitting > 100 && fitting < NODES - 100, "{fitting} nodes fit");
}

#[test]
fn budget_ends_where_it_ends_for_one_node_after_the_other() {
    let mut inventory = inventory();
    let expected = one_by_one(&mut inventory);
    let total: u64 = expected.iter().map(|(_, _, steps)| steps).sum();
    for most in [0, 1, 7, 100, total / 2, total - 1] {
        let evaluation = inventory.evaluate(&claims(), None, &mut Budget::unlimited().with_steps(most));
        let mut used = 0;
        let finished = expected.iter().take_while(|(_, _, steps)| {
            used += steps;
            used <= most
        });
        let finished = finished.count();
        assert_eq!((evaluation.len(), evaluation.interrupted), (finished, Some(Interrupt::Steps)));
        let unfinished = evaluation.unfinished.as_ref().map(|unfinished| unfinished.node.to_string());
        assert_eq!((unfinished.as_ref(), evaluation.steps), (Some(&expected[finished].0), most));
    }
}

#[test]
fn search_that_is_not_wanted_any_more_ends_at_the_first_node() {
    let mut poll = || Some(Interrupt::Cancelled);
    let mut budget = Budget::unlimited().with_poll(&mut poll);
    let evaluation = inventory().evaluate(&claims(), None, &mut budget);
    assert_eq!((evaluation.len(), evaluation.interrupted, evaluation.steps), (0, Some(Interrupt::Cancelled), 0));
}
