//! What upstream's parser waits for at a place of a text.

use crate::syntax::tokens::{ends_operand, tokens};

/// What is open at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Parenthesis,
    Bracket,
    /// A map or message, before the colon of an entry.
    Key,
    /// The same, after the colon.
    Entry,
    Conditional,
}

/// The token that would end what is open before `end`: a bracket, a conditional, or the whole text.
pub(super) fn at(source: &str, end: usize) -> &'static str {
    match open(source, end).last() {
        Some(Open::Parenthesis) => "')'",
        Some(Open::Bracket) => "']'",
        Some(Open::Key | Open::Conditional) => "':'",
        Some(Open::Entry) => "'}'",
        None => "<EOF>",
    }
}

/// Whether the place `end` is part of a key.
pub(super) fn in_key(source: &str, end: usize) -> bool {
    open(source, end).contains(&Open::Key)
}

fn open(source: &str, end: usize) -> Vec<Open> {
    let mut open = Vec::new();
    let mut after_operand = false;
    for (_, token) in tokens(source).take_while(|(place, _)| *place < end) {
        match (token, open.last()) {
            ("(", _) => open.push(Open::Parenthesis),
            ("[", _) => open.push(Open::Bracket),
            ("{", _) => open.push(Open::Key),
            ("?", _) if after_operand => open.push(Open::Conditional),
            (")" | "]" | "}", _) => while open.pop() == Some(Open::Conditional) {},
            (":", Some(Open::Conditional)) => drop(open.pop()),
            (":", Some(Open::Key)) => replace_last(&mut open, Open::Entry),
            (",", Some(Open::Entry)) => replace_last(&mut open, Open::Key),
            _ => {}
        }
        after_operand = ends_operand(token);
    }
    open
}

fn replace_last(open: &mut Vec<Open>, new: Open) {
    open.pop();
    open.push(new);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_open_part_is_awaited() {
        for (source, expected) in [
            ("a", "<EOF>"),
            ("(a", "')'"),
            ("f(a[0]", "')'"),
            ("a[(b)", "']'"),
            ("{(a)", "':'"),
            ("a ? b", "':'"),
            ("a ? b : c", "<EOF>"),
            ("(a ? b : c", "')'"),
            ("(a ? b)", "<EOF>"),
            ("[?a", "']'"),
            ("f(\"(\") // [", "<EOF>"),
            ("{a: b", "'}'"),
            ("{a: b, c", "':'"),
        ] {
            assert_eq!(at(source, source.len()), expected, "{source}");
        }
    }

    #[test]
    fn keys_end_at_their_colon() {
        for (source, expected) in [("{a", true), ("{[a", true), ("{a: b", false), ("{a: b, c", true), ("[a", false)] {
            assert_eq!(in_key(source, source.len()), expected, "{source}");
        }
    }
}
