//! The evaluator: a stack of results, variables of loops, and the steps one after the other.

use std::sync::Arc;

use crate::cost::{Cost, Meter};
use crate::device::Device;
use crate::error::{Fault, RuntimeError};
use crate::evaluate::access::{self, Selected};
use crate::evaluate::{Outcome, invoke};
use crate::library::operators;
use crate::macros::MAP_INSERT;
use crate::program::{CallStep, Program, Section, Step};
use crate::value::{Entries, Map, Value};

/// An evaluation in progress.
pub(super) struct Machine<'a> {
    program: &'a Program,
    device: &'a Arc<Device>,
    results: Vec<Outcome>,
    variables: Vec<Option<Outcome>>,
    loops: Vec<Loop>,
    /// Where to go on after computing the value of a bound name.
    returns: Vec<usize>,
    meter: Meter,
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
            results: Vec::with_capacity(8),
            variables: vec![None; program.slots],
            loops: Vec::new(),
            returns: Vec::new(),
            meter: Meter::default(),
        }
    }

    pub(super) fn cost(&self) -> u64 {
        self.meter.cost()
    }

    /// Runs all steps. The error is the result's, or that of a limit.
    pub(super) fn run(&mut self) -> Outcome {
        let program = self.program;
        let mut position = 0;
        while let Some(step) = program.steps.get(position) {
            position = self.step(step, position)?;
        }
        self.pop()
    }

    fn push(&mut self, outcome: Outcome) {
        self.results.push(outcome);
    }

    fn pop(&mut self) -> Outcome {
        self.results.pop().unwrap_or(Ok(Value::Null))
    }

    fn set(&mut self, slot: usize, outcome: Option<Outcome>) {
        if let Some(variable) = self.variables.get_mut(slot) {
            *variable = outcome;
        }
    }

    /// Does one step and gives the position of the next; fails only at a limit.
    #[inline]
    fn step(&mut self, step: &Step, position: usize) -> Result<usize, Fault> {
        let next = position + 1;
        match step {
            Step::Constant(value) => self.push(Ok(value.clone())),
            Step::Folded { result, cost } => {
                self.push(result.clone());
                self.meter.charge(*cost)?;
            }
            Step::Device => self.push(Ok(Value::Map(Map::Device(self.device.clone())))),
            Step::Attribute { section, domain, name } => self.attribute(*section, domain, name)?,
            Step::Local(slot) => {
                let outcome = self.variables.get(*slot).cloned().flatten();
                self.push(outcome.unwrap_or(Ok(Value::Null)));
            }
            Step::TakeLocal(slot) => {
                let outcome = self.variables.get_mut(*slot).and_then(Option::take);
                self.push(outcome.unwrap_or(Ok(Value::Null)));
            }
            Step::Bound { slot, init } => match self.variables.get(*slot).cloned().flatten() {
                Some(outcome) => self.push(outcome),
                None => {
                    self.returns.push(position);
                    return Ok(*init);
                }
            },
            Step::Return(slot) => {
                let outcome = self.pop();
                self.set(*slot, Some(outcome));
                return Ok(self.returns.pop().unwrap_or(next));
            }
            Step::Unset(slot) => self.set(*slot, None),
            Step::Qualify { key, optional } => {
                let container = self.pop();
                self.qualify(container, key, *optional)?;
            }
            Step::Test(key) => self.test(key)?,
            Step::QualifyByTop { optional } => self.qualify_by_top(*optional)?,
            Step::SkipUnlessOpen(target) => {
                if matches!(self.results.last(), Some(Err(_) | Ok(Value::Optional(None)))) {
                    return Ok(*target);
                }
            }
            Step::Charge(cost) => self.meter.charge(*cost)?,
            Step::Refund => self.meter.refund(),
            Step::Call(call) => self.call(call)?,
            Step::Regex { regex, operands } => {
                let pattern = &regex.pattern;
                let (values, fault) = self.take_operands(*operands);
                let result = fault.map_or_else(|| regex.call(&values), Err);
                let operand = |index: usize| if index == 1 { Some(pattern) } else { values.get(index.min(1)) };
                self.meter.charge_call(regex.cost(), &operand, &result)?;
                self.push(result);
            }
            Step::Equal { negated } => self.equal(*negated)?,
            Step::IsOneOf(set) => {
                let outcome = self
                    .pop()
                    .map(|value| Value::Bool(crate::value::Key::of(&value).is_some_and(|key| set.contains(&key))));
                self.push(outcome);
            }
            Step::Append => self.append()?,
            Step::MapInsert { operands } => self.map_insert(*operands)?,
            Step::NotStrictlyFalse => {
                let outcome = self.pop();
                self.push(Ok(Value::Bool(!matches!(outcome, Ok(Value::Bool(false))))));
                self.meter.charge(1)?;
            }
            Step::ShortCircuit { on, target } => {
                if matches!(self.results.last(), Some(Ok(Value::Bool(value))) if value == on) {
                    return Ok(*target);
                }
            }
            Step::Join { on } => self.join(*on),
            Step::Branch { otherwise, end } => match self.pop() {
                Ok(Value::Bool(true)) => {}
                Ok(Value::Bool(false)) => return Ok(*otherwise),
                Ok(_) => {
                    self.push(Err(Fault::no_such_overload()));
                    return Ok(*end);
                }
                Err(fault) => {
                    self.push(Err(fault));
                    return Ok(*end);
                }
            },
            Step::OptionalOr { unwrap, end } => {
                if self.optional_or(*unwrap) {
                    return Ok(*end);
                }
            }
            Step::StopIfFault { drop, target } => {
                if matches!(self.results.last(), Some(Err(_))) {
                    let fault = self.pop();
                    self.results.truncate(self.results.len().saturating_sub(*drop));
                    self.push(fault);
                    return Ok(*target);
                }
            }
            Step::Jump(target) => return Ok(*target),
            Step::List { optional } => self.list(optional),
            Step::Map { optional } => self.map(optional),
            Step::Message { name, fields } => {
                self.results.truncate(self.results.len().saturating_sub(*fields));
                self.push(Err(Fault::failed(format!("unknown type '{name}'"))));
            }
            Step::Begin { accumulator, init, two_variables, end } => {
                let range = self.pop().and_then(|range| iterable(range, *two_variables));
                match range {
                    Ok(range) => {
                        self.loops.push(Loop { range, next: 0 });
                        self.set(*accumulator, Some(Ok(init.clone())));
                    }
                    Err(fault) => {
                        self.push(Err(fault));
                        return Ok(*end);
                    }
                }
            }
            Step::Next { first, second, result } => {
                if !self.advance(*first, *second) {
                    self.loops.pop();
                    return Ok(*result);
                }
            }
            Step::While(result) => {
                if matches!(self.pop(), Ok(Value::Bool(false))) {
                    self.loops.pop();
                    return Ok(*result);
                }
            }
            Step::Store(slot) => {
                let outcome = self.pop();
                self.set(*slot, Some(outcome));
            }
        }
        Ok(next)
    }

    fn attribute(&mut self, section: Section, domain: &str, name: &Arc<str>) -> Result<(), Fault> {
        let domains = match section {
            Section::Attributes => &self.device.attributes,
            Section::Capacity => &self.device.capacity,
        };
        let outcome = domains.names(domain).get(name).cloned().ok_or_else(|| Fault::no_such_key(name));
        self.push(outcome);
        // The map, the domain and the name.
        Ok(self.meter.charge(3)?)
    }

    /// Selects from `container`; an error or a missing optional stays as it is and costs nothing.
    fn qualify(&mut self, container: Outcome, key: &Value, optional: bool) -> Result<(), Fault> {
        let container = match container {
            Err(_) | Ok(Value::Optional(None)) => {
                self.push(container);
                return Ok(());
            }
            Ok(container) => container,
        };
        let (container, optional) = match &container {
            Value::Optional(Some(inner)) => (inner.as_ref(), true),
            other => (other, optional),
        };
        let (outcome, cost) = if optional {
            match access::select_if_present(container, key) {
                Ok(Selected::Found(value)) => (Ok(Value::some(value)), 1),
                Ok(Selected::Missing) => (Ok(Value::Optional(None)), 0),
                Err(fault) => (Err(fault), 0),
            }
        } else {
            (access::select(container, key), 1)
        };
        self.push(outcome);
        Ok(self.meter.charge(cost)?)
    }

    fn test(&mut self, key: &Value) -> Result<(), Fault> {
        let container = match self.pop() {
            Ok(Value::Optional(None)) => {
                self.push(Ok(Value::Bool(false)));
                return Ok(());
            }
            Ok(container) => container,
            Err(fault) => {
                self.push(Err(fault));
                return Ok(());
            }
        };
        let (outcome, cost) = match &container {
            Value::Optional(Some(inner)) => {
                let outcome = access::is_present(inner, key);
                let cost = u64::from(matches!(outcome, Ok(true)));
                (outcome, cost)
            }
            other => (access::is_present(other, key), 1),
        };
        self.push(outcome.map(Value::Bool));
        Ok(self.meter.charge(cost)?)
    }

    fn qualify_by_top(&mut self, optional: bool) -> Result<(), Fault> {
        let key = self.pop().and_then(|key| access::check_key(&key).map(|()| key));
        let container = self.pop();
        match key {
            Ok(key) => self.qualify(container, &key, optional),
            Err(fault) => {
                let paid = !optional && !matches!(container, Ok(Value::Optional(_)));
                self.push(Err(fault));
                Ok(self.meter.charge(u64::from(paid))?)
            }
        }
    }

    /// Takes the operands of a call from the results: their values, or the first error with the values that are.
    fn take_operands(&mut self, count: usize) -> (Operands, Option<Fault>) {
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

    fn call(&mut self, step: &CallStep) -> Result<(), Fault> {
        let (values, fault) = self.take_operands(step.operands);
        if let Some(index) = step.cost.needs_list() {
            check_list_operand(values.get(index), fault.is_some())?;
        }
        let result = fault.map_or_else(|| invoke(step.function, step.how, &values), Err);
        self.meter.charge_call(step.cost, &|index| values.get(index), &result)?;
        stop_at_limit(&result)?;
        self.push(result);
        Ok(())
    }

    fn equal(&mut self, negated: bool) -> Result<(), Fault> {
        let (right, left) = (self.pop(), self.pop());
        let result = match (&left, &right) {
            (Ok(left), Ok(right)) => match left.equals(right) {
                Err(fault) if !negated => Err(fault),
                equal => Ok(Value::Bool(equal.unwrap_or(false) != negated)),
            },
            (Err(fault), _) | (_, Err(fault)) => Err(fault.clone()),
        };
        stop_at_limit(&result)?;
        let cost = if negated { Cost::Inequality } else { Cost::Equality };
        let operand = |index: usize| if index == 0 { left.as_ref().ok() } else { right.as_ref().ok() };
        self.meter.charge_call(cost, &operand, &result)?;
        self.push(result);
        Ok(())
    }

    fn append(&mut self) -> Result<(), Fault> {
        let (right, left) = (self.pop(), self.pop());
        let result = match (left, right) {
            (Ok(Value::List(mut left)), Ok(Value::List(right))) => {
                operators::append(&mut left, &right).map(|()| Value::List(left))
            }
            (Err(fault), _) | (_, Err(fault)) => Err(fault),
            _ => Err(Fault::no_such_overload()),
        };
        stop_at_limit(&result)?;
        self.push(result);
        Ok(self.meter.charge(1)?)
    }

    fn map_insert(&mut self, operands: usize) -> Result<(), Fault> {
        let (values, fault) = self.take_operands(operands);
        let result = match fault {
            Some(fault) => Err(fault),
            None => insert(values),
        };
        stop_at_limit(&result)?;
        self.push(result);
        Ok(self.meter.charge(1)?)
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

    fn list(&mut self, optional: &[bool]) {
        let start = self.results.len().saturating_sub(optional.len());
        let mut elements = Vec::with_capacity(optional.len());
        let mut fault = None;
        for (outcome, optional) in self.results.drain(start..).zip(optional) {
            match (outcome, optional) {
                (Ok(value), false) => elements.push(value),
                (Ok(Value::Optional(value)), true) => elements.extend(value.map(|value| value.as_ref().clone())),
                (Ok(value), true) => {
                    fault.get_or_insert_with(|| {
                        Fault::failed(format!(
                            "cannot initialize optional list element from non-optional value {value}"
                        ))
                    });
                }
                (Err(found), _) => {
                    fault.get_or_insert(found);
                }
            }
        }
        self.push(fault.map_or_else(|| Ok(Value::list(elements)), Err));
    }

    fn map(&mut self, optional: &[bool]) {
        let (values, fault) = self.take_operands(optional.len() * 2);
        let mut values = values.into_iter();
        let mut entries = Entries::default();
        let mut fault = fault;
        for optional in optional {
            let (Some(key), Some(value)) = (values.next(), values.next()) else { break };
            match (value, optional) {
                (value, false) => entries.insert(key, value),
                (Value::Optional(Some(value)), true) => entries.insert(key, value.as_ref().clone()),
                (Value::Optional(None), true) => entries.remove(&key),
                (value, true) => {
                    let text = format!("cannot initialize optional entry '{key}' from non-optional value {value}");
                    fault.get_or_insert_with(|| Fault::failed(text));
                }
            }
        }
        self.push(fault.map_or_else(|| Ok(Value::Map(Map::new(entries))), Err));
    }

    /// Sets the variables of the innermost loop to its next element, if there is one.
    fn advance(&mut self, first: usize, second: Option<usize>) -> bool {
        let Some(open) = self.loops.last_mut() else { return false };
        let index = open.next;
        open.next += 1;
        let element = match &open.range {
            Value::List(elements) => {
                let position = i64::try_from(index).unwrap_or(i64::MAX);
                elements.get(index).map(|element| (Value::Int(position), element.clone()))
            }
            Value::Map(map) => map.entry(index),
            _ => None,
        };
        let Some((key, value)) = element else { return false };
        let is_list = matches!(open.range, Value::List(_));
        match second {
            Some(second) => {
                self.set(first, Some(Ok(key)));
                self.set(second, Some(Ok(value)));
            }
            None => self.set(first, Some(Ok(if is_list { value } else { key }))),
        }
        true
    }
}

/// The values that a call takes.
type Operands = smallvec::SmallVec<[Value; 3]>;

/// Ends the evaluation when `result` is an error that nothing may absorb.
fn stop_at_limit(result: &Outcome) -> Result<(), Fault> {
    match result {
        Err(fault) if fault.is_limit() => Err(fault.clone()),
        _ => Ok(()),
    }
}

/// Upstream's cost counter breaks down over an operand that is no list, and ends the evaluation.
fn check_list_operand(operand: Option<&Value>, is_fault: bool) -> Result<(), Fault> {
    let (found, adds) = match operand {
        Some(Value::List(_)) | None => return Ok(()),
        Some(_) if is_fault => ("*types.Err", false),
        Some(value) => (value.go_type(), operators::adds(value)),
    };
    let method = if adds { "Contains" } else { "Add" };
    Err(Fault::failed(format!(
        "internal error: interface conversion: {found} is not traits.Lister: missing method {method}"
    )))
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

/// The first of `values`, a map, with the entry or the entries of the others.
fn insert(values: Operands) -> Outcome {
    let names: Vec<&str> = values.iter().map(Value::type_name).collect();
    let mismatch = Fault::no_such_signature(format!("{MAP_INSERT}({})", names.join(", ")));
    let mut values = values.into_iter();
    let (Some(Value::Map(map)), Some(second)) = (values.next(), values.next()) else { return Err(mismatch) };
    let mut entries = map.into_entries();
    let mut add = |key: Value, value: Value| -> Result<(), Fault> {
        if entries.contains(&key) {
            return Err(Fault::failed(format!("insert failed: key {key} already exists")));
        }
        entries.insert(key, value);
        operators::check_list(entries.len())
    };
    match (second, values.next()) {
        (key, Some(value)) => add(key, value)?,
        (Value::Map(update), None) => update.iter().try_for_each(|(key, value)| add(key, value))?,
        _ => return Err(mismatch),
    }
    Ok(Value::Map(Map::new(entries)))
}

impl From<RuntimeError> for Fault {
    fn from(error: RuntimeError) -> Self {
        Self::new(error)
    }
}
