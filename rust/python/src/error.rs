//! Errors of the crates below as exceptions of `drayman.errors`.

use drayman_api::DecodeError;
use drayman_cel::{CompileError, RuntimeError};
use drayman_kernel::AllocationError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

/// The exceptions, imported from Python.
mod exceptions {
    pyo3::import_exception!(drayman.errors, AllocationError);
    pyo3::import_exception!(drayman.errors, CELCompileError);
    pyo3::import_exception!(drayman.errors, CELRuntimeError);
    pyo3::import_exception!(drayman.errors, CapacityError);
    pyo3::import_exception!(drayman.errors, ConstraintError);
    pyo3::import_exception!(drayman.errors, DeviceClassNotFoundError);
    pyo3::import_exception!(drayman.errors, FeatureDisabledError);
    pyo3::import_exception!(drayman.errors, InputError);
    pyo3::import_exception!(drayman.errors, LimitExceededError);
    pyo3::import_exception!(drayman.errors, PoolError);
    pyo3::import_exception!(drayman.errors, UnsupportedRequestError);
}

/// An input that cannot be used, told by `message` alone.
#[expect(clippy::needless_pass_by_value, reason = "so it can be handed to `map_err`")]
pub(crate) fn input_error(message: impl ToString) -> PyErr {
    exceptions::InputError::new_err(message.to_string())
}

/// An object that cannot be decoded; the exception has its kind, name and field.
pub(crate) fn decode_error(py: Python<'_>, error: &DecodeError) -> PyErr {
    let DecodeError::Invalid { kind, name, path, message } = error else { return input_error(error) };
    let object = [kind.as_str(), name.as_str()].join(" ");
    raise(&py.get_type::<exceptions::InputError>(), message, |fields| {
        set_if_known(fields, "object", object.trim())?;
        set_if_known(fields, "field", path)
    })
}

/// An input that cannot be used for what stands in a field.
pub(crate) fn field_error(py: Python<'_>, message: &str, field: &str) -> PyErr {
    raise(&py.get_type::<exceptions::InputError>(), message, |fields| set_if_known(fields, "field", field))
}

fn set_if_known(fields: &Bound<'_, PyDict>, name: &str, value: &str) -> PyResult<()> {
    if value.is_empty() { Ok(()) } else { fields.set_item(name, value) }
}

/// An error of the allocator; the exception tells its class apart and whether only this node fails.
pub(crate) fn allocation_error(py: Python<'_>, error: &AllocationError) -> PyErr {
    raise(&class_of(py, error), &error.to_string(), |fields| {
        fields.set_item("node_local", error.node_local())?;
        match error {
            AllocationError::FeatureDisabled { feature, .. } => fields.set_item("gate", feature.gate()),
            AllocationError::SelectorCompile { error, .. } | AllocationError::DerivedCompile { error, .. } => {
                fields.set_item("issues", issues(py, error)?)
            }
            _ => Ok(()),
        }
    })
}

fn class_of<'py>(py: Python<'py>, error: &AllocationError) -> Bound<'py, PyType> {
    match error {
        AllocationError::FeatureDisabled { .. } => py.get_type::<exceptions::FeatureDisabledError>(),
        AllocationError::UnknownSelector { .. }
        | AllocationError::MissingClassName { .. }
        | AllocationError::UnknownRequest { .. }
        | AllocationError::UnknownMode { .. }
        | AllocationError::UnknownConstraint { .. } => py.get_type::<exceptions::UnsupportedRequestError>(),
        AllocationError::ClassNotFound { .. } => py.get_type::<exceptions::DeviceClassNotFoundError>(),
        AllocationError::TooManyDevices { .. } => py.get_type::<exceptions::LimitExceededError>(),
        AllocationError::AllFromUnusablePool { .. } | AllocationError::InvalidPools { .. } => {
            py.get_type::<exceptions::PoolError>()
        }
        AllocationError::SelectorCompile { .. } | AllocationError::DerivedCompile { .. } => {
            py.get_type::<exceptions::CELCompileError>()
        }
        AllocationError::SelectorRuntime { .. } | AllocationError::DerivedRuntime { .. } => {
            py.get_type::<exceptions::CELRuntimeError>()
        }
        AllocationError::Capacity { .. } => py.get_type::<exceptions::CapacityError>(),
        AllocationError::Constraint { .. } => py.get_type::<exceptions::ConstraintError>(),
        AllocationError::SliceNodeSelector { .. }
        | AllocationError::DeviceNodeSelector(_)
        | AllocationError::NodeSelectorTerms { .. } => py.get_type::<exceptions::AllocationError>(),
    }
}

/// An expression that does not compile.
pub(crate) fn cel_compile_error(py: Python<'_>, error: &CompileError) -> PyErr {
    raise(&py.get_type::<exceptions::CELCompileError>(), &error.to_string(), |fields| {
        fields.set_item("issues", issues(py, error)?)
    })
}

/// Line, column and message of each finding.
fn issues<'py>(py: Python<'py>, error: &CompileError) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(py, error.issues().iter().map(|issue| (issue.line, issue.column, issue.message.as_str())))
}

/// An evaluation that fails; upstream's advice is the exception's hint.
pub(crate) fn cel_runtime_error(py: Python<'_>, error: &RuntimeError) -> PyErr {
    let text = error.to_string();
    let raised = raise(&py.get_type::<exceptions::CELRuntimeError>(), &text, |_| Ok(()));
    let with_hint = error.with_hint();
    let advice = with_hint.strip_prefix(&text).and_then(|rest| rest.strip_prefix(". "));
    match raised.value(py).setattr("hint", advice) {
        Ok(()) => raised,
        Err(error) => error,
    }
}

/// Makes an exception with fields that Python takes by keyword.
fn raise(class: &Bound<'_, PyType>, message: &str, fill: impl FnOnce(&Bound<'_, PyDict>) -> PyResult<()>) -> PyErr {
    let fields = PyDict::new(class.py());
    let made = fill(&fields).and_then(|()| class.call((message,), Some(&fields)));
    made.map_or_else(|error| error, PyErr::from_value)
}
