//! Which side of a comparison a word means.

use super::git::{self, GitError};
use crate::workspace::{self, DiffSide, GivenSide, Workspace};

/// A word that names nothing to compare with.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SideError {
    /// The log could not be asked.
    #[error(transparent)]
    Workspace(#[from] workspace::Error),
    /// Git was meant, and has no answer.
    #[error(transparent)]
    Git(#[from] GitError),
    /// Neither the log nor git knows it.
    #[error("there is no checkpoint or operation `{word}`, and {git}")]
    Unknown {
        word: String,
        /// What git says.
        git: GitError,
    },
}

/// The shortest beginning of an id that is not looked up in git first.
const SHORTEST: usize = 4;

/// The side that `word` names: `working`, `@`, `@-2`, a checkpoint, an operation, else a git
/// revision.
/// `git:REV` always means git.
pub(crate) fn side(workspace: &Workspace, word: &str) -> Result<DiffSide, SideError> {
    if let Some(revision) = word.strip_prefix("git:") {
        return Ok(from_git(workspace, revision)?);
    }
    let side = DiffSide::parse(word);
    let DiffSide::Operation(id) = &side else { return Ok(side) };
    match workspace.has_revision(id) {
        // A name so short is rather that of a branch than the beginning of an id.
        Ok(true) if word.len() < SHORTEST => return Ok(from_git(workspace, word).unwrap_or(side)),
        Ok(true) => return Ok(side),
        Ok(false) => {}
        Err(error) => return from_git(workspace, word).map_err(|_| error.into()),
    }
    from_git(workspace, word).map_err(|error| match error {
        error if error.is_about_nothing_there() => {
            SideError::Unknown { word: word.to_owned(), git: error }
        }
        other => SideError::Git(other),
    })
}

fn from_git(workspace: &Workspace, revision: &str) -> Result<DiffSide, GitError> {
    let found = git::read_revision(workspace.directory(), revision)?;
    let short = found.commit.get(..12).unwrap_or(&found.commit);
    let name = match found.commit.starts_with(revision) {
        true => format!("git {short}"),
        false => format!("git {revision} ({short})"),
    };
    Ok(DiffSide::Given(Box::new(GivenSide { name, files: found.files })))
}
