//! Classes of characters, and escapes.

use super::{refusal, until};

/// A class of no character.
pub(super) const NOTHING: &str = "[^\\s\\S]";

/// A translation, and what comes after what it is of.
type Read<'a> = (String, &'a str);

/// Reads a class in brackets.
pub(super) fn bracketed(text: &str) -> Result<Read<'_>, String> {
    let mut rest = text.get(1..).unwrap_or("");
    let is_negated = rest.starts_with('^');
    if is_negated {
        rest = rest.get(1..).unwrap_or("");
    }
    let mut items = String::new();
    let mut is_first = true;
    while is_first || !rest.starts_with(']') {
        is_first = false;
        let (item, after) = match posix(rest)? {
            Some(read) => read,
            None => match named(rest)? {
                Some(read) => read,
                None => range(rest, text)?,
            },
        };
        items.push_str(&item);
        rest = after;
    }
    let translation = match (items.is_empty(), is_negated) {
        (true, false) => NOTHING.to_owned(),
        (true, true) => "[\\s\\S]".to_owned(),
        (false, false) => format!("[{items}]"),
        (false, true) => format!("[^{items}]"),
    };
    Ok((translation, rest.get(1..).unwrap_or("")))
}

/// Reads `[:alpha:]`.
fn posix(text: &str) -> Result<Option<Read<'_>>, String> {
    const NAMES: &[&str] = &[
        "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper",
        "word", "xdigit",
    ];
    let Some((name, rest)) = text.strip_prefix("[:").and_then(|inside| inside.split_once(":]")) else {
        return Ok(None);
    };
    let class = format!("[:{name}:]");
    if !NAMES.contains(&name.strip_prefix('^').unwrap_or(name)) {
        return Err(refusal("invalid character class range", &class));
    }
    Ok(Some((class, rest)))
}

/// Reads one character, or two with a dash between them, of the class `class`.
fn range<'a>(text: &'a str, class: &str) -> Result<Read<'a>, String> {
    let (first, mut rest) = character(text, class)?;
    let mut last = first;
    if let Some(after) = rest.strip_prefix('-').filter(|after| !after.is_empty() && !after.starts_with(']')) {
        (last, rest) = character(after, class)?;
    }
    if last < first {
        return Err(refusal("invalid character class range", until(text, rest)));
    }
    // Halves of surrogate pairs are no characters of a text.
    let first = if (0xd800..0xe000).contains(&first) { 0xe000 } else { first };
    let last = if (0xd800..0xe000).contains(&last) { 0xd7ff } else { last };
    let range = if first <= last { format!("\\x{{{first:x}}}-\\x{{{last:x}}}") } else { String::new() };
    Ok((range, rest))
}

fn character<'a>(text: &'a str, class: &str) -> Result<(u32, &'a str), String> {
    match text.chars().next() {
        None => Err(refusal("missing closing ]", class)),
        Some('\\') => escaped_character(text),
        Some(first) => Ok((u32::from(first), text.get(first.len_utf8()..).unwrap_or(""))),
    }
}

/// Reads `\d` and its like, or `\pL`.
pub(super) fn named(text: &str) -> Result<Option<Read<'_>>, String> {
    let Some(name) = text.strip_prefix('\\').and_then(|escape| escape.chars().next()) else { return Ok(None) };
    let class = match name {
        'p' | 'P' => return unicode(text).map(Some),
        'd' => "[0-9]",
        'D' => "[^0-9]",
        's' => "[\\t\\n\\f\\r ]",
        'S' => "[^\\t\\n\\f\\r ]",
        'w' => "[0-9A-Za-z_]",
        'W' => "[^0-9A-Za-z_]",
        _ => return Ok(None),
    };
    Ok(Some((class.to_owned(), text.get(2..).unwrap_or(""))))
}

/// Reads `\pL`, `\p{Greek}`, `\P{Greek}` or `\p{^Greek}`.
fn unicode(text: &str) -> Result<Read<'_>, String> {
    let after = text.get(2..).unwrap_or("");
    let name_length = match after.chars().next() {
        Some('{') => {
            after.find('}').map(|end| end + 1).ok_or_else(|| refusal("invalid character class range", text))?
        }
        first => first.map_or(0, char::len_utf8),
    };
    let (name, rest) = after.split_at(name_length);
    let name = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name);
    let (name, is_inverted) = name.strip_prefix('^').map_or((name, false), |name| (name, true));
    let is_negated = text.starts_with("\\P") != is_inverted;
    let class = unicode_class(&canonical(name));
    let (positive, negative) = class.ok_or_else(|| refusal("invalid character class range", until(text, rest)))?;
    Ok((if is_negated { negative } else { positive }, rest))
}

/// A name without separators, with the first letter as the only capital.
fn canonical(name: &str) -> String {
    let letters = name.chars().filter(|character| !matches!(character, '_' | '-' | ' '));
    letters
        .enumerate()
        .map(|(index, letter)| if index == 0 { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() })
        .collect()
}

