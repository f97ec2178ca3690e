//! Compares two operations, checkpoints, git revisions or the current files.

use std::collections::BTreeMap;

use similar::TextDiff as Similar;

use crate::{
    diff::{self, Difference},
    domain::{FilesByName, StateFile},
    store::{AppendedThen, Checkpoint, StoreError, View},
    workspace::{Error, FileDiff, MAX_BYTES, Workspace, log::checkpoint::files_of},
};

/// One end of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DiffSide {
    /// The files as they are now.
    Working,
    /// A checkpoint's name, or an operation's id or the beginning of it: right after it.
    Operation(String),
    /// That many operations before the newest; zero is the newest itself.
    Back(usize),
    /// Files from elsewhere, such as a git revision.
    Given(Box<GivenSide>),
}

/// Files that the caller has read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GivenSide {
    /// Their name.
    pub name: String,
    /// The bytes of each file that is there, by its name.
    pub files: FilesByName,
}

impl DiffSide {
    /// Reads `working`, `@`, `@-2` or an operation's id.
    pub(crate) fn parse(text: &str) -> Self {
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
pub(crate) struct TextDiff {
    /// What the first side is.
    pub from: String,
    /// What the second side is.
    pub to: String,
    /// The files that differ.
    pub files: Vec<FileDiff>,
    /// How many bytes the history grew in between.
    pub history_grew: u64,
}

/// What differs between two sides, by meaning and as text.
#[derive(Clone, Debug)]
pub(crate) struct Comparison {
    /// The text, without the history.
    pub text: TextDiff,
    /// Every difference, file by file; empty if, and only if, all bytes are the same.
    pub changes: Vec<Difference>,
    /// The part of the history that is on one side only, if it is known.
    pub history: Option<FileDiff>,
}

/// A name, the files, and the history.
struct Side {
    name: String,
    files: FilesByName,
    history: History,
}

/// The history of a side.
enum History {
    /// There is none.
    Absent,
    /// The beginning of the current history, of that length.
    Beginning(u64),
    /// All of it.
    Bytes(Vec<u8>),
    /// It had that length and is no longer available.
    Gone(u64),
}

impl History {
    fn then(then: AppendedThen) -> Self {
        match then.still_there {
            true => Self::Beginning(then.len),
            false => Self::Gone(then.len),
        }
    }

    fn len(&self) -> Option<u64> {
        match self {
            Self::Absent => None,
            Self::Beginning(len) | Self::Gone(len) => Some(*len),
            Self::Bytes(bytes) => Some(bytes.len() as u64),
        }
    }
}

impl Workspace {
    /// Compares the text of two sides.
    ///
    /// # Errors
    /// An operation is not in the log.
    pub(crate) fn diff(&self, from: &DiffSide, to: &DiffSide) -> Result<TextDiff, Error> {
        let view = self.read()?;
        let (from, to) = (self.side(from, view.view())?, self.side(to, view.view())?);
        Ok(text_diff(&from, &to))
    }

    /// Compares two sides by meaning.
    ///
    /// # Errors
    /// An operation is not in the log. A file that cannot be parsed is compared as text.
    pub(crate) fn compare(&self, from: &DiffSide, to: &DiffSide) -> Result<Comparison, Error> {
        let snapshot = self.read()?;
        let view = snapshot.view();
        let (from, to) = (self.side(from, view)?, self.side(to, view)?);
        let mut changes = Vec::new();
        let mut history = None;
        let order = StateFile::FIVE.into_iter().chain([StateFile::Workflow]);
        for file in order {
            if file == StateFile::History {
                let (mut found, text) = compare_histories(view, &from.history, &to.history)?;
                changes.append(&mut found);
                history = text;
                continue;
            }
            let bytes = |side: &Side| side.files.get(file.name()).cloned();
            let (before, after) = (bytes(&from), bytes(&to));
            changes.append(&mut diff::compare(file, before.as_deref(), after.as_deref()));
        }
        Ok(Comparison { text: text_diff(&from, &to), changes, history })
    }

    /// Whether there is a checkpoint with that name, or an operation with that id or prefix.
    pub(crate) fn has_revision(&self, id: &str) -> Result<bool, Error> {
        if self.read()?.view().checkpoint(id)?.is_some() {
            return Ok(true);
        }
        match self.store.operation(id) {
            Ok(_) => Ok(true),
            Err(StoreError::NotFound { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn side(&self, side: &DiffSide, view: &View) -> Result<Side, Error> {
        let id = match side {
            DiffSide::Working => return Ok(working(view)),
            DiffSide::Given(given) => return Ok(given_side(given)),
            DiffSide::Operation(id) => match view.checkpoint(id)? {
                Some(found) => return self.checkpoint_side(&found, view),
                None => id.clone(),
            },
            DiffSide::Back(count) => self.operation_back(*count)?.id.as_str().to_owned(),
        };
        let operation = self.store.operation(&id)?;
        let id = operation.id.as_str().to_owned();
        let files = self.native_files(self.store.files_at(&id)?)?;
        let history = History::then(self.store.appended_at(&id, view)?);
        Ok(Side { name: id, files, history })
    }

    fn checkpoint_side(&self, found: &Checkpoint, view: &View) -> Result<Side, Error> {
        let name = format!("checkpoint {}", found.name);
        let files = files_of(self, found)?;
        Ok(Side { name, files, history: History::then(view.appended_at(found)?) })
    }
}

fn working(view: &View) -> Side {
    let mut files = BTreeMap::new();
    for file in StateFile::REWRITABLE {
        if let Some(bytes) = view.bytes(file.name()) {
            files.insert(file.name().to_owned(), bytes.to_vec());
        }
    }
    let history = match view.appended().exists() {
        true => History::Beginning(view.appended().len()),
        false => History::Absent,
    };
    Side { name: "working files".to_owned(), files, history }
}

fn given_side(given: &GivenSide) -> Side {
    let mut files = given.files.clone();
    let history = files.remove(StateFile::History.name());
    let history = history.map_or(History::Absent, History::Bytes);
    Side { name: given.name.clone(), files, history }
}

fn text_diff(from: &Side, to: &Side) -> TextDiff {
    let mut files = Vec::new();
    for file in StateFile::REWRITABLE {
        let bytes = |side: &Side| side.files.get(file.name()).cloned().unwrap_or_default();
        let (before, after) = (bytes(from), bytes(to));
        if before != after {
            files.push(FileDiff::new(file, &before, &after));
        }
    }
    let length = |side: &Side| side.history.len().unwrap_or_default();
    let history_grew = length(to).saturating_sub(length(from));
    TextDiff { from: from.name.clone(), to: to.name.clone(), files, history_grew }
}

/// Compares histories, reading as little as possible.
fn compare_histories(
    view: &View,
    from: &History,
    to: &History,
) -> Result<(Vec<Difference>, Option<FileDiff>), Error> {
    let lengths = || diff::compare_history_lengths(from.len(), to.len());
    let (before, after) = match (from, to) {
        (History::Absent, History::Absent) => return Ok((Vec::new(), None)),
        (History::Beginning(one), History::Beginning(other)) => {
            let (low, high) = (*one.min(other), *one.max(other));
            if high - low > MAX_BYTES {
                return Ok((lengths(), None));
            }
            let bytes = view.appended().read_between(low, high)?;
            if one <= other { (Vec::new(), bytes) } else { (bytes, Vec::new()) }
        }
        (History::Bytes(_) | History::Beginning(_), History::Bytes(_) | History::Beginning(_)) => {
            let whole = |history: &History| -> Result<Option<Vec<u8>>, Error> {
                Ok(match history {
                    History::Bytes(bytes) => Some(bytes.clone()),
                    History::Beginning(len) if *len <= MAX_BYTES => {
                        Some(view.appended().read_between(0, *len)?)
                    }
                    _ => None,
                })
            };
            let (Some(before), Some(after)) = (whole(from)?, whole(to)?) else {
                return Ok((lengths(), None));
            };
            (before, after)
        }
        // Two unavailable ones of the same length may be equal.
        (History::Gone(one), History::Gone(other)) if one == other => return Ok((vec![], None)),
        _ => return Ok((lengths(), None)),
    };
    let changes = diff::compare(StateFile::History, Some(&before), Some(&after));
    let text = (before != after).then(|| FileDiff::new(StateFile::History, &before, &after));
    Ok((changes, text))
}

impl FileDiff {
    /// The change as a unified diff.
    pub(crate) fn unified(&self) -> String {
        let (old, new) = self.headers();
        let diff = Similar::from_lines(&self.before, &self.after);
        diff.unified_diff().context_radius(2).header(&old, &new).to_string()
    }

    /// The names that a unified diff gives to the two sides.
    pub(crate) fn headers(&self) -> (String, String) {
        let name = &self.name;
        // Only the end of the history is compared, so an empty side does not mean a new file.
        let whole = self.file != StateFile::History;
        let side = |letter: char, text: &str| match whole && text.is_empty() {
            true => "/dev/null".to_owned(),
            false => format!("{letter}/{name}"),
        };
        (side('a', &self.before), side('b', &self.after))
    }
}
