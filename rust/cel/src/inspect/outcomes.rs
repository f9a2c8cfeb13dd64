//! What can become of each piece where one attribute or capacity is missing.
//!
//! An abstract evaluation: of a piece it is known whether it can be true, be false, fail, or be an optional without a value. It is done for up to
//! 63 missing things at once, one bit each; the last bit stands for a device that lacks nothing.

use std::collections::HashMap;

use cel::common::ast::{CallExpr, Expr, LiteralValue};

use crate::inspect::places::{Named, Place, string};
use crate::inspect::tree::{Item, Shape};
use crate::inspect::{Key, Section};

/// How many missing things are looked at together.
pub(super) const AT_ONCE: usize = 63;
/// The bit of the device that lacks nothing.
const COMPLETE: u64 = 1 << AT_ONCE;
const ALL: u64 = u64::MAX;

/// What can become of a piece. A value that is no truth value counts as either.
#[derive(Debug, Clone, Copy, Default)]
struct Outcome {
    yes: u64,
    no: u64,
    fault: u64,
    none: u64,
}

impl Outcome {
    const ANY: Self = Self { yes: ALL, no: ALL, fault: 0, none: 0 };

    fn bool(value: bool) -> Self {
        if value { Self { no: 0, ..Self::ANY } } else { Self { yes: 0, ..Self::ANY } }
    }

    /// Where it can have a value.
    fn value(self) -> u64 {
        self.yes | self.no
    }

    /// Where an optional may have no value: anywhere, unless it is one whose look-up is known.
    fn may_be_none(self) -> u64 {
        if self.none == 0 { ALL } else { self.none }
    }

    /// What becomes of the one or the other, each where its mask has a bit.
    fn either(self, mask: u64, other: Self, other_mask: u64) -> Self {
        Self {
            yes: self.yes & mask | other.yes & other_mask,
            no: self.no & mask | other.no & other_mask,
            fault: self.fault & mask | other.fault & other_mask,
            none: self.none & mask | other.none & other_mask,
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            yes: self.yes & other.yes,
            no: self.no | other.no,
            fault: self.fault & (other.yes | other.fault) | other.fault & self.yes,
            none: 0,
        }
    }

    fn negated(self) -> Self {
        Self { yes: self.no, no: self.yes, ..self }
    }

    fn equals(self, other: Self) -> Self {
        let optional = self.none | other.none;
        Self {
            yes: self.yes & other.yes | self.no & other.no | optional,
            no: self.yes & other.no | self.no & other.yes | optional,
            fault: self.fault | other.fault,
            none: 0,
        }
    }
}

/// What is missing at each bit, and which pieces fail for it.
struct Missing<'a> {
    names: HashMap<(Section, &'a str, &'a str), u64>,
    failing: HashMap<usize, u64>,
}

