//! What the claims of a pod read of views, in numbers: views of one content whose numbers agree, too, have the same outcome.

use std::ptr;
use std::sync::{Arc, Weak};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::attribute::{AttributeValue, published};
use crate::features::{Compatibility, Features};
use crate::inventory::layout::Layout;
use crate::inventory::views::Mark;
use crate::plan::Plan;
use crate::selectors::{Chain, Verdicts};

/// Aspects that are kept from one evaluation to the next.
const KEPT: usize = 16;

/// Readings of one aspect that are told apart before counting starts anew.
const REMEMBERED: usize = 1 << 14;

/// Something that claims read of devices.
#[derive(Clone, Debug)]
enum Aspect {
    Selectors(Weak<Chain>),
    /// An attribute that a constraint is about.
    Attribute(String),
}

/// What is read of a view.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Reading {
    Verdicts(Arc<Verdicts>),
    Attribute(Vec<Option<AttributeValue>>),
}

/// The readings of one aspect.
#[derive(Clone, Debug)]
struct Column {
    aspect: Aspect,
    /// By slot of the view: the mark of its layout, and the number of the reading.
    numbers: Vec<(u64, u32)>,
    known: FxHashMap<Reading, u32>,
    last: u32,
}

/// The readings of views, each made once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Judged {
    /// The last one was used last.
    columns: Vec<Column>,
}

/// Positions of the aspects of a plan.
pub(crate) type Aspects = SmallVec<[usize; 4]>;

impl Judged {
    /// The aspects of a plan; none for a plan with derived attributes, which are computed device by device.
    pub(crate) fn aspects(&mut self, plan: &Plan) -> Option<Aspects> {
        let alternatives =
            || plan.claims.iter().flat_map(|claim| &claim.requests).flat_map(|request| &request.alternatives);
        if alternatives().any(|alternative| !alternative.derived.is_empty()) {
            return None;
        }
        let mut wanted: Vec<Aspect> = Vec::new();
        let chains = alternatives().map(|alternative| Aspect::Selectors(Arc::downgrade(&alternative.chain)));
        let constraints = plan.claims.iter().flat_map(|claim| &claim.constraints);
        let attributes = constraints.map(|constraint| Aspect::Attribute(constraint.attribute.clone()));
        for aspect in chains.chain(attributes) {
            if !wanted.iter().any(|other| other.is(&aspect)) {
                wanted.push(aspect);
            }
        }
        self.columns.retain(|column| !column.aspect.is_gone());
        // Those of the plan are moved to the end, and those that were not used for long fall out at the start.
        for aspect in &wanted {
            let known = self.columns.iter().position(|column| column.aspect.is(aspect));
            let column = known.map_or_else(|| Column::new(aspect.clone()), |position| self.columns.remove(position));
            self.columns.push(column);
        }
        let surplus = self.columns.len().saturating_sub(KEPT.max(wanted.len()));
        self.columns.drain(..surplus);
        Some((self.columns.len() - wanted.len()..self.columns.len()).collect())
    }

    /// The number of what is read of a view.
    pub(crate) fn number(
        &mut self,
        aspect: usize,
        (slot, mark): (usize, Mark),
        layout: impl FnOnce() -> Option<Arc<Layout>>,
        features: Features,
        compatibility: Compatibility,
    ) -> u32 {
        let column = &mut self.columns[aspect];
        if let Some((known, number)) = column.numbers.get(slot)
            && *known == mark.layout
        {
            return *number;
        }
        let reading = layout().map(|layout| column.aspect.read(&layout, features, compatibility));
        let number = reading.map_or(0, |reading| column.number(reading));
        if column.numbers.len() <= slot {
            column.numbers.resize(slot + 1, (0, 0));
        }
        column.numbers[slot] = (mark.layout, number);
        number
    }
}

impl Aspect {
    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            // A weak pointer keeps the address from being used again.
            (Self::Selectors(one), Self::Selectors(other)) => ptr::eq(one.as_ptr(), other.as_ptr()),
            (Self::Attribute(one), Self::Attribute(other)) => one == other,
            _ => false,
        }
    }

    fn is_gone(&self) -> bool {
        matches!(self, Self::Selectors(chain) if chain.strong_count() == 0)
    }

    fn read(&self, layout: &Layout, features: Features, compatibility: Compatibility) -> Reading {
        match self {
            Self::Selectors(chain) => Reading::Verdicts(match chain.upgrade() {
                Some(chain) => layout.verdicts(&chain, features),
                None => Arc::new(Verdicts::none(layout.len())),
            }),
            Self::Attribute(name) => {
                let value = |position| {
                    let driver = layout.slice(position).driver();
                    let value = published(&layout.device(position).attributes, name, driver);
                    value.map(|value| AttributeValue::new(value, compatibility))
                };
                Reading::Attribute((0..layout.len()).map(value).collect())
            }
        }
    }
}

impl Column {
    fn new(aspect: Aspect) -> Self {
        Self { aspect, numbers: Vec::new(), known: FxHashMap::default(), last: 0 }
    }

    fn number(&mut self, reading: Reading) -> u32 {
        if self.known.len() >= REMEMBERED {
            self.known.clear();
        }
        self.last += 1;
        *self.known.entry(reading).or_insert(self.last)
    }
}
