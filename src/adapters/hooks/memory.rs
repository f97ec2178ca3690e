//! What a session has been told, so that it is told only once.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

/// How many sessions are remembered.
const MOST_SESSIONS: usize = 32;
/// The largest memory that is read.
const LIMIT: u64 = 256 << 10;
/// How many things that were said once are remembered.
const MOST_TOLD: usize = 100;

/// What one session knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// The rules in force when it was last told, a line each; absent if it never was.
    pub rules: Option<Vec<String>>,
    /// What it was told once.
    pub told: Vec<String>,
    /// The limits it was asked about. A compaction makes an agent forget, but not a person.
    pub asked: Vec<String>,
    /// Whether the session's commands act under its name.
    pub linked: bool,
}

impl Memory {
    /// What is remembered; nothing if there is no memory or it cannot be read.
    pub fn load(state: &Path, session: &str) -> Self {
        let path = path(state, session);
        let small = fs::symlink_metadata(&path).is_ok_and(|m| m.is_file() && m.len() <= LIMIT);
        let bytes = if small { fs::read(&path).ok() } else { None };
        bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    /// Remembers that something was said; `false` if it was already.
    pub fn tell(&mut self, what: &str) -> bool {
        once(&mut self.told, what)
    }

    /// Remembers that a person was asked about a limit; `false` if one was already.
    pub fn ask(&mut self, limit: &str) -> bool {
        once(&mut self.asked, limit)
    }

    /// Writes it down, where there is a state that is in use.
    ///
    /// # Errors
    /// The disk fails.
    pub fn save(&self, state: &Path, session: &str) -> io::Result<()> {
        if !state.join(".statedir").is_dir() {
            return Ok(());
        }
        let path = path(state, session);
        let dir = path.parent().unwrap_or(state);
        if !dir.is_dir() {
            fs::create_dir(dir)?;
        }
        // Two hooks of one session can run at once: each writes a file of its own first.
        let new = path.with_extension(format!("{}.new", std::process::id()));
        fs::write(&new, serde_json::to_vec(self)?)?;
        let is_first = !path.exists();
        fs::rename(&new, &path)?;
        if is_first {
            Self::prune(state);
        }
        Ok(())
    }

    /// Forgets a session that has ended.
    pub fn forget(state: &Path, session: &str) {
        let _ = fs::remove_file(path(state, session));
    }

    /// Forgets the sessions that were silent longest, when there are many.
    pub fn prune(state: &Path) {
        let Ok(entries) = fs::read_dir(directory(state)) else { return };
        let mut files: Vec<_> = entries
            .flatten()
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        files.sort();
        let surplus = files.len().saturating_sub(MOST_SESSIONS);
        for (_, path) in files.into_iter().take(surplus) {
            let _ = fs::remove_file(path);
        }
    }
}

fn once(list: &mut Vec<String>, what: &str) -> bool {
    if list.iter().any(|known| known == what) {
        return false;
    }
    list.push(what.to_owned());
    let surplus = list.len().saturating_sub(MOST_TOLD);
    list.drain(..surplus);
    true
}

fn directory(state: &Path) -> PathBuf {
    state.join(".statedir").join("sessions")
}

fn path(state: &Path, session: &str) -> PathBuf {
    directory(state).join(format!("{session}.json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_remembers_and_is_forgotten() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join(".statedir")).unwrap();
        let mut memory = Memory::load(root.path(), "a");
        assert_eq!(memory, Memory::default());
        assert!(memory.tell("x") && !memory.tell("x"));
        memory.save(root.path(), "a").unwrap();
        assert_eq!(Memory::load(root.path(), "a"), memory);
        assert_eq!(Memory::load(root.path(), "b"), Memory::default());
        for n in 0..MOST_SESSIONS + 5 {
            memory.save(root.path(), &format!("s{n}")).unwrap();
        }
        assert_eq!(fs::read_dir(directory(root.path())).unwrap().count(), MOST_SESSIONS);
        memory.save(root.path(), "a").unwrap();
        Memory::forget(root.path(), "a");
        assert_eq!(Memory::load(root.path(), "a"), Memory::default());
    }

    #[test]
    fn a_damaged_memory_is_an_empty_one() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(directory(root.path())).unwrap();
        fs::write(path(root.path(), "a"), b"{\"told\":7").unwrap();
        assert_eq!(Memory::load(root.path(), "a"), Memory::default());
    }
}
