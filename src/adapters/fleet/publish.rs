//! Publishing a state: what changed since the last push, and nothing else.

use std::{collections::BTreeMap, time::Duration};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{
    Database, FleetError, Membership, NewProject, Published, Push, Refusal,
    membership::remember_directory,
    project::{HistoryRange, RefusalKind},
};
use crate::{
    domain::{PlanRole, StateFile},
    store::AppendedView,
    workspace::{Overview, Snapshot, Workspace, mask_json, masked},
};

/// How many bytes of a history travel at once.
const RANGE: u64 = 4 << 20;
/// How many bytes before the published end show that it is still the same history.
const TAIL: u64 = 4 << 10;

/// How a state becomes part of a fleet.
#[derive(Clone, Debug)]
pub(crate) struct Joined<'a> {
    pub(crate) name: Option<&'a str>,
    pub(crate) host: &'a str,
    pub(crate) fleet: &'a str,
    pub(crate) with_secrets: bool,
    pub(crate) lease: Duration,
}

/// Makes a state part of a fleet and publishes it; takes the lease.
///
/// # Errors
/// Another machine has it, its name belongs to another project, or the database cannot be reached.
pub(crate) fn join(
    database: &mut dyn Database,
    workspace: &Workspace,
    request: &Joined<'_>,
) -> Result<(Membership, bool), FleetError> {
    if workspace.layout().is_some() {
        return Err(FleetError::Adopted);
    }
    let snapshot = workspace.read()?;
    let overview = snapshot.overview()?;
    let id = overview.execution_id.clone().ok_or(FleetError::NoIdentity)?;
    let before = Membership::find(workspace)?.filter(|known| known.id == id);
    let name = request.name.or(before.as_ref().map(|known| known.name.as_str())).unwrap_or(&id);
    let renames = request.name.is_some();
    let new = NewProject { id: &id, name, renames, host: request.host, lease: request.lease };
    let project = database.join(&new)?;
    // What others published under this name is not overwritten: a first push needs an empty project.
    let mut membership = match before {
        Some(known) => known,
        None if project.revision.is_empty() => {
            Membership { id: id.clone(), ..Membership::default() }
        }
        None => {
            let what = "the state of this directory";
            return Err(Refusal::of(project, what, RefusalKind::Moved));
        }
    };
    membership.name = project.name;
    membership.fleet = request.fleet.to_owned();
    membership.fence = project.lease.fence;
    membership.with_secrets = request.with_secrets;
    membership.save(workspace)?;
    remember_directory(&id, workspace.directory())?;
    push(database, workspace, request.host, request.lease, false)
}

/// Publishes what changed since the last push; says whether anything did.
///
/// # Errors
/// The lease is another's by now, the published part of the history was changed, or the database
/// cannot be reached.
pub(crate) fn push(
    database: &mut dyn Database,
    workspace: &Workspace,
    host: &str,
    lease: Duration,
    whole: bool,
) -> Result<(Membership, bool), FleetError> {
    let mut known = settle(database, Membership::of(workspace)?, workspace)?;
    let snapshot = workspace.read()?;
    let history = snapshot.view().appended();
    let Differences { changed: files, removed, digests } = differences(&snapshot, &known);
    let is_longer = history.len() != known.history_length;
    if files.is_empty() && removed.is_empty() && !is_longer && !known.revision.is_empty() && !whole
    {
        let is_ours = database.renew(&known.id, host, known.fence, lease)?;
        return match is_ours {
            true => Ok((known, false)),
            false => Err(lost(database, &known)),
        };
    }
    if !whole && !continues(history, &known)? {
        return Err(FleetError::Rewritten { published: known.history_length });
    }
    let from = if whole { 0 } else { known.history_length };
    let chain = if whole { String::new() } else { known.history_chain.clone() };
    let published = published(&snapshot, workspace, host, known.with_secrets)?;
    let revision = snapshot.revision().as_str().to_owned();
    let next = Membership {
        local_revision: revision.clone(),
        revision,
        generation: known.generation + i64::from(whole),
        files: digests,
        history_length: history.len(),
        history_tail: tail(history, history.len())?,
        history_chain: chain_of(history, from, &chain)?,
        unanswered: None,
        ..known.clone()
    };
    // If the answer is lost on its way, the next push knows what may have been accepted.
    known.unanswered = Some(Box::new(next.clone()));
    known.save(workspace)?;
    let request = Push {
        id: &known.id,
        host,
        fence: known.fence,
        base: &known.revision,
        revision: &next.revision,
        published: &published,
        files: &files,
        removed: &removed,
        history_from: from,
        history_length: history.len(),
        whole,
        lease,
    };
    database.push(&request, &mut ranges(history, from, chain))?;
    next.save(workspace)?;
    Ok((next, true))
}

