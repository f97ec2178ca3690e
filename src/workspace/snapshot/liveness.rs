//! Whether the holder of a step is alive: their changes in the log, the signs of their session,
//! their process.

use jiff::Timestamp;

use crate::workspace::{Workspace, environment::millis_between};
use crate::{
    domain::{Claim, Plan, Step, StepRole, Workflow},
    recovery::{Holder, Signs, ends_of},
    store::{Author, Store},
};

/// How many of the newest operations are looked at.
const NEWEST: usize = 200;

/// Looks for signs of life, for one who asks.
#[derive(Clone, Debug)]
pub(crate) struct Liveness {
    store: Store,
    now: Timestamp,
    asking: Claim,
    is_session: bool,
}

impl Liveness {
    pub(in crate::workspace) fn new(workspace: &Workspace) -> Self {
        Self {
            store: workspace.store.clone(),
            now: workspace.env.timestamp(),
            asking: workspace.env.identity().claim(),
            is_session: workspace.env.identity().session.is_some(),
        }
    }

    /// Who holds a step, as the lifecycle counts silence.
    pub(crate) fn holder(&self, step: &Step, workflow: &Workflow) -> Holder {
        self.holder_after(step, workflow, workflow.stale_after_ms())
    }

    /// The same with a silence of one's own after which a claim is stale.
    pub(crate) fn holder_after(
        &self,
        step: &Step,
        workflow: &Workflow,
        stale_after_ms: u64,
    ) -> Holder {
        let claim = step.claimed_by.as_ref();
        let mut ahead_ms = 0;
        let mut ago = |time: &str| {
            let then: Timestamp = time.parse().ok()?;
            let passed = self.now.as_millisecond() - then.as_millisecond();
            // The clock of another machine may be ahead of this one.
            ahead_ms = ahead_ms.max(u64::try_from(-passed).unwrap_or(0));
            Some(u64::try_from(passed).unwrap_or(0))
        };
        let since = claim.and_then(|claim| claim.since.as_deref()).or(step.started_at());
        let mut signs = Signs { held_ms: since.and_then(&mut ago), ..Signs::default() };
        // Whose it is can be told from the claim alone; only of others more is to be found out.
        if let Some(claim) = claim.filter(|claim| !claim.is_held_by(&self.asking)) {
            signs.changed_ms = self.newest_by(claim, since).and_then(|op| ago(&op.time));
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
        signs.ahead_ms = ahead_ms;
        let holder = Holder::of(step.number, claim, &self.asking, &signs, stale_after_ms);
        let is_this_session = holder.own && self.is_session;
        Holder { is_this_session, ends: ends_of(step, workflow), ..holder }
    }

    /// The newest change that the holder of a claim made since it was laid.
    fn newest_by(&self, claim: &Claim, since: Option<&str>) -> Option<Author> {
        let laid: Option<Timestamp> = since.and_then(|time| time.parse().ok());
        let is_later = |author: &Author| match (laid, author.time.parse::<Timestamp>()) {
            (Some(laid), Ok(time)) => time >= laid,
            _ => true,
        };
        let mut newest = self.store.authors().take(NEWEST).take_while(is_later);
        newest.find(|author| is_by(claim, author))
    }

    /// When the state was last changed, as the log says.
    pub(in crate::workspace) fn last_change(&self) -> Option<Timestamp> {
        self.store.authors().next()?.time.parse().ok()
    }

    /// Milliseconds since then.
    pub(in crate::workspace) fn since(&self, time: &str) -> Option<u64> {
        millis_between(time, self.now)
    }
}

/// Whether the holder of a claim made a change: in its session, or under its name where there was
/// none.
fn is_by(claim: &Claim, author: &Author) -> bool {
    match (&author.session, &claim.session) {
        (Some(session), Some(_)) => session == claim.session_name(),
        (Some(session), None) => *session == claim.actor,
        (None, Some(session)) => author.actor == *session,
        (None, None) => claim.is_by(&author.actor),
    }
}

/// How long the steps that are running at `moment` have been, added up; `roles` are those of the steps.
pub(in crate::workspace) fn running_ms(
    plan: &Plan,
    roles: &[Option<StepRole>],
    moment: Timestamp,
) -> u64 {
    let running = plan.steps.iter().zip(roles).filter(|(_, role)| **role == Some(StepRole::Active));
    let times = running.filter_map(|(step, _)| millis_between(step.started_at()?, moment));
    times.fold(0, u64::saturating_add)
}
