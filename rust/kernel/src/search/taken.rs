//! Taking a device and giving it back (upstream's `allocateDevice`).

use std::sync::Arc;

use drayman_api::Device;
use smallvec::SmallVec;

use crate::capacity::{self, Amounts, CapacityRules};
use crate::constraint::ConstraintState;
use crate::counters::{Consumption, InFlightCounters, TakenCounters};
use crate::error::{AllocationError, CapacityStage};
use crate::features::{Feature, OPTIONAL_NODE_OPERATIONS};
use crate::inventory::layout::PoolView;
use crate::node_selector;
use crate::plan::{Alternative, Plan};
use crate::search::{Choice, Search, Spot};
use crate::taints;

/// A device that was taken.
#[derive(Debug)]
pub(super) struct Pick {
    pub(super) choice: Choice,
    pub(super) spot: Spot,
    /// What is taken from the device when it is shared.
    pub(super) share: Option<Amounts>,
}

/// What giving a pick back has to undo.
#[derive(Debug, Default)]
struct Undo {
    counters: Option<TakenCounters>,
    /// Constraints that the device was added to.
    constraints: SmallVec<[usize; 2]>,
}

/// All that is taken at some point of a search.
#[derive(Debug)]
pub(super) struct Taken {
    picks: Vec<Pick>,
    undo: Vec<Undo>,
    /// Results by claim.
    results: Vec<i64>,
    pub(super) counters: InFlightCounters,
    /// Constraints by claim.
    pub(super) constraints: Vec<Vec<ConstraintState>>,
}

impl Taken {
    pub(super) fn new(plan: &Plan) -> Self {
        Self {
            picks: Vec::new(),
            undo: Vec::new(),
            results: vec![0; plan.claims.len()],
            counters: InFlightCounters::default(),
            constraints: plan.claims.iter().map(|claim| ConstraintState::of_claim(claim, plan.features)).collect(),
        }
    }

    /// Gives everything back.
    pub(super) fn clear(&mut self) {
        while !self.picks.is_empty() {
            self.give_back_last();
        }
    }

    pub(super) fn results_of(&self, claim: usize) -> i64 {
        self.results[claim]
    }

    pub(super) fn picks(&self) -> &[Pick] {
        &self.picks
    }

    /// Hands the picks over, and gives everything back.
    pub(super) fn take_picks(&mut self) -> SmallVec<[Pick; 1]> {
        let picks = self.picks.iter_mut();
        let picks = picks.map(|pick| Pick { choice: pick.choice, spot: pick.spot, share: pick.share.take() }).collect();
        self.clear();
        picks
    }

    /// Undoes the last [`Search::take`] that succeeded.
    pub(super) fn give_back_last(&mut self) {
        let (Some(pick), Some(undo)) = (self.picks.pop(), self.undo.pop()) else { return };
        self.results[pick.choice.claim] -= 1;
        self.withdraw(pick.choice.claim, &undo.constraints);
        if let Some(counters) = undo.counters {
            self.counters.give_back(counters);
        }
    }

    fn withdraw(&mut self, claim: usize, constraints: &[usize]) {
        for constraint in constraints {
            self.constraints[claim][*constraint].remove();
        }
    }

    /// Whether a device is taken alone, by a claim or by any.
    fn is_taken(&self, spot: Spot, claim: Option<usize>) -> bool {
        self.picks.iter().any(|pick| {
            pick.spot == spot && pick.share.is_none() && claim.is_none_or(|claim| claim == pick.choice.claim)
        })
    }

    /// What is taken of a shared device, share by share.
    pub(super) fn shares(&self, spot: Spot) -> impl Iterator<Item = &Amounts> {
        self.picks.iter().filter(move |pick| pick.spot == spot).filter_map(|pick| pick.share.as_ref())
    }
}

