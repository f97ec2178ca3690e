//! Where a state directory was that may not be there any more.

use std::path::{Path, PathBuf};

use super::{GitError, program::ask, rebuild::has_head, repository::Repository};
use crate::model::StateFile;

/// The directory that is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lost {
    /// This one.
    At(PathBuf),
    /// One of several, which somebody has to name.
    OneOf(Vec<PathBuf>),
    /// Neither the disk nor git knows one.
    Unknown,
}

/// The state directory that `named`, or else the working directory `here`, is about: one that is
/// there, or one that git knows.
///
/// # Errors
/// Nothing is there, and there is no git or no repository to ask.
pub fn find_lost(named: Option<&Path>, here: &Path) -> Result<Lost, GitError> {
    let below = |dir: &Path| dir.join("workspace").join("state");
    if let Some(named) = named {
        let places = [named.to_owned(), below(named)];
        if let Some(found) = places.iter().find(|dir| has_files(dir)) {
            return Ok(Lost::At(found.clone()));
        }
        for dir in &places {
            if is_known(dir)? {
                return Ok(Lost::At(dir.clone()));
            }
        }
        return Ok(Lost::Unknown);
    }
    let repository = Repository::of(here);
    let top = repository.as_ref().ok().and_then(|found| found.top.canonicalize().ok());
    for dir in here.ancestors() {
        let inside = top
            .as_ref()
            .is_some_and(|top| dir.canonicalize().is_ok_and(|dir| dir.starts_with(top)));
        if below(dir).is_dir() || (inside && is_known(&below(dir))?) {
            return Ok(Lost::At(below(dir)));
        }
    }
    let mut elsewhere = elsewhere(&repository?)?;
    Ok(match elsewhere.len() {
        0 => Lost::Unknown,
        1 => elsewhere.pop().map_or(Lost::Unknown, Lost::At),
        _ => Lost::OneOf(elsewhere),
    })
}

fn has_files(dir: &Path) -> bool {
    StateFile::FIVE.iter().any(|file| dir.join(file.name()).symlink_metadata().is_ok())
}

/// Whether git has a state file there, in the index or in any commit.
fn is_known(dir: &Path) -> Result<bool, GitError> {
    let repository = Repository::of(dir)?;
    let paths = repository.paths()?;
    let paths: Vec<&str> = paths.iter().map(|(_, path)| path.as_str()).collect();
    let listed = [&["--literal-pathspecs", "ls-files", "-z", "--"][..], &paths].concat();
    if !ask(&repository.top, &listed)?.is_empty() {
        return Ok(true);
    }
    let log = ["--literal-pathspecs", "log", "--all", "--max-count=1", "--format=%H", "--"];
    Ok(!ask(&repository.top, &[&log[..], &paths].concat())?.is_empty())
}

/// Every `workspace/state` with a plan in the index or in the newest commit.
fn elsewhere(repository: &Repository) -> Result<Vec<PathBuf>, GitError> {
    let mut names = ask(&repository.top, &["ls-files", "-z"])?;
    if has_head(repository)? {
        let tree = ["ls-tree", "-r", "-z", "--name-only", "--full-tree", "HEAD"];
        names.extend(ask(&repository.top, &tree)?);
    }
    let plan = format!("workspace/state/{}", StateFile::Plan);
    let mut found = Vec::new();
    for name in names.split(|byte| *byte == 0) {
        let name = String::from_utf8_lossy(name);
        let before = name.strip_suffix(&plan);
        if before.is_some_and(|before| before.is_empty() || before.ends_with('/')) {
            found.extend(repository.top.join(&*name).parent().map(Path::to_owned));
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}
