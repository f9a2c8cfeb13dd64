//! Explanations for Python.

use pyo3::prelude::*;

use crate::convert::to_python;

/// Why claims do not fit on nodes for which the same holds.
#[pyclass(frozen, module = "drayman._native")]
pub(crate) struct Explanation {
    /// The nodes.
    #[pyo3(get)]
    pub(crate) nodes: Vec<String>,
    explanation: drayman_kernel::Explanation,
}

impl Explanation {
    pub(crate) fn new(explanation: drayman_kernel::Explanation) -> Self {
        Self { nodes: vec![explanation.node.clone()], explanation }
    }

    /// What is the same for all nodes.
    pub(crate) fn without_node(&self) -> String {
        let mut json = self.explanation.json();
        if let Some(members) = json.as_object_mut() {
            members.remove("node");
        }
        json.to_string()
    }
}

#[pymethods]
impl Explanation {
    fn line(&self) -> String {
        self.explanation.line()
    }

    fn tree(&self) -> String {
        self.explanation.tree()
    }

    fn json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.explanation.json())
    }
}
