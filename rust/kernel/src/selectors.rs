//! Selectors of classes and requests: compiled once, and asked once for all devices that are equal in what they read.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use drayman_api::Device;
use drayman_cel::{Access, CelDevice, CompileError, Environment, Reads, RuntimeError, Selector};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::bits::DeviceSet;
use crate::derived::Derived;
use crate::shape::{ValueText, shape, shape_of_readable};

/// Programs that are kept; when there are more, those that no plan uses any more go.
const KEPT_PROGRAMS: usize = 256;

/// Shapes of devices that an expression is remembered for; expressions that tell all devices apart would fill the memory.
const KEPT_SHAPES: usize = 1 << 10;

/// What a selector says about a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Yes.
    Selected,
    /// No.
    Passed,
    /// It fails: reaching the device ends the search with an error.
    Failed,
}

impl Verdict {
    /// The next verdict, if this one is yes.
    pub(crate) fn and_then(self, next: impl FnOnce() -> Self) -> Self {
        if self == Self::Selected { next() } else { self }
    }
}

/// Verdicts about the devices of a pool.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Verdicts {
    pub(crate) selected: DeviceSet,
    pub(crate) failed: DeviceSet,
}

impl Verdicts {
    /// No device is selected.
    pub(crate) fn none(length: usize) -> Self {
        Self { selected: DeviceSet::empty(length), failed: DeviceSet::empty(length) }
    }

    pub(crate) fn set(&mut self, position: usize, verdict: Verdict) {
        match verdict {
            Verdict::Selected => self.selected.insert(position),
            Verdict::Failed => self.failed.insert(position),
            Verdict::Passed => {}
        }
    }
}

/// One expression.
#[derive(Debug)]
pub(crate) struct Program {
    id: u64,
    compiled: Result<Selector, Arc<CompileError>>,
    /// What it said, by shape of the device.
    shapes: Mutex<FxHashMap<ValueText, Verdict>>,
    /// Counts evaluations of all programs.
    evaluations: Arc<AtomicU64>,
}

impl Program {
    /// Why the expression does not compile.
    pub(crate) fn compile_error(&self) -> Option<&Arc<CompileError>> {
        self.compiled.as_ref().err()
    }

    /// Text of the error that evaluation on a device ends with, with upstream's advice.
    pub(crate) fn runtime_error(&self, driver: &str, device: &Device) -> Option<String> {
        let selector = self.compiled.as_ref().ok()?;
        selector.matches(&CelDevice::new(driver, device)).err().map(|error| error.with_hint())
    }

    /// What the expression can tell apart devices by whose attributes are all readable; none where each has to be asked about by itself.
    pub(crate) fn shape_of_readable(&self, driver: &str, device: &Device) -> Option<Vec<u8>> {
        shape_of_readable(self.compiled.as_ref().ok()?.reads(), driver, device).map(SmallVec::into_vec)
    }

    /// Whether the expression is true of a device, or the error that it fails with. Not remembered.
    pub(crate) fn ask(&self, device: &CelDevice) -> Option<Result<bool, RuntimeError>> {
        Some(self.compiled.as_ref().ok()?.matches(device))
    }

    /// Evaluates the expression, unless it was evaluated on a device of the same shape before.
    fn judge(&self, driver: &str, device: &Device) -> Verdict {
        let Ok(selector) = &self.compiled else { return Verdict::Failed };
        let Some(shape) = shape(selector.reads(), driver, device) else {
            return self.evaluate(selector, driver, device);
        };
        let mut shapes = self.shapes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(verdict) = shapes.get(&shape) {
            return *verdict;
        }
        let verdict = self.evaluate(selector, driver, device);
        if shapes.len() >= KEPT_SHAPES {
            shapes.clear();
        }
        shapes.insert(shape, verdict);
        verdict
    }

    fn evaluate(&self, selector: &Selector, driver: &str, device: &Device) -> Verdict {
        self.evaluations.fetch_add(1, Ordering::Relaxed);
        match selector.matches(&CelDevice::new(driver, device)) {
            Ok(true) => Verdict::Selected,
            Ok(false) => Verdict::Passed,
            Err(_) => Verdict::Failed,
        }
    }
}

