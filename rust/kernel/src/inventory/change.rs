//! What a change of the inventory could mean for those who wait.

/// What changed, and what that could let a waiting pod do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Kind of the object.
    pub kind: &'static str,
    /// Its namespace; empty for objects of the cluster.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Some device is held by fewer claims, or in a smaller share.
    pub devices_freed: bool,
    /// Devices, nodes or classes were added or changed.
    pub capacity_added: bool,
}
