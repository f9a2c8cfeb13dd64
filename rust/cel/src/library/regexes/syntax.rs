//! The syntax of Go's regular expressions, translated to that of the `regex` crate.
//!
//! What the two write alike they often take differently (`\d` is a digit of any script in the one, of ASCII in the other), so nothing is passed
//! on as it is. Refusals are in Go's words.

mod class;
mod repetition;

use repetition::{Repetition, repetition_at};

/// How deep groups may be inside each other.
const MAX_DEPTH: usize = 1_000;

/// An expression in the syntax of the `regex` crate.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Translated {
    pub(super) text: String,
    /// How deep its groups are inside each other.
    pub(super) depth: usize,
}

/// Translates `pattern`, or says what is wrong with it.
pub(super) fn translate(pattern: &str) -> Result<Translated, String> {
    let mut translator = Translator {
        pattern,
        rest: pattern,
        text: String::new(),
        flags: Flags::default(),
        level: Level::default(),
        outer: Vec::new(),
        depth: 0,
    };
    translator.run()?;
    Ok(Translated { text: translator.text, depth: translator.depth })
}

/// What Go says: what is wrong, and where.
pub(super) fn refusal(problem: &str, part: &str) -> String {
    format!("error parsing regexp: {problem}: `{part}`")
}

/// The start of `text`, which ends in `rest`.
fn until<'a>(text: &'a str, rest: &str) -> &'a str {
    text.get(..text.len().saturating_sub(rest.len())).unwrap_or("")
}

#[expect(clippy::struct_excessive_bools, reason = "these are the flags that expressions can set")]
#[derive(Debug, Clone, Copy, Default)]
struct Flags {
    /// `i`: letters stand for both cases.
    fold: bool,
    /// `m`: `^` and `$` are the ends of lines.
    lines: bool,
    /// `s`: `.` is also the end of a line.
    all: bool,
    /// `U`: repetitions take as little as they can, and as much with a question mark.
    swapped: bool,
}

impl Flags {
    fn set(&mut self, flag: char, value: bool) -> bool {
        match flag {
            'i' => self.fold = value,
            'm' => self.lines = value,
            's' => self.all = value,
            'U' => self.swapped = value,
            _ => return false,
        }
        true
    }
}

/// What has been read of a group, or of the whole.
#[derive(Debug, Default)]
struct Level {
    /// What a repetition repeats.
    last: Option<Atom>,
    /// The most repetitions of what comes before that.
    repeats: u32,
    /// Where the group begins in the translation, and the flags around it.
    start: usize,
    flags: Flags,
}

#[derive(Debug, Clone, Copy)]
struct Atom {
    /// Where it begins in the translation.
    start: usize,
    /// How often its innermost part is repeated by counts.
    repeats: u32,
    is_repeated: bool,
}

struct Translator<'a> {
    pattern: &'a str,
    rest: &'a str,
    text: String,
    flags: Flags,
    level: Level,
    /// The levels around this one, outermost first.
    outer: Vec<Level>,
    depth: usize,
}

impl<'a> Translator<'a> {
    fn run(&mut self) -> Result<(), String> {
        // The text from the repetition on that was read just before.
        let mut repetition = None;
        while let Some(first) = self.rest.chars().next() {
            let before = self.rest;
            let mut is_repetition = false;
            match first {
                '(' => self.open()?,
                ')' => self.close()?,
                '|' => self.alternate(),
                '^' => self.atom_of(1, if self.flags.lines { "(?m:^)" } else { "(?:\\A)" }),
                '$' => self.atom_of(1, if self.flags.lines { "(?m:$)" } else { "(?:\\z)" }),
                '.' => self.atom_of(1, if self.flags.all { "(?s:.)" } else { "[^\\n]" }),
                '[' => self.bracketed()?,
                '\\' => self.escaped()?,
                _ => match repetition_at(before)? {
                    Some(found) => {
                        self.repeat(found, repetition)?;
                        is_repetition = true;
                    }
                    None => self.literal(u32::from(first), first.len_utf8()),
                },
            }
            repetition = is_repetition.then_some(before);
        }
        if self.outer.is_empty() { Ok(()) } else { Err(refusal("missing closing )", self.pattern)) }
    }

    fn advance(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or("");
    }

    /// Begins something that can be repeated; its text is to follow.
    fn begin_atom(&mut self, start: usize, repeats: u32) {
        self.settle();
        self.level.last = Some(Atom { start, repeats, is_repeated: false });
    }

    /// Takes the last atom for finished.
    fn settle(&mut self) {
        if let Some(last) = self.level.last.take() {
            self.level.repeats = self.level.repeats.max(last.repeats);
        }
    }

    /// Adds `translation` for the next `bytes` of the pattern.
    fn atom_of(&mut self, bytes: usize, translation: &str) {
        self.begin_atom(self.text.len(), 1);
        self.text.push_str(translation);
        self.advance(bytes);
    }

    /// Adds the character `code`, which `bytes` of the pattern stand for.
    fn literal(&mut self, code: u32, bytes: usize) {
        let translation = match char::from_u32(code).map(|character| regex::escape(&character.to_string())) {
            Some(escaped) if self.flags.fold => format!("(?i:{escaped})"),
            Some(escaped) => escaped,
            None => class::NOTHING.to_owned(),
        };
        self.atom_of(bytes, &translation);
    }

