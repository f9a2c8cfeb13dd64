//! The inventory for Python.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use drayman_api::{AllocationResult, DeviceId, ResourceClaim, object_key};
use drayman_kernel::{Compatibility, Features};
use pyo3::prelude::*;

use crate::convert::{Json, Text};
use crate::error::{decode_error, input_error};
use crate::evaluation::{Evaluation, Limits};

/// A kernel's inventory that Python objects share.
pub(crate) type Shared = Arc<Mutex<drayman_kernel::Inventory>>;

/// The kernel never panics half-way through a change, so what a poisoned lock holds is whole.
pub(crate) fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Which behaviour of upstream is followed.
pub(crate) fn compatibility(fixed: bool) -> Compatibility {
    if fixed { Compatibility::Fixed } else { Compatibility::V1_37 }
}

/// What a change of an object could help.
#[pyclass(frozen, get_all, eq, module = "drayman.inventory")]
#[derive(PartialEq, Eq)]
pub(crate) struct Change {
    kind: &'static str,
    namespace: String,
    name: String,
    devices_freed: bool,
    capacity_added: bool,
}

#[pymethods]
impl Change {
    fn __repr__(&self) -> String {
        let Self { kind, namespace, name, devices_freed, capacity_added } = self;
        let truth = |value: bool| if value { "True" } else { "False" };
        format!(
            "Change(kind='{kind}', namespace='{namespace}', name='{name}', devices_freed={}, capacity_added={})",
            truth(*devices_freed),
            truth(*capacity_added)
        )
    }
}

impl From<drayman_kernel::Change> for Change {
    fn from(change: drayman_kernel::Change) -> Self {
        let drayman_kernel::Change { kind, namespace, name, devices_freed, capacity_added } = change;
        Self { kind, namespace, name, devices_freed, capacity_added }
    }
}

/// Slices, classes, nodes, rules and claims of a cluster.
#[pyclass(frozen, module = "drayman._native")]
pub(crate) struct Inventory(Shared);

#[pymethods]
impl Inventory {
    #[new]
    #[pyo3(signature = (*, features, fixed, strict_errors))]
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over arguments by value")]
    fn new(features: Vec<Text>, fixed: bool, strict_errors: bool) -> Self {
        let features = Features::from_gates(features.iter().map(|gate| &**gate));
        let inventory = drayman_kernel::Inventory::new(features, compatibility(fixed)).strict_errors(strict_errors);
        Self(Arc::new(Mutex::new(inventory)))
    }

    fn copy(&self, py: Python<'_>) -> Self {
        Self(Arc::new(Mutex::new(py.detach(|| lock(&self.0).clone()))))
    }

    #[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over arguments by value")]
    fn apply(&self, py: Python<'_>, obj: Json) -> PyResult<Change> {
        let applied = py.detach(|| lock(&self.0).apply(obj.as_bytes()));
        applied.map(Change::from).map_err(|error| decode_error(py, &error))
    }

    #[pyo3(signature = (kind, name, namespace = None))]
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over arguments by value")]
    fn delete(&self, kind: Text, name: Text, namespace: Option<Text>) -> Change {
        lock(&self.0).remove(&kind, namespace.as_deref().unwrap_or_default(), &name).into()
    }

    #[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over arguments by value")]
    fn assume(&self, namespace: Text, name: Text, allocation: Json) -> PyResult<()> {
        let allocation: AllocationResult = allocation.value()?;
        lock(&self.0).assume(&object_key(&namespace, &name), &allocation);
        Ok(())
    }

    #[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over arguments by value")]
    fn forget(&self, namespace: Text, name: Text) {
        lock(&self.0).forget(&object_key(&namespace, &name));
    }

    fn nodes(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| lock(&self.0).node_names())
    }

    #[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over arguments by value")]
    fn holders(&self, device: Text) -> PyResult<Vec<String>> {
        let device: DeviceId = device.parse().map_err(input_error)?;
        Ok(lock(&self.0).holders(&device).into_iter().map(str::to_owned).collect())
    }

    /// What slices say that is not used: pool, slice, message.
    fn remarks(&self, py: Python<'_>) -> Vec<(String, String, String)> {
        let remarks = py.detach(|| lock(&self.0).remarks());
        remarks.into_iter().map(|remark| (remark.pool, remark.slice, remark.message)).collect()
    }

    #[pyo3(signature = (claims, nodes = None, *, steps = None, poll = None))]
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over arguments by value")]
    fn evaluate(
        &self,
        py: Python<'_>,
        claims: Vec<Json>,
        nodes: Option<Vec<Text>>,
        steps: Option<u64>,
        poll: Option<Py<PyAny>>,
    ) -> PyResult<Evaluation> {
        let claims = claims.iter().map(|claim| defaulted(py, claim)).collect::<PyResult<Vec<_>>>()?;
        let found = Limits { steps, poll }.run(py, |budget| {
            let nodes: Option<Vec<&str>> = nodes.as_ref().map(|nodes| nodes.iter().map(|node| &**node).collect());
            lock(&self.0).evaluate(&claims, nodes.as_deref(), budget)
        })?;
        let shared = Arc::clone(&self.0);
        Ok(Evaluation::new(
            found,
            claims,
            Box::new(move |claims, nodes, depth| lock(&shared).explain(claims, nodes, depth)),
        ))
    }
}

/// A claim as the API server would have stored it.
fn defaulted(py: Python<'_>, claim: &Json) -> PyResult<ResourceClaim> {
    let mut claim: ResourceClaim = claim.resource(py)?;
    claim.spec.set_defaults();
    Ok(claim)
}
