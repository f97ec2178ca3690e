//! Files by patterns, without following links.

use std::path::Path;

use crate::domain::layout::profile::{Profile, matches_part};

/// The most files with tasks that are looked at, and the most bytes of one.
pub(super) const MOST: usize = 1000;
pub(super) const MAX_BYTES: u64 = 16 << 20;

/// The most entries of one directory.
const ENTRIES: usize = 10_000;

/// The paths below `dir` that have the form of a pattern, in order.
pub(super) fn matching(dir: &Path, pattern: &str) -> Vec<String> {
    // Most patterns name one file that is not there.
    if !pattern.contains('*') && dir.join(pattern).symlink_metadata().is_err() {
        return Vec::new();
    }
    let mut found = vec![String::new()];
    for part in pattern.split('/') {
        let mut next = Vec::new();
        for parent in &found {
            let joined = |name: &str| match parent.as_str() {
                "" => name.to_owned(),
                parent => format!("{parent}/{name}"),
            };
            let is_there = |path: &String| {
                dir.join(path).symlink_metadata().is_ok_and(|data| !data.is_symlink())
            };
            if !part.contains('*') {
                next.extend(Some(joined(part)).filter(is_there));
                continue;
            }
            let Ok(entries) = fs_err::read_dir(dir.join(parent)) else { continue };
            let is_link =
                |entry: &fs_err::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_symlink());
            let entries = entries.flatten().take(ENTRIES).filter(|entry| !is_link(entry));
            let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
            next.extend(names.filter(|name| matches_part(part, name)).map(|name| joined(&name)));
        }
        found = next;
        found.sort_unstable();
    }
    found
}

/// The plan in `dir` itself, where that is one of the folders that a profile looks into, or holds a
/// file of the name that it looks for.
pub(super) fn inside(dir: &Path, profile: &Profile) -> Vec<String> {
    let names = profile.plan.iter().filter_map(|pattern| pattern.rsplit('/').next());
    names.filter(|name| !name.contains('*')).flat_map(|name| matching(dir, name)).collect()
}
