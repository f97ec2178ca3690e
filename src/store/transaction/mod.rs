//! The lock held, the files brought together with the log, one change to be made.

pub(in crate::store) mod change;
pub(in crate::store) mod prepare;
pub(in crate::store) mod replace;
pub(in crate::store) mod undo;

use std::collections::BTreeMap;
use std::path::Path;

use crate::store::{
    Committed, Content, LockHolder, NewOperation, Result, Store, StoreError, View,
    checkpoint::{objects, registry},
    derived,
    disk::{
        Access,
        publish::{ensure_dir_all, parent_of},
        read::{require_dir, require_file},
    },
    error::At as _,
    inspect::{
        inspect,
        repair::{Base, repair},
    },
    lock::{self, Lock},
    log::{
        Log,
        head::DerivedData,
        segment::{FORMAT, Header},
        validate,
    },
    transaction::{
        prepare::{Prepared, prepare},
        replace::{Meanwhile, Replacer, Taken},
    },
};

/// The right to change the state, once.
///
/// The lock is held until the value is dropped or committed. In a directory where nothing is yet,
/// nothing is created and no lock is held before the commit, which then makes sure that nothing
/// has appeared.
#[must_use = "a transaction that is not committed changes nothing"]
#[derive(Debug)]
pub(crate) struct Transaction {
    pub(in crate::store) store: Store,
    pub(in crate::store) lock: Option<Lock>,
    pub(in crate::store) base: Base,
    pub(in crate::store) view: View,
    holder: LockHolder,
    wait: std::time::Duration,
}

impl Transaction {
    pub(in crate::store) fn begin(
        store: &Store,
        wait: std::time::Duration,
        holder: &LockHolder,
    ) -> Result<Transaction> {
        let (store, distrusted) = &store.for_change()?;
        let (disk, paths) = (&*store.disk, &store.paths);
        let private = require_dir(disk, &paths.private)?.is_some();
        let lock = if private || !store.exists()?.files.is_empty() {
            if !private {
                // Its files are there, so only the private directory is missing.
                store.make_private()?;
            }
            Some(lock::exclusive(disk, &paths.lock(), wait, holder)?)
        } else {
            None
        };
        let found = inspect(store, true)?;
        let found_nothing = lock.is_none();
        if found_nothing && (found.pending.is_some() || !found.revision.is_root()) {
            // Something appeared between looking and looking again: begin with the lock.
            return Transaction::begin(store, wait, holder);
        }
        let (base, mut view) = repair(store, found, holder)?;
        view.reports.extend(distrusted.clone());
        if lock.is_some() {
            let _ = store.mark();
        }
        let (store, holder) = (store.clone(), holder.clone());
        Ok(Transaction { store, lock, base, view, holder, wait })
    }

    /// The state to be changed.
    pub(crate) fn view(&self) -> &View {
        &self.view
    }

    /// Makes the change durable, then applies it to the files.
    ///
    /// An error means that nothing has changed. Once the operation is durable the result is `Ok`;
    /// what could not be written yet is a warning, and the next opening completes it.
    pub(crate) fn commit(mut self, op: NewOperation) -> Result<Committed> {
        self.commit_in_place(op)
    }

    /// Keeps what was derived from files as they are now.
    pub(crate) fn keep_derived(&self, derived: Option<(Vec<String>, Vec<u8>)>) {
        if let Some((names, bytes)) = derived.filter(|_| self.lock.is_some())
            && let Some(source) = derived::source(&self.base.state.files, &names)
        {
            derived::save(&*self.store.disk, &self.store.paths.derived(), source, &bytes);
        }
    }

