//! Regular expressions, by an engine of linear time as upstream's.

mod translate;

use std::sync::Arc;

use regex::{Regex, RegexBuilder};

use crate::cost::Cost;
use crate::error::Fault;
use crate::library::{Function, Overload, boolean, int, operands, text};
use crate::types::Type;
use crate::value::Value;

/// The most that a compiled expression may take.
const MAX_PROGRAM_BYTES: usize = 32 * 1024 * 1024;

pub(super) fn functions() -> Vec<Function> {
    let s = || Type::String;
    vec![
        Function::shared(
            "matches",
            |value| matches!(value, Value::String(_)),
            matches,
            vec![
                Overload::shared("matches", [s(), s()], Type::Bool, Cost::Matches),
                Overload::shared_member("matches_string", [s(), s()], Type::Bool, Cost::Matches),
            ],
        ),
        Function::new(
            "find",
            vec![Overload::member("string_find_string", [s(), s()], s(), Cost::Find, |arguments| {
                let [source, pattern] = operands::<2>(arguments)?;
                Ok(find(&legal(text(pattern)?)?, text(source)?))
            })],
        ),
        Function::new(
            "findAll",
            vec![
                Overload::member("string_find_all_string", [s(), s()], Type::list(s()), Cost::Find, find_all_of),
                Overload::member(
                    "string_find_all_string_int",
                    [s(), s(), Type::Int],
                    Type::list(s()),
                    Cost::Find,
                    find_all_of,
                ),
            ],
        ),
    ]
}

/// A function that takes a regular expression as second operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RegexFunction {
    Matches,
    Find,
    FindAll,
}

impl RegexFunction {
    pub(crate) fn by_name(name: &str) -> Option<Self> {
        match name {
            "matches" => Some(Self::Matches),
            "find" => Some(Self::Find),
            "findAll" => Some(Self::FindAll),
            _ => None,
        }
    }
}

/// A function with a regular expression that was compiled beforehand.
#[derive(Debug)]
pub(crate) struct ConstantRegex {
    function: RegexFunction,
    regex: Regex,
    /// The text of the expression, whose length is paid for.
    pub(crate) pattern: Value,
}

impl ConstantRegex {
    pub(crate) fn new(function: RegexFunction, pattern: &Arc<str>) -> Result<Self, String> {
        Ok(Self { function, regex: compile(pattern)?, pattern: Value::String(pattern.clone()) })
    }

    pub(crate) fn cost(&self) -> Cost {
        if self.function == RegexFunction::Matches { Cost::Matches } else { Cost::Find }
    }

    /// The result for the other operands: the text, and how many matches to find at most.
    pub(crate) fn call(&self, arguments: &[Value]) -> Result<Value, Fault> {
        match (self.function, arguments) {
            (RegexFunction::Matches, [source]) => Ok(boolean(self.regex.is_match(text(source)?))),
            (RegexFunction::Find, [source]) => Ok(find(&self.regex, text(source)?)),
            (RegexFunction::FindAll, [source]) => Ok(find_all(&self.regex, text(source)?, -1)),
            (RegexFunction::FindAll, [source, limit]) => Ok(find_all(&self.regex, text(source)?, int(limit)?)),
            _ => Err(Fault::no_such_overload()),
        }
    }
}

/// Compiles a regular expression; the error is in upstream's words.
pub(crate) fn compile(pattern: &str) -> Result<Regex, String> {
    let translated = translate::translate(pattern).map_err(|error| format!("error parsing regexp: {error}"))?;
    let built = RegexBuilder::new(&translated).size_limit(MAX_PROGRAM_BYTES).build();
    built.map_err(|_| format!("error parsing regexp: expression too large: `{pattern}`"))
}

fn legal(pattern: &str) -> Result<Regex, Fault> {
    compile(pattern).map_err(|error| Fault::failed(format!("Illegal regex: {error}")))
}

fn matches(arguments: &[Value]) -> Result<Value, Fault> {
    let [source, pattern] = operands::<2>(arguments)?;
    let regex = compile(text(pattern)?).map_err(Fault::failed)?;
    Ok(boolean(regex.is_match(text(source)?)))
}

fn find(regex: &Regex, source: &str) -> Value {
    Value::string(regex.find(source).map_or("", |found| found.as_str()))
}

fn find_all_of(arguments: &[Value]) -> Result<Value, Fault> {
    let limit = arguments.get(2).map_or(Ok(-1), int)?;
    match arguments {
        [source, pattern, ..] => Ok(find_all(&legal(text(pattern)?)?, text(source)?, limit)),
        _ => Err(Fault::no_such_overload()),
    }
}

/// At most `limit` matches, all when it is negative.
fn find_all(regex: &Regex, source: &str, limit: i64) -> Value {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    Value::list(regex.find_iter(source).take(limit).map(|found| Value::string(found.as_str())).collect())
}
