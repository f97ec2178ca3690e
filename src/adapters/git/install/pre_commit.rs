//! The check before a commit, beside an existing hook.

use std::path::{Path, PathBuf};

use super::{failed, read, write};
use crate::adapters::git::{
    GitError,
    repository::Repository,
    worktree::place::{common_dir, real_path},
};
use crate::domain::ErrorCode;

const MARK: &str = "# made by `statedir git install --pre-commit`";
const EARLIER: &str = "pre-commit.before-statedir";

/// Refuses to write hooks that other repositories share, where only this one is meant.
pub(crate) fn refuse_shared(repository: &Repository) -> Result<(), GitError> {
    if is_own(repository)? {
        return Ok(());
    }
    let hooks = repository.git_path("hooks")?;
    let message = format!(
        "`core.hooksPath` puts the hooks into `{}`, outside this repository",
        hooks.display()
    );
    let hint = "`--global` writes the check there, for all that use these hooks; or let a hook of \
                yours call `statedir git pre-commit`";
    Err(GitError::refused(ErrorCode::Outside, message, hint))
}

/// Whether hooks are in the working tree or in git's own directory.
pub(crate) fn is_own(repository: &Repository) -> Result<bool, GitError> {
    let hooks = real_path(&repository.git_path("hooks")?);
    let common = common_dir(&repository.git)?;
    Ok([common, repository.top.clone()].iter().any(|place| hooks.starts_with(real_path(place))))
}

/// Puts the hook in place; one that was there is kept and called first.
pub(crate) fn install(
    repository: &Repository,
    command: &str,
    dry_run: bool,
) -> Result<Vec<PathBuf>, GitError> {
    let hooks = repository.git_path("hooks")?;
    let path = hooks.join("pre-commit");
    let script = format!(
        "#!/bin/sh\n{MARK}\nearlier=\"$(dirname \"$0\")/{EARLIER}\"\n\
         if [ -x \"$earlier\" ]; then \"$earlier\" \"$@\" || exit $?; fi\n\
         exec {command} git pre-commit\n"
    );
    let old = read_any(&path)?;
    if old.as_deref() == Some(script.as_bytes()) {
        return Ok(Vec::new());
    }
    let is_foreign = old.as_ref().is_some_and(|old| !is_ours(old));
    if is_foreign && !dry_run {
        let earlier = hooks.join(EARLIER);
        if earlier.symlink_metadata().is_ok() {
            let message = format!("`{}` is in the way", earlier.display());
            let hint =
                "move it elsewhere: an earlier hook is kept under that name and keeps running";
            return Err(GitError::refused(ErrorCode::Exists, message, hint));
        }
        fs_err::rename(&path, &earlier).map_err(failed)?;
    }
    write(&path, &script, dry_run)?;
    if !dry_run {
        make_executable(&path)?;
    }
    Ok(vec![path])
}

/// Removes the hook and restores the earlier one.
pub(crate) fn uninstall(repository: &Repository, dry_run: bool) -> Result<Vec<PathBuf>, GitError> {
    let hooks = repository.git_path("hooks")?;
    let path = hooks.join("pre-commit");
    if !read_any(&path)?.is_some_and(|text| is_ours(&text)) {
        return Ok(Vec::new());
    }
    let earlier = hooks.join(EARLIER);
    if !dry_run {
        if earlier.exists() {
            fs_err::rename(&earlier, &path).map_err(failed)?;
        } else {
            fs_err::remove_file(&path).map_err(failed)?;
        }
    }
    Ok(vec![path])
}

/// Whether the hook is in place.
pub(crate) fn is_installed(repository: &Repository) -> Result<bool, GitError> {
    let path = repository.git_path("hooks")?.join("pre-commit");
    Ok(read(&path).is_ok_and(|text| is_ours(text.as_bytes())))
}

fn is_ours(script: &[u8]) -> bool {
    String::from_utf8_lossy(script).lines().any(|line| line == MARK)
}

fn read_any(path: &Path) -> Result<Option<Vec<u8>>, GitError> {
    match fs_err::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

fn make_executable(path: &Path) -> Result<(), GitError> {
    use std::os::unix::fs::PermissionsExt as _;
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(0o755)).map_err(failed)
}
