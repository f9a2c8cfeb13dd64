//! Conversions between types.

use std::sync::Arc;

use crate::cost::{Cost, Growth};
use crate::error::Fault;
use crate::library::operators::int_overflow;
use crate::library::{Function, Implementation, Overload, floats, operands, times};
use crate::types::Type;
use crate::value::{Timestamp, Value, go_float};

pub(super) fn functions() -> Vec<Function> {
    let a = || Type::parameter("A");
    vec![
        Function::shared(
            "type",
            |_| true,
            type_of,
            vec![Overload::shared("type", [a()], Type::type_of(a()), Cost::One)],
        ),
        Function::shared("dyn", |_| true, same, vec![Overload::shared("to_dyn", [a()], Type::Dyn, Cost::One)]),
        conversion("bool", &Type::Bool, to_bool, &[("bool_to_bool", Type::Bool), ("string_to_bool", Type::String)]),
        Function::new(
            "bytes",
            vec![
                Overload::global("bytes_to_bytes", [Type::Bytes], Type::Bytes, Cost::One, same),
                Overload::global(
                    "string_to_bytes",
                    [Type::String],
                    Type::Bytes,
                    Cost::ScanArgument(Growth::Quadruple),
                    to_bytes,
                ),
            ],
        ),
        conversion(
            "double",
            &Type::Double,
            to_double,
            &[
                ("double_to_double", Type::Double),
                ("int64_to_double", Type::Int),
                ("string_to_double", Type::String),
                ("uint64_to_double", Type::Uint),
            ],
        ),
        conversion(
            "duration",
            &Type::Duration,
            to_duration,
            &[("duration_to_duration", Type::Duration), ("string_to_duration", Type::String)],
        ),
        conversion(
            "int",
            &Type::Int,
            to_int,
            &[
                ("int64_to_int64", Type::Int),
                ("double_to_int64", Type::Double),
                ("duration_to_int64", Type::Duration),
                ("string_to_int64", Type::String),
                ("timestamp_to_int64", Type::Timestamp),
                ("uint64_to_int64", Type::Uint),
            ],
        ),
        string(),
        conversion(
            "timestamp",
            &Type::Timestamp,
            to_timestamp,
            &[
                ("timestamp_to_timestamp", Type::Timestamp),
                ("int64_to_timestamp", Type::Int),
                ("string_to_timestamp", Type::String),
            ],
        ),
        conversion(
            "uint",
            &Type::Uint,
            to_uint,
            &[
                ("uint64_to_uint64", Type::Uint),
                ("double_to_uint64", Type::Double),
                ("int64_to_uint64", Type::Int),
                ("string_to_uint64", Type::String),
            ],
        ),
    ]
}

/// Whether a call of the function on a constant is computed when the expression is compiled.
pub(crate) fn is_conversion(name: &str) -> bool {
    matches!(name, "bool" | "bytes" | "double" | "duration" | "dyn" | "int" | "string" | "timestamp" | "type" | "uint")
}

fn conversion(name: &'static str, result: &Type, call: Implementation, rows: &[(&'static str, Type)]) -> Function {
    let overloads = rows.iter().map(|(id, from)| Overload::global(id, [from.clone()], result.clone(), Cost::One, call));
    Function::new(name, overloads.collect())
}

fn string() -> Function {
    let mut function = conversion(
        "string",
        &Type::String,
        to_string,
        &[
            ("string_to_string", Type::String),
            ("bool_to_string", Type::Bool),
            ("double_to_string", Type::Double),
            ("duration_to_string", Type::Duration),
            ("int64_to_string", Type::Int),
            ("timestamp_to_string", Type::Timestamp),
            ("uint64_to_string", Type::Uint),
            ("ip_to_string", Type::IP),
            ("cidr_to_string", Type::CIDR),
        ],
    );
    function.overloads.push(Overload::global(
        "bytes_to_string",
        [Type::Bytes],
        Type::String,
        Cost::ScanArgument(Growth::Quarter),
        to_string,
    ));
    function
}

fn conversion_error(value: &Value, to: &Type) -> Fault {
    Fault::failed(format!("type conversion error from '{}' to '{to}'", value.type_of().runtime_name()))
}

fn type_of(arguments: &[Value]) -> Result<Value, Fault> {
    let [value] = operands::<1>(arguments)?;
    Ok(Value::Type(value.type_of()))
}

fn same(arguments: &[Value]) -> Result<Value, Fault> {
    let [value] = operands::<1>(arguments)?;
    Ok(value.clone())
}

