//! Resolving an ordinary git conflict by meaning, afterwards.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::{
    adapters::git::{
        GitError, discovery,
        install::{failed, replace},
        repository::{Repository, read_state_file},
    },
    domain::{ErrorCode, StateFile},
    merge::{
        Conflict, Side, choose_side, conflicts, copy_step_data, has_git_markers, merge,
        split_git_markers,
    },
    rules::workflow_or_builtin,
};

/// A file that was merged anew.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Resolved {
    pub file: StateFile,
    /// Where the sides came from: `index` or `markers`; `file` where it was left alone, `plan` where
    /// it follows from the plan.
    pub from: &'static str,
    /// The conflicts that are left for a person.
    pub conflicts: Vec<Conflict>,
    /// Whether the file was left alone because it was changed after git had left it.
    pub kept: bool,
}

/// A file of which git has several versions and no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Unmerged {
    pub file: StateFile,
    /// Whether it was changed after git had left it.
    pub edited: bool,
}

/// Merges every state file that git left in conflict: from the three versions in the index, whether
/// or not there are markers in the file, or from the markers where the index has forgotten them.
/// Files without conflicts are marked as resolved.
pub(crate) fn resolve(dir: &Path, dry_run: bool) -> Result<Vec<Resolved>, GitError> {
    let repository = Repository::of(dir)?;
    let unmerged = unmerged(&repository)?;
    let workflow = repository.read(StateFile::Workflow).ok().flatten();
    let workflow = workflow_or_builtin(workflow.as_deref());
    let mut done = Vec::new();
    for file in StateFile::FIVE {
        let path = repository.dir.join(file.name());
        let text = repository.read(file).ok().flatten();
        let text = text.and_then(|bytes| String::from_utf8(bytes).ok());
        let found = unmerged.iter().find(|unmerged| unmerged.file == file);
        // A file that a person or the driver has already worked on is not started over.
        if found.is_some_and(|found| found.edited && file != StateFile::History) {
            let conflicts = conflicts(file, text.as_deref().unwrap_or_default().as_bytes());
            done.push(Resolved { file, from: "file", conflicts, kept: true });
            continue;
        }
        let (base, ours, theirs, from) = if let Some(found) = found {
            let [base, mut ours, theirs] = stages(&repository, file);
            // A log is a set of entries: what was added since is one side's.
            if found.edited
                && let (Some(text), Some(old)) = (&text, &ours)
                && let Ok(Some(both)) =
                    merge(file, None, Some(old), Some(text.as_bytes()), &workflow)
            {
                ours = Some(both.bytes);
            }
            (base, ours, theirs, "index")
        } else {
            let Some((ours, theirs)) = text.as_deref().and_then(split_git_markers) else {
                continue;
            };
            (None, Some(ours.into_bytes()), Some(theirs.into_bytes()), "markers")
        };
        let merged = merge(file, base.as_deref(), ours.as_deref(), theirs.as_deref(), &workflow);
        let mut merged = merged.map_err(|error| unreadable(file, &error.to_string()))?;
        if let Some(merged) = merged.as_mut().filter(|_| file == StateFile::Variables)
            && let Ok(Some(plan)) = repository.read(StateFile::Plan)
        {
            // The plan came before it in this loop.
            merged.bytes = copy_step_data(std::mem::take(&mut merged.bytes), plan);
        }
        if let Some(merged) = &mut merged {
            keep_line_ends(&mut merged.bytes, text.as_deref().unwrap_or_default());
        }
        let conflicts = merged.as_ref().map(|merged| merged.conflicts.clone()).unwrap_or_default();
        if !dry_run {
            match &merged {
                Some(merged) => replace(&path, &merged.bytes)?,
                None if path.symlink_metadata().is_ok() => {
                    fs_err::remove_file(&path).map_err(failed)?
                }
                None => {}
            }
            if conflicts.is_empty() && from == "index" {
                repository.git.ask(&["add", "-A", "--", &repository.path(file.name())])?;
            }
        }
        done.push(Resolved { file, from, conflicts, kept: false });
    }
    if let Some(resolved) = follow_plan(&repository, &done, dry_run)? {
        done.push(resolved);
    }
    Ok(done)
}

