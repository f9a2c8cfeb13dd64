//! Sets of devices of one pool, by position.

use smallvec::{SmallVec, smallvec};

const WORD: usize = u64::BITS as usize;

/// A set of positions below a length that is fixed when it is made. Pools of up to 128 devices need no heap.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct DeviceSet {
    words: SmallVec<[u64; 2]>,
}

impl DeviceSet {
    /// The empty set for positions below `length`.
    pub(crate) fn empty(length: usize) -> Self {
        Self { words: smallvec![0; length.div_ceil(WORD)] }
    }

    /// Adds a position below the length.
    pub(crate) fn insert(&mut self, position: usize) {
        if let Some(word) = self.words.get_mut(position / WORD) {
            *word |= 1 << (position % WORD);
        }
    }

    /// Whether a position is in the set.
    pub(crate) fn contains(&self, position: usize) -> bool {
        self.words.get(position / WORD).is_some_and(|word| word & (1 << (position % WORD)) != 0)
    }
}

/// The first position from `start` that is in `wanted` or `also`, and not in `without`. The three sets have one length.
pub(crate) fn first_candidate(
    start: usize,
    wanted: &DeviceSet,
    also: &DeviceSet,
    without: Option<&DeviceSet>,
) -> Option<usize> {
    first_from(start, wanted.words.len(), |index| {
        let word = wanted.words[index] | also.words.get(index).copied().unwrap_or_default();
        word & !without.and_then(|set| set.words.get(index).copied()).unwrap_or_default()
    })
}

fn first_from(start: usize, words: usize, word: impl Fn(usize) -> u64) -> Option<usize> {
    let mut index = start / WORD;
    let mut mask = u64::MAX << (start % WORD);
    while index < words {
        let bits = word(index) & mask;
        if bits != 0 {
            return Some(index * WORD + bits.trailing_zeros() as usize);
        }
        mask = u64::MAX;
        index += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{DeviceSet, first_candidate};

    #[test]
    fn candidate_is_found_across_words_and_held_devices_are_passed() {
        let mut wanted = DeviceSet::empty(150);
        let mut held = DeviceSet::empty(150);
        for position in [3, 70, 149] {
            wanted.insert(position);
        }
        held.insert(70);
        let none = DeviceSet::empty(150);
        assert_eq!(first_candidate(0, &wanted, &none, Some(&held)), Some(3));
        assert_eq!(first_candidate(4, &wanted, &none, Some(&held)), Some(149));
        assert_eq!(first_candidate(4, &wanted, &none, None), Some(70));
        assert_eq!(first_candidate(150, &wanted, &none, None), None);
    }
}
