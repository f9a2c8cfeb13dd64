//! Asks the search itself what would be, on a small copy of what one node sees.

use drayman_api::ResourceClaim;

use crate::budget::Budget;
use crate::explain::remedy::Remedy;
use crate::features::Features;
use crate::inventory::{Inventory, Outcome};

/// One node, and the claims that do not fit there.
pub(super) struct Trial<'a> {
    inventory: &'a Inventory,
    /// What the node sees.
    pub(super) excerpt: Inventory,
    pub(super) node: &'a str,
    pub(super) claims: &'a [ResourceClaim],
    pub(super) budget: Budget<'static>,
}

/// What came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Fits,
    DoesNotFit,
    /// It ends with an error.
    Fails,
    /// The budget is used up.
    Unknown,
}

impl<'a> Trial<'a> {
    pub(super) fn new(inventory: &'a Inventory, node: &'a str, claims: &'a [ResourceClaim], steps: u64) -> Self {
        let excerpt = inventory.excerpt(node, inventory.features());
        Self { inventory, excerpt, node, claims, budget: Budget::unlimited().with_steps(steps) }
    }

    pub(super) fn features(&self) -> Features {
        self.inventory.features()
    }

    /// What the classes are.
    pub(super) fn inventory(&self) -> &Inventory {
        self.inventory
    }

    /// Whether the claims fit as things are.
    pub(super) fn as_is(&mut self) -> Answer {
        let claims = self.claims;
        self.ask(self.excerpt.clone(), claims)
    }

    /// Whether a change makes the claims fit.
    pub(super) fn helps(&mut self, change: &Remedy) -> bool {
        let features = change.features(self.features());
        let mut inventory =
            if features == self.features() { self.excerpt.clone() } else { self.excerpt.excerpt(self.node, features) };
        let mut claims = self.claims.to_vec();
        change.apply(&mut inventory, &mut claims) && self.ask(inventory, &claims) == Answer::Fits
    }

    /// What comes out with other claims, when some that hold devices give them back.
    pub(super) fn without(&mut self, freed: &[&str], claims: &[ResourceClaim]) -> Answer {
        let mut inventory = self.excerpt.clone();
        for claim in freed {
            inventory.free(claim);
        }
        self.ask(inventory, claims)
    }

    fn ask(&mut self, mut inventory: Inventory, claims: &[ResourceClaim]) -> Answer {
        let evaluation = inventory.evaluate(claims, Some(&[self.node]), &mut self.budget);
        match evaluation.outcome(0) {
            Some(Outcome::Allocated(_)) => Answer::Fits,
            Some(Outcome::Unallocatable) => Answer::DoesNotFit,
            Some(Outcome::Failed(_)) => Answer::Fails,
            None => Answer::Unknown,
        }
    }
}
