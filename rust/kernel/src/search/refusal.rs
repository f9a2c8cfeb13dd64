//! Why one device is no candidate for an alternative, taken by itself.

use crate::capacity;
use crate::error::CapacityStage;
use crate::explain::FactKind;
use crate::features::Feature;
use crate::inventory::usage::Usage;
use crate::search::{Choice, Search, Spot};
use crate::taints;

impl Search<'_> {
    /// The first thing against a device, in the order of the search's checks.
    pub(crate) fn refusal(&mut self, choice: Choice, spot: Spot, usage: &Usage) -> Option<FactKind> {
        let alternative = self.alternative(choice);
        let view = self.view(spot);
        let device = self.device(spot);
        if self.in_use(choice, spot) {
            let holds = usage.of_pool(&view.layout.id).and_then(|devices| devices.get(&device.name));
            let claim = holds.into_iter().flatten().find_map(|hold| hold.claim.clone());
            return Some(FactKind::DeviceHeld { by: claim.as_deref().map(str::to_owned) });
        }
        let verdicts = view.layout.verdicts(&alternative.chain, self.plan.features);
        if verdicts.failed.contains(spot.device) {
            return Some(FactKind::SelectorFailed { error: self.selector_error(alternative, spot).to_string() });
        }
        if !verdicts.selected.contains(spot.device) {
            return Some(self.unselected(choice, spot));
        }
        match self.capacity(choice, spot, CapacityStage::Checking) {
            Err(error) => return Some(FactKind::CapacityFailed { error: error.to_string() }),
            Ok(None) => return Some(self.short_capacity(choice, spot)),
            Ok(Some(_)) => {}
        }
        if !self.operations_allow(spot) {
            return Some(FactKind::NodeLacksFeature { gate: "DRAOptionalNodeOperations" });
        }
        let charged = self.charged(choice, spot);
        if !self.counters_allow(spot, charged) {
            let available = &view.state.available;
            let short = charged.and_then(|consumption| self.taken.counters.short(spot.pool, available, consumption));
            return Some(match short {
                Some(counter) => FactKind::CounterShort { counter: view.layout.counter_sets.label(counter) },
                None if !self.plan.features.has(Feature::PartitionableDevices) => {
                    FactKind::FeatureOff { gate: "DRAPartitionableDevices" }
                }
                None if available.overcommitted() => FactKind::PoolOvercommitted { pool: view.layout.id.to_string() },
                None => FactKind::GroupsIncompatible,
            });
        }
        if self.plan.features.has(Feature::DeviceTaints) {
            let taint = taints::blocking(view.layout.taints(spot.device), &alternative.request.tolerations);
            if let Some(taint) = taint {
                return Some(FactKind::Tainted { taint: taint.clone() });
            }
        }
        self.missing_attribute(choice, spot)
    }

    fn unselected(&self, choice: Choice, spot: Spot) -> FactKind {
        let alternative = self.alternative(choice);
        let (layout, device) = (&self.view(spot).layout, self.device(spot));
        if !self.plan.features.has(Feature::BindingConditions) && !device.binding_conditions.is_empty() {
            return FactKind::FeatureOff { gate: "DRADeviceBindingConditions" };
        }
        match alternative.chain.first_refusal(layout.slice(spot.device).driver(), device) {
            Some(position) => {
                let (source, index) = alternative.selector_source(position);
                FactKind::SelectorFalse { source, index }
            }
            None => FactKind::DeviceNotOnNode,
        }
    }

    fn short_capacity(&self, choice: Choice, spot: Spot) -> FactKind {
        let alternative = self.alternative(choice);
        let request = alternative.request.capacity.as_ref();
        let (device, rules) = (self.device(spot), self.capacity_rules(spot));
        let amounts = capacity::consumed(request, &device.capacity, rules).unwrap_or_default();
        let static_fit = amounts.map(|amounts| capacity::fits(&amounts, &device.capacity, &[], rules));
        match static_fit {
            None => FactKind::CapacityMissing,
            Some(false) => FactKind::CapacityTooSmall,
            Some(true) => FactKind::CapacityTaken,
        }
    }

    fn missing_attribute(&mut self, choice: Choice, spot: Spot) -> Option<FactKind> {
        for constraint in &self.alternative(choice).constrained_by {
            let attribute = self.plan.claims[choice.claim].constraints[*constraint].attribute.clone();
            match self.attribute(choice, *constraint, spot) {
                Ok(Some(_)) => {}
                Ok(None) => return Some(FactKind::AttributeMissing { attribute }),
                Err(error) => return Some(FactKind::SelectorFailed { error: error.to_string() }),
            }
        }
        None
    }

    /// All devices of the node, in the order in which they are tried.
    pub(crate) fn spots(&self) -> Vec<Spot> {
        let pools = self.site.pools().enumerate();
        pools.flat_map(|(pool, view)| (0..view.layout.len()).map(move |device| Spot { pool, device })).collect()
    }

    /// `driver/pool/device`.
    pub(crate) fn device_name(&self, spot: Spot) -> String {
        self.view(spot).layout.device_id(spot.device).to_string()
    }
}
