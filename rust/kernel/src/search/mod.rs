//! The search for devices: depth first, in upstream's order, so that the first solution is upstream's.
//!
//! Claims, requests and alternatives are met in the order of the API; devices are tried by pool, slice and position. Within one request
//! only combinations are tried, never permutations. The stack is on the heap: its depth is bounded by the input alone.

mod attributes;
mod bounds;
mod failures;
mod flow;
mod forced;
mod likeness;
pub(crate) mod refusal;
mod taken;
mod values;

use std::sync::Arc;

use drayman_api::{DeviceId, PoolId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::bits::first_candidate;
use crate::budget::{Budget, Interrupt};
use crate::capacity::Amounts;
use crate::error::{AllocationError, CapacityStage, PoolDefect};
use crate::inventory::nodes::Site;
use crate::limits::ALLOCATION_RESULTS_MAX_SIZE;
use crate::plan::{Alternative, Mode, Plan};
use attributes::Attributes;
use failures::{Pruning, State};
use likeness::Kind;
use taken::{Pick, Taken};

/// A device that was found for a request, by its position: nodes that see the same have the same.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    pub(crate) choice: Choice,
    pub(crate) spot: Spot,
    /// What is taken from the device when it is shared; then it gets a share ID, even if there is nothing to take.
    pub(crate) share: Option<Amounts>,
}

/// A device that an unfinished search has taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taking {
    /// `namespace/name`.
    pub claim: Arc<str>,
    /// `request` or `request/subrequest`.
    pub request: String,
    /// The device.
    pub device: DeviceId,
}

/// The devices of all claims, in order of requests.
pub(crate) type Assignments = SmallVec<[Assignment; 1]>;

/// A device, by positions of its pool on the node and of itself in the pool. The order is that in which devices are tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Spot {
    pub(crate) pool: usize,
    pub(crate) device: usize,
}

impl Spot {
    fn next(self) -> Self {
        Self { device: self.device + 1, ..self }
    }
}

/// One alternative of one request of one claim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Choice {
    pub(crate) claim: usize,
    pub(crate) request: usize,
    pub(crate) alternative: usize,
}

/// Why a search has no answer.
#[derive(Debug)]
pub(crate) enum Stop {
    /// It failed.
    Failed(AllocationError),
    /// The budget is used up.
    Interrupted(Interrupt),
}

impl From<AllocationError> for Stop {
    fn from(error: AllocationError) -> Self {
        Self::Failed(error)
    }
}

impl From<Interrupt> for Stop {
    fn from(interrupt: Interrupt) -> Self {
        Self::Interrupted(interrupt)
    }
}

/// Why a part of the search found nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DeadEnd {
    /// No devices are left to try.
    NoDevice,
    /// The claim's result would be too long, whichever devices are taken: only another alternative of a request can help.
    TooManyResults,
}

/// A decision that can be taken back.
#[derive(Debug)]
enum Frame {
    /// A claim was begun. What is too long for it may be shortened by another choice in an earlier claim.
    Claim,
    /// An alternative was chosen; whether all before it were too long.
    Alternative { choice: Choice, all_too_long: bool },
    /// A device was taken as the `index`-th of its request, after devices of some classes had led nowhere.
    Device { choice: Choice, index: i64, spot: Spot, tried: Tried },
    /// A device was taken because all are asked for.
    Forced,
    /// A state was entered that may turn out to lead nowhere.
    State(Box<State>),
}

/// Classes of devices that led nowhere at one place of the search.
type Tried = SmallVec<[Kind; 4]>;

/// Where the search goes on.
#[derive(Debug)]
enum Step {
    /// To a request.
    Request { claim: usize, request: usize },
    /// To the `index`-th device of an alternative, from a device on.
    Device { choice: Choice, index: i64, from: Spot },
    /// Back to the last decision.
    Back(DeadEnd),
    /// To the end: everything is allocated.
    Done,
}

/// One search on one node.
pub(crate) struct Search<'a> {
    plan: &'a Plan,
    site: Site<'a>,
    /// The devices of alternatives that ask for all.
    forced: FxHashMap<Choice, Vec<Spot>>,
    taken: Taken,
    attributes: Attributes,
    pruning: Pruning,
    frames: Vec<Frame>,
}

impl<'a> Search<'a> {
    pub(crate) fn new(plan: &'a Plan, site: Site<'a>) -> Self {
        Self {
            plan,
            site,
            forced: FxHashMap::default(),
            taken: Taken::new(plan),
            attributes: Attributes::default(),
            pruning: Pruning::default(),
            frames: Vec::new(),
        }
    }

