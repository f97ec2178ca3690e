//! Knowledge and conversation: decisions, findings, the rest of the context, turns, notes.

use std::collections::BTreeMap;

use super::{
    BriefItem, BriefPart, BriefSection, Material, SHORT_TURNS, Stage, Turn, WORKING_TURNS,
    sections::one_line,
};
use crate::{
    domain::{ContextSection, StateFile, without_filler},
    history::{Entry, EntryKind, PAUSED},
};

/// The characters of a long paragraph that are shown if there is little room.
const LINE: usize = 300;
/// How many findings are shown.
const FINDINGS: usize = 12;
/// How many notes of the history are shown.
const NOTES: usize = 5;
/// From this many on, findings that differ only in numbers are a series, of which the newest is shown.
const SERIES: usize = 6;

/// The context: decisions, findings, then everything else.
pub(super) fn context(material: &Material, parts: &mut Vec<BriefPart>) {
    let (source, part) = (StateFile::Context, BriefPart::new);
    let mut decisions = part(BriefSection::Decisions, source, Stage::Decisions);
    let mut findings = part(BriefSection::KeyFindings, source, Stage::Findings);
    let mut others = part(BriefSection::Context, source, Stage::Context);
    others.items.extend(paragraphs(&without_filler(&material.preface)).iter().map(item));
    let mut newest = Vec::new();
    for section in &material.context {
        let mut blocks = paragraphs(&without_filler(&section.text));
        let title = section.title.to_lowercase();
        let named = |words: &[&str]| words.iter().any(|word| title.contains(word));
        if named(&["decision", "decided", "rationale"]) {
            decisions.items.extend(blocks.iter().map(item));
        } else if named(&["finding", "learned", "lesson"]) {
            newest.extend(blocks.into_iter().rev());
        } else if let Some(first) = blocks.first_mut() {
            *first = format!("[{}] {first}", path(section));
            others.items.extend(blocks.iter().map(item));
        }
    }
    let (shown, more) = without_series(newest);
    findings.most = FINDINGS.min(shown.len());
    findings.items.extend(shown.iter().chain(&more).map(item));
    for part in [decisions, findings, others] {
        part.put(parts);
    }
}

/// The findings with only the newest of each series, and the others.
fn without_series(newest: Vec<String>) -> (Vec<String>, Vec<String>) {
    let mut alike: BTreeMap<String, usize> = BTreeMap::new();
    for text in &newest {
        *alike.entry(without_numbers(text)).or_default() += 1;
    }
    let (mut shown, mut more) = (Vec::new(), Vec::new());
    for text in newest {
        let count = alike.get_mut(&without_numbers(&text));
        match count.filter(|count| **count >= SERIES || **count == 0) {
            None => shown.push(text),
            Some(0) => more.push(text),
            Some(count) => {
                shown.push(format!("{text} (and {} more like it)", *count - 1));
                *count = 0;
            }
        }
    }
    (shown, more)
}

fn without_numbers(text: &str) -> String {
    text.chars().filter(|c| !c.is_numeric()).collect()
}

fn path(section: &ContextSection) -> String {
    // The top-level heading of the template carries no information.
    let path = section.path.iter().filter(|title| *title != "Knowledge Accumulation");
    let path = path.chain([&section.title]).map(|title| one_line(title, 100));
    path.collect::<Vec<_>>().join(" / ")
}

fn item(block: impl AsRef<str>) -> BriefItem {
    let block = block.as_ref();
    BriefItem::new(block).or(&one_line(block, LINE))
}

/// The paragraphs and top-level bullets of a text; a fenced block stays whole.
fn paragraphs(text: &str) -> Vec<String> {
    let mut blocks: Vec<String> = Vec::new();
    let (mut fenced, mut open) = (false, false);
    for line in text.lines() {
        let fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        let bullet = ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark));
        let indented = line.starts_with([' ', '\t']);
        if line.trim().is_empty() && !fenced {
            open = false;
            continue;
        }
        match blocks.last_mut() {
            Some(last) if fenced || indented || (open && !bullet) => {
                last.push('\n');
                last.push_str(line);
            }
            _ => blocks.push(line.to_owned()),
        }
        open = true;
        fenced ^= fence;
    }
    blocks
}

/// The last turns, newest first; the last two in full if there is room.
pub(super) fn turns(material: &Material, parts: &mut Vec<BriefPart>) {
    let mut part = BriefPart::new(BriefSection::RecentTurns, StateFile::History, Stage::Turns);
    for (at, entry) in material.turns.iter().rev().take(SHORT_TURNS).enumerate() {
        let turn = Turn::read(entry);
        let short = turn.said(true);
        part.items.push(match at < WORKING_TURNS {
            true => BriefItem::new(&turn.said(false)).or(&short),
            false => BriefItem::new(&turn.gist()),
        });
    }
    part.put(parts);
}

/// Notes of the history, newest first.
///
/// A note on a step is left out once all of its dependents are finished: what matters beyond them is
/// a finding. Pauses are left out: the reason of the current one is shown with the status.
pub(super) fn history(material: &Material, parts: &mut Vec<BriefPart>) {
    let (mut notes, mut consumed): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let is_shown =
        |entry: &Entry| material.step_entries.iter().any(|(_, shown)| shown.offset == entry.offset);
    let is_pause = |entry: &Entry| entry.kind == EntryKind::Note && entry.title == PAUSED;
    let entries = material.entries.iter().rev();
    for entry in entries.filter(|entry| !is_shown(entry) && !is_pause(entry)) {
        let Some(note) = note(entry) else { continue };
        let of_step = entry.kind == EntryKind::Step;
        let is_consumed =
            |number| material.consumed_steps.iter().any(|step| u64::from(*step) == number);
        let list = match of_step && entry.step_number().is_some_and(is_consumed) {
            true => &mut consumed,
            false => &mut notes,
        };
        if !list.contains(&note) && list.len() < NOTES {
            list.push(note);
        }
    }
    BriefPart::new(BriefSection::OlderHistory, StateFile::History, Stage::History)
        .at_most(notes.len())
        .texts(notes)
        .texts(consumed)
        .put(parts);
}

fn note(entry: &Entry) -> Option<String> {
    let note = entry.field("notes").or_else(|| entry.field("note"))?;
    let title = match entry.kind {
        EntryKind::Step if !entry.is_failure() => format!("step {}", entry.step_number()?),
        EntryKind::Note => one_line(&entry.title, LINE),
        _ => return None,
    };
    Some(format!("{title}: {}", one_line(note, LINE)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_taken_apart_at_paragraphs_and_bullets() {
        let text =
            "one\nstill one\n\ntwo\n- a\n  more of a\n- b\n```\n- no bullet\n\nstill b\n```\n\nend";
        assert_eq!(
            paragraphs(text),
            [
                "one\nstill one",
                "two",
                "- a\n  more of a",
                "- b\n```\n- no bullet\n\nstill b\n```",
                "end"
            ]
        );
    }
}
