//! URLs, as Go's `net/url` reads and writes them.

mod escape;
mod parse;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::cost::Cost;
use crate::error::Fault;
use crate::library::{Function, Overload, boolean, operands, text};
use crate::types::Type;
use crate::value::{Entries, Map, Value};

use escape::{Part, escape, is_escaped, unescape};

pub(super) use parse::parse_request;

/// Queries with more parameters than this read as empty.
const MAX_PARAMETERS: usize = 10_000;

pub(super) fn functions() -> Vec<Function> {
    let s = || Type::String;
    let query = Type::map(s(), Type::list(s()));
    vec![
        Function::new(
            "url",
            vec![Overload::global("string_to_url", [s()], Type::URL, Cost::ParseUrl, |arguments| {
                let [source] = operands::<1>(arguments)?;
                let url = parse::parse_url(text(source)?).map_err(|error| {
                    Fault::failed(format!("URL parse error during conversion from string: {error}"))
                })?;
                Ok(Value::Url(Arc::new(url)))
            })],
        ),
        Function::new(
            "isURL",
            vec![Overload::global("is_url_string", [s()], Type::Bool, Cost::One, |arguments| {
                let [source] = operands::<1>(arguments)?;
                Ok(boolean(parse_request(text(source)?).is_ok()))
            })],
        ),
        part("getScheme", "url_get_scheme", |arguments| url(arguments).map(|url| Value::string(url.scheme.as_str()))),
        part("getHost", "url_get_host", |arguments| url(arguments).map(|url| shown(&url.host))),
        part("getHostname", "url_get_hostname", |arguments| url(arguments).map(|url| shown(url.host_and_port().0))),
        part("getPort", "url_get_port", |arguments| url(arguments).map(|url| shown(url.host_and_port().1))),
        part("getEscapedPath", "url_get_escaped_path", |arguments| {
            url(arguments).map(|url| Value::string(url.escaped_path()))
        }),
        Function::new(
            "getQuery",
            vec![Overload::member("url_get_query", [Type::URL], query, Cost::One, |arguments| {
                url(arguments).map(Url::parameters)
            })],
        ),
    ]
}

fn part(name: &'static str, id: &'static str, call: super::Implementation) -> Function {
    Function::new(name, vec![Overload::member(id, [Type::URL], Type::String, Cost::One, call)])
}

fn url(arguments: &[Value]) -> Result<&Url, Fault> {
    match arguments {
        [Value::Url(url)] => Ok(url),
        _ => Err(Fault::no_such_overload()),
    }
}

/// Unescaped bytes as text. Upstream passes on bytes that are no characters; here they become the replacement character.
fn shown(bytes: &[u8]) -> Value {
    Value::string(String::from_utf8_lossy(bytes))
}

/// The parts of a URL; those that are kept as bytes have been unescaped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Url {
    scheme: String,
    /// What follows the scheme where that is no path.
    opaque: String,
    user: Option<User>,
    /// With the port.
    host: Vec<u8>,
    /// Whether a path follows the scheme at once.
    omits_host: bool,
    path: Escaped,
    query: String,
    /// Whether the URL ends in a question mark.
    forces_query: bool,
    fragment: Escaped,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct User {
    name: Vec<u8>,
    password: Option<Vec<u8>>,
}

/// A part that is written again as it was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Escaped {
    bytes: Vec<u8>,
    written: String,
}

impl Escaped {
    fn read(written: &str, part: Part) -> Result<Self, String> {
        Ok(Self { bytes: unescape(written, part)?, written: written.to_owned() })
    }

    /// The part as it was read if that is well escaped, else escaped anew.
    fn escaped(&self, part: Part) -> String {
        if is_escaped(&self.written, part) { self.written.clone() } else { escape(&self.bytes, part) }
    }
}

impl Url {
    fn escaped_path(&self) -> String {
        self.path.escaped(Part::Path)
    }

    /// The host without brackets, and the port without colon.
    fn host_and_port(&self) -> (&[u8], &[u8]) {
        let colon = self.host.iter().rposition(|byte| *byte == b':');
        let (host, port) = match colon.and_then(|colon| self.host.split_at_checked(colon)) {
            Some((host, [_, port @ ..])) if port.iter().all(u8::is_ascii_digit) => (host, port),
            _ => (self.host.as_slice(), &[][..]),
        };
        match host {
            [b'[', inner @ .., b']'] => (inner, port),
            _ => (host, port),
        }
    }

