//! The allocator for Python.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use drayman_api::{DeviceClass, DeviceId, Node, Quantity, ResourceClaim, ResourceSlice, SharedDeviceId};
use drayman_kernel::{AllocatedState, Features};
use pyo3::prelude::*;

use crate::convert::{Json, Text};
use crate::error::input_error;
use crate::evaluation::{Evaluation, Limits};
use crate::inventory::{compatibility, lock};

/// Fixed slices, classes and state.
#[pyclass(frozen, module = "drayman._native")]
pub(crate) struct Allocator(Arc<Mutex<drayman_kernel::Allocator>>);

#[pymethods]
impl Allocator {
    #[new]
    #[pyo3(signature = (slices, classes, *, features, devices, shared, consumed_capacity, fixed, strict_errors))]
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over arguments by value")]
    #[expect(clippy::too_many_arguments, reason = "they are what upstream's allocator takes, by keyword")]
    fn new(
        py: Python<'_>,
        slices: Vec<Json>,
        classes: Vec<Json>,
        features: Vec<Text>,
        devices: Vec<Text>,
        shared: Vec<Text>,
        consumed_capacity: HashMap<Text, HashMap<Text, Text>>,
        fixed: bool,
        strict_errors: bool,
    ) -> PyResult<Self> {
        let slices = slices.iter().map(|slice| slice.resource(py)).collect::<PyResult<Vec<ResourceSlice>>>()?;
        let classes = classes.iter().map(|class| class.resource(py)).collect::<PyResult<Vec<DeviceClass>>>()?;
        let state = AllocatedState {
            devices: devices.iter().map(|device| device_id(device)).collect::<PyResult<_>>()?,
            shared: shared.iter().map(|share| shared_id(share)).collect::<PyResult<_>>()?,
            consumed_capacity: consumed_capacity
                .iter()
                .map(|(device, amounts)| Ok((device_id(device)?, quantities(amounts)?)))
                .collect::<PyResult<_>>()?,
        };
        let features = Features::from_gates(features.iter().map(|gate| &**gate));
        let allocator =
            py.detach(|| drayman_kernel::Allocator::new(features, compatibility(fixed), &state, classes, slices));
        Ok(Self(Arc::new(Mutex::new(allocator.strict_errors(strict_errors)))))
    }

    /// Allocates on one node: an evaluation of that node.
    #[pyo3(signature = (node, claims, *, steps = None, poll = None))]
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over arguments by value")]
    fn allocate(
        &self,
        py: Python<'_>,
        node: Json,
        claims: Vec<Json>,
        steps: Option<u64>,
        poll: Option<Py<PyAny>>,
    ) -> PyResult<Evaluation> {
        let node: Node = node.resource(py)?;
        let claims = claims.iter().map(|claim| claim.resource(py)).collect::<PyResult<Vec<ResourceClaim>>>()?;
        let found = Limits { steps, poll }.run(py, |budget| lock(&self.0).evaluate(&node, &claims, budget))?;
        let shared = Arc::clone(&self.0);
        Ok(Evaluation::new(
            found,
            claims,
            Box::new(move |claims, _, depth| lock(&shared).explain(&node, claims, depth)),
        ))
    }
}

fn device_id(text: &str) -> PyResult<DeviceId> {
    text.parse().map_err(input_error)
}

/// `driver/pool/device/shareID`.
fn shared_id(text: &str) -> PyResult<SharedDeviceId> {
    let parts = text.rsplit_once('/').map(|(device, share)| (device.parse(), share));
    match parts {
        Some((Ok(device), share)) => Ok(SharedDeviceId { device, share_id: share.to_owned() }),
        _ => Err(input_error(format!("`{text}` is not of the form `driver/pool/device/shareID`"))),
    }
}

fn quantities(amounts: &HashMap<Text, Text>) -> PyResult<BTreeMap<String, Quantity>> {
    let parsed = amounts.iter().map(|(name, amount)| Ok((name.to_string(), amount.parse().map_err(input_error)?)));
    parsed.collect()
}
