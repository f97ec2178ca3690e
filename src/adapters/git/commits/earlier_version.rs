//! Whether the files are an earlier version that git was told to go back to.

use std::{collections::BTreeMap, path::Path};

use super::{
    removed::{sizes, steps},
    version::versions,
};
use crate::{
    adapters::git::repository::Repository,
    domain::{FilesByName, StateFile},
    history::{EntryId, signed_ids},
    store::AppendedView,
};

/// How many versions are compared, the longest first.
const MOST: usize = 20;
const NAME: &str = StateFile::History.name();

/// Whether the history is a committed version with nothing added to it but entries that are newer
/// than `entry`, which is missing.
pub(crate) fn went_back(dir: &Path, history: &AppendedView, entry: EntryId) -> bool {
    let Ok(repository) = Repository::around(dir) else { return false };
    let Ok(found) = history.read_from(0) else { return false };
    let found = plain(&found);
    let is_version = |version: &[u8]| {
        let added = found.strip_prefix(plain(version).as_slice());
        added.is_some_and(|added| signed_ids(added).all(|id| id > entry))
    };
    if repository.blob("HEAD", NAME).is_some_and(|version| is_version(&version)) {
        return true;
    }
    let steps = steps(&repository, &["--all", "--reflog"]).unwrap_or_default();
    let sizes = sizes(&repository, &steps);
    let mut blobs: Vec<(u64, &str)> = steps
        .iter()
        .flat_map(|step| [step.before.as_str(), step.after.as_str()])
        .map(|blob| (sizes.get(blob).copied().unwrap_or(0), blob))
        .filter(|(size, _)| *size > 0 && *size <= found.len() as u64)
        .collect();
    blobs.sort_unstable();
    blobs.dedup();
    let mut longest = blobs.iter().rev().take(MOST);
    longest.any(|(_, blob)| repository.git.blob(blob).is_some_and(|version| is_version(&version)))
}

/// The files before and after the commit that took out the entry. For a merge, before is the side
/// that had it, and after is where the sides parted.
pub(crate) fn files_around(dir: &Path, commit: &str, entry: EntryId) -> Option<[FilesByName; 2]> {
    let repository = Repository::around(dir).ok()?;
    let parents = repository.git.ask_line(&["rev-parse", &format!("{commit}^@")]).ok()?;
    let parents: Vec<&str> = parents.split_whitespace().collect();
    let had = |parent: &&&str| {
        let history = repository.blob(parent, NAME).unwrap_or_default();
        signed_ids(history.as_slice()).any(|id| id == entry)
    };
    let before = *parents.iter().find(had)?;
    let after = match parents.iter().find(|parent| **parent != before) {
        Some(other) => repository.git.ask_line(&["merge-base", before, other]).ok()?,
        None => commit.to_owned(),
    };
    Some([files_at(&repository, before)?, files_at(&repository, &after)?])
}

/// What the last commit holds of a file.
pub(crate) fn committed(dir: &Path, file: StateFile) -> Option<Vec<u8>> {
    Repository::around(dir).ok()?.blob("HEAD", file.name())
}

fn files_at(repository: &Repository, commit: &str) -> Option<FilesByName> {
    let mut files = BTreeMap::new();
    for version in versions(repository, commit).ok()? {
        if version.file != StateFile::History
            && version.refusal(super::version::MAX_BYTES).is_none()
        {
            files.insert(version.file.name().to_owned(), repository.git.blob(&version.object)?);
        }
    }
    Some(files)
}

/// Line ends as git keeps them.
fn plain(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().copied().filter(|byte| *byte != b'\r').collect()
}
