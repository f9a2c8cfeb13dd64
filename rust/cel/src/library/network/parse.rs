//! Reading addresses and networks as Go's `net/netip` does, to the words of its errors.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use drayman_api::quote::quoted;

use crate::value::{Cidr, Ip};

/// The groups of an IPv6 address.
const GROUPS: usize = 8;

/// Reads an address that Kubernetes takes: without zone, and no IPv4 address in IPv6 form.
pub(super) fn ip(text: &str) -> Result<Ip, String> {
    let quoted = || quoted(text);
    let parsed = parse_address(text)
        .map_err(|cause| format!("IP Address {} parse error during conversion from string: {cause}", quoted()))?;
    if parsed.zone {
        return Err(format!("IP address {} with zone value is not allowed", quoted()));
    }
    if is_mapped(parsed.address) {
        return Err(format!("IPv4-mapped IPv6 address {} is not allowed", quoted()));
    }
    Ok(Ip(parsed.address))
}

/// Reads a network that Kubernetes takes.
pub(super) fn cidr(text: &str) -> Result<Cidr, String> {
    let network = parse_network(text).map_err(|cause| {
        format!(
            "network address parse error during conversion from string: netip.ParsePrefix({}): {cause}",
            quoted(text)
        )
    })?;
    if is_mapped(network.address().0) {
        return Err(format!("IPv4-mapped IPv6 address {} is not allowed", quoted(text)));
    }
    Ok(network)
}

fn is_mapped(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(address) if address.to_ipv4_mapped().is_some())
}

fn parse_network(text: &str) -> Result<Cidr, String> {
    let (address, length) = text.rsplit_once('/').ok_or("no '/'")?;
    let parsed = parse_address(address)?;
    if parsed.zone {
        return Err("IPv6 zones cannot be present in a prefix".to_owned());
    }
    let is_plain = !length.is_empty()
        && length.bytes().all(|byte| byte.is_ascii_digit())
        && (length.len() == 1 || !length.starts_with('0'));
    let bits: Option<i64> = length.parse().ok().filter(|_| is_plain);
    let bits = bits.ok_or_else(|| format!("bad bits after slash: {}", quoted(length)))?;
    let most = if parsed.address.is_ipv4() { 32 } else { 128 };
    let bits = u8::try_from(bits).ok().filter(|bits| *bits <= most).ok_or("prefix length out of range")?;
    Ok(Cidr::new(Ip(parsed.address), bits))
}

/// An address as it was written.
pub(in crate::library) struct Address {
    pub(in crate::library) address: IpAddr,
    /// Whether a zone follows it.
    zone: bool,
}

/// Reads an address of any form.
pub(in crate::library) fn parse_address(text: &str) -> Result<Address, String> {
    match text.bytes().find(|byte| matches!(byte, b'.' | b':' | b'%')) {
        Some(b'.') => Ok(Address { address: Ipv4Addr::from(ipv4(text, text)?).into(), zone: false }),
        Some(b':') => ipv6(text),
        Some(_) => Err(refusal(text, "missing IPv6 address", "")),
        None => Err(refusal(text, "unable to parse IP", "")),
    }
}

/// What Go says of `text`, and from where on it could not be read.
fn refusal(text: &str, message: &str, at: &str) -> String {
    let text = quoted(text);
    if at.is_empty() {
        format!("ParseAddr({text}): {message}")
    } else {
        format!("ParseAddr({text}): {message} (at {})", quoted(at))
    }
}

