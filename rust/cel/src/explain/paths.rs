//! The values of `device` that an expression reads, as it writes them.

use std::ops::Range;

use crate::syntax::tokens::tokens;

/// `device` and the names selected from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Path {
    /// Where it stands, in bytes.
    pub(super) range: Range<usize>,
    /// The first token after it, by position.
    pub(super) after: usize,
    pub(super) text: String,
    /// The last name, without quotes.
    pub(super) name: String,
    /// Where the last selection begins: at its dot or bracket.
    pub(super) last: usize,
}

/// All such values in `text`, in order.
pub(super) fn paths(text: &str) -> Vec<Path> {
    let tokens: Vec<_> = tokens(text).collect();
    let token = |index: usize| tokens.get(index).map_or("", |(_, token)| *token);
    let mut paths = Vec::new();
    let mut index = 0;
    while index < tokens.len() {
        let start = index;
        index += 1;
        if token(start) != "device" || start > 0 && token(start - 1) == "." {
            continue;
        }
        let mut last = None;
        loop {
            let optional = usize::from(token(index + 1) == "?");
            let name = token(index + 1 + optional);
            let length = match token(index) {
                // A name before a bracket is that of a method.
                "." if is_name(name) && token(index + 2 + optional) != "(" => 2 + optional,
                "[" if is_text(name) && token(index + 2 + optional) == "]" => 3 + optional,
                _ => break,
            };
            last = Some((index, name.trim_matches(['"', '\'', '`'])));
            index += length;
        }
        if let Some((last, name)) = last {
            let (end, end_token) = tokens[index - 1];
            let range = tokens[start].0..end + end_token.len();
            let (text, name) = (text[range.clone()].to_owned(), name.to_owned());
            paths.push(Path { range, after: index, text, name, last: tokens[last].0 });
        }
    }
    paths
}

fn is_name(token: &str) -> bool {
    token.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_' || first == '`') && !is_text(token)
}

pub(super) fn is_text(token: &str) -> bool {
    token.ends_with(['"', '\''])
}

#[cfg(test)]
mod tests {
    use super::paths;

    #[test]
    fn paths_end_before_methods() {
        let text =
            r#"device.attributes["d"].?x.orValue(1) == 1 || device.capacity["d"].memory.compareTo(y.device) > 0"#;
        let found: Vec<_> = paths(text).into_iter().map(|path| (path.text, path.name)).collect();
        assert_eq!(
            found,
            [
                (r#"device.attributes["d"].?x"#.to_owned(), "x".to_owned()),
                (r#"device.capacity["d"].memory"#.to_owned(), "memory".to_owned())
            ]
        );
    }
}
