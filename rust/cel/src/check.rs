//! Finds the type of every part of an expression, and reports what does not fit, in upstream's words.

mod overloads;
mod unify;
mod validate;

use crate::ast::{Ast, Call, Field, FoldStart, Kind, Message, NodeId, Role};
use crate::error::Issues;
use crate::library::Overload;
use crate::names;
use crate::types::{Parameter, Type};
use crate::value::Value;

use unify::Substitution;

/// The most parts that the type of one node may have; upstream has no limit and would take ages.
const MAX_TYPE_PARTS: usize = 500;

/// What is known of a checked expression, by node.
#[derive(Debug)]
pub(crate) struct Checked {
    types: Vec<Type>,
    overloads: Vec<Vec<&'static Overload>>,
}

impl Checked {
    pub(crate) fn type_of(&self, node: NodeId) -> &Type {
        &self.types[node.0 as usize]
    }

    /// The overloads that a call may mean.
    pub(crate) fn overloads(&self, call: NodeId) -> &[&'static Overload] {
        &self.overloads[call.0 as usize]
    }
}

/// Checks `ast`; findings go to `issues`. Fields of attributes have the type `attribute`.
pub(crate) fn check(source: &str, ast: &Ast, device: &DeviceType, issues: &mut Issues) -> Checked {
    let mut checker = Checker {
        source,
        ast,
        device,
        issues,
        types: vec![Type::Error; ast.len()],
        overloads: vec![Vec::new(); ast.len()],
        variables: vec![None; ast.len()],
        substitution: Substitution::default(),
        fresh: 0,
    };
    let mut is_too_large = false;
    for node in ast.ids() {
        checker.node(node);
        is_too_large = checker.substitution.is_exhausted() || checker.type_of(node).has_more_parts_than(MAX_TYPE_PARTS);
        if is_too_large {
            break;
        }
    }
    let Checker { types, overloads, substitution, .. } = checker;
    let types = types.iter().map(|found| substitution.apply(found, true)).collect();
    if is_too_large || substitution.is_exhausted() {
        issues.report_nowhere("expression is too large: a type in it has too many parts");
    }
    let checked = Checked { types, overloads };
    if issues.is_empty() {
        validate::validate(source, ast, &checked, issues);
    }
    checked
}

/// How the environment declares `device`.
#[derive(Debug)]
pub(crate) struct DeviceType {
    /// The type of attributes.
    pub(crate) attribute: Type,
    /// Whether `allowMultipleAllocations` is there.
    pub(crate) multiple_allocations: bool,
}

impl DeviceType {
    fn field(&self, name: &str) -> Option<Type> {
        if name == "allowMultipleAllocations" && !self.multiple_allocations {
            return None;
        }
        names::device_field(name, &self.attribute)
    }
}

/// The types of a loop's variables.
#[derive(Debug, Clone)]
struct Variables {
    accumulator: Type,
    first: Type,
    second: Type,
}

struct Checker<'a> {
    source: &'a str,
    ast: &'a Ast,
    device: &'a DeviceType,
    issues: &'a mut Issues,
    types: Vec<Type>,
    overloads: Vec<Vec<&'static Overload>>,
    variables: Vec<Option<Variables>>,
    substitution: Substitution,
    fresh: u32,
}

