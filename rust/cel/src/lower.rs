//! From the checked arena to steps.
//!
//! The order and the costs of the steps are those of upstream's planner: constant lists and maps cost nothing, a chain of selections costs one
//! a link, and a call whose operand fails may or may not be paid for. The walk keeps its own stack of work.

mod chain;
mod constant;
mod fold;

use std::collections::HashMap;
use std::sync::Arc;

use crate::ast::{Ast, Call, Kind, NodeId};
use crate::check::Checked;
use crate::cost;
use crate::error::CompileError;
use crate::library::regexes::ConstantRegex;
use crate::library::{Binding, Overload, Special};
use crate::program::{CallStep, How, Program, Step, Target};
use crate::reads::Reads;

use constant::Constants;

/// Makes the steps of `ast`, and finds out what of a device they read.
pub(crate) fn lower(ast: &Ast, checked: &Checked) -> Result<(Program, Reads), CompileError> {
    let constants = Constants::find(ast, checked)?;
    let mut lowering = Lowering {
        ast,
        checked,
        constants,
        slots: HashMap::new(),
        slot_count: 0,
        steps: Vec::new(),
        labels: Vec::new(),
        work: vec![Work::Node(ast.root())],
        reads: Reads::default(),
        error: None,
    };
    while let Some(work) = lowering.work.pop() {
        match work {
            Work::Node(node) => lowering.node(node),
            Work::Chain { node, bare } => lowering.chain(node, bare),
            Work::Step(step) => lowering.steps.push(step),
            Work::Label(label) => lowering.labels[label] = lowering.steps.len(),
        }
    }
    lowering.finish()
}

/// What is still to be put out, last first.
enum Work {
    Node(NodeId),
    /// A node without the cost of its root; `bare` when it is a branch of a conditional or a key.
    Chain {
        node: NodeId,
        bare: bool,
    },
    Step(Step),
    /// The next step is where the label points.
    Label(usize),
}

struct Lowering<'a> {
    ast: &'a Ast,
    checked: &'a Checked,
    constants: Constants,
    /// The variables of loops by their start.
    slots: HashMap<NodeId, fold::Slots>,
    slot_count: usize,
    steps: Vec<Step>,
    /// Where labels point; targets in steps are labels until the end.
    labels: Vec<Target>,
    work: Vec<Work>,
    reads: Reads,
    error: Option<CompileError>,
}

