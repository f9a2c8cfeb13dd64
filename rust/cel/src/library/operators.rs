//! Arithmetic, order, membership and size.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::cost::Cost;
use crate::error::{Fault, RuntimeError};
use crate::library::{Function, Overload, boolean, operands};
use crate::types::Type;
use crate::value::{List, Map, Value};

/// The most elements that a list may have: to walk over more costs more than an evaluation may.
pub(crate) const MAX_LIST: usize = 1_000_000;
/// The most bytes that a text may have.
pub(crate) const MAX_TEXT: usize = 16 * 1024 * 1024;

#[expect(clippy::too_many_lines, reason = "a table: one entry a function")]
pub(super) fn functions() -> Vec<Function> {
    let a = || Type::parameter("A");
    let list_a = || Type::list(a());
    let map_ab = || Type::map(a(), Type::parameter("B"));
    let mut functions = vec![
        Function::shared(
            "!_",
            |_| true,
            not,
            vec![Overload::shared("logical_not", [Type::Bool], Type::Bool, Cost::One)],
        ),
        arithmetic(
            "_+_",
            adds,
            add,
            &[
                ("add_bytes", Type::Bytes, Type::Bytes, Type::Bytes, Cost::ConcatText),
                ("add_double", Type::Double, Type::Double, Type::Double, Cost::One),
                ("add_duration_duration", Type::Duration, Type::Duration, Type::Duration, Cost::One),
                ("add_duration_timestamp", Type::Duration, Type::Timestamp, Type::Timestamp, Cost::One),
                ("add_timestamp_duration", Type::Timestamp, Type::Duration, Type::Timestamp, Cost::One),
                ("add_int64", Type::Int, Type::Int, Type::Int, Cost::One),
                ("add_list", list_a(), list_a(), list_a(), Cost::ConcatList),
                ("add_string", Type::String, Type::String, Type::String, Cost::ConcatText),
                ("add_uint64", Type::Uint, Type::Uint, Type::Uint, Cost::One),
            ],
        ),
        arithmetic(
            "_/_",
            divides,
            divide,
            &[
                ("divide_double", Type::Double, Type::Double, Type::Double, Cost::One),
                ("divide_int64", Type::Int, Type::Int, Type::Int, Cost::One),
                ("divide_uint64", Type::Uint, Type::Uint, Type::Uint, Cost::One),
            ],
        ),
        arithmetic(
            "_%_",
            |value| matches!(value, Value::Int(_) | Value::Uint(_)),
            modulo,
            &[
                ("modulo_int64", Type::Int, Type::Int, Type::Int, Cost::One),
                ("modulo_uint64", Type::Uint, Type::Uint, Type::Uint, Cost::One),
            ],
        ),
        arithmetic(
            "_*_",
            divides,
            multiply,
            &[
                ("multiply_double", Type::Double, Type::Double, Type::Double, Cost::One),
                ("multiply_int64", Type::Int, Type::Int, Type::Int, Cost::One),
                ("multiply_uint64", Type::Uint, Type::Uint, Type::Uint, Cost::One),
            ],
        ),
        Function::shared(
            "-_",
            negates,
            negate,
            vec![
                Overload::shared("negate_double", [Type::Double], Type::Double, Cost::One),
                Overload::shared("negate_int64", [Type::Int], Type::Int, Cost::One),
            ],
        ),
        arithmetic(
            "_-_",
            subtracts,
            subtract,
            &[
                ("subtract_double", Type::Double, Type::Double, Type::Double, Cost::One),
                ("subtract_duration_duration", Type::Duration, Type::Duration, Type::Duration, Cost::One),
                ("subtract_int64", Type::Int, Type::Int, Type::Int, Cost::One),
                ("subtract_timestamp_duration", Type::Timestamp, Type::Duration, Type::Timestamp, Cost::One),
                ("subtract_timestamp_timestamp", Type::Timestamp, Type::Timestamp, Type::Duration, Cost::One),
                ("subtract_uint64", Type::Uint, Type::Uint, Type::Uint, Cost::One),
            ],
        ),
        comparison("_<_", |operands| compare(operands, Ordering::is_lt)),
        comparison("_<=_", |operands| compare(operands, Ordering::is_le)),
        comparison("_>_", |operands| compare(operands, Ordering::is_gt)),
        comparison("_>=_", |operands| compare(operands, Ordering::is_ge)),
    ];
    functions.push(Function::shared(
        "@in",
        |_| true,
        contained,
        vec![
            Overload::shared("in_list", [a(), list_a()], Type::Bool, Cost::InList),
            Overload::shared("in_map", [a(), map_ab()], Type::Bool, Cost::One),
        ],
    ));
    let sized = [
        ("size_bytes", "bytes_size", Type::Bytes),
        ("size_list", "list_size", list_a()),
        ("size_map", "map_size", map_ab()),
        ("size_string", "string_size", Type::String),
    ];
    let sizes = sized.into_iter().flat_map(|(global, member, of)| {
        [
            Overload::shared(global, [of.clone()], Type::Int, Cost::One),
            Overload::shared_member(member, [of], Type::Int, Cost::One),
        ]
    });
    functions.push(Function::shared("size", |value| value.size().is_some(), size, sizes.collect()));
    functions
}

