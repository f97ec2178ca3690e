use std::{path::PathBuf, time::Duration};

use serde_json::{Value, json};

use super::{from_git, scan, view};
use crate::{
    adapters::{
        Evaluator, Recovery, RecoveryOptions, Scan, ScanResult,
        cli::{
            CliResult, Failure, Session, args::duration, commands::steps::args::select,
            missing_file,
        },
        is_archived, split_words,
    },
    domain::{ErrorCode, PlanRole},
    recovery::RecoveryAction,
    text::display::one_line,
    text::shell::{self, shell_word},
    workspace::{Outcome, RecoverRequest, Workspace},
};

/// Decide how to continue after a crash or a failure, and say why
///
/// Looks at the plan, the last operation, the history and its errors, claims, checkpoints, the git
/// work tree and the project's files. Prints one of eight decisions, the evidence for it and why
/// the others were ruled out; changes nothing unless --apply is given. Unclear evidence gives
/// human_review, never a guess.
///
/// For a failed step the decision is retry_task, once the cause is fixed, unless the error may pass by
/// itself (timeout, network, rate_limit). Once the step has failed as often as retry_limit allows, it
/// is human_review. Finished work and findings are never given up because of a failure:
/// rollback_checkpoint is proposed only if the state itself is damaged and the log cannot repair it,
/// and the answer says what it would undo; skip_task and restart are left for you to choose.
///
/// For a step that was running, the files that it names (in side_effects, expected_outputs or its last
/// note) decide: continue_task if they have content, restart_task if they are empty, next_task if they
/// exist and the last note says that the step is complete. Contradictions, no trace of work, or very
/// many changes give human_review. A step that somebody else holds is left alone until its claim is
/// stale: its session has ended, its process is gone, or it has been silent for too long. `next` is
/// the move that `brief`, `status` and `resume` recommend, too.
///
/// If there is nothing to recover, the answer is next_task with `nothing_to_do`. A damaged state gives
/// exit code 4, together with the decision.
///
/// --evaluator asks a program instead: it gets the evidence on its standard input and answers
/// {"action": "...", "reasoning": "..."} within the time limit. It runs without a shell, with only
/// PATH, HOME, LANG, TMPDIR and STATEDIR set. If it fails in any way, the built-in decision stands
/// and the answer says so.
///
/// --from-git decides nothing: it restores what was lost. A missing state file is restored from the
/// operation log, which may be newer than any commit, else from the newest commit with a good
/// version of it, on this branch first. The answer says which. A missing operation log (.statedir/)
/// is rebuilt from the newest 1,000 commits that touched the state, so that `undo`, `op log` and
/// `diff @-2` reach back again. Existing files are never overwritten; unusable versions are skipped
/// and listed. Exit 4 if something is in no commit.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  statedir recover
  statedir recover --apply
  statedir recover --decide skip_task --step 3 --apply
  statedir recover --evaluator './evaluator.sh --strict' --evaluator-timeout 30s
  statedir recover --all ~/projects --json
  statedir recover --from-git --dry-run

Decisions: continue_task, restart_task, next_task, retry_task, rollback_checkpoint, skip_task,
restart, human_review. What --apply did is one operation: `statedir undo` reverts it.")]
pub(in crate::adapters) struct Args {
    /// Carry out the decision, as one operation that can be undone
    #[arg(long)]
    apply: bool,
    /// Take this decision instead, if it is possible
    #[arg(long, value_name = "ACTION", value_parser = action)]
    decide: Option<RecoveryAction>,
    /// Decide for this step; else for the one that was interrupted or failed
    #[arg(long, value_name = "STEP")]
    step: Option<String>,
    /// Let a program decide; quotes keep words together, no shell is used
    #[arg(long, value_name = "CMD", conflicts_with = "decide")]
    evaluator: Option<String>,
    /// One more argument for the program, passed as is
    #[arg(long, value_name = "ARG", requires = "evaluator", allow_hyphen_values = true)]
    evaluator_arg: Vec<String>,
    /// How long the program may take
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration)]
    evaluator_timeout: Duration,
    /// Decide for every state directory below this one
    #[arg(long, value_name = "DIR", conflicts_with_all = ["decide", "step", "project"])]
    all: Option<PathBuf>,
    /// Restore lost state files and the operation log from git commits
    #[arg(long, conflicts_with_all = [
        "apply", "decide", "step", "evaluator", "evaluator_arg", "all", "project",
    ])]
    from_git: bool,
    /// The directory with the project's files; else derived from where the state is
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// How long a claim may be silent before it counts as stale; else as workflow.yaml says (1h)
    #[arg(long, value_name = "TIME", value_parser = duration)]
    stale_after: Option<Duration>,
}

