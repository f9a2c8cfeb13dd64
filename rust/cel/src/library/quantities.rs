//! Resource quantities.

use std::cmp::Ordering;

use drayman_api::Quantity;
use drayman_api::quantity::{Format, QuantityError};

use crate::cost::Cost;
use crate::error::Fault;
use crate::library::{Function, Overload, boolean, operands, ordering, text};
use crate::types::Type;
use crate::value::{QuantityValue, Value};

type Arithmetic = fn(&Quantity, &Quantity) -> Result<Quantity, QuantityError>;

pub(super) fn functions() -> Vec<Function> {
    let q = || Type::QUANTITY;
    vec![
        Function::new(
            "quantity",
            vec![Overload::global("string_to_quantity", [Type::String], q(), Cost::Parse, parse)],
        ),
        Function::new(
            "isQuantity",
            vec![Overload::global("is_quantity_string", [Type::String], Type::Bool, Cost::Parse, |arguments| {
                let [source] = operands::<1>(arguments)?;
                Ok(boolean(text(source)?.parse::<Quantity>().is_ok()))
            })],
        ),
        // Declared without target: `sign(q)`, not `q.sign()`.
        Function::new(
            "sign",
            vec![Overload::global("quantity_sign", [q()], Type::Int, Cost::One, |arguments| {
                Ok(Value::Int(i64::from(one(arguments)?.sign())))
            })],
        ),
        Function::new(
            "isGreaterThan",
            vec![Overload::member("quantity_is_greater_than", [q(), q()], Type::Bool, Cost::One, |arguments| {
                compare(arguments).map(|order| boolean(order == Ordering::Greater))
            })],
        ),
        Function::new(
            "isLessThan",
            vec![Overload::member("quantity_is_less_than", [q(), q()], Type::Bool, Cost::One, |arguments| {
                compare(arguments).map(|order| boolean(order == Ordering::Less))
            })],
        ),
        Function::new(
            "compareTo",
            vec![Overload::member("quantity_compare_to", [q(), q()], Type::Int, Cost::One, |arguments| {
                compare(arguments).map(ordering)
            })],
        ),
        Function::new(
            "asApproximateFloat",
            vec![Overload::member("quantity_get_float", [q()], Type::Double, Cost::One, |arguments| {
                Ok(Value::Double(one(arguments)?.approximate_f64()))
            })],
        ),
        Function::new(
            "asInteger",
            vec![Overload::member("quantity_get_int", [q()], Type::Int, Cost::One, |arguments| {
                one(arguments)?.as_i64().map(Value::Int).ok_or_else(|| Fault::failed("cannot convert value to integer"))
            })],
        ),
        Function::new(
            "isInteger",
            vec![Overload::member("quantity_is_integer", [q()], Type::Bool, Cost::One, |arguments| {
                Ok(boolean(one(arguments)?.as_i64().is_some()))
            })],
        ),
        Function::new(
            "add",
            vec![
                Overload::member("quantity_add", [q(), q()], q(), Cost::One, |arguments| {
                    combine(arguments, Quantity::checked_add)
                }),
                Overload::member("quantity_add_int", [q(), Type::Int], q(), Cost::One, |arguments| {
                    combine(arguments, Quantity::checked_add)
                }),
            ],
        ),
        Function::new(
            "sub",
            vec![
                Overload::member("quantity_sub", [q(), q()], q(), Cost::One, |arguments| {
                    combine(arguments, Quantity::checked_sub)
                }),
                Overload::member("quantity_sub_int", [q(), Type::Int], q(), Cost::One, |arguments| {
                    combine(arguments, Quantity::checked_sub)
                }),
            ],
        ),
    ]
}

fn parse(arguments: &[Value]) -> Result<Value, Fault> {
    let [source] = operands::<1>(arguments)?;
    let quantity = text(source)?.parse().map_err(|error: QuantityError| Fault::failed(error.to_string()))?;
    Ok(Value::Quantity(QuantityValue::read(quantity)))
}

fn quantity(operand: &Value) -> Result<&Quantity, Fault> {
    match operand {
        Value::Quantity(quantity) => Ok(quantity.quantity()),
        _ => Err(Fault::no_such_overload()),
    }
}

fn one(arguments: &[Value]) -> Result<&Quantity, Fault> {
    let [operand] = operands::<1>(arguments)?;
    quantity(operand)
}

fn compare(arguments: &[Value]) -> Result<Ordering, Fault> {
    let [left, right] = operands::<2>(arguments)?;
    Ok(quantity(left)?.cmp(quantity(right)?))
}

fn combine(arguments: &[Value], operation: Arithmetic) -> Result<Value, Fault> {
    let [left, right] = operands::<2>(arguments)?;
    let result = match right {
        Value::Int(value) => operation(quantity(left)?, &Quantity::from_i64(*value, Format::DecimalExponent)),
        _ => operation(quantity(left)?, quantity(right)?),
    };
    let result = result.map_err(|error| Fault::failed(error.to_string()))?;
    Ok(Value::Quantity(QuantityValue::computed(result)))
}
