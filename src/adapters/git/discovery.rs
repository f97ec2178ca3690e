//! Which work tree a directory is in, found without asking git.
//!
//! Git takes a directory with `HEAD`, `objects` and `refs` in it for a repository, reads the `config`
//! beside them, and runs the programs that this names. Such files can be committed like any others,
//! so git is never started in a directory that may have come with a clone. A `.git` cannot be
//! committed: git refuses that name.

use std::path::{Path, PathBuf};

/// The directory with links resolved, as far as it exists.
pub(super) fn resolve(dir: &Path) -> PathBuf {
    let dir = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
    let there = dir.ancestors().find(|dir| dir.is_dir()).unwrap_or(&dir);
    let real = there.canonicalize().unwrap_or_else(|_| there.to_owned());
    match dir.strip_prefix(there) {
        Ok(missing) if !missing.as_os_str().is_empty() => real.join(missing),
        _ => real,
    }
}

/// The top of the innermost work tree that `dir` is in; a directory that has a repository of its
/// own, such as a submodule, is its own. `dir` must be resolved and need not be there.
pub(super) fn top(dir: &Path) -> Option<&Path> {
    tops(dir).next()
}

/// The tops of all work trees that `dir` is in, the innermost first.
pub(super) fn tops(dir: &Path) -> impl Iterator<Item = &Path> {
    dir.ancestors().filter(|dir| has_repository(dir))
}

/// Git's own directory of the work tree at `top`.
pub(super) fn git_dir(top: &Path) -> Option<PathBuf> {
    let entry = top.join(".git");
    match entry.metadata().ok()?.is_dir() {
        true => Some(entry),
        // A linked work tree or a submodule says where it is.
        false => Some(top.join(read_link(&entry)?)),
    }
}

/// Whether the `.git` of a directory is one that git would use: it passes over others.
fn has_repository(dir: &Path) -> bool {
    let entry = dir.join(".git");
    let Ok(found) = entry.metadata() else { return false };
    match found.is_dir() {
        true => entry.join("HEAD").symlink_metadata().is_ok(),
        false => found.is_file() && read_link(&entry).is_some(),
    }
}

/// Where a `.git` file points to.
fn read_link(file: &Path) -> Option<String> {
    const MOST: u64 = 64 << 10;
    let is_small = file.metadata().is_ok_and(|found| found.is_file() && found.len() <= MOST);
    let text = is_small.then(|| fs_err::read_to_string(file).ok()).flatten()?;
    Some(text.strip_prefix("gitdir:")?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_look_like_a_bare_repository_are_not_a_work_tree() {
        let project = tempfile::tempdir().unwrap();
        let root = project.path().canonicalize().unwrap();
        let state = root.join("workspace/state");
        for dir in [state.join("objects"), state.join("refs"), root.join(".git")] {
            std::fs::create_dir_all(dir).unwrap();
        }
        for file in [state.join("HEAD"), state.join("config"), root.join(".git/HEAD")] {
            std::fs::write(file, "ref: refs/heads/main\n").unwrap();
        }
        assert_eq!(top(&state), Some(root.as_path()));
        assert_eq!(top(&state.join("not/there")), Some(root.as_path()));
        // An empty `.git` hides nothing; a file that points elsewhere is a repository.
        std::fs::create_dir(state.join(".git")).unwrap();
        assert_eq!(top(&state), Some(root.as_path()));
        std::fs::remove_dir(state.join(".git")).unwrap();
        std::fs::write(state.join(".git"), "gitdir: ../../.git/modules/state\n").unwrap();
        assert_eq!(tops(&state).collect::<Vec<_>>(), [state.as_path(), root.as_path()]);
        assert_eq!(git_dir(&state), Some(state.join("../../.git/modules/state")));
    }
}
