//! Estimates of calls, by the rule of each.

use crate::ast::{Call, NodeId};
use crate::cost::estimate::{Estimator, Range};
use crate::cost::size::Place;
use crate::cost::{AUTHORIZE, Cost, Growth, LIST, MESSAGE, REGEX, TEXT};
use crate::types::Type;

/// The longest expression that stands for the check of a named format.
const FORMAT_REGEX: f64 = 128.0;
/// The longest text that a format is compared by.
const FORMAT_SIZE: u64 = 64;

/// What a call may cost, and how large its result may be.
pub(super) struct Estimate {
    pub(super) cost: Range,
    pub(super) size: Option<Range>,
}

impl Estimate {
    fn new(cost: Range) -> Self {
        Self { cost, size: None }
    }

    fn sized(cost: Range, size: Range) -> Self {
        Self { cost, size: Some(size) }
    }

    fn plus(self, cost: Range) -> Self {
        Self { cost: self.cost.plus(cost), ..self }
    }
}

/// Estimates `call` by `cost`, the arguments included but not the target.
pub(super) fn estimate(estimator: &mut Estimator<'_>, node: NodeId, call: &Call, cost: Cost) -> Estimate {
    let costs: Vec<Range> = call.arguments.iter().map(|argument| estimator.cost(*argument)).collect();
    match (cost, costs.as_slice()) {
        // The cheapest way is that the left side decides.
        (Cost::Logic, [left, right]) => Estimate::new(Range::new(left.min, left.plus(*right).max)),
        (Cost::Conditional, [condition, yes, no]) => {
            let cost = condition.plus(yes.union(*no));
            let (yes, no) = (call.arguments[1], call.arguments[2]);
            let entry = estimator.entry(yes).zip(estimator.entry(no)).map(|(yes, no)| yes.union(no));
            estimator.set_entry(node, entry);
            Estimate::sized(cost, estimator.size_or_unknown(yes).union(estimator.size_or_unknown(no)))
        }
        _ => {
            let arguments = costs.iter().fold(Range::ZERO, |sum, cost| sum.plus(*cost));
            alone(estimator, node, call, cost).plus(arguments)
        }
    }
}

