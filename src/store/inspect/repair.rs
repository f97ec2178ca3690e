//! Carrying out the plan of an inspection: every step can be interrupted and done again.

use std::collections::BTreeMap;

use crate::store::{
    LockHolder, Operation, Report, Result, Revision, Store, View,
    checkpoint::registry,
    disk::{
        Access, Stat,
        read::{read_range, require_file},
    },
    error::At as _,
    inspect::inspection::{Inspection, LogPosition},
    log::{
        Log,
        head::{DerivedData, Head},
        operation::ADOPT,
        segment::{FORMAT, Header, Tracked},
    },
    transaction::replace::{self, Meanwhile, Replacer},
};

/// Where the next operation begins: files and log agree.
#[derive(Debug)]
pub(in crate::store) struct Base {
    pub boot: Option<String>,
    /// The log, unless nothing was ever committed.
    pub log: Option<Log>,
    pub revision: Revision,
    pub seq: u64,
    pub state: Tracked,
    /// Every existing file as it was last seen.
    pub stats: BTreeMap<String, Stat>,
    /// The time of the last change of those that nobody can have changed since.
    pub sealed: BTreeMap<String, i64>,
    pub facts: Option<DerivedData>,
}

impl Base {
    /// Remembers in the head cache that all operations were applied.
    pub(in crate::store) fn save_head(&self, store: &Store) {
        let Some(log) = &self.log else { return };
        // Times are compared within one boot, which must be known for that.
        let (sealed, sealed_log) = match self.boot {
            Some(_) => (self.sealed.clone(), log.seal()),
            None => Default::default(),
        };
        let signatures =
            self.stats.iter().map(|(name, stat)| (name.clone(), stat.signature())).collect();
        Head {
            segment: log.number,
            end: log.end,
            last: log.last,
            sum: log.sum.clone(),
            id: self.revision.clone(),
            seq: self.seq,
            boot: self.boot.clone(),
            state: self.state.clone(),
            signatures,
            sealed,
            sealed_log,
            facts: self.facts.clone(),
        }
        .save(&*store.disk, &store.paths);
    }

    /// The header of a first segment.
    pub(in crate::store) fn first_header(&self) -> Header {
        Header {
            format: FORMAT,
            segment: 1,
            head: Revision::root(),
            seq: 0,
            boot: self.boot.clone(),
            state: Tracked::default(),
        }
    }
}

/// Brings files and log together; the lock is held.
pub(in crate::store) fn repair(
    store: &Store,
    mut found: Inspection,
    holder: &LockHolder,
) -> Result<(Base, View)> {
    let (disk, paths) = (&*store.disk, &store.paths);
    let settled = found.is_settled();
    let mut reports = found.reports();
    let mut stats: BTreeMap<String, Stat> =
        found.files.iter().map(|(name, contents)| (name.clone(), contents.stat)).collect();
    let mut sealed: BTreeMap<String, i64> = found
        .files
        .iter()
        .filter(|(_, contents)| contents.is_sealed)
        .map(|(name, contents)| (name.clone(), contents.stat.ctime))
        .collect();
    sealed.retain(|name, _| found.restores.iter().all(|restore| restore.name.as_str() != name));
    if let Some(stat) = found.appended {
        stats.insert(store.layout.appended.to_owned(), stat);
    }
    let has_log = !matches!(found.place, LogPosition::Nowhere);
    let checkpoints = found.unapplied_checkpoints().to_vec();
    let log = match std::mem::replace(&mut found.place, LogPosition::Nowhere) {
        LogPosition::Nowhere => None,
        LogPosition::Known { head, file } => {
            Some(Log::resume(file, head.segment, head.end, head.last, head.sum))
        }
        LogPosition::Read { segment, .. } => Some(Log::reopen(disk, paths, &segment)?),
    };
    if (found.interrupted.is_some() || !checkpoints.is_empty())
        && let Some(log) = &log
    {
        // The interrupted process may have stopped before its sync, and a file must never hold
        // what a power loss could still take out of the log.
        log.sync(paths)?;
    }
    registry::apply(disk, paths, &checkpoints)?;
    restore_files(store, &found, &mut stats, &mut reports, &holder.time)?;
    complete_appended(store, &mut found, &mut stats, &mut reports, &holder.time)?;

    let pending = found.pending_report(store.layout.appended);
    let mut base = Base {
        boot: found.boot.clone(),
        log,
        revision: found.revision.clone(),
        seq: found.seq,
        state: found.state.clone(),
        stats,
        sealed,
        facts: found.facts.clone(),
    };
    if let Some(op) = found.pending.as_mut() {
        op.time = holder.time.clone();
        // The author of an edit is not known; that of an adoption is.
        if op.kind == ADOPT {
            op.actor = holder.actor.clone();
        }
        record(store, &mut base, op)?;
        reports.extend(pending);
    }
    if !settled {
        base.save_head(store);
    }
    let view = View { has_log, ..found.into_view(store, reports) };
    Ok((base, view))
}

