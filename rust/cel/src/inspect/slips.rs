//! What people write who know other languages. None of it is syntax here, so that it is looked for in the tokens.

use crate::inspect::{Slip, SlipKind, Span};
use crate::syntax::tokens::tokens;

/// The slips of `source`, in order.
pub(super) fn find(source: &str) -> Vec<Slip> {
    let mut slips = Vec::new();
    let mut from = 0;
    // What follows the mark of a comment is prose, with apostrophes in it: it must not be taken for the start of a literal.
    while let Some(line_end) = find_before_comment(source, from, &mut slips) {
        from = line_end;
    }
    slips
}

/// Adds the slips from `from` to the next comment, and tells where that ends; none where there is no more.
fn find_before_comment(source: &str, from: usize, slips: &mut Vec<Slip>) -> Option<usize> {
    let text = source.get(from..)?;
    let (mut before, mut before_end) = ("", from);
    for (place, token) in tokens(text) {
        let start = from + place;
        let slip = match (before, token) {
            (".", _) => None,
            ("==" | "!=", "=") if before_end == start => Some((SlipKind::Operator, "")),
            _ => slip(token),
        };
        (before, before_end) = (token, start + token.len());
        let Some((kind, replacement)) = slip else { continue };
        slips.push(Slip { kind, span: Span { start, end: start + token.len() }, replacement });
        if kind == SlipKind::Comment {
            return Some(source[start..].find('\n').map_or(source.len(), |length| start + length));
        }
    }
    None
}

fn slip(token: &str) -> Option<(SlipKind, &'static str)> {
    Some(match token {
        "#" => (SlipKind::Comment, "//"),
        "=" => (SlipKind::Operator, "=="),
        "&" | "and" | "AND" => (SlipKind::Operator, "&&"),
        "|" | "or" | "OR" => (SlipKind::Operator, "||"),
        "not" | "NOT" => (SlipKind::Operator, "!"),
        "“" | "”" | "„" => (SlipKind::Quote, "\""),
        "‘" | "’" => (SlipKind::Quote, "'"),
        _ => return None,
    })
}

/// `source` with blanks in place of its comments, when comments are all that is wrong with it.
pub(super) fn blank_comments(source: &str, slips: &[Slip]) -> Option<String> {
    if slips.is_empty() || slips.iter().any(|slip| slip.kind != SlipKind::Comment) {
        return None;
    }
    let mut text = String::with_capacity(source.len());
    let mut from = 0;
    for slip in slips {
        let end = source[slip.span.start..].find('\n').map_or(source.len(), |length| slip.span.start + length);
        text.push_str(&source[from..slip.span.start]);
        text.extend(std::iter::repeat_n(' ', end - slip.span.start));
        from = end;
    }
    text.push_str(&source[from..]);
    Some(text)
}
