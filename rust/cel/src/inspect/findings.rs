//! Gathers what there is to tell about a tree.

use std::collections::{HashMap, HashSet};

use cel::common::ast::{CallExpr, Expr};

use drayman_api::Device;

use crate::device::CelDevice;
use crate::inspect::places::{self, Named, Place, string};
use crate::inspect::text::{Text, is_operator};
use crate::inspect::tree::{self, Item, Shape};
use crate::inspect::{Access, Comparison, Constant, Form, Inspection, Member, Operand, OperandKind, Span, outcomes};
use crate::resolve::literal_value;
use crate::selector::{Environment, Selector, as_bool};
use crate::syntax::Parsed;
use crate::value::Value;

/// How many constant parts are evaluated; an evaluation may take long.
const MAX_CONSTANTS: usize = 50;

/// Tells what there is in `parsed`, the tree of `source`.
pub(super) fn gather(source: &str, parsed: &Parsed) -> Inspection {
    let text = Text::new(source, &parsed.positions);
    let items = tree::flatten(&parsed.root, &text);
    let named = places::find(&items, &text);
    let (constants, values) = constants(&items, &text);
    let failing: Vec<usize> =
        (0..items.len()).filter(|here| outcomes::can_miss(*here, &items[*here], &items, &named)).collect();
    let (fails, always) = outcomes::evaluate(&items, &named, &failing, &values);
    let unguarded = failing.into_iter().zip(fails).filter(|(_, fails)| *fails).map(|(here, _)| here).collect();
    let mut findings = Findings {
        items: &items,
        named: &named,
        text: &text,
        conjunctions: conjunctions(&items),
        access_of: HashMap::new(),
        member_of: HashMap::new(),
        inspection: Inspection { always, constants, ..Inspection::default() },
    };
    findings.accesses(&unguarded);
    (0..items.len()).for_each(|here| findings.member(here));
    (0..items.len()).for_each(|here| findings.comparison(here));
    findings.inspection.comparisons.sort_by_key(|comparison| comparison.operator_span);
    findings.inspection
}

struct Findings<'a> {
    items: &'a [Item<'a>],
    named: &'a [Named],
    text: &'a Text<'a>,
    conjunctions: Vec<usize>,
    /// The access that a piece is.
    access_of: HashMap<usize, usize>,
    /// The member that a piece is.
    member_of: HashMap<usize, usize>,
    inspection: Inspection,
}

impl Findings<'_> {
    fn accesses(&mut self, unguarded: &HashSet<usize>) {
        let mut found: Vec<(usize, Access)> = (0..self.items.len())
            .filter_map(|here| Some((here, self.access(here, !unguarded.contains(&here))?)))
            .collect();
        found.sort_by_key(|(_, access)| access.span);
        for (place, (here, access)) in found.into_iter().enumerate() {
            self.access_of.insert(here, place);
            self.inspection.accesses.push(access);
        }
    }

    fn access(&self, here: usize, guarded: bool) -> Option<Access> {
        let (item, named) = (&self.items[here], &self.named[here]);
        if let Expr::Call(call) = &item.node.expr
            && call.func_name == "@in"
        {
            return self.membership(item);
        }
        let link = named.form?;
        let parent = item.parent.map(|parent| &self.items[parent]);
        let form = if parent.is_some_and(|parent| parent.shape == Shape::Has) { Form::Has } else { link };
        let (section, domain, name, form) = match named.place.clone() {
            Place::Entry(section, domain, name) => (section, domain, name, form),
            Place::Domain(section, domain) if form == Form::Has => (section, domain, None, form),
            Place::Domain(section, domain) if !self.leads_on(here) => (section, domain, None, Form::Whole),
            Place::Map(section) if form != Form::Has && !self.leads_on(here) => (section, None, None, Form::Whole),
            _ => return None,
        };
        Some(Access { section, domain, name, form, guarded, span: item.span })
    }

    /// `"name" in …` on a map of the device.
    fn membership(&self, item: &Item<'_>) -> Option<Access> {
        let [left, right] = item.children.as_slice() else { return None };
        let key = string(&self.items[*left]).map(|text| places::key(text, self.items[*left].span));
        let (section, domain, name) = match self.named[*right].place.clone() {
            Place::Map(section) => (section, key, None),
            Place::Domain(section, domain) => (section, domain, key),
            _ => return None,
        };
        Some(Access { section, domain, name, form: Form::In, guarded: true, span: item.span })
    }

    /// Whether a map is only used to look something up in it.
    fn leads_on(&self, here: usize) -> bool {
        let Some(parent) = self.items[here].parent else { return false };
        let named = &self.named[parent];
        let is_first = self.items[parent].children.first() == Some(&here);
        let is_right = self.items[parent].children.get(1) == Some(&here);
        match (&self.items[parent].node.expr, self.items[parent].shape) {
            (_, Shape::Bind | Shape::OptionalMap) => is_first,
            (Expr::Call(call), _) if call.func_name == "@in" => is_right,
            (Expr::Call(call), _) if call.func_name == "orValue" || call.func_name == "or" => is_first,
            _ => is_first && (named.form.is_some() && named.place != Place::Nowhere || named.from.is_some()),
        }
    }

    /// The access that a piece hands on.
    fn access_behind(&self, mut here: usize) -> Option<usize> {
        loop {
            if let Some(access) = self.access_of.get(&here) {
                return Some(*access);
            }
            here = self.named[here].from?;
        }
    }

    fn member(&mut self, here: usize) {
        let item = &self.items[here];
        let Some(target) = item.children.first().copied() else { return };
        let (name, is_call) = match &item.node.expr {
            Expr::Select(select) if !is_known(&self.named[here].place) => (&select.field, false),
            Expr::Call(call) if call.target.is_some() && item.shape == Shape::Plain && !self.opens(call, target) => {
                (&call.func_name, true)
            }
            _ => return,
        };
        let Some(access) = self.access_behind(target) else { return };
        let arguments = is_call.then(|| item.children[1..].iter().map(|child| self.operand(*child)).collect());
        let start = self.items[target].outer.end;
        let member = Member {
            access,
            name: name.clone(),
            name_span: self.text.name(item.node),
            arguments,
            span: Span { start: start.min(item.span.end), end: item.span.end },
        };
        self.member_of.insert(here, self.inspection.members.len());
        self.inspection.members.push(member);
    }

    /// Whether a call is about an optional, not about what is in it.
    fn opens(&self, call: &CallExpr, target: usize) -> bool {
        self.named[target].optional && matches!(call.func_name.as_str(), "orValue" | "or" | "value" | "hasValue")
    }

    fn comparison(&mut self, here: usize) {
        let item = &self.items[here];
        let (Expr::Call(call), [left, right]) = (&item.node.expr, item.children.as_slice()) else { return };
        let Some(operator) = comparison_operator(call) else { return };
        let comparison = Comparison {
            operator,
            operator_span: self.text.name(item.node),
            left: self.operand(*left),
            right: self.operand(*right),
            conjunction: self.conjunctions[here],
            span: item.span,
        };
        self.inspection.comparisons.push(comparison);
    }

    fn operand(&self, here: usize) -> Operand {
        Operand { kind: self.operand_kind(here), span: self.items[here].span }
    }

    fn operand_kind(&self, here: usize) -> OperandKind {
        if self.named[here].place == Place::Driver {
            return OperandKind::Driver;
        }
        if let Some(member) = self.member_of.get(&here) {
            return OperandKind::Member(*member);
        }
        let item = &self.items[here];
        match &item.node.expr {
            Expr::Literal(literal) => OperandKind::Literal(literal_value(literal.clone())),
            Expr::List(list) => {
                let values = list.elements.iter().map(|element| match &element.expr {
                    Expr::Literal(literal) => Some(literal_value(literal.clone())),
                    _ => None,
                });
                values.collect::<Option<Vec<Value>>>().map_or(OperandKind::Other, OperandKind::Literals)
            }
            Expr::Call(call) if call.target.is_none() && !is_operator(call) => {
                let text = match item.children.as_slice() {
                    [argument] => string(&self.items[*argument]),
                    _ => None,
                };
                match (call.func_name.as_str(), text) {
                    ("quantity", Some(text)) => OperandKind::Quantity(text.to_owned()),
                    ("semver", Some(text)) => OperandKind::Version(text.to_owned()),
                    _ => OperandKind::Other,
                }
            }
            Expr::Call(call) if call.func_name == "@in" => OperandKind::Other,
            _ => self.access_behind(here).map_or(OperandKind::Other, OperandKind::Access),
        }
    }
}

