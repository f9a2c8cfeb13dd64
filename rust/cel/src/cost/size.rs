//! Ranges of sizes and costs, and how large the parts of a device may be.

use crate::cost::TEXT;
use crate::types::Type;

/// The least and the most that something may be. Nothing overflows: the largest number stands for any beyond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) min: u64,
    pub(crate) max: u64,
}

impl Range {
    /// Anything at all.
    pub(crate) const UNKNOWN: Self = Self { min: 0, max: u64::MAX };
    pub(crate) const ZERO: Self = Self::exactly(0);
    pub(crate) const ONE: Self = Self::exactly(1);

    pub(crate) const fn exactly(size: u64) -> Self {
        Self { min: size, max: size }
    }

    pub(crate) const fn new(min: u64, max: u64) -> Self {
        Self { min, max }
    }

    #[must_use]
    pub(crate) fn plus(self, other: Self) -> Self {
        Self { min: self.min.saturating_add(other.min), max: self.max.saturating_add(other.max) }
    }

    #[must_use]
    pub(crate) fn times(self, other: Self) -> Self {
        Self { min: self.min.saturating_mul(other.min), max: self.max.saturating_mul(other.max) }
    }

    /// Times a factor, rounded up.
    #[must_use]
    pub(crate) fn scaled(self, factor: f64) -> Self {
        Self { min: scale(self.min, factor), max: scale(self.max, factor) }
    }

    /// The cost of reading a text of this size.
    #[must_use]
    pub(crate) fn scanned(self) -> Self {
        self.scaled(TEXT)
    }

    #[must_use]
    pub(crate) fn union(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "upstream computes in floats"
)]
fn scale(size: u64, factor: f64) -> u64 {
    const END: f64 = 18_446_744_073_709_551_616.0;
    let scaled = (size as f64 * factor).ceil();
    if scaled >= END { u64::MAX } else { scaled as u64 }
}

/// The sizes of what a list or map holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EntrySize {
    pub(super) is_list: bool,
    pub(super) key: Range,
    pub(super) value: Range,
}

impl EntrySize {
    pub(super) fn union(self, other: Self) -> Self {
        Self { is_list: self.is_list, key: self.key.union(other.key), value: self.value.union(other.value) }
    }
}

/// A part of the device whose size the API limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Device,
    Driver,
    MultipleAllocations,
    Attributes,
    AttributesOfDomain,
    Attribute,
    Capacity,
    CapacityOfDomain,
    Quantity,
    Domain,
    Name,
}

impl Place {
    /// The size that the part may have.
    pub(super) fn size(self) -> Range {
        let most = match self {
            Self::Device | Self::Quantity => 0,
            Self::Driver | Self::Domain => 63,
            Self::MultipleAllocations => 1,
            Self::Attributes | Self::AttributesOfDomain | Self::Capacity | Self::CapacityOfDomain | Self::Name => 32,
            Self::Attribute => 64,
        };
        Range::new(0, most)
    }

    /// The part that `field` selects.
    pub(super) fn field(self, field: &str) -> Option<Self> {
        match (self, field) {
            (Self::Device, "driver") => Some(Self::Driver),
            (Self::Device, "allowMultipleAllocations") => Some(Self::MultipleAllocations),
            (Self::Device, "attributes") => Some(Self::Attributes),
            (Self::Device, "capacity") => Some(Self::Capacity),
            (Self::AttributesOfDomain, _) => Some(Self::Attribute),
            _ => None,
        }
    }

    /// The values of a map, or the elements of a list.
    pub(super) fn values(self) -> Option<Self> {
        match self {
            Self::Attributes => Some(Self::AttributesOfDomain),
            Self::AttributesOfDomain => Some(Self::Attribute),
            Self::Capacity => Some(Self::CapacityOfDomain),
            Self::CapacityOfDomain => Some(Self::Quantity),
            _ => None,
        }
    }

    /// The keys of a map.
    pub(super) fn keys(self) -> Option<Self> {
        match self {
            Self::Attributes | Self::Capacity => Some(Self::Domain),
            Self::AttributesOfDomain | Self::CapacityOfDomain => Some(Self::Name),
            _ => None,
        }
    }
}

/// The size of values of a type that all have the same.
pub(super) fn of_type(found: &Type) -> Option<Range> {
    match found {
        Type::Bool | Type::Double | Type::Duration | Type::Int | Type::Timestamp | Type::Uint => Some(Range::ONE),
        Type::Optional(inner) => of_type(inner),
        _ => None,
    }
}
