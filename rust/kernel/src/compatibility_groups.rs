//! Compatibility groups: which devices may draw from one counter set together.

use std::collections::BTreeSet;

/// What the devices on one counter set have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum CommonGroups {
    /// No device is on the counter set.
    #[default]
    NoDevices,
    /// All devices on it name no group.
    Ungrouped,
    /// Groups that all devices on it name.
    Groups(BTreeSet<String>),
}

impl CommonGroups {
    /// Whether a device may join: it must share a group with all others, or none of them may have any.
    pub(crate) fn admits(&self, groups: &[String]) -> bool {
        match self {
            Self::NoDevices => true,
            Self::Ungrouped => groups.is_empty(),
            Self::Groups(common) => groups.iter().any(|group| common.contains(group)),
        }
    }

    /// Adds a device. Devices that were allocated before may contradict each other; then the state stays as it is, as upstream.
    pub(crate) fn add(&mut self, groups: &[String]) {
        match self {
            Self::NoDevices if groups.is_empty() => *self = Self::Ungrouped,
            Self::NoDevices => *self = Self::Groups(groups.iter().cloned().collect()),
            Self::Groups(common) if !groups.is_empty() => common.retain(|group| groups.contains(group)),
            Self::Ungrouped | Self::Groups(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CommonGroups;

    #[test]
    fn devices_join_while_a_group_is_shared_by_all() {
        let groups = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let mut common = CommonGroups::default();
        common.add(&groups(&["a", "b"]));
        assert!(common.admits(&groups(&["b", "c"])));
        common.add(&groups(&["b", "c"]));
        assert!(!common.admits(&groups(&["a"])));
        assert!(!common.admits(&[]));
    }

    #[test]
    fn devices_without_groups_join_only_their_like() {
        let mut common = CommonGroups::default();
        common.add(&[]);
        assert!(common.admits(&[]));
        assert!(!common.admits(&["a".to_owned()]));
    }
}
