//! The existing checkpoints, one small file each.
//!
//! The log is where a checkpoint is committed; its file follows, and the next opening completes
//! what a crash left out. From then on the file stands for itself: it outlives the log.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::store::{
    Checkpoint, CheckpointName, CheckpointRecord, Hash, LockHolder, Result, Store, StoreError,
    View,
    checkpoint::objects,
    disk::{
        Disk,
        publish::{ensure_dir, publish},
        read::{read_file, require_dir, require_file},
    },
    error::At as _,
    lock,
    log::{record, tail::Tail},
    paths::{Paths, Salvaged, checkpoint_number},
    query::AppendedThen,
    transaction::replace,
};

/// The largest file that is read as a checkpoint.
const LIMIT: u64 = 1024 * 1024;

/// All checkpoints.
#[derive(Debug, Clone, Default)]
pub(crate) struct Checkpoints {
    /// The readable ones, oldest first.
    pub found: Vec<Checkpoint>,
    /// Names of those whose file is damaged.
    pub damaged: Vec<String>,
}

/// Where checkpoints are looked up, with what an interrupted operation still has to write.
#[derive(Debug, Clone)]
pub(in crate::store) struct Registry {
    pub disk: Arc<dyn Disk>,
    pub paths: Paths,
    pub unapplied: Vec<CheckpointRecord>,
}

impl Registry {
    /// The registry of a store, with the last operation's changes if they may not be written yet.
    pub(in crate::store) fn new(store: &Store, mut unapplied: Vec<CheckpointRecord>) -> Registry {
        let (disk, paths) = (&*store.disk, &store.paths);
        // What `gc` has dropped since is not restored.
        let kept = |checkpoint: &Checkpoint| has_images(disk, paths, checkpoint).unwrap_or(false);
        unapplied.retain(|change| !change.is_added() || kept(change.checkpoint()));
        Registry { disk: Arc::clone(&store.disk), paths: store.paths.clone(), unapplied }
    }
}

impl View {
    /// All checkpoints, oldest first.
    pub(crate) fn checkpoints(&self) -> Result<Checkpoints> {
        let Registry { disk, paths, unapplied } = &self.registry;
        let mut all = Checkpoints::default();
        for (number, name) in names(&**disk, paths)? {
            match load(&**disk, paths, number, &name) {
                Ok(checkpoint) => all.found.extend(checkpoint),
                Err(StoreError::Damaged { .. } | StoreError::NotRegular { .. }) => {
                    all.damaged.push(name.into());
                }
                Err(error) => return Err(error),
            }
        }
        for change in unapplied {
            let changed = change.checkpoint();
            all.found.retain(|known| known.name != changed.name);
            if change.is_added() {
                all.found.push(changed.clone());
            }
        }
        all.found.sort_by_key(|checkpoint| checkpoint.number);
        Ok(all)
    }

    /// The length of the appended file at a checkpoint, and whether it still begins with what it
    /// was then.
    pub(crate) fn appended_at(&self, checkpoint: &Checkpoint) -> Result<AppendedThen> {
        let tail = Tail { len: checkpoint.appended_len, hash: checkpoint.appended_tail };
        let still_there = self.appended().begins_with(tail)?;
        Ok(AppendedThen { len: tail.len, still_there })
    }

    /// The checkpoint of that name.
    pub(crate) fn checkpoint(&self, name: &str) -> Result<Option<Checkpoint>> {
        let Registry { disk, paths, unapplied } = &self.registry;
        if let Some(change) = unapplied.iter().rfind(|change| *change.checkpoint().name == *name) {
            return Ok(change.is_added().then(|| change.checkpoint().clone()));
        }
        let known = names(&**disk, paths)?;
        let Some((number, name)) = known.into_iter().rfind(|(_, known)| **known == *name) else {
            return Ok(None);
        };
        load(&**disk, paths, number, &name)
    }

