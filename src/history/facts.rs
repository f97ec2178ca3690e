//! What follows from a whole log, kept up to date entry by entry.

use std::collections::BTreeSet;
use std::io::BufRead;

use serde::{Deserialize, Serialize};

use super::journal::Journal;
use super::reported::Reported;
use super::{Counts, Entry, EntryId, EntryKind, HistoryError};
use crate::{
    domain::StepOutcome,
    history::read::{
        block::Block,
        fields::fields,
        heading,
        scan::{HistoryItem, scan},
    },
};

const LOG_HEADING: &str = "## Step Execution Log";

/// Counts, sums, streaks and heads of a log, valid for its first `valid_len` bytes.
///
/// Money and time are summed over `actual_cost` and `actual_time`. Outcomes are counted from the
/// `outcome` or `status` of step entries; an entry with neither has none. File operations and web requests are
/// summed from fields of that name, and an entry that has neither counts by its `tool_used`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryFacts {
    /// The length of the log that these facts describe.
    pub valid_len: u64,
    /// What the entries add up to.
    pub counts: Counts,
    /// How many of them were written by hand, and so prove nothing.
    pub unsigned: u64,
    /// The entries that no later one follows, the oldest first; the next entry names them.
    pub heads: Vec<EntryId>,
    /// Whether the last section is the log, so that entries can be appended as they are.
    pub last_section_is_log: bool,
    /// Whether there is a log section at all.
    pub has_log_section: bool,
    /// Whether a line looks like the mark of an unresolved merge conflict.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_be_unmerged: bool,
    /// The block that the log ends in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    open: Option<Block>,
}

impl HistoryFacts {
    /// The newest entry that has an id.
    pub(crate) fn newest(&self) -> Option<EntryId> {
        self.heads.iter().copied().max()
    }

    /// Reads a whole log; `progress` is given the bytes read.
    ///
    /// # Errors
    /// Fails when reading fails.
    pub fn scan<R: BufRead>(
        reader: R,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Self, HistoryError> {
        FactsBuilder::of(Self::default()).continue_with(reader, progress)
    }

    /// Takes in what was appended to the log: the text of [`Self::log_heading`] and of `render`.
    ///
    /// The result is the same as that of a new scan.
    ///
    /// # Errors
    /// Refuses a text that could change the meaning of what is above it, that is one which does not
    /// start with a line end and a heading. The facts stay as they were.
    pub fn update(&mut self, appended: &str) -> Result<(), HistoryError> {
        if !self.is_continued_by(appended) {
            return Err(HistoryError::NoContinuation);
        }
        *self = FactsBuilder::of(self.clone()).continue_with(appended.as_bytes(), &mut |_| {})?;
        Ok(())
    }

    /// What must be appended before the next entry so that it is part of the log, if anything.
    ///
    /// That is the end of a code fence or comment that was left open, and a heading when the last
    /// section of the file is not the log.
    pub fn log_heading(&self, newline: &str) -> Option<String> {
        let mut text = String::new();
        if let Some(line) = self.open.and_then(Block::closing_line) {
            text = [newline, &line, newline].concat();
        }
        if !self.last_section_is_log {
            let continued = if self.has_log_section { " (continued)" } else { "" };
            text.extend([newline, LOG_HEADING, continued, newline]);
        }
        (!text.is_empty()).then_some(text)
    }

    fn is_continued_by(&self, appended: &str) -> bool {
        if self.valid_len == 0 || appended.is_empty() {
            return true;
        }
        let closing = self.open.and_then(Block::closing_line);
        let mut lines = appended.lines();
        let starts_new_line = lines.next() == Some("");
        let mut lines = lines.filter(|line| !line.is_empty()).peekable();
        if closing.is_some() {
            lines.next_if(|line| closing.as_deref() == Some(*line));
        }
        let is_heading =
            |line: &str| ["# ", "## ", "### "].iter().any(|mark| line.starts_with(mark));
        starts_new_line && lines.next().is_none_or(is_heading)
    }
}

/// Facts in the making.
struct FactsBuilder {
    facts: HistoryFacts,
    heads: BTreeSet<EntryId>,
}

impl FactsBuilder {
    fn of(mut facts: HistoryFacts) -> Self {
        let heads = std::mem::take(&mut facts.heads).into_iter().collect();
        Self { facts, heads }
    }

