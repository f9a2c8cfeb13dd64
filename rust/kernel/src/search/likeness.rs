//! Which devices are alike: nothing in the rest of the search can tell them apart but their order.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::capacity;
use crate::constraint::ConstraintState;
use crate::error::AllocationError;
use crate::features::Feature;
use crate::plan::{Alternative, Mode};
use crate::search::{Choice, Search, Spot};
use crate::taints;

/// Position of a class of devices that are alike.
pub(super) type Kind = usize;

/// All classes of a node's devices that some request selects, and what the search has to know about requests before it may cut.
#[derive(Debug, Default)]
pub(super) struct Likeness {
    kinds: FxHashMap<Spot, Kind>,
    /// Devices by class, in the order in which they are tried.
    pub(super) members: Vec<Vec<Spot>>,
    /// Alternatives that may end the search with an error, where errors are strict, or that give counters back: nothing may be cut that
    /// could reach them.
    may_fail: FxHashMap<Choice, bool>,
    /// Claims whose results may be too many for some alternatives: that ends the search for other devices early.
    may_be_too_long: Vec<bool>,
    /// The last request for all devices that may fail at a device which depends on what was taken before, by claim and request.
    last_forced: Option<(usize, usize)>,
}

impl Likeness {
    pub(super) fn kind(&self, spot: Spot) -> Option<Kind> {
        self.kinds.get(&spot).copied()
    }

    /// Whether alike devices can be told apart from an alternative on: a request for all devices takes them in their order, and whether it
    /// meets one that is in use before one that makes it fail depends on that.
    pub(super) fn order_matters(&self, choice: Choice) -> bool {
        self.last_forced >= Some((choice.claim, choice.request))
    }

    pub(super) fn may_fail(&self, choice: Choice) -> bool {
        self.may_fail.get(&choice).copied().unwrap_or(true)
    }

    pub(super) fn may_be_too_long(&self, claim: usize) -> bool {
        self.may_be_too_long.get(claim).copied().unwrap_or(true)
    }
}

/// Where a request for all devices fails, if none of them is refused before.
enum ForcedFailure {
    Never,
    /// At this device, always.
    At(Spot),
    /// Depending on what was taken before.
    Anywhere,
}

impl ForcedFailure {
    /// Whether a device is met before the failure, or is it: if it is in use, the request does not come to fail.
    fn meets(&self, spot: Spot) -> bool {
        matches!(self, Self::At(failing) if spot <= *failing)
    }
}

/// Everything about a device that the search looks at, with long values numbered.
type Profile = SmallVec<[usize; 16]>;

/// Numbers for values that are compared only for equality.
#[derive(Default)]
struct Numbers(FxHashMap<String, usize>);

impl Numbers {
    fn of(&mut self, value: String) -> usize {
        let next = self.0.len();
        *self.0.entry(value).or_insert(next)
    }
}

const PASSED: usize = 0;
const SELECTED: usize = 1;
const FAILED: usize = 2;

