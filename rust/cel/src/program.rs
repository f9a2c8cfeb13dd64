//! An expression as a flat list of steps for the evaluator.

use std::collections::HashSet;
use std::sync::Arc;

use crate::cost::Cost;
use crate::device::Device;
use crate::device::names::Name;
use crate::error::Fault;
use crate::library::regexes::ConstantRegex;
use crate::library::{Function, Implementation, Overload};
use crate::value::{Key, Value};

/// The steps of an expression, and the room that they need.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) steps: Vec<Step>,
    /// How many variables of loops there are.
    pub(crate) slots: usize,
}

/// The place of a step.
pub(crate) type Target = usize;

/// What the evaluator does. "The top" is the last result, a value or an error.
#[derive(Debug)]
pub(crate) enum Step {
    /// Pushes a constant.
    Constant(Value),
    /// Pushes what a call of constants gives, at the call's cost.
    Folded {
        result: Result<Value, Fault>,
        cost: u64,
    },
    /// Pushes `device`.
    Device,
    /// Pushes `device.attributes["domain"].name`, or the same of `device.capacity`, without the cost of `device`.
    Attribute(Box<Attribute>),
    /// Pushes a copy of a variable.
    Local(usize),
    /// Pushes a variable and leaves nothing in it.
    TakeLocal(usize),
    /// Pushes the value that a name is bound to; at first use its steps, which are at `init`, compute it.
    Bound {
        slot: usize,
        init: Target,
    },
    /// Ends the steps of a bound name: the top becomes its value.
    Return(usize),
    /// Forgets the value of a bound name.
    Unset(usize),
    /// Replaces the top by its field or element.
    Qualify {
        key: Value,
        optional: bool,
    },
    /// Replaces the top by whether it has the field; as an optional for a field of an optional when `bare` is set.
    Test {
        key: Value,
        bare: bool,
    },
    /// The same with the key on top and the container below.
    QualifyByTop {
        optional: bool,
    },
    /// Jumps when the top is an error or a missing optional, so that no key is asked for.
    SkipUnlessOpen(Target),
    /// Adds to the cost.
    Charge(u64),
    /// Takes one from the cost, which a presence test does not have.
    Refund,
    /// Replaces operands by the result of a call.
    Call(CallStep),
    /// Replaces operands by the result of a function with a constant regular expression.
    Regex {
        regex: Arc<ConstantRegex>,
        operands: usize,
    },
    /// `==`, or `!=`, of the two on top.
    Equal {
        negated: bool,
    },
    /// Whether the top is one of constants.
    IsOneOf(Arc<HashSet<Key>>),
    /// Adds the list on top to the one below, in place where possible.
    Append,
    /// Adds the entry on top, key and value or a whole map, to the map below.
    MapInsert {
        operands: usize,
    },
    /// Whether the top is anything but false.
    NotStrictlyFalse,
    /// Jumps with the top when it is `on`, the value that decides `||` or `&&`.
    ShortCircuit {
        on: bool,
        target: Target,
    },
    /// Joins the two operands of `||` or `&&` that did not decide it alone.
    Join {
        on: bool,
    },
    /// Takes the top: goes on when it is true, to `otherwise` when it is false, and to `end` with an error.
    Branch {
        otherwise: Target,
        end: Target,
    },
    /// Goes on when the top is a missing optional, taking it; else jumps, with what the optional holds when `unwrap` is set.
    OptionalOr {
        unwrap: bool,
        end: Target,
    },
    /// Jumps with the top when it is an error, dropping so many results below it.
    StopIfFault {
        drop: usize,
        target: Target,
    },
    Jump(Target),
    /// Makes a list of results.
    List {
        optional: Vec<bool>,
    },
    /// Makes a map of results, key before value.
    Map {
        optional: Vec<bool>,
    },
    /// Fails: messages cannot be made.
    Message {
        name: &'static str,
        fields: usize,
    },
    /// Begins a loop over the top, or jumps to `end` with an error.
    Begin {
        accumulator: usize,
        init: Value,
        two_variables: bool,
        end: Target,
    },
    /// Sets the variables to the next element, or ends the loop at `result`.
    Next {
        first: usize,
        second: Option<usize>,
        result: Target,
    },
    /// Ends the loop at `result` when the top is false.
    While(Target),
    /// The top becomes the value of a variable.
    Store(usize),
}

/// A value of `device` by its domain and name.
#[derive(Debug, Clone)]
pub(crate) struct Attribute {
    pub(crate) section: Section,
    pub(crate) domain: Name,
    pub(crate) name: Name,
}

impl Attribute {
    /// The value that a device has.
    #[inline]
    pub(crate) fn of<'a>(&self, device: &'a Device) -> Option<&'a Value> {
        let domains = match self.section {
            Section::Attributes => &device.attributes,
            Section::Capacity => &device.capacity,
        };
        domains.value(&self.domain, &self.name)
    }
}

/// A map of `device` that holds values by domain and name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    Attributes,
    Capacity,
}

#[derive(Debug)]
pub(crate) struct CallStep {
    pub(crate) function: &'static Function,
    pub(crate) how: How,
    pub(crate) operands: usize,
    pub(crate) cost: Cost,
}

/// How the implementation is found.
#[derive(Debug, Clone, Copy)]
pub(crate) enum How {
    /// The one of all overloads, for first operands that `accepts` takes.
    Shared { accepts: fn(&Value) -> bool, call: Implementation },
    /// That of the only overload that fits.
    Overload { overload: &'static Overload, call: Implementation },
    /// That of the first overload that takes the operands.
    Dispatch,
}
