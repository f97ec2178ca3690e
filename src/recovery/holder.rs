//! Who holds a running step, and whether they are still at it: by evidence, not by guess.

use serde::Serialize;

use crate::domain::{Claim, format_age, format_duration};

/// How often a session leaves a sign of life, in milliseconds: its events come several in a second.
pub(crate) const SIGN_EVERY_MS: u64 = 5_000;

/// How far the clocks of two machines may differ before it is mentioned, in milliseconds.
const CLOCKS_AGREE_MS: u64 = 60_000;

/// What is known about the claimant of a step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Signs {
    /// Milliseconds since the step was claimed.
    pub held_ms: Option<u64>,
    /// Milliseconds since the newest change that the holder made.
    pub changed_ms: Option<u64>,
    /// Milliseconds since a hook or server of the holder's session was seen.
    pub seen_ms: Option<u64>,
    /// How far the latest of these times is ahead of this machine's clock, in milliseconds.
    pub ahead_ms: u64,
    /// Whether the session said that it ends.
    pub ended: bool,
    /// The process that lives as long as the session, and whether it runs.
    pub process: Option<(u32, bool)>,
}

/// Who holds a running step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Holder {
    /// The step's number.
    pub step: u32,
    /// The claim; absent if nobody laid one.
    pub claimed_by: Option<Claim>,
    /// Whether the holder is the caller.
    pub own: bool,
    /// Whether the caller is the same session that holds it, and so knows how far it got.
    #[serde(skip)]
    pub is_this_session: bool,
    /// Milliseconds since it was claimed.
    pub held_ms: Option<u64>,
    /// Milliseconds since the holder was last heard of.
    pub silent_ms: Option<u64>,
    /// Whether there is evidence that nobody works on it any more.
    pub stale: bool,
    /// The evidence for it, or against it.
    pub evidence: String,
    /// The command that takes the step over, if it is somebody else's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub take: Option<String>,
    /// The commands that may end the step, most wanted first.
    #[serde(skip)]
    pub ends: Vec<String>,
}

impl Holder {
    /// Judges a claim from the caller's point of view by what is known about it.
    pub(crate) fn of(
        step: u32,
        claim: Option<&Claim>,
        asking: &Claim,
        signs: &Signs,
        stale_after_ms: u64,
    ) -> Self {
        let own = claim.is_some_and(|claim| claim.is_held_by(asking));
        let heard = [signs.held_ms, signs.changed_ms, signs.seen_ms];
        let silent_ms = heard.into_iter().flatten().min();
        let (stale, evidence) = match (claim, own) {
            (None, _) => (true, "nobody has claimed it".to_owned()),
            (Some(_), true) => (false, "it is yours".to_owned()),
            (Some(_), false) => assess(signs, silent_ms, stale_after_ms),
        };
        let take = (claim.is_some() && !own).then(|| format!("statedir step take {step}"));
        let held_ms = signs.held_ms;
        let (claimed_by, is_this_session) = (claim.cloned(), false);
        let ends = Vec::new();
        Self {
            step,
            claimed_by,
            own,
            is_this_session,
            held_ms,
            silent_ms,
            stale,
            evidence,
            take,
            ends,
        }
    }

    /// Whether somebody else is at work.
    pub(crate) fn is_held(&self) -> bool {
        self.claimed_by.is_some() && !self.own && !self.stale
    }

    /// Whether somebody else claimed it, at work or not.
    pub(crate) fn is_foreign(&self) -> bool {
        self.claimed_by.is_some() && !self.own
    }

    /// Who holds it and for how long: `ada@build7 for 2h`.
    pub(crate) fn who(&self) -> String {
        let Some(claim) = &self.claimed_by else { return "nobody".to_owned() };
        match self.held_ms {
            Some(held) => format!("{claim} for {}", format_age(held)),
            None => claim.to_string(),
        }
    }

    /// The remark behind a step in a list: `by ada@build7 for 2h`.
    pub(crate) fn remark(&self) -> String {
        match self.claimed_by {
            Some(_) => format!("by {}", self.phrase()),
            None => self.evidence.clone(),
        }
    }

    /// The same in one phrase with the evidence: `ada@build7 for 2h; stale: its session ended`.
    pub(crate) fn phrase(&self) -> String {
        match (self.is_foreign(), self.stale) {
            (false, _) => self.who(),
            (true, true) => format!("{}; stale: {}", self.who(), self.evidence),
            (true, false) => format!("{}; {}", self.who(), self.evidence),
        }
    }
}

