//! All nodes in a row, for searches over all of them.

use std::collections::BTreeSet;
use std::sync::Arc;

use smallvec::SmallVec;

/// A node in short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) name: Arc<str>,
    /// Slots of what it sees, in the order of the search.
    pub(crate) slots: SmallVec<[usize; 2]>,
    /// Its kubelet can leave out operations.
    pub(crate) declared: bool,
    /// It cannot be looked at.
    pub(crate) is_broken: bool,
}

/// The records of all nodes, kept from one search to the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Roster {
    records: Arc<Vec<Record>>,
    stale: BTreeSet<Arc<str>>,
}

impl Roster {
    /// A node may have changed. Once most have, all are made again, so that names need not be kept.
    pub(crate) fn touch(&mut self, name: &Arc<str>) {
        self.stale.insert(Arc::clone(name));
        if self.stale.len() > self.records.len() / 2 {
            *self = Self::default();
        }
    }

    /// The records of `length` nodes in byte order of their names: those that may have changed are made again, or all when nodes came or went.
    pub(crate) fn records<'a, T: 'a, I: Iterator<Item = (&'a Arc<str>, &'a T)>>(
        &mut self,
        length: usize,
        all: impl FnOnce() -> I,
        one: impl Fn(&str) -> Option<&'a T>,
        record: impl Fn(&Arc<str>, &T) -> Record,
    ) -> Arc<Vec<Record>> {
        let stale = std::mem::take(&mut self.stale);
        let is_known = |name: &Arc<str>| self.position(name).is_some() == one(name).is_some();
        if self.records.len() != length || !stale.iter().all(is_known) {
            self.records = Arc::new(all().map(|(name, node)| record(name, node)).collect());
            return Arc::clone(&self.records);
        }
        for name in &stale {
            let (Some(position), Some(node)) = (self.position(name), one(name)) else { continue };
            let changed = record(name, node);
            if self.records[position] != changed {
                Arc::make_mut(&mut self.records)[position] = changed;
            }
        }
        Arc::clone(&self.records)
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.records.binary_search_by(|record| (*record.name).cmp(name)).ok()
    }
}
