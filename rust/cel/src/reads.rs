//! What of a device an expression can read, so that devices which agree on that need to be evaluated once only.

use std::collections::BTreeSet;

/// The parts of a device that an expression can read.
///
/// Two devices that agree on these, and have no attribute without a readable value, give the same result.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reads {
    /// The attributes.
    pub attributes: Access,
    /// The capacities.
    pub capacity: Access,
    /// The driver's name.
    pub driver: bool,
    /// Whether several allocations are allowed.
    pub allow_multiple_allocations: bool,
}

/// Which entries of a map of the device an expression can read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// Any of them.
    All,
    /// Those with the domain and name given.
    Names(BTreeSet<(String, String)>),
}

impl Default for Access {
    fn default() -> Self {
        Self::Names(BTreeSet::new())
    }
}

impl Access {
    pub(crate) fn add(&mut self, domain: &str, name: &str) {
        if let Self::Names(names) = self {
            names.insert((domain.to_owned(), name.to_owned()));
        }
    }

    pub(crate) fn add_all(&mut self) {
        *self = Self::All;
    }
}

impl Reads {
    pub(crate) fn add_all(&mut self) {
        *self = Self { attributes: Access::All, capacity: Access::All, driver: true, allow_multiple_allocations: true };
    }
}
