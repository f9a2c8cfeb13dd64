//! Objects of Kubernetes across the border: JSON in, dicts out.

use drayman_api::Resource;
use pyo3::exceptions::{PyRecursionError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyDict};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{decode_error, input_error};

/// An object as Python hands it over: its JSON, or a dict, which is written as JSON.
pub(crate) enum Json {
    /// Bytes of JSON.
    Bytes(PyBackedBytes),
    /// What `json.dumps` made of a dict.
    Text(PyBackedStr),
}

impl Json {
    /// The JSON text.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Text(text) => text.as_bytes(),
        }
    }

    /// Decodes an object of the kind that is expected.
    pub(crate) fn resource<T: Resource>(&self, py: Python<'_>) -> PyResult<T> {
        T::from_json(self.as_bytes()).map_err(|error| decode_error(py, &error))
    }

    /// Decodes a part of an object.
    pub(crate) fn value<T: DeserializeOwned>(&self) -> PyResult<T> {
        serde_json::from_slice(self.as_bytes()).map_err(input_error)
    }
}

impl<'py> FromPyObject<'_, 'py> for Json {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if value.is_instance_of::<PyBytes>() {
            return Ok(Self::Bytes(value.extract()?));
        }
        let py = value.py();
        let options = PyDict::new(py);
        options.set_item("allow_nan", false)?;
        options.set_item("ensure_ascii", false)?;
        let dumps = py.import(intern!(py, "json"))?.getattr(intern!(py, "dumps"))?;
        match dumps.call((value,), Some(&options)) {
            Ok(text) => Ok(Self::Text(text.extract()?)),
            Err(error) if is_not_json(py, &error) => Err(input_error(format!("not JSON: {}", error.value(py)))),
            Err(error) => Err(error),
        }
    }
}

fn is_not_json(py: Python<'_>, error: &PyErr) -> bool {
    error.is_instance_of::<PyTypeError>(py)
        || error.is_instance_of::<PyValueError>(py)
        || error.is_instance_of::<PyRecursionError>(py)
}

/// Hands a value over as what `json.loads` makes of it.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(value).map_err(input_error)?;
    py.import(intern!(py, "json"))?.call_method1(intern!(py, "loads"), (text,))
}
