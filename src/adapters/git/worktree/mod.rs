//! Worktrees in which agents work at the same time, each with its own state.

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
    program::{AS_IT_IS, Git, failure, stderr_message},
    repository::Repository,
    tracked::PRIVATE_DIR,
};
use crate::{domain::ErrorCode, store::Directory};

/// The most commits of a branch that are named.
const MOST_COMMITS: usize = 50;

/// A working tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Worktree {
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
    /// Whether it is locked against removal.
    pub locked: bool,
    /// Whether creating it was interrupted.
    #[serde(skip)]
    pub(super) unfinished: bool,
}

/// How a working tree was merged back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Finished {
    pub branch: String,
    /// Whether it is merged.
    pub merged: bool,
    /// The commits of the branch, oldest first.
    pub commits: Vec<String>,
    pub merge_commit: Option<String>,
    /// State files that git left in conflict and that were merged by meaning.
    pub resolved: Vec<Resolved>,
    /// Files in conflict, left for a person; the merge is in progress.
    pub unsettled: Vec<String>,
}

/// All working trees of the repository.
pub(crate) fn worktrees(dir: &Path) -> Result<Vec<Worktree>, GitError> {
    let repository = Repository::of(dir)?;
    let inside = &repository.inside;
    let listing = repository.git.ask_text(&["worktree", "list", "--porcelain", "-z"])?;
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
                unfinished: false,
            }),
            ("HEAD", Some(tree)) => tree.commit = value.to_owned(),
            ("branch", Some(tree)) => {
                tree.branch = Some(value.strip_prefix("refs/heads/").unwrap_or(value).to_owned());
            }
            ("bare", Some(tree)) => tree.bare = true,
            ("locked", Some(tree)) => {
                tree.locked = true;
                tree.unfinished = value == "initializing";
            }
            _ => {}
        }
    }
    let is_any_here = trees.iter().any(|tree| tree.here);
    // For a repository whose git directory is elsewhere, git prints that directory.
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

/// Whether the repository has a branch of that name; `None` without a repository.
pub(crate) fn has_branch(dir: &Path, branch: &str) -> Option<bool> {
    let git = Git::around(dir).ok()?;
    git.ask(&["rev-parse", "--git-dir"]).ok()?;
    let reference = format!("refs/heads/{branch}");
    Some(git.ask(&["rev-parse", "--verify", "--quiet", &reference]).is_ok())
}

/// What an interrupted attempt to create a working tree left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// No branch and no working tree of that name.
    Nothing,
    /// A branch without commits of its own, and perhaps files that git was about to write.
    Branch,
    /// The working tree.
    Worktree,
}

/// What is left of an interrupted attempt to create that working tree.
pub(crate) fn left_by_add(dir: &Path, name: &str, path: &Path) -> Result<Left, GitError> {
    let repository = Repository::of(dir)?;
    let own = worktrees(dir)?.into_iter().find(|tree| tree.branch.as_deref() == Some(name));
    match own {
        Some(tree) if tree.path != path || (tree.locked && !tree.unfinished) => {
            return Ok(Left::Nothing);
        }
        Some(tree) if !tree.missing && !tree.unfinished => return Ok(Left::Worktree),
        _ => {}
    }
    let reference = format!("refs/heads/{name}");
    let is_there = repository.git.ask(&["rev-parse", "--verify", "--quiet", &reference]).is_ok();
    let is_merged = ["merge-base", "--is-ancestor", reference.as_str(), "HEAD"];
    let is_new = is_there && repository.git.ask(&is_merged).is_ok();
    Ok(if is_new { Left::Branch } else { Left::Nothing })
}

