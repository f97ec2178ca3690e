//! The pieces a brief is made of, and how precious each is.

use serde::Serialize;

use crate::domain::StateFile;

/// A section of the brief, in the order in which they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Section {
    /// What is wrong with the files.
    Problems,
    /// What is to be reached.
    Goal,
    /// Status and progress.
    WhereWeAre,
    /// The step at hand.
    WhatToDoNext,
    /// Modifiers, limits and directives.
    RulesInForce,
    /// Questions that wait for a person.
    OpenReviews,
    /// Limits that are exceeded.
    LimitsExceeded,
    /// What was changed after a revision.
    Changes,
    /// Adaptation rules and behaviours.
    AdaptationRules,
    /// Failed attempts.
    WhatFailed,
    /// Sections of the context.
    KeyFindings,
    /// The conversation.
    RecentTurns,
    /// Older entries of the history.
    OlderHistory,
}

impl Section {
    /// The heading.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Problems => "What is damaged",
            Self::Goal => "Goal",
            Self::WhereWeAre => "Where we are",
            Self::WhatToDoNext => "What to do next",
            Self::RulesInForce => "Rules in force",
            Self::OpenReviews => "Open reviews",
            Self::LimitsExceeded => "Limits exceeded",
            Self::Changes => "Changes since",
            Self::AdaptationRules => "Adaptation rules",
            Self::WhatFailed => "What failed",
            Self::KeyFindings => "Key findings",
            Self::RecentTurns => "Recent turns",
            Self::OlderHistory => "Older history",
        }
    }
}

/// How precious a part is, from the most to the least: the last stage is left out first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Stage {
    /// Always stays: goal, status, current step, constraints in force, open reviews.
    Essential,
    /// What the caller asked for: changes since a revision.
    Changes,
    /// What the steps before the one at hand gave.
    Outputs,
    /// What failed.
    Failures,
    /// Turns of the conversation.
    Turns,
    /// The context, and rules that may fire.
    Context,
    /// Older entries of the history.
    History,
}

impl Stage {
    /// All stages but the first, from the most to the least precious.
    pub(crate) const OPTIONAL: [Self; 6] =
        [Self::Changes, Self::Outputs, Self::Failures, Self::Turns, Self::Context, Self::History];

    /// What its parts are, for one and for several.
    pub(super) fn nouns(self) -> (&'static str, &'static str) {
        match self {
            Self::Essential => ("essential part", "essential parts"),
            Self::Changes => ("change", "changes"),
            Self::Outputs => ("list of outputs", "lists of outputs"),
            Self::Failures => ("failure", "failures"),
            Self::Turns => ("turn", "turns"),
            Self::Context => ("section of context and rules", "sections of context and rules"),
            Self::History => ("history entry", "history entries"),
        }
    }

    /// The command that shows them whole.
    pub(super) fn command(self) -> &'static str {
        match self {
            Self::Essential => "statedir state",
            Self::Changes => "statedir diff REV",
            Self::Outputs => "statedir var get step_data.outputs",
            Self::Failures => "statedir history search failed",
            Self::Turns => "statedir memory",
            Self::Context => "statedir show context",
            Self::History => "statedir history list",
        }
    }
}

/// One piece: kept whole, shortened or left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// Where it is shown.
    pub section: Section,
    /// The file its text comes from.
    pub source: StateFile,
    /// How precious it is.
    pub stage: Stage,
    /// Text of our own; never from the state.
    pub note: Option<String>,
    /// Lines from the state.
    pub lines: Vec<String>,
    /// The same, shorter, if there is a shorter way to say it.
    pub short: Option<Vec<String>>,
    /// Whether the newest lines stand last, so that the first are cut.
    pub newest_last: bool,
}

impl Part {
    /// A part whose text is split into lines.
    pub(crate) fn new(section: Section, source: StateFile, stage: Stage, text: &str) -> Self {
        Self { lines: lines(text), ..Self::of_lines(section, source, stage, Vec::new()) }
    }

    /// A part of single lines.
    pub(crate) fn of_lines(
        section: Section,
        source: StateFile,
        stage: Stage,
        lines: Vec<String>,
    ) -> Self {
        // A single line can still hold a line end of some kind.
        let lines = lines.iter().flat_map(|line| self::lines(line)).collect();
        Self { section, source, stage, note: None, lines, short: None, newest_last: false }
    }

    /// The same part with a line of our own.
    #[must_use]
    pub(crate) fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    /// The same part with a shorter form.
    #[must_use]
    pub(crate) fn shorter(mut self, text: &str) -> Self {
        self.short = Some(lines(text));
        self
    }
}

/// Splits at everything that any reader might take for the end of a line.
pub(super) fn lines(text: &str) -> Vec<String> {
    let text = text.replace("\r\n", "\n");
    let ends = ['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];
    let mut lines: Vec<String> = text.split(ends).map(|line| line.trim_end().to_owned()).collect();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// At most `limit` characters of a text, on one line; what was cut shows as `…`.
pub(super) fn one_line(text: &str, limit: usize) -> String {
    let mut line = String::new();
    let mut count = 0;
    for word in text.split_whitespace() {
        for c in (!line.is_empty()).then_some(' ').into_iter().chain(word.chars()) {
            if count + 1 >= limit {
                line.push('…');
                return line;
            }
            line.push(c);
            count += 1;
        }
    }
    line
}
