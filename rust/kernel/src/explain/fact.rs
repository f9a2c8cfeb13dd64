//! Facts: what is against a device, a pool or a claim.

use drayman_cel::{Reason, Seen};

use crate::error::SelectorSource;

/// What is against devices, pools or claims, without the names of those it is about: two nodes with the same troubles have the same kinds.
/// The codes are stable and listed in `docs/explain.md`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FactKind {
    /// The node sees no pool.
    NoPool,
    /// Slices of a pool are missing.
    PoolIncomplete {
        /// The pool's newest generation.
        generation: i64,
        /// Slices of it that are there.
        present: usize,
        /// Slices that there should be.
        expected: i64,
        /// What else is wrong with their number.
        reason: String,
    },
    /// The slices of a pool that the node reaches are older than others.
    PoolOutdated {
        /// Their generation.
        generation: i64,
        /// The pool's newest generation.
        newest: i64,
    },
    /// Slices of a pool contradict each other.
    PoolInvalid {
        /// How.
        reason: String,
    },
    /// Another claim holds the device.
    DeviceHeld {
        /// A taint that would keep the request away if nobody held it, as kubectl writes it.
        taint: Option<String>,
    },
    /// A selector says no.
    SelectorFalse {
        /// Where it stands.
        source: SelectorSource,
        /// Its position there.
        index: usize,
        /// Of its parts that must all be true, how many are not.
        failing: usize,
        /// How many such parts there are.
        conjuncts: usize,
        /// The parts at fault; what they saw stands in the fact.
        reasons: Vec<Reason>,
    },
    /// A selector fails.
    SelectorFailed {
        /// Where it stands.
        source: SelectorSource,
        /// Its position there.
        index: usize,
        /// How.
        error: String,
        /// The selector, written so that what is missing does not make it fail.
        guarded: Option<String>,
    },
    /// A selector does not compile.
    SelectorInvalid {
        /// Where it stands.
        source: SelectorSource,
        /// Its position there.
        index: usize,
        /// Why.
        error: String,
    },
    /// The expression of a derived attribute fails.
    DerivedAttributeFailed {
        /// How.
        error: String,
    },
    /// The node does not reach the device.
    DeviceNotOnNode,
    /// The node selector of the device cannot be used.
    NodeSelectorUnusable {
        /// Why.
        error: String,
    },
    /// The device does not have a requested capacity.
    CapacityMissing {
        /// Name of the capacity.
        capacity: String,
    },
    /// The device never has the requested capacity.
    CapacityTooSmall {
        /// What is asked for.
        asked: CapacityAsked,
        /// What the device has.
        total: String,
    },
    /// The policy of the device refuses the amount.
    CapacityRefused {
        /// What is asked for.
        asked: CapacityAsked,
        /// What the policy allows.
        policy: String,
    },
    /// Others have taken too much of the device's capacity.
    CapacityTaken {
        /// What is asked for.
        asked: CapacityAsked,
        /// What is left.
        left: String,
        /// What the device has.
        total: String,
    },
    /// The requested capacity cannot be computed with.
    CapacityFailed {
        /// Why.
        error: String,
    },
    /// Too little is left of a counter.
    CounterShort {
        /// Name of the counter.
        counter: String,
        /// What the device takes of it.
        needed: String,
    },
    /// More is taken from the pool's counters than there is.
    PoolOvercommitted {
        /// Name of a counter that is below zero.
        counter: String,
    },
    /// The device does not go together with others on its counter set.
    GroupsIncompatible,
    /// The device has a taint that the request does not tolerate.
    Tainted {
        /// Its key.
        key: String,
        /// Its value.
        value: String,
        /// Its effect.
        effect: String,
    },
    /// The device lacks an attribute that a constraint compares.
    AttributeMissing {
        /// Fully qualified name.
        attribute: String,
        /// An attribute with nearly the same name that the device has.
        similar: Option<String>,
    },
    /// The attribute has a value that no constraint accepts.
    AttributeNotComparable {
        /// Fully qualified name.
        attribute: String,
    },
    /// The device needs a feature that is off.
    FeatureOff {
        /// Its gate.
        gate: &'static str,
    },
    /// The device needs a feature that the kubelet of the node does not declare.
    NodeLacksFeature {
        /// Its gate.
        gate: &'static str,
    },
    /// All devices are asked for, which are more than an allocation can hold.
    TooManyDevices {
        /// How many there are.
        devices: usize,
        /// How many an allocation can hold.
        limit: i64,
    },
}