/// The estimate without the cost of the arguments.
fn alone(estimator: &mut Estimator<'_>, node: NodeId, call: &Call, cost: Cost) -> Estimate {
    let operands: Vec<NodeId> = call.operands().collect();
    let arguments = &call.arguments;
    // Sizes of operands, the target first, and of arguments.
    let mut operand =
        |index: usize| operands.get(index).map_or(Range::UNKNOWN, |node| estimator.size_or_unknown(*node));
    match cost {
        Cost::Affix => Estimate::new(operand(1).scanned()),
        Cost::ScanArgument(growth) => {
            let size = operand(0);
            Estimate::sized(size.scanned(), grown(size, growth))
        }
        Cost::FormatText => Estimate::new(operand(0).scanned()),
        Cost::InList => Estimate::new(operand(1).scaled(1.0)),
        Cost::Order | Cost::Inequality => Estimate::new(shorter(operand(0), operand(1))),
        Cost::Equality => equality(estimator, arguments),
        Cost::ConcatText | Cost::ConcatList => {
            let size = operand(0).plus(operand(1));
            let entry = match operands.as_slice() {
                [left, right] => {
                    estimator.entry(*left).zip(estimator.entry(*right)).map(|(left, right)| left.union(right))
                }
                _ => None,
            };
            estimator.set_entry(node, entry);
            Estimate::sized(if cost == Cost::ConcatList { Range::ONE } else { size.scanned() }, size)
        }
        Cost::Matches => Estimate::new(regex(operand(0), operand(1))),
        Cost::ContainsText => Estimate::new(operand(0).scanned().times(operand(1).scanned())),
        Cost::Parse => Estimate::new(operand(0).scanned()),
        Cost::ParseTwice => Estimate::new(operand(0).scaled(2.0 * TEXT)),
        Cost::ParseUrl | Cost::Transform => {
            let size = operand(0);
            Estimate::sized(size.scanned(), size)
        }
        Cost::Replace => Estimate::sized(operand(0).scaled(2.0 * TEXT), replaced(operand(0), operand(1), operand(2))),
        Cost::Split => {
            let size = operand(0);
            let limit = arguments.get(1).and_then(|limit| estimator.literal_int(*limit));
            #[expect(clippy::cast_sign_loss, reason = "upstream takes a negative limit for a huge one")]
            let most = limit.map_or(size.max, |limit| limit as u64);
            Estimate::sized(size.scaled(2.0 * TEXT), Range::new(0, most))
        }
        Cost::Find => {
            let size = operand(0);
            Estimate::sized(regex(size, operand(1)), Range::new(0, size.max))
        }
        Cost::ContainsIp { text } => {
            let address = Range::new(4, 16);
            let parsing = if text { operand(1).scanned() } else { Range::ZERO };
            Estimate::new(address.plus(address).scanned().plus(parsing))
        }
        Cost::ContainsCidr { text } => {
            let address = Range::new(4, 16);
            let parsing = if text { operand(1).scanned() } else { Range::ZERO };
            Estimate::new(address.plus(address).scanned().plus(address.scanned()).plus(Range::ONE).plus(parsing))
        }
        Cost::Validate => Estimate::new(operand(1).scanned().scaled(FORMAT_REGEX * REGEX)),
        Cost::Traverse | Cost::Includes => Estimate::new(traversal(estimator, operands[0], cost)),
        Cost::Authorize => Estimate::new(Range::exactly(AUTHORIZE)),
        Cost::ParseSelector => Estimate::new(selector(operand(1))),
        Cost::Join => join(estimator, &operands),
        Cost::Slice
        | Cost::Range
        | Cost::Reverse
        | Cost::Flatten
        | Cost::Distinct
        | Cost::Sort { .. }
        | Cost::SortBy { .. } => list_extension(estimator, &operands, cost),
        Cost::Sets(factor) => Estimate::new(operand(0).times(operand(1)).scaled(f64::from(factor)).plus(Range::ONE)),
        Cost::One | Cost::Logic | Cost::Conditional | Cost::IndexList | Cost::IndexMap => Estimate::new(Range::ONE),
    }
}

/// The cost of parsing a selector: one requirement for every two characters.
#[expect(clippy::cast_precision_loss, reason = "small constants")]
pub(super) fn selector(size: Range) -> Range {
    let requirements = size.scaled(0.5).scaled((LIST + MESSAGE) as f64);
    Range::exactly(LIST).plus(size.scanned()).plus(requirements)
}

fn grown(size: Range, growth: Growth) -> Range {
    match growth {
        Growth::Quadruple => Range::new(size.min, size.max.wrapping_mul(4)),
        Growth::Quarter => Range::new(size.min / 4, size.max),
        Growth::Quoted => Range::new(size.min.wrapping_add(2), size.max.wrapping_mul(2).wrapping_add(2)),
    }
}

/// The cost of comparing two values as far as the shorter goes.
fn shorter(left: Range, right: Range) -> Range {
    let most = left.max.min(right.max);
    Range::new(u64::from(most > 0), most).scanned()
}

fn equality(estimator: &mut Estimator<'_>, arguments: &[NodeId]) -> Estimate {
    let [left, right] = arguments else { return Estimate::new(Range::ONE) };
    let same = estimator.type_of(*left) == estimator.type_of(*right);
    let cost = match estimator.type_of(*left) {
        found if same && [Type::IP, Type::CIDR, Type::QUANTITY, Type::SEMVER].contains(found) => Range::ONE,
        found if same && *found == Type::FORMAT => Range::new(1, FORMAT_SIZE).scanned(),
        found if same && *found == Type::URL => {
            let most = estimator.size(*right).map_or(1, |size| size.max);
            Range::new(1, most).scanned()
        }
        _ => shorter(estimator.size_or_unknown(*left), estimator.size_or_unknown(*right)),
    };
    Estimate::new(cost)
}

