//! Parts of an expression whose value is known before any device is.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::ast::{Ast, Call, Kind, NodeId};
use crate::check::Checked;
use crate::cost::{Cost, Meter};
use crate::error::{CompileError, Fault};
use crate::evaluate;
use crate::library::conversions::is_conversion;
use crate::library::regexes::weight::Allowance;
use crate::library::regexes::{ConstantRegex, RegexFunction};
use crate::lower::implementation;
use crate::names;
use crate::types::Type;
use crate::value::{Entries, Key, Map, Value};

/// What is known of each node.
pub(super) struct Constants {
    /// Values that cost nothing, as upstream's planner finds them.
    values: HashMap<NodeId, Value>,
    /// Calls that are computed once but paid for each time.
    folded: HashMap<NodeId, (Result<Value, Fault>, u64)>,
    /// What the right side of `in` holds.
    sets: HashMap<NodeId, Arc<HashSet<Key>>>,
    regexes: HashMap<NodeId, Arc<ConstantRegex>>,
    /// Why parts that should be known cannot be.
    errors: HashMap<NodeId, String>,
    allowance: Allowance,
}

impl Constants {
    pub(super) fn find(ast: &Ast, checked: &Checked) -> Result<Self, CompileError> {
        let mut constants = Self {
            values: HashMap::new(),
            folded: HashMap::new(),
            sets: HashMap::new(),
            regexes: HashMap::new(),
            errors: HashMap::new(),
            allowance: Allowance::FULL,
        };
        for node in ast.ids() {
            match ast.kind(node) {
                Kind::Literal(value) => constants.set_value(node, value.clone()),
                Kind::TypeName(named) if named.is_value => constants.set_value(node, Value::Type(named.of.clone())),
                Kind::TypeName(named) => {
                    constants.errors.insert(node, format!("reference to undefined type: {}", named.name));
                }
                Kind::Local { name, .. } if matches!(checked.type_of(node), Type::Type(_)) => {
                    constants.variable_of_type(node, name);
                }
                Kind::List { elements, optional } if !optional.contains(&true) => {
                    let values: Option<Vec<Value>> =
                        elements.iter().map(|element| constants.value(*element).cloned()).collect();
                    if let Some(values) = values {
                        constants.set_value(node, Value::list(values));
                    }
                }
                Kind::Map { entries } if !entries.iter().any(|entry| entry.optional) => {
                    let mut map = Entries::default();
                    let all_known = entries.iter().all(|entry| {
                        let known = constants.value(entry.key).zip(constants.value(entry.value));
                        known.map(|(key, value)| map.insert(key.clone(), value.clone())).is_some()
                    });
                    if all_known {
                        constants.set_value(node, Value::Map(Map::new(map)));
                    }
                }
                Kind::Call(call) => constants.call(node, call, checked),
                _ => {}
            }
        }
        constants.first_error(ast)?;
        Ok(constants)
    }

    /// The error that upstream's planner, which takes operands in their order, meets first.
    fn first_error(&self, ast: &Ast) -> Result<(), CompileError> {
        if self.errors.is_empty() {
            return Ok(());
        }
        let mut open = vec![ast.root()];
        while let Some(node) = open.pop() {
            if let Some(cause) = self.errors.get(&node) {
                return Err(CompileError::Constant { cause: cause.clone() });
            }
            let first = open.len();
            ast.kind(node).for_each_child(|child| open.push(child));
            open[first..].reverse();
        }
        Ok(())
    }

    /// A variable that holds a type: upstream takes its name for the name of a type.
    fn variable_of_type(&mut self, node: NodeId, name: &str) {
        match names::type_name(name) {
            Some(named) if named.is_value => self.set_value(node, Value::Type(named.of)),
            _ => drop(self.errors.insert(node, format!("reference to undefined type: {name}"))),
        }
    }

    pub(super) fn value(&self, node: NodeId) -> Option<&Value> {
        self.values.get(&node)
    }

    pub(super) fn folded(&self, node: NodeId) -> Option<(&Result<Value, Fault>, u64)> {
        self.folded.get(&node).map(|(result, cost)| (result, *cost))
    }

    pub(super) fn set(&self, node: NodeId) -> Option<&Arc<HashSet<Key>>> {
        self.sets.get(&node)
    }

    pub(super) fn regex(&self, node: NodeId) -> Option<&Arc<ConstantRegex>> {
        self.regexes.get(&node)
    }

    fn set_value(&mut self, node: NodeId, value: Value) {
        self.values.insert(node, value);
    }

    fn call(&mut self, node: NodeId, call: &Call, checked: &Checked) {
        let operands: Vec<NodeId> = call.operands().collect();
        let overloads = checked.overloads(node);
        if let Some(function) = RegexFunction::by_name(call.function.name)
            && let Some(Value::String(pattern)) = operands.get(1).and_then(|operand| self.value(*operand)).cloned()
        {
            let regex = if self.allowance.take(&pattern) {
                ConstantRegex::new(function, &pattern)
            } else {
                Err("error parsing regexp: expression too large".to_owned())
            };
            match regex {
                Ok(regex) => drop(self.regexes.insert(node, Arc::new(regex))),
                Err(cause) => drop(self.errors.insert(node, cause)),
            }
            return;
        }
        if let ([overload], [_, right]) = (overloads, operands.as_slice())
            && overload.id == "in_list"
        {
            return self.membership(node, *right);
        }
        let values: Option<Vec<Value>> = operands.iter().map(|operand| self.value(*operand).cloned()).collect();
        let Some(values) = values.filter(|values| !values.is_empty()) else { return };
        let (how, _) = implementation(call, overloads);
        if values.len() == 1 && is_conversion(call.function.name) {
            match evaluate::invoke(call.function, how, &values) {
                Ok(value) => self.set_value(node, value),
                Err(fault) => drop(self.errors.insert(node, fault.to_string())),
            }
        } else if let [overload] = overloads
            && overload.cost == Cost::Parse
        {
            let result = evaluate::invoke(call.function, how, &values);
            let mut meter = Meter::default();
            let within = meter.charge_call(overload.cost, &|index| values.get(index), &result);
            if within.is_ok() {
                self.folded.insert(node, (result, meter.cost()));
            }
        }
    }

    /// Membership in constants is looked up, and costs nothing.
    fn membership(&mut self, node: NodeId, right: NodeId) {
        let Some(Value::List(elements)) = self.value(right) else { return };
        if elements.is_empty() {
            return self.set_value(node, Value::Bool(false));
        }
        let keys: Option<Vec<Vec<Key>>> = elements.iter().map(Key::equals_of).collect();
        if let Some(keys) = keys {
            self.sets.insert(node, Arc::new(keys.into_iter().flatten().collect()));
        }
    }
}
