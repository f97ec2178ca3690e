//! Entries that were removed from the history: reports and restores them.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    io::{BufReader, Read as _},
};

use crate::{
    domain::StateFile,
    history::{EntryId, ProblemKind, Verification, signed_ids, verify},
    store::{AppendedView, Report, Revision, View},
    workspace::{Error, Workspace, snapshot::buffered},
};

/// How many entries are tried one by one if all together do not fit, and how many consecutive ones
/// are inserted; each takes a verification.
const MOST_ONE_BY_ONE: usize = 50;

/// What removed an entry from the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remover {
    /// The commit of that id.
    Commit(String),
    /// An edit from outside, with its operation if it is recorded.
    Edit(Option<Revision>),
}

/// An entry that was in the history of this branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemovedEntry {
    /// The entry.
    pub entry: EntryId,
    /// What removed it.
    pub remover: Remover,
    /// The same for people.
    pub by: String,
    /// Whether that was a return to an earlier version and not damage.
    pub went_back: bool,
    /// Its text with its trailer.
    pub text: Vec<u8>,
}

/// The edits that restore removed entries.
#[derive(Debug, Default)]
pub(in crate::workspace) struct PutBack {
    /// The bytes to append.
    pub(in crate::workspace) append: Vec<u8>,
    /// The number of appended entries.
    pub(in crate::workspace) appended: usize,
    /// The bytes to insert, each with its offset, in ascending order.
    pub(in crate::workspace) insert: Vec<(u64, Vec<u8>)>,
}

impl Workspace {
    /// A notice about an edit from outside that removed the newest entry. It is given once, when the
    /// edit is recorded.
    pub(in crate::workspace) fn loss_notice(&self, view: &View) -> Option<String> {
        let history = StateFile::History.name();
        let is_edit = |report: &Report| match report {
            Report::External { files, .. } => files.iter().any(|file| file == history),
            _ => false,
        };
        if !view.reports().iter().any(is_edit) || !view.appended().exists() {
            return None;
        }
        let newest = self.newest_entry()?;
        let is_there = holds(view, newest).unwrap_or(true);
        if is_there || self.is_elsewhere(view.appended(), newest) {
            return None;
        }
        if self.version_control().went_back(self.directory(), view.appended(), newest) {
            return Some(format!(
                "{history} is an earlier version than the log knows: `statedir check` lists what \
                 is missing, `statedir history accept` accepts it, `statedir check --fix` restores it"
            ));
        }
        Some(format!(
            "entry `{newest}` is missing from {history}: `statedir history verify` lists what is \
             missing, `statedir check --fix` restores what it can"
        ))
    }
}

impl PutBack {
    /// The edits that restore these entries as long as the history verifies: an entry that another
    /// follows is inserted before that one, the others are appended.
    pub(in crate::workspace) fn of(
        history: &AppendedView,
        mut removed: Vec<RemovedEntry>,
    ) -> Result<Self, Error> {
        let mut this = Self::default();
        if removed.is_empty() {
            return Ok(this);
        }
        let old = history.read_from(0)?;
        let has_crlf = old.ends_with(b"\r\n");
        let before = verify(old.as_slice(), &[], &mut |_| {})?;
        let (text, now) = this.insert(&old, before, &removed, has_crlf)?;
        removed.retain(|removed| {
            let is_back = this.insert.iter().any(|(_, bytes)| *bytes == removed.between(has_crlf));
            // An entry that others follow cannot be appended.
            !is_back && !gone(&now).contains_key(&removed.entry)
        });
        let fits = |append: &[u8]| -> Result<bool, Error> {
            let longer = BufReader::new(text.chain(append));
            Ok(verify(longer, &[], &mut |_| {})?.problem_count <= now.problem_count)
        };
        this.append = removed.iter().flat_map(|one| one.at_the_end(has_crlf)).collect();
        this.appended = removed.len();
        if !fits(&this.append)? {
            // Whatever one of them lacks, the others need not wait for it.
            (this.append, this.appended) = (Vec::new(), 0);
            let mut waiting: Vec<&RemovedEntry> = removed.iter().take(MOST_ONE_BY_ONE).collect();
            // Entries of one moment may be listed before those that they follow.
            let mut tried = usize::MAX;
            while waiting.len() < tried {
                tried = waiting.len();
                let mut left = Vec::new();
                for one in waiting {
                    let longer = [this.append.as_slice(), &one.at_the_end(has_crlf)].concat();
                    if fits(&longer)? {
                        (this.append, this.appended) = (longer, this.appended + 1);
                    } else {
                        left.push(one);
                    }
                }
                waiting = left;
            }
        }
        Ok(this)
    }

