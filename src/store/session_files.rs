//! Small files in the private directory, one for each session of an agent.
//!
//! They are written without a sync: losing one loses what was known about a session, never state.
//! Each is a line with a checksum. A short one is written over what was there, because a new file
//! costs more than all the rest: where many files were removed lately, a file system searches long
//! for a place. Whoever reads half of one takes it for none.

use std::{
    io,
    os::unix::fs::{FileExt as _, MetadataExt as _},
    path::Path,
};

use super::{
    Directory, FileKind, Store,
    disk::Access,
    log::{hash, record},
    private_directory,
};

/// What is written at once even if the writer is killed.
const PAGE: usize = 4096;
/// How often a file is read that somebody may be writing.
const READINGS: usize = 3;

/// One kind of them.
#[derive(Debug)]
pub(crate) struct SessionFiles {
    /// Their directory in the store's own.
    pub directory: &'static str,
    /// How their names end; kinds can share a directory.
    pub ending: &'static str,
    /// How many sessions are remembered.
    pub most: usize,
    /// The largest that is read.
    pub limit: u64,
}

impl SessionFiles {
    /// What is known of a session at the state directory.
    pub(crate) fn read(&self, state: &Path, session: &str) -> Option<Vec<u8>> {
        self.read_below(&private_directory(state).ok()??, session)
    }

    fn read_below(&self, private: &Directory, session: &str) -> Option<Vec<u8>> {
        self.read_in(&private.open_dir(self.directory).ok()??, &self.file_name(session))
    }

    /// Writes down what is known of a session, where there is a state that is in use.
    ///
    /// # Errors
    /// The disk fails, or something else is where the files belong.
    pub(crate) fn write(&self, state: &Path, session: &str, json: &[u8]) -> io::Result<()> {
        let Some(private) = private_directory(state)? else { return Ok(()) };
        let dir = private.open_or_create_dir(self.directory)?;
        if put(&dir, &self.file_name(session), &record::guarded(json))? {
            self.prune_in(&dir);
        }
        Ok(())
    }

    /// What is known of the sessions that wrote last, the newest first.
    pub(super) fn newest(&self, state: &Path, count: usize) -> Vec<Vec<u8>> {
        let Ok(Some(dir)) = self.open(state) else { return Vec::new() };
        let names = self.newest_first(&dir).into_iter().map(|(_, name)| name);
        let names = names.filter(|name| name.ends_with(self.ending)).take(count);
        names.filter_map(|name| self.read_in(&dir, &name)).collect()
    }

    /// Forgets a session.
    pub(crate) fn remove(&self, state: &Path, session: &str) {
        if let Ok(Some(dir)) = self.open(state) {
            let _ = dir.remove(self.file_name(session));
        }
    }

    /// Forgets the sessions that were silent longest, when there are many.
    pub(crate) fn prune(&self, state: &Path) {
        if let Ok(Some(dir)) = self.open(state) {
            self.prune_in(&dir);
        }
    }

    fn prune_in(&self, dir: &Directory) {
        for (_, name) in self.newest_first(dir).into_iter().skip(self.most) {
            let _ = dir.remove(name);
        }
    }

    fn open(&self, state: &Path) -> io::Result<Option<Directory>> {
        match private_directory(state)? {
            Some(private) => private.open_dir(self.directory),
            None => Ok(None),
        }
    }

    fn read_in(&self, dir: &Directory, name: &str) -> Option<Vec<u8>> {
        for _ in 0..READINGS {
            let bytes = dir.read(name, self.limit).ok()??;
            if let Some((json, _)) = record::first_line(&bytes) {
                return Some(json.to_vec());
            }
            // As it was written before there were checksums.
            if bytes.starts_with(b"{") {
                return Some(bytes);
            }
        }
        None
    }

    /// Those of this kind, and what a writer that was killed left.
    fn newest_first(&self, dir: &Directory) -> Vec<(i64, String)> {
        let names = dir.list().unwrap_or_default().into_iter();
        let mut files: Vec<_> = names
            .filter(|name| name.ends_with(self.ending) || name.ends_with(".new"))
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
    fn file_name(&self, session: &str) -> String {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        match !session.is_empty() && session.len() <= 64 && session.chars().all(is_plain) {
            true => format!("{session}{}", self.ending),
            false => format!("h{}{}", hash::hex_prefix(session.as_bytes(), 16), self.ending),
        }
    }
}

/// Gives a name new content; whether it had none. What is no file of its own is replaced.
fn put(dir: &Directory, name: &str, line: &[u8]) -> io::Result<bool> {
    if line.len() <= PAGE
        && let Ok((file, Some(stat))) = dir.open_with_stat(name, Access::WriteOrCreate)
        && file.metadata().is_ok_and(|found| found.nlink() == 1)
    {
        // What is left of longer content is behind the line, where nobody reads it.
        file.file().write_all_at(line, 0)?;
        return Ok(stat.len == 0);
    }
    let is_first = dir.stat(name)?.is_none();
    dir.replace(name, line)?;
    Ok(is_first)
}

/// Task lists are beside what the hooks know of a session: a directory of their own would have to be
/// made for the first one.
const LISTS: SessionFiles =
    SessionFiles { directory: "sessions", ending: ".tasks", most: 32, limit: 1 << 20 };
/// Where they were before.
const FORMER_LISTS: SessionFiles = SessionFiles { directory: "lists", ending: ".json", ..LISTS };

impl Store {
    /// Where what is known of sessions is read; not in a directory that may have come with a clone.
    pub(super) fn session_directory(&self) -> Option<&Path> {
        self.uses_private_directory().then_some(self.layout.dir.as_path())
    }