/// The class that a canonical name stands for, and what is not in it.
fn unicode_class(name: &str) -> Option<(String, String)> {
    let both = |property: &str| Some((format!("\\p{{{property}}}"), format!("\\P{{{property}}}")));
    match name {
        "Ascii" => return Some(("[[:ascii:]]".to_owned(), "[[:^ascii:]]".to_owned())),
        // No character of a text is half of a surrogate pair.
        "Cs" | "Surrogate" => return Some((NOTHING.to_owned(), "[\\s\\S]".to_owned())),
        "Any" | "Assigned" => return both(name),
        "Cntrl" => return both("gc=Cc"),
        "Digit" => return both("gc=Nd"),
        "Punct" => return both("gc=P"),
        _ => {}
    }
    if is_listed(CATEGORIES, name) {
        return both(&format!("gc={name}"));
    }
    if is_listed(SCRIPTS, name) { both(&format!("sc={name}")) } else { None }
}

fn is_listed(names: &str, name: &str) -> bool {
    names.split_ascii_whitespace().any(|listed| listed == name)
}

const CATEGORIES: &str = "
    C Cc Cf Cn Co L Lc Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp Zs
    Casedletter Closepunctuation Combiningmark Connectorpunctuation Control Currencysymbol Dashpunctuation Decimalnumber Enclosingmark
    Finalpunctuation Format Initialpunctuation Letter Letternumber Lineseparator Lowercaseletter Mark Mathsymbol Modifierletter Modifiersymbol
    Nonspacingmark Number Openpunctuation Other Otherletter Othernumber Otherpunctuation Othersymbol Paragraphseparator Privateuse Punctuation
    Separator Spaceseparator Spacingmark Symbol Titlecaseletter Unassigned Uppercaseletter";

/// The scripts that Go finds: those whose names are one word.
const SCRIPTS: &str = "
    Adlam Ahom Arabic Armenian Avestan Balinese Bamum Batak Bengali Bhaiksuki Bopomofo Brahmi Braille Buginese Buhid Carian Chakma Cham Cherokee
    Chorasmian Common Coptic Cuneiform Cypriot Cyrillic Deseret Devanagari Dogra Duployan Elbasan Elymaic Ethiopic Georgian Glagolitic Gothic
    Grantha Greek Gujarati Gurmukhi Han Hangul Hanunoo Hatran Hebrew Hiragana Inherited Javanese Kaithi Kannada Katakana Kawi Kharoshthi Khmer
    Khojki Khudawadi Lao Latin Lepcha Limbu Lisu Lycian Lydian Mahajani Makasar Malayalam Mandaic Manichaean Marchen Medefaidrin Miao Modi
    Mongolian Mro Multani Myanmar Nabataean Nandinagari Newa Nko Nushu Ogham Oriya Osage Osmanya Palmyrene Phoenician Rejang Runic Samaritan
    Saurashtra Sharada Shavian Siddham Sinhala Sogdian Soyombo Sundanese Syriac Tagalog Tagbanwa Takri Tamil Tangsa Tangut Telugu Thaana Thai
    Tibetan Tifinagh Tirhuta Toto Ugaritic Vai Vithkuqi Wancho Yezidi Yi";

/// Reads an escape that stands for one character.
pub(super) fn escaped_character(text: &str) -> Result<(u32, &str), String> {
    let mut characters = text.chars();
    characters.next();
    let Some(first) = characters.next() else { return Err(refusal("trailing backslash at end of expression", "")) };
    let code = match first {
        'x' => hexadecimal(&mut characters),
        '0' => Some(octal(0, &mut characters)),
        '1'..='7' if characters.as_str().starts_with(|next: char| next.is_digit(8)) => {
            Some(octal(first.to_digit(8).unwrap_or(0), &mut characters))
        }
        'a' => Some(0x7),
        'f' => Some(0xc),
        'n' => Some(0xa),
        'r' => Some(0xd),
        't' => Some(0x9),
        'v' => Some(0xb),
        _ if first.is_ascii() && !first.is_ascii_alphanumeric() => Some(u32::from(first)),
        _ => None,
    };
    let rest = characters.as_str();
    code.map(|code| (code, rest)).ok_or_else(|| refusal("invalid escape sequence", until(text, rest)))
}

/// Reads at most two more digits of a character's code.
fn octal(first: u32, rest: &mut std::str::Chars<'_>) -> u32 {
    let mut code = first;
    for _ in 0..2 {
        let Some(digit) = rest.clone().next().and_then(|digit| digit.to_digit(8)) else { break };
        rest.next();
        code = code * 8 + digit;
    }
    code
}

/// Reads `41` or `{41}`.
fn hexadecimal(rest: &mut std::str::Chars<'_>) -> Option<u32> {
    let first = rest.next()?;
    if first != '{' {
        let second = rest.next()?;
        return Some(first.to_digit(16)? * 16 + second.to_digit(16)?);
    }
    let mut code = None;
    loop {
        let digit = rest.next()?;
        if digit == '}' {
            return code;
        }
        let longer = code.unwrap_or(0) * 16 + digit.to_digit(16)?;
        code = Some(longer).filter(|code| *code <= u32::from(char::MAX));
        code?;
    }
}
