//! The form of an expression that a missing value does not make fail.

use crate::explain::paths::{Path, is_text, paths};
use crate::syntax::tokens::tokens;

/// The expression with every read of `name` guarded: `.?name.orValue(…)`, with an empty value of the type that it is compared with. None
/// where nothing is to be guarded.
pub fn guarded(expression: &str, name: &str) -> Option<String> {
    let all: Vec<_> = tokens(expression).map(|(_, token)| token).collect();
    let is_unguarded = |path: &Path| {
        let selection = &expression[path.last..path.range.end];
        path.name == name && !selection.contains('?') && selection.len() < path.text.len()
    };
    let mut text = String::with_capacity(expression.len() + 32);
    let mut written = 0;
    for path in paths(expression).iter().filter(|path| is_unguarded(path)) {
        let selection = &expression[path.last..path.range.end];
        let (mark, rest) = selection.split_at(1);
        text.push_str(&expression[written..path.last]);
        text.push_str(mark);
        text.push('?');
        text.push_str(rest);
        for part in [".orValue(", empty_value(&all, path), ")"] {
            text.push_str(part);
        }
        written = path.range.end;
    }
    (written > 0).then(|| text + &expression[written..])
}

/// An empty value of the type that a path is used as, judged by what stands beside it.
fn empty_value(tokens: &[&str], path: &Path) -> &'static str {
    let token = |index: usize| tokens.get(index).copied().unwrap_or_default();
    let is_operator = |text: &str| matches!(text, "==" | "!=" | "<" | "<=" | ">" | ">=" | "in");
    match (token(path.after), token(path.after + 1)) {
        (".", "compareTo" | "isGreaterThan" | "isLessThan") if token(path.after + 3) == "semver" => {
            r#"semver("0.0.0")"#
        }
        (".", "compareTo" | "isGreaterThan" | "isLessThan" | "asInteger" | "sign" | "add" | "sub") => {
            r#"quantity("0")"#
        }
        (".", "major" | "minor" | "patch") => r#"semver("0.0.0")"#,
        (".", "exists" | "all" | "includes") => "[]",
        (".", _) => r#""""#,
        (operator, "[") if is_operator(operator) => empty_like(token(path.after + 2)),
        (operator, beside) if is_operator(operator) => empty_like(beside),
        _ => {
            let first = path.after.saturating_sub(path_length(path));
            match first.checked_sub(1).map(token) {
                Some(operator) if is_operator(operator) => empty_like(token(first.saturating_sub(2))),
                _ => "false",
            }
        }
    }
}

/// How many tokens a path has.
fn path_length(path: &Path) -> usize {
    crate::syntax::tokens::tokens(&path.text).count()
}

fn empty_like(literal: &str) -> &'static str {
    match literal {
        "true" | "false" => "false",
        "semver" => r#"semver("0.0.0")"#,
        "quantity" => r#"quantity("0")"#,
        text if is_text(text) => r#""""#,
        _ => "0",
    }
}

#[cfg(test)]
mod tests {
    use super::guarded;

    #[test]
    fn value_of_the_compared_type_stands_in_for_a_missing_one() {
        let a = r#"device.attributes["d"]"#;
        for (expression, expected) in [
            (format!(r#"{a}.x == "y""#), format!(r#"{a}.?x.orValue("") == "y""#)),
            (format!(r#""y" == {a}.x"#), format!(r#""y" == {a}.?x.orValue("")"#)),
            (format!("{a}.x > 3 && {a}.z == 1"), format!("{a}.?x.orValue(0) > 3 && {a}.z == 1")),
            (format!("{a}.x"), format!("{a}.?x.orValue(false)")),
            (format!(r#"{a}["x"].startsWith("y")"#), format!(r#"{a}[?"x"].orValue("").startsWith("y")"#)),
            (
                r#"device.capacity["d"].x.compareTo(quantity("1")) >= 0"#.to_owned(),
                r#"device.capacity["d"].?x.orValue(quantity("0")).compareTo(quantity("1")) >= 0"#.to_owned(),
            ),
            (
                format!(r#"{a}.x.isGreaterThan(semver("1.0.0"))"#),
                format!(r#"{a}.?x.orValue(semver("0.0.0")).isGreaterThan(semver("1.0.0"))"#),
            ),
        ] {
            assert_eq!(guarded(&expression, "x"), Some(expected));
        }
    }

    #[test]
    fn guarded_reads_and_others_stay_as_they_are() {
        assert_eq!(guarded(r#"device.attributes["d"].?x.orValue(1) == 1"#, "x"), None);
        assert_eq!(guarded(r#"device.driver == "x""#, "x"), None);
        assert_eq!(guarded(r#"device.attributes["x"].y == 1"#, "z"), None);
    }
}
