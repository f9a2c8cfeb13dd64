//! CEL device selectors: parse, check types, lower, evaluate, cost.
//!
//! A [`Selector`] is compiled from an expression and evaluated on [`CelDevice`]s. It accepts, refuses, computes and charges what the scheduler
//! of Kubernetes 1.37 does, with its texts. The way of an expression: `syntax` parses, `resolve` expands macros and finds names, `check` finds types,
//! `lower` makes a flat list of steps with all constants computed, `evaluate` runs it; `library` has all functions, `cost` all prices.

mod ast;
mod check;
mod cost;
mod device;
mod error;
mod evaluate;
mod explain;
pub mod inspect;
mod library;
mod lower;
mod macros;
mod names;
mod predicate;
mod program;
mod reads;
mod resolve;
mod selector;
mod syntax;
mod types;
mod value;

pub use device::CelDevice;
pub use error::{CompileError, Issue, RuntimeError, enhance_runtime_error};
pub use evaluate::Evaluation;
pub use explain::{Dissection, Reason, Seen, Why, accepting, guarded};
pub use library::format::{label_key_problems, label_value_problems};
pub use reads::{Access, Reads};
pub use selector::{Environment, Gates, Selector, as_bool};
pub use types::{Parameter, Type};
pub use value::{Cidr, Ip, List, Map, QuantityValue, Timestamp, Value};
