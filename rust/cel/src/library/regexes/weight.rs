//! How much work regular expressions are, roughly: upstream does not charge for counts, which multiply what an expression is made of.

/// Units of work that go into compiling one state.
const UNITS_PER_STATE: usize = 4;
/// Steps from state to state that make one unit of work.
const STEPS_PER_UNIT: usize = 256;
/// How many states a class of Unicode may have.
const STATES_PER_CLASS: usize = 64;
/// The most that counts within each other may multiply to.
const MAX_REPEATS: usize = 1_000;

/// What the constant expressions of one CEL expression may still have as states together.
pub(crate) struct Allowance {
    states: usize,
}

impl Allowance {
    pub(crate) const FULL: Self = Self { states: 4_000_000 };

    /// Whether `pattern` is still allowed.
    pub(crate) fn take(&mut self, pattern: &str) -> bool {
        let rest = self.states.checked_sub(states(pattern));
        self.states = rest.unwrap_or(0);
        rest.is_some()
    }
}

/// The work of compiling an expression of so many states.
pub(crate) fn of_compiling(states: usize) -> usize {
    states.saturating_mul(UNITS_PER_STATE)
}

/// The work of searching a text of `length` bytes for an expression of so many states.
pub(crate) fn of_searching(states: usize, length: usize) -> usize {
    states.saturating_mul(length + 1) / STEPS_PER_UNIT
}

/// A bound, rarely reached, of the states of an expression's automaton.
pub(crate) fn states(pattern: &str) -> usize {
    let mut repeats: usize = 1;
    for part in pattern.split('{').skip(1) {
        let counts = part.split('}').next().unwrap_or("");
        let most = counts.split(',').filter_map(|count| count.parse().ok()).max().unwrap_or(1);
        repeats = repeats.saturating_mul(most.max(1)).min(MAX_REPEATS);
    }
    let classes = if pattern.contains("\\p") || pattern.contains("\\P") { STATES_PER_CLASS } else { 1 };
    pattern.len().saturating_mul(repeats).saturating_mul(classes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_classes_multiply_states() {
        for (pattern, expected) in [
            ("abc", 3),
            ("a{3}", 12),
            ("a{,3}", 15),
            ("a{3,}b{2}", 54),
            ("(a{100}){100}", 13_000),
            ("\\pL{2}", 768),
            ("{x}", 3),
        ] {
            assert_eq!(states(pattern), expected, "{pattern}");
        }
    }
}
