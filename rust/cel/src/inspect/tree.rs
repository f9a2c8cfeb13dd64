//! The syntax tree as a flat list, children before their parents.

use cel::common::ast::{CallExpr, EntryExpr, Expr, IdedExpr};

use crate::inspect::Span;
use crate::inspect::text::Text;

/// A piece of the tree.
pub(super) struct Item<'a> {
    pub(super) node: &'a IdedExpr,
    pub(super) shape: Shape,
    /// The pieces of it that are values, in order of the text.
    pub(super) children: Vec<usize>,
    pub(super) parent: Option<usize>,
    pub(super) span: Span,
    /// The same with brackets around it.
    pub(super) outer: Span,
}

/// What needs to be told apart before macros are expanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Plain,
    /// A name that stands for the element of a loop.
    Element,
    /// A name that stands for another piece.
    Bound(usize),
    /// `has(operand.field)`, whose child is the selection.
    Has,
    /// `cel.bind(name, value, body)`, whose children are value and body.
    Bind,
    /// `target.optMap(name, body)` and `optFlatMap`, whose children are target and body.
    OptionalMap,
    /// A loop: range and bodies.
    Loop,
}

/// A name in scope.
struct Variable<'a> {
    name: &'a str,
    /// The piece that it stands for; none for the element of a loop.
    value: Option<usize>,
    outer: Option<usize>,
}

enum Task<'a> {
    Visit(&'a IdedExpr, Option<usize>),
    /// The last piece that was finished is what the variable stands for.
    Bind(usize),
    Finish {
        node: &'a IdedExpr,
        shape: Shape,
        children: usize,
    },
}

struct Flattening<'a, 't> {
    text: &'t Text<'t>,
    items: Vec<Item<'a>>,
    done: Vec<usize>,
    tasks: Vec<Task<'a>>,
    variables: Vec<Variable<'a>>,
}

/// The pieces of `root`, which is the last of them.
pub(super) fn flatten<'a>(root: &'a IdedExpr, text: &Text<'_>) -> Vec<Item<'a>> {
    let mut flattening = Flattening {
        text,
        items: Vec::new(),
        done: Vec::new(),
        tasks: vec![Task::Visit(root, None)],
        variables: Vec::new(),
    };
    while let Some(task) = flattening.tasks.pop() {
        match task {
            Task::Visit(node, scope) => flattening.visit(node, scope),
            Task::Bind(variable) => flattening.variables[variable].value = flattening.done.last().copied(),
            Task::Finish { node, shape, children } => {
                let children = flattening.done.split_off(flattening.done.len().saturating_sub(children));
                flattening.finish(node, shape, children);
            }
        }
    }
    flattening.items
}

