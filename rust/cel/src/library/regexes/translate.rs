//! Regular expressions of Go in the syntax of the `regex` crate.
//!
//! The two differ in what they refuse and in what some classes hold: `\d`, `\w`, `\s` and `\b` know ASCII only in Go, names of groups may repeat,
//! repetitions end at 1,000, and sets have no operators. Errors are in Go's words.

mod class;

/// The most often that anything may be repeated, nested repetitions multiplied.
const MAX_REPEAT: u32 = 1_000;

/// The expression for the `regex` crate, or what Go says is wrong with `source`.
pub(super) fn translate(source: &str) -> Result<String, String> {
    let mut translator = Translator { source, position: 0, output: String::with_capacity(source.len()), groups: Vec::new(), last: Last::Nothing, product: 1 };
    while let Some(character) = translator.peek() {
        translator.item(character)?;
    }
    if translator.groups.is_empty() { Ok(translator.output) } else { Err(format!("missing closing ): `{source}`")) }
}

/// What stands before an operator of repetition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    Nothing,
    /// Something that can be repeated; how often its parts already are.
    Item(u32),
    /// An operator, which began at the position.
    Operator(usize),
}

struct Translator<'a> {
    source: &'a str,
    position: usize,
    output: String,
    /// For each open group, how often parts before it are repeated.
    groups: Vec<u32>,
    last: Last,
    /// The most often that a part of the innermost group is repeated.
    product: u32,
}

