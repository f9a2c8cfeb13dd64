//! Steps that call functions.

use crate::cost::Cost;
use crate::error::{Fault, RuntimeError};
use crate::evaluate::machine::Machine;
use crate::evaluate::{Operands, Outcome, invoke};
use crate::library::operators;
use crate::library::regexes::ConstantRegex;
use crate::macros::MAP_INSERT;
use crate::program::CallStep;
use crate::value::{Map, Value};

impl Machine<'_> {
    pub(super) fn call(&mut self, step: &CallStep) -> Result<(), Fault> {
        if step.cost == Cost::Flatten && step.operands == 2 {
            check_int_operand(self.top())?;
        }
        // Most calls have one or two operands, and no error among them.
        let values = match step.operands {
            1 => self.take_values::<1>().map(|values| self.apply(step, &values, None)),
            2 => self.take_values::<2>().map(|values| self.apply(step, &values, None)),
            _ => None,
        };
        values.unwrap_or_else(|| {
            let (values, fault) = self.take_operands(step.operands);
            self.apply(step, &values, fault)
        })
    }

    fn apply(&mut self, step: &CallStep, values: &[Value], fault: Option<Fault>) -> Result<(), Fault> {
        if let Some(index) = step.cost.needs_list() {
            check_list_operand(values.get(index), fault.is_some())?;
        }
        self.meter.work_on(step.cost, values)?;
        let result = fault.map_or_else(|| invoke(step.function, step.how, values), Err);
        if let Err(fault) = &result
            && fault.ends_evaluation()
        {
            return Err(fault.clone());
        }
        self.meter.charge_call(step.cost, &|index| values.get(index), &result)?;
        self.push_made(result)
    }

    pub(super) fn search(&mut self, regex: &ConstantRegex, operands: usize) -> Result<(), Fault> {
        let (values, fault) = self.take_operands(operands);
        if let Some(Value::String(source)) = values.first() {
            self.meter.work(regex.work(source.len()))?;
        }
        let result = fault.map_or_else(|| regex.call(&values), Err);
        let operand = |index: usize| if index == 1 { Some(&regex.pattern) } else { values.get(index.min(1)) };
        self.meter.charge_call(regex.cost(), &operand, &result)?;
        self.push_made(result)
    }

    pub(super) fn equal(&mut self, negated: bool) -> Result<(), Fault> {
        let (right, left) = (self.pop(), self.pop());
        let result = match (&left, &right) {
            (Ok(left), Ok(right)) => {
                self.meter.work(left.extent().parts.min(right.extent().parts))?;
                match left.equals(right) {
                    Err(fault) if !negated => Err(fault),
                    equal => Ok(Value::Bool(equal.unwrap_or(false) != negated)),
                }
            }
            (Err(fault), _) | (_, Err(fault)) => Err(fault.clone()),
        };
        let cost = if negated { Cost::Inequality } else { Cost::Equality };
        let operand = |index: usize| if index == 0 { left.as_ref().ok() } else { right.as_ref().ok() };
        self.meter.charge_call(cost, &operand, &result)?;
        self.push(result);
        Ok(())
    }

    pub(super) fn append(&mut self) -> Result<(), Fault> {
        let (right, left) = (self.pop(), self.pop());
        let result = match (left, right) {
            (Ok(Value::List(mut left)), Ok(Value::List(right))) => {
                operators::append(&mut left, &right).map(|()| Value::List(left))
            }
            (Err(fault), _) | (_, Err(fault)) => Err(fault),
            _ => Err(Fault::no_such_overload()),
        };
        self.push_made(result)?;
        Ok(self.meter.charge(1)?)
    }

    pub(super) fn map_insert(&mut self, operands: usize) -> Result<(), Fault> {
        let (values, fault) = self.take_operands(operands);
        // An error may tell the key.
        self.meter.work(values.get(1).map_or(0, |added| added.extent().parts))?;
        let result = match fault {
            Some(fault) => Err(fault),
            None => insert(values),
        };
        self.push_made(result)?;
        Ok(self.meter.charge(1)?)
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
    Err(Fault::new(RuntimeError::Internal(format!(
        "interface conversion: {found} is not traits.Lister: missing method {method}"
    ))))
}

/// The same over an operand that is no integer.
fn check_int_operand(operand: Option<&Outcome>) -> Result<(), Fault> {
    let found = match operand {
        Some(Ok(Value::Int(_))) | None => return Ok(()),
        Some(Ok(value)) => value.go_type(),
        Some(Err(_)) => "*types.Err",
    };
    Err(Fault::new(RuntimeError::Internal(format!("interface conversion: ref.Val is {found}, not types.Int"))))
}

/// The first of `values`, a map, with the entry or the entries of the others.
fn insert(values: Operands) -> Outcome {
    let names: Vec<&str> = values.iter().map(Value::type_name).collect();
    let mismatch = Fault::no_such_signature(format!("{MAP_INSERT}({})", names.join(", ")));
    let mut values = values.into_iter();
    let (Some(Value::Map(map)), Some(second)) = (values.next(), values.next()) else { return Err(mismatch) };
    let mut entries = map.into_entries();
    let mut add = |key: Value, value: Value| -> Result<(), Fault> {
        key.check_hashable()?;
        if entries.contains(&key) {
            return Err(Fault::failed(format!("insert failed: key {} already exists", key.as_go_writes())));
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
