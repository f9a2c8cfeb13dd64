//! How large values are: parts may be shared, so that little memory can hold what takes ages to walk over.

use crate::error::{Fault, RuntimeError};
use crate::value::{Map, Value};

/// Bytes of a text that are as much work as one other value.
const BYTES_PER_PART: usize = 64;
/// The most levels that values may nest, so that walks over them may recurse; also the most that the text of an expression may nest.
const MAX_DEPTH: usize = 250;

/// How large a value is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    /// How many parts a walk over the value meets.
    pub(crate) parts: usize,
    /// How many levels are inside each other.
    pub(crate) depth: usize,
}

impl Extent {
    /// That of a value without parts.
    pub(crate) const ONE: Self = Self { parts: 1, depth: 0 };

    /// That of a container with one more part.
    pub(crate) fn around(self, part: &Value) -> Self {
        self.inside(part.extent())
    }

    /// The same, by the extent of the part.
    pub(crate) fn inside(self, part: Self) -> Self {
        self.and(Self { depth: part.depth + 1, ..part })
    }

    /// That of a container with the parts of two.
    pub(crate) fn and(self, other: Self) -> Self {
        Self { parts: self.parts.saturating_add(other.parts), depth: self.depth.max(other.depth) }
    }
}

impl Value {
    /// How large the value is.
    #[inline]
    pub(crate) fn extent(&self) -> Extent {
        match self {
            Self::String(text) => of_bytes(text.len()),
            Self::Bytes(bytes) => of_bytes(bytes.len()),
            Self::List(list) => list.extent(),
            Self::Map(map) => map.extent(),
            Self::Optional(Some(value)) => Extent::ONE.around(value),
            _ => Extent::ONE,
        }
    }

    /// Refuses a value that nests too deeply.
    #[inline]
    pub(crate) fn check_depth(&self) -> Result<(), Fault> {
        match self {
            Self::List(_) | Self::Map(_) | Self::Optional(Some(_)) if self.extent().depth > MAX_DEPTH => {
                Err(Fault::new(RuntimeError::SizeLimit))
            }
            _ => Ok(()),
        }
    }
}

impl Map {
    fn extent(&self) -> Extent {
        match self {
            Self::Entries(entries) => entries.extent(),
            Self::Device(device) => device.attributes.extent().and(device.capacity.extent()),
            Self::Domains(domains) => domains.extent(),
            Self::Names(names) => names.extent(),
        }
    }
}

fn of_bytes(length: usize) -> Extent {
    Extent { parts: 1 + length / BYTES_PER_PART, depth: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_parts_count_each_time() {
        let mut value = Value::list(vec![Value::Int(1), Value::string("a")]);
        assert_eq!(value.extent(), Extent { parts: 3, depth: 1 });
        for _ in 0..100 {
            value = Value::list(vec![value.clone(), value]);
        }
        assert_eq!(value.extent(), Extent { parts: usize::MAX, depth: 101 });
        assert_eq!(Value::some(value).extent(), Extent { parts: usize::MAX, depth: 102 });
    }

    #[test]
    fn long_texts_are_more_than_one_part() {
        assert_eq!(Value::string("a".repeat(640)).extent().parts, 11);
    }
}
