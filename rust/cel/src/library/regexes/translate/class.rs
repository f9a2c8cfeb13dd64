//! Sets of characters: `[a-z]`.

use crate::library::regexes::translate::Translator;

/// The names of sets between colons.
const POSIX: [&str; 14] =
    ["alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "word", "xdigit"];

/// Reads the set that begins here.
pub(super) fn translate(translator: &mut Translator<'_>) -> Result<String, String> {
    let start = translator.position;
    translator.advance();
    let mut set = String::from(if translator.skip("^") { "[^" } else { "[" });
    let mut is_first = true;
    loop {
        match translator.peek() {
            None => return Err(format!("missing closing ]: `{}`", &translator.source[start..])),
            Some(']') if !is_first => break,
            Some('[') if translator.rest().starts_with("[:") && translator.rest()[2..].contains(":]") => set.push_str(&posix(translator)?),
            Some(_) => match class(translator)? {
                Some(inner) => set.push_str(&inner),
                None => range(translator, start, &mut set)?,
            },
        }
        is_first = false;
    }
    translator.advance();
    set.push(']');
    Ok(set)
}

fn class(translator: &mut Translator<'_>) -> Result<Option<String>, String> {
    if translator.peek() == Some('\\') { translator.perl_class() } else { Ok(None) }
}

fn posix(translator: &mut Translator<'_>) -> Result<String, String> {
    let end = translator.rest().find(":]").unwrap_or(0) + 2;
    let text = translator.rest()[..end].to_owned();
    let name = text[2..end - 2].trim_start_matches('^');
    if !POSIX.contains(&name) {
        return Err(format!("invalid character class range: `{text}`"));
    }
    translator.position += end;
    Ok(text)
}

fn range(translator: &mut Translator<'_>, class_start: usize, set: &mut String) -> Result<(), String> {
    let start = translator.position;
    let low = character(translator, class_start)?;
    let rest = translator.rest();
    let is_range = rest.starts_with('-') && rest.len() > 1 && !rest.starts_with("-]");
    let high = if is_range {
        translator.advance();
        character(translator, class_start)?
    } else {
        low
    };
    if high < low {
        return Err(format!("invalid character class range: `{}`", translator.since(start)));
    }
    set.push_str(&format!("\\x{{{:x}}}-\\x{{{:x}}}", u32::from(low), u32::from(high)));
    Ok(())
}

fn character(translator: &mut Translator<'_>, class_start: usize) -> Result<char, String> {
    if translator.peek() == Some('\\') {
        return translator.escaped_character();
    }
    translator.advance().ok_or_else(|| format!("missing closing ]: `{}`", &translator.source[class_start..]))
}
