//! The evaluator: a stack of results, variables of loops, and the steps one after the other.

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use crate::cost::Meter;
use crate::device::Device;
use crate::error::Fault;
use crate::evaluate::{Operands, Outcome};
use crate::program::{Program, Step};
use crate::value::{Key, Map, Value};

/// An evaluation in progress.
pub(super) struct Machine<'a> {
    program: &'a Program,
    pub(super) device: &'a Arc<Device>,
    results: SmallVec<[Outcome; 6]>,
    variables: SmallVec<[Option<Outcome>; 3]>,
    loops: Vec<Loop>,
    /// Where to go on after computing the value of a bound name.
    returns: Vec<usize>,
    pub(super) meter: Meter,
}

/// A loop in progress.
struct Loop {
    range: Value,
    next: usize,
}

impl<'a> Machine<'a> {
    pub(super) fn new(program: &'a Program, device: &'a Arc<Device>) -> Self {
        Self {
            program,
            device,
            results: SmallVec::new(),
            variables: smallvec![None; program.slots],
            loops: Vec::new(),
            returns: Vec::new(),
            meter: Meter::default(),
        }
    }

    /// Runs all steps. The error is the result's, or that of a limit.
    pub(super) fn run(&mut self) -> Outcome {
        let program = self.program;
        let mut position = 0;
        while let Some(step) = program.steps.get(position) {
            position = match self.jump(step, position)? {
                Some(target) => target,
                None => position + 1,
            };
        }
        let value = self.pop()?;
        // Whoever takes the value walks over it.
        self.meter.work(value.extent().parts)?;
        Ok(value)
    }

    pub(super) fn push(&mut self, outcome: Outcome) {
        self.results.push(outcome);
    }

    /// Pushes a result that may hold others, unless it nests too deeply or is an error that nothing may absorb.
    pub(super) fn push_made(&mut self, outcome: Outcome) -> Result<(), Fault> {
        match &outcome {
            Ok(value) => value.check_depth()?,
            Err(fault) if fault.ends_evaluation() => return Err(fault.clone()),
            Err(_) => {}
        }
        self.results.push(outcome);
        Ok(())
    }

    pub(super) fn pop(&mut self) -> Outcome {
        self.results.pop().unwrap_or(Ok(Value::Null))
    }

    /// The last result.
    pub(super) fn top(&self) -> Option<&Outcome> {
        self.results.last()
    }

    /// Takes the operands of a call from the results: their values, or the first error with the values that are.
    pub(super) fn take_operands(&mut self, count: usize) -> (Operands, Option<Fault>) {
        let start = self.results.len().saturating_sub(count);
        let mut fault = None;
        let mut values = Operands::new();
        for outcome in self.results.drain(start..) {
            match outcome {
                Ok(value) => values.push(value),
                Err(found) => {
                    fault.get_or_insert(found);
                    // An error counts as a value of size one.
                    values.push(Value::Null);
                }
            }
        }
        (values, fault)
    }

    /// Takes the operands of a call when all are values.
    pub(super) fn take_values<const N: usize>(&mut self) -> Option<[Value; N]> {
        let start = self.results.len().checked_sub(N)?;
        if self.results[start..].iter().any(Result::is_err) {
            return None;
        }
        let mut values = [const { Value::Null }; N];
        for value in values.iter_mut().rev() {
            *value = self.pop().ok()?;
        }
        Some(values)
    }

    fn variable(&self, slot: usize) -> Option<Outcome> {
        self.variables.get(slot).cloned().flatten()
    }

    fn set(&mut self, slot: usize, outcome: Option<Outcome>) {
        if let Some(variable) = self.variables.get_mut(slot) {
            *variable = outcome;
        }
    }

