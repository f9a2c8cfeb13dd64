//! Semantic versions as attributes hold them and CEL compares them.
//!
//! Reading is as strict as `Parse` of github.com/blang/semver v4, with its error texts; [`Version::parse_normalized`] is what CEL's
//! `semver(text, true)` accepts. Build metadata stays in the text but plays no part in equality and order.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use crate::quote::quoted;

/// Why a text is not a semantic version; the texts are upstream's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VersionError {
    /// There is no text.
    #[error("Version string empty")]
    Empty,
    /// There are fewer than three parts.
    #[error("No Major.Minor.Patch elements found")]
    Incomplete,
    /// A shortened version, to be normalised, carries more than numbers.
    #[error("short version cannot contain PreRelease/Build meta data")]
    Short,
    /// A part holds something else than it may.
    #[error("Invalid character(s) found in {part} {}", quoted(.text))]
    Character {
        /// Which part.
        part: &'static str,
        /// The part's text.
        text: String,
    },
    /// A number starts with 0 but is not 0.
    #[error("{part} must not contain leading zeroes {}", quoted(.text))]
    LeadingZero {
        /// Which number.
        part: &'static str,
        /// The number's text.
        text: String,
    },
    /// A number is missing or does not fit 64 bits.
    #[error("strconv.ParseUint: parsing {}: {}", quoted(.text), if .text.is_empty() { "invalid syntax" } else { "value out of range" })]
    Number {
        /// The number's text.
        text: String,
    },
    /// An identifier of the pre-release is missing.
    #[error("Prerelease is empty")]
    EmptyPrerelease,
    /// An identifier of the build metadata is missing.
    #[error("Build meta data is empty")]
    EmptyBuild,
}

/// A semantic version. Equality, order and hash ignore the build metadata.
#[derive(Debug, Clone)]
pub struct Version {
    major: u64,
    minor: u64,
    patch: u64,
    prerelease: Vec<Identifier>,
    build: Option<Box<str>>,
}

/// One dot-separated piece of a pre-release; numbers come before words.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Identifier {
    Number(u64),
    Word(Box<str>),
}

impl Version {
    /// The first number.
    pub fn major(&self) -> u64 {
        self.major
    }

    /// The second number.
    pub fn minor(&self) -> u64 {
        self.minor
    }

    /// The third number.
    pub fn patch(&self) -> u64 {
        self.patch
    }

    /// Reads a version after dropping a leading `v` and leading zeros, and filling up missing numbers with 0.
    pub fn parse_normalized(text: &str) -> Result<Self, VersionError> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let mut parts: Vec<String> = text.splitn(3, '.').map(without_leading_zeros).collect();
        if parts.len() < 3 {
            if parts.last().is_some_and(|last| last.contains(['+', '-'])) {
                return Err(VersionError::Short);
            }
            parts.resize(3, "0".to_owned());
        }
        parts.join(".").parse()
    }
}

impl FromStr for Version {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, VersionError> {
        if text.is_empty() {
            return Err(VersionError::Empty);
        }
        let mut parts = text.splitn(3, '.');
        let (Some(major), Some(minor), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(VersionError::Incomplete);
        };
        let major = number(major, "major number", "Major number")?;
        let minor = number(minor, "minor number", "Minor number")?;
        let (rest, build) = rest.split_once('+').map_or((rest, None), |(rest, build)| (rest, Some(build)));
        let (patch, prerelease) = rest.split_once('-').map_or((rest, None), |(patch, pre)| (patch, Some(pre)));
        let patch = number(patch, "patch number", "Patch number")?;
        let prerelease = prerelease.map_or(Ok(Vec::new()), |pre| pre.split('.').map(identifier).collect())?;
        if let Some(build) = build {
            check_build(build)?;
        }
        Ok(Self { major, minor, patch, prerelease, build: build.map(Into::into) })
    }
}

fn number(text: &str, part: &'static str, sentence: &'static str) -> Result<u64, VersionError> {
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(VersionError::Character { part, text: text.to_owned() });
    }
    if text.len() > 1 && text.starts_with('0') {
        return Err(VersionError::LeadingZero { part: sentence, text: text.to_owned() });
    }
    text.parse().map_err(|_| VersionError::Number { text: text.to_owned() })
}

