//! Which nodes a node selector matches.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use drayman_api::{NodeSelection, NodeSelector, NodeSelectorOperator, NodeSelectorRequirement, NodeSelectorTerm};
use drayman_cel::{label_key_problems, label_value_problems};
use thiserror::Error;

/// The only field of nodes that selectors can name.
const NAME_FIELD: &str = "metadata.name";

/// A selector that upstream cannot parse. The text is upstream's.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("failed to parse node selector {selector}: {problems}")]
pub struct NodeSelectorError {
    selector: String,
    problems: String,
}

/// A node as selectors see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeLabels<'a> {
    pub(crate) name: &'a str,
    pub(crate) labels: &'a BTreeMap<String, String>,
}

/// Whether a slice or device is reachable from a node. The selector must have passed [`check`]; [`NodeSelection::PerDevice`] matches none.
pub(crate) fn selects(selection: NodeSelection<'_>, node: NodeLabels<'_>) -> bool {
    match selection {
        NodeSelection::Node(name) => name == node.name,
        NodeSelection::All => true,
        NodeSelection::Selector(selector) => matches(selector, node),
        NodeSelection::PerDevice | NodeSelection::Unknown => false,
    }
}

/// Whether any term matches: all its requirements hold, and it has some.
fn matches(selector: &NodeSelector, node: NodeLabels<'_>) -> bool {
    selector.node_selector_terms.iter().any(|term| {
        !is_empty(term)
            && term.match_expressions.iter().all(|requirement| label_matches(requirement, node.labels))
            && (node.name.is_empty()
                || term.match_fields.iter().all(|requirement| field_matches(requirement, node.name)))
    })
}

fn is_empty(term: &NodeSelectorTerm) -> bool {
    term.match_expressions.is_empty() && term.match_fields.is_empty()
}

fn label_matches(requirement: &NodeSelectorRequirement, labels: &BTreeMap<String, String>) -> bool {
    let label = labels.get(&requirement.key);
    let ordered = |wanted: fn(&i64, &i64) -> bool| {
        let bound = requirement.values.first().and_then(|value| value.parse().ok());
        label.and_then(|label| label.parse().ok()).zip(bound).is_some_and(|(label, bound)| wanted(&label, &bound))
    };
    match requirement.operator {
        NodeSelectorOperator::In => label.is_some_and(|label| requirement.values.contains(label)),
        NodeSelectorOperator::NotIn => label.is_none_or(|label| !requirement.values.contains(label)),
        NodeSelectorOperator::Exists => label.is_some(),
        NodeSelectorOperator::DoesNotExist => label.is_none(),
        NodeSelectorOperator::Gt => ordered(i64::gt),
        NodeSelectorOperator::Lt => ordered(i64::lt),
        NodeSelectorOperator::Unknown(_) => false,
    }
}

/// Fields that nodes do not have are empty.
fn field_matches(requirement: &NodeSelectorRequirement, node_name: &str) -> bool {
    let field = if requirement.key == NAME_FIELD { node_name } else { "" };
    let same = requirement.values.first().is_some_and(|value| value == field);
    match requirement.operator {
        NodeSelectorOperator::In => same,
        NodeSelectorOperator::NotIn => !same,
        _ => false,
    }
}

/// Finds what upstream cannot parse in a selector.
pub(crate) fn check(selection: NodeSelection<'_>) -> Result<(), NodeSelectorError> {
    let NodeSelection::Selector(selector) = selection else { return Ok(()) };
    let mut problems = Vec::new();
    for (index, term) in selector.node_selector_terms.iter().enumerate() {
        for (position, requirement) in term.match_expressions.iter().enumerate() {
            let path = format!("nodeSelectorTerms[{index}].matchExpressions[{position}]");
            check_label(&path, requirement, &mut problems);
        }
        for (position, requirement) in term.match_fields.iter().enumerate() {
            let path = format!("nodeSelectorTerms[{index}].matchFields[{position}]");
            check_field(&path, requirement, &mut problems);
        }
    }
    let problems = match problems.as_slice() {
        [] => return Ok(()),
        [problem] => problem.clone(),
        several => format!("[{}]", several.join(", ")),
    };
    Err(NodeSelectorError { selector: go_text(selector), problems })
}

