//! Where a repository keeps what.

use std::path::{Path, PathBuf};

use super::{
    GitError,
    program::{ask, ask_line},
};
use crate::domain::StateFile;

/// A repository as seen from a state directory.
#[derive(Clone, Debug)]
pub(super) struct Repository {
    /// The state directory.
    pub(super) dir: PathBuf,
    /// The top of the working tree.
    pub(super) top: PathBuf,
}

impl Repository {
    /// The repository that `dir` is in; `dir` need not be there yet.
    pub(super) fn of(dir: &Path) -> Result<Self, GitError> {
        let dir = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
        let there = dir.ancestors().find(|dir| dir.is_dir()).unwrap_or(&dir);
        let top = ask_line(there, &["rev-parse", "--path-format=absolute", "--show-toplevel"])?;
        let real = there.canonicalize().unwrap_or_else(|_| there.to_owned());
        let dir = match dir.strip_prefix(there) {
            Ok(missing) if !missing.as_os_str().is_empty() => real.join(missing),
            _ => real,
        };
        Ok(Self { dir, top: PathBuf::from(top) })
    }

    /// A path of git's own, such as `hooks` or `info/attributes`.
    pub(super) fn git_path(&self, name: &str) -> Result<PathBuf, GitError> {
        let args = ["rev-parse", "--path-format=absolute", "--git-path", name];
        Ok(PathBuf::from(ask_line(&self.top, &args)?))
    }

    /// Refuses while another git is at work here, before anything is changed.
    pub(super) fn refuse_locked(&self) -> Result<(), GitError> {
        let lock = self.git_path("index.lock")?;
        match lock.exists() {
            true => Err(GitError::Locked(format!("`{}` exists", lock.display()))),
            false => Ok(()),
        }
    }

    /// The state directory below the top, with slashes; empty for the top itself.
    pub(super) fn inside(&self) -> Result<String, GitError> {
        let top = self.top.canonicalize().unwrap_or_else(|_| self.top.clone());
        let inside = self.dir.strip_prefix(&top);
        let inside = inside.map_err(|_| GitError::NoRepository(self.dir.clone()))?;
        let parts: Vec<_> =
            inside.components().map(|part| part.as_os_str().to_string_lossy()).collect();
        Ok(parts.join("/"))
    }

    /// Every state file with its path below the top.
    pub(super) fn paths(&self) -> Result<Vec<(StateFile, String)>, GitError> {
        let inside = self.inside()?;
        let path = |file: &StateFile| match inside.as_str() {
            "" => (*file, file.name().to_owned()),
            inside => (*file, format!("{inside}/{}", file.name())),
        };
        Ok(StateFile::FIVE.iter().chain(&[StateFile::Workflow]).map(path).collect())
    }

    /// The value of a setting of this repository.
    pub(super) fn config(&self, scope: &str, key: &str) -> Option<String> {
        ask_line(&self.top, &["config", scope, "--get", key]).ok()
    }

    /// The state files that are there, by name.
    pub(super) fn state_files(&self) -> Vec<&'static str> {
        let all = StateFile::FIVE.iter().chain(&[StateFile::Workflow]).map(|file| file.name());
        all.filter(|name| self.dir.join(name).symlink_metadata().is_ok()).collect()
    }

    /// The bytes of a file at a commit or in the index (`:0:`, `:2:`); `None` when it is not there.
    pub(super) fn blob(&self, at: &str, name: &str) -> Option<Vec<u8>> {
        ask(&self.dir, &["cat-file", "blob", &format!("{at}:./{name}")]).ok()
    }
}
