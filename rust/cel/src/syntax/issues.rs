//! What the parser finds wrong, as upstream's parser tells it.

use cel::ParseErrors;

use crate::error::{CompileError, Issues};

/// The error of a text that does not parse.
pub(super) fn of(errors: &ParseErrors, source: &str) -> CompileError {
    let mut issues = Issues::default();
    // What the crate adds about a node that it could not finish, upstream does not tell.
    for error in errors.errors.iter().filter(|error| !error.msg.starts_with("Incomplete `")) {
        let (line, column) = error.pos;
        let (line, column) = (usize::try_from(line).unwrap_or(0), usize::try_from(column).unwrap_or(0));
        let column = if is_number(&error.msg) { column - sign_before(source, line, column) } else { column };
        issues.report_at(line, column, as_upstream(&error.msg));
    }
    if issues.is_empty() {
        issues.report_nowhere("Syntax error: the expression is not complete");
    }
    issues.into_error(source)
}

/// A message with the tokens that were expected as upstream tells them: after a whole expression only how to go on, not each operator.
fn as_upstream(message: &str) -> String {
    let Some((before, expected)) = message.split_once(" expecting {") else { return message.to_owned() };
    let next = ["<EOF>", "':'"].into_iter().find(|token| expected.contains(token));
    match next {
        Some(token) if expected.contains("'=='") => format!("{before} expecting {token}"),
        _ => message.to_owned(),
    }
}

fn is_number(message: &str) -> bool {
    matches!(message, "invalid int literal" | "invalid double literal")
}

/// How far before a number its sign is, when it has one: upstream's place of a negative number is that of the sign.
fn sign_before(source: &str, line: usize, column: usize) -> usize {
    let line = source.split('\n').nth(line.saturating_sub(1)).unwrap_or("");
    let before: Vec<char> = line.chars().take(column.saturating_sub(1)).collect();
    let blanks = before.iter().rev().take_while(|character| character.is_whitespace()).count();
    let mut rest = before.iter().rev().skip(blanks);
    let is_minus = rest.next() == Some(&'-');
    let operand = rest.find(|character| !character.is_whitespace());
    let is_binary = operand.is_some_and(|character| character.is_alphanumeric() || ")]}_\"'`".contains(*character));
    if is_minus && !is_binary { blanks + 1 } else { 0 }
}
