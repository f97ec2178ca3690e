//! Sections of one name, each with its place where there are several.

use serde::Serialize;

use super::Failure;
use crate::{
    domain::{ModelError, StateFile},
    workspace::Error,
};

/// A section, with the place of its heading.
#[derive(Clone, Debug, Serialize)]
pub(super) struct SectionText {
    /// The file that it is written in.
    pub file: String,
    pub line: usize,
    pub text: String,
}

/// The text of the only section, or those of all, each below a comment that names its place.
pub(super) fn joined(parts: &[SectionText]) -> String {
    if let [only] = parts {
        return only.text.clone();
    }
    let below = |part: &SectionText| {
        let text = part.text.trim_matches(['\r', '\n']);
        format!("<!-- {}:{} -->\n{text}\n", part.file, part.line)
    };
    parts.iter().map(below).collect::<Vec<_>>().join("\n")
}

/// There is no section of that name in a file.
pub(super) fn not_found(file: StateFile, error: ModelError) -> Failure {
    let mut failure = Failure::from(Error::from(error));
    let name = file.name().split('.').next().unwrap_or_default();
    failure.hint.get_or_insert_with(|| format!("`statedir show {name}` prints the whole file"));
    failure
}
