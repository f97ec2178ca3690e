//! Attributes beside the state files, for whoever merges without the driver.

use std::{fs::OpenOptions, io::Write as _, path::Path};

use crate::adapters::git::{GitError, discovery, install::failed};

/// The file in the state directory.
pub(crate) const ATTRIBUTES: &str = ".gitattributes";

/// Only where keeping both sides is right: whole entries and findings at the end of what is there.
const TEXT: &str = "\
# Where git merges without statedir, what both sides added is kept. On a clone where
# `statedir git install` was run, the state files are merged by meaning instead.
history.md merge=union
context.md merge=union
";

/// Writes them beside a new state in a working tree of git; what is there already stays.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn write_attributes(dir: &Path) -> Result<bool, GitError> {
    if discovery::top(&discovery::resolve(dir)).is_none() {
        return Ok(false);
    }
    let path = dir.join(ATTRIBUTES);
    // A link that came with a clone is not followed.
    match OpenOptions::new().write(true).create_new(true).open(&path) {
        Ok(mut file) => file.write_all(TEXT.as_bytes()).map_err(failed).map(|()| true),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(failed(error)),
    }
}