/// A capacity that a request asks for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CapacityAsked {
    /// Name of the capacity.
    pub capacity: String,
    /// What the request names; nothing where the device's default counts.
    pub requested: Option<String>,
    /// What that comes to by the device's policy.
    pub amount: String,
    /// The most that one could ask for.
    pub most: Option<String>,
}

impl CapacityAsked {
    fn text(&self) -> String {
        let Self { capacity, requested, amount, .. } = self;
        match requested {
            Some(requested) if requested != amount => format!("`{capacity}` {requested}, rounded to {amount}"),
            Some(requested) => format!("`{capacity}` {requested}"),
            None => format!("`{capacity}` {amount} by default"),
        }
    }
}

impl FactKind {
    /// The stable name of what the fact says.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoPool => "no-pool",
            Self::PoolIncomplete { .. } => "pool-incomplete",
            Self::PoolOutdated { .. } => "pool-outdated",
            Self::PoolInvalid { .. } => "pool-invalid",
            Self::DeviceHeld { .. } => "device-held",
            Self::SelectorFalse { source: SelectorSource::Class(_), .. } => "class-selector-false",
            Self::SelectorFalse { .. } => "selector-false",
            Self::SelectorFailed { .. } => "selector-failed",
            Self::SelectorInvalid { .. } => "selector-invalid",
            Self::DerivedAttributeFailed { .. } => "derived-attribute-failed",
            Self::DeviceNotOnNode => "device-not-on-node",
            Self::NodeSelectorUnusable { .. } => "node-selector-unusable",
            Self::CapacityMissing { .. } => "capacity-missing",
            Self::CapacityTooSmall { .. } => "capacity-too-small",
            Self::CapacityRefused { .. } => "capacity-refused",
            Self::CapacityTaken { .. } => "capacity-taken",
            Self::CapacityFailed { .. } => "capacity-failed",
            Self::CounterShort { .. } => "counter-short",
            Self::PoolOvercommitted { .. } => "pool-overcommitted",
            Self::GroupsIncompatible => "groups-incompatible",
            Self::Tainted { .. } => "taint-not-tolerated",
            Self::AttributeMissing { .. } => "attribute-missing",
            Self::AttributeNotComparable { .. } => "attribute-not-comparable",
            Self::FeatureOff { .. } => "feature-off",
            Self::NodeLacksFeature { .. } => "node-lacks-feature",
            Self::TooManyDevices { .. } => "too-many-devices",
        }
    }

    /// What the fact says, without the devices it is about and without what selectors saw.
    pub fn message(&self) -> String {
        match self {
            Self::NoPool => "the node has no devices".to_owned(),
            Self::PoolIncomplete { generation, present, expected, reason } => {
                let slices = slices(*generation, *present, *expected);
                let why = if reason.is_empty() { slices } else { format!("{reason} ({slices})") };
                format!("pool is incomplete or being updated: {why}")
            }
            Self::PoolOutdated { generation, newest } => format!(
                "pool is being updated: its slices for this node are of generation {generation}, elsewhere there is {newest}"
            ),
            Self::PoolInvalid { reason } => format!("pool is invalid: {reason}"),
            Self::DeviceHeld { taint: None } => "in use".to_owned(),
            Self::DeviceHeld { taint: Some(taint) } => format!("taint `{taint}` is not tolerated, and in use"),
            Self::SelectorFalse { source, index, .. } => format!("{} is false", selector(source, *index)),
            Self::SelectorFailed { source, index, error, .. } => format!("{} fails: {error}", selector(source, *index)),
            Self::SelectorInvalid { source, index, error } => {
                format!("{} does not compile: {error}", selector(source, *index))
            }
            Self::DerivedAttributeFailed { error } | Self::CapacityFailed { error } => error.clone(),
            Self::DeviceNotOnNode => "not reachable from the node".to_owned(),
            Self::NodeSelectorUnusable { error } => format!("node selector cannot be used: {error}"),
            Self::CapacityMissing { capacity } => format!("without capacity `{capacity}`"),
            Self::CapacityTooSmall { asked, total } => format!("too small: asks for {}, has {total}", asked.text()),
            Self::CapacityRefused { asked, policy } => {
                format!("refuses the amount: asks for {}, allows {policy}", asked.text())
            }
            Self::CapacityTaken { asked, left, total } => {
                format!("too little left: asks for {}, {left} of {total} left", asked.text())
            }
            Self::CounterShort { counter, needed } => format!("counter `{counter}` is short: needs {needed}"),
            Self::PoolOvercommitted { counter } => {
                format!("more is in use than there is of counter `{counter}`: nothing more is given out of the pool")
            }
            Self::GroupsIncompatible => "compatibility groups differ from those of devices in use".to_owned(),
            Self::Tainted { .. } => format!("taint `{}` is not tolerated", self.taint()),
            Self::AttributeMissing { attribute, similar: None } => format!("without attribute `{attribute}`"),
            Self::AttributeMissing { attribute, similar: Some(similar) } => {
                format!("without attribute `{attribute}`, but with `{similar}`")
            }
            Self::AttributeNotComparable { attribute } => {
                format!("attribute `{attribute}` is an empty list or of an unknown type")
            }
            Self::FeatureOff { gate } => format!("needs the feature gate `{gate}`, which is off"),
            Self::NodeLacksFeature { gate } => format!("needs the feature `{gate}`, which the node does not declare"),
            Self::TooManyDevices { devices, limit } => {
                format!("all {devices} devices are asked for, but an allocation holds at most {limit}")
            }
        }
    }

    /// A taint as kubectl writes it: `key=value:effect`.
    pub(crate) fn taint(&self) -> String {
        match self {
            Self::Tainted { key, value, effect } if value.is_empty() => format!("{key}:{effect}"),
            Self::Tainted { key, value, effect } => format!("{key}={value}:{effect}"),
            _ => String::new(),
        }
    }

    /// Whether a request for all devices fails because of one such device.
    pub(crate) fn blocks_all(&self) -> bool {
        !matches!(
            self,
            Self::SelectorFalse { .. }
                | Self::DeviceNotOnNode
                | Self::NodeSelectorUnusable { .. }
                | Self::CapacityMissing { .. }
                | Self::CapacityTooSmall { .. }
                | Self::CapacityRefused { .. }
        )
    }
}

