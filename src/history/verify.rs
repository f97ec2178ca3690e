//! Checking that a log is what was appended, entry by entry.

use std::{collections::BTreeSet, io::BufRead};

use serde::Serialize;

use super::trailer::Trailer;
use super::{Entry, EntryId, HistoryError};
use crate::history::read::{
    entry_body::Text,
    scan::{HistoryItem, scan},
};

/// The most problems that are listed in full; the others are counted.
pub(crate) const MAX_PROBLEMS: usize = 100;

/// What can be wrong with an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ProblemKind {
    /// Its text is not what its trailer was made for.
    Changed,
    /// Another entry follows it, and it is not there.
    Missing {
        /// The entry that follows it.
        named_by: EntryId,
    },
    /// It is before an entry that it follows.
    Reordered,
    /// It is there twice.
    Duplicate,
    /// It was there when the log was anchored, or the file ends in the middle of a trailer.
    CutTail,
    /// Its trailer cannot be read, or NUL bytes stand where text was.
    Malformed,
    /// It was committed here, and a later commit took it out.
    Removed,
}

/// Something wrong with the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct HistoryProblem {
    /// What is wrong.
    pub kind: ProblemKind,
    /// The entry that it is wrong with.
    pub entry: Option<EntryId>,
    /// The line where it shows.
    pub line: Option<u64>,
    /// The byte where it shows.
    pub offset: Option<u64>,
    /// One sentence for people.
    pub message: String,
}

/// The field of an entry that lists the missing entries which it accepts as gone.
pub(crate) const LET_GO: &str = "entries_let_go";

/// Entries that are missing because git went back on purpose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct WentBack {
    /// What they went with, for people.
    pub by: String,
    /// The entries, the oldest first.
    pub entries: Vec<EntryId>,
    /// Their titles, as far as they are known.
    pub titles: Vec<String>,
}

impl HistoryProblem {
    /// Whether an entry is missing that the log or a checkpoint knows.
    fn is_anchor(&self) -> bool {
        self.kind == ProblemKind::CutTail && self.offset.is_none()
    }

    /// Whether an entry is missing that the log, a checkpoint or another entry knows.
    fn is_missed(&self) -> bool {
        self.is_anchor() || matches!(self.kind, ProblemKind::Missing { .. })
    }
}

/// What a verification found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Verification {
    /// The number of signed entries.
    pub entries: u64,
    /// The entries that no other follows, the oldest first.
    pub heads: Vec<EntryId>,
    /// The number of entries written by hand: neither proven nor damaged.
    pub unsigned: u64,
    /// What is wrong, in the order of the file; at most [`MAX_PROBLEMS`].
    pub problems: Vec<HistoryProblem>,
    /// How much is wrong in all.
    pub problem_count: u64,
    /// Entries that are missing because git went back on purpose, which is not damage.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub went_back: Vec<WentBack>,
    /// Missing entries that a later entry accepts as gone.
    #[serde(skip)]
    pub let_go: BTreeSet<EntryId>,
}

impl Verification {
    /// Whether nothing is wrong.
    pub(crate) fn is_intact(&self) -> bool {
        self.problem_count == 0
    }

    /// Leaves out entries that are missing for a good reason.
    pub(crate) fn ignore_missing(&mut self, is_forgiven: impl Fn(EntryId) -> bool) {
        self.drop_problems(|problem| {
            problem.is_missed() && problem.entry.is_some_and(&is_forgiven)
        });
    }

    /// Separates entries that are missing because git went back on purpose from damage.
    pub(crate) fn note_going_back(&mut self, back: Vec<WentBack>) {
        let gone: BTreeSet<EntryId> =
            back.iter().flat_map(|back| back.entries.iter().copied()).collect();
        self.drop_problems(|problem| {
            problem.is_missed() && problem.entry.is_some_and(|entry| gone.contains(&entry))
        });
        self.went_back = back;
    }