    /// A search on a node, with the room of one on another node if there is one.
    pub(crate) fn on<'b>(search: &'b mut Option<Self>, plan: &'a Plan, site: Site<'a>) -> &'b mut Self {
        match search {
            Some(search) => {
                search.move_to(site);
                search
            }
            None => search.insert(Self::new(plan, site)),
        }
    }

    /// Starts over on another node.
    pub(crate) fn move_to(&mut self, site: Site<'a>) {
        self.site = site;
        self.forced.clear();
        self.taken.clear();
        self.attributes.clear();
        self.pruning.clear();
        self.frames.clear();
    }

    /// The devices of all claims in order of requests, or none if they do not fit.
    pub(crate) fn run(&mut self, budget: &mut Budget<'_>) -> Result<Option<Assignments>, Stop> {
        if let Some(error) = self.site.error() {
            return Err(error.clone().into());
        }
        self.check_claims()?;
        if self.descend(budget)? {
            return Ok(Some(self.assignments()));
        }
        let invalid = self.invalid_pools();
        if invalid.is_empty() { Ok(None) } else { Err(AllocationError::InvalidPools { pools: invalid }.into()) }
    }

    fn assignments(&mut self) -> Assignments {
        let picks = self.taken.take_picks();
        picks.into_iter().map(|Pick { choice, spot, share }| Assignment { choice, spot, share }).collect()
    }

    /// What the search has taken, in order of requests.
    pub(crate) fn held(&self) -> Vec<Taking> {
        let taking = |pick: &Pick| {
            let claim = &self.plan.claims[pick.choice.claim];
            let request = self.alternative(pick.choice).reference.clone();
            Taking {
                claim: Arc::clone(&claim.key),
                request,
                device: self.view(pick.spot).layout.device_id(pick.spot.device),
            }
        };
        self.taken.picks().iter().map(taking).collect()
    }

    fn invalid_pools(&self) -> Vec<(PoolId, String)> {
        let unusable = self.site.pools().filter_map(|pool| Some((&pool.layout.id, pool.layout.unusable.as_ref()?)));
        let invalid = unusable.filter(|(_, unusable)| unusable.defect == PoolDefect::Invalid);
        invalid.map(|(id, unusable)| ((**id).clone(), unusable.reason.clone())).collect()
    }

    fn descend(&mut self, budget: &mut Budget<'_>) -> Result<bool, Stop> {
        let mut step = Step::Request { claim: 0, request: 0 };
        loop {
            step = match step {
                Step::Done => return Ok(true),
                Step::Request { claim, request } => {
                    budget.step()?;
                    self.enter_request(claim, request)
                }
                Step::Device { choice, index, from } => {
                    budget.step()?;
                    self.enter_device(choice, index, from)?
                }
                Step::Back(dead_end) => match self.frames.pop() {
                    None => return Ok(false),
                    Some(frame) => self.resume(frame, dead_end)?,
                },
            };
        }
    }

    fn enter_request(&mut self, claim: usize, request: usize) -> Step {
        let Some(plan) = self.plan.claims.get(claim) else { return Step::Done };
        let Some(wanted) = plan.requests.get(request) else {
            self.frames.push(Frame::Claim);
            return Step::Request { claim: claim + 1, request: 0 };
        };
        let choice = Choice { claim, request, alternative: 0 };
        if wanted.is_list {
            self.frames.push(Frame::Alternative { choice, all_too_long: true });
        }
        Step::Device { choice, index: 0, from: Spot::default() }
    }

    fn enter_device(&mut self, choice: Choice, index: i64, from: Spot) -> Result<Step, AllocationError> {
        let wanted = self.wanted(choice);
        let all = self.alternative(choice).mode == Mode::All;
        if all && wanted == 0 {
            return Ok(Step::Back(DeadEnd::NoDevice));
        }
        if index >= wanted {
            return Ok(Step::Request { claim: choice.claim, request: choice.request + 1 });
        }
        if wanted - index > ALLOCATION_RESULTS_MAX_SIZE - self.taken.results_of(choice.claim) {
            return Ok(Step::Back(DeadEnd::TooManyResults));
        }
        if self.pruning.is_on {
            if !self.pruning.likeness.order_matters(choice) {
                let state = self.state(choice, index, from);
                if let Some(dead_end) = self.known_failure(&state) {
                    return Ok(Step::Back(dead_end));
                }
                self.frames.push(Frame::State(Box::new(state)));
            }
            if self.is_hopeless(choice, index, from) {
                return Ok(Step::Back(DeadEnd::NoDevice));
            }
        }
        if all { self.force(choice, index) } else { self.try_from(choice, index, from, Tried::new()) }
    }

    /// How many devices an alternative needs.
    fn wanted(&self, choice: Choice) -> i64 {
        match self.alternative(choice).mode {
            Mode::Exactly(count) => count,
            Mode::All => i64::try_from(self.forced.get(&choice).map_or(0, Vec::len)).unwrap_or(i64::MAX),
        }
    }

    /// Takes the next device of a request for all devices; there is no other choice.
    fn force(&mut self, choice: Choice, index: i64) -> Result<Step, AllocationError> {
        let spot = usize::try_from(index).ok().and_then(|index| self.forced.get(&choice)?.get(index).copied());
        let Some(spot) = spot else { return Ok(Step::Back(DeadEnd::NoDevice)) };
        if self.in_use(choice, spot) || !self.take(choice, spot, None, true)? {
            return Ok(Step::Back(DeadEnd::NoDevice));
        }
        self.frames.push(Frame::Forced);
        Ok(Step::Device { choice, index: index + 1, from: Spot::default() })
    }

    /// Takes the first device from `from` on that can be taken and is not like one that led nowhere.
    fn try_from(&mut self, choice: Choice, index: i64, from: Spot, tried: Tried) -> Result<Step, AllocationError> {
        let mut from = from;
        while let Some(spot) = self.next_candidate(choice, from)? {
            from = spot.next();
            if !tried.is_empty() && self.exchangeable(choice, spot).is_some_and(|kind| tried.contains(&kind)) {
                continue;
            }
            let Some(amounts) = self.capacity(choice, spot, CapacityStage::Checking)? else { continue };
            if self.take(choice, spot, Some(amounts), false)? {
                self.frames.push(Frame::Device { choice, index, spot, tried });
                return Ok(Step::Device { choice, index: index + 1, from });
            }
        }
        Ok(Step::Back(DeadEnd::NoDevice))
    }

    /// What a device would have to give up of its capacity if it were taken now, by itself; none if it cannot be taken. A failure counts as
    /// taking nothing: it has to be met where upstream meets it.
    fn could_take(&mut self, choice: Choice, spot: Spot) -> Option<Amounts> {
        let verdicts = self.view(spot).layout.verdicts(&self.alternative(choice).chain, self.plan.features);
        if self.in_use(choice, spot) || !verdicts.selected.contains(spot.device) {
            return None;
        }
        let Ok(amounts) = self.capacity(choice, spot, CapacityStage::Checking) else { return Some(Amounts::new()) };
        let amounts = amounts?;
        match self.take(choice, spot, Some(amounts.clone()), false) {
            Ok(true) => {
                self.taken.give_back_last();
                Some(amounts)
            }
            Ok(false) => None,
            Err(_) => Some(Amounts::new()),
        }
    }

    /// The first device from `from` on that is free and selected. Fails if a selector fails on a free device before it.
    fn next_candidate(&self, choice: Choice, from: Spot) -> Result<Option<Spot>, AllocationError> {
        let alternative = self.alternative(choice);
        let mut start = from.device;
        for pool in from.pool..self.site.len() {
            let Some(view) = self.site.pool(pool) else { continue };
            let verdicts = view.layout.verdicts(&alternative.chain, self.plan.features);
            let held = (!alternative.admin).then_some(&view.state.held);
            while let Some(device) = first_candidate(start, &verdicts.selected, &verdicts.failed, held) {
                let spot = Spot { pool, device };
                start = device + 1;
                if self.in_use(choice, spot) {
                    continue;
                }
                if verdicts.failed.contains(device) {
                    return Err(self.selector_error(alternative, spot));
                }
                return Ok(Some(spot));
            }
            start = 0;
        }
        Ok(None)
    }

    fn resume(&mut self, frame: Frame, dead_end: DeadEnd) -> Result<Step, AllocationError> {
        match frame {
            Frame::Claim => Ok(Step::Back(DeadEnd::NoDevice)),
            Frame::Forced => {
                self.taken.give_back_last();
                Ok(Step::Back(dead_end))
            }
            Frame::State(state) => {
                self.remember_failure(*state, dead_end);
                Ok(Step::Back(dead_end))
            }
            Frame::Device { choice, index, spot, mut tried } => {
                self.taken.give_back_last();
                if dead_end == DeadEnd::TooManyResults {
                    return Ok(Step::Back(dead_end));
                }
                self.start_pruning();
                tried.extend(self.exchangeable(choice, spot));
                if self.is_hopeless(choice, index, spot.next()) {
                    return Ok(Step::Back(DeadEnd::NoDevice));
                }
                self.try_from(choice, index, spot.next(), tried)
            }
            Frame::Alternative { choice, all_too_long } => {
                let all_too_long = all_too_long && dead_end == DeadEnd::TooManyResults;
                let next = Choice { alternative: choice.alternative + 1, ..choice };
                if next.alternative < self.plan.claims[choice.claim].requests[choice.request].alternatives.len() {
                    self.frames.push(Frame::Alternative { choice: next, all_too_long });
                    return Ok(Step::Device { choice: next, index: 0, from: Spot::default() });
                }
                Ok(Step::Back(if all_too_long { DeadEnd::TooManyResults } else { DeadEnd::NoDevice }))
            }
        }
    }

    pub(crate) fn alternative(&self, choice: Choice) -> &'a Alternative {
        &self.plan.claims[choice.claim].requests[choice.request].alternatives[choice.alternative]
    }
}
