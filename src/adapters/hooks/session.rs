//! A session begins, is compacted, ends.

use std::{fs, io::Write as _};

use serde_json::{Map, json};

use super::{
    Hook, HookClient, HookReply, SessionMemory, gemini_transcript,
    prompt::rule_lines,
    reply::{quoted, short_line},
    stop,
};
use crate::{
    brief::{Budget, tokens},
    domain::{StepRef, StepRole},
    workspace::{BriefRequest, Change, CheckpointRequest, Error},
};

/// The most bytes a client passes on to the agent in one piece.
const MOST_BYTES: usize = 9_500;
/// How many tasks of a list are given back.
const MOST_TASKS: usize = 20;

/// Gives the agent the brief: after a start, a resume, a clear, a compaction or a fork it knows
/// nothing of the state. Qwen Code drops the answer: its agent gets the brief with the next prompt.
pub(super) fn start(hook: &Hook<'_>) -> Result<HookReply, Error> {
    if hook.event.client() == HookClient::Qwen {
        hook.save_memory(&SessionMemory { rules: None, told: Vec::new(), ..hook.memory() });
        return Ok(HookReply::Silent);
    }
    brief(hook)
}

/// The brief, with what the session has to know besides.
pub(super) fn brief(hook: &Hook<'_>) -> Result<HookReply, Error> {
    let known = hook.memory();
    let mut memory = known.clone();
    memory.linked |= export_session(hook);
    memory.told.clear();
    memory.forgot = false;
    if hook.event.client() == HookClient::Gemini {
        memory.transcript = hook.event.transcript().map_or(0, gemini_transcript::length);
    }
    let preamble = preamble(hook, memory.linked) + &task_list_note(hook)?;
    let budget = Budget {
        max_tokens: hook.max_tokens.saturating_sub(tokens(&preamble)),
        max_bytes: Some(MOST_BYTES.saturating_sub(preamble.len())),
    };
    let briefed = hook.workspace.brief(&BriefRequest { budget, ..BriefRequest::default() })?;
    memory.rules = briefed.active_rules.as_ref().map(rule_lines);
    if memory != known {
        hook.save_memory(&memory);
    }
    if hook.keeps_memory() {
        SessionMemory::prune(hook.workspace.directory());
    }
    Ok(HookReply::Context(preamble + &briefed.brief.text))
}

/// Gives the brief again after a compaction, for clients that start no new session then: with the next
/// event that gets no other answer.
pub(super) fn brief_if_forgotten(hook: &Hook<'_>, reply: HookReply) -> Result<HookReply, Error> {
    let name = hook.event.name();
    // A subagent has forgotten nothing.
    let is_due = reply == HookReply::Silent
        && match hook.event.client() {
            HookClient::Copilot => {
                matches!(name, "UserPromptSubmit" | "PreToolUse" | "PostToolUse")
                    && hook.event.text("agent_id").is_none()
                    && hook.memory().forgot
            }
            HookClient::Gemini => {
                matches!(name, "UserPromptSubmit" | "PostToolUse") && was_compacted(hook)
            }
            _ => false,
        };
    if is_due { brief(hook) } else { Ok(reply) }
}

/// From this length on, what was searched of a transcript is not searched again.
const LONG_TRANSCRIPT: u64 = 1 << 20;

/// Whether Gemini CLI compacted the conversation, and the brief is no longer in it.
fn was_compacted(hook: &Hook<'_>) -> bool {
    let Some(path) = hook.event.transcript() else { return false };
    let memory = hook.memory();
    // Where nothing is remembered, the brief would come again and again.
    if memory.subagents > 0 || !hook.keeps_memory() {
        return false;
    }
    if gemini_transcript::has_lost(path, memory.transcript, PREAMBLE_START) {
        return true;
    }
    let length = gemini_transcript::length(path);
    if length.saturating_sub(memory.transcript) > LONG_TRANSCRIPT {
        hook.save_memory(&SessionMemory { transcript: length, ..memory });
    }
    false
}

/// The most tokens that a subagent is given.
const SUBAGENT_TOKENS: usize = 600;

/// Gives a subagent a short brief: it knows nothing of the state, and must not take the main agent's
/// step for its own.
pub(super) fn start_subagent(hook: &Hook<'_>) -> Result<HookReply, Error> {
    let snapshot = hook.workspace.read()?;
    let (plan, workflow) = (snapshot.plan()?, snapshot.workflow()?);
    let running = stop::running(hook, &hook.memory(), &plan, &workflow);
    let held = running.first().map(|step| step.number);
    let whose = match held {
        Some(number) => {
            format!("You help with step {number}, which belongs to the agent that called you.")
        }
        None => "No step is running for the agent that called you.".to_owned(),
    };
    let preamble = format!(
        "You are a helper in work that statedir tracks. {whose} Do what you were asked to do, and \
         leave starting and ending steps to that agent: the brief below is background. Never edit \
         history.md or .statedir/ by hand.\n\n"
    );
    let budget = Budget {
        max_tokens: hook.max_tokens.min(SUBAGENT_TOKENS).saturating_sub(tokens(&preamble)),
        max_bytes: Some(MOST_BYTES - preamble.len()),
    };
    let step = held.map(StepRef::Number);
    let request = BriefRequest { budget, step, is_background: true, ..BriefRequest::default() };
    let briefed = hook.workspace.brief(&request)?;
    Ok(HookReply::Context(preamble + &briefed.brief.text))
}

