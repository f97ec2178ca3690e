//! The parts of a brief, and how important each is.

use serde::Serialize;

use crate::domain::StateFile;

/// A section of the brief, in the order in which they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum BriefSection {
    /// What is wrong with the files.
    Problems,
    /// The goal of the plan.
    Goal,
    /// Status and progress.
    WhereWeAre,
    /// The next move and the current step.
    WhatToDoNext,
    /// The current step, where nothing is said about the next move.
    CurrentStep,
    /// Questions that wait for a person.
    OpenReviews,
    /// Failed attempts at the current step, and notes about restarts.
    WhatFailed,
    /// Outputs of the steps before the current one.
    EarlierResults,
    /// Modifiers that are not the defaults, directives, rules in prose.
    RulesInForce,
    /// Decided reviews.
    AnsweredReviews,
    /// What was changed after a revision.
    Changes,
    /// The other unfinished steps.
    OpenSteps,
    /// Decisions and their reasons.
    Decisions,
    /// Findings, newest first.
    KeyFindings,
    /// The rest of the context.
    Context,
    /// The conversation.
    RecentTurns,
    /// Notes of the history.
    OlderHistory,
    /// Adaptation rules that are not from the template.
    AdaptationRules,
}

impl BriefSection {
    /// The heading.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Problems => "What is damaged",
            Self::Goal => "Goal",
            Self::WhereWeAre => "Where we are",
            Self::WhatToDoNext => "What to do next",
            Self::CurrentStep => "Current step",
            Self::OpenReviews => "Open reviews",
            Self::WhatFailed => "Earlier attempts",
            Self::EarlierResults => "Results so far",
            Self::RulesInForce => "Rules in force",
            Self::AnsweredReviews => "Answered reviews",
            Self::Changes => "Changes since",
            Self::OpenSteps => "Open steps",
            Self::Decisions => "Decisions",
            Self::KeyFindings => "Key findings",
            Self::Context => "Context",
            Self::RecentTurns => "Recent turns",
            Self::OlderHistory => "Notes",
            Self::AdaptationRules => "Adaptation rules",
        }
    }
}

/// How important a part is, from the most to the least: the last stage is left out first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Stage {
    /// Comes first at any budget: what is damaged, the goal, the next move, open reviews.
    First,
    /// Always stays: status, the current step, rules in force.
    Essential,
    /// Changes since a revision, if the caller asked for them.
    Changes,
    /// More about the current step: prose, failed attempts.
    Step,
    /// Decided reviews.
    Answers,
    /// Outputs of the steps before the current one.
    Outputs,
    /// The other unfinished steps.
    OpenSteps,
    Decisions,
    Findings,
    /// The rest of the context.
    Context,
    /// Turns of the conversation.
    Turns,
    /// Notes in the history.
    History,
    /// Rules that may fire.
    Rules,
}

impl Stage {
    /// The stages that can be left out, from the most to the least important.
    pub(crate) const OPTIONAL: [Self; 11] = [
        Self::Changes,
        Self::Step,
        Self::Answers,
        Self::Outputs,
        Self::OpenSteps,
        Self::Decisions,
        Self::Findings,
        Self::Context,
        Self::Turns,
        Self::History,
        Self::Rules,
    ];

    /// The percentage of the remaining room that it may take before the later stages get any.
    pub(super) fn share(self) -> usize {
        match self {
            Self::First | Self::Essential | Self::Rules => 100,
            Self::Changes | Self::Step => 70,
            Self::OpenSteps | Self::History => 60,
            Self::Findings | Self::Context | Self::Turns => 50,
            Self::Answers | Self::Outputs | Self::Decisions => 40,
        }
    }

    /// The singular and plural noun for its items.
    pub(super) fn nouns(self) -> (&'static str, &'static str) {
        match self {
            Self::First | Self::Essential => ("essential part", "essential parts"),
            Self::Changes => ("change", "changes"),
            Self::Step => ("note on the step", "notes on the step"),
            Self::Answers => ("answered review", "answered reviews"),
            Self::Outputs => ("result", "results"),
            Self::OpenSteps => ("open step", "open steps"),
            Self::Decisions => ("decision", "decisions"),
            Self::Findings => ("finding", "findings"),
            Self::Context => ("paragraph of context", "paragraphs of context"),
            Self::Turns => ("turn", "turns"),
            Self::History => ("note", "notes"),
            Self::Rules => ("adaptation rule", "adaptation rules"),
        }
    }

