//! The cost counter of an evaluation.

use crate::cost::size::Range;
use crate::cost::{Cost, LIMIT, REGEX, TEXT, calls};
use crate::error::{Fault, RuntimeError};
use crate::library::regexes::weight;
use crate::value::Value;

/// The most work that one evaluation may be, in parts of values that are walked over. Upstream's costs bound it unless parts are shared.
const MAX_WORK: usize = 20_000_000;

/// Counts what an evaluation costs and stops it at the limit.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    cost: u64,
    work: usize,
}

/// A limit is reached; nothing absorbs that.
#[derive(Debug)]
pub(crate) enum OutOfBudget {
    Cost,
    Work,
}

impl From<OutOfBudget> for Fault {
    fn from(limit: OutOfBudget) -> Self {
        Self::new(match limit {
            OutOfBudget::Cost => RuntimeError::CostLimit,
            OutOfBudget::Work => RuntimeError::SizeLimit,
        })
    }
}

impl Meter {
    pub(crate) fn cost(&self) -> u64 {
        self.cost
    }

    /// Adds `cost`; fails above the limit.
    #[inline]
    pub(crate) fn charge(&mut self, cost: u64) -> Result<(), OutOfBudget> {
        self.cost = self.cost.saturating_add(cost);
        if self.cost > LIMIT { Err(OutOfBudget::Cost) } else { Ok(()) }
    }

    /// Adds work that is to be done; fails above the limit.
    #[inline]
    pub(crate) fn work(&mut self, parts: usize) -> Result<(), OutOfBudget> {
        self.work = self.work.saturating_add(parts);
        if self.work > MAX_WORK { Err(OutOfBudget::Work) } else { Ok(()) }
    }

    /// Adds the work of a call, before it is made.
    pub(crate) fn work_on(&mut self, cost: Cost, operands: &[Value]) -> Result<(), OutOfBudget> {
        let parts = |index: usize| operands.get(index).map_or(0, |operand| operand.extent().parts);
        let all = operands.iter().fold(0_usize, |sum, operand| sum.saturating_add(operand.extent().parts));
        self.work(match (cost, operands) {
            (Cost::Sets(_), _) => parts(0).saturating_mul(parts(1)),
            (Cost::Distinct | Cost::Sort { .. } | Cost::SortBy { .. }, [Value::List(elements), ..]) => {
                elements.len().saturating_mul(all)
            }
            (Cost::Matches | Cost::Find, [Value::String(source), Value::String(pattern), ..]) => {
                let states = weight::states(pattern);
                weight::of_compiling(states).saturating_add(weight::of_searching(states, source.len()))
            }
            _ => all,
        })
    }

    /// Takes back one.
    pub(crate) fn refund(&mut self) {
        self.cost = self.cost.saturating_sub(1);
    }

    /// Adds what a call costs; `operand` gives an operand by its index, none for one that is an error and counts as a value of size one.
    pub(crate) fn charge_call<'a>(
        &mut self,
        cost: Cost,
        operand: &dyn Fn(usize) -> Option<&'a Value>,
        result: &Result<Value, Fault>,
    ) -> Result<(), OutOfBudget> {
        self.charge(if cost == Cost::One { 1 } else { call(cost, operand, result.as_ref().ok()) })
    }
}

fn call<'a>(cost: Cost, operand: &dyn Fn(usize) -> Option<&'a Value>, result: Option<&Value>) -> u64 {
    let size = |index: usize| library_size(operand(index));
    match cost {
        Cost::Affix => scan(size(1), 1.0),
        Cost::ScanArgument(_) | Cost::FormatText | Cost::Parse | Cost::ParseUrl | Cost::Transform => scan(size(0), 1.0),
        Cost::ParseTwice | Cost::Replace | Cost::Split => scan(size(0), 2.0),
        Cost::Join => scan(library_size(result), 2.0),
        Cost::InList => language_size(operand(1)),
        Cost::Equality if is_kubernetes(operand(0)) => 1,
        Cost::Order | Cost::Equality | Cost::Inequality => {
            scan(language_size(operand(0)).min(language_size(operand(1))), 1.0)
        }
        Cost::ConcatText => scan(size(0).saturating_add(size(1)), 1.0),
        Cost::Matches | Cost::Find => regex(size(0), size(1)),
        Cost::ContainsText => scan(size(0), 1.0).saturating_mul(scan(size(1), 1.0)),
        Cost::Traverse | Cost::Includes => operand(0).map_or(1, traversal),
        Cost::ContainsIp { text } => scan(size(0), 2.0) + if text { scan(size(1), 1.0) } else { 0 },
        Cost::ContainsCidr { text } => {
            scan(size(0), 2.0) + scan(size(0), 1.0) + 1 + if text { scan(size(1), 1.0) } else { 0 }
        }
        Cost::Validate => match operand(0) {
            Some(Value::Format(format)) => regex(size(1), format.regex_size),
            _ => 1,
        },
        Cost::Authorize => super::AUTHORIZE,
        Cost::ParseSelector => calls::selector(Range::exactly(size(1))).max,
        Cost::Slice | Cost::Range | Cost::Reverse => allocation(1.0, library_size(result)),
        Cost::Flatten => allocation(depth(operand(1)), size(0)),
        Cost::Distinct | Cost::Sort { .. } => self_comparison(operand(0)),
        Cost::SortBy { .. } => self_comparison(operand(1)),
        Cost::Sets(factor) => 1_u64.saturating_add(size(0).saturating_mul(size(1)).saturating_mul(u64::from(factor))),
        Cost::One | Cost::ConcatList | Cost::Logic | Cost::Conditional | Cost::IndexList | Cost::IndexMap => 1,
    }
}

