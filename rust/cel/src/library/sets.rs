//! Lists taken as sets.

use crate::cost::Cost;
use crate::error::Fault;
use crate::library::lists::check_affordable;
use crate::library::{Function, Overload, boolean, list, operands};
use crate::types::Type;
use crate::value::Value;

pub(super) fn functions() -> Vec<Function> {
    let lists = || [Type::list(Type::parameter("T")), Type::list(Type::parameter("T"))];
    vec![
        Function::new(
            "sets.contains",
            vec![Overload::global("list_sets_contains_list", lists(), Type::Bool, Cost::Sets(1), |arguments| {
                decide(arguments, contains)
            })],
        ),
        // Either may be searched for all of the other.
        Function::new(
            "sets.equivalent",
            vec![Overload::global("list_sets_equivalent_list", lists(), Type::Bool, Cost::Sets(2), |arguments| {
                decide(arguments, |left, right| contains(left, right) && contains(right, left))
            })],
        ),
        Function::new(
            "sets.intersects",
            vec![Overload::global("list_sets_intersects_list", lists(), Type::Bool, Cost::Sets(1), |arguments| {
                decide(arguments, |left, right| left.iter().any(|element| has(right, element)))
            })],
        ),
    ]
}

fn decide(arguments: &[Value], holds: fn(&[Value], &[Value]) -> bool) -> Result<Value, Fault> {
    let [left, right] = operands::<2>(arguments)?;
    let (left, right) = (list(left)?, list(right)?);
    check_affordable(left.len().saturating_mul(right.len()))?;
    Ok(boolean(holds(left, right)))
}

fn contains(set: &[Value], subset: &[Value]) -> bool {
    subset.iter().all(|element| has(set, element))
}

fn has(set: &[Value], wanted: &Value) -> bool {
    set.iter().any(|element| wanted.is_equal(element))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::function;

    fn call(name: &str, arguments: &[Value]) -> String {
        let result = function(name).expect("the function is known").dispatch(arguments);
        result.map_or_else(|fault| format!("error: {fault}"), |value| value.to_string())
    }

    #[test]
    fn elements_are_compared_across_types_of_numbers() {
        let left = || Value::list(vec![Value::Int(1), Value::Double(2.0), Value::Int(1)]);
        for (right, contains, equivalent, intersects) in [
            (vec![], "true", "false", "false"),
            (vec![Value::Uint(2), Value::Int(1)], "true", "true", "true"),
            (vec![Value::Int(2)], "true", "false", "true"),
            (vec![Value::Int(2), Value::Int(3)], "false", "false", "true"),
            (vec![Value::string("1")], "false", "false", "false"),
        ] {
            for (name, expected) in
                [("sets.contains", contains), ("sets.equivalent", equivalent), ("sets.intersects", intersects)]
            {
                assert_eq!(call(name, &[left(), Value::list(right.clone())]), expected, "{name} {right:?}");
            }
        }
    }

    #[test]
    fn sets_that_cost_too_much_are_not_compared() {
        let many = Value::list(vec![Value::Int(1); 1_001]);
        assert_eq!(
            call("sets.contains", &[many.clone(), many]),
            "error: operation cancelled: actual cost limit exceeded"
        );
    }
}
