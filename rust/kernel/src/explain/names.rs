//! Names in a row: those that only count up are told in one.

/// Names, or series of names, that are told.
const NAMED: usize = 3;

/// Names without those that are there already.
pub(super) fn unique<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    for name in names {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

/// Names in backticks, those that only count up in one: `` `gpu-0…7`, `nic` ``.
pub(super) fn named(names: &[&str]) -> String {
    let names = unique(names.iter().copied());
    let mut texts = Vec::new();
    let mut told = 0;
    let series: Vec<_> = names.chunk_by(|one, other| follows(one, other)).collect();
    for names in &series {
        // Two names are no series: both are told.
        for names in if names.len() > 2 { vec![&names[..]] } else { names.chunks(1).collect() } {
            if texts.len() == NAMED {
                break;
            }
            told += names.len();
            texts.push(match (names.first(), names.last()) {
                (Some(first), Some(last)) if names.len() > 1 => format!("`{first}…{}`", number(last).1),
                (Some(name), _) => format!("`{name}`"),
                (None, _) => String::new(),
            });
        }
    }
    let more = names.len() - told;
    if more > 0 { format!("{} and {more} more", texts.join(", ")) } else { texts.join(", ") }
}

/// A name, and the number at its end.
fn number(name: &str) -> (&str, &str) {
    name.split_at(name.trim_end_matches(|character: char| character.is_ascii_digit()).len())
}

/// Whether a name is that before it with the next number.
fn follows(before: &str, name: &str) -> bool {
    let ((stem, before), (of, number)) = (number(before), number(name));
    let is_padded = |digits: &str| digits.len() > 1 && digits.starts_with('0');
    let alike = before.len() == number.len() || !is_padded(before) && !is_padded(number);
    let value = |digits: &str| digits.parse::<u64>().ok();
    let is_next =
        || value(before).and_then(|before| before.checked_add(1)).is_some_and(|next| value(number) == Some(next));
    stem == of && alike && is_next()
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn names_that_count_up_are_told_in_one() {
        assert_eq!(named(&["gpu-8", "gpu-9", "gpu-10", "nic"]), "`gpu-8…10`, `nic`");
        assert_eq!(named(&["c08", "c09", "c10"]), "`c08…10`");
    }

    #[test]
    fn names_that_do_not_count_up_are_told_one_by_one() {
        assert_eq!(named(&["a-0", "a-1"]), "`a-0`, `a-1`");
        assert_eq!(named(&["c9", "c010", "c11"]), "`c9`, `c010`, `c11`");
        assert_eq!(named(&["x", "y", "z", "x", "w"]), "`x`, `y`, `z` and 1 more");
    }
}
