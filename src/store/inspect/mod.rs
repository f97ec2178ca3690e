//! Comparing the files with the log, without writing anything.

pub(in crate::store) mod appended;
pub(in crate::store) mod inspection;
pub(in crate::store) mod partial;
pub(in crate::store) mod repair;
pub(in crate::store) mod report;
pub(in crate::store) mod verdict;

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::store::{
    AppendRecord, FileRecord, Hash, LogDamage, Operation, Result, Revision, Store, StoreError,
    disk::{
        Access, DiskFile, Stat,
        read::{Contents, open_existing, read_sealed, require_dir, require_file},
    },
    error::At as _,
    inspect::{
        appended::AppendedPlan,
        inspection::{Evidence, Inspection, LogPosition, Restore},
        verdict::{Verdict, classify},
    },
    log::{
        head::Head,
        operation::{ADOPT, EXTERNAL},
        segment::{self, Placed, Segment, Tracked},
        splice,
        tail::Tail,
    },
};

/// Looks at everything; `writing` opens the log so that it can be continued.
pub(in crate::store) fn inspect(store: &Store, writing: bool) -> Result<Inspection> {
    let (disk, paths) = (&*store.disk, &store.paths);
    if writing {
        // Checked now, and not when the operation is in the log and its files must follow.
        require_dir(disk, &paths.tmp())?;
    }
    let boot = disk.boot_id().at(&paths.private)?;
    let head = Head::load(disk, paths)?;
    let head_of_boot = head.as_ref().filter(|head| head.boot == boot);
    let mut files = BTreeMap::new();
    for name in store.layout.rewritable_files() {
        let sealed = |stat: &Stat| head_of_boot?.sealed_hash(name.as_str(), stat);
        let path = paths.file(name);
        if let Some(contents) = read_sealed(disk, &path, store.layout.max_bytes, sealed)? {
            files.insert(name.to_string(), contents);
        }
    }
    let appended = require_file(disk, &paths.appended())?;
    let found = Observed { store, boot, head, files, appended };
    match found.clean(writing) {
        Ok(Some((head, file))) => Ok(found.with_head(head, file)),
        Ok(None) => found.compare(writing),
        Err(error) => found.with_damaged_log(writing, error),
    }
}

struct Observed<'a> {
    store: &'a Store,
    boot: Option<String>,
    head: Option<Head>,
    files: BTreeMap<String, Contents>,
    appended: Option<Stat>,
}

