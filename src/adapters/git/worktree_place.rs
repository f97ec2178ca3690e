//! Where a working tree may be put, and under which name.

use std::path::{Component, Path, PathBuf};

use super::{
    GitError,
    program::{ask, ask_line},
    repository::Repository,
};

/// Where a working tree of that name is put when nobody says where: beside the repository.
///
/// # Errors
/// There is no repository.
pub fn default_worktree_path(dir: &Path, name: &str) -> Result<PathBuf, GitError> {
    let top = Repository::of(dir)?.top;
    let common = common_dir(&top)?;
    let name = name.replace('/', "-");
    if ask_line(&common, &["rev-parse", "--is-bare-repository"]).is_ok_and(|bare| bare == "true") {
        // There is no main worktree; all of them stand side by side.
        return Ok(top.with_file_name(name));
    }
    // A submodule has its repository elsewhere.
    let is_beside = common.file_name().is_some_and(|name| name == ".git");
    let main = common.parent().filter(|_| is_beside).unwrap_or(&top);
    let base = main.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(main.with_file_name(format!("{base}-{name}")))
}

/// Refuses what [`add_worktree`](super::add_worktree) would refuse, and places where a working tree
/// would be in the way, before anything is changed.
///
/// # Errors
/// The name is taken or none that git accepts, or something is at that place.
pub fn check_worktree(dir: &Path, name: &str, path: &Path) -> Result<(), GitError> {
    let repository = Repository::of(dir)?;
    repository.refuse_locked()?;
    super::commit::refuse_ignored(&repository)?;
    let reference = format!("refs/heads/{name}");
    let good = ask(&repository.top, &["check-ref-format", &reference]).is_ok();
    if !good || name.starts_with('-') {
        let message = format!("`{name}` cannot be the name of a branch");
        return Err(GitError::refused("bad_value", message, "such as `benchmarks`"));
    }
    if ask(&repository.top, &["rev-parse", "--verify", "--quiet", &reference]).is_ok() {
        let message = format!("there is a branch `{name}` already");
        return Err(GitError::refused("exists", message, "choose another name"));
    }
    let place = real_path(path);
    let shown = path.display();
    let elsewhere = "choose a place of its own with `--path`, such as one beside the repository";
    for (taken, what) in [
        (repository.dir.clone(), "the state directory"),
        (common_dir(&repository.top)?, "git's own directory"),
    ] {
        let taken = taken.canonicalize().unwrap_or(taken);
        if place.starts_with(&taken) {
            let message = format!("`{shown}` is inside {what}, `{}`", taken.display());
            return Err(GitError::refused("bad_place", message, elsewhere));
        }
    }
    match path.symlink_metadata() {
        Err(_) => Ok(()),
        Ok(found) if found.is_dir() && is_empty(path) => Ok(()),
        Ok(_) => {
            let message = format!("there is something at `{shown}` already");
            Err(GitError::refused("exists", message, elsewhere))
        }
    }
}

pub(super) fn common_dir(top: &Path) -> Result<PathBuf, GitError> {
    let args = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
    Ok(PathBuf::from(ask_line(top, &args)?))
}

fn is_empty(dir: &Path) -> bool {
    fs_err::read_dir(dir).is_ok_and(|mut entries| entries.next().is_none())
}

/// The path without links and `..`, as far as it is there.
pub fn real_path(path: &Path) -> PathBuf {
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
