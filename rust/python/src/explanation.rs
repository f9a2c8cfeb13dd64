//! Explanations for Python.

use pyo3::prelude::*;

use crate::convert::to_python;

/// Why claims do not fit on nodes.
#[pyclass(frozen, module = "drayman._native")]
pub(crate) struct Explanation(drayman_kernel::Explanation);

impl Explanation {
    pub(crate) fn new(explanation: drayman_kernel::Explanation) -> Self {
        Self(explanation)
    }
}

#[pymethods]
impl Explanation {
    fn line(&self) -> String {
        self.0.line()
    }

    fn tree(&self) -> String {
        self.0.tree()
    }

    fn json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.0.json())
    }
}
