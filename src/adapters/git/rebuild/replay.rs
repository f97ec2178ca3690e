//! Replaying what the commits did to the state.

use std::{collections::BTreeMap, path::Path, time::Duration};

use crate::{
    adapters::git::{
        GitError,
        commits::version::{MAX_BYTES, PassedOver, damage, read, versions},
        install::{failed, replace},
        repository::Repository,
    },
    domain::{ErrorCode, StateFile},
    store::{ChangeKind, FileChange, LockHolder, NewOperation, Store},
};

/// A longer addition to the history is not copied into the log; the store keeps its place only.
const MOST_APPENDED: usize = 1 << 20;

/// A commit that becomes an operation.
pub(crate) struct Commit {
    pub(crate) hash: String,
    pub(crate) short: String,
    pub(crate) time: String,
    pub(crate) author: String,
    pub(crate) subject: String,
}

/// A file and its new bytes, `None` when it is removed.
type Changed = (StateFile, Option<Vec<u8>>);

/// The state as it was, commit by commit.
pub(crate) struct Replay<'a> {
    repository: &'a Repository,
    /// The objects that the last commit has, good or not.
    seen: BTreeMap<StateFile, String>,
    /// The last good version of each file.
    now: BTreeMap<StateFile, Vec<u8>>,
    /// How many operations that makes.
    pub(crate) operations: usize,
    /// Versions that are unusable, oldest first.
    pub(crate) passed_over: Vec<PassedOver>,
}

impl<'a> Replay<'a> {
    pub(crate) fn new(repository: &'a Repository) -> Self {
        let (seen, now) = (BTreeMap::new(), BTreeMap::new());
        Self { repository, seen, now, operations: 0, passed_over: Vec::new() }
    }

    /// Moves on to the next commit, and replays it in a store if there is one.
    pub(crate) fn add(&mut self, commit: &Commit, site: Option<&Store>) -> Result<(), GitError> {
        let mut changes = Vec::new();
        let mut append = Vec::new();
        let mut captured = false;
        for (file, bytes) in self.changed(commit)? {
            if file != StateFile::History {
                let kind = bytes.clone().map_or(ChangeKind::Remove, ChangeKind::Write);
                changes.push(FileChange { name: file.name().to_owned(), kind });
            } else {
                let before = self.now.get(&file).map_or(&[][..], Vec::as_slice);
                let added = bytes.as_deref().and_then(|bytes| bytes.strip_prefix(before));
                match added.filter(|added| added.len() <= MOST_APPENDED) {
                    Some(added) => append = added.to_vec(),
                    None => {
                        captured = true;
                        if let Some(site) = site {
                            put_history(&site.layout().dir, bytes.as_deref())?;
                        }
                    }
                }
            }
            match bytes {
                Some(bytes) => self.now.insert(file, bytes),
                None => self.now.remove(&file),
            };
        }
        let changed = !changes.is_empty() || !append.is_empty();
        self.operations += usize::from(captured) + usize::from(changed);
        let Some(site) = site.filter(|_| captured || changed) else { return Ok(()) };
        let command = format!("git {} {}", commit.short, commit.subject).trim_end().to_owned();
        let (actor, time) = (commit.author.clone(), commit.time.clone());
        let holder = LockHolder {
            actor: actor.clone(),
            command: command.clone(),
            time: time.clone(),
            ..LockHolder::default()
        };
        // This records what was written without the store.
        let transaction = site.begin(Duration::ZERO, &holder)?;
        if changed {
            let (kind, message) = ("git".to_owned(), commit.subject.clone());
            let operation = NewOperation {
                kind,
                command,
                message,
                actor,
                time,
                changes,
                append,
                ..NewOperation::default()
            };
            let done = transaction.commit(operation)?;
            if let Some(warning) = done.warnings.into_iter().next() {
                return Err(GitError::refused(
                    ErrorCode::Io,
                    warning,
                    "`statedir check` shows how things stand",
                ));
            }
        }
        Ok(())
    }

    /// The files that have another good version than before.
    fn changed(&mut self, commit: &Commit) -> Result<Vec<Changed>, GitError> {
        let found = versions(self.repository, &commit.hash)?;
        let mut changed = Vec::new();
        let gone = |file: &&StateFile| found.iter().all(|version| version.file != **file);
        for file in self.now.keys().filter(gone) {
            changed.push((*file, None));
            self.seen.remove(file);
        }
        let mut wanted = Vec::new();
        for version in &found {
            if self.seen.get(&version.file) == Some(&version.object) {
                continue;
            }
            self.seen.insert(version.file, version.object.clone());
            match version.refusal(MAX_BYTES) {
                Some(why) => self.pass_over(version.file, commit, why),
                None => wanted.push(version),
            }
        }
        let objects: Vec<&str> = wanted.iter().map(|version| version.object.as_str()).collect();
        for (version, bytes) in wanted.iter().zip(read(self.repository, &objects)?) {
            let file = version.file;
            let why = match &bytes {
                None => Some("git has lost it"),
                Some(bytes) => damage(file, bytes),
            };
            match why {
                Some(why) => self.pass_over(file, commit, why),
                None if bytes.as_ref() == self.now.get(&file) => {}
                None => changed.push((file, bytes)),
            }
        }
        Ok(changed)
    }

    fn pass_over(&mut self, file: StateFile, commit: &Commit, why: &'static str) {
        self.passed_over.push(PassedOver { file, commit: commit.hash.clone(), why });
    }
}

/// Writes a history that did not just grow, so that the store records it as an outside edit.
fn put_history(dir: &Path, bytes: Option<&[u8]>) -> Result<(), GitError> {
    let path = dir.join(StateFile::History.name());
    match bytes {
        None => fs_err::remove_file(path).map_err(failed),
        Some(bytes) => replace(&path, bytes),
    }
}
