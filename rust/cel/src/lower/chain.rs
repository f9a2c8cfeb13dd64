//! Chains: a variable or value, and the fields and elements selected from it one after the other.

use std::sync::Arc;

use crate::ast::{Kind, NodeId, Role};
use crate::cost;
use crate::device::names::Name;
use crate::error::CompileError;
use crate::library::{Binding, Special};
use crate::lower::{Lowering, Work};
use crate::program::{Attribute, Section, Step};
use crate::value::Value;

/// One selection.
enum Link {
    Constant { key: Value, optional: bool },
    Dynamic { key: NodeId, optional: bool },
    Test(Value),
}

impl Lowering<'_> {
    /// A chain with all of its cost: one for a variable or value at its root, nothing for a conditional; a presence test gives one back.
    pub(super) fn charged_chain(&mut self, node: NodeId) {
        let (base, links) = self.links(node);
        let is_conditional = self.special_of(base) == Some(Special::Conditional);
        let is_test = matches!(links.last(), Some(Link::Test(_)));
        let mut work = vec![Work::Chain { node, bare: false }];
        match (is_conditional, is_test) {
            (false, false) => work.push(Work::Step(Step::Charge(cost::SELECT))),
            (true, true) => work.push(Work::Step(Step::Refund)),
            _ => {}
        }
        self.then(work);
    }

    /// A chain without the cost of its root. A node that is no chain is put out as it is. `bare` tells how a presence test ends.
    pub(super) fn chain(&mut self, node: NodeId, bare: bool) {
        let (base, links) = self.links(node);
        let ast = self.ast;
        if self.constants.value(node).is_some()
            || links.is_empty() && !matches!(ast.kind(base), Kind::Device | Kind::Local { .. })
        {
            return self.node(node);
        }
        let mut work = Vec::with_capacity(links.len() + 1);
        let mut rest = links.as_slice();
        match ast.kind(base) {
            Kind::Device => {
                self.note_reads(&links);
                match attribute(&links) {
                    Some(attribute) => {
                        work.push(Work::Step(Step::Attribute(Box::new(attribute))));
                        rest = &links[3..];
                    }
                    None => work.push(Work::Step(Step::Device)),
                }
            }
            Kind::Local { start, role, .. } => {
                let step = self.local(*start, *role);
                work.push(Work::Step(step));
            }
            _ => work.push(Work::Node(base)),
        }
        for link in rest {
            self.link(link, bare, &mut work);
        }
        self.then(work);
    }

    fn link(&mut self, link: &Link, bare: bool, work: &mut Vec<Work>) {
        match link {
            Link::Constant { key, .. } if !is_key(key) => {
                let cause = format!("invalid qualifier type: {}", key.go_type());
                self.error.get_or_insert(CompileError::Constant { cause });
            }
            Link::Constant { key, optional } => {
                work.push(Work::Step(Step::Qualify { key: key.clone(), optional: *optional }));
            }
            Link::Test(key) => work.push(Work::Step(Step::Test { key: key.clone(), bare })),
            Link::Dynamic { key, optional } => {
                let end = self.label();
                work.extend([
                    Work::Step(Step::SkipUnlessOpen(end)),
                    Work::Chain { node: *key, bare: true },
                    Work::Step(Step::QualifyByTop { optional: *optional }),
                    Work::Label(end),
                ]);
            }
        }
    }

    /// The base of the chain that ends in `node`, and its links in order.
    fn links(&self, node: NodeId) -> (NodeId, Vec<Link>) {
        let mut links = Vec::new();
        let mut base = node;
        loop {
            let (operand, link) = match self.ast.kind(base) {
                Kind::Select(select) if select.test => {
                    (select.operand, Link::Test(Value::String(select.field.clone())))
                }
                Kind::Select(select) => {
                    (select.operand, Link::Constant { key: Value::String(select.field.clone()), optional: false })
                }
                Kind::OptionalSelect { operand, field } => {
                    (*operand, Link::Constant { key: Value::String(field.clone()), optional: true })
                }
                Kind::Call(call) => {
                    let optional = match call.function.binding {
                        Binding::Special(Special::Index) => false,
                        Binding::Special(Special::OptionalIndex) => true,
                        _ => break,
                    };
                    let [operand, key] = call.arguments.as_slice() else { break };
                    let link = match self.constants.value(*key) {
                        Some(value) => Link::Constant { key: value.clone(), optional },
                        None => Link::Dynamic { key: *key, optional },
                    };
                    (*operand, link)
                }
                _ => break,
            };
            links.push(link);
            base = operand;
        }
        links.reverse();
        (base, links)
    }

    fn special_of(&self, node: NodeId) -> Option<Special> {
        match self.ast.kind(node) {
            Kind::Call(call) => match call.function.binding {
                Binding::Special(special) => Some(special),
                _ => None,
            },
            _ => None,
        }
    }

    fn local(&mut self, start: NodeId, role: Role) -> Step {
        let slots = self.slots.get(&start);
        match (slots, role) {
            (Some(slots), Role::Accumulator) => match slots.init {
                Some(init) => Step::Bound { slot: slots.accumulator, init },
                None => Step::Local(slots.accumulator),
            },
            (Some(slots), Role::First) => Step::Local(slots.first),
            (Some(slots), Role::Second) => Step::Local(slots.second),
            (None, _) => Step::Constant(Value::Null),
        }
    }

    /// Notes what of the device a chain on `device` reads.
    fn note_reads(&mut self, links: &[Link]) {
        let key = |index: usize| match links.get(index) {
            Some(Link::Constant { key: Value::String(key), .. } | Link::Test(Value::String(key))) => Some(key.as_ref()),
            _ => None,
        };
        match (key(0), key(1), key(2)) {
            (Some("driver"), ..) => self.reads.driver = true,
            (Some("allowMultipleAllocations"), ..) => self.reads.allow_multiple_allocations = true,
            (Some("attributes"), Some(domain), Some(name)) => self.reads.attributes.add(domain, name),
            (Some("capacity"), Some(domain), Some(name)) => self.reads.capacity.add(domain, name),
            (Some("attributes"), ..) => self.reads.attributes.add_all(),
            (Some("capacity"), ..) => self.reads.capacity.add_all(),
            _ => self.reads.add_all(),
        }
    }
}

/// Whether a constant may select anything.
fn is_key(key: &Value) -> bool {
    matches!(key, Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Double(_) | Value::String(_))
}

/// What `device.attributes["domain"].name` and the same on `capacity` select, at the start of a chain on `device`.
fn attribute(links: &[Link]) -> Option<Attribute> {
    let key = |index: usize| -> Option<&Arc<str>> {
        match links.get(index)? {
            Link::Constant { key: Value::String(key), optional: false } => Some(key),
            _ => None,
        }
    };
    let section = match key(0)?.as_ref() {
        "attributes" => Section::Attributes,
        "capacity" => Section::Capacity,
        _ => return None,
    };
    Some(Attribute { section, domain: Name::new(key(1)?.clone()), name: Name::new(key(2)?.clone()) })
}
