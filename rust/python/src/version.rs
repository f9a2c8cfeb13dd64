//! Semantic versions for Python.

use pyo3::prelude::*;

use crate::convert::Text;
use crate::error::input_error;

/// A semantic version.
#[pyclass(frozen, eq, ord, hash, str, module = "drayman.quantity")]
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Version(drayman_api::Version);

#[pymethods]
impl Version {
    #[new]
    #[pyo3(signature = (text, *, normalize = false))]
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over arguments by value")]
    fn new(text: Text, normalize: bool) -> PyResult<Self> {
        let version = if normalize { drayman_api::Version::parse_normalized(&text) } else { text.parse() };
        version.map(Self).map_err(input_error)
    }

    #[getter]
    fn major(&self) -> u64 {
        self.0.major()
    }

    #[getter]
    fn minor(&self) -> u64 {
        self.0.minor()
    }

    #[getter]
    fn patch(&self) -> u64 {
        self.0.patch()
    }

    fn __repr__(&self) -> String {
        format!("Version('{}')", self.0)
    }

    fn __getnewargs__(&self) -> (String,) {
        (self.0.to_string(),)
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(formatter)
    }
}

impl From<drayman_api::Version> for Version {
    fn from(value: drayman_api::Version) -> Self {
        Self(value)
    }
}
