//! Knowledge and rules: our own file first, then the files of others, which are only read.

use super::{Adopted, Files};
use crate::domain::{ModelError, StateFile};

impl Adopted<'_> {
    /// The text of context.md or constraints.md, and where the files of others begin in it.
    pub(super) fn with_prose(&self, raw: &Files, file: StateFile) -> (Vec<u8>, usize) {
        let (own, others) = match file {
            StateFile::Context => (&self.layout.added.context, &self.layout.context),
            _ => (&self.layout.added.constraints, &self.layout.constraints),
        };
        let mut bytes = raw.get(own.as_str()).cloned().unwrap_or_else(|| file.blank().to_vec());
        let end = bytes.len();
        for path in others {
            let Some(text) = raw.get(path.as_str()) else { continue };
            let text = String::from_utf8_lossy(text);
            if text.contains('\0') {
                continue;
            }
            bytes.extend_from_slice(format!("\n\n# {path}\n\n").as_bytes());
            bytes.extend_from_slice(text.trim_start_matches('\u{feff}').trim_end().as_bytes());
            bytes.push(b'\n');
        }
        (bytes, end)
    }

    /// What our own file says after an edit of the whole text.
    ///
    /// # Errors
    /// The edit is in a file of others.
    pub(super) fn own_prose(
        &self,
        raw: &Files,
        file: StateFile,
        new: &[u8],
    ) -> Result<Vec<u8>, ModelError> {
        let (old, end) = self.with_prose(raw, file);
        let (own, others) = old.split_at(end);
        if let Some(own) = new.strip_suffix(others) {
            return Ok(own.to_vec());
        }
        if let Some(added) = new.strip_prefix(old.as_slice()) {
            return Ok([own, added].concat());
        }
        let files = match file {
            StateFile::Context => &self.layout.context,
            _ => &self.layout.constraints,
        };
        let names: Vec<String> = files.iter().map(|path| format!("`{path}`")).collect();
        Err(ModelError::BadValue {
            message: format!(
                "that text is part of {}, which statedir only reads",
                names.join(", ")
            ),
            hint: Some("edit the file itself; additions are kept in a separate file".to_owned()),
        })
    }
}
