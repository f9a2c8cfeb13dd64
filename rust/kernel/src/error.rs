//! Why an allocation failed. The texts are upstream's.

use std::fmt;
use std::sync::Arc;

use drayman_api::{DeviceId, PoolId};
use drayman_cel::CompileError;
use thiserror::Error;

use crate::capacity::CapacityError;
use crate::node_selector::NodeSelectorError;

/// Where a selector stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SelectorSource {
    /// In a device class, by name.
    Class(Arc<str>),
    /// In a claim, by `namespace/name`.
    Claim(Arc<str>),
}

impl fmt::Display for SelectorSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Class(name) => write!(formatter, "class {name}"),
            Self::Claim(key) => write!(formatter, "claim {key}"),
        }
    }
}

/// A request of a claim, printed as upstream does. Subrequests go by their own name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestPath {
    /// `namespace/name` of the claim.
    pub claim: Arc<str>,
    /// Name of the request or subrequest.
    pub request: String,
}

impl fmt::Display for RequestPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "claim {}, request {}", self.claim, self.request)
    }
}

/// What a claim uses although its gate is off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DisabledFeature {
    /// `firstAvailable`.
    PrioritizedList,
    /// `capacity` in a request.
    Capacity,
    /// `capacity` in the subrequest of this name.
    SubrequestCapacity(String),
    /// `derivedAttributes`.
    DerivedAttributes,
    /// `adminAccess`.
    AdminAccess,
}

impl DisabledFeature {
    /// The gate that is off.
    pub fn gate(&self) -> &'static str {
        match self {
            Self::PrioritizedList => "DRAPrioritizedList",
            Self::Capacity | Self::SubrequestCapacity(_) => "DRAConsumableCapacity",
            Self::DerivedAttributes => "DRADerivedAttributes",
            Self::AdminAccess => "DRAAdminAccess",
        }
    }

    fn text(&self, at: &RequestPath) -> String {
        match self {
            Self::PrioritizedList => {
                format!("{at}: has subrequests, but the DRAPrioritizedList feature is disabled")
            }
            Self::Capacity => {
                format!("{at}: has capacity requests, but the DRAConsumableCapacity feature is disabled")
            }
            Self::SubrequestCapacity(name) => format!(
                "claim {}, subrequest {name}: has capacity requests, but the DRAConsumableCapacity feature is disabled",
                at.claim
            ),
            Self::DerivedAttributes => {
                format!("{at}: cannot handle request with derived attributes, the feature is disabled")
            }
            Self::AdminAccess => format!("{at}: admin access is requested, but the feature is disabled"),
        }
    }
}

/// When the capacity of a device was computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapacityStage {
    /// Before the device was tried.
    Checking,
    /// While it was taken.
    Rechecking,
}

impl fmt::Display for CapacityStage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Checking => "checking",
            Self::Rechecking => "rechecking",
        })
    }
}

/// What keeps a pool from being used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolDefect {
    /// Slices are missing.
    Incomplete,
    /// Slices contradict each other.
    Invalid,
}

impl fmt::Display for PoolDefect {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Incomplete => "being updated",
            Self::Invalid => "invalid",
        })
    }
}