/// How the small files differ from what was published.
pub(super) struct Differences {
    pub(super) changed: Vec<(String, Vec<u8>)>,
    pub(super) removed: Vec<String>,
    digests: BTreeMap<String, String>,
}

/// Compares the small files with what was published.
pub(super) fn differences(snapshot: &Snapshot, known: &Membership) -> Differences {
    let mut changed = Vec::new();
    let mut digests = BTreeMap::new();
    for file in StateFile::REWRITABLE {
        let Some(bytes) = snapshot.view().bytes(file.name()) else { continue };
        let digest = digest(&[bytes]);
        if known.files.get(file.name()) != Some(&digest) {
            changed.push((file.name().to_owned(), bytes.to_vec()));
        }
        digests.insert(file.name().to_owned(), digest);
    }
    let removed = known.files.keys().filter(|name| !digests.contains_key(*name)).cloned().collect();
    Differences { changed, removed, digests }
}

/// A push that was not answered was accepted if its revision is what the database has.
fn settle(
    database: &mut dyn Database,
    mut known: Membership,
    workspace: &Workspace,
) -> Result<Membership, FleetError> {
    let Some(unanswered) = known.unanswered.take() else { return Ok(known) };
    let there = database.project(&known.id)?;
    if there.is_some_and(|there| there.revision == unanswered.revision) {
        known = Membership { fence: known.fence, name: known.name, ..*unanswered };
    }
    known.save(workspace)?;
    Ok(known)
}

fn lost(database: &mut dyn Database, known: &Membership) -> FleetError {
    match database.project(&known.id) {
        Err(error) => error,
        Ok(None) => FleetError::NoProject(known.name.clone()),
        Ok(Some(project)) => Refusal::of(project, "the heartbeat", RefusalKind::Lost),
    }
}

/// Whether a history still begins with what was published of it.
pub(super) fn continues(history: &AppendedView, known: &Membership) -> Result<bool, FleetError> {
    if known.history_length == 0 || history.len() < known.history_length {
        return Ok(known.history_length == 0);
    }
    Ok(tail(history, known.history_length)? == known.history_tail)
}

/// The digest of the last bytes before `end`.
pub(super) fn tail(history: &AppendedView, end: u64) -> Result<String, FleetError> {
    let bytes = history
        .read_between(end.saturating_sub(TAIL), end)
        .map_err(crate::workspace::Error::from)?;
    Ok(digest(&[&bytes]))
}

/// The new part of a history in ranges, each tied to the one before.
fn ranges(
    history: &AppendedView,
    from: u64,
    mut chain: String,
) -> impl Iterator<Item = Result<HistoryRange, FleetError>> {
    let mut start = from;
    std::iter::from_fn(move || {
        if start >= history.len() {
            return None;
        }
        let read = history.read_between(start, start.saturating_add(RANGE));
        Some(read.map_err(|error| crate::workspace::Error::from(error).into()).map(|bytes| {
            chain = link(&chain, &bytes);
            let range = HistoryRange { start, bytes, chain: chain.clone() };
            start += range.bytes.len() as u64;
            range
        }))
    })
}

