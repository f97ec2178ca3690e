//! The conversation in four tiers of memory, derived from the history when it is read.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{MEDIUM_TURNS, SHORT_TURNS, Turn, WORKING_TURNS, sections::one_line};
use crate::{
    domain::{Money, StepOutcome},
    history::{Counts, Entry, EntryKind},
    text::display::mask_numbers,
};

/// The four tiers.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Memory {
    /// How many turns there were in all.
    pub turns: u64,
    /// The last two turns in full.
    pub working: Vec<Turn>,
    /// The last ten turns, responses shortened to 200 characters.
    pub short: Vec<ShortTurn>,
    /// Turns eleven to fifty, counted from the newest.
    pub medium: MediumTerm,
    /// What is remembered over the whole execution.
    pub long: LongTerm,
}

/// A turn with a shortened response.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ShortTurn {
    /// Its number.
    pub turn: Option<u64>,
    /// When.
    pub time: Option<String>,
    /// What the user said.
    pub user_message: String,
    /// The response in at most 200 characters.
    pub response: String,
}

/// Turns as intents, outcomes and issues, with their decisions and lessons.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct MediumTerm {
    /// The turns, oldest first.
    pub turns: Vec<TurnSummary>,
    /// Key decisions, oldest first.
    pub decisions: Vec<TurnNote>,
    /// Lessons, oldest first.
    pub lessons: Vec<TurnNote>,
}

/// What a turn was about.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct TurnSummary {
    /// Its number.
    pub turn: Option<u64>,
    /// What the user wanted.
    pub intent: Option<String>,
    /// The result.
    pub outcome: Option<String>,
    /// What went wrong.
    pub issues: Vec<String>,
}

/// A decision or a lesson of a turn.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct TurnNote {
    pub turn: Option<u64>,
    /// What it says.
    pub text: String,
}

/// What is remembered over the whole execution.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct LongTerm {
    pub project: ProjectMemory,
    /// The preferences of the user.
    pub preferences: Preferences,
    /// Counts over the whole history.
    pub statistics: Statistics,
    /// Key decisions of turns that are older than the medium term, oldest first.
    pub decisions: Vec<TurnNote>,
    pub lessons: Vec<TurnNote>,
    /// Errors among the newest entries, the most frequent first.
    pub error_patterns: Vec<RecurringEvent>,
    /// Tools and components that worked among the newest entries, the most frequent first.
    pub success_patterns: Vec<RecurringEvent>,
    /// How many of the newest entries the patterns are taken from.
    pub patterns_cover: usize,
}

/// The project and its goal.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct ProjectMemory {
    /// The short name.
    pub title: Option<String>,
    pub goal: Option<String>,
    /// `EXECUTION` or `SIMULATION`.
    pub mode: Option<String>,
    /// What context.md says under *Current Understanding*.
    pub understanding: Option<String>,
    /// What `project_context` in variables.json holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<serde_json::Value>,
}

/// The preferences of the user.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Preferences {
    /// Modifiers and limits.
    pub settings: serde_json::Map<String, serde_json::Value>,
    /// Directives in force.
    pub directives: Vec<String>,
}

/// Counts over the whole history.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Statistics {
    /// Attempts at steps that came to an end.
    pub executions: u64,
    /// Completed ones.
    pub completed: u64,
    /// Failed ones.
    pub failed: u64,
    /// Completed ones in percent of completed and failed ones.
    pub success_percent: Option<u64>,
    /// The mean time of an execution, in milliseconds.
    pub average_time_ms: Option<u64>,
    /// What was spent.
    pub total_cost: Money,
}

/// How many are listed.
const MOST_EVENTS: usize = 10;

/// Something that happened repeatedly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct RecurringEvent {
    /// The error, or the tool or component.
    pub pattern: String,
    /// How often.
    pub count: usize,
    /// Out of how many, for tools and components.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<usize>,
}

