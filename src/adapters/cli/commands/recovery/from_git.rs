//! Restoring a lost state from git.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::{
    adapters::{
        choose,
        cli::{CliResult, Failure, Session},
        git::{self, GitError, LogState, Lost, PassedOver, Rebuilt, RebuiltLog},
    },
    domain::{ErrorCode, StateFile},
    store::StoreError,
    text::{display::counted, shell::shell_word},
    workspace::{Error, ErrorKind, Workspace},
};

/// How many of the skipped versions are shown.
const SHOWN: usize = 20;

/// Restores what is missing: the files first, then the operation log.
pub(in crate::adapters::cli) fn run(session: &mut Session<'_>) -> CliResult {
    if session.global.if_match.is_some() {
        let message = "`--if-match` cannot be used with `--from-git`: lost files have no revision";
        return Err(Failure::usage(message));
    }
    let workspace = session.workspace_in(directory(session)?, None)?;
    let dry_run = session.global.dry_run;
    let from_log = from_log(&workspace)?;
    let mut rebuilt = git::rebuild(workspace.directory(), dry_run).map_err(failure)?;
    // In a dry run they are still missing.
    rebuilt.restored.retain(|restored| !from_log.contains(&restored.file));
    rebuilt.not_found.retain(|file| !from_log.contains(file));
    rebuilt.passed_over.retain(|passed| !from_log.contains(&passed.file));
    let relogged = rebuild_missing_log(session, &workspace)?;
    let dir = workspace.directory().to_owned();
    let found = RecoveredFiles { dir, from_log, rebuilt, relogged, dry_run };
    found.print(session);
    let missing = found.missing();
    let failure = (!missing.is_empty()).then(|| {
        let message = format!("no commit has a usable version of {}", missing.join(", "));
        Failure::new(ErrorCode::NotInGit, message).hint(
            "`git fetch` may bring commits that have it; `statedir check` says what the rest needs",
        )
    });
    session.end(failure, || found.document())
}

/// Restores what the log has: its bytes may be newer than those of any commit.
fn from_log(workspace: &Workspace) -> Result<Vec<StateFile>, Failure> {
    match workspace.restore_from_log() {
        Ok(fixed) => Ok(fixed.into_iter().map(|fixed| fixed.file).collect()),
        // Git has to do without the log.
        Err(error) if is_unusable_log(&error) => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

fn is_unusable_log(error: &Error) -> bool {
    use StoreError::{Damaged, NotRegular, TooLarge};
    let ErrorKind::Store(error) = error.kind() else { return false };
    matches!(error, Damaged { .. } | TooLarge { .. } | NotRegular { .. })
}

fn rebuild_missing_log(
    session: &Session<'_>,
    workspace: &Workspace,
) -> Result<RebuiltLog, Failure> {
    let holder = workspace.holder();
    let (wait, dry_run) = (session.global.wait(), session.global.dry_run);
    git::rebuild_log(workspace.store(), wait, &holder, dry_run).map_err(failure)
}

fn directory(session: &Session<'_>) -> Result<PathBuf, Failure> {
    let named = session.named_dir();
    let here = std::env::current_dir().map_err(|error| {
        Failure::new(ErrorCode::Io, format!("there is no working directory: {error}"))
    })?;
    match git::find_lost(named.as_deref(), &here).map_err(failure)? {
        Lost::At(dir) => Ok(dir),
        Lost::Unknown => Ok(choose(named.as_deref(), named.is_none())?),
        Lost::OneOf(several) => {
            let names: Vec<_> = several.iter().map(|dir| format!("`{}`", dir.display())).collect();
            let message = format!("git has several states: {}", names.join(", "));
            let first = several.first().map(|dir| dir.display().to_string()).unwrap_or_default();
            Err(Failure::new(ErrorCode::Ambiguous, message).hint(format!(
                "choose one, such as `statedir -C {} recover --from-git`",
                shell_word(&first)
            )))
        }
    }
}

fn failure(error: GitError) -> Failure {
    let without_git = matches!(error, GitError::NoProgram(_) | GitError::NoRepository(_));
    let failure = Failure::from(error);
    match without_git {
        true => failure.hint("without git, `statedir checkpoint list` shows what can be restored"),
        false => failure,
    }
}

/// The result.
struct RecoveredFiles {
    dir: PathBuf,
    from_log: Vec<StateFile>,
    rebuilt: Rebuilt,
    relogged: RebuiltLog,
    dry_run: bool,
}

impl RecoveredFiles {
    /// The names of what no commit has.
    fn missing(&self) -> Vec<&'static str> {
        let log = (self.relogged.log == LogState::NotFound).then_some(StateFile::Log);
        self.rebuilt.not_found.iter().copied().chain(log).map(StateFile::name).collect()
    }

    /// All versions that were passed over, each once.
    fn passed_over(&self) -> Vec<&PassedOver> {
        let mut all: Vec<&PassedOver> = Vec::new();
        for passed in self.rebuilt.passed_over.iter().chain(&self.relogged.passed_over) {
            if !all.contains(&passed) {
                all.push(passed);
            }
        }
        all
    }

    fn document(&self) -> Value {
        let relogged = &self.relogged;
        json!({ "directory": self.dir, "from_log": self.from_log,
            "restored": self.rebuilt.restored, "log": relogged.log,
            "operations": relogged.operations, "left_out": relogged.left_out,
            "edited": relogged.edited, "passed_over": self.passed_over(),
            "not_found": self.missing(), "revision": relogged.revision, "dry_run": self.dry_run })
    }

    fn print(&self, session: &mut Session<'_>) {
        let output = &mut session.output;
        let would = if self.dry_run { "would have " } else { "" };
        for file in &self.from_log {
            output.line(format!("{would}restored {file} from the operation log"));
        }
        for restored in &self.rebuilt.restored {
            let (file, commit) = (restored.file, short(&restored.commit));
            output.line(format!("{would}restored {file} from commit {commit}"));
        }
        let relogged = &self.relogged;
        if relogged.log == LogState::Kept && !self.rebuilt.restored.is_empty() {
            output.line("the operation log exists and does not include what came from commits");
        }
        if relogged.log == LogState::Rebuilt {
            let operations = counted(relogged.operations, "operation", "operations");
            output.line(format!("{would}rebuilt {operations} of the log from commits"));
        }
        if !relogged.edited.is_empty() {
            let files = relogged.edited.join(", ");
            output.line(format!("recorded as edited since the newest commit: {files}"));
        }
        if relogged.left_out > 0 {
            let count = relogged.left_out;
            output.line(format!("left out: {count} older commits; `git log` shows them"));
        }
        let passed_over = self.passed_over();
        for passed in passed_over.iter().take(SHOWN) {
            let PassedOver { file, commit, why } = passed;
            output.line(format!("skipped {file} at commit {}: {why}", short(commit)));
        }
        if passed_over.len() > SHOWN {
            let more = passed_over.len() - SHOWN;
            output.line(format!("skipped {more} more versions; `--json` lists them"));
        }
        for name in self.missing() {
            output.line(format!("not found: {name}"));
        }
        let restored = !self.rebuilt.restored.is_empty() || !self.from_log.is_empty();
        let idle = !restored && relogged.log == LogState::Kept;
        if idle && self.missing().is_empty() {
            output.line("nothing to do: all files and the operation log are present");
        }
    }
}

fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}
