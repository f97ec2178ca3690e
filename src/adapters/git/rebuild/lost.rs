//! Finding where a lost state directory was.

use std::path::{Component, Path, PathBuf};

use super::has_head;
use crate::{
    adapters::git::{GitError, repository::Repository},
    domain::StateFile,
};

/// The directory that is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lost {
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
pub(crate) fn find_lost(named: Option<&Path>, here: &Path) -> Result<Lost, GitError> {
    let below = |dir: &Path| dir.join("workspace").join("state");
    if let Some(named) = named {
        let places = [named.to_owned(), below(named)];
        if let Some(found) = places.iter().find(|dir| has_files(dir)) {
            return Ok(Lost::At(found.clone()));
        }
        return Ok(first_known(&places)?.map_or(Lost::Unknown, Lost::At));
    }
    let repository = Repository::of(here);
    let top = repository.as_ref().ok().and_then(|found| found.top.canonicalize().ok());
    let mut places = Vec::new();
    for dir in here.ancestors() {
        let place = below(dir);
        if place.is_dir() {
            return Ok(Lost::At(place));
        }
        let top = top.as_ref();
        if top.is_some_and(|top| dir.canonicalize().is_ok_and(|dir| dir.starts_with(top))) {
            if is_known(&place, When::Now)? {
                return Ok(Lost::At(place));
            }
            places.push(place);
        }
    }
    let mut elsewhere = elsewhere(&repository?)?;
    match (elsewhere.len(), elsewhere.pop()) {
        (1, Some(dir)) => Ok(Lost::At(dir)),
        (_, Some(last)) => {
            elsewhere.push(last);
            Ok(Lost::OneOf(elsewhere))
        }
        _ => Ok(first_known(&places)?.map_or(Lost::Unknown, Lost::At)),
    }
}

/// Whether a commit has a version of a file of the state in `dir`.
///
/// # Errors
/// There is no git or no repository to ask.
pub(crate) fn has_version(dir: &Path, file: StateFile) -> Result<bool, GitError> {
    let repository = Repository::of(dir)?;
    let paths = repository.paths();
    let Some((_, path)) = paths.iter().find(|(known, _)| *known == file) else { return Ok(false) };
    let args = ["log", "--all", "--max-count=1", "--format=%H", "--", path];
    Ok(!repository.git.ask(&args)?.is_empty())
}

/// When git has to have known a file.
#[derive(Clone, Copy)]
enum When {
    /// In the index or in the newest commit.
    Now,
    /// In any commit.
    Ever,
}

/// The first place that git knows now, else the first that it ever knew.
fn first_known(places: &[PathBuf]) -> Result<Option<PathBuf>, GitError> {
    for when in [When::Now, When::Ever] {
        for place in places {
            if is_known(place, when)? {
                return Ok(Some(place.clone()));
            }
        }
    }
    Ok(None)
}

fn has_files(dir: &Path) -> bool {
    StateFile::FIVE.iter().any(|file| dir.join(file.name()).symlink_metadata().is_ok())
}

/// Whether git has a state file there.
fn is_known(dir: &Path, when: When) -> Result<bool, GitError> {
    let repository = Repository::of(dir)?;
    let paths = repository.paths();
    let paths: Vec<&str> = paths.iter().map(|(_, path)| path.as_str()).collect();
    let finds = |args: &[&str]| -> Result<bool, GitError> {
        Ok(!repository.git.ask(&[args, &["--"], &paths].concat())?.is_empty())
    };
    match when {
        When::Now => Ok(finds(&["ls-files", "-z"])?
            || (has_head(&repository)? && finds(&["ls-tree", "--full-tree", "-z", "HEAD"])?)),
        When::Ever => finds(&["log", "--all", "--max-count=1", "--format=%H"]),
    }
}

/// Every `workspace/state` with a plan in the index or in the newest commit.
fn elsewhere(repository: &Repository) -> Result<Vec<PathBuf>, GitError> {
    let mut names = repository.git.ask(&["ls-files", "-z"])?;
    if has_head(repository)? {
        let tree = ["ls-tree", "-r", "-z", "--name-only", "--full-tree", "HEAD"];
        names.extend(repository.git.ask(&tree)?);
    }
    let plan = format!("workspace/state/{}", StateFile::Plan);
    let mut found = Vec::new();
    for name in names.split(|byte| *byte == 0) {
        let name = String::from_utf8_lossy(name);
        let before = name.strip_suffix(&plan);
        // Git checks the names in its index, but not those in a tree that it lists.
        let is_below =
            Path::new(&*name).components().all(|part| matches!(part, Component::Normal(_)));
        if is_below && before.is_some_and(|before| before.is_empty() || before.ends_with('/')) {
            found.extend(repository.top.join(&*name).parent().map(Path::to_owned));
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}
