//! Restoring lost state files from the commits.

pub(super) mod log;
pub(super) mod lost;
mod replay;

use std::{collections::HashSet, path::Path};

use serde::Serialize;

use super::{
    GitError,
    commits::version::{MAX_BYTES, PassedOver, damage, read, versions},
    install::failed,
    repository::{MAX_HISTORY, Repository},
};
use crate::{
    adapters::replace::{clean, create},
    domain::StateFile,
};

/// How many commits are looked at for each file.
const MOST: &str = "--max-count=1000";

/// A file that was brought back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Restored {
    pub file: StateFile,
    pub commit: String,
}

/// What was brought back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Rebuilt {
    /// Each file and the commit that it is from.
    pub restored: Vec<Restored>,
    /// Versions that were passed over, newest first.
    pub passed_over: Vec<PassedOver>,
    /// Files that no commit has in a state that can be read.
    pub not_found: Vec<StateFile>,
}

/// Writes every missing file of the five from the newest commit that has a good version of it: one
/// of the branch that is checked out, else one of any branch or of what was checked out before. A
/// workflow.yaml comes back if the newest commit has one. Files that are there are left alone.
///
/// # Errors
/// There is no repository, or a file cannot be written.
pub fn rebuild(dir: &Path, dry_run: bool) -> Result<Rebuilt, GitError> {
    let repository = Repository::of(dir)?;
    let has_head = has_head(&repository)?;
    let mut rebuilt = Rebuilt::default();
    for (file, path) in repository.paths() {
        let target = repository.dir.join(file.name());
        if !dry_run {
            clean(&target, &repository.dir);
        }
        if target.symlink_metadata().is_ok() {
            continue;
        }
        let is_optional = file == StateFile::Workflow;
        if is_optional {
            let newest = if has_head { versions(&repository, "HEAD")? } else { Vec::new() };
            if newest.iter().all(|version| version.file != file) {
                continue;
            }
        }
        match newest_good(&repository, file, &path, has_head, &mut rebuilt.passed_over)? {
            None if is_optional => {}
            None => rebuilt.not_found.push(file),
            Some((commit, bytes)) => {
                if dry_run || create(&target, &bytes).map_err(failed)? {
                    rebuilt.restored.push(Restored { file, commit });
                }
            }
        }
    }
    Ok(rebuilt)
}

/// Whether anything is committed on the branch that is checked out.
pub(crate) fn has_head(repository: &Repository) -> Result<bool, GitError> {
    match repository.git.ask(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]) {
        Ok(_) => Ok(true),
        Err(GitError::Failed(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

fn newest_good(
    repository: &Repository,
    file: StateFile,
    path: &str,
    has_head: bool,
    passed_over: &mut Vec<PassedOver>,
) -> Result<Option<(String, Vec<u8>)>, GitError> {
    let limit = if file == StateFile::History { MAX_HISTORY } else { MAX_BYTES };
    let mut seen = HashSet::new();
    for (here, from) in [(true, &["HEAD"][..]), (false, &["--all", "--reflog"])] {
        if here && !has_head {
            continue;
        }
        let mut args = vec!["log", MOST, "--date-order", "-z", "--format=%H"];
        args.push("--no-show-signature");
        args.extend(from);
        args.extend(["--", path]);
        let commits = repository.git.ask_text(&args)?;
        for commit in commits.split(['\0', '\n']).filter(|commit| !commit.is_empty()) {
            let found = versions(repository, commit)?;
            // A commit that removes the file has none.
            let Some(version) = found.iter().find(|version| version.file == file) else { continue };
            if !seen.insert(version.object.clone()) {
                continue;
            }
            let why = match version.refusal(limit) {
                Some(why) => why,
                None => match read(repository, &[&version.object])?.pop().flatten() {
                    None => "git has lost it",
                    Some(bytes) => match damage(file, &bytes) {
                        None => return Ok(Some((commit.to_owned(), bytes))),
                        Some(why) => why,
                    },
                },
            };
            passed_over.push(PassedOver { file, commit: commit.to_owned(), why });
        }
    }
    Ok(None)
}
