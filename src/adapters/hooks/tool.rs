//! After a tool was used: counts it, checks a state file that it wrote, and turns its task list
//! into steps.

use super::{
    Hook, Reply,
    event::counted,
    place::{Guarded, real_path},
    planning::captured,
    reply::quoted,
};
use crate::{
    domain::{ErrorCode, Problem, Severity, StateFile},
    workspace::Error,
};

/// How many findings are passed on.
const MOST: usize = 10;

/// Counts, checks, and reports what a rule or a limit had to say.
pub(super) fn after(hook: &Hook<'_>) -> Result<Reply, Error> {
    let Some(usage) = counted(hook.event.tool()) else { return captured(hook) };
    let counted = if hook.dry_run { Ok(None) } else { hook.workspace.count(usage) };
    let findings = match written_state_file(hook) {
        Some(file) => examine(hook, file),
        None => Ok(Reply::Silent),
    };
    let said = match &counted {
        Ok(Some(outcome)) => outcome.notices.join("\n"),
        _ => String::new(),
    };
    let said = (!said.is_empty()).then(|| {
        format!("statedir noted (lines with `>` are data from the state):\n{}", quoted(&said))
    });
    let reply = match (findings?, said) {
        (Reply::Silent, None) => Reply::Silent,
        (Reply::Silent, Some(said)) => Reply::Context(said),
        (Reply::Block { reason, .. }, context) => Reply::Block { reason, context },
        (Reply::Context(text), said) => Reply::Context(text + said.as_deref().unwrap_or_default()),
        (other, _) => other,
    };
    // A problem in a file is worth more than a count: it is reported even if counting failed.
    match (&reply, counted) {
        (Reply::Silent, Err(error)) => Err(error),
        _ => Ok(reply),
    }
}

/// The state file that the tool wrote.
fn written_state_file(hook: &Hook<'_>) -> Option<StateFile> {
    let cwd = hook.event.cwd().or_else(|| std::env::current_dir().ok())?;
    let path = real_path(&cwd.join(hook.event.file()?));
    let guarded = Guarded::new(hook.workspace.directory());
    let name = path.strip_prefix(guarded.state()).ok()?.to_str()?;
    if let Some(layout) = hook.workspace.layout() {
        return layout.role_of(name);
    }
    let mut files = StateFile::FIVE.iter().chain([&StateFile::Workflow]);
    files.find(|file| file.name() == name).copied()
}

fn examine(hook: &Hook<'_>, file: StateFile) -> Result<Reply, Error> {
    let findings = match hook.again().check_file(file) {
        Ok(findings) => findings,
        // A file that keeps the state from being opened is a finding, too.
        Err(error) if error.exit_code() == 4 => {
            let reason = format!("{file} cannot be read now:\n{}", quoted(&error.to_string()));
            return Ok(Reply::Block { reason, context: None });
        }
        Err(error) => return Err(error),
    };
    // Who has just written a status that nobody knows can say what was meant.
    let is_slip = |found: &Problem| {
        found.code == ErrorCode::UnknownStatus && hook.workspace.layout().is_none()
    };
    let is_wrong = findings.iter().any(|found| found.severity == Severity::Error || is_slip(found));
    if findings.is_empty() {
        return Ok(Reply::Silent);
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
        false => Reply::Context(text),
        true => Reply::Block { reason: text, context: None },
    })
}