fn chain_of(history: &AppendedView, from: u64, chain: &str) -> Result<String, FleetError> {
    let mut last = chain.to_owned();
    for range in ranges(history, from, chain.to_owned()) {
        last = range?.chain;
    }
    Ok(last)
}

/// The digest of a range and of everything before it.
pub(super) fn link(chain: &str, bytes: &[u8]) -> String {
    digest(&[chain.as_bytes(), &[0], bytes])
}

pub(super) fn digest(parts: &[&[u8]]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What others can look for: the columns and the merged document.
fn published(
    snapshot: &Snapshot,
    workspace: &Workspace,
    host: &str,
    with_secrets: bool,
) -> Result<Published, FleetError> {
    let overview = snapshot.overview()?;
    let shown = |text: &str| readable(text, with_secrets);
    let at_hand = overview.resume_from();
    let holder = overview.steps.iter().find_map(|step| step.claimed_by.as_ref());
    let state = snapshot.state(false);
    // An import begins the recent entries anew; then it is the last one itself.
    let last = match state.recent_history.last() {
        Some(entry) => Some(entry.title.clone()),
        None => snapshot.last_entries(1)?.pop().map(|entry| entry.title),
    };
    let mut document = json!(state);
    clean(&mut document, with_secrets);
    let plan = snapshot.plan()?;
    let other = &plan.metadata.other;
    let template = other.iter().find(|(key, _)| key == "template").map(|(_, value)| value.as_str());
    let mut metadata = metadata(&overview, workspace, host, template.unwrap_or_default());
    clean(&mut metadata, with_secrets);
    Ok(Published {
        status: word(overview.role).to_owned(),
        current_task_id: at_hand.map(|step| shown(&format!("{}: {}", step.number, step.title))),
        current_agent_id: holder.map(|claim| shown(&claim.name())),
        last_action: last.map(|title| shown(&title)),
        metadata,
        document,
    })
}

/// The word for a status that every lifecycle shares.
fn word(role: Option<PlanRole>) -> &'static str {
    match role {
        Some(PlanRole::Paused) => "paused",
        Some(PlanRole::Succeeded) => "completed",
        Some(PlanRole::Failed) => "failed",
        _ => "active",
    }
}

fn metadata(overview: &Overview, workspace: &Workspace, host: &str, template: &str) -> Value {
    json!({
        "goal": overview.goal,
        "title": overview.title,
        "plan_status": overview.status,
        "steps": overview.counts.total,
        "steps_done": overview.counts.done,
        "steps_failed": overview.counts.failed,
        "open_reviews": overview.open_reviews.len(),
        "cost": overview.spending.total_cost.to_json(),
        "time_ms": overview.history.time_ms,
        "recoveries": overview.history.restores,
        "template": template,
        "machine": host,
        "directory": std::path::absolute(workspace.directory()).ok(),
    })
}

/// Text as it may be searched for: without what looks like a secret, and without NUL, which
/// PostgreSQL does not hold in texts. The files are published as they are.
fn readable(text: &str, with_secrets: bool) -> String {
    let text = if with_secrets { text.to_owned() } else { masked(text) };
    text.replace('\0', "\u{fffd}")
}

fn clean(value: &mut Value, with_secrets: bool) {
    if !with_secrets {
        mask_json(value);
    }
    without_nul(value);
}

fn without_nul(value: &mut Value) {
    match value {
        Value::String(text) if text.contains('\0') => *text = text.replace('\0', "\u{fffd}"),
        Value::Array(items) => items.iter_mut().for_each(without_nul),
        Value::Object(members) => {
            if members.keys().any(|key| key.contains('\0')) {
                let old = std::mem::take(members);
                members.extend(
                    old.into_iter().map(|(key, value)| (key.replace('\0', "\u{fffd}"), value)),
                );
            }
            members.values_mut().for_each(without_nul);
        }
        _ => {}
    }
}