    /// Does one step. Gives the step to go on with when that is not the next; fails only at a limit.
    #[inline]
    fn jump(&mut self, step: &Step, position: usize) -> Result<Option<usize>, Fault> {
        let target = match step {
            Step::Jump(target) => Some(*target),
            Step::Bound { slot, init } => {
                if let Some(outcome) = self.variable(*slot) {
                    self.push(outcome);
                    None
                } else {
                    self.returns.push(position);
                    Some(*init)
                }
            }
            Step::Return(slot) => {
                let outcome = self.pop();
                self.set(*slot, Some(outcome));
                self.returns.pop()
            }
            Step::SkipUnlessOpen(target) => {
                matches!(self.results.last(), Some(Err(_) | Ok(Value::Optional(None)))).then_some(*target)
            }
            Step::ShortCircuit { on, target } => {
                matches!(self.results.last(), Some(Ok(Value::Bool(value))) if value == on).then_some(*target)
            }
            Step::Branch { otherwise, end } => self.branch(*otherwise, *end),
            Step::OptionalOr { unwrap, end } => self.optional_or(*unwrap).then_some(*end),
            Step::StopIfFault { drop, target } => self.stop(*drop).then_some(*target),
            Step::Begin { accumulator, init, two_variables, end } => {
                (!self.begin(*accumulator, init, *two_variables)).then_some(*end)
            }
            Step::Next { first, second, result } => (!self.advance(*first, *second)).then_some(*result),
            Step::While(result) => self.ends().then_some(*result),
            other => {
                self.act(other)?;
                None
            }
        };
        Ok(target)
    }

    /// Does a step after which the next one follows.
    #[inline]
    fn act(&mut self, step: &Step) -> Result<(), Fault> {
        match step {
            Step::Constant(value) => self.push(Ok(value.clone())),
            Step::Folded { result, cost } => {
                self.push(result.clone());
                self.meter.charge(*cost)?;
            }
            Step::Device => self.push(Ok(Value::Map(Map::Device(self.device.clone())))),
            Step::Attribute(attribute) => self.attribute(attribute)?,
            Step::Local(slot) => {
                let outcome = self.variable(*slot);
                self.push(outcome.unwrap_or(Ok(Value::Null)));
            }
            Step::TakeLocal(slot) => {
                let outcome = self.variables.get_mut(*slot).and_then(Option::take);
                self.push(outcome.unwrap_or(Ok(Value::Null)));
            }
            Step::Unset(slot) => self.set(*slot, None),
            Step::Store(slot) => {
                let outcome = self.pop();
                self.set(*slot, Some(outcome));
            }
            Step::Qualify { key, optional } => {
                let container = self.pop();
                self.qualify(container, key, *optional)?;
            }
            Step::Test { key, bare } => self.test(key, *bare)?,
            Step::QualifyByTop { optional } => self.qualify_by_top(*optional)?,
            Step::Charge(cost) => self.meter.charge(*cost)?,
            Step::Refund => self.meter.refund(),
            Step::Call(call) => self.call(call)?,
            Step::Regex { regex, operands } => self.search(regex, *operands)?,
            Step::Equal { negated } => self.equal(*negated)?,
            Step::IsOneOf(set) => {
                let outcome = self.pop();
                if let Ok(value) = &outcome {
                    value.check_hashable()?;
                }
                let is_one = |value: Value| Key::of(&value).is_some_and(|key| set.contains(&key));
                self.push(outcome.map(|value| Value::Bool(is_one(value))));
            }
            Step::Append => self.append()?,
            Step::MapInsert { operands } => self.map_insert(*operands)?,
            Step::NotStrictlyFalse => {
                let outcome = self.pop();
                self.push(Ok(Value::Bool(!matches!(outcome, Ok(Value::Bool(false))))));
                self.meter.charge(1)?;
            }
            Step::Join { on } => self.join(*on),
            Step::List { optional } => self.list(optional)?,
            Step::Map { optional } => self.map(optional)?,
            Step::Message { name, fields } => {
                self.results.truncate(self.results.len().saturating_sub(*fields));
                self.push(Err(Fault::failed(format!("unknown type '{name}'"))));
            }
            _ => {}
        }
        Ok(())
    }

