//! Lists: slices, order, sums, and the like.

use std::cmp::Ordering;

use crate::cost::Cost;
use crate::error::{Fault, RuntimeError};
use crate::library::operators::{self, check_list};
use crate::library::{Function, Implementation, Overload, boolean, int, list, operands};
use crate::macros::SORT_BY_KEYS;
use crate::types::Type;
use crate::value::Value;

/// The types whose lists can be sorted, in upstream's order.
const COMPARABLE: [Type; 8] =
    [Type::Int, Type::Uint, Type::Double, Type::Bool, Type::Duration, Type::Timestamp, Type::String, Type::Bytes];

pub(super) fn functions() -> Vec<Function> {
    let t = || Type::parameter("T");
    let list_t = || Type::list(t());
    let a = || Type::parameter("A");
    vec![
        Function::new(
            "slice",
            vec![Overload::member("list_slice", [list_t(), Type::Int, Type::Int], list_t(), Cost::Slice, slice)],
        ),
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
        Function::shared("sort", is_list, sort, sort_overloads()),
        Function::shared(SORT_BY_KEYS, is_list, sort_by_keys, sort_by_overloads()),
        Function::new(
            "lists.range",
            vec![Overload::global("lists_range", [Type::Int], Type::list(Type::Int), Cost::Range, range)],
        ),
        Function::new(
            "reverse",
            vec![Overload::member("list_reverse", [list_t()], list_t(), Cost::Reverse, |arguments| {
                let [elements] = operands::<1>(arguments)?;
                Ok(Value::list(list(elements)?.iter().rev().cloned().collect()))
            })],
        ),
        Function::new(
            "distinct",
            vec![Overload::member("list_distinct", [list_t()], list_t(), Cost::Distinct, distinct)],
        ),
        of_each("isSorted", &COMPARABLE, |_| Type::Bool, |_| is_sorted),
        of_each("sum", &[Type::Int, Type::Uint, Type::Double, Type::Duration], Type::clone, sum_of),
        of_each("max", &COMPARABLE, Type::clone, |_| |arguments| extreme(arguments, "max", Ordering::Less)),
        of_each("min", &COMPARABLE, Type::clone, |_| |arguments| extreme(arguments, "min", Ordering::Greater)),
        Function::new(
            "indexOf",
            vec![Overload::member(
                "list_a_index_of_int",
                [Type::list(a()), a()],
                Type::Int,
                Cost::Traverse,
                |arguments| {
                    let [elements, wanted] = operands::<2>(arguments)?;
                    Ok(position(list(elements)?.iter().position(|element| element.is_equal(wanted))))
                },
            )],
        ),
        Function::new(
            "lastIndexOf",
            vec![Overload::member(
                "list_a_last_index_of_int",
                [Type::list(a()), a()],
                Type::Int,
                Cost::Traverse,
                |arguments| {
                    let [elements, wanted] = operands::<2>(arguments)?;
                    Ok(position(list(elements)?.iter().rposition(|element| element.is_equal(wanted))))
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
                |arguments| {
                    let [target, wanted] = operands::<2>(arguments)?;
                    Ok(boolean(match target {
                        Value::List(elements) => elements.iter().any(|element| element.is_equal(wanted)),
                        other => other.is_equal(wanted),
                    }))
                },
            )],
        ),
    ]
}

/// A function with one overload for lists of each of `types`.
fn of_each(
    name: &'static str,
    types: &[Type],
    result: fn(&Type) -> Type,
    call: fn(&Type) -> Implementation,
) -> Function {
    let overloads =
        types.iter().map(|of| Overload::member(name, [Type::list(of.clone())], result(of), Cost::Traverse, call(of)));
    Function::new(name, overloads.collect())
}

fn is_text(of: &Type) -> bool {
    matches!(of, Type::String | Type::Bytes)
}

fn sort_overloads() -> Vec<Overload> {
    let overload = |of: &Type| {
        let elements = Type::list(of.clone());
        Overload::shared_member("list_sort", [elements.clone()], elements, Cost::Sort { text: is_text(of) })
    };
    COMPARABLE.iter().map(overload).collect()
}

fn sort_by_overloads() -> Vec<Overload> {
    let elements = || Type::list(Type::parameter("T"));
    let overload = |of: &Type| {
        let keys = Type::list(of.clone());
        Overload::shared_member(
            "list_sortByAssociatedKeys",
            [elements(), keys],
            elements(),
            Cost::SortBy { text: is_text(of) },
        )
    };
    COMPARABLE.iter().map(overload).collect()
}

fn is_list(value: &Value) -> bool {
    matches!(value, Value::List(_))
}

fn position(found: Option<usize>) -> Value {
    Value::Int(found.and_then(|index| i64::try_from(index).ok()).unwrap_or(-1))
}

fn slice(arguments: &[Value]) -> Result<Value, Fault> {
    let [elements, start, end] = operands::<3>(arguments)?;
    let (elements, start, end) = (list(elements)?, int(start)?, int(end)?);
    let (Ok(from), Ok(to)) = (usize::try_from(start), usize::try_from(end)) else {
        return Err(Fault::failed(format!("cannot slice({start}, {end}), negative indexes not supported")));
    };
    if from > to {
        return Err(Fault::failed(format!(
            "cannot slice({start}, {end}), start index must be less than or equal to end index"
        )));
    }
    let slice = elements
        .get(from..to)
        .ok_or_else(|| Fault::failed(format!("cannot slice({start}, {end}), list is length {}", elements.len())))?;
    Ok(Value::list(slice.to_vec()))
}

fn flatten(arguments: &[Value]) -> Result<Value, Fault> {
    let (target, depth) = match arguments {
        [target] => (target, 1),
        [target, depth] => (target, int(depth)?),
        _ => return Err(Fault::no_such_overload()),
    };
    let Value::List(elements) = target else {
        let depth = arguments.get(1).map_or("", |_| "int");
        return Err(Fault::no_such_signature(format!("{}.flatten({depth})", target.type_of())));
    };
    if depth < 0 {
        return Err(Fault::failed("level must be non-negative"));
    }
    let mut flat = Vec::new();
    let mut visited = 0_usize;
    let mut open = vec![(elements.clone(), 0, depth)];
    while let Some((elements, index, depth)) = open.pop() {
        let Some(element) = elements.get(index) else { continue };
        visited += 1;
        if visited > 10 * operators::MAX_LIST {
            return Err(Fault::new(RuntimeError::MemoryLimit));
        }
        open.push((elements.clone(), index + 1, depth));
        match element {
            Value::List(inner) if depth > 0 => open.push((inner.clone(), 0, depth - 1)),
            other => flat.push(other.clone()),
        }
        check_list(flat.len())?;
    }
    Ok(Value::list(flat))
}

fn range(arguments: &[Value]) -> Result<Value, Fault> {
    let [size] = operands::<1>(arguments)?;
    let size = int(size)?;
    if size < 0 {
        return Err(Fault::failed(format!("lists.range: size must be non-negative, got {size}")));
    }
    check_list(usize::try_from(size).unwrap_or(usize::MAX))?;
    Ok(Value::list((0..size).map(Value::Int).collect()))
}

fn distinct(arguments: &[Value]) -> Result<Value, Fault> {
    let [elements] = operands::<1>(arguments)?;
    let elements = list(elements)?;
    check_quadratic(elements.len())?;
    let mut unique: Vec<Value> = Vec::new();
    for element in elements.iter() {
        if !unique.iter().any(|other| element.is_equal(other)) {
            unique.push(element.clone());
        }
    }
    Ok(Value::list(unique))
}

/// Refuses to compare all pairs of a list where that costs more than an evaluation may.
fn check_quadratic(length: usize) -> Result<(), Fault> {
    if length > 1_000 { Err(Fault::new(RuntimeError::CostLimit)) } else { Ok(()) }
}

fn sort(arguments: &[Value]) -> Result<Value, Fault> {
    let [elements] = operands::<1>(arguments)?;
    sorted(list(elements)?, list(elements)?)
}

fn sort_by_keys(arguments: &[Value]) -> Result<Value, Fault> {
    let [elements, keys] = operands::<2>(arguments)?;
    sorted(list(elements)?, list(keys)?)
}

fn sorted(elements: &[Value], keys: &[Value]) -> Result<Value, Fault> {
    if elements.len() != keys.len() {
        return Err(Fault::failed(format!(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got {} and {} elements respectively",
            elements.len(),
            keys.len()
        )));
    }
    let Some(first) = keys.first() else { return Ok(Value::list(elements.to_vec())) };
    if !first.is_ordered() {
        return Err(Fault::failed("list elements must be comparable"));
    }
    if keys.len() > 1 && keys.iter().any(|key| key.type_name() != first.type_name()) {
        return Err(Fault::failed("list elements must have the same type"));
    }
    let mut pairs: Vec<(&Value, &Value)> = keys.iter().zip(elements).collect();
    pairs.sort_by(|(left, _), (right, _)| left.compare(right).unwrap_or(Ordering::Equal));
    Ok(Value::list(pairs.into_iter().map(|(_, element)| element.clone()).collect()))
}

fn is_sorted(arguments: &[Value]) -> Result<Value, Fault> {
    let [elements] = operands::<1>(arguments)?;
    let mut previous: Option<&Value> = None;
    for element in list(elements)?.iter() {
        if !element.is_ordered() {
            return Err(Fault::no_such_overload());
        }
        if previous.is_some_and(|previous| matches!(previous.compare(element), Ok(Ordering::Greater))) {
            return Ok(boolean(false));
        }
        previous = Some(element);
    }
    Ok(boolean(true))
}

fn sum_of(of: &Type) -> Implementation {
    match of {
        Type::Uint => |arguments| sum(arguments, Value::Uint(0)),
        Type::Double => |arguments| sum(arguments, Value::Double(0.0)),
        Type::Duration => |arguments| sum(arguments, Value::Duration(0)),
        _ => |arguments| sum(arguments, Value::Int(0)),
    }
}

fn sum(arguments: &[Value], zero: Value) -> Result<Value, Fault> {
    let [elements] = operands::<1>(arguments)?;
    let mut total = zero;
    for element in list(elements)?.iter() {
        total = operators::add(&[total, element.clone()])?;
    }
    Ok(total)
}

/// The element that no other comes after; `replaced` is how the best so far compares with a better one.
fn extreme(arguments: &[Value], name: &str, replaced: Ordering) -> Result<Value, Fault> {
    let [elements] = operands::<1>(arguments)?;
    let mut best: Option<&Value> = None;
    for element in list(elements)?.iter() {
        if !element.is_ordered() {
            return Err(Fault::no_such_overload());
        }
        if best.is_none_or(|best| best.compare(element).is_ok_and(|order| order == replaced)) {
            best = Some(element);
        }
    }
    best.cloned().ok_or_else(|| Fault::failed(format!("{name} called on empty list")))
}
