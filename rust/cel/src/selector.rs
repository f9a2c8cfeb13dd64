//! The public face: compile once, evaluate on many devices.

use crate::check::{self, DeviceType};
use crate::cost::estimate;
use crate::device::CelDevice;
use crate::error::{CompileError, Issues, RuntimeError};
use crate::evaluate::{self, Evaluation};
use crate::lower;
use crate::predicate::Predicate;
use crate::program::Program;
use crate::reads::Reads;
use crate::resolve;
use crate::syntax;
use crate::types::Type;
use crate::value::Value;

/// What expressions may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Environment {
    /// What the scheduler accepts: everything, whatever gates are on.
    #[default]
    Stored,
    /// What the API server of Kubernetes 1.37 accepts in new objects with its default gates.
    New,
    /// What the API server accepts in new objects with the given gates.
    Gated(Gates),
}

/// The feature gates that new expressions depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gates {
    /// `DRAConsumableCapacity`: `device.allowMultipleAllocations` is there.
    pub consumable_capacity: bool,
    /// `DRAListTypeAttributes`: attributes may be lists.
    pub list_attributes: bool,
}

impl Gates {
    /// Those among the gates that are on, by upstream's names.
    pub fn of<'a>(on: impl IntoIterator<Item = &'a str>) -> Self {
        let mut gates = Self { consumable_capacity: false, list_attributes: false };
        for gate in on {
            gates.consumable_capacity |= gate == "DRAConsumableCapacity";
            gates.list_attributes |= gate == "DRAListTypeAttributes";
        }
        gates
    }
}

impl Environment {
    fn gates(self) -> Gates {
        match self {
            Self::Stored => Gates { consumable_capacity: true, list_attributes: true },
            Self::New => Gates { consumable_capacity: true, list_attributes: false },
            Self::Gated(gates) => gates,
        }
    }

    fn device(self) -> DeviceType {
        let gates = self.gates();
        let attribute = if gates.list_attributes { Type::Dyn } else { Type::Any };
        DeviceType { attribute, multiple_allocations: gates.consumable_capacity }
    }

    /// Whether a function is declared.
    fn declares(self, function: &str) -> bool {
        function != "includes" || self.gates().list_attributes
    }
}

/// A compiled expression over `device`.
#[derive(Debug)]
pub struct Selector {
    program: Program,
    /// The same as one decision, where the expression is simple.
    predicate: Option<Predicate>,
    result: Type,
    reads: Reads,
    max_cost: u64,
}

impl Selector {
    /// Compiles a device selector: its type must be bool, or unknown before run time.
    pub fn compile(expression: &str, environment: Environment) -> Result<Self, CompileError> {
        let attribute = environment.device().attribute;
        Self::compile_for(expression, environment, |result| {
            if *result == Type::Bool || *result == attribute {
                return Ok(());
            }
            Err(CompileError::ResultType { wanted: "bool or the unknown type", found: result.to_string() })
        })
    }

    /// Compiles the expression of a derived attribute: a scalar that attributes may be, or a list of such.
    pub fn compile_derived(expression: &str, environment: Environment) -> Result<Self, CompileError> {
        let lists = environment.gates().list_attributes;
        Self::compile_for(expression, environment, |result| {
            let is_scalar = |found: &Type| {
                matches!(found, Type::Bool | Type::Int | Type::String | Type::Any | Type::Dyn) || *found == Type::SEMVER
            };
            let fits = match result {
                Type::List(element) => lists && is_scalar(element),
                other => is_scalar(other),
            };
            if fits {
                return Ok(());
            }
            let wanted = if lists {
                "a primitive scalar (string, integer, boolean, semver) or a list of these scalars"
            } else {
                "a primitive scalar (string, integer, boolean, semver)"
            };
            Err(CompileError::ResultType { wanted, found: result.to_string() })
        })
    }

    fn compile_for(
        expression: &str,
        environment: Environment,
        check_result: impl FnOnce(&Type) -> Result<(), CompileError>,
    ) -> Result<Self, CompileError> {
        let parsed = syntax::parse(expression)?;
        let mut issues = Issues::default();
        let ast = resolve::resolve(expression, parsed, &|name| environment.declares(name), &mut issues)?;
        let checked = check::check(expression, &ast, &environment.device(), &mut issues);
        if !issues.is_empty() {
            return Err(issues.into_error(expression));
        }
        let result = checked.type_of(ast.root()).clone();
        check_result(&result)?;
        let (program, reads) = lower::lower(&ast, &checked)?;
        let max_cost = estimate::max_cost(&ast, &checked);
        let predicate = Predicate::of(&program);
        Ok(Self { program, predicate, result, reads, max_cost })
    }

    /// Evaluates the expression on a device.
    pub fn evaluate(&self, device: &CelDevice) -> Evaluation {
        evaluate::evaluate(&self.program, device)
    }

    /// Whether a device fulfils the expression; an error is never a no.
    pub fn matches(&self, device: &CelDevice) -> Result<bool, RuntimeError> {
        let predicate = self.predicate.as_ref().filter(|_| device.error().is_none());
        match predicate.and_then(|predicate| predicate.holds(device.device())) {
            Some(answer) => Ok(answer),
            None => as_bool(&self.evaluate(device).value?),
        }
    }

    #[cfg(test)]
    pub(crate) fn predicate(&self) -> Option<&Predicate> {
        self.predicate.as_ref()
    }

    /// The static type of the result.
    pub fn result_type(&self) -> &Type {
        &self.result
    }

    /// The most that an evaluation can cost by the API server's estimate, which it compares with 1,000,000.
    pub fn max_cost(&self) -> u64 {
        self.max_cost
    }

    /// What of a device the expression can read.
    pub fn reads(&self) -> &Reads {
        &self.reads
    }
}

/// The truth value that a result is, or upstream's refusal.
pub fn as_bool(value: &Value) -> Result<bool, RuntimeError> {
    let cause = match value {
        Value::Bool(value) => return Ok(*value),
        Value::Optional(Some(inner)) => {
            return as_bool(inner).map_err(|error| match error {
                RuntimeError::NotBool { cause, .. } => {
                    RuntimeError::NotBool { found: value.type_name().to_owned(), cause }
                }
                other => other,
            });
        }
        Value::Optional(None) => "optional.none() dereference",
        Value::Int(_) => "unsupported type conversion from 'int' to bool",
        Value::Uint(_) => "unsupported type conversion from 'uint' to bool",
        Value::Double(_) => "type conversion error from Double to 'bool'",
        Value::String(_) => "unsupported native conversion from string to 'bool'",
        Value::Bytes(_) => "type conversion error from Bytes to 'bool'",
        Value::List(_) => "type conversion error from list to 'bool'",
        Value::Map(_) => "type conversion error from map to 'bool'",
        Value::Null => "type conversion error from 'null_type' to 'bool'",
        Value::Duration(_) => "type conversion error from 'Duration' to 'bool'",
        Value::Timestamp(_) => "type conversion error from 'Timestamp' to 'bool'",
        Value::Type(_) => "type conversion not supported for 'type'",
        Value::Quantity(_) => "type conversion error from 'Quantity' to 'bool'",
        Value::Version(_) => "type conversion error from 'Semver' to 'bool'",
        Value::Url(_) => "type conversion error from 'URL' to 'bool'",
        Value::Ip(_) => "type conversion error from 'IP' to 'bool'",
        Value::Cidr(_) => "type conversion error from 'CIDR' to 'bool'",
        Value::Format(_) => "type conversion error from 'Format' to 'bool'",
    };
    Err(RuntimeError::NotBool { found: value.type_name().to_owned(), cause: cause.to_owned() })
}
