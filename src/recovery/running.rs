//! A step was running when its process went away: what do the files say?
//!
//! | last words | files | action |
//! |---|---|---|
//! | "completed …" | what the step names is there, or files changed | `next_task` |
//! | "completed …" | something named is missing or empty, or nothing changed | `human_review` |
//! | any | something named is there, with content | `continue_task` |
//! | any | what is named is there, and empty | `restart_task` |
//! | none | what is named is missing, nothing changed | `restart_task` |
//! | "working on …" | nothing changed | `human_review` |
//! | any | some files or parts of the state changed, nothing is named | `continue_task` |
//! | any | the same, and other steps run, too | `human_review` |
//! | any | very many files changed, nothing is named | `human_review` |
//! | any | the step runs something, and the files for it are there | `continue_task` |
//! | any | nothing at all, and the session that holds the step asks | `continue_task` |
//! | none | nothing at all | `human_review` |

use super::{
    Confidence, Evidence, RecoveryAction, RecoveryDecision, StepEvidence, says_complete, step_text,
};
use crate::{
    domain::PlanRole,
    text::display::{counted, one_line, shorten},
};

/// With this many changed files, the progress of a step cannot be judged from outside.
const MANY: usize = 15;

pub(super) fn decide(evidence: &Evidence, step: &StepEvidence) -> RecoveryDecision {
    let mut decision = decide_by_files(evidence, step);
    let paused = evidence.plan.role == Some(PlanRole::Paused);
    if paused && decision.action == RecoveryAction::HumanReview && !contradicts(step) {
        let why = evidence.plan.paused_because.as_deref().unwrap_or("no reason was given");
        let reason = format!("the plan was paused on purpose ({why}), not interrupted");
        decision = RecoveryDecision::new(RecoveryAction::ContinueTask, Confidence::Medium, reason);
    }
    if let Some(claim) = step.claim.as_ref().filter(|claim| claim.stale && !claim.own) {
        decision.reasons.push(match &claim.claimed_by {
            Some(_) => format!(
                "it was left running by {}: `statedir step take {}` takes it over",
                claim.phrase(),
                step.number
            ),
            None => "nobody has claimed the step".to_owned(),
        });
    }
    if evidence.git.as_ref().is_some_and(|git| git.conflicts > 0) {
        let count = evidence.git.as_ref().map_or(0, |git| git.conflicts);
        let reason = format!("git has {count} files with conflicts");
        return RecoveryDecision::ask(reason, &["`git status`"]);
    }
    decision
}

fn decide_by_files(evidence: &Evidence, step: &StepEvidence) -> RecoveryDecision {
    // What was there before and is as it was shows no progress, unless an earlier attempt made it.
    let new = |file: &super::NamedFile| file.changed != Some(false) || step.attempts > 1;
    let last_note = step.last_action.as_deref();
    let complete = last_note.is_some_and(|last_note| says_complete(last_note, &step.title));
    let there: Vec<&str> =
        named_files(step, |file| file.exists && file.bytes > 0 && (complete || new(file)));
    let empty: Vec<&str> = named_files(step, |file| file.exists && file.bytes == 0);
    let missing: Vec<&str> = named_files(step, |file| !file.exists);
    let changed = changed_files(evidence);
    let words =
        last_note.map(|last_note| format!("last note: \"{}\"", shorten(&one_line(last_note), 120)));
    let decision = if complete {
        let whole = missing.is_empty() && empty.is_empty();
        match (whole, there.is_empty(), changed) {
            (true, false, _) => {
                let reason =
                    format!("it says that it is complete, and {} there", listed_with_verb(&there));
                RecoveryDecision::new(RecoveryAction::NextTask, Confidence::High, reason)
            }
            (true, true, 1..) if !evidence.other_running.is_empty() => {
                unclear_author(evidence, step, changed)
            }
            (true, true, 1..) => {
                let reason =
                    format!("it says that it is complete, and {} changed", count_files(changed));
                RecoveryDecision::new(RecoveryAction::NextTask, Confidence::Medium, reason)
            }
            (true, true, 0) if !step.state_changes.is_empty() => {
                let reason = "it says that it is complete, and it changed the state";
                RecoveryDecision::new(RecoveryAction::NextTask, Confidence::Medium, reason)
            }
            (true, true, 0) => RecoveryDecision::ask(
                "it says that it is complete, but nothing shows it",
                &["what the step should have made", "`git status`"],
            ),
            (false, ..) => {
                let lacking: Vec<&str> = missing.iter().chain(&empty).copied().collect();
                let reason = format!(
                    "it says that it is complete, but {} not there or empty",
                    listed_with_verb(&lacking)
                );
                RecoveryDecision::ask(reason, &["the files that the step names"])
            }
        }
    } else if !there.is_empty() {
        let decision = RecoveryDecision::new(
            RecoveryAction::ContinueTask,
            Confidence::High,
            format!("{} there: the work has begun", listed_with_verb(&there)),
        );
        match missing.len() + empty.len() {
            0 => decision,
            _ => {
                let rest: Vec<&str> = missing.iter().chain(&empty).copied().collect();
                decision.because(format!("{} still missing or empty", listed_with_verb(&rest)))
            }
        }
    } else if !empty.is_empty() {
        let reason =
            format!("{} there and empty: nothing to continue from", listed_with_verb(&empty));
        RecoveryDecision::new(RecoveryAction::RestartTask, Confidence::High, reason)
    } else if changed > MANY && missing.is_empty() {
        RecoveryDecision::ask(
            format!("{} changed, and nothing says whether that is all of it", count_files(changed)),
            &["`git diff`", "what the step was about to do"],
        )
    } else if changed > 0
        && step.state_changes.is_empty()
        && missing.is_empty()
        && !evidence.other_running.is_empty()
    {
        unclear_author(evidence, step, changed)
    } else if changed > 0 || !step.state_changes.is_empty() {
        partial_progress(step, changed, &missing)
    } else if step_text::runs_something(&step.title) && has_files(evidence, &step.title) {
        let reason = "the step runs what already exists, and its files exist";
        RecoveryDecision::new(RecoveryAction::ContinueTask, Confidence::Medium, reason)
    } else if last_note.is_none() && !missing.is_empty() {
        let reason = format!(
            "{} not there, and nothing has changed: it had hardly begun",
            listed_with_verb(&missing)
        );
        RecoveryDecision::new(RecoveryAction::RestartTask, Confidence::Medium, reason)
    } else if step.claim.as_ref().is_some_and(|claim| claim.is_this_session) {
        let reason = "it is yours, and nothing has changed since it began";
        RecoveryDecision::new(RecoveryAction::ContinueTask, Confidence::Medium, reason)
    } else {
        RecoveryDecision::ask(
            format!(
                "nothing has changed since step {} began, so it is unclear how far it got",
                step.number
            ),
            &["whether the step did something that leaves no trace in files"],
        )
    };
    match words {
        Some(words) => decision.because(words),
        None => decision.because("nothing was noted while it ran"),
    }
}

