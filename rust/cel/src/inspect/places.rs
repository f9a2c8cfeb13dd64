//! Which part of the device a piece of the tree names.

use cel::common::ast::{Expr, LiteralValue};

use crate::inspect::text::Text;
use crate::inspect::tree::{Item, Shape};
use crate::inspect::{Form, Key, Section, Span};

/// A part of the device, as far as it is known without evaluation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum Place {
    /// None, or one that only an evaluation tells.
    #[default]
    Nowhere,
    Device,
    Driver,
    /// All domains of a map.
    Map(Section),
    /// All names of a domain.
    Domain(Section, Option<Key>),
    /// One attribute or capacity.
    Entry(Section, Option<Key>, Option<Key>),
}

/// What is known of a piece.
#[derive(Debug, Clone, Default)]
pub(super) struct Named {
    pub(super) place: Place,
    /// How the place was reached by the last link; none where the piece is no link.
    pub(super) form: Option<Form>,
    /// Whether the value is an optional, which has none where the place is missing.
    pub(super) optional: bool,
    /// The piece that has the same place, which this one only hands on.
    pub(super) from: Option<usize>,
}

/// What each of `items` names.
pub(super) fn find(items: &[Item<'_>], text: &Text<'_>) -> Vec<Named> {
    let mut named: Vec<Named> = Vec::with_capacity(items.len());
    for item in items {
        let found = name(item, items, &named, text);
        named.push(found);
    }
    named
}

fn name(item: &Item<'_>, items: &[Item<'_>], named: &[Named], text: &Text<'_>) -> Named {
    let operand = || item.children.first().map(|child| &named[*child]);
    match (&item.node.expr, item.shape) {
        (Expr::Ident(_), Shape::Bound(value)) => handed_on(value, named),
        (Expr::Ident(name), Shape::Plain) if name.trim_start_matches('.') == "device" => {
            Named { place: Place::Device, ..Named::default() }
        }
        (Expr::Select(select), _) => {
            let key = key(&select.field, text.name(item.node));
            operand().map_or_else(Named::default, |operand| linked(operand, Some(key), Form::Field))
        }
        (Expr::Call(call), Shape::Plain) => match (call.func_name.as_str(), &call.target) {
            ("_[_]", None) => index(item, items, named, text, Form::Index),
            ("_[?_]", None) => index(item, items, named, text, Form::OptionalIndex),
            ("_?._", None) => index(item, items, named, text, Form::OptionalField),
            ("orValue" | "value" | "or", Some(_)) => {
                let Some(target) = item.children.first() else { return Named::default() };
                Named { optional: call.func_name == "or", ..handed_on(*target, named) }
            }
            _ => Named::default(),
        },
        (Expr::Call(_), Shape::Bind) => {
            item.children.get(1).map_or_else(Named::default, |body| handed_on(*body, named))
        }
        _ => Named::default(),
    }
}

/// The place of another piece.
fn handed_on(from: usize, named: &[Named]) -> Named {
    Named { place: named[from].place.clone(), form: None, optional: named[from].optional, from: Some(from) }
}

fn index(item: &Item<'_>, items: &[Item<'_>], named: &[Named], text: &Text<'_>, form: Form) -> Named {
    let [operand, key_item] = item.children.as_slice() else { return Named::default() };
    let found = string(&items[*key_item]).map(|name| {
        let span = if form == Form::OptionalField { text.name(item.node) } else { items[*key_item].span };
        key(name, span)
    });
    linked(&named[*operand], found, form)
}

/// The place that a link leads to; an unknown key leads to an unknown entry.
fn linked(operand: &Named, key: Option<Key>, form: Form) -> Named {
    let place = match (&operand.place, &key) {
        (Place::Device, Some(key)) => match key.text.as_str() {
            "driver" => Place::Driver,
            "attributes" => Place::Map(Section::Attributes),
            "capacity" => Place::Map(Section::Capacity),
            _ => Place::Nowhere,
        },
        (Place::Map(section), _) => Place::Domain(*section, key),
        (Place::Domain(section, domain), _) => Place::Entry(*section, domain.clone(), key),
        _ => Place::Nowhere,
    };
    let optional = operand.optional || matches!(form, Form::OptionalField | Form::OptionalIndex);
    Named { place, form: Some(form), optional, from: None }
}

/// A key that is written at `span`.
pub(super) fn key(text: &str, span: Span) -> Key {
    Key { text: text.to_owned(), span }
}

/// The text of a literal.
pub(super) fn string<'a>(item: &Item<'a>) -> Option<&'a str> {
    match &item.node.expr {
        Expr::Literal(LiteralValue::String(text)) => Some(text.inner()),
        _ => None,
    }
}
