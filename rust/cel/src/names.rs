//! Names that stand for types.

use crate::types::Type;

/// The type that `name` stands for in an expression.
pub(crate) fn type_by_name(name: &str) -> Option<Type> {
    Some(match name {
        "bool" => Type::Bool,
        "bytes" => Type::Bytes,
        "double" => Type::Double,
        "google.protobuf.Duration" => Type::Duration,
        "int" => Type::Int,
        "list" => Type::list(Type::parameter("A")),
        "map" => Type::map(Type::parameter("A"), Type::parameter("B")),
        "null_type" => Type::Null,
        "string" => Type::String,
        "google.protobuf.Timestamp" => Type::Timestamp,
        "type" => Type::Type(None),
        "uint" => Type::Uint,
        "optional_type" => Type::optional(Type::parameter("V")),
        "net.IP" => Type::IP,
        "net.CIDR" => Type::CIDR,
        "kubernetes.DRADevice" => Type::DEVICE,
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
