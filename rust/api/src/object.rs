//! Decoding of objects in any served version.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::error::DecodeError;
use crate::metadata::{Metadata, object_key};
use crate::serde_help::null_as_default;
use crate::v1beta1;
use crate::{DeviceClass, DeviceTaintRule, Node, ResourceClaim, ResourceClaimTemplate, ResourceSlice};

/// Largest object that is read: twice what etcd stores, because JSON is wordier than what is stored.
pub const MAX_OBJECT_BYTES: usize = 3 * 1024 * 1024;

const GROUP: &str = "resource.k8s.io/";

/// An object of a kind that the kernel reads, in the shape of `resource.k8s.io/v1` (nodes: `v1`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Object {
    /// Devices.
    ResourceSlice(ResourceSlice),
    /// A class.
    DeviceClass(DeviceClass),
    /// A claim.
    ResourceClaim(ResourceClaim),
    /// A template for claims.
    ResourceClaimTemplate(ResourceClaimTemplate),
    /// A rule that taints devices.
    DeviceTaintRule(DeviceTaintRule),
    /// A node.
    Node(Node),
}

impl Object {
    /// Decodes an object by its `apiVersion` and `kind`.
    ///
    /// Fails on broken JSON, on fields of the wrong type, and on kinds and versions that the kernel does not read. Unknown fields are
    /// ignored: whether they are allowed is the API server's business.
    pub fn from_json(json: &[u8]) -> Result<Self, DecodeError> {
        let header = Header::read(json)?;
        match header.kind.as_str() {
            ResourceSlice::KIND => ResourceSlice::decode(json, &header).map(Self::ResourceSlice),
            DeviceClass::KIND => DeviceClass::decode(json, &header).map(Self::DeviceClass),
            ResourceClaim::KIND => ResourceClaim::decode(json, &header).map(Self::ResourceClaim),
            ResourceClaimTemplate::KIND => {
                ResourceClaimTemplate::decode(json, &header).map(Self::ResourceClaimTemplate)
            }
            DeviceTaintRule::KIND => DeviceTaintRule::decode(json, &header).map(Self::DeviceTaintRule),
            Node::KIND => Node::decode(json, &header).map(Self::Node),
            _ => Err(header.unknown_kind()),
        }
    }

    /// The object's kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::ResourceSlice(_) => ResourceSlice::KIND,
            Self::DeviceClass(_) => DeviceClass::KIND,
            Self::ResourceClaim(_) => ResourceClaim::KIND,
            Self::ResourceClaimTemplate(_) => ResourceClaimTemplate::KIND,
            Self::DeviceTaintRule(_) => DeviceTaintRule::KIND,
            Self::Node(_) => Node::KIND,
        }
    }

    /// The object's metadata.
    pub fn metadata(&self) -> &Metadata {
        match self {
            Self::ResourceSlice(slice) => &slice.metadata,
            Self::DeviceClass(class) => &class.metadata,
            Self::ResourceClaim(claim) => &claim.metadata,
            Self::ResourceClaimTemplate(template) => &template.metadata,
            Self::DeviceTaintRule(rule) => &rule.metadata,
            Self::Node(node) => &node.metadata,
        }
    }
}

/// A kind that can be decoded where only it is expected.
pub trait Resource: private::Decode {
    /// The kind.
    const KIND: &'static str;

    /// Decodes an object of this kind; absent `apiVersion` and `kind` (as in the items of a list) mean `v1` of this kind.
    fn from_json(json: &[u8]) -> Result<Self, DecodeError> {
        let header = Header::read(json)?;
        if header.kind.is_empty() || header.kind == Self::KIND {
            Self::decode(json, &header)
        } else {
            Err(DecodeError::WrongKind { expected: Self::KIND, kind: header.kind })
        }
    }
}

mod private {
    /// Decodes the version that the header names.
    pub trait Decode: Sized {
        fn decode(json: &[u8], header: &super::Header) -> Result<Self, super::DecodeError>;
    }
}

