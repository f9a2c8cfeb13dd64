//! Values that may be missing.

use crate::cost::Cost;
use crate::error::Fault;
use crate::library::{Function, Overload, Special, boolean, list, operands};
use crate::types::Type;
use crate::value::Value;

pub(super) fn functions() -> Vec<Function> {
    let v = || Type::parameter("V");
    let optional_v = || Type::optional(v());
    let optionals = || Type::list(optional_v());
    vec![
        Function::new("optional.of", vec![Overload::global("optional_of", [v()], optional_v(), Cost::One, of)]),
        Function::new(
            "optional.ofNonZeroValue",
            vec![Overload::global("optional_ofNonZeroValue", [v()], optional_v(), Cost::One, of_non_zero)],
        ),
        Function::new(
            "optional.none",
            vec![Overload::global("optional_none", [], optional_v(), Cost::One, |_| Ok(Value::Optional(None)))],
        ),
        Function::new("value", vec![Overload::member("optional_value", [optional_v()], v(), Cost::One, value)]),
        Function::new(
            "hasValue",
            vec![Overload::member("optional_hasValue", [optional_v()], Type::Bool, Cost::One, has_value)],
        ),
        Function::special(
            "or",
            Special::OptionalOr,
            vec![Overload::shared_member(
                "optional_or_optional",
                [optional_v(), optional_v()],
                optional_v(),
                Cost::One,
            )],
        ),
        Function::special(
            "orValue",
            Special::OptionalOrValue,
            vec![Overload::shared_member("optional_orValue_value", [optional_v(), v()], v(), Cost::One)],
        ),
        Function::new(
            "last",
            vec![Overload::member("list_last", [Type::list(v())], optional_v(), Cost::One, |arguments| {
                end(arguments, <[Value]>::last)
            })],
        ),
        Function::new(
            "first",
            vec![Overload::member("list_first", [Type::list(v())], optional_v(), Cost::One, |arguments| {
                end(arguments, <[Value]>::first)
            })],
        ),
        Function::new(
            "optional.unwrap",
            vec![Overload::global("optional_unwrap", [optionals()], Type::list(v()), Cost::One, unwrap)],
        ),
        Function::new(
            "unwrapOpt",
            vec![Overload::member("optional_unwrapOpt", [optionals()], Type::list(v()), Cost::One, unwrap)],
        ),
    ]
}

fn of(arguments: &[Value]) -> Result<Value, Fault> {
    let [value] = operands::<1>(arguments)?;
    Ok(Value::some(value.clone()))
}

fn of_non_zero(arguments: &[Value]) -> Result<Value, Fault> {
    let [value] = operands::<1>(arguments)?;
    Ok(if value.is_zero() { Value::Optional(None) } else { Value::some(value.clone()) })
}

fn value(arguments: &[Value]) -> Result<Value, Fault> {
    match arguments {
        [Value::Optional(Some(value))] => Ok(value.as_ref().clone()),
        [Value::Optional(None)] => Err(Fault::failed("optional.none() dereference")),
        _ => Err(Fault::no_such_overload()),
    }
}

fn has_value(arguments: &[Value]) -> Result<Value, Fault> {
    match arguments {
        [Value::Optional(value)] => Ok(boolean(value.is_some())),
        _ => Err(Fault::no_such_overload()),
    }
}

fn end(arguments: &[Value], which: fn(&[Value]) -> Option<&Value>) -> Result<Value, Fault> {
    let [elements] = operands::<1>(arguments)?;
    Ok(which(list(elements)?).map_or(Value::Optional(None), |element| Value::some(element.clone())))
}

fn unwrap(arguments: &[Value]) -> Result<Value, Fault> {
    let [elements] = operands::<1>(arguments)?;
    let mut values = Vec::new();
    for element in list(elements)?.iter() {
        match element {
            Value::Optional(Some(value)) => values.push(value.as_ref().clone()),
            Value::Optional(None) => {}
            other => return Err(Fault::failed(format!("value {other} is not optional"))),
        }
    }
    Ok(Value::list(values))
}
