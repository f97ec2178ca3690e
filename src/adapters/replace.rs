//! A file that is not part of a state, replaced in one step.

use std::{
    fs,
    io::{self, Write as _},
    path::Path,
};

/// Writes beside and renames. Settings are often links into a collection of dotfiles: the link
/// stays, and what it leads to is replaced.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let target = match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
        other => other?,
    };
    let dir = target.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(dir)?;
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let new = dir.join(format!(".{name}.{:016x}.new", unpredictable()));
    let written = write_new(&new, &target, text).and_then(|()| fs::rename(&new, &target));
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written
}

/// A number that nobody can have put a file at beforehand.
fn unpredictable() -> u64 {
    std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), std::process::id())
}

fn write_new(new: &Path, model: &Path, text: &str) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).create_new(true).open(new)?;
    if let Ok(meta) = fs::metadata(model) {
        file.set_permissions(meta.permissions())?;
    }
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
