//! Which state directory a command means.

use std::{
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use rustix::io::Errno;

use crate::{
    adapters::replace::named,
    domain::{
        StateFile,
        layout::{self, ForeignLayout, LAYOUT_FILE},
    },
    store::Directory,
};

/// Where tickets have their states, unless a directory is named.
const TICKETS: &str = "docs/plan/tickets";

/// No directory could be chosen.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ChooseError {
    /// Nothing was named, and there is none above.
    #[error("there is no `workspace/state` in `{}` or above it", .0.display())]
    NoneAbove(PathBuf),
    /// What was named is a file.
    #[error("`{}` is a file, not a directory", .0.display())]
    IsFile(PathBuf),
    /// What would be found is somewhere else: the directory may have come with a clone.
    #[error("`{}` is a symbolic link to `{}`, which was not named explicitly", link.display(), target.display())]
    Linked {
        link: PathBuf,
        /// Where it leads.
        target: PathBuf,
        /// The state directory behind it.
        state: PathBuf,
    },
    /// The working directory is not known.
    #[error("the working directory cannot be read: {0}")]
    NoWorkingDirectory(io::Error),
    /// Whether it is there cannot be told.
    #[error(transparent)]
    Unreadable(io::Error),
}

/// The directory that was named, or the nearest `workspace/state` or adopted directory at or above
/// the working directory, or else one there that has the five files itself. For a new state it is the working directory's own.
///
/// A named directory is the state directory itself, unless it is plainly a project: it holds a
/// `workspace/state` or an archive of finished ones, or is the root of a git repository.
///
/// # Errors
/// None was named and none is above, or a file was named.
pub(crate) fn choose(named: Option<&Path>, new: bool) -> Result<PathBuf, ChooseError> {
    if let Some(named) = named {
        if named.is_file() {
            return Err(ChooseError::IsFile(named.to_owned()));
        }
        let holds_state = ["plan.md", "variables.json", ".statedir", LAYOUT_FILE]
            .iter()
            .any(|name| named.join(name).symlink_metadata().is_ok());
        let project = is_directory(&below(named)).map_err(ChooseError::Unreadable)?
            || named.join(".git").exists()
            || named.join("workspace").join("archive").is_dir();
        if holds_state || !project {
            return Ok(named.to_owned());
        }
        return unlinked(named);
    }
    let here = std::env::current_dir().map_err(ChooseError::NoWorkingDirectory)?;
    if new {
        return unlinked(&here);
    }
    match nearest(&here) {
        Some(found) => found,
        // Such as the directory of a ticket.
        None => match here.ancestors().find(|dir| is_state(dir)) {
            Some(dir) => Ok(dir.to_owned()),
            None => Err(ChooseError::NoneAbove(here)),
        },
    }
}

/// Whether a directory has the five files itself.
fn is_state(dir: &Path) -> bool {
    let is_there = |file: &StateFile| {
        dir.join(file.name()).symlink_metadata().is_ok_and(|data| data.is_file())
    };
    StateFile::FIVE.iter().all(is_there)
}

/// The tickets below a directory that have a state, in order.
pub(crate) fn tickets_in(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir.join(TICKETS)).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> =
        entries.map(|entry| Path::new(TICKETS).join(entry.file_name())).collect();
    found.retain(|ticket| is_state(&dir.join(ticket)));
    found.sort();
    found
}

/// The directory that was named, or the one of that ticket below the working directory.
///
/// # Errors
/// A file was named, or a link leads elsewhere that nobody named.
pub(crate) fn choose_for_ticket(
    named: Option<&Path>,
    ticket: &str,
) -> Result<PathBuf, ChooseError> {
    if named.is_some() {
        return choose(named, true);
    }
    let here = std::env::current_dir().map_err(ChooseError::NoWorkingDirectory)?;
    let state = here.join(TICKETS).join(ticket);
    for link in state.ancestors().take_while(|dir| *dir != here) {
        if let Ok(target) = std::fs::read_link(link) {
            return Err(ChooseError::Linked { link: link.to_owned(), target, state });
        }
    }
    Ok(state)
}

/// The nearest `workspace/state` at or above a directory, unless a link leads to it; or the nearest
/// directory that was adopted.
pub(super) fn nearest(here: &Path) -> Option<Result<PathBuf, ChooseError>> {
    // Each is looked at once: an answer that changes in between must not lead elsewhere.
    here.ancestors().find_map(|dir| match is_directory(&below(dir)) {
        Ok(true) => Some(unlinked(dir)),
        Ok(false) => is_adopted(dir).then(|| Ok(dir.to_owned())),
        Err(error) => Some(Err(ChooseError::Unreadable(error))),
    })
}

/// Whether there is a directory.
///
/// # Errors
/// The disk fails: whoever took that for a no would go on elsewhere.
pub(crate) fn is_directory(path: &Path) -> io::Result<bool> {
    use ErrorKind::{InvalidFilename, NotADirectory, NotFound, PermissionDenied};
    let is_loop = |error: &io::Error| Errno::from_io_error(error) == Some(Errno::LOOP);
    match path.metadata() {
        Ok(data) => Ok(data.is_dir()),
        Err(error) => match error.kind() {
            NotFound | NotADirectory | PermissionDenied | InvalidFilename => Ok(false),
            _ if is_loop(&error) => Ok(false),
            _ => Err(named(error, path)),
        },
    }
}

/// Whether a layout file makes the files of a directory a state.
pub(crate) fn is_adopted(dir: &Path) -> bool {
    dir.join(LAYOUT_FILE).symlink_metadata().is_ok_and(|data| data.is_file())
}

/// The layout of the adopted state in `dir`, if there is one that can be used.
pub(crate) fn layout_in(dir: &Path) -> Option<ForeignLayout> {
    let bytes = Directory::read_in(dir, LAYOUT_FILE, layout::MAX_BYTES).ok()??;
    ForeignLayout::parse(&bytes).ok()
}

/// Where a user keeps templates and profiles of their own.
pub(crate) fn config_directory() -> Option<PathBuf> {
    let variable =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let config = variable("XDG_CONFIG_HOME").or_else(|| Some(variable("HOME")?.join(".config")));
    config.map(|config| config.join("statedir"))
}

fn below(dir: &Path) -> PathBuf {
    dir.join("workspace").join("state")
}

/// The `workspace/state` of a project, of which neither part may be a link: only whoever names a
/// directory can mean one elsewhere.
fn unlinked(project: &Path) -> Result<PathBuf, ChooseError> {
    let state = below(project);
    for link in [project.join("workspace"), state.clone()] {
        if let Ok(target) = std::fs::read_link(&link) {
            return Err(ChooseError::Linked { link, target, state });
        }
    }
    Ok(state)
}

/// The directory whose archive is meant: as [`choose`], but the state itself may be gone.
///
/// # Errors
/// None was named, and there is neither a state nor an archive above.
pub(crate) fn choose_archived(named: Option<&Path>) -> Result<PathBuf, ChooseError> {
    let chosen = match choose(named, false) {
        Err(ChooseError::NoneAbove(here)) => {
            let archive = |dir: &&Path| dir.join("workspace").join("archive").is_dir();
            let found = here.ancestors().find(archive).map(unlinked);
            found.unwrap_or(Err(ChooseError::NoneAbove(here)))?
        }
        other => other?,
    };
    // The archive is beside the directory, so `.` and `..` must be told by their names.
    let chosen = match chosen.file_name() {
        Some(_) => std::path::absolute(chosen),
        None => fs_err::canonicalize(chosen),
    };
    chosen.map_err(ChooseError::NoWorkingDirectory)
}
