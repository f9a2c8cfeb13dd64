//! Searches of distinct nodes on all cores, ahead of the loop that asks for their answers one after the other.
//!
//! The loop decides: it takes what was found here when it comes to a node, counts its steps, and searches for itself what is missing. So
//! the answers, their order and the point at which a budget ends are the same as without.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Key;
use crate::budget::Budget;
use crate::inventory::nodes::Topology;
use crate::inventory::roster::Record;
use crate::plan::Plan;
use crate::search::{Assignments, Search, Stop};

/// Nodes between two questions to the caller whether to go on.
const BATCH: usize = 256;

/// Steps of a search; a longer one is left to the loop, which asks the caller on its way.
const STEPS: u64 = 1024;

/// How a search ended.
type Found = Result<Option<Assignments>, Stop>;

/// What was found, with the steps that it took, by position of the node.
#[derive(Default)]
pub(super) struct Ahead(FxHashMap<usize, (Found, u64)>);

impl Ahead {
    /// Searches the nodes of `records` that no earlier one has the key of, as far as the budget goes.
    pub(super) fn new(
        plan: &Plan,
        topology: &Topology,
        records: &[Record],
        keys: &[Option<Key>],
        budget: &mut Budget<'_>,
    ) -> Self {
        let mut known = FxHashSet::default();
        let is_new = |position: &usize| keys[*position].as_ref().is_none_or(|key| known.insert(key));
        let distinct: Vec<usize> = (0..records.len()).filter(is_new).collect();
        let mut ahead = Self::default();
        let mut used = 0;
        if distinct.len() < 2 {
            return ahead;
        }
        for batch in distinct.chunks(BATCH) {
            let Some(left) = budget.left(used) else { break };
            let found: Vec<_> = batch
                .par_iter()
                .map_init(
                    || None,
                    |room, position| {
                        let site = topology.site(&records[*position].name)?;
                        Some((*position, run(Search::on(room, plan, site), left.min(STEPS))?))
                    },
                )
                .flatten()
                .collect();
            used += found.iter().map(|(_, (_, steps))| steps).sum::<u64>();
            ahead.0.extend(found);
        }
        ahead
    }

    /// What was found on a node, if the budget has the steps for it.
    pub(super) fn take(&mut self, position: usize, budget: &mut Budget<'_>) -> Option<Found> {
        let (found, steps) = self.0.remove(&position)?;
        budget.spend(steps).then_some(found)
    }
}

/// How a search ends within so many steps.
fn run(search: &mut Search<'_>, steps: u64) -> Option<(Found, u64)> {
    let mut budget = Budget::unlimited().with_steps(steps);
    let found = search.run(&mut budget);
    let is_whole = !matches!(found, Err(Stop::Interrupted(_)));
    is_whole.then(|| (found, budget.used()))
}
