use std::path::PathBuf;

use serde_json::json;

use crate::{
    adapters::{
        cli::{CliResult, Failure, Session},
        git::{self, InstallOptions, Installed},
    },
    diff::canonical,
    domain::{ErrorCode, StateFile},
};

/// Teach a git repository to merge, show and check state
///
/// `install` names the merge driver in .git/info/attributes and in the configuration of this clone, for
/// all its branches and worktrees; nothing outside the repository is touched without `--global`. What is
/// committed, a .gitattributes beside the state, keeps both sides of history.md and context.md in a clone
/// where nobody ran `install`; there `statedir merge --resolve` resolves what is left in conflict.
#[derive(Clone, Debug, clap::Subcommand)]
#[command(
    defer = true,
    after_help = "\
Examples:
  statedir git install
  statedir git install --textconv --pre-commit
  statedir git status
  statedir git uninstall"
)]
pub(in crate::adapters) enum Verb {
    /// Merge the state files by meaning in this repository
    #[command(after_help = "Examples:\n  statedir git install --textconv")]
    Install {
        /// Also show changes by meaning in `git diff` and `git log -p`
        #[arg(long)]
        textconv: bool,
        /// Also refuse commits that lose entries of history.md or hold conflicts; an existing hook
        /// is kept and called first; where `core.hooksPath` is outside the repository, only with
        /// `--global`
        #[arg(long)]
        pre_commit: bool,
        /// For every repository of this user
        #[arg(long)]
        global: bool,
    },
    /// Remove what `install` set up, and nothing else
    #[command(after_help = "Examples:\n  statedir git uninstall")]
    Uninstall {
        /// What was set up with `--global`
        #[arg(long)]
        global: bool,
    },
    /// Show what is set up
    #[command(after_help = "Examples:\n  statedir git status --json")]
    Status,
    /// Check what is staged, as the hook does (exit 1 if a commit would lose state)
    #[command(after_help = "Examples:\n  statedir git pre-commit")]
    PreCommit,
    /// Print a state file with one fact per line, for `git diff`
    #[command(after_help = "Examples:\n  statedir git textconv workspace/state/plan.md")]
    Textconv {
        /// The file
        path: PathBuf,
    },
}

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, verb: Verb) -> CliResult {
    let dry_run = session.global.dry_run;
    match verb {
        Verb::Install { textconv, pre_commit, global } => {
            let options = InstallOptions { textconv, pre_commit, global, dry_run };
            let program = std::env::current_exe().map_err(|error| {
                Failure::new(ErrorCode::Io, format!("this program cannot be found: {error}"))
            })?;
            let installed = git::install(&directory(session)?, &program, options)?;
            report(session, &installed, "set up")
        }
        Verb::Uninstall { global } => {
            let options = InstallOptions { global, dry_run, ..InstallOptions::default() };
            let installed = git::uninstall(&directory(session)?, options)?;
            report(session, &installed, "took away")
        }
        Verb::Status => {
            let installed = git::status(&directory(session)?)?;
            session.output.value(|| json!({ "git": installed }));
            print_parts(session, &installed);
            if !installed.merge_driver && installed.problems.is_empty() {
                session
                    .output
                    .line("hint: `statedir git install` turns the merge driver on in this clone");
            }
            Ok(0)
        }
        Verb::PreCommit => pre_commit(session),
        Verb::Textconv { path } => textconv(session, &path),
    }
}

/// The state directory, or the working directory's own where there is none yet.
fn directory(session: &Session<'_>) -> Result<PathBuf, Failure> {
    let workspace = session.workspace().or_else(|_| session.new_workspace())?;
    Ok(workspace.directory().to_owned())
}

fn report(session: &mut Session<'_>, installed: &Installed, verb: &str) -> CliResult {
    session.output.value(|| json!({ "git": installed, "dry_run": session.global.dry_run }));
    if installed.changed.is_empty() {
        session.output.line("nothing to do");
    }
    let would = if session.global.dry_run { "would have " } else { "" };
    for path in &installed.changed {
        session.output.line(format!("{would}{verb} {}", path.display()));
    }
    print_parts(session, installed);
    Ok(0)
}

fn print_parts(session: &mut Session<'_>, installed: &Installed) {
    let parts = [
        ("merge driver", installed.merge_driver),
        ("textconv", installed.textconv),
        ("pre-commit", installed.pre_commit),
    ];
    for (name, on) in parts {
        session.output.line(format!("{name:<13} {}", if on { "on" } else { "off" }));
    }
    for problem in &installed.problems {
        session.output.line(format!("problem: {problem}"));
    }
}

fn pre_commit(session: &mut Session<'_>) -> CliResult {
    let found = git::check_staged()?;
    let lines: Vec<String> =
        found.iter().map(|found| format!("{}: {}", found.path, found.problem)).collect();
    let failure = found
        .first()
        .map(|first| Failure::new(ErrorCode::WouldLoseState, lines.join("\n")).hint(first.hint()));
    session.end(failure, || json!({ "problems": found }))
}

fn textconv(session: &mut Session<'_>, path: &std::path::Path) -> CliResult {
    let bytes =
        fs_err::read(path).map_err(|error| Failure::new(ErrorCode::Io, error.to_string()))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // Git may add a prefix to the names of temporary files.
    let file = StateFile::FIVE.into_iter().find(|file| name.ends_with(file.name()));
    let text = match file {
        Some(file) => canonical(file, &bytes),
        None => String::from_utf8_lossy(&bytes).into_owned(),
    };
    session.output.value(|| json!({ "text": text }));
    session.output.raw(&text);
    Ok(0)
}
