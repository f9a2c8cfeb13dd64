//! The expression after macros are expanded and names are resolved: nodes in an arena, in the order in which they are checked.
//!
//! Children stand before their parents, and the parts of a loop in the order range, start value, [`Kind::FoldStart`], condition,
//! [`Kind::FoldCondition`], step, [`Kind::FoldStep`], result, [`Kind::Fold`]. So checker and cost estimate are plain loops over the arena and need no
//! recursion, however deep the expression is.

use std::sync::Arc;

use crate::library::Function;
use crate::names::TypeName;
use crate::types::Type;
use crate::value::Value;

/// A node by its place in the arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct NodeId(pub(crate) u32);

/// A whole expression.
#[derive(Debug)]
pub(crate) struct Ast {
    nodes: Vec<Node>,
}

/// One node.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    /// Where it is in the text, in bytes.
    pub(crate) offset: usize,
}

/// The variable of a loop that a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// What the loop gathers, or the value that a name is bound to.
    Accumulator,
    /// The element, the key of a map, or the index when there are two variables.
    First,
    /// The value of a map or list when there are two variables.
    Second,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Literal(Value),
    /// The variable `device`.
    Device,
    /// A type by its name.
    TypeName(TypeName),
    /// A variable of the loop that starts at the given node.
    Local {
        start: NodeId,
        role: Role,
        name: Arc<str>,
    },
    /// A name that nothing has; already reported.
    Unresolved,
    Select(Select),
    /// `operand.?field`
    OptionalSelect {
        operand: NodeId,
        field: Arc<str>,
    },
    Call(Call),
    List {
        elements: Vec<NodeId>,
        optional: Vec<bool>,
    },
    Map {
        entries: Vec<Entry>,
    },
    /// A message of a type, of which none can be made.
    Message(Message),
    FoldStart(FoldStart),
    FoldCondition(NodeId),
    FoldStep {
        start: NodeId,
        step: NodeId,
    },
    Fold(Fold),
}

#[derive(Debug)]
pub(crate) struct Select {
    pub(crate) operand: NodeId,
    pub(crate) field: Arc<str>,
    /// Whether only presence is asked for.
    pub(crate) test: bool,
}

#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) function: &'static Function,
    pub(crate) target: Option<NodeId>,
    pub(crate) arguments: Vec<NodeId>,
}

impl Call {
    /// The target, if any, and the arguments, in order of evaluation.
    pub(crate) fn operands(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.target.into_iter().chain(self.arguments.iter().copied())
    }
}

#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) key: NodeId,
    pub(crate) value: NodeId,
    pub(crate) optional: bool,
}

#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) of: Type,
    pub(crate) fields: Vec<Field>,
}

#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) value: NodeId,
    pub(crate) optional: bool,
    pub(crate) offset: usize,
}

#[derive(Debug)]
pub(crate) struct FoldStart {
    pub(crate) range: NodeId,
    pub(crate) init: NodeId,
    pub(crate) two_variables: bool,
}

#[derive(Debug)]
pub(crate) struct Fold {
    pub(crate) start: NodeId,
    pub(crate) range: NodeId,
    pub(crate) init: NodeId,
    pub(crate) condition: NodeId,
    pub(crate) step: NodeId,
    pub(crate) result: NodeId,
    /// Whether it only binds a name: the loop never runs.
    pub(crate) bind: bool,
    /// The variable of an outer loop that the accumulator hides.
    pub(crate) hidden: Option<(NodeId, Role)>,
    pub(crate) two_variables: bool,
}

impl Ast {
    pub(crate) fn new(nodes: Vec<Node>) -> Self {
        Self { nodes }
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn kind(&self, id: NodeId) -> &Kind {
        &self.nodes[id.0 as usize].kind
    }

    pub(crate) fn offset(&self, id: NodeId) -> usize {
        self.nodes[id.0 as usize].offset
    }

    /// The node of the whole expression, which is the last.
    #[expect(clippy::cast_possible_truncation, reason = "the expander stops far below")]
    pub(crate) fn root(&self) -> NodeId {
        NodeId(self.nodes.len().saturating_sub(1) as u32)
    }

    /// All nodes in the order in which they are checked.
    #[expect(clippy::cast_possible_truncation, reason = "the expander stops far below")]
    pub(crate) fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }
}

impl Kind {
    /// Calls `visit` with each node that this one is made of.
    pub(crate) fn for_each_child(&self, mut visit: impl FnMut(NodeId)) {
        match self {
            Self::Literal(_) | Self::Device | Self::TypeName(_) | Self::Local { .. } | Self::Unresolved => {}
            Self::FoldStart(_) | Self::FoldCondition(_) | Self::FoldStep { .. } => {}
            Self::Select(select) => visit(select.operand),
            Self::OptionalSelect { operand, .. } => visit(*operand),
            Self::Call(call) => call.operands().for_each(visit),
            Self::List { elements, .. } => elements.iter().copied().for_each(visit),
            Self::Map { entries } => entries.iter().flat_map(|entry| [entry.key, entry.value]).for_each(visit),
            Self::Message(message) => message.fields.iter().map(|field| field.value).for_each(visit),
            Self::Fold(fold) => {
                [fold.init, fold.range, fold.condition, fold.step, fold.result].into_iter().for_each(visit);
            }
        }
    }
}