fn is_known(place: &Place) -> bool {
    *place != Place::Nowhere
}

fn comparison_operator(call: &CallExpr) -> Option<&'static str> {
    Some(match call.func_name.as_str() {
        "_==_" => "==",
        "_!=_" => "!=",
        "_<_" => "<",
        "_<=_" => "<=",
        "_>_" => ">",
        "_>=_" => ">=",
        "@in" => "in",
        _ => return None,
    })
}

/// For each piece a number; pieces of one number have to be true together. 0 is that of the whole.
fn conjunctions(items: &[Item<'_>]) -> Vec<usize> {
    let mut numbers = vec![0; items.len()];
    for (here, item) in items.iter().enumerate().rev() {
        let Some(parent) = item.parent else { continue };
        let keeps = match &items[parent].node.expr {
            Expr::Call(call) if call.func_name == "_&&_" => true,
            _ => items[parent].shape == Shape::Bind && items[parent].children.last() == Some(&here),
        };
        // The place of the root of a group is a number that no other group has.
        numbers[here] = if keeps { numbers[parent] } else { here + 1 };
    }
    numbers
}

/// The largest parts that ask nothing of the device, and all pieces whose value follows from that.
fn constants(items: &[Item<'_>], text: &Text<'_>) -> (Vec<Constant>, HashMap<usize, bool>) {
    let mut is_constant: Vec<bool> = Vec::with_capacity(items.len());
    for item in items {
        let is_name = matches!(item.node.expr, Expr::Ident(_));
        is_constant.push(!is_name && item.children.iter().all(|child| is_constant[*child]));
    }
    let largest = items.iter().enumerate().filter(|(here, item)| {
        is_constant[*here]
            && item.parent.is_none_or(|parent| !is_constant[parent])
            && !matches!(item.node.expr, Expr::Literal(_) | Expr::List(_) | Expr::Map(_))
    });
    let nothing = CelDevice::new("", &Device::default());
    let (mut constants, mut values) = (Vec::new(), HashMap::new());
    for (here, item) in largest.take(MAX_CONSTANTS) {
        let selector = Selector::compile(text.get(item.span), Environment::Stored);
        let value = selector.ok().and_then(|selector| as_bool(&selector.evaluate(&nothing).value.ok()?).ok());
        if let Some(value) = value {
            constants.push(Constant { value, span: item.span });
            values.insert(here, value);
        }
    }
    (constants, values)
}