fn to_bool(arguments: &[Value]) -> Result<Value, Fault> {
    let [value] = operands::<1>(arguments)?;
    match value {
        Value::Bool(_) => Ok(value.clone()),
        Value::String(text) => match text.as_ref() {
            "1" | "t" | "T" | "TRUE" | "true" | "True" => Ok(Value::Bool(true)),
            "0" | "f" | "F" | "FALSE" | "false" | "False" => Ok(Value::Bool(false)),
            _ => Err(conversion_error(value, &Type::Bool)),
        },
        _ => Err(conversion_error(value, &Type::Bool)),
    }
}

fn to_bytes(arguments: &[Value]) -> Result<Value, Fault> {
    match arguments {
        [Value::String(text)] => Ok(Value::Bytes(Arc::from(text.as_bytes()))),
        _ => Err(Fault::no_such_overload()),
    }
}

#[expect(clippy::cast_precision_loss, reason = "the nearest float is what the conversion means")]
fn to_double(arguments: &[Value]) -> Result<Value, Fault> {
    let [value] = operands::<1>(arguments)?;
    match value {
        Value::Double(value) => Ok(Value::Double(*value)),
        Value::Int(value) => Ok(Value::Double(*value as f64)),
        Value::Uint(value) => Ok(Value::Double(*value as f64)),
        Value::String(text) => {
            floats::parse(text).map(Value::Double).ok_or_else(|| conversion_error(value, &Type::Double))
        }
        _ => Err(conversion_error(value, &Type::Double)),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
fn to_int(arguments: &[Value]) -> Result<Value, Fault> {
    const END: f64 = 9_223_372_036_854_775_808.0;
    let [value] = operands::<1>(arguments)?;
    match value {
        Value::Int(value) | Value::Duration(value) => Ok(Value::Int(*value)),
        Value::Double(value) if *value > -END && *value < END => Ok(Value::Int(*value as i64)),
        Value::Double(_) => Err(int_overflow()),
        Value::Uint(value) => i64::try_from(*value).map(Value::Int).map_err(|_| int_overflow()),
        Value::String(text) => text.parse().map(Value::Int).map_err(|_| conversion_error(value, &Type::Int)),
        Value::Timestamp(time) => Ok(Value::Int(time.seconds)),
        _ => Err(conversion_error(value, &Type::Int)),
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
fn to_uint(arguments: &[Value]) -> Result<Value, Fault> {
    const END: f64 = 18_446_744_073_709_551_616.0;
    let overflow = || Fault::failed("unsigned integer overflow");
    let [value] = operands::<1>(arguments)?;
    match value {
        Value::Uint(value) => Ok(Value::Uint(*value)),
        Value::Double(value) if *value >= 0.0 && *value < END => Ok(Value::Uint(*value as u64)),
        Value::Double(_) => Err(overflow()),
        Value::Int(value) => u64::try_from(*value).map(Value::Uint).map_err(|_| overflow()),
        // Go takes no sign here.
        Value::String(text) if !text.starts_with('+') => {
            text.parse().map(Value::Uint).map_err(|_| conversion_error(value, &Type::Uint))
        }
        _ => Err(conversion_error(value, &Type::Uint)),
    }
}

fn to_string(arguments: &[Value]) -> Result<Value, Fault> {
    let [value] = operands::<1>(arguments)?;
    let text = match value {
        Value::String(_) => return Ok(value.clone()),
        Value::Bytes(bytes) => std::str::from_utf8(bytes)
            .map_err(|_| Fault::failed("invalid UTF-8 in bytes, cannot convert to string"))?
            .to_owned(),
        Value::Double(value) => go_float(*value),
        Value::Duration(nanos) => times::seconds_text(*nanos),
        Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Timestamp(_) | Value::Ip(_) | Value::Cidr(_) => {
            value.to_string()
        }
        _ => return Err(conversion_error(value, &Type::String)),
    };
    Ok(Value::string(text))
}

fn to_duration(arguments: &[Value]) -> Result<Value, Fault> {
    let [value] = operands::<1>(arguments)?;
    match value {
        Value::Duration(_) => Ok(value.clone()),
        Value::String(text) => {
            times::parse_duration(text).map(Value::Duration).ok_or_else(|| conversion_error(value, &Type::Duration))
        }
        _ => Err(conversion_error(value, &Type::Duration)),
    }
}

fn to_timestamp(arguments: &[Value]) -> Result<Value, Fault> {
    let overflow = || Fault::failed("timestamp overflow");
    let [value] = operands::<1>(arguments)?;
    match value {
        Value::Timestamp(_) => Ok(value.clone()),
        Value::Int(seconds) => Timestamp::new(*seconds, 0).map(Value::Timestamp).ok_or_else(overflow),
        Value::String(text) => {
            let time = times::parse_timestamp(text).ok_or_else(|| conversion_error(value, &Type::Timestamp))?;
            Timestamp::new(time.seconds, time.nanos).ok_or_else(overflow)?;
            Ok(Value::Timestamp(time))
        }
        _ => Err(conversion_error(value, &Type::Timestamp)),
    }
}
