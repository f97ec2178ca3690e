//! Whether the holder of a step is alive: their changes in the log, the signs of their session,
//! their process.

use std::cell::OnceCell;

use jiff::Timestamp;

use crate::workspace::{Workspace, environment::millis_between};
use crate::{
    domain::{Claim, Plan, Step, StepRole, Workflow},
    recovery::{Holder, Signs},
    store::{OperationSummary, Store},
};

/// How many of the newest operations are looked at.
const NEWEST: usize = 200;

/// Looks for signs of life, for one who asks.
#[derive(Clone, Debug)]
pub(crate) struct Liveness {
    store: Store,
    now: Timestamp,
    asking: Claim,
    operations: OnceCell<Vec<OperationSummary>>,
}

impl Liveness {
    pub(in crate::workspace) fn new(workspace: &Workspace) -> Self {
        Self {
            store: workspace.store.clone(),
            now: workspace.env.timestamp(),
            asking: workspace.env.identity().claim(),
            operations: OnceCell::new(),
        }
    }

    /// Who holds a step, as the lifecycle counts silence.
    pub(crate) fn holder(&self, step: &Step, workflow: &Workflow) -> Holder {
        self.holder_after(step, workflow.stale_after_ms())
    }

    /// The same with a silence of one's own after which a claim is stale.
    pub(crate) fn holder_after(&self, step: &Step, stale_after_ms: u64) -> Holder {
        let claim = step.claimed_by.as_ref();
        let ago = |time: &str| millis_between(time, self.now);
        let since = claim.and_then(|claim| claim.since.as_deref()).or(step.started_at.as_deref());
        let mut signs = Signs { held_ms: since.and_then(ago), ..Signs::default() };
        // Whose it is can be told from the claim alone; only of others more is to be found out.
        if let Some(claim) = claim.filter(|claim| !claim.is_held_by(&self.asking)) {
            let newest = self.operations().iter().find(|op| is_by(claim, op));
            signs.changed_ms = newest.and_then(|op| ago(&op.time));
            if let Some(sign) = self.store.sign(claim.session_name()) {
                signs.seen_ms = ago(&sign.time);
                signs.ended = sign.ended;
                // That a client goes on says nothing about one of its sessions.
                let dead_client = sign.dead_client().map(|pid| (pid, false));
                signs.process = sign
                    .process
                    .and_then(|process| Some((process.pid, process.is_running()?)))
                    .or(dead_client);
            }
        }
        Holder::of(step.number, claim, &self.asking, &signs, stale_after_ms)
    }

    /// When the state was last changed, as the log says.
    pub(in crate::workspace) fn last_change(&self) -> Option<Timestamp> {
        let newest = self.store.operations(Some(1)).ok()?;
        newest.first()?.time.parse().ok()
    }

    /// Milliseconds since then.
    pub(in crate::workspace) fn since(&self, time: &str) -> Option<u64> {
        millis_between(time, self.now)
    }

    fn operations(&self) -> &[OperationSummary] {
        self.operations.get_or_init(|| self.store.operations(Some(NEWEST)).unwrap_or_default())
    }
}

/// Whether the holder of a claim made a change: in its session, or under its name where there was
/// none.
fn is_by(claim: &Claim, operation: &OperationSummary) -> bool {
    match (&operation.session, &claim.session) {
        (Some(session), Some(_)) => session == claim.session_name(),
        (Some(session), None) => *session == claim.actor,
        (None, Some(session)) => operation.actor == *session,
        (None, None) => claim.is_by(&operation.actor),
    }
}

/// How long the steps that are running at `moment` have been, added up.
pub(in crate::workspace) fn running_ms(plan: &Plan, workflow: &Workflow, moment: Timestamp) -> u64 {
    let running = plan.steps.iter().filter(|step| workflow.role_of(step) == Some(StepRole::Active));
    let times = running.filter_map(|step| millis_between(step.started_at.as_deref()?, moment));
    times.fold(0, u64::saturating_add)
}
