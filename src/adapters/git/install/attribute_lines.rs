//! Which lines a state needs in which files of attributes.

use std::path::PathBuf;

use super::attributes::{ATTRIBUTES, block_lines, path_of, pattern, pattern_of};
use crate::{
    adapters::{
        directory::layout_in,
        git::{GitError, repository::Repository},
    },
    domain::{ErrorCode, StateFile},
};

/// The file of attributes that names the driver: of this clone, with all its branches and
/// worktrees, or of the user. It is not committed, because a clone without the driver could not use
/// it.
pub(crate) fn own_attributes(repository: &Repository, global: bool) -> Result<PathBuf, GitError> {
    if !global {
        return repository.git_path("info/attributes");
    }
    if let Some(path) = repository.config("--global", "core.attributesFile") {
        let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        let path = match path.strip_prefix("~/") {
            Some(rest) => home.join(rest),
            None => PathBuf::from(path),
        };
        return Ok(path);
    }
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".config"));
    let config = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).or_else(home);
    let config = config.ok_or_else(|| {
        GitError::refused(
            ErrorCode::NoHome,
            "there is no home directory",
            "set `HOME` or `XDG_CONFIG_HOME`",
        )
    })?;
    Ok(config.join("git").join("attributes"))
}

/// The attributes at the top of the working tree, which come with every clone. A link is not one: git
/// does not follow it, and neither do we.
pub(crate) fn committed_attributes(repository: &Repository) -> Option<PathBuf> {
    let path = repository.top.join(ATTRIBUTES);
    let is_other = path.symlink_metadata().is_ok_and(|found| !found.is_file());
    (!is_other).then_some(path)
}

/// What every clone should know of an adopted state: both sides of what only grows are kept. A state of
/// our own has that in a file beside it.
pub(crate) fn committed_lines(repository: &Repository) -> Vec<String> {
    let Some(layout) = layout_in(&repository.dir) else { return Vec::new() };
    let written = layout.written();
    let growing = [layout.added.history.as_str(), layout.added.context.as_str()];
    let committed = growing.iter().filter(|name| written.contains(*name));
    committed.map(|name| format!("{} merge=union", pattern(&repository.path(name)))).collect()
}

/// Whether a line names the driver.
pub(crate) fn names_driver(line: &str) -> bool {
    line.contains(" merge=statedir")
}

/// What names the driver for one state.
pub(crate) fn lines(repository: &Repository, textconv: bool, global: bool) -> Vec<String> {
    let diff = if textconv { " diff=statedir" } else { "" };
    let line = |path: String| format!("{path} merge=statedir{diff}");
    match layout_in(&repository.dir).filter(|_| !global) {
        Some(layout) => {
            layout.written().iter().map(|name| line(pattern(&repository.path(name)))).collect()
        }
        None => {
            let path = |file: &StateFile| match global {
                true => format!("**/workspace/state/{}", file.name()),
                false => pattern(&repository.path(file.name())),
            };
            StateFile::FIVE.iter().map(|file| line(path(file))).collect()
        }
    }
}

/// The lines of the block with ours added: other states of the repository have lines there, too.
pub(crate) fn with_others(text: &str, mut own: Vec<String>) -> Vec<String> {
    let mut all = block_lines(text);
    for line in &mut all {
        let same = |own: &String| pattern_of(own) == pattern_of(line);
        if let Some(at) = own.iter().position(same) {
            *line = own.remove(at);
        }
    }
    all.extend(own);
    all
}

/// The lines of the block that are about other states that are still there.
pub(crate) fn others(repository: &Repository, text: &str, own: &[String]) -> Vec<String> {
    let mut all = block_lines(text);
    all.retain(|line| {
        let is_own = own.iter().any(|own| pattern_of(own) == pattern_of(line));
        !is_own && repository.top.join(path_of(pattern_of(line))).exists()
    });
    all
}
