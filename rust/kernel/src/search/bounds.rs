//! Bounds: what can be said about the rest of a search without doing it.
//!
//! A cut must not change the answer. All conditions on devices are monotonic: what cannot be taken now cannot be taken after more was
//! taken. So a request that finds too few devices now will never be met from here, and neither will requests that compete for too few.
//! Errors are answers, too: nothing is cut that could reach an alternative which may fail, and nothing in a claim that may become too long.

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use drayman_api::Quantity;

use crate::plan::Mode;
use crate::search::flow::{Demand, Source, Supply, can_all_be_served};
use crate::search::likeness::Kind;
use crate::search::{Choice, Search, Spot};

/// Requests that are looked at ahead; looking at fewer only cuts less.
const LOOK_AHEAD: usize = 128;

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
            demands.push(Demand { count: missing, supplies, alternatives: smallvec![choice] });
        }
        for (claim, request) in self.requests_after(choice) {
            match self.demand(claim, request) {
                Ok(demand) => demands.extend(demand),
                Err(Hopeless::Certain) => return true,
                Err(Hopeless::Unknown) => break,
            }
        }
        !self.values_suffice(&mut demands)
            || demands.len() > 1
                && (!self.counters_suffice(choice, &demands)
                    || !can_all_be_served(&demands, |supply, times| self.serves(supply, times)))
    }

    /// How often a supply can serve at most, `times` being more than enough: a device that can be shared again and again, as long as each
    /// share takes no less of its capacity than the most modest one would.
    fn serves(&self, supply: &Supply, times: usize) -> usize {
        if !self.is_shareable(supply.example) {
            return supply.count;
        }
        let view = self.view(supply.example);
        let held = view.state.consumed.get(&supply.example.device);
        let capacity = &self.device(supply.example).capacity;
        let shares = supply.least.iter().map(|(name, amount)| {
            let Some(most) = capacity.get(name).filter(|_| amount.sign() > 0) else { return times };
            let taken = held.into_iter().chain(self.taken.shares(supply.example)).filter_map(|taken| taken.get(name));
            let mut sum = Quantity::default();
            // A sum too long to be computed exceeds whatever the device has.
            let mut fits = |more: &Quantity| sum.checked_add(more).map(|next| sum = next).is_ok() && sum <= most.value;
            if taken.into_iter().all(&mut fits) { (0..times).take_while(|_| fits(amount)).count() } else { 0 }
        });
        supply.count.saturating_mul(shares.min().unwrap_or(times))
    }

    /// Whether there are counters for so many devices as all demands need together, taken from wherever they like.
    fn counters_suffice(&self, choice: Choice, demands: &[Demand]) -> bool {
        let mut union: Vec<Supply> = Vec::new();
        for supply in demands.iter().flat_map(|demand| &demand.supplies) {
            match union.iter_mut().find(|known| known.source == supply.source) {
                Some(known) if known.count < supply.count => *known = supply.clone(),
                Some(_) => {}
                None => union.push(supply.clone()),
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
                None => Demand { count, supplies, alternatives: smallvec![choice] },
                Some(other) => other.or(Demand { count, supplies, alternatives: smallvec![choice] }),
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
            let sources = example.map(|example| (Source::Kind(kind), example, count)).into_iter();
            for (source, example, count) in sources.chain(used.into_iter().map(|spot| (Source::Device(spot), spot, 1)))
            {
                if let Some(least) = self.could_take(choice, example) {
                    supplies.push(Supply { source, example, count, least });
                }
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
