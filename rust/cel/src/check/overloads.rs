//! Which overloads a call may mean.

use std::collections::HashMap;

use crate::ast::{Call, NodeId};
use crate::check::Checker;
use crate::library::{Binding, Overload, Special};
use crate::types::{Parameter, Type};

impl Checker<'_> {
    /// The overloads that take the operands, and the type of the result; none when there is no such overload, which is reported.
    pub(super) fn resolve(&mut self, node: NodeId, call: &Call) -> Option<(Vec<&'static Overload>, Type)> {
        if let Binding::Special(Special::And | Special::Or) = call.function.binding {
            return self.logic(call);
        }
        let operands: Vec<Type> = call.operands().map(|operand| self.type_of(operand).clone()).collect();
        let mut matching = Vec::new();
        let mut result: Option<Type> = None;
        for overload in &call.function.overloads {
            if overload.member != call.target.is_some() {
                continue;
            }
            // Also where the number of operands differs: the names of unknown types are counted, and messages tell them.
            let (parameters, wanted) = self.instantiate(overload);
            if parameters.len() != operands.len() || !self.substitution.assign_all(operands.iter().zip(&parameters)) {
                continue;
            }
            matching.push(overload);
            let found = self.substitution.apply(&wanted, false);
            result = Some(match result {
                None => found,
                Some(previous) if previous.is_dyn() || previous == found => previous,
                Some(_) => Type::Dyn,
            });
        }
        if result.is_none() {
            self.report_no_overload(node, call, &operands);
        }
        result.map(|result| (matching, result))
    }

    /// `&&` and `||` say which operand is no truth value.
    fn logic(&mut self, call: &Call) -> Option<(Vec<&'static Overload>, Type)> {
        let mut valid = true;
        for operand in &call.arguments {
            let found = self.type_of(*operand).clone();
            if !self.substitution.assign(&found, &Type::Bool) {
                self.report_mismatch(*operand, &Type::Bool, &found);
                valid = false;
            }
        }
        valid.then(|| (call.function.overloads.iter().collect(), Type::Bool))
    }

    /// Parameters and result of an overload, with new unknown types for its own.
    fn instantiate(&mut self, overload: &Overload) -> (Vec<Type>, Type) {
        let mut fresh = HashMap::new();
        let parameters = overload.parameters.iter().map(|parameter| self.renew(parameter, &mut fresh)).collect();
        let result = self.renew(&overload.result, &mut fresh);
        (parameters, result)
    }

    fn renew(&mut self, found: &Type, fresh: &mut HashMap<Parameter, Type>) -> Type {
        match found {
            Type::Parameter(parameter) => fresh.entry(*parameter).or_insert_with(|| self.fresh_type()).clone(),
            _ => found.map_parameters(|inner| self.renew(inner, fresh)),
        }
    }

    fn report_no_overload(&mut self, node: NodeId, call: &Call, operands: &[Type]) {
        let mut texts = operands.iter().map(|operand| self.substitution.apply(operand, true).in_message());
        let target = if call.target.is_some() { texts.next().map(|text| format!("{text}.")) } else { None };
        let arguments: Vec<String> = texts.collect();
        let signature = format!("{}({})", target.unwrap_or_default(), arguments.join(", "));
        self.report(node, format!("found no matching overload for '{}' applied to '{signature}'", call.function.name));
    }
}