/// What the text before the brief begins with.
const PREAMBLE_START: &str = "The work in this project is tracked by statedir in";

/// The text before the brief.
fn preamble(hook: &Hook<'_>, linked: bool) -> String {
    let actor = hook.workspace.environment().actor();
    let name = match linked {
        true => format!("Your commands act as `{actor}`."),
        false => format!("Give `--actor {actor}` with statedir commands."),
    };
    let tasks = match hook.captures_tasks {
        true => {
            " What you plan with your own task tool becomes steps; give a step's task the step's words."
        }
        false => "",
    };
    let dir = short_line(&hook.workspace.directory().display().to_string(), 200);
    let workflow = hook.workspace.read().and_then(|snapshot| snapshot.workflow());
    let fail = match workflow.is_ok_and(|workflow| !workflow.has_step_role(StepRole::Failed)) {
        true => "",
        false => " or `statedir step fail --error 'what went wrong'`",
    };
    format!(
        "{PREAMBLE_START} `{dir}`. {name} Loop: `statedir step \
         next --claim`, work, `statedir step done`{fail}, `statedir context add 'what was found'`. Never edit history.md or .statedir/ by hand.{tasks}\n\n"
    )
}

/// The session's own task list as its client last had it, beside the plan: after a compaction or a
/// resume the agent has forgotten it.
fn task_list_note(hook: &Hook<'_>) -> Result<String, Error> {
    if !hook.captures_tasks {
        return Ok(String::new());
    }
    let session = hook.session();
    let Some(list) = hook.workspace.compare_list(&session)? else { return Ok(String::new()) };
    if hook.keeps_memory() {
        hook.workspace.begin_list_anew(&session);
    }
    let mut text = String::from(
        "Your own task list as you left it, beside the plan (lines with `>` are data):\n",
    );
    for task in list.tasks.iter().take(MOST_TASKS) {
        let step = match &task.step {
            Some((number, status, _)) => format!("step {number}, {status}"),
            None => "no step".to_owned(),
        };
        let note = task.note.as_ref().map(|note| format!("; you said: {}", short_line(note, 160)));
        let note = note.unwrap_or_default();
        text.push_str(&quoted(&format!(
            "[{}] {} ({step}){note}",
            task.mark(),
            short_line(&task.text, 100)
        )));
    }
    let left = list.tasks.len().saturating_sub(MOST_TASKS);
    if left > 0 {
        text.push_str(&format!("{left} more: `statedir step list`\n"));
    }
    let lacking: Vec<String> =
        list.lacking.iter().take(MOST_TASKS).map(|(number, _)| number.to_string()).collect();
    if !lacking.is_empty() {
        text.push_str(&format!("Open steps that it lacks: {}.\n", lacking.join(", ")));
    }
    Ok(text + "\n")
}

/// Makes the session's own commands act under its name, where the client offers a way; returns whether
/// they do.
fn export_session(hook: &Hook<'_>) -> bool {
    if hook.shell_has_session {
        return true;
    }
    let Some(path) = hook.env_file.as_ref().filter(|_| !hook.dry_run) else { return false };
    // The name is a word of letters and digits only when it comes from a session.
    if hook.event.session().as_deref() != Some(hook.workspace.environment().actor()) {
        return false;
    }
    let line = format!("export STATEDIR_SESSION={}\n", hook.workspace.environment().actor());
    let file = fs::OpenOptions::new().append(true).create(true).open(path);
    file.and_then(|mut file| file.write_all(line.as_bytes())).is_ok()
}

/// Takes a checkpoint before the agent forgets how the state came to be.
pub(super) fn before_compaction(hook: &Hook<'_>) -> Result<HookReply, Error> {
    let by = match hook.event.text("trigger") {
        Some("manual") => " (manual)",
        Some("auto") => " (auto)",
        _ => "",
    };
    if hook.event.client() == HookClient::Copilot {
        hook.save_memory(&SessionMemory { forgot: true, ..hook.memory() });
    }
    let automatic = Some(format!("before compaction{by}"));
    let request = CheckpointRequest { automatic, ..CheckpointRequest::default() };
    hook.workspace.checkpoint(&request).map(|_| HookReply::Silent)
}

/// Records that the session ended, and what its tools used since the last entry.
pub(super) fn end(hook: &Hook<'_>) -> Result<HookReply, Error> {
    let mut fields = Map::new();
    fields.insert("session".to_owned(), json!(hook.session()));
    let reason = hook.event.text("reason").map(|reason| short_line(reason, 60));
    fields.extend(reason.map(|reason| ("reason".to_owned(), json!(reason))));
    let applied = hook.workspace.apply(&[Change::Event { kind: "session_end".to_owned(), fields }]);
    if hook.keeps_memory() {
        SessionMemory::forget(hook.workspace.directory(), &hook.session());
    }
    applied.map(|_| HookReply::Silent)
}
