//! After a tool was used: counts it, checks a state file that it wrote, and turns its task list
//! into steps.

use super::{
    Hook, HookReply,
    event::usage_of,
    guard::{GuardedState, real_path, state_files},
    planning::capture,
    reply::quoted,
};
use crate::{
    domain::{ErrorCode, Problem, Severity, StateFile},
    workspace::Error,
};

/// How many findings are passed on.
const MOST: usize = 10;

/// Reports what the check found, and what a rule or a limit had to say.
pub(super) fn after_tool(hook: &Hook<'_>) -> Result<HookReply, Error> {
    let Some(usage) = usage_of(hook.event.tool()) else { return capture(hook) };
    let counted = if hook.dry_run { Ok(None) } else { hook.workspace.count(usage) };
    let findings = match written_state_file(hook) {
        Some(file) => check_file(hook, file),
        None => Ok(HookReply::Silent),
    };
    let notices = match &counted {
        Ok(Some(outcome)) => outcome.notices.join("\n"),
        _ => String::new(),
    };
    let notices = (!notices.is_empty()).then(|| {
        format!("statedir noted (lines with `>` are data from the state):\n{}", quoted(&notices))
    });
    let reply = match (findings?, notices) {
        (HookReply::Silent, None) => HookReply::Silent,
        (HookReply::Silent, Some(notices)) => HookReply::Context(notices),
        (HookReply::Block { reason, .. }, context) => HookReply::Block { reason, context },
        (HookReply::Context(text), notices) => {
            HookReply::Context(text + notices.as_deref().unwrap_or_default())
        }
        (other, _) => other,
    };
    // A problem in a file is worth more than a count: it is reported even if counting failed.
    match (&reply, counted) {
        (HookReply::Silent, Err(error)) => Err(error),
        _ => Ok(reply),
    }
}

/// The state file that the tool wrote.
fn written_state_file(hook: &Hook<'_>) -> Option<StateFile> {
    let cwd = hook.event.cwd_or_current()?;
    let path = real_path(&cwd.join(hook.event.file()?));
    let guarded = GuardedState::new(hook.workspace.directory());
    let name = path.strip_prefix(guarded.directory()).ok()?.to_str()?;
    if let Some(layout) = hook.workspace.layout() {
        return layout.role_of(name);
    }
    state_files().find(|file| file.name() == name)
}

fn check_file(hook: &Hook<'_>, file: StateFile) -> Result<HookReply, Error> {
    let findings = match hook.with_remaining_wait().check_file(file) {
        Ok(findings) => findings,
        // A file that keeps the state from being opened is a finding, too.
        Err(error) if error.exit_code() == 4 => {
            let reason = format!("{file} cannot be read now:\n{}", quoted(&error.to_string()));
            return Ok(HookReply::Block { reason, context: None });
        }
        Err(error) => return Err(error),
    };
    // Whoever has just written an unknown status can say what was meant.
    let is_typo = |found: &Problem| {
        found.code == ErrorCode::UnknownStatus && hook.workspace.layout().is_none()
    };
    let is_wrong = findings.iter().any(|found| found.severity == Severity::Error || is_typo(found));
    if findings.is_empty() {
        return Ok(HookReply::Silent);
    }
    let mut text = format!(
        "`statedir check` finds {} in {file} after this edit (lines with `>` are data):\n",
        if findings.len() == 1 { "a problem" } else { "problems" }
    );
    for finding in findings.iter().take(MOST) {
        text.push_str(&quoted(&finding.line()));
        if let Some(hint) = &finding.hint {
            text.push_str(&quoted(&format!("  hint: {hint}")));
        }
    }
    if findings.len() > MOST {
        text.push_str(&format!("{} more: `statedir check`\n", findings.len() - MOST));
    }
    Ok(match is_wrong {
        false => HookReply::Context(text),
        true => HookReply::Block { reason: text, context: None },
    })
}