impl Search<'_> {
    /// Sorts the devices into classes, whatever is taken.
    pub(super) fn find_likeness(&mut self) -> Likeness {
        let mut likeness = Likeness {
            may_be_too_long: (0..self.plan.claims.len()).map(|claim| self.may_be_too_long(claim)).collect(),
            ..Likeness::default()
        };
        let choices = self.plan.choices();
        let mut numbers = Numbers::default();
        let mut classes: FxHashMap<Profile, Kind> = FxHashMap::default();
        let forced: Vec<_> = choices.iter().map(|choice| self.forced_failure(*choice)).collect();
        for (choice, forced) in choices.iter().zip(&forced) {
            let may_fail = self.plan.strict_errors && !matches!(forced, ForcedFailure::Never);
            likeness.may_fail.insert(*choice, may_fail);
            if matches!(forced, ForcedFailure::Anywhere) {
                likeness.last_forced = likeness.last_forced.max(Some((choice.claim, choice.request)));
            }
        }
        for spot in self.spots() {
            let verdicts: SmallVec<[usize; 8]> = choices.iter().map(|choice| self.verdict(*choice, spot)).collect();
            if verdicts.iter().all(|verdict| *verdict == PASSED) {
                continue;
            }
            let mut profile = self.own_profile(spot, &mut numbers);
            for ((choice, verdict), forced) in choices.iter().zip(verdicts).zip(&forced) {
                profile.push(verdict);
                profile.push(usize::from(forced.meets(spot)));
                let fails = match verdict {
                    PASSED => false,
                    SELECTED => self.add_to_profile(&mut profile, *choice, spot, &mut numbers).is_err(),
                    _ => self.alternative(*choice).admin || !self.view(spot).state.held.contains(spot.device),
                };
                if self.plan.strict_errors && fails || verdict == SELECTED && self.gives_counters(spot) {
                    likeness.may_fail.insert(*choice, true);
                }
            }
            let kind = *classes.entry(profile).or_insert_with(|| {
                likeness.members.push(Vec::new());
                likeness.members.len() - 1
            });
            likeness.kinds.insert(spot, kind);
            likeness.members[kind].push(spot);
        }
        likeness
    }

    fn verdict(&self, choice: Choice, spot: Spot) -> usize {
        let verdicts = self.view(spot).layout.verdicts(&self.alternative(choice).chain, self.plan.features);
        match (verdicts.failed.contains(spot.device), verdicts.selected.contains(spot.device)) {
            (true, _) => FAILED,
            (false, true) => SELECTED,
            (false, false) => PASSED,
        }
    }

    /// What is the same for all requests.
    fn own_profile(&self, spot: Spot, numbers: &mut Numbers) -> Profile {
        let view = self.view(spot);
        let state = &view.state;
        let mut profile = Profile::new();
        profile.push(usize::from(state.held.contains(spot.device)));
        profile.push(usize::from(state.shared.contains(spot.device)));
        profile.push(usize::from(self.operations_allow(spot)));
        match view.layout.consumption(spot.device) {
            Some(consumption) => profile.push(1 + numbers.of(format!("counters {} {consumption:?}", spot.pool))),
            None => profile.push(usize::from(!self.device(spot).consumes_counters.is_empty())),
        }
        if self.is_shareable(spot) {
            let consumed = state.consumed.get(&spot.device);
            profile.push(1 + numbers.of(format!("capacity {:?} {consumed:?}", self.device(spot).capacity)));
        } else {
            profile.push(0);
        }
        profile
    }

    /// What matters to one alternative that selects the device. Fails if taking the device may fail.
    fn add_to_profile(
        &mut self,
        profile: &mut Profile,
        choice: Choice,
        spot: Spot,
        numbers: &mut Numbers,
    ) -> Result<(), AllocationError> {
        let alternative = self.alternative(choice);
        let view = self.view(spot);
        let tolerations = &alternative.request.tolerations;
        let tainted = self.plan.features.has(Feature::DeviceTaints)
            && taints::blocking(view.layout.taints(spot.device), tolerations).is_some();
        profile.push(usize::from(tainted));
        if self.consumes_capacity() {
            let (device, rules) = (self.device(spot), self.capacity_rules(spot));
            let request = alternative.request.capacity.as_ref();
            let amounts =
                capacity::consumed(request, &device.capacity, rules).map_err(|error| AllocationError::Capacity {
                    at: alternative.path.clone(),
                    stage: crate::error::CapacityStage::Checking,
                    device: device.name.clone(),
                    error,
                })?;
            let taken = view.state.consumed.get(&spot.device);
            let fits =
                amounts.is_some_and(|amounts| capacity::fits(&amounts, &device.capacity, taken.as_slice(), rules));
            profile.push(usize::from(fits));
            // Requests for all devices count in those whose capacity is taken.
            profile.push(usize::from(taken.is_some()));
        }
        for constraint in &alternative.constrained_by {
            let value = self.attribute(choice, *constraint, spot)?;
            profile.push(value.map_or(0, |value| 1 + numbers.of(format!("attribute {value:?}"))));
        }
        Ok(())
    }

    /// Bounds count on counters never growing. The API allows negative amounts; where there is one, no bound is used.
    fn gives_counters(&self, spot: Spot) -> bool {
        let consumption = self.view(spot).layout.consumption(spot.device);
        consumption.is_some_and(|consumption| consumption.amounts.iter().any(|(_, amount)| amount.sign() < 0))
    }

    /// Where a request for all devices fails because a constraint excludes one of them.
    fn forced_failure(&mut self, choice: Choice) -> ForcedFailure {
        let alternative = self.alternative(choice);
        let spots = self.forced.get(&choice).cloned().unwrap_or_default();
        if alternative.mode != Mode::All || alternative.constrained_by.is_empty() || spots.is_empty() {
            return ForcedFailure::Never;
        }
        let claim = &self.plan.claims[choice.claim];
        let before = claim.requests[..choice.request].iter().flat_map(|request| &request.alternatives);
        let shares_constraint = |other: &Alternative| {
            other.constrained_by.iter().any(|constraint| alternative.constrained_by.contains(constraint))
        };
        if before.clone().any(shares_constraint) {
            return ForcedFailure::Anywhere;
        }
        let mut states = ConstraintState::of_claim(claim, self.plan.features);
        for spot in spots {
            for constraint in &alternative.constrained_by {
                match self.attribute(choice, *constraint, spot) {
                    Ok(Some(value)) if states[*constraint].admits(&value) => states[*constraint].add(value),
                    _ => return ForcedFailure::At(spot),
                }
            }
        }
        ForcedFailure::Never
    }

    /// Whether the longest alternatives together exceed the limit of results.
    fn may_be_too_long(&self, claim: usize) -> bool {
        let requests = self.plan.claims[claim].requests.iter().enumerate();
        let longest = requests.map(|(request, plan)| {
            let counts =
                (0..plan.alternatives.len()).map(|alternative| self.wanted(Choice { claim, request, alternative }));
            counts.max().unwrap_or_default()
        });
        longest.fold(0, i64::saturating_add) > crate::limits::ALLOCATION_RESULTS_MAX_SIZE
    }
}
