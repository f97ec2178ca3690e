//! The marker in a private directory, by which it is known as made here.

use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{self, ErrorKind};

use crate::store::{Directory, paths::PRIVATE};

/// The file in the private directory that says where it was made.
const MARKER: &str = "origin";
/// No marker is longer.
const MARKER_LIMIT: u64 = 256;
/// What one is called until it has its marker, with a random number behind it.
const UNFINISHED: &str = ".statedir.new-";

/// Whether a private directory has its own marker.
pub(super) fn is_marked(private: &Directory) -> io::Result<bool> {
    let Some(expected) = marker_for(private)? else { return Ok(false) };
    match private.read(MARKER, MARKER_LIMIT) {
        Ok(found) => Ok(found.as_deref() == Some(expected.as_bytes())),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Err(error),
        Err(_) => Ok(false),
    }
}

/// The marker of this very directory; `None` where the file system knows no moment of birth.
fn marker_for(private: &Directory) -> io::Result<Option<String>> {
    let identity = private.identity()?;
    Ok(identity.map(|(inode, born)| format!("made here: inode {inode}, born {born}\n")))
}

/// Writes the marker, where there can be one.
pub(super) fn write_marker(private: &Directory) -> io::Result<()> {
    match marker_for(private)? {
        Some(marker) => private.replace(MARKER, marker.as_bytes()),
        None => Ok(()),
    }
}

/// Marks a directory that would not be trusted without its marker.
pub(super) fn accept(private: &Directory) -> io::Result<()> {
    if marker_for(private)?.is_none() {
        let message =
            "it cannot be trusted here: this file system does not record when a directory was made";
        return Err(io::Error::new(ErrorKind::Unsupported, message));
    }
    write_marker(private)
}

/// A private directory with its marker, in one step, unless there is one already. The caller has
/// locked the state directory.
pub(super) fn make_marked(state: &Directory) -> io::Result<()> {
    if state.stat(PRIVATE)?.is_some() {
        return Ok(());
    }
    remove_unfinished(state)?;
    let random = std::hash::RandomState::new().build_hasher().finish();
    let name = format!("{UNFINISHED}{random:016x}");
    state.create_dir(&name, 0o700)?;
    let made = match state.open_dir(&name)? {
        Some(private) => write_marker(&private),
        None => Ok(()),
    };
    let placed = made.and_then(|()| match state.rename_new(&name, state, PRIVATE) {
        // The system cannot: a directory never replaces another that has something in it.
        Ok(false) => state.rename(&name, state, PRIVATE),
        other => other.map(|_| ()),
    });
    match placed {
        Ok(()) => Ok(()),
        Err(error) => {
            if let Ok(Some(private)) = state.open_dir(&name) {
                let _ = private.remove(MARKER);
            }
            let _ = state.remove_dir(&name);
            match state.stat(PRIVATE)? {
                Some(_) => Ok(()),
                None => Err(error),
            }
        }
    }
}

/// Removes what a killed command left of a new private directory: a marker, or half of one. A
/// directory with anything else in it stays.
fn remove_unfinished(state: &Directory) -> io::Result<()> {
    let is_random = |text: &str| text.len() == 16 && text.bytes().all(|b| b.is_ascii_hexdigit());
    let is_temporary = |name: &str| {
        let between = name.strip_prefix('.').and_then(|name| name.strip_suffix(".new"));
        between.is_some_and(is_random)
    };
    for name in state.list()? {
        if !name.strip_prefix(UNFINISHED).is_some_and(is_random) {
            continue;
        }
        let Ok(Some(begun)) = state.open_dir(&name) else { continue };
        let inside = begun.list()?;
        if inside.iter().all(|file| file == MARKER || is_temporary(file)) {
            inside.iter().try_for_each(|file| begun.remove(file))?;
            state.remove_dir(&name)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_command_had_made_of_one_is_taken_away() {
        let root = tempfile::tempdir().unwrap();
        let made = |name: &str, files: &[&str]| {
            std::fs::create_dir(root.path().join(name)).unwrap();
            files.iter().for_each(|file| {
                std::fs::write(root.path().join(name).join(file), "made here").unwrap();
            });
        };
        made(".statedir.new-0123456789abcdef", &[".0123456789abcdef.new"]);
        made(".statedir.new-1123456789abcdef", &[MARKER]);
        made(".statedir.new-2123456789abcdef", &[]);
        // Anything else belongs to somebody and stays.
        made(".statedir.new-3123456789abcdef", &[MARKER, "notes.md"]);
        made(".statedir.new-thing", &[]);
        make_marked(&Directory::open(root.path()).unwrap()).unwrap();
        let entries = std::fs::read_dir(root.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        let kept = [PRIVATE, ".statedir.new-3123456789abcdef", ".statedir.new-thing"];
        assert_eq!(names, kept);
    }
}