impl Lowering<'_> {
    fn finish(mut self) -> Result<(Program, Reads), CompileError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        for step in &mut self.steps {
            step.resolve(&self.labels);
        }
        Ok((Program { steps: self.steps, slots: self.slot_count }, self.reads))
    }

    fn label(&mut self) -> usize {
        self.labels.push(0);
        self.labels.len() - 1
    }

    /// Puts `work` before all that is still to be done, in the order given.
    fn then(&mut self, work: Vec<Work>) {
        self.work.extend(work.into_iter().rev());
    }

    fn node(&mut self, node: NodeId) {
        if let Some(value) = self.constants.value(node) {
            self.steps.push(Step::Constant(value.clone()));
            return;
        }
        let ast = self.ast;
        match ast.kind(node) {
            Kind::Device | Kind::Local { .. } | Kind::Select(_) | Kind::OptionalSelect { .. } => {
                self.charged_chain(node);
            }
            Kind::Call(call) => self.call(node, call),
            Kind::List { elements, optional } => {
                let end = self.label();
                let mut work = Self::stopping(elements, end);
                work.extend([
                    Work::Step(Step::List { optional: optional.clone() }),
                    Work::Label(end),
                    Work::Step(Step::Charge(cost::LIST)),
                ]);
                self.then(work);
            }
            Kind::Map { entries } => {
                let end = self.label();
                let pieces: Vec<NodeId> = entries.iter().flat_map(|entry| [entry.key, entry.value]).collect();
                let mut work = Self::stopping(&pieces, end);
                let optional = entries.iter().map(|entry| entry.optional).collect();
                work.extend([
                    Work::Step(Step::Map { optional }),
                    Work::Label(end),
                    Work::Step(Step::Charge(cost::MAP)),
                ]);
                self.then(work);
            }
            Kind::Message(message) => {
                let end = self.label();
                let values: Vec<NodeId> = message.fields.iter().map(|field| field.value).collect();
                let mut work = Self::stopping(&values, end);
                let step = Step::Message { name: message.of.runtime_name(), fields: values.len() };
                work.extend([Work::Step(step), Work::Label(end), Work::Step(Step::Charge(cost::MESSAGE))]);
                self.then(work);
            }
            Kind::Fold(fold) => self.fold(fold),
            Kind::Literal(_)
            | Kind::TypeName(_)
            | Kind::Unresolved
            | Kind::FoldStart(_)
            | Kind::FoldCondition(_)
            | Kind::FoldStep { .. } => {}
        }
    }

    /// Evaluates `nodes` until one is an error, which goes to `end`.
    fn stopping(nodes: &[NodeId], end: usize) -> Vec<Work> {
        nodes
            .iter()
            .enumerate()
            .flat_map(|(drop, node)| [Work::Node(*node), Work::Step(Step::StopIfFault { drop, target: end })])
            .collect()
    }

    fn call(&mut self, node: NodeId, call: &Call) {
        if let Some((result, cost)) = self.constants.folded(node) {
            self.steps.push(Step::Folded { result: result.clone(), cost });
            return;
        }
        if let Binding::Special(special) = call.function.binding {
            return self.special(node, call, special);
        }
        if let Some((accumulator, rest, _)) = self.gathers(node) {
            let list = rest[0];
            return self.then(vec![
                Work::Step(Step::TakeLocal(accumulator)),
                Work::Step(Step::Charge(cost::SELECT)),
                Work::Node(list),
                Work::Step(Step::Append),
            ]);
        }
        let operands: Vec<NodeId> = call.operands().collect();
        if let Some(set) = self.constants.set(node) {
            let step = Step::IsOneOf(Arc::clone(set));
            self.then(vec![Work::Node(operands[0]), Work::Step(step)]);
            return;
        }
        if let Some(regex) = self.constants.regex(node) {
            return self.regex_call(&operands, Arc::clone(regex));
        }
        let overloads = self.checked.overloads(node);
        let (how, variadic) = implementation(call, overloads);
        let cost = match overloads {
            [overload] => overload.cost,
            [overload, ..] => overload.cost.of_ambiguous(),
            [] => cost::Cost::One,
        };
        let step = Step::Call(CallStep { function: call.function, how, operands: operands.len(), cost });
        let end = self.label();
        let last = operands.len().saturating_sub(1);
        let mut work = Vec::with_capacity(operands.len() * 2 + 2);
        for (index, operand) in operands.iter().enumerate() {
            work.push(Work::Node(*operand));
            if variadic && index < last {
                work.push(Work::Step(Step::StopIfFault { drop: index, target: end }));
            }
        }
        work.extend([Work::Step(step), Work::Label(end)]);
        self.then(work);
    }

    /// A call with a constant regular expression: the text, and a number when there is one.
    fn regex_call(&mut self, operands: &[NodeId], regex: Arc<ConstantRegex>) {
        let end = self.label();
        let rest: Vec<NodeId> =
            operands.iter().enumerate().filter(|(index, _)| *index != 1).map(|(_, operand)| *operand).collect();
        let mut work = vec![Work::Node(rest[0]), Work::Step(Step::StopIfFault { drop: 0, target: end })];
        work.extend(rest.get(1).map(|operand| Work::Node(*operand)));
        work.extend([Work::Step(Step::Regex { regex, operands: rest.len() }), Work::Label(end)]);
        self.then(work);
    }

    fn special(&mut self, node: NodeId, call: &Call, special: Special) {
        let operands: Vec<NodeId> = call.operands().collect();
        let end = self.label();
        let operand = |index: usize| operands.get(index).copied().unwrap_or(node);
        let work = match special {
            Special::And | Special::Or => {
                let on = special == Special::Or;
                vec![
                    Work::Node(operand(0)),
                    Work::Step(Step::ShortCircuit { on, target: end }),
                    Work::Node(operand(1)),
                    Work::Step(Step::Join { on }),
                    Work::Label(end),
                ]
            }
            Special::Conditional => {
                let otherwise = self.label();
                vec![
                    Work::Node(operand(0)),
                    Work::Step(Step::Branch { otherwise, end }),
                    Work::Chain { node: operand(1), bare: true },
                    Work::Step(Step::Jump(end)),
                    Work::Label(otherwise),
                    Work::Chain { node: operand(2), bare: true },
                    Work::Label(end),
                ]
            }
            Special::NotStrictlyFalse => vec![Work::Node(operand(0)), Work::Step(Step::NotStrictlyFalse)],
            Special::Equals | Special::NotEquals => {
                let negated = special == Special::NotEquals;
                vec![Work::Node(operand(0)), Work::Node(operand(1)), Work::Step(Step::Equal { negated })]
            }
            Special::Index | Special::OptionalIndex => return self.charged_chain(node),
            Special::OptionalOr | Special::OptionalOrValue => {
                let unwrap = special == Special::OptionalOrValue;
                vec![
                    Work::Node(operand(0)),
                    Work::Step(Step::OptionalOr { unwrap, end }),
                    Work::Node(operand(1)),
                    Work::Label(end),
                ]
            }
            Special::MapInsert => self.map_insert(node, &operands, end),
        };
        self.then(work);
    }

    /// A call that adds to the map of its loop.
    fn map_insert(&mut self, node: NodeId, operands: &[NodeId], end: usize) -> Vec<Work> {
        let mut work = match self.gathers(node) {
            Some((accumulator, ..)) => {
                vec![Work::Step(Step::TakeLocal(accumulator)), Work::Step(Step::Charge(cost::SELECT))]
            }
            None => operands.first().map(|operand| Work::Node(*operand)).into_iter().collect(),
        };
        for (index, operand) in operands.iter().enumerate().skip(1) {
            // With key and value, upstream ends at the first error and does not charge the call.
            if operands.len() > 2 {
                work.push(Work::Step(Step::StopIfFault { drop: index - 1, target: end }));
            }
            work.push(Work::Node(*operand));
        }
        work.extend([Work::Step(Step::MapInsert { operands: operands.len() }), Work::Label(end)]);
        work
    }
}