impl Checker<'_> {
    fn node(&mut self, node: NodeId) {
        let ast = self.ast;
        let found = match ast.kind(node) {
            Kind::Literal(value) => literal_type(value),
            Kind::Device => Type::DEVICE,
            Kind::TypeName(named) => Type::type_of(named.of.clone()),
            Kind::Local { start, role, .. } => self.local(*start, *role),
            Kind::Unresolved => Type::Error,
            Kind::Select(select) => {
                let field = self.field(node, select.operand, &select.field, false);
                let found = if select.test { Type::Bool } else { field };
                self.substitution.apply(&found, false)
            }
            Kind::OptionalSelect { operand, field } => {
                let found = self.field(node, *operand, field, true);
                self.substitution.apply(&found, false)
            }
            Kind::Call(call) => self.call(node, call),
            Kind::List { elements, optional } => self.list(elements, optional),
            Kind::Map { entries } => {
                let mut joined: Option<(Type, Type)> = None;
                for entry in entries {
                    let key = self.type_of(entry.key).clone();
                    let value = self.element(entry.value, entry.optional);
                    joined = Some(match joined {
                        None => (key, value),
                        Some((keys, values)) => (self.join(keys, key), self.join(values, value)),
                    });
                }
                let (key, value) = joined.unwrap_or_else(|| (self.fresh_type(), self.fresh_type()));
                Type::map(key, value)
            }
            Kind::Message(message) => self.message(message),
            Kind::FoldStart(start) => {
                self.variables[node.0 as usize] = Some(self.loop_variables(start));
                return;
            }
            Kind::FoldCondition(condition) => return self.expect(*condition, &Type::Bool),
            Kind::FoldStep { start, step } => {
                let accumulator = self.local(*start, Role::Accumulator);
                return self.expect(*step, &accumulator);
            }
            Kind::Fold(fold) => {
                let found = self.type_of(fold.result).clone();
                self.substitution.apply(&found, false)
            }
        };
        self.types[node.0 as usize] = found;
    }

    fn type_of(&self, node: NodeId) -> &Type {
        &self.types[node.0 as usize]
    }

    fn report(&mut self, node: NodeId, message: impl Into<String>) {
        self.issues.report(self.source, self.ast.offset(node), message);
    }

    fn report_mismatch(&mut self, node: NodeId, expected: &Type, found: &Type) {
        self.report(node, format!("expected type '{}' but found '{}'", expected.in_message(), found.in_message()));
    }

    fn fresh_type(&mut self) -> Type {
        let number = self.fresh;
        self.fresh += 1;
        Type::Parameter(Parameter::Fresh(number))
    }

    fn local(&self, start: NodeId, role: Role) -> Type {
        let Some(variables) = &self.variables[start.0 as usize] else { return Type::Error };
        match role {
            Role::Accumulator => variables.accumulator.clone(),
            Role::First => variables.first.clone(),
            Role::Second => variables.second.clone(),
        }
    }

    /// The type of `operand.field`.
    fn field(&mut self, node: NodeId, operand: NodeId, field: &str, optional: bool) -> Type {
        let found = self.substitution.apply(self.type_of(operand), false);
        let (of, is_optional) = unwrap_optional(&found);
        let result = match of {
            Type::Map(inner) => inner.1.clone(),
            Type::Object(name) => {
                let declared = if *name == "kubernetes.DRADevice" { self.device.field(field) } else { None };
                declared.unwrap_or_else(|| {
                    self.report(node, undefined_field(name, field));
                    Type::Error
                })
            }
            Type::Parameter(_) => {
                self.substitution.assign(&Type::Dyn, of);
                Type::Dyn
            }
            other => {
                if !other.is_dyn_or_error() {
                    self.report(node, format!("type '{}' does not support field selection", other.in_message()));
                }
                Type::Dyn
            }
        };
        if is_optional || optional { Type::optional(result) } else { result }
    }

    fn call(&mut self, node: NodeId, call: &Call) -> Type {
        match self.resolve(node, call) {
            Some((overloads, result)) => {
                self.overloads[node.0 as usize] = overloads;
                result
            }
            None => Type::Error,
        }
    }

    fn list(&mut self, elements: &[NodeId], optional: &[bool]) -> Type {
        let mut joined = None;
        for (element, optional) in elements.iter().zip(optional) {
            let found = self.element(*element, *optional);
            joined = Some(match joined {
                None => found,
                Some(previous) => self.join(previous, found),
            });
        }
        Type::list(joined.unwrap_or_else(|| self.fresh_type()))
    }

    /// The type of an element or entry value; of an optional one, what it holds.
    fn element(&mut self, node: NodeId, optional: bool) -> Type {
        let found = self.type_of(node).clone();
        if !optional {
            return found;
        }
        let (inner, is_optional) = unwrap_optional(&found);
        if !is_optional && !inner.is_dyn() {
            self.report_mismatch(node, &Type::optional(found.clone()), &found);
        }
        inner.clone()
    }

    fn join(&mut self, previous: Type, current: Type) -> Type {
        if !self.substitution.assign(&previous, &current) {
            return Type::Dyn;
        }
        unify::most_general(previous, current)
    }

    fn message(&mut self, message: &Message) -> Type {
        for Field { name, value, optional, offset } in &message.fields {
            let declared = self.device.field(name);
            if declared.is_none() {
                self.issues.report(self.source, *offset, format!("undefined field '{name}'"));
            }
            let wanted = declared.unwrap_or(Type::Error);
            let found = self.element(*value, *optional);
            if !self.substitution.assign(&wanted, &found) {
                let text = format!(
                    "expected type of field '{name}' is '{}' but provided type is '{}'",
                    wanted.in_message(),
                    found.in_message()
                );
                self.issues.report(self.source, *offset, text);
            }
        }
        message.of.clone()
    }

    fn loop_variables(&mut self, start: &FoldStart) -> Variables {
        let range = self.substitution.apply(self.type_of(start.range), false);
        let accumulator = self.type_of(start.init).clone();
        let (first, second) = match &range {
            Type::List(element) if start.two_variables => (Type::Int, element.as_ref().clone()),
            Type::List(element) => (element.as_ref().clone(), Type::Error),
            Type::Map(inner) => (inner.0.clone(), inner.1.clone()),
            Type::Dyn | Type::Error | Type::Parameter(_) => {
                self.substitution.assign(&Type::Dyn, &range);
                (Type::Dyn, Type::Dyn)
            }
            other => {
                let text = format!(
                    "expression of type '{}' cannot be range of a comprehension (must be list, map, or dynamic)",
                    other.in_message()
                );
                self.report(start.range, text);
                (Type::Error, Type::Error)
            }
        };
        Variables { accumulator, first, second }
    }

    fn expect(&mut self, node: NodeId, wanted: &Type) {
        let found = self.type_of(node).clone();
        if !self.substitution.assign(wanted, &found) {
            self.report_mismatch(node, wanted, &found);
        }
    }
}

/// What upstream says of a field that a type does not have; types without declared fields are unknown to it.
fn undefined_field(of: &str, field: &str) -> String {
    if of == "kubernetes.DRADevice" {
        format!("undefined field '{field}'")
    } else {
        format!("unexpected failed resolution of '{of}'")
    }
}

fn unwrap_optional(found: &Type) -> (&Type, bool) {
    match found {
        Type::Optional(inner) => (inner, true),
        other => (other, false),
    }
}

fn literal_type(value: &Value) -> Type {
    match value {
        Value::Bool(_) => Type::Bool,
        Value::Int(_) => Type::Int,
        Value::Uint(_) => Type::Uint,
        Value::Double(_) => Type::Double,
        Value::String(_) => Type::String,
        Value::Bytes(_) => Type::Bytes,
        _ => Type::Null,
    }
}
