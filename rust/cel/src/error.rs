//! Why an expression does not compile, and why an evaluation fails. The texts are upstream's.

use std::fmt;
use std::sync::Arc;

/// One finding of parser or checker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// Line, from 1; 0 for what is wrong with the whole.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong, without the position.
    pub message: String,
}

/// Why an expression does not compile. `Display` gives upstream's whole text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// The expression has errors of syntax, names or types.
    #[error("compilation failed: {text}")]
    Issues {
        /// The findings in order of position.
        issues: Vec<Issue>,
        /// All findings with the lines that they are in.
        text: String,
    },
    /// The expression has another type than it may.
    #[error("must evaluate to {wanted}, not {found}")]
    ResultType {
        /// What it may be.
        wanted: &'static str,
        /// What it is.
        found: String,
    },
    /// A constant part of the expression cannot be computed.
    #[error("program instantiation failed: {cause}")]
    Constant {
        /// Why.
        cause: String,
    },
}

impl CompileError {
    /// The findings with their positions; empty when the fault is not at one place.
    pub fn issues(&self) -> &[Issue] {
        match self {
            Self::Issues { issues, .. } => issues,
            Self::ResultType { .. } | Self::Constant { .. } => &[],
        }
    }
}

/// Upstream reports so many findings and counts the others.
const MAX_ISSUES: usize = 100;
/// Lines longer than this are not shown.
const MAX_SNIPPET_BYTES: usize = 16_384;

/// The findings of one expression while they are gathered.
#[derive(Debug, Default)]
pub(crate) struct Issues {
    issues: Vec<Issue>,
    /// How many more there are than are shown.
    surplus: usize,
}

impl Issues {
    pub(crate) fn is_empty(&self) -> bool {
        self.issues.is_empty()
    }

    pub(crate) fn report(&mut self, source: &str, offset: usize, message: impl Into<String>) {
        if self.issues.len() >= MAX_ISSUES {
            self.surplus += 1;
            return;
        }
        let before = source.get(..offset).unwrap_or(source);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |text| text.chars().count()) + 1;
        self.report_at(line, column, message);
    }

    /// Reports what has no place in the text.
    pub(crate) fn report_nowhere(&mut self, message: impl Into<String>) {
        self.report_at(0, 0, message);
    }

    pub(crate) fn report_at(&mut self, line: usize, column: usize, message: impl Into<String>) {
        self.issues.push(Issue { line, column, message: message.into() });
    }

    /// The error with the text that shows `source`; call when there is at least one finding.
    pub(crate) fn into_error(mut self, source: &str) -> CompileError {
        let surplus = self.surplus + self.issues.len().saturating_sub(MAX_ISSUES);
        self.issues.truncate(MAX_ISSUES);
        self.issues.sort_by_key(|issue| (issue.line, issue.column));
        let mut texts: Vec<String> = self.issues.iter().map(|issue| show(issue, source)).collect();
        if surplus > 0 {
            texts.push(format!("{surplus} more errors were truncated"));
        }
        CompileError::Issues { issues: self.issues, text: texts.join("\n") }
    }
}

/// A finding with its line, and a mark under its place.
fn show(issue: &Issue, source: &str) -> String {
    let Issue { line, column, message } = issue;
    if *line == 0 {
        return format!("ERROR: <input>:-1:0: {message}");
    }
    let mut text = format!("ERROR: <input>:{line}:{column}: {message}");
    let snippet = line.checked_sub(1).and_then(|index| source.split('\n').nth(index));
    let Some(snippet) = snippet.filter(|snippet| snippet.len() <= MAX_SNIPPET_BYTES && !source.is_empty()) else {
        return text;
    };
    let snippet = snippet.replace('\t', " ");
    text.push_str("\n | ");
    text.push_str(&snippet);
    text.push_str("\n | ");
    let mut characters = snippet.chars();
    for character in characters.by_ref().take(column.saturating_sub(1)) {
        text.push(if character.is_ascii() { '.' } else { '．' });
    }
    text.push(if characters.next().is_none_or(|character| character.is_ascii()) { '^' } else { '＾' });
    text
}

