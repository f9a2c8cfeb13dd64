//! Lists of values that have an order: sorting, and what is the least, the greatest and the sum.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::cost::Cost;
use crate::error::Fault;
use crate::library::lists::check_affordable;
use crate::library::{Function, Implementation, Overload, boolean, list, operands, operators};
use crate::macros::SORT_BY_KEYS;
use crate::types::Type;
use crate::value::{List, Value};

/// Upstream sorts lists up to this length by insertion, and so keeps the order of what is equal.
const MAX_INSERTION: usize = 12;

pub(super) fn functions() -> Vec<Function> {
    let list_t = || Type::list(Type::parameter("T"));
    let is_list = |value: &Value| matches!(value, Value::List(_));
    vec![
        Function::shared(
            "sort",
            is_list,
            sort,
            comparable(SORT, |id, of, text| {
                Overload::shared_member(id, [Type::list(of.clone())], Type::list(of), Cost::Sort { text })
            }),
        ),
        Function::shared(
            SORT_BY_KEYS,
            is_list,
            sort_by,
            comparable(SORT_BY, |id, of, text| {
                Overload::shared_member(id, [list_t(), Type::list(of)], list_t(), Cost::SortBy { text })
            }),
        ),
        Function::new(
            "isSorted",
            comparable(IS_SORTED, |id, of, _| {
                Overload::member(id, [Type::list(of)], Type::Bool, Cost::Traverse, is_sorted)
            }),
        ),
        Function::new(
            "max",
            comparable(MAX, |id, of, _| Overload::member(id, [Type::list(of.clone())], of, Cost::Traverse, max)),
        ),
        Function::new(
            "min",
            comparable(MIN, |id, of, _| Overload::member(id, [Type::list(of.clone())], of, Cost::Traverse, min)),
        ),
        Function::new(
            "sum",
            vec![
                sum("list_int_sum_int", Type::Int, |arguments| sum_from(Value::Int(0), arguments)),
                sum("list_uint_sum_uint", Type::Uint, |arguments| sum_from(Value::Uint(0), arguments)),
                sum("list_double_sum_double", Type::Double, |arguments| sum_from(Value::Double(0.0), arguments)),
                sum("list_duration_sum_duration", Type::Duration, |arguments| sum_from(Value::Duration(0), arguments)),
            ],
        ),
    ]
}