/// The cost of reading `size` characters `times` times, rounded up.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "upstream computes in floats"
)]
fn scan(size: u64, times: f64) -> u64 {
    (size as f64 * times * TEXT).ceil() as u64
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "upstream computes in floats"
)]
fn regex(text: u64, pattern: u64) -> u64 {
    let text = ((1.0 + text as f64) * TEXT).ceil() as u64;
    text.saturating_mul((pattern as f64 * REGEX).ceil() as u64)
}

/// The cost of a list extension that makes a list.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "upstream computes in floats"
)]
fn allocation(factor: f64, size: u64) -> u64 {
    const INT_END: u64 = 1 << 63;
    let factor = if factor < 0.0 { 1.0 } else { factor };
    let cost = size as f64 * factor;
    // As Go converts what is out of range.
    let cost = if cost >= 2.0 * INT_END as f64 { INT_END } else { cost as u64 };
    cost.saturating_add(1 + super::LIST)
}

#[expect(clippy::cast_precision_loss, reason = "upstream computes in floats")]
fn depth(operand: Option<&Value>) -> f64 {
    match operand {
        Some(Value::Int(depth)) => *depth as f64,
        _ => 1.0,
    }
}

/// The cost of comparing all elements of a list with each other.
fn self_comparison(operand: Option<&Value>) -> u64 {
    let Some(Value::List(elements)) = operand else { return allocation(2.0, 1) };
    let size = elements.len() as u64;
    let texts = matches!(elements.first(), Some(Value::String(_) | Value::Bytes(_)));
    allocation(if texts { 2.0 + TEXT } else { 2.0 }, size.saturating_mul(size))
}

/// The size as Kubernetes' estimator sees it.
fn library_size(operand: Option<&Value>) -> u64 {
    operand.and_then(Value::size).map_or(1, |size| size as u64)
}

/// The size as the language sees it: that of what an optional holds.
fn language_size(operand: Option<&Value>) -> u64 {
    let Some(mut value) = operand else { return 1 };
    while let Value::Optional(Some(inner)) = value {
        value = inner;
    }
    value.size().map_or(1, |size| size as u64)
}

fn is_kubernetes(operand: Option<&Value>) -> bool {
    let Some(value) = operand else { return false };
    matches!(
        value,
        Value::Quantity(_) | Value::Version(_) | Value::Url(_) | Value::Ip(_) | Value::Cidr(_) | Value::Format(_)
    )
}

/// The cost of walking over all that a value holds.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "upstream computes in floats"
)]
fn traversal(value: &Value) -> u64 {
    let mut total: u64 = 0;
    let mut open = vec![value.clone()];
    while let Some(value) = open.pop() {
        let cost = match value {
            Value::String(text) => (text.len() as f64 * TEXT) as u64,
            Value::Bytes(bytes) => (bytes.len() as f64 * TEXT) as u64,
            Value::List(elements) => {
                open.extend(elements.iter().cloned());
                0
            }
            Value::Map(map) => {
                open.extend(map.iter().flat_map(|(key, value)| [key, value]));
                0
            }
            _ => 1,
        };
        total = total.saturating_add(cost);
        // Beyond the limit it does not matter by how much, and shared parts may make a value huge.
        if total > super::LIMIT {
            break;
        }
    }
    total
}
