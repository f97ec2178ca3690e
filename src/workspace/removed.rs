//! Entries that were in the history and are not any more: told, and put back.

use std::io::{BufRead as _, BufReader, Cursor, Read as _};

use super::{Error, Fixed, Workspace};
use crate::{
    domain::StateFile,
    history::{EntryId, ProblemKind, Verification, verify},
    store::{Report, View},
};

/// How many entries are tried alone where all of them together do not fit; each is a verification.
const MOST_ONE_BY_ONE: usize = 50;

/// An entry that was in the history of this branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemovedEntry {
    /// The entry.
    pub entry: EntryId,
    /// What took it out, for people.
    pub by: String,
    /// Its text with its trailer.
    pub text: Vec<u8>,
}

impl Workspace {
    /// A word about an edit made outside that took the newest entry away. It is said once: when
    /// the edit is recorded.
    pub(super) fn loss_notice(&self, view: &View) -> Option<String> {
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
        if is_there || (self.options.is_elsewhere)(self.directory(), &newest.to_string()) {
            return None;
        }
        Some(format!(
            "entry `{newest}` is missing from {history}: `statedir history verify` lists what is \
             missing, `statedir check --fix` restores what it can"
        ))
    }

    /// Puts entries back that were taken out, as far as the history is whole then.
    pub(super) fn restore_removed(&self) -> Result<Vec<Fixed>, Error> {
        let snapshot = self.read()?;
        let mut removed = self.removed_entries(&snapshot)?;
        if removed.is_empty() {
            return Ok(Vec::new());
        }
        let before = verify(snapshot.history()?, &[], &mut |_| {})?;
        let has_crlf = snapshot.view().appended().read_tail(4096)?.ends_with(b"\r\n");
        // Nothing can be put before an entry that follows it.
        let is_followed = |entry: EntryId| {
            let mut found = before.problems.iter().filter(|problem| problem.entry == Some(entry));
            found.any(|problem| matches!(problem.kind, ProblemKind::Missing { .. }))
        };
        removed.retain(|removed| !is_followed(removed.entry));
        let fits = |append: &[u8]| -> Result<bool, Error> {
            Ok(self.with_appended(append)?.problem_count <= before.problem_count)
        };
        let mut append: Vec<u8> =
            removed.iter().flat_map(|one| lines(&one.text, has_crlf)).collect();
        let mut kept = removed.len();
        if !fits(&append)? {
            // Whatever one of them lacks, the others need not wait for it.
            (append, kept) = (Vec::new(), 0);
            for one in removed.iter().take(MOST_ONE_BY_ONE) {
                let longer = [append.as_slice(), &lines(&one.text, has_crlf)].concat();
                if fits(&longer)? {
                    append = longer;
                    kept += 1;
                }
            }
        }
        drop(snapshot);
        if kept == 0 {
            return Ok(Vec::new());
        }
        let noun = if kept == 1 { "entry" } else { "entries" };
        let message = format!("{kept} {noun} that had been removed: appended again");
        let mut operation = self.operation("check.fix", message.clone());
        operation.append = append;
        self.begin()?.commit(operation)?;
        Ok(vec![Fixed { file: StateFile::History, message }])
    }

    /// What the history would be with more at its end.
    fn with_appended(&self, more: &[u8]) -> Result<Verification, Error> {
        let history = self.read()?.history()?;
        Ok(verify(BufReader::new(history.chain(Cursor::new(more))), &[], &mut |_| {})?)
    }
}

/// A text on lines of its own, with the line ends of the file it goes into.
fn lines(text: &[u8], has_crlf: bool) -> Vec<u8> {
    let mut plain = vec![b'\n'];
    plain.extend(text.iter().copied().filter(|byte| *byte != b'\r'));
    plain.push(b'\n');
    if !has_crlf {
        return plain;
    }
    let crlf = |byte: u8| if byte == b'\n' { vec![b'\r', b'\n'] } else { vec![byte] };
    plain.into_iter().flat_map(crlf).collect()
}

/// Whether an entry stands somewhere in the history.
fn holds(view: &View, entry: EntryId) -> Result<bool, Error> {
    let wanted = format!("entry={entry} ");
    let mut reader = BufReader::with_capacity(1 << 16, view.appended().reader()?);
    let mut line = Vec::new();
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line).map_err(crate::history::HistoryError::Io)? == 0 {
            return Ok(false);
        }
        if line.windows(wanted.len()).any(|window| window == wanted.as_bytes()) {
            return Ok(true);
        }
    }
}
