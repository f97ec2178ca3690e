//! Committing the state files, all of them and nothing else.

use std::path::Path;

use jiff::Timestamp;
use serde::Serialize;

use crate::{
    adapters::git::{
        GitError,
        install::ATTRIBUTES,
        merge::resolve::under_way,
        program::{failure, stderr_message},
        repository::Repository,
    },
    domain::ErrorCode,
    store::OperationSummary,
};

/// How many operations a message tells.
const MOST: usize = 20;
const REVISION: &str = "Statedir-Revision";
const EXTERNAL: &str = "external";
const HEADS: &str = "Statedir-History-Heads";

/// What to say in a commit.
#[derive(Clone, Debug, Default)]
pub(crate) struct CommitOptions {
    /// The message; else it is made from the operations since the last commit.
    pub message: Option<String>,
    /// Add a `Signed-off-by`.
    pub sign_off: bool,
    /// The revision of the state.
    pub revision: String,
    /// The entries of the history that no other follows.
    pub heads: Vec<String>,
    /// What was done, newest first.
    pub operations: Vec<OperationSummary>,
    /// Say what would be committed, and do nothing.
    pub dry_run: bool,
}

/// What was committed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Committed {
    /// The hash of the new commit; `None` when nothing was to be committed.
    pub commit: Option<String>,
    /// The state files in it.
    pub files: Vec<String>,
    pub message: String,
    /// What the hooks said.
    pub git_output: String,
}

/// Commits the state files of `dir` as they are. Anything else that is staged stays staged and is
/// not part of the commit. Hooks run as for any commit.
///
/// # Errors
/// There is no repository, a merge is under way, or git or a hook refuses; the index is as it was.
pub(crate) fn commit(dir: &Path, options: &CommitOptions) -> Result<Committed, GitError> {
    let repository = Repository::of(dir)?;
    if options.message.as_ref().is_some_and(|message| message.trim().is_empty()) {
        return Err(GitError::refused(
            ErrorCode::BadValue,
            "the message is empty",
            "omit `-m`: the message is then made from the operations since the last commit",
        ));
    }
    let changed = changed(&repository)?;
    if changed.is_empty() {
        refuse_ignored(&repository)?;
        return Ok(Committed::default());
    }
    let message = message(&repository, options);
    let files: Vec<String> = changed.iter().map(|(name, _)| name.clone()).collect();
    if options.dry_run {
        return Ok(Committed { commit: None, files, message, git_output: String::new() });
    }
    refuse_merging(&repository)?;
    let new: Vec<String> =
        changed.iter().filter(|(_, new)| *new).map(|(name, _)| repository.path(name)).collect();
    let new: Vec<&str> = new.iter().map(String::as_str).collect();
    let git = &repository.git;
    if !new.is_empty() {
        git.ask(&[&["add", "--intent-to-add", "--"], new.as_slice()].concat())?;
    }
    let mut args = vec!["commit", "--quiet", "--cleanup=whitespace", "-F", "-"];
    if options.sign_off {
        args.push("--signoff");
    }
    args.extend(["--only", "--"]);
    // Hooks would inherit a setting that all paths are literal.
    let literal = |name: &String| format!(":(literal){}", repository.path(name));
    let paths: Vec<String> = files.iter().map(literal).collect();
    args.extend(paths.iter().map(String::as_str));
    let output = git.run_as_user(&args, &message)?;
    if !output.status.success() {
        if !new.is_empty() {
            let forget = ["rm", "--cached", "--quiet", "--force", "--"];
            git.ask(&[forget.as_slice(), new.as_slice()].concat())?;
        }
        let git_output = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(failure(if git_output.is_empty() {
            stderr_message(&output)
        } else {
            git_output
        }));
    }
    let git_output = [output.stdout, output.stderr].concat();
    let commit = git.ask_line(&["rev-parse", "HEAD"])?;
    let git_output = String::from_utf8_lossy(&git_output).trim().to_owned();
    Ok(Committed { commit: Some(commit), files, message, git_output })
}

/// Having nothing to commit is fine, but files that git was told to ignore are an error.
///
/// # Errors
/// None of the state files is known to git, and one is ignored.
pub(crate) fn refuse_ignored(repository: &Repository) -> Result<(), GitError> {
    let names = repository.state_files();
    // `check-ignore` knows paths only, and a name that begins with a colon is one like any other.
    let paths: Vec<String> =
        names.iter().map(|name| format!("./{}", repository.path(name))).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let ask_about = |args: &[&str]| repository.git.ask(&[args, &["--"], &paths].concat());
    if names.is_empty() || !ask_about(&["ls-files"])?.is_empty() {
        return Ok(());
    }
    match ask_about(&["--no-literal-pathspecs", "check-ignore"]) {
        Ok(ignored) if !ignored.is_empty() => Err(GitError::refused(
            ErrorCode::Ignored,
            "the state files are ignored by git",
            "`git check-ignore -v plan.md` in the state directory shows the rule; `git add \
             --force` adds them anyway",
        )),
        _ => Ok(()),
    }
}