    /// Takes the condition of a conditional, and says where to go unless it is true.
    fn branch(&mut self, otherwise: usize, end: usize) -> Option<usize> {
        let fault = match self.pop() {
            Ok(Value::Bool(true)) => return None,
            Ok(Value::Bool(false)) => return Some(otherwise),
            Ok(_) => Fault::no_such_overload(),
            Err(fault) => fault,
        };
        self.push(Err(fault));
        Some(end)
    }

    /// Whether the top is an error, which then replaces the `drop` results below it too.
    fn stop(&mut self, drop: usize) -> bool {
        if !matches!(self.results.last(), Some(Err(_))) {
            return false;
        }
        let fault = self.pop();
        self.results.truncate(self.results.len().saturating_sub(drop));
        self.push(fault);
        true
    }

    /// Whether the top decides `or` and `orValue`.
    fn optional_or(&mut self, unwrap: bool) -> bool {
        let outcome = match self.pop() {
            Ok(Value::Optional(None)) => return false,
            Ok(Value::Optional(Some(value))) if unwrap => Ok(value.as_ref().clone()),
            Ok(optional @ Value::Optional(_)) => Ok(optional),
            Ok(_) => Err(Fault::no_such_overload()),
            Err(fault) => Err(fault),
        };
        self.push(outcome);
        true
    }

    /// The operands of `||` (`on` is true) or `&&`, of which the left one did not decide.
    fn join(&mut self, on: bool) {
        let (right, left) = (self.pop(), self.pop());
        let result = match (left, right) {
            (_, Ok(Value::Bool(value))) if value == on => Ok(Value::Bool(on)),
            (Ok(Value::Bool(_)), Ok(Value::Bool(_))) => Ok(Value::Bool(!on)),
            (Err(fault), _) => Err(fault),
            (Ok(Value::Bool(_)), Err(fault)) => Err(fault),
            _ => Err(Fault::no_such_overload()),
        };
        self.push(result);
    }

    /// Takes the range of a loop; without one the loop does not begin, and the error is its result.
    fn begin(&mut self, accumulator: usize, init: &Value, two_variables: bool) -> bool {
        match self.pop().and_then(|range| iterable(range, two_variables)) {
            Ok(range) => {
                self.loops.push(Loop { range, next: 0 });
                self.set(accumulator, Some(Ok(init.clone())));
                true
            }
            Err(fault) => {
                self.push(Err(fault));
                false
            }
        }
    }

    /// Sets the variables of the innermost loop to its next element; without one the loop ends.
    fn advance(&mut self, first: usize, second: Option<usize>) -> bool {
        let Some((key, value)) = self.loops.last_mut().and_then(Loop::next) else {
            self.loops.pop();
            return false;
        };
        if let Some(second) = second {
            self.set(first, Some(Ok(key)));
            self.set(second, Some(Ok(value)));
        } else {
            let is_list = self.loops.last().is_some_and(|open| matches!(open.range, Value::List(_)));
            self.set(first, Some(Ok(if is_list { value } else { key })));
        }
        true
    }

    /// Takes the condition of the innermost loop, which ends when it is false.
    fn ends(&mut self) -> bool {
        let ends = matches!(self.pop(), Ok(Value::Bool(false)));
        if ends {
            self.loops.pop();
        }
        ends
    }
}

impl Loop {
    /// The next key, or index, and value.
    fn next(&mut self) -> Option<(Value, Value)> {
        let index = self.next;
        self.next += 1;
        match &self.range {
            Value::List(elements) => {
                let position = i64::try_from(index).unwrap_or(i64::MAX);
                elements.get(index).map(|element| (Value::Int(position), element.clone()))
            }
            Value::Map(map) => map.entry(index),
            _ => None,
        }
    }
}

fn iterable(range: Value, two_variables: bool) -> Outcome {
    if matches!(range, Value::List(_) | Value::Map(_)) {
        return Ok(range);
    }
    Err(Fault::failed(if two_variables {
        format!("unsupported comprehension range type: {}", range.go_type())
    } else {
        format!("got '{}', expected iterable type", range.go_type())
    }))
}
