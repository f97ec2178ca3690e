//! Turns the requested changes of checkpoints into records of the log.

use std::collections::BTreeMap;

use crate::store::{
    Checkpoint, CheckpointChange, CheckpointRecord, Content, Hash, Moment, NewCheckpoint,
    Operation, Result, Revision, Store, StoreError, View,
    checkpoint::{At, registry},
    inspect::repair::Base,
    log::{segment::Tracked, validate::MOST},
};

/// Images by their hash.
type Images = BTreeMap<Hash, Vec<u8>>;

/// The states before and after an operation whose id is not known yet.
pub(in crate::store) struct CheckpointRecords<'a> {
    pub store: &'a Store,
    pub base: &'a Base,
    pub view: &'a View,
    /// What the files are after the operation.
    pub state: &'a Tracked,
    /// The files that the operation changes.
    pub new_files: &'a BTreeMap<String, Option<Content>>,
}

impl CheckpointRecords<'_> {
    /// The records for the log, and the images that must be stored before they are written.
    ///
    /// A checkpoint of the state after the operation has the root as its revision until the
    /// operation's id is known.
    pub(in crate::store) fn records(
        &self,
        op: &Operation,
        changes: Vec<CheckpointChange>,
    ) -> Result<(Vec<CheckpointRecord>, Images)> {
        let (disk, paths) = (&*self.store.disk, &self.store.paths);
        let mut known = registry::names(disk, paths)?;
        let (mut records, mut images) = (Vec::new(), Images::new());
        for change in changes {
            let record = match change {
                CheckpointChange::Take(new) => {
                    let number = known.iter().map(|(number, _)| *number).max().unwrap_or(0) + 1;
                    if number > MOST {
                        return Err(refused(&new.name, "the last one has the highest number"));
                    }
                    CheckpointRecord::Added(self.take(op, new, number, &mut images)?)
                }
                CheckpointChange::PutBack(checkpoint) => {
                    if !registry::has_images(disk, paths, &checkpoint)? {
                        let what = format!("image of checkpoint `{}`", checkpoint.name);
                        return Err(StoreError::NotFound { what });
                    }
                    CheckpointRecord::Added(checkpoint)
                }
                CheckpointChange::Remove(checkpoint) => CheckpointRecord::Removed(checkpoint),
            };
            let Checkpoint { name, number, .. } = record.checkpoint();
            let there = known.iter().position(|(_, known)| known == name);
            match there {
                Some(_) if record.is_added() => {
                    return Err(refused(name, "there is a checkpoint of that name"));
                }
                None if !record.is_added() => {
                    return Err(refused(name, "there is no checkpoint of that name"));
                }
                Some(at) => drop(known.remove(at)),
                None => known.push((*number, name.clone())),
            }
            records.push(record);
        }
        Ok((records, images))
    }

    fn take(
        &self,
        op: &Operation,
        new: NewCheckpoint,
        number: u64,
        images: &mut Images,
    ) -> Result<Checkpoint> {
        let mut files: BTreeMap<String, &[u8]> =
            self.view.files.iter().map(|(name, bytes)| (name.clone(), &**bytes)).collect();
        let at = match new.moment {
            Moment::Before => At {
                revision: self.base.revision.clone(),
                seq: self.base.seq,
                state: &self.base.state,
                files: &files,
            },
            Moment::After => {
                for (name, bytes) in self.new_files {
                    match bytes {
                        Some(bytes) => files.insert(name.clone(), bytes),
                        None => files.remove(name),
                    };
                }
                At { revision: Revision::root(), seq: op.seq, state: self.state, files: &files }
            }
        };
        let checkpoint = Checkpoint::take(new, number, &op.time, &op.actor, &at);
        for (name, image) in &checkpoint.files {
            if let Some(bytes) = files.get(name) {
                images.entry(image.hash).or_insert_with(|| bytes.to_vec());
            }
        }
        Ok(checkpoint)
    }
}

fn refused(name: &str, message: &str) -> StoreError {
    StoreError::BadChange { name: name.to_owned(), message: message.to_owned() }
}