    /// The entries that the log or a checkpoint knows and that are not there.
    pub(crate) fn missing_anchors(&self) -> impl Iterator<Item = EntryId> {
        self.problems.iter().filter(|problem| problem.is_anchor()).filter_map(|one| one.entry)
    }

    fn drop_problems(&mut self, is_forgiven: impl Fn(&HistoryProblem) -> bool) {
        let found = self.problems.len();
        self.problems.retain(|problem| !is_forgiven(problem));
        self.problem_count -= (found - self.problems.len()) as u64;
    }
}

impl Verification {
    /// Names what removed an entry, even where the file shows no gap.
    pub(crate) fn name_remover(&mut self, entry: EntryId, by: &str) {
        let is_about = |problem: &&mut HistoryProblem| {
            let gone = matches!(problem.kind, ProblemKind::CutTail | ProblemKind::Missing { .. });
            gone && problem.entry == Some(entry)
        };
        if let Some(known) = self.problems.iter_mut().find(is_about) {
            known.message.push_str(&format!("; removed by {by}"));
            return;
        }
        self.problem_count += 1;
        if self.problems.len() < MAX_PROBLEMS {
            let message = format!("entry `{entry}` was removed by {by}");
            let kind = ProblemKind::Removed;
            self.problems.push(HistoryProblem {
                kind,
                entry: Some(entry),
                line: None,
                offset: None,
                message,
            });
        }
    }
}

/// Checks every entry of a log, and that the entries in `anchors` are among them.
///
/// Entries may stand in any order in which each comes after those it follows, so two branches can
/// be united by putting their entries one after another. `progress` is given the bytes read.
///
/// # Errors
/// Fails when reading fails; whatever is wrong with the log is in the result.
pub(crate) fn verify<R: BufRead>(
    reader: R,
    anchors: &[EntryId],
    progress: &mut dyn FnMut(u64),
) -> Result<Verification, HistoryError> {
    let mut check = Check::default();
    scan(reader, None, progress, |piece| check.take(&piece))?;
    Ok(check.finish(anchors))
}

#[derive(Default)]
struct Check {
    result: Verification,
    seen: Vec<Seen>,
    links: Vec<Link>,
}

/// A signed entry; kept small, since there can be millions.
struct Seen {
    id: EntryId,
    offset: u64,
    line: u32,
    is_followed: bool,
}

/// An entry that follows another than the one right above it.
struct Link {
    parent: EntryId,
    child: EntryId,
    offset: u64,
    line: u32,
}

impl Check {
    fn take(&mut self, piece: &HistoryItem<'_>) {
        match piece {
            HistoryItem::Signed { trailer, text, intact } => {
                self.check_signed(trailer, text, *intact);
                if *intact && names(text.body, LET_GO) {
                    self.note_accepted_losses(piece);
                }
            }
            HistoryItem::Unsigned(_) => self.result.unsigned += u64::from(Entry::is_entry(piece)),
            HistoryItem::BadTrailer { offset, line, torn } => {
                let (kind, message) = if *torn {
                    (ProblemKind::CutTail, "the file ends in the middle of a trailer")
                } else {
                    (ProblemKind::Malformed, "the trailer cannot be read")
                };
                self.problem(kind, None, Some((*line, *offset)), || message.to_owned());
            }
            HistoryItem::Nul { offset, line } => {
                let message = || "the line contains NUL bytes: text was lost here".to_owned();
                self.problem(ProblemKind::Malformed, None, Some((*line, *offset)), message);
            }
            HistoryItem::Heading(_) | HistoryItem::Unmerged => {}
        }
    }

    fn check_signed(&mut self, trailer: &Trailer, text: &Text<'_>, intact: bool) {
        let id = trailer.id;
        let line = u32::try_from(text.line).unwrap_or(u32::MAX);
        if !intact {
            let message = || format!("the text or the trailer of entry `{id}` was changed");
            self.problem(ProblemKind::Changed, Some(id), Some((text.line, text.offset)), message);
        }
        for &parent in &trailer.after {
            match self.seen.last_mut() {
                Some(last) if last.id == parent => last.is_followed = true,
                _ => self.links.push(Link { parent, child: id, offset: text.offset, line }),
            }
        }
        self.seen.push(Seen { id, offset: text.offset, line, is_followed: false });
    }

