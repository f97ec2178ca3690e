//! Telling a repository how to merge and show state.

mod attribute_lines;
mod attributes;
mod pre_commit;

use std::path::{Path, PathBuf};

use serde::Serialize;

pub(crate) use self::attributes::{ATTRIBUTES, write_attributes};
use self::{
    attribute_lines::{
        committed_attributes, committed_lines, lines, names_driver, others, own_attributes,
        with_others,
    },
    attributes::{block_lines, pattern_of, with_block, without_block},
};
use super::{GitError, repository::Repository};
use crate::{
    adapters::directory::layout_in,
    domain::{ErrorCode, layout::LAYOUT_FILE},
};

/// What to set up.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct InstallOptions {
    /// Also show changes by meaning in `git diff` and `git log -p`.
    pub textconv: bool,
    /// Also check before each commit that history.md only grew.
    pub pre_commit: bool,
    /// For all repositories of the user.
    pub global: bool,
    /// Say what would be done, and do nothing.
    pub dry_run: bool,
}

/// How a repository is set up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Installed {
    /// Whether the state files are merged by meaning.
    pub merge_driver: bool,
    /// Whether changes are shown by meaning.
    pub textconv: bool,
    /// Whether commits are checked.
    pub pre_commit: bool,
    /// The command that git calls.
    pub driver: Option<String>,
    /// What was written, or would be.
    pub changed: Vec<PathBuf>,
    /// What is in the way.
    pub problems: Vec<String>,
}

const NAME: &str = "merge.statedir.name";
const DRIVER: &str = "merge.statedir.driver";
const TEXTCONV: &str = "diff.statedir.textconv";

/// Sets a repository up; doing it again changes nothing. What is left out in `options` and was set
/// up before stays.
pub(crate) fn install(
    dir: &Path,
    program: &Path,
    options: InstallOptions,
) -> Result<Installed, GitError> {
    let repository = Repository::of(dir)?;
    if options.pre_commit && !options.global {
        pre_commit::refuse_shared(&repository)?;
    }
    let attributes = own_attributes(&repository, options.global)?;
    let before = status(dir)?;
    let scope = scope(options.global);
    let command = command(program);
    let mut changed = Vec::new();
    let mut set = |key: &str, value: &str| -> Result<(), GitError> {
        if repository.config(scope, key).as_deref() == Some(value) {
            return Ok(());
        }
        changed.push(PathBuf::from(format!("git config {key}")));
        if !options.dry_run {
            repository.git.ask(&["config", scope, "--replace-all", key, value])?;
        }
        Ok(())
    };
    set(NAME, "merge of execution state by meaning")?;
    set(DRIVER, &format!("{command} merge-driver %O %A %B %P"))?;
    let textconv = options.textconv || before.textconv;
    if textconv {
        set(TEXTCONV, &format!("{command} git textconv"))?;
    }
    let mut own = lines(&repository, textconv, options.global);
    if !options.global {
        let (moved, written) = commit_lines(&repository, &own, options.dry_run)?;
        own.extend(moved);
        changed.extend(written);
    }
    let old = read(&attributes)?;
    let new = with_block(&old, &with_others(&old, own));
    if old != new {
        write(&attributes, &new, options.dry_run)?;
        changed.push(attributes);
    }
    if options.pre_commit {
        changed.extend(pre_commit::install(&repository, &command, options.dry_run)?);
    }
    Ok(Installed { changed, ..status(dir)? })
}

/// Removes everything that [`install`] set up, and nothing else: what other states of the
/// repository need stays.
pub(crate) fn uninstall(dir: &Path, options: InstallOptions) -> Result<Installed, GitError> {
    let repository = Repository::of(dir)?;
    let scope = scope(options.global);
    let mut changed = Vec::new();
    let own = lines(&repository, false, options.global);
    let attributes = own_attributes(&repository, options.global)?;
    let committed = committed_attributes(&repository).filter(|_| !options.global);
    let files: Vec<PathBuf> = [attributes].into_iter().chain(committed).collect();
    let mut is_shared = false;
    for path in &files {
        let others = others(&repository, &read(path)?, &own);
        is_shared |= others.iter().any(|line| names_driver(line));
    }
    let sections: &[&str] = if is_shared { &[] } else { &["merge.statedir", "diff.statedir"] };
    for section in sections {
        let is_ours = ["driver", "textconv"]
            .iter()
            .any(|key| repository.config(scope, &format!("{section}.{key}")).is_some());
        if is_ours {
            changed.push(PathBuf::from(format!("git config {section}")));
            if !options.dry_run {
                repository.git.ask(&["config", scope, "--remove-section", section])?;
            }
        }
    }
    for path in files {
        let kept = others(&repository, &read(&path)?, &own);
        changed.extend(put_block(&path, &kept, options.dry_run)?);
    }
    // What is written elsewhere is there for all repositories.
    if options.global != pre_commit::is_own(&repository)? && !is_shared {
        changed.extend(pre_commit::uninstall(&repository, options.dry_run)?);
    }
    Ok(Installed { changed, ..status(dir)? })
}

