//! What a draft adds to history.md.

use super::Draft;
use crate::{
    domain::{ModelError, StateFile},
    history,
    workspace::{CachedFacts, Error},
};

/// How a history ends.
#[derive(Clone, Copy)]
pub(super) struct HistoryEnd {
    /// Its line ends.
    newline: &'static str,
    /// Whether its last line has none.
    in_line: bool,
}

impl Draft<'_> {
    /// Begins a history where there is none.
    pub(in crate::workspace) fn begin_history(&mut self, text: String) -> Result<(), Error> {
        self.facts = Some(CachedFacts::of_new_history(&text)?);
        self.appended = text.into_bytes();
        Ok(())
    }

    /// Puts back what the history had, at its end and, by the offset, in between. What is derived
    /// from the history is worked out anew afterwards, so that no entry can be added as well.
    pub(in crate::workspace) fn put_back(&mut self, append: Vec<u8>, insert: Vec<(u64, Vec<u8>)>) {
        self.facts = None;
        self.appended = append;
        self.inserted = insert;
    }

    /// What is put back in between.
    pub(in crate::workspace) fn take_inserted(&mut self) -> Vec<(u64, Vec<u8>)> {
        std::mem::take(&mut self.inserted)
    }

    /// Adds an entry to the history.
    pub(in crate::workspace) fn log(
        &mut self,
        title: impl Into<String>,
        mut fields: Vec<(String, String)>,
    ) -> Result<history::EntryId, Error> {
        let via = self.env.identity().via;
        fields.extend(via.map(|via| ("via".to_owned(), via.to_owned())));
        let time = self.env.now();
        self.log_entry(&history::NewEntry { title: title.into(), time, fields })
    }

    /// Adds an entry that tells its own time to the history.
    pub(in crate::workspace) fn log_entry(
        &mut self,
        entry: &history::NewEntry,
    ) -> Result<history::EntryId, Error> {
        if !self.has_history() {
            return Err(ModelError::Missing { file: StateFile::History }.into());
        }
        let HistoryEnd { newline, in_line } = self.history_end()?;
        let (millis, first) = (self.env.millis_at(&entry.time), self.appended.is_empty());
        let facts = self.facts()?;
        let mut text = facts.history.log_heading(newline).unwrap_or_default();
        let mut entry = entry.clone();
        if !facts.edited.is_empty() {
            let edited = std::mem::take(&mut facts.edited).into_iter().collect::<Vec<_>>();
            entry.fields.push(("edited_outside".to_owned(), edited.join(", ")));
        }
        let rendered = history::render(&entry, millis, &facts.history.heads, newline)?;
        text.push_str(&rendered.text);
        if first && in_line {
            text.insert_str(0, newline);
        }
        facts.history.update(&text)?;
        self.appended.extend_from_slice(text.as_bytes());
        Ok(rendered.id)
    }

    /// Whether entries can be added to a history.
    pub(in crate::workspace) fn has_history(&self) -> bool {
        self.view.appended().exists()
            || !self.appended.is_empty()
            || self.unwritten.contains(&StateFile::History)
    }

    /// How the history ends before the command.
    fn history_end(&self) -> Result<HistoryEnd, Error> {
        if let Some(known) = self.history_end.get() {
            return Ok(*known);
        }
        let tail = self.view.appended().read_tail(4096)?;
        let crlf = tail.contains(&b'\r') && tail.windows(2).any(|pair| pair == b"\r\n");
        let newline = if crlf { "\r\n" } else { "\n" };
        let in_line = !tail.is_empty() && !tail.ends_with(b"\n");
        Ok(*self.history_end.get_or_init(|| HistoryEnd { newline, in_line }))
    }
}
