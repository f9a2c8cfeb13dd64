//! What calls cost, by upstream's rules: while evaluating ([`actual`]) and estimated beforehand ([`estimate`]).

mod actual;
mod calls;
pub(crate) mod estimate;
mod path;
mod size;

pub(crate) use actual::Meter;

/// The most that one evaluation may cost.
pub(crate) const LIMIT: u64 = 1_000_000;

/// Cost of a variable or a selection.
pub(crate) const SELECT: u64 = 1;
/// Cost of making a list that is not constant.
pub(crate) const LIST: u64 = 10;
/// Cost of making a map that is not constant.
pub(crate) const MAP: u64 = 30;
/// Cost of making a message.
pub(crate) const MESSAGE: u64 = 40;
/// Cost of reading one character of a text.
const TEXT: f64 = 0.1;
/// Cost of a question to the API server.
const AUTHORIZE: u64 = 350_000;
/// Cost of one character of a regular expression.
const REGEX: f64 = 0.25;

/// How a call's cost follows from its operands. The first group is the language's own, keyed upstream by overload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cost {
    /// One, whatever the operands.
    One,
    /// `startsWith`, `endsWith`: the argument is read.
    Affix,
    /// The only argument is read, and the result grows with it.
    ScanArgument(Growth),
    /// `format`: the target is read.
    FormatText,
    /// `in` a list: every element.
    InList,
    /// `<` on texts: the shorter is read.
    Order,
    /// `==`: the shorter is read; types of Kubernetes cost one.
    Equality,
    /// `!=`: the shorter is read.
    Inequality,
    /// `+` on texts.
    ConcatText,
    /// `+` on lists.
    ConcatList,
    /// `matches`
    Matches,
    /// `contains`
    ContainsText,
    /// `&&`, `||`
    Logic,
    /// `?:`
    Conditional,
    /// `list[i]`
    IndexList,
    /// `map[k]`
    IndexMap,

    // Kubernetes' functions, keyed upstream by name, so that they hold for ambiguous overloads too.
    /// The target is walked over: `sum`, `indexOf`, …
    Traverse,
    /// `includes`
    Includes,
    /// The first argument is read: `quantity`, `cidr`, …
    Parse,
    /// `ip.isCanonical`: read twice.
    ParseTwice,
    /// `url`
    ParseUrl,
    /// The target is read and the result is as long: `lowerAscii`, …
    Transform,
    /// `replace`
    Replace,
    /// `split`
    Split,
    /// `join`
    Join,
    /// `find`, `findAll`
    Find,
    /// `containsIP`; whether the argument is a text that is parsed first.
    ContainsIp { text: bool },
    /// `containsCIDR`; whether the argument is a text that is parsed first.
    ContainsCidr { text: bool },
    /// `validate`
    Validate,
    /// `check`: a question to the API server.
    Authorize,
    /// `fieldSelector`, `labelSelector`: the argument is parsed.
    ParseSelector,

    // The list and set extensions, keyed upstream by overload.
    /// `slice`
    Slice,
    /// `lists.range`
    Range,
    /// `reverse`
    Reverse,
    /// `flatten`
    Flatten,
    /// `distinct`
    Distinct,
    /// `sort`; whether of texts.
    Sort { text: bool },
    /// `sortBy`; whether by texts.
    SortBy { text: bool },
    /// `sets.*`; how often each pair is compared.
    Sets(u32),
}

/// How long a result is compared with what was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Growth {
    /// Up to four times: characters to bytes.
    Quadruple,
    /// Down to a quarter: bytes to characters.
    Quarter,
    /// Up to twice and two more: quoting.
    Quoted,
}

impl Cost {
    /// The operand that has to be a list for the cost to be told.
    pub(crate) fn needs_list(self) -> Option<usize> {
        match self {
            Self::Distinct | Self::Sort { .. } => Some(0),
            Self::SortBy { .. } => Some(1),
            _ => None,
        }
    }

    /// The rule where the overload is not known before the call.
    pub(crate) fn of_ambiguous(self) -> Self {
        match self {
            Self::Traverse
            | Self::Includes
            | Self::Parse
            | Self::ParseTwice
            | Self::ParseUrl
            | Self::Transform
            | Self::Replace
            | Self::Split
            | Self::Join
            | Self::Find
            | Self::Validate
            | Self::Authorize
            | Self::ParseSelector => self,
            Self::ContainsIp { .. } => Self::ContainsIp { text: false },
            Self::ContainsCidr { .. } => Self::ContainsCidr { text: false },
            _ => Self::One,
        }
    }
}
