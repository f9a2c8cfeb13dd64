//! Names that stand for types.

use crate::types::Type;

/// A name that stands for a type.
#[derive(Debug)]
pub(crate) struct TypeName {
    pub(crate) name: &'static str,
    pub(crate) of: Type,
    /// Whether the type can also be computed with; upstream knows some to the checker only.
    pub(crate) is_value: bool,
}

/// What `name` stands for in an expression.
pub(crate) fn type_name(name: &str) -> Option<TypeName> {
    let (name, of) = match name {
        "duration" => ("duration", Type::Duration),
        "timestamp" => ("timestamp", Type::Timestamp),
        "kubernetes.DRADevice" => ("kubernetes.DRADevice", Type::DEVICE),
        _ => {
            let of = type_by_name(name)?;
            return Some(TypeName { name: of.runtime_name(), of, is_value: true });
        }
    };
    Some(TypeName { name, of, is_value: false })
}

fn type_by_name(name: &str) -> Option<Type> {
    Some(match name {
        "bool" => Type::Bool,
        "bytes" => Type::Bytes,
        "double" => Type::Double,
        "google.protobuf.Duration" => Type::Duration,
        "int" => Type::Int,
        "list" => Type::list(Type::Dyn),
        "map" => Type::map(Type::Dyn, Type::Dyn),
        "null_type" => Type::Null,
        "string" => Type::String,
        "google.protobuf.Timestamp" => Type::Timestamp,
        "type" => Type::Type(None),
        "uint" => Type::Uint,
        "optional_type" => Type::optional(Type::Dyn),
        "net.IP" => Type::IP,
        "net.CIDR" => Type::CIDR,
        _ => return None,
    })
}

/// The type of messages that `name` stands for.
pub(crate) fn message_type(name: &str) -> Option<Type> {
    (name.trim_start_matches('.') == "kubernetes.DRADevice").then_some(Type::DEVICE)
}

/// The type of a field of `device`.
pub(crate) fn device_field(name: &str, attribute: &Type) -> Option<Type> {
    Some(match name {
        "driver" => Type::String,
        "allowMultipleAllocations" => Type::Bool,
        "attributes" => Type::map(Type::String, Type::map(Type::String, attribute.clone())),
        "capacity" => Type::map(Type::String, Type::map(Type::String, Type::QUANTITY)),
        _ => return None,
    })
}
