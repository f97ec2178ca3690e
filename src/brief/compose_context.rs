//! What can be left out: failures, turns, the context, older history.

use super::{Material, Part, SHORT_TURNS, Section, Stage, Turn, WORKING_TURNS, part::one_line};
use crate::{
    domain::{ContextSection, StateFile},
    history::{Entry, EntryKind},
};

/// How much of an error or a note is shown in a line.
const LINE: usize = 300;

/// What failed: steps that wait for a retry, and failed attempts among the newest entries.
pub(super) fn failures(material: &Material, parts: &mut Vec<Part>) {
    for step in &material.failed {
        let attempts = if step.attempts == 1 { "attempt" } else { "attempts" };
        let line = format!("{} after {} {attempts}: {}", step.name(), step.attempts, step.title);
        let (section, file) = (Section::WhatFailed, StateFile::Plan);
        parts.push(Part::of_lines(section, file, Stage::Failures, vec![line]));
    }
    for entry in material.entries.iter().rev().filter(|entry| entry.is_failure()) {
        let error = entry.field("errors").unwrap_or("no error was given");
        let line = format!("{}: {}", headline(entry), one_line(error, LINE));
        let (section, file) = (Section::WhatFailed, StateFile::History);
        parts.push(Part::of_lines(section, file, Stage::Failures, vec![line]));
    }
}

/// The last turns, newest first; the last two whole where there is room.
pub(super) fn turns(material: &Material, parts: &mut Vec<Part>) {
    for (at, entry) in material.turns.iter().rev().take(SHORT_TURNS).enumerate() {
        let turn = Turn::read(entry);
        let short = turn.to_text(true);
        let text = if at < WORKING_TURNS { turn.to_text(false) } else { short.clone() };
        let part = Part::new(Section::RecentTurns, StateFile::History, Stage::Turns, &text);
        parts.push(if at < WORKING_TURNS && short != text { part.shorter(&short) } else { part });
    }
}

/// The sections of the context: findings, decisions, understanding, then the others.
pub(super) fn context(material: &Material, parts: &mut Vec<Part>) {
    let mut sections: Vec<&ContextSection> =
        material.context.iter().filter(|section| !section.text.is_empty()).collect();
    sections.sort_by_key(|section| worth(&section.title));
    for section in sections {
        let path = section.path.iter().chain([&section.title]);
        let path = path.map(|title| one_line(title, 100)).collect::<Vec<_>>().join(" / ");
        let mut part = Part::new(
            Section::KeyFindings,
            StateFile::Context,
            Stage::Context,
            &format!("[{path}]\n{}", section.text),
        );
        part.newest_last = true;
        parts.push(part);
    }
}

fn worth(title: &str) -> usize {
    let title = title.to_lowercase();
    let known = ["finding", "decision", "understanding"];
    known.iter().position(|word| title.contains(word)).unwrap_or(known.len())
}

/// The newest entries that are not told elsewhere, newest first.
pub(super) fn history(material: &Material, parts: &mut Vec<Part>) {
    let is_shown = |entry: &&Entry| entry.kind != EntryKind::Turn && !entry.is_failure();
    for entry in material.entries.iter().rev().filter(is_shown) {
        let mut line = headline(entry);
        for key in ["title", "status", "real_outputs", "state_changes", "notes"] {
            if let Some(value) = entry.field(key) {
                line.push_str(&format!("; {}", one_line(value, LINE)));
            }
        }
        let (section, file) = (Section::OlderHistory, StateFile::History);
        parts.push(Part::of_lines(section, file, Stage::History, vec![line]));
    }
}

fn headline(entry: &Entry) -> String {
    let time = entry.time.as_deref().unwrap_or("?");
    format!("{time} {}", one_line(&entry.title, LINE))
}