    /// The command that shows them in full.
    pub(super) fn command(self) -> &'static str {
        match self {
            Self::First | Self::Essential => "statedir state",
            Self::Changes => "statedir diff",
            Self::Step => "statedir show plan",
            Self::Answers => "statedir review list --all",
            Self::Outputs => "statedir var get step_data.outputs",
            Self::OpenSteps => "statedir step list",
            Self::Decisions | Self::Findings | Self::Context => "statedir show context",
            Self::Turns => "statedir memory",
            Self::History => "statedir history list",
            Self::Rules => "statedir rule list",
        }
    }
}

/// The content under one heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BriefPart {
    /// Where it is shown.
    pub section: BriefSection,
    /// The file its text comes from.
    pub source: StateFile,
    /// What that file is made of, if the state was adopted.
    pub sources: Option<String>,
    /// How important it is.
    pub stage: Stage,
    /// Text of our own; never from the state.
    pub note: Option<String>,
    /// Its content, the most important first.
    pub items: Vec<BriefItem>,
    /// How many of them are shown at most, whatever the budget.
    pub most: usize,
    /// How many more there are, for which there cannot be room.
    pub more: usize,
}

/// Lines that are shown together, shortened, or left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BriefItem {
    /// Lines from the state.
    pub lines: Vec<String>,
    /// A shorter form, if there is one.
    pub short: Option<Vec<String>>,
}

impl BriefPart {
    /// An empty part.
    pub(crate) fn new(section: BriefSection, source: StateFile, stage: Stage) -> Self {
        let (note, sources, items) = (None, None, Vec::new());
        Self { section, source, sources, stage, note, items, most: usize::MAX, more: 0 }
    }

    /// The same part with a line of our own.
    #[must_use]
    pub(crate) fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    /// The same part with an item for each text.
    #[must_use]
    pub(crate) fn texts<S: AsRef<str>>(mut self, texts: impl IntoIterator<Item = S>) -> Self {
        self.items.extend(texts.into_iter().map(|text| BriefItem::new(text.as_ref())));
        self
    }

    /// The same part, with no more than `most` of its items.
    #[must_use]
    pub(super) fn at_most(mut self, most: usize) -> Self {
        self.most = most;
        self
    }

    /// The name of the file that its text comes from.
    pub(super) fn source_name(&self) -> &str {
        self.sources.as_deref().unwrap_or(self.source.name())
    }

    /// The heading it is under.
    pub(super) fn place(&self) -> (BriefSection, StateFile) {
        (self.section, self.source)
    }

    /// All lines from the state.
    pub(super) fn lines(&self) -> impl Iterator<Item = &str> {
        self.items.iter().flat_map(|item| &item.lines).map(String::as_str)
    }

    /// Adds it to `parts` unless it is empty.
    pub(super) fn put(self, parts: &mut Vec<Self>) {
        if self.note.is_some() || self.items.iter().any(|item| !item.lines.is_empty()) {
            parts.push(self);
        }
    }
}

impl BriefItem {
    /// The lines of a text.
    pub(crate) fn new(text: &str) -> Self {
        Self { lines: lines(text), short: None }
    }

    /// The same item with a shorter form, if that is one.
    #[must_use]
    pub(crate) fn or(mut self, shorter: &str) -> Self {
        self.short = Some(lines(shorter)).filter(|short| *short != self.lines);
        self
    }
}

/// Splits at every character that a reader might treat as a line end; empty lines are dropped.
pub(super) fn lines(text: &str) -> Vec<String> {
    let ends = ['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];
    let lines = text.split(ends).map(str::trim_end).filter(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
}

/// At most `limit` characters of a text, on one line; what was cut shows as `…`.
pub(super) fn one_line(text: &str, limit: usize) -> String {
    let is_single = |pair: &[u8]| pair != b"  ";
    let is_line = text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')
        && text.as_bytes().windows(2).all(is_single)
        && text.trim_ascii().len() == text.len();
    if is_line && text.len() < limit {
        return text.to_owned();
    }
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_line_has_the_words_of_the_text_up_to_the_limit(
            text in "[a-z\u{e4} \n\t\u{a0}]{0,12}",
            limit in 1..14_usize,
        ) {
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let expected = match words.chars().count() < limit {
                true => words,
                false => words.chars().take(limit - 1).chain(['…']).collect(),
            };
            prop_assert_eq!(one_line(&text, limit), expected);
        }
    }
}
