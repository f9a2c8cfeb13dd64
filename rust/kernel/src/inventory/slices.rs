//! One slice as the inventory keeps it.

use std::sync::OnceLock;

use drayman_api::{Device, DeviceTaint, DeviceTaintRule, NodeSelection, PoolId, ResourceSlice};

use crate::inventory::columns::Columns;
use crate::node_selector::{self, NodeSelectorError};

/// A slice, with what was found out about it once.
#[derive(Debug)]
pub(crate) struct Slice {
    /// Position among all slices: that of its first arrival.
    pub(crate) order: u64,
    pub(crate) object: ResourceSlice,
    /// Taints of each device together with those of rules; empty when no rule concerns the slice.
    tainted: Vec<Vec<DeviceTaint>>,
    /// What is wrong with the slice's node selector.
    pub(crate) selector_error: Option<NodeSelectorError>,
    /// Some device names compatibility groups.
    pub(crate) uses_compatibility_groups: bool,
    /// Made when a selector is asked for the first time.
    columns: OnceLock<Columns>,
}

impl Slice {
    pub(crate) fn new<'a>(
        order: u64,
        object: ResourceSlice,
        rules: impl Iterator<Item = &'a DeviceTaintRule> + Clone,
    ) -> Self {
        let consumptions = object.spec.devices.iter().flat_map(|device| &device.consumes_counters);
        Self {
            order,
            tainted: tainted(&object, rules),
            selector_error: node_selector::check(object.spec.node_selection()).err(),
            uses_compatibility_groups: consumptions.clone().any(|consumed| !consumed.compatibility_groups.is_empty()),
            object,
            columns: OnceLock::new(),
        }
    }

    /// The same slice under other rules, or none if they change nothing.
    pub(crate) fn with_rules<'a>(&self, rules: impl Iterator<Item = &'a DeviceTaintRule> + Clone) -> Option<Self> {
        (tainted(&self.object, rules.clone()) != self.tainted)
            .then(|| Self::new(self.order, self.object.clone(), rules))
    }

    /// Driver and name of the pool.
    pub(crate) fn pool_name(&self) -> (&str, &str) {
        (&self.object.spec.driver, &self.object.spec.pool.name)
    }

    pub(crate) fn pool_id(&self) -> PoolId {
        PoolId { driver: self.object.spec.driver.clone(), pool: self.object.spec.pool.name.clone() }
    }

    pub(crate) fn driver(&self) -> &str {
        &self.object.spec.driver
    }

    pub(crate) fn devices(&self) -> &[Device] {
        &self.object.spec.devices
    }

    /// What its devices have in common.
    pub(crate) fn columns(&self) -> &Columns {
        self.columns.get_or_init(|| Columns::new(self.driver(), self.devices()))
    }

    /// Taints of a device: its own, then those of rules.
    pub(crate) fn taints(&self, device: usize) -> &[DeviceTaint] {
        self.tainted.get(device).unwrap_or(&self.object.spec.devices[device].taints)
    }

    /// The node that alone reaches the slice.
    pub(crate) fn node_name(&self) -> Option<&str> {
        match self.object.spec.node_selection() {
            NodeSelection::Node(name) => Some(name),
            _ => None,
        }
    }

    /// Whether each device says which nodes reach it.
    pub(crate) fn per_device(&self) -> bool {
        self.object.spec.per_device_node_selection == Some(true)
    }
}

fn tainted<'a>(
    slice: &ResourceSlice,
    rules: impl Iterator<Item = &'a DeviceTaintRule> + Clone,
) -> Vec<Vec<DeviceTaint>> {
    let concerns = |rule: &&DeviceTaintRule, device: Option<&Device>| {
        rule.spec.device_selector.as_ref().is_some_and(|selector| {
            let is = |wanted: &Option<String>, actual: &str| wanted.as_ref().is_none_or(|wanted| wanted == actual);
            is(&selector.driver, &slice.spec.driver)
                && is(&selector.pool, &slice.spec.pool.name)
                && device.is_none_or(|device| is(&selector.device, &device.name))
        })
    };
    let rules: Vec<_> = rules.filter(|rule| concerns(rule, None)).collect();
    if rules.is_empty() {
        return Vec::new();
    }
    let devices = slice.spec.devices.iter();
    devices
        .map(|device| {
            let added = rules.iter().filter(|rule| concerns(rule, Some(device))).map(|rule| rule.spec.taint.clone());
            device.taints.iter().cloned().chain(added).collect()
        })
        .collect()
}
