//! What an expression asks of a device, told from its text alone: for those who look at selectors before there is any device.
//!
//! The tree is looked at as it was written, before macros are expanded and whether or not its types fit: `tree` makes it a flat list whose
//! children stand before their parents, so that all that follows are plain loops; `places` finds out which part of the device each piece names,
//! `outcomes` what becomes of the whole where an attribute is missing, and `findings` gathers it all.

mod findings;
mod outcomes;
mod places;
mod slips;
mod text;
mod tree;

use crate::syntax;
use crate::value::Value;

/// A piece of the text, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord)]
pub struct Span {
    /// Where it begins.
    pub start: usize,
    /// Where it has ended.
    pub end: usize,
}

/// What an expression asks of a device.
#[derive(Debug, Clone, Default)]
pub struct Inspection {
    /// Whether the text has the syntax of an expression. If not, the slips are known, and all else when they are nothing but comments.
    pub parsed: bool,
    /// The result, when it is the same for every device that has what is asked for.
    pub always: Option<bool>,
    /// What people write who know other languages, each an error of syntax.
    pub slips: Vec<Slip>,
    /// The attributes and capacities that are looked up, in order of the text.
    pub accesses: Vec<Access>,
    /// What is selected from or called on them.
    pub members: Vec<Member>,
    /// The comparisons, in order of the text.
    pub comparisons: Vec<Comparison>,
    /// Parts that ask nothing of the device, and what they are.
    pub constants: Vec<Constant>,
}

/// Something from another language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slip {
    /// What it looks like.
    pub kind: SlipKind,
    /// Where it is.
    pub span: Span,
    /// What means the same here.
    pub replacement: &'static str,
}

/// What a slip looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlipKind {
    /// `#` before a comment.
    Comment,
    /// An operator as another language has it: `=`, `&`, `and`.
    Operator,
    /// A quotation mark of a word processor.
    Quote,
}

/// A map of the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Section {
    /// `device.attributes`
    Attributes,
    /// `device.capacity`
    Capacity,
}

/// How something is looked up in a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `.name`
    Field,
    /// `["name"]`
    Index,
    /// `.?name`
    OptionalField,
    /// `[?"name"]`
    OptionalIndex,
    /// `has(….name)`
    Has,
    /// `"name" in …`
    In,
    /// The whole map is used.
    Whole,
}

/// A constant key of a map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The key.
    pub text: String,
    /// Where it is written, with its quotes if it has any.
    pub span: Span,
}

/// A look-up of an attribute or a capacity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// The map.
    pub section: Section,
    /// The domain; none where all domains are used, or where only an evaluation tells.
    pub domain: Option<Key>,
    /// The name within the domain; none where the whole domain is used, or where only an evaluation tells.
    pub name: Option<Key>,
    /// How the innermost of both is looked up.
    pub form: Form,
    /// Whether the whole expression has a result on devices without it.
    pub guarded: bool,
    /// Where it is.
    pub span: Span,
}

/// A field of an attribute or a capacity, which has none, or a call on it.
#[derive(Debug, Clone)]
pub struct Member {
    /// The place of the access in [`Inspection::accesses`].
    pub access: usize,
    /// The name of the field or function.
    pub name: String,
    /// Where the name is.
    pub name_span: Span,
    /// The arguments of a call.
    pub arguments: Option<Vec<Operand>>,
    /// From the access to the end of the selection or call.
    pub span: Span,
}

/// Two operands and an operator between them.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// `==`, `!=`, `<`, `<=`, `>`, `>=` or `in`.
    pub operator: &'static str,
    /// Where the operator is.
    pub operator_span: Span,
    /// What is before it.
    pub left: Operand,
    /// What is after it.
    pub right: Operand,
    /// Comparisons with one number have to hold together; 0 is what must hold for the whole to be true.
    pub conjunction: usize,
    /// From the first operand to the end of the second.
    pub span: Span,
}

/// An operand of a comparison, or an argument.
#[derive(Debug, Clone)]
pub struct Operand {
    /// What it is.
    pub kind: OperandKind,
    /// Where it is, without brackets around it.
    pub span: Span,
}

/// What an operand is.
#[derive(Debug, Clone)]
pub enum OperandKind {
    /// `device.driver`
    Driver,
    /// The attribute or capacity at a place in [`Inspection::accesses`], also by `orValue`.
    Access(usize),
    /// A literal.
    Literal(Value),
    /// A list of literals.
    Literals(Vec<Value>),
    /// `quantity("…")` of a literal.
    Quantity(String),
    /// `semver("…")` of a literal.
    Version(String),
    /// A call on an attribute or capacity, at a place in [`Inspection::members`].
    Member(usize),
    /// Anything else.
    Other,
}

/// A part that asks nothing of the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Constant {
    /// What it is on every device.
    pub value: bool,
    /// Where it is.
    pub span: Span,
}

/// Looks at `expression`. Never fails: what does not parse has no accesses.
pub fn inspect(expression: &str) -> Inspection {
    if let Ok(parsed) = syntax::parse(expression) {
        return Inspection { parsed: true, ..findings::gather(expression, &parsed) };
    }
    let slips = slips::find(expression);
    let without_comments = slips::blank_comments(expression, &slips);
    let findings = without_comments.and_then(|source| Some(findings::gather(&source, &syntax::parse(&source).ok()?)));
    Inspection { parsed: false, slips, ..findings.unwrap_or_default() }
}

#[cfg(test)]
mod tests;
