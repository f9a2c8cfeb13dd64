//! Operators that do not evaluate all of their operands, and access by key or index.

use crate::cost::Cost;
use crate::library::{Function, Overload};
use crate::macros;
use crate::types::Type;

/// What the evaluator itself does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Special {
    /// `a && b`
    And,
    /// `a || b`
    Or,
    /// `a ? b : c`
    Conditional,
    /// Whether a loop should go on: not false, be it an error.
    NotStrictlyFalse,
    /// `a == b`
    Equals,
    /// `a != b`
    NotEquals,
    /// `a[b]`
    Index,
    /// `a[?b]`
    OptionalIndex,
    /// `a.or(b)`
    OptionalOr,
    /// `a.orValue(b)`
    OptionalOrValue,
    /// Adds to the map that a loop gathers.
    MapInsert,
}

pub(super) fn functions() -> Vec<Function> {
    let a = || Type::parameter("A");
    let k = || Type::parameter("K");
    let v = || Type::parameter("V");
    let map_kv = || Type::map(k(), v());
    vec![
        Function::special(
            "_?_:_",
            Special::Conditional,
            vec![Overload::shared("conditional", [Type::Bool, a(), a()], a(), Cost::Conditional)],
        ),
        Function::special(
            "_&&_",
            Special::And,
            vec![Overload::shared("logical_and", [Type::Bool, Type::Bool], Type::Bool, Cost::Logic)],
        ),
        Function::special(
            "_||_",
            Special::Or,
            vec![Overload::shared("logical_or", [Type::Bool, Type::Bool], Type::Bool, Cost::Logic)],
        ),
        Function::special(
            "@not_strictly_false",
            Special::NotStrictlyFalse,
            vec![Overload::shared("not_strictly_false", [Type::Bool], Type::Bool, Cost::One)],
        ),
        Function::special(
            "_==_",
            Special::Equals,
            vec![Overload::shared("equals", [a(), a()], Type::Bool, Cost::Equality)],
        ),
        Function::special(
            "_!=_",
            Special::NotEquals,
            vec![Overload::shared("not_equals", [a(), a()], Type::Bool, Cost::Inequality)],
        ),
        Function::special(
            "_[_]",
            Special::Index,
            vec![
                Overload::shared("index_list", [Type::list(a()), Type::Int], a(), Cost::IndexList),
                Overload::shared(
                    "index_map",
                    [Type::map(a(), Type::parameter("B")), a()],
                    Type::parameter("B"),
                    Cost::IndexMap,
                ),
                Overload::shared(
                    "optional_list_index_int",
                    [Type::optional(Type::list(v())), Type::Int],
                    Type::optional(v()),
                    Cost::One,
                ),
                Overload::shared(
                    "optional_map_index_value",
                    [Type::optional(map_kv()), k()],
                    Type::optional(v()),
                    Cost::One,
                ),
            ],
        ),
        Function::special(
            "_[?_]",
            Special::OptionalIndex,
            vec![
                Overload::shared(
                    "list_optindex_optional_int",
                    [Type::list(v()), Type::Int],
                    Type::optional(v()),
                    Cost::One,
                ),
                Overload::shared(
                    "optional_list_optindex_optional_int",
                    [Type::optional(Type::list(v())), Type::Int],
                    Type::optional(v()),
                    Cost::One,
                ),
                Overload::shared("map_optindex_optional_value", [map_kv(), k()], Type::optional(v()), Cost::One),
                Overload::shared(
                    "optional_map_optindex_optional_value",
                    [Type::optional(map_kv()), k()],
                    Type::optional(v()),
                    Cost::One,
                ),
            ],
        ),
        Function::special(
            macros::MAP_INSERT,
            Special::MapInsert,
            vec![
                Overload::shared("@mapInsert_map_key_value", [map_kv(), k(), v()], map_kv(), Cost::One),
                Overload::shared("@mapInsert_map_map", [map_kv(), map_kv()], map_kv(), Cost::One),
            ],
        ),
    ]
}
