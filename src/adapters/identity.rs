//! Who acts: one answer for the command line, the hooks and the MCP server, so that one session
//! never acts under two names.
//!
//! | | actor | session |
//! |---|---|---|
//! | 1 | `--actor`, or `actor` of an MCP call | `$STATEDIR_SESSION` |
//! | 2 | `$STATEDIR_ACTOR` | the id that a client puts into the environment |
//! | 3 | the session | the id in a hook's event |
//! | 4 | the MCP client with a word for its server | the same |
//! | 5 | `$USER`, `$LOGNAME`, the name of the user id | none: a person |

use std::io::IsTerminal as _;

use crate::{
    store::{Hash, Process},
    workspace::Identity,
};

/// Where clients put the id of their session.
pub(crate) const SESSION_VARIABLES: [&str; 5] = [
    "STATEDIR_SESSION",
    "CLAUDE_CODE_SESSION_ID",
    "COPILOT_AGENT_SESSION_ID",
    "CODEX_THREAD_ID",
    "GEMINI_SESSION_ID",
];

/// What an adapter knows about who acts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Acting<'a> {
    /// The actor that was named explicitly.
    pub actor: Option<&'a str>,
    /// The id of the session in a hook's event.
    pub event_session: Option<&'a str>,
    /// The client of an MCP server, with a word that tells this server from others.
    pub client: Option<&'a str>,
}

/// Decides who acts.
pub(crate) fn identify(acting: &Acting<'_>) -> Identity {
    identify_with(acting, variable)
}

fn identify_with(acting: &Acting<'_>, variable: impl Fn(&str) -> Option<String>) -> Identity {
    let in_environment = SESSION_VARIABLES.iter().find_map(|name| variable(name));
    let session = in_environment
        .as_deref()
        .and_then(session_name)
        .or_else(|| acting.event_session.and_then(session_name));
    let given = acting.actor.map(str::to_owned).or_else(|| variable("STATEDIR_ACTOR"));
    let session = session.or_else(|| acting.client.map(str::to_owned));
    let person = || {
        let named = variable("USER").or_else(|| variable("LOGNAME"));
        named.unwrap_or_else(user_name)
    };
    Identity {
        actor: given.or_else(|| session.clone()).unwrap_or_else(person),
        host: variable("STATEDIR_HOST").or_else(host).and_then(|name| word(&name)),
        // A server lives as long as its client; the process of a command says nothing.
        process: acting.client.and_then(|_| Process::current()),
        is_at_terminal: acting.client.is_none() && std::io::stdin().is_terminal(),
        session,
        via: None,
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|text| !text.trim().is_empty())
}

/// The id of a session as a short word that can be an actor and a file name.
///
/// Of a UUID eight digits are enough to tell sessions apart: the first ones, or the last ones
/// where the first are a time. Of another long id the beginning is kept, and what stands for the rest.
pub(crate) fn session_name(id: &str) -> Option<String> {
    let is_word = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let clean: String = id.chars().filter(is_word).collect();
    let clean = clean.trim_start_matches('-');
    let parts: Vec<&str> = clean.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    let short: String = match (lengths.as_slice(), parts.as_slice()) {
        ([8, 4, 4, 4, 12], [.., version, _, last]) if version.starts_with('7') => {
            last.chars().skip(4).collect()
        }
        ([8, 4, 4, 4, 12], [first, ..]) => (*first).to_owned(),
        _ if clean.len() <= 24 => clean.to_owned(),
        _ => format!("{}-{:.8}", &clean[..15], Hash::of(clean.as_bytes()).to_string()),
    };
    (!short.is_empty()).then_some(short)
}

/// The name that belongs to the user id, or the id itself.
fn user_name() -> String {
    let id = rustix::process::getuid().as_raw().to_string();
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let named = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next().filter(|name| !name.is_empty())?;
        (fields.nth(1)? == id).then(|| name.to_owned())
    });
    named.unwrap_or_else(|| format!("uid-{id}"))
}

fn host() -> Option<String> {
    let name = rustix::system::uname();
    Some(name.nodename().to_string_lossy().into_owned()).filter(|name| !name.is_empty())
}

/// A machine's name in full, as a word: the first part alone does not tell machines apart.
fn word(name: &str) -> Option<String> {
    let is_word = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let word: String = name.chars().filter(is_word).take(100).collect();
    Some(word.trim_matches('.').to_owned()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(acting: Acting<'_>, variables: &[(&str, &str)]) -> Identity {
        identify_with(&acting, |name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn a_session_goes_by_one_name_in_shell_hook_and_server() {
        let id = "3f2a91c4-1111-4222-8333-444455556666";
        let shell = with(Acting::default(), &[("CLAUDE_CODE_SESSION_ID", id), ("USER", "ada")]);
        let event = Acting { event_session: Some(id), ..Acting::default() };
        let hook = with(event, &[("USER", "ada")]);
        let client = Acting { client: Some("claude-code-12ab"), ..Acting::default() };
        let server = with(client, &[("CLAUDE_CODE_SESSION_ID", id)]);
        for identity in [shell, hook, server] {
            assert_eq!(identity.actor, "3f2a91c4");
            assert_eq!(identity.session.as_deref(), Some("3f2a91c4"));
        }
    }

    #[test]
    fn a_name_that_was_given_keeps_the_session() {
        let named = Acting { actor: Some("ada"), ..Acting::default() };
        let identity = with(named, &[("STATEDIR_SESSION", "s1"), ("STATEDIR_HOST", "h.example")]);
        assert_eq!(identity.claim().to_string(), "ada@h.example (session s1)");
        let own = with(Acting::default(), &[("STATEDIR_SESSION", "s1"), ("STATEDIR_HOST", "h")]);
        assert_eq!(own.claim().to_string(), "s1@h");
    }

    #[test]
    fn somebody_without_a_session_is_a_person_and_always_has_a_name() {
        let ada = with(Acting::default(), &[("USER", "ada")]);
        assert_eq!((ada.actor.as_str(), ada.session), ("ada", None));
        let nobody = with(Acting::default(), &[]);
        assert!(!nobody.actor.is_empty() && nobody.actor != "unknown");
    }

    #[test]
    fn the_times_in_an_id_do_not_tell_sessions_apart() {
        let one = session_name("019a3c4e-0001-7aaa-8bbb-0000111122aa").unwrap();
        let two = session_name("019a3c4e-0001-7aaa-8bbb-0000111133bb").unwrap();
        assert_eq!((one.as_str(), two.as_str()), ("111122aa", "111133bb"));
        let long = |end: &str| {
            session_name(&format!("run-2026-11-17-of-the-nightly-build-{end}")).unwrap()
        };
        assert_ne!(long("1"), long("2"));
        assert!(long("1").starts_with("run-2026-11-17-") && long("1").len() == 24, "{}", long("1"));
        assert_eq!(session_name("--actor"), Some("actor".to_owned()));
        assert_eq!(session_name(" / "), None);
    }
}