/// Reads the dotted part of an address.
fn ipv4(whole: &str, dotted: &str) -> Result<[u8; 4], String> {
    let refused = |message: &str, at: usize| Err(refusal(whole, message, dotted.get(at..).unwrap_or("")));
    let end = dotted.len();
    let mut octets = Vec::with_capacity(4);
    let mut value: u16 = 0;
    let mut digits = 0;
    for (index, byte) in dotted.bytes().enumerate() {
        match byte {
            b'0'..=b'9' if digits == 1 && value == 0 => return refused("IPv4 field has octet with leading zero", end),
            b'0'..=b'9' => {
                value = value * 10 + u16::from(byte - b'0');
                digits += 1;
                if value > 255 {
                    return refused("IPv4 field has value >255", end);
                }
            }
            b'.' if digits == 0 || index + 1 == end => {
                return refused("IPv4 field must have at least one digit", index);
            }
            b'.' if octets.len() == 3 => return refused("IPv4 address too long", end),
            b'.' => {
                octets.push(value.to_be_bytes()[1]);
                (value, digits) = (0, 0);
            }
            _ => return refused("unexpected character", index),
        }
    }
    octets.push(value.to_be_bytes()[1]);
    octets.try_into().or_else(|_| refused("IPv4 address too short", end))
}

fn ipv6(text: &str) -> Result<Address, String> {
    let (groups, zone) = text.split_once('%').map_or((text, None), |(groups, zone)| (groups, Some(zone)));
    if zone == Some("") {
        return Err(refusal(text, "zone must be a non-empty string", ""));
    }
    let mut reader = Reader { text, rest: groups, groups: Vec::with_capacity(GROUPS), gap: None };
    if let Some(after) = groups.strip_prefix("::") {
        (reader.rest, reader.gap) = (after, Some(0));
    }
    while !reader.is_done() {
        reader.read_group()?;
    }
    Ok(Address { address: Ipv6Addr::from(reader.finish()?).into(), zone: zone.is_some() })
}

/// An IPv6 address that is being read.
struct Reader<'a> {
    text: &'a str,
    rest: &'a str,
    groups: Vec<u16>,
    /// How many groups come before `::`.
    gap: Option<usize>,
}