/// Keeps git from offering a working tree that lies inside this one to be added: its directory
/// is named in git's own list, which is not committed.
pub(crate) fn ignore_worktrees(dir: &Path, path: &Path) -> Result<(), GitError> {
    let repository = Repository::of(dir)?;
    let Ok(inside) = path.strip_prefix(&repository.top) else { return Ok(()) };
    let folder = match inside.parent().filter(|parent| parent.ends_with(".worktrees")) {
        Some(parent) => parent,
        None => inside,
    };
    let line = format!("/{}/", folder.to_string_lossy());
    let list = place::common_dir(&repository.git)?.join("info").join("exclude");
    let known = fs_err::read_to_string(&list).unwrap_or_default();
    if known.lines().any(|known| known == line) {
        return Ok(());
    }
    if let Some(parent) = list.parent() {
        fs_err::create_dir_all(parent).map_err(GitError::Io)?;
    }
    let newline = if known.is_empty() || known.ends_with('\n') { "" } else { "\n" };
    fs_err::write(&list, format!("{known}{newline}{line}\n")).map_err(GitError::Io)
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
    let made = match left_by_add(dir, name, path)? {
        Left::Nothing => {
            let args = ["worktree", "add", "--quiet", "-b", name, "--", &place];
            repository.git.run_as_user(&args, "")?
        }
        // An earlier attempt was interrupted. Its remains are removed, and the branch is reset to
        // where it would begin now.
        Left::Branch => {
            let _ = repository.git.ask(&["worktree", "unlock", "--", &place]);
            let _ = repository.git.ask(&["worktree", "remove", "--force", "--", &place]);
            repository.git.ask(&["worktree", "prune"])?;
            let args = ["worktree", "add", "--quiet", "-B", name, "--", &place];
            repository.git.run_as_user(&args, "")?
        }
        Left::Worktree => return find(dir, name),
    };
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
            _ => failure(stderr_message(&made)),
        });
    }
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let found = worktrees(dir)?;
    let same = |tree: &Worktree| tree.path.canonicalize().ok().as_deref() == Some(&*path);
    found.into_iter().find(same).ok_or_else(|| GitError::Failed("git made no worktree".to_owned()))
}

/// Refuses to remove a working tree that has uncommitted changes or is locked, or while another
/// merge is in progress here. Nothing is changed.
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
    // The state is committed by whoever finishes it.
    let (inside, attributes) = (repository.paths(), repository.path(ATTRIBUTES));
    let is_state =
        |path: &String| *path == attributes || inside.iter().any(|(_, state)| state == path);
    let mut files = uncommitted(&repository, tree)?;
    files.retain(|path| !is_state(path));
    refuse_uncommitted(tree, &files)
}

/// The files of a working tree that are not as they were committed, from its top. What is left of
/// a private directory whose removal was begun, without the file that tells git to ignore it, is
/// none of them.
fn uncommitted(repository: &Repository, tree: &Worktree) -> Result<Vec<String>, GitError> {
    let private = format!("?? {}/", repository.path(PRIVATE_DIR));
    let args = ["status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames"];
    let listing = Git::at(&tree.path).ask_text(&args)?;
    let lines = listing.split('\0').filter(|line| !line.starts_with(&private));
    Ok(lines.filter_map(|line| line.get(3..)).map(str::to_owned).collect())
}

fn refuse_uncommitted(tree: &Worktree, files: &[String]) -> Result<(), GitError> {
    if files.is_empty() {
        return Ok(());
    }
    let path = tree.path.display();
    let more = files.len().saturating_sub(3);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let named = files.iter().take(3).map(String::as_str).collect::<Vec<_>>().join("`, `");
    let message = format!("`{path}` has changes that are not committed: `{named}`{more}");
    Err(GitError::refused(ErrorCode::NotCommitted, message, "commit or stash them there"))
}