    /// Puts entries before those that follow them, until there is none to be put; gives the
    /// history then, and what is wrong with it.
    fn insert<'a>(
        &mut self,
        old: &'a [u8],
        before: Verification,
        removed: &[RemovedEntry],
        has_crlf: bool,
    ) -> Result<(Cow<'a, [u8]>, Verification), Error> {
        let (mut text, mut now) = (Cow::Borrowed(old), before);
        for _ in 0..MOST_ONE_BY_ONE {
            let earlier = self.insert.clone();
            // From the end on, so that what was found at a byte is still there.
            let mut places: Vec<(u64, &RemovedEntry)> = gone(&now)
                .into_iter()
                .filter_map(|(entry, at)| {
                    Some((at, removed.iter().find(|one| one.entry == entry)?))
                })
                .collect();
            places.sort_by_key(|(at, one)| (std::cmp::Reverse(*at), std::cmp::Reverse(one.entry)));
            if places.is_empty() {
                break;
            }
            for (at, one) in places {
                self.insert_at(at, one.between(has_crlf));
            }
            let longer = self.inserted_into(old);
            let then = verify(longer.as_slice(), &[], &mut |_| {})?;
            if then.problem_count > now.problem_count || gone(&then) == gone(&now) {
                self.insert = earlier;
                break;
            }
            (text, now) = (Cow::Owned(longer), then);
        }
        Ok((text, now))
    }

    /// Inserts bytes at an offset of the history with all earlier insertions.
    fn insert_at(&mut self, at: u64, bytes: Vec<u8>) {
        let mut shift = 0;
        for index in 0..self.insert.len() {
            let Some((old, inserted)) = self.insert.get(index) else { break };
            let (start, len) = (old + shift, inserted.len() as u64);
            if at < start + len {
                let old = if at < start { at - shift } else { *old };
                self.insert.insert(index, (old, bytes));
                return;
            }
            shift += len;
        }
        self.insert.push((at - shift, bytes));
    }

    fn inserted_into(&self, old: &[u8]) -> Vec<u8> {
        let (mut new, mut done) = (Vec::with_capacity(old.len()), 0);
        for (at, bytes) in &self.insert {
            let at = usize::try_from(*at).unwrap_or(usize::MAX).min(old.len());
            new.extend_from_slice(old.get(done..at).unwrap_or_default());
            new.extend_from_slice(bytes);
            done = at;
        }
        new.extend_from_slice(old.get(done..).unwrap_or_default());
        new
    }
}

/// The missing entries that others follow, with the offset of the first entry that follows.
fn gone(verified: &Verification) -> BTreeMap<EntryId, u64> {
    let mut gone = BTreeMap::new();
    for problem in &verified.problems {
        if let (ProblemKind::Missing { .. }, Some(entry), Some(at)) =
            (problem.kind, problem.entry, problem.offset)
        {
            let first: &mut u64 = gone.entry(entry).or_insert(at);
            *first = at.min(*first);
        }
    }
    gone
}

impl RemovedEntry {
    /// Its heading.
    pub(in crate::workspace) fn title(&self) -> String {
        let text = String::from_utf8_lossy(&self.text);
        let line = text.lines().find(|line| line.starts_with('#')).unwrap_or_default();
        line.trim_start_matches(['#', ' ']).to_owned()
    }

    /// Its text for the end of a file.
    fn at_the_end(&self, has_crlf: bool) -> Vec<u8> {
        lines(&[b"\n", self.text.as_slice(), b"\n"].concat(), has_crlf)
    }

    /// Its text before another entry.
    fn between(&self, has_crlf: bool) -> Vec<u8> {
        lines(&[self.text.as_slice(), b"\n\n"].concat(), has_crlf)
    }
}

/// A text with the line ends of the file.
fn lines(text: &[u8], has_crlf: bool) -> Vec<u8> {
    let plain = text.iter().copied().filter(|byte| *byte != b'\r');
    if !has_crlf {
        return plain.collect();
    }
    let crlf = |byte: u8| if byte == b'\n' { vec![b'\r', b'\n'] } else { vec![byte] };
    plain.flat_map(crlf).collect()
}

/// Whether an entry is in the history.
fn holds(view: &View, entry: EntryId) -> Result<bool, Error> {
    Ok(signed_ids(buffered(view.appended())?).any(|id| id == entry))
}