/// Why an allocation failed, apart from "does not fit". `Display` gives upstream's text.
#[derive(Clone, Debug, Error)]
pub enum AllocationError {
    /// A claim uses a feature whose gate is off.
    #[error("{}", .feature.text(.at))]
    FeatureDisabled {
        /// The request.
        at: RequestPath,
        /// What it uses.
        feature: DisabledFeature,
    },
    /// A selector is of a kind that is not known.
    #[error("{at}, selector #{index}: CEL expression empty (unsupported selector type?)")]
    UnknownSelector {
        /// The request.
        at: RequestPath,
        /// Position of the selector.
        index: usize,
    },
    /// A request names no class.
    #[error("{at}: missing device class name (unsupported request type?)")]
    MissingClassName {
        /// The request.
        at: RequestPath,
    },
    /// A request is of a kind that is not known.
    #[error("{at}: unknown request type")]
    UnknownRequest {
        /// The request.
        at: RequestPath,
    },
    /// The allocation mode of a request is not known.
    #[error("{at}: unsupported count mode {mode}")]
    UnknownMode {
        /// The request.
        at: RequestPath,
        /// The mode.
        mode: String,
    },
    /// A constraint is of a kind that is not known.
    #[error("claim {claim}, constraint #{index}: empty constraint (unsupported constraint type?)")]
    UnknownConstraint {
        /// `namespace/name` of the claim.
        claim: Arc<str>,
        /// Position of the constraint.
        index: usize,
    },
    /// A device class does not exist.
    #[error("{at}: could not retrieve device class {class}: deviceclass.resource.k8s.io \"{class}\" not found")]
    ClassNotFound {
        /// The request.
        at: RequestPath,
        /// Name of the class.
        class: String,
    },
    /// A claim asks for more devices than an allocation can hold.
    #[error("{at}: adding {adding} devices exceeds the claim limit of {limit}, with {accounted} already accounted for")]
    TooManyDevices {
        /// The request.
        at: RequestPath,
        /// Devices that the request needs at least.
        adding: i64,
        /// The limit.
        limit: i64,
        /// Devices that the requests before it need at least.
        accounted: i64,
    },
    /// The node selector of a slice, or of a device in it, cannot be used.
    #[error("gather pool information: failed to perform node selection for {}slice {slice}: {source}", in_device(.device.as_deref()))]
    SliceNodeSelector {
        /// The slice.
        slice: String,
        /// The device that has the selector, where the slice leaves that to devices.
        device: Option<String>,
        /// What is wrong.
        source: NodeSelectorError,
    },
    /// The node selector of a device cannot be used; found only when the device was tried.
    #[error("{0}")]
    DeviceNodeSelector(NodeSelectorError),
    /// All devices are asked for, but a pool of the node cannot be used.
    #[error("{at}: asks for all devices, but resource pool {pool} is currently {defect}")]
    AllFromUnusablePool {
        /// The request.
        at: RequestPath,
        /// The pool.
        pool: PoolId,
        /// What is wrong with it.
        defect: PoolDefect,
        /// Whether only this node fails.
        node_local: bool,
    },
    /// Nothing fits, and some pool of the node is invalid.
    #[error("invalid resource pools were encountered")]
    InvalidPools {
        /// The invalid pools, with the reason of each.
        pools: Vec<(PoolId, String)>,
    },
    /// A selector does not compile.
    #[error("{at}: selector #{index}: CEL compile error: {error}")]
    SelectorCompile {
        /// Where the selector stands.
        at: SelectorSource,
        /// Position of the selector there.
        index: usize,
        /// What is wrong.
        error: Arc<CompileError>,
    },
    /// A selector fails on a device.
    #[error("{at}: selector #{index} on device {device}: CEL runtime error: {error}")]
    SelectorRuntime {
        /// Where the selector stands.
        at: SelectorSource,
        /// Position of the selector there.
        index: usize,
        /// The device.
        device: Box<DeviceId>,
        /// What is wrong, with upstream's advice.
        error: String,
    },
    /// A derived attribute does not compile.
    #[error("compile derived attribute {attribute} failed: {error}")]
    DerivedCompile {
        /// Name of the attribute.
        attribute: String,
        /// What is wrong.
        error: Arc<CompileError>,
    },
    /// A derived attribute fails on a device.
    #[error("evaluate derived attribute {attribute} on device {device} failed: {error}")]
    DerivedRuntime {
        /// Name of the attribute.
        attribute: String,
        /// The device.
        device: Box<DeviceId>,
        /// What is wrong.
        error: String,
    },
    /// A requested capacity cannot be computed with.
    #[error("{at}: {stage} capacity for device {device}: {error}")]
    Capacity {
        /// The request.
        at: RequestPath,
        /// When it was computed.
        stage: CapacityStage,
        /// The device: `driver/pool/device`, or its name alone where all devices are asked for.
        device: String,
        /// What is wrong.
        error: CapacityError,
    },
    /// All devices are asked for, but a constraint of the claim excludes one.
    #[error("{at}: cannot add device {device} because a claim constraint would not be satisfied")]
    Constraint {
        /// The request.
        at: RequestPath,
        /// The device.
        device: Box<DeviceId>,
    },
    /// The node selectors of allocated devices cannot be merged.
    #[error("create NodeSelector for claim {claim}: unsupported ResourceSlice.NodeSelector with {terms} terms")]
    NodeSelectorTerms {
        /// Name of the claim.
        claim: String,
        /// Terms of the selector.
        terms: usize,
    },
}

fn in_device(device: Option<&str>) -> String {
    device.map_or_else(String::new, |device| format!("device {device} in "))
}

impl AllocationError {
    /// Whether only this node fails, so that others may still be tried; else upstream gives up the whole scheduling attempt.
    pub fn node_local(&self) -> bool {
        match self {
            Self::InvalidPools { .. } => true,
            Self::AllFromUnusablePool { node_local, .. } => *node_local,
            _ => false,
        }
    }
}