    /// The task list of a session's client, as it was last seen.
    pub(crate) fn task_list(&self, session: &str) -> Option<Vec<u8>> {
        let private = private_directory(self.session_directory()?).ok()??;
        LISTS.read_below(&private, session).or_else(|| FORMER_LISTS.read_below(&private, session))
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
    use std::fs;

    use super::*;

    const MOST: usize = 3;
    const NOTES: SessionFiles =
        SessionFiles { directory: "sessions", ending: ".json", most: MOST, limit: 1 << 20 };

    fn state() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join(".statedir")).unwrap();
        root
    }

    fn path(state: &tempfile::TempDir, name: &str) -> std::path::PathBuf {
        state.path().join(".statedir/sessions").join(name)
    }

    #[test]
    fn every_session_has_a_file_of_its_own() {
        assert_eq!(NOTES.file_name("3f2a91c4"), "3f2a91c4.json");
        assert!(!NOTES.file_name("../x").contains('/'));
        assert_ne!(NOTES.file_name("a b"), NOTES.file_name("a/b"));
        assert_ne!(NOTES.file_name("a"), LISTS.file_name("a"));
    }

    #[test]
    fn what_is_written_last_is_read_whether_it_is_longer_or_shorter() {
        let state = state();
        let long = format!("{{\"long\":\"{}\"}}", "x".repeat(2 * PAGE));
        for json in ["{\"a\":1}", &long, "{}", "{\"b\":22}", "{\"b\":333}", &long] {
            NOTES.write(state.path(), "s", json.as_bytes()).unwrap();
            assert_eq!(NOTES.read(state.path(), "s"), Some(json.as_bytes().to_vec()));
        }
        assert_eq!(fs::read_dir(path(&state, "")).unwrap().count(), 1, "nothing is left behind");
    }

    #[test]
    fn a_short_file_is_written_over_and_no_new_one_made() {
        let state = state();
        NOTES.write(state.path(), "s", b"{\"a\":1}").unwrap();
        let before = fs::metadata(path(&state, "s.json")).unwrap().ino();
        NOTES.write(state.path(), "s", b"{\"a\":22}").unwrap();
        assert_eq!(fs::metadata(path(&state, "s.json")).unwrap().ino(), before);
    }

    #[test]
    fn half_of_a_file_is_none() {
        let state = state();
        NOTES.write(state.path(), "s", b"{\"a\":1,\"b\":2}").unwrap();
        let whole = fs::read(path(&state, "s.json")).unwrap();
        for end in 0..whole.len() {
            fs::write(path(&state, "s.json"), &whole[..end]).unwrap();
            assert_eq!(NOTES.read(state.path(), "s"), None, "{end}");
        }
        for at in 0..whole.len() {
            let mut spoiled = whole.clone();
            spoiled[at] ^= 1;
            fs::write(path(&state, "s.json"), &spoiled).unwrap();
            assert_eq!(NOTES.read(state.path(), "s"), None, "{at}");
        }
        fs::write(path(&state, "s.json"), b"{\"a\":7}").unwrap();
        assert_eq!(NOTES.read(state.path(), "s"), Some(b"{\"a\":7}".to_vec()), "as it was before");
    }

    #[test]
    fn another_name_of_a_file_keeps_its_content() {
        let state = state();
        NOTES.write(state.path(), "s", b"{\"a\":1}").unwrap();
        let (before, other) = (fs::read(path(&state, "s.json")).unwrap(), path(&state, "other"));
        fs::hard_link(path(&state, "s.json"), &other).unwrap();
        NOTES.write(state.path(), "s", b"{\"a\":2}").unwrap();
        assert_eq!(NOTES.read(state.path(), "s"), Some(b"{\"a\":2}".to_vec()));
        assert_eq!(fs::read(&other).unwrap(), before);
    }

    #[test]
    fn kinds_that_share_a_directory_are_counted_apart() {
        let state = state();
        for n in 0..MOST + 2 {
            LISTS.write(state.path(), &format!("s{n}"), b"{}").unwrap();
            NOTES.write(state.path(), &format!("s{n}"), b"{}").unwrap();
        }
        let names = fs::read_dir(path(&state, "")).unwrap().map(|entry| entry.unwrap().file_name());
        let notes = names.filter(|name| name.to_str().unwrap().ends_with(".json")).count();
        assert_eq!(notes, MOST);
        assert_eq!(LISTS.newest(state.path(), 100).len(), MOST + 2);
    }
}
