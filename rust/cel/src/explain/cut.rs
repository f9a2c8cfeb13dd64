//! Cuts the text of an expression at its logical operators.

use std::ops::Range;

use crate::syntax::tokens::{ends_operand, tokens};

/// Parts inside parts are cut to this depth.
const MAX_DEPTH: usize = 32;

/// A part of an expression.
#[derive(Debug)]
pub(super) struct Part {
    /// Where it stands, without brackets around it.
    pub(super) range: Range<usize>,
    pub(super) form: Form,
}

#[derive(Debug)]
pub(super) enum Form {
    /// Cut no further; its number.
    Leaf(usize),
    Not(Box<Part>),
    /// Joined by `&&`.
    All(Vec<Part>),
    /// Joined by `||`.
    Any(Vec<Part>),
    /// Condition and two branches.
    Choice(Box<[Part; 3]>),
}

impl Part {
    /// The parts that must all be true, through nested `&&`.
    pub(super) fn conjuncts(&self) -> Vec<&Part> {
        match &self.form {
            Form::All(parts) => parts.iter().flat_map(Part::conjuncts).collect(),
            _ => vec![self],
        }
    }
}

/// Cuts `text`; the second result are the places of the leaves, by number.
pub(super) fn cut(text: &str) -> (Part, Vec<Range<usize>>) {
    let tokens: Vec<_> = tokens(text).collect();
    let mut cutter = Cutter { tokens: &tokens, leaves: Vec::new() };
    let root = cutter.part(0..tokens.len(), 0);
    (root, cutter.leaves)
}

struct Cutter<'a> {
    tokens: &'a [(usize, &'a str)],
    leaves: Vec<Range<usize>>,
}

impl Cutter<'_> {
    /// The part that some tokens are. The recursion ends at [`MAX_DEPTH`].
    fn part(&mut self, tokens: Range<usize>, depth: usize) -> Part {
        let tokens = self.without_brackets(tokens);
        let form = if depth < MAX_DEPTH { self.form(tokens.clone(), depth + 1) } else { None };
        let range = self.place(tokens);
        let form = form.unwrap_or_else(|| {
            self.leaves.push(range.clone());
            Form::Leaf(self.leaves.len() - 1)
        });
        Part { range, form }
    }

    fn form(&mut self, tokens: Range<usize>, depth: usize) -> Option<Form> {
        if let Some((question, colon)) = self.choice(tokens.clone()) {
            let parts = [tokens.start..question, question + 1..colon, colon + 1..tokens.end];
            return Some(Form::Choice(Box::new(parts.map(|part| self.part(part, depth)))));
        }
        for (operator, form) in [("||", Form::Any as fn(Vec<Part>) -> Form), ("&&", Form::All)] {
            let cuts = self.at_top(tokens.clone(), operator);
            if !cuts.is_empty() {
                let starts = std::iter::once(tokens.start).chain(cuts.iter().map(|cut| cut + 1));
                let ends = cuts.iter().copied().chain([tokens.end]);
                let parts = starts.zip(ends).map(|(start, end)| self.part(start..end, depth));
                return Some(form(parts.collect()));
            }
        }
        // Of `!a == b` the negation concerns `a` alone: only `!(…)` is cut.
        let is_negation = self.token(tokens.start) == "!" && self.closing(tokens.start + 1) == Some(tokens.end - 1);
        is_negation.then(|| Form::Not(Box::new(self.part(tokens.start + 1..tokens.end, depth))))
    }

    fn token(&self, index: usize) -> &str {
        self.tokens.get(index).map_or("", |(_, token)| token)
    }

    fn place(&self, tokens: Range<usize>) -> Range<usize> {
        let inside = self.tokens.get(tokens).unwrap_or_default();
        match (inside.first(), inside.last()) {
            (Some((start, _)), Some((last, token))) => *start..last + token.len(),
            _ => 0..0,
        }
    }

    fn without_brackets(&self, mut tokens: Range<usize>) -> Range<usize> {
        while tokens.len() > 2 && self.token(tokens.start) == "(" && self.closing(tokens.start) == Some(tokens.end - 1)
        {
            tokens = tokens.start + 1..tokens.end - 1;
        }
        tokens
    }

    /// Where the round bracket that is the token at `open` is closed.
    fn closing(&self, open: usize) -> Option<usize> {
        if self.token(open) != "(" {
            return None;
        }
        let mut level = 0_usize;
        (open..self.tokens.len()).find(|index| {
            match self.token(*index) {
                "(" | "[" | "{" => level += 1,
                ")" | "]" | "}" => level = level.saturating_sub(1),
                _ => {}
            }
            level == 0
        })
    }

    /// Where a token stands outside of all brackets.
    fn at_top(&self, tokens: Range<usize>, wanted: &str) -> Vec<usize> {
        let mut level = 0_usize;
        let mut found = Vec::new();
        for index in tokens {
            match self.token(index) {
                "(" | "[" | "{" => level += 1,
                ")" | "]" | "}" => level = level.saturating_sub(1),
                token if level == 0 && token == wanted => found.push(index),
                _ => {}
            }
        }
        found
    }

    /// Question mark and colon of a conditional.
    fn choice(&self, tokens: Range<usize>) -> Option<(usize, usize)> {
        let is_conditional = |index: &usize| *index > tokens.start && ends_operand(self.token(index - 1));
        let questions: Vec<_> = self.at_top(tokens.clone(), "?").into_iter().filter(is_conditional).collect();
        let question = *questions.first()?;
        let mut open = 0_usize;
        let colons = self.at_top(tokens.clone(), ":");
        let mut marks: Vec<_> = questions.iter().copied().chain(colons.iter().copied()).collect();
        marks.sort_unstable();
        let colon = marks.into_iter().find(|mark| {
            if questions.contains(mark) {
                open += 1;
            } else {
                open = open.saturating_sub(1);
            }
            open == 0
        })?;
        Some((question, colon))
    }
}
