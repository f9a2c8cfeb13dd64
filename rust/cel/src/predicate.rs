//! Simple selectors as one decision: comparisons of fields of the device with constants, joined by `&&`, `||` and `!`.
//!
//! Most selectors are of this kind. Where all that they read is there and of the expected type, the answer needs no stack and no copies of
//! values. Everything else, errors and costs above all, is left to the evaluator.

use std::cmp::Ordering;

use crate::device::Device;
use crate::program::{Attribute, CallStep, Program, Step};
use crate::value::Value;

/// Terms of a selector that is simple: so few, and texts so short, that no limit on cost can be met.
const MAX_TERMS: usize = 64;
const MAX_TEXT: usize = 1024;

/// A decision about a device.
#[derive(Debug)]
pub(crate) enum Predicate {
    /// A field that is true.
    True(Field),
    /// A field that is equal to text, an integer or a bool, or is not.
    Equal { field: Field, constant: Value, negated: bool },
    /// A field that is ordered so to an integer, or by `compareTo` to a quantity or version.
    Ordered { field: Field, constant: Value, wanted: Wanted },
    /// The opposite.
    Not(Box<Predicate>),
    /// `||` when `on` is true, else `&&`.
    Join { on: bool, operands: Box<[Predicate; 2]> },
}

type Wanted = fn(Ordering) -> bool;

/// What is read of a device.
#[derive(Debug)]
pub(crate) enum Field {
    Driver,
    Attribute(Box<Attribute>),
}

/// What stands on the stack of the evaluator at some step.
enum Term {
    Device,
    Field(Field),
    Constant(Value),
    /// The result of `compareTo`.
    Comparison(Field, Value),
    Predicate(Predicate),
}

impl Predicate {
    /// The decision that a program comes down to, if it is a simple one.
    pub(crate) fn of(program: &Program) -> Option<Self> {
        if program.steps.len() > MAX_TERMS {
            return None;
        }
        let mut terms = Vec::new();
        for step in &program.steps {
            if let Some(term) = term(step, &mut terms)? {
                terms.push(term);
            }
        }
        let last = terms.pop()?.into_predicate();
        last.filter(|_| terms.is_empty())
    }

    /// Whether it holds for a device; none where something is missing or of another type.
    pub(crate) fn holds(&self, device: &Device) -> Option<bool> {
        match self {
            Self::True(field) => match field.of(device)? {
                Read::Value(Value::Bool(value)) => Some(*value),
                _ => None,
            },
            Self::Equal { field, constant, negated } => {
                let equal = match (field.of(device)?, constant) {
                    (Read::Driver(driver), Value::String(constant)) => driver == &**constant,
                    (Read::Value(Value::String(value)), Value::String(constant)) => value == constant,
                    (Read::Value(Value::Int(value)), Value::Int(constant)) => value == constant,
                    (Read::Value(Value::Bool(value)), Value::Bool(constant)) => value == constant,
                    _ => return None,
                };
                Some(equal != *negated)
            }
            Self::Ordered { field, constant, wanted } => {
                let Read::Value(value) = field.of(device)? else { return None };
                let ordering = match (value, constant) {
                    (Value::Int(value), Value::Int(constant)) => value.cmp(constant),
                    (Value::Quantity(value), Value::Quantity(constant)) => value.quantity().cmp(constant.quantity()),
                    (Value::Version(value), Value::Version(constant)) => value.cmp(constant),
                    _ => return None,
                };
                Some(wanted(ordering))
            }
            Self::Not(operand) => operand.holds(device).map(|holds| !holds),
            Self::Join { on, operands } => {
                let [left, right] = &**operands;
                if left.holds(device)? == *on { Some(*on) } else { right.holds(device) }
            }
        }
    }
}

/// What a field holds.
enum Read<'a> {
    Driver(&'a str),
    Value(&'a Value),
}

impl Field {
    fn of<'a>(&self, device: &'a Device) -> Option<Read<'a>> {
        match self {
            Self::Driver => Some(Read::Driver(&device.driver)),
            Self::Attribute(attribute) => attribute.of(device).map(Read::Value),
        }
    }
}

impl Term {
    fn into_predicate(self) -> Option<Predicate> {
        match self {
            Self::Predicate(predicate) => Some(predicate),
            Self::Field(field) => Some(Predicate::True(field)),
            Self::Device | Self::Constant(_) | Self::Comparison(..) => None,
        }
    }
}

/// Takes from the terms what a step takes, and gives what it adds, if it adds anything; none if the step is not simple.
#[expect(clippy::option_option, reason = "a step that adds no term is something else than one that is not simple")]
fn term(step: &Step, terms: &mut Vec<Term>) -> Option<Option<Term>> {
    let added = match step {
        Step::Constant(value) | Step::Folded { result: Ok(value), .. } => Term::Constant(value.clone()),
        Step::Device => Term::Device,
        Step::Attribute(attribute) => Term::Field(Field::Attribute(attribute.clone())),
        Step::Qualify { key: Value::String(key), optional: false } => match terms.pop()? {
            Term::Device if &**key == "driver" => Term::Field(Field::Driver),
            _ => return None,
        },
        Step::Equal { negated } => {
            let (right, left) = (terms.pop()?, terms.pop()?);
            Term::Predicate(equal(left, right, *negated)?)
        }
        Step::Call(call) => self::call(call, terms)?,
        Step::Join { on } => {
            let (right, left) = (terms.pop()?.into_predicate()?, terms.pop()?.into_predicate()?);
            Term::Predicate(Predicate::Join { on: *on, operands: Box::new([left, right]) })
        }
        // A join follows the one; the other is about cost.
        Step::ShortCircuit { .. } | Step::Charge(_) => return Some(None),
        _ => return None,
    };
    Some(Some(added))
}

