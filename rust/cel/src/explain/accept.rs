//! A part of an expression in a form that accepts what a device has.

use crate::explain::Seen;
use crate::explain::paths::{is_text, paths};
use crate::syntax::tokens::tokens;

/// A part with the only value that it compares with replaced by what a device has, and the value that was there. None where the part compares
/// with several values or with none, or where the device has nothing.
pub fn accepting(part: &str, seen: &Seen) -> Option<(String, String)> {
    let value = seen.value.as_ref()?;
    let paths = paths(part);
    let all: Vec<_> = tokens(part).collect();
    let outside = |place: usize| !paths.iter().any(|path| path.range.contains(&place));
    let constructed =
        |index: usize| index >= 2 && all[index - 1].1 == "(" && matches!(all[index - 2].1, "quantity" | "semver");
    let literals = (0..all.len()).filter(|index| outside(all[*index].0) && is_literal(all[*index].1));
    let mut literals: Vec<_> = literals.collect();
    // The number that a comparison of quantities or versions gives is compared with 0.
    if literals.iter().any(|index| constructed(*index)) {
        literals.retain(|index| constructed(*index));
    }
    let [literal] = literals[..] else { return None };
    let (place, text) = all[literal];
    let wanted = if constructed(literal) { format!("\"{value}\"") } else { value.clone() };
    if is_text(text) != is_text(&wanted) || wanted.contains('…') {
        return None;
    }
    let accepting = [&part[..place], &wanted, &part[place + text.len()..]].concat();
    let before = if constructed(literal) { text.trim_matches(['"', '\'']).to_owned() } else { text.to_owned() };
    Some((accepting, before))
}

fn is_literal(token: &str) -> bool {
    is_text(token) || token.starts_with(|first: char| first.is_ascii_digit()) || matches!(token, "true" | "false")
}

#[cfg(test)]
mod tests {
    use super::accepting;
    use crate::explain::Seen;

    fn seen(value: &str) -> Seen {
        Seen { path: String::new(), name: String::new(), value: Some(value.to_owned()) }
    }

    #[test]
    fn only_value_is_replaced() {
        for (part, value, expected, before) in [
            (
                r#"device.capacity["d"].m.compareTo(quantity("80Gi")) >= 0"#,
                "40Gi",
                r#"device.capacity["d"].m.compareTo(quantity("40Gi")) >= 0"#,
                "80Gi",
            ),
            (r#"device.attributes["d"].x == "a""#, r#""b""#, r#"device.attributes["d"].x == "b""#, r#""a""#),
            (r#"device.attributes["d"].x > 3"#, "2", r#"device.attributes["d"].x > 2"#, "3"),
        ] {
            assert_eq!(accepting(part, &seen(value)), Some((expected.to_owned(), before.to_owned())));
        }
    }

    #[test]
    fn parts_with_several_values_or_other_types_stay() {
        assert_eq!(accepting(r#"device.attributes["d"].x in ["a", "b"]"#, &seen(r#""c""#)), None);
        assert_eq!(accepting(r#"device.attributes["d"].x == "a""#, &seen("3")), None);
        assert_eq!(accepting(r#"device.attributes["d"].x"#, &seen("false")), None);
    }
}
