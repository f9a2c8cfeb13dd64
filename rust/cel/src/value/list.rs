//! Lists, which know how much they hold.

use std::ops::Deref;
use std::sync::Arc;

use crate::value::{Extent, Value};

/// A list of values.
#[derive(Debug, Clone, Default)]
pub struct List {
    elements: Vec<Value>,
    extent: Extent,
}

impl List {
    pub(crate) fn new(elements: Vec<Value>) -> Self {
        let extent = elements.iter().fold(Extent::ONE, Extent::around);
        Self { elements, extent }
    }

    pub(crate) fn extent(&self) -> Extent {
        self.extent
    }

    pub(crate) fn append(&mut self, others: &Self) {
        self.elements.extend_from_slice(others);
        self.extent = self.extent.and(others.extent);
    }
}

impl Deref for List {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        &self.elements
    }
}

impl Value {
    /// A list of `elements`.
    pub(crate) fn list(elements: Vec<Self>) -> Self {
        Self::List(Arc::new(List::new(elements)))
    }
}
