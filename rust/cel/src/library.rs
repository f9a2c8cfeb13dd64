//! The functions and operators of the environment, one row each: name, types, cost and implementation.
//!
//! Checker, cost estimate, cost counter and evaluator all read these rows; nothing else knows a function by name. The order of the rows of
//! one name is the order in which upstream tries them.

mod authorization;
pub(crate) mod conversions;
mod floats;
pub(crate) mod format;
mod lists;
mod logic;
mod network;
pub(crate) mod operators;
mod optionals;
mod quantities;
pub(crate) mod regexes;
mod sets;
mod strings;
pub(crate) mod text_format;
pub(crate) mod times;
pub(crate) mod url;
mod versions;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use crate::cost::Cost;
use crate::error::Fault;
use crate::types::Type;
use crate::value::{List, Value};

pub(crate) use logic::Special;

/// Computes a call from its operands, the target first.
pub(crate) type Implementation = fn(&[Value]) -> Result<Value, Fault>;

/// A function or operator with all its signatures.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: &'static str,
    pub(crate) overloads: Vec<Overload>,
    pub(crate) binding: Binding,
}

/// How the implementation of a call is found at run time.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Binding {
    /// By the overload, with the types of the values checked against it.
    ByOverload,
    /// One implementation for all overloads, for values that `accepts` takes as first operand.
    Shared { accepts: fn(&Value) -> bool, call: Implementation },
    /// By the evaluator, since not all operands are always evaluated.
    Special(Special),
}

/// One signature.
#[derive(Debug)]
pub(crate) struct Overload {
    pub(crate) id: &'static str,
    /// Whether it is called on a target, which is then the first parameter.
    pub(crate) member: bool,
    pub(crate) parameters: Vec<Type>,
    pub(crate) result: Type,
    pub(crate) cost: Cost,
    pub(crate) call: Option<Implementation>,
    /// Whether values are checked against the parameters before the call.
    pub(crate) guarded: bool,
    /// Whether upstream binds it as a function of any number of operands, which ends at the first that is an error.
    pub(crate) variadic: bool,
}

impl Overload {
    /// A signature without target.
    fn global<const N: usize>(
        id: &'static str,
        parameters: [Type; N],
        result: Type,
        cost: Cost,
        call: Implementation,
    ) -> Self {
        Self {
            id,
            member: false,
            parameters: parameters.into(),
            result,
            cost,
            call: Some(call),
            guarded: true,
            variadic: N > 2,
        }
    }

    /// A signature whose first parameter is the target.
    fn member<const N: usize>(
        id: &'static str,
        parameters: [Type; N],
        result: Type,
        cost: Cost,
        call: Implementation,
    ) -> Self {
        Self { member: true, ..Self::global(id, parameters, result, cost, call) }
    }

    /// A signature without target whose implementation all of its function share.
    fn shared<const N: usize>(id: &'static str, parameters: [Type; N], result: Type, cost: Cost) -> Self {
        Self {
            id,
            member: false,
            parameters: parameters.into(),
            result,
            cost,
            call: None,
            guarded: true,
            variadic: false,
        }
    }

    /// The same with a target.
    fn shared_member<const N: usize>(id: &'static str, parameters: [Type; N], result: Type, cost: Cost) -> Self {
        Self { member: true, ..Self::shared(id, parameters, result, cost) }
    }

    fn unguarded(self) -> Self {
        Self { guarded: false, ..self }
    }

    fn variadic(self) -> Self {
        Self { variadic: true, ..self }
    }

    /// Whether `operands` fit the parameters by their run-time types.
    pub(crate) fn accepts(&self, operands: &[Value]) -> bool {
        operands.len() == self.parameters.len()
            && (!self.guarded
                || operands
                    .iter()
                    .zip(&self.parameters)
                    .all(|(operand, parameter)| operand.is_assignable_to(parameter)))
    }
}

impl Function {
    fn new(name: &'static str, overloads: Vec<Overload>) -> Self {
        Self { name, overloads, binding: Binding::ByOverload }
    }

    fn shared(name: &'static str, accepts: fn(&Value) -> bool, call: Implementation, overloads: Vec<Overload>) -> Self {
        Self { name, overloads, binding: Binding::Shared { accepts, call } }
    }

    fn special(name: &'static str, special: Special, overloads: Vec<Overload>) -> Self {
        Self { name, overloads, binding: Binding::Special(special) }
    }

