//! Measures text before it is parsed: how deep expressions nest, and how deep the parser may recurse.

use crate::syntax::tokens::{ends_operand, tokens};

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
    let mut after_operand = false;
    let mut open_branches = 0;
    for (_, token) in tokens(source) {
        let is_nested = levels.len() > 1;
        let Some(level) = levels.last_mut() else { break };
        match token.chars().next().unwrap_or(' ') {
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

fn is_chained(token: &str) -> bool {
    matches!(token, "." | "+" | "-" | "*" | "/" | "%" | "==" | "!=" | "<" | ">" | "<=" | ">=" | "in")
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