impl Reader<'_> {
    fn is_done(&self) -> bool {
        self.groups.len() == GROUPS || self.rest.is_empty() && (self.gap.is_some() || !self.groups.is_empty())
    }

    fn refused<T>(&self, message: &str, at: &str) -> Result<T, String> {
        Err(refusal(self.text, message, at))
    }

    fn read_group(&mut self) -> Result<(), String> {
        let digits = self.rest.bytes().take_while(u8::is_ascii_hexdigit).count();
        if digits > 4 {
            return self.refused("each group must have 4 or less digits", self.rest);
        }
        let (group, after) = self.rest.split_at(digits);
        let Ok(value) = u16::from_str_radix(group, 16) else {
            return self.refused("each colon-separated field must have at least one digit", self.rest);
        };
        if after.starts_with('.') {
            return self.read_ipv4();
        }
        self.groups.push(value);
        self.rest = after;
        if after.is_empty() { Ok(()) } else { self.read_colon() }
    }

    /// Reads the two last groups, which are written as an IPv4 address.
    fn read_ipv4(&mut self) -> Result<(), String> {
        if self.gap.is_none() && self.groups.len() != GROUPS - 2 {
            return self.refused("embedded IPv4 address must replace the final 2 fields of the address", self.rest);
        }
        if self.groups.len() > GROUPS - 2 {
            return self.refused("too many hex fields to fit an embedded IPv4 at the end of the address", self.rest);
        }
        let [a, b, c, d] = ipv4(self.text, self.rest)?;
        self.groups.extend([u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])]);
        self.rest = "";
        Ok(())
    }

    fn read_colon(&mut self) -> Result<(), String> {
        self.rest = match self.rest.strip_prefix(':') {
            None => return self.refused("unexpected character, want colon", self.rest),
            Some("") => return self.refused("colon must be followed by more characters", self.rest),
            Some(next) => next,
        };
        if let Some(after) = self.rest.strip_prefix(':') {
            if self.gap.is_some() {
                return self.refused("multiple :: in address", self.rest);
            }
            (self.rest, self.gap) = (after, Some(self.groups.len()));
        }
        Ok(())
    }

    /// The address, with zeros for `::`.
    fn finish(mut self) -> Result<[u16; GROUPS], String> {
        if !self.rest.is_empty() {
            return self.refused("trailing garbage after address", self.rest);
        }
        let missing = GROUPS - self.groups.len();
        if let Some(gap) = self.gap {
            if missing == 0 {
                return self.refused("the :: must expand to at least one field of zeros", "");
            }
            self.groups.splice(gap..gap, std::iter::repeat_n(0, missing));
        }
        let groups: Result<[u16; GROUPS], _> = self.groups.as_slice().try_into();
        groups.or_else(|_| self.refused("address string too short", ""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_written_in_their_shortest_form() {
        for (text, expected) in [
            ("192.0.2.1", "192.0.2.1"),
            ("2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),
            ("1:0:0:2:0:0:0:3", "1:0:0:2::3"),
            ("::1.2.3.4", "::102:304"),
            ("1::", "1::"),
            ("0:0:0:0:0:0:0:0", "::"),
        ] {
            assert_eq!(ip(text).map(|address| address.to_string()), Ok(expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused_in_the_words_of_go() {
        for (text, cause) in [
            ("", "unable to parse IP"),
            ("a%b", "missing IPv6 address"),
            ("1.2.3", "IPv4 address too short"),
            ("1.2.3.", "IPv4 field must have at least one digit (at \".\")"),
            ("1.2.3.4.5", "IPv4 address too long"),
            ("01.2.3.4", "IPv4 field has octet with leading zero"),
            ("1.2.3.256", "IPv4 field has value >255"),
            ("1.2.3.a", "unexpected character (at \"a\")"),
            ("12345::", "each group must have 4 or less digits (at \"12345::\")"),
            ("::g", "each colon-separated field must have at least one digit (at \"g\")"),
            ("1::2::3", "multiple :: in address (at \":3\")"),
            ("1:2x", "unexpected character, want colon (at \"x\")"),
            ("1:", "colon must be followed by more characters (at \":\")"),
            ("1:2:3:4:5:6:7", "address string too short"),
            ("1:2:3:4:5:6:7:8:9", "trailing garbage after address (at \"9\")"),
            ("1:2:3:4:5:6:7::8", "the :: must expand to at least one field of zeros"),
            ("1:1.2.3.4", "embedded IPv4 address must replace the final 2 fields of the address (at \"1.2.3.4\")"),
            ("fe80::1%", "zone must be a non-empty string"),
        ] {
            let expected = format!(
                "IP Address \"{text}\" parse error during conversion from string: ParseAddr(\"{text}\"): {cause}"
            );
            assert_eq!(ip(text), Err(expected), "{text}");
        }
    }

    #[test]
    fn kubernetes_takes_neither_zones_nor_mapped_addresses() {
        assert_eq!(ip("fe80::1%eth0"), Err("IP address \"fe80::1%eth0\" with zone value is not allowed".to_owned()));
        assert_eq!(ip("::ffff:1.2.3.4"), Err("IPv4-mapped IPv6 address \"::ffff:1.2.3.4\" is not allowed".to_owned()));
        assert_eq!(
            cidr("::ffff:1.2.3.4/100"),
            Err("IPv4-mapped IPv6 address \"::ffff:1.2.3.4/100\" is not allowed".to_owned())
        );
    }

    #[test]
    fn what_is_no_network_is_refused_in_the_words_of_go() {
        for (text, cause) in [
            ("1.2.3.4", "no '/'"),
            ("1.2.3.4/", "bad bits after slash: \"\""),
            ("1.2.3.4/+1", "bad bits after slash: \"+1\""),
            ("1.2.3.4/08", "bad bits after slash: \"08\""),
            ("1.2.3.4/33", "prefix length out of range"),
            ("::/129", "prefix length out of range"),
            ("::1%a/3", "IPv6 zones cannot be present in a prefix"),
            ("x/1", "ParseAddr(\"x\"): unable to parse IP"),
        ] {
            let expected = format!(
                "network address parse error during conversion from string: netip.ParsePrefix(\"{text}\"): {cause}"
            );
            assert_eq!(cidr(text), Err(expected), "{text}");
        }
    }
}
