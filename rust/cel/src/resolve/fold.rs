//! Loops: their parts one after the other, each with the variables that it may use.

use cel::common::ast::{ComprehensionExpr, Expr, IdedExpr, LiteralValue};

use crate::ast::{Fold, FoldStart, Kind, NodeId, Role};
use crate::resolve::{Local, Resolver, Task};

/// Where a loop stands. Each state has the pieces that are still to visit.
pub(super) struct FoldTask {
    id: u64,
    state: State,
}

enum State {
    /// Range and start value are done.
    Start {
        names: Names,
        condition: IdedExpr,
        step: IdedExpr,
        result: IdedExpr,
    },
    Condition {
        open: Open,
        step: IdedExpr,
        result: IdedExpr,
    },
    Step {
        open: Open,
        condition: NodeId,
        result: IdedExpr,
    },
    Result {
        open: Open,
        condition: NodeId,
        step: NodeId,
    },
}

struct Names {
    accumulator: String,
    first: String,
    second: Option<String>,
    bind: bool,
}

#[derive(Clone, Copy)]
struct Open {
    start: NodeId,
    range: NodeId,
    init: NodeId,
    bind: bool,
    hidden: Option<(NodeId, Role)>,
    two_variables: bool,
}

impl Resolver<'_> {
    pub(super) fn start_fold(&mut self, id: u64, parts: ComprehensionExpr) {
        let never_runs = matches!(&parts.iter_range.expr, Expr::List(list) if list.elements.is_empty())
            && matches!(&parts.loop_cond.expr, Expr::Literal(LiteralValue::Boolean(value)) if !value.into_inner());
        let names =
            Names { accumulator: parts.accu_var, first: parts.iter_var, second: parts.iter_var2, bind: never_runs };
        let state = State::Start { names, condition: parts.loop_cond, step: parts.loop_step, result: parts.result };
        let task = Task::Fold(Box::new(FoldTask { id, state }));
        self.then_visit(task, vec![parts.iter_range, parts.accu_init]);
    }

    pub(super) fn run_fold(&mut self, task: FoldTask) {
        let FoldTask { id, state } = task;
        let (piece, state) = match state {
            State::Start { names, condition, step, result } => {
                let open = self.enter(id, names);
                (condition, State::Condition { open, step, result })
            }
            State::Condition { open, step, result } => {
                let condition = self.take();
                self.mark(id, Kind::FoldCondition(condition));
                (step, State::Step { open, condition, result })
            }
            State::Step { open, condition, result } => {
                let step = self.take();
                self.mark(id, Kind::FoldStep { start: open.start, step });
                self.scope.retain(|local| local.start != open.start || local.role == Role::Accumulator);
                (result, State::Result { open, condition, step })
            }
            State::Result { open, condition, step } => return self.leave(id, open, condition, step),
        };
        self.then_visit(Task::Fold(Box::new(FoldTask { id, state })), vec![piece]);
    }

    fn enter(&mut self, id: u64, names: Names) -> Open {
        let init = self.take();
        let range = self.take();
        let two_variables = names.second.is_some();
        let start = self.mark(id, Kind::FoldStart(FoldStart { range, init, two_variables }));
        let hidden = self.local(&names.accumulator).map(|local| (local.start, local.role));
        self.scope.push(Local { name: names.accumulator, start, role: Role::Accumulator });
        self.scope.push(Local { name: names.first, start, role: Role::First });
        self.scope.extend(names.second.map(|name| Local { name, start, role: Role::Second }));
        Open { start, range, init, bind: names.bind, hidden, two_variables }
    }

    fn leave(&mut self, id: u64, open: Open, condition: NodeId, step: NodeId) {
        let result = self.take();
        self.scope.retain(|local| local.start != open.start);
        let Open { start, range, init, bind, hidden, two_variables } = open;
        self.add(id, Kind::Fold(Fold { start, range, init, condition, step, result, bind, hidden, two_variables }));
    }
}