use private::Decode;

macro_rules! resource {
    ($kind:ident, $($versions:pat => $decode:expr),+) => {
        impl Resource for $kind {
            const KIND: &'static str = stringify!($kind);
        }

        impl Decode for $kind {
            fn decode(json: &[u8], header: &Header) -> Result<Self, DecodeError> {
                match header.version::<Self>() {
                    $($versions => ($decode)(json, header),)+
                    _ => Err(header.unknown_kind()),
                }
            }
        }
    };
}

resource!(ResourceSlice, "v1" | "v1beta2" => parse, "v1beta1" => |json, header| parse::<v1beta1::Slice>(json, header).map(Self::from));
resource!(ResourceClaim, "v1" | "v1beta2" => parse, "v1beta1" => |json, header| parse::<v1beta1::Claim>(json, header).map(Self::from));
resource!(ResourceClaimTemplate, "v1" | "v1beta2" => parse, "v1beta1" => |json, header| parse::<v1beta1::Template>(json, header).map(Self::from));
resource!(DeviceClass, "v1" | "v1beta2" | "v1beta1" => parse);
resource!(DeviceTaintRule, "v1" | "v1beta2" | "v1alpha3" => parse);
resource!(Node, "core/v1" => parse);

/// What says how the rest is to be read.
#[derive(Default, Deserialize)]
#[serde(expecting = "an object", rename_all = "camelCase", default)]
pub struct Header {
    #[serde(deserialize_with = "null_as_default")]
    api_version: String,
    #[serde(deserialize_with = "null_as_default")]
    kind: String,
    #[serde(deserialize_with = "null_as_default")]
    metadata: Name,
}

#[derive(Default, Deserialize)]
#[serde(expecting = "an object", default)]
struct Name {
    #[serde(deserialize_with = "null_as_default")]
    namespace: String,
    #[serde(deserialize_with = "null_as_default")]
    name: String,
}

impl Header {
    fn read(json: &[u8]) -> Result<Self, DecodeError> {
        if json.len() > MAX_OBJECT_BYTES {
            return Err(DecodeError::TooLarge { size: json.len(), limit: MAX_OBJECT_BYTES });
        }
        parse(json, &Self::default())
    }

    /// The version within the group of `T`; empty when the object belongs to another group.
    fn version<T: Resource>(&self) -> &str {
        match self.api_version.as_str() {
            "" | "v1" if T::KIND == Node::KIND => "core/v1",
            "" => "v1",
            version => version.strip_prefix(GROUP).unwrap_or_default(),
        }
    }

    fn key(&self) -> String {
        object_key(&self.metadata.namespace, &self.metadata.name)
    }

    fn unknown_kind(&self) -> DecodeError {
        DecodeError::UnknownKind { api_version: self.api_version.clone(), kind: self.kind.clone() }
    }
}

/// Decodes `T`. Only after a failure it is done again with the path of fields, which costs time.
fn parse<T: DeserializeOwned>(json: &[u8], header: &Header) -> Result<T, DecodeError> {
    serde_json::from_slice(json).map_err(|error| {
        let (path, message) = if error.is_data() {
            (path::<T>(json), without_position(&error))
        } else {
            (String::new(), error.to_string())
        };
        DecodeError::Invalid { kind: header.kind.clone(), name: header.key(), path, message }
    })
}

/// Path of the field that cannot be decoded.
fn path<T: DeserializeOwned>(json: &[u8]) -> String {
    let traced: Result<T, _> = serde_path_to_error::deserialize(&mut serde_json::Deserializer::from_slice(json));
    traced.err().map(|error| error.path().to_string()).unwrap_or_default()
}

/// Text of an error that is placed by the path of its field: a column means nothing to who wrote YAML.
fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&position).map_or(text.clone(), str::to_owned)
}