impl Observed<'_> {
    /// The head cache and the log, if both agree with every file.
    fn clean(&self, writing: bool) -> Result<Option<(Head, Box<dyn DiskFile>)>> {
        let (disk, paths) = (&*self.store.disk, &self.store.paths);
        let Some(head) = self.head.as_ref().filter(|head| head.boot == self.boot) else {
            return Ok(None);
        };
        let expected = |name: &str| head.state.files.get(name).copied();
        let agrees = self
            .store
            .layout
            .rewritable
            .iter()
            .all(|name| expected(name) == self.files.get(*name).map(|contents| contents.hash))
            && head.recognises(self.store.layout.appended, self.appended.as_ref())
            && head.state.appended.len == self.appended.map_or(0, |stat| stat.len);
        if !agrees {
            return Ok(None);
        }
        let path = paths.segment(head.segment);
        let access = if writing { Access::Append } else { Access::Read };
        let Some((file, stat)) = open_existing(disk, &path, access)? else { return Ok(None) };
        if require_file(disk, &paths.segment(head.segment + 1))?.is_some() {
            return Ok(None);
        }
        let fits = !writing && head.is_log_sealed(&stat) || head.fits(&*file, paths)?;
        Ok(fits.then(|| (head.clone(), file)))
    }

    /// The files as they are, for readers: a damaged log takes undo away, never the state.
    ///
    /// The revision is the one that the files will be adopted with once the log is set aside.
    /// Writers must not continue: what the log still holds would be lost silently.
    fn with_damaged_log(self, writing: bool, error: StoreError) -> Result<Inspection> {
        match error {
            StoreError::Damaged { path, offset, message } if !writing => Ok(Inspection {
                pending: None,
                damage: Some(LogDamage { path, offset, message }),
                ..self.adopt()?
            }),
            error => Err(error),
        }
    }

    fn with_head(self, head: Head, file: Box<dyn DiskFile>) -> Inspection {
        Inspection {
            append: AppendedPlan { keep: head.state.appended.len, ..Default::default() },
            facts: head.facts.clone(),
            revision: head.id.clone(),
            seq: head.seq,
            state: head.state.clone(),
            place: LogPosition::Known { head: Box::new(head), file },
            ..self.without_state()
        }
    }

    fn without_state(self) -> Inspection {
        Inspection {
            boot: self.boot,
            place: LogPosition::Nowhere,
            files: self.files,
            appended: self.appended,
            revision: Revision::root(),
            seq: 0,
            state: Tracked::default(),
            restores: Vec::new(),
            append: AppendedPlan::default(),
            pending: None,
            facts: None,
            interrupted: None,
            damage: None,
        }
    }

    fn compare(self, writing: bool) -> Result<Inspection> {
        let (disk, paths) = (&*self.store.disk, &self.store.paths);
        let Some(number) = segment::numbers(disk, paths)?.pop() else {
            return self.adopt();
        };
        let segment = match Segment::load(disk, paths, number) {
            Ok(Some(segment)) => segment,
            Ok(None) => return self.adopt(),
            Err(error) => return self.with_damaged_log(writing, error),
        };
        if let Some(error) = self.missing_end(&segment) {
            return self.with_damaged_log(writing, error);
        }
        let head = self.head.as_ref().filter(|head| {
            head.id == *segment.head() && head.segment == number && head.end == segment.end
        });
        let last_boot = match head {
            Some(head) => head.boot.as_deref(),
            None => segment.boot(),
        };
        let same_boot = last_boot == self.boot.as_deref();
        let evidence = Evidence {
            segment: &segment,
            head,
            same_boot,
            boots_known: self.boot.is_some(),
            boot_time: if same_boot { None } else { disk.boot_time().at(&paths.private)? },
            unapplied: segment
                .records
                .last()
                .map(|placed| &placed.op)
                .filter(|op| same_boot && head.is_none() && !op.is_observation()),
            appended_name: self.store.layout.appended,
        };
        let appended_path = paths.appended();
        let append = appended::compare(disk, &appended_path, self.appended.as_ref(), &evidence)?;

        let mut restores = Vec::new();
        let (mut edits, mut notes) = (Vec::new(), Vec::new());
        for file in self.store.layout.rewritable_files() {
            let name = file.as_str();
            let expected = segment.state.files.get(name).copied();
            let actual = self.files.get(name);
            if expected == actual.map(|contents| contents.hash) {
                continue;
            }
            let image = match segment.image(disk, paths, name, segment.records.len(), actual) {
                Err(error) if segment::is_image_lost(&error) => {
                    // The old bytes are lost, but the new ones can be recorded.
                    let whole = FileRecord { whole: true, ..edit(name, expected, None, actual) };
                    notes.push(format!(
                        "the earlier version of `{name}` is no longer known: {error}"
                    ));
                    edits.push(whole);
                    continue;
                }
                other => other?,
            };
            match classify(name, actual, image.as_deref(), &evidence) {
                Verdict::External
                    if self.is_power_loss_remnant(&evidence, name, actual, image.as_deref()) =>
                {
                    restores.push(Restore { name: file, bytes: None, set_aside: true });
                }
                Verdict::External => edits.push(edit(name, expected, image.as_deref(), actual)),
                verdict => restores.push(Restore {
                    name: file,
                    bytes: image,
                    set_aside: verdict == Verdict::Torn,
                }),
            }
        }

        let mut state = segment.state.clone();
        let (mut revision, mut seq) = (segment.head().clone(), segment.seq());
        let mut pending = None;
        if !edits.is_empty() || append.record.is_some() {
            let record = append.record.clone();
            let op = Operation {
                notes,
                ..observation(EXTERNAL, &revision, seq, &self.boot, edits, record)
            };
            state.advance(&op);
            (revision, seq) = (op.id.clone(), op.seq);
            pending = Some(op);
        }
        let facts = self
            .head
            .as_ref()
            .and_then(|head| head.facts.clone())
            .filter(|facts| !append.rewritten && facts.len <= state.appended.len);
        let current = head.is_some_and(|head| {
            head.boot == self.boot
                && head.recognises(self.store.layout.appended, self.appended.as_ref())
        });
        let interrupted =
            (!restores.is_empty() || append.needs_write()).then(|| segment.head().clone());
        Ok(Inspection {
            place: LogPosition::Read { segment: Box::new(segment), current },
            revision,
            seq,
            state,
            restores,
            append,
            pending,
            facts,
            interrupted,
            ..self.without_state()
        })
    }

    /// Whether a file that should not be there is what a power loss left of one that an operation
    /// made and a later one removed: neither was synced, so it can come back in part.
    fn is_power_loss_remnant(
        &self,
        evidence: &Evidence<'_>,
        name: &str,
        actual: Option<&Contents>,
        expected: Option<&[u8]>,
    ) -> bool {
        let (Some(contents), None, false) = (actual, expected, evidence.same_boot) else {
            return false;
        };
        let segment = evidence.segment;
        let made = |placed: &Placed| {
            placed.op.files.iter().any(|file| file.name == name && file.after.is_some())
        };
        let Some(at) = segment.records.iter().rposition(made) else { return false };
        let (disk, paths) = (&*self.store.disk, &self.store.paths);
        let Ok(Some(whole)) = segment.image(disk, paths, name, at + 1, None) else { return false };
        !evidence.is_written_since_boot(&contents.stat)
            && (whole.starts_with(&contents.bytes) || whole.len() == contents.bytes.len())
    }

    /// Damage, if the log ends before an operation that the head cache knows as applied.
    ///
    /// A record is durable before the cache is written, and so is a segment, so no crash leaves
    /// such a log. Taking what it lacks for an edit made outside would let one undo revert all of it.
    fn missing_end(&self, newest: &Segment) -> Option<StoreError> {
        let head = self.head.as_ref()?;
        let damaged = |number, offset, message| StoreError::Damaged {
            path: self.store.paths.segment(number),
            offset,
            message,
        };
        match head.segment.cmp(&newest.number) {
            Ordering::Less => None,
            Ordering::Equal => (newest.end < head.end).then(|| {
                let message = format!("the log ends before the applied operation `{}`", head.id);
                damaged(newest.number, newest.end, message)
            }),
            Ordering::Greater => {
                let message =
                    format!("the segment with the applied operation `{}` is missing", head.id);
                Some(damaged(head.segment, 0, message))
            }
        }
    }

    fn adopt(self) -> Result<Inspection> {
        if self.files.is_empty() && self.appended.is_none() {
            return Ok(self.without_state());
        }
        let disk = &*self.store.disk;
        let edits = self
            .store
            .layout
            .rewritable
            .iter()
            .filter(|name| self.files.contains_key(**name))
            .map(|name| edit(name, None, None, self.files.get(*name)))
            .collect();
        let mut record = None;
        let mut append = AppendedPlan::default();
        if let Some(stat) = &self.appended {
            let path = self.store.paths.appended();
            let file = disk.open(&path, Access::Read).at(&path)?;
            let tail = Tail::after(Some(&*file), &path, stat.len, &[])?;
            append.keep = tail.len;
            record = Some(AppendRecord {
                offset: 0,
                tail_before: Tail::default().hash,
                len: tail.len,
                tail_after: tail.hash,
                bytes: None,
            });
        }
        let op = observation(ADOPT, &Revision::root(), 0, &self.boot, edits, record);
        let mut state = Tracked::default();
        state.advance(&op);
        Ok(Inspection {
            revision: op.id.clone(),
            seq: op.seq,
            state,
            append,
            pending: Some(op),
            ..self.without_state()
        })
    }
}

fn edit(
    name: &str,
    before: Option<Hash>,
    old: Option<&[u8]>,
    actual: Option<&Contents>,
) -> FileRecord {
    let old = old.unwrap_or_default();
    let new = actual.map_or(&[][..], |contents| &contents.bytes);
    FileRecord {
        name: name.to_owned(),
        before,
        after: actual.map(|contents| contents.hash),
        splices: splice::difference(old, new),
        whole: false,
    }
}

fn observation(
    kind: &str,
    parent: &Revision,
    seq: u64,
    boot: &Option<String>,
    files: Vec<FileRecord>,
    appended: Option<AppendRecord>,
) -> Operation {
    let message = match kind {
        ADOPT => "files found without a log",
        _ => "edited outside",
    };
    let mut op = Operation {
        id: Revision::root(),
        parent: parent.clone(),
        seq: seq + 1,
        time: String::new(),
        boot: boot.clone(),
        actor: String::new(),
        session: None,
        kind: kind.to_owned(),
        command: String::new(),
        message: message.to_owned(),
        undoes: None,
        redoes: None,
        settles: None,
        files,
        appended,
        checkpoints: Vec::new(),
        notes: Vec::new(),
    };
    op.id = op.compute_id();
    op
}