/// Whether the expression can fail for want of what each of `accesses` looks up, and the result when nothing is missing and it is always the same.
///
/// `constants` are pieces whose value is known.
pub(super) fn evaluate(
    items: &[Item<'_>],
    named: &[Named],
    accesses: &[usize],
    constants: &HashMap<usize, bool>,
) -> (Vec<bool>, Option<bool>) {
    let mut fails = Vec::with_capacity(accesses.len());
    let mut always = None;
    let no_access: &[usize] = &[];
    for some in accesses.chunks(AT_ONCE).chain(accesses.is_empty().then_some(no_access)) {
        let mut missing = Missing { names: HashMap::new(), failing: HashMap::new() };
        for (bit, item) in some.iter().enumerate() {
            if !named[*item].optional {
                missing.failing.insert(*item, 1 << bit);
            }
            if let Some(key) = entry(&named[*item].place) {
                *missing.names.entry(key).or_default() |= 1 << bit;
            }
        }
        let root = run(items, named, &missing, constants);
        fails.extend((0..some.len()).map(|bit| root.fault >> bit & 1 == 1));
        always = match (root.yes & COMPLETE != 0, root.no & COMPLETE != 0) {
            (true, false) => Some(true),
            (false, true) => Some(false),
            _ => None,
        };
    }
    (fails, always)
}

fn run(items: &[Item<'_>], named: &[Named], missing: &Missing<'_>, constants: &HashMap<usize, bool>) -> Outcome {
    let mut outcomes: Vec<Outcome> = Vec::with_capacity(items.len());
    for (here, item) in items.iter().enumerate() {
        let outcome = match constants.get(&here) {
            Some(value) => Outcome::bool(*value),
            None => outcome(here, item, items, named, missing, &outcomes),
        };
        outcomes.push(outcome);
    }
    outcomes.last().copied().unwrap_or(Outcome::ANY)
}

fn outcome(
    here: usize,
    item: &Item<'_>,
    items: &[Item<'_>],
    named: &[Named],
    missing: &Missing<'_>,
    outcomes: &[Outcome],
) -> Outcome {
    let strict = || strict(item, outcomes);
    match (&item.node.expr, item.shape) {
        (Expr::Literal(LiteralValue::Boolean(value)), _) => Outcome::bool(*value.inner()),
        (Expr::Ident(_), Shape::Bound(value)) => bound(value, items, outcomes),
        (Expr::Select(_), _) if is_tested(item, items) => strict(),
        (Expr::Select(_), _) => looked_up(here, strict(), named, missing),
        (Expr::Call(_), Shape::Has) => presence(item.children.first().map(|tested| &named[*tested]), strict(), missing),
        (Expr::Call(_), Shape::Bind) => child(item, 1, outcomes),
        (Expr::Call(_), Shape::OptionalMap) => {
            let (target, body) = (child(item, 0, outcomes), child(item, 1, outcomes));
            let mapped = body.either(target.value(), Outcome::default(), 0);
            Outcome { none: mapped.none | target.none, fault: mapped.fault | target.fault, ..mapped }
        }
        (Expr::Call(call), Shape::Plain) => called(here, call, item, items, named, missing, outcomes),
        _ => strict(),
    }
}

fn called(
    here: usize,
    call: &CallExpr,
    item: &Item<'_>,
    items: &[Item<'_>],
    named: &[Named],
    missing: &Missing<'_>,
    outcomes: &[Outcome],
) -> Outcome {
    let (first, second) = (child(item, 0, outcomes), child(item, 1, outcomes));
    match (call.func_name.as_str(), call.target.is_some()) {
        ("_&&_", false) => first.and(second),
        ("_||_", false) => first.negated().and(second.negated()).negated(),
        ("!_", false) => first.negated(),
        ("_?_:_", false) => {
            let chosen = second.either(first.yes, child(item, 2, outcomes), first.no);
            Outcome { fault: chosen.fault | first.fault, ..chosen }
        }
        ("_==_", false) => first.equals(second),
        ("_!=_", false) => first.equals(second).negated(),
        ("@in", false) => membership(item, items, named, missing, strict(item, outcomes)),
        ("_[_]" | "_[?_]" | "_?._", false) => looked_up(here, strict(item, outcomes), named, missing),
        ("orValue" | "or", true) => {
            let kept = first.either(ALL, second, first.may_be_none());
            Outcome { none: if call.func_name == "or" { second.none & first.none } else { 0 }, ..kept }
        }
        // It fails where there is surely no value; of most optionals that is not known.
        ("value", true) => Outcome { fault: first.fault | first.none & !first.value(), none: 0, ..first },
        ("hasValue", true) => Outcome { yes: first.value(), no: first.may_be_none(), fault: first.fault, none: 0 },
        _ => strict(item, outcomes),
    }
}

/// What needs all of its pieces: it fails where one fails, and gives any value where all can have one.
fn strict(item: &Item<'_>, outcomes: &[Outcome]) -> Outcome {
    let pieces = item.children.iter().map(|child| outcomes[*child]);
    pieces.fold(Outcome::ANY, |all, piece| {
        let value = all.value() & (piece.value() | piece.none);
        Outcome { yes: value, no: value, fault: all.fault | piece.fault, none: 0 }
    })
}

/// A link, which fails where its own entry is missing; as an optional it has no value there.
fn looked_up(here: usize, operands: Outcome, named: &[Named], missing: &Missing<'_>) -> Outcome {
    let named = &named[here];
    if named.optional {
        let none = entry(&named.place).and_then(|key| missing.names.get(&key)).copied().unwrap_or(0);
        // Whether anything else is there is not known.
        let unknown = if matches!(named.place, Place::Entry(..) | Place::Nowhere) { ALL } else { 0 };
        return Outcome { yes: operands.yes & !none, no: operands.no & !none, none: none | unknown, ..operands };
    }
    let fault = missing.failing.get(&here).copied().unwrap_or(0);
    Outcome { yes: operands.yes & !fault, no: operands.no & !fault, fault: operands.fault | fault, none: 0 }
}

/// `has(…)` of what the piece before is.
fn presence(tested: Option<&Named>, operands: Outcome, missing: &Missing<'_>) -> Outcome {
    let place = tested.map(|named| &named.place);
    let absent = place.and_then(entry).and_then(|key| missing.names.get(&key)).copied().unwrap_or(0);
    // On a device that lacks nothing of what is asked for, what is tested may still be missing.
    Outcome { yes: operands.yes & !absent, ..operands }
}

/// `"name" in …`
fn membership(
    item: &Item<'_>,
    items: &[Item<'_>],
    named: &[Named],
    missing: &Missing<'_>,
    operands: Outcome,
) -> Outcome {
    let [left, right] = item.children.as_slice() else { return operands };
    let absent = match (&named[*right].place, string(&items[*left])) {
        (Place::Domain(section, Some(domain)), Some(name)) => {
            missing.names.get(&(*section, domain.text.as_str(), name)).copied().unwrap_or(0)
        }
        _ => 0,
    };
    Outcome { yes: operands.yes & !absent, ..operands }
}

/// A name that stands for a piece: for what is in it, where that is an optional.
fn bound(value: usize, items: &[Item<'_>], outcomes: &[Outcome]) -> Outcome {
    let is_opened = items[value].parent.is_some_and(|parent| items[parent].shape == Shape::OptionalMap);
    if is_opened { Outcome { none: 0, ..outcomes[value] } } else { outcomes[value] }
}

fn is_tested(item: &Item<'_>, items: &[Item<'_>]) -> bool {
    item.parent.is_some_and(|parent| items[parent].shape == Shape::Has)
}

fn child(item: &Item<'_>, index: usize, outcomes: &[Outcome]) -> Outcome {
    item.children.get(index).map_or(Outcome::ANY, |child| outcomes[*child])
}

/// The names of an entry, where they are known.
fn entry(place: &Place) -> Option<(Section, &str, &str)> {
    match place {
        Place::Entry(section, Some(Key { text: domain, .. }), Some(Key { text: name, .. })) => {
            Some((*section, domain, name))
        }
        _ => None,
    }
}

/// Whether a piece looks up what may be missing, by names that are known, and is not only asked whether it is there.
pub(super) fn can_miss(here: usize, item: &Item<'_>, items: &[Item<'_>], named: &[Named]) -> bool {
    let named = &named[here];
    named.form.is_some() && entry(&named.place).is_some() && !is_tested(item, items)
}
