//! Who works on a step: one text form that people can read and that reads back.

use std::{convert::Infallible, fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Who has taken a step: `ada@build7 (session 3f2a91c4) since 2026-01-15T09:00:00Z`.
///
/// Only the name is always there: older states and people write just that. The session tells two
/// agents of the same name apart, the machine two machines. A name that would read as something
/// else is written in double quotes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Claim {
    /// The name under which it was taken.
    pub actor: String,
    /// The machine, if it is known.
    pub host: Option<String>,
    /// The session of an agent, if there is one.
    pub session: Option<String>,
    /// When it was taken, if that is not when the step was started.
    pub since: Option<String>,
}

impl Claim {
    /// A claim of which nothing is known but the name.
    pub fn bare(actor: impl Into<String>) -> Self {
        Self { actor: actor.into(), ..Self::default() }
    }

    /// Reads a claim; any text is at least a name.
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        read(text).unwrap_or_else(|| Self::bare(text))
    }

    /// The session; an agent that has no other name goes by that of its session.
    pub fn session_name(&self) -> &str {
        self.session.as_deref().unwrap_or(&self.actor)
    }

    /// Whether it is a name alone, which says nothing about machine and session.
    pub fn is_bare(&self) -> bool {
        self.host.is_none() && self.session.is_none()
    }

    /// Whether it was taken under that name. An older state may have `ada@example.com` as a name.
    pub fn is_by(&self, actor: &str) -> bool {
        self.actor == actor || (self.session.is_none() && self.name() == actor)
    }

    /// Whether that is the one who holds it: the same name in the same session, or on the same
    /// machine where neither has a session. A bare claim belongs to everybody of that name.
    pub fn is_held_by(&self, other: &Self) -> bool {
        if !self.is_by(&other.actor) {
            return false;
        }
        match (&self.session, &other.session) {
            (Some(own), Some(session)) => own == session,
            (Some(own), None) => *own == other.actor,
            (None, Some(session)) => self.is_bare() || *session == self.actor,
            (None, None) => {
                self.is_bare()
                    || self.may_be_on(other.host.as_deref())
                    || self.name() == other.actor
            }
        }
    }

    /// Whether it was taken on that machine, as far as one can tell. Older states have only the first
    /// part of a machine's name.
    pub fn may_be_on(&self, machine: Option<&str>) -> bool {
        let (Some(own), Some(machine)) = (self.host.as_deref(), machine) else { return true };
        let is_beginning = |short: &str, full: &str| {
            !short.contains('.')
                && full.strip_prefix(short).is_some_and(|rest| rest.starts_with('.'))
        };
        own == machine || is_beginning(own, machine) || is_beginning(machine, own)
    }

    /// Name and machine: `ada@build7`.
    pub fn name(&self) -> String {
        match &self.host {
            Some(host) => format!("{}@{host}", self.actor),
            None => self.actor.clone(),
        }
    }

    fn write(&self, actor: &str) -> String {
        let mut text = actor.to_owned();
        if let Some(host) = &self.host {
            text.push_str(&format!("@{host}"));
        }
        if let Some(session) = &self.session {
            text.push_str(&format!(" (session {session})"));
        }
        if let Some(since) = &self.since {
            text.push_str(&format!(" since {since}"));
        }
        text
    }
}

/// The form that reads back.
impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = self.write(&self.actor);
        if Self::parse(&plain) == *self && !plain.contains(SEPARATOR) {
            return f.write_str(&plain);
        }
        // The bookkeeping of a step has a dot between its parts: there is none inside of quotes.
        let quoted = serde_json::Value::from(self.actor.as_str()).to_string();
        f.write_str(&self.write(&quoted.replace(SEPARATOR, "\\u00b7")))
    }
}

const SEPARATOR: char = '·';

fn read(text: &str) -> Option<Claim> {
    let (rest, since) = match text.rsplit_once(" since ") {
        Some((rest, time)) if is_time(time) => (rest, Some(time.to_owned())),
        _ => (text, None),
    };
    let session = rest.strip_suffix(')').and_then(|rest| rest.rsplit_once(" (session "));
    let (name, session) = match session {
        Some((name, session)) if is_word(session) => (name, Some(session.to_owned())),
        _ => (rest, None),
    };
    let (actor, host) = if name.starts_with('"') {
        let end = closing_quote(name)?;
        let actor = serde_json::from_str::<String>(&name[..end]).ok()?;
        match &name[end..] {
            "" => (actor, None),
            host => (actor, Some(host.strip_prefix('@').filter(|host| is_word(host))?.to_owned())),
        }
    } else {
        match name.rsplit_once('@') {
            Some((actor, host)) if is_word(host) => (actor.to_owned(), Some(host.to_owned())),
            _ => (name.to_owned(), None),
        }
    };
    let is_name = !actor.is_empty() && actor.trim() == actor;
    is_name.then_some(Claim { actor, host, session, since })
}

