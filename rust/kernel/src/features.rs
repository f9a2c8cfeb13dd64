//! Features by the names of their gates, and which upstream behaviour is followed.

/// The gate that a kubelet declares when it can leave out operations.
pub(crate) const OPTIONAL_NODE_OPERATIONS: &str = "DRAOptionalNodeOperations";

/// One feature that changes what the allocator does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Feature {
    /// Requests may use devices without holding them.
    AdminAccess,
    /// Devices that share counters name the groups that they are compatible with.
    CompatibilityGroups,
    /// Devices may be held in shares of their capacity.
    ConsumableCapacity,
    /// Requests may compute attributes for constraints.
    DerivedAttributes,
    /// Pods wait for conditions of their devices before they are bound.
    BindingConditions,
    /// Drivers may taint devices.
    DeviceTaints,
    /// Rules may taint devices.
    DeviceTaintRules,
    /// Steps of capacity ranges may be fractions.
    FractionalCapacityRange,
    /// Attributes may be lists.
    ListTypeAttributes,
    /// Slices may ask the kubelet to leave out operations.
    OptionalNodeOperations,
    /// Devices may consume counters that they share with others.
    PartitionableDevices,
    /// Requests may list alternatives.
    PrioritizedList,
}

/// Gates and the feature that each belongs to. Binding conditions need both gates of their pair; their joint name stands for both.
const GATES: [(&str, Feature); 12] = [
    ("DRAAdminAccess", Feature::AdminAccess),
    ("DRADeviceCompatibilityGroups", Feature::CompatibilityGroups),
    ("DRAConsumableCapacity", Feature::ConsumableCapacity),
    ("DRADerivedAttributes", Feature::DerivedAttributes),
    ("DRADeviceBindingConditions+DRAResourceClaimDeviceStatus", Feature::BindingConditions),
    ("DRADeviceTaints", Feature::DeviceTaints),
    ("DRADeviceTaintRules", Feature::DeviceTaintRules),
    ("DRAFractionalCapacityRange", Feature::FractionalCapacityRange),
    ("DRAListTypeAttributes", Feature::ListTypeAttributes),
    (OPTIONAL_NODE_OPERATIONS, Feature::OptionalNodeOperations),
    ("DRAPartitionableDevices", Feature::PartitionableDevices),
    ("DRAPrioritizedList", Feature::PrioritizedList),
];

impl Feature {
    /// Name of the gate.
    pub fn gate(self) -> &'static str {
        GATES.iter().find(|(_, feature)| *feature == self).map_or("", |(gate, _)| gate)
    }
}

/// The features that are on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features(u16);

impl Features {
    /// No feature.
    pub const NONE: Self = Self(0);
    /// Every feature.
    pub const ALL: Self = Self((1 << GATES.len()) - 1);

    /// The features whose gates are named. Gates that do not concern the allocator are passed over.
    pub fn from_gates<'a>(gates: impl IntoIterator<Item = &'a str>) -> Self {
        let mut features = Self::NONE;
        let (mut conditions, mut status) = (false, false);
        for gate in gates {
            conditions |= gate == "DRADeviceBindingConditions";
            status |= gate == "DRAResourceClaimDeviceStatus";
            if let Some((_, feature)) = GATES.iter().find(|(name, _)| *name == gate) {
                features = features.with(*feature);
            }
        }
        if conditions && status { features.with(Feature::BindingConditions) } else { features }
    }

    /// The gates of all features; the joint name where two gates belong to one.
    pub(crate) fn gates() -> impl Iterator<Item = &'static str> {
        GATES.iter().map(|(gate, _)| *gate)
    }

    /// These features and that of one more gate.
    #[must_use]
    pub(crate) fn with_gate(self, gate: &str) -> Self {
        GATES.iter().find(|(name, _)| *name == gate).map_or(self, |(_, feature)| self.with(*feature))
    }

    /// These features and one more.
    #[must_use]
    pub fn with(self, feature: Feature) -> Self {
        Self(self.0 | 1 << feature as u16)
    }

    /// Whether a feature is on.
    pub fn has(self, feature: Feature) -> bool {
        self.0 & 1 << feature as u16 != 0
    }
}

/// Which behaviour is followed where upstream 1.37.2 contradicts its own documentation, an accepted issue or a later fix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compatibility {
    /// What upstream 1.37.2 does, faults included.
    #[default]
    V1_37,
    /// What upstream means to do.
    Fixed,
}

impl Compatibility {
    /// Whether upstream's faults are left out.
    pub fn is_fixed(self) -> bool {
        self == Self::Fixed
    }
}

#[cfg(test)]
mod tests {
    use super::{Feature, Features};

    #[test]
    fn binding_conditions_need_both_gates_of_their_pair() {
        let on = |gates: &[&str]| Features::from_gates(gates.iter().copied()).has(Feature::BindingConditions);
        assert!(!on(&["DRADeviceBindingConditions"]));
        assert!(!on(&["DRAResourceClaimDeviceStatus", "DRAExtendedResource"]));
        assert!(on(&["DRAResourceClaimDeviceStatus", "DRADeviceBindingConditions"]));
        assert!(on(&["DRADeviceBindingConditions+DRAResourceClaimDeviceStatus"]));
    }

    #[test]
    fn every_gate_names_another_feature() {
        let all = super::GATES.iter().fold(Features::NONE, |features, (_, feature)| features.with(*feature));
        assert_eq!(all, Features::ALL);
    }
}
