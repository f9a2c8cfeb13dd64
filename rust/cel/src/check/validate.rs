//! Checks after the types are known: literals that can be seen to be wrong.

use crate::ast::{Ast, Call, Kind, NodeId};
use crate::check::Checked;
use crate::error::Issues;
use crate::library::regexes::weight::Allowance;
use crate::library::{regexes, text_format, times};
use crate::types::Type;
use crate::value::{Timestamp, Value};

/// Reports literals that upstream's validators refuse.
pub(super) fn validate(source: &str, ast: &Ast, checked: &Checked, issues: &mut Issues) {
    let mut validator = Validator { source, ast, checked, issues, allowance: Allowance::FULL };
    let in_format = validator.inside_format();
    for node in ast.ids() {
        match ast.kind(node) {
            Kind::List { elements, optional } if !in_format[node.0 as usize] => {
                validator.same_types(elements, optional);
            }
            Kind::Map { entries } if !in_format[node.0 as usize] => {
                let optional: Vec<bool> = entries.iter().map(|entry| entry.optional).collect();
                let keys: Vec<NodeId> = entries.iter().map(|entry| entry.key).collect();
                let values: Vec<NodeId> = entries.iter().map(|entry| entry.value).collect();
                validator.each_same_type(&keys, &vec![false; keys.len()]);
                validator.each_same_type(&values, &optional);
            }
            Kind::Call(call) => validator.literal(call),
            _ => {}
        }
    }
    for node in ast.ids() {
        if let Kind::Call(call) = ast.kind(node) {
            validator.format_call(node, call);
        }
    }
}

struct Validator<'a> {
    source: &'a str,
    ast: &'a Ast,
    checked: &'a Checked,
    issues: &'a mut Issues,
    allowance: Allowance,
}

impl Validator<'_> {
    /// Which nodes are part of a call of `format`, whose lists may mix types.
    fn inside_format(&self) -> Vec<bool> {
        let mut inside = vec![false; self.ast.len()];
        let ids: Vec<NodeId> = self.ast.ids().collect();
        for node in ids.into_iter().rev() {
            let kind = self.ast.kind(node);
            let is_format = matches!(kind, Kind::Call(call) if call.function.name == "format");
            if is_format || inside[node.0 as usize] {
                kind.for_each_child(|child| inside[child.0 as usize] = true);
            }
        }
        inside
    }

    fn report(&mut self, node: NodeId, message: impl Into<String>) {
        self.issues.report(self.source, self.ast.offset(node), message);
    }

    fn element_type(&self, node: NodeId, optional: bool) -> Type {
        match self.checked.type_of(node) {
            Type::Optional(inner) if optional => inner.as_ref().clone(),
            other => other.clone(),
        }
    }

    /// Reports the first element of a list that has another type than the first.
    fn same_types(&mut self, elements: &[NodeId], optional: &[bool]) {
        self.compare_types(elements, optional, true);
    }

    /// Reports all keys or values that have another type than the first.
    fn each_same_type(&mut self, nodes: &[NodeId], optional: &[bool]) {
        self.compare_types(nodes, optional, false);
    }

    fn compare_types(&mut self, nodes: &[NodeId], optional: &[bool], first_only: bool) {
        let mut wanted: Option<Type> = None;
        for (node, optional) in nodes.iter().zip(optional) {
            let found = self.element_type(*node, *optional);
            match &wanted {
                None => wanted = Some(found),
                Some(wanted) if *wanted != found => {
                    self.report(
                        *node,
                        format!("expected type '{}' but found '{}'", wanted.in_message(), found.in_message()),
                    );
                    if first_only {
                        break;
                    }
                }
                Some(_) => {}
            }
        }
    }

    fn literal(&mut self, call: &Call) {
        let name = call.function.name;
        let Some(argument) = call.arguments.first() else { return };
        let Kind::Literal(value) = self.ast.kind(*argument) else { return };
        let is_valid = match (name, value) {
            ("duration" | "timestamp", Value::Null) => false,
            ("duration", Value::String(text)) => times::parse_duration(text).is_some(),
            ("timestamp", Value::String(text)) => {
                times::parse_timestamp(text).is_some_and(|time| Timestamp::new(time.seconds, 0).is_some())
            }
            ("timestamp", Value::Int(seconds)) => Timestamp::new(*seconds, 0).is_some(),
            // Upstream looks at the first argument, which is the expression of the method but the text of the function.
            ("matches", Value::String(text)) => self.allowance.take(text) && regexes::compile(text).is_ok(),
            _ => true,
        };
        if !is_valid {
            self.report(*argument, format!("invalid {name} argument"));
        }
    }

    fn format_call(&mut self, node: NodeId, call: &Call) {
        if call.function.name == "format"
            && let (Some(target), [arguments]) = (call.target, call.arguments.as_slice())
            && let Kind::List { elements, .. } = self.ast.kind(*arguments)
            && let Kind::Literal(Value::String(text)) = self.ast.kind(target)
        {
            self.format(node, text, elements);
        }
    }

    fn format(&mut self, node: NodeId, text: &str, arguments: &[NodeId]) {
        let mut place = node;
        let used = text_format::walk(
            text,
            arguments.len(),
            true,
            |_| Ok(()),
            |index, clause| {
                let Some(argument) = arguments.get(index) else { return Ok(()) };
                match self.refused(clause, *argument) {
                    Some(refused) => {
                        place = refused;
                        Err(text_format::during_formatting(
                            &clause.refusal(self.checked.type_of(refused).runtime_name()),
                        ))
                    }
                    None => Ok(()),
                }
            },
        );
        match used {
            Err(message) => self.report(place, message),
            Ok(used) if arguments.len() > used => {
                self.report(
                    node,
                    format!("too many arguments supplied to string.format (expected {used}, got {})", arguments.len()),
                );
            }
            Ok(_) => {}
        }
    }

    /// The part of an argument that a clause does not take.
    fn refused(&self, clause: text_format::Clause, argument: NodeId) -> Option<NodeId> {
        let mut open = vec![argument];
        while let Some(node) = open.pop() {
            if !clause.takes(self.checked.type_of(node)) {
                return Some(node);
            }
            if clause == text_format::Clause::Text {
                match self.ast.kind(node) {
                    Kind::List { elements, .. } => open.extend(elements.iter().rev()),
                    Kind::Map { entries } => {
                        open.extend(entries.iter().rev().flat_map(|entry| [entry.value, entry.key]));
                    }
                    _ => {}
                }
            }
        }
        None
    }
}
