//! Values that expressions compute with.

mod compare;
mod equal;
mod extent;
mod key;
mod list;
mod map;
mod network;
mod text;
mod time;

use std::sync::Arc;

use drayman_api::{Quantity, Version};

use crate::library::format::NamedFormat;
use crate::library::url::Url;
use crate::types::Type;

pub use list::List;
pub use map::Map;
pub use network::{Cidr, Ip};
pub use time::Timestamp;

pub(crate) use extent::Extent;
pub(crate) use key::Key;
pub(crate) use map::Entries;
pub(crate) use text::go_float;
pub(crate) use time::{civil, days_from_civil};

/// A value of the expression language. Copies share what they hold.
#[derive(Debug, Clone)]
#[repr(u64)]
pub enum Value {
    /// No value.
    Null,
    /// A truth value.
    Bool(bool),
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    Uint(u64),
    /// A float.
    Double(f64),
    /// Text.
    String(Arc<str>),
    /// Bytes.
    Bytes(Arc<[u8]>),
    /// A list.
    List(Arc<List>),
    /// A map.
    Map(Map),
    /// A span of time in nanoseconds.
    Duration(i64),
    /// A point in time.
    Timestamp(Timestamp),
    /// A type.
    Type(Type),
    /// A value that may be missing.
    Optional(Option<Arc<Value>>),
    /// A resource quantity.
    Quantity(QuantityValue),
    /// A semantic version.
    Version(Arc<Version>),
    /// A URL.
    Url(Arc<Url>),
    /// An IP address.
    Ip(Ip),
    /// An IP network.
    Cidr(Cidr),
    /// A named text format.
    Format(&'static NamedFormat),
}

/// A quantity and where it comes from, which shows in comparisons.
#[derive(Debug, Clone)]
pub struct QuantityValue {
    quantity: Arc<Quantity>,
    /// Whether `add` or `sub` made it: upstream then refuses it on the right of `==`.
    computed: bool,
}

impl QuantityValue {
    /// A quantity that was read.
    pub fn read(quantity: Quantity) -> Self {
        Self { quantity: Arc::new(quantity), computed: false }
    }

    /// A quantity that is the result of arithmetic.
    pub(crate) fn computed(quantity: Quantity) -> Self {
        Self { quantity: Arc::new(quantity), computed: true }
    }

    /// The quantity as it is shared by copies.
    pub(crate) fn shared(&self) -> &Arc<Quantity> {
        &self.quantity
    }

    /// The quantity itself.
    pub fn quantity(&self) -> &Quantity {
        &self.quantity
    }
}

impl Value {
    /// Text from anything that holds it.
    pub(crate) fn string(text: impl Into<Arc<str>>) -> Self {
        Self::String(text.into())
    }

    /// An optional that holds `value`.
    pub(crate) fn some(value: Self) -> Self {
        Self::Optional(Some(Arc::new(value)))
    }

    /// The type of the value as `type(…)` gives it, with the inner types left open.
    pub fn type_of(&self) -> Type {
        match self {
            Self::Null => Type::Null,
            Self::Bool(_) => Type::Bool,
            Self::Int(_) => Type::Int,
            Self::Uint(_) => Type::Uint,
            Self::Double(_) => Type::Double,
            Self::String(_) => Type::String,
            Self::Bytes(_) => Type::Bytes,
            Self::List(_) => Type::list(Type::Dyn),
            Self::Map(_) => Type::map(Type::Dyn, Type::Dyn),
            Self::Duration(_) => Type::Duration,
            Self::Timestamp(_) => Type::Timestamp,
            Self::Type(_) => Type::Type(None),
            Self::Optional(_) => Type::optional(Type::Dyn),
            Self::Quantity(_) => Type::QUANTITY,
            Self::Version(_) => Type::SEMVER,
            Self::Url(_) => Type::URL,
            Self::Ip(_) => Type::IP,
            Self::Cidr(_) => Type::CIDR,
            Self::Format(_) => Type::FORMAT,
        }
    }

