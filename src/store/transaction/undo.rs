//! Undo and redo: which operation, and which changes.

use std::collections::BTreeSet;

use crate::store::{
    ByteSplice, ChangeKind, Checkpoint, CheckpointChange, CheckpointRecord, FileChange, FileRecord,
    Operation, Result, Revision, SpliceRecord, Store, StoreError, Transaction,
    checkpoint::registry,
    log::{
        operation::{ADOPT, ARCHIVE, EXTERNAL, INIT},
        splice,
    },
    query::Backwards,
};

/// What operations other than edits made outside added to the appended file.
#[derive(Debug, Default)]
pub(crate) struct AppendedAround {
    /// The newest one before.
    pub before: Option<Vec<u8>>,
    /// All since, the newest first.
    pub since: Vec<u8>,
}

impl Store {
    /// The operation that `undo` would revert.
    ///
    /// The newest one that is not itself an undo and was not undone; `None` when only the one
    /// that created or adopted the state is left, or the log does not reach back further, or
    /// what was there before is not known any more.
    pub(crate) fn undo_target(&self) -> Result<Option<Operation>> {
        let mut undone = BTreeSet::new();
        let mut operations = Backwards::new(self)?;
        while let Some(op) = operations.next() {
            let op = op?;
            // Before the first operation there was nothing that anybody could want back.
            let creates = op.kind == INIT || op.kind == ADOPT || op.parent.is_root();
            if creates || op.files.iter().any(|file| file.whole) {
                return Ok(None);
            }
            if let Some(id) = &op.undoes {
                undone.insert(id.clone());
                if let Some(number) = op.settles {
                    operations.skip_to(number);
                }
            } else if !undone.contains(&op.id) && !is_skipped_by_undo(&op) {
                return Ok(Some(op));
            }
        }
        Ok(None)
    }

    /// The operation that `redo` would do again, the last one undone since the last change, and the
    /// number of its undo.
    pub(crate) fn redo_target(&self) -> Result<Option<(Operation, u64)>> {
        let mut redone: Vec<Revision> = Vec::new();
        let mut operations = Backwards::new(self)?;
        while let Some(op) = operations.next() {
            let op = op?;
            if let Some(id) = &op.undoes {
                match redone.iter().position(|done| done == id) {
                    Some(at) => drop(redone.remove(at)),
                    None => {
                        let target = self.operation_near(id, op.settles)?;
                        return Ok(Some((target, op.seq)));
                    }
                }
            } else if let Some(id) = op.redoes {
                redone.push(id);
                if let Some(number) = op.settles {
                    operations.skip_to(number);
                }
            } else if !is_skipped_by_undo(&op) {
                return Ok(None);
            }
        }
        Ok(None)
    }

    /// The operation of that id, which has that number if one is given.
    fn operation_near(&self, id: &Revision, number: Option<u64>) -> Result<Operation> {
        if let Some(number) = number {
            let mut operations = Backwards::new(self)?;
            operations.skip_to(number);
            if let Some(found) = operations.next().transpose()?.filter(|op| op.id == *id) {
                return Ok(found);
            }
        }
        self.operation(id.as_str())
    }

    /// The bytes that the newest operation which added to the appended file put there.
    pub(crate) fn newest_append(&self) -> Result<Option<Vec<u8>>> {
        for op in Backwards::new(self)? {
            let op = op?;
            let bytes = op.appended.and_then(|appended| appended.bytes);
            if bytes.is_some() && op.kind != EXTERNAL && op.kind != INIT {
                return Ok(bytes);
            }
        }
        Ok(None)
    }

    /// What was added to the appended file around an operation.
    pub(crate) fn appended_around(&self, id: &Revision) -> Result<AppendedAround> {
        let (mut around, mut is_before) = (AppendedAround::default(), false);
        for op in Backwards::new(self)? {
            let op = op?;
            if op.id == *id {
                is_before = true;
                continue;
            }
            let bytes = op.appended.and_then(|appended| appended.bytes);
            match bytes.filter(|_| op.kind != EXTERNAL) {
                Some(bytes) if is_before => {
                    around.before = Some(bytes);
                    break;
                }
                Some(bytes) => around.since.extend(bytes),
                None => {}
            }
        }
        Ok(around)
    }

