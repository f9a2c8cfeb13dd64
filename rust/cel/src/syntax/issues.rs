//! What the parser finds wrong, as upstream's parser tells it.

use cel::ParseErrors;

use crate::error::{CompileError, Issues};
use crate::syntax::{awaited, tokens};

/// What the parser says of a field that has no name, of a reserved one at the start, and where it met something else.
const NO_NAME: &str = "unsupported ident kind";
const RESERVED_AFTER_DOT: &str = "reserved identifier: .";
const NAME_EXPECTED: &str = "expecting {IDENTIFIER, ESC_IDENTIFIER}";

/// The error of a text that does not parse.
pub(super) fn of(errors: &ParseErrors, source: &str) -> CompileError {
    let mut issues = Issues::default();
    let mut without_name = Vec::new();
    // What the crate adds about a node that it could not finish, upstream does not tell.
    let is_own = |message: &str| message.starts_with("Incomplete `") || message.starts_with("No `");
    for error in errors.errors.iter().filter(|error| !is_own(&error.msg) && error.msg != NO_NAME) {
        let (line, column) = error.pos;
        let (line, column) = (usize::try_from(line).unwrap_or(0), usize::try_from(column).unwrap_or(0));
        let column = match error.msg.as_str() {
            _ if source.is_empty() => 0,
            "invalid int literal" | "invalid double literal" => column - sign_before(source, line, column),
            message if message.starts_with(RESERVED_AFTER_DOT) => column - 1,
            _ => column,
        };
        issues.report_at(line, column, as_upstream(&error.msg, source, line, column));
        let in_key = || awaited::in_key(source, offset(source, line, column));
        if error.msg.ends_with(NAME_EXPECTED) && error.msg.contains("mismatched") && !in_key() {
            without_name.push((line, column));
        }
    }
    for (line, column) in without_name {
        issues.report_at(line, column, NO_NAME);
    }
    if issues.is_empty() {
        issues.report_nowhere("Syntax error: the expression is not complete");
    }
    issues.into_error(source)
}

/// A message with the tokens that were expected as upstream tells them: after a whole expression only how to end it, not each operator.
fn as_upstream(message: &str, source: &str, line: usize, column: usize) -> String {
    for literal in ["null", "true", "false"] {
        if message.ends_with(&format!("no viable alternative at input '.{literal}'")) {
            return format!("Syntax error: mismatched input '{literal}' expecting IDENTIFIER");
        }
    }
    if message.contains("no viable alternative at input") {
        return message.replace('\n', "\\n").replace('\r', "\\r").replace('\t', "\\t");
    }
    if let Some(name) = message.strip_prefix(RESERVED_AFTER_DOT) {
        return format!("reserved identifier: {name}");
    }
    match message.split_once(" expecting {") {
        Some((before, expected)) if expected.contains("'=='") => {
            let told = ["<EOF>", "':'"].into_iter().find(|token| expected.contains(token));
            let awaited = told.unwrap_or_else(|| awaited::at(source, offset(source, line, column)));
            format!("{before} expecting {awaited}")
        }
        _ => message.to_owned(),
    }
}

/// The byte where a column of a line begins.
fn offset(source: &str, line: usize, column: usize) -> usize {
    let mut rest = source;
    for _ in 1..line {
        rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
    }
    let before: usize = rest.chars().take(column.saturating_sub(1)).map(char::len_utf8).sum();
    source.len() - rest.len() + before
}

/// How far before a number its sign is, when it has one: upstream's place of a negative number is that of the sign.
fn sign_before(source: &str, line: usize, column: usize) -> usize {
    let line = source.split('\n').nth(line.saturating_sub(1)).unwrap_or("");
    let start = line.char_indices().nth(column.saturating_sub(1)).map_or(line.len(), |(start, _)| start);
    tokens::sign_before(&line[..start]).map_or(0, |sign| line[sign..start].chars().count())
}