fn check_label(path: &str, requirement: &NodeSelectorRequirement, problems: &mut Vec<String>) {
    let NodeSelectorRequirement { key, operator, values } = requirement;
    if let NodeSelectorOperator::Unknown(operator) = operator {
        problems.push(unsupported(path, operator, &["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]));
        return;
    }
    let mut invalid = |field: &str, value: String, detail: &str| {
        problems.push(format!("{path}.{field}: Invalid value: {value}: {detail}"));
    };
    let of_key = label_key_problems(key);
    if !of_key.is_empty() {
        invalid("key", format!("{key:?}"), &of_key.join("; "));
    }
    match operator {
        NodeSelectorOperator::In | NodeSelectorOperator::NotIn if values.is_empty() => {
            invalid("values", json(values), "for 'in', 'notin' operators, values set can't be empty");
        }
        NodeSelectorOperator::Exists | NodeSelectorOperator::DoesNotExist if !values.is_empty() => {
            invalid("values", json(values), "values set must be empty for exists and does not exist");
        }
        NodeSelectorOperator::Gt | NodeSelectorOperator::Lt => {
            if values.len() != 1 {
                invalid("values", json(values), "for 'Gt', 'Lt' operators, exactly one value is required");
            }
            for (index, value) in values.iter().enumerate().filter(|(_, value)| value.parse::<i64>().is_err()) {
                let detail = "for 'Gt', 'Lt' operators, the value must be an integer";
                invalid(&format!("values[{index}]"), format!("{value:?}"), detail);
            }
        }
        _ => {}
    }
    for (index, value) in values.iter().enumerate() {
        let of_value = label_value_problems(value);
        if !of_value.is_empty() {
            invalid(&format!("values[{index}][{key}]"), format!("{value:?}"), &of_value.join("; "));
        }
    }
}

fn check_field(path: &str, requirement: &NodeSelectorRequirement, problems: &mut Vec<String>) {
    match &requirement.operator {
        NodeSelectorOperator::In | NodeSelectorOperator::NotIn if requirement.values.len() == 1 => {}
        NodeSelectorOperator::In | NodeSelectorOperator::NotIn => {
            problems
                .push(format!("{path}.values: Invalid value: {}: must have one element", json(&requirement.values)));
        }
        operator => problems.push(unsupported(path, operator.as_str(), &["In", "NotIn"])),
    }
}

fn unsupported(path: &str, operator: &str, known: &[&str]) -> String {
    let known: Vec<_> = known.iter().map(|name| format!("{name:?}")).collect();
    format!("{path}.operator: Unsupported value: {operator:?}: supported values: {}", known.join(", "))
}

/// Go writes a list without entries as `null`, and escapes what HTML would take for its own.
fn json(values: &[String]) -> String {
    if values.is_empty() {
        return "null".to_owned();
    }
    let text = serde_json::json!(values).to_string();
    text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

/// The selector as Go's generated `String()` prints it.
fn go_text(selector: &NodeSelector) -> String {
    let mut text = String::from("&NodeSelector{NodeSelectorTerms:[]NodeSelectorTerm{");
    for term in &selector.node_selector_terms {
        text.push_str("NodeSelectorTerm{MatchExpressions:[]NodeSelectorRequirement{");
        write_requirements(&mut text, &term.match_expressions);
        text.push_str("},MatchFields:[]NodeSelectorRequirement{");
        write_requirements(&mut text, &term.match_fields);
        text.push_str("},},");
    }
    text.push_str("},}");
    text
}

fn write_requirements(text: &mut String, requirements: &[NodeSelectorRequirement]) {
    for NodeSelectorRequirement { key, operator, values } in requirements {
        let values = values.join(" ");
        // Writing to a string does not fail.
        let _ = write!(text, "NodeSelectorRequirement{{Key:{key},Operator:{operator},Values:[{values}],}},");
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use drayman_api::{NodeSelection, NodeSelector};

    use super::{NodeLabels, check, selects};

    fn selector(json: serde_json::Value) -> NodeSelector {
        serde_json::from_value(json).expect("a node selector")
    }

    fn term(key: &str, operator: &str, values: &[&str]) -> serde_json::Value {
        serde_json::json!({"nodeSelectorTerms": [{"matchExpressions": [{"key": key, "operator": operator, "values": values}]}]})
    }

    #[test]
    fn operators_compare_labels_as_upstream_does() {
        let labels = BTreeMap::from([("rack".to_owned(), "7".to_owned())]);
        let node = NodeLabels { name: "worker-1", labels: &labels };
        for (key, operator, values, expected) in [
            ("rack", "In", &["7", "8"][..], true),
            ("rack", "NotIn", &["7"], false),
            ("row", "NotIn", &["7"], true),
            ("row", "In", &["7"], false),
            ("rack", "Exists", &[], true),
            ("row", "DoesNotExist", &[], true),
            ("rack", "Gt", &["6"], true),
            ("rack", "Lt", &["7"], false),
            ("row", "Lt", &["7"], false),
        ] {
            let selector = selector(term(key, operator, values));
            assert_eq!(selects(NodeSelection::Selector(&selector), node), expected, "{key} {operator} {values:?}");
        }
    }

    #[test]
    fn term_without_requirements_matches_no_node() {
        let labels = BTreeMap::new();
        let node = NodeLabels { name: "worker-1", labels: &labels };
        assert!(!selects(NodeSelection::Selector(&selector(serde_json::json!({"nodeSelectorTerms": [{}]}))), node));
    }

    #[test]
    fn unknown_operator_is_refused_with_upstreams_text() {
        let selector = selector(term("rack", "Near", &["7"]));
        let error = check(NodeSelection::Selector(&selector)).expect_err("operator is unknown");
        assert_eq!(
            error.to_string(),
            "failed to parse node selector &NodeSelector{NodeSelectorTerms:[]NodeSelectorTerm{NodeSelectorTerm{MatchExpressions:[]\
             NodeSelectorRequirement{NodeSelectorRequirement{Key:rack,Operator:Near,Values:[7],},},MatchFields:[]\
             NodeSelectorRequirement{},},},}: nodeSelectorTerms[0].matchExpressions[0].operator: Unsupported value: \"Near\": \
             supported values: \"In\", \"NotIn\", \"Exists\", \"DoesNotExist\", \"Gt\", \"Lt\""
        );
    }
}