type Row = (&'static str, Type, Type, Type, Cost);

fn arithmetic(name: &'static str, accepts: fn(&Value) -> bool, call: super::Implementation, rows: &[Row]) -> Function {
    let overloads = rows.iter().map(|(id, left, right, result, cost)| {
        Overload::shared(id, [left.clone(), right.clone()], result.clone(), *cost)
    });
    Function::shared(name, accepts, call, overloads.collect())
}

/// An order operator: equal types, and numbers of any two.
fn comparison(name: &'static str, call: super::Implementation) -> Function {
    let numbers = [Type::Int, Type::Uint, Type::Double];
    let mut overloads = vec![Overload::shared("compare_bool", [Type::Bool, Type::Bool], Type::Bool, Cost::One)];
    for left in &numbers {
        for right in &numbers {
            overloads.push(Overload::shared("compare_numbers", [left.clone(), right.clone()], Type::Bool, Cost::One));
        }
    }
    for text in [Type::String, Type::Bytes] {
        overloads.push(Overload::shared("compare_text", [text.clone(), text], Type::Bool, Cost::Order));
    }
    for time in [Type::Timestamp, Type::Duration] {
        overloads.push(Overload::shared("compare_time", [time.clone(), time], Type::Bool, Cost::One));
    }
    Function::shared(name, Value::is_ordered, call, overloads)
}

fn not(arguments: &[Value]) -> Result<Value, Fault> {
    match arguments {
        [Value::Bool(value)] => Ok(boolean(!value)),
        _ => Err(Fault::no_such_overload()),
    }
}

pub(crate) fn adds(value: &Value) -> bool {
    matches!(
        value,
        Value::Int(_)
            | Value::Uint(_)
            | Value::Double(_)
            | Value::String(_)
            | Value::Bytes(_)
            | Value::List(_)
            | Value::Duration(_)
            | Value::Timestamp(_)
    )
}

fn divides(value: &Value) -> bool {
    matches!(value, Value::Int(_) | Value::Uint(_) | Value::Double(_))
}

fn subtracts(value: &Value) -> bool {
    divides(value) || matches!(value, Value::Duration(_) | Value::Timestamp(_))
}

fn negates(value: &Value) -> bool {
    matches!(value, Value::Bool(_) | Value::Int(_) | Value::Double(_) | Value::Duration(_))
}

pub(crate) fn int_overflow() -> Fault {
    Fault::failed("integer overflow")
}

fn uint_overflow() -> Fault {
    Fault::failed("unsigned integer overflow")
}

fn timestamp_overflow() -> Fault {
    Fault::failed("timestamp overflow")
}

pub(super) fn add(arguments: &[Value]) -> Result<Value, Fault> {
    let [left, right] = operands::<2>(arguments)?;
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => left.checked_add(*right).map(Value::Int).ok_or_else(int_overflow),
        (Value::Uint(left), Value::Uint(right)) => left.checked_add(*right).map(Value::Uint).ok_or_else(uint_overflow),
        (Value::Double(left), Value::Double(right)) => Ok(Value::Double(left + right)),
        (Value::String(left), Value::String(right)) => {
            check_text(left.len() + right.len())?;
            Ok(Value::string([left.as_ref(), right.as_ref()].concat()))
        }
        (Value::Bytes(left), Value::Bytes(right)) => {
            check_text(left.len() + right.len())?;
            Ok(Value::Bytes([left.as_ref(), right.as_ref()].concat().into()))
        }
        (Value::List(left), Value::List(right)) if right.is_empty() => Ok(Value::List(left.clone())),
        (Value::List(left), Value::List(right)) if left.is_empty() => Ok(Value::List(right.clone())),
        (Value::List(left), Value::List(right)) => {
            check_list(left.len() + right.len())?;
            Ok(Value::list(left.iter().chain(right.iter()).cloned().collect()))
        }
        (Value::Duration(left), Value::Duration(right)) => {
            left.checked_add(*right).map(Value::Duration).ok_or_else(int_overflow)
        }
        (Value::Timestamp(time), Value::Duration(nanos)) | (Value::Duration(nanos), Value::Timestamp(time)) => {
            time.plus(*nanos).map(Value::Timestamp).ok_or_else(timestamp_overflow)
        }
        _ => Err(Fault::no_such_overload()),
    }
}

/// Adds `right` to the list in `left` in place where nobody else holds it.
pub(crate) fn append(left: &mut Arc<List>, right: &List) -> Result<(), Fault> {
    check_list(left.len() + right.len())?;
    Arc::make_mut(left).append(right);
    Ok(())
}

