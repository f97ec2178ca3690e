//! Changing a document without touching what the change is not about.

use super::draft::DraftValue;
use super::draft_editor::DraftEditor;
use super::splicing::is_written;
use super::splicing::splices;
use super::tree::Tree;
use super::write::Spelling;
use super::{JsonDocument, JsonError, MAX_DEPTH, Path};
use crate::text::{Splice, apply_splices};
use serde_json::Value;

/// A series of changes to a document. Each one is made and proven at once, or refused whole.
///
/// Every call reads the whole text back; many changes at once are cheaper as one
/// [`JsonEdit::put_all`], [`JsonEdit::patch`] or [`JsonEdit::merge_patch`].
#[derive(Clone, Debug)]
#[must_use = "the changes are lost unless the edit is finished"]
pub struct JsonEdit {
    before: JsonDocument,
    draft: DraftValue,
    splices: Vec<Splice>,
    /// None as long as nothing has changed.
    after: Option<JsonDocument>,
}

/// One of several changes that are made and proven together.
#[derive(Clone, Debug, PartialEq)]
pub enum Put {
    /// As [`JsonEdit::set`].
    Set(Path, Value),
    /// As [`JsonEdit::append`].
    Append(Path, Value),
    /// Makes an empty object at the path, before the member of that name; nothing if there is
    /// something at the path.
    MakeBefore(Path, String),
}

/// The outcome of an edit.
#[derive(Clone, Debug)]
pub struct Edited {
    /// The document after the edit.
    pub document: JsonDocument,
    /// What changed, against the source before the edit: sorted, not overlapping.
    pub splices: Vec<Splice>,
}

impl JsonEdit {
    pub(super) fn new(document: JsonDocument) -> Self {
        let draft = DraftValue::Source(document.tree().root());
        Self { before: document, draft, splices: Vec::new(), after: None }
    }

    /// Puts `value` at `path`, creating missing objects on the way.
    ///
    /// What is equal already keeps its text: setting an object changes only the members that
    /// differ. In an array the index after the last item, or `-`, appends.
    ///
    /// # Errors
    /// Refuses a path through a scalar or after the end of an array, and a value that nests
    /// too deeply.
    pub fn set(&mut self, path: &Path, value: &Value) -> Result<(), JsonError> {
        let new = DraftEditor::fresh(path, value)?;
        self.change(path, |change| change.set(path, new, Spelling::Kept))
    }

    /// Like [`JsonEdit::set`] with the value as JSON text, whose scalars keep their spelling:
    /// `1.10` stays `1.10`.
    ///
    /// # Errors
    /// As [`JsonEdit::set`], and as [`JsonDocument::parse`] for the text, with places in it.
    pub fn set_text(&mut self, path: &Path, text: &str) -> Result<(), JsonError> {
        let value = JsonDocument::parse(text)?;
        let new = DraftValue::copied(value.tree(), value.tree().root());
        self.change(path, |change| change.set(path, new, Spelling::Given))
    }

    /// Takes the value at `path` out of its object or array and returns it.
    ///
    /// # Errors
    /// Refuses a path that leads nowhere, naming a similar one, and the root.
    pub fn remove(&mut self, path: &Path) -> Result<Value, JsonError> {
        self.change(path, |change| Ok(change.remove(path)?.value(change.tree)))
    }

    /// Adds `value` after the last item of the array at `path`, creating it if missing.
    ///
    /// # Errors
    /// Refuses to append to what is not an array; otherwise as [`JsonEdit::set`].
    pub fn append(&mut self, path: &Path, value: &Value) -> Result<(), JsonError> {
        let new = DraftEditor::fresh(&path.join("-"), value)?;
        self.change(path, |change| change.append(path, new))
    }

    /// Makes several changes in order, all of them or none.
    ///
    /// # Errors
    /// As [`JsonEdit::set`] and [`JsonEdit::append`].
    pub fn put_all(&mut self, puts: &[Put]) -> Result<(), JsonError> {
        self.change(&Path::root(), |change| {
            puts.iter().try_for_each(|put| match put {
                Put::Set(path, value) => {
                    change.set(path, DraftEditor::fresh(path, value)?, Spelling::Kept)
                }
                Put::Append(path, value) => {
                    change.append(path, DraftEditor::fresh(&path.join("-"), value)?)
                }
                Put::MakeBefore(path, next) => change.insert_object_before(path, next),
            })
        })
    }

    /// Adds `value` as the `add` operation of RFC 6902 does: an index of an array inserts
    /// before that item, an existing member is replaced.
    ///
    /// # Errors
    /// Refuses a path whose parent does not exist; otherwise as [`JsonEdit::set`].
    pub fn insert(&mut self, path: &Path, value: &Value) -> Result<(), JsonError> {
        let new = DraftEditor::fresh(path, value)?;
        self.change(path, |change| change.insert(path, new))
    }

    /// Applies an RFC 7396 merge patch. Members it does not name keep their bytes.
    ///
    /// # Errors
    /// Refuses a patch that nests too deeply.
    pub fn merge_patch(&mut self, patch: &Value) -> Result<(), JsonError> {
        self.change(&Path::root(), |change| change.merge(patch))
    }

    /// Applies an RFC 6902 patch, all of it or nothing. Moved and copied values keep their
    /// spelling.
    ///
    /// # Errors
    /// [`JsonError::Operation`] tells which operation failed and why.
    pub fn patch(&mut self, operations: &Value) -> Result<(), JsonError> {
        self.change(&Path::root(), |change| change.patch(operations))
    }

    /// The document as edited so far.
    pub fn document(&self) -> &JsonDocument {
        self.after.as_ref().unwrap_or(&self.before)
    }

    /// Ends the edit.
    pub fn finish(self) -> Edited {
        Edited { document: self.after.unwrap_or(self.before), splices: self.splices }
    }

    /// Makes one change on a copy of the draft and takes the copy over once it is proven.
    fn change<T>(
        &mut self,
        path: &Path,
        make: impl FnOnce(&mut DraftEditor<'_>) -> Result<T, JsonError>,
    ) -> Result<T, JsonError> {
        let tree = self.before.tree();
        let mut draft = self.draft.clone();
        let answer = make(&mut DraftEditor { tree, root: &mut draft })?;
        let mut splices = splices(tree, &draft)?;
        let after =
            if splices.is_empty() { None } else { Some(read_back(tree, &mut splices, path)?) };
        if !is_written(tree, &draft, after.as_ref().map_or(tree, JsonDocument::tree)) {
            return Err(JsonError::Unproven);
        }
        self.draft = draft;
        self.splices = splices;
        self.after = after;
        Ok(answer)
    }
}

/// The document that `splices` make of `tree`; `path` is what the change was about.
fn read_back(tree: &Tree, splices: &mut [Splice], path: &Path) -> Result<JsonDocument, JsonError> {
    let source = apply_splices(&tree.source, splices).map_err(|_| JsonError::Unproven)?;
    JsonDocument::parse(source).map_err(|error| match error {
        JsonError::TooDeep { .. } => {
            JsonError::ValueTooDeep { path: path.clone(), limit: MAX_DEPTH }
        }
        JsonError::TooLarge { .. } => error,
        _ => JsonError::Unproven,
    })
}