    /// The parameters of the query by name. What is not well escaped is left out.
    fn parameters(&self) -> Value {
        let mut names: BTreeMap<Vec<u8>, Vec<Value>> = BTreeMap::new();
        let is_readable = self.query.matches('&').count() < MAX_PARAMETERS;
        for pair in self.query.split('&').filter(|pair| is_readable && !pair.is_empty() && !pair.contains(';')) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            if let (Ok(name), Ok(value)) = (unescape(name, Part::Query), unescape(value, Part::Query)) {
                names.entry(name).or_default().push(shown(&value));
            }
        }
        let mut entries = Entries::default();
        for (name, values) in names {
            entries.insert(shown(&name), Value::list(values));
        }
        Value::Map(Map::new(entries))
    }

    fn write_authority(&self, text: &mut String) {
        if self.scheme.is_empty() && self.host.is_empty() && self.user.is_none() || self.omits_host {
            return;
        }
        if !self.host.is_empty() || !self.path.bytes.is_empty() || self.user.is_some() {
            text.push_str("//");
        }
        if let Some(user) = &self.user {
            text.push_str(&escape(&user.name, Part::User));
            if let Some(password) = &user.password {
                text.push(':');
                text.push_str(&escape(password, Part::User));
            }
            text.push('@');
        }
        text.push_str(&escape(&self.host, Part::Host));
    }
}

impl fmt::Display for Url {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        if !self.scheme.is_empty() {
            text.push_str(&self.scheme);
            text.push(':');
        }
        if self.opaque.is_empty() {
            self.write_authority(&mut text);
            text.push_str(&self.escaped_path());
        } else {
            text.push_str(&self.opaque);
        }
        if self.forces_query || !self.query.is_empty() {
            text.push('?');
            text.push_str(&self.query);
        }
        if !self.fragment.bytes.is_empty() {
            text.push('#');
            text.push_str(&self.fragment.escaped(Part::Fragment));
        }
        formatter.write_str(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Url {
        parse::parse_url(text).expect("the URL can be read")
    }

    fn shown_of(url: &Url) -> [String; 5] {
        let (host, port) = url.host_and_port();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        [url.scheme.clone(), text(&url.host), text(host), text(port), url.escaped_path()]
    }

    #[test]
    fn urls_have_parts() {
        for (text, expected) in [
            ("https://u:p@h.com:80/p/q?x=1#f", ["https", "h.com:80", "h.com", "80", "/p/q"]),
            ("HTTP://[::1]:80/", ["http", "[::1]:80", "::1", "80", "/"]),
            ("http://[fe80::1%25en0]/", ["http", "[fe80::1%en0]", "fe80::1%en0", "", "/"]),
            ("mongodb://a:1,b:2/", ["mongodb", "a:1,b:2", "a:1,b", "2", "/"]),
            ("http://h%c3%a9/", ["http", "hé", "hé", "", "/"]),
            ("http://h/a b%2fc%41", ["http", "h", "h", "", "/a%20b/cA"]),
            ("http://h/a%2fb", ["http", "h", "h", "", "/a%2fb"]),
            ("http://h:/", ["http", "h:", "h", "", "/"]),
            ("mailto:a@b", ["mailto", "", "", "", ""]),
            ("//h/a", ["", "h", "h", "", "/a"]),
            ("*", ["", "", "", "", "*"]),
        ] {
            assert_eq!(shown_of(&read(text)), expected, "{text}");
        }
    }

    #[test]
    fn urls_are_written_in_one_way() {
        for (text, expected) in [
            ("HTTP://u:p@h/?", "http://u:p@h/?"),
            ("http://u%3A:@h", "http://u%3A:@h"),
            ("http:/a", "http:/a"),
            ("http:///a", "http:///a"),
            ("mailto:a@b?c#d", "mailto:a@b?c#d"),
            ("http://h/a b", "http://h/a%20b"),
            ("http://h<é>/", "http://h<%C3%A9>/"),
            ("/a#b c", "/a#b%20c"),
        ] {
            assert_eq!(read(text).to_string(), expected, "{text}");
        }
    }

    #[test]
    fn queries_list_the_values_of_each_name() {
        for (query, expected) in [
            ("b=2&a=1&b=3", "{a: [1], b: [2, 3]}"),
            ("a", "{a: []}"),
            ("a+b=c+d%20e", "{a b: [c d e]}"),
            ("a=%zz&b=%41", "{b: [A]}"),
            ("a;b=1&c=2", "{c: [2]}"),
            ("", "{}"),
        ] {
            assert_eq!(read(&format!("/?{query}")).parameters().to_string(), expected, "{query}");
        }
        assert_eq!(read(&format!("/?{}", "a=1&".repeat(10_000))).parameters().to_string(), "{}");
    }
}
