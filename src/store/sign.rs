//! Signs of life: when a session was last seen at this state, and by which process.
//!
//! A sign is a small file in the private directory that is replaced without a sync. Losing one
//! loses evidence, never state.

use std::{io, path::Path};

use serde::{Deserialize, Serialize};

use super::{Directory, Kind, Store, log::hash, private_directory};

/// The directory of the signs in the store's own.
const SIGNS: &str = "signs";
/// How many sessions leave one.
const MOST: usize = 64;
/// The largest that is read.
const LIMIT: u64 = 4 << 10;

/// What a session left behind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Sign {
    /// When.
    pub time: String,
    /// Whether it has ended.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ended: bool,
    /// The process that lives as long as the session, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<Process>,
}

/// A process that no other is mistaken for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Process {
    /// Its number.
    pub pid: u32,
    /// Tells machines, and containers on one machine, apart.
    pub place: String,
    /// Its start and that of the machine: a number is used again.
    pub born: String,
}

impl Process {
    /// This very process; `None` where the system does not tell.
    pub(crate) fn this() -> Option<Self> {
        let pid = std::process::id();
        Some(Self { pid, place: place()?, born: born(pid)? })
    }

    /// Whether it still runs; `None` if that cannot be told from here.
    pub(crate) fn is_running(&self) -> Option<bool> {
        if place()? != self.place {
            return None;
        }
        match std::fs::metadata(format!("/proc/{}", self.pid)) {
            Ok(_) => Some(born(self.pid)? == self.born),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Some(false),
            Err(_) => None,
        }
    }
}

/// The machine and the space of process numbers: only inside of it do numbers mean the same.
fn place() -> Option<String> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let space = std::fs::read_link("/proc/self/ns/pid").ok()?;
    let machine = read("/etc/machine-id").unwrap_or_default();
    let host = read("/proc/sys/kernel/hostname")?;
    let text = format!("{}\0{}\0{}", machine.trim(), host.trim(), space.display());
    Some(hash::hex_prefix(text.as_bytes(), 8))
}

fn born(pid: u32) -> Option<String> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may hold blanks and brackets; the start is the twentieth word after it.
    let start = stat.rsplit_once(')')?.1.split_whitespace().nth(19)?;
    Some(hash::hex_prefix(format!("{}\0{start}", boot.trim()).as_bytes(), 8))
}

impl Store {
    /// The last sign of a session; nothing in a directory that may have come with a clone.
    pub(crate) fn sign(&self, session: &str) -> Option<Sign> {
        if !self.uses_private_directory() {
            return None;
        }
        let bytes = signs(&self.layout.dir).ok()??.read(file_name(session), LIMIT).ok()??;
        serde_json::from_slice(&bytes).ok()
    }

    /// Leaves a sign where there is a state that is in use.
    ///
    /// # Errors
    /// The disk fails, or something else is where the signs belong.
    pub(crate) fn leave_sign(&self, session: &str, sign: &Sign) -> io::Result<()> {
        if !self.uses_private_directory() {
            return Ok(());
        }
        let Some(private) = private_directory(&self.layout.dir)? else { return Ok(()) };
        let dir = private.open_or_create_dir(SIGNS)?;
        let name = file_name(session);
        let is_first = dir.stat(&name)?.is_none();
        dir.replace(&name, &serde_json::to_vec(sign)?)?;
        if is_first {
            prune(&dir);
        }
        Ok(())
    }
}

fn prune(dir: &Directory) {
    let names = dir.list().unwrap_or_default().into_iter();
    let mut files: Vec<_> = names
        .filter_map(|name| {
            let stat = dir.stat(&name).ok()??;
            (stat.kind != Kind::Directory).then_some((stat.mtime, name))
        })
        .collect();
    files.sort();
    let surplus = files.len().saturating_sub(MOST);
    for (_, name) in files.into_iter().take(surplus) {
        let _ = dir.remove(name);
    }
}

fn signs(state: &Path) -> io::Result<Option<Directory>> {
    match private_directory(state)? {
        Some(private) => private.open_dir(SIGNS),
        None => Ok(None),
    }
}

/// A file for every session, also for one whose name is no file name.
fn file_name(session: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    match !session.is_empty() && session.len() <= 64 && session.chars().all(is_plain) {
        true => format!("{session}.json"),
        false => format!("h{}.json", hash::hex_prefix(session.as_bytes(), 16)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_told_from_another_with_its_number() {
        let Some(this) = Process::this() else { return };
        assert_eq!(this.is_running(), Some(true));
        let reused = Process { born: "00000000".to_owned(), ..this.clone() };
        assert_eq!(reused.is_running(), Some(false));
        let elsewhere = Process { place: "00000000".to_owned(), ..this };
        assert_eq!(elsewhere.is_running(), None, "another machine: nothing can be told");
    }

    #[test]
    fn a_process_that_has_ended_is_gone() {
        let Some(this) = Process::this() else { return };
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let process = Process { pid: child.id(), born: born(child.id()).unwrap(), ..this };
        assert_eq!(process.is_running(), Some(true));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(process.is_running(), Some(false));
    }

    #[test]
    fn every_session_has_a_file_of_its_own() {
        assert_eq!(file_name("3f2a91c4"), "3f2a91c4.json");
        assert!(!file_name("../x").contains('/'));
        assert_ne!(file_name("a b"), file_name("a/b"));
    }
}
