//! Files outside of a state, put and removed in one step each.
//!
//! A file is written under a name of ours beside its place, and renamed; folders that are missing come
//! with it in the same rename. What a killed process left under such a name is removed by the next
//! command that is about the same path: nobody holds its lock any more.

use std::{
    ffi::OsStr,
    fs::{self, File},
    hash::{BuildHasher as _, RandomState},
    io::{self, ErrorKind, Write as _},
    path::{Path, PathBuf},
};

use crate::store::Directory;

/// How often a path is tried that others make and remove meanwhile.
const TRIES: usize = 4;

/// Gives a path new content in one step, with the permissions that it has. A link is replaced, not
/// followed.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    put(path, bytes, true).map(|_| ()).map_err(|error| named(error, path))
}

/// Writes a file that is not there, in one step; `false` if it appeared meanwhile.
pub(crate) fn create(path: &Path, bytes: &[u8]) -> io::Result<bool> {
    put(path, bytes, false).map_err(|error| named(error, path))
}

/// Removes a file, in the same step with the folders above it that hold nothing else, as far up as
/// they may go.
pub(crate) fn remove(path: &Path, may_go: impl Fn(&Path) -> bool) -> io::Result<()> {
    take(path, may_go).map_err(|error| named(error, path))
}

/// Removes what killed processes left of putting or removing `path`, in any folder below `root`.
pub(crate) fn clean(path: &Path, root: &Path) {
    for top in path.ancestors().take_while(|top| *top != root && top.starts_with(root)) {
        clean_beside(top, below(path, top));
    }
}

/// Whether an entry of a directory is one that [`clean`] may remove.
pub(crate) fn is_temporary(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with('.') && name.contains(MARK) && name.ends_with(END)
}

/// A path without links. Files of users are often links into a collection of dotfiles: the link stays, and
/// what it leads to is replaced.
pub(crate) fn real(path: &Path) -> io::Result<PathBuf> {
    for there in path.ancestors() {
        match fs::canonicalize(there) {
            Ok(real) if there == path => return Ok(real),
            Ok(real) => return Ok(real.join(path.strip_prefix(there).unwrap_or(path))),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(named(error, there)),
        }
    }
    Ok(path.to_owned())
}

/// The error, with the path that it is about.
pub(crate) fn named(error: io::Error, path: &Path) -> io::Error {
    io::Error::new(error.kind(), format!("`{}`: {error}", path.display()))
}

const MARK: &str = ".statedir-";
const END: &str = ".new";

fn take(path: &Path, may_go: impl Fn(&Path) -> bool) -> io::Result<()> {
    let mut top = path;
    for dir in path.ancestors().skip(1).take_while(|dir| may_go(dir)) {
        if !holds_only(dir, top)? {
            break;
        }
        top = dir;
    }
    if top == path {
        return fs::remove_file(path);
    }
    let rest = below(path, top);
    let _lock = File::open(top).ok().filter(|dir| dir.try_lock().is_ok());
    let gone = beside(top);
    fs::rename(top, &gone)?;
    let removed = fs::remove_file(gone.join(rest));
    // Folders that cannot be removed stay under their new name: the next command cleans up.
    if removed.is_err() || !remove_folders(&gone, rest)? {
        // The file cannot be removed, or somebody has put another one beside it meanwhile.
        fs::rename(&gone, top)?;
    }
    removed
}

/// Removes the folders between `top` and the file `rest` below it; `false` if one is not empty.
fn remove_folders(top: &Path, rest: &Path) -> io::Result<bool> {
    for dir in rest.ancestors().skip(1) {
        match fs::remove_dir(top.join(dir)) {
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => return Ok(false),
            removed => removed?,
        }
    }
    Ok(true)
}

fn put(path: &Path, bytes: &[u8], over: bool) -> io::Result<bool> {
    let mut tries = 1;
    loop {
        let top = first_missing(path);
        let rest = below(path, top);
        clean_beside(top, rest);
        let new = beside(top);
        let put = write(&new, rest, path, bytes).and_then(|_lock| match over && top == path {
            true => fs::rename(&new, path),
            false => rename_new(&new, top),
        });
        let Err(error) = put else { return Ok(true) };
        take_apart(&new, rest);
        match error.kind() {
            ErrorKind::AlreadyExists if !over && is_there(path) => return Ok(false),
            // A folder has appeared or gone.
            ErrorKind::AlreadyExists | ErrorKind::NotFound if tries < TRIES => tries += 1,
            _ => return Err(error),
        }
    }
}

