//! From text to a syntax tree, by the parser of the `cel` crate.
//!
//! That parser is recursive, so hostile text is measured first and refused with upstream's messages; what remains is parsed on a stack of its
//! own size. The tree comes out without any macro expanded.

mod awaited;
mod issues;
mod measure;
pub(crate) mod tokens;
pub(crate) mod tree;

use cel::common::ast::{IdedExpr, SourceInfo};

use crate::error::{CompileError, Issues};

pub(crate) use tokens::sign_before;

/// The most characters that upstream reads.
const MAX_CHARACTERS: usize = 100_000;
/// How deep upstream lets expressions nest, and its visitor recurse.
const MAX_DEPTH: usize = 250;
/// Stack that one level of recursion may take in the parser, in a build without optimisation.
const STACK_PER_LEVEL: usize = 16 * 1024;

/// A parsed expression.
pub(crate) struct Parsed {
    pub(crate) root: IdedExpr,
    pub(crate) positions: Positions,
}

/// Where the nodes of a tree are in its text.
pub(crate) struct Positions(SourceInfo);

impl Positions {
    /// Where in the text the node `id` is, in bytes.
    pub(crate) fn offset(&self, id: u64) -> usize {
        self.0.offset_for(id).map_or(0, |(start, _)| start as usize)
    }

    /// Where the first token of the node `id` has ended, in bytes.
    pub(crate) fn end(&self, id: u64) -> usize {
        self.0.offset_for(id).map_or(0, |(_, last)| last as usize + 1)
    }
}

/// Parses `source`, or says what is wrong with it in upstream's words.
pub(crate) fn parse(source: &str) -> Result<Parsed, CompileError> {
    let characters = source.chars().count();
    if characters > MAX_CHARACTERS {
        let message = format!("expression code point size exceeds limit: size: {characters}, limit {MAX_CHARACTERS}");
        return Err(refusal(message, source));
    }
    let measure = measure::measure(source);
    if measure.nesting > MAX_DEPTH {
        return Err(refusal(format!("expression recursion limit exceeded: {MAX_DEPTH}"), source));
    }
    if measure.depth > measure::MAX_PARSED_DEPTH {
        return Err(refusal("max recursion depth exceeded".to_owned(), source));
    }
    let stack = (measure.depth + measure.nesting + 64) * STACK_PER_LEVEL;
    let parsed = stacker::maybe_grow(stack, stack + STACK_PER_LEVEL, || run_parser(source))?;
    if tree::depth(&parsed.root) > MAX_DEPTH {
        return Err(refusal("max recursion depth exceeded".to_owned(), source));
    }
    Ok(parsed)
}

fn run_parser(source: &str) -> Result<Parsed, CompileError> {
    let parser = cel::Env::default().parser().enable_ident_escape_syntax(true).max_recursion_depth(249);
    parser
        .parse_with_source_info(source)
        .map(|(root, positions)| Parsed { root, positions: Positions(positions) })
        .map_err(|errors| issues::of(&errors, source))
}

fn refusal(message: String, source: &str) -> CompileError {
    let mut issues = Issues::default();
    issues.report_nowhere(message);
    issues.into_error(source)
}