    /// The newest checkpoint, without reading the others.
    pub(crate) fn last_checkpoint(&self) -> Result<Option<Checkpoint>> {
        let Registry { disk, paths, unapplied } = &self.registry;
        if !unapplied.is_empty() {
            return Ok(self.checkpoints()?.found.pop());
        }
        match names(&**disk, paths)?.pop() {
            Some((number, name)) => load(&**disk, paths, number, &name),
            None => Ok(None),
        }
    }

    /// The names of all checkpoints, oldest first, readable or not.
    pub(crate) fn checkpoint_names(&self) -> Result<Vec<String>> {
        let Registry { disk, paths, unapplied } = &self.registry;
        let names = names(&**disk, paths)?.into_iter();
        let mut names: Vec<String> = names.map(|(_, name)| name.into()).collect();
        for change in unapplied {
            let changed = change.checkpoint();
            names.retain(|known| *known != *changed.name);
            if change.is_added() {
                names.push(changed.name.to_string());
            }
        }
        Ok(names)
    }

    /// Whether there is a checkpoint of that name, readable or not.
    pub(crate) fn has_checkpoint(&self, name: &str) -> Result<bool> {
        Ok(self.checkpoint_names()?.iter().any(|known| known == name))
    }
}

impl Store {
    /// The files that a checkpoint holds, each checked against its hash.
    ///
    /// # Errors
    /// An image is gone or damaged.
    pub(crate) fn checkpoint_files(
        &self,
        checkpoint: &Checkpoint,
    ) -> Result<BTreeMap<String, Vec<u8>>> {
        let load = |hash| objects::load(&*self.disk, &self.paths, hash);
        let files = checkpoint.files.iter();
        files.map(|(name, image)| Ok((name.clone(), load(image.hash)?))).collect()
    }

    /// Sets the damaged file of a checkpoint aside; `None` when there is none, or it is sound.
    ///
    /// Nothing is deleted: it stays below `.statedir/salvage/`, whose path is returned.
    pub(crate) fn set_checkpoint_aside(
        &self,
        name: &str,
        wait: Duration,
        holder: &LockHolder,
    ) -> Result<Option<PathBuf>> {
        let (disk, paths) = (&*self.disk, &self.paths);
        let _lock = lock::exclusive(disk, &paths.lock(), wait, holder)?;
        let known = names(disk, paths)?;
        let Some((number, name)) = known.into_iter().rfind(|(_, known)| **known == *name) else {
            return Ok(None);
        };
        match load(disk, paths, number, &name) {
            Ok(_) => return Ok(None),
            Err(StoreError::Damaged { .. } | StoreError::NotRegular { .. }) => {}
            Err(error) => return Err(error),
        }
        let path = paths.checkpoint(number, &name);
        let what = Salvaged::Checkpoint(&name);
        let target = replace::free_salvage_path(disk, paths, &holder.time, what)?;
        disk.rename(&path, &target).at(&target)?;
        disk.sync_dir(&paths.checkpoints()).at(&paths.checkpoints())?;
        disk.sync_dir(&paths.salvage()).at(&paths.salvage())?;
        Ok(Some(target))
    }

    /// Writes the images of a checkpoint again that are gone or damaged.
    pub(crate) fn renew_images(
        &self,
        files: &BTreeMap<String, Vec<u8>>,
        wait: Duration,
        holder: &LockHolder,
    ) -> Result<()> {
        let (disk, paths) = (&*self.disk, &self.paths);
        let _lock = lock::exclusive(disk, &paths.lock(), wait, holder)?;
        let dir = paths.objects();
        ensure_dir(disk, &dir, true)?;
        for bytes in files.values() {
            let hash = Hash::of(bytes);
            match objects::load(disk, paths, hash) {
                Ok(_) => {}
                Err(StoreError::NotFound { .. } | StoreError::Damaged { .. }) => {
                    publish(disk, paths, &paths.object(hash), bytes)?;
                }
                Err(error) => return Err(error),
            }
        }
        disk.sync_dir(&dir).at(&dir)?;
        disk.sync_dir(&paths.private).at(&paths.private)
    }
}

