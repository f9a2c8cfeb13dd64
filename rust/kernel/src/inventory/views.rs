//! What nodes see of pools, side by side: a search over all nodes walks over these lists and over little else.

use std::sync::Arc;

use crate::inventory::layout::PoolView;

const CHUNK: usize = 64;

type Chunk = Vec<Option<Arc<PoolView>>>;

/// Views by slot. Clones share what has not changed since, so that outcomes keep what they were found in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Views(Arc<Vec<Arc<Chunk>>>);

impl Views {
    pub(crate) fn get(&self, slot: usize) -> Option<&Arc<PoolView>> {
        self.0.get(slot / CHUNK)?.get(slot % CHUNK)?.as_ref()
    }

    fn set(&mut self, slot: usize, view: Option<Arc<PoolView>>) {
        let chunks = Arc::make_mut(&mut self.0);
        while chunks.len() <= slot / CHUNK {
            chunks.push(Arc::new(vec![None; CHUNK]));
        }
        Arc::make_mut(&mut chunks[slot / CHUNK])[slot % CHUNK] = view;
    }
}

/// What tells a view from others without a look at it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mark {
    /// Of its layout: another one after every change of the slices.
    pub(crate) layout: u64,
    /// Of what it offers: the same for views that only names, selectors and constraints can tell apart.
    pub(crate) content: u64,
}

/// Slots for views, with their marks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slots {
    pub(crate) views: Views,
    marks: Vec<Mark>,
    free: Vec<usize>,
}

impl Slots {
    /// How many slots there are.
    pub(crate) fn len(&self) -> usize {
        self.marks.len()
    }

    /// Takes a slot for a view.
    pub(crate) fn add(&mut self, view: PoolView) -> usize {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.marks.push(Mark::default());
            self.marks.len() - 1
        });
        self.replace(slot, view);
        slot
    }

    pub(crate) fn replace(&mut self, slot: usize, view: PoolView) {
        self.marks[slot] = view.mark;
        self.views.set(slot, Some(Arc::new(view)));
    }

    /// Gives a slot back.
    pub(crate) fn remove(&mut self, slot: usize) {
        self.views.set(slot, None);
        self.free.push(slot);
    }

    pub(crate) fn mark(&self, slot: usize) -> Mark {
        self.marks[slot]
    }
}
