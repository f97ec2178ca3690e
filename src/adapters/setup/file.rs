//! Reading and replacing the files of clients.

use std::{
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use super::{Scope, SetupError};
use crate::adapters::replace::{clean, is_temporary, named, real, remove, replace};

/// The largest file that is touched.
const LIMIT: u64 = 16 << 20;

/// A file before and after; `None` where there is none.
#[derive(Clone, Debug)]
pub(crate) struct FilePlan {
    /// The file.
    pub path: PathBuf,
    /// What is put into it.
    pub what: String,
    /// Its text now.
    pub before: Option<String>,
    /// Its text then.
    pub after: Option<String>,
    /// So many of the folders above a file that goes were there before it and stay.
    pub folders: usize,
    /// Why something is not as it was asked for.
    pub note: Option<String>,
}

/// What happens to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileAction {
    /// It comes into being.
    Create,
    Change,
    /// It goes.
    Remove,
    /// It is as it should be.
    Keep,
}

impl FilePlan {
    /// What happens to it.
    pub(crate) fn action(&self) -> FileAction {
        match (&self.before, &self.after) {
            (None, Some(_)) => FileAction::Create,
            (Some(_), None) => FileAction::Remove,
            (before, after) if before != after => FileAction::Change,
            _ => FileAction::Keep,
        }
    }

    /// The change as a unified diff.
    pub(crate) fn diff(&self) -> String {
        let before = self.before.as_deref().unwrap_or_default();
        let after = self.after.as_deref().unwrap_or_default();
        let name = self.path.display().to_string();
        let diff = similar::TextDiff::from_lines(before, after);
        diff.unified_diff().header(&name, &name).to_string()
    }
}

/// Refuses a path of a project that a link, of the file or of a directory above it, leads elsewhere.
/// A user's own settings are often links into a collection of dotfiles, wherever that is.
pub(super) fn refuse_outside(path: &Path, root: &Path, scope: Scope) -> Result<(), SetupError> {
    if scope == Scope::User {
        return Ok(());
    }
    let real_root = fs::canonicalize(root).map_err(|error| named(error, root))?;
    // What is not there yet is made where the nearest directory really is.
    let real = path.ancestors().find_map(|there| fs::canonicalize(there).ok());
    match real.filter(|real| !real.starts_with(&real_root)) {
        Some(target) => {
            let (path, root) = (path.to_owned(), root.to_owned());
            Err(SetupError::Outside { path, target, root })
        }
        None => Ok(()),
    }
}

/// The text of a file; `None` when there is none.
pub(super) fn read(path: &Path) -> Result<Option<String>, SetupError> {
    let meta = match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            // A link that leads nowhere is somebody's intention: it is not replaced.
            return match fs::symlink_metadata(path) {
                Ok(_) => Err(SetupError::NotRegular { path: path.to_owned() }),
                Err(_) => Ok(None),
            };
        }
        Err(error) => return Err(named(error, path).into()),
        Ok(meta) => meta,
    };
    if !meta.is_file() {
        return Err(SetupError::NotRegular { path: path.to_owned() });
    }
    let wrong = |message: &str| SetupError::NotUnderstood {
        path: path.to_owned(),
        message: message.to_owned(),
    };
    if meta.len() > LIMIT {
        return Err(wrong("it is too large"));
    }
    let bytes = fs::read(path).map_err(|error| named(error, path))?;
    String::from_utf8(bytes).map(Some).map_err(|_| wrong("it is not UTF-8"))
}

/// Removes what killed processes left of putting or removing a file.
pub(super) fn clean_up(plan: &FilePlan, root: &Path) -> Result<(), SetupError> {
    clean(&real(&plan.path)?, &real(root)?);
    Ok(())
}

/// Does what is planned, in one step for the file.
pub(super) fn carry_out(plan: &FilePlan, root: &Path) -> Result<(), SetupError> {
    let path = real(&plan.path)?;
    match plan.action() {
        FileAction::Keep => {}
        // Up to the root, and to the folders that were there before.
        FileAction::Remove => remove(&plan.path, |dir| depth(dir, root) > plan.folders)?,
        FileAction::Create | FileAction::Change => {
            replace(&path, plan.after.as_deref().unwrap_or_default().as_bytes())?;
        }
    }
    Ok(())
}

/// How many of the folders above a path are there, if the last of them is empty: that one has to
/// be left when the file goes. A folder that is not empty stays anyway.
pub(super) fn empty_folders(path: &Path, root: &Path) -> io::Result<usize> {
    for dir in path.ancestors().skip(1) {
        let entries = match fs::read_dir(dir) {
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                continue;
            }
            entries => entries.map_err(|error| named(error, dir))?,
        };
        for entry in entries {
            if !is_temporary(&entry?.file_name()) {
                return Ok(0);
            }
        }
        return Ok(depth(dir, root));
    }
    Ok(0)
}

fn depth(dir: &Path, root: &Path) -> usize {
    dir.strip_prefix(root).map_or(0, |below| below.components().count())
}
