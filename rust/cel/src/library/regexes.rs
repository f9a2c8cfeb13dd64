//! Regular expressions, by an engine of linear time as upstream's.

mod syntax;
pub(crate) mod weight;

use std::sync::Arc;

use regex::{Regex, RegexBuilder};

use crate::cost::Cost;
use crate::error::Fault;
use crate::library::{Function, Overload, boolean, int, operands, text};
use crate::types::Type;
use crate::value::Value;

use syntax::Translated;

/// Stack that one level of groups may take to compile, in a build without optimisation.
const STACK_PER_LEVEL: usize = 16 * 1024;
/// The most that a compiled expression may take.
const MAX_PROGRAM_BYTES: usize = 8 * 1024 * 1024;

pub(super) fn functions() -> Vec<Function> {
    let s = || Type::String;
    vec![
        Function::shared(
            "matches",
            |value| matches!(value, Value::String(_)),
            matches,
            vec![
                Overload::shared("matches", [s(), s()], Type::Bool, Cost::Matches),
                Overload::shared_member("matches_string", [s(), s()], Type::Bool, Cost::Matches),
            ],
        ),
        Function::new(
            "find",
            vec![Overload::member("string_find_string", [s(), s()], s(), Cost::Find, |arguments| {
                let [source, pattern] = operands::<2>(arguments)?;
                Ok(find(&legal(text(pattern)?)?, text(source)?))
            })],
        ),
        Function::new(
            "findAll",
            vec![
                Overload::member("string_find_all_string", [s(), s()], Type::list(s()), Cost::Find, find_all_of),
                Overload::member(
                    "string_find_all_string_int",
                    [s(), s(), Type::Int],
                    Type::list(s()),
                    Cost::Find,
                    find_all_of,
                ),
            ],
        ),
    ]
}

/// A function that takes a regular expression as second operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RegexFunction {
    Matches,
    Find,
    FindAll,
}

impl RegexFunction {
    pub(crate) fn by_name(name: &str) -> Option<Self> {
        match name {
            "matches" => Some(Self::Matches),
            "find" => Some(Self::Find),
            "findAll" => Some(Self::FindAll),
            _ => None,
        }
    }
}

/// A function with a regular expression that was compiled beforehand.
#[derive(Debug)]
pub(crate) struct ConstantRegex {
    function: RegexFunction,
    regex: Regex,
    states: usize,
    /// The text of the expression, whose length is paid for.
    pub(crate) pattern: Value,
}

impl ConstantRegex {
    pub(crate) fn new(function: RegexFunction, pattern: &Arc<str>) -> Result<Self, String> {
        let regex = compile(pattern)?;
        Ok(Self { function, regex, states: weight::states(pattern), pattern: Value::String(pattern.clone()) })
    }

    /// The work of searching a text of `length` bytes.
    pub(crate) fn work(&self, length: usize) -> usize {
        weight::of_searching(self.states, length)
    }

    pub(crate) fn cost(&self) -> Cost {
        if self.function == RegexFunction::Matches { Cost::Matches } else { Cost::Find }
    }

    /// The result for the other operands: the text, and how many matches to find at most.
    pub(crate) fn call(&self, arguments: &[Value]) -> Result<Value, Fault> {
        match (self.function, arguments) {
            (RegexFunction::Matches, [source]) => Ok(boolean(self.regex.is_match(text(source)?))),
            (RegexFunction::Find, [source]) => Ok(find(&self.regex, text(source)?)),
            (RegexFunction::FindAll, [source]) => Ok(find_all(&self.regex, text(source)?, -1)),
            (RegexFunction::FindAll, [source, limit]) => Ok(find_all(&self.regex, text(source)?, int(limit)?)),
            _ => Err(Fault::no_such_overload()),
        }
    }
}

/// Compiles a regular expression of Go's syntax; the error is in Go's words.
pub(crate) fn compile(pattern: &str) -> Result<Regex, String> {
    let Translated { text, depth } = syntax::translate(pattern)?;
    let levels = depth + 16;
    let nest_limit = u32::try_from(levels * 4).unwrap_or(u32::MAX);
    let build = || RegexBuilder::new(&text).size_limit(MAX_PROGRAM_BYTES).nest_limit(nest_limit).build();
    let stack = levels * STACK_PER_LEVEL;
    stacker::maybe_grow(stack, stack + STACK_PER_LEVEL, build)
        .map_err(|_| syntax::refusal("expression too large", pattern))
}

fn legal(pattern: &str) -> Result<Regex, Fault> {
    compile(pattern).map_err(|error| Fault::failed(format!("Illegal regex: {error}")))
}

fn matches(arguments: &[Value]) -> Result<Value, Fault> {
    let [source, pattern] = operands::<2>(arguments)?;
    let regex = compile(text(pattern)?).map_err(Fault::failed)?;
    Ok(boolean(regex.is_match(text(source)?)))
}

fn find(regex: &Regex, source: &str) -> Value {
    Value::string(regex.find(source).map_or("", |found| found.as_str()))
}

