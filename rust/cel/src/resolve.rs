//! From the syntax tree to the arena: expands macros, and finds out what every name stands for.
//!
//! The walk keeps its own stack of tasks. A task either takes a tree apart, leaving tasks for the pieces, or makes a node from the nodes that
//! the pieces became.

mod fold;

use std::collections::HashSet;
use std::sync::Arc;

use cel::common::ast::{CallExpr, EntryExpr, Expr, IdedEntryExpr, IdedExpr, LiteralValue, SelectExpr, StructExpr};

use crate::ast::{Ast, Call, Entry, Field, Kind, Message, Node, NodeId, Role, Select};
use crate::error::{CompileError, Issues};
use crate::library::{self, Function};
use crate::macros::{self, Expanded};
use crate::names;
use crate::syntax::{self, Parsed, Positions, tree};
use crate::types::Type;
use crate::value::Value;

use fold::FoldTask;

/// The most nodes that an expression may have after its macros are expanded; upstream has no limit and would not end.
const MAX_NODES: usize = 200_000;

/// Makes the arena of `parsed`.
///
/// `declares` tells which functions the environment has. Undeclared names are added to `issues`, to be told together with what the checker finds. A macro that cannot be expanded is an error at
/// once, as in upstream's parser.
pub(crate) fn resolve(
    source: &str,
    parsed: Parsed,
    declares: &dyn Fn(&str) -> bool,
    issues: &mut Issues,
) -> Result<Ast, CompileError> {
    let Parsed { root, positions } = parsed;
    let mut resolver = Resolver {
        source,
        positions,
        declares,
        issues,
        macro_issues: Issues::default(),
        refused: HashSet::new(),
        nodes: Vec::new(),
        done: Vec::new(),
        tasks: vec![Task::Visit(root)],
        scope: Vec::new(),
        copied: 0,
    };
    while let Some(task) = resolver.tasks.pop() {
        resolver.run(task);
        if resolver.nodes.len() + resolver.tasks.len() > MAX_NODES || resolver.copied > MAX_NODES {
            let mut issues = Issues::default();
            issues.report_nowhere(format!(
                "expression is too large: more than {MAX_NODES} parts after expansion of macros"
            ));
            return Err(issues.into_error(source));
        }
    }
    if !resolver.macro_issues.is_empty() {
        return Err(resolver.macro_issues.into_error(source));
    }
    Ok(Ast::new(resolver.nodes))
}

/// What remains to be done with a node once its pieces are in the arena.
enum Task {
    Visit(IdedExpr),
    Select { id: u64, field: String, test: bool },
    OptionalSelect { id: u64, field: String },
    Call { id: u64, function: Option<&'static Function>, target: bool, arguments: usize },
    List { id: u64, optional: Vec<bool> },
    Map { id: u64, optional: Vec<bool> },
    Message { id: u64, of: Type, fields: Vec<(u64, String, bool)> },
    Undeclared { id: u64, name: String },
    Fold(Box<FoldTask>),
}

/// A variable of a loop that is in scope.
struct Local {
    name: String,
    start: NodeId,
    role: Role,
}

struct Resolver<'a> {
    source: &'a str,
    positions: Positions,
    declares: &'a dyn Fn(&str) -> bool,
    issues: &'a mut Issues,
    macro_issues: Issues,
    /// The macros that were refused.
    refused: HashSet<u64>,
    nodes: Vec<Node>,
    /// The nodes that no parent has taken yet.
    done: Vec<NodeId>,
    tasks: Vec<Task>,
    scope: Vec<Local>,
    /// How many nodes macros have copied.
    copied: usize,
}