/// Refuses a list that is longer than lists may be.
pub(crate) fn check_list(length: usize) -> Result<(), Fault> {
    if length > MAX_LIST { Err(Fault::new(RuntimeError::SizeLimit)) } else { Ok(()) }
}

/// Refuses a text that is longer than texts may be.
pub(crate) fn check_text(bytes: usize) -> Result<(), Fault> {
    if bytes > MAX_TEXT { Err(Fault::new(RuntimeError::SizeLimit)) } else { Ok(()) }
}

fn subtract(arguments: &[Value]) -> Result<Value, Fault> {
    let [left, right] = operands::<2>(arguments)?;
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => left.checked_sub(*right).map(Value::Int).ok_or_else(int_overflow),
        (Value::Uint(left), Value::Uint(right)) => left.checked_sub(*right).map(Value::Uint).ok_or_else(uint_overflow),
        (Value::Double(left), Value::Double(right)) => Ok(Value::Double(left - right)),
        (Value::Duration(left), Value::Duration(right)) => {
            left.checked_sub(*right).map(Value::Duration).ok_or_else(int_overflow)
        }
        (Value::Timestamp(time), Value::Duration(nanos)) => {
            let nanos = nanos.checked_neg().ok_or_else(int_overflow)?;
            time.plus(nanos).map(Value::Timestamp).ok_or_else(timestamp_overflow)
        }
        (Value::Timestamp(left), Value::Timestamp(right)) => {
            let nanos = left.nanos_since_epoch() - right.nanos_since_epoch();
            i64::try_from(nanos).map(Value::Duration).map_err(|_| int_overflow())
        }
        _ => Err(Fault::no_such_overload()),
    }
}

fn multiply(arguments: &[Value]) -> Result<Value, Fault> {
    match arguments {
        [Value::Int(left), Value::Int(right)] => left.checked_mul(*right).map(Value::Int).ok_or_else(int_overflow),
        [Value::Uint(left), Value::Uint(right)] => left.checked_mul(*right).map(Value::Uint).ok_or_else(uint_overflow),
        [Value::Double(left), Value::Double(right)] => Ok(Value::Double(left * right)),
        _ => Err(Fault::no_such_overload()),
    }
}

fn divide(arguments: &[Value]) -> Result<Value, Fault> {
    match arguments {
        [Value::Int(_), Value::Int(0)] | [Value::Uint(_), Value::Uint(0)] => Err(Fault::failed("division by zero")),
        [Value::Int(left), Value::Int(right)] => left.checked_div(*right).map(Value::Int).ok_or_else(int_overflow),
        [Value::Uint(left), Value::Uint(right)] => Ok(Value::Uint(left / right)),
        [Value::Double(left), Value::Double(right)] => Ok(Value::Double(left / right)),
        _ => Err(Fault::no_such_overload()),
    }
}

fn modulo(arguments: &[Value]) -> Result<Value, Fault> {
    match arguments {
        [Value::Int(_), Value::Int(0)] | [Value::Uint(_), Value::Uint(0)] => Err(Fault::failed("modulus by zero")),
        [Value::Int(left), Value::Int(right)] => left.checked_rem(*right).map(Value::Int).ok_or_else(int_overflow),
        [Value::Uint(left), Value::Uint(right)] => Ok(Value::Uint(left % right)),
        _ => Err(Fault::no_such_overload()),
    }
}

fn negate(arguments: &[Value]) -> Result<Value, Fault> {
    match arguments {
        [Value::Int(value)] => value.checked_neg().map(Value::Int).ok_or_else(int_overflow),
        [Value::Double(value)] => Ok(Value::Double(-value)),
        [Value::Duration(nanos)] => nanos.checked_neg().map(Value::Duration).ok_or_else(int_overflow),
        _ => Err(Fault::no_such_overload()),
    }
}

fn compare(arguments: &[Value], holds: fn(Ordering) -> bool) -> Result<Value, Fault> {
    let [left, right] = operands::<2>(arguments)?;
    left.compare(right).map(|order| boolean(holds(order)))
}

fn contained(arguments: &[Value]) -> Result<Value, Fault> {
    match arguments {
        [element, Value::List(elements)] => Ok(boolean(elements.iter().any(|other| element.is_equal(other)))),
        [key, Value::Map(map)] => {
            if matches!(map, Map::Entries(_)) && !map.is_empty() {
                key.check_hashable()?;
            }
            Ok(boolean(map.contains(key)))
        }
        _ => Err(Fault::no_such_overload()),
    }
}

fn size(arguments: &[Value]) -> Result<Value, Fault> {
    let [value] = operands::<1>(arguments)?;
    let size = value.size().and_then(|size| i64::try_from(size).ok());
    size.map(Value::Int).ok_or_else(Fault::no_such_overload)
}