/// How many slices of a pool are there, and how many they say that there should be.
pub(super) fn slices(generation: i64, present: usize, expected: i64) -> String {
    if usize::try_from(expected).is_ok_and(|expected| expected >= present) {
        return format!("{present} of {expected} slices of generation {generation} are there");
    }
    let are = if present == 1 { "is" } else { "are" };
    format!("its slices declare resourceSliceCount {expected}, but {present} of generation {generation} {are} there")
}

fn selector(source: &SelectorSource, index: usize) -> String {
    match source {
        SelectorSource::Class(name) => format!("selector #{index} of class `{name}`"),
        SelectorSource::Claim(_) => format!("selector #{index} of the request"),
    }
}

/// Who holds devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// `namespace/name` of the claim, if it is known.
    pub claim: Option<String>,
    /// Pods that the claim is reserved for.
    pub pods: Vec<String>,
    /// How many of the devices.
    pub devices: usize,
}

/// What a selector saw on devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// Values, by the parts at fault.
    pub seen: Vec<Seen>,
    /// On how many devices.
    pub devices: usize,
}

/// A counter of a pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterState {
    /// Its counter set.
    pub set: String,
    /// Its name.
    pub counter: String,
    /// What is left.
    pub left: String,
    /// What there is.
    pub total: String,
}

/// One fact, about so many devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// What it says.
    pub kind: FactKind,
    /// `driver/pool`, where it is about one pool.
    pub pool: Option<String>,
    /// How many devices it is about; none where it is about no device in particular.
    pub count: usize,
    /// The first of them.
    pub examples: Vec<String>,
    /// Who holds the devices, or what they need: those with the most devices first.
    pub holders: Vec<Holder>,
    /// What a selector saw: what most devices have first.
    pub sightings: Vec<Sighting>,
    /// The counters that are short.
    pub counters: Vec<CounterState>,
    /// The attribute `profile` of the first device: drivers name partitions by it.
    pub profile: Option<String>,
}

impl Fact {
    /// A fact about no device in particular.
    pub(crate) fn general(kind: FactKind) -> Self {
        Self {
            kind,
            pool: None,
            count: 0,
            examples: Vec::new(),
            holders: Vec::new(),
            sightings: Vec::new(),
            counters: Vec::new(),
            profile: None,
        }
    }
}
