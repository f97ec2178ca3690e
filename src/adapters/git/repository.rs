//! Where a repository keeps its files.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::{GitError, commits::version::MAX_BYTES, discovery, program::Git};
use crate::{
    adapters::directory::layout_in,
    domain::{StateFile, layout::LAYOUT_FILE},
    store::Directory,
};

/// The largest history that is read or brought back; it may be longer than the other files.
pub(super) const MAX_HISTORY: u64 = 1 << 30;

/// A repository as seen from a state directory.
#[derive(Clone, Debug)]
pub(super) struct Repository {
    /// The state directory.
    pub(super) dir: PathBuf,
    /// The top of the working tree.
    pub(super) top: PathBuf,
    /// Git, at the top.
    pub(super) git: Git,
    /// The state directory below the top, with slashes; empty for the top itself.
    pub(super) inside: String,
}

impl Repository {
    /// The repository that `dir` is in, which git can use; `dir` need not be there yet.
    pub(super) fn of(dir: &Path) -> Result<Self, GitError> {
        let found = Self::around(dir)?;
        let top =
            found.git.ask_line(&["rev-parse", "--path-format=absolute", "--show-toplevel"])?;
        let top = PathBuf::from(top);
        // A repository may say that its work tree is elsewhere.
        match top.canonicalize().unwrap_or(top) == found.top {
            true => Ok(found),
            false => Err(GitError::NoRepository(found.dir)),
        }
    }

    /// The same without asking git whether it can use it; a later question will tell.
    pub(super) fn around(dir: &Path) -> Result<Self, GitError> {
        let dir = discovery::resolve(dir);
        let git = Git::around(&dir)?;
        let top = git.top().to_owned();
        let inside = dir.strip_prefix(&top).unwrap_or(&dir);
        let parts: Vec<_> =
            inside.components().map(|part| part.as_os_str().to_string_lossy()).collect();
        let inside = parts.join("/");
        Ok(Self { dir, top, git, inside })
    }

    /// A path of git's own, such as `hooks` or `info/attributes`.
    pub(super) fn git_path(&self, name: &str) -> Result<PathBuf, GitError> {
        self.git.own_path(name)
    }

    /// Refuses while another git is at work here, before anything is changed.
    pub(super) fn refuse_locked(&self) -> Result<(), GitError> {
        let lock = self.git_path("index.lock")?;
        match lock.exists() {
            true => Err(GitError::Locked(format!("`{}` exists", lock.display()))),
            false => Ok(()),
        }
    }

    /// The path of a file of the state below the top.
    pub(super) fn path(&self, name: &str) -> String {
        match self.inside.as_str() {
            "" => name.to_owned(),
            inside => format!("{inside}/{name}"),
        }
    }

    /// The bytes of a state file in the work tree; `None` when it is not there.
    pub(super) fn read(&self, file: StateFile) -> io::Result<Option<Vec<u8>>> {
        read_state_file(&self.dir, file)
    }

    /// Every state file with its path below the top.
    pub(super) fn paths(&self) -> Vec<(StateFile, String)> {
        let all = StateFile::FIVE.iter().chain(&[StateFile::Workflow]);
        all.map(|file| (*file, self.path(file.name()))).collect()
    }

    /// The value of a setting of this repository.
    pub(super) fn config(&self, scope: &str, key: &str) -> Option<String> {
        self.git.ask_line(&["config", scope, "--get", key]).ok()
    }

    /// The names of the files that the state is written to, there or not: those of a layout where
    /// it is adopted.
    pub(super) fn written_files(&self) -> Vec<String> {
        match layout_in(&self.dir) {
            Some(layout) => {
                let written = layout.written().into_iter().map(str::to_owned);
                std::iter::once(LAYOUT_FILE.to_owned()).chain(written).collect()
            }
            None => {
                let all = StateFile::FIVE.iter().chain(&[StateFile::Workflow]);
                all.map(|file| file.name().to_owned()).collect()
            }
        }
    }

    /// Those of them that are there.
    pub(super) fn state_files(&self) -> Vec<String> {
        let mut all = self.written_files();
        all.retain(|name| self.dir.join(name).symlink_metadata().is_ok());
        all
    }

    /// The bytes of a file at a commit or in the index (`:0`, `:2`); `None` when it is not there.
    pub(super) fn blob(&self, at: &str, name: &str) -> Option<Vec<u8>> {
        self.git.blob(&format!("{at}:{}", self.path(name)))
    }
}

/// The bytes of a state file in `dir`; `None` when it is not there. A link, which may have come with
/// a clone, is not followed.
pub(super) fn read_state_file(dir: &Path, file: StateFile) -> io::Result<Option<Vec<u8>>> {
    let limit = if file == StateFile::History { MAX_HISTORY } else { MAX_BYTES };
    Directory::open(dir)?.read(file.name(), limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_file_that_is_a_link_is_not_read() {
        let root = tempfile::tempdir().unwrap();
        let (dir, victim) = (root.path().join("state"), root.path().join("victim"));
        std::fs::create_dir(&dir).unwrap();
        std::fs::write(&victim, "secret").unwrap();
        std::os::unix::fs::symlink(&victim, dir.join("plan.md")).unwrap();
        std::fs::write(dir.join("context.md"), "# Context\n").unwrap();
        assert!(read_state_file(&dir, StateFile::Plan).is_err());
        assert!(std::fs::read(dir.join("plan.md")).is_ok(), "the link leads somewhere");
        let context = read_state_file(&dir, StateFile::Context).unwrap();
        assert_eq!(context.as_deref(), Some(b"# Context\n".as_slice()));
        assert_eq!(read_state_file(&dir, StateFile::History).unwrap(), None);
    }
}