/// The place after the quote that ends the string at the beginning.
fn closing_quote(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// A word that can be the name of a machine or a session.
fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':'))
}

fn is_time(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | ':' | '.' | '+'))
}

impl FromStr for Claim {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self::parse(text))
    }
}

/// Its text.
impl Serialize for Claim {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Claim {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self::parse(&text))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn claim(actor: &str, host: &str, session: &str) -> Claim {
        let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        Claim { actor: actor.to_owned(), host: some(host), session: some(session), since: None }
    }

    #[test]
    fn a_claim_is_written_as_people_read_it() {
        let mut full = claim("ada", "build7", "3f2a91c4");
        assert_eq!(full.to_string(), "ada@build7 (session 3f2a91c4)");
        full.since = Some("2026-01-15T09:00:00Z".to_owned());
        assert_eq!(full.to_string(), "ada@build7 (session 3f2a91c4) since 2026-01-15T09:00:00Z");
        assert_eq!(Claim::parse(&full.to_string()), full);
        assert_eq!(Claim::bare("ada").to_string(), "ada");
    }

    #[test]
    fn any_text_is_at_least_a_name() {
        for name in ["ada", "Ada Lovelace", "(session x)", "since 2026", "\"open", "@", "x@ y"] {
            assert_eq!(Claim::parse(name), Claim::bare(name), "{name}");
        }
    }

    #[test]
    fn a_name_that_looks_like_more_is_quoted() {
        let mail = claim("ada@example.com", "", "");
        assert_eq!(mail.to_string(), "\"ada@example.com\"");
        assert_eq!(Claim::parse(&mail.to_string()), mail);
        let older = Claim::parse("ada@example.com");
        assert!(older.is_by("ada@example.com") && older.is_held_by(&mail));
        assert!(!Claim::bare("a · b").to_string().contains('·'));
    }

    #[test]
    fn the_same_name_in_two_sessions_is_two_holders() {
        let one = claim("ada", "h", "s1");
        assert!(one.is_held_by(&claim("ada", "h", "s1")));
        assert!(one.is_held_by(&claim("ada", "other", "s1")), "a session may move");
        assert!(!one.is_held_by(&claim("ada", "h", "s2")));
        assert!(!one.is_held_by(&claim("bob", "h", "s1")));
        assert!(!one.is_held_by(&claim("ada", "h", "")));
        assert!(!claim("ada", "h", "").is_held_by(&claim("ada", "h", "s1")));
        assert!(!claim("ada", "h", "").is_held_by(&claim("ada", "i", "")));
        assert!(claim("ada", "h", "").is_held_by(&claim("ada", "h", "")));
        assert!(!claim("ada", "h.x", "").is_held_by(&claim("ada", "h.y", "")));
        assert!(
            claim("ada", "h", "").is_held_by(&claim("ada", "h.x", "")),
            "as older states have it"
        );
        assert!(!claim("ada", "h", "").is_held_by(&claim("ada", "h2.x", "")));
    }

    #[test]
    fn a_bare_name_belongs_to_everybody_who_has_it() {
        let bare = Claim::bare("ada");
        assert!(bare.is_held_by(&claim("ada", "h", "s1")));
        assert!(bare.is_held_by(&claim("ada", "h", "")));
        assert!(!bare.is_held_by(&claim("bob", "h", "")));
    }

    proptest! {
        #[test]
        fn every_claim_reads_back(
            actor in "[^\\p{Cc}\\s]|[^\\p{Cc}\\s][^\\p{Cc}]{0,20}[^\\p{Cc}\\s]|[ab@\"() ·\\\\]{1,12}x",
            host in proptest::option::of("[a-z][a-z0-9.-]{0,8}"),
            session in proptest::option::of("[a-z0-9_-]{1,12}"),
            since in proptest::option::of(Just("2026-01-15T09:00:00Z".to_owned())),
        ) {
            prop_assume!(actor.trim() == actor);
            let claim = Claim { actor, host, session, since };
            let text = claim.to_string();
            prop_assert_eq!(Claim::parse(&text), claim, "{}", text);
            prop_assert!(!text.contains('·'));
        }
    }
}