    /// As [`Transaction::commit`], keeping the lock.
    pub(in crate::store) fn commit_in_place(&mut self, mut op: NewOperation) -> Result<Committed> {
        let (records_tally, derived) = (op.records_tally, op.derived.take());
        let prepared = prepare(&self.store, &self.base, &self.view, op)?;
        if self.lock.is_none() {
            self.lock = Some(self.lock_empty()?);
        }
        self.refuse_if_edited(&prepared)?;
        let (disk, paths) = (&*self.store.disk, &self.store.paths);
        if !prepared.images.is_empty() {
            let images = prepared.images.iter();
            objects::store(disk, paths, images.map(|(hash, bytes)| (*hash, bytes.as_slice())))?;
            disk.sync_dir(&paths.private).at(&paths.private)?;
        }
        let (mut warnings, mut taken) = (Vec::new(), Vec::new());
        if let Some(bytes) = &prepared.rewritten {
            self.rewrite_appended(bytes, &prepared.op.time, &mut warnings, &mut taken)?;
        }
        let (disk, paths) = (&*self.store.disk, &self.store.paths);
        match &mut self.base.log {
            Some(log) => log.append(disk, paths, &prepared.op)?,
            None => {
                let header = self.base.first_header();
                self.base.log = Some(Log::create(disk, paths, &header, &prepared.op)?);
            }
        }
        let applied = self.apply(&prepared, &mut warnings, &mut taken);
        let Prepared { op, facts, .. } = prepared;
        self.base.state.advance(&op);
        self.base.revision = op.id.clone();
        self.base.seq = op.seq;
        if let Some(bytes) = facts {
            self.base.facts = Some(DerivedData { len: self.base.state.appended.len, bytes });
        }
        if applied {
            self.base.save_head(&self.store);
            self.keep_derived(derived);
            if let Err(error) = self.rotate_if_due(prepared.new_files) {
                warnings.push(format!("the log could not start a new segment yet ({error})"));
            }
        }
        let replacer = self.replacer(&op.time);
        warnings.extend(
            taken
                .iter()
                .filter_map(|taken| Some(saved_meanwhile(&taken.name, &replacer.discard(taken)?))),
        );
        // Still under the lock, so that nobody else tells of the same counts.
        if let Some(Err(error)) = records_tally.then(|| self.store.subtract(&self.view.tally)) {
            warnings.push(format!("usage may be counted twice ({error})"));
        }
        Ok(Committed { revision: op.id.clone(), warnings, is_applied: applied })
    }

    /// Takes the lock in a directory that had nothing, and makes sure that it still has nothing.
    fn lock_empty(&self) -> Result<Lock> {
        let (disk, paths) = (&*self.store.disk, &self.store.paths);
        ensure_dir_all(disk, &paths.dir)?;
        self.store.make_private()?;
        let lock = lock::exclusive(disk, &paths.lock(), self.wait, &self.holder)?;
        let now = self.store.exists()?;
        if now.log || !now.files.is_empty() {
            let name = now.files.into_iter().next().unwrap_or_else(|| ".statedir".to_owned());
            return Err(StoreError::Conflict { name });
        }
        Ok(lock)
    }

    fn refuse_if_edited(&self, prepared: &Prepared) -> Result<()> {
        let appended = prepared.op.appended.as_ref().map(|_| self.store.layout.appended_file());
        for name in prepared.changed_files(&self.store.layout).chain(appended) {
            let now = require_file(&*self.store.disk, &self.store.paths.file(name))?;
            let read = self.base.stats.get(name.as_str());
            if now.map(|stat| stat.signature()) != read.map(|stat| stat.signature()) {
                return Err(StoreError::Conflict { name: name.to_string() });
            }
        }
        Ok(())
    }

    /// Replaces the appended file. The log will not hold these bytes, so they are durable before it
    /// relies on them; interrupted in between, they are an edit that the next opening records.
    fn rewrite_appended(
        &mut self,
        bytes: &[u8],
        time: &str,
        warnings: &mut Vec<String>,
        taken: &mut Vec<Taken>,
    ) -> Result<()> {
        let (disk, paths) = (&*self.store.disk, &self.store.paths);
        let name = self.store.layout.appended_file();
        let known = self.base.stats.get(name.as_str());
        let replaced = self.replacer(time).replace(name, Some(bytes), known)?;
        warnings.extend(replaced.copies.iter().map(|copy| saved_meanwhile(&name, copy)));
        taken.extend(replaced.taken);
        let path = paths.file(name);
        let file = disk.open(&path, Access::Append).at(&path)?;
        file.sync().at(&path)?;
        let dir = parent_of(&path);
        disk.sync_dir(dir).at(dir)?;
        let stat = file.stat().at(&path)?;
        self.base.stats.insert(name.to_string(), stat);
        Ok(())
    }

