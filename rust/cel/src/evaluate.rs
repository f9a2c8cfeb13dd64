//! Runs the steps of an expression on a device.
//!
//! An error is a result like any other, since `&&`, `||` and loops may absorb it; only the limits on cost and memory end the evaluation at once.

mod access;
mod build;
mod calls;
mod machine;
mod select;

use crate::device::CelDevice;
use crate::error::{Fault, RuntimeError};
use crate::library::Function;
use crate::program::{How, Program};
use crate::value::Value;

/// A value, or the error instead of it.
pub(crate) type Outcome = Result<Value, Fault>;

/// The values that a call takes.
type Operands = smallvec::SmallVec<[Value; 3]>;

/// The result of an evaluation, and what it cost.
#[derive(Debug, Clone)]
pub struct Evaluation {
    /// The value, or why there is none.
    pub value: Result<Value, RuntimeError>,
    /// The cost in upstream's units, also of an evaluation that failed.
    pub cost: u64,
}

/// Evaluates `program` on `device`.
pub(crate) fn evaluate(program: &Program, device: &CelDevice) -> Evaluation {
    if let Some(error) = device.error() {
        return Evaluation { value: Err(error.clone()), cost: 0 };
    }
    let mut machine = machine::Machine::new(program, device.device());
    let value = machine.run();
    Evaluation { value: value.map_err(Fault::into_error), cost: machine.meter.cost() }
}

/// Calls `function` on values none of which is an error.
pub(crate) fn invoke(function: &Function, how: How, operands: &[Value]) -> Outcome {
    match how {
        How::Shared { accepts, call } => match operands.first() {
            Some(first) if accepts(first) => call(operands),
            // Texts and times take any method call upstream, to say that they have no such method.
            Some(Value::String(_) | Value::Duration(_) | Value::Timestamp(_)) => Err(Fault::no_such_overload()),
            _ => Err(Fault::no_such_signature(function.name)),
        },
        How::Overload { overload, call } if overload.accepts(operands) => call(operands),
        How::Overload { .. } => Err(function.no_such_overload(operands)),
        How::Dispatch => function.dispatch(operands),
    }
}
