//! Semantic versions.

use std::cmp::Ordering;
use std::sync::Arc;

use drayman_api::Version;
use drayman_api::version::VersionError;

use crate::cost::Cost;
use crate::error::Fault;
use crate::library::{Function, Overload, boolean, ordering, text};
use crate::types::Type;
use crate::value::Value;

pub(super) fn functions() -> Vec<Function> {
    let v = || Type::SEMVER;
    vec![
        Function::new(
            "semver",
            vec![
                Overload::global("string_to_semver", [Type::String], v(), Cost::Parse, make),
                Overload::global("string_bool_to_semver", [Type::String, Type::Bool], v(), Cost::Parse, make),
            ],
        ),
        Function::new(
            "isSemver",
            vec![
                Overload::global("is_semver_string", [Type::String], Type::Bool, Cost::Parse, is_version),
                Overload::global(
                    "is_semver_string_bool",
                    [Type::String, Type::Bool],
                    Type::Bool,
                    Cost::Parse,
                    is_version,
                ),
            ],
        ),
        Function::new(
            "isGreaterThan",
            vec![Overload::member("semver_is_greater_than", [v(), v()], Type::Bool, Cost::One, |arguments| {
                compare(arguments).map(|order| boolean(order == Ordering::Greater))
            })],
        ),
        Function::new(
            "isLessThan",
            vec![Overload::member("semver_is_less_than", [v(), v()], Type::Bool, Cost::One, |arguments| {
                compare(arguments).map(|order| boolean(order == Ordering::Less))
            })],
        ),
        Function::new(
            "compareTo",
            vec![Overload::member("semver_compare_to", [v(), v()], Type::Int, Cost::One, |arguments| {
                compare(arguments).map(ordering)
            })],
        ),
        Function::new(
            "major",
            vec![Overload::member("semver_major", [v()], Type::Int, Cost::One, |arguments| {
                part(arguments, Version::major)
            })],
        ),
        Function::new(
            "minor",
            vec![Overload::member("semver_minor", [v()], Type::Int, Cost::One, |arguments| {
                part(arguments, Version::minor)
            })],
        ),
        Function::new(
            "patch",
            vec![Overload::member("semver_patch", [v()], Type::Int, Cost::One, |arguments| {
                part(arguments, Version::patch)
            })],
        ),
    ]
}

fn parse(arguments: &[Value]) -> Result<Result<Version, VersionError>, Fault> {
    match arguments {
        [source] | [source, Value::Bool(false)] => Ok(text(source)?.parse()),
        [source, Value::Bool(true)] => Ok(Version::parse_normalized(text(source)?)),
        _ => Err(Fault::no_such_overload()),
    }
}

fn make(arguments: &[Value]) -> Result<Value, Fault> {
    let version = parse(arguments)?.map_err(|error| Fault::failed(error.to_string()))?;
    Ok(Value::Version(Arc::new(version)))
}

fn is_version(arguments: &[Value]) -> Result<Value, Fault> {
    Ok(boolean(parse(arguments)?.is_ok()))
}

fn compare(arguments: &[Value]) -> Result<Ordering, Fault> {
    match arguments {
        [Value::Version(left), Value::Version(right)] => Ok(left.cmp(right)),
        _ => Err(Fault::no_such_overload()),
    }
}

/// A number of the version; upstream wraps what does not fit a signed integer.
#[expect(clippy::cast_possible_wrap, reason = "the wrap is upstream's")]
fn part(arguments: &[Value], of: fn(&Version) -> u64) -> Result<Value, Fault> {
    match arguments {
        [Value::Version(version)] => Ok(Value::Int(of(version) as i64)),
        _ => Err(Fault::no_such_overload()),
    }
}
