//! Bounds: what can be said about the rest of a search without doing it.
//!
//! A cut must not change the answer. All conditions on devices are monotonic: what cannot be taken now cannot be taken after more was
//! taken. So a request that finds too few devices now will never be met from here, and neither will requests that compete for too few.
//! Errors are answers, too: nothing is cut that could reach an alternative which may fail, and nothing in a claim that may become too long.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use drayman_api::Quantity;

use crate::plan::Mode;
use crate::search::likeness::Kind;
use crate::search::{Choice, Search, Spot};

/// Requests that are looked at ahead; looking at fewer only cuts less.
const LOOK_AHEAD: usize = 128;

/// Devices that can be taken for a request by themselves: of a class, or one that is in use already but can be shared further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Source {
    Kind(Kind),
    Device(Spot),
}

/// How many devices a source has for a request.
#[derive(Clone, Copy, Debug)]
struct Supply {
    source: Source,
    /// One of them.
    example: Spot,
    count: usize,
}

/// A request that competes with others for devices.
struct Demand {
    count: usize,
    supplies: Vec<Supply>,
}

impl Search<'_> {
    /// Whether it is certain that nothing can be found from the `index`-th device of an alternative on, taking devices from `from` on.
    pub(super) fn is_hopeless(&mut self, choice: Choice, index: i64, from: Spot) -> bool {
        if self.pruning.likeness.may_be_too_long(choice.claim) || self.pruning.likeness.may_fail(choice) {
            return false;
        }
        let supplies = self.supplies(choice, from);
        let missing = usize::try_from(self.wanted(choice) - index).unwrap_or_default();
        if !self.suffices(choice, missing, &supplies) {
            return true;
        }
        let mut demands = Vec::new();
        if !self.alternative(choice).admin {
            demands.push(Demand { count: missing, supplies });
        }
        for (claim, request) in self.requests_after(choice) {
            match self.demand(claim, request) {
                Ok(demand) => demands.extend(demand),
                Err(Hopeless::Certain) => return true,
                Err(Hopeless::Unknown) => break,
            }
        }
        demands.len() > 1
            && (!self.counters_suffice(choice, &demands)
                || !can_all_be_served(&demands, |supply| self.is_shareable(supply.example)))
    }

    /// Whether there are counters for so many devices as all demands need together, taken from wherever they like.
    fn counters_suffice(&self, choice: Choice, demands: &[Demand]) -> bool {
        let mut union: Vec<Supply> = Vec::new();
        for supply in demands.iter().flat_map(|demand| &demand.supplies) {
            match union.iter_mut().find(|known| known.source == supply.source) {
                Some(known) if known.count < supply.count => *known = *supply,
                Some(_) => {}
                None => union.push(*supply),
            }
        }
        // A device that can be shared serves any number of demands, and is paid for once.
        let can_be_shared = union.iter().any(|supply| self.is_shareable(supply.example));
        can_be_shared || self.suffices(choice, demands.iter().map(|demand| demand.count).sum(), &union)
    }

    /// What a later request needs at least; none where it does not compete for devices.
    fn demand(&mut self, claim: usize, request: usize) -> Result<Option<Demand>, Hopeless> {
        let alternatives = self.plan.claims[claim].requests[request].alternatives.len();
        let choices = (0..alternatives).map(|alternative| Choice { claim, request, alternative });
        if choices.clone().any(|choice| self.pruning.likeness.may_fail(choice)) {
            return Err(Hopeless::Unknown);
        }
        let mut demand: Option<Demand> = None;
        let mut competes = true;
        for choice in choices {
            let supplies = self.supplies(choice, Spot::default());
            let count = usize::try_from(self.wanted(choice)).unwrap_or_default();
            if self.alternative(choice).mode == Mode::All && count == 0 || !self.suffices(choice, count, &supplies) {
                continue;
            }
            competes &= !self.alternative(choice).admin;
            demand = Some(match demand {
                None => Demand { count, supplies },
                Some(other) => other.or(Demand { count, supplies }),
            });
        }
        demand.map(|demand| competes.then_some(demand)).ok_or(Hopeless::Certain)
    }

    fn requests_after(&self, choice: Choice) -> Vec<(usize, usize)> {
        let claims = self.plan.claims.iter().enumerate().skip(choice.claim);
        let all = claims.flat_map(|(claim, plan)| (0..plan.requests.len()).map(move |request| (claim, request)));
        all.filter(|(claim, request)| (*claim, *request) > (choice.claim, choice.request)).take(LOOK_AHEAD).collect()
    }

    /// The devices from `from` on that could be taken for an alternative now.
    fn supplies(&mut self, choice: Choice, from: Spot) -> Vec<Supply> {
        let mut used: FxHashMap<Kind, SmallVec<[Spot; 4]>> = FxHashMap::default();
        for pick in self.taken.picks() {
            if let Some(kind) = self.pruning.likeness.kind(pick.spot).filter(|_| pick.spot >= from) {
                let spots = used.entry(kind).or_default();
                if !spots.contains(&pick.spot) {
                    spots.push(pick.spot);
                }
            }
        }
        let mut supplies = Vec::new();
        for kind in 0..self.pruning.likeness.members.len() {
            let members = &self.pruning.likeness.members[kind];
            let members = &members[members.partition_point(|spot| *spot < from)..];
            let used = used.remove(&kind).unwrap_or_default();
            let example = members.iter().copied().find(|spot| !used.contains(spot));
            let count = members.len() - used.len();
            if let Some(example) = example.filter(|example| self.could_take(choice, *example)) {
                supplies.push(Supply { source: Source::Kind(kind), example, count });
            }
            for spot in used.into_iter().filter(|spot| self.could_take(choice, *spot)) {
                supplies.push(Supply { source: Source::Device(spot), example: spot, count: 1 });
            }
        }
        supplies
    }

    /// Whether enough devices are there, and counters for so many of them.
    fn suffices(&self, choice: Choice, wanted: usize, supplies: &[Supply]) -> bool {
        let mut total: usize = 0;
        let mut by_counters: FxHashMap<(usize, SmallVec<[usize; 2]>), Vec<&Supply>> = FxHashMap::default();
        for supply in supplies {
            match self.charged(choice, supply.example) {
                Some(consumption) => {
                    let sets = consumption.sets.iter().map(|(set, _)| *set).collect();
                    by_counters.entry((supply.example.pool, sets)).or_default().push(supply);
                }
                None => total += supply.count,
            }
        }
        total + by_counters.values().map(|group| self.most_by_counters(choice, group)).sum::<usize>() >= wanted
    }

    /// How many devices that draw from the same counter sets can be taken at most: for each counter, the most modest devices first.
    fn most_by_counters(&self, choice: Choice, group: &[&Supply]) -> usize {
        let count: usize = group.iter().map(|supply| supply.count).sum();
        let Some(consumption) = group.first().and_then(|supply| self.charged(choice, supply.example)) else {
            return count;
        };
        let positions = consumption.amounts.iter().map(|(position, _)| *position);
        positions.map(|position| self.most_by_counter(choice, group, position)).fold(count, usize::min)
    }

    fn most_by_counter(&self, choice: Choice, group: &[&Supply], position: usize) -> usize {
        let mut amounts: Vec<(Quantity, usize)> = Vec::with_capacity(group.len());
        let mut most: usize = 0;
        for supply in group {
            let consumption = self.charged(choice, supply.example);
            let amount =
                consumption.and_then(|consumption| consumption.amounts.iter().find(|(other, _)| *other == position));
            match amount.filter(|(_, amount)| amount.sign() > 0) {
                Some((_, amount)) => amounts.push((amount.clone(), supply.count)),
                None => most += supply.count,
            }
        }
        amounts.sort_unstable();
        let Some(pool) = group.first().map(|supply| supply.example.pool) else { return most };
        let available = self.view(Spot { pool, device: 0 }).state.available.counter(position);
        let mut sum = self.taken.counters.consumed(pool, position).cloned().unwrap_or_default();
        for (amount, count) in amounts {
            for _ in 0..count {
                match sum.checked_add(&amount) {
                    Ok(next) if next <= *available => sum = next,
                    _ => return most,
                }
                most += 1;
            }
        }
        most
    }
}

