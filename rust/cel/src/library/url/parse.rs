//! Reading URLs as Go does, to the words of its errors.

use std::net::IpAddr;

use drayman_api::quote::quoted;

use crate::library::network::parse_address;
use crate::library::url::escape::{Part, unescape};
use crate::library::url::{Escaped, Url, User};

/// Reads an absolute URL or path, with its fragment.
pub(super) fn parse_url(text: &str) -> Result<Url, String> {
    parse_request(text)?;
    let (start, fragment) = text.split_once('#').unwrap_or((text, ""));
    let mut url = parse(start, false).map_err(|cause| refusal(start, &cause))?;
    url.fragment = Escaped::read(fragment, Part::Fragment).map_err(|cause| refusal(text, &cause))?;
    Ok(url)
}

/// Reads an absolute URL or path, in which a fragment is part of what it follows.
pub(in crate::library) fn parse_request(text: &str) -> Result<Url, String> {
    parse(text, true).map_err(|cause| refusal(text, &cause))
}

fn refusal(text: &str, cause: &str) -> String {
    format!("parse {}: {cause}", quoted(text))
}

/// Reads what comes before the fragment; in a request only what is absolute.
fn parse(text: &str, in_request: bool) -> Result<Url, String> {
    if text.bytes().any(|byte| byte.is_ascii_control()) {
        return Err("net/url: invalid control character in URL".to_owned());
    }
    if text.is_empty() && in_request {
        return Err("empty url".to_owned());
    }
    if text == "*" {
        return Ok(Url { path: Escaped::read(text, Part::Path)?, ..Url::default() });
    }
    let (scheme, rest) = split_scheme(text)?;
    let mut url = Url { scheme: scheme.to_ascii_lowercase(), ..Url::default() };
    let rest = match rest.split_once('?') {
        Some((rest, "")) => {
            url.forces_query = true;
            rest
        }
        Some((rest, query)) => {
            query.clone_into(&mut url.query);
            rest
        }
        None => rest,
    };
    if !rest.starts_with('/') && !scheme.is_empty() {
        rest.clone_into(&mut url.opaque);
        return Ok(url);
    }
    if !rest.starts_with('/') {
        if in_request {
            return Err("invalid URI for request".to_owned());
        }
        if rest.split('/').next().is_some_and(|segment| segment.contains(':')) {
            return Err("first path segment in URL cannot contain colon".to_owned());
        }
    }
    let may_have_host = !scheme.is_empty() || !in_request && !rest.starts_with("///");
    let path = if let Some(rest) = rest.strip_prefix("//").filter(|_| may_have_host) {
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        (url.user, url.host) = parse_authority(&url.scheme, authority)?;
        path
    } else {
        url.omits_host = !scheme.is_empty();
        rest
    };
    url.path = Escaped::read(path, Part::Path)?;
    Ok(url)
}

/// The scheme, empty when there is none, and what comes after it.
fn split_scheme(text: &str) -> Result<(&str, &str), String> {
    let end = text.bytes().position(|byte| !byte.is_ascii_alphanumeric() && !b"+-.".contains(&byte));
    match end.map(|end| text.split_at(end)) {
        Some(("", after)) if after.starts_with(':') => Err("missing protocol scheme".to_owned()),
        Some((scheme, after)) if scheme.starts_with(|first: char| first.is_ascii_alphabetic()) => {
            Ok(after.strip_prefix(':').map_or(("", text), |rest| (scheme, rest)))
        }
        _ => Ok(("", text)),
    }
}

fn parse_authority(scheme: &str, authority: &str) -> Result<(Option<User>, Vec<u8>), String> {
    let Some((user, host)) = authority.rsplit_once('@') else { return Ok((None, parse_host(scheme, authority)?)) };
    let host = parse_host(scheme, host)?;
    if !user.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte)) {
        return Err("net/url: invalid userinfo".to_owned());
    }
    let (name, password) = user.split_once(':').map_or((user, None), |(name, password)| (name, Some(password)));
    let name = unescape(name, Part::User)?;
    let password = password.map(|password| unescape(password, Part::User)).transpose()?;
    Ok((Some(User { name, password }), host))
}

/// Reads host and port.
fn parse_host(scheme: &str, host: &str) -> Result<Vec<u8>, String> {
    match host.rfind('[') {
        Some(0) => return parse_literal(host),
        Some(_) => return Err("invalid IP-literal".to_owned()),
        None => {}
    }
    // Some databases list hosts with their ports; the schemes of the web have one colon only.
    let colon = if matches!(scheme, "http" | "https") { host.find(':') } else { host.rfind(':') };
    check_port(colon.map_or("", |colon| &host[colon..]))?;
    unescape(host, Part::Host)
}

/// Reads an IPv6 address in brackets, and a port.
fn parse_literal(host: &str) -> Result<Vec<u8>, String> {
    let (inside, port) = host.rsplit_once(']').ok_or("missing ']' in host")?;
    check_port(port)?;
    let port = unescape(port, Part::Host)?;
    let inside = inside.strip_prefix('[').unwrap_or(inside);
    let (address, zone) = inside.split_at(inside.find("%25").unwrap_or(inside.len()));
    let mut address = unescape(address, Part::Host)?;
    address.extend(unescape(zone, Part::Zone)?);
    let parsed = parse_address(&String::from_utf8_lossy(&address)).map_err(|cause| format!("invalid host: {cause}"))?;
    if matches!(parsed.address, IpAddr::V4(_)) {
        return Err("invalid IP-literal".to_owned());
    }
    Ok([b"[", address.as_slice(), b"]", port.as_slice()].concat())
}

/// Refuses what is neither nothing nor a colon with digits.
fn check_port(port: &str) -> Result<(), String> {
    let is_valid = port.is_empty()
        || port.strip_prefix(':').is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    if is_valid { Ok(()) } else { Err(format!("invalid port {} after host", quoted(port))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_url_is_refused_in_the_words_of_go() {
        for (text, cause) in [
            ("", "empty url"),
            ("a/b", "invalid URI for request"),
            (":a", "missing protocol scheme"),
            ("http://h/%zz", "invalid URL escape \"%zz\""),
            ("http://h/%é", "invalid URL escape \"%é\""),
            ("http://h%41/", "invalid URL escape \"%41\""),
            ("http://h b/", "invalid character \" \" in host name"),
            ("http://h:a/", "invalid port \":a\" after host"),
            ("http://h:1:2/", "invalid port \":1:2\" after host"),
            ("http://a b@h/", "net/url: invalid userinfo"),
            ("http://[::1/", "missing ']' in host"),
            ("http://[::1]a/", "invalid port \"a\" after host"),
            ("http://[1.2.3.4]/", "invalid IP-literal"),
            ("http://x[::1]/", "invalid IP-literal"),
            ("http://[x]/", "invalid host: ParseAddr(\"x\"): unable to parse IP"),
        ] {
            assert_eq!(parse_request(text), Err(format!("parse \"{text}\": {cause}")), "{text}");
        }
        assert_eq!(parse_request("/\n"), Err("parse \"/\\n\": net/url: invalid control character in URL".to_owned()));
    }

    #[test]
    fn only_a_fragment_can_be_wrong_after_the_request() {
        assert_eq!(parse_url("/a#%zz"), Err("parse \"/a#%zz\": invalid URL escape \"%zz\"".to_owned()));
        assert!(parse_url("http:#%zz").is_err());
        assert!(parse_request("http:#%zz").is_ok());
    }
}
