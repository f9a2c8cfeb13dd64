//! URLs, read and written as Go's `net/url` does.

use std::fmt;
use std::sync::Arc;

use crate::cost::Cost;
use crate::error::Fault;
use crate::library::{Function, Overload, boolean, operands, text};
use crate::types::Type;
use crate::value::{Entries, Map, Value};

pub(super) fn functions() -> Vec<Function> {
    let url = || Type::URL;
    let queries = Type::map(Type::String, Type::list(Type::String));
    vec![
        Function::new(
            "url",
            vec![Overload::global("string_to_url", [Type::String], url(), Cost::ParseUrl, |arguments| {
                let [source] = operands::<1>(arguments)?;
                let source = text(source)?;
                let parsed = parse_request(source).and_then(|_| parse(source));
                let parsed = parsed.map_err(|error| {
                    Fault::failed(format!("URL parse error during conversion from string: {error}"))
                })?;
                Ok(Value::Url(Arc::new(parsed)))
            })],
        ),
        Function::new(
            "getScheme",
            vec![Overload::member("url_get_scheme", [url()], Type::String, Cost::One, |arguments| {
                part(arguments, |url| url.scheme.clone())
            })],
        ),
        Function::new(
            "getHost",
            vec![Overload::member("url_get_host", [url()], Type::String, Cost::One, |arguments| {
                part(arguments, |url| url.host.clone())
            })],
        ),
        Function::new(
            "getHostname",
            vec![Overload::member("url_get_hostname", [url()], Type::String, Cost::One, |arguments| {
                part(arguments, Url::hostname)
            })],
        ),
        Function::new(
            "getPort",
            vec![Overload::member("url_get_port", [url()], Type::String, Cost::One, |arguments| {
                part(arguments, Url::port)
            })],
        ),
        Function::new(
            "getEscapedPath",
            vec![Overload::member("url_get_escaped_path", [url()], Type::String, Cost::One, |arguments| {
                part(arguments, Url::escaped_path)
            })],
        ),
        Function::new(
            "getQuery",
            vec![Overload::member("url_get_query", [url()], queries, Cost::One, |arguments| match arguments {
                [Value::Url(url)] => Ok(Value::Map(Map::new(url.queries()))),
                _ => Err(Fault::no_such_overload()),
            })],
        ),
        Function::new(
            "isURL",
            vec![Overload::global("is_url_string", [Type::String], Type::Bool, Cost::One, |arguments| {
                let [source] = operands::<1>(arguments)?;
                Ok(boolean(parse_request(text(source)?).is_ok()))
            })],
        ),
    ]
}

fn part(arguments: &[Value], of: fn(&Url) -> String) -> Result<Value, Fault> {
    match arguments {
        [Value::Url(url)] => Ok(Value::string(of(url))),
        _ => Err(Fault::no_such_overload()),
    }
}

/// A parsed URL.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Url {
    scheme: String,
    opaque: String,
    user: Option<String>,
    host: String,
    /// The path with escapes undone.
    path: Vec<u8>,
    /// The path as written, where escaping `path` would give another.
    raw_path: String,
    query: Option<String>,
    fragment: String,
}

/// Reads a URL as it stands in a request: absolute, and without a fragment.
pub(super) fn parse_request(source: &str) -> Result<Url, String> {
    parse_part(source, true).map_err(|cause| format!("parse {source:?}: {cause}"))
}

fn parse(source: &str) -> Result<Url, String> {
    let (before, fragment) = source.split_once('#').unwrap_or((source, ""));
    let url = parse_part(before, false).map_err(|cause| format!("parse {before:?}: {cause}"))?;
    Ok(Url { fragment: fragment.to_owned(), ..url })
}

fn parse_part(source: &str, request: bool) -> Result<Url, String> {
    if source.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
        return Err("net/url: invalid control character in URL".to_owned());
    }
    if source.is_empty() && request {
        return Err("empty url".to_owned());
    }
    if source == "*" {
        return Ok(Url { path: b"*".to_vec(), ..Url::default() });
    }
    let (scheme, rest) = split_scheme(source)?;
    let mut url = Url { scheme: scheme.to_ascii_lowercase(), ..Url::default() };
    let mut rest = match rest.split_once('?') {
        Some((rest, query)) => {
            url.query = Some(query.to_owned());
            rest
        }
        None => rest,
    };
    if !rest.starts_with('/') {
        if !url.scheme.is_empty() {
            rest.clone_into(&mut url.opaque);
            return Ok(url);
        }
        if request {
            return Err("invalid URI for request".to_owned());
        }
        if rest.split('/').next().is_some_and(|segment| segment.contains(':')) {
            return Err("first path segment in URL cannot contain colon".to_owned());
        }
    }
    if (!url.scheme.is_empty() || !request && !rest.starts_with("///")) && rest.starts_with("//") {
        let authority = &rest[2..];
        let end = authority.find('/').unwrap_or(authority.len());
        rest = &authority[end..];
        parse_authority(&authority[..end], &mut url)?;
    }
    url.path = unescape(rest)?;
    if escape_path(&url.path) != rest {
        rest.clone_into(&mut url.raw_path);
    }
    Ok(url)
}