    /// What operations had added to the appended file before an edit made outside did more than
    /// add to it: that edit and the bytes, the newest first, as far as the log and 64 MiB reach.
    pub(crate) fn appended_before_rewrites(&self) -> Result<Vec<(Revision, Vec<u8>)>> {
        const MOST: usize = 64 << 20;
        let (mut rewrite, mut found, mut total) = (None, Vec::new(), 0);
        for op in Backwards::new(self)? {
            let op = op?;
            let Some(appended) = op.appended else { continue };
            match (appended.bytes, &rewrite) {
                (None, _) if op.kind == EXTERNAL => rewrite = Some(op.id),
                (Some(bytes), Some(rewrite)) if op.kind != EXTERNAL && op.kind != INIT => {
                    total += bytes.len();
                    found.push((Revision::clone(rewrite), bytes));
                }
                _ => {}
            }
            if total > MOST {
                break;
            }
        }
        Ok(found)
    }
}

impl Transaction {
    /// As [`Store::undo_target`].
    pub(crate) fn undo_target(&self) -> Result<Option<Operation>> {
        self.store.undo_target()
    }

    /// As [`Store::redo_target`].
    pub(crate) fn redo_target(&self) -> Result<Option<(Operation, u64)>> {
        self.store.redo_target()
    }

    /// The changes that take an operation back, to be handed to [`Transaction::commit`].
    ///
    /// Later changes elsewhere in the same file stay; `Overlap` when one is in the way.
    pub(crate) fn inverse(&self, op: &Operation) -> Result<Vec<FileChange>> {
        let inverted = op.files.iter().map(|file| FileRecord {
            name: file.name.clone(),
            before: file.after,
            after: file.before,
            splices: splice::invert(&file.splices),
            whole: false,
        });
        self.changes(op, inverted)
    }

    /// The changes that do an operation again.
    pub(crate) fn reapply(&self, op: &Operation) -> Result<Vec<FileChange>> {
        self.changes(op, op.files.iter().cloned())
    }

    /// The checkpoints that come back when an operation is undone, or go when it is redone again.
    /// One that the operation took stays in either case; one whose name was given away since comes
    /// back under another.
    pub(crate) fn checkpoint_changes(
        &self,
        op: &Operation,
        undo: bool,
    ) -> Result<Vec<CheckpointChange>> {
        let mut changes = Vec::new();
        let removed = op.checkpoints.iter().filter(|change| !change.is_added());
        for checkpoint in removed.map(CheckpointRecord::checkpoint) {
            let all = self.view.checkpoints()?.found;
            let same = |known: &&Checkpoint| {
                **known == Checkpoint { name: known.name.clone(), ..checkpoint.clone() }
            };
            match (undo, all.iter().find(same)) {
                (true, None) => changes.extend(self.restore_checkpoint(checkpoint.clone())?),
                (false, Some(known)) => changes.push(CheckpointChange::Remove(known.clone())),
                _ => {}
            }
        }
        Ok(changes)
    }

    /// Puts a checkpoint back under its own name or one like it, unless its images are gone.
    fn restore_checkpoint(&self, mut checkpoint: Checkpoint) -> Result<Option<CheckpointChange>> {
        if !registry::has_images(&*self.store.disk, &self.store.paths, &checkpoint)? {
            return Ok(None);
        }
        let names = self.view.checkpoint_names()?;
        let name = checkpoint.name.clone();
        let mut number = 1;
        while names.iter().any(|known| *known == *checkpoint.name) {
            number += 1;
            checkpoint.name = name.numbered(number);
        }
        Ok(Some(CheckpointChange::PutBack(checkpoint)))
    }

