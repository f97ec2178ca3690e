//! Working trees in which agents work at the same time, each with a state of its own.

pub(super) mod place;

use std::{
    path::{Path, PathBuf},
    process::Output,
};

use serde::Serialize;

use super::{
    GitError,
    install::ATTRIBUTES,
    merge::resolve::{Resolved, resolve},
    program::{AS_IT_IS, Git, complaint, failure},
    repository::Repository,
    tracked::PRIVATE_DIR,
};
use crate::{domain::ErrorCode, store::Directory};

/// A working tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Worktree {
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
    /// Whether it is a repository without files.
    pub bare: bool,
    /// Whether its directory is gone, though git still knows it.
    pub missing: bool,
    /// Whether somebody locked it against being taken away.
    pub locked: bool,
}

/// How a working tree was merged back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Finished {
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
pub(crate) fn worktrees(dir: &Path) -> Result<Vec<Worktree>, GitError> {
    let repository = Repository::of(dir)?;
    let inside = &repository.inside;
    let listing = repository.git.ask(&["worktree", "list", "--porcelain", "-z"])?;
    let listing = String::from_utf8_lossy(&listing).into_owned();
    let top = repository.top.canonicalize().ok();
    let mut trees: Vec<Worktree> = Vec::new();
    for field in listing.split('\0') {
        let (key, value) = field.split_once(' ').unwrap_or((field, ""));
        match (key, trees.last_mut()) {
            ("worktree", _) => trees.push(Worktree {
                path: PathBuf::from(value),
                branch: None,
                commit: String::new(),
                state: Path::new(value).join(inside),
                here: top.is_some() && Path::new(value).canonicalize().ok() == top,
                bare: false,
                missing: !Path::new(value).is_dir(),
                locked: false,
            }),
            ("HEAD", Some(tree)) => tree.commit = value.to_owned(),
            ("branch", Some(tree)) => {
                tree.branch = Some(value.strip_prefix("refs/heads/").unwrap_or(value).to_owned());
            }
            ("bare", Some(tree)) => tree.bare = true,
            ("locked", Some(tree)) => tree.locked = true,
            _ => {}
        }
    }
    let is_any_here = trees.iter().any(|tree| tree.here);
    // Of a repository whose directory is elsewhere, git names that one.
    if let Some(main) = trees.first_mut().filter(|tree| !tree.bare)
        && !is_any_here
    {
        main.state = repository.top.join(inside);
        main.path.clone_from(&repository.top);
        (main.here, main.missing) = (true, false);
    }
    Ok(trees)
}

/// Whether `branch` is what is checked out in the working tree that `dir` is in.
pub(crate) fn is_checked_out(dir: &Path, branch: &str) -> bool {
    let head = Git::around(dir).and_then(|git| git.ask_line(&["symbolic-ref", "--quiet", "HEAD"]));
    head.is_ok_and(|head| head.strip_prefix("refs/heads/") == Some(branch))
}

/// Makes a working tree on a new branch from the commit that is checked out here.
///
/// # Errors
/// The name is taken or none that git accepts, or git or a hook fails; then there is none.
pub(crate) fn add_worktree(dir: &Path, name: &str, path: &Path) -> Result<Worktree, GitError> {
    let repository = Repository::of(dir)?;
    let place = path.to_string_lossy();
    let reference = format!("refs/heads/{name}");
    let exists = || repository.git.ask(&["rev-parse", "--verify", "--quiet", &reference]).is_ok();
    let was_there = exists();
    let made = repository
        .git
        .run_as_user(&["worktree", "add", "--quiet", "-b", name, "--", &place], "")?;
    if !made.status.success() {
        // A hook that fails comes after the branch and the directory are made.
        if !was_there && exists() {
            let _ = repository.git.ask(&["worktree", "remove", "--force", "--", &place]);
            let _ = repository.git.ask(&["branch", "--quiet", "-D", "--", name]);
        }
        return Err(match made.stderr.trim_ascii() {
            [] => failure(
                "it made no worktree and gave no reason; a `post-checkout` hook may have refused"
                    .to_owned(),
            ),
            _ => failure(complaint(&made)),
        });
    }
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let found = worktrees(dir)?;
    let same = |tree: &Worktree| tree.path.canonicalize().ok().as_deref() == Some(&*path);
    found.into_iter().find(same).ok_or_else(|| GitError::Failed("git made no worktree".to_owned()))
}

