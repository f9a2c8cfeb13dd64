//! Measures text before it is parsed: how deep expressions nest, and how deep the parser may recurse.

/// The deepest recursion that is left to the parser; more is refused unseen. Upstream's own limit is checked on the tree.
pub(super) const MAX_PARSED_DEPTH: usize = 5_000;

/// What text may do to a recursive parser.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Measure {
    /// Expressions inside expressions, exactly as upstream counts them; 1 for the outermost.
    pub(super) nesting: usize,
    /// No tree of the text is deeper.
    pub(super) depth: usize,
}

/// An open bracket, or the whole text.
#[derive(Default)]
struct Level {
    /// Conditionals whose last branch is still open: each nests one deeper.
    branches: usize,
    /// Question marks that wait for their colon.
    conditions: usize,
    /// Operators and selections since the last separator.
    chain: usize,
    /// The deepest of what has been read at this level.
    deepest: usize,
}

impl Level {
    fn separate(&mut self) {
        self.deepest = self.depth();
        self.chain = 0;
    }

    fn depth(&self) -> usize {
        self.deepest.max(self.chain)
    }
}

/// Measures `source` in one pass without recursion.
pub(super) fn measure(source: &str) -> Measure {
    let mut levels = vec![Level::default()];
    let mut measure = Measure { nesting: 1, depth: 0 };
    let mut rest = source;
    let mut after_operand = false;
    let mut open_branches = 0;
    while let Some(character) = rest.chars().next() {
        let length = token_length(rest);
        let token = &rest[..length];
        rest = &rest[length..];
        let is_nested = levels.len() > 1;
        let Some(level) = levels.last_mut() else { break };
        match character {
            _ if character.is_whitespace() || token.starts_with("//") => continue,
            '(' | '[' | '{' => {
                level.chain += 1;
                levels.push(Level::default());
            }
            ')' | ']' | '}' if is_nested => close(&mut levels, &mut open_branches),
            ',' => {
                level.separate();
                open_branches -= std::mem::take(&mut level.branches);
            }
            '&' | '|' => level.separate(),
            '?' if after_operand => {
                level.conditions += 1;
                level.chain += 1;
            }
            ':' if level.conditions > 0 => {
                level.conditions -= 1;
                level.branches += 1;
                open_branches += 1;
            }
            '.' | '+' | '-' | '*' | '/' | '%' | '=' | '!' | '<' | '>' | 'i' if is_chained(token) => level.chain += 1,
            _ => {}
        }
        after_operand = ends_operand(token);
        measure.nesting = measure.nesting.max(levels.len() + open_branches);
    }
    while levels.len() > 1 {
        close(&mut levels, &mut open_branches);
    }
    measure.depth = levels.first().map_or(0, Level::depth);
    measure
}

/// Ends the innermost bracket: what is around it becomes as deep as what was in it.
fn close(levels: &mut Vec<Level>, open_branches: &mut usize) {
    if let (Some(inner), Some(outer)) = (levels.pop(), levels.last_mut()) {
        *open_branches -= inner.branches;
        outer.chain += inner.depth();
    }
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

fn is_chained(token: &str) -> bool {
    matches!(token, "." | "+" | "-" | "*" | "/" | "%" | "==" | "!=" | "<" | ">" | "<=" | ">=" | "in")
}

/// Whether a question mark after `token` begins a conditional, not an optional element.
fn ends_operand(token: &str) -> bool {
    matches!(token.as_bytes().last(), Some(b')' | b']' | b'}' | b'"' | b'\'' | b'`'))
        || token.bytes().next().is_some_and(is_name) && token != "in"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_and_last_branches_nest() {
        for (text, nesting) in [
            ("1", 1),
            ("((1))", 3),
            ("[{1: 2}]", 3),
            ("a ? b : c ? d : e", 3),
            ("f(a ? b : c, d)", 3),
            ("[?a, x[?b]]", 3),
            ("\"(((\" // ((", 1),
        ] {
            assert_eq!(measure(text).nesting, nesting, "{text}");
        }
    }

    #[test]
    fn chains_deepen_and_separators_reset() {
        for (text, depth) in [("a.b.c", 2), ("a.b && c.d", 1), ("a + b + c", 2), ("(a.b).c + 1", 4), ("f(a.b, c.d)", 2)]
        {
            assert_eq!(measure(text).depth, depth, "{text}");
        }
    }

    #[test]
    fn any_text_is_measured() {
        for text in ["\"", "'''a", "r\"\\", "b'", ")))", "é`", "\"\\é", "?:?:", "\\"] {
            measure(text);
        }
    }
}
