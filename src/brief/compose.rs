//! The parts of a brief, in the order of their worth.

use super::{
    Advice, Changes, Material, Part, Section, Stage, Standing, compose_context, compose_step,
    part::one_line,
};
use crate::domain::StateFile;

/// Says in parts what the material holds; within each stage the most precious comes first.
pub(crate) fn compose(material: &Material) -> Vec<Part> {
    let mut parts = Vec::new();
    problems(material, &mut parts);
    if let Some((file, goal)) = &material.goal {
        parts.push(Part::new(Section::Goal, *file, Stage::Essential, goal));
    }
    if let Some(standing) = &material.standing {
        parts.push(where_we_are(standing));
    }
    next(material, &mut parts);
    rules_in_force(material, &mut parts);
    reviews(material, &mut parts);
    limits(material, &mut parts);
    if let Some(found) = &material.changes {
        changes(found, &mut parts);
    }
    compose_context::failures(material, &mut parts);
    compose_context::turns(material, &mut parts);
    compose_context::context(material, &mut parts);
    adaptation_rules(material, &mut parts);
    compose_context::history(material, &mut parts);
    parts
}

fn problems(material: &Material, parts: &mut Vec<Part>) {
    let mut files: Vec<StateFile> = material.problems.iter().map(|problem| problem.file).collect();
    files.dedup();
    for file in files {
        let of_file = material.problems.iter().filter(|problem| problem.file == file);
        let lines = of_file
            .map(|problem| one_line(&format!("{}: {}", problem.location(), problem.message), 300))
            .collect();
        parts.push(
            Part::of_lines(Section::Problems, file, Stage::Essential, lines)
                .note("The rest could be read. `statedir check` lists every problem."),
        );
    }
}

fn where_we_are(standing: &Standing) -> Part {
    let status = standing.status.as_deref().unwrap_or("no status");
    let mode = standing.mode.as_ref().map(|mode| format!(" ({mode})")).unwrap_or_default();
    let mut line = format!("status: {status}{mode}, ");
    let counts = &standing.counts;
    line.push_str(&format!("{} of {} steps finished", counts.finished(), counts.total));
    for (count, word) in [(counts.running, "running"), (counts.failed, "failed")] {
        if count > 0 {
            line.push_str(&format!(", {count} {word}"));
        }
    }
    let mut lines = vec![line];
    let budget = standing.budget.map(|budget| format!(" of {budget}")).unwrap_or_default();
    lines.push(format!("cost: {}{budget}", standing.cost));
    lines.extend(standing.paused_because.as_ref().map(|why| format!("paused because: {why}")));
    lines.extend(standing.last_updated.as_ref().map(|time| format!("last updated: {time}")));
    Part::of_lines(Section::WhereWeAre, StateFile::Plan, Stage::Essential, lines)
}

fn next(material: &Material, parts: &mut Vec<Part>) {
    if material.advice.is_none() && material.focus.is_none() {
        return;
    }
    let lines = material.focus.as_ref().map(compose_step::lines).unwrap_or_default();
    let mut part = Part::of_lines(Section::WhatToDoNext, StateFile::Plan, Stage::Essential, lines);
    part.note = material.advice.map(advice);
    parts.push(part);
    let outputs = material.focus.as_ref().map(compose_step::outputs).unwrap_or_default();
    if !outputs.is_empty() {
        let (section, file) = (Section::WhatToDoNext, StateFile::Variables);
        parts.push(
            Part::of_lines(section, file, Stage::Outputs, outputs)
                .note("Results of earlier steps:"),
        );
    }
}

fn advice(advice: Advice) -> String {
    match advice {
        Advice::WaitForReview => "Wait: a person must decide the open reviews first.".to_owned(),
        Advice::Resume => "The plan is paused; `statedir resume` continues it.".to_owned(),
        Advice::AddSteps => "There are no steps yet: `statedir step add TITLE`.".to_owned(),
        Advice::Finish(n) => {
            format!("Step {n} is running; then `statedir step done {n}` or `fail {n}`.")
        }
        Advice::Start(n) => format!("Start step {n}: `statedir step start {n}`."),
        Advice::Retry(n) => {
            format!("Step {n} has failed: `statedir step retry {n}` or `skip {n}`.")
        }
        Advice::Nothing => "Every step is finished; there is nothing left to do.".to_owned(),
        Advice::Blocked => "No step can be started: `statedir step list` says why.".to_owned(),
    }
}

fn rules_in_force(material: &Material, parts: &mut Vec<Part>) {
    let settings = material
        .settings
        .iter()
        .filter_map(|setting| Some(format!("{}: {}", setting.name, setting.binding()?)));
    let mut lines: Vec<String> = settings.collect();
    lines.extend(material.directives.iter().map(|directive| format!("- {}", directive.text)));
    if !lines.is_empty() {
        let (section, file) = (Section::RulesInForce, StateFile::Constraints);
        parts.push(Part::of_lines(section, file, Stage::Essential, lines));
    }
}

fn reviews(material: &Material, parts: &mut Vec<Part>) {
    if material.reviews.is_empty() {
        return;
    }
    let lines = material.reviews.iter().map(|review| format!("{}: {}", review.id, review.text));
    let (section, file) = (Section::OpenReviews, StateFile::Plan);
    parts.push(
        Part::of_lines(section, file, Stage::Essential, lines.collect())
            .note("A person decides with `statedir review approve|reject ID`."),
    );
}

fn limits(material: &Material, parts: &mut Vec<Part>) {
    if !material.limits.is_empty() {
        let (section, file) = (Section::LimitsExceeded, StateFile::Constraints);
        parts.push(Part::of_lines(section, file, Stage::Essential, material.limits.clone()));
    }
}

fn changes(changes: &Changes, parts: &mut Vec<Part>) {
    let mut lines = changes.operations.clone();
    if lines.is_empty() {
        lines.push("no operation".to_owned());
    }
    if changes.history_grew > 0 {
        lines.push(format!("history.md grew by {} bytes", changes.history_grew));
    }
    let mut part = Part::of_lines(Section::Changes, StateFile::Log, Stage::Changes, lines);
    part.newest_last = true;
    parts.push(part);
    for (file, diff) in &changes.files {
        parts.push(Part::new(Section::Changes, *file, Stage::Changes, diff));
    }
}

fn adaptation_rules(material: &Material, parts: &mut Vec<Part>) {
    if !material.rules.is_empty() {
        let lines = material.rules.iter().map(|rule| format!("- {}", rule.text)).collect();
        let (section, file) = (Section::AdaptationRules, StateFile::Constraints);
        parts.push(Part::of_lines(section, file, Stage::Context, lines));
    }
}
