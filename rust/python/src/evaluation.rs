//! Outcomes for Python: allocations are written out, and explanations made, only for the nodes that are asked about.

use std::collections::HashMap;
use std::sync::OnceLock;

use drayman_api::ResourceClaim;
use drayman_kernel::{Budget, Depth, Interrupt, Outcome};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use uuid::Uuid;

use crate::convert::{Text, to_python};
use crate::error::{allocation_error, input_error};
use crate::explanation::Explanation;

/// Claim, request and device.
type Taking<'a> = (&'a str, &'a str, String);

/// Says why claims do not fit on nodes.
type Explain = Box<dyn Fn(&[ResourceClaim], &[&str], Depth) -> drayman_kernel::Explanation + Send + Sync>;

/// The outcomes for the claims of one pod, by node.
#[pyclass(frozen, module = "drayman._native")]
pub(crate) struct Evaluation {
    found: drayman_kernel::Evaluation,
    positions: OnceLock<HashMap<Box<str>, usize>>,
    claims: Vec<ResourceClaim>,
    explain: Explain,
}

impl Evaluation {
    pub(crate) fn new(found: drayman_kernel::Evaluation, claims: Vec<ResourceClaim>, explain: Explain) -> Self {
        Self { found, positions: OnceLock::new(), claims, explain }
    }

    fn position(&self, node: &str) -> PyResult<usize> {
        let positions = self.positions.get_or_init(|| {
            let nodes = self.found.nodes().enumerate();
            nodes.map(|(position, node)| (node.into(), position)).collect()
        });
        positions.get(node).copied().ok_or_else(|| PyKeyError::new_err(node.to_owned()))
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
        self.found.nodes().collect()
    }

    /// How many nodes have an outcome.
    fn __len__(&self) -> usize {
        self.found.len()
    }

    /// The nodes on which all claims fit.
    #[getter]
    fn fitting(&self) -> Vec<&str> {
        let nodes = self.found.nodes().enumerate();
        nodes.filter(|(position, _)| self.found.fits(*position)).map(|(_, node)| node).collect()
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

    /// Why nodes are missing: `steps` are used up, `deadline` has passed, or `cancelled`.
    #[getter]
    fn interrupted(&self) -> Option<&'static str> {
        self.found.interrupted.map(|interrupt| match interrupt {
            Interrupt::Steps => "steps",
            Interrupt::Deadline => DEADLINE,
            Interrupt::Cancelled => "cancelled",
        })
    }

    /// The node that the search was at when it was interrupted, and what it had found there: claim, request, device.
    #[getter]
    fn unfinished(&self) -> Option<(&str, Vec<Taking<'_>>)> {
        let unfinished = self.found.unfinished.as_ref()?;
        let taken = unfinished.taken.iter();
        let taken = taken.map(|taken| (&*taken.claim, taken.request.as_str(), taken.device.to_string()));
        Some((&*unfinished.node, taken.collect()))
    }

    /// The first error that ends upstream's scheduling attempt.
    #[getter]
    fn fatal(&self, py: Python<'_>) -> Option<PyErr> {
        let errors = (0..self.found.len()).filter_map(|position| self.found.error(position));
        let mut fatal = errors.filter(|error| !error.node_local());
        fatal.next().map(|error| allocation_error(py, error))
    }

    /// The allocations of the claims on a node, if they fit there.
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over arguments by value")]
    fn allocations<'py>(&self, py: Python<'py>, node: Text) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.found.outcome(self.position(&node)?) {
            Some(Outcome::Allocated(allocated)) => Ok(Some(to_python(py, &allocated.results(&mut share_id))?)),
            _ => Ok(None),
        }
    }

    /// The error on a node, if there is one.
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over arguments by value")]
    fn error(&self, py: Python<'_>, node: Text) -> PyResult<Option<PyErr>> {
        Ok(self.found.error(self.position(&node)?).map(|error| allocation_error(py, error)))
    }

    /// Why the claims do not fit on nodes, as things stand now: `facts` only, or also what clashes and what would help, on the nodes
    /// `nearest` to fitting or on `all`.
    #[pyo3(signature = (nodes, depth = "all"))]
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over arguments by value")]
    fn explain(&self, py: Python<'_>, nodes: Vec<Text>, depth: &str) -> PyResult<Explanation> {
        let depth = match depth {
            "facts" => Depth::Facts,
            "nearest" => Depth::Nearest,
            "all" => Depth::All,
            other => {
                return Err(input_error(format!("depth `{other}` is not known; known are `facts`, `nearest`, `all`")));
            }
        };
        let nodes: Vec<_> = nodes.iter().map(|node| &**node).collect();
        Ok(Explanation::new(py.detach(|| (self.explain)(&self.claims, &nodes, depth))))
    }
}

/// Identity of a share: the same for the same claim and result, so that two runs give the same bytes.
fn share_id(claim: &ResourceClaim, result: usize) -> String {
    let metadata = &claim.metadata;
    let of_name = || Uuid::new_v5(&Uuid::NAMESPACE_URL, [&metadata.uid, "/", &metadata.key()].concat().as_bytes());
    let namespace = Uuid::parse_str(&metadata.uid).unwrap_or_else(|_| of_name());
    Uuid::new_v5(&namespace, result.to_string().as_bytes()).to_string()
}

const DEADLINE: &str = "deadline";

/// How long a search may take.
pub(crate) struct Limits {
    pub(crate) steps: Option<u64>,
    /// Says `deadline` or `cancelled` when it is to end.
    pub(crate) poll: Option<Py<PyAny>>,
}

impl Limits {
    /// Runs a search without the interpreter; a signal such as Ctrl-C ends it.
    pub(crate) fn run<T: Send>(&self, py: Python<'_>, search: impl FnOnce(&mut Budget<'_>) -> T + Send) -> PyResult<T> {
        let at_once = self.ask(py)?;
        let mut raised = None;
        let found = py.detach(|| {
            let mut poll = || {
                let asked = Python::attach(|py| py.check_signals().and_then(|()| self.ask(py)));
                asked.unwrap_or_else(|error| {
                    raised = Some(error);
                    Some(Interrupt::Cancelled)
                })
            };
            let mut budget = Budget::unlimited().with_poll(&mut poll);
            if let Some(steps) = self.steps {
                budget = budget.with_steps(steps);
            }
            if let Some(interrupt) = at_once {
                budget = budget.interrupted(interrupt);
            }
            search(&mut budget)
        });
        raised.map_or(Ok(found), Err)
    }

    fn ask(&self, py: Python<'_>) -> PyResult<Option<Interrupt>> {
        let Some(poll) = &self.poll else { return Ok(None) };
        let answer: Option<String> = poll.call0(py)?.extract(py)?;
        Ok(answer.map(|reason| if reason == DEADLINE { Interrupt::Deadline } else { Interrupt::Cancelled }))
    }
}
