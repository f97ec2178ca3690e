//! Composes the parts of a brief from the material.

use super::{
    BriefItem, BriefPart, BriefSection, ChangesSince, ExecutionStatus, Material, Stage,
    compose_context, compose_step, sections::one_line,
};
use crate::{
    domain::{Bullet, StateFile},
    recovery::Move,
};

/// The parts of a brief, each with its most important items first.
pub(crate) fn compose(material: &Material) -> Vec<BriefPart> {
    let mut parts = Vec::new();
    problems(material, &mut parts);
    if let Some((file, goal)) = &material.goal {
        BriefPart::new(BriefSection::Goal, *file, Stage::First).texts([goal]).put(&mut parts);
    }
    let is_next = |wanted| material.next_move.as_ref().is_some_and(|next| next.action == wanted);
    if let Some(status) = &material.status {
        where_we_are(status, is_next(Move::AddSteps)).put(&mut parts);
    }
    next(material, &mut parts);
    reviews(material, is_next(Move::WaitForReview), &mut parts);
    rules_in_force(material, &mut parts);
    if let Some(found) = &material.changes {
        changes(found, &mut parts);
    }
    answers(material, &mut parts);
    compose_step::results(material, &mut parts);
    compose_step::open_steps(material, &mut parts);
    compose_context::context(material, &mut parts);
    compose_context::turns(material, &mut parts);
    compose_context::history(material, &mut parts);
    adaptation_rules(material, &mut parts);
    parts
}

fn problems(material: &Material, parts: &mut Vec<BriefPart>) {
    let mut files: Vec<StateFile> = material.problems.iter().map(|problem| problem.file).collect();
    files.dedup();
    for file in files {
        let of_file = material.problems.iter().filter(|problem| problem.file == file);
        let lines = of_file.map(|problem| one_line(&problem.line(), 300));
        BriefPart::new(BriefSection::Problems, file, Stage::First)
            .note("The rest could be read. `statedir check` lists every problem.")
            .texts(lines)
            .put(parts);
    }
}

/// Status and progress. Before the first step the next move says everything.
fn where_we_are(execution: &ExecutionStatus, before_the_first_step: bool) -> BriefPart {
    let status = execution.status.as_deref().unwrap_or("no status");
    let mode = execution.mode.as_ref().filter(|mode| !mode.eq_ignore_ascii_case("execution"));
    let mode = mode.map(|mode| format!(" ({mode})")).unwrap_or_default();
    let mut line = format!("status: {status}{mode}");
    let counts = &execution.counts;
    if before_the_first_step && mode.is_empty() && execution.budget.is_none() {
        return BriefPart::new(BriefSection::WhereWeAre, StateFile::Plan, Stage::Essential);
    }
    if counts.total > 0 {
        line.push_str(&format!(", {} of {} steps finished", counts.finished(), counts.total));
    }
    let other =
        [(counts.running, "running"), (counts.waiting, "waiting"), (counts.failed, "failed")];
    for (count, word) in other {
        if count > 0 {
            line.push_str(&format!(", {count} {word}"));
        }
    }
    if let Some(budget) = execution.budget {
        line.push_str(&format!(", cost {} of {budget}", execution.cost));
    }
    let mut part =
        BriefPart::new(BriefSection::WhereWeAre, StateFile::Plan, Stage::Essential).texts([line]);
    let why = execution.paused_because.as_ref().map(|why| format!("paused because: {why}"));
    part.items.extend(why.map(|why| BriefItem::new(&why)));
    part
}

fn next(material: &Material, parts: &mut Vec<BriefPart>) {
    let section = BriefSection::WhatToDoNext;
    let title = material.focus.as_ref().map(compose_step::title);
    let mut part = BriefPart::new(section, StateFile::Plan, Stage::First).texts(title);
    part.note = material.next_move.as_ref().map(|next| next.text.clone());
    part.put(parts);
    if let Some(focus) = &material.focus {
        let details = compose_step::details(focus);
        BriefPart::new(section, StateFile::Plan, Stage::Essential).texts(details).put(parts);
        compose_step::prose(focus, parts);
    }
    compose_step::entries(material, parts);
}

fn rules_in_force(material: &Material, parts: &mut Vec<BriefPart>) {
    let chosen = material.settings.iter();
    let chosen = chosen.filter_map(|one| Some(format!("{}: {}", one.name, one.binding()?)));
    let directives = material.directives.iter().map(bullet);
    let prose = material.prose.iter().map(|prose| match &prose.heading {
        Some(heading) => format!("[{}] {}", one_line(heading, 100), prose.text),
        None => prose.text.clone(),
    });
    BriefPart::new(BriefSection::RulesInForce, StateFile::Constraints, Stage::Essential)
        .texts(&material.limits)
        .texts(chosen.chain(directives).chain(prose))
        .put(parts);
}

/// Open reviews; the note says how to decide them, unless the next move does.
fn reviews(material: &Material, is_next: bool, parts: &mut Vec<BriefPart>) {
    let Some(first) = material.reviews.first() else { return };
    let id = &first.id;
    let lines = material.reviews.iter().map(|review| format!("{}: {}", review.id, review.text));
    let mut part =
        BriefPart::new(BriefSection::OpenReviews, StateFile::Plan, Stage::First).texts(lines);
    if !is_next {
        part = part.note(format!(
            "A person decides: `statedir review approve {id}` or `statedir review reject {id}`."
        ));
    }
    part.put(parts);
}

fn answers(material: &Material, parts: &mut Vec<BriefPart>) {
    let lines = material.answers.iter().map(|review| format!("{}: {}", review.id, review.text));
    BriefPart::new(BriefSection::AnsweredReviews, StateFile::Plan, Stage::Answers)
        .texts(lines)
        .put(parts);
}

fn changes(changes: &ChangesSince, parts: &mut Vec<BriefPart>) {
    let mut part = BriefPart::new(BriefSection::Changes, StateFile::Log, Stage::Changes)
        .texts(changes.operations.iter().rev());
    if changes.operations.is_empty() {
        part = part.texts(["no operation"]);
    }
    if changes.history_grew > 0 {
        part = part.texts([format!("history.md grew by {} bytes", changes.history_grew)]);
    }
    part.put(parts);
    for (file, diff) in &changes.files {
        BriefPart::new(BriefSection::Changes, *file, Stage::Changes).texts([diff]).put(parts);
    }
}

fn adaptation_rules(material: &Material, parts: &mut Vec<BriefPart>) {
    BriefPart::new(BriefSection::AdaptationRules, StateFile::Constraints, Stage::Rules)
        .texts(material.rules.iter().map(bullet))
        .put(parts);
}

/// A line of a list with what is nested below it.
fn bullet(line: &Bullet) -> String {
    let mut text = format!("- {}", line.text);
    for below in line.below.lines().filter(|below| !below.trim().is_empty()) {
        text.push_str("\n  ");
        text.push_str(below);
    }
    text
}