    /// The name of the value's type, as messages give it.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null_type",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Uint(_) => "uint",
            Self::Double(_) => "double",
            Self::String(_) => "string",
            Self::Bytes(_) => "bytes",
            Self::List(_) => "list",
            Self::Map(_) => "map",
            Self::Duration(_) => "google.protobuf.Duration",
            Self::Timestamp(_) => "google.protobuf.Timestamp",
            Self::Type(_) => "type",
            Self::Optional(_) => "optional_type",
            Self::Quantity(_) => "kubernetes.Quantity",
            Self::Version(_) => "kubernetes.Semver",
            Self::Url(_) => "kubernetes.URL",
            Self::Ip(_) => "net.IP",
            Self::Cidr(_) => "net.CIDR",
            Self::Format(_) => "kubernetes.NamedFormat",
        }
    }

    /// The name of upstream's Go type, which one message tells.
    pub(crate) fn go_type(&self) -> &'static str {
        match self {
            Self::Null => "types.Null",
            Self::Bool(_) => "types.Bool",
            Self::Int(_) => "types.Int",
            Self::Uint(_) => "types.Uint",
            Self::Double(_) => "types.Double",
            Self::String(_) => "types.String",
            Self::Bytes(_) => "types.Bytes",
            Self::List(_) => "*types.baseList",
            Self::Map(Map::Domains(_)) => "cel.mapper",
            Self::Map(_) => "*types.baseMap",
            Self::Duration(_) => "types.Duration",
            Self::Timestamp(_) => "types.Timestamp",
            Self::Type(_) => "*types.Type",
            Self::Optional(_) => "*types.Optional",
            Self::Quantity(quantity) if quantity.computed => "*cel.Quantity",
            Self::Quantity(_) => "cel.Quantity",
            Self::Version(_) => "cel.Semver",
            Self::Url(_) => "cel.URL",
            Self::Ip(_) => "cel.IP",
            Self::Cidr(_) => "cel.CIDR",
            Self::Format(_) => "cel.Format",
        }
    }

    /// The size as `size(…)` gives it: characters, bytes, elements or entries.
    pub(crate) fn size(&self) -> Option<usize> {
        match self {
            Self::String(text) => Some(text.chars().count()),
            Self::Bytes(bytes) => Some(bytes.len()),
            Self::List(elements) => Some(elements.len()),
            Self::Map(map) => Some(map.len()),
            Self::Ip(ip) => Some(ip.bytes()),
            // Upstream counts the bytes of the prefix only.
            Self::Cidr(cidr) => Some(usize::from(cidr.length()).div_ceil(8)),
            _ => None,
        }
    }

    /// Whether the value is the zero of its type, which `optional.ofNonZeroValue` takes for missing.
    pub(crate) fn is_zero(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Bool(value) => !value,
            Self::Int(value) | Self::Duration(value) => *value == 0,
            Self::Uint(value) => *value == 0,
            Self::Double(value) => *value == 0.0,
            Self::String(text) => text.is_empty(),
            Self::Bytes(bytes) => bytes.is_empty(),
            Self::List(elements) => elements.is_empty(),
            Self::Map(map) => map.is_empty(),
            Self::Timestamp(time) => time.is_zero(),
            _ => false,
        }
    }

    /// Whether a signature that asks for `wanted` takes the value; of lists and maps the first element is looked at.
    pub(crate) fn is_assignable_to(&self, wanted: &Type) -> bool {
        match (wanted, self) {
            (Type::Dyn | Type::Any | Type::Parameter(_), _)
            | (Type::Bool, Self::Bool(_))
            | (Type::Int, Self::Int(_))
            | (Type::String, Self::String(_)) => true,
            (Type::List(element), Self::List(elements)) => {
                elements.first().is_none_or(|first| first.is_assignable_to(element))
            }
            (Type::Map(inner), Self::Map(map)) => map
                .first()
                .is_none_or(|(key, value)| key.is_assignable_to(&inner.0) && value.is_assignable_to(&inner.1)),
            _ => wanted.runtime_name() == self.type_name(),
        }
    }
}