/// Git does not commit single files while a merge is in progress.
fn refuse_merging(repository: &Repository) -> Result<(), GitError> {
    let Some(what) = under_way(&repository.dir) else { return Ok(()) };
    let message = format!("a {what} is in progress, and a part of it cannot be committed alone");
    let complete = match what {
        "merge" | "cherry-pick" => "`git commit`".to_owned(),
        what => format!("`git add` and `git {what} --continue`"),
    };
    let hint =
        format!("{complete} completes it, state files included; `git {what} --abort` cancels it");
    Err(GitError::refused(ErrorCode::Merging, message, hint))
}

/// The state files, and the attributes beside them, that differ from the last commit, and whether git does not know them yet.
fn changed(repository: &Repository) -> Result<Vec<(String, bool)>, GitError> {
    let mut found = Vec::new();
    let files = repository.written_files();
    for name in files.iter().map(String::as_str).chain([ATTRIBUTES]) {
        let path = repository.path(name);
        let args = ["status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames"];
        let line = repository.git.ask_text(&[args.as_slice(), &["--", &path]].concat())?;
        if line.is_empty() {
            continue;
        }
        let is_new = line.starts_with("??");
        let is_there = || repository.dir.join(name).symlink_metadata().is_ok();
        if is_new && !is_there() {
            continue;
        }
        found.push((name.to_owned(), is_new));
    }
    Ok(found)
}

fn message(repository: &Repository, options: &CommitOptions) -> String {
    let mut text = match &options.message {
        Some(message) => message.trim_end().to_owned(),
        None => described(&since_last(repository, &options.operations)),
    };
    text.push_str(&format!("\n\n{REVISION}: {}\n", options.revision));
    if !options.heads.is_empty() {
        text.push_str(&format!("{HEADS}: {}\n", options.heads.join(",")));
    }
    text
}

/// The operations that no commit of this state has described yet, on whatever branch; the oldest first.
fn since_last<'o>(
    repository: &Repository,
    operations: &'o [OperationSummary],
) -> Vec<&'o OperationSummary> {
    let format = format!("--format=%(trailers:key={REVISION},valueonly)");
    let marked = format!("--grep=^{REVISION}: ");
    let dir = repository.path(".");
    let args = ["log", "--all", "--max-count=100", &format, &marked, "--", &dir];
    let described = repository.git.ask_text(&args).unwrap_or_default();
    let described: Vec<&str> = described.split_whitespace().collect();
    let is_new = |operation: &&OperationSummary| !described.contains(&operation.id.as_str());
    let mut new: Vec<&OperationSummary> = operations.iter().take_while(is_new).collect();
    // A commit made without statedir also covers what came before it.
    if let Some(last) = last_written(repository) {
        let is_later = |operation: &&OperationSummary| {
            operation.time.parse::<Timestamp>().is_ok_and(|time| time >= last)
        };
        let later = new.iter().take_while(|operation| is_later(operation)).count();
        if later > 0 {
            new.truncate(later);
        }
    }
    // Changes made by git need not be described to git.
    if new.iter().any(|operation| operation.kind != EXTERNAL) {
        new.retain(|operation| operation.kind != EXTERNAL);
    }
    new.reverse();
    new
}

/// When the newest commit with state files on this branch was written.
fn last_written(repository: &Repository) -> Option<Timestamp> {
    let paths: Vec<String> =
        repository.state_files().into_iter().map(|name| repository.path(&name)).collect();
    // Without paths it would be the newest commit of all.
    let within = repository.path(".");
    let mut args = vec!["log", "--max-count=1", "--format=%at", "HEAD", "--"];
    args.extend(paths.iter().map(String::as_str));
    if paths.is_empty() {
        args.push(&within);
    }
    let seconds = repository.git.ask_line(&args).ok()?;
    Timestamp::from_second(seconds.trim().parse().ok()?).ok()
}

fn described(operations: &[&OperationSummary]) -> String {
    let line = |operation: &&OperationSummary| {
        let text =
            if operation.message.is_empty() { &operation.command } else { &operation.message };
        let text = text.lines().next().unwrap_or_default();
        let text: String = text.chars().filter(|c| !c.is_control()).take(100).collect();
        if text.is_empty() { operation.kind.clone() } else { text }
    };
    match operations {
        [] => "state: files changed".to_owned(),
        [one] => format!("state: {}", line(one)),
        several => {
            let shown: Vec<String> =
                several.iter().take(MOST).map(|one| format!("- {}", line(one))).collect();
            let rest = several.len().saturating_sub(MOST);
            let more = if rest > 0 { format!("\n- and {rest} more") } else { String::new() };
            format!("state: {} changes\n\n{}{more}", several.len(), shown.join("\n"))
        }
    }
}
