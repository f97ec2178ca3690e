//! The budget of a brief, and the cost of its items in tokens and bytes.

use serde::Serialize;

use super::{BriefSection, estimate::tokens};

/// How a brief is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Markdown; text from the state is quoted with `>`.
    #[default]
    Md,
    /// One JSON object; text from the state is in strings.
    Json,
}

/// The most a brief may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Budget {
    /// In tokens, as estimated by [`tokens`].
    pub max_tokens: usize,
    /// In bytes, if that matters too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<usize>,
}

impl Budget {
    /// The most lines of state text that there can be room for: each takes at least three tokens.
    pub(crate) fn most_lines(&self) -> usize {
        self.max_tokens / 3 + 1
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self { max_tokens: 4000, max_bytes: None }
    }
}

/// Tokens and bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Size {
    pub(super) tokens: usize,
    pub(super) bytes: usize,
}

impl Size {
    /// What a text costs.
    pub(super) fn of(text: &str) -> Self {
        Self { tokens: tokens(text), bytes: text.len() }
    }

    /// Everything a budget allows.
    pub(super) fn allowed(budget: &Budget) -> Self {
        Self { tokens: budget.max_tokens, bytes: budget.max_bytes.unwrap_or(usize::MAX) }
    }

    pub(super) fn fits(self, room: Self) -> bool {
        self.tokens <= room.tokens && self.bytes <= room.bytes
    }

    pub(super) fn minus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_sub(other.tokens),
            bytes: self.bytes.saturating_sub(other.bytes),
        }
    }

    /// The larger tokens and the larger bytes of both.
    pub(super) fn max(self, other: Self) -> Self {
        Self { tokens: self.tokens.max(other.tokens), bytes: self.bytes.max(other.bytes) }
    }

    /// A part of it.
    pub(super) fn percent(self, percent: usize) -> Self {
        let part = |whole: usize| (whole / 100) * percent + (whole % 100) * percent / 100;
        Self { tokens: part(self.tokens), bytes: part(self.bytes) }
    }

    /// An equal share for one of `count`.
    pub(super) fn share(self, count: usize) -> Self {
        Self { tokens: self.tokens / count.max(1), bytes: self.bytes / count.max(1) }
    }
}

impl std::ops::Add for Size {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { tokens: self.tokens + other.tokens, bytes: self.bytes.saturating_add(other.bytes) }
    }
}

impl std::iter::Sum for Size {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::default(), |sum, cost| sum + cost)
    }
}

impl Format {
    /// The cost of a line of state text.
    pub(super) fn line(self, line: &str) -> Size {
        match self {
            Self::Md => Size::of(&quoted(line)),
            Self::Json => Size::of(&format!("\\n{}", escaped(line))),
        }
    }

    /// The cost of a line of our own.
    pub(super) fn note(self, note: &str) -> Size {
        match self {
            Self::Md => Size::of(&format!("{note}\n")),
            Self::Json => Size::of(&format!("\\n{}", escaped(note))),
        }
    }

    /// The cost of a section heading.
    pub(super) fn heading(self, section: BriefSection, source: &str) -> Size {
        match self {
            Self::Md => Size::of(&heading(section, source)),
            Self::Json => Size::of(&format!(
                ",{{\"section\":\"what_to_do_next\",\"title\":\"{}\",\"source\":\"{source}\",\"note\":\"\",\"text\":\"\"}}",
                section.title()
            )),
        }
    }
}

/// A heading with the file that the text below it comes from.
pub(super) fn heading(section: BriefSection, source: &str) -> String {
    format!("\n## {} ({source})\n", section.title())
}

/// A line of state text.
pub(super) fn quoted(line: &str) -> String {
    if line.is_empty() { ">\n".to_owned() } else { format!("> {line}\n") }
}

fn escaped(line: &str) -> String {
    let text = serde_json::Value::from(line).to_string();
    text.get(1..text.len() - 1).unwrap_or_default().to_owned()
}
