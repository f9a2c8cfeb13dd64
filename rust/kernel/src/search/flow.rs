//! Whether requests that compete for devices can all be served: a flow from demands over sources.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::capacity::Amounts;
use crate::search::likeness::Kind;
use crate::search::{Choice, Spot};

/// What serves requests: devices of a class, one that is in use already but can be shared further, or a value that counts once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Source {
    Kind(Kind),
    Device(Spot),
    Value(usize),
}

/// How many devices a source has for a request.
#[derive(Clone, Debug)]
pub(super) struct Supply {
    pub(super) source: Source,
    /// One of them.
    pub(super) example: Spot,
    pub(super) count: usize,
    /// The least that is taken of the capacity of one that can be shared.
    pub(super) least: Amounts,
}

/// A request that competes with others for devices.
pub(super) struct Demand {
    pub(super) count: usize,
    pub(super) supplies: Vec<Supply>,
    /// The alternatives that it can be met by.
    pub(super) alternatives: SmallVec<[Choice; 1]>,
}

impl Demand {
    /// A request that can be met in one of two ways needs at least the fewer devices, of either kind.
    pub(super) fn or(mut self, other: Self) -> Self {
        self.count = self.count.min(other.count);
        self.alternatives.extend(other.alternatives);
        for supply in other.supplies {
            match self.supplies.iter_mut().find(|known| known.source == supply.source) {
                Some(known) => known.merge(&supply),
                None => self.supplies.push(supply),
            }
        }
        self
    }
}

impl Supply {
    /// Takes in what the same source has for another request.
    fn merge(&mut self, other: &Self) {
        self.count = self.count.max(other.count);
        self.least.retain(|name, amount| {
            let Some(more) = other.least.get(name) else { return false };
            if more < amount {
                *amount = more.clone();
            }
            true
        });
    }
}

/// Whether all demands can be met together. `serves` says how often a supply can serve, all demands together, `times` being more than enough.
pub(super) fn can_all_be_served(demands: &[Demand], serves: impl Fn(&Supply, usize) -> usize) -> bool {
    let times = demands.iter().fold(0_usize, |sum, demand| sum.saturating_add(demand.count));
    let mut sources: FxHashMap<Source, Supply> = FxHashMap::default();
    for supply in demands.iter().flat_map(|demand| &demand.supplies) {
        sources.entry(supply.source).and_modify(|known| known.merge(supply)).or_insert_with(|| supply.clone());
    }
    let left = sources.into_iter().map(|(source, supply)| (source, serves(&supply, times))).collect();
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
