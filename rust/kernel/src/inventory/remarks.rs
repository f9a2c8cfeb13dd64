//! What slices say that is not used: allocation fails closed there, and says so only here.

use drayman_api::{DeviceAttribute, DeviceTaintEffect, NodeSelection};

use crate::features::Feature;
use crate::inventory::slices::Slice;

/// Something about a slice that is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// Name of the slice.
    pub slice: String,
    /// `driver/pool`.
    pub pool: String,
    /// What is not used, and why.
    pub message: String,
}

/// Looks over a slice. `missing` is a feature that it needs and that is off.
pub(crate) fn remarks(slice: &Slice, missing: Option<Feature>) -> Vec<Remark> {
    let spec = &slice.object.spec;
    let mut messages = Vec::new();
    if let Some(feature) = missing {
        messages.push(format!("the slice is passed over: it needs the feature gate {}", feature.gate()));
    } else if let NodeSelection::Unknown = spec.node_selection() {
        messages.push("the slice is passed over: it says in no known way which nodes it serves".to_owned());
    }
    if let Some(error) = &slice.selector_error {
        messages.push(error.to_string());
    }
    for (index, device) in spec.devices.iter().enumerate() {
        let name = &device.name;
        for (attribute, _) in device.attributes.iter().filter(|(_, value)| **value == DeviceAttribute::Unknown) {
            messages.push(format!("device {name}, attribute {attribute}: the value is of no known type"));
        }
        for taint in slice.taints(index) {
            if let DeviceTaintEffect::Unknown(effect) = &taint.effect {
                messages.push(format!(
                    "device {name}, taint {}: the effect `{effect}` is not known, so it has none",
                    taint.key
                ));
            }
        }
    }
    let (name, pool) = (&slice.object.metadata.name, format!("{}/{}", spec.driver, spec.pool.name));
    messages.into_iter().map(|message| Remark { slice: name.clone(), pool: pool.clone(), message }).collect()
}