/// Two sides that each add a step count to the same number: git sees one variables.json and leaves
/// it out of the merge, though the merged plan has one more.
fn follow_plan(
    repository: &Repository,
    done: &[Resolved],
    dry_run: bool,
) -> Result<Option<Resolved>, GitError> {
    let is_merged = |found: &&Resolved| found.file == StateFile::Plan && found.conflicts.is_empty();
    let Some(plan) = done.iter().find(is_merged) else { return Ok(None) };
    let file = StateFile::Variables;
    let path = repository.dir.join(file.name());
    let (Ok(Some(bytes)), Ok(Some(text))) =
        (repository.read(file), repository.read(StateFile::Plan))
    else {
        return Ok(None);
    };
    let is_done = done.iter().any(|found| found.file == file);
    if is_done || !conflicts(file, &bytes).is_empty() {
        return Ok(None);
    }
    let agreed = copy_step_data(bytes.clone(), text);
    if agreed == bytes {
        return Ok(None);
    }
    if !dry_run {
        replace(&path, &agreed)?;
        if plan.from == "index" {
            repository.git.ask(&["add", "--", &repository.path(file.name())])?;
        }
    }
    Ok(Some(Resolved { file, from: "plan", conflicts: Vec::new(), kept: false }))
}

/// The index may hold other line ends than the working tree, which git converts.
fn keep_line_ends(bytes: &mut Vec<u8>, found: &str) {
    let has_crlf = |bytes: &[u8]| bytes.windows(2).any(|pair| pair == b"\r\n");
    if !has_crlf(found.as_bytes()) || has_crlf(bytes) {
        return;
    }
    let text = String::from_utf8_lossy(bytes).replace('\n', "\r\n");
    *bytes = text.into_bytes();
}

fn unreadable(file: StateFile, why: &str) -> GitError {
    let hint = format!(
        "`git checkout --ours {file}` or `--theirs` takes one side as a whole; or fix it by hand"
    );
    GitError::refused(ErrorCode::Unreadable, why, hint)
}

/// Tells git that a conflict in a file is resolved; nothing else is staged.
pub(crate) fn mark_resolved(dir: &Path, file: StateFile) -> Result<bool, GitError> {
    let Ok(repository) = Repository::of(dir) else { return Ok(false) };
    if unmerged(&repository)?.iter().all(|unmerged| unmerged.file != file) {
        return Ok(false);
    }
    repository.git.ask(&["add", "--", &repository.path(file.name())])?;
    Ok(true)
}

/// Tells git that files which it considers unmerged are resolved; does nothing outside a
/// repository.
pub(crate) fn stage_resolved(dir: &Path, names: &[String]) -> Result<(), GitError> {
    let Ok(repository) = Repository::of(dir) else { return Ok(()) };
    for name in names {
        let path = repository.path(name);
        if !repository.git.ask(&["ls-files", "--unmerged", "--", &path])?.is_empty() {
            repository.git.ask(&["add", "--", &path])?;
        }
    }
    Ok(())
}

/// Stages state files that changed while a conflict was resolved, so that they are committed with
/// it.
pub(crate) fn stage(dir: &Path, files: &[StateFile]) -> Result<(), GitError> {
    let repository = Repository::around(dir)?;
    let paths: Vec<String> = files.iter().map(|file| repository.path(file.name())).collect();
    let mut args = vec!["add", "--"];
    args.extend(paths.iter().map(String::as_str));
    repository.git.ask(&args).map(|_| ())
}

