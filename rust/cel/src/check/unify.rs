//! Which types may stand for which, and what unknown types turn out to be. The rules are upstream's, their order included.

use std::cell::Cell;
use std::collections::HashMap;

use crate::types::{Parameter, Type};

/// The most parts of types that are looked at for one expression. Parts may be shared, so that a short expression can have a type of any size.
const MAX_STEPS: usize = 20_000_000;
/// The most levels of types inside each other.
const MAX_DEPTH: usize = 600;

/// What is known of unknown types. A failed attempt leaves no trace.
#[derive(Debug, Default)]
pub(super) struct Substitution {
    known: HashMap<Parameter, Type>,
    /// What each change replaced, to undo it.
    journal: Vec<(Parameter, Option<Type>)>,
    steps: Cell<usize>,
    depth: Cell<usize>,
}

impl Substitution {
    /// Whether the types were too large; then nothing found since holds.
    pub(super) fn is_exhausted(&self) -> bool {
        self.steps.get() > MAX_STEPS
    }

    /// Goes one level down, if there may be one more.
    fn enter(&self) -> bool {
        self.steps.set(self.steps.get() + 1);
        if self.depth.get() >= MAX_DEPTH {
            self.steps.set(MAX_STEPS + 1);
        }
        if self.is_exhausted() {
            return false;
        }
        self.depth.set(self.depth.get() + 1);
        true
    }

    fn leave(&self) {
        self.depth.set(self.depth.get() - 1);
    }

    /// Whether `to` may be used where `from` is wanted; unknown types are narrowed when it is.
    pub(super) fn assign(&mut self, from: &Type, to: &Type) -> bool {
        let assigned = self.is_assignable(from, to);
        self.settle(assigned)
    }

    /// The same for all of two lists.
    pub(super) fn assign_all<'a>(&mut self, pairs: impl Iterator<Item = (&'a Type, &'a Type)>) -> bool {
        for (from, to) in pairs {
            if !self.is_assignable(from, to) {
                return self.settle(false);
            }
        }
        self.settle(true)
    }

    fn settle(&mut self, keep: bool) -> bool {
        while let Some((parameter, before)) = self.journal.pop() {
            match before {
                _ if keep => {}
                Some(before) => {
                    self.known.insert(parameter, before);
                }
                None => {
                    self.known.remove(&parameter);
                }
            }
        }
        keep
    }

    fn set(&mut self, parameter: Parameter, found: Type) {
        let before = self.known.insert(parameter, found);
        self.journal.push((parameter, before));
    }

    /// `found` with what is known put in; what is not known becomes `dyn` when `open_to_dyn` is set.
    pub(super) fn apply(&self, found: &Type, open_to_dyn: bool) -> Type {
        if !self.enter() {
            return Type::Error;
        }
        let applied = match found {
            Type::Parameter(parameter) => match self.known.get(parameter) {
                Some(known) => self.apply(known, open_to_dyn),
                None if open_to_dyn => Type::Dyn,
                None => found.clone(),
            },
            _ => found.map_parameters(|inner| self.apply(inner, open_to_dyn)),
        };
        self.leave();
        applied
    }

    fn is_assignable(&mut self, left: &Type, right: &Type) -> bool {
        if !self.enter() {
            return false;
        }
        let assignable = self.decide(left, right);
        self.leave();
        assignable
    }

    fn decide(&mut self, left: &Type, right: &Type) -> bool {
        if let Type::Parameter(parameter) = right {
            let (valid, is_known) = self.is_substitution(left, *parameter);
            if valid {
                return true;
            }
            if is_known {
                return false;
            }
        }
        if let Type::Parameter(parameter) = left {
            return self.is_substitution(right, *parameter).0;
        }
        if left.is_dyn_or_error() || right.is_dyn_or_error() {
            return true;
        }
        match (left, right) {
            (Type::Null, other) | (other, Type::Null) => is_nullable(other),
            (Type::Type(_), Type::Type(_)) => true,
            (Type::List(left), Type::List(right)) | (Type::Optional(left), Type::Optional(right)) => {
                self.is_assignable(left, right)
            }
            (Type::Map(left), Type::Map(right)) => {
                self.is_assignable(&left.0, &right.0) && self.is_assignable(&left.1, &right.1)
            }
            _ => left == right,
        }
    }

    /// Whether `parameter` may stand for `wanted`, and whether something is known of it already.
    fn is_substitution(&mut self, wanted: &Type, parameter: Parameter) -> (bool, bool) {
        if *wanted == Type::Parameter(parameter) {
            return (true, true);
        }
        if let Some(known) = self.known.get(&parameter).cloned() {
            if *wanted == known {
                return (true, true);
            }
            if !self.is_assignable(wanted, &known) {
                return (false, true);
            }
            let general = most_general(wanted.clone(), known);
            if !self.occurs(parameter, &general) {
                self.set(parameter, general);
            }
            return (true, true);
        }
        if self.occurs(parameter, wanted) {
            return (false, false);
        }
        self.set(parameter, wanted.clone());
        (true, false)
    }

    /// Whether `parameter` is part of `within`.
    fn occurs(&self, parameter: Parameter, within: &Type) -> bool {
        if !self.enter() {
            return true;
        }
        let occurs = match within {
            Type::Parameter(other) => {
                *other == parameter || self.known.get(other).is_some_and(|known| self.occurs(parameter, known))
            }
            _ => within.parameters().into_iter().any(|inner| self.occurs(parameter, inner)),
        };
        self.leave();
        occurs
    }
}

fn is_nullable(found: &Type) -> bool {
    matches!(
        found,
        Type::Null
            | Type::Optional(_)
            | Type::Opaque(_)
            | Type::Object(_)
            | Type::Any
            | Type::Duration
            | Type::Timestamp
    )
}

/// The less specific of two types that unify.
pub(super) fn most_general(left: Type, right: Type) -> Type {
    if is_equal_or_less_specific(&left, &right) { left } else { right }
}

fn is_equal_or_less_specific(left: &Type, right: &Type) -> bool {
    let open = |found: &Type| found.is_dyn() || matches!(found, Type::Parameter(_));
    if open(left) {
        return true;
    }
    if open(right) {
        return false;
    }
    match (left, right) {
        (Type::List(left), Type::List(right)) | (Type::Optional(left), Type::Optional(right)) => {
            is_equal_or_less_specific(left, right)
        }
        (Type::Map(left), Type::Map(right)) => {
            is_equal_or_less_specific(&left.0, &right.0) && is_equal_or_less_specific(&left.1, &right.1)
        }
        (Type::Type(_), Type::Type(_)) => true,
        _ => left == right,
    }
}
