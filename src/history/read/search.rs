//! Finding entries by what they say.

use std::collections::VecDeque;
use std::io::BufRead;

use serde::Serialize;

use crate::history::{
    Entry, HistoryError,
    journal::Journal,
    read::{
        fields::fields,
        scan::{HistoryItem, scan},
    },
};

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct SearchResult {
    /// The newest matches, in the order of the file.
    pub entries: Vec<Entry>,
    /// How many entries match in all.
    pub total: u64,
}

/// Finds entries whose heading, id, keys or values hold `needle`, ASCII letters in any case.
///
/// The last `limit` of them are returned; the others are counted.
pub(crate) fn search<R: BufRead>(
    reader: R,
    needle: &str,
    limit: usize,
) -> Result<SearchResult, HistoryError> {
    let needle = needle.to_ascii_lowercase();
    let mut newest = Newest::new(limit);
    let mut total = 0;
    scan(reader, None, &mut |_| {}, |piece| {
        if Entry::is_entry(&piece) && matches_piece(&piece, needle.as_bytes()) {
            total += 1;
            if let Some(entry) = Entry::read(&piece) {
                newest.push(entry);
            }
        }
    })?;
    Ok(SearchResult { entries: newest.into_vec(), total })
}

/// The last entries of those pushed.
pub(in crate::history) struct Newest {
    entries: VecDeque<Entry>,
    limit: usize,
}

impl Newest {
    pub(in crate::history) fn new(limit: usize) -> Self {
        Self { entries: VecDeque::new(), limit }
    }

    pub(in crate::history) fn push(&mut self, entry: Entry) {
        if self.limit == 0 {
            return;
        }
        if self.entries.len() == self.limit {
            self.entries.pop_front();
        }
        self.entries.push_back(entry);
    }

    pub(in crate::history) fn is_full(&self) -> bool {
        self.entries.len() == self.limit
    }

    pub(in crate::history) fn into_vec(self) -> Vec<Entry> {
        self.entries.into()
    }
}

fn matches_piece(piece: &HistoryItem<'_>, needle: &[u8]) -> bool {
    let (text, id) = match piece {
        HistoryItem::Signed { trailer, text, .. } => (text, Some(trailer.id)),
        HistoryItem::Unsigned(text) => (text, None),
        HistoryItem::Heading(_)
        | HistoryItem::Unmerged
        | HistoryItem::Nul { .. }
        | HistoryItem::BadTrailer { .. } => {
            return false;
        }
    };
    let body = text.to_str();
    if id.is_none() && contains_ignoring_case(&body, needle) {
        return true;
    }
    let heading = body.lines().next().unwrap_or_default();
    contains_ignoring_case(heading.trim_start_matches(['#', ' ']), needle)
        || fields(&body).any(|field| {
            contains_ignoring_case(field.key, needle)
                || contains_ignoring_case(&field.value(), needle)
        })
        || id.is_some_and(|id| contains_ignoring_case(&id.to_string(), needle))
        || Journal::parse(&body).is_some_and(|journal| matches_implied(&journal, needle))
}

/// Whether it occurs in values that the notation of an entry implies rather than spells out.
fn matches_implied(journal: &Journal<'_>, needle: &[u8]) -> bool {
    let fields = journal.fields();
    contains_ignoring_case(&journal.title(), needle)
        || contains_ignoring_case(journal.time(), needle)
        || fields.iter().any(|(key, value)| {
            contains_ignoring_case(key, needle) || contains_ignoring_case(value, needle)
        })
}

/// Whether `text` holds `needle`, which is in lower case.
fn contains_ignoring_case(text: &str, needle: &[u8]) -> bool {
    let Some((first, _)) = needle.split_first() else { return true };
    let mut rest = text.as_bytes();
    while let Some(at) = rest.iter().position(|byte| byte.to_ascii_lowercase() == *first) {
        rest = rest.get(at..).unwrap_or_default();
        if rest.get(..needle.len()).is_some_and(|start| start.eq_ignore_ascii_case(needle)) {
            return true;
        }
        rest = rest.get(1..).unwrap_or_default();
    }
    false
}