fn identifier(text: &str) -> Result<Identifier, VersionError> {
    if text.is_empty() {
        return Err(VersionError::EmptyPrerelease);
    }
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return number(text, "prerelease", "Numeric PreRelease version").map(Identifier::Number);
    }
    if !text.bytes().all(is_word) {
        return Err(VersionError::Character { part: "prerelease", text: text.to_owned() });
    }
    Ok(Identifier::Word(text.into()))
}

fn check_build(build: &str) -> Result<(), VersionError> {
    for piece in build.split('.') {
        if piece.is_empty() {
            return Err(VersionError::EmptyBuild);
        }
        if !piece.bytes().all(is_word) {
            return Err(VersionError::Character { part: "build meta data", text: piece.to_owned() });
        }
    }
    Ok(())
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}

/// A part of a version without leading zeros, keeping one where no other digit follows.
fn without_leading_zeros(part: &str) -> String {
    if part.len() < 2 {
        return part.to_owned();
    }
    let trimmed = part.trim_start_matches('0');
    if trimmed.starts_with(|character: char| character.is_ascii_digit()) {
        trimmed.to_owned()
    } else {
        format!("0{trimmed}")
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}.{}", self.major, self.minor, self.patch)?;
        for (index, identifier) in self.prerelease.iter().enumerate() {
            formatter.write_str(if index == 0 { "-" } else { "." })?;
            match identifier {
                Identifier::Number(number) => write!(formatter, "{number}")?,
                Identifier::Word(word) => formatter.write_str(word)?,
            }
        }
        self.build.as_ref().map_or(Ok(()), |build| write!(formatter, "+{build}"))
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Version {}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Version {
    /// Precedence of semver.org: a version with a pre-release comes before the same without.
    fn cmp(&self, other: &Self) -> Ordering {
        let numbers = |version: &Self| (version.major, version.minor, version.patch, version.prerelease.is_empty());
        numbers(self).cmp(&numbers(other)).then_with(|| self.prerelease.cmp(&other.prerelease))
    }
}

impl Hash for Version {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.major, self.minor, self.patch, &self.prerelease).hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        text.parse().unwrap()
    }

    #[test]
    fn order_follows_precedence() {
        let ordered = [
            "1.0.0-1",
            "1.0.0-2",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-alpha.beta",
            "1.0.0-rc.1",
            "1.0.0",
            "1.0.1",
            "1.10.0",
            "2.0.0",
        ];
        for pair in ordered.windows(2) {
            assert!(version(pair[0]) < version(pair[1]), "{pair:?}");
        }
    }

    #[test]
    fn build_metadata_is_printed_but_not_compared() {
        assert_eq!(version("1.2.3+b"), version("1.2.3"));
        assert_eq!(version("1.2.3-rc.1+b.01").to_string(), "1.2.3-rc.1+b.01");
    }

    #[test]
    fn invalid_versions_say_why_in_the_words_of_upstream() {
        for (text, error) in [
            ("", "Version string empty"),
            ("1.2", "No Major.Minor.Patch elements found"),
            ("v1.2.3", "Invalid character(s) found in major number \"v1\""),
            ("1.02.3", "Minor number must not contain leading zeroes \"02\""),
            ("1.2.", "strconv.ParseUint: parsing \"\": invalid syntax"),
            ("99999999999999999999.0.0", "strconv.ParseUint: parsing \"99999999999999999999\": value out of range"),
            ("1.2.3-", "Prerelease is empty"),
            ("1.2.3-01", "Numeric PreRelease version must not contain leading zeroes \"01\""),
            ("1.2.3-a_b", "Invalid character(s) found in prerelease \"a_b\""),
            ("1.2.3+", "Build meta data is empty"),
            ("1.2.3+a\n", "Invalid character(s) found in build meta data \"a\\n\""),
        ] {
            assert_eq!(text.parse::<Version>().unwrap_err().to_string(), error);
        }
    }

    #[test]
    fn normalizing_fills_up_and_trims() {
        for (text, normalized) in
            [("v1", "1.0.0"), ("01.02", "1.2.0"), ("1.2.03-rc", "1.2.3-rc"), ("00.0.00-x", "0.0.0-x")]
        {
            assert_eq!(Version::parse_normalized(text).unwrap().to_string(), normalized);
        }
        assert_eq!(Version::parse_normalized("1.2-rc").unwrap_err(), VersionError::Short);
        assert_eq!(
            Version::parse_normalized(" 1.2.3").unwrap_err().to_string(),
            "Invalid character(s) found in major number \"0 1\""
        );
    }
}
