//! The state files as a commit has them.

use std::{collections::BTreeMap, path::Path};

use super::{
    GitError,
    program::{complaint, failure, git},
};
use crate::domain::StateFile;

/// The largest file that is read out of a commit.
const MAX_BYTES: u64 = 64 << 20;

/// The state files of one commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    /// The whole hash of the commit.
    pub commit: String,
    /// The bytes of each state file that is there, by its name.
    pub files: BTreeMap<String, Vec<u8>>,
}

/// Reads the state files that `dir` has at a revision such as `HEAD`, `main~2`, a tag or a hash.
///
/// Bytes come as they are stored: no filter, no conversion of line ends.
///
/// # Errors
/// There is no git, no repository, no such revision, or no state in it.
pub fn read_revision(dir: &Path, revision: &str) -> Result<Revision, GitError> {
    let commit = resolve(dir, revision)?;
    let named = || revision.to_owned();
    let wanted: Vec<&str> =
        StateFile::FIVE.iter().chain(&[StateFile::Workflow]).map(|file| file.name()).collect();
    let listing = git(dir, &["ls-tree", "-z", "-l", &commit], "")?;
    if !listing.status.success() {
        return Err(failure(complaint(&listing)));
    }
    let mut found: Vec<(String, String, u64)> = Vec::new();
    for line in listing.stdout.split(|byte| *byte == 0) {
        let line = String::from_utf8_lossy(line);
        let Some((about, name)) = line.split_once('\t') else { continue };
        if !wanted.contains(&name) {
            continue;
        }
        let mut words = about.split_whitespace();
        let (mode, object, size) = (words.next(), words.nth(1), words.next());
        let (Some(object), true) = (object, mode.is_some_and(|mode| mode.starts_with("100")))
        else {
            return Err(GitError::NotRegular { file: name.to_owned(), revision: named() });
        };
        let bytes = size.and_then(|size| size.parse().ok()).unwrap_or(0);
        if bytes > MAX_BYTES {
            return Err(GitError::TooLarge { file: name.to_owned(), revision: named(), bytes });
        }
        found.push((name.to_owned(), object.to_owned(), bytes));
    }
    if found.is_empty() {
        return Err(GitError::NoState { directory: dir.to_owned(), revision: named() });
    }
    let mut files = BTreeMap::new();
    for (name, object, _) in found {
        let blob = git(dir, &["cat-file", "blob", &object], "")?;
        if !blob.status.success() {
            return Err(failure(complaint(&blob)));
        }
        files.insert(name, blob.stdout);
    }
    Ok(Revision { commit, files })
}

/// The hash of the commit that a revision names.
fn resolve(dir: &Path, revision: &str) -> Result<String, GitError> {
    let none = || GitError::NoRevision(revision.to_owned());
    if revision.is_empty() || revision.contains(['\0', '\n']) {
        return Err(none());
    }
    let inside = git(dir, &["rev-parse", "--is-inside-work-tree"], "")?;
    if !inside.status.success() {
        let said = complaint(&inside);
        let outside = said.contains("not a git repository");
        return Err(match outside {
            true => GitError::NoRepository(dir.to_owned()),
            false => failure(said),
        });
    }
    let commit = format!("{revision}^{{commit}}");
    let args = ["rev-parse", "--verify", "--quiet", "--end-of-options", &commit];
    let parsed = git(dir, &args, "")?;
    let hash = String::from_utf8_lossy(&parsed.stdout).trim().to_owned();
    let is_hash = hash.len() >= 40 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !parsed.status.success() || !is_hash { Err(none()) } else { Ok(hash) }
}
