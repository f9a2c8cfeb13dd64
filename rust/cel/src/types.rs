//! Static types of CEL, and the two ways in which upstream writes them.

use std::fmt;
use std::sync::Arc;

/// A static type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Type {
    /// `google.protobuf.Any`: known at run time only, as the attributes of devices without the list feature.
    Any,
    /// A truth value.
    Bool,
    /// Bytes.
    Bytes,
    /// A 64-bit float.
    Double,
    /// A span of time.
    Duration,
    /// Known at run time only.
    Dyn,
    /// What an expression that does not check has.
    Error,
    /// A signed 64-bit integer.
    Int,
    /// A list of elements of one type.
    List(Arc<Type>),
    /// A map from keys to values of one type each.
    Map(Arc<(Type, Type)>),
    /// The type of `null`.
    Null,
    /// An optional value.
    Optional(Arc<Type>),
    /// A named type without visible structure, such as `net.IP`.
    Opaque(&'static str),
    /// Text.
    String,
    /// A named type of Kubernetes, such as `kubernetes.Quantity`.
    Object(&'static str),
    /// A point in time.
    Timestamp,
    /// A type as a value; of which type, when that is known.
    Type(Option<Arc<Type>>),
    /// A type that is to be found out.
    Parameter(Parameter),
    /// An unsigned 64-bit integer.
    Uint,
}

/// The name of a type that is to be found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Parameter {
    /// A parameter of a declared signature.
    Declared(&'static str),
    /// A parameter of one expression.
    Fresh(u32),
}

impl fmt::Display for Parameter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Declared(name) => formatter.write_str(name),
            Self::Fresh(number) => write!(formatter, "_var{number}"),
        }
    }
}

impl Type {
    /// The type of quantities.
    pub const QUANTITY: Self = Self::Object("kubernetes.Quantity");
    /// The type of semantic versions.
    pub const SEMVER: Self = Self::Object("kubernetes.Semver");
    /// The type of URLs.
    pub const URL: Self = Self::Object("kubernetes.URL");
    /// The type of named text formats.
    pub const FORMAT: Self = Self::Object("kubernetes.NamedFormat");
    /// The type of IP addresses.
    pub const IP: Self = Self::Opaque("net.IP");
    /// The type of IP networks.
    pub const CIDR: Self = Self::Opaque("net.CIDR");
    /// The type of the variable `device`.
    pub const DEVICE: Self = Self::Object("kubernetes.DRADevice");

    /// A list of `element`.
    pub fn list(element: Self) -> Self {
        Self::List(Arc::new(element))
    }

    /// A map from `key` to `value`.
    pub fn map(key: Self, value: Self) -> Self {
        Self::Map(Arc::new((key, value)))
    }

    /// An optional `value`.
    pub fn optional(value: Self) -> Self {
        Self::Optional(Arc::new(value))
    }

    /// The type of the type `of`.
    pub fn type_of(of: Self) -> Self {
        Self::Type(Some(Arc::new(of)))
    }

    /// The parameter `name` of a declared signature.
    pub(crate) const fn parameter(name: &'static str) -> Self {
        Self::Parameter(Parameter::Declared(name))
    }

    /// Whether the type says nothing before run time.
    pub(crate) fn is_dyn(&self) -> bool {
        matches!(self, Self::Dyn | Self::Any)
    }

    /// Whether the type says nothing, or comes from an error that was already told.
    pub(crate) fn is_dyn_or_error(&self) -> bool {
        matches!(self, Self::Dyn | Self::Any | Self::Error)
    }

    /// The name that values of the type carry at run time.
    pub fn runtime_name(&self) -> &'static str {
        match self {
            Self::Any => "google.protobuf.Any",
            Self::Bool => "bool",
            Self::Bytes => "bytes",
            Self::Double => "double",
            Self::Duration => "google.protobuf.Duration",
            Self::Dyn => "dyn",
            Self::Error => "error",
            Self::Int => "int",
            Self::List(_) => "list",
            Self::Map(_) => "map",
            Self::Null => "null_type",
            Self::Optional(_) => "optional_type",
            Self::Opaque(name) | Self::Object(name) | Self::Parameter(Parameter::Declared(name)) => name,
            Self::String => "string",
            Self::Timestamp => "google.protobuf.Timestamp",
            Self::Type(_) => "type",
            Self::Parameter(Parameter::Fresh(_)) => "_var",
            Self::Uint => "uint",
        }
    }

    /// The types inside this one.
    pub(crate) fn parameters(&self) -> Vec<&Self> {
        match self {
            Self::List(inner) | Self::Optional(inner) | Self::Type(Some(inner)) => vec![inner],
            Self::Map(inner) => vec![&inner.0, &inner.1],
            _ => Vec::new(),
        }
    }

    /// Whether the type has more parts than `limit`, itself included.
    pub(crate) fn has_more_parts_than(&self, limit: usize) -> bool {
        let mut open = self.parameters();
        let mut parts = 1;
        while let Some(found) = open.pop() {
            parts += 1;
            if parts > limit {
                return true;
            }
            open.extend(found.parameters());
        }
        false
    }

    /// The type with each of its inner types replaced.
    pub(crate) fn map_parameters(&self, mut replace: impl FnMut(&Self) -> Self) -> Self {
        match self {
            Self::List(inner) => Self::list(replace(inner)),
            Self::Optional(inner) => Self::optional(replace(inner)),
            Self::Type(Some(inner)) => Self::type_of(replace(inner)),
            Self::Map(inner) => Self::map(replace(&inner.0), replace(&inner.1)),
            _ => self.clone(),
        }
    }

    /// The type as messages of the checker write it: `timestamp` for `google.protobuf.Timestamp`.
    pub(crate) fn in_message(&self) -> String {
        self.written(&|leaf| match leaf {
            Self::Any => "any".to_owned(),
            Self::Duration => "duration".to_owned(),
            Self::Error => "!error!".to_owned(),
            Self::Null => "null".to_owned(),
            Self::Timestamp => "timestamp".to_owned(),
            Self::Parameter(parameter) => parameter.to_string(),
            other => other.runtime_name().to_owned(),
        })
    }

    fn written(&self, leaf: &impl Fn(&Self) -> String) -> String {
        let parameters = self.parameters();
        if parameters.is_empty() {
            return leaf(self);
        }
        let inner: Vec<String> = parameters.iter().map(|parameter| parameter.written(leaf)).collect();
        format!("{}({})", self.runtime_name(), inner.join(", "))
    }
}

impl fmt::Display for Type {
    /// The type by the names of the run time: `google.protobuf.Timestamp`, `map(string, dyn)`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.written(&|leaf| match leaf {
            Self::Parameter(parameter) => format!("<{parameter}>"),
            other => other.runtime_name().to_owned(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_written_for_messages_and_by_run_time_names() {
        let map = Type::map(Type::String, Type::Timestamp);
        assert_eq!(
            (map.in_message(), map.to_string()),
            ("map(string, timestamp)".to_owned(), "map(string, google.protobuf.Timestamp)".to_owned())
        );
        let optional = Type::optional(Type::Parameter(Parameter::Fresh(3)));
        assert_eq!(
            (optional.in_message(), optional.to_string()),
            ("optional_type(_var3)".to_owned(), "optional_type(<_var3>)".to_owned())
        );
    }
}
