use serde_json::json;

use crate::{
    adapters::cli::{CliResult, Session},
    brief::{LongTerm, MediumTerm, Memory, RecurringEvent, ShortTurn, TurnNote},
};

/// Show what is remembered of the conversation, in four tiers
///
/// working: the last 2 turns in full. short: the last 10 with responses of at most 200 characters.
/// medium: turns 11 to 50 as intents, outcomes, issues, decisions and lessons. long: project,
/// preferences, statistics, older decisions and lessons, patterns of errors and successes. All of it
/// is derived from the last 16 MiB of history.md each time; nothing there is thrown away.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  statedir memory
  statedir memory --tier working
  statedir memory --tier long --json")]
pub(in crate::adapters) struct Args {
    /// Only this tier
    #[arg(long, value_enum)]
    tier: Option<Tier>,
}

#[derive(Clone, Copy, Debug, PartialEq, clap::ValueEnum)]
enum Tier {
    Working,
    Short,
    Medium,
    Long,
}

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, args: &Args) -> CliResult {
    let snapshot = session.workspace()?.read()?;
    let memory = snapshot.memory()?;
    let wanted = |tier: Tier| args.tier.is_none_or(|only| only == tier);
    session.output.value(|| {
        let mut answer = json!({ "turns": memory.turns });
        let mut put = |tier: Tier, key: &str, value: serde_json::Value| {
            if wanted(tier) {
                answer[key] = value;
            }
        };
        put(Tier::Working, "working", json!(memory.working));
        put(Tier::Short, "short", json!(memory.short));
        put(Tier::Medium, "medium", json!(memory.medium));
        put(Tier::Long, "long", json!(memory.long));
        answer["revision"] = json!(snapshot.revision().as_str());
        answer
    });
    let mut lines = Vec::new();
    if wanted(Tier::Working) {
        lines.push("working: the last 2 turns".to_owned());
        working(&memory, &mut lines);
    }
    if wanted(Tier::Short) {
        lines.push("short: the last 10 turns".to_owned());
        memory.short.iter().for_each(|turn| short(turn, &mut lines));
    }
    if wanted(Tier::Medium) {
        lines.push("medium: turns 11 to 50".to_owned());
        medium(&memory.medium, &mut lines);
    }
    if wanted(Tier::Long) {
        lines.push("long: what lasts".to_owned());
        long(&memory.long, memory.turns, &mut lines);
    }
    for line in lines {
        session.output.line(line);
    }
    Ok(0)
}

fn indented(text: &str, lines: &mut Vec<String>) {
    lines.extend(text.lines().map(|line| format!("  {line}")));
}

fn number(turn: Option<u64>) -> String {
    turn.map_or_else(|| "?".to_owned(), |turn| turn.to_string())
}

fn working(memory: &Memory, lines: &mut Vec<String>) {
    for turn in &memory.working {
        indented(&turn.to_text(), lines);
    }
}

fn short(turn: &ShortTurn, lines: &mut Vec<String>) {
    let messages = [("user", &turn.user_message), ("assistant", &turn.response)];
    for (who, text) in messages {
        indented(&format!("turn {} {who}: {text}", number(turn.turn)), lines);
    }
}

fn medium(medium: &MediumTerm, lines: &mut Vec<String>) {
    for turn in &medium.turns {
        let mut parts = Vec::new();
        parts.extend(turn.intent.as_ref().map(|text| format!("wanted {text}")));
        parts.extend(turn.outcome.as_ref().map(|text| format!("outcome {text}")));
        parts.extend(turn.issues.iter().map(|text| format!("issue {text}")));
        if !parts.is_empty() {
            indented(&format!("turn {}: {}", number(turn.turn), parts.join("; ")), lines);
        }
    }
    noted("decision", &medium.decisions, lines);
    noted("lesson", &medium.lessons, lines);
}

fn noted(word: &str, list: &[TurnNote], lines: &mut Vec<String>) {
    for noted in list {
        indented(&format!("{word} (turn {}): {}", number(noted.turn), noted.text), lines);
    }
}

fn long(long: &LongTerm, turns: u64, lines: &mut Vec<String>) {
    let project = &long.project;
    let named = [
        ("goal", &project.goal),
        ("mode", &project.mode),
        ("understanding", &project.understanding),
    ];
    for (name, value) in named {
        if let Some(value) = value {
            indented(&format!("{name}: {value}"), lines);
        }
    }
    if let Some(context) = &project.context {
        indented(&format!("project_context: {context}"), lines);
    }
    for (name, value) in &long.preferences.settings {
        indented(&format!("{name}: {}", value.as_str().unwrap_or_default()), lines);
    }
    for directive in &long.preferences.directives {
        indented(&format!("directive: {directive}"), lines);
    }
    let numbers = &long.statistics;
    let percent = numbers.success_percent.map(|p| format!(" ({p}%)")).unwrap_or_default();
    let text = format!(
        "turns: {turns}, executions: {}, completed: {}{percent}, failed: {}, cost: {}",
        numbers.executions, numbers.completed, numbers.failed, numbers.total_cost
    );
    indented(&text, lines);
    noted("decision", &long.decisions, lines);
    noted("lesson", &long.lessons, lines);
    patterns("error", &long.error_patterns, lines);
    patterns("worked", &long.success_patterns, lines);
}

fn patterns(word: &str, patterns: &[RecurringEvent], lines: &mut Vec<String>) {
    for pattern in patterns {
        let of = pattern.of.map(|of| format!(" of {of}")).unwrap_or_default();
        indented(&format!("{word}: {} ({}{of})", pattern.pattern, pattern.count), lines);
    }
}
