//! Texts that belong to each other, written as a tree.

/// Columns of a terminal that every line fits in.
const COLUMNS: usize = 100;

/// A text and what belongs to it.
#[derive(Default)]
pub(super) struct Branch {
    pub(super) text: String,
    pub(super) branches: Vec<Branch>,
}

impl Branch {
    /// A text to which nothing belongs.
    pub(super) fn leaf(text: impl Into<String>) -> Self {
        Self { text: text.into(), branches: Vec::new() }
    }

    /// About how many lines it takes. Trees are a few levels deep.
    pub(super) fn lines(&self) -> usize {
        self.text.chars().count().div_ceil(COLUMNS) + self.branches.iter().map(Self::lines).sum::<usize>()
    }

    /// Writes the branches under a text, each before the stem that connects those after it. Trees are a few levels deep.
    pub(super) fn write(&self, stem: &str, lines: &mut Vec<String>) {
        for (index, branch) in self.branches.iter().enumerate() {
            let last = index + 1 == self.branches.len();
            let below = format!("{stem}{}", if last { "   " } else { "│  " });
            let beside = format!("{below}{}", if branch.branches.is_empty() { "   " } else { "│  " });
            let first = format!("{stem}{} ", if last { "└─" } else { "├─" });
            wrap(&branch.text, &first, &beside, lines);
            branch.write(&below, lines);
        }
    }
}

/// Breaks a text between words, and within those that are longer than a line.
pub(super) fn wrap(text: &str, first: &str, rest: &str, lines: &mut Vec<String>) {
    let length = |text: &str| text.chars().count();
    let mut line = first.to_owned();
    let mut is_empty = true;
    for word in text.split_whitespace() {
        let space = usize::from(!is_empty);
        if length(&line) + space + length(word) > COLUMNS && !is_empty {
            lines.push(std::mem::replace(&mut line, rest.to_owned()));
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        for character in word.chars() {
            if length(&line) >= COLUMNS {
                lines.push(std::mem::replace(&mut line, rest.to_owned()));
            }
            line.push(character);
        }
        is_empty = false;
    }
    lines.push(line);
}