fn split_scheme(source: &str) -> Result<(&str, &str), String> {
    for (index, byte) in source.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if index > 0 => {}
            b':' if index == 0 => return Err("missing protocol scheme".to_owned()),
            b':' => return Ok((&source[..index], &source[index + 1..])),
            _ => break,
        }
    }
    Ok(("", source))
}

fn parse_authority(authority: &str, url: &mut Url) -> Result<(), String> {
    let host = match authority.rsplit_once('@') {
        Some((user, host)) => {
            let valid = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte);
            if !user.bytes().all(valid) {
                return Err("net/url: invalid userinfo".to_owned());
            }
            unescape(user)?;
            url.user = Some(user.to_owned());
            host
        }
        None => authority,
    };
    let port = if host.starts_with('[') {
        let end = host.rfind(']').ok_or("missing ']' in host")?;
        &host[end + 1..]
    } else {
        host.rfind(':').map_or("", |index| &host[index..])
    };
    let valid_port = port.is_empty()
        || port.strip_prefix(':').is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    if !valid_port {
        return Err(format!("invalid port {port:?} after host"));
    }
    let valid =
        |byte: u8| !byte.is_ascii() || byte.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:[]<>\"%".contains(&byte);
    if let Some(byte) = host.bytes().find(|byte| !valid(*byte)) {
        return Err(format!("invalid character {:?} in host name", char::from(byte).to_string()));
    }
    let host = unescape(host)?;
    url.host = String::from_utf8_lossy(&host).into_owned();
    Ok(())
}

/// Undoes `%41`.
fn unescape(text: &str) -> Result<Vec<u8>, String> {
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut index = 0;
    while let Some(byte) = bytes.get(index) {
        if *byte != b'%' {
            plain.push(*byte);
            index += 1;
            continue;
        }
        let digits =
            text.get(index + 1..index + 3).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let Some(value) = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) else {
            let shown: String = text[index..].chars().take(3).collect();
            return Err(format!("invalid URL escape {shown:?}"));
        };
        plain.push(value);
        index += 3;
    }
    Ok(plain)
}

fn escape_path(path: &[u8]) -> String {
    let mut escaped = String::with_capacity(path.len());
    for byte in path {
        if byte.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@".contains(byte) {
            escaped.push(char::from(*byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

impl Url {
    fn hostname(&self) -> String {
        let host = self.split_port().0;
        host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host).to_owned()
    }

    fn port(&self) -> String {
        self.split_port().1.to_owned()
    }

    fn split_port(&self) -> (&str, &str) {
        match self.host.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') && port.bytes().all(|byte| byte.is_ascii_digit()) => (host, port),
            _ => (&self.host, ""),
        }
    }

    fn escaped_path(&self) -> String {
        let valid = |byte: u8| byte.is_ascii_alphanumeric() || b"!$&'()*+,;=:@[]-._~/%".contains(&byte);
        if !self.raw_path.is_empty() && self.raw_path.bytes().all(valid) {
            return self.raw_path.clone();
        }
        if self.path == b"*" { "*".to_owned() } else { escape_path(&self.path) }
    }

    /// The values of each query parameter; what cannot be read is left out.
    fn queries(&self) -> Entries {
        let mut names: Vec<(String, Vec<Value>)> = Vec::new();
        for pair in
            self.query.as_deref().unwrap_or("").split('&').filter(|pair| !pair.is_empty() && !pair.contains(';'))
        {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let plain = |text: &str| {
                unescape(&text.replace('+', " ")).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            };
            let (Ok(name), Ok(value)) = (plain(name), plain(value)) else { continue };
            match names.iter_mut().find(|(known, _)| *known == name) {
                Some((_, values)) => values.push(Value::string(value)),
                None => names.push((name, vec![Value::string(value)])),
            }
        }
        let mut entries = Entries::default();
        for (name, values) in names {
            entries.insert(Value::string(name), Value::list(values));
        }
        entries
    }
}

impl fmt::Display for Url {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.scheme.is_empty() {
            write!(formatter, "{}:", self.scheme)?;
        }
        if self.opaque.is_empty() {
            if !self.host.is_empty() || self.user.is_some() {
                formatter.write_str("//")?;
                if let Some(user) = &self.user {
                    write!(formatter, "{user}@")?;
                }
                formatter.write_str(&self.host)?;
            }
            formatter.write_str(&self.escaped_path())?;
        } else {
            formatter.write_str(&self.opaque)?;
        }
        if let Some(query) = &self.query {
            write!(formatter, "?{query}")?;
        }
        if self.fragment.is_empty() { Ok(()) } else { write!(formatter, "#{}", self.fragment) }
    }
}
