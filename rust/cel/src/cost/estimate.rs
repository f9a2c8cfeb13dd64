//! The most that an expression can cost on any device, as the API server estimates it.

use std::collections::HashMap;

use crate::ast::{Ast, Call, Fold, FoldStart, Kind, NodeId, Role};
use crate::check::Checked;
use crate::cost::path::{Path, Paths, Segment};
use crate::cost::size::{self, EntrySize, Place};
use crate::cost::{self, Cost, calls};
use crate::types::Type;
use crate::value::Value;

pub(super) use crate::cost::size::Range;

/// The most that `ast` can cost.
pub(crate) fn max_cost(ast: &Ast, checked: &Checked) -> u64 {
    let mut estimator = Estimator {
        ast,
        checked,
        costs: vec![Range::ZERO; ast.len()],
        sizes: HashMap::new(),
        entries: HashMap::new(),
        paths: Paths::default(),
        path_of: HashMap::new(),
        locals: HashMap::new(),
    };
    for node in order(ast) {
        let cost = estimator.node(node);
        estimator.costs[node.0 as usize] = cost;
    }
    estimator.cost(ast.root()).max
}

/// All nodes in the order in which upstream estimates them: parts before the whole, and arguments before the target.
fn order(ast: &Ast) -> Vec<NodeId> {
    let mut order = Vec::with_capacity(ast.len());
    let mut open = vec![ast.root()];
    // Found from the end.
    while let Some(node) = open.pop() {
        order.push(node);
        match ast.kind(node) {
            Kind::Call(call) => open.extend(call.arguments.iter().copied().chain(call.target)),
            Kind::Fold(Fold { start, range, init, condition, step, result, .. }) => {
                open.extend([range, init, start, condition, step, result]);
            }
            kind => kind.for_each_child(|child| open.push(child)),
        }
    }
    order.reverse();
    order
}

/// What is known of a variable of a loop.
#[derive(Debug, Clone, Copy, Default)]
struct Local {
    path: Path,
    size: Option<Range>,
    entry: Option<EntrySize>,
}

/// The variables of a loop: accumulator, first and second.
type Locals = [Local; 3];

pub(super) struct Estimator<'a> {
    ast: &'a Ast,
    checked: &'a Checked,
    costs: Vec<Range>,
    sizes: HashMap<NodeId, Range>,
    entries: HashMap<NodeId, EntrySize>,
    paths: Paths,
    path_of: HashMap<NodeId, Path>,
    locals: HashMap<NodeId, Locals>,
}

