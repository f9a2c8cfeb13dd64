//! One allocation against explicitly given objects and state, as upstream's `Allocate` takes them.

use std::collections::BTreeMap;

use drayman_api::{DeviceClass, DeviceId, Node, Object, Quantity, ResourceClaim, ResourceSlice, SharedDeviceId};

use crate::budget::{Budget, Interrupt};
use crate::explain::{Depth, Explanation};
use crate::features::{Compatibility, Features};
use crate::inventory::usage::Holding;
use crate::inventory::{Evaluation, Inventory, Outcome};

/// What is held already.
#[derive(Clone, Debug, Default)]
pub struct AllocatedState {
    /// Devices that are held alone.
    pub devices: Vec<DeviceId>,
    /// Shares of devices.
    pub shared: Vec<SharedDeviceId>,
    /// Capacity that is taken, by device and name.
    pub consumed_capacity: BTreeMap<DeviceId, BTreeMap<String, Quantity>>,
}

/// Allocates against a fixed set of slices and classes and a fixed state.
#[derive(Debug)]
pub struct Allocator {
    inventory: Inventory,
}

impl Allocator {
    /// Slices are used in the order given, where upstream's answer depends on it.
    pub fn new(
        features: Features,
        compatibility: Compatibility,
        state: &AllocatedState,
        classes: impl IntoIterator<Item = DeviceClass>,
        slices: impl IntoIterator<Item = ResourceSlice>,
    ) -> Self {
        let mut inventory = Inventory::new(features, compatibility);
        for class in classes {
            inventory.apply_object(Object::DeviceClass(class));
        }
        for (position, slice) in slices.into_iter().enumerate() {
            inventory.add_slice(format!("{position}"), slice);
        }
        inventory.hold(state);
        Self { inventory }
    }

    /// As [`Inventory::strict_errors`].
    #[must_use]
    pub fn strict_errors(mut self, strict: bool) -> Self {
        self.inventory = self.inventory.strict_errors(strict);
        self
    }

    /// Looks for devices for all claims on a node. Nothing is held afterwards; fails only when the budget is used up.
    pub fn allocate(
        &mut self,
        node: &Node,
        claims: &[ResourceClaim],
        budget: &mut Budget<'_>,
    ) -> Result<Outcome, Interrupt> {
        let evaluation = self.evaluate(node, claims, budget);
        evaluation.outcome(0).ok_or(evaluation.interrupted.unwrap_or(Interrupt::Cancelled))
    }

    /// As [`Allocator::allocate`]: the outcome, unless the budget was used up, and the work that it took.
    pub fn evaluate(&mut self, node: &Node, claims: &[ResourceClaim], budget: &mut Budget<'_>) -> Evaluation {
        self.inventory.apply_object(Object::Node(node.clone()));
        self.inventory.evaluate(claims, Some(&[&node.metadata.name]), budget)
    }

    /// Why the claims do not fit on a node.
    pub fn explain(&mut self, node: &Node, claims: &[ResourceClaim], depth: Depth) -> Explanation {
        self.inventory.apply_object(Object::Node(node.clone()));
        self.inventory.explain(claims, &[&node.metadata.name], depth)
    }
}

impl Inventory {
    /// Adds to what is held, beside what claims hold.
    fn hold(&mut self, state: &AllocatedState) {
        for device in &state.devices {
            self.hold_one(device, Holding::Exclusive);
        }
        for share in &state.shared {
            self.hold_one(&share.device, Holding::Share { id: share.share_id.clone(), amounts: None });
        }
        for (device, amounts) in &state.consumed_capacity {
            self.hold_one(device, Holding::Capacity(amounts.clone()));
        }
    }
}