fn find_all_of(arguments: &[Value]) -> Result<Value, Fault> {
    let limit = arguments.get(2).map_or(Ok(-1), int)?;
    match arguments {
        [source, pattern, ..] => Ok(find_all(&legal(text(pattern)?)?, text(source)?, limit)),
        _ => Err(Fault::no_such_overload()),
    }
}

/// At most `limit` matches, all when it is negative.
fn find_all(regex: &Regex, source: &str, limit: i64) -> Value {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    Value::list(regex.find_iter(source).take(limit).map(|found| Value::string(found.as_str())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first match, or none where there is no match.
    fn found<'a>(pattern: &str, source: &'a str) -> Option<&'a str> {
        compile(pattern).expect("the pattern compiles").find(source).map(|found| found.as_str())
    }

    #[test]
    fn classes_and_ends_are_those_of_go() {
        for (pattern, source, expected) in [
            (r"\d+", "٣4", Some("4")),
            (r"\w+", "éa_1", Some("a_1")),
            (r"\bk", "ék", Some("k")),
            (r"\s", "\u{b}", None),
            (r"[[:space:]]", "\u{b}", Some("\u{b}")),
            (r"(?i)k", "\u{212a}", Some("\u{212a}")),
            (r"(?i)\w", "ſ", Some("ſ")),
            (r"\p{Greek}+", "aβγ", Some("βγ")),
            (r"\P{^Greek}", "aβ", Some("β")),
            (r"\p{Cs}", "a", None),
            (r"a$", "a\n", None),
            (r"(?m)a$", "a\n", Some("a")),
            (r".+", "a\nb", Some("a")),
            (r"(?s).+", "a\nb", Some("a\nb")),
            (r"[a&&b]+", "b&a", Some("b&a")),
            (r"[\x{D800}]", "a", None),
        ] {
            assert_eq!(found(pattern, source), expected, "{pattern}");
        }
    }

    #[test]
    fn escapes_and_repetitions_are_those_of_go() {
        for (pattern, source, expected) in [
            (r"\Qa.b\E+", "a.bb", Some("a.bb")),
            (r"\101\x41\x{41}", "AAA", Some("AAA")),
            (r"a{,2}", "a{,2}", Some("a{,2}")),
            (r"{", "{", Some("{")),
            (r"(?U)a+", "aa", Some("a")),
            (r"(?U)a+?", "aa", Some("aa")),
            (r"a*(?i)?", "aa", Some("aa")),
            (r"(?P<n>a)(?<n>b)", "ab", Some("ab")),
            (r"(?i:a)B", "AB", Some("AB")),
            (r"^*a", "a", Some("a")),
        ] {
            assert_eq!(found(pattern, source), expected, "{pattern}");
        }
    }

    #[test]
    fn what_is_no_expression_is_refused_in_the_words_of_go() {
        for (pattern, problem) in [
            ("a**", "invalid nested repetition operator: `**`"),
            ("a*??", "invalid nested repetition operator: `*??`"),
            ("*a", "missing argument to repetition operator: `*`"),
            ("a|{2,}?", "missing argument to repetition operator: `{2,}?`"),
            ("a{1001}", "invalid repeat count: `{1001}`"),
            ("a{2,1}", "invalid repeat count: `{2,1}`"),
            ("((a{100}){10}){2}", "invalid repeat count: `{2}`"),
            ("(a", "missing closing ): `(a`"),
            ("a)b", "unexpected ): `a)b`"),
            ("[a", "missing closing ]: `[a`"),
            ("x[b-a]", "invalid character class range: `b-a`"),
            ("[[:foo:]]", "invalid character class range: `[:foo:]`"),
            (r"\p{Grek}", r"invalid character class range: `\p{Grek}`"),
            (r"\p", r"invalid character class range: `\p`"),
            (r"\p{L", r"invalid character class range: `\p{L`"),
            ("(?<=a)", "invalid named capture: `(?<=a)`"),
            ("(?P<a", "invalid named capture: `(?P<a`"),
            ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
            ("(?i-)", "invalid or unsupported Perl syntax: `(?i-)`"),
            (r"\8", r"invalid escape sequence: `\8`"),
            (r"\C", r"invalid escape sequence: `\C`"),
            (r"\x4g", r"invalid escape sequence: `\x4g`"),
            (r"\x{110000}", r"invalid escape sequence: `\x{110000`"),
            ("a\\", "trailing backslash at end of expression: ``"),
        ] {
            let refused = compile(pattern).map(|regex| regex.to_string());
            assert_eq!(refused, Err(format!("error parsing regexp: {problem}")), "{pattern}");
        }
    }

    #[test]
    fn deep_and_huge_expressions_end_in_an_error() {
        let deep = |levels: usize| format!("{}a{}", "(".repeat(levels), ")".repeat(levels));
        assert!(compile(&deep(1_000)).is_ok());
        for (pattern, problem) in
            [(deep(1_001), "expression nests too deeply"), (r"\pL{1000}".repeat(10), "expression too large")]
        {
            let refused = compile(&pattern).map(|regex| regex.to_string());
            assert_eq!(refused, Err(format!("error parsing regexp: {problem}: `{pattern}`")));
        }
    }
}