impl Translator<'_> {
    fn rest(&self) -> &str {
        &self.source[self.position..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn advance(&mut self) -> Option<char> {
        let character = self.peek()?;
        self.position += character.len_utf8();
        Some(character)
    }

    fn skip(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.position += text.len();
        }
        found
    }

    fn since(&self, start: usize) -> &str {
        &self.source[start..self.position]
    }

    fn put_item(&mut self, text: &str) {
        self.output.push_str(text);
        self.last = Last::Item(1);
    }

    fn put_literal(&mut self, character: char) {
        let mut buffer = [0; 4];
        let escaped = regex::escape(character.encode_utf8(&mut buffer));
        self.put_item(&escaped);
    }

    fn item(&mut self, character: char) -> Result<(), String> {
        let start = self.position;
        match character {
            '\\' => self.escape(),
            '[' => {
                let class = class::translate(self)?;
                self.put_item(&class);
                Ok(())
            }
            '(' => self.open(),
            ')' => self.close(),
            '*' | '+' | '?' => {
                self.advance();
                self.repeat(start, 0, 1)
            }
            '{' => self.count(),
            _ => {
                self.advance();
                match character {
                    '|' => {
                        self.output.push('|');
                        self.last = Last::Nothing;
                    }
                    // Grouped, so that they can be repeated.
                    '^' | '$' => self.put_item(&format!("(?:{character})")),
                    '.' => self.put_item("."),
                    literal => self.put_literal(literal),
                }
                Ok(())
            }
        }
    }

    /// Puts out the operator that stands since `start` and may repeat so often.
    fn repeat(&mut self, start: usize, least: u32, most: u32) -> Result<(), String> {
        let end = self.position;
        self.skip("?");
        let item = match self.last {
            Last::Item(product) => product,
            Last::Nothing => return Err(format!("missing argument to repetition operator: `{}`", &self.source[start..end])),
            Last::Operator(first) => return Err(format!("invalid nested repetition operator: `{}`", self.since(first))),
        };
        if least >= 2 || most >= 2 {
            let product = item.saturating_mul(most.max(1));
            if product > MAX_REPEAT {
                return Err(format!("invalid repeat count: `{}`", &self.source[start..end]));
            }
            self.product = self.product.max(product);
        }
        let operator = self.since(start).to_owned();
        self.output.push_str(&operator);
        self.last = Last::Operator(start);
        Ok(())
    }

    /// `{2}`, `{2,}`, `{2,3}`; any other brace is itself.
    fn count(&mut self) -> Result<(), String> {
        let start = self.position;
        let Some((body, _)) = self.rest()[1..].split_once('}') else {
            self.advance();
            self.put_literal('{');
            return Ok(());
        };
        let (least, most) = body.split_once(',').map_or((body, Some(body)), |(least, most)| (least, if most.is_empty() { None } else { Some(most) }));
        let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) && (digits.len() == 1 || !digits.starts_with('0'));
        if !is_number(least) || !most.is_none_or(is_number) {
            self.advance();
            self.put_literal('{');
            return Ok(());
        }
        let length = body.len() + 2;
        let number = |digits: &str| digits.parse().unwrap_or(u32::MAX);
        let (least, most) = (number(least), most.map(number));
        self.position += length;
        if least > MAX_REPEAT || most.is_some_and(|most| most > MAX_REPEAT || most < least) {
            return Err(format!("invalid repeat count: `{}`", self.since(start)));
        }
        self.repeat(start, least, most.unwrap_or(least))
    }

    fn open(&mut self) -> Result<(), String> {
        let start = self.position;
        self.advance();
        if !self.rest().starts_with('?') {
            self.open_group("(");
            return Ok(());
        }
        for prefix in ["?P<", "?<"] {
            if self.rest().starts_with(prefix) && !self.rest().starts_with("?<=") && !self.rest().starts_with("?<!") {
                return self.open_named(start, prefix.len());
            }
        }
        self.flags(start)
    }

    fn open_group(&mut self, text: &str) {
        self.output.push_str(text);
        self.groups.push(std::mem::replace(&mut self.product, 1));
        self.last = Last::Nothing;
    }

    /// Names do not matter to any function here, and may repeat.
    fn open_named(&mut self, start: usize, prefix: usize) -> Result<(), String> {
        let Some(end) = self.rest().find('>') else {
            return Err(format!("invalid named capture: `{}`", &self.source[start..]));
        };
        let name = &self.rest()[prefix..end];
        let valid = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        self.position += end + 1;
        if !valid {
            return Err(format!("invalid named capture: `{}`", self.since(start)));
        }
        self.open_group("(");
        Ok(())
    }

    /// `(?i)`, `(?i:…)`, `(?-s)`.
    fn flags(&mut self, start: usize) -> Result<(), String> {
        self.advance();
        let mut negated = false;
        let mut any = false;
        loop {
            let Some(character) = self.advance() else { return Err(format!("missing closing ): `{}`", self.source)) };
            match character {
                'i' | 'm' | 's' | 'U' => any = true,
                '-' if !negated => (negated, any) = (true, false),
                ':' | ')' if any || !negated => {
                    let text = self.since(start).to_owned();
                    if character == ':' {
                        self.open_group(&text);
                    } else if any {
                        self.output.push_str(&text);
                    }
                    return Ok(());
                }
                _ => return Err(format!("invalid or unsupported Perl syntax: `{}`", self.since(start))),
            }
        }
    }

    fn close(&mut self) -> Result<(), String> {
        self.advance();
        let Some(outer) = self.groups.pop() else { return Err(format!("unexpected ): `{}`", self.source)) };
        self.output.push(')');
        self.last = Last::Item(self.product);
        self.product = self.product.max(outer);
        Ok(())
    }

    fn escape(&mut self) -> Result<(), String> {
        if self.skip("\\Q") {
            let end = self.rest().find("\\E").unwrap_or(self.rest().len());
            let quoted: Vec<char> = self.rest()[..end].chars().collect();
            self.position += end;
            self.skip("\\E");
            quoted.into_iter().for_each(|character| self.put_literal(character));
            return Ok(());
        }
        for (escape, replacement) in [("\\A", "(?:\\A)"), ("\\z", "(?:\\z)"), ("\\b", "(?-u:\\b)"), ("\\B", "(?-u:\\B)")] {
            if self.skip(escape) {
                self.put_item(replacement);
                return Ok(());
            }
        }
        if let Some(set) = self.perl_class()? {
            self.put_item(&format!("[{set}]"));
            return Ok(());
        }
        let character = self.escaped_character()?;
        self.put_literal(character);
        Ok(())
    }

    /// The inside of a set for `\d` and its like, and for `\pL`.
    fn perl_class(&mut self) -> Result<Option<String>, String> {
        let start = self.position;
        let set = match self.rest().as_bytes().get(1) {
            Some(b'd') => "0-9",
            Some(b'D') => "[^0-9]",
            Some(b's') => r"\t\n\f\r\x20",
            Some(b'S') => r"[^\t\n\f\r\x20]",
            Some(b'w') => "0-9A-Za-z_",
            Some(b'W') => "[^0-9A-Za-z_]",
            Some(b'p' | b'P') => return self.unicode_class(start).map(Some),
            _ => return Ok(None),
        };
        self.position += 2;
        Ok(Some(set.to_owned()))
    }

    fn unicode_class(&mut self, start: usize) -> Result<String, String> {
        self.advance();
        let negated = self.advance() == Some('P');
        let name = match self.advance() {
            Some('{') => {
                let Some(end) = self.rest().find('}') else {
                    return Err(format!("invalid character class range: `{}`", &self.source[start..]));
                };
                let name = self.rest()[..end].to_owned();
                self.position += end + 1;
                name
            }
            Some(character) => character.to_string(),
            None => String::new(),
        };
        let (negated, name) = name.strip_prefix('^').map_or((negated, name.as_str()), |name| (!negated, name));
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
        let set = format!("\\{}{{{name}}}", if negated { 'P' } else { 'p' });
        if is_name && (name == "Any" || regex::Regex::new(&set).is_ok()) {
            return Ok(set);
        }
        Err(format!("invalid character class range: `{}`", self.since(start)))
    }

    /// The character that an escape stands for.
    fn escaped_character(&mut self) -> Result<char, String> {
        let start = self.position;
        self.advance();
        let Some(character) = self.advance() else { return Err("trailing backslash at end of expression: ``".to_owned()) };
        let found = match character {
            '1'..='7' if !matches!(self.peek(), Some('0'..='7')) => None,
            '0'..='7' => self.octal(character),
            'x' => self.hexadecimal(),
            'a' => Some('\u{7}'),
            'f' => Some('\u{c}'),
            'n' => Some('\n'),
            'r' => Some('\r'),
            't' => Some('\t'),
            'v' => Some('\u{b}'),
            other if other.is_ascii() && !other.is_ascii_alphanumeric() => Some(other),
            _ => None,
        };
        found.ok_or_else(|| format!("invalid escape sequence: `{}`", self.since(start)))
    }

    fn octal(&mut self, first: char) -> Option<char> {
        let mut value = first.to_digit(8)?;
        for _ in 0..2 {
            let Some(digit) = self.peek().and_then(|digit| digit.to_digit(8)) else { break };
            value = value * 8 + digit;
            self.advance();
        }
        char::from_u32(value)
    }

    fn hexadecimal(&mut self) -> Option<char> {
        if !self.skip("{") {
            let mut value = 0;
            for _ in 0..2 {
                value = value * 16 + self.peek()?.to_digit(16)?;
                self.advance();
            }
            return char::from_u32(value);
        }
        let mut value: u32 = 0;
        let mut digits = 0;
        loop {
            match self.advance()? {
                '}' if digits > 0 => return char::from_u32(value),
                digit => value = value * 16 + digit.to_digit(16)?,
            }
            digits += 1;
            if value > u32::from(char::MAX) {
                return None;
            }
        }
    }
}
