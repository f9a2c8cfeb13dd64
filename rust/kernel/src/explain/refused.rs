//! What selectors say about devices, with the parts at fault. Asked once for all devices that are equal in what a selector reads.

use std::rc::Rc;
use std::sync::Arc;

use drayman_api::Device;
use drayman_cel::{CelDevice, Dissection, RuntimeError, Seen, guarded};
use rustc_hash::FxHashMap;

use crate::explain::FactKind;
use crate::inventory::columns::Key;
use crate::inventory::slices::Slice;
use crate::node_selector;
use crate::plan::Alternative;
use crate::selectors::{Chain, Program};
use crate::shape::is_all_readable;

/// Kinds of devices of one node that are remembered.
const KEPT: usize = 64;

/// What a selector has against devices: the fact, and what it saw.
#[derive(Clone)]
pub(super) struct Against {
    pub(super) kind: Rc<FactKind>,
    pub(super) seen: Rc<Vec<Seen>>,
    /// The same for all devices of one shape; none where a device had to be asked about by itself.
    pub(super) number: Option<usize>,
}

impl Against {
    fn new(kind: FactKind, seen: Vec<Seen>) -> Self {
        Self { kind: Rc::new(kind), seen: Rc::new(seen), number: None }
    }
}

/// What selectors have against devices, by selector and shape. Programs live as long as the plan.
#[derive(Default)]
pub(super) struct Refused {
    /// What was said about devices of the node that is looked at, by what they have in common with others of their slice.
    of_node: Vec<(*const Chain, *const Slice, Key, Against)>,
    known: FxHashMap<(*const Program, usize, Vec<u8>), Option<Against>>,
    dissections: FxHashMap<*const Program, Dissection>,
}

impl Refused {
    /// Goes on to another node.
    pub(super) fn next_node(&mut self) {
        self.of_node.clear();
    }

    /// The first selector of an alternative that is not true of a device, by its position in its slice.
    pub(super) fn first(&mut self, alternative: &Alternative, slice: &Slice, position: usize) -> Against {
        let device = &slice.devices()[position];
        let chain = &alternative.chain;
        let Some(key) = slice.columns().key(chain.reads(), position, device) else {
            return self.by_shape(alternative, slice.driver(), device);
        };
        let place = (Arc::as_ptr(chain), std::ptr::from_ref(slice));
        let is_known = |known: &&(_, _, Key, Against)| (known.0, known.1) == place && known.2 == key;
        if let Some((.., against)) = self.of_node.iter().find(is_known) {
            return against.clone();
        }
        let against = self.by_shape(alternative, slice.driver(), device);
        // Without a number it is not the selectors that are against the device.
        if against.number.is_some() && self.of_node.len() < KEPT {
            self.of_node.push((place.0, place.1, key, against.clone()));
        }
        against
    }

    fn by_shape(&mut self, alternative: &Alternative, driver: &str, device: &Device) -> Against {
        let is_readable = is_all_readable(device);
        for (position, program) in alternative.chain.programs.iter().enumerate() {
            let program: &Program = program;
            let shape = if is_readable { program.shape_of_readable(driver, device) } else { None };
            let Some(shape) = shape else {
                match self.ask(alternative, position, program, driver, device) {
                    Some(against) => return against,
                    None => continue,
                }
            };
            let key = (std::ptr::from_ref(program), position, shape);
            if let Some(known) = self.known.get(&key) {
                match known {
                    Some(against) => return against.clone(),
                    None => continue,
                }
            }
            let number = Some(self.known.len());
            let against = self.ask(alternative, position, program, driver, device);
            let against = against.map(|against| Against { number, ..against });
            self.known.insert(key, against.clone());
            if let Some(against) = against {
                return against;
            }
        }
        let kind = match node_selector::check(device.node_selection()) {
            Ok(()) => FactKind::DeviceNotOnNode,
            Err(error) => FactKind::NodeSelectorUnusable { error: error.to_string() },
        };
        Against::new(kind, Vec::new())
    }

    fn ask(
        &mut self,
        alternative: &Alternative,
        position: usize,
        program: &Program,
        driver: &str,
        device: &Device,
    ) -> Option<Against> {
        let (source, index) = alternative.selector_source(position);
        if let Some(error) = program.compile_error() {
            let error = error.issues().first().map_or_else(|| error.to_string(), |issue| issue.message.clone());
            let kind = FactKind::SelectorInvalid { source, index, error };
            return Some(Against::new(kind, Vec::new()));
        }
        let device = CelDevice::new(driver, device);
        let expression = alternative.expression(position);
        match program.ask(&device)? {
            Ok(true) => None,
            Ok(false) => {
                let dissection = self.dissections.entry(std::ptr::from_ref(program));
                let why = dissection.or_insert_with(|| Dissection::new(expression)).why(&device);
                let mut seen = Vec::new();
                let mut reasons = why.reasons;
                for reason in &mut reasons {
                    seen.append(&mut reason.seen);
                }
                let mut known = Vec::new();
                seen.retain(|value: &Seen| {
                    let is_new = !known.contains(&value.path);
                    known.push(value.path.clone());
                    is_new
                });
                let (failing, conjuncts) = (why.failing, why.conjuncts);
                let kind = FactKind::SelectorFalse { source, index, failing, conjuncts, reasons };
                Some(Against::new(kind, seen))
            }
            Err(error) => {
                let guarded = guarded_for(expression, &error, &device);
                let kind = FactKind::SelectorFailed { source, index, error: error.to_string(), guarded };
                Some(Against::new(kind, Vec::new()))
            }
        }
    }
}

/// The expression in a form that does not fail on the device, if guarding what is missing achieves that.
pub(super) fn guarded_for(expression: &str, error: &RuntimeError, device: &CelDevice) -> Option<String> {
    /// Names that may be missing one after the other.
    const MOST: usize = 8;
    let mut text = expression.to_owned();
    let mut error = error.clone();
    for _ in 0..MOST {
        let RuntimeError::NoSuchKey { key } = &error else { return None };
        text = guarded(&text, key)?;
        let selector = drayman_cel::Selector::compile(&text, drayman_cel::Environment::Stored).ok()?;
        match selector.matches(device) {
            Ok(_) => return Some(text),
            Err(next) => error = next,
        }
    }
    None
}
