//! Lists: the extension of the language (version 3), and Kubernetes' own functions (version 1).

mod order;

use crate::cost::{self, Cost};
use crate::error::{Fault, RuntimeError};
use crate::library::operators::MAX_LIST;
use crate::library::{Function, Overload, boolean, int, list, operands};
use crate::types::Type;
use crate::value::Value;

/// The longest range that upstream makes.
const MAX_RANGE: i64 = 1_000_000;

pub(super) fn functions() -> Vec<Function> {
    let list_t = || Type::list(Type::parameter("T"));
    let mut functions = vec![
        Function::new(
            "slice",
            vec![Overload::member("list_slice", [list_t(), Type::Int, Type::Int], list_t(), Cost::Slice, slice)],
        ),
        // Without checks of the values, so that a list that is flat already passes.
        Function::new(
            "flatten",
            vec![
                Overload::member("list_flatten", [Type::list(list_t())], list_t(), Cost::Flatten, flatten).unguarded(),
                Overload::member(
                    "list_flatten_int",
                    [Type::list(Type::Dyn), Type::Int],
                    Type::list(Type::Dyn),
                    Cost::Flatten,
                    flatten,
                )
                .unguarded(),
            ],
        ),
        Function::new(
            "lists.range",
            vec![Overload::global("lists_range", [Type::Int], Type::list(Type::Int), Cost::Range, range)],
        ),
        Function::new("reverse", vec![Overload::member("list_reverse", [list_t()], list_t(), Cost::Reverse, reverse)]),
        Function::new(
            "distinct",
            vec![Overload::member("list_distinct", [list_t()], list_t(), Cost::Distinct, distinct)],
        ),
    ];
    functions.extend(searches());
    functions.extend(order::functions());
    functions
}

fn searches() -> Vec<Function> {
    let a = || Type::parameter("A");
    let list_a = || Type::list(a());
    vec![
        Function::new(
            "indexOf",
            vec![Overload::member("list_a_index_of_int", [list_a(), a()], Type::Int, Cost::Traverse, |arguments| {
                position(arguments, |elements, wanted| elements.iter().position(|element| element.is_equal(wanted)))
            })],
        ),
        Function::new(
            "lastIndexOf",
            vec![Overload::member(
                "list_a_last_index_of_int",
                [list_a(), a()],
                Type::Int,
                Cost::Traverse,
                |arguments| {
                    position(arguments, |elements, wanted| {
                        elements.iter().rposition(|element| element.is_equal(wanted))
                    })
                },
            )],
        ),
        Function::new(
            "includes",
            vec![Overload::member(
                "list_includes_dyn_dyn",
                [Type::Dyn, Type::Dyn],
                Type::Bool,
                Cost::Includes,
                includes,
            )],
        ),
    ]
}

/// Refuses work that costs more than an evaluation may: the cost is charged after a call, so nobody would see the result.
pub(super) fn check_affordable(comparisons: usize) -> Result<(), Fault> {
    if comparisons as u64 > cost::LIMIT { Err(Fault::new(RuntimeError::CostLimit)) } else { Ok(()) }
}

fn slice(arguments: &[Value]) -> Result<Value, Fault> {
    let [elements, start, end] = operands::<3>(arguments)?;
    let (elements, start, end) = (list(elements)?, int(start)?, int(end)?);
    let refused = |why: &str| Fault::failed(format!("cannot slice({start}, {end}), {why}"));
    let (Ok(from), Ok(to)) = (usize::try_from(start), usize::try_from(end)) else {
        return Err(refused("negative indexes not supported"));
    };
    if from > to {
        return Err(refused("start index must be less than or equal to end index"));
    }
    let part = elements.get(from..to).ok_or_else(|| refused(&format!("list is length {}", elements.len())))?;
    Ok(Value::list(part.to_vec()))
}

fn flatten(arguments: &[Value]) -> Result<Value, Fault> {
    let (Some(Value::List(elements)), Some(depth)) = (arguments.first(), depth(arguments)) else {
        let types: Vec<&str> = arguments.iter().skip(1).map(Value::type_name).collect();
        let target = arguments.first().map_or("", Value::type_name);
        return Err(Fault::no_such_signature(format!("{target}.flatten({})", types.join(", "))));
    };
    let depth = u64::try_from(depth).map_err(|_| Fault::failed("level must be non-negative"))?;
    let mut flat = Vec::new();
    let mut seen = 0;
    // The lists that are open, each with how many levels below it may still be taken apart.
    let mut open = vec![(elements.iter(), depth)];
    while let Some((rest, depth)) = open.last_mut() {
        let depth = *depth;
        let Some(element) = rest.next() else {
            open.pop();
            continue;
        };
        seen += 1;
        if seen > MAX_LIST {
            return Err(Fault::new(RuntimeError::SizeLimit));
        }
        match element {
            Value::List(inner) if depth > 0 => open.push((inner.iter(), depth - 1)),
            _ => flat.push(element.clone()),
        }
    }
    Ok(Value::list(flat))
}

/// How many levels `flatten` takes apart: one when nothing else is said.
fn depth(arguments: &[Value]) -> Option<i64> {
    match arguments {
        [_] => Some(1),
        [_, Value::Int(depth)] => Some(*depth),
        _ => None,
    }
}

fn range(arguments: &[Value]) -> Result<Value, Fault> {
    let [size] = operands::<1>(arguments)?;
    let size = int(size)?;
    if size < 0 {
        return Err(Fault::failed(format!("lists.range: size must be non-negative, got {size}")));
    }
    if size > MAX_RANGE {
        return Err(Fault::failed(format!("lists.range: size {size} exceeds maximum allowed ({MAX_RANGE})")));
    }
    Ok(Value::list((0..size).map(Value::Int).collect()))
}

