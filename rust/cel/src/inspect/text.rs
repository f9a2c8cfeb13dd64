//! Where the pieces of a tree begin and end: the parser knows one place of each.

use cel::common::ast::{CallExpr, Expr, IdedExpr, LiteralValue};

use crate::inspect::Span;
use crate::syntax::Positions;
use crate::syntax::tokens::{ends_operand, tokens};

/// A text with its tokens.
pub(super) struct Text<'a> {
    source: &'a str,
    positions: &'a Positions,
    tokens: Vec<Span>,
    /// For each token that is a bracket, the token that closes or opens it.
    partners: Vec<Option<usize>>,
}

impl<'a> Text<'a> {
    pub(super) fn new(source: &'a str, positions: &'a Positions) -> Self {
        let mut spans = Vec::new();
        let mut partners = Vec::new();
        let mut open = Vec::new();
        for (start, token) in tokens(source) {
            let here = spans.len();
            spans.push(Span { start, end: start + token.len() });
            partners.push(None);
            match token {
                "(" | "[" | "{" => open.push(here),
                ")" | "]" | "}" => {
                    if let Some(partner) = open.pop() {
                        partners[here] = Some(partner);
                        partners[partner] = Some(here);
                    }
                }
                _ => {}
            }
        }
        Self { source, positions, tokens: spans, partners }
    }

    /// Where `node` is, without brackets around it; `children` are the spans of its pieces with theirs.
    pub(super) fn span(&self, node: &IdedExpr, children: &[Span]) -> Span {
        let mark = self.positions.offset(node.id);
        let first = children.first().map_or(mark, |child| child.start);
        let last = children.last().map_or(mark, |child| child.end);
        let (start, end) = match &node.expr {
            Expr::Literal(literal) => (self.literal_start(mark, literal), self.positions.end(node.id)),
            Expr::Ident(_) => (mark, self.positions.end(node.id)),
            Expr::Select(_) => (first, self.token_end(mark, 1)),
            Expr::Call(call) => match call.func_name.as_str() {
                "_[_]" | "_[?_]" => (first, self.closing(mark)),
                "_?._" => (first, self.token_end(mark, 2)),
                "!_" | "-_" => (mark, last),
                _ if is_operator(call) => (first, last),
                _ if call.target.is_some() => (first, self.closing(mark)),
                _ => (self.name_before(mark).start, self.closing(mark)),
            },
            _ => (mark, self.closing(mark)),
        };
        self.clamp(start, end)
    }

    /// `span` with the brackets around it that only group.
    pub(super) fn with_brackets(&self, span: Span) -> Span {
        let mut span = span;
        loop {
            let after = self.tokens.partition_point(|token| token.start < span.end);
            let Some(before) = self.tokens.partition_point(|token| token.start < span.start).checked_sub(1) else {
                return span;
            };
            let groups = self.token(before) == "("
                && self.partners[before] == Some(after)
                && before.checked_sub(1).is_none_or(|callee| !ends_operand(self.token(callee)));
            if !groups {
                return span;
            }
            span = Span { start: self.tokens[before].start, end: self.tokens[after].end };
        }
    }

    /// The operator of a call that is one, the name of another call, or of a field.
    pub(super) fn name(&self, node: &IdedExpr) -> Span {
        let mark = self.positions.offset(node.id);
        match &node.expr {
            Expr::Call(call) if call.func_name == "_?._" => self.token_after(mark, 2),
            Expr::Call(call) if is_operator(call) => self.token_after(mark, 0),
            Expr::Call(_) => self.name_before(mark),
            Expr::Select(_) => self.token_after(mark, 1),
            _ => self.token_after(mark, 0),
        }
    }

    pub(super) fn get(&self, span: Span) -> &'a str {
        self.source.get(span.start..span.end).unwrap_or_default()
    }

    /// A literal begins with its sign, which the parser's place is after.
    fn literal_start(&self, mark: usize, literal: &LiteralValue) -> usize {
        let is_negative = match literal {
            LiteralValue::Int(value) => *value.inner() < 0,
            LiteralValue::Double(value) => value.inner().is_sign_negative(),
            _ => false,
        };
        let before = self.name_before(mark);
        if is_negative && self.get(before) == "-" { before.start } else { mark }
    }

    fn token(&self, index: usize) -> &'a str {
        self.tokens.get(index).map_or("", |span| self.get(*span))
    }

    /// The token at `mark`.
    fn index(&self, mark: usize) -> usize {
        self.tokens.partition_point(|token| token.end <= mark)
    }

    fn token_after(&self, mark: usize, skip: usize) -> Span {
        let none = Span { start: mark, end: mark };
        let found = self.tokens.get(self.index(mark) + skip).copied().unwrap_or(none);
        self.clamp(found.start, found.end)
    }

    fn token_end(&self, mark: usize, skip: usize) -> usize {
        self.token_after(mark, skip).end
    }

    fn name_before(&self, mark: usize) -> Span {
        let before = self.index(mark).checked_sub(1).and_then(|index| self.tokens.get(index));
        before.copied().unwrap_or(Span { start: mark, end: mark })
    }

    /// The end of the bracket that opens at `mark`.
    fn closing(&self, mark: usize) -> usize {
        let partner = self.partners.get(self.index(mark)).copied().flatten();
        partner.map_or_else(|| self.token_end(mark, 0), |partner| self.tokens[partner].end)
    }

    fn clamp(&self, start: usize, end: usize) -> Span {
        let floor = |mut place: usize| {
            place = place.min(self.source.len());
            while !self.source.is_char_boundary(place) {
                place -= 1;
            }
            place
        };
        let start = floor(start);
        Span { start, end: floor(end).max(start) }
    }
}

/// Whether a call is written as an operator between or before its operands.
pub(super) fn is_operator(call: &CallExpr) -> bool {
    call.target.is_none()
        && call.func_name.contains(|character: char| !character.is_alphanumeric() && !"_.".contains(character))
}
