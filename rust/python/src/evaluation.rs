//! Outcomes for Python: allocations are written out, and explanations made, only for the nodes that are asked about.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use drayman_api::ResourceClaim;
use drayman_kernel::{Budget, Interrupt, Outcome};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use uuid::Uuid;

use crate::convert::to_python;
use crate::error::allocation_error;
use crate::explanation::Explanation;

/// Says why claims do not fit on nodes.
type Explain = Box<dyn Fn(&[ResourceClaim], &[&str]) -> drayman_kernel::Explanation + Send + Sync>;

/// The outcomes for the claims of one pod, by node.
#[pyclass(frozen, module = "drayman._native")]
pub(crate) struct Evaluation {
    found: drayman_kernel::Evaluation,
    positions: OnceLock<HashMap<Arc<str>, usize>>,
    claims: Vec<ResourceClaim>,
    explain: Explain,
}

impl Evaluation {
    pub(crate) fn new(found: drayman_kernel::Evaluation, claims: Vec<ResourceClaim>, explain: Explain) -> Self {
        Self { found, positions: OnceLock::new(), claims, explain }
    }

    fn outcome(&self, node: &str) -> PyResult<&Outcome> {
        let positions = self.positions.get_or_init(|| {
            let nodes = self.found.outcomes.iter().enumerate();
            nodes.map(|(position, (node, _))| (Arc::clone(node), position)).collect()
        });
        let found = positions.get(node).and_then(|position| self.found.outcomes.get(*position));
        found.map(|(_, outcome)| outcome).ok_or_else(|| PyKeyError::new_err(node.to_owned()))
    }

    fn nodes_where(&self, is_meant: impl Fn(&Outcome) -> bool) -> Vec<&str> {
        let nodes = self.found.outcomes.iter().filter(|(_, outcome)| is_meant(outcome));
        nodes.map(|(node, _)| &**node).collect()
    }
}

#[pymethods]
impl Evaluation {
    /// The claims, as `namespace/name`.
    #[getter]
    fn claims(&self) -> Vec<String> {
        self.claims.iter().map(|claim| claim.metadata.key()).collect()
    }

    /// The nodes with an outcome.
    #[getter]
    fn nodes(&self) -> Vec<&str> {
        self.nodes_where(|_| true)
    }

    /// The nodes on which all claims fit.
    #[getter]
    fn fitting(&self) -> Vec<&str> {
        self.nodes_where(|outcome| matches!(outcome, Outcome::Allocated(_)))
    }

    /// Steps that the search took.
    #[getter]
    fn steps(&self) -> u64 {
        self.found.steps
    }

    /// How often a selector was evaluated on a device.
    #[getter]
    fn selector_evaluations(&self) -> u64 {
        self.found.selector_evaluations
    }

    /// Whether nodes are missing because the steps were used up.
    #[getter]
    fn interrupted(&self) -> bool {
        self.found.interrupted.is_some()
    }

    /// The first error that ends upstream's scheduling attempt.
    #[getter]
    fn fatal(&self, py: Python<'_>) -> Option<PyErr> {
        self.found.outcomes.iter().find_map(|(_, outcome)| match outcome {
            Outcome::Failed(error) if !error.node_local() => Some(allocation_error(py, error)),
            _ => None,
        })
    }

    /// The allocations of the claims on a node, if they fit there.
    fn allocations<'py>(&self, py: Python<'py>, node: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.outcome(node)? {
            Outcome::Allocated(allocated) => Ok(Some(to_python(py, &allocated.results(&mut share_id))?)),
            Outcome::Unallocatable | Outcome::Failed(_) => Ok(None),
        }
    }

    /// The error on a node, if there is one.
    fn error(&self, py: Python<'_>, node: &str) -> PyResult<Option<PyErr>> {
        match self.outcome(node)? {
            Outcome::Failed(error) => Ok(Some(allocation_error(py, error))),
            Outcome::Allocated(_) | Outcome::Unallocatable => Ok(None),
        }
    }

    /// Why the claims do not fit on nodes, as things stand now.
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over arguments by value")]
    fn explain(&self, py: Python<'_>, nodes: Vec<String>) -> Explanation {
        let nodes: Vec<_> = nodes.iter().map(String::as_str).collect();
        Explanation::new(py.detach(|| (self.explain)(&self.claims, &nodes)))
    }
}

/// Identity of a share: the same for the same claim and result, so that two runs give the same bytes.
fn share_id(claim: &ResourceClaim, result: usize) -> String {
    let metadata = &claim.metadata;
    let of_name = || Uuid::new_v5(&Uuid::NAMESPACE_URL, [&metadata.uid, "/", &metadata.key()].concat().as_bytes());
    let namespace = Uuid::parse_str(&metadata.uid).unwrap_or_else(|_| of_name());
    Uuid::new_v5(&namespace, result.to_string().as_bytes()).to_string()
}

/// How long a search may take.
pub(crate) struct Limits {
    max_steps: Option<u64>,
}

impl Limits {
    pub(crate) fn new(max_steps: Option<u64>) -> Self {
        Self { max_steps }
    }

    /// Runs a search without the interpreter; a signal such as Ctrl-C ends it.
    pub(crate) fn run<T: Send>(&self, py: Python<'_>, search: impl FnOnce(&mut Budget<'_>) -> T + Send) -> PyResult<T> {
        let mut signal = None;
        let found = py.detach(|| {
            #[expect(clippy::redundant_closure_for_method_calls, reason = "the method alone lives too short")]
            let mut poll = || {
                signal = Python::attach(|py| py.check_signals()).err();
                signal.is_some().then_some(Interrupt::Cancelled)
            };
            let budget = Budget::unlimited().with_poll(&mut poll);
            search(&mut match self.max_steps {
                Some(steps) => budget.with_steps(steps),
                None => budget,
            })
        });
        signal.map_or(Ok(found), Err)
    }
}
