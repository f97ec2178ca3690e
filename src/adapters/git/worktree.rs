//! Working trees in which agents work at the same time, each with a state of its own.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{
    GitError,
    program::{ask, ask_line, run},
    repository::Repository,
    resolve::{Resolved, resolve},
};

/// A working tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Worktree {
    /// Where it is.
    pub path: PathBuf,
    /// The branch that is checked out there.
    pub branch: Option<String>,
    /// The commit that is checked out.
    pub commit: String,
    /// Its state directory.
    pub state: PathBuf,
    /// Whether it is the one that was asked from.
    pub here: bool,
}

/// How a working tree was merged back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finished {
    /// The branch.
    pub branch: String,
    /// Whether it is merged, and the working tree and the branch are gone.
    pub merged: bool,
    /// State files that git left in conflict and that were merged by meaning.
    pub resolved: Vec<Resolved>,
    /// Files that a person has to settle; the merge is under way.
    pub unsettled: Vec<String>,
}

/// All working trees of the repository.
///
/// # Errors
/// There is no repository.
pub fn worktrees(dir: &Path) -> Result<Vec<Worktree>, GitError> {
    let repository = Repository::of(dir)?;
    let inside = repository.inside()?;
    let listing = ask(&repository.top, &["worktree", "list", "--porcelain", "-z"])?;
    let listing = String::from_utf8_lossy(&listing).into_owned();
    let mut trees: Vec<Worktree> = Vec::new();
    for field in listing.split('\0') {
        let (key, value) = field.split_once(' ').unwrap_or((field, ""));
        match (key, trees.last_mut()) {
            ("worktree", _) => {
                let path = PathBuf::from(value);
                let here = path.canonicalize().ok() == repository.top.canonicalize().ok();
                let state = path.join(&inside);
                trees.push(Worktree { path, branch: None, commit: String::new(), state, here });
            }
            ("HEAD", Some(tree)) => tree.commit = value.to_owned(),
            ("branch", Some(tree)) => {
                tree.branch = Some(value.strip_prefix("refs/heads/").unwrap_or(value).to_owned());
            }
            _ => {}
        }
    }
    Ok(trees)
}

/// Makes a working tree on a new branch from the commit that is checked out here.
///
/// # Errors
/// The name is taken or none that git accepts, or git fails.
pub fn add_worktree(dir: &Path, name: &str, path: &Path) -> Result<Worktree, GitError> {
    let repository = Repository::of(dir)?;
    let place = path.to_string_lossy();
    ask(&repository.top, &["worktree", "add", "--quiet", "-b", name, "--", &place])?;
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let found = worktrees(dir)?;
    let same = |tree: &Worktree| tree.path.canonicalize().ok().as_deref() == Some(&*path);
    found.into_iter().find(same).ok_or_else(|| GitError::Failed("git made no worktree".to_owned()))
}

/// Where a working tree of that name is put when nobody says where: beside the repository.
///
/// # Errors
/// There is no repository.
pub fn default_worktree_path(dir: &Path, name: &str) -> Result<PathBuf, GitError> {
    let common = ask_line(
        &Repository::of(dir)?.top,
        &["rev-parse", "--path-format=absolute", "--git-common-dir"],
    )?;
    let main = Path::new(&common).parent().unwrap_or(Path::new(&common)).to_owned();
    let base = main.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(main.with_file_name(format!("{base}-{}", name.replace('/', "-"))))
}

/// Merges the branch of a working tree into the one checked out here and takes both away.
///
/// # Errors
/// There is no such working tree, it has changes that are not committed, or git fails.
pub fn finish_worktree(dir: &Path, name: &str) -> Result<Finished, GitError> {
    let repository = Repository::of(dir)?;
    let tree = find(dir, name)?;
    let dirty = ask(&tree.path, &["status", "--porcelain", "-z"])?;
    if !dirty.is_empty() {
        let message = format!("`{}` has changes that are not committed", tree.path.display());
        return Err(GitError::Failed(message));
    }
    let message = format!("Merge branch '{name}'");
    let merged = run(&repository.top, &["merge", "--no-ff", "-m", &message, name], "")?;
    let mut resolved = Vec::new();
    if !merged.status.success() {
        if !repository.git_path("MERGE_HEAD")?.exists() {
            return Err(GitError::Failed(super::program::complaint(&merged)));
        }
        // Without the driver the state files are in conflict; with it, only what really is.
        resolved = resolve(&repository.dir, false)?;
        let left = ask(&repository.top, &["diff", "--name-only", "--diff-filter=U", "-z"])?;
        let left = String::from_utf8_lossy(&left).into_owned();
        let unsettled: Vec<String> =
            left.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect();
        if !unsettled.is_empty() {
            return Ok(Finished { branch: name.to_owned(), merged: false, resolved, unsettled });
        }
        let done = run(&repository.top, &["commit", "--quiet", "-m", &message], "")?;
        if !done.status.success() {
            return Err(GitError::Failed(super::program::complaint(&done)));
        }
    }
    remove(&repository, &tree, name)?;
    Ok(Finished { branch: name.to_owned(), merged: true, resolved, unsettled: Vec::new() })
}

/// The working tree of a branch that is not this one.
///
/// # Errors
/// There is none.
pub fn find(dir: &Path, name: &str) -> Result<Worktree, GitError> {
    let is_it = |tree: &Worktree| !tree.here && tree.branch.as_deref() == Some(name);
    let found = worktrees(dir)?.into_iter().find(is_it);
    found.ok_or_else(|| GitError::Failed(format!("there is no other worktree on branch `{name}`")))
}

fn remove(repository: &Repository, tree: &Worktree, name: &str) -> Result<(), GitError> {
    let path = tree.path.to_string_lossy();
    // What git ignores, such as the operation log of that state, would keep it from being removed.
    let private = tree.state.join(".statedir");
    if private.is_dir() {
        fs_err::remove_dir_all(&private).map_err(super::install::failed)?;
    }
    ask(&repository.top, &["worktree", "remove", "--", &path])?;
    ask(&repository.top, &["branch", "--quiet", "-d", "--", name])?;
    Ok(())
}

/// Refuses what [`add_worktree`] would refuse, before anything is changed.
///
/// # Errors
/// The name is taken or none that git accepts, or something is at that place.
pub fn check_worktree(dir: &Path, name: &str, path: &Path) -> Result<(), GitError> {
    let repository = Repository::of(dir)?;
    if path.symlink_metadata().is_ok() {
        return Err(GitError::Failed(format!("there is something at `{}`", path.display())));
    }
    let reference = format!("refs/heads/{name}");
    let good = ask(&repository.top, &["check-ref-format", &reference]).is_ok();
    if !good || name.starts_with('-') {
        return Err(GitError::Failed(format!("`{name}` cannot be the name of a branch")));
    }
    if ask(&repository.top, &["rev-parse", "--verify", "--quiet", &reference]).is_ok() {
        return Err(GitError::Failed(format!("there is a branch `{name}` already")));
    }
    Ok(())
}
