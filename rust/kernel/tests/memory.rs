//! An inventory holds what there is, not what there was: everything that is kept shows in its text.

use drayman_api::{Object, ResourceSlice};
use drayman_kernel::{Budget, Compatibility, Features, Inventory};
use drayman_testkit::build::{claim, class, device, node, node_slice, request};

fn inventory() -> Inventory {
    let mut inventory = Inventory::new(Features::ALL, Compatibility::V1_37);
    inventory.apply_object(Object::DeviceClass(class()));
    inventory
}

fn slice(pool: &str, generation: i64) -> ResourceSlice {
    let mut slice = node_slice(pool, vec![device("gpu-0")]);
    slice.spec.pool.generation = generation;
    slice
}

/// What is kept, in bytes of text, after changes that nobody asks about.
fn kept_of(changes: impl IntoIterator<Item = i64>, change: impl Fn(&mut Inventory, i64)) -> usize {
    let mut inventory = inventory();
    changes.into_iter().for_each(|number| change(&mut inventory, number));
    format!("{inventory:?}").len()
}

/// Ten times the changes leave no more behind than what had room before.
fn assert_flat(change: impl Fn(&mut Inventory, i64) + Copy) {
    let (some, many) = (kept_of(0..6_000, change), kept_of(0..60_000, change));
    assert!(many < 2 * some, "{some} bytes of text after some changes, {many} after ten times as many");
}

#[test]
fn pools_that_come_and_go_while_nobody_asks_are_forgotten() {
    assert_flat(|inventory, number| {
        let name = format!("pool-{number}");
        inventory.apply_object(Object::ResourceSlice(slice(&name, number)));
        inventory.remove("ResourceSlice", "", &format!("{name}-slice"));
    });
}

#[test]
fn nodes_that_a_slice_named_while_nobody_asked_are_forgotten() {
    assert_flat(|inventory, number| {
        let mut moving = slice("pool", number);
        moving.spec.node_name = Some(format!("worker-{number}"));
        inventory.apply_object(Object::ResourceSlice(moving));
    });
}

#[test]
fn nodes_that_come_and_go_while_nobody_asks_are_forgotten() {
    assert_flat(|inventory, number| {
        inventory.apply_object(Object::Node(node(&format!("worker-{number}"))));
        inventory.remove("Node", "", &format!("worker-{number}"));
    });
}

#[test]
fn nodes_that_are_asked_about_one_by_one_are_forgotten() {
    let wanted = [claim("wanted", vec![request("gpu", 1)])];
    assert_flat(|inventory, number| {
        let name = format!("worker-{number}");
        inventory.apply_object(Object::Node(node(&name)));
        inventory.evaluate(&wanted, Some(&[&name]), &mut Budget::unlimited());
        inventory.remove("Node", "", &name);
    });
}

#[test]
fn node_that_does_not_exist_is_answered_for_and_forgotten() {
    let (mut inventory, wanted) = (inventory(), [claim("wanted", vec![request("gpu", 1)])]);
    inventory.apply_object(Object::ResourceSlice(slice("worker", 1)));
    for _ in 0..2 {
        let evaluation = inventory.evaluate(&wanted, Some(&["nowhere", "worker"]), &mut Budget::unlimited());
        assert_eq!((evaluation.len(), evaluation.fits(0), evaluation.fits(1)), (2, false, true));
    }
    assert_eq!(inventory.node_names(), ["worker"]);
    assert_eq!(inventory.evaluate(&wanted, None, &mut Budget::unlimited()).len(), 1);
}
