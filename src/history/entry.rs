//! One entry of the log, as it is read and as it is asked for.

use serde::{Deserialize, Serialize};

use super::EntryId;
use crate::{
    domain::{OUTCOME_FIELD, StepOutcome},
    history::{
        journal::{self, EntrySummary, Journal},
        read::{entry_body::Text, fields::fields, heading, scan::HistoryItem},
    },
    text::markdown::is_placeholder,
};

/// The title of the entry that says that the plan was paused.
pub(crate) const PAUSED: &str = "Paused";

/// An entry to be written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewEntry {
    /// What happened, in one line.
    pub title: String,
    /// When it happened, as people read it.
    pub time: String,
    /// Keys and values; a value may hold anything but NUL.
    pub fields: Vec<(String, String)>,
}

/// What an entry is about: its `kind` field says it, or else its title.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    /// An execution of a step.
    Step,
    /// A change that rules made to the constraints.
    Adaptation,
    /// A decision of a human.
    Review,
    /// A return to an earlier state.
    Restore,
    /// A decision how to go on after an interruption.
    Recover,
    /// A turn of the conversation.
    Turn,
    /// Anything else.
    #[default]
    Note,
}

impl EntryKind {
    /// Every kind, in the order of their declaration.
    pub const ALL: [Self; 7] = [
        Self::Step,
        Self::Adaptation,
        Self::Review,
        Self::Restore,
        Self::Recover,
        Self::Turn,
        Self::Note,
    ];

    /// The word for the kind, as a `kind` field holds it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Step => "step",
            Self::Adaptation => "adaptation",
            Self::Review => "review",
            Self::Restore => "restore",
            Self::Recover => "recover",
            Self::Turn => "turn",
            Self::Note => "note",
        }
    }

    /// The kind that a word names, in any letter case.
    pub(crate) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word().eq_ignore_ascii_case(word.trim()))
    }

    /// The kind of an entry with this title and this `kind` field.
    pub(super) fn of(title: &str, field: Option<&str>) -> Self {
        field.and_then(Self::parse).unwrap_or_else(|| Self::of_title(title))
    }

    fn of_title(title: &str) -> Self {
        let mut words = title.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let first = words.next().unwrap_or_default().to_ascii_lowercase();
        let numbered = words.next().is_some_and(|word| word.bytes().all(|b| b.is_ascii_digit()));
        match first.as_str() {
            "step" if numbered => Self::Step,
            "turn" if numbered => Self::Turn,
            "adaptation" | "adapted" => Self::Adaptation,
            "review" | "reviewed" => Self::Review,
            "restore" | "restored" | "rollback" => Self::Restore,
            _ => Self::Note,
        }
    }
}

/// An entry as written in the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Entry {
    /// The id in its trailer; an entry written by hand has none.
    pub id: Option<EntryId>,
    /// The entries it follows.
    pub after: Vec<EntryId>,
    /// What it is about.
    pub kind: EntryKind,
    /// The heading without the time.
    pub title: String,
    /// The time in the heading.
    pub time: Option<String>,
    /// Its fields in order, decoded.
    pub fields: Vec<(String, String)>,
    /// Whether it was made in SIMULATION mode and is therefore not training data.
    pub simulation: bool,
    /// Where its heading starts in the file, in bytes.
    pub offset: u64,
    /// The line of its heading; unknown when the file was read from its end.
    pub line: Option<u64>,
    /// Whether its trailer fits its text; `false` for an entry without a trailer.
    pub verified: bool,
}

/// Whether an entry is as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    /// Its checksum fits its text.
    Proven,
    /// It was written by hand.
    Unsigned,
    /// Its checksum does not fit its text.
    Changed,
}

impl Proof {
    /// The word for it, and what it means.
    pub(crate) fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Proven => ("proven", "its checksum matches its text"),
            Self::Unsigned => ("unsigned", "written by hand"),
            Self::Changed => ("changed", "its checksum does not match its text"),
        }
    }
}

/// What is before the words of a line.
const IN_FRONT: [char; 5] = ['-', '*', '+', ' ', '\t'];

impl Entry {
    /// Whether it is as it was written.
    pub(crate) fn proof(&self) -> Proof {
        match (self.verified, &self.id) {
            (true, _) => Proof::Proven,
            (false, None) => Proof::Unsigned,
            (false, Some(_)) => Proof::Changed,
        }
    }

    /// The entry that a piece of the log is, if it is one.
    pub(super) fn read(piece: &HistoryItem<'_>) -> Option<Self> {
        match piece {
            HistoryItem::Signed { trailer, text, intact } => {
                let body = text.to_str();
                let mut entry = match Journal::parse(&body) {
                    Some(journal) => Self::of_journal(&journal, text),
                    None => {
                        let line = body.lines().next().unwrap_or_default();
                        let (title, time) = heading::split_signed(line);
                        Self::plain(&body, title, time, text)
                    }
                };
                entry.id = Some(trailer.id);
                entry.after.clone_from(&trailer.after);
                entry.verified = *intact;
                Some(entry)
            }
            HistoryItem::Unsigned(text) => {
                let body = text.to_str();
                if let Some(journal) = Journal::parse(&body) {
                    return Some(Self::of_journal(&journal, text));
                }
                let (title, time) = heading::split_unsigned(body.lines().next()?)?;
                let mut below = body.lines().skip(1).map(|line| line.trim_start_matches(IN_FRONT));
                let title = match title {
                    // Only a date: what was done is said below it.
                    "" => below.find(|line| !line.trim().is_empty()).or(time).unwrap_or_default(),
                    title => title,
                };
                let body = if body.starts_with('#') {
                    &*body
                } else {
                    body.split_once('\n').map_or("", |(_, rest)| rest)
                };
                Some(Self::plain(body, title, time, text))
            }
            HistoryItem::Heading(_)
            | HistoryItem::Unmerged
            | HistoryItem::Nul { .. }
            | HistoryItem::BadTrailer { .. } => None,
        }
    }

