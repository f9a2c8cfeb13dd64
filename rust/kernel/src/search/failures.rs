//! What a search has learned: states that lead nowhere, and devices that are like one that was tried.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::attribute::AttributeValue;
use crate::search::likeness::{Kind, Likeness};
use crate::search::{Choice, DeadEnd, Search, Spot};

/// States that are remembered at most.
const REMEMBERED: usize = 1 << 16;

/// What matters for the rest of a search: where it is, how many devices of each class are taken, and what the constraints that
/// are not done compare with.
/// Two states with one key have the same future, up to an exchange of devices that are alike.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct State {
    choice: Choice,
    index: i64,
    from: Spot,
    results: i64,
    /// Devices taken before `from` and from there on, by class.
    taken: Vec<(Kind, u32, u32)>,
    /// Devices taken in shares, by class and whether they come before `from`, each with its shares.
    shared: Vec<(Kind, bool, Vec<Share>)>,
    /// Devices that cannot be exchanged, with their shares.
    special: Vec<(Spot, Share)>,
    constraints: Vec<Vec<AttributeValue>>,
}

/// The claim that took a device, and what it took of it.
type Share = (usize, String);

/// What a search has learned. Nothing is, until it meets its first dead end.
#[derive(Debug, Default)]
pub(super) struct Pruning {
    pub(super) is_on: bool,
    pub(super) likeness: Likeness,
    failures: FxHashMap<State, DeadEnd>,
}

impl Pruning {
    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        if self.is_on {
            *self = Self::default();
        }
    }
}

impl Search<'_> {
    /// Starts to learn.
    pub(super) fn start_pruning(&mut self) {
        if !self.pruning.is_on {
            self.pruning.likeness = self.find_likeness();
            self.pruning.is_on = true;
        }
    }

    /// The class of a device that could be exchanged for one that is like it: nothing of it is taken.
    pub(super) fn exchangeable(&self, choice: Choice, spot: Spot) -> Option<Kind> {
        let untouched = self.taken.picks().iter().all(|pick| pick.spot != spot);
        self.pruning.likeness.kind(spot).filter(|_| untouched && !self.pruning.likeness.order_matters(choice))
    }

    /// The state of the search before the `index`-th device of an alternative.
    pub(super) fn state(&self, choice: Choice, index: i64, from: Spot) -> State {
        let requests = self.plan.claims.iter().flat_map(|claim| &claim.requests);
        let has_admin = requests.flat_map(|request| &request.alternatives).any(|alternative| alternative.admin);
        let mut counts: SmallVec<[(Kind, u32, u32); 8]> = SmallVec::new();
        let mut shared: FxHashMap<Spot, (Kind, bool, Vec<Share>)> = FxHashMap::default();
        let mut special = Vec::new();
        for pick in self.taken.picks() {
            let share = || (pick.choice.claim, format!("{:?}", pick.share));
            match self.pruning.likeness.kind(pick.spot) {
                Some(kind) if pick.share.is_none() && !has_admin => {
                    let position = counts.iter().position(|(other, ..)| *other == kind).unwrap_or_else(|| {
                        counts.push((kind, 0, 0));
                        counts.len() - 1
                    });
                    let (_, before, after) = &mut counts[position];
                    *(if pick.spot < from { before } else { after }) += 1;
                }
                Some(kind) if !has_admin => {
                    let (_, _, shares) = shared.entry(pick.spot).or_insert((kind, pick.spot < from, Vec::new()));
                    shares.push(share());
                }
                _ => special.push((pick.spot, share())),
            }
        }
        counts.sort_unstable();
        let mut shared: Vec<_> = shared.into_values().collect();
        for (_, _, shares) in &mut shared {
            shares.sort_unstable();
        }
        shared.sort_unstable();
        special.sort_unstable();
        let constraints = self.taken.constraints[choice.claim].iter().enumerate();
        let constraints = constraints.map(|(position, constraint)| {
            let matters = self.plan.claims[choice.claim].concerns_later(position, choice.request);
            if matters { constraint.key() } else { Vec::new() }
        });
        State {
            choice,
            index,
            from,
            results: self.taken.results_of(choice.claim),
            taken: counts.into_vec(),
            shared,
            special,
            constraints: constraints.collect(),
        }
    }

    /// How the search ended from such a state before.
    pub(super) fn known_failure(&self, state: &State) -> Option<DeadEnd> {
        self.pruning.failures.get(state).copied()
    }

    /// Remembers that a state leads nowhere.
    pub(super) fn remember_failure(&mut self, state: State, dead_end: DeadEnd) {
        if self.pruning.failures.len() < REMEMBERED {
            self.pruning.failures.insert(state, dead_end);
        }
    }
}
