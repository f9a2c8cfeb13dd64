//! What an expression asks of a device, for Python: places count characters, as Python's texts do.

use drayman_cel::Value;
use drayman_cel::inspect::{
    Access, Comparison, Form, Inspection, Key, Member, Operand, OperandKind, Section, SlipKind, Span,
};
use pyo3::prelude::*;
use serde_json::{Value as Json, json};

use crate::convert::{Text, to_python};

/// Looks at `expression`; a dict of lists, in the shape of `drayman.inspection`.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over arguments by value")]
pub(crate) fn inspect(py: Python<'_>, expression: Text) -> PyResult<Bound<'_, PyAny>> {
    let found = py.detach(|| Border::new(&expression).inspection(&drayman_cel::inspect::inspect(&expression)));
    to_python(py, &found)
}

/// Knows which character each byte of a text belongs to.
struct Border {
    /// None where each character is one byte.
    characters: Option<Vec<usize>>,
}

impl Border {
    fn new(text: &str) -> Self {
        let characters = (!text.is_ascii()).then(|| {
            let per_byte = text.chars().enumerate().flat_map(|(index, one)| std::iter::repeat_n(index, one.len_utf8()));
            per_byte.chain([text.chars().count()]).collect()
        });
        Self { characters }
    }

    fn inspection(&self, found: &Inspection) -> Json {
        json!({
            "parsed": found.parsed,
            "always": found.always,
            "slips": found.slips.iter().map(|slip| json!({
                "kind": slip_kind(slip.kind),
                "span": self.span(slip.span),
                "replacement": slip.replacement,
            })).collect::<Json>(),
            "accesses": found.accesses.iter().map(|access| self.access(access)).collect::<Json>(),
            "members": found.members.iter().map(|member| self.member(member)).collect::<Json>(),
            "comparisons": found.comparisons.iter().map(|comparison| self.comparison(comparison)).collect::<Json>(),
            "constants": found.constants.iter().map(|constant| json!({
                "value": constant.value,
                "span": self.span(constant.span),
            })).collect::<Json>(),
        })
    }

    fn span(&self, span: Span) -> Json {
        let character = |byte: usize| match &self.characters {
            Some(characters) => characters.get(byte).copied().unwrap_or(byte),
            None => byte,
        };
        json!([character(span.start), character(span.end)])
    }

    fn key(&self, key: Option<&Key>) -> Json {
        key.map_or(Json::Null, |key| json!({"text": key.text, "span": self.span(key.span)}))
    }

    fn access(&self, access: &Access) -> Json {
        json!({
            "section": match access.section {
                Section::Attributes => "attributes",
                Section::Capacity => "capacity",
            },
            "domain": self.key(access.domain.as_ref()),
            "name": self.key(access.name.as_ref()),
            "form": form(access.form),
            "guarded": access.guarded,
            "span": self.span(access.span),
        })
    }

    fn member(&self, member: &Member) -> Json {
        let arguments = member.arguments.as_ref();
        json!({
            "access": member.access,
            "name": member.name,
            "name_span": self.span(member.name_span),
            "arguments": arguments.map(|all| all.iter().map(|one| self.operand(one)).collect::<Json>()),
            "span": self.span(member.span),
        })
    }

    fn comparison(&self, comparison: &Comparison) -> Json {
        json!({
            "operator": comparison.operator,
            "operator_span": self.span(comparison.operator_span),
            "left": self.operand(&comparison.left),
            "right": self.operand(&comparison.right),
            "conjunction": comparison.conjunction,
            "span": self.span(comparison.span),
        })
    }

    fn operand(&self, operand: &Operand) -> Json {
        let (kind, value) = match &operand.kind {
            OperandKind::Driver => ("driver", Json::Null),
            OperandKind::Access(access) => ("access", json!(access)),
            OperandKind::Literal(value) => ("literal", literal(value)),
            OperandKind::Literals(values) => ("literals", values.iter().map(literal).collect()),
            OperandKind::Quantity(text) => ("quantity", json!(text)),
            OperandKind::Version(text) => ("semver", json!(text)),
            OperandKind::Member(member) => ("member", json!(member)),
            OperandKind::Other => ("other", Json::Null),
        };
        json!({"kind": kind, "value": value, "span": self.span(operand.span)})
    }
}

fn slip_kind(kind: SlipKind) -> &'static str {
    match kind {
        SlipKind::Comment => "comment",
        SlipKind::Operator => "operator",
        SlipKind::Quote => "quote",
    }
}

fn form(form: Form) -> &'static str {
    match form {
        Form::Field => "field",
        Form::Index => "index",
        Form::OptionalField => "optional-field",
        Form::OptionalIndex => "optional-index",
        Form::Has => "has",
        Form::In => "in",
        Form::Whole => "whole",
    }
}

/// The type of a literal and its value; what JSON has no equal of comes as its text.
fn literal(value: &Value) -> Json {
    match value {
        Value::Null => json!(["null", null]),
        Value::Bool(value) => json!(["bool", value]),
        Value::Int(value) => json!(["int", value]),
        Value::Uint(value) => json!(["uint", value]),
        Value::Double(value) if value.is_finite() => json!(["double", value]),
        Value::String(text) => json!(["string", &**text]),
        other => json!([other.type_name(), other.to_string()]),
    }
}