impl Resolver<'_> {
    fn run(&mut self, task: Task) {
        match task {
            Task::Visit(node) => self.visit(node),
            Task::Select { id, field, test } => {
                let operand = self.take();
                self.add(id, Kind::Select(Select { operand, field: field.into(), test }));
            }
            Task::OptionalSelect { id, field } => {
                let operand = self.take();
                self.add(id, Kind::OptionalSelect { operand, field: field.into() });
            }
            Task::Call { id, function, target, arguments } => {
                let target = target.then(|| self.take());
                let arguments = self.take_many(arguments);
                let kind =
                    function.map_or(Kind::Unresolved, |function| Kind::Call(Call { function, target, arguments }));
                self.add(id, kind);
            }
            Task::List { id, optional } => {
                let elements = self.take_many(optional.len());
                self.add(id, Kind::List { elements, optional });
            }
            Task::Map { id, optional } => {
                let mut pieces = self.take_many(optional.len() * 2).into_iter();
                let mut entries = Vec::with_capacity(optional.len());
                for optional in optional {
                    if let (Some(key), Some(value)) = (pieces.next(), pieces.next()) {
                        entries.push(Entry { key, value, optional });
                    }
                }
                self.add(id, Kind::Map { entries });
            }
            Task::Message { id, of, fields } => self.message(id, of, fields),
            Task::Undeclared { id, name } => self.report_undeclared(id, &name),
            Task::Fold(task) => self.run_fold(*task),
        }
    }

    fn visit(&mut self, node: IdedExpr) {
        let IdedExpr { id, expr } = node;
        match expr {
            Expr::Literal(literal) => {
                let value = literal_value(literal);
                let offset = self.literal_offset(id, &value);
                self.add_at(offset, Kind::Literal(value));
            }
            Expr::Ident(name) => self.ident(id, &name),
            Expr::Select(select) => self.select(id, select),
            Expr::Call(call) => {
                if let Some(target) = call.target.as_ref().filter(|_| macros::doubles_target(&call)) {
                    self.copied += tree::size(target);
                }
                match macros::expand(id, call) {
                    Expanded::Call(call) => self.call(id, call),
                    Expanded::Macro(Ok(expanded)) => self.tasks.push(Task::Visit(expanded)),
                    // Macros that have their target twice would tell what is wrong in it twice.
                    Expanded::Macro(Err(_)) if !self.refused.insert(id) => self.add(id, Kind::Unresolved),
                    Expanded::Macro(Err(error)) => {
                        let offset = self.positions.offset(error.node);
                        let is_number = self
                            .source
                            .get(offset..)
                            .is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
                        let sign = syntax::sign_before(self.source.get(..offset).unwrap_or("")).filter(|_| is_number);
                        let offset = sign.unwrap_or(offset);
                        self.macro_issues.report(self.source, offset, error.message);
                        self.add(id, Kind::Unresolved);
                    }
                }
            }
            Expr::List(list) => {
                let mut optional = vec![false; list.elements.len()];
                for index in list.optional_indices {
                    optional.iter_mut().skip(index).take(1).for_each(|flag| *flag = true);
                }
                self.then_visit(Task::List { id, optional }, list.elements);
            }
            Expr::Map(map) => {
                let mut optional = Vec::with_capacity(map.entries.len());
                let mut pieces = Vec::with_capacity(map.entries.len() * 2);
                for IdedEntryExpr { expr, .. } in map.entries {
                    if let EntryExpr::MapEntry(entry) = expr {
                        optional.push(entry.optional);
                        pieces.extend([entry.key, entry.value]);
                    }
                }
                self.then_visit(Task::Map { id, optional }, pieces);
            }
            Expr::Struct(message) => self.start_message(id, message),
            Expr::Comprehension(loops) => self.start_fold(id, *loops),
            Expr::Unspecified => self.add(id, Kind::Unresolved),
        }
    }

    /// Visits `pieces` in order, then does `task`.
    fn then_visit(&mut self, task: Task, pieces: Vec<IdedExpr>) {
        self.tasks.push(task);
        self.tasks.extend(pieces.into_iter().rev().map(Task::Visit));
    }

    fn ident(&mut self, id: u64, name: &str) {
        let kind = match self.local(name) {
            Some(local) => Some(Kind::Local { start: local.start, role: local.role, name: name.into() }),
            None => global(name.strip_prefix('.').unwrap_or(name)),
        };
        if let Some(kind) = kind {
            self.add(id, kind);
        } else {
            self.report_undeclared(id, name);
            self.add(id, Kind::Unresolved);
        }
    }

    /// The innermost variable of this name.
    fn local(&self, name: &str) -> Option<&Local> {
        // A name that begins with a dot is a global one.
        self.scope.iter().rev().find(|local| local.name == name && !name.starts_with('.'))
    }

    fn select(&mut self, id: u64, select: SelectExpr) {
        let SelectExpr { operand, field, test } = select;
        if !test && let Some(prefix) = self.qualified_name(&operand, true) {
            let name = format!("{prefix}.{field}");
            if let Some(kind) = global(name.strip_prefix('.').unwrap_or(&name)) {
                self.add(id, kind);
                return;
            }
        }
        self.then_visit(Task::Select { id, field, test }, vec![*operand]);
    }

    fn call(&mut self, id: u64, call: CallExpr) {
        let CallExpr { func_name: name, target, args: mut arguments } = call;
        if name == "_?._" {
            let field = arguments.pop();
            if let (Some(operand), Some(field)) = (arguments.pop(), field) {
                self.optional_select(id, operand, field);
            }
            return;
        }
        let Some(target) = target else {
            let function = self.function(name.strip_prefix('.').unwrap_or(&name));
            return self.plain_call(id, &name, function, arguments);
        };
        if let Some(prefix) = self.qualified_name(&target, false)
            && let Some(function) = self.function(format!("{prefix}.{name}").trim_start_matches('.'))
        {
            return self.plain_call(id, &name, Some(function), arguments);
        }
        let function = self.function(&name);
        self.tasks.push(Task::Call { id, function, target: true, arguments: arguments.len() });
        if function.is_none() {
            self.tasks.push(Task::Undeclared { id, name });
        }
        self.tasks.push(Task::Visit(*target));
        self.tasks.extend(arguments.into_iter().rev().map(Task::Visit));
    }

    fn plain_call(&mut self, id: u64, name: &str, function: Option<&'static Function>, arguments: Vec<IdedExpr>) {
        self.tasks.push(Task::Call { id, function, target: false, arguments: arguments.len() });
        if function.is_none() {
            self.tasks.push(Task::Undeclared { id, name: name.to_owned() });
        }
        self.tasks.extend(arguments.into_iter().rev().map(Task::Visit));
    }

    fn optional_select(&mut self, id: u64, operand: IdedExpr, field: IdedExpr) {
        if let Expr::Literal(LiteralValue::String(field)) = field.expr {
            self.then_visit(Task::OptionalSelect { id, field: field.inner().to_owned() }, vec![operand]);
        } else {
            let offset = self.positions.offset(field.id);
            self.issues.report(self.source, offset, "unsupported optional field selection");
            self.add(id, Kind::Unresolved);
        }
    }

    fn start_message(&mut self, id: u64, message: StructExpr) {
        let Some(of) = names::message_type(&message.type_name) else {
            match names::type_name(message.type_name.trim_start_matches('.')) {
                Some(_) => {
                    self.report(id, format!("'{}' is not a message type", message.type_name.trim_start_matches('.')));
                }
                None => self.report_undeclared(id, &message.type_name),
            }
            return self.add(id, Kind::Unresolved);
        };
        let mut fields = Vec::new();
        let mut values = Vec::new();
        for IdedEntryExpr { id, expr } in message.entries {
            if let EntryExpr::StructField(field) = expr {
                fields.push((id, field.field, field.optional));
                values.push(field.value);
            }
        }
        self.then_visit(Task::Message { id, of, fields }, values);
    }

    fn message(&mut self, id: u64, of: Type, fields: Vec<(u64, String, bool)>) {
        let values = self.take_many(fields.len());
        let fields = fields.into_iter().zip(values).map(|((id, name, optional), value)| {
            let offset = self.positions.offset(id);
            Field { name, value, optional, offset }
        });
        let message = Message { of, fields: fields.collect() };
        self.add(id, Kind::Message(message));
    }

    /// The dotted name that `node` spells, if it is only names; none when it begins with a variable of a loop and `no_local` is set.
    fn qualified_name(&self, node: &IdedExpr, no_local: bool) -> Option<String> {
        let mut parts = Vec::new();
        let mut node = node;
        loop {
            match &node.expr {
                Expr::Select(select) if !select.test => {
                    parts.push(select.field.as_str());
                    node = &select.operand;
                }
                Expr::Ident(name) => {
                    if no_local && self.scope.iter().any(|local| local.name == *name) {
                        return None;
                    }
                    parts.push(name);
                    parts.reverse();
                    return Some(parts.join("."));
                }
                _ => return None,
            }
        }
    }

    fn function(&self, name: &str) -> Option<&'static Function> {
        library::function(name).filter(|_| (self.declares)(name))
    }

    fn report(&mut self, id: u64, message: String) {
        self.issues.report(self.source, self.positions.offset(id), message);
    }

    fn report_undeclared(&mut self, id: u64, name: &str) {
        self.report(id, format!("undeclared reference to '{name}' (in container '')"));
    }

    fn take(&mut self) -> NodeId {
        self.done.pop().unwrap_or(NodeId(0))
    }

    fn take_many(&mut self, count: usize) -> Vec<NodeId> {
        self.done.split_off(self.done.len().saturating_sub(count))
    }

    /// Adds a node that a parent will take.
    fn add(&mut self, id: u64, kind: Kind) {
        let node = self.mark(id, kind);
        self.done.push(node);
    }

    fn add_at(&mut self, offset: usize, kind: Kind) {
        let node = self.mark_at(offset, kind);
        self.done.push(node);
    }

    /// Where a literal begins: the parser's position of a number with a sign is after the sign.
    fn literal_offset(&self, id: u64, value: &Value) -> usize {
        let offset = self.positions.offset(id);
        let may_have_sign = match value {
            Value::Int(value) => *value <= 0,
            Value::Double(value) => value.is_sign_negative(),
            _ => false,
        };
        let before = self.source.get(..offset).unwrap_or("");
        if may_have_sign { syntax::sign_before(before).unwrap_or(offset) } else { offset }
    }

    /// Adds a node that nobody takes.
    fn mark(&mut self, id: u64, kind: Kind) -> NodeId {
        self.mark_at(self.positions.offset(id), kind)
    }

    fn mark_at(&mut self, offset: usize, kind: Kind) -> NodeId {
        #[expect(clippy::cast_possible_truncation, reason = "far fewer nodes are allowed")]
        let node = NodeId(self.nodes.len() as u32);
        self.nodes.push(Node { kind, offset });
        node
    }
}

fn global(name: &str) -> Option<Kind> {
    if name == "device" {
        return Some(Kind::Device);
    }
    names::type_name(name).map(Kind::TypeName)
}

/// The value of a literal.
pub(crate) fn literal_value(literal: LiteralValue) -> Value {
    match literal {
        LiteralValue::Boolean(value) => Value::Bool(value.into_inner()),
        LiteralValue::Int(value) => Value::Int(value.into_inner()),
        LiteralValue::UInt(value) => Value::Uint(value.into_inner()),
        LiteralValue::Double(value) => Value::Double(value.into_inner()),
        LiteralValue::String(text) => Value::string(text.inner()),
        LiteralValue::Bytes(bytes) => Value::Bytes(Arc::from(bytes.inner())),
        LiteralValue::Null => Value::Null,
    }
}