/// Selectors that a device must satisfy one after the other: those of a class, then those of a request.
#[derive(Debug)]
pub(crate) struct Chain {
    pub(crate) programs: Vec<Arc<Program>>,
    /// What any of them reads.
    reads: Reads,
}

impl Chain {
    fn new(programs: Vec<Arc<Program>>) -> Self {
        let mut reads = Reads::default();
        for selector in programs.iter().filter_map(|program| program.compiled.as_ref().ok()) {
            let more = selector.reads();
            reads.attributes = union(reads.attributes, &more.attributes);
            reads.capacity = union(reads.capacity, &more.capacity);
            reads.driver |= more.driver;
            reads.allow_multiple_allocations |= more.allow_multiple_allocations;
        }
        Self { programs, reads }
    }

    /// What of a device the selectors read.
    pub(crate) fn reads(&self) -> &Reads {
        &self.reads
    }

    pub(crate) fn judge(&self, driver: &str, device: &Device) -> Verdict {
        let mut programs = self.programs.iter();
        programs
            .try_fold((), |(), program| match program.judge(driver, device) {
                Verdict::Selected => Ok(()),
                verdict => Err(verdict),
            })
            .err()
            .unwrap_or(Verdict::Selected)
    }

    /// The first selector that does not say yes to a device.
    pub(crate) fn first_refusal(&self, driver: &str, device: &Device) -> Option<usize> {
        self.programs.iter().position(|program| program.judge(driver, device) != Verdict::Selected)
    }
}

fn union(one: Access, other: &Access) -> Access {
    match (one, other) {
        (Access::Names(mut names), Access::Names(more)) => {
            names.extend(more.iter().cloned());
            Access::Names(names)
        }
        _ => Access::All,
    }
}

/// All programs and chains in use.
#[derive(Clone, Debug, Default)]
pub(crate) struct Selectors {
    next_id: u64,
    programs: FxHashMap<Arc<str>, Arc<Program>>,
    chains: FxHashMap<Vec<u64>, Arc<Chain>>,
    derived: FxHashMap<Arc<str>, Arc<Derived>>,
    /// Together with all copies, which share programs.
    evaluations: Arc<AtomicU64>,
}

impl Selectors {
    /// How often a selector was evaluated on a device so far.
    pub(crate) fn evaluations(&self) -> u64 {
        self.evaluations.load(Ordering::Relaxed)
    }

    /// The chain of these expressions.
    pub(crate) fn chain<'a>(&mut self, expressions: impl Iterator<Item = &'a str>) -> Arc<Chain> {
        self.evict();
        let programs: Vec<_> = expressions.map(|expression| self.program(expression)).collect();
        let key = programs.iter().map(|program| program.id).collect();
        if let Some(chain) = self.chains.get(&key) {
            return Arc::clone(chain);
        }
        let chain = Arc::new(Chain::new(programs));
        self.chains.insert(key, Arc::clone(&chain));
        chain
    }

    /// The expression of a derived attribute.
    pub(crate) fn derived(&mut self, expression: &str) -> Arc<Derived> {
        if self.derived.len() > KEPT_PROGRAMS {
            self.derived.retain(|_, derived| Arc::strong_count(derived) > 1);
        }
        let derived = self.derived.entry(expression.into());
        Arc::clone(derived.or_insert_with(|| Arc::new(Derived::new(expression))))
    }

    fn program(&mut self, expression: &str) -> Arc<Program> {
        if let Some(program) = self.programs.get(expression) {
            return Arc::clone(program);
        }
        let compiled = Selector::compile(expression, Environment::Stored).map_err(Arc::new);
        let evaluations = Arc::clone(&self.evaluations);
        let program = Arc::new(Program { id: self.take_id(), compiled, shapes: Mutex::default(), evaluations });
        self.programs.insert(expression.into(), Arc::clone(&program));
        program
    }

    fn take_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    /// Drops what only this cache holds, once there is too much of it.
    fn evict(&mut self) {
        if self.programs.len() > KEPT_PROGRAMS {
            self.chains.retain(|_, chain| Arc::strong_count(chain) > 1);
            self.programs.retain(|_, program| Arc::strong_count(program) > 1);
        }
    }
}
