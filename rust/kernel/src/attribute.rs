//! Values of attributes, as constraints compare them.

use std::collections::BTreeMap;

use drayman_api::{DeviceAttribute, split_qualified_name};

use crate::features::Compatibility;

/// One value. Values of different types are never equal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Scalar {
    Int(i64),
    Bool(bool),
    String(String),
    Version(String),
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum AttributeValue {
    /// One value.
    One(Scalar),
    /// A list, as a sorted set of at least one.
    Many(Vec<Scalar>),
    /// Of a type that is not known, or an empty list.
    Unknown,
}

impl AttributeValue {
    pub(crate) fn new(attribute: &DeviceAttribute, compatibility: Compatibility) -> Self {
        let version = |text: &String| Scalar::Version(comparable_version(text, compatibility).to_owned());
        match attribute {
            DeviceAttribute::Int(value) => Self::One(Scalar::Int(*value)),
            DeviceAttribute::Bool(value) => Self::One(Scalar::Bool(*value)),
            DeviceAttribute::String(value) => Self::One(Scalar::String(value.clone())),
            DeviceAttribute::Version(value) => Self::One(version(value)),
            DeviceAttribute::Ints(values) => Self::many(values.iter().copied().map(Scalar::Int)),
            DeviceAttribute::Bools(values) => Self::many(values.iter().copied().map(Scalar::Bool)),
            DeviceAttribute::Strings(values) => Self::many(values.iter().cloned().map(Scalar::String)),
            DeviceAttribute::Versions(values) => Self::many(values.iter().map(version)),
            DeviceAttribute::Unknown => Self::Unknown,
        }
    }

    fn many(values: impl Iterator<Item = Scalar>) -> Self {
        let mut values: Vec<_> = values.collect();
        values.sort_unstable();
        values.dedup();
        if values.is_empty() { Self::Unknown } else { Self::Many(values) }
    }

    /// The values as a sorted set; empty when they are of an unknown type.
    pub(crate) fn scalars(&self) -> &[Scalar] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::Many(values) => values,
            Self::Unknown => &[],
        }
    }
}

/// Values that are in both sorted sets.
pub(crate) fn intersection(one: &[Scalar], other: &[Scalar]) -> Vec<Scalar> {
    one.iter().filter(|value| other.binary_search(value).is_ok()).cloned().collect()
}

/// Build metadata counts as a difference in upstream 1.37, and no longer after it.
fn comparable_version(text: &str, compatibility: Compatibility) -> &str {
    if compatibility.is_fixed() { text.split_once('+').map_or(text, |(version, _)| version) } else { text }
}

/// The published attribute of a fully qualified name: under that name, or, in the driver's own domain, under the bare identifier.
pub(crate) fn published<'a>(
    attributes: &'a BTreeMap<String, DeviceAttribute>,
    name: &str,
    driver: &str,
) -> Option<&'a DeviceAttribute> {
    attributes.get(name).or_else(|| match split_qualified_name(name, "") {
        (domain, identifier) if !domain.is_empty() && domain == driver => attributes.get(identifier),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use drayman_api::DeviceAttribute;

    use super::{AttributeValue, published};
    use crate::features::Compatibility;

    #[test]
    fn bare_name_is_found_in_the_domain_of_its_driver_only() {
        let attributes = BTreeMap::from([("numa".to_owned(), DeviceAttribute::Int(1))]);
        assert_eq!(published(&attributes, "gpu.example.com/numa", "gpu.example.com"), Some(&DeviceAttribute::Int(1)));
        assert_eq!(published(&attributes, "gpu.example.com/numa", "nic.example.com"), None);
        assert_eq!(published(&attributes, "index", "gpu.example.com"), None);
    }

    #[test]
    fn build_metadata_counts_in_1_37_only() {
        let value =
            |text: &str, compatibility| AttributeValue::new(&DeviceAttribute::Version(text.to_owned()), compatibility);
        assert_ne!(value("1.0.0+a", Compatibility::V1_37), value("1.0.0+b", Compatibility::V1_37));
        assert_eq!(value("1.0.0+a", Compatibility::Fixed), value("1.0.0+b", Compatibility::Fixed));
    }
}
