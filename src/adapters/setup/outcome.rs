//! What becomes of one file.

/// A file's text, and what there is to say about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FileOutcome {
    /// The text; none if the file goes or does not come.
    pub(super) text: Option<String>,
    /// So many of the folders above a file that goes were there before it.
    pub(super) folders: usize,
    /// Why something is not as it was asked for.
    pub(super) note: Option<String>,
}

impl FileOutcome {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    /// Nothing changes.
    pub(super) fn same(there: Option<&str>) -> Self {
        Self { text: there.map(str::to_owned), ..Self::default() }
    }

    /// No file is left.
    pub(super) fn gone(folders: usize) -> Self {
        Self { folders, ..Self::default() }
    }

    pub(super) fn noting(self, note: impl Into<String>) -> Self {
        Self { note: Some(note.into()), ..self }
    }
}

/// How a piece is put or taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wish<'a> {
    /// The program as the client should call it.
    pub(super) program: &'a str,
    /// Whether what somebody changed is given up.
    pub(super) force: bool,
    /// So many of the folders above the file are there, the last of them empty.
    pub(super) folders: usize,
    /// Whether the hooks record what the user says.
    pub(super) record_prompts: bool,
}

/// What is said of something that somebody changed.
pub(super) fn changed_by_hand(what: &str, remove: bool) -> String {
    let verb = if remove { "removes it" } else { "replaces it" };
    format!("{what} was changed by hand and is kept; `--force` {verb}")
}
