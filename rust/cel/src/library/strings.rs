//! Texts: search, split, replace, and the like. Positions count characters.

use std::sync::Arc;

use crate::cost::{Cost, Growth};
use crate::error::Fault;
use crate::library::operators::{check_list, check_text};
use crate::library::{Function, Implementation, Overload, boolean, int, list, operands, text, text_format};
use crate::types::Type;
use crate::value::Value;

#[expect(clippy::too_many_lines, reason = "a table: one entry a function")]
pub(super) fn functions() -> Vec<Function> {
    let s = || Type::String;
    let i = || Type::Int;
    let strings = || Type::list(Type::String);
    vec![
        Function::new(
            "contains",
            vec![text_test("contains_string", Cost::ContainsText, |arguments| {
                test(arguments, |text, part| text.contains(part))
            })],
        ),
        Function::new(
            "endsWith",
            vec![text_test("ends_with_string", Cost::Affix, |arguments| {
                test(arguments, |text, part| text.ends_with(part))
            })],
        ),
        Function::new(
            "startsWith",
            vec![text_test("starts_with_string", Cost::Affix, |arguments| {
                test(arguments, |text, part| text.starts_with(part))
            })],
        ),
        Function::new("charAt", vec![Overload::member("string_char_at_int", [s(), i()], s(), Cost::One, char_at)]),
        Function::new(
            "indexOf",
            vec![
                Overload::member("string_index_of_string", [s(), s()], i(), Cost::Traverse, index_of),
                Overload::member("string_index_of_string_int", [s(), s(), i()], i(), Cost::Traverse, index_of),
            ],
        ),
        Function::new(
            "lastIndexOf",
            vec![
                Overload::member("string_last_index_of_string", [s(), s()], i(), Cost::Traverse, last_index_of),
                Overload::member(
                    "string_last_index_of_string_int",
                    [s(), s(), i()],
                    i(),
                    Cost::Traverse,
                    last_index_of,
                ),
            ],
        ),
        Function::new(
            "lowerAscii",
            vec![Overload::member("string_lower_ascii", [s()], s(), Cost::Transform, |arguments| {
                transform(arguments, str::to_ascii_lowercase)
            })],
        ),
        Function::new(
            "replace",
            vec![
                Overload::member("string_replace_string_string", [s(), s(), s()], s(), Cost::Replace, replace),
                Overload::member("string_replace_string_string_int", [s(), s(), s(), i()], s(), Cost::Replace, replace),
            ],
        ),
        Function::new(
            "split",
            vec![
                Overload::member("string_split_string", [s(), s()], strings(), Cost::Split, split),
                Overload::member("string_split_string_int", [s(), s(), i()], strings(), Cost::Split, split),
            ],
        ),
        Function::new(
            "substring",
            vec![
                Overload::member("string_substring_int", [s(), i()], s(), Cost::Transform, substring),
                Overload::member("string_substring_int_int", [s(), i(), i()], s(), Cost::Transform, substring),
            ],
        ),
        Function::new(
            "trim",
            vec![Overload::member("string_trim", [s()], s(), Cost::Transform, |arguments| {
                transform(arguments, |text| text.trim().to_owned())
            })],
        ),
        Function::new(
            "upperAscii",
            vec![Overload::member("string_upper_ascii", [s()], s(), Cost::Transform, |arguments| {
                transform(arguments, str::to_ascii_uppercase)
            })],
        ),
        Function::new(
            "format",
            vec![
                Overload::member(
                    "string_format",
                    [s(), Type::list(Type::Dyn)],
                    s(),
                    Cost::FormatText,
                    text_format::format,
                )
                .variadic(),
            ],
        ),
        Function::new(
            "strings.quote",
            vec![Overload::global("strings_quote", [s()], s(), Cost::ScanArgument(Growth::Quoted), |arguments| {
                transform(arguments, quote)
            })],
        ),
        Function::new(
            "join",
            vec![
                Overload::member("list_join", [strings()], s(), Cost::Join, join),
                Overload::member("list_join_string", [strings(), s()], s(), Cost::Join, join),
            ],
        ),
    ]
}

fn text_test(id: &'static str, cost: Cost, call: Implementation) -> Overload {
    Overload::member(id, [Type::String, Type::String], Type::Bool, cost, call).unguarded()
}

fn test(arguments: &[Value], holds: fn(&str, &str) -> bool) -> Result<Value, Fault> {
    let [source, part] = operands::<2>(arguments)?;
    Ok(boolean(holds(text(source)?, text(part)?)))
}

fn transform(arguments: &[Value], change: fn(&str) -> String) -> Result<Value, Fault> {
    let [source] = operands::<1>(arguments)?;
    Ok(Value::string(change(text(source)?)))
}

fn out_of_range(index: i64) -> Fault {
    Fault::failed(format!("index out of range: {index}"))
}

fn char_at(arguments: &[Value]) -> Result<Value, Fault> {
    let [source, index] = operands::<2>(arguments)?;
    let (source, index) = (text(source)?, int(index)?);
    let length = source.chars().count();
    match usize::try_from(index) {
        Ok(position) if position <= length => {
            Ok(Value::string(source.chars().skip(position).take(1).collect::<String>()))
        }
        _ => Err(out_of_range(index)),
    }
}

/// The offset that the third operand gives.
fn offset(arguments: &[Value]) -> Result<Option<usize>, Fault> {
    let Some(offset) = arguments.get(2) else { return Ok(None) };
    let offset = int(offset)?;
    usize::try_from(offset).map(Some).map_err(|_| out_of_range(offset))
}

