//! A copy of what one node can see, small enough to be changed and asked again and again.

use std::collections::HashSet;
use std::sync::Arc;

use drayman_api::{DeviceClass, DeviceTaint, Node, Object, PoolId};

use crate::features::Features;
use crate::inventory::{Classes, Inventory};
use crate::taints;

impl Inventory {
    /// The pools that a node could reach, with all their slices and what is held of them, under other features.
    pub(crate) fn excerpt(&self, node: &str, features: Features) -> Self {
        let mut excerpt = Self::new(features, self.rules.compatibility);
        excerpt.classes = self.classes.clone();
        excerpt.selectors = self.selectors.clone();
        excerpt.taint_rules.clone_from(&self.taint_rules);
        excerpt.consumers.clone_from(&self.consumers);
        let of_node = |name: Option<&str>| name.is_none_or(|name| name == node);
        let reachable = self.slices.values().filter(|slice| of_node(slice.object.spec.node_name.as_deref()));
        let names: HashSet<(&str, &str)> = reachable.map(|slice| slice.pool_name()).collect();
        let mut slices: Vec<_> = self.slices.iter().filter(|(_, slice)| names.contains(&slice.pool_name())).collect();
        slices.sort_by_key(|(_, slice)| slice.order);
        for (key, slice) in &slices {
            excerpt.add_slice((*key).clone(), slice.object.clone());
        }
        let pools: HashSet<PoolId> = slices.iter().map(|(_, slice)| slice.pool_id()).collect();
        excerpt.usage = self.usage.of_pools(&pools);
        excerpt.topology.touch_usage(&pools);
        if let Some(node) = self.topology.node(node) {
            excerpt.apply_object(Object::Node(Node::clone(node)));
        }
        excerpt
    }

    /// Frees what a claim holds.
    pub(crate) fn free(&mut self, claim: &str) {
        let change = self.usage.remove(claim);
        self.topology.touch_usage(&change.pools);
    }

    /// Makes do with the slices of a pool that are there; whether there are any.
    pub(crate) fn complete(&mut self, pool: &PoolId) -> bool {
        let of_pool = self.slices.iter().filter(|(_, slice)| slice.pool_id() == *pool);
        let generation = of_pool.clone().map(|(_, slice)| slice.object.spec.pool.generation).max();
        let newest = of_pool.filter(|(_, slice)| Some(slice.object.spec.pool.generation) == generation);
        let mut newest: Vec<_> = newest.map(|(key, slice)| (key.clone(), slice.object.clone())).collect();
        newest.sort_by(|(one, _), (other, _)| one.cmp(other));
        let count = i64::try_from(newest.len()).unwrap_or(i64::MAX);
        let found = !newest.is_empty();
        for (key, mut slice) in newest {
            slice.spec.pool.resource_slice_count = count;
            self.add_slice(key, slice);
        }
        found
    }

    /// All claims that hold devices, with the pods that they are reserved for, in byte order.
    pub(crate) fn holding_claims(&self) -> Vec<(Arc<str>, Vec<String>)> {
        let mut claims: Vec<_> = self.usage.claims().map(Arc::clone).collect();
        claims.sort_unstable();
        let with_pods = |claim: Arc<str>| {
            let pods = self.consumers.get(&claim).cloned().unwrap_or_default();
            (claim, pods)
        };
        claims.into_iter().map(with_pods).collect()
    }

    /// The taints of all devices that keep requests away, each once, in order of slices and devices.
    pub(crate) fn taints(&self) -> Vec<&DeviceTaint> {
        let mut slices: Vec<_> = self.slices.values().collect();
        slices.sort_by_key(|slice| slice.order);
        let mut taints: Vec<&DeviceTaint> = Vec::new();
        for slice in slices {
            for taint in (0..slice.devices().len()).flat_map(|device| slice.taints(device)) {
                let is_same = |known: &&DeviceTaint| {
                    (&known.key, &known.value, &known.effect) == (&taint.key, &taint.value, &taint.effect)
                };
                if taints::blocking(std::slice::from_ref(taint), &[]).is_some() && !taints.iter().any(is_same) {
                    taints.push(taint);
                }
            }
        }
        taints
    }

    /// All classes.
    pub(crate) fn classes(&self) -> &Classes {
        &self.classes
    }

    /// Replaces a class.
    pub(crate) fn replace_class(&mut self, class: DeviceClass) {
        self.apply_object(Object::DeviceClass(class));
    }

    /// The features that are on.
    pub(crate) fn features(&self) -> Features {
        self.rules.features
    }
}
