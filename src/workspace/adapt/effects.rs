//! Carrying out what rules ask for.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    super::{Answer, Draft, Error, change},
    Event, shown,
};
use crate::{
    domain::{ConstraintList, ModelError, PlanRole, StateFile, constraints::lifetime::Lifetime},
    rules::{
        Directive, ModifierChange, NewDirective, RuleOutcome, RuleRequest, TraceLine, WrittenRule,
    },
    text::markdown::Edit,
};

/// Sets modifiers, adds directives, opens reviews, pauses; writes the trace into history and
/// answer.
pub(super) fn carry_out(
    draft: &mut Draft<'_>,
    rules: &[WrittenRule],
    event: &Event,
    outcome: &RuleOutcome,
    answer: &mut Answer,
) -> Result<(), Error> {
    if outcome.trace.is_empty() {
        return Ok(());
    }
    let before = draft.constraints()?;
    set(draft, &outcome.changes)?;
    add_directives(draft, &outcome.directives)?;
    let mut fired = Vec::new();
    for line in &outcome.trace {
        let done = done_by(line, outcome);
        log(draft, event, line, &done)?;
        // A directive with a condition comes after the rules, and has a number of its own in its list.
        let source = rules.get(line.rule).filter(|_| line.rule >= before.rules.len());
        let directive = source.and_then(|rule| {
            before.directives.iter().find(|directive| directive.text == rule.source)
        });
        let directive = directive.map(|found| format!(" (directive {})", found.number));
        answer.message.push_str(&format!(
            "\nrule {}{} fired: {}",
            line.rule + 1,
            directive.unwrap_or_default(),
            done.join("; ")
        ));
        fired.push(trace_json(line, &done));
    }
    for request in &outcome.reviews {
        let rule = outcome.trace.iter().find(|line| line.rule == request.rule);
        ask_once(draft, request, rule.map_or("", |line| line.text.as_str()), answer)?;
    }
    if let Some(pause) = &outcome.pause {
        let text = rules.get(pause.rule).map(|rule| rule.source.clone()).unwrap_or_default();
        pause_plan(draft, pause.text.as_deref().unwrap_or(&text))?;
    }
    for checkpoint in &outcome.checkpoints {
        let rule = rules.get(checkpoint.rule).map(|rule| rule.source.as_str()).unwrap_or_default();
        let reason = format!("rule {}: {rule}", checkpoint.rule + 1);
        let taken = change::create_automatic(draft, checkpoint.text.as_deref(), &reason)?;
        change::merge_checkpoint(answer, taken);
    }
    let list = answer.data.entry("fired").or_insert_with(|| json!([]));
    if let Value::Array(list) = list {
        list.extend(fired);
    }
    Ok(())
}

/// Gives modifiers their new values; the last one counts.
pub(super) fn set(draft: &mut Draft<'_>, changes: &[ModifierChange]) -> Result<(), Error> {
    let mut last: BTreeMap<&str, String> = BTreeMap::new();
    for change in changes {
        last.insert(&change.modifier, change.after.to_plain());
    }
    let values: Vec<(String, String)> =
        last.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    write(draft, &values)
}

/// Writes values into constraints.md; an empty one takes the value away.
pub(super) fn write(draft: &mut Draft<'_>, values: &[(String, String)]) -> Result<(), Error> {
    for (name, value) in values {
        let value = if value.is_empty() { Value::Null } else { json!(value) };
        change::write_setting(draft, name, &value, false)?;
    }
    Ok(())
}

/// Opens the review that is asked for, unless the same question is open already.
pub(super) fn ask_once(
    draft: &mut Draft<'_>,
    request: &RuleRequest,
    why: &str,
    answer: &mut Answer,
) -> Result<(), Error> {
    let text = match request.text.as_deref() {
        Some(reason) => format!("{reason} ({why})"),
        None => why.to_owned(),
    };
    let plan = draft.plan()?;
    if let Some(open) = plan.open_reviews().find(|review| review.text == text) {
        answer.message.push_str(&format!("\nreview {} is already open: {text}", open.id));
        return Ok(());
    }
    let id = change::open_review(draft, &text, None)?;
    answer.message.push_str(&format!("\nreview {id} is open: {text}"));
    let list = answer.data.entry("reviews_opened").or_insert_with(|| json!([]));
    if let Value::Array(list) = list {
        list.push(json!(id));
    }
    Ok(())
}

/// Adds directives that are not in force yet; their lines.
pub(super) fn add_directives(
    draft: &mut Draft<'_>,
    directives: &[NewDirective],
) -> Result<Vec<String>, Error> {
    if directives.is_empty() {
        return Ok(Vec::new());
    }
    let constraints = change::with_section(draft, ConstraintList::Directives)?;
    let section = constraints.section(ConstraintList::Directives)?;
    let mut edit = constraints.document.edit();
    let mut added: Vec<String> = Vec::new();
    for directive in directives {
        let text = match directive.steps {
            Some(1) => format!("For the next 1 step, {}", directive.text),
            Some(count) => format!("For the next {count} steps, {}", directive.text),
            None => directive.text.clone(),
        };
        let is_known = constraints.directives.iter().any(|known| known.text == text);
        if !is_known && !added.contains(&text) {
            edit.append_item(section, &text);
            added.push(text);
        }
    }
    put(draft, edit)?;
    Ok(added)
}