fn action(text: &str) -> Result<RecoveryAction, String> {
    let all: Vec<&str> = RecoveryAction::ALL.iter().map(|action| action.word()).collect();
    RecoveryAction::parse(text)
        .ok_or_else(|| format!("`{text}` is not a decision; expected one of {}", all.join(", ")))
}

impl Args {
    /// The command that carries out what this one decides.
    fn to_apply(&self) -> String {
        let mut words = vec!["recover"];
        let decide = self.decide.map(|action| action.word());
        words.extend(decide.into_iter().flat_map(|action| ["--decide", action]));
        words.extend(self.step.as_deref().into_iter().flat_map(|step| ["--step", step]));
        let evaluator = self.evaluator.as_deref();
        words.extend(evaluator.into_iter().flat_map(|command| ["--evaluator", command]));
        words.extend(self.evaluator_arg.iter().flat_map(|arg| ["--evaluator-arg", arg]));
        let project = self.project.as_deref().and_then(std::path::Path::to_str);
        words.extend(project.into_iter().flat_map(|project| ["--project", project]));
        words.push("--apply");
        shell::command_line(words)
    }

    fn options(&self) -> Result<RecoveryOptions, Failure> {
        let step = self.step.as_deref().map(select).transpose()?;
        let evaluator = match &self.evaluator {
            None => None,
            Some(line) => {
                let mut argv = split_words(line)
                    .map_err(|why| Failure::usage(format!("the evaluator `{line}`: {why}")))?;
                argv.extend(self.evaluator_arg.iter().cloned());
                Some(Evaluator { argv, limit: self.evaluator_timeout })
            }
        };
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let stale_after_ms = self.stale_after.map(millis);
        if let Some(project) = self.project.as_ref().filter(|project| !project.is_dir()) {
            let message = format!("`{}` is not a directory", project.display());
            return Err(Failure::new(ErrorCode::NotFound, message));
        }
        Ok(RecoveryOptions {
            request: RecoverRequest { step, stale_after_ms },
            project: self.project.clone(),
            own: self.decide,
            evaluator,
        })
    }
}

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, args: &Args) -> CliResult {
    if args.from_git {
        return from_git::run(session);
    }
    let options = args.options()?;
    if let Some(root) = &args.all {
        return recover_all(session, root, args, &options);
    }
    let workspace = session.workspace()?;
    let mut recovery = Recovery::decide(&workspace, &options)?;
    let way_back = restore_hint(&workspace, &mut recovery);
    // In a damaged state only a rollback can be carried out.
    let whole = recovery.examined.evidence.damage.is_empty()
        || recovery.decision.action == RecoveryAction::RollbackCheckpoint;
    let carried = match args.apply && whole {
        true => Some(recovery.carry_out(&workspace)?),
        false => None,
    };
    if args.decide.is_some() && !args.apply && whole {
        recovery.rehearse(&workspace)?;
    }
    let dry_run = session.global.dry_run;
    let damaged = recovery.examined.evidence.damage.first().filter(|_| carried.is_none()).cloned();
    let apply = (!args.apply).then(|| args.to_apply());
    view::print(session.output, &recovery, apply.as_deref());
    if let Some(outcome) = &carried {
        session.output.outcome(outcome, dry_run);
    }
    let failure = damaged.map(|message| damage(message, way_back));
    session.end(failure, || view::document(&recovery, carried.as_ref(), dry_run))
}

/// The hint for a missing file that the log does not have; the decision shows it, too.
fn restore_hint(workspace: &Workspace, recovery: &mut Recovery) -> Option<String> {
    if recovery.examined.evidence.damage.is_empty() {
        return None;
    }
    let way_back = missing_file::first_hint(workspace)?;
    recovery.decision.look_at = vec![way_back.clone()];
    Some(way_back)
}

fn damage(message: String, way_back: Option<String>) -> Failure {
    let usual = "`statedir check` lists every problem; `statedir check --fix` repairs what is safe";
    let hint = way_back.unwrap_or_else(|| usual.to_owned());
    Failure::new(ErrorCode::Damaged, message).hint(hint)
}

