//! Time, actor and chance, from one place that the caller controls.

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    sync::Mutex,
};

use jiff::Timestamp;

use crate::{domain::Claim, store::Process};

/// Who acts: the name, and what tells two of that name apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Identity {
    /// The name.
    pub actor: String,
    /// The machine, if it is known.
    pub host: Option<String>,
    /// The session of an agent. Whoever has none is taken for a person.
    pub session: Option<String>,
    /// The process that lives as long as the session, where there is one.
    pub process: Option<Process>,
    /// Whether somebody sits at a terminal.
    pub is_at_terminal: bool,
    /// Where a change was asked for, if not on a command line: entries of the history say so.
    pub via: Option<&'static str>,
}

impl Identity {
    /// Somebody of whom only the name is known.
    pub(crate) fn named(actor: impl Into<String>) -> Self {
        Self { actor: actor.into(), ..Self::default() }
    }

    /// The claim that whoever acts lays on a step. A session that goes by its own name is not
    /// written twice.
    pub(crate) fn claim(&self) -> Claim {
        let session = self.session.clone().filter(|session| *session != self.actor);
        Claim { actor: self.actor.clone(), host: self.host.clone(), session, since: None }
    }
}

/// Everything a command takes from the world besides its arguments and the files.
#[derive(Debug)]
pub struct Environment {
    now: Timestamp,
    identity: Identity,
    random: Mutex<u64>,
}

impl Environment {
    /// An environment with everything given, for output that is reproducible to the byte.
    pub fn fixed(now: Timestamp, actor: impl Into<String>, seed: u64) -> Self {
        Self { now, identity: Identity::named(actor), random: Mutex::new(seed) }
    }

    /// The same for somebody of whom more is known than the name.
    #[must_use]
    pub(crate) fn acting_as(self, identity: Identity) -> Self {
        Self { identity, ..self }
    }

    /// The real clock and real chance.
    pub fn real(actor: impl Into<String>) -> Self {
        // The hasher's keys come from the operating system: enough for ids, and no crate for it.
        Self::fixed(Timestamp::now(), actor, RandomState::new().build_hasher().finish())
    }

    /// The same moment and actor with chance of its own, for work in another directory.
    #[must_use]
    pub(crate) fn again(&self) -> Self {
        Self::fixed(self.now, "", self.random()).acting_as(self.identity.clone())
    }

    /// Who acts.
    pub fn actor(&self) -> &str {
        &self.identity.actor
    }

    /// Who acts, with all that is known.
    pub(crate) fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The moment of the command.
    pub(crate) fn timestamp(&self) -> Timestamp {
        self.now
    }

    /// When the command runs, to the second.
    pub fn now(&self) -> String {
        format_time(self.now)
    }

    /// When the command runs, in milliseconds since 1970.
    pub(crate) fn millis(&self) -> u64 {
        u64::try_from(self.now.as_millisecond()).unwrap_or(0)
    }

    /// The milliseconds since 1970 that `time` says, or those of now where it says none.
    pub(crate) fn millis_at(&self, time: &str) -> u64 {
        let then = time.parse::<Timestamp>().ok().filter(|_| time != self.now());
        let then = then.and_then(|then| u64::try_from(then.as_millisecond()).ok());
        then.unwrap_or_else(|| self.millis())
    }

    /// Milliseconds since `time`, if it can be read and lies in the past.
    pub(crate) fn since(&self, time: &str) -> Option<u64> {
        millis_between(time, self.now)
    }

    /// The moment `millis` ago.
    pub(crate) fn ago(&self, millis: u64) -> String {
        let then = self.now.as_millisecond().saturating_sub_unsigned(millis);
        format_time(Timestamp::from_millisecond(then).unwrap_or(Timestamp::MIN))
    }

    /// Mixes `text` into the seed, so that a fixed seed gives new ids on every revision.
    pub(crate) fn mix_in(&self, text: &str) {
        let mut state = self.lock();
        for byte in text.bytes() {
            *state = (*state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        }
    }

    /// Sixty-four random bits.
    pub(crate) fn random(&self) -> u64 {
        let mut state = self.lock();
        *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = *state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, u64> {
        self.random.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Milliseconds from `time` to `now`, if it can be read and lies in the past.
pub(crate) fn millis_between(time: &str, now: Timestamp) -> Option<u64> {
    let then: Timestamp = time.parse().ok()?;
    u64::try_from(now.as_millisecond() - then.as_millisecond()).ok()
}

pub(super) fn format_time(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixed_environment_repeats_itself_and_stirring_changes_it() {
        let one = Environment::fixed(Timestamp::UNIX_EPOCH, "a", 7);
        let two = Environment::fixed(Timestamp::UNIX_EPOCH, "a", 7);
        assert_eq!(one.random(), two.random());
        two.mix_in("revision");
        assert_ne!(one.random(), two.random());
        assert_eq!(one.now(), "1970-01-01T00:00:00Z");
    }
}
