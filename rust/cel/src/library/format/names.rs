//! Names of objects and labels, and what Kubernetes says of texts that are none.

/// A kind of name.
struct Kind {
    is_valid: fn(&str) -> bool,
    max_bytes: usize,
    /// What is said of a text that does not look like one, and texts that do.
    problem: &'static str,
    examples: &'static [&'static str],
    /// The regular expression that the message shows.
    pattern: &'static str,
}

const DNS1123_LABEL: Kind = Kind {
    is_valid: is_dns1123_label,
    max_bytes: 63,
    problem: "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
    examples: &["my-name", "123-abc"],
    pattern: "[a-z0-9]([-a-z0-9]*[a-z0-9])?",
};

const DNS1123_SUBDOMAIN: Kind = Kind {
    is_valid: is_dns1123_subdomain,
    max_bytes: 253,
    problem: "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
    examples: &["example.com"],
    pattern: "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*",
};

const DNS1035_LABEL: Kind = Kind {
    is_valid: |text| text.starts_with(|first: char| first.is_ascii_lowercase()) && is_dns1123_label(text),
    max_bytes: 63,
    problem: "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
    examples: &["my-name", "abc-123"],
    pattern: "[a-z]([-a-z0-9]*[a-z0-9])?",
};

const LABEL_KEY: Kind = Kind {
    is_valid: is_label_key,
    max_bytes: 63,
    problem: "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
    examples: &["MyName", "my.name", "123-abc"],
    pattern: "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]",
};

const LABEL_VALUE: Kind = Kind {
    is_valid: |text| text.is_empty() || is_label_key(text),
    max_bytes: 63,
    problem: "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
    examples: &["MyValue", "my_value", "12345"],
    pattern: "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?",
};

/// How messages call bytes: upstream has two sets of these rules, and the one for labels says `bytes`.
const CHARACTERS: &str = "characters";
const BYTES: &str = "bytes";

impl Kind {
    fn problems(&self, text: &str, unit: &str) -> Vec<String> {
        let shape = if (self.is_valid)(text) { None } else { Some(self.shape()) };
        self.too_long(text, unit).into_iter().chain(shape).collect()
    }

    fn too_long(&self, text: &str, unit: &str) -> Option<String> {
        (text.len() > self.max_bytes).then(|| format!("must be no more than {} {unit}", self.max_bytes))
    }

    /// What a text of the kind must look like.
    fn shape(&self) -> String {
        let examples: Vec<String> = self.examples.iter().map(|example| format!("'{example}', ")).collect();
        format!("{} (e.g. {}regex used for validation is '{}')", self.problem, examples.join(" or "), self.pattern)
    }
}

pub(super) fn dns1123_label(text: &str) -> Vec<String> {
    if is_dns1123_subdomain(text) && !is_dns1123_label(text) {
        return DNS1123_LABEL
            .too_long(text, CHARACTERS)
            .into_iter()
            .chain(["must not contain dots".to_owned()])
            .collect();
    }
    DNS1123_LABEL.problems(text, CHARACTERS)
}

pub(super) fn dns1123_subdomain(text: &str) -> Vec<String> {
    DNS1123_SUBDOMAIN.problems(text, CHARACTERS)
}

pub(super) fn dns1035_label(text: &str) -> Vec<String> {
    DNS1035_LABEL.problems(text, CHARACTERS)
}

/// What makes a text no value of a label; upstream's texts.
pub fn label_value(text: &str) -> Vec<String> {
    LABEL_VALUE.problems(text, BYTES)
}

/// What makes a text no key of a label, which is a name, with a domain and a slash before it if need be; upstream's texts.
pub fn qualified_name(text: &str) -> Vec<String> {
    let (prefix, name) = match text.split_once('/') {
        Some((_, rest)) if rest.contains('/') => {
            return vec![format!(
                "a valid label key {} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
                LABEL_KEY.shape()
            )];
        }
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, text),
    };
    let empty = |part: &str| part.is_empty().then(|| "must be non-empty".to_owned());
    let prefix = prefix.map_or_else(Vec::new, |prefix| {
        // Of an empty prefix nothing more is said.
        empty(prefix).map_or_else(|| DNS1123_SUBDOMAIN.problems(prefix, BYTES), |problem| vec![problem])
    });
    let prefix = prefix.into_iter().map(|problem| format!("prefix part {problem}"));
    let name = empty(name).into_iter().chain(LABEL_KEY.problems(name, BYTES));
    prefix.chain(name.map(|problem| format!("name part {problem}"))).collect()
}

fn is_dns1123_label(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    text.bytes().all(is_inner) && has_alphanumeric_ends(text)
}

fn is_dns1123_subdomain(text: &str) -> bool {
    text.split('.').all(is_dns1123_label)
}

fn is_label_key(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    text.bytes().all(is_inner) && has_alphanumeric_ends(text)
}

fn has_alphanumeric_ends(text: &str) -> bool {
    let is_end = |character: char| character.is_ascii_alphanumeric();
    text.starts_with(is_end) && text.ends_with(is_end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_valid_by_their_characters_and_ends() {
        for (problems, valid, invalid) in [
            (dns1123_label as fn(&str) -> Vec<String>, vec!["a", "1-b"], vec!["", "-a", "a-", "A", "a.b", "é"]),
            (dns1123_subdomain, vec!["a", "a.b-c.1"], vec!["", ".", "a..b", "a.-b"]),
            (dns1035_label, vec!["a", "a1"], vec!["1a", "", "a."]),
            (qualified_name, vec!["a", "A_b.c", "b.c/A"], vec!["", "a/", "/a", "a/b/c", "B/a", "-"]),
            (label_value, vec!["", "a", "A_b.c"], vec!["-", "a b", "é"]),
        ] {
            for text in valid {
                assert_eq!(problems(text), Vec::<String>::new(), "{text}");
            }
            for text in invalid {
                assert_ne!(problems(text), Vec::<String>::new(), "{text}");
            }
        }
    }

    #[test]
    fn labels_are_explained() {
        assert_eq!(dns1123_label(&"a".repeat(64)), ["must be no more than 63 characters"]);
        assert_eq!(dns1123_label("a.b"), ["must not contain dots"]);
        assert_eq!(
            dns1035_label("1a"),
            [
                "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
            ]
        );
    }

    #[test]
    fn parts_of_a_qualified_name_are_explained_apart() {
        let name = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
        assert_eq!(qualified_name("/"), ["prefix part must be non-empty", "name part must be non-empty", name]);
        assert_eq!(qualified_name(&format!("{}/b", "a".repeat(254))), ["prefix part must be no more than 253 bytes"]);
        assert_eq!(qualified_name(&"a".repeat(64)), ["name part must be no more than 63 bytes"]);
    }
}
