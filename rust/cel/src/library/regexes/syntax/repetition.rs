//! How often something is repeated.

use super::refusal;

/// How often the innermost of nested counted repetitions may be repeated in all.
const MAX_REPEAT: u32 = 1_000;

/// An operator of repetition.
#[derive(Debug, Clone, Copy)]
pub(super) struct Repetition {
    pub(super) least: u32,
    pub(super) most: Option<u32>,
    /// Whether it is written with numbers.
    is_counted: bool,
    /// The length in the pattern.
    pub(super) bytes: usize,
}

impl Repetition {
    /// How often in all what is inside is repeated that counts repeat `inner` times; none when that is too often.
    pub(super) fn repeats(self, inner: u32) -> Option<u32> {
        let count = self.most.unwrap_or(self.least);
        match count {
            _ if !self.is_counted => Some(inner),
            0 if self.most.is_some() => Some(1),
            0 | 1 => Some(inner),
            _ => Some(inner.saturating_mul(count)).filter(|repeats| *repeats <= MAX_REPEAT),
        }
    }
}

/// The repetition that `text` begins with.
pub(super) fn repetition_at(text: &str) -> Result<Option<Repetition>, String> {
    let simple = |least, most| Some(Repetition { least, most, is_counted: false, bytes: 1 });
    match text.bytes().next() {
        Some(b'*') => Ok(simple(0, None)),
        Some(b'+') => Ok(simple(1, None)),
        Some(b'?') => Ok(simple(0, Some(1))),
        Some(b'{') => counted(text),
        _ => Ok(None),
    }
}

/// Reads `{2}`, `{2,}` or `{2,5}`; what only begins so is literal.
fn counted(text: &str) -> Result<Option<Repetition>, String> {
    let Some(end) = text.find('}') else { return Ok(None) };
    let inside = text.get(1..end).unwrap_or("");
    let (least, most) = inside
        .split_once(',')
        .map_or((inside, Some(inside)), |(least, most)| (least, Some(most).filter(|most| !most.is_empty())));
    let is_number = |digits: &str| {
        !digits.is_empty()
            && digits.bytes().all(|byte| byte.is_ascii_digit())
            && (digits.len() == 1 || !digits.starts_with('0'))
    };
    if !is_number(least) || !most.is_none_or(is_number) {
        return Ok(None);
    }
    let number = |digits: &str| digits.parse().ok().filter(|number| *number <= MAX_REPEAT);
    let refused = || refusal("invalid repeat count", text.get(..=end).unwrap_or(""));
    let least = number(least).ok_or_else(refused)?;
    let most = most.map(|most| number(most).filter(|most| *most >= least).ok_or_else(refused)).transpose()?;
    Ok(Some(Repetition { least, most, is_counted: true, bytes: end + 1 }))
}
