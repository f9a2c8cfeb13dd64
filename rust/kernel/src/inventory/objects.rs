//! Adding, replacing and removing objects.

use std::sync::Arc;

use drayman_api::{DeviceClass, DeviceTaintRule, Node, Object, Resource, ResourceClaim, ResourceSlice, object_key};

use crate::features::Feature;
use crate::inventory::slices::Slice;
use crate::inventory::{Change, Inventory};

/// What a change could let a waiting pod do.
#[derive(Clone, Copy, Default)]
struct Effect {
    devices_freed: bool,
    capacity_added: bool,
}

impl Effect {
    fn added(capacity_added: bool) -> Self {
        Self { capacity_added, ..Self::default() }
    }

    fn freed(devices_freed: bool) -> Self {
        Self { devices_freed, ..Self::default() }
    }
}

impl Inventory {
    /// Adds or replaces an object.
    pub fn apply_object(&mut self, object: Object) -> Change {
        let (kind, metadata) = (object.kind(), object.metadata());
        let (namespace, name) = (metadata.namespace.clone(), metadata.name.clone());
        let effect = match object {
            Object::ResourceSlice(slice) => self.apply_slice(slice.metadata.name.clone(), slice),
            Object::DeviceClass(class) => Effect::added(self.classes.insert(class)),
            Object::ResourceClaim(claim) => self.apply_claim(&claim),
            Object::ResourceClaimTemplate(_) => Effect::default(),
            Object::DeviceTaintRule(rule) => {
                self.taint_rules.insert(rule.metadata.name.clone(), rule);
                self.apply_taint_rules()
            }
            Object::Node(node) => Effect::added(self.topology.insert_node(node)),
        };
        self.topology.tidy(&self.usage);
        change(kind, namespace, name, effect)
    }

    /// Removes an object; unknown kinds and names change nothing.
    pub fn remove(&mut self, kind: &str, namespace: &str, name: &str) -> Change {
        let (kind, effect) = match kind {
            ResourceSlice::KIND => (ResourceSlice::KIND, self.remove_slice(name)),
            DeviceClass::KIND => {
                self.classes.remove(name);
                (DeviceClass::KIND, Effect::default())
            }
            ResourceClaim::KIND => {
                let key = object_key(namespace, name);
                let removed = self.usage.remove(&key);
                self.consumers.remove(key.as_str());
                self.topology.touch_usage(&removed.pools);
                (ResourceClaim::KIND, Effect::freed(removed.freed))
            }
            DeviceTaintRule::KIND => {
                self.taint_rules.remove(name);
                (DeviceTaintRule::KIND, self.apply_taint_rules())
            }
            Node::KIND => {
                self.topology.remove_node(name);
                (Node::KIND, Effect::default())
            }
            _ => ("", Effect::default()),
        };
        self.topology.tidy(&self.usage);
        change(kind, namespace.to_owned(), name.to_owned(), effect)
    }

    /// Adds a slice under a key of its own: an explicit list of slices may hold two of one name.
    pub(crate) fn add_slice(&mut self, key: String, slice: ResourceSlice) {
        self.apply_slice(key, slice);
    }

    fn apply_slice(&mut self, key: String, object: ResourceSlice) -> Effect {
        let known = self.slices.get(&key);
        if known.is_some_and(|known| known.object.spec == object.spec) {
            return Effect::default();
        }
        let order = known.map_or(self.next_order, |known| known.order);
        self.next_order = self.next_order.max(order + 1);
        let slice = Arc::new(Slice::new(order, object, self.active_taint_rules()));
        if let Some(known) = self.slices.insert(key, Arc::clone(&slice)) {
            self.topology.remove_slice(&known);
        }
        self.topology.insert_slice(slice);
        Effect::added(true)
    }

    /// Removing a slice may bring an older generation of its pool back, or make the pool complete.
    fn remove_slice(&mut self, name: &str) -> Effect {
        let Some(slice) = self.slices.remove(name) else { return Effect::default() };
        self.topology.remove_slice(&slice);
        Effect::added(true)
    }

    fn apply_claim(&mut self, claim: &ResourceClaim) -> Effect {
        self.apply_consumers(claim);
        let allocation = claim.status.allocation.as_ref();
        let change = self.usage.write(&claim.metadata.key(), allocation, self.counts_shares());
        self.topology.touch_usage(&change.pools);
        Effect::freed(change.freed)
    }

    fn apply_consumers(&mut self, claim: &ResourceClaim) {
        let key = claim.metadata.key();
        let pods = claim.status.reserved_for.iter().filter(|consumer| consumer.resource == "pods");
        let pods: Vec<_> = pods.map(|consumer| consumer.name.clone()).collect();
        if pods.is_empty() {
            self.consumers.remove(key.as_str());
        } else {
            self.consumers.insert(key.into(), pods);
        }
    }

    fn apply_taint_rules(&mut self) -> Effect {
        let changed = self.slices.iter().filter_map(|(key, slice)| {
            let changed = slice.with_rules(self.active_taint_rules())?;
            Some((key.clone(), Arc::new(changed)))
        });
        let changed: Vec<_> = changed.collect();
        let any = !changed.is_empty();
        for (key, slice) in changed {
            self.topology.insert_slice(Arc::clone(&slice));
            self.slices.insert(key, slice);
        }
        Effect::added(any)
    }

    /// Rules in order of their names; none while their gate is off.
    fn active_taint_rules(&self) -> impl Iterator<Item = &DeviceTaintRule> + Clone {
        let on = self.rules.features.has(Feature::DeviceTaintRules);
        self.taint_rules.values().filter(move |_| on)
    }
}

fn change(kind: &'static str, namespace: String, name: String, effect: Effect) -> Change {
    let Effect { devices_freed, capacity_added } = effect;
    Change { kind, namespace, name, devices_freed, capacity_added }
}
