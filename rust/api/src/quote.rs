//! Text in double quotes, as Go's `%q` writes it, for messages that have to equal upstream's.

/// Quotes `bytes`, text or not: what does not show is escaped, and so is each byte that is not part of a character.
pub fn quoted(bytes: impl AsRef<[u8]>) -> String {
    let mut quoted = String::from("\"");
    for chunk in bytes.as_ref().utf8_chunks() {
        chunk.valid().chars().for_each(|character| push(&mut quoted, character));
        quoted.extend(chunk.invalid().iter().map(|byte| hexadecimal(*byte)));
    }
    quoted.push('"');
    quoted
}

fn push(quoted: &mut String, character: char) {
    match character {
        '"' => quoted.push_str("\\\""),
        '\\' => quoted.push_str("\\\\"),
        '\u{7}' => quoted.push_str("\\a"),
        '\u{8}' => quoted.push_str("\\b"),
        '\u{b}' => quoted.push_str("\\v"),
        '\u{c}' => quoted.push_str("\\f"),
        '\n' => quoted.push_str("\\n"),
        '\r' => quoted.push_str("\\r"),
        '\t' => quoted.push_str("\\t"),
        _ if is_printable(character) => quoted.push(character),
        _ => quoted.push_str(&code(character)),
    }
}

fn code(character: char) -> String {
    match u32::from(character) {
        code @ 0..=0x7f => format!("\\x{code:02x}"),
        code @ 0x80..=0xffff => format!("\\u{code:04x}"),
        code => format!("\\U{code:08x}"),
    }
}

fn hexadecimal(byte: u8) -> String {
    format!("\\x{byte:02x}")
}

/// Whether a character shows. Rust has no such question; its debug output escapes what does not.
fn is_printable(character: char) -> bool {
    // The letter before it keeps combining marks as they are.
    let text: String = ['a', character].iter().collect();
    character == ' ' || character == '\'' || text.escape_debug().nth(1) == Some(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_quoted_as_in_go() {
        for (bytes, expected) in [
            (&b"a'b c"[..], "\"a'b c\""),
            (b"\"\\\n\x01", "\"\\\"\\\\\\n\\x01\""),
            ("é世\u{a0}\u{ad}\u{e0001}".as_bytes(), "\"é世\\u00a0\\u00ad\\U000e0001\""),
            (b"a\xc3", "\"a\\xc3\""),
        ] {
            assert_eq!(quoted(bytes), expected);
        }
    }
}