/// The outcome for one state directory.
struct StateResult {
    dir: PathBuf,
    result: Result<(Recovery, Option<Outcome>, Option<&'static str>), Failure>,
}

/// Decides for every state below `root`; one that fails does not stop the others.
fn recover_all(
    session: &mut Session<'_>,
    root: &std::path::Path,
    args: &Args,
    options: &RecoveryOptions,
) -> CliResult {
    scan::refuse_if_match(session)?;
    let ScanResult { directories, left_out, unread, .. } =
        scan::find(root, Scan::default().most_depth)?;
    let mut done: Vec<StateResult> = Vec::new();
    for dir in directories.into_iter().filter(|dir| !is_archived(dir)) {
        let result = recover_state(session, &dir, args.apply, options);
        done.push(StateResult { dir, result });
    }
    let failures = done.iter().filter_map(|one| one.result.as_ref().err());
    let exit = failures.clone().map(|failure| failure.exit).max().unwrap_or(0);
    let failed = failures.count();
    let dry_run = session.global.dry_run;
    let states = || done.iter().map(|one| one.to_json(dry_run)).collect::<Vec<_>>();
    let answer = || json!({ "root": root, "left_out": left_out, "states": states() });
    for one in &done {
        one.print(session);
    }
    if done.is_empty() {
        session.output.line("no state directories");
    }
    for what in &left_out {
        session.output.note(&format!("left out: {what}"));
    }
    if failed == 0 {
        return session.end(unread.then(scan::unreadable_directories), answer);
    }
    let message = format!("{failed} of {} states could not be recovered", done.len());
    let first =
        done.iter().find(|one| one.result.is_err()).map(|one| one.dir.display().to_string());
    let mut failure = Failure::new(ErrorCode::SomeFailed, message).hint(format!(
        "`statedir -C {} check` lists every problem of the first",
        shell_word(&first.unwrap_or_default())
    ));
    failure.exit = exit;
    session.end(Some(failure), answer)
}

fn recover_state(
    session: &Session<'_>,
    dir: &std::path::Path,
    apply: bool,
    options: &RecoveryOptions,
) -> Result<(Recovery, Option<Outcome>, Option<&'static str>), Failure> {
    let workspace = session.workspace_in(dir.to_owned(), None)?;
    let mut recovery = Recovery::decide(&workspace, options)?;
    let way_back = restore_hint(&workspace, &mut recovery);
    let evidence = &recovery.examined.evidence;
    if let Some(message) = evidence.damage.first() {
        let data = Some(Box::new(view::document(&recovery, None, false)));
        return Err(Failure { data, ..damage(message.clone(), way_back) });
    }
    if !apply || recovery.decision.nothing_to_do {
        return Ok((recovery, None, None));
    }
    // A plan that was paused on purpose continues only by `resume`.
    if evidence.plan.role == Some(PlanRole::Paused) {
        return Ok((
            recovery,
            None,
            Some("paused on purpose; `statedir resume` there continues it"),
        ));
    }
    let outcome = recovery.carry_out(&workspace)?;
    Ok((recovery, Some(outcome), None))
}

impl StateResult {
    fn to_json(&self, dry_run: bool) -> Value {
        let mut value = match &self.result {
            Ok((recovery, outcome, left)) => {
                let mut value = view::document(recovery, outcome.as_ref(), dry_run);
                if let Some(left) = left {
                    value["not_applied"] = json!(left);
                }
                // Listing the files of every project would hide the decisions.
                value["evidence"] = Value::Null;
                value
            }
            Err(failure) => failure.to_json(),
        };
        value["directory"] = json!(self.dir);
        value
    }

    fn print(&self, session: &mut Session<'_>) {
        let dir = self.dir.display();
        match &self.result {
            Ok((recovery, outcome, left)) => {
                let line = view::headline(recovery);
                session.output.line(format!("{dir}: {line}"));
                let why = recovery.decision.reasons.first().cloned().unwrap_or_default();
                session.output.line(format!("  why      {}", one_line(&why)));
                if let Some(asked) = &recovery.evaluator
                    && let Some(error) = &asked.error
                {
                    let error = one_line(error);
                    session.output.line(format!(
                        "  note     the evaluator did not decide, so the built-in decision was used: {error}"
                    ));
                }
                if let Some(left) = left {
                    session.output.line(format!("  left     {left}"));
                }
                if let Some(outcome) = outcome {
                    session.output.outcome(outcome, session.global.dry_run);
                }
            }
            Err(failure) => {
                session.output.line(format!("{dir}: {}", one_line(&failure.message)));
            }
        }
    }
}
