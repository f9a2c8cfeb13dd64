//! Objects of Kubernetes across the border: JSON in, dicts out.

use std::ops::Deref;

use drayman_api::Resource;
use pyo3::exceptions::{PyRecursionError, PyTypeError, PyUnicodeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{decode_error, field_error, input_error};

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
            Ok(text) => text.extract().map(Self::Text).map_err(|_| half_pair(&value)),
            Err(error) if is_not_json(py, &error) => Err(input_error(format!("not JSON: {}", error.value(py)))),
            Err(error) => Err(error),
        }
    }
}

/// A text that Python hands over; one that is no Unicode is an input error, as in objects.
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Text(PyBackedStr);

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'py> FromPyObject<'_, 'py> for Text {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        value.extract().map(Self).map_err(|error: PyErr| {
            if error.is_instance_of::<PyUnicodeError>(value.py()) { input_error(HALF_PAIR) } else { error }
        })
    }
}

const HALF_PAIR: &str = "text that is no Unicode: half a surrogate pair";

/// The error for an object with such a text somewhere, with the place of the first one.
fn half_pair(object: &Bound<'_, PyAny>) -> PyErr {
    let mut parts = vec![(String::new(), object.clone())];
    while let Some((path, part)) = parts.pop() {
        if part.is_instance_of::<PyString>() && part.extract::<PyBackedStr>().is_err() {
            return field_error(object.py(), HALF_PAIR, &path);
        }
        if let Ok(members) = part.cast::<PyDict>() {
            let before = parts.len();
            for (name, member) in members {
                // A name that is no Unicode is told by what holds it.
                let Ok(name) = name.str().and_then(|name| name.extract::<String>()) else {
                    return field_error(object.py(), HALF_PAIR, &path);
                };
                parts.push((if path.is_empty() { name } else { format!("{path}.{name}") }, member));
            }
            parts[before..].reverse();
        } else if part.is_instance_of::<PyList>() || part.is_instance_of::<PyTuple>() {
            let items: Vec<_> = part.try_iter().into_iter().flatten().flatten().enumerate().collect();
            parts.extend(items.into_iter().rev().map(|(index, item)| (format!("{path}[{index}]"), item)));
        }
    }
    input_error(HALF_PAIR)
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