impl<'a> Search<'a> {
    pub(crate) fn view(&self, spot: Spot) -> &'a Arc<PoolView> {
        self.site.pool(spot.pool).expect("spots are made from pools of the site")
    }

    pub(super) fn device(&self, spot: Spot) -> &'a Device {
        self.view(spot).layout.device(spot.device)
    }

    pub(super) fn consumes_capacity(&self) -> bool {
        self.plan.features.has(Feature::ConsumableCapacity)
    }

    /// Whether a device may be held in shares.
    pub(super) fn is_shareable(&self, spot: Spot) -> bool {
        self.consumes_capacity() && self.device(spot).allow_multiple_allocations == Some(true)
    }

    pub(super) fn capacity_rules(&self, spot: Spot) -> CapacityRules<'a> {
        CapacityRules {
            fractional: self.plan.features.has(Feature::FractionalCapacityRange),
            driver: self.plan.compatibility.is_fixed().then(|| self.view(spot).layout.id.driver.as_str()),
        }
    }

    /// Whether a device cannot be had because it is held, or taken already. With admin access only the own claim counts.
    pub(super) fn in_use(&self, choice: Choice, spot: Spot) -> bool {
        if self.alternative(choice).admin {
            return self.taken.is_taken(spot, Some(choice.claim));
        }
        let state = &self.view(spot).state;
        state.held.contains(spot.device)
            || self.taken.is_taken(spot, None)
            // Upstream 1.37 forgets shares that are held of a device which is no longer shareable.
            || self.plan.compatibility.is_fixed() && state.shared.contains(spot.device) && !self.is_shareable(spot)
    }

    /// What an alternative takes of a device's capacity, or none if that does not fit.
    pub(super) fn capacity(
        &self,
        choice: Choice,
        spot: Spot,
        stage: CapacityStage,
    ) -> Result<Option<Amounts>, AllocationError> {
        let alternative = self.alternative(choice);
        let view = self.view(spot);
        let is_all_taken = || view.state.consumed.is_empty() && view.layout.is_plain(spot.device);
        if !self.consumes_capacity() || alternative.request.capacity.is_none() && is_all_taken() {
            return Ok(Some(Amounts::new()));
        }
        let rules = self.capacity_rules(spot);
        let capacity = &self.device(spot).capacity;
        let amounts = capacity::consumed(alternative.request.capacity.as_ref(), capacity, rules);
        let amounts = amounts.map_err(|error| AllocationError::Capacity {
            at: alternative.path.clone(),
            stage,
            device: view.layout.device_id(spot.device).to_string(),
            error,
        })?;
        let held = view.state.consumed.get(&spot.device);
        let taken: SmallVec<[&Amounts; 4]> = held.into_iter().chain(self.taken.shares(spot)).collect();
        Ok(amounts.filter(|amounts| capacity::fits(amounts, capacity, &taken, rules)))
    }

    /// Takes a device that is free and selected, if nothing else is against it. `amounts` are known unless the device is forced; a forced
    /// device that a constraint excludes is an error.
    pub(super) fn take(
        &mut self,
        choice: Choice,
        spot: Spot,
        amounts: Option<Amounts>,
        forced: bool,
    ) -> Result<bool, AllocationError> {
        let (alternative, view) = (self.alternative(choice), self.view(spot));
        let is_plain = view.layout.is_plain(spot.device);
        let charged = if is_plain { None } else { self.charged(choice, spot) };
        let is_allowed = is_plain
            || self.operations_allow(spot) && self.counters_allow(spot, charged) && self.taints_allow(choice, spot);
        if !is_allowed {
            return Ok(false);
        }
        let Some(added) = self.add_to_constraints(choice, spot)? else {
            let at = alternative.path.clone();
            let refused = || AllocationError::Constraint { at, device: Box::new(view.layout.device_id(spot.device)) };
            return if forced { Err(refused()) } else { Ok(false) };
        };
        let amounts = match amounts {
            Some(amounts) => Some(amounts),
            None => self.capacity(choice, spot, CapacityStage::Rechecking)?,
        };
        let Some(amounts) = amounts else {
            self.taken.withdraw(choice.claim, &added);
            return Ok(false);
        };
        let counters =
            charged.map(|consumption| self.taken.counters.take(spot.pool, &view.state.available, consumption));
        let share = (!is_plain && self.is_shareable(spot)).then_some(amounts);
        self.taken.picks.push(Pick { choice, spot, share });
        self.taken.undo.push(Undo { counters, constraints: added });
        self.taken.results[choice.claim] += 1;
        Ok(true)
    }

    /// The counters that taking a device is charged for. Further shares of a device are free.
    pub(super) fn charged(&self, choice: Choice, spot: Spot) -> Option<&'a Consumption> {
        let view = self.view(spot);
        let is_shared = || view.state.shared.contains(spot.device) || self.taken.shares(spot).next().is_some();
        let exempt = self.plan.compatibility.is_fixed() && self.alternative(choice).admin;
        if exempt || self.is_shareable(spot) && is_shared() { None } else { view.layout.consumption(spot.device) }
    }

    pub(super) fn operations_allow(&self, spot: Spot) -> bool {
        self.view(spot).layout.slice(spot.device).object.spec.skip_node_operations.is_empty()
            || self.plan.features.has(Feature::OptionalNodeOperations) && self.site.declares(OPTIONAL_NODE_OPERATIONS)
    }

    pub(super) fn counters_allow(&self, spot: Spot, charged: Option<&Consumption>) -> bool {
        let features = self.plan.features;
        if !features.has(Feature::PartitionableDevices) {
            return self.device(spot).consumes_counters.is_empty();
        }
        let Some(consumption) = charged else { return true };
        let available = &self.view(spot).state.available;
        let compatible = !features.has(Feature::CompatibilityGroups)
            || self.taken.counters.compatible(spot.pool, available, consumption);
        compatible
            && self.taken.counters.left_overdrawn(spot.pool, available, consumption).is_none()
            && self.taken.counters.short(spot.pool, available, consumption).is_none()
    }

    fn taints_allow(&self, choice: Choice, spot: Spot) -> bool {
        let tolerations = &self.alternative(choice).request.tolerations;
        !self.plan.features.has(Feature::DeviceTaints)
            || taints::blocking(self.view(spot).layout.taints(spot.device), tolerations).is_none()
    }

    /// Adds a device to the constraints that are about it: their positions, or none if one of them excludes it.
    fn add_to_constraints(
        &mut self,
        choice: Choice,
        spot: Spot,
    ) -> Result<Option<SmallVec<[usize; 2]>>, AllocationError> {
        let mut added = SmallVec::new();
        for constraint in &self.alternative(choice).constrained_by {
            let value = self.attribute(choice, *constraint, spot);
            let state = &mut self.taken.constraints[choice.claim][*constraint];
            match value {
                Ok(Some(value)) if state.admits(&value) => {
                    state.add(value);
                    added.push(*constraint);
                }
                Ok(_) => {
                    self.taken.withdraw(choice.claim, &added);
                    return Ok(None);
                }
                Err(error) => {
                    self.taken.withdraw(choice.claim, &added);
                    return Err(error);
                }
            }
        }
        Ok(Some(added))
    }

    /// The error that a selector, or the node selector of the device, ends with.
    pub(super) fn selector_error(&self, alternative: &Alternative, spot: Spot) -> AllocationError {
        let layout = &self.view(spot).layout;
        let (driver, device) = (layout.slice(spot.device).driver(), layout.device(spot.device));
        let Some(position) = alternative.chain.first_refusal(driver, device) else {
            let error = node_selector::check(device.node_selection()).expect_err("nothing else fails on a device");
            return AllocationError::DeviceNodeSelector(error);
        };
        let (at, index) = alternative.selector_source(position);
        let program = &alternative.chain.programs[position];
        match program.compile_error() {
            Some(error) => AllocationError::SelectorCompile { at, index, error: Arc::clone(error) },
            None => AllocationError::SelectorRuntime {
                at,
                index,
                device: Box::new(layout.device_id(spot.device)),
                error: program.runtime_error(driver, device).unwrap_or_default(),
            },
        }
    }
}