fn equal(left: Term, right: Term, negated: bool) -> Option<Predicate> {
    match (left, right) {
        (Term::Field(field), Term::Constant(constant)) | (Term::Constant(constant), Term::Field(field)) => {
            let simple = match &constant {
                Value::String(text) => text.len() <= MAX_TEXT,
                Value::Int(_) | Value::Bool(_) => true,
                _ => false,
            };
            simple.then_some(Predicate::Equal { field, constant, negated })
        }
        (Term::Comparison(field, constant), Term::Constant(Value::Int(0))) => {
            let wanted: Wanted = if negated { Ordering::is_ne } else { Ordering::is_eq };
            Some(Predicate::Ordered { field, constant, wanted })
        }
        _ => None,
    }
}

fn call(call: &CallStep, terms: &mut Vec<Term>) -> Option<Term> {
    if call.function.name == "!_" {
        let operand = terms.pop()?.into_predicate()?;
        return Some(Term::Predicate(Predicate::Not(Box::new(operand))));
    }
    let (Term::Constant(right), left) = (terms.pop()?, terms.pop()?) else { return None };
    let wanted: Wanted = match call.function.name {
        "compareTo" => match (left, right) {
            (Term::Field(field), right @ (Value::Quantity(_) | Value::Version(_))) if call.operands == 2 => {
                return Some(Term::Comparison(field, right));
            }
            _ => return None,
        },
        "_<_" => Ordering::is_lt,
        "_<=_" => Ordering::is_le,
        "_>_" => Ordering::is_gt,
        "_>=_" => Ordering::is_ge,
        _ => return None,
    };
    match (left, right) {
        (Term::Comparison(field, constant), Value::Int(0)) | (Term::Field(field), constant @ Value::Int(_)) => {
            Some(Term::Predicate(Predicate::Ordered { field, constant, wanted }))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::device::CelDevice;
    use crate::selector::{Environment, Selector, as_bool};

    /// Text, an integer, a bool, a version and a quantity.
    fn device() -> CelDevice {
        let json = r#"{
            "name": "gpu-0",
            "attributes": {
                "model": {"string": "x"}, "index": {"int": 3}, "healthy": {"bool": true}, "driver": {"version": "1.2.3"}
            },
            "capacity": {"memory": {"value": "80Gi"}}
        }"#;
        CelDevice::new("d", &serde_json::from_str(json).unwrap())
    }

    fn compile(expression: &str) -> Selector {
        Selector::compile(expression, Environment::Stored).unwrap()
    }

    #[test]
    fn simple_selectors_are_decided_as_the_evaluator_does() {
        let a = r#"device.attributes["d"]"#;
        let simple = [
            (r#"device.driver == "d""#.to_owned(), true),
            (r#"device.driver != "d""#.to_owned(), false),
            (format!(r#"{a}.model == "x""#), true),
            (format!(r#""y" == {a}.model"#), false),
            (format!("{a}.index == 3"), true),
            (format!("{a}.index < 3"), false),
            (format!("{a}.index <= 3 && {a}.index > 2"), true),
            (format!("{a}.healthy"), true),
            (format!("!{a}.healthy"), false),
            (format!("{a}.healthy == false || {a}.index >= 4"), false),
            (format!(r#"{a}.driver.compareTo(semver("1.3.0")) < 0"#), true),
            (format!(r#"{a}.driver.compareTo(semver("1.2.3")) == 0"#), true),
            (r#"device.capacity["d"].memory.compareTo(quantity("80Gi")) >= 0"#.to_owned(), true),
            (r#"device.capacity["d"].memory.compareTo(quantity("80Gi")) != 0"#.to_owned(), false),
        ];
        let device = device();
        for (expression, expected) in simple {
            let selector = compile(&expression);
            let predicate = selector.predicate().unwrap_or_else(|| panic!("{expression} is simple"));
            assert_eq!(predicate.holds(device.device()), Some(expected), "{expression}");
            assert_eq!(as_bool(&selector.evaluate(&device).value.unwrap()), Ok(expected), "{expression}");
        }
    }

    #[test]
    fn what_is_missing_or_of_another_type_is_left_to_the_evaluator() {
        let a = r#"device.attributes["d"]"#;
        let left = [
            format!(r#"{a}.missing == "x""#),
            r#"device.attributes["other"].model == "x""#.to_owned(),
            format!("{a}.index == 3.0"),
            format!("{a}.model == 3"),
            format!("{a}.model"),
            format!("{a}.model < 3"),
            format!(r#"{a}.index.compareTo(quantity("1")) == 0"#),
            format!("{a}.missing || {a}.healthy"),
            format!(r#"{a}.model.startsWith("x")"#),
            format!(r#"has({a}.model) && {a}.model == "x""#),
            "true".to_owned(),
        ];
        let device = device();
        for expression in left {
            let selector = compile(&expression);
            let decided = selector.predicate().and_then(|predicate| predicate.holds(device.device()));
            assert_eq!(decided, None, "{expression}");
        }
    }
}