fn restore_files(
    store: &Store,
    found: &Inspection,
    stats: &mut BTreeMap<String, Stat>,
    reports: &mut Vec<Report>,
    time: &str,
) -> Result<()> {
    let (disk, paths) = (&*store.disk, &store.paths);
    let replacer = Replacer { disk, paths, time, meanwhile: Meanwhile::Refuse };
    let mut taken = Vec::new();
    for restore in &found.restores {
        let name = restore.name;
        let actual = found.files.get(name.as_str());
        if let (true, Some(contents)) = (restore.set_aside, actual) {
            let copy = replace::set_aside(disk, paths, time, name, &contents.bytes)?;
            reports.push(Report::Salvaged { file: name.to_string(), copy: Some(copy) });
        }
        let known = actual.map(|contents| &contents.stat);
        let replaced = replacer.replace(name, restore.bytes.as_deref(), known)?;
        let copies = replaced.copies.into_iter();
        reports.extend(
            copies.map(|copy| Report::Salvaged { file: name.to_string(), copy: Some(copy) }),
        );
        taken.extend(replaced.taken);
        match replaced.stat {
            Some(stat) => stats.insert(name.to_string(), stat),
            None => stats.remove(name.as_str()),
        };
    }
    for taken in &taken {
        let copy = replacer.discard(taken);
        reports.extend(
            copy.map(|copy| Report::Salvaged { file: taken.name.to_string(), copy: Some(copy) }),
        );
    }
    Ok(())
}

fn complete_appended(
    store: &Store,
    found: &mut Inspection,
    stats: &mut BTreeMap<String, Stat>,
    reports: &mut Vec<Report>,
    time: &str,
) -> Result<()> {
    if !found.append.needs_write() {
        return Ok(());
    }
    let (disk, paths) = (&*store.disk, &store.paths);
    let name = store.layout.appended_file();
    let path = paths.file(name);
    if require_file(disk, &path)?.map(|stat| stat.signature())
        != found.appended.map(|stat| stat.signature())
    {
        return Err(crate::store::StoreError::Conflict { name: name.to_string() });
    }
    if found.append.cut
        && let Some(stat) = found.appended
    {
        let file = disk.open(&path, Access::Append).at(&path)?;
        let len = stat.len.saturating_sub(found.append.keep);
        let torn = read_range(&*file, &path, found.append.keep, len)?;
        let copy = replace::set_aside(disk, paths, time, name, &torn)?;
        file.set_len(found.append.keep).at(&path)?;
        reports.push(Report::Salvaged { file: name.to_string(), copy: Some(copy) });
    }
    let stat = replace::append(disk, &path, &found.append.add)?;
    stats.insert(name.to_string(), stat);
    found.appended = Some(stat);
    found.append.keep += found.append.add.len() as u64;
    found.append.add.clear();
    Ok(())
}

/// Commits the operation that records what was found.
fn record(store: &Store, base: &mut Base, op: &Operation) -> Result<()> {
    let (disk, paths) = (&*store.disk, &store.paths);
    if op.appended.as_ref().is_some_and(|append| append.bytes.is_none() && append.len > 0) {
        // The log does not hold these bytes, so they must be durable before it relies on them.
        let path = paths.appended();
        disk.open(&path, Access::Append).at(&path)?.sync().at(&path)?;
    }
    match &mut base.log {
        Some(log) => log.append(disk, paths, op),
        None => {
            base.log = Some(Log::create(disk, paths, &base.first_header(), op)?);
            Ok(())
        }
    }
}
