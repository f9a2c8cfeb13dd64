//! Short ways to objects for tests that are written by hand.

use drayman_api::{
    AllocationMode, CelDeviceSelector, ConstraintKind, Device, DeviceAttribute, DeviceClass, DeviceConstraint,
    DeviceRequest, DeviceSelector, ExactDeviceRequest, Metadata, Node, RequestKind, ResourceClaim, ResourceSlice,
};

/// The driver of all that is built here.
pub const DRIVER: &str = "gpu.example.com";

/// The class of all requests that are built here; it selects all devices of [`DRIVER`].
pub const CLASS: &str = "gpu";

/// Metadata with a name.
pub fn named(name: &str) -> Metadata {
    Metadata { name: name.to_owned(), ..Metadata::default() }
}

/// A node without labels.
pub fn node(name: &str) -> Node {
    Node { metadata: named(name), ..Node::default() }
}

/// The class [`CLASS`].
pub fn class() -> DeviceClass {
    let mut class = DeviceClass { metadata: named(CLASS), ..DeviceClass::default() };
    class.spec.selectors = vec![selector(&format!("device.driver == \"{DRIVER}\""))];
    class
}

/// A CEL selector.
pub fn selector(expression: &str) -> DeviceSelector {
    DeviceSelector { cel: Some(CelDeviceSelector { expression: expression.to_owned() }) }
}

/// A device without attributes.
pub fn device(name: &str) -> Device {
    Device { name: name.to_owned(), ..Device::default() }
}

/// A device with string attributes.
pub fn device_with(name: &str, attributes: &[(&str, &str)]) -> Device {
    let attribute = |(name, value): &(&str, &str)| ((*name).to_owned(), DeviceAttribute::String((*value).to_owned()));
    Device { attributes: attributes.iter().map(attribute).collect(), ..device(name) }
}

/// The only slice of a pool that is named after its node.
pub fn node_slice(node: &str, devices: Vec<Device>) -> ResourceSlice {
    let mut slice = ResourceSlice { metadata: named(&format!("{node}-slice")), ..ResourceSlice::default() };
    DRIVER.clone_into(&mut slice.spec.driver);
    node.clone_into(&mut slice.spec.pool.name);
    slice.spec.pool.generation = 1;
    slice.spec.pool.resource_slice_count = 1;
    slice.spec.node_name = Some(node.to_owned());
    slice.spec.devices = devices;
    slice
}

/// A request for so many devices of [`CLASS`].
pub fn request(name: &str, count: i64) -> DeviceRequest {
    DeviceRequest { name: name.to_owned(), kind: RequestKind::Exactly(exactly(count)) }
}

/// So many devices of [`CLASS`].
pub fn exactly(count: i64) -> ExactDeviceRequest {
    ExactDeviceRequest {
        device_class_name: CLASS.to_owned(),
        allocation_mode: Some(AllocationMode::ExactCount),
        count: Some(count),
        ..ExactDeviceRequest::default()
    }
}

/// A claim in namespace `default`.
pub fn claim(name: &str, requests: Vec<DeviceRequest>) -> ResourceClaim {
    let metadata = Metadata { namespace: "default".to_owned(), ..named(name) };
    let mut claim = ResourceClaim { metadata, ..ResourceClaim::default() };
    claim.spec.devices.requests = requests;
    claim
}

/// A constraint for all requests.
pub fn match_attribute(attribute: &str) -> DeviceConstraint {
    DeviceConstraint { requests: Vec::new(), kind: ConstraintKind::MatchAttribute(attribute.to_owned()) }
}
