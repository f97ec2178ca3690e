//! What differs between two operations, or between one and the files as they are.

use std::collections::BTreeMap;

use similar::TextDiff as Similar;

use super::{Error, FileDiff, Workspace};
use crate::model::StateFile;

/// One end of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiffSide {
    /// The files as they are now.
    Working,
    /// Right after an operation: its id or the beginning of it.
    Operation(String),
    /// So many operations before the newest; zero is the newest itself.
    Back(usize),
}

impl DiffSide {
    /// Reads `working`, `@`, `@-2` or an operation's id.
    pub fn parse(text: &str) -> Self {
        if text == "working" {
            return Self::Working;
        }
        let Some(rest) = text.strip_prefix('@') else { return Self::Operation(text.to_owned()) };
        match rest.strip_prefix('-') {
            None if rest.is_empty() => Self::Back(0),
            Some("") => Self::Back(1),
            Some(count) => {
                count.parse().map_or_else(|_| Self::Operation(text.to_owned()), Self::Back)
            }
            None => Self::Operation(text.to_owned()),
        }
    }
}

/// The changed files between two sides.
#[derive(Clone, Debug)]
pub struct TextDiff {
    /// What the first side is.
    pub from: String,
    /// What the second side is.
    pub to: String,
    /// The files that differ.
    pub files: Vec<FileDiff>,
    /// How many bytes the history grew in between.
    pub history_grew: u64,
}

/// A name, the files, and the number of the last operation they hold.
type Side = (String, BTreeMap<String, Vec<u8>>, u64);

impl Workspace {
    /// Compares two sides.
    ///
    /// # Errors
    /// An operation is not in the log.
    pub fn diff(&self, from: &DiffSide, to: &DiffSide) -> Result<TextDiff, Error> {
        let (from_name, from_files, from_seq) = self.side(from)?;
        let (to_name, to_files, to_seq) = self.side(to)?;
        let mut files = Vec::new();
        for file in StateFile::REWRITABLE {
            let text = |side: &BTreeMap<String, Vec<u8>>| {
                let bytes = side.get(file.name()).map(Vec::as_slice).unwrap_or_default();
                String::from_utf8_lossy(bytes).into_owned()
            };
            let (before, after) = (text(&from_files), text(&to_files));
            if before != after {
                files.push(FileDiff { file, before, after });
            }
        }
        let between = |seq: u64| seq > from_seq && seq <= to_seq;
        let operations = self.store.operations(None)?;
        let grown = operations.iter().filter(|operation| between(operation.seq));
        let history_grew = grown.map(|operation| operation.appended_bytes).sum();
        Ok(TextDiff { from: from_name, to: to_name, files, history_grew })
    }

    fn side(&self, side: &DiffSide) -> Result<Side, Error> {
        let id = match side {
            DiffSide::Working => {
                let snapshot = self.read()?;
                let mut files = BTreeMap::new();
                for file in StateFile::REWRITABLE {
                    if let Some(bytes) = snapshot.view().bytes(file.name()) {
                        files.insert(file.name().to_owned(), bytes.to_vec());
                    }
                }
                return Ok(("working files".to_owned(), files, u64::MAX));
            }
            DiffSide::Operation(id) => {
                let view = self.store.read(self.options.wait)?;
                let past = self.past(&view, id)?;
                return Ok((past.label, past.files, past.seq));
            }
            DiffSide::Back(count) => self.operation_back(*count)?.id.as_str().to_owned(),
        };
        let operation = self.store.operation(&id)?;
        let id = operation.id.as_str().to_owned();
        let files = self.store.files_at(&id)?;
        Ok((id, files, operation.seq))
    }
}

impl FileDiff {
    /// The change as a unified diff.
    pub fn unified(&self) -> String {
        let name = self.file.name();
        // Only the end of the history is compared, so an empty side does not mean a new file.
        let whole = self.file != StateFile::History;
        let old = if whole && self.before.is_empty() {
            "/dev/null".to_owned()
        } else {
            format!("a/{name}")
        };
        let new = if whole && self.after.is_empty() {
            "/dev/null".to_owned()
        } else {
            format!("b/{name}")
        };
        let diff = Similar::from_lines(&self.before, &self.after);
        diff.unified_diff().context_radius(2).header(&old, &new).to_string()
    }
}