    /// Remembers the missing entries that this one accepts as gone.
    fn note_accepted_losses(&mut self, piece: &HistoryItem<'_>) {
        let fields = Entry::read(piece).map(|entry| entry.fields).unwrap_or_default();
        let lists = fields.iter().filter(|(key, _)| key == LET_GO).map(|(_, value)| value);
        let words = lists.flat_map(|list| list.split([' ', ',', '\n']));
        self.result.let_go.extend(words.filter_map(|word| EntryId::parse(word).ok()));
    }

    fn finish(mut self, anchors: &[EntryId]) -> Verification {
        self.seen.sort_unstable_by_key(|seen| (seen.id, seen.offset));
        let links = std::mem::take(&mut self.links);
        for link in &links {
            self.link(link);
        }
        let seen = std::mem::take(&mut self.seen);
        for same in seen.chunk_by(|a, b| a.id == b.id) {
            let Some(first) = same.first() else { continue };
            if !same.iter().any(|seen| seen.is_followed) {
                self.result.heads.push(first.id);
            }
            for again in same.iter().skip(1) {
                let message =
                    || format!("entry `{}` appears twice, first at line {}", again.id, first.line);
                let place = Some((u64::from(again.line), again.offset));
                self.problem(ProblemKind::Duplicate, Some(again.id), place, message);
            }
        }
        for anchor in anchors {
            let is_let_go = self.result.let_go.contains(anchor);
            if !is_let_go && seen.binary_search_by_key(anchor, |seen| seen.id).is_err() {
                let message = || format!("entry `{anchor}` is missing; the log has a record of it");
                self.problem(ProblemKind::CutTail, Some(*anchor), None, message);
            }
        }
        self.result.entries = seen.len() as u64;
        self.result.problems.sort_by_key(|problem| problem.offset.unwrap_or(u64::MAX));
        self.result
    }

    fn link(&mut self, link: &Link) {
        let Link { parent, child, offset, line } = link;
        let place = Some((u64::from(*line), *offset));
        let at = self.seen.partition_point(|seen| seen.id < *parent);
        match self.seen.get_mut(at).filter(|seen| seen.id == *parent) {
            None if self.result.let_go.contains(parent) => {}
            None => {
                let message = || format!("entry `{parent}` is missing; entry `{child}` follows it");
                self.problem(
                    ProblemKind::Missing { named_by: *child },
                    Some(*parent),
                    place,
                    message,
                );
            }
            Some(seen) => {
                seen.is_followed = true;
                if seen.offset >= *offset {
                    let message = || {
                        format!(
                            "entry `{child}` comes before entry `{parent}`, which it should follow"
                        )
                    };
                    self.problem(ProblemKind::Reordered, Some(*child), place, message);
                }
            }
        }
    }

    fn problem(
        &mut self,
        kind: ProblemKind,
        entry: Option<EntryId>,
        place: Option<(u64, u64)>,
        message: impl FnOnce() -> String,
    ) {
        self.result.problem_count += 1;
        if self.result.problems.len() < MAX_PROBLEMS {
            let (line, offset) = place.unzip();
            self.result.problems.push(HistoryProblem {
                kind,
                entry,
                line,
                offset,
                message: message(),
            });
        }
    }
}

/// Whether a text has a word somewhere; this alone decides for most entries.
fn names(text: &[u8], word: &str) -> bool {
    let (first, len) = (word.as_bytes()[0], word.len());
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| *byte == first) {
        if rest.get(at..at + len) == Some(word.as_bytes()) {
            return true;
        }
        rest = rest.get(at + 1..).unwrap_or_default();
    }
    false
}
