//! Bringing lost state files back out of the commits.

use std::path::Path;

use serde::Serialize;

use super::{GitError, install::replace, program::ask, repository::Repository};
use crate::{
    model::{StateFile, Variables, history::verify, merge::conflicts},
    text::markdown::Document,
};

/// How many commits are looked at for each file.
const MOST: &str = "--max-count=1000";

/// What was brought back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Rebuilt {
    /// Each file and the commit that it is from.
    pub restored: Vec<(StateFile, String)>,
    /// Versions that were passed over because they cannot be read, newest first.
    pub passed_over: Vec<(StateFile, String)>,
    /// Files that no commit has in a state that can be read.
    pub not_found: Vec<StateFile>,
}

/// Writes every missing file of the five from the newest commit that has a good version of it.
/// Files that are there are left alone.
///
/// # Errors
/// There is no repository, or a file cannot be written.
pub fn rebuild(dir: &Path, dry_run: bool) -> Result<Rebuilt, GitError> {
    let repository = Repository::of(dir)?;
    let inside = repository.inside()?;
    let mut rebuilt = Rebuilt::default();
    for file in StateFile::FIVE {
        let target = repository.dir.join(file.name());
        if target.symlink_metadata().is_ok() {
            continue;
        }
        let path = if inside.is_empty() {
            file.name().to_owned()
        } else {
            format!("{inside}/{}", file.name())
        };
        let args =
            ["log", "--all", MOST, "--date-order", "--format=%H", "--diff-filter=AMR", "--", &path];
        let commits = match ask(&repository.top, &args) {
            Ok(commits) => String::from_utf8_lossy(&commits).into_owned(),
            // A repository without any commit.
            Err(GitError::Failed(_)) => String::new(),
            Err(error) => return Err(error),
        };
        let mut found = None;
        for commit in commits.lines() {
            let blob = ask(&repository.top, &["cat-file", "blob", &format!("{commit}:{path}")]);
            match blob {
                Ok(bytes) if is_good(file, &bytes) => {
                    found = Some((commit.to_owned(), bytes));
                    break;
                }
                _ => rebuilt.passed_over.push((file, commit.to_owned())),
            }
        }
        match found {
            None => rebuilt.not_found.push(file),
            Some((commit, bytes)) => {
                if !dry_run {
                    fs_err::create_dir_all(&repository.dir).map_err(super::install::failed)?;
                    replace(&target, &bytes)?;
                }
                rebuilt.restored.push((file, commit));
            }
        }
    }
    Ok(rebuilt)
}

/// Whether a version can be read and built upon.
fn is_good(file: StateFile, bytes: &[u8]) -> bool {
    let reads = match file {
        StateFile::Variables => Variables::parse(bytes.to_vec()).is_ok(),
        StateFile::History => verify(bytes, &[], &mut |_| {}).is_ok_and(|found| found.is_intact()),
        _ => Document::from_bytes(bytes.to_vec()).is_ok(),
    };
    reads && !bytes.trim_ascii().is_empty() && conflicts(file, bytes).is_empty()
}