impl Estimator<'_> {
    fn node(&mut self, node: NodeId) -> Range {
        let ast = self.ast;
        let select = Range::exactly(cost::SELECT);
        match ast.kind(node) {
            Kind::Literal(_) | Kind::Unresolved | Kind::FoldCondition(_) | Kind::FoldStep { .. } => Range::ZERO,
            Kind::TypeName(_) => select,
            Kind::Device => {
                let path = self.paths.root("device".into());
                self.path_of.insert(node, path);
                select
            }
            Kind::Local { start, role, .. } => {
                self.path_of.insert(node, self.local(*start, *role).path);
                select
            }
            Kind::Select(selected) => {
                let operand = self.cost(selected.operand);
                if selected.test {
                    return operand;
                }
                let segment = Segment::Name(selected.field.clone());
                self.extend_path(node, selected.operand, segment);
                match self.checked.type_of(selected.operand) {
                    Type::Map(_) | Type::Object(_) | Type::Parameter(_) => operand.plus(select),
                    _ => operand,
                }
            }
            Kind::OptionalSelect { operand, .. } => {
                let size = self.size(node);
                self.set_size(node, size);
                self.cost(*operand).plus(Range::ONE)
            }
            Kind::Call(call) => self.call(node, call),
            Kind::List { elements, .. } => {
                let entry = EntrySize { is_list: true, key: Range::ONE, value: self.union_of(elements) };
                self.entries.insert(node, entry);
                self.sum(elements).plus(Range::exactly(cost::LIST))
            }
            Kind::Map { entries } => {
                let keys: Vec<NodeId> = entries.iter().map(|entry| entry.key).collect();
                let values: Vec<NodeId> = entries.iter().map(|entry| entry.value).collect();
                let entry = EntrySize { is_list: false, key: self.union_of(&keys), value: self.union_of(&values) };
                self.entries.insert(node, entry);
                self.sum(&keys).plus(self.sum(&values)).plus(Range::exactly(cost::MAP))
            }
            Kind::Message(message) => {
                let values: Vec<NodeId> = message.fields.iter().map(|field| field.value).collect();
                self.sum(&values).plus(Range::exactly(cost::MESSAGE))
            }
            Kind::FoldStart(start) => {
                let locals = self.loop_variables(start);
                self.locals.insert(node, locals);
                Range::ZERO
            }
            Kind::Fold(fold) if fold.bind => self.bind(node, fold),
            Kind::Fold(fold) => self.fold(node, fold),
        }
    }

    pub(super) fn cost(&self, node: NodeId) -> Range {
        self.costs[node.0 as usize]
    }

    fn sum(&self, nodes: &[NodeId]) -> Range {
        nodes.iter().fold(Range::ZERO, |sum, node| sum.plus(self.cost(*node)))
    }

    /// The sizes that one of `nodes` may have.
    fn union_of(&mut self, nodes: &[NodeId]) -> Range {
        let none = Range::new(if nodes.is_empty() { 0 } else { u64::MAX }, 0);
        nodes.iter().fold(none, |union, node| union.union(self.size_or_unknown(*node)))
    }

    pub(super) fn type_of(&self, node: NodeId) -> &Type {
        self.checked.type_of(node)
    }

    /// The integer that a node is literally; none when it is something else.
    pub(super) fn literal_int(&self, node: NodeId) -> Option<i64> {
        match self.ast.kind(node) {
            Kind::Literal(Value::Int(value)) => Some(*value),
            _ => None,
        }
    }

    /// The part of the device that a node is.
    pub(super) fn place(&self, node: NodeId) -> Option<Place> {
        self.paths.place(self.path(node))
    }

    fn path(&self, node: NodeId) -> Path {
        self.path_of.get(&node).copied().unwrap_or_default()
    }

    /// Notes that `node` is a part of `whole`.
    fn extend_path(&mut self, node: NodeId, whole: NodeId, segment: Segment) {
        let path = self.paths.extend(self.path(whole), segment);
        self.path_of.insert(node, path);
    }

    fn local(&self, start: NodeId, role: Role) -> Local {
        let locals = self.locals.get(&start).copied().unwrap_or_default();
        let [accumulator, first, second] = locals;
        match role {
            Role::Accumulator => accumulator,
            Role::First => first,
            Role::Second => second,
        }
    }

    fn local_of(&self, node: NodeId) -> Option<Local> {
        match self.ast.kind(node) {
            Kind::Local { start, role, .. } => Some(self.local(*start, *role)),
            _ => None,
        }
    }

    /// What is known of a node's size, by the first rule that knows it.
    pub(super) fn size(&mut self, node: NodeId) -> Option<Range> {
        if let Some(size) = self.sizes.get(&node) {
            return Some(*size);
        }
        self.known_size(node).or_else(|| self.local_of(node).and_then(|local| local.size))
    }

    /// A node's size by what it is, not by what was computed for it.
    fn known_size(&mut self, node: NodeId) -> Option<Range> {
        if let Some(size) = self.literal_size(node) {
            return Some(size);
        }
        if let Some(place) = self.place(node) {
            self.sizes.insert(node, place.size());
            return Some(place.size());
        }
        size::of_type(self.type_of(node))
    }

    fn literal_size(&self, node: NodeId) -> Option<Range> {
        let size = match self.ast.kind(node) {
            Kind::Literal(value) => value.size().unwrap_or(1),
            Kind::List { elements, .. } => elements.len(),
            Kind::Map { entries } => entries.len(),
            _ => return None,
        };
        Some(Range::exactly(size as u64))
    }

    pub(super) fn size_or_unknown(&mut self, node: NodeId) -> Range {
        self.size(node).unwrap_or(Range::UNKNOWN)
    }

    fn set_size(&mut self, node: NodeId, size: Option<Range>) {
        if let Some(size) = size {
            self.sizes.insert(node, size);
        }
    }

    pub(super) fn entry(&self, node: NodeId) -> Option<EntrySize> {
        self.entries.get(&node).copied().or_else(|| self.local_of(node).and_then(|local| local.entry))
    }

    pub(super) fn set_entry(&mut self, node: NodeId, entry: Option<EntrySize>) {
        if let Some(entry) = entry {
            self.entries.insert(node, entry);
        }
    }

    fn call(&mut self, node: NodeId, call: &Call) -> Range {
        if call.function.name == "dyn"
            && let [argument] = call.arguments.as_slice()
        {
            self.copy_sizes(node, *argument);
            return self.cost(*argument).plus(Range::ONE);
        }
        let overloads = self.checked.overloads(node);
        let mut union: Option<Range> = None;
        let mut result: Option<Range> = None;
        for overload in overloads {
            let estimate = calls::estimate(self, node, call, overload.cost);
            union = Some(union.map_or(estimate.cost, |union| union.union(estimate.cost)));
            result = match (result, estimate.size) {
                (Some(known), Some(size)) => Some(known.union(size)),
                (known, size) => known.or(size),
            };
            if let (Cost::IndexList | Cost::IndexMap, Some(container)) = (overload.cost, call.arguments.first()) {
                result = self.entry(*container).map(|entry| entry.value);
                self.extend_path(node, *container, Segment::Values);
            }
            if result.is_none() {
                result = self.size(node);
            }
        }
        self.set_size(node, result);
        let target = call.target.map_or(Range::ZERO, |target| self.cost(target));
        union.map_or(Range::ZERO, |cost| cost.plus(target))
    }

    fn copy_sizes(&mut self, to: NodeId, from: NodeId) {
        let size = self.size(from);
        self.set_size(to, size);
        let entry = self.entry(from);
        self.set_entry(to, entry);
    }

    fn loop_variables(&mut self, start: &FoldStart) -> Locals {
        let accumulator =
            Local { path: self.path(start.init), size: self.size(start.init), entry: self.entry(start.init) };
        let entry = self.entry(start.range);
        let is_list = entry.map_or(matches!(self.type_of(start.range), Type::List(_)), |entry| entry.is_list);
        let path = self.path(start.range);
        let key_size = entry.map(|entry| entry.key);
        let value_size = entry.map(|entry| entry.value);
        let mut variable = |segment, size| Local { path: self.paths.extend(path, segment), size, entry: None };
        match (start.two_variables, is_list) {
            (true, _) => {
                let keys = variable(if is_list { Segment::Indices } else { Segment::Keys }, key_size);
                [accumulator, keys, variable(Segment::Values, value_size)]
            }
            (false, true) => [accumulator, variable(Segment::Values, value_size), Local::default()],
            (false, false) => [accumulator, variable(Segment::Keys, key_size), Local::default()],
        }
    }

    /// The value of a bound name is paid for once.
    fn bind(&mut self, node: NodeId, fold: &Fold) -> Range {
        let is_name = matches!(self.ast.kind(fold.result), Kind::Local { start, .. } if *start == fold.start);
        if is_name {
            self.size_of_name_alone(node, fold);
        } else {
            self.copy_sizes(node, fold.result);
        }
        self.sum(&[fold.range, fold.init, fold.result])
    }

    /// The size of a bound name that is its own body. Upstream looks it up when the name is bound no more: it finds an outer variable of the same
    /// name, or nothing.
    fn size_of_name_alone(&mut self, node: NodeId, fold: &Fold) {
        let outer = fold.hidden.map(|(start, role)| self.local(start, role)).unwrap_or_default();
        if fold.hidden.is_some() {
            self.path_of.insert(fold.result, outer.path);
        }
        let size = self.sizes.get(&fold.result).copied().or_else(|| self.known_size(fold.result)).or(outer.size);
        self.set_size(node, size);
        self.set_entry(node, outer.entry);
    }

    fn fold(&mut self, node: NodeId, fold: &Fold) -> Range {
        let once = self.sum(&[fold.range, fold.init, fold.result]);
        let each = self.sum(&[fold.step, fold.condition]);
        let count = self.size_or_unknown(fold.range);
        match self.ast.kind(fold.init) {
            Kind::Literal(_) => {
                let size = self.size(fold.init);
                self.set_size(node, size);
            }
            Kind::List { .. } | Kind::Map { .. } => {
                self.set_size(node, Some(count));
                let entry = self.entry(fold.step);
                self.set_entry(node, entry);
            }
            _ => {}
        }
        once.plus(count.times(each))
    }
}