fn regex(text: Range, pattern: Range) -> Range {
    text.plus(Range::ONE).scanned().times(pattern.scaled(REGEX))
}

/// The size after replacing: upstream's bounds on how often, and on what is left.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "upstream divides floats"
)]
fn replaced(size: Range, old: Range, new: Range) -> Range {
    let quotient = |size: u64, by: u64| (size as f64 / by as f64).ceil() as u64;
    let (most, most_kept) = if old.min == 0 {
        (size.max.saturating_add(1), size.max)
    } else if new.max <= old.min {
        (0, size.max)
    } else {
        (quotient(size.max, old.min), 0)
    };
    let (least, least_kept) = if old.max == 0 {
        (size.min.saturating_add(1), size.min)
    } else if old.max <= new.min {
        (0, size.min)
    } else {
        (quotient(size.min, old.max), 0)
    };
    Range::new(least, most).times(new).plus(Range::new(least_kept, most_kept))
}

/// The type and size of the elements of a list, by its static type.
fn elements(estimator: &Estimator<'_>, list: NodeId) -> Option<(Type, Range)> {
    let element = estimator.type_of(list).parameters().first().map(|element| (*element).clone())?;
    let size = estimator.place(list).and_then(Place::values).map_or(Range::UNKNOWN, Place::size);
    Some((element, size))
}

fn traversal(estimator: &mut Estimator<'_>, target: NodeId, cost: Cost) -> Range {
    let size = estimator.size_or_unknown(target);
    match elements(estimator, target) {
        Some((Type::String | Type::Bytes, element)) => size.times(Range::ONE.plus(element.scanned())),
        Some(_) => size.times(Range::ONE),
        None if cost == Cost::Includes => size.times(Range::ONE),
        None => size.scanned(),
    }
}

fn join(estimator: &mut Estimator<'_>, operands: &[NodeId]) -> Estimate {
    let list = estimator.size_or_unknown(operands[0]);
    let mut size = elements(estimator, operands[0]).map_or(Range::ZERO, |(_, element)| list.times(element));
    if let Some(separator) = operands.get(1) {
        let separator = estimator.size_or_unknown(*separator);
        size = size.plus(separator.times(Range::new(list.min.saturating_sub(1), list.max.saturating_sub(1))));
    }
    Estimate::sized(size.scanned(), size)
}

#[expect(clippy::cast_precision_loss, reason = "upstream computes in floats")]
fn list_extension(estimator: &mut Estimator<'_>, operands: &[NodeId], cost: Cost) -> Estimate {
    let literal = |estimator: &Estimator<'_>, index: usize, default: u64| {
        let value = operands.get(index).and_then(|operand| estimator.literal_int(*operand));
        value.map_or(default, |value| u64::try_from(value).unwrap_or(0))
    };
    let size = estimator.size_or_unknown(operands[0]);
    let text_factor = |text: bool| if text { 2.0 + TEXT } else { 2.0 };
    let (factor, size) = match cost {
        Cost::Slice => {
            let (start, end) = (literal(estimator, 1, 0), literal(estimator, 2, size.max));
            (1.0, Range::exactly(end.wrapping_sub(start)))
        }
        Cost::Range => (1.0, Range::exactly(literal(estimator, 0, u64::MAX))),
        Cost::Flatten if operands.len() > 1 => (literal(estimator, 1, u64::MAX) as f64, size),
        Cost::Distinct => (2.0, size.times(size)),
        Cost::Sort { text } => (text_factor(text), size.times(size)),
        Cost::SortBy { text } => {
            let keys = operands.get(1).map_or(Range::UNKNOWN, |keys| estimator.size_or_unknown(*keys));
            (text_factor(text), keys.times(keys))
        }
        _ => (1.0, size),
    };
    Estimate::sized(size.scaled(factor).plus(Range::exactly(1 + LIST)), size)
}
