//! What happened to one file.

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
    /// Whether what somebody changed is discarded.
    pub(super) force: bool,
    /// So many of the folders above the file are there, the last of them empty.
    pub(super) folders: usize,
    /// What the hooks do besides.
    pub(super) options: HookOptions,
}

/// What hooks do only where somebody asked for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HookOptions {
    /// Whether they record what the user says.
    pub(crate) record_prompts: bool,
    /// Whether the first task list of an agent makes a state where there is none; `Some(false)`
    /// leaves task lists alone altogether. `None` keeps what was said before.
    pub(crate) capture: Option<bool>,
}

impl HookOptions {
    /// Nothing was asked for.
    #[cfg(test)]
    pub(super) const NONE: Self = Self { record_prompts: false, capture: None };

    /// Every combination that a hook may have been set up with.
    pub(super) fn every() -> impl Iterator<Item = Self> {
        [None, Some(true), Some(false)].into_iter().flat_map(|capture| {
            [false, true].map(|record_prompts| Self { record_prompts, capture })
        })
    }

    /// The same, with what was said before about task lists.
    pub(super) fn or_kept(self, there: Option<&str>) -> Self {
        let has = |option: &str| {
            let (line, list) = (format!(" hook {option}"), format!("[\"{option}\""));
            there.is_some_and(|text| text.contains(&line) || text.contains(&list))
        };
        let kept = match (has(CAPTURES), has(LEAVES)) {
            (true, _) => Some(true),
            (false, true) => Some(false),
            (false, false) => None,
        };
        Self { capture: self.capture.or(kept), ..self }
    }

    pub(super) fn capture_option(self) -> Option<&'static str> {
        self.capture.map(|captures| if captures { CAPTURES } else { LEAVES })
    }

    /// All options, that about task lists first.
    pub(super) fn words(self) -> impl Iterator<Item = &'static str> {
        self.capture_option().into_iter().chain(self.record_prompts.then_some(RECORDS))
    }
}

/// What the user says is written down only by a hook with this option.
pub(super) const RECORDS: &str = "--record-prompts";
/// A hook with this option makes a state of the first task list.
pub(super) const CAPTURES: &str = "--capture";
/// A hook with this option leaves task lists alone.
pub(super) const LEAVES: &str = "--no-capture";

/// What is said of something that somebody changed.
pub(super) fn changed_by_hand(what: &str, remove: bool) -> String {
    let verb = if remove { "removes it" } else { "replaces it" };
    format!("{what} was changed by hand and is kept; `--force` {verb}")
}
