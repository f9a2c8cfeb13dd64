//! Why an object cannot be used.

use thiserror::Error;

/// An object that cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// The JSON is broken, or a field has a value of the wrong type.
    #[error("{}: {message}", place(kind, name, path))]
    Invalid {
        /// Kind, as far as it is known.
        kind: String,
        /// `namespace/name` or `name`, as far as it is known.
        name: String,
        /// Path of the field, such as `spec.devices[3].name`.
        path: String,
        /// What is wrong with it.
        message: String,
    },
    /// The object is of a kind or version that the kernel does not read.
    #[error("{api_version}, Kind={kind} is not a kind that the allocator reads")]
    UnknownKind {
        /// `apiVersion` of the object.
        api_version: String,
        /// `kind` of the object.
        kind: String,
    },
    /// Another kind was expected.
    #[error("expected a {expected}, got a {kind}")]
    WrongKind {
        /// The kind that is needed here.
        expected: &'static str,
        /// `kind` of the object.
        kind: String,
    },
    /// The object is larger than an API server would store.
    #[error("object of {size} bytes exceeds the limit of {limit}")]
    TooLarge {
        /// Its size in bytes.
        size: usize,
        /// The limit in bytes.
        limit: usize,
    },
}

fn place(kind: &str, name: &str, path: &str) -> String {
    let object = match (kind, name) {
        ("", _) => "object".to_owned(),
        (kind, "") => kind.to_owned(),
        (kind, name) => format!("{kind} {name}"),
    };
    if path.is_empty() || path == "." { object } else { format!("{object}: {path}") }
}
