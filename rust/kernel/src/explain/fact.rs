//! Facts: what is against a device or pool.

use drayman_api::DeviceTaint;

use crate::error::SelectorSource;

/// What is against devices or pools. The codes are stable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FactKind {
    /// The node sees no pool.
    NoPool,
    /// Slices of a pool are missing.
    PoolIncomplete {
        /// `driver/pool`.
        pool: String,
    },
    /// Slices of a pool contradict each other.
    PoolInvalid {
        /// `driver/pool`.
        pool: String,
        /// How.
        reason: String,
    },
    /// Another claim holds the device.
    DeviceHeld {
        /// `namespace/name` of the claim, if it is known.
        by: Option<String>,
    },
    /// A selector says no.
    SelectorFalse {
        /// Where it stands.
        source: SelectorSource,
        /// Its position there.
        index: usize,
    },
    /// A selector, or the expression of a derived attribute, fails.
    SelectorFailed {
        /// How.
        error: String,
    },
    /// The node does not reach the device.
    DeviceNotOnNode,
    /// The device does not have a requested capacity.
    CapacityMissing,
    /// The device never has the requested capacity.
    CapacityTooSmall,
    /// Others have taken too much of the device's capacity.
    CapacityTaken,
    /// The requested capacity cannot be computed with.
    CapacityFailed {
        /// Why.
        error: String,
    },
    /// Too little is left of a counter.
    CounterShort {
        /// `counter set/counter`.
        counter: String,
    },
    /// More is taken from the pool's counters than there is.
    PoolOvercommitted {
        /// `driver/pool`.
        pool: String,
    },
    /// The device does not go together with others on its counter set.
    GroupsIncompatible,
    /// The device has a taint that the request does not tolerate.
    Tainted {
        /// The taint.
        taint: DeviceTaint,
    },
    /// The device lacks an attribute that a constraint compares.
    AttributeMissing {
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
}

impl FactKind {
    /// The stable name of what the fact says.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoPool => "no-pool",
            Self::PoolIncomplete { .. } => "pool-incomplete",
            Self::PoolInvalid { .. } => "pool-invalid",
            Self::DeviceHeld { .. } => "device-held",
            Self::SelectorFalse { .. } => "selector-false",
            Self::SelectorFailed { .. } => "selector-failed",
            Self::DeviceNotOnNode => "device-not-on-node",
            Self::CapacityMissing => "capacity-missing",
            Self::CapacityTooSmall => "capacity-too-small",
            Self::CapacityTaken => "capacity-taken",
            Self::CapacityFailed { .. } => "capacity-failed",
            Self::CounterShort { .. } => "counter-short",
            Self::PoolOvercommitted { .. } => "pool-overcommitted",
            Self::GroupsIncompatible => "groups-incompatible",
            Self::Tainted { .. } => "taint-not-tolerated",
            Self::AttributeMissing { .. } => "attribute-missing",
            Self::FeatureOff { .. } => "feature-off",
            Self::NodeLacksFeature { .. } => "node-lacks-feature",
        }
    }

    /// What the fact says, without the devices it is about.
    pub fn message(&self) -> String {
        match self {
            Self::NoPool => "the node has no devices".to_owned(),
            Self::PoolIncomplete { pool } => format!("pool `{pool}` is incomplete: slices are missing"),
            Self::PoolInvalid { pool, reason } => format!("pool `{pool}` is invalid: {reason}"),
            Self::DeviceHeld { by: Some(claim) } => format!("held by claim `{claim}`"),
            Self::DeviceHeld { by: None } => "held".to_owned(),
            Self::SelectorFalse { source, index } => match source {
                SelectorSource::Class(name) => format!("selector #{index} of class `{name}` is false"),
                SelectorSource::Claim(key) => format!("selector #{index} of claim `{key}` is false"),
            },
            Self::SelectorFailed { error } | Self::CapacityFailed { error } => error.clone(),
            Self::DeviceNotOnNode => "not reachable from the node".to_owned(),
            Self::CapacityMissing => "without a requested capacity".to_owned(),
            Self::CapacityTooSmall => "without enough capacity".to_owned(),
            Self::CapacityTaken => "without enough capacity left".to_owned(),
            Self::CounterShort { counter } => format!("counter `{counter}` is used up"),
            Self::PoolOvercommitted { pool } => format!("counters of pool `{pool}` are overcommitted"),
            Self::GroupsIncompatible => "not compatible with devices in use".to_owned(),
            Self::Tainted { taint } => {
                let value = if taint.value.is_empty() { String::new() } else { format!("={}", taint.value) };
                format!("taint `{}{value}:{}` is not tolerated", taint.key, taint.effect)
            }
            Self::AttributeMissing { attribute } => format!("without attribute `{attribute}`"),
            Self::FeatureOff { gate } => format!("needs the feature `{gate}`, which is off"),
            Self::NodeLacksFeature { gate } => format!("needs the feature `{gate}`, which the node does not declare"),
        }
    }

    /// Whether a request for all devices fails because of one such device.
    pub(crate) fn blocks_all(&self) -> bool {
        !matches!(
            self,
            Self::SelectorFalse { .. } | Self::DeviceNotOnNode | Self::CapacityMissing | Self::CapacityTooSmall
        )
    }
}

/// One fact, about so many devices or pools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// What it says.
    pub kind: FactKind,
    /// How many it is about.
    pub count: usize,
    /// The first of them.
    pub examples: Vec<String>,
}
