//! Which lines a state needs in which files of attributes.

use std::path::PathBuf;

use super::attributes::{block_lines, path_of, pattern, pattern_of};
use crate::{
    adapters::{
        directory::layout_in,
        git::{GitError, repository::Repository},
    },
    domain::{ErrorCode, StateFile},
};

/// The attributes in the tree are for every clone, those in `.git/info` for every branch of this.
pub(crate) fn attribute_files(
    repository: &Repository,
    global: bool,
) -> Result<Vec<PathBuf>, GitError> {
    if !global {
        return Ok(vec![
            repository.top.join(".gitattributes"),
            repository.git_path("info/attributes")?,
        ]);
    }
    if let Some(path) = repository.config("--global", "core.attributesFile") {
        let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        let path = match path.strip_prefix("~/") {
            Some(rest) => home.join(rest),
            None => PathBuf::from(path),
        };
        return Ok(vec![path]);
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
    Ok(vec![config.join("git").join("attributes")])
}

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

/// The lines of the block with ours in it: other states of the repository have theirs there too.
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
