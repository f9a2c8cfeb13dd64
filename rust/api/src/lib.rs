//! Kubernetes objects that the allocation kernel reads or writes, quantities, semantic versions and names. No DRA logic, no I/O.
//!
//! The structs have the shape of `resource.k8s.io/v1` and hold the fields that influence an allocation or appear in its result. They ignore
//! unknown fields, keep unknown values of enumerations ([`AllocationMode::Unknown`]), and give every union an arm for "none that is known",
//! so that the kernel can refuse what it does not understand. [`Object::from_json`] decodes any served version and normalises it to `v1`.

pub mod quantity;
pub mod quote;
pub mod version;

mod allocation;
mod claim;
mod class;
mod defaults;
mod device;
mod error;
mod metadata;
mod names;
mod node;
mod object;
mod raw;
mod serde_help;
mod slice;
mod taint;
mod v1beta1;

pub use allocation::{
    AllocationConfigSource, AllocationResult, DeviceAllocationConfiguration, DeviceAllocationResult,
    DeviceRequestAllocationResult,
};
pub use claim::{
    AllocatedDeviceStatus, AllocationMode, CapacityRequirements, CelDeviceSelector, ConstraintKind, ConsumerReference,
    DeviceClaim, DeviceClaimConfiguration, DeviceConstraint, DeviceDerivedAttribute, DeviceRequest, DeviceSelector,
    DeviceSubRequest, ExactDeviceRequest, OpaqueDeviceConfiguration, RequestKind, ResourceClaim, ResourceClaimSpec,
    ResourceClaimStatus, ResourceClaimTemplate, ResourceClaimTemplateSpec,
};
pub use class::{DeviceClass, DeviceClassConfiguration, DeviceClassSpec};
pub use device::{
    CapacityRequestPolicy, CapacityRequestPolicyRange, Counter, Device, DeviceAttribute, DeviceCapacity,
    DeviceCounterConsumption, NodeAllocatableMapping, NodeAllocatableOverhead, NodeAllocatableResource,
};
pub use error::DecodeError;
pub use metadata::{Condition, Metadata, object_key};
pub use names::{DeviceId, ParseDeviceIdError, PoolId, SharedDeviceId, split_qualified_name};
pub use node::{
    Node, NodeSelection, NodeSelector, NodeSelectorOperator, NodeSelectorRequirement, NodeSelectorTerm, NodeStatus,
};
pub use object::{MAX_OBJECT_BYTES, Object, Resource};
pub use quantity::Quantity;
pub use raw::RawJson;
pub use slice::{CounterSet, ResourcePool, ResourceSlice, ResourceSliceSpec, SkipNodeOperation};
pub use taint::{
    DeviceTaint, DeviceTaintEffect, DeviceTaintRule, DeviceTaintRuleSpec, DeviceTaintSelector, DeviceToleration,
    DeviceTolerationOperator,
};
pub use version::Version;