impl<'a> Flattening<'a, '_> {
    fn visit(&mut self, node: &'a IdedExpr, scope: Option<usize>) {
        match &node.expr {
            Expr::Ident(name) => {
                let shape = match self.variable(name, scope) {
                    Some(Variable { value: Some(value), .. }) => Shape::Bound(*value),
                    Some(_) => Shape::Element,
                    None => Shape::Plain,
                };
                self.finish(node, shape, Vec::new());
            }
            Expr::Select(select) => self.then(node, Shape::Plain, [&*select.operand], scope),
            Expr::List(list) => self.then(node, Shape::Plain, &list.elements, scope),
            Expr::Map(map) => {
                self.then(node, Shape::Plain, map.entries.iter().flat_map(|entry| values(&entry.expr)), scope);
            }
            Expr::Struct(message) => {
                self.then(node, Shape::Plain, message.entries.iter().flat_map(|entry| values(&entry.expr)), scope);
            }
            Expr::Call(call) => self.call(node, call, scope),
            Expr::Literal(_) | Expr::Comprehension(_) | Expr::Unspecified => {
                self.finish(node, Shape::Plain, Vec::new());
            }
        }
    }

    fn call(&mut self, node: &'a IdedExpr, call: &'a CallExpr, scope: Option<usize>) {
        let arguments = call.args.as_slice();
        match (&call.target, call.func_name.as_str(), arguments) {
            (None, "has", [IdedExpr { expr: Expr::Select(_), .. }]) => self.then(node, Shape::Has, arguments, scope),
            (Some(target), "bind", [IdedExpr { expr: Expr::Ident(name), .. }, value, body]) if is_cel(target) => {
                self.bound(node, Shape::Bind, name, [value, body], scope);
            }
            (Some(target), "optMap" | "optFlatMap", [IdedExpr { expr: Expr::Ident(name), .. }, body]) => {
                self.bound(node, Shape::OptionalMap, name, [target, body], scope);
            }
            (Some(target), name, _) if loop_variables(name, arguments.len()) > 0 => {
                let (names, bodies) = arguments.split_at(loop_variables(name, arguments.len()));
                let inner = names.iter().fold(scope, |outer, name| match &name.expr {
                    Expr::Ident(name) => Some(self.declare(name, outer)),
                    _ => outer,
                });
                self.tasks.push(Task::Finish { node, shape: Shape::Loop, children: bodies.len() + 1 });
                self.tasks.extend(bodies.iter().rev().map(|body| Task::Visit(body, inner)));
                self.tasks.push(Task::Visit(target, scope));
            }
            (target, ..) => self.then(node, Shape::Plain, target.as_deref().into_iter().chain(arguments), scope),
        }
    }

    /// Visits a value, and a body in which `name` stands for it.
    fn bound(
        &mut self,
        node: &'a IdedExpr,
        shape: Shape,
        name: &'a str,
        [value, body]: [&'a IdedExpr; 2],
        scope: Option<usize>,
    ) {
        let variable = self.declare(name, scope);
        self.tasks.push(Task::Finish { node, shape, children: 2 });
        self.tasks.extend([Task::Visit(body, Some(variable)), Task::Bind(variable), Task::Visit(value, scope)]);
    }

    fn declare(&mut self, name: &'a str, outer: Option<usize>) -> usize {
        self.variables.push(Variable { name, value: None, outer });
        self.variables.len() - 1
    }

    fn variable(&self, name: &str, mut scope: Option<usize>) -> Option<&Variable<'a>> {
        while let Some(variable) = scope.map(|scope| &self.variables[scope]) {
            if variable.name == name {
                return Some(variable);
            }
            scope = variable.outer;
        }
        None
    }

    fn then(
        &mut self,
        node: &'a IdedExpr,
        shape: Shape,
        pieces: impl IntoIterator<Item = &'a IdedExpr>,
        scope: Option<usize>,
    ) {
        let finish = self.tasks.len();
        self.tasks.push(Task::Finish { node, shape, children: 0 });
        self.tasks.extend(pieces.into_iter().map(|piece| Task::Visit(piece, scope)));
        self.tasks[finish + 1..].reverse();
        let count = self.tasks.len() - finish - 1;
        if let Some(Task::Finish { children, .. }) = self.tasks.get_mut(finish) {
            *children = count;
        }
    }

    fn finish(&mut self, node: &'a IdedExpr, shape: Shape, children: Vec<usize>) {
        let here = self.items.len();
        let spans: Vec<Span> = children.iter().map(|child| self.items[*child].outer).collect();
        let span = self.text.span(node, &spans);
        for child in &children {
            self.items[*child].parent = Some(here);
        }
        let outer = self.text.with_brackets(span);
        self.items.push(Item { node, shape, children, parent: None, span, outer });
        self.done.push(here);
    }
}

fn values(entry: &EntryExpr) -> Vec<&IdedExpr> {
    match entry {
        EntryExpr::MapEntry(entry) => vec![&entry.key, &entry.value],
        EntryExpr::StructField(field) => vec![&field.value],
    }
}

fn is_cel(target: &IdedExpr) -> bool {
    matches!(&target.expr, Expr::Ident(name) if name == "cel")
}

/// How many of the arguments of a macro name variables of its loop; 0 for what is no such macro.
fn loop_variables(name: &str, arguments: usize) -> usize {
    match (name, arguments) {
        ("all" | "exists" | "exists_one", 2 | 3) | ("existsOne", 3) => arguments - 1,
        ("map", 2 | 3) | ("filter" | "sortBy", 2) => 1,
        ("transformList" | "transformMap" | "transformMapEntry", 3 | 4) => 2,
        _ => 0,
    }
}