type Ids = [&'static str; 8];

const SORT: Ids = [
    "list_int_sort",
    "list_uint_sort",
    "list_double_sort",
    "list_bool_sort",
    "list_google.protobuf.Duration_sort",
    "list_google.protobuf.Timestamp_sort",
    "list_string_sort",
    "list_bytes_sort",
];
const SORT_BY: Ids = [
    "list_int_sortByAssociatedKeys",
    "list_uint_sortByAssociatedKeys",
    "list_double_sortByAssociatedKeys",
    "list_bool_sortByAssociatedKeys",
    "list_google.protobuf.Duration_sortByAssociatedKeys",
    "list_google.protobuf.Timestamp_sortByAssociatedKeys",
    "list_string_sortByAssociatedKeys",
    "list_bytes_sortByAssociatedKeys",
];
const IS_SORTED: Ids = [
    "list_int_is_sorted_bool",
    "list_uint_is_sorted_bool",
    "list_double_is_sorted_bool",
    "list_bool_is_sorted_bool",
    "list_duration_is_sorted_bool",
    "list_timestamp_is_sorted_bool",
    "list_string_is_sorted_bool",
    "list_bytes_is_sorted_bool",
];
const MAX: Ids = [
    "list_int_max_int",
    "list_uint_max_uint",
    "list_double_max_double",
    "list_bool_max_bool",
    "list_duration_max_duration",
    "list_timestamp_max_timestamp",
    "list_string_max_string",
    "list_bytes_max_bytes",
];
const MIN: Ids = [
    "list_int_min_int",
    "list_uint_min_uint",
    "list_double_min_double",
    "list_bool_min_bool",
    "list_duration_min_duration",
    "list_timestamp_min_timestamp",
    "list_string_min_string",
    "list_bytes_min_bytes",
];

/// One row for each type that has an order; the last argument of `row` tells whether its values are read to compare them.
fn comparable(ids: Ids, row: impl Fn(&'static str, Type, bool) -> Overload) -> Vec<Overload> {
    let types =
        [Type::Int, Type::Uint, Type::Double, Type::Bool, Type::Duration, Type::Timestamp, Type::String, Type::Bytes];
    let rows = ids.into_iter().zip(types).map(|(id, of)| {
        let text = matches!(of, Type::String | Type::Bytes);
        row(id, of, text)
    });
    rows.collect()
}

fn sum(id: &'static str, of: Type, call: Implementation) -> Overload {
    Overload::member(id, [Type::list(of.clone())], of, Cost::Traverse, call)
}

fn sort(arguments: &[Value]) -> Result<Value, Fault> {
    let [elements] = operands::<1>(arguments)?;
    sorted(list(elements)?, list(elements)?)
}

fn sort_by(arguments: &[Value]) -> Result<Value, Fault> {
    let [elements, keys] = operands::<2>(arguments)?;
    sorted(list(elements)?, list(keys)?)
}

/// The elements in the order of their keys.
fn sorted(elements: &Arc<List>, keys: &[Value]) -> Result<Value, Fault> {
    if elements.len() != keys.len() {
        return Err(Fault::failed(format!(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got {} and {} elements respectively",
            elements.len(),
            keys.len()
        )));
    }
    let Some(first) = keys.first() else { return Ok(Value::List(elements.clone())) };
    if !first.is_ordered() {
        return Err(Fault::failed("list elements must be comparable"));
    }
    if keys.iter().any(|key| key.type_name() != first.type_name()) {
        return Err(Fault::failed("list elements must have the same type"));
    }
    check_affordable(keys.len().saturating_mul(keys.len()))?;
    let mut pairs: Vec<(&Value, &Value)> = keys.iter().zip(elements.iter()).collect();
    if pairs.len() <= MAX_INSERTION {
        sort_by_insertion(&mut pairs);
    } else {
        pairs.sort_by(|(left, _), (right, _)| total_order(left, right));
    }
    Ok(Value::list(pairs.into_iter().map(|(_, element)| element.clone()).collect()))
}

/// Also defined for floats that are no numbers, which compare with nothing: it leaves them where upstream does.
fn sort_by_insertion(pairs: &mut [(&Value, &Value)]) {
    for end in 1..pairs.len() {
        let mut index = end;
        while index > 0 && is(pairs[index].0, Ordering::Less, pairs[index - 1].0) {
            pairs.swap(index, index - 1);
            index -= 1;
        }
    }
}

/// The order of keys of one type, with floats that are no numbers last. Upstream leaves those, and equal ones, to chance in long lists.
fn total_order(left: &Value, right: &Value) -> Ordering {
    let is_number = |value: &Value| !matches!(value, Value::Double(value) if value.is_nan());
    left.compare(right).unwrap_or_else(|_| is_number(right).cmp(&is_number(left)))
}

/// Whether two values compare so; values that do not compare stand in no order.
fn is(left: &Value, order: Ordering, right: &Value) -> bool {
    left.compare(right).is_ok_and(|found| found == order)
}

fn is_sorted(arguments: &[Value]) -> Result<Value, Fault> {
    let [elements] = operands::<1>(arguments)?;
    let mut previous: Option<&Value> = None;
    for element in list(elements)?.iter() {
        if !element.is_ordered() {
            return Err(Fault::no_such_overload());
        }
        if previous.is_some_and(|previous| is(previous, Ordering::Greater, element)) {
            return Ok(boolean(false));
        }
        previous = Some(element);
    }
    Ok(boolean(true))
}

fn max(arguments: &[Value]) -> Result<Value, Fault> {
    extreme("max", arguments, Ordering::Less)
}

fn min(arguments: &[Value]) -> Result<Value, Fault> {
    extreme("min", arguments, Ordering::Greater)
}

/// The first element that gives way to no later one; an element gives way when it stands so to the other.
fn extreme(name: &str, arguments: &[Value], gives_way: Ordering) -> Result<Value, Fault> {
    let [elements] = operands::<1>(arguments)?;
    let elements = list(elements)?;
    if !elements.iter().all(Value::is_ordered) {
        return Err(Fault::no_such_overload());
    }
    let best = elements.iter().reduce(|best, next| if is(best, gives_way, next) { next } else { best });
    best.cloned().ok_or_else(|| Fault::failed(format!("{name} called on empty list")))
}

fn sum_from(zero: Value, arguments: &[Value]) -> Result<Value, Fault> {
    let [elements] = operands::<1>(arguments)?;
    list(elements)?.iter().try_fold(zero, |sum, element| operators::add(&[sum, element.clone()]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(result: Result<Value, Fault>) -> String {
        result.map_or_else(|fault| format!("error: {fault}"), |value| value.to_string())
    }

    fn ints(values: &[i64]) -> Value {
        Value::list(values.iter().copied().map(Value::Int).collect())
    }

    #[test]
    fn lists_of_one_type_are_sorted() {
        for (elements, expected) in [
            (ints(&[3, 1, 2]), "[1, 2, 3]"),
            (ints(&[]), "[]"),
            (Value::list(vec![Value::string("b"), Value::string("a")]), "[a, b]"),
            (Value::list(vec![Value::Double(2.0), Value::Double(f64::NAN), Value::Double(1.0)]), "[2, NaN, 1]"),
            (Value::list(vec![Value::Int(1), Value::Double(2.0)]), "error: list elements must have the same type"),
            (Value::list(vec![ints(&[]), ints(&[])]), "error: list elements must be comparable"),
        ] {
            assert_eq!(shown(sort(&[elements])), expected);
        }
    }

    #[test]
    fn elements_follow_their_keys_and_equal_keys_keep_their_order() {
        let elements = ints(&(0..14).collect::<Vec<i64>>());
        let keys = Value::list((0..14).map(|index| Value::Bool(index % 2 == 0)).collect());
        assert_eq!(shown(sort_by(&[elements, keys])), "[1, 3, 5, 7, 9, 11, 13, 0, 2, 4, 6, 8, 10, 12]");
    }

    #[test]
    fn long_lists_with_floats_that_are_no_numbers_are_sorted() {
        let floats = (0..100).map(|index| if index % 3 == 0 { f64::NAN } else { f64::from(100 - index) });
        let sorted = shown(sort(&[Value::list(floats.map(Value::Double).collect())]));
        assert!(sorted.starts_with("[2, 3, 5, 6, "), "{sorted}");
    }

    #[test]
    fn there_must_be_a_key_for_each_element() {
        let expected = "error: @sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got 2 and 1 elements respectively";
        assert_eq!(shown(sort_by(&[ints(&[1, 2]), ints(&[1])])), expected);
    }

    #[test]
    fn least_greatest_and_sum_of_lists() {
        for (call, elements, expected) in [
            (min as Implementation, ints(&[3, 1, 2]), "1"),
            (max, ints(&[3, 1, 2]), "3"),
            (sum_of_ints, ints(&[3, 1, 2]), "6"),
            (sum_of_ints, ints(&[]), "0"),
            (sum_of_ints, ints(&[i64::MAX, 1]), "error: integer overflow"),
            (min, ints(&[]), "error: min called on empty list"),
            (max, ints(&[]), "error: max called on empty list"),
            (is_sorted, ints(&[1, 1, 2]), "true"),
            (is_sorted, ints(&[2, 1]), "false"),
        ] {
            assert_eq!(shown(call(&[elements])), expected);
        }
    }

    fn sum_of_ints(arguments: &[Value]) -> Result<Value, Fault> {
        sum_from(Value::Int(0), arguments)
    }
}