/// Sorts turns into tiers; `turns` and `entries` are the newest, oldest first.
pub(crate) fn memory(
    turns: &[Entry],
    entries: &[Entry],
    history: &Counts,
    project: ProjectMemory,
    preferences: Preferences,
) -> Memory {
    let turns: Vec<Turn> = turns.iter().map(Turn::read).collect();
    let newest = |count: usize| turns.get(turns.len().saturating_sub(count)..).unwrap_or_default();
    let older = turns.len().saturating_sub(SHORT_TURNS);
    let first = turns.len().saturating_sub(MEDIUM_TURNS);
    let MediumTerm { decisions, lessons, .. } = medium(turns.get(..first).unwrap_or_default());
    Memory {
        turns: history.turns,
        working: newest(WORKING_TURNS).to_vec(),
        short: newest(SHORT_TURNS).iter().map(short_turn).collect(),
        medium: medium(turns.get(first..older).unwrap_or_default()),
        long: LongTerm {
            project,
            preferences,
            statistics: statistics(history),
            decisions,
            lessons,
            error_patterns: error_patterns(entries),
            success_patterns: success_patterns(entries),
            patterns_cover: entries.len(),
        },
    }
}

fn short_turn(turn: &Turn) -> ShortTurn {
    ShortTurn {
        turn: turn.turn,
        time: turn.time.clone(),
        user_message: turn.user_message.clone(),
        response: turn.short_response(),
    }
}

fn medium(turns: &[Turn]) -> MediumTerm {
    let noted = |list: fn(&Turn) -> &[String]| {
        let all = turns.iter().flat_map(|turn| list(turn).iter().map(|text| (turn.turn, text)));
        all.map(|(turn, text)| TurnNote { turn, text: text.clone() }).collect()
    };
    MediumTerm {
        turns: turns
            .iter()
            .map(|turn| TurnSummary {
                turn: turn.turn,
                intent: turn.intent.clone(),
                outcome: turn.outcome.clone(),
                issues: turn.errors.clone(),
            })
            .collect(),
        decisions: noted(|turn| &turn.decisions),
        lessons: noted(|turn| &turn.lessons),
    }
}

fn statistics(history: &Counts) -> Statistics {
    Statistics {
        executions: history.executions(),
        completed: history.completed,
        failed: history.failed,
        success_percent: (history.completed * 100).checked_div(history.completed + history.failed),
        average_time_ms: history.time_ms.checked_div(history.executions()),
        total_cost: Money(history.cost_micros),
    }
}

/// Errors of steps and turns, counted without regard to numbers in them.
fn error_patterns(entries: &[Entry]) -> Vec<RecurringEvent> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for entry in entries {
        let errors = match entry.kind {
            EntryKind::Turn => Turn::read(entry).errors,
            EntryKind::Step => entry.error().map(str::to_owned).into_iter().collect(),
            _ => Vec::new(),
        };
        for error in errors {
            let shape = shape(&error);
            if !shape.is_empty() && !shape.eq_ignore_ascii_case("none") {
                *counts.entry(shape).or_default() += 1;
            }
        }
    }
    sorted(counts.into_iter().map(|(pattern, count)| RecurringEvent { pattern, count, of: None }))
}

/// Tools and components of completed steps, with the number of all attempts with them.
fn success_patterns(entries: &[Entry]) -> Vec<RecurringEvent> {
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for entry in entries.iter().filter(|entry| entry.kind == EntryKind::Step) {
        let used = entry.field("tool_used").or_else(|| entry.field("component_used"));
        let Some(used) = used else { continue };
        let outcome = entry.outcome();
        let (done, all) = counts.entry(one_line(used, 80)).or_default();
        *done += usize::from(outcome == Some(StepOutcome::Done));
        *all += usize::from(outcome != Some(StepOutcome::Skipped));
    }
    let worked = counts.into_iter().filter(|(_, (done, _))| *done > 0);
    sorted(worked.map(|(pattern, (count, of))| RecurringEvent { pattern, count, of: Some(of) }))
}

fn sorted(patterns: impl Iterator<Item = RecurringEvent>) -> Vec<RecurringEvent> {
    let mut patterns: Vec<RecurringEvent> = patterns.collect();
    patterns.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.pattern.cmp(&b.pattern)));
    patterns.truncate(MOST_EVENTS);
    patterns
}

/// The error without its numbers: `timeout after #s`.
fn shape(error: &str) -> String {
    mask_numbers(&one_line(error.lines().next().unwrap_or_default(), 120))
}
