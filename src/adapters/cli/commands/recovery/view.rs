//! Printing a decision.

use serde_json::{Value, json};

use crate::{
    adapters::{
        Recovery,
        cli::output::{Colour, Output, add_outcome},
    },
    domain::format_duration,
    recovery::Confidence,
    text::display::one_line,
    workspace::Outcome,
};

/// The decision as one JSON document.
pub(super) fn document(recovery: &Recovery, carried: Option<&Outcome>, dry_run: bool) -> Value {
    let mut answer = json!(recovery.decision);
    answer["decided_by"] = json!(recovery.by.to_string());
    if let Some(asked) = &recovery.evaluator {
        answer["evaluator"] = json!(asked);
    }
    answer["next_move"] = json!(recovery.examined.next_move);
    answer["evidence"] = json!(recovery.examined.evidence);
    answer["revision"] = json!(recovery.examined.revision.as_str());
    answer["applied"] = json!(carried.is_some_and(|outcome| outcome.committed));
    let Some(outcome) = carried else { return answer };
    let done = outcome.answers.first().and_then(|answer| answer.data.get("done"));
    answer["done"] = done.cloned().unwrap_or_default();
    add_outcome(&mut answer, outcome, dry_run);
    answer
}

/// `retry_task step 3 (attempt 2, wait 2s)`.
pub(super) fn headline(recovery: &Recovery) -> String {
    let decision = &recovery.decision;
    let mut line = decision.action.word().to_owned();
    if let Some(step) = decision.step {
        line.push_str(&format!(" step {step}"));
    }
    if let Some(checkpoint) = &decision.checkpoint {
        line.push_str(&format!(" `{checkpoint}`"));
    }
    let mut notes = Vec::new();
    notes.extend(decision.attempt.map(|attempt| format!("attempt {attempt}")));
    let wait = decision.backoff_ms.filter(|wait| *wait > 0);
    notes.extend(wait.map(|wait| format!("wait {}", format_duration(wait))));
    if decision.nothing_to_do {
        notes.push("nothing to do".to_owned());
    }
    if !notes.is_empty() {
        line.push_str(&format!(" ({})", notes.join(", ")));
    }
    one_line(&line)
}

/// The decision for people.
///
/// `apply` is the command that carries it out, if it is not carried out already.
pub(super) fn print(output: &mut Output, recovery: &Recovery, apply: Option<&str>) {
    let applied = apply.is_none();
    let decision = &recovery.decision;
    let confidence = match decision.confidence {
        Confidence::High => "",
        Confidence::Medium => ", medium confidence",
        Confidence::Low => ", low confidence",
    };
    let line = format!("{}  [by {}{confidence}]", headline(recovery), recovery.by);
    output.painted(Colour::Bold, &one_line(&line));
    for reason in &decision.reasons {
        output.line(format!("  why      {}", one_line(reason)));
    }
    for what in &decision.undoes {
        output.line(format!("  undoes   {}", one_line(what)));
    }
    for place in &decision.look_at {
        output.line(format!("  look at  {}", one_line(place)));
    }
    for ruled in &decision.ruled_out {
        let line = format!("  not      {}: {}", ruled.action, one_line(&ruled.why));
        output.painted(Colour::Dim, &line);
    }
    let evidence = &recovery.examined.evidence;
    if let Some(files) = &evidence.files {
        let text = format!(
            "  files    {} source, {} test, {} config, {} changed since the step began",
            files.source_files, files.test_files, files.config_files, files.recent_count
        );
        output.painted(Colour::Dim, &text);
        for what in &files.left_out {
            output.painted(Colour::Dim, &format!("  left out {}", one_line(what)));
        }
    }
    if let Some(git) = &evidence.git {
        let (changed, commits) = (git.changed_count, git.commits.len());
        let text = format!("  git      {changed} changed, {commits} commits since the step began");
        output.painted(Colour::Dim, &text);
    }
    if let Some(asked) = &recovery.evaluator
        && let Some(error) = &asked.error
    {
        output.note(&format!(
            "the evaluator did not decide, so the built-in decision was used: {error}"
        ));
    }
    if let Some(next) = recovery.examined.next_move.as_ref().filter(|_| !applied) {
        output.advice(format!("  next     {}", one_line(&next.text)));
    }
    if let Some(apply) = apply
        && !decision.nothing_to_do
        && evidence.damage.is_empty()
    {
        output.advice(format!("`{apply}` carries out the decision"));
    }
}