/// Removes directives, for however many steps they still hold; those that were there.
pub(super) fn remove_directives(
    draft: &mut Draft<'_>,
    texts: &[&str],
) -> Result<Vec<String>, Error> {
    if texts.is_empty() {
        return Ok(Vec::new());
    }
    let constraints = draft.constraints()?;
    let is_meant = |known: &str| {
        texts.iter().any(|text| {
            let lifetimes = (Lifetime::parse(known), Lifetime::parse(text));
            *text == known || matches!(lifetimes, (Some(a), Some(b)) if a.is_of_same(&b))
        })
    };
    let mut edit = constraints.document.edit();
    let mut removed = Vec::new();
    for directive in constraints.directives.iter().filter(|known| is_meant(&known.text)) {
        edit.remove_item(directive.item);
        removed.push(directive.text.clone());
    }
    put(draft, edit)?;
    Ok(removed)
}

fn put(draft: &mut Draft<'_>, edit: Edit<'_>) -> Result<(), Error> {
    let edited = edit.finish().map_err(|error| ModelError::edit(StateFile::Constraints, &error))?;
    draft.put(StateFile::Constraints, edited);
    Ok(())
}

/// Pauses the plan, if it can be paused; whether it did.
pub(super) fn pause_plan(draft: &mut Draft<'_>, why: &str) -> Result<bool, Error> {
    let plan = draft.plan()?;
    let workflow = draft.workflow();
    let from = plan.metadata.status.as_deref().and_then(|text| workflow.plan_status(text));
    let Some(from) = from.map(str::to_owned) else { return Ok(false) };
    let paused = workflow.plan_towards(&from, PlanRole::Paused).to_owned();
    if from == paused {
        return Ok(false);
    }
    if let Err(refusal) = workflow.check_plan(&from, &paused) {
        draft.notices.push(format!("a rule asks to pause, but {refusal}"));
        return Ok(false);
    }
    change::put_pause(draft, &plan, (&from, &paused), why)?;
    Ok(true)
}

/// What a fired rule did, in words.
fn done_by(line: &TraceLine, outcome: &RuleOutcome) -> Vec<String> {
    let mut done: Vec<String> = Vec::new();
    for change in &line.changes {
        let (from, to) = (shown(&change.before), shown(&change.after));
        let over = change.overridden_by.map(|rule| format!(" (rule {} decides)", rule + 1));
        done.push(format!("{} {from} → {to}{}", change.modifier, over.unwrap_or_default()));
    }
    for directive in outcome.directives.iter().filter(|directive| directive.rule == line.rule) {
        done.push(format!("directive: {}", directive.text));
    }
    let asked = |requests: &[RuleRequest]| requests.iter().any(|request| request.rule == line.rule);
    if asked(&outcome.reviews) {
        done.push("review required".to_owned());
    }
    if outcome.pause.as_ref().is_some_and(|pause| pause.rule == line.rule) {
        done.push("plan paused".to_owned());
    }
    if asked(&outcome.checkpoints) {
        done.push("checkpoint".to_owned());
    }
    if done.is_empty() {
        done.push("nothing to change".to_owned());
    }
    done
}

fn log(
    draft: &mut Draft<'_>,
    event: &Event,
    line: &TraceLine,
    done: &[String],
) -> Result<(), Error> {
    let values: Vec<String> = line.seen.iter().map(ToString::to_string).collect();
    let mut fields = vec![
        ("kind".to_owned(), "adaptation".to_owned()),
        ("rule".to_owned(), format!("{}: {}", line.rule + 1, line.text)),
        ("event".to_owned(), event.kind.clone()),
        ("values".to_owned(), values.join(", ")),
    ];
    if let Some(cause) = line.caused_by {
        fields.push(("caused_by".to_owned(), format!("rule {}", cause + 1)));
    }
    fields.push(("state_changes".to_owned(), done.join("; ")));
    fields.retain(|(_, value)| !value.is_empty());
    draft.log("Adaptation", fields)?;
    Ok(())
}

fn trace_json(line: &TraceLine, done: &[String]) -> Value {
    let values: serde_json::Map<String, Value> =
        line.seen.iter().map(|seen| (seen.fact.clone(), json!(seen.value))).collect();
    json!({ "rule": line.rule + 1, "text": line.text, "values": values, "did": done,
        "caused_by": line.caused_by.map(|rule| rule + 1) })
}

/// One step less for every directive with a lifetime; at none left it goes.
pub(super) fn count_down(draft: &mut Draft<'_>, event: &Event) -> Result<(), Error> {
    if !matches!(event.kind.as_str(), "step_completed" | "step_skipped") {
        return Ok(());
    }
    let constraints = draft.constraints()?;
    let mut edit = constraints.document.edit();
    let mut any = false;
    for directive in &constraints.directives {
        let Some(lifetime) = Directive::lifetime(&directive.text) else { continue };
        any = true;
        match lifetime.steps().checked_sub(1).filter(|left| *left > 0) {
            None => {
                edit.remove_item(directive.item);
            }
            Some(left) => {
                edit.set_item_text(directive.item, &lifetime.with_steps(left));
            }
        }
    }
    if any {
        put(draft, edit)?;
    }
    Ok(())
}