    /// Writes the files; says whether all of them are written.
    fn apply(
        &mut self,
        prepared: &Prepared,
        warnings: &mut Vec<String>,
        taken: &mut Vec<Taken>,
    ) -> bool {
        let (disk, paths) = (&*self.store.disk, &self.store.paths);
        let mut complete = true;
        let mut unfinished = |name: &str, error: StoreError| {
            complete = false;
            format!("`{name}` could not be written yet ({error}); the next change completes it")
        };
        for change in &prepared.op.checkpoints {
            if let Err(error) = registry::apply(disk, paths, std::slice::from_ref(change)) {
                let name = format!("checkpoint {}", change.checkpoint().name);
                warnings.push(unfinished(&name, error));
            }
        }
        for name in prepared.changed_files(&self.store.layout) {
            let bytes = prepared.new_files.get(name.as_str()).and_then(Option::as_deref);
            let known = self.base.stats.get(name.as_str());
            let replaced = self.replacer(&prepared.op.time).replace(name, bytes, known);
            self.base.sealed.remove(name.as_str());
            match replaced {
                Ok(replaced) => {
                    let copies = replaced.copies.iter();
                    warnings.extend(copies.map(|copy| saved_meanwhile(&name, copy)));
                    taken.extend(replaced.taken);
                    let sealed = replaced.sealed.map(|time| (name.to_string(), time));
                    self.base.sealed.extend(sealed);
                    match replaced.stat {
                        Some(stat) => self.base.stats.insert(name.to_string(), stat),
                        None => self.base.stats.remove(name.as_str()),
                    };
                }
                Err(error) => warnings.push(unfinished(&name, error)),
            }
        }
        if let Some(record) = &prepared.op.appended {
            let name = self.store.layout.appended_file();
            let bytes = record.bytes.as_deref().unwrap_or_default();
            match replace::append(disk, &paths.file(name), bytes) {
                Ok(stat) if stat.len == record.len => {
                    self.base.stats.insert(name.to_string(), stat);
                }
                // Another program appended at the same moment: the next opening records that.
                Ok(_) => complete = false,
                Err(error) => warnings.push(unfinished(&name, error)),
            }
        }
        complete
    }

    /// Replaces files of an operation that is committed.
    fn replacer<'a>(&'a self, time: &'a str) -> Replacer<'a> {
        let (disk, paths) = (&*self.store.disk, &self.store.paths);
        Replacer { disk, paths, time, meanwhile: Meanwhile::SetAside }
    }

    /// Starts a new segment when the current one has grown large.
    fn rotate_if_due(&mut self, new_files: BTreeMap<String, Option<Content>>) -> Result<()> {
        let Some(log) = &mut self.base.log else {
            return Ok(());
        };
        let mut files = std::mem::take(&mut self.view.files);
        for (name, bytes) in new_files {
            match bytes {
                Some(bytes) => files.insert(name, bytes),
                None => files.remove(&name),
            };
        }
        let total: usize = files.values().map(|bytes| bytes.len()).sum();
        if log.end <= self.store.rotation_threshold(total as u64) {
            return Ok(());
        }
        let segment = log.number + 1;
        if segment > validate::MOST {
            return Err(StoreError::NotFound { what: "number for a new segment".to_owned() });
        }
        let (disk, paths) = (&*self.store.disk, &self.store.paths);
        let images = files.values().map(|content| (content.hash(), &**content));
        objects::store(disk, paths, images)?;
        disk.sync_dir(&paths.private).at(&paths.private)?;
        // From here on nothing may depend on the old segment, so the files must be durable.
        for name in
            self.store.layout.files().filter(|name| self.base.stats.contains_key(name.as_str()))
        {
            let path = paths.file(name);
            disk.open(&path, Access::Read).at(&path)?.sync().at(&path)?;
        }
        for dir in paths.directories() {
            if require_dir(disk, &dir)?.is_some() {
                disk.sync_dir(&dir).at(&dir)?;
            }
        }
        let header = Header {
            format: FORMAT,
            segment,
            head: self.base.revision.clone(),
            seq: self.base.seq,
            boot: self.base.boot.clone(),
            state: self.base.state.clone(),
        };
        log.rotate(disk, paths, &header)?;
        self.base.save_head(&self.store);
        Ok(())
    }
}

fn saved_meanwhile(name: &str, copy: &Path) -> String {
    format!(
        "`{name}` was saved by another program at the same moment; that version is kept as `{}`",
        copy.display()
    )
}