/// Whether the holder is gone, and how one can tell.
fn assess(signs: &Signs, silent_ms: Option<u64>, stale_after_ms: u64) -> (bool, String) {
    // A change after the session has ended was made by one that continues. Signs of life are not
    // recorded with every change, so changes soon after one say nothing new about its process.
    let went_on = |later_ms: u64| {
        let (Some(changed), Some(seen)) = (signs.changed_ms, signs.seen_ms) else { return false };
        changed.saturating_add(later_ms) < seen
    };
    if signs.ended && !went_on(1000) {
        let ago = signs.seen_ms.map(|ms| format!(" {} ago", format_age(ms))).unwrap_or_default();
        return (true, format!("its session ended{ago}"));
    }
    match signs.process {
        Some((pid, false)) if !went_on(SIGN_EVERY_MS + 1000) => {
            return (true, format!("its process {pid} is gone"));
        }
        Some((pid, true)) => return (false, format!("its process {pid} is running")),
        _ => {}
    }
    let limit = format_duration(stale_after_ms);
    match silent_ms {
        Some(_) if signs.ahead_ms >= CLOCKS_AGREE_MS => {
            let ahead = format_age(signs.ahead_ms);
            (false, format!("last sign of life {ahead} in the future, by this machine's clock"))
        }
        None => (true, "there is no record of when it was last at work".to_owned()),
        Some(silent) if silent >= stale_after_ms => {
            (true, format!("no sign of life for {}, more than {limit}", format_age(silent)))
        }
        Some(silent) => (false, format!("last sign of life {} ago", format_age(silent))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: u64 = 3_600_000;

    fn holder_with(signs: &Signs) -> Holder {
        let claim = Claim::parse("ada@h (session s1)");
        let asking = Claim::parse("ada@h (session s2)");
        Holder::of(1, Some(&claim), &asking, signs, HOUR)
    }

    #[test]
    fn a_claim_is_stale_when_nothing_was_heard_for_long() {
        let signs = Signs { held_ms: Some(5 * HOUR), ..Signs::default() };
        let holder = holder_with(&signs);
        assert!(holder.stale && holder.is_foreign() && !holder.is_held());
        assert_eq!(holder.take.as_deref(), Some("statedir step take 1"));
        assert!(holder.phrase().contains("stale: no sign of life for 5h"), "{}", holder.phrase());
        for recent in [
            Signs { changed_ms: Some(60_000), ..signs.clone() },
            Signs { seen_ms: Some(60_000), ..signs.clone() },
        ] {
            assert!(holder_with(&recent).is_held());
        }
    }

    #[test]
    fn a_process_speaks_louder_than_silence() {
        let silent = Signs { held_ms: Some(5 * HOUR), ..Signs::default() };
        assert!(holder_with(&Signs { process: Some((7, true)), ..silent }).is_held());
        let fresh = Signs { held_ms: Some(1000), ..Signs::default() };
        let gone = holder_with(&Signs { process: Some((7, false)), ..fresh.clone() });
        assert!(gone.stale && gone.evidence.contains("process 7 is gone"));
        // Changes between two signs of life are not the work of one that was started anew.
        let busy = Signs { changed_ms: Some(1000), seen_ms: Some(5500), ..fresh.clone() };
        assert!(holder_with(&Signs { process: Some((7, false)), ..busy.clone() }).stale);
        assert!(holder_with(&busy).is_held());
        let ended = holder_with(&Signs { ended: true, seen_ms: Some(500), ..fresh.clone() });
        assert!(ended.stale && ended.evidence.contains("session ended"));
        // Control: without that evidence the same claim is alive.
        assert!(holder_with(&fresh).is_held());
    }

    #[test]
    fn a_session_that_was_resumed_is_alive_again() {
        let signs = Signs {
            held_ms: Some(2 * HOUR),
            changed_ms: Some(60_000),
            seen_ms: Some(HOUR),
            ended: true,
            process: Some((7, false)),
            ..Signs::default()
        };
        assert!(holder_with(&signs).is_held());
    }

    #[test]
    fn a_clock_that_is_ahead_is_not_evidence_of_silence() {
        let ahead = Signs { held_ms: Some(0), ahead_ms: 3 * HOUR, ..Signs::default() };
        let holder = holder_with(&ahead);
        assert!(holder.is_held());
        assert_eq!(
            holder.evidence,
            "last sign of life 3h 0m in the future, by this machine's clock"
        );
        // A difference that every network has is not worth a word.
        let little = holder_with(&Signs { ahead_ms: 2000, ..ahead });
        assert!(little.is_held() && little.evidence.ends_with("0s ago"), "{}", little.evidence);
    }

    #[test]
    fn ones_own_step_is_never_stale_and_nobodys_is_free() {
        let asking = Claim::parse("ada@h (session s1)");
        let signs = Signs { held_ms: Some(50 * HOUR), ..Signs::default() };
        let own = Holder::of(1, Some(&asking.clone()), &asking, &signs, HOUR);
        assert!(own.own && !own.stale && own.take.is_none());
        let free = Holder::of(1, None, &asking, &signs, HOUR);
        assert!(free.stale && !free.is_foreign() && free.take.is_none());
        assert_eq!(free.remark(), "nobody has claimed it");
        assert_eq!(own.remark(), "by ada@h (session s1) for 2d");
    }
}
