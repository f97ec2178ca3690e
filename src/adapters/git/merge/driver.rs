//! What git calls to merge one state file.

use std::{borrow::Cow, path::Path};

use super::sibling;
use crate::{
    adapters::git::{
        GitError,
        install::{failed, replace},
        program::Git,
    },
    domain::{StateFile, Workflow},
    merge::{Conflict, copy_step_data, merge, merge_checklist},
};

/// How the merge of one file went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Driven {
    /// It was merged by meaning; these conflicts are left for a person.
    Merged(Vec<Conflict>),
    /// It was merged by lines, because one side cannot be read; `clean` without conflicts.
    ByLines {
        /// Whether no conflict is left.
        clean: bool,
        why: String,
    },
}

/// Merges the files that git gives a driver (`%O %A %B %P`) and leaves the result in `ours`.
///
/// # Errors
/// A file cannot be read or written; `ours` is as it was.
pub(crate) fn drive(
    base: &Path,
    ours: &Path,
    theirs: &Path,
    path: &str,
) -> Result<Driven, GitError> {
    let read = |path: &Path| fs_err::read(path).map_err(failed);
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let (old, our, their) = (read(base)?, read(ours)?, read(theirs)?);
    let adopted = sibling::layout(path);
    let file = match &adopted {
        Some((layout, name)) if layout.is_checklist(name) => {
            return match merge_checklist(&old, &our, &their, &layout.grammar) {
                Ok(merged) => {
                    replace(ours, &merged.bytes)?;
                    Ok(Driven::Merged(merged.conflicts))
                }
                Err(why) => by_lines(base, ours, theirs, why),
            };
        }
        Some((layout, name)) => layout.role_of(name),
        None => StateFile::FIVE.into_iter().find(|file| file.name() == name),
    };
    let Some(file) = file else {
        return by_lines(base, ours, theirs, format!("`{name}` is not a state file"));
    };
    let workflow = match file {
        StateFile::Plan | StateFile::Variables => sibling::workflow(path),
        _ => Cow::Borrowed(Workflow::builtin()),
    };
    match merge(file, Some(&old), Some(&our), Some(&their), &workflow) {
        Ok(Some(mut merged)) => {
            if file == StateFile::Variables
                && adopted.is_none()
                && let Some([base, ours, theirs]) = sibling::plans(path, [&old, &our, &their])
                && let Ok(Some(plan)) = merge(
                    StateFile::Plan,
                    base.as_deref(),
                    ours.as_deref(),
                    theirs.as_deref(),
                    &workflow,
                )
            {
                merged.bytes = copy_step_data(merged.bytes, plan.bytes);
            }
            replace(ours, &merged.bytes)?;
            Ok(Driven::Merged(merged.conflicts))
        }
        Ok(None) => Ok(Driven::Merged(Vec::new())),
        Err(error) => by_lines(base, ours, theirs, error.to_string()),
    }
}

/// The ordinary merge of git, with its ordinary conflicts.
fn by_lines(base: &Path, ours: &Path, theirs: &Path, why: String) -> Result<Driven, GitError> {
    let text = |path: &Path| -> Result<String, GitError> {
        let path = std::path::absolute(path).map_err(failed)?;
        Ok(path.to_string_lossy().into_owned())
    };
    let args = ["merge-file", "-L", "ours", "-L", "base", "-L", "theirs", "--"];
    let files = [text(ours)?, text(base)?, text(theirs)?];
    let mut all: Vec<&str> = args.to_vec();
    all.extend(files.iter().map(String::as_str));
    let here = std::env::current_dir().map_err(failed)?;
    let git = Git::around(&here).unwrap_or_else(|_| Git::at(&here));
    let output = git.run(&all, "")?;
    Ok(Driven::ByLines { clean: output.status.success(), why })
}