fn position(found: Option<usize>) -> Value {
    Value::Int(found.and_then(|index| i64::try_from(index).ok()).unwrap_or(-1))
}

fn index_of(arguments: &[Value]) -> Result<Value, Fault> {
    let offset = offset(arguments)?.unwrap_or(0);
    let [source, part, ..] = arguments else { return Err(Fault::no_such_overload()) };
    let (source, part) = (text(source)?, text(part)?);
    let length = source.chars().count();
    if part.is_empty() {
        return Ok(position(Some(offset.min(length))));
    }
    let start = byte_at(source, offset);
    let found = source[start..].find(part.as_ref()).map(|index| offset + source[start..start + index].chars().count());
    Ok(position(found.filter(|_| offset < length)))
}

fn last_index_of(arguments: &[Value]) -> Result<Value, Fault> {
    let offset = offset(arguments)?;
    let [source, part, ..] = arguments else { return Err(Fault::no_such_overload()) };
    let (source, part) = (text(source)?, text(part)?);
    let length = source.chars().count();
    if part.is_empty() {
        return Ok(position(Some(offset.unwrap_or(length).min(length))));
    }
    let last = match offset {
        // Upstream finds nothing when it starts at the end or after it.
        Some(offset) if offset >= length => return Ok(Value::Int(-1)),
        Some(offset) => offset,
        None if length == 0 => {
            return if part.len() > source.len() { Ok(Value::Int(-1)) } else { Err(out_of_range(-1)) };
        }
        None => length - 1,
    };
    let end = (byte_at(source, last) + part.len()).min(source.len());
    let found = source.get(..ceiling(source, end)).unwrap_or(source).rfind(part.as_ref());
    Ok(position(found.map(|index| source[..index].chars().count())))
}

/// The byte where the character `index` begins; the end when there is none.
fn byte_at(source: &str, index: usize) -> usize {
    source.char_indices().nth(index).map_or(source.len(), |(position, _)| position)
}

/// The next place that does not cut a character.
fn ceiling(source: &str, mut position: usize) -> usize {
    while !source.is_char_boundary(position) {
        position += 1;
    }
    position
}

fn replace(arguments: &[Value]) -> Result<Value, Fault> {
    let limit = arguments.get(3).map_or(Ok(-1), int)?;
    let [source, old, new, ..] = arguments else { return Err(Fault::no_such_overload()) };
    let (source, old, new) = (text(source)?, text(old)?, text(new)?);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let count =
        if old.is_empty() { source.chars().count() + 1 } else { source.matches(old.as_ref()).count() }.min(limit);
    check_text(source.len().saturating_add(count.saturating_mul(new.len())))?;
    Ok(Value::string(source.replacen(old.as_ref(), new, limit)))
}

fn split(arguments: &[Value]) -> Result<Value, Fault> {
    let limit = arguments.get(2).map_or(Ok(-1), int)?;
    let [source, separator, ..] = arguments else { return Err(Fault::no_such_overload()) };
    let (source, separator) = (text(source)?, text(separator)?);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let parts: Vec<Value> = if limit == 0 {
        Vec::new()
    } else if separator.is_empty() {
        characters(source, limit)
    } else {
        source.splitn(limit, separator.as_ref()).map(Value::string).collect()
    };
    check_list(parts.len())?;
    Ok(Value::list(parts))
}

/// At most `limit` pieces of one character each, the last with the rest.
fn characters(source: &str, limit: usize) -> Vec<Value> {
    let mut pieces = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        if pieces.len() + 1 == limit {
            pieces.push(Value::string(rest));
            return pieces;
        }
        let (piece, after) = rest.split_at(first.len_utf8());
        pieces.push(Value::string(piece));
        rest = after;
    }
    pieces
}

fn substring(arguments: &[Value]) -> Result<Value, Fault> {
    let [source, start, ..] = arguments else { return Err(Fault::no_such_overload()) };
    let (source, start) = (text(source)?, int(start)?);
    let length = source.chars().count();
    let in_range =
        |index: i64| usize::try_from(index).ok().filter(|index| *index <= length).ok_or_else(|| out_of_range(index));
    let end = match arguments.get(2) {
        None => length,
        Some(end) => {
            let end = int(end)?;
            if start > end {
                return Err(Fault::failed(format!("invalid substring range. start: {start}, end: {end}")));
            }
            in_range(start)?;
            in_range(end)?
        }
    };
    let start = in_range(start)?;
    Ok(Value::string(source.chars().skip(start).take(end - start).collect::<String>()))
}

fn join(arguments: &[Value]) -> Result<Value, Fault> {
    let separator: &str = arguments.get(1).map_or(Ok(""), |separator| text(separator).map(Arc::as_ref))?;
    let elements = list(arguments.first().ok_or_else(Fault::no_such_overload)?)?;
    let mut joined = String::new();
    for (index, element) in elements.iter().enumerate() {
        if index > 0 {
            joined.push_str(separator);
        }
        match element {
            Value::String(text) => joined.push_str(text),
            other => return Err(Fault::failed(format!("join: invalid input: {other}"))),
        }
        check_text(joined.len())?;
    }
    Ok(Value::string(joined))
}

fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        let escape = match character {
            '\u{7}' => "\\a",
            '\u{8}' => "\\b",
            '\u{c}' => "\\f",
            '\n' => "\\n",
            '\r' => "\\r",
            '\t' => "\\t",
            '\u{b}' => "\\v",
            '\\' => "\\\\",
            '"' => "\\\"",
            other => {
                quoted.push(other);
                continue;
            }
        };
        quoted.push_str(escape);
    }
    quoted.push('"');
    quoted
}
