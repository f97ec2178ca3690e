//! Where a working tree may be put, and under which name.

use std::path::{Component, Path, PathBuf};

use crate::{
    adapters::git::{GitError, program::Git, repository::Repository},
    domain::ErrorCode,
};

/// The default place for a working tree of that name: beside the repository.
pub(crate) fn default_worktree_path(dir: &Path, name: &str) -> Result<PathBuf, GitError> {
    let Repository { top, git, .. } = Repository::of(dir)?;
    let common = common_dir(&git)?;
    let name = name.replace('/', "-");
    let listing = git.ask(&["worktree", "list", "--porcelain", "-z"])?;
    let mut first = listing.split(|byte| *byte == 0).take_while(|field| !field.is_empty());
    if first.any(|field| field == b"bare") {
        // There is no main worktree; all of them stand side by side.
        return Ok(top.with_file_name(name));
    }
    // A submodule has its repository elsewhere.
    let is_beside = common.file_name().is_some_and(|name| name == ".git");
    let main = common.parent().filter(|_| is_beside).unwrap_or(&top);
    let base = main.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(main.with_file_name(format!("{base}-{name}")))
}

/// Refuses what [`add_worktree`](crate::adapters::git::add_worktree) would refuse, and places where a working tree
/// would be in the way, before anything is changed.
///
/// # Errors
/// The name is taken or none that git accepts, or something is at that place.
pub(crate) fn check_worktree(dir: &Path, name: &str, path: &Path) -> Result<(), GitError> {
    let repository = Repository::of(dir)?;
    repository.refuse_locked()?;
    crate::adapters::git::commits::commit::refuse_ignored(&repository)?;
    let reference = format!("refs/heads/{name}");
    let good = repository.git.ask(&["check-ref-format", &reference]).is_ok();
    if !good || name.starts_with('-') {
        let message = format!("`{name}` cannot be the name of a branch");
        return Err(GitError::refused(ErrorCode::BadValue, message, "such as `benchmarks`"));
    }
    if repository.git.ask(&["rev-parse", "--verify", "--quiet", &reference]).is_ok() {
        let message = format!("branch `{name}` already exists");
        return Err(GitError::refused(ErrorCode::Exists, message, "choose another name"));
    }
    let place = real_path(path);
    let shown = path.display();
    let elsewhere = "choose a place of its own with `--path`, such as one beside the repository";
    for (taken, what) in [
        (repository.dir.clone(), "the state directory"),
        (common_dir(&repository.git)?, "git's own directory"),
    ] {
        let taken = taken.canonicalize().unwrap_or(taken);
        if place.starts_with(&taken) {
            let message = format!("`{shown}` is inside {what}, `{}`", taken.display());
            return Err(GitError::refused(ErrorCode::BadPlace, message, elsewhere));
        }
    }
    match path.symlink_metadata() {
        Err(_) => Ok(()),
        Ok(found) if found.is_dir() && is_empty(path) => Ok(()),
        Ok(_) => {
            let message = format!("`{shown}` already exists");
            Err(GitError::refused(ErrorCode::Exists, message, elsewhere))
        }
    }
}

/// Refuses a place that is reached by a link that is committed in the repository: its author would
/// decide where the worktree ends up.
pub(crate) fn refuse_committed_link(dir: &Path, path: &Path) -> Result<(), GitError> {
    let repository = Repository::of(dir)?;
    let mut found = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            found.pop();
            continue;
        }
        found.push(part);
        let is_link = found.symlink_metadata().is_ok_and(|data| data.is_symlink());
        if let (true, Ok(inside)) = (is_link, found.strip_prefix(&repository.top))
            && let inside = inside.to_string_lossy()
            && !repository.git.ask(&["ls-files", "-z", "--", &inside])?.is_empty()
        {
            let message = format!("`{}` is a link that is committed here", found.display());
            let hint = "choose a place with `--path` that no link of the repository leads to";
            return Err(GitError::refused(ErrorCode::BadPlace, message, hint));
        }
        if let Ok(there) = found.canonicalize() {
            found = there;
        }
    }
    Ok(())
}

pub(crate) fn common_dir(git: &Git) -> Result<PathBuf, GitError> {
    let args = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
    Ok(PathBuf::from(git.ask_line(&args)?))
}

fn is_empty(dir: &Path) -> bool {
    fs_err::read_dir(dir).is_ok_and(|mut entries| entries.next().is_none())
}

/// The path without links and `..`, as far as it is there.
pub(crate) fn real_path(path: &Path) -> PathBuf {
    let mut found = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                found.pop();
            }
            part => found.push(part),
        }
        if let Ok(there) = found.canonicalize() {
            found = there;
        }
    }
    found
}