/// Git does not remove a working tree with submodules: their repositories are inside it, with
/// commits that may exist nowhere else.
fn refuse_submodules(tree: &Worktree) -> Result<(), GitError> {
    let git = Git::at(&tree.path);
    let own = git.ask_line(&["rev-parse", "--path-format=absolute", "--git-dir"])?;
    let listing = git.ask_text(&["ls-files", "--stage", "-z"])?;
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

/// Merges the branch of a working tree into the one checked out here. Both stay until
/// [`remove_worktree`], so that whoever is cut off in between can do it again.
///
/// # Errors
/// There is no such working tree, it has changes that are not committed, or git fails.
pub(crate) fn merge_worktree(dir: &Path, name: &str) -> Result<Finished, GitError> {
    let repository = Repository::of(dir)?;
    let tree = find(dir, name)?;
    check_finish(dir, &tree)?;
    if !tree.missing {
        refuse_uncommitted(&tree, &uncommitted(&repository, &tree)?)?;
    }
    let message = format!("Merge branch '{name}'");
    let mut commits = commits_between(&repository, "HEAD", name);
    let merged = {
        let args = ["merge", "--no-ff", "-m", &message, "--end-of-options", name];
        repository.git.run_as_user(&args, "")?
    };
    let mut resolved = Vec::new();
    if !merged.status.success() {
        // A hook may refuse without a conflict; that is for the user to resolve.
        if in_conflict(&repository)?.is_empty() {
            return Err(merge_refused(&repository, name, &merged));
        }
        // Without the driver the state files are in conflict; with it, only what really is.
        resolved = resolve(&repository.dir, false)?;
        let unsettled = in_conflict(&repository)?;
        if !unsettled.is_empty() {
            let (branch, merge_commit) = (name.to_owned(), None);
            return Ok(Finished {
                branch,
                merged: false,
                commits,
                merge_commit,
                resolved,
                unsettled,
            });
        }
        let done = repository.git.run_as_user(&["commit", "--quiet", "-m", &message], "")?;
        if !done.status.success() {
            return Err(merge_refused(&repository, name, &done));
        }
    }
    let merge_commit = merge_of(&repository, name);
    if let (true, Some(merge)) = (commits.is_empty(), &merge_commit) {
        commits = commits_between(&repository, &format!("{merge}^1"), name);
    }
    let (branch, unsettled) = (name.to_owned(), Vec::new());
    Ok(Finished { branch, merged: true, commits, merge_commit, resolved, unsettled })
}

/// Removes a working tree that was merged, and its branch.
///
/// # Errors
/// There is no such working tree, or git fails.
pub(crate) fn remove_worktree(dir: &Path, name: &str) -> Result<(), GitError> {
    let repository = Repository::of(dir)?;
    remove(&repository, &find(dir, name)?)?;
    let reference = format!("refs/heads/{name}");
    // `-d` would compare with the upstream; what counts is that it is merged here.
    let here = ["merge-base", "--is-ancestor", reference.as_str(), "HEAD"];
    let how = if repository.git.ask(&here).is_ok() { "-D" } else { "-d" };
    repository.git.ask(&["branch", "--quiet", how, "--", name])?;
    Ok(())
}

/// The commits of `branch` that `base` does not have, oldest first, by their short names. Commits
/// of state files alone are not counted as work.
fn commits_between(repository: &Repository, base: &str, branch: &str) -> Vec<String> {
    let range = format!("{base}..refs/heads/{branch}");
    let limit = format!("--max-count={MOST_COMMITS}");
    // A commit begins with two NULs in a row, the names of its files follow, each with one behind it.
    let args = ["log", "--no-merges", "--format=%x00%h", "--name-only", "-z", &limit, &range];
    let listed = repository.git.ask_text(&[&args, AS_IT_IS.as_slice(), &["--"]].concat());
    let listed = listed.unwrap_or_default();
    let state = repository.path("");
    let work = |commit: &str| {
        let mut words = commit.split('\0').map(str::trim).filter(|word| !word.is_empty());
        let name = words.next()?.to_owned();
        let mut files = words.peekable();
        let is_empty = files.peek().is_none();
        let is_other = |file: &str| state.is_empty() || !file.starts_with(&state);
        (is_empty || files.any(is_other)).then_some(name)
    };
    let mut commits: Vec<String> = listed.split("\0\0").filter_map(work).collect();
    commits.reverse();
    commits
}

/// The commit by which a branch came to be part of what is checked out here.
fn merge_of(repository: &Repository, branch: &str) -> Option<String> {
    let range = format!("refs/heads/{branch}..HEAD");
    let args = ["rev-list", "--merges", "--ancestry-path", "--abbrev-commit", &range, "--"];
    let listed = repository.git.ask_text(&args).ok()?;
    listed.lines().last().map(str::to_owned)
}

/// The files that git could not merge, from the top.
fn in_conflict(repository: &Repository) -> Result<Vec<String>, GitError> {
    let args = ["diff", "--name-only", "--diff-filter=U", "-z"];
    let left = repository.git.ask_text(&[args.as_slice(), &AS_IT_IS].concat())?;
    Ok(left.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
}

/// Why git did not merge; an unfinished merge is aborted.
fn merge_refused(repository: &Repository, name: &str, output: &Output) -> GitError {
    let stderr = String::from_utf8_lossy(&output.stderr);
    let stderr: Vec<&str> = stderr.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let mut stderr = stderr.join(" ");
    if stderr.is_empty() {
        stderr = format!("the merge of `{name}` was refused, perhaps by a hook, without a reason");
    }
    let is_half_way = repository.git_path("MERGE_HEAD").is_ok_and(|head| head.exists());
    if is_half_way && let Err(error) = repository.git.ask(&["merge", "--abort"]) {
        stderr.push_str(&format!("; `git merge --abort` also failed: {error}"));
    }
    failure(stderr)
}

/// Removes a working tree without merging it; its branch stays.
///
/// # Errors
/// It has changes that are not committed, or git fails.
pub(crate) fn abandon_worktree(dir: &Path, tree: &Worktree) -> Result<(), GitError> {
    check_finish(dir, tree)?;
    remove(&Repository::of(dir)?, tree)
}

/// The working tree of a branch that is not this one.
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
