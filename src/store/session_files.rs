//! Small files in the private directory, one for each session of an agent.
//!
//! They are replaced without a sync: losing one loses what was known about a session, never state.

use std::{io, path::Path};

use super::{Directory, FileKind, Store, log::hash, private_directory};

/// One kind of them.
#[derive(Debug)]
pub(crate) struct SessionFiles {
    /// Their directory in the store's own.
    pub directory: &'static str,
    /// How many sessions are remembered.
    pub most: usize,
    /// The largest that is read.
    pub limit: u64,
}

impl SessionFiles {
    /// What is known of a session at the state directory.
    pub(crate) fn read(&self, state: &Path, session: &str) -> Option<Vec<u8>> {
        self.open(state).ok()??.read(file_name(session), self.limit).ok()?
    }

    /// Writes down what is known of a session, where there is a state that is in use.
    ///
    /// # Errors
    /// The disk fails, or something else is where the files belong.
    pub(crate) fn write(&self, state: &Path, session: &str, bytes: &[u8]) -> io::Result<()> {
        let Some(private) = private_directory(state)? else { return Ok(()) };
        let dir = private.open_or_create_dir(self.directory)?;
        let name = file_name(session);
        let is_first = dir.stat(&name)?.is_none();
        dir.replace(&name, bytes)?;
        if is_first {
            self.prune_in(&dir);
        }
        Ok(())
    }

    /// What is known of the sessions that wrote last, the newest first.
    pub(super) fn newest(&self, state: &Path, count: usize) -> Vec<Vec<u8>> {
        let Ok(Some(dir)) = self.open(state) else { return Vec::new() };
        let read = |(_, name)| dir.read(name, self.limit).ok()?;
        newest_first(&dir).into_iter().take(count).filter_map(read).collect()
    }

    /// Forgets a session.
    pub(crate) fn remove(&self, state: &Path, session: &str) {
        if let Ok(Some(dir)) = self.open(state) {
            let _ = dir.remove(file_name(session));
        }
    }

    /// Forgets the sessions that were silent longest, when there are many.
    pub(crate) fn prune(&self, state: &Path) {
        if let Ok(Some(dir)) = self.open(state) {
            self.prune_in(&dir);
        }
    }

    fn prune_in(&self, dir: &Directory) {
        for (_, name) in newest_first(dir).into_iter().skip(self.most) {
            let _ = dir.remove(name);
        }
    }

    fn open(&self, state: &Path) -> io::Result<Option<Directory>> {
        match private_directory(state)? {
            Some(private) => private.open_dir(self.directory),
            None => Ok(None),
        }
    }
}

fn newest_first(dir: &Directory) -> Vec<(i64, String)> {
    let names = dir.list().unwrap_or_default().into_iter();
    let mut files: Vec<_> = names
        .filter_map(|name| {
            let stat = dir.stat(&name).ok()??;
            (stat.kind != FileKind::Directory).then_some((stat.mtime, name))
        })
        .collect();
    files.sort();
    files.reverse();
    files
}

/// A file for every session, also for one whose name is not a file name.
fn file_name(session: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    match !session.is_empty() && session.len() <= 64 && session.chars().all(is_plain) {
        true => format!("{session}.json"),
        false => format!("h{}.json", hash::hex_prefix(session.as_bytes(), 16)),
    }
}

const LISTS: SessionFiles = SessionFiles { directory: "lists", most: 32, limit: 1 << 20 };

impl Store {
    /// Where what is known of sessions is read; not in a directory that may have come with a clone.
    pub(super) fn session_directory(&self) -> Option<&Path> {
        self.uses_private_directory().then_some(self.layout.dir.as_path())
    }

    /// The task list of a session's client, as it was last seen.
    pub(crate) fn task_list(&self, session: &str) -> Option<Vec<u8>> {
        LISTS.read(self.session_directory()?, session)
    }

    /// The lists that were written last, the newest first.
    pub(crate) fn newest_task_lists(&self, count: usize) -> Vec<Vec<u8>> {
        self.session_directory().map(|dir| LISTS.newest(dir, count)).unwrap_or_default()
    }

    /// Keeps the list of a session, where there is a state that is in use.
    ///
    /// # Errors
    /// The disk fails, or something else is where the lists belong.
    pub(crate) fn keep_task_list(&self, session: &str, bytes: &[u8]) -> io::Result<()> {
        self.session_directory().map_or(Ok(()), |dir| LISTS.write(dir, session, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_session_has_a_file_of_its_own() {
        assert_eq!(file_name("3f2a91c4"), "3f2a91c4.json");
        assert!(!file_name("../x").contains('/'));
        assert_ne!(file_name("a b"), file_name("a/b"));
    }
}