/// Refuses to take a working tree away that holds what nobody committed, that is locked, or while
/// another merge is under way here. Nothing is changed.
///
/// # Errors
/// As said, or git cannot be asked.
pub(crate) fn check_finish(dir: &Path, tree: &Worktree) -> Result<(), GitError> {
    let repository = Repository::of(dir)?;
    repository.refuse_locked()?;
    if repository.git_path("MERGE_HEAD")?.exists() {
        return Err(GitError::refused(
            ErrorCode::Merging,
            "a merge is in progress here",
            "resolve it and `git commit`, or `git merge --abort`; then finish the worktree",
        ));
    }
    let path = tree.path.display();
    if tree.locked {
        let message = format!("the worktree `{path}` is locked");
        return Err(GitError::refused(
            ErrorCode::Locked,
            message,
            format!("`git worktree unlock {path}`"),
        ));
    }
    if tree.missing {
        return Ok(());
    }
    refuse_submodules(tree)?;
    let args = ["status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames"];
    let listing = Git::at(&tree.path).ask(&args)?;
    let listing = String::from_utf8_lossy(&listing).into_owned();
    let inside = repository.paths();
    let attributes = repository.path(ATTRIBUTES);
    let files: Vec<&str> = listing
        .split('\0')
        .filter_map(|line| line.get(3..))
        .filter(|path| *path != attributes && inside.iter().all(|(_, state)| state != path))
        .collect();
    if files.is_empty() {
        return Ok(());
    }
    let more = files.len().saturating_sub(3);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let named = files.iter().take(3).copied().collect::<Vec<_>>().join("`, `");
    let message = format!("`{path}` has changes that are not committed: `{named}`{more}");
    Err(GitError::refused(ErrorCode::NotCommitted, message, "commit or stash them there"))
}

/// Git takes no working tree away that has submodules: their repositories are inside of it, with
/// whatever is committed there and nowhere else.
fn refuse_submodules(tree: &Worktree) -> Result<(), GitError> {
    let git = Git::at(&tree.path);
    let own = git.ask_line(&["rev-parse", "--path-format=absolute", "--git-dir"])?;
    let listing = git.ask(&["ls-files", "--stage", "-z"])?;
    let listing = String::from_utf8_lossy(&listing).into_owned();
    let links = listing.split('\0').filter(|line| line.starts_with("160000 "));
    let mut paths = links.filter_map(|line| line.split_once('\t').map(|(_, path)| path));
    let is_filled = |path: &&str| tree.path.join(path).join(".git").exists();
    if !Path::new(&own).join("modules").is_dir() && !paths.any(|path| is_filled(&path)) {
        return Ok(());
    }
    let path = tree.path.display();
    let branch = tree.branch.as_deref().unwrap_or("BRANCH");
    Err(GitError::refused(
        ErrorCode::Submodules,
        format!("`{path}` has submodules of its own, and git would refuse to remove it"),
        format!(
            "push what is committed in them; then commit there, `git merge {branch}` here and \
             `git worktree remove --force {path}` do it by hand"
        ),
    ))
}