/// Writes a file to `new`, or to `rest` below it; what is given back keeps others from removing it.
fn write(new: &Path, rest: &Path, model: &Path, bytes: &[u8]) -> io::Result<File> {
    let lock = |file: File| {
        let _ = file.try_lock();
        file
    };
    let (mut file, folder) = if rest.as_os_str().is_empty() {
        (lock(File::create_new(new)?), None)
    } else {
        fs::create_dir(new)?;
        let folder = lock(File::open(new)?);
        let path = new.join(rest);
        fs::create_dir_all(path.parent().unwrap_or(new))?;
        (File::create_new(path)?, Some(folder))
    };
    if let Ok(meta) = fs::symlink_metadata(model)
        && meta.is_file()
    {
        file.set_permissions(meta.permissions())?;
    }
    file.write_all(bytes)?;
    file.sync_all()?;
    Ok(folder.unwrap_or(file))
}

/// Renames to a name that nothing has.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    let name = |path: &Path| path.file_name().unwrap_or_default().to_owned();
    let dir = Directory::open(folder(to))?;
    match dir.rename_new(name(from), &dir, name(to))? {
        true => Ok(()),
        // Not every system can do that in one step.
        false if is_there(to) => Err(ErrorKind::AlreadyExists.into()),
        false => fs::rename(from, to),
    }
}

/// The first part of a path that is not there, or all of it.
fn first_missing(path: &Path) -> &Path {
    let is_in_place = |top: &&Path| folder(top).is_dir();
    path.ancestors().find(is_in_place).unwrap_or(path)
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn below<'a>(path: &'a Path, top: &Path) -> &'a Path {
    path.strip_prefix(top).unwrap_or(Path::new(""))
}

/// A name beside a path that nobody can have put anything at.
fn beside(top: &Path) -> PathBuf {
    let random = RandomState::new().hash_one(std::process::id());
    top.with_file_name(format!("{}{random:016x}{END}", start(top)))
}

fn start(top: &Path) -> String {
    format!(".{}{MARK}", top.file_name().unwrap_or_default().to_string_lossy())
}

fn clean_beside(top: &Path, rest: &Path) {
    let start = start(top);
    let Ok(entries) = fs::read_dir(folder(top)) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_ours = is_temporary(&name) && name.to_string_lossy().starts_with(&start);
        let is_plain = entry.file_type().is_ok_and(|kind| kind.is_file() || kind.is_dir());
        if is_ours && is_plain {
            let path = entry.path();
            let Ok(file) = File::open(&path) else { continue };
            if file.try_lock().is_ok() {
                take_apart(&path, rest);
            }
        }
    }
}

/// Removes a file, or the folder that it is in with the folders between, if there is nothing else.
fn take_apart(top: &Path, rest: &Path) {
    if fs::remove_file(top).is_err() {
        let _ = fs::remove_file(top.join(rest));
        for dir in rest.ancestors().skip(1) {
            let _ = fs::remove_dir(top.join(dir));
        }
    }
}

fn holds_only(dir: &Path, path: &Path) -> io::Result<bool> {
    if !fs::symlink_metadata(dir)?.is_dir() {
        return Ok(false);
    }
    for entry in fs::read_dir(dir)? {
        if Some(&*entry?.file_name()) != path.file_name() {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let walk = walkdir::WalkDir::new(dir).min_depth(1).sort_by_file_name().into_iter();
        let name = |path: &Path| path.strip_prefix(dir).unwrap().display().to_string();
        walk.map(|entry| name(entry.unwrap().path())).collect()
    }

    #[test]
    fn folders_come_with_the_file_and_go_with_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b/file");
        replace(&path, b"one").unwrap();
        replace(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(names(dir.path()), ["a", "a/b", "a/b/file"]);
        assert!(!create(&path, b"three").unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"two");
        remove(&path, |folder| folder != dir.path()).unwrap();
        assert!(names(dir.path()).is_empty());
        assert!(create(&path, b"four").unwrap());
        fs::write(dir.path().join("a/mine"), "").unwrap();
        remove(&path, |folder| folder != dir.path()).unwrap();
        assert_eq!(names(dir.path()), ["a", "a/mine"]);
    }

    #[test]
    fn what_fails_leaves_no_folder() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b").join("n".repeat(300));
        assert!(replace(&path, b"one").is_err());
        assert!(names(dir.path()).is_empty());
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/file");
        let left = dir.path().join(".a.statedir-0123456789abcdef.new");
        let half = left.join("file");
        let others = [".b.statedir-0123456789abcdef.new", ".a.new", "a.statedir-1.new"];
        for other in others {
            fs::write(dir.path().join(other), "").unwrap();
        }
        fs::create_dir(&left).unwrap();
        fs::write(&half, "ha").unwrap();
        let alive = File::open(&left).unwrap();
        alive.try_lock().unwrap();
        clean(&path, dir.path());
        assert!(half.exists(), "its process is at it");
        drop(alive);
        fs::write(left.join("mine"), "").unwrap();
        clean(&path, dir.path());
        assert!(left.join("mine").exists(), "that is not ours");
        fs::remove_file(left.join("mine")).unwrap();
        clean(&path, dir.path());
        let mut kept = others;
        kept.sort_unstable();
        assert_eq!(names(dir.path()), kept);
    }
}
