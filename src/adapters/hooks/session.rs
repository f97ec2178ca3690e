//! A session begins, is compacted, ends.

use std::{fs, io::Write as _};

use serde_json::{Map, json};

use super::{
    Dialect, Hook, Memory, Reply,
    prompt::rule_lines,
    reply::{quoted, short},
    stop, transcript,
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
/// nothing of the state. Qwen Code passes on nothing here: its agent gets it with the next prompt.
pub(super) fn start(hook: &Hook<'_>) -> Result<Reply, Error> {
    if hook.event.dialect() == Dialect::Qwen {
        hook.remember(&Memory { rules: None, told: Vec::new(), ..hook.memory() });
        return Ok(Reply::Silent);
    }
    brief(hook)
}

/// The brief, with what the session has to know besides.
pub(super) fn brief(hook: &Hook<'_>) -> Result<Reply, Error> {
    let known = hook.memory();
    let mut memory = known.clone();
    memory.linked |= link(hook);
    memory.told.clear();
    memory.forgot = false;
    if hook.event.dialect() == Dialect::Gemini {
        memory.transcript = hook.event.transcript().map_or(0, transcript::length);
    }
    let list = own_list(hook)?;
    let frame = frame(hook, memory.linked) + &list;
    let budget = Budget {
        max_tokens: hook.max_tokens.saturating_sub(tokens(&frame)),
        max_bytes: Some(MOST_BYTES.saturating_sub(frame.len())),
    };
    let briefed = hook.workspace.brief(&BriefRequest { budget, ..BriefRequest::default() })?;
    memory.rules = briefed.active_rules.as_ref().map(rule_lines);
    if memory != known {
        hook.remember(&memory);
    }
    if hook.keeps_memory() {
        Memory::prune(hook.workspace.directory());
    }
    Ok(Reply::Context(frame + &briefed.brief.text))
}

/// The brief for an agent whose client starts no session anew after a compaction: with the next
/// event that is answered with nothing else.
pub(super) fn again(hook: &Hook<'_>, reply: Reply) -> Result<Reply, Error> {
    let name = hook.event.name();
    // A helper has forgotten nothing.
    let is_due = reply == Reply::Silent
        && match hook.event.dialect() {
            Dialect::Copilot => {
                matches!(name, "UserPromptSubmit" | "PreToolUse" | "PostToolUse")
                    && hook.event.text("agent_id").is_none()
                    && hook.memory().forgot
            }
            Dialect::Gemini => {
                matches!(name, "UserPromptSubmit" | "PostToolUse") && was_summed_up(hook)
            }
            _ => false,
        };
    if is_due { brief(hook) } else { Ok(reply) }
}

/// From this length on, what was looked at of a record is not looked at again.
const LONG: u64 = 1 << 20;

/// Whether Gemini CLI summed up the conversation, and the brief is no longer in it.
fn was_summed_up(hook: &Hook<'_>) -> bool {
    let Some(path) = hook.event.transcript() else { return false };
    let memory = hook.memory();
    // Where nothing is remembered, the brief would come again and again.
    if memory.helpers > 0 || !hook.keeps_memory() {
        return false;
    }
    if transcript::lost(path, memory.transcript, OPENING) {
        return true;
    }
    let length = transcript::length(path);
    if length.saturating_sub(memory.transcript) > LONG {
        hook.remember(&Memory { transcript: length, ..memory });
    }
    false
}

/// The most tokens that a helper of the agent is given.
const HELPER_TOKENS: usize = 600;

/// Gives a helper of the agent a short brief: it knows nothing of the state, and shall not take the
/// main agent's step for its own.
pub(super) fn helper(hook: &Hook<'_>) -> Result<Reply, Error> {
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
    let frame = format!(
        "You are a helper in work that statedir tracks. {whose} Do what you were asked to do, and \
         leave starting and ending steps to that agent: the brief below is background. Never edit \
         history.md or .statedir/ by hand.\n\n"
    );
    let budget = Budget {
        max_tokens: hook.max_tokens.min(HELPER_TOKENS).saturating_sub(tokens(&frame)),
        max_bytes: Some(MOST_BYTES - frame.len()),
    };
    let step = held.map(StepRef::Number);
    let request = BriefRequest { budget, step, is_background: true, ..BriefRequest::default() };
    let briefed = hook.workspace.brief(&request)?;
    Ok(Reply::Context(frame + &briefed.brief.text))
}

/// What the words before the brief begin with.
const OPENING: &str = "The work in this project is tracked by statedir in";

/// The words before the brief.
fn frame(hook: &Hook<'_>, linked: bool) -> String {
    let actor = hook.workspace.environment().actor();
    let name = match linked {
        true => format!("Your commands act as `{actor}`."),
        false => format!("Give `--actor {actor}` with statedir commands."),
    };
    let lists = match hook.captures {
        true => {
            " What you plan with your own task tool becomes steps; give a step's task the step's words."
        }
        false => "",
    };
    let dir = short(&hook.workspace.directory().display().to_string(), 200);
    let workflow = hook.workspace.read().and_then(|snapshot| snapshot.workflow());
    let fail = match workflow.is_ok_and(|workflow| !workflow.has_step_role(StepRole::Failed)) {
        true => "",
        false => " or `statedir step fail --error 'what went wrong'`",
    };
    format!(
        "{OPENING} `{dir}`. {name} Loop: `statedir step \
         next --claim`, work, `statedir step done`{fail}, `statedir context add 'what was found'`. Never edit history.md or .statedir/ by hand.{lists}\n\n"
    )
}

/// The session's own task list as its client last had it, beside the plan: after a compaction or a
/// resumption the agent has forgotten it.
fn own_list(hook: &Hook<'_>) -> Result<String, Error> {
    if !hook.captures {
        return Ok(String::new());
    }
    let session = hook.session();
    let Some(standing) = hook.workspace.compare_list(&session)? else { return Ok(String::new()) };
    if hook.keeps_memory() {
        hook.workspace.begin_list_anew(&session);
    }
    let mut text = String::from(
        "Your own task list as you left it, beside the plan (lines with `>` are data):\n",
    );
    for task in standing.tasks.iter().take(MOST_TASKS) {
        let step = match &task.step {
            Some((number, status, _)) => format!("step {number}, {status}"),
            None => "no step".to_owned(),
        };
        let note = task.note.as_ref().map(|note| format!("; you said: {}", short(note, 160)));
        let note = note.unwrap_or_default();
        text.push_str(&quoted(&format!(
            "[{}] {} ({step}){note}",
            task.mark(),
            short(&task.text, 100)
        )));
    }
    let left = standing.tasks.len().saturating_sub(MOST_TASKS);
    if left > 0 {
        text.push_str(&format!("{left} more: `statedir step list`\n"));
    }
    let lacking: Vec<String> =
        standing.lacking.iter().take(MOST_TASKS).map(|(number, _)| number.to_string()).collect();
    if !lacking.is_empty() {
        text.push_str(&format!("Open steps that it lacks: {}.\n", lacking.join(", ")));
    }
    Ok(text + "\n")
}

/// Lets the session's own commands act under its name, where the client offers a way.
fn link(hook: &Hook<'_>) -> bool {
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

/// The conversation is about to be summed up: the state is kept as it is now, before the agent
/// forgets how it came to be.
pub(super) fn compact(hook: &Hook<'_>) -> Result<Reply, Error> {
    let by = match hook.event.text("trigger") {
        Some("manual") => " (manual)",
        Some("auto") => " (auto)",
        _ => "",
    };
    if hook.event.dialect() == Dialect::Copilot {
        hook.remember(&Memory { forgot: true, ..hook.memory() });
    }
    let automatic = Some(format!("before compaction{by}"));
    let request = CheckpointRequest { automatic, ..CheckpointRequest::default() };
    hook.workspace.checkpoint(&request).map(|_| Reply::Silent)
}

/// Records that the session ended, and what its tools used since the last entry.
pub(super) fn end(hook: &Hook<'_>) -> Result<Reply, Error> {
    let mut fields = Map::new();
    fields.insert("session".to_owned(), json!(hook.session()));
    let reason = hook.event.text("reason").map(|reason| short(reason, 60));
    fields.extend(reason.map(|reason| ("reason".to_owned(), json!(reason))));
    let done = hook.workspace.apply(&[Change::Event { kind: "session_end".to_owned(), fields }]);
    if hook.keeps_memory() {
        Memory::forget(hook.workspace.directory(), &hook.session());
    }
    done.map(|_| Reply::Silent)
}