/// Why an evaluation fails.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RuntimeError {
    /// A map has no such key, or a value without keys was asked for one.
    #[error("no such key: {key}")]
    NoSuchKey {
        /// The key as text.
        key: String,
    },
    /// A list is shorter.
    #[error("index out of bounds: {index}")]
    IndexOutOfBounds {
        /// The index as text.
        index: String,
    },
    /// No function or operator of the name takes such values.
    #[error("no such overload{}", .signature.as_ref().map_or(String::new(), |signature| format!(": {signature}")))]
    NoSuchOverload {
        /// The function, with the types of the values where upstream tells them.
        signature: Option<String>,
    },
    /// The evaluation costs more than it may.
    #[error("operation cancelled: actual cost limit exceeded")]
    CostLimit,
    /// The evaluation makes values that are larger than they may be; upstream has no such limit.
    #[error("operation cancelled: size limit exceeded")]
    SizeLimit,
    /// The result is not a truth value.
    #[error("CEL result of type {found} could not be converted to bool: {cause}")]
    NotBool {
        /// The type of the result.
        found: String,
        /// Why it cannot be taken for a truth value.
        cause: String,
    },
    /// An attribute of the device has no value that CEL could read; nothing can be evaluated on the device.
    #[error("attribute {name}: {cause}")]
    Attribute {
        /// The attribute's name as it was published.
        name: String,
        /// What is wrong with it.
        cause: String,
    },
    /// Upstream's evaluator breaks down, which it notices.
    #[error("internal error: {0}")]
    Internal(String),
    /// An operator or function refuses the values.
    #[error("{0}")]
    Failed(String),
}

impl RuntimeError {
    /// The text with the hint that upstream's allocator adds to a missing key.
    pub fn with_hint(&self) -> String {
        enhance_runtime_error(&self.to_string())
    }
}

/// The text of an evaluation error with the hint that upstream's allocator adds where a key is missing.
pub fn enhance_runtime_error(text: &str) -> String {
    if !text.contains("no such key:") {
        return text.to_owned();
    }
    format!(
        "{text}. consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() for optional fields"
    )
}

/// An error inside an evaluation: cheap to copy, since `||` and loops carry errors along.
#[derive(Debug, Clone)]
pub(crate) struct Fault(Arc<RuntimeError>);

impl Fault {
    pub(crate) fn new(error: RuntimeError) -> Self {
        Self(Arc::new(error))
    }

    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::new(RuntimeError::Failed(message.into()))
    }

    pub(crate) fn no_such_overload() -> Self {
        Self::new(RuntimeError::NoSuchOverload { signature: None })
    }

    pub(crate) fn no_such_signature(signature: impl Into<String>) -> Self {
        Self::new(RuntimeError::NoSuchOverload { signature: Some(signature.into()) })
    }

    pub(crate) fn no_such_key(key: impl fmt::Display) -> Self {
        Self::new(RuntimeError::NoSuchKey { key: key.to_string() })
    }

    pub(crate) fn index_out_of_bounds(index: impl fmt::Display) -> Self {
        Self::new(RuntimeError::IndexOutOfBounds { index: index.to_string() })
    }

    /// Whether the error ends the evaluation at once, so that nothing absorbs it.
    pub(crate) fn ends_evaluation(&self) -> bool {
        matches!(*self.0, RuntimeError::CostLimit | RuntimeError::SizeLimit | RuntimeError::Internal(_))
    }

    pub(crate) fn into_error(self) -> RuntimeError {
        Arc::unwrap_or_clone(self.0)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_shown_under_their_line() {
        let mut issues = Issues::default();
        let source = "size(\"é\") == 1\n && \té.foo";
        issues.report(source, source.find("é.").unwrap(), "wrong");
        issues.report(source, 0, "first");
        assert_eq!(
            issues.into_error(source).to_string(),
            "compilation failed: ERROR: <input>:1:1: first\n | size(\"é\") == 1\n | ^\nERROR: <input>:2:6: wrong\n |  &&  é.foo\n | .....＾"
        );
    }

    #[test]
    fn only_a_missing_key_gets_a_hint() {
        let missing = RuntimeError::NoSuchKey { key: "x".to_owned() };
        assert_eq!(
            missing.with_hint(),
            "no such key: x. consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() for optional fields"
        );
        assert_eq!(RuntimeError::CostLimit.with_hint(), "operation cancelled: actual cost limit exceeded");
    }
}