fn reverse(arguments: &[Value]) -> Result<Value, Fault> {
    let [elements] = operands::<1>(arguments)?;
    Ok(Value::list(list(elements)?.iter().rev().cloned().collect()))
}

fn distinct(arguments: &[Value]) -> Result<Value, Fault> {
    let [elements] = operands::<1>(arguments)?;
    let elements = list(elements)?;
    check_affordable(elements.len().saturating_mul(elements.len()))?;
    let mut distinct: Vec<Value> = Vec::new();
    for element in elements.iter() {
        if !distinct.iter().any(|known| element.is_equal(known)) {
            distinct.push(element.clone());
        }
    }
    Ok(Value::list(distinct))
}

fn position(arguments: &[Value], find: fn(&[Value], &Value) -> Option<usize>) -> Result<Value, Fault> {
    let [elements, wanted] = operands::<2>(arguments)?;
    let index = find(list(elements)?, wanted).and_then(|index| i64::try_from(index).ok());
    Ok(Value::Int(index.unwrap_or(-1)))
}

/// Whether the target has the element or, when it is no list, is it: attributes may be either.
fn includes(arguments: &[Value]) -> Result<Value, Fault> {
    match arguments {
        [Value::List(elements), wanted] => Ok(boolean(elements.iter().any(|element| element.is_equal(wanted)))),
        [value, wanted] => Ok(boolean(value.is_equal(wanted))),
        _ => Err(Fault::no_such_overload()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::function;

    fn call(name: &str, arguments: &[Value]) -> String {
        let result = function(name).expect("the function is known").dispatch(arguments);
        result.map_or_else(|fault| format!("error: {fault}"), |value| value.to_string())
    }

    fn ints<const N: usize>(values: [i64; N]) -> Value {
        Value::list(values.into_iter().map(Value::Int).collect())
    }

    #[test]
    fn slices_lie_within_their_list() {
        for (start, end, expected) in [
            (1, 3, "[2, 3]"),
            (0, 0, "[]"),
            (3, 3, "[]"),
            (-1, 2, "error: cannot slice(-1, 2), negative indexes not supported"),
            (0, -1, "error: cannot slice(0, -1), negative indexes not supported"),
            (2, 1, "error: cannot slice(2, 1), start index must be less than or equal to end index"),
            (1, 4, "error: cannot slice(1, 4), list is length 3"),
        ] {
            assert_eq!(call("slice", &[ints([1, 2, 3]), Value::Int(start), Value::Int(end)]), expected);
        }
    }

    #[test]
    fn lists_are_flattened_level_by_level() {
        let nested =
            || Value::list(vec![Value::Int(1), Value::list(vec![Value::list(vec![Value::Int(2)]), ints([3])])]);
        for (arguments, expected) in [
            (vec![nested()], "[1, [2], [3]]"),
            (vec![nested(), Value::Int(0)], "[1, [[2], [3]]]"),
            (vec![nested(), Value::Int(2)], "[1, 2, 3]"),
            (vec![nested(), Value::Int(-1)], "error: level must be non-negative"),
            (vec![Value::Int(1)], "error: no such overload: int.flatten()"),
            (vec![nested(), Value::string("a")], "error: no such overload: list.flatten(string)"),
        ] {
            assert_eq!(call("flatten", &arguments), expected);
        }
    }

    #[test]
    fn shared_lists_do_not_flatten_without_bound() {
        let mut nested = ints([]);
        for _ in 0..40 {
            nested = Value::list(vec![nested.clone(), nested]);
        }
        assert_eq!(call("flatten", &[nested, Value::Int(50)]), "error: operation cancelled: size limit exceeded");
    }

    #[test]
    fn ranges_are_of_limited_length() {
        for (size, expected) in [
            (3, "[0, 1, 2]"),
            (0, "[]"),
            (-1, "error: lists.range: size must be non-negative, got -1"),
            (1_000_001, "error: lists.range: size 1000001 exceeds maximum allowed (1000000)"),
        ] {
            assert_eq!(call("lists.range", &[Value::Int(size)]), expected);
        }
    }

    #[test]
    fn the_first_of_equal_elements_stays() {
        let elements =
            Value::list(vec![Value::Int(2), Value::Double(1.0), Value::Int(1), Value::Uint(2), Value::string("2")]);
        assert_eq!(call("distinct", std::slice::from_ref(&elements)), "[2, 1, 2]");
        assert_eq!(call("reverse", &[elements]), "[2, 2, 1, 1, 2]");
    }

    #[test]
    fn elements_are_found_from_either_end() {
        for (name, wanted, expected) in
            [("indexOf", 1, "0"), ("lastIndexOf", 1, "2"), ("indexOf", 3, "-1"), ("lastIndexOf", 3, "-1")]
        {
            assert_eq!(call(name, &[ints([1, 2, 1]), Value::Int(wanted)]), expected);
        }
    }

    #[test]
    fn a_scalar_includes_what_it_equals() {
        for (value, wanted, expected) in [
            (ints([1, 2]), Value::Double(2.0), "true"),
            (ints([1, 2]), Value::Int(3), "false"),
            (Value::string("a"), Value::string("a"), "true"),
            (Value::string("ab"), Value::string("a"), "false"),
            (Value::Int(1), Value::string("1"), "false"),
        ] {
            assert_eq!(call("includes", &[value, wanted]), expected);
        }
    }
}
