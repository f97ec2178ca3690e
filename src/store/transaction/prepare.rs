//! Turning what the caller asks for into the operation that will be logged.

use std::collections::BTreeMap;

use crate::store::{
    AppendRecord, ChangeKind, CheckpointRecord, Content, FileChange, FileRecord, Hash, Layout,
    NewOperation, Operation, Result, Revision, Store, StoreError, View,
    checkpoint::records::CheckpointRecords,
    disk::Access,
    error::At as _,
    inspect::repair::Base,
    log::{splice, tail::Tail},
    name::FileName,
};

/// An operation ready to be committed.
#[derive(Debug)]
pub(in crate::store) struct Prepared {
    pub op: Operation,
    /// The bytes of each changed file after the operation, `None` when it is removed.
    pub new_files: BTreeMap<String, Option<Content>>,
    pub facts: Option<Vec<u8>>,
    /// The whole appended file after the operation, where bytes were put in between.
    pub rewritten: Option<Vec<u8>>,
    /// The images that its checkpoints need.
    pub images: BTreeMap<Hash, Vec<u8>>,
}

impl Prepared {
    /// The rewritable files that it changes.
    pub(in crate::store) fn changed_files(
        &self,
        layout: &Layout,
    ) -> impl Iterator<Item = FileName> {
        layout.rewritable_files().filter(|name| self.new_files.contains_key(name.as_str()))
    }
}

/// Checks the changes against the view and computes everything the log will say.
pub(in crate::store) fn prepare(
    store: &Store,
    base: &Base,
    view: &View,
    mut new: NewOperation,
) -> Result<Prepared> {
    new.cut();
    let mut changes = BTreeMap::new();
    for change in &new.changes {
        if changes.insert(change.name.as_str(), change).is_some() {
            return Err(refused(&change.name, "it is changed twice in one operation".into()));
        }
    }
    let mut files = Vec::new();
    let mut new_files = BTreeMap::new();
    for name in store.layout.rewritable_files() {
        let Some(change) = changes.remove(name.as_str()) else {
            continue;
        };
        if let Some((record, bytes)) = change_file(store, base, view, name, change)? {
            files.push(record);
            new_files.insert(name.to_string(), bytes);
        }
    }
    if let Some(name) = changes.keys().next() {
        return Err(refused(name, "it is not a file of this state".into()));
    }
    let (appended, rewritten) = match new.insert.is_empty() {
        true => (append(store, base, new.append)?, None),
        false => insert(store, base, view, new.append, &new.insert)?,
    };
    let mut state = base.state.clone();
    let mut op = Operation {
        id: Revision::root(),
        parent: base.revision.clone(),
        seq: base.seq + 1,
        time: new.time,
        boot: base.boot.clone(),
        actor: new.actor,
        session: new.session,
        kind: new.kind,
        command: new.command,
        message: new.message,
        undoes: new.undoes,
        redoes: new.redoes,
        settles: new.settles,
        files,
        appended,
        checkpoints: Vec::new(),
        notes: Vec::new(),
    };
    let mut images = BTreeMap::new();
    if !new.checkpoints.is_empty() {
        state.advance(&op);
        let records = CheckpointRecords { store, base, view, state: &state, new_files: &new_files };
        (op.checkpoints, images) = records.records(&op, new.checkpoints)?;
    }
    op.id = op.compute_id();
    for change in &mut op.checkpoints {
        if let CheckpointRecord::Added(checkpoint) = change
            && checkpoint.revision.is_root()
        {
            checkpoint.revision = op.id.clone();
        }
    }
    op.check(&store.layout).map_err(|why| refused(&op.kind, why))?;
    Ok(Prepared { op, new_files, facts: new.facts, rewritten, images })
}

fn change_file(
    store: &Store,
    base: &Base,
    view: &View,
    file: FileName,
    change: &FileChange,
) -> Result<Option<(FileRecord, Option<Content>)>> {
    let name = file.as_str();
    let old = view.bytes(name);
    let old_bytes = old.unwrap_or_default();
    let (splices, new) = match &change.kind {
        ChangeKind::Splice(splices) => {
            let records = splice::record(old_bytes, splices).map_err(|why| refused(name, why))?;
            if records.is_empty() {
                return Ok(None);
            }
            let new = splice::apply(old_bytes, &records)
                .ok_or_else(|| refused(name, "the splices do not fit its bytes".into()))?;
            (records, Some(Content::from(new)))
        }
        ChangeKind::Edit(splices, new) => {
            let records = splice::record(old_bytes, splices).map_err(|why| refused(name, why))?;
            if !splice::lead_to(old_bytes, &records, new) {
                return Err(refused(name, "the splices do not lead to its new bytes".into()));
            }
            (records, Some(new.clone()))
        }
        ChangeKind::Write(new) => {
            (splice::difference(old_bytes, new), Some(Content::from(new.clone())))
        }
        ChangeKind::Remove => (splice::difference(old_bytes, &[]), None),
    };
    if old == new.as_deref() {
        return Ok(None);
    }
    if let Some(bytes) = new.as_ref().map(|new| new.len() as u64)
        && bytes > store.layout.max_bytes
    {
        let limit = store.layout.max_bytes;
        return Err(StoreError::TooLarge { path: store.paths.file(file), bytes, limit });
    }
    let record = FileRecord {
        name: name.to_owned(),
        before: base.state.files.get(name).copied(),
        after: new.as_ref().map(Content::hash),
        splices,
        whole: false,
    };
    Ok(Some((record, new)))
}

fn append(store: &Store, base: &Base, bytes: Vec<u8>) -> Result<Option<AppendRecord>> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let path = store.paths.appended();
    let before = base.state.appended;
    let file = match before.len {
        0 => None,
        _ => Some(store.disk.open(&path, Access::Read).at(&path)?),
    };
    let after = Tail::after(file.as_deref(), &path, before.len, &bytes)?;
    Ok(Some(AppendRecord {
        offset: before.len,
        tail_before: before.hash,
        len: after.len,
        tail_after: after.hash,
        bytes: Some(bytes),
    }))
}

/// The record of a file that is replaced by one with more in between, and the new file.
fn insert(
    store: &Store,
    base: &Base,
    view: &View,
    append: Vec<u8>,
    insert: &[(u64, Vec<u8>)],
) -> Result<(Option<AppendRecord>, Option<Vec<u8>>)> {
    let path = store.paths.appended();
    let old = view.appended().with_added(&append).read_from(0)?;
    let (mut new, mut done) = (Vec::with_capacity(old.len()), 0);
    for (at, bytes) in insert {
        let at = usize::try_from(*at).unwrap_or(usize::MAX);
        let kept = old.get(done..at).ok_or_else(|| {
            refused(store.layout.appended, "the insertions do not fit its bytes".into())
        })?;
        new.extend_from_slice(kept);
        new.extend_from_slice(bytes);
        done = at;
    }
    new.extend_from_slice(old.get(done..).unwrap_or_default());
    let before = base.state.appended;
    let after = Tail::after(None, &path, 0, &new)?;
    let record = AppendRecord {
        offset: before.len,
        tail_before: before.hash,
        len: after.len,
        tail_after: after.hash,
        bytes: None,
    };
    Ok((Some(record), Some(new)))
}

fn refused(name: &str, message: String) -> StoreError {
    StoreError::BadChange { name: name.to_owned(), message }
}
