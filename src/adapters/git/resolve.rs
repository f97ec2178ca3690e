//! Settling an ordinary conflict of git by meaning, afterwards.

use std::path::Path;

use serde::Serialize;

use super::{
    GitError,
    install::{failed, replace},
    program::ask,
    repository::Repository,
};
use crate::model::{
    StateFile,
    merge::{Conflict, Side, agree_with_plan, has_git_markers, merge, split_git_markers, take},
};

/// A file that was merged anew.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Resolved {
    /// The file.
    pub file: StateFile,
    /// Where the sides came from: `index` or `markers`.
    pub from: &'static str,
    /// What a person still has to settle.
    pub conflicts: Vec<Conflict>,
}

/// Merges every state file that git left in conflict: from the three versions in the index, or from
/// the markers in the file where the index has forgotten them. Files without conflicts are marked
/// as resolved.
///
/// # Errors
/// There is no repository, or a file cannot be read or written.
pub fn resolve(dir: &Path, dry_run: bool) -> Result<Vec<Resolved>, GitError> {
    let repository = Repository::of(dir)?;
    let unmerged = unmerged(&repository)?;
    let mut done = Vec::new();
    for file in StateFile::FIVE {
        let path = repository.dir.join(file.name());
        // What a person or the driver has made of a file already is not started over.
        let text = fs_err::read_to_string(&path).ok();
        if text.as_deref().is_some_and(|text| !has_git_markers(text)) {
            continue;
        }
        let (base, ours, theirs, from) = if unmerged.contains(&file) {
            let stage = |stage: u8| repository.blob(&format!(":{stage}"), file.name());
            (stage(1), stage(2), stage(3), "index")
        } else {
            let Some((ours, theirs)) = text.as_deref().and_then(split_git_markers) else {
                continue;
            };
            (None, Some(ours.into_bytes()), Some(theirs.into_bytes()), "markers")
        };
        let merged = merge(file, base.as_deref(), ours.as_deref(), theirs.as_deref());
        let mut merged = merged.map_err(|error| GitError::Failed(error.to_string()))?;
        if let Some(merged) = merged.as_mut().filter(|_| file == StateFile::Variables)
            && let Ok(plan) = fs_err::read(repository.dir.join(StateFile::Plan.name()))
        {
            // The plan came before it in this loop.
            merged.bytes = agree_with_plan(std::mem::take(&mut merged.bytes), plan);
        }
        let conflicts = merged.as_ref().map(|merged| merged.conflicts.clone()).unwrap_or_default();
        if !dry_run {
            match &merged {
                Some(merged) => replace(&path, &merged.bytes)?,
                None if path.exists() => fs_err::remove_file(&path).map_err(failed)?,
                None => {}
            }
            if conflicts.is_empty() && from == "index" {
                ask(&repository.dir, &["add", "-A", "--", file.name()])?;
            }
        }
        done.push(Resolved { file, from, conflicts });
    }
    Ok(done)
}

/// Tells git that a file that was in conflict is settled; nothing else is staged.
///
/// # Errors
/// Git cannot be asked.
pub fn mark_resolved(dir: &Path, file: StateFile) -> Result<bool, GitError> {
    let Ok(repository) = Repository::of(dir) else { return Ok(false) };
    if !unmerged(&repository)?.contains(&file) {
        return Ok(false);
    }
    ask(&repository.dir, &["add", "--", file.name()])?;
    Ok(true)
}

/// Stages state files that changed while a conflict was settled, so that they are committed with it.
///
/// # Errors
/// Git cannot be asked.
pub fn stage(dir: &Path, files: &[StateFile]) -> Result<(), GitError> {
    let names: Vec<&str> = files.iter().map(|file| file.name()).collect();
    ask(dir, &[&["add", "--"], names.as_slice()].concat()).map(|_| ())
}

/// Unites the two sides of a history that git left markers in, or that holds a conflict above its
/// log.
///
/// # Errors
/// The file cannot be read or written, or there is nothing to settle.
pub fn unite_history(dir: &Path, side: Side) -> Result<(), GitError> {
    let path = dir.join(StateFile::History.name());
    let bytes = fs_err::read(&path).map_err(failed)?;
    let settled = take(StateFile::History, &bytes, "history", side);
    let (bytes, _) = settled.map_err(|error| GitError::Failed(error.to_string()))?;
    replace(&path, &bytes)
}

fn unmerged(repository: &Repository) -> Result<Vec<StateFile>, GitError> {
    if !repository.dir.is_dir() {
        return Ok(Vec::new());
    }
    let listing = ask(&repository.dir, &["ls-files", "-u", "-z", "--", "."])?;
    let listing = String::from_utf8_lossy(&listing).into_owned();
    let names = listing.split('\0').filter_map(|line| line.split_once('\t').map(|(_, name)| name));
    let mut files: Vec<StateFile> = names
        .filter_map(|name| StateFile::FIVE.into_iter().find(|file| file.name() == name))
        .collect();
    files.dedup();
    Ok(files)
}