/// Writes what every clone should know, and removes the committed lines that name the driver, as
/// earlier versions of `install` wrote them. Returns the lines of other states among those, and the
/// files that were changed.
fn commit_lines(
    repository: &Repository,
    own: &[String],
    dry_run: bool,
) -> Result<(Vec<String>, Vec<PathBuf>), GitError> {
    let beside = repository.dir.join(ATTRIBUTES);
    let is_native = layout_in(&repository.dir).is_none() && repository.dir.is_dir();
    let is_missing = is_native && beside.symlink_metadata().is_err();
    let mut changed = Vec::new();
    if is_missing && (dry_run || write_attributes(&repository.dir)?) {
        changed.push(beside);
    }
    let lines = committed_lines(repository);
    let Some(path) = committed_attributes(repository) else {
        return if lines.is_empty() { Ok((Vec::new(), changed)) } else { Err(linked(repository)) };
    };
    let old = read(&path)?;
    let (mut moved, kept): (Vec<String>, Vec<String>) =
        block_lines(&old).into_iter().partition(|line| names_driver(line));
    moved.retain(|line| own.iter().all(|own| pattern_of(own) != pattern_of(line)));
    let rest = if kept.is_empty() { String::new() } else { with_block("", &kept) };
    changed.extend(put_block(&path, &with_others(&rest, lines), dry_run)?);
    Ok((moved, changed))
}

/// Makes these lines our block in a file, and removes a file that becomes empty. Returns the file
/// if it changed.
fn put_block(path: &Path, lines: &[String], dry_run: bool) -> Result<Option<PathBuf>, GitError> {
    let old = read(path)?;
    let new = if lines.is_empty() { without_block(&old) } else { with_block(&old, lines) };
    if old == new {
        return Ok(None);
    }
    if new.is_empty() && !dry_run {
        fs_err::remove_file(path).map_err(failed)?;
    } else {
        write(path, &new, dry_run)?;
    }
    Ok(Some(path.to_owned()))
}

/// Attributes in the work tree that are a link came with the clone.
fn linked(repository: &Repository) -> GitError {
    let path = repository.top.join(ATTRIBUTES);
    GitError::refused(
        ErrorCode::NotRegular,
        format!("`{}` is not a regular file", path.display()),
        "git reads no attributes from it either: put a regular file in its place",
    )
}

/// How the repository is set up now.
pub(crate) fn status(dir: &Path) -> Result<Installed, GitError> {
    let repository = Repository::of(dir)?;
    let driver = repository.git.ask(&["config", "--get", DRIVER]).ok();
    let driver = driver.map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned());
    let attribute = |name: &str| {
        let files = repository.written_files();
        let plan = files.iter().find(|name| *name != LAYOUT_FILE).map_or("", String::as_str);
        let path = repository.path(plan);
        let found = repository.git.ask(&["check-attr", name, "--", &path]).unwrap_or_default();
        String::from_utf8_lossy(&found).trim_end().ends_with(": statedir")
    };
    let has_textconv = repository.git.ask(&["config", "--get", TEXTCONV]).is_ok();
    let mut problems = Vec::new();
    let merges = attribute("merge");
    match (merges, &driver) {
        (true, None) if is_only_staged(&repository) => problems.push(
            "`.gitattributes` is missing, but git still reads it from its index: commit its removal"
                .to_owned(),
        ),
        (true, None) => problems.push(
            "the attributes name the driver, but this clone does not know it: `statedir git install`"
                .to_owned(),
        ),
        (false, Some(_)) => problems.push(
            "the driver is known, but no attribute names it here: `statedir git install`".to_owned(),
        ),
        (_, Some(command)) => {
            let program = command.trim_start_matches('\'').split(['\'', ' ']).next();
            let program = Path::new(program.unwrap_or_default());
            if program.is_absolute() && !program.exists() {
                problems.push(format!(
                    "`{}` is missing, so git cannot call it: `statedir git install`",
                    program.display()
                ));
            }
        }
        (false, None) => {}
    }
    Ok(Installed {
        merge_driver: merges && driver.is_some() && problems.is_empty(),
        textconv: has_textconv && attribute("diff"),
        pre_commit: pre_commit::is_installed(&repository)?,
        driver,
        changed: Vec::new(),
        problems,
    })
}

/// Whether the attributes are gone from the working tree and not from the index yet.
fn is_only_staged(repository: &Repository) -> bool {
    let name = ".gitattributes";
    let staged = repository.git.ask(&["ls-files", "--error-unmatch", "--", name]).is_ok();
    staged && !repository.top.join(name).exists()
}

fn scope(global: bool) -> &'static str {
    if global { "--global" } else { "--local" }
}

/// The program as a word of the shell: by name where that is what the path finds.
fn command(program: &Path) -> String {
    let by_name = std::env::var_os("PATH").is_some_and(|path| {
        let first =
            std::env::split_paths(&path).map(|dir| dir.join("statedir")).find(|p| p.is_file());
        let same = |found: &PathBuf| found.canonicalize().ok() == program.canonicalize().ok();
        first.as_ref().is_some_and(same)
    });
    if by_name {
        return "statedir".to_owned();
    }
    format!("'{}'", program.to_string_lossy().replace('\'', "'\\''"))
}

pub(crate) fn read(path: &Path) -> Result<String, GitError> {
    match fs_err::read_to_string(path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(failed(error)),
    }
}

/// Writes a small file as a whole, by renaming.
pub(crate) fn write(path: &Path, text: &str, dry_run: bool) -> Result<(), GitError> {
    if dry_run {
        return Ok(());
    }
    replace(path, text.as_bytes())
}

/// Puts new bytes in the place of a file in one step, keeping its permissions. A link is replaced,
/// not followed.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<(), GitError> {
    crate::adapters::replace::replace(path, bytes).map_err(failed)
}

pub(crate) fn failed(error: std::io::Error) -> GitError {
    GitError::Io(error)
}
