//! Loops, and names bound to values.

use crate::ast::{Fold, Kind, NodeId, Role};
use crate::library::{Binding, Special};
use crate::lower::{Lowering, Work};
use crate::program::Step;
use crate::value::Value;

/// Where the variables of a loop are kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slots {
    pub(super) accumulator: usize,
    pub(super) first: usize,
    pub(super) second: usize,
    /// For a bound name, the label of the steps that compute its value.
    pub(super) init: Option<usize>,
}

impl Lowering<'_> {
    pub(super) fn fold(&mut self, fold: &Fold) {
        if fold.bind { self.bind(fold) } else { self.repeat(fold) }
    }

    fn allocate(&mut self, start: NodeId, init: Option<usize>) -> Slots {
        let first = self.slot_count;
        self.slot_count += 3;
        let slots = Slots { accumulator: first, first: first + 1, second: first + 2, init };
        self.slots.insert(start, slots);
        slots
    }

    /// The value is computed at the first use, if there is one, by steps that stand before the body.
    fn bind(&mut self, fold: &Fold) {
        let (init, body) = (self.label(), self.label());
        let slots = self.allocate(fold.start, Some(init));
        self.then(vec![
            Work::Step(Step::Unset(slots.accumulator)),
            Work::Step(Step::Jump(body)),
            Work::Label(init),
            Work::Node(fold.init),
            Work::Step(Step::Return(slots.accumulator)),
            Work::Label(body),
            Work::Node(fold.result),
        ]);
    }

    fn repeat(&mut self, fold: &Fold) {
        let slots = self.allocate(fold.start, None);
        let (next, result, end) = (self.label(), self.label(), self.label());
        // Macros start loops with constants only.
        let init = self.constants.value(fold.init).cloned().unwrap_or(Value::Null);
        let two_variables = fold.two_variables;
        let second = two_variables.then_some(slots.second);
        let mut work = vec![
            Work::Node(fold.range),
            Work::Step(Step::Begin { accumulator: slots.accumulator, init, two_variables, end }),
            Work::Label(next),
            Work::Step(Step::Next { first: slots.first, second, result }),
        ];
        if !matches!(self.constants.value(fold.condition), Some(Value::Bool(true))) {
            work.extend([Work::Node(fold.condition), Work::Step(Step::While(result))]);
        }
        work.extend([
            Work::Node(fold.step),
            Work::Step(Step::Store(slots.accumulator)),
            Work::Step(Step::Jump(next)),
            Work::Label(result),
            Work::Node(fold.result),
            Work::Label(end),
        ]);
        self.then(work);
    }

    /// Whether `node` adds to the accumulator of its loop, which nobody else can see: then it may be changed in place.
    pub(super) fn gathers(&self, node: NodeId) -> Option<(usize, &[NodeId], bool)> {
        let Kind::Call(call) = self.ast.kind(node) else { return None };
        let is_insert = matches!(call.function.binding, Binding::Special(Special::MapInsert));
        let (accumulator, rest) = call.arguments.split_first()?;
        let Kind::Local { start, role: Role::Accumulator, .. } = self.ast.kind(*accumulator) else { return None };
        let adds_list = call.function.name == "_+_" && matches!(self.ast.kind(*rest.first()?), Kind::List { .. });
        let slots = self.slots.get(start)?;
        (slots.init.is_none() && (is_insert || adds_list)).then_some((slots.accumulator, rest, is_insert))
    }
}
