//! The conversation in four tiers, derived when it is read: nothing on disk is thrown away.

use serde::Serialize;

use super::{
    MEDIUM_TURNS, Pattern, SHORT_TURNS, Turn, WORKING_TURNS,
    patterns::{error_patterns, success_patterns},
};
use crate::{
    domain::Money,
    history::{Counts, Entry},
};

/// The four tiers.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Memory {
    /// How many turns there were in all.
    pub turns: u64,
    /// The last two turns, whole.
    pub working: Vec<Turn>,
    /// The last ten turns, responses shortened to 200 characters.
    pub short: Vec<ShortTurn>,
    /// Turns eleven to fifty, counted from the newest.
    pub medium: MediumTerm,
    /// What lasts.
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

/// Turns as intents, outcomes and issues, and what they taught.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct MediumTerm {
    /// The turns, oldest first.
    pub turns: Vec<TurnSummary>,
    /// Key decisions, oldest first.
    pub decisions: Vec<Noted>,
    /// Lessons, oldest first.
    pub lessons: Vec<Noted>,
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

/// A decision or a lesson.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Noted {
    /// The turn it is from.
    pub turn: Option<u64>,
    /// What it says.
    pub text: String,
}

/// What lasts.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct LongTerm {
    /// What it is all about.
    pub project: Project,
    /// How the user wants it.
    pub preferences: Preferences,
    /// Counts over the whole history.
    pub statistics: Statistics,
    /// Key decisions of turns that are older than the medium term, oldest first.
    pub decisions: Vec<Noted>,
    /// Lessons of the same.
    pub lessons: Vec<Noted>,
    /// Errors among the newest entries, the most frequent first.
    pub error_patterns: Vec<Pattern>,
    /// Tools and components that worked among the newest entries, the most frequent first.
    pub success_patterns: Vec<Pattern>,
    /// How many of the newest entries the patterns are drawn from.
    pub patterns_cover: usize,
}

/// What it is all about.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Project {
    /// The short name.
    pub title: Option<String>,
    /// What is to be reached.
    pub goal: Option<String>,
    /// `EXECUTION` or `SIMULATION`.
    pub mode: Option<String>,
    /// What context.md says under *Current Understanding*.
    pub understanding: Option<String>,
    /// What `project_context` in variables.json holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<serde_json::Value>,
}

/// How the user wants it.
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

/// Sorts turns into tiers; `turns` and `entries` are the newest, oldest first.
pub(crate) fn memory(
    turns: &[Entry],
    entries: &[Entry],
    history: &Counts,
    project: Project,
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
        all.map(|(turn, text)| Noted { turn, text: text.clone() }).collect()
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
