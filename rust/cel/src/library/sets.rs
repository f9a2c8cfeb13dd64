//! Lists as sets.

use crate::cost::Cost;
use crate::error::Fault;
use crate::library::{Function, Overload, boolean, list, operands};
use crate::types::Type;
use crate::value::Value;

pub(super) fn functions() -> Vec<Function> {
    let lists = || [Type::list(Type::parameter("T")), Type::list(Type::parameter("T"))];
    vec![
        Function::new(
            "sets.contains",
            vec![Overload::global("list_sets_contains_list", lists(), Type::Bool, Cost::Sets(1), |arguments| {
                let [set, subset] = operands::<2>(arguments)?;
                Ok(boolean(contains(list(set)?, list(subset)?)))
            })],
        ),
        Function::new(
            "sets.equivalent",
            vec![Overload::global("list_sets_equivalent_list", lists(), Type::Bool, Cost::Sets(2), |arguments| {
                let [left, right] = operands::<2>(arguments)?;
                let (left, right) = (list(left)?, list(right)?);
                Ok(boolean(contains(left, right) && contains(right, left)))
            })],
        ),
        Function::new(
            "sets.intersects",
            vec![Overload::global("list_sets_intersects_list", lists(), Type::Bool, Cost::Sets(1), |arguments| {
                let [left, right] = operands::<2>(arguments)?;
                let right = list(right)?;
                Ok(boolean(list(left)?.iter().any(|element| has(right, element))))
            })],
        ),
    ]
}

fn has(set: &[Value], element: &Value) -> bool {
    set.iter().any(|other| element.is_equal(other))
}

fn contains(set: &[Value], subset: &[Value]) -> bool {
    subset.iter().all(|element| has(set, element))
}