/// What is known about a request that was looked at ahead.
enum Hopeless {
    /// It can never be met from here.
    Certain,
    /// It must be reached to know.
    Unknown,
}

impl Demand {
    /// A request that can be met in one of two ways needs at least the fewer devices, of either kind.
    fn or(mut self, other: Self) -> Self {
        self.count = self.count.min(other.count);
        for supply in other.supplies {
            match self.supplies.iter_mut().find(|known| known.source == supply.source) {
                Some(known) => known.count = known.count.max(supply.count),
                None => self.supplies.push(supply),
            }
        }
        self
    }
}

/// Whether all demands can be met together, by devices alone: a flow from demands over sources, in which a device serves one demand unless
/// it can be shared.
fn can_all_be_served(demands: &[Demand], is_shareable: impl Fn(&Supply) -> bool) -> bool {
    let mut left: FxHashMap<Source, usize> = FxHashMap::default();
    for supply in demands.iter().flat_map(|demand| &demand.supplies) {
        let count = if is_shareable(supply) { usize::MAX / 2 } else { supply.count };
        let known = left.entry(supply.source).or_insert(count);
        *known = count.max(*known);
    }
    let mut flow = Flow { demands, left, served: FxHashMap::default() };
    (0..demands.len())
        .all(|demand| (0..demands[demand].count).all(|_| flow.serve(demand, &mut vec![false; demands.len()])))
}

struct Flow<'a> {
    demands: &'a [Demand],
    left: FxHashMap<Source, usize>,
    served: FxHashMap<(usize, Source), usize>,
}

impl Flow<'_> {
    /// Gives a demand one more device, moving others to other sources where that helps. The recursion is at most as deep as there are demands.
    fn serve(&mut self, demand: usize, visited: &mut Vec<bool>) -> bool {
        if std::mem::replace(&mut visited[demand], true) {
            return false;
        }
        let demands = self.demands;
        for supply in &demands[demand].supplies {
            if self.served.get(&(demand, supply.source)).copied().unwrap_or_default() >= supply.count {
                continue;
            }
            let left = self.left.entry(supply.source).or_default();
            if *left > 0 {
                *left -= 1;
            } else if !self.make_room(supply.source, visited) {
                continue;
            }
            *self.served.entry((demand, supply.source)).or_default() += 1;
            return true;
        }
        false
    }

    fn make_room(&mut self, source: Source, visited: &mut Vec<bool>) -> bool {
        for other in 0..self.demands.len() {
            if self.served.get(&(other, source)).copied().unwrap_or_default() == 0 || visited[other] {
                continue;
            }
            if self.serve(other, visited) {
                *self.served.entry((other, source)).or_default() -= 1;
                return true;
            }
        }
        false
    }
}