/// Unites the two sides of a history that git left markers in, or that holds a conflict above its
/// log.
///
/// # Errors
/// The file cannot be read or written, or there is nothing to resolve.
pub(crate) fn unite_history(dir: &Path, side: Side) -> Result<(), GitError> {
    let path = dir.join(StateFile::History.name());
    let bytes = read_state_file(dir, StateFile::History).map_err(failed)?;
    let bytes = bytes.ok_or_else(|| failed(std::io::ErrorKind::NotFound.into()))?;
    let chosen = choose_side(StateFile::History, &bytes, "history", side);
    let (bytes, _) = chosen.map_err(|error| unreadable(StateFile::History, &error.to_string()))?;
    replace(&path, &bytes)
}

/// The state files that git considers unmerged, whatever they contain; none outside a repository.
pub(crate) fn unmerged_files(dir: &Path) -> Result<Vec<Unmerged>, GitError> {
    match Repository::of(dir) {
        Ok(repository) => unmerged(&repository),
        Err(GitError::NoRepository(_) | GitError::NoProgram(_)) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn unmerged(repository: &Repository) -> Result<Vec<Unmerged>, GitError> {
    if !repository.dir.is_dir() {
        return Ok(Vec::new());
    }
    let listing =
        repository.git.ask_text(&["ls-files", "-u", "-z", "--", &repository.path(".")])?;
    let names: Vec<&str> = listing
        .split('\0')
        .filter_map(|line| line.split_once('\t').map(|(_, name)| name))
        .collect();
    let is_unmerged = |file: &StateFile| names.contains(&repository.path(file.name()).as_str());
    let files = StateFile::FIVE.into_iter().filter(is_unmerged);
    Ok(files.map(|file| Unmerged { file, edited: is_edited(repository, file) }).collect())
}

/// Whether the file is neither what git leaves where it cannot merge nor holds its markers.
fn is_edited(repository: &Repository, file: StateFile) -> bool {
    let Ok(Some(bytes)) = repository.read(file) else { return false };
    if has_git_markers(&String::from_utf8_lossy(&bytes)) {
        return false;
    }
    let [_, ours, theirs] = stages(repository, file);
    let plain = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace("\r\n", "\n");
    ours.or(theirs).is_none_or(|left| plain(&left) != plain(&bytes))
}

/// The base, our side and their side of a file, as the index has them.
fn stages(repository: &Repository, file: StateFile) -> [Option<Vec<u8>>; 3] {
    [1, 2, 3].map(|stage| repository.blob(&format!(":{stage}"), file.name()))
}

/// The files that git leaves in its directory while a command is in progress, with the name of the
/// command. A rebase also leaves those of a pick, so it comes first.
const MARKS: [(&str, Option<&str>); 7] = [
    ("rebase-merge", Some("rebase")),
    ("rebase-apply/applying", Some("am")),
    ("rebase-apply", Some("rebase")),
    ("MERGE_HEAD", Some("merge")),
    ("CHERRY_PICK_HEAD", Some("cherry-pick")),
    ("REVERT_HEAD", Some("revert")),
    // Left by a command without `--continue` and `--abort`, such as a stash.
    ("AUTO_MERGE", None),
];

/// The git command that is in progress in the working tree around `dir` and takes `--continue` and
/// `--abort`, such as `merge`.
pub(crate) fn under_way(dir: &Path) -> Option<&'static str> {
    mark(&git_dir(dir)?)?
}

fn mark(git: &Path) -> Option<Option<&'static str>> {
    MARKS.iter().find(|(mark, _)| git.join(mark).exists()).map(|(_, command)| *command)
}

/// The state files that git considers unmerged and that are as git left them.
///
/// Every change asks this, so git is run only where it stopped half-way.
pub(crate) fn left_unmerged(dir: &Path) -> Vec<StateFile> {
    if git_dir(dir).and_then(|git| mark(&git)).is_none() {
        return Vec::new();
    }
    let unmerged = unmerged_files(dir).unwrap_or_default();
    unmerged.iter().filter(|unmerged| !unmerged.edited).map(|unmerged| unmerged.file).collect()
}

/// The directory of git's own that belongs to the working tree around `dir`.
fn git_dir(dir: &Path) -> Option<PathBuf> {
    discovery::git_dir(discovery::top(&discovery::resolve(dir))?)
}