    fn continue_with(
        mut self,
        reader: impl BufRead,
        progress: &mut dyn FnMut(u64),
    ) -> Result<HistoryFacts, HistoryError> {
        let end = scan(reader, self.facts.open, progress, |piece| self.take(&piece))?;
        self.facts.valid_len += end.length;
        self.facts.open = end.open;
        self.facts.heads = self.heads.into_iter().collect();
        Ok(self.facts)
    }

    fn take(&mut self, piece: &HistoryItem<'_>) {
        match piece {
            HistoryItem::Signed { trailer, text, .. } => {
                for parent in &trailer.after {
                    self.heads.remove(parent);
                }
                self.heads.insert(trailer.id);
                self.facts.counts.entries += 1;
                let body = text.to_str();
                if !self.journal(&body) {
                    let (title, _) = heading::split_signed(body.lines().next().unwrap_or_default());
                    self.entry(title, &Reported::read(fields(&body)));
                }
            }
            HistoryItem::Unsigned(text) => {
                if !Entry::is_entry(piece) {
                    return;
                }
                self.facts.counts.entries += 1;
                self.facts.unsigned += 1;
                let body = text.to_str();
                if !self.journal(&body) {
                    let heading = heading::split_unsigned(body.lines().next().unwrap_or_default());
                    let title = heading.map(|(title, _)| title).unwrap_or_default();
                    self.entry(title, &Reported::read(fields(&body)));
                }
            }
            HistoryItem::Heading(title) => {
                self.facts.last_section_is_log = is_log(title);
                self.facts.has_log_section |= self.facts.last_section_is_log;
            }
            HistoryItem::Unmerged => self.facts.may_be_unmerged = true,
            HistoryItem::Nul { .. } | HistoryItem::BadTrailer { .. } => {}
        }
    }

    /// Takes in a body in the notation for people; `false` if it is in another.
    fn journal(&mut self, body: &str) -> bool {
        let Some(journal) = Journal::parse(body) else { return false };
        self.entry(journal.kind_title(), &Reported::read(journal.raw_fields()));
        true
    }

    fn entry(&mut self, title: &str, reported: &Reported<'_>) {
        let kind = EntryKind::of(title, reported.kind().as_deref());
        let counts = &mut self.facts.counts;
        if kind == EntryKind::Restore
            && let Some(carried) = reported.carried()
        {
            *counts = carried;
            self.facts.unsigned = 0;
            return;
        }
        if kind == EntryKind::Restore {
            let (out, again) = reported.corrections();
            counts.correct(out, again, reported.streak());
        }
        match kind {
            EntryKind::Step => counts.steps += 1,
            EntryKind::Adaptation => counts.adaptations += 1,
            EntryKind::Review => counts.reviews += 1,
            EntryKind::Restore => counts.restores += 1,
            EntryKind::Turn => counts.turns += 1,
            EntryKind::Recover | EntryKind::Note => counts.notes += 1,
        }
        counts.simulated += u64::from(reported.is_simulation());
        counts.cost_micros = counts.cost_micros.saturating_add(reported.cost_micros());
        counts.time_ms = counts.time_ms.saturating_add(reported.time_ms());
        let (files, requests) = reported.operations();
        counts.file_operations = counts.file_operations.saturating_add(files);
        counts.web_requests = counts.web_requests.saturating_add(requests);
        if kind == EntryKind::Step {
            match reported.outcome() {
                Some(StepOutcome::Done) => {
                    counts.completed += 1;
                    counts.consecutive_failures = 0;
                }
                Some(StepOutcome::Failed) => {
                    counts.failed += 1;
                    counts.consecutive_failures += 1;
                }
                Some(StepOutcome::Skipped) => counts.skipped += 1,
                None => {}
            }
        }
    }
}

/// Whether a section with this title holds the log.
fn is_log(title: &[u8]) -> bool {
    let mut words = title.split(|byte| !byte.is_ascii_alphanumeric());
    words.any(|word| word.eq_ignore_ascii_case(b"log") || word.eq_ignore_ascii_case(b"history"))
}