    fn alternate(&mut self) {
        self.settle();
        self.text.push('|');
        self.advance(1);
    }

    /// Reads `(`, `(?<name>`, `(?i:` or `(?i)`.
    fn open(&mut self) -> Result<(), String> {
        let flags = self.flags;
        if let Some(flagged) = self.rest.strip_prefix("(?") {
            let name = flagged.strip_prefix("P<").or_else(|| flagged.strip_prefix('<'));
            match name.filter(|name| !name.is_empty()) {
                Some(name) => self.named(name)?,
                None if self.read_flags(flagged)? => {}
                None => return Ok(()),
            }
        } else {
            self.advance(1);
        }
        if self.outer.len() >= MAX_DEPTH {
            return Err(refusal("expression nests too deeply", self.pattern));
        }
        let inner = Level { start: self.text.len(), flags, ..Level::default() };
        self.outer.push(std::mem::replace(&mut self.level, inner));
        self.depth = self.depth.max(self.outer.len());
        self.text.push_str("(?:");
        Ok(())
    }

    /// Reads the name of a group, which begins at `name`.
    fn named(&mut self, name: &'a str) -> Result<(), String> {
        let Some((name, rest)) = name.split_once('>') else { return Err(refusal("invalid named capture", self.rest)) };
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return Err(refusal("invalid named capture", until(self.rest, rest)));
        }
        self.rest = rest;
        Ok(())
    }

    /// Reads flags, which begin at `flagged`. Whether a group begins with them.
    fn read_flags(&mut self, flagged: &'a str) -> Result<bool, String> {
        let mut flags = self.flags;
        let mut is_set = true;
        let mut is_complete = true;
        let mut end = 0;
        for flag in flagged.chars() {
            end += flag.len_utf8();
            match flag {
                ':' | ')' if is_complete => {
                    self.flags = flags;
                    self.rest = flagged.get(end..).unwrap_or("");
                    return Ok(flag == ':');
                }
                '-' if is_set => (is_set, is_complete) = (false, false),
                _ if flags.set(flag, is_set) => is_complete = true,
                _ => break,
            }
        }
        let read = self.rest.get(.."(?".len() + end).unwrap_or("");
        Err(refusal("invalid or unsupported Perl syntax", read))
    }

    fn close(&mut self) -> Result<(), String> {
        self.settle();
        let Some(outer) = self.outer.pop() else { return Err(refusal("unexpected )", self.pattern)) };
        let inner = std::mem::replace(&mut self.level, outer);
        self.text.push(')');
        self.flags = inner.flags;
        self.begin_atom(inner.start, inner.repeats.max(1));
        self.advance(1);
        Ok(())
    }

    /// Repeats the last atom; `previous` is the text from a repetition on that comes right before.
    fn repeat(&mut self, repetition: Repetition, previous: Option<&str>) -> Result<(), String> {
        let before = self.rest;
        self.advance(repetition.bytes);
        let is_marked = self.rest.starts_with('?');
        self.advance(usize::from(is_marked));
        if let Some(previous) = previous {
            return Err(refusal("invalid nested repetition operator", until(previous, self.rest)));
        }
        let read = until(before, self.rest);
        let Some(atom) = &mut self.level.last else {
            return Err(refusal("missing argument to repetition operator", read));
        };
        atom.repeats = repetition.repeats(atom.repeats).ok_or_else(|| refusal("invalid repeat count", read))?;
        if atom.is_repeated {
            self.text.insert_str(atom.start, "(?:");
            self.text.push(')');
        }
        atom.is_repeated = true;
        let lazy = if is_marked == self.flags.swapped { "" } else { "?" };
        let most = repetition.most.map_or(String::new(), |most| most.to_string());
        let counts = format!("{{{},{most}}}{lazy}", repetition.least);
        self.text.push_str(&counts);
        Ok(())
    }

    fn bracketed(&mut self) -> Result<(), String> {
        let (translation, rest) = class::bracketed(self.rest)?;
        self.class(&translation, rest);
        Ok(())
    }

    fn class(&mut self, translation: &str, rest: &'a str) {
        let translation = if self.flags.fold { format!("(?i:{translation})") } else { translation.to_owned() };
        self.atom_of(self.rest.len() - rest.len(), &translation);
    }

    /// Reads what begins with a backslash.
    fn escaped(&mut self) -> Result<(), String> {
        match self.rest.as_bytes().get(1) {
            Some(b'A') => self.atom_of(2, "(?:\\A)"),
            Some(b'z') => self.atom_of(2, "(?:\\z)"),
            Some(b'b') => self.atom_of(2, "(?-u:\\b)"),
            Some(b'B') => self.atom_of(2, "(?-u:\\B)"),
            Some(b'C') => return Err(refusal("invalid escape sequence", "\\C")),
            Some(b'Q') => {
                let quoted = self.rest.get(2..).unwrap_or("");
                let (quoted, rest) = quoted.split_once("\\E").unwrap_or((quoted, ""));
                quoted.chars().for_each(|character| self.literal(u32::from(character), 0));
                self.rest = rest;
            }
            _ => {
                if let Some((translation, rest)) = class::named(self.rest)? {
                    self.class(&translation, rest);
                } else {
                    let (code, rest) = class::escaped_character(self.rest)?;
                    self.literal(code, self.rest.len() - rest.len());
                }
            }
        }
        Ok(())
    }
}