    fn changes(
        &self,
        op: &Operation,
        files: impl Iterator<Item = FileRecord>,
    ) -> Result<Vec<FileChange>> {
        if let Some(file) = op.files.iter().find(|file| file.whole) {
            let what = format!("image of `{}` before operation `{}`", file.name, op.id);
            return Err(StoreError::NotFound { what });
        }
        let mut changes = Vec::new();
        for file in files {
            let now = self.base.state.files.get(&file.name).copied();
            if now == file.after {
                continue;
            }
            let overlap = || StoreError::Overlap { id: op.id.to_string(), name: file.name.clone() };
            let kind = match (file.before, file.after) {
                (_, None) if now == file.before => ChangeKind::Remove,
                (None, Some(_)) if now.is_none() => {
                    ChangeKind::Write(splice::apply(&[], &file.splices).ok_or_else(overlap)?)
                }
                (Some(_), Some(_)) => {
                    let mut splices = file.splices.clone();
                    if now != file.before {
                        splices =
                            self.rebase_to_newest(op, &file.name, splices)?.ok_or_else(overlap)?;
                    }
                    let bytes = self.view.bytes(&file.name).unwrap_or_default();
                    // The bytes to be replaced must be those the record knows.
                    splice::apply(bytes, &splices).ok_or_else(overlap)?;
                    ChangeKind::Splice(splices.into_iter().filter_map(to_byte_splice).collect())
                }
                _ => return Err(overlap()),
            };
            changes.push(FileChange { name: file.name, kind });
        }
        Ok(changes)
    }

    /// Moves splices past all changes made to a file since an operation; `None` when one of
    /// those touches what the splices replace.
    fn rebase_to_newest(
        &self,
        op: &Operation,
        name: &str,
        mut splices: Vec<SpliceRecord>,
    ) -> Result<Option<Vec<SpliceRecord>>> {
        let mut later = Vec::new();
        for newer in Backwards::new(&self.store)? {
            let newer = newer?;
            if newer.id == op.id {
                later.reverse();
                for record in &later {
                    match rebase_past(&splices, record) {
                        Some(moved) => splices = moved,
                        None => return Ok(None),
                    }
                }
                return Ok(Some(splices));
            }
            later.extend(newer.files.into_iter().filter(|file| file.name == name));
        }
        Ok(None)
    }
}

/// Nothing that `undo` could revert: an edit of the appended file made outside, a checkpoint that
/// was taken, which stays, or a move of the whole directory.
fn is_skipped_by_undo(op: &Operation) -> bool {
    let takes = !op.checkpoints.is_empty() && op.checkpoints.iter().all(|change| change.is_added());
    let moves = op.kind.split('.').next() == Some(ARCHIVE);
    op.files.is_empty() && (op.kind == EXTERNAL || takes || moves)
}

fn to_byte_splice(splice: SpliceRecord) -> Option<ByteSplice> {
    let start = usize::try_from(splice.offset).ok()?;
    Some(ByteSplice { at: start..start + splice.old.len(), new: splice.new })
}

fn rebase_past(splices: &[SpliceRecord], newer: &FileRecord) -> Option<Vec<SpliceRecord>> {
    if newer.before.is_none() || newer.after.is_none() || newer.whole {
        return None;
    }
    let end = |splice: &SpliceRecord| splice.offset + splice.old.len() as u64;
    let mut others = newer.splices.iter().peekable();
    let (mut grown, mut shrunk) = (0, 0);
    let mut moved = splices.to_vec();
    // Both are in order, so that what lies before one splice lies before the next.
    for (splice, moved) in splices.iter().zip(&mut moved) {
        while let Some(other) = others.next_if(|other| end(other) <= splice.offset) {
            grown += other.new.len() as u64;
            shrunk += other.old.len() as u64;
        }
        if others.peek().is_some_and(|other| other.offset < end(splice)) {
            return None;
        }
        moved.offset = splice.offset + grown - shrunk;
    }
    Some(moved)
}