    /// Whether [`Self::read`] would find an entry.
    pub(super) fn is_entry(piece: &HistoryItem<'_>) -> bool {
        match piece {
            HistoryItem::Signed { .. } => true,
            HistoryItem::Unsigned(text) => {
                let body = text.to_str();
                let line = body.lines().next().unwrap_or_default();
                heading::split_unsigned(line).is_some() || Journal::parse(&body).is_some()
            }
            HistoryItem::Heading(_)
            | HistoryItem::Unmerged
            | HistoryItem::Nul { .. }
            | HistoryItem::BadTrailer { .. } => false,
        }
    }

    fn of_journal(journal: &Journal<'_>, text: &Text<'_>) -> Self {
        Self::new(journal.title().into_owned(), Some(journal.time()), journal.fields(), text)
    }

    fn plain(body: &str, title: &str, time: Option<&str>, text: &Text<'_>) -> Self {
        let fields =
            fields(body).map(|field| (field.key.to_owned(), field.value().into_owned())).collect();
        Self::new(title.to_owned(), time, fields, text)
    }

    fn new(
        title: String,
        time: Option<&str>,
        fields: Vec<(String, String)>,
        text: &Text<'_>,
    ) -> Self {
        Self {
            id: None,
            after: Vec::new(),
            kind: EntryKind::of(&title, find_field(&fields, "kind")),
            title,
            time: time.map(str::to_owned),
            simulation: find_field(&fields, "mode").is_some_and(is_simulation),
            fields,
            offset: text.offset,
            line: Some(text.line),
            verified: false,
        }
    }

    /// The first field with this key, in any letter case.
    pub(crate) fn field(&self, key: &str) -> Option<&str> {
        find_field(&self.fields, key)
    }

    /// What went wrong, as the entry says. In the notation of the templates, where every entry has the
    /// field, `none` and what was never filled in are no error.
    pub(crate) fn error(&self) -> Option<&str> {
        const NONE: [&str; 9] = ["", "-", "–", "none", "no", "no errors", "n/a", "null", "[]"];
        let error = self.field("errors")?;
        let plain = error.trim().trim_end_matches('.').to_ascii_lowercase();
        let says_none = NONE.contains(&plain.as_str()) || is_placeholder(error);
        (self.is_failure() || !says_none).then_some(error)
    }

    /// The id of the step that it is about, which may stand behind the number: `3 (k3f9)`.
    pub(crate) fn step_id(&self) -> Option<&str> {
        let step = self.field("step")?.trim();
        let inside = step.strip_suffix(')').and_then(|step| step.split_once(" ("));
        Some(inside.map_or(step, |(_, id)| id))
    }

    /// The entry in a few lines for people, whatever notation it is written in.
    pub(crate) fn summary(&self) -> EntrySummary {
        journal::summarise(&self.title, &self.fields)
    }

    /// How the attempt ended that this entry is about, as its fields say.
    pub(crate) fn outcome(&self) -> Option<StepOutcome> {
        StepOutcome::read(self.field(OUTCOME_FIELD), self.field("status"))
    }

    /// Whether it records an attempt that failed.
    pub(crate) fn is_failure(&self) -> bool {
        self.outcome() == Some(StepOutcome::Failed)
    }

    /// Whether it records that the review of that name was opened.
    pub(crate) fn opens_review(&self, id: &str) -> bool {
        self.kind == EntryKind::Review
            && self.field("review") == Some(id)
            && self.field("decision") == Some("open")
    }

    /// The number in `Step 3 Execution`.
    pub(crate) fn step_number(&self) -> Option<u64> {
        if self.kind != EntryKind::Step {
            return None;
        }
        self.title.split_whitespace().nth(1)?.trim_end_matches(':').parse().ok()
    }
}

/// Whether a `mode` field says that nothing was really done.
pub(super) fn is_simulation(mode: &str) -> bool {
    mode.trim().eq_ignore_ascii_case("simulation")
}

/// The first of `fields` with this key, in any letter case.
fn find_field<'a>(fields: &'a [(String, String)], key: &str) -> Option<&'a str> {
    let found = fields.iter().find(|(name, _)| name.eq_ignore_ascii_case(key));
    found.map(|(_, value)| value.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_comes_from_the_field_and_else_from_the_title() {
        let table = [
            ("Step 3 Execution", None, EntryKind::Step),
            ("step 12: fetch", None, EntryKind::Step),
            ("Steps to come", None, EntryKind::Note),
            ("Step by step", None, EntryKind::Note),
            ("Adaptation: priority", None, EntryKind::Adaptation),
            ("Restored checkpoint x", None, EntryKind::Restore),
            ("Review approved", None, EntryKind::Review),
            ("Turn 4", None, EntryKind::Turn),
            ("Turn of events", None, EntryKind::Note),
            ("Step 3 Execution", Some(" TURN "), EntryKind::Turn),
            ("Step 3 Execution", Some("unheard of"), EntryKind::Step),
            ("", None, EntryKind::Note),
        ];
        for (title, field, kind) in table {
            assert_eq!(EntryKind::of(title, field), kind, "{title}");
        }
    }
}
