//! Percent escapes, by the part of the URL that they are in.

use drayman_api::quote::quoted;

/// A part of a URL with rules of its own about which bytes are escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    User,
    Host,
    /// The zone of an IPv6 address.
    Zone,
    Path,
    Query,
    Fragment,
}

impl Part {
    /// What is written as it is, besides letters, digits and `-_.~`.
    fn kept(self) -> &'static [u8] {
        match self {
            Self::User => b"$&+,;=",
            Self::Host | Self::Zone => b"!$&'()*+,;=:[]<>\"",
            Self::Path => b"$&+,/:;=@",
            Self::Query => b"",
            Self::Fragment => b"$&+,/:;=?@!()*",
        }
    }

    fn keeps(self, byte: u8) -> bool {
        byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) || self.kept().contains(&byte)
    }

    fn is_host(self) -> bool {
        matches!(self, Self::Host | Self::Zone)
    }
}

/// The bytes that `text` stands for.
pub(super) fn unescape(text: &str, part: Part) -> Result<Vec<u8>, String> {
    let mut unescaped = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [byte, after @ ..] = rest {
        rest = after;
        match byte {
            b'%' => {
                let (value, after) = escaped_byte(after, part)?;
                unescaped.push(value);
                rest = after;
            }
            b'+' if part == Part::Query => unescaped.push(b' '),
            _ if part.is_host() && byte.is_ascii() && !part.keeps(*byte) => {
                return Err(format!("invalid character {} in host name", quoted([*byte])));
            }
            _ => unescaped.push(*byte),
        }
    }
    Ok(unescaped)
}

/// The byte whose digits `after` begins with, and what comes then.
fn escaped_byte(after: &[u8], part: Part) -> Result<(u8, &[u8]), String> {
    let refused = || {
        let escape: Vec<u8> = [b'%'].iter().chain(after.iter().take(2)).copied().collect();
        Err(format!("invalid URL escape {}", quoted(&escape)))
    };
    let [first, second, rest @ ..] = after else { return refused() };
    let (Some(first), Some(second)) = (hexadecimal(*first), hexadecimal(*second)) else { return refused() };
    let value = first << 4 | second;
    let is_allowed = match part {
        _ if value == b'%' => true,
        // Only bytes beyond ASCII may be escaped in a host.
        Part::Host => !value.is_ascii(),
        Part::Zone => value == b' ' || part.keeps(value),
        _ => true,
    };
    if is_allowed { Ok((value, rest)) } else { refused() }
}

fn hexadecimal(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// `bytes` with all escaped that the part does not keep.
pub(super) fn escape(bytes: &[u8], part: Part) -> String {
    let written = |byte: &u8| if part.keeps(*byte) { char::from(*byte).to_string() } else { format!("%{byte:02X}") };
    bytes.iter().map(written).collect()
}

/// Whether nothing in `text` must be escaped that is not.
pub(super) fn is_escaped(text: &str, part: Part) -> bool {
    text.bytes().all(|byte| b"!$&'()*+,;=:@[]%".contains(&byte) || part.keeps(byte))
}