fn partial_progress(step: &StepEvidence, changed: usize, missing: &[&str]) -> RecoveryDecision {
    let mut seen = Vec::new();
    if changed > 0 {
        seen.push(format!("{} changed since it began", count_files(changed)));
    }
    if !step.state_changes.is_empty() {
        seen.push(format!("it changed {}", step.state_changes.join(", ")));
    }
    let reason = seen.join("; ");
    if missing.is_empty() {
        RecoveryDecision::new(RecoveryAction::ContinueTask, Confidence::Medium, reason)
    } else {
        RecoveryDecision::new(RecoveryAction::RestartTask, Confidence::Medium, reason).because(
            format!("but {} not there: partial work of unclear use", listed_with_verb(missing)),
        )
    }
}

/// Files changed, but several steps run, and none of them names what changed.
fn unclear_author(evidence: &Evidence, step: &StepEvidence, changed: usize) -> RecoveryDecision {
    let others: Vec<String> =
        evidence.other_running.iter().map(|claim| claim.step.to_string()).collect();
    let reason = format!(
        "{} changed, and nothing says whether by step {} or by step {}, which runs too",
        count_files(changed),
        step.number,
        others.join(", ")
    );
    RecoveryDecision::ask(reason, &["`git diff`", "`statedir step list`"])
}

/// Whether words and files say different things.
fn contradicts(step: &StepEvidence) -> bool {
    step.last_action.as_deref().is_some_and(|last_note| says_complete(last_note, &step.title))
}

fn named_files(step: &StepEvidence, keep: impl Fn(&super::NamedFile) -> bool) -> Vec<&str> {
    step.names.iter().filter(|file| keep(file)).map(|file| file.path.as_str()).collect()
}

/// How many files are known to have changed since the step began.
fn changed_files(evidence: &Evidence) -> usize {
    let by_time = evidence.files.as_ref().map_or(0, |files| files.recent_count);
    // Commits since then changed files, too, though a checkout may have set their times back.
    let commits = evidence.git.as_ref().map_or(0, |git| git.commits.len());
    by_time.max(commits)
}

fn has_files(evidence: &Evidence, title: &str) -> bool {
    let Some(files) = &evidence.files else { return false };
    files.source_files > 0 && (!step_text::is_about_tests(title) || files.test_files > 0)
}

fn listed_with_verb(names: &[&str]) -> String {
    const MOST: usize = 4;
    let mut list: Vec<String> = names.iter().take(MOST).map(|name| format!("`{name}`")).collect();
    if names.len() > MOST {
        list.push(format!("{} more", names.len() - MOST));
    }
    format!("{} {}", list.join(", "), if names.len() == 1 { "is" } else { "are" })
}

fn count_files(count: usize) -> String {
    counted(count, "file", "files")
}
