//! The state files as a commit has them.

use std::{collections::BTreeMap, path::Path};

use crate::adapters::git::{
    GitError,
    program::{Git, failure, stderr_message},
    repository::Repository,
};
use crate::domain::FilesByName;

/// The largest file that is read out of a commit.
const MAX_BYTES: u64 = 64 << 20;

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
    let git = &repository.git;
    let commit = resolve(git, revision)?;
    let named = || revision.to_owned();
    let wanted = repository.paths();
    let mut args = vec!["ls-tree", "-z", "-l", "--full-tree", &commit, "--"];
    args.extend(wanted.iter().map(|(_, path)| path.as_str()));
    let listing = git.run(&args, "")?;
    if !listing.status.success() {
        return Err(failure(stderr_message(&listing)));
    }
    let mut found: Vec<(String, String, u64)> = Vec::new();
    for line in listing.stdout.split(|byte| *byte == 0) {
        let line = String::from_utf8_lossy(line);
        let Some((about, path)) = line.split_once('\t') else { continue };
        let Some((file, _)) = wanted.iter().find(|(_, wanted)| wanted == path) else { continue };
        let name = file.name();
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
        let blob = git.run(&["cat-file", "blob", &object], "")?;
        if !blob.status.success() {
            return Err(failure(stderr_message(&blob)));
        }
        files.insert(name, blob.stdout);
    }
    Ok(GitRevision { commit, files })
}

/// The hash of the commit that a revision names.
fn resolve(git: &Git, revision: &str) -> Result<String, GitError> {
    let none = || GitError::NoRevision(revision.to_owned());
    if revision.is_empty() || revision.contains(['\0', '\n']) {
        return Err(none());
    }
    let inside = git.run(&["rev-parse", "--is-inside-work-tree"], "")?;
    if !inside.status.success() {
        let reason = stderr_message(&inside);
        let outside = reason.contains("not a git repository");
        return Err(match outside {
            true => GitError::NoRepository(git.top().to_owned()),
            false => failure(reason),
        });
    }
    let commit = format!("{revision}^{{commit}}");
    let args = ["rev-parse", "--verify", "--quiet", "--end-of-options", &commit];
    let parsed = git.run(&args, "")?;
    let hash = String::from_utf8_lossy(&parsed.stdout).trim().to_owned();
    let is_hash = hash.len() >= 40 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !parsed.status.success() || !is_hash { Err(none()) } else { Ok(hash) }
}
