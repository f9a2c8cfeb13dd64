//! Text as tokens, roughly: enough to see brackets, operators, and where literals end.

/// The tokens of `source` with their places in bytes, without blanks and comments.
pub(crate) fn tokens(source: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = source;
    let all = std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let place = source.len() - rest.len();
        let (token, after) = rest.split_at(token_length(rest));
        rest = after;
        Some((place, token))
    });
    all.filter(|(_, token)| !token.starts_with("//") && !token.starts_with(char::is_whitespace))
}

/// Whether a question mark after `token` begins a conditional, not an optional element.
pub(crate) fn ends_operand(token: &str) -> bool {
    matches!(token.as_bytes().last(), Some(b')' | b']' | b'}' | b'"' | b'\'' | b'`'))
        || token.bytes().next().is_some_and(is_name) && token != "in"
}

/// Where the sign of the number that follows `before` is, if it has one. Of several signs none belongs to the number: they are operators.
pub(crate) fn sign_before(before: &str) -> Option<usize> {
    let sign = before.trim_end().strip_suffix('-')?;
    let rest = sign.trim_end();
    let is_operand = |text: &str| {
        text.ends_with(|end: char| end.is_alphanumeric() || ")]}_\"'`".contains(end)) && !text.ends_with(" in")
    };
    let is_own = match rest.strip_suffix('-') {
        // Of two, the first may be the operator between two numbers.
        Some(rest) => is_operand(rest.trim_end()),
        None => !is_operand(rest),
    };
    is_own.then_some(sign.len())
}

/// The bytes of the token at the start of `text`: a literal, a comment, a name or number, or one character.
fn token_length(text: &str) -> usize {
    if text.starts_with("//") {
        return text.find('\n').unwrap_or(text.len());
    }
    if let Some(length) = string_length(text) {
        return length;
    }
    let first = text.chars().next().map_or(1, char::len_utf8);
    if is_name(text.as_bytes()[0]) {
        return text.bytes().position(|byte| !is_name(byte)).unwrap_or(text.len());
    }
    ["==", "!=", "<=", ">=", "&&", "||"]
        .iter()
        .find(|operator| text.starts_with(**operator))
        .map_or(first, |operator| operator.len())
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The bytes of the string literal at the start of `text`, to the end of the text when it is not closed.
fn string_length(text: &str) -> Option<usize> {
    let prefix = text.bytes().take(2).take_while(|byte| b"rRbB".contains(byte)).count();
    let body = &text[prefix..];
    let raw = text[..prefix].contains(['r', 'R']);
    let quote = ["\"\"\"", "'''", "\"", "'", "`"].into_iter().find(|quote| body.starts_with(quote))?;
    if quote == "`" && prefix > 0 {
        return None;
    }
    let mut position = quote.len();
    while position < body.len() {
        let rest = &body.as_bytes()[position..];
        if rest.starts_with(quote.as_bytes()) {
            return Some(prefix + position + quote.len());
        }
        if quote.len() == 1 && rest[0] == b'\n' {
            break;
        }
        position += if rest[0] == b'\\' && !raw { 2 } else { 1 };
    }
    // A literal that does not end is an error of one character to the parser.
    Some((prefix + position.min(body.len())).max(1)).map(|length| floor_boundary(text, length))
}

fn floor_boundary(text: &str, mut length: usize) -> usize {
    while !text.is_char_boundary(length) {
        length += 1;
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_and_comments_are_whole() {
        for (source, expected) in [
            ("a.b1 >= 2 // c && d", vec!["a", ".", "b1", ">=", "2"]),
            (r#"r"\" + "\"(" "#, vec![r#"r"\""#, "+", r#""\"(""#]),
            ("'''x'\n'y''' != b'e'", vec!["'''x'\n'y'''", "!=", "b'e'"]),
            ("a.`b c`[1]", vec!["a", ".", "`b c`", "[", "1", "]"]),
        ] {
            let found: Vec<&str> = tokens(source).map(|(_, token)| token).collect();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn any_text_has_tokens() {
        for text in ["\"", "'''a", "r\"\\", "b'", ")))", "é`", "\"\\é", "?:?:", "\\"] {
            assert_ne!(tokens(text).count(), 0, "{text}");
        }
    }
}
