//! Why one device is no candidate for an alternative, taken by itself.

use crate::attribute::AttributeValue;
use crate::capacity::{self, CapacityFit};
use crate::error::CapacityStage;
use crate::explain::{CapacityAsked, FactKind, similar};
use crate::features::Feature;
use crate::search::{Choice, Search, Spot};
use crate::taints;

/// What is against a device.
pub(crate) enum Refusal {
    /// Some selector of the chain is not true of it.
    NotSelected,
    /// Some selector of the chain, or the node selector of the device, fails on it.
    SelectorFails,
    /// A counter, by position.
    CounterShort(usize),
    /// Anything else.
    Other(FactKind),
}

impl From<FactKind> for Refusal {
    fn from(kind: FactKind) -> Self {
        Self::Other(kind)
    }
}

impl Search<'_> {
    /// The first thing against a device: what no change of the state can mend comes first.
    pub(crate) fn refusal(&mut self, choice: Choice, spot: Spot) -> Option<Refusal> {
        let alternative = self.alternative(choice);
        let view = self.view(spot);
        let verdicts = view.layout.verdicts(&alternative.chain, self.plan.features);
        let in_use = self.in_use(choice, spot);
        if !(verdicts.selected.contains(spot.device) || in_use && verdicts.failed.contains(spot.device)) {
            let needs_gate =
                !self.plan.features.has(Feature::BindingConditions) && !self.device(spot).binding_conditions.is_empty();
            return Some(match (verdicts.failed.contains(spot.device), needs_gate) {
                (true, _) => Refusal::SelectorFails,
                (false, true) => FactKind::FeatureOff { gate: "DRADeviceBindingConditions" }.into(),
                (false, false) => Refusal::NotSelected,
            });
        }
        if in_use {
            let taint = self.blocking_taint(choice, spot).map(|taint| taint.taint());
            return Some(FactKind::DeviceHeld { taint }.into());
        }
        match self.capacity(choice, spot, CapacityStage::Checking) {
            Err(error) => return Some(FactKind::CapacityFailed { error: error.to_string() }.into()),
            Ok(None) => return Some(self.short_capacity(choice, spot).into()),
            Ok(Some(_)) => {}
        }
        if view.layout.is_plain(spot.device) {
            return self.uncomparable_attribute(choice, spot).map(Refusal::Other);
        }
        if !self.operations_allow(spot) {
            return Some(FactKind::NodeLacksFeature { gate: "DRAOptionalNodeOperations" }.into());
        }
        let charged = self.charged(choice, spot);
        if !self.counters_allow(spot, charged) {
            let available = &view.state.available;
            if !self.plan.features.has(Feature::PartitionableDevices) {
                return Some(FactKind::FeatureOff { gate: "DRAPartitionableDevices" }.into());
            }
            let overdrawn = available.overdrawn().map(|counter| view.layout.counter_sets.names(counter).1.to_owned());
            if let Some(counter) = overdrawn {
                return Some(FactKind::PoolOvercommitted { counter }.into());
            }
            let short = charged.and_then(|consumption| self.taken.counters.short(spot.pool, available, consumption));
            return Some(short.map_or_else(|| FactKind::GroupsIncompatible.into(), Refusal::CounterShort));
        }
        if let Some(taint) = self.blocking_taint(choice, spot) {
            return Some(taint.into());
        }
        self.uncomparable_attribute(choice, spot).map(Refusal::Other)
    }

    fn blocking_taint(&self, choice: Choice, spot: Spot) -> Option<FactKind> {
        if !self.plan.features.has(Feature::DeviceTaints) {
            return None;
        }
        let tolerations = &self.alternative(choice).request.tolerations;
        let taint = taints::blocking(self.view(spot).layout.taints(spot.device), tolerations)?;
        let (key, value) = (taint.key.clone(), taint.value.clone());
        Some(FactKind::Tainted { key, value, effect: taint.effect.to_string() })
    }

    /// The counters that a device would overdraw, by position.
    pub(crate) fn short_counters(&self, choice: Choice, spot: Spot) -> Vec<usize> {
        let available = &self.view(spot).state.available;
        let amounts = self.charged(choice, spot).into_iter().flat_map(|consumption| &consumption.amounts);
        let short = amounts.filter(|(position, amount)| available.counter(*position) < amount);
        short.map(|(position, _)| *position).collect()
    }

    fn short_capacity(&self, choice: Choice, spot: Spot) -> FactKind {
        let request = self.alternative(choice).request.capacity.as_ref();
        let (device, rules) = (self.device(spot), self.capacity_rules(spot));
        let held = self.view(spot).state.consumed.get(&spot.device);
        let Some((name, fit)) = capacity::first_misfit(request, &device.capacity, held, rules) else {
            return FactKind::DeviceHeld { taint: None };
        };
        let asked = |(requested, amount): (Option<_>, String), most| CapacityAsked {
            capacity: name.clone(),
            requested,
            amount,
            most,
        };
        match fit {
            CapacityFit::Missing => FactKind::CapacityMissing { capacity: name },
            CapacityFit::TooSmall { asked: amounts, total, most } => {
                FactKind::CapacityTooSmall { asked: asked(amounts, most), total }
            }
            CapacityFit::Refused { asked: amounts, policy, most } => {
                FactKind::CapacityRefused { asked: asked(amounts, most), policy }
            }
            CapacityFit::Taken { asked: amounts, left, total, most } => {
                FactKind::CapacityTaken { asked: asked(amounts, most), left, total }
            }
        }
    }

    /// Whether a constraint can never admit the device, whatever else is taken.
    fn uncomparable_attribute(&mut self, choice: Choice, spot: Spot) -> Option<FactKind> {
        let lists = self.plan.features.has(Feature::ListTypeAttributes);
        for constraint in &self.alternative(choice).constrained_by {
            let attribute = || self.plan.claims[choice.claim].constraints[*constraint].attribute.clone();
            match self.attribute(choice, *constraint, spot) {
                Ok(Some(value)) if lists && *value == AttributeValue::Unknown => {
                    return Some(FactKind::AttributeNotComparable { attribute: attribute() });
                }
                Ok(Some(_)) => {}
                Ok(None) => {
                    let (attribute, driver) = (attribute(), self.view(spot).layout.slice(spot.device).driver());
                    let similar = similar::attribute(&attribute, driver, self.device(spot).attributes.keys());
                    return Some(FactKind::AttributeMissing { attribute, similar });
                }
                Err(error) => return Some(FactKind::DerivedAttributeFailed { error: error.to_string() }),
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
