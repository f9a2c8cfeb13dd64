//! One search for all nodes: those that offer the same are searched once.

#[cfg(feature = "rayon")]
mod ahead;

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::budget::{Budget, Interrupt};
use crate::error::AllocationError;
use crate::inventory::judged::{Aspects, Judged};
use crate::inventory::nodes::Topology;
use crate::inventory::roster::Record;
use crate::inventory::views::Views;
use crate::plan::Plan;
use crate::result::Allocated;
use crate::search::{Assignments, Search, Stop, Taking};

/// Pools that nodes are compared by at most; nodes that see more are searched one by one.
const COMPARED_POOLS: usize = 16;

/// What came out for one node.
#[derive(Debug)]
pub enum Outcome {
    /// All claims fit.
    Allocated(Allocated),
    /// Not all claims fit. [`Inventory::explain`](crate::Inventory::explain) says why.
    Unallocatable,
    /// The claims, or what the node offers, cannot be worked with.
    Failed(AllocationError),
}

/// A search that did not come to its end.
#[derive(Debug)]
pub struct Unfinished {
    /// The node.
    pub node: Arc<str>,
    /// What it had found when it was stopped.
    pub taken: Vec<Taking>,
}

/// What came out for all nodes. Independent of later changes of the inventory.
#[derive(Debug)]
pub struct Evaluation {
    plan: Arc<Plan>,
    records: Arc<Vec<Record>>,
    views: Views,
    /// By node, as far as the search came: a position in `answers`.
    found: Vec<usize>,
    answers: Vec<Answer>,
    /// Why the rest of the nodes is missing.
    pub interrupted: Option<Interrupt>,
    /// The node that the search was at when it was interrupted.
    pub unfinished: Option<Unfinished>,
    /// Steps that were taken, those in vain included. Nodes that offer the same as one before take none.
    pub steps: u64,
    /// How often a selector was evaluated on a device; not when its verdict was known. What copies of the inventory do meanwhile counts too.
    pub selector_evaluations: u64,
}

/// What came out for some nodes.
#[derive(Debug)]
enum Answer {
    /// These devices.
    Found(Assignments),
    Nothing,
    /// On one node: the text of the error tells nodes apart.
    Failed(AllocationError),
}

impl Evaluation {
    /// Searches all nodes of `records` in their order.
    pub(super) fn new(
        plan: &Arc<Plan>,
        records: &Arc<Vec<Record>>,
        topology: &Topology,
        judged: &mut Judged,
        budget: &mut Budget<'_>,
    ) -> Self {
        let used = budget.used();
        let mut evaluation = Self {
            plan: Arc::clone(plan),
            records: Arc::clone(records),
            views: topology.views().clone(),
            found: Vec::with_capacity(records.len()),
            answers: Vec::new(),
            interrupted: None,
            unfinished: None,
            steps: 0,
            selector_evaluations: 0,
        };
        let mut comparison = (records.len() > 1).then(|| Comparison::new(plan, topology, judged)).flatten();
        let keys = records.iter().map(|record| comparison.as_mut()?.key(record));
        #[cfg(feature = "rayon")]
        let keys: Vec<_> = keys.collect();
        #[cfg(feature = "rayon")]
        let mut ahead = ahead::Ahead::new(plan, topology, records, &keys, budget);
        let mut known: FxHashMap<Key, usize> = FxHashMap::default();
        let mut search: Option<Search<'_>> = None;
        for (record, key) in records.iter().zip(keys) {
            if let Some(answer) = key.as_ref().and_then(|key| known.get(key)) {
                evaluation.found.push(*answer);
                continue;
            }
            let Some(site) = topology.site(&record.name) else { break };
            #[cfg(feature = "rayon")]
            let ahead = ahead.take(evaluation.found.len(), budget);
            #[cfg(feature = "rayon")]
            let found = ahead.unwrap_or_else(|| Search::on(&mut search, plan, site).run(budget));
            #[cfg(not(feature = "rayon"))]
            let found = Search::on(&mut search, plan, site).run(budget);
            let answer = match found {
                Ok(None) => Answer::Nothing,
                Ok(Some(found)) => evaluation.checked(record, found),
                Err(Stop::Failed(error)) => Answer::Failed(error),
                Err(Stop::Interrupted(interrupt)) => {
                    let taken = search.as_ref().map(Search::held).unwrap_or_default();
                    evaluation.interrupted = Some(interrupt);
                    evaluation.unfinished = Some(Unfinished { node: Arc::clone(&record.name), taken });
                    break;
                }
            };
            if let (Some(key), false) = (key, matches!(answer, Answer::Failed(_))) {
                known.insert(key, evaluation.answers.len());
            }
            evaluation.found.push(evaluation.answers.len());
            evaluation.answers.push(answer);
        }
        evaluation.steps = budget.used() - used;
        evaluation
    }

