//! Signs of life: when a session was last seen at this state, and by which process.
//!
//! A sign is a small file in the private directory that is written without a sync. Losing one
//! loses evidence, never state.

use std::io;

use serde::{Deserialize, Serialize};

use super::{Store, log::hash, session_files::SessionFiles};

/// How many shells there may be between a hook and its client.
const MOST_SHELLS: usize = 6;
const SIGNS: SessionFiles =
    SessionFiles { directory: "signs", ending: ".json", most: 64, limit: 4 << 10 };

/// The last sign of life of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct SignOfLife {
    /// When.
    pub time: String,
    /// Whether it has ended.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ended: bool,
    /// The process that lives as long as the session, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<Process>,
    /// The process that seems to be the session's client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<Process>,
    /// Whether it was seen twice: a process that lives only for a moment is not a client.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_confirmed: bool,
}

impl SignOfLife {
    /// The process id of the session's client, if it died without reporting the end of the session.
    pub(crate) fn dead_client(&self) -> Option<u32> {
        let client = self.client.as_ref().filter(|_| self.is_confirmed)?;
        (client.is_running() == Some(false)).then_some(client.pid)
    }

    /// Whether the session goes on, and its client was seen twice and is still there.
    pub(crate) fn is_of_seen_client(&self) -> bool {
        let client = self.client.as_ref().filter(|_| self.is_confirmed && !self.ended);
        client.is_some_and(|client| std::fs::metadata(format!("/proc/{}", client.pid)).is_ok())
    }

    /// Whether the session is known to be over.
    pub(crate) fn is_over(&self) -> bool {
        let is_dead = |process: &Process| process.is_running() == Some(false);
        self.ended || self.process.as_ref().is_some_and(is_dead) || self.dead_client().is_some()
    }
}

/// A process, identified beyond its reusable id.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Process {
    /// Its number.
    pub pid: u32,
    /// The machine, or the container on it, in which the id is valid.
    pub place: String,
    /// When it and the machine were started: process ids are reused.
    #[serde(rename = "born")]
    pub start_time: String,
}

impl Process {
    /// This process; `None` where the system does not support it.
    pub(crate) fn current() -> Option<Self> {
        let pid = std::process::id();
        Some(Self { pid, place: pid_namespace()?, start_time: start_time(pid)? })
    }

    /// The process that started this one, shells between them left out: for a hook, its client.
    pub(crate) fn client() -> Option<Self> {
        const SHELLS: [&str; 8] = ["sh", "bash", "dash", "ash", "zsh", "busybox", "env", "timeout"];
        let mut pid = std::os::unix::process::parent_id();
        for _ in 0..MOST_SHELLS {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            let (name, rest) = stat.split_once('(')?.1.rsplit_once(')')?;
            if pid <= 1 {
                return None;
            }
            if !SHELLS.contains(&name) {
                return Some(Self { pid, place: pid_namespace()?, start_time: start_time(pid)? });
            }
            pid = rest.split_whitespace().nth(1)?.parse().ok()?;
        }
        None
    }

    /// Whether it still runs; `None` if this machine cannot know.
    pub(crate) fn is_running(&self) -> Option<bool> {
        if pid_namespace()? != self.place {
            return None;
        }
        match std::fs::metadata(format!("/proc/{}", self.pid)) {
            Ok(_) => Some(!is_zombie(self.pid) && start_time(self.pid)? == self.start_time),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Some(false),
            Err(_) => None,
        }
    }
}

/// The machine and its pid namespace: process ids are unique only within it.
fn pid_namespace() -> Option<String> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let space = std::fs::read_link("/proc/self/ns/pid").ok()?;
    let machine = read("/etc/machine-id").unwrap_or_default();
    let host = read("/proc/sys/kernel/hostname")?;
    let text = format!("{}\0{}\0{}", machine.trim(), host.trim(), space.display());
    Some(hash::hex_prefix(text.as_bytes(), 8))
}

/// Whether it has ended but was not waited for.
fn is_zombie(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with(['Z', 'X']))
}

fn start_time(pid: u32) -> Option<String> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may hold blanks and brackets; the start is the twentieth word after it.
    let start = stat.rsplit_once(')')?.1.split_whitespace().nth(19)?;
    Some(hash::hex_prefix(format!("{}\0{start}", boot.trim()).as_bytes(), 8))
}

impl Store {
    /// The last sign of a session; nothing in a directory that may have come with a clone.
    pub(crate) fn sign(&self, session: &str) -> Option<SignOfLife> {
        serde_json::from_slice(&SIGNS.read(self.session_directory()?, session)?).ok()
    }

    /// Records a sign, if the state is in use.
    ///
    /// # Errors
    /// The disk fails, or something else is where the signs belong.
    pub(crate) fn record_sign(&self, session: &str, sign: &SignOfLife) -> io::Result<()> {
        let Some(dir) = self.session_directory() else { return Ok(()) };
        SIGNS.write(dir, session, &serde_json::to_vec(sign)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_distinguished_from_another_with_its_number() {
        let Some(this) = Process::current() else { return };
        assert_eq!(this.is_running(), Some(true));
        let reused = Process { start_time: "00000000".to_owned(), ..this.clone() };
        assert_eq!(reused.is_running(), Some(false));
        let elsewhere = Process { place: "00000000".to_owned(), ..this };
        assert_eq!(elsewhere.is_running(), None, "another machine: nothing can be told");
    }

    #[test]
    fn a_client_is_dead_only_where_it_was_seen_twice() {
        let Some(this) = Process::current() else { return };
        let dead = Process { start_time: "00000000".to_owned(), ..this.clone() };
        let sign = |client: &Process, is_confirmed| SignOfLife {
            client: Some(client.clone()),
            is_confirmed,
            ..SignOfLife::default()
        };
        assert!(sign(&dead, true).is_over());
        assert!(!sign(&dead, false).is_over() && !sign(&this, true).is_over());
        assert_ne!(Process::client().map(|client| client.pid), Some(this.pid));
    }

    #[test]
    fn a_process_that_has_ended_is_gone() {
        let Some(this) = Process::current() else { return };
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let process =
            Process { pid: child.id(), start_time: start_time(child.id()).unwrap(), ..this };
        assert_eq!(process.is_running(), Some(true));
        child.kill().unwrap();
        // It was not waited for, so its id is still in use.
        let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while process.is_running() == Some(true) && std::time::Instant::now() < until {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert!(std::fs::metadata(format!("/proc/{}", process.pid)).is_ok());
        assert_eq!(process.is_running(), Some(false));
        child.wait().unwrap();
        assert_eq!(process.is_running(), Some(false));
    }
}
