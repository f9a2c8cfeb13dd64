//! Slices that nodes reach but do not look at: their gate is off, or they are outdated.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::explain::FactKind;
use crate::inventory::Inventory;
use crate::inventory::pools::missing_feature;
use crate::inventory::slices::Slice;
use crate::node_selector::{self, NodeLabels};

/// A slice that is not looked at, and why.
pub(crate) struct Hidden {
    pub(crate) slice: Arc<Slice>,
    pub(crate) why: FactKind,
}

impl Inventory {
    /// All slices with devices that are not looked at, in order.
    pub(crate) fn hidden(&self) -> Vec<Hidden> {
        let features = self.rules.features;
        let mut newest: FxHashMap<(&str, &str), i64> = FxHashMap::default();
        for slice in self.slices.values() {
            let generation = newest.entry(slice.pool_name()).or_insert(i64::MIN);
            *generation = (*generation).max(slice.object.spec.pool.generation);
        }
        let hidden = self.slices.values().filter(|slice| !slice.devices().is_empty()).filter_map(|slice| {
            let generation = slice.object.spec.pool.generation;
            let newest = newest.get(&slice.pool_name()).copied().unwrap_or(generation);
            let why = if let Some(feature) = missing_feature(slice, features) {
                FactKind::FeatureOff { gate: feature.gate() }
            } else if generation < newest {
                FactKind::PoolOutdated { generation, newest }
            } else {
                return None;
            };
            Some(Hidden { slice: Arc::clone(slice), why })
        });
        let mut hidden: Vec<_> = hidden.collect();
        hidden.sort_by_key(|hidden| hidden.slice.order);
        hidden
    }

    /// Whether a node reaches a slice, or could reach a device in it.
    pub(crate) fn reaches(&self, node: &str, slice: &Slice) -> bool {
        let none = std::collections::BTreeMap::new();
        let labels = self.topology.node(node).map_or(&none, |node| &node.metadata.labels);
        let node = NodeLabels { name: node, labels };
        if slice.per_device() {
            return slice.devices().iter().any(|device| node_selector::selects(device.node_selection(), node));
        }
        node_selector::selects(slice.object.spec.node_selection(), node)
    }
}