    fn checked(&self, record: &Record, found: Assignments) -> Answer {
        match self.allocated(record, &found).check() {
            Ok(()) => Answer::Found(found),
            Err(error) => Answer::Failed(error),
        }
    }

    fn allocated(&self, record: &Record, found: &Assignments) -> Allocated {
        let view = |pool: usize| self.views.get(*record.slots.get(pool)?);
        Allocated::new(Arc::clone(&self.plan), Arc::clone(&record.name), found, view)
    }

    /// How many nodes have an outcome.
    pub fn len(&self) -> usize {
        self.found.len()
    }

    /// Whether no node has an outcome.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// The nodes that have an outcome, in the order asked for.
    pub fn nodes(&self) -> impl Iterator<Item = &str> {
        self.records[..self.len()].iter().map(|record| &*record.name)
    }

    /// Whether all claims fit on the node at a position.
    pub fn fits(&self, position: usize) -> bool {
        matches!(self.answer(position), Some(Answer::Found(_)))
    }

    /// The error on the node at a position.
    pub fn error(&self, position: usize) -> Option<&AllocationError> {
        match self.answer(position) {
            Some(Answer::Failed(error)) => Some(error),
            _ => None,
        }
    }

    /// The outcome for the node at a position.
    pub fn outcome(&self, position: usize) -> Option<Outcome> {
        Some(match self.answer(position)? {
            Answer::Found(found) => Outcome::Allocated(self.allocated(self.records.get(position)?, found)),
            Answer::Nothing => Outcome::Unallocatable,
            Answer::Failed(error) => Outcome::Failed(error.clone()),
        })
    }

    fn answer(&self, position: usize) -> Option<&Answer> {
        self.answers.get(*self.found.get(position)?)
    }
}

/// All that a search looks at on a node, in numbers.
type Key = SmallVec<[u64; 8]>;

/// Tells nodes apart by what they offer.
struct Comparison<'a> {
    plan: &'a Plan,
    topology: &'a Topology,
    judged: &'a mut Judged,
    aspects: Aspects,
}

impl<'a> Comparison<'a> {
    /// None for claims that nodes cannot be compared for.
    fn new(plan: &'a Plan, topology: &'a Topology, judged: &'a mut Judged) -> Option<Self> {
        let aspects = judged.aspects(plan)?;
        Some(Self { plan, topology, judged, aspects })
    }

    fn key(&mut self, record: &Record) -> Option<Key> {
        if record.is_broken || record.slots.len() > COMPARED_POOLS {
            return None;
        }
        let mut key = Key::new();
        key.push(u64::from(record.declared));
        for slot in &record.slots {
            let mark = self.topology.mark(*slot);
            key.push(mark.content);
            for aspect in &self.aspects {
                let layout = || Some(Arc::clone(&self.topology.views().get(*slot)?.layout));
                let (features, compatibility) = (self.plan.features, self.plan.compatibility);
                let number = self.judged.number(*aspect, (*slot, mark), layout, features, compatibility);
                key.push(u64::from(number));
            }
        }
        Some(key)
    }
}