    /// Calls the first overload that takes `operands`.
    pub(crate) fn dispatch(&self, operands: &[Value]) -> Result<Value, Fault> {
        let overload = self.overloads.iter().find(|overload| overload.accepts(operands));
        match overload.and_then(|overload| overload.call) {
            Some(call) => call(operands),
            None => Err(self.no_such_overload(operands)),
        }
    }

    /// The error that no overload takes `operands`.
    pub(crate) fn no_such_overload(&self, operands: &[Value]) -> Fault {
        let types: Vec<&str> = operands.iter().map(Value::type_name).collect();
        Fault::no_such_signature(format!("{}({})", self.name, types.join(", ")))
    }

    /// How many overloads have an implementation of their own.
    pub(crate) fn implementations(&self) -> usize {
        self.overloads.iter().filter(|overload| overload.call.is_some()).count()
    }
}

/// The function `name`, namespaces included: `lists.range`.
pub(crate) fn function(name: &str) -> Option<&'static Function> {
    TABLE.get(name)
}

static TABLE: LazyLock<HashMap<&'static str, Function>> = LazyLock::new(|| {
    // In the order in which upstream adds its libraries.
    let libraries = [
        logic::functions(),
        operators::functions(),
        conversions::functions(),
        times::functions(),
        url::functions(),
        regexes::functions(),
        authorization::functions(),
        optionals::functions(),
        quantities::functions(),
        strings::functions(),
        sets::functions(),
        network::functions(),
        format::functions(),
        versions::functions(),
        lists::functions(),
    ];
    let mut table: HashMap<&'static str, Function> = HashMap::new();
    for function in libraries.into_iter().flatten() {
        match table.get_mut(function.name) {
            Some(known) => known.overloads.extend(function.overloads),
            None => {
                table.insert(function.name, function);
            }
        }
    }
    table
});

/// The text that an operand is.
fn text(operand: &Value) -> Result<&Arc<str>, Fault> {
    match operand {
        Value::String(text) => Ok(text),
        _ => Err(Fault::no_such_overload()),
    }
}

/// The integer that an operand is.
fn int(operand: &Value) -> Result<i64, Fault> {
    match operand {
        Value::Int(value) => Ok(*value),
        _ => Err(Fault::no_such_overload()),
    }
}

/// The list that an operand is.
fn list(operand: &Value) -> Result<&Arc<List>, Fault> {
    match operand {
        Value::List(elements) => Ok(elements),
        _ => Err(Fault::no_such_overload()),
    }
}

/// The operands of a call of a fixed number.
fn operands<const N: usize>(operands: &[Value]) -> Result<&[Value; N], Fault> {
    operands.try_into().map_err(|_| Fault::no_such_overload())
}

/// The integer that comparisons give: -1, 0 or 1.
fn ordering(ordering: std::cmp::Ordering) -> Value {
    Value::Int(ordering as i64)
}

fn boolean(value: bool) -> Value {
    Value::Bool(value)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    /// An overload as the table lists it, without its name: no expression can tell that.
    fn listed(function: &Function, overload: &Overload) -> String {
        let parameters: Vec<String> = overload.parameters.iter().map(ToString::to_string).collect();
        let member = if overload.member { "member " } else { "" };
        format!("{} {member}({}) -> {}", function.name, parameters.join(", "), overload.result)
    }

    /// What upstream declares but no expression can call, or only as the operator `.?`.
    fn is_callable(line: &str) -> bool {
        let uncallable = ["in ", "_in_ ", "_?._ ", "__not_strictly_false__ "];
        !uncallable.iter().any(|name| line.starts_with(name))
    }

    #[test]
    fn overloads_are_those_of_upstream() {
        let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/conformance/functions.txt");
        let upstream = std::fs::read_to_string(table).expect("the table can be read");
        let upstream: BTreeSet<String> = upstream
            .lines()
            .filter(|line| is_callable(line))
            .filter_map(|line| {
                let (function, rest) = line.split_once(' ')?;
                Some(format!("{function} {}", rest.split_once(": ")?.1))
            })
            .collect();
        let ours: BTreeSet<String> = TABLE
            .values()
            .flat_map(|function| function.overloads.iter().map(|overload| listed(function, overload)))
            .collect();
        let missing: Vec<&String> = upstream.difference(&ours).collect();
        let surplus: Vec<&String> = ours.difference(&upstream).collect();
        assert!(missing.is_empty() && surplus.is_empty(), "missing: {missing:#?}\nsurplus: {surplus:#?}");
    }
}