/// How a call is made, and whether it ends at the first operand that is an error.
fn implementation(call: &Call, overloads: &[&'static Overload]) -> (How, bool) {
    if let Binding::Shared { accepts, call } = call.function.binding {
        return (How::Shared { accepts, call }, false);
    }
    let only = match overloads {
        [overload] => Some(*overload),
        _ if call.function.implementations() == 1 => call.function.overloads.first(),
        _ => None,
    };
    match only.and_then(|overload| overload.call.map(|call| (overload, call))) {
        Some((overload, call)) => (How::Overload { overload, call }, overload.variadic),
        None => (How::Dispatch, true),
    }
}

impl Step {
    /// Replaces labels by the places that they point to.
    fn resolve(&mut self, labels: &[Target]) {
        let targets: [Option<&mut Target>; 2] = match self {
            Self::Bound { init: target, .. }
            | Self::SkipUnlessOpen(target)
            | Self::ShortCircuit { target, .. }
            | Self::OptionalOr { end: target, .. }
            | Self::StopIfFault { target, .. }
            | Self::Jump(target)
            | Self::Begin { end: target, .. }
            | Self::Next { result: target, .. }
            | Self::While(target) => [Some(target), None],
            Self::Branch { otherwise, end } => [Some(otherwise), Some(end)],
            _ => [None, None],
        };
        for target in targets.into_iter().flatten() {
            *target = labels[*target];
        }
    }
}