/// Merges the branch of a working tree into the one checked out here and takes both away.
///
/// # Errors
/// There is no such working tree, it has changes that are not committed, or git fails.
pub(crate) fn finish_worktree(dir: &Path, name: &str) -> Result<Finished, GitError> {
    let repository = Repository::of(dir)?;
    let tree = find(dir, name)?;
    check_finish(dir, &tree)?;
    let message = format!("Merge branch '{name}'");
    let merged = {
        let args = ["merge", "--no-ff", "-m", &message, "--end-of-options", name];
        repository.git.run_as_user(&args, "")?
    };
    let mut resolved = Vec::new();
    if !merged.status.success() {
        // A hook may refuse what is no conflict; that is not ours to settle.
        if in_conflict(&repository)?.is_empty() {
            return Err(merge_refused(&repository, name, &merged));
        }
        // Without the driver the state files are in conflict; with it, only what really is.
        resolved = resolve(&repository.dir, false)?;
        let unsettled = in_conflict(&repository)?;
        if !unsettled.is_empty() {
            return Ok(Finished { branch: name.to_owned(), merged: false, resolved, unsettled });
        }
        let done = repository.git.run_as_user(&["commit", "--quiet", "-m", &message], "")?;
        if !done.status.success() {
            return Err(merge_refused(&repository, name, &done));
        }
    }
    remove(&repository, &tree)?;
    let reference = format!("refs/heads/{name}");
    // `-d` asks the upstream where there is one; what counts is that it is merged here.
    let here = ["merge-base", "--is-ancestor", reference.as_str(), "HEAD"];
    let how = if repository.git.ask(&here).is_ok() { "-D" } else { "-d" };
    repository.git.ask(&["branch", "--quiet", how, "--", name])?;
    Ok(Finished { branch: name.to_owned(), merged: true, resolved, unsettled: Vec::new() })
}

/// The files that git could not merge, from the top.
fn in_conflict(repository: &Repository) -> Result<Vec<String>, GitError> {
    let args = ["diff", "--name-only", "--diff-filter=U", "-z"];
    let left = repository.git.ask(&[args.as_slice(), &AS_IT_IS].concat())?;
    let left = String::from_utf8_lossy(&left).into_owned();
    Ok(left.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
}

/// Why git did not merge; what it left half-way is left.
fn merge_refused(repository: &Repository, name: &str, output: &Output) -> GitError {
    let said = String::from_utf8_lossy(&output.stderr);
    let said: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let mut said = said.join(" ");
    if said.is_empty() {
        said = format!("the merge of `{name}` was refused, perhaps by a hook, without a reason");
    }
    let is_half_way = repository.git_path("MERGE_HEAD").is_ok_and(|head| head.exists());
    if is_half_way && let Err(error) = repository.git.ask(&["merge", "--abort"]) {
        said.push_str(&format!("; `git merge --abort` also failed: {error}"));
    }
    failure(said)
}

/// Takes a working tree away without merging it; its branch stays.
///
/// # Errors
/// It has changes that are not committed, or git fails.
pub(crate) fn abandon_worktree(dir: &Path, tree: &Worktree) -> Result<(), GitError> {
    check_finish(dir, tree)?;
    remove(&Repository::of(dir)?, tree)
}

/// The working tree of a branch that is not this one.
///
/// # Errors
/// There is none.
pub(crate) fn find(dir: &Path, name: &str) -> Result<Worktree, GitError> {
    let trees = worktrees(dir)?;
    let on_it = |tree: &&Worktree| tree.branch.as_deref() == Some(name);
    match trees.iter().find(|tree| on_it(tree) && !tree.here) {
        Some(tree) => Ok(tree.clone()),
        None if trees.iter().any(|tree| on_it(&tree) && tree.here) => Err(GitError::refused(
            ErrorCode::NotFound,
            format!("`{name}` is the branch that is checked out here"),
            "finish it from the worktree whose branch it is to be merged into",
        )),
        None => Err(GitError::refused(
            ErrorCode::NotFound,
            format!("there is no other worktree on branch `{name}`"),
            "`statedir worktree list` shows them",
        )),
    }
}

fn remove(repository: &Repository, tree: &Worktree) -> Result<(), GitError> {
    let path = tree.path.to_string_lossy();
    // What git ignores, such as the operation log of that state, would keep it from being removed.
    // A branch may have links on the way there, which lead out of the working tree.
    let real = tree.path.canonicalize().map(|path| path.join(&repository.inside));
    let is_inside = real.is_ok_and(|real| tree.state.canonicalize().is_ok_and(|it| it == real));
    if is_inside {
        let state = Directory::open(&tree.state).map_err(super::install::failed)?;
        state.remove_all(PRIVATE_DIR).map_err(super::install::failed)?;
    }
    repository.git.ask(&["worktree", "remove", "--", &path])?;
    Ok(())
}
