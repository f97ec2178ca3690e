//! The state files as a commit has them.

use std::{collections::BTreeMap, path::Path};

use super::version::{MAX_BYTES, Version, versions};
use crate::adapters::git::{GitError, program::Git, repository::Repository};
use crate::domain::FilesByName;

/// The state files of one commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GitRevision {
    /// The whole hash of the commit.
    pub commit: String,
    /// The bytes of each state file that is there, by its name.
    pub files: FilesByName,
}

/// Reads the state files that `dir` has at a revision such as `HEAD`, `main~2`, a tag or a hash.
///
/// Bytes come as they are stored: no filter, no conversion of line ends.
///
/// # Errors
/// There is no git, no repository, no such revision, or no state in it.
pub(crate) fn read_revision(dir: &Path, revision: &str) -> Result<GitRevision, GitError> {
    let repository = Repository::around(dir)?;
    let commit = resolve(&repository.git, revision)?;
    let found = versions(&repository, &commit)?;
    let revision = revision.to_owned();
    if found.is_empty() {
        return Err(GitError::NoState { directory: dir.to_owned(), revision });
    }
    let mut files = BTreeMap::new();
    for Version { file, object, bytes, is_regular } in found {
        let file = file.name().to_owned();
        if !is_regular {
            return Err(GitError::NotRegular { file, revision });
        }
        if bytes > MAX_BYTES {
            return Err(GitError::TooLarge { file, revision, bytes });
        }
        files.insert(file, repository.git.ask(&["cat-file", "blob", &object])?);
    }
    Ok(GitRevision { commit, files })
}

/// The hash of the commit that a revision names.
fn resolve(git: &Git, revision: &str) -> Result<String, GitError> {
    let none = || GitError::NoRevision(revision.to_owned());
    if revision.is_empty() || revision.contains(['\0', '\n']) {
        return Err(none());
    }
    git.ask(&["rev-parse", "--is-inside-work-tree"])?;
    let commit = format!("{revision}^{{commit}}");
    let args = ["rev-parse", "--verify", "--quiet", "--end-of-options", &commit];
    let parsed = git.run(&args, "")?;
    let hash = String::from_utf8_lossy(&parsed.stdout).trim().to_owned();
    let is_hash = hash.len() >= 40 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !parsed.status.success() || !is_hash { Err(none()) } else { Ok(hash) }
}