/// Number and name of every checkpoint, oldest first.
pub(in crate::store) fn names(
    disk: &dyn Disk,
    paths: &Paths,
) -> Result<Vec<(u64, CheckpointName)>> {
    let dir = paths.checkpoints();
    if require_dir(disk, &dir)?.is_none() {
        return Ok(Vec::new());
    }
    let files = match disk.list(&dir) {
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        other => other.at(&dir)?,
    };
    let mut names: Vec<_> = files.iter().filter_map(|file| checkpoint_number(file)).collect();
    names.sort();
    Ok(names)
}

/// Reads a checkpoint; `None` when it was dropped since its name was listed.
pub(in crate::store) fn load(
    disk: &dyn Disk,
    paths: &Paths,
    number: u64,
    name: &CheckpointName,
) -> Result<Option<Checkpoint>> {
    let path = paths.checkpoint(number, name);
    let found = match read_file(disk, &path, LIMIT) {
        Ok(Some(contents)) => contents,
        Ok(None) => return Ok(None),
        Err(StoreError::TooLarge { bytes, .. }) => {
            return Err(damaged(path, format!("{bytes} bytes are more than a checkpoint has")));
        }
        Err(error) => return Err(error),
    };
    let decode = || -> std::result::Result<Checkpoint, String> {
        let (json, _) =
            record::first_line(&found.bytes).ok_or("the checkpoint does not pass its checksum")?;
        let checkpoint: Checkpoint = serde_json::from_slice(json)
            .map_err(|error| format!("the checkpoint is unreadable: {error}"))?;
        if checkpoint.name != *name || checkpoint.number != number {
            return Err("the checkpoint is not the one its file name says".to_owned());
        }
        checkpoint.check(&paths.layout)?;
        Ok(checkpoint)
    };
    decode().map(Some).map_err(|why| damaged(path, why))
}

fn damaged(path: PathBuf, message: String) -> StoreError {
    StoreError::Damaged { path, offset: 0, message }
}

/// Brings the files in line with what an operation says. Doing so again changes nothing.
///
/// What `gc` has dropped since is not restored: its images are gone.
pub(in crate::store) fn apply(
    disk: &dyn Disk,
    paths: &Paths,
    changes: &[CheckpointRecord],
) -> Result<()> {
    if changes.is_empty() {
        return Ok(());
    }
    let dir = paths.checkpoints();
    if ensure_dir(disk, &dir, true)? {
        disk.sync_dir(&paths.private).at(&paths.private)?;
    }
    for change in changes {
        let checkpoint = change.checkpoint();
        let path = paths.checkpoint(checkpoint.number, &checkpoint.name);
        match change {
            CheckpointRecord::Removed(_) => match disk.remove(&path) {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                other => other.at(&path)?,
            },
            CheckpointRecord::Added(_) => {
                let line = record::encode(checkpoint).at(&path)?;
                let there = read_file(disk, &path, LIMIT)?;
                if there.is_none_or(|there| there.bytes != line)
                    && has_images(disk, paths, checkpoint)?
                {
                    publish(disk, paths, &path, &line)?;
                }
            }
        }
    }
    disk.sync_dir(&dir).at(&dir)
}

/// Whether all images of a checkpoint are stored.
pub(in crate::store) fn has_images(
    disk: &dyn Disk,
    paths: &Paths,
    checkpoint: &Checkpoint,
) -> Result<bool> {
    for image in checkpoint.files.values() {
        if !is_stored(disk, paths, image)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_stored(disk: &dyn Disk, paths: &Paths, image: &crate::store::Image) -> Result<bool> {
    Ok(require_file(disk, &paths.object(image.hash))?.is_some_and(|stat| stat.len == image.len))
}
