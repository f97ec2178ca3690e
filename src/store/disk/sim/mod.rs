//! A file system in memory that can stop, fail, and lose what was not synced.

mod calls;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use crate::store::disk::{FileKind, Stat, publish::parent_of};

const SECOND: i64 = 1_000_000_000;

/// What goes wrong, at one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The process dies before the call.
    CrashBefore,
    /// The process dies in the middle of a write; other calls are not made.
    CrashWithin,
    /// The process dies after the call.
    CrashAfter,
    /// The call fails; a write may leave half of its bytes.
    Fails(i32),
}

/// What a power loss does to data that was not synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loss {
    /// Gone.
    Old,
    /// All there, by luck.
    Kept,
    /// The length is there, the bytes are zero.
    Zeros,
    /// Half of the new bytes are there.
    Half,
    /// The length is there, the bytes are from elsewhere.
    Garbage,
}

/// Which renames, creations and removals survive a power loss, as bits by position.
pub(crate) type Survivors = u64;

#[derive(Debug, Clone)]
pub(crate) struct SimDisk(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    inner: Mutex<Inner>,
    unlocked: Condvar,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entry {
    Dir,
    File(u64),
}

#[derive(Debug, Clone, Default)]
struct Inode {
    data: Vec<u8>,
    durable: Vec<u8>,
    mtime: i64,
    mode: u32,
    locks: Vec<bool>,
}

#[derive(Debug, Clone)]
struct Change {
    dirs: Vec<PathBuf>,
    sets: Vec<(PathBuf, Option<Entry>)>,
}

#[derive(Debug, Clone)]
struct Inner {
    inodes: BTreeMap<u64, Inode>,
    names: BTreeMap<PathBuf, Entry>,
    durable: BTreeMap<PathBuf, Entry>,
    pending: Vec<Change>,
    clock: i64,
    boot: u32,
    boot_time: i64,
    calls: u64,
    reads_count: bool,
    bytes_read: u64,
    fault: Option<(u64, Fault)>,
    fired: bool,
    dead: bool,
    generation: u32,
    syncs_lie: bool,
    frozen: bool,
    knows_boots: bool,
    knows_exchange: bool,
    meddler: Option<Meddler>,
    writing: Option<(u64, u64, Vec<u8>)>,
}

/// Another program that saves a file at a certain call.
#[derive(Debug, Clone)]
struct Meddler {
    call: u64,
    path: PathBuf,
    bytes: Vec<u8>,
    in_place: bool,
}

#[derive(Debug)]
struct SimFile {
    disk: SimDisk,
    ino: u64,
    generation: u32,
    locked: Mutex<Option<bool>>,
}

enum Extent {
    Whole,
    Half(io::Error),
}

impl SimDisk {
    /// A disk with one durable directory.
    pub(crate) fn new(root: &Path) -> SimDisk {
        let names = BTreeMap::from([(root.to_owned(), Entry::Dir)]);
        SimDisk(Arc::new(Shared {
            unlocked: Condvar::new(),
            inner: Mutex::new(Inner {
                inodes: BTreeMap::new(),
                durable: names.clone(),
                names,
                pending: Vec::new(),
                clock: 1000 * SECOND,
                boot: 1,
                boot_time: 900 * SECOND,
                calls: 0,
                reads_count: false,
                bytes_read: 0,
                fault: None,
                fired: false,
                dead: false,
                generation: 0,
                syncs_lie: false,
                frozen: false,
                knows_boots: true,
                knows_exchange: true,
                meddler: None,
                writing: None,
            }),
        }))
    }

    /// An independent copy.
    pub(crate) fn fork(&self) -> SimDisk {
        let inner = self.lock_inner().clone();
        SimDisk(Arc::new(Shared { unlocked: Condvar::new(), inner: Mutex::new(inner) }))
    }

    fn lock_inner(&self) -> MutexGuard<'_, Inner> {
        self.0.inner.lock().unwrap()
    }

    /// How many bytes were read so far.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.lock_inner().bytes_read
    }

    /// How many calls were made so far.
    pub(crate) fn calls(&self) -> u64 {
        self.lock_inner().calls
    }

    /// Lets the call with that number, counted from now, go wrong.
    pub(crate) fn arm(&self, call: u64, fault: Fault, count_reads: bool) {
        let mut inner = self.lock_inner();
        inner.reads_count = count_reads;
        inner.fault = Some((inner.calls.saturating_add(call), fault));
        inner.fired = false;
    }

    /// Whether the fault happened.
    pub(crate) fn fired(&self) -> bool {
        self.lock_inner().fired
    }

    /// Starts the next process after the last one died.
    pub(crate) fn restart(&self) {
        let mut inner = self.lock_inner();
        inner.dead = false;
        inner.fault = None;
        inner.generation += 1;
        inner.inodes.values_mut().for_each(|inode| inode.locks.clear());
        drop(inner);
        self.0.unlocked.notify_all();
    }

    /// Makes every file sync a lie.
    pub(crate) fn lie_about_syncs(&self) {
        self.lock_inner().syncs_lie = true;
    }

    /// From now on every call that would change something panics.
    pub(crate) fn freeze(&self, frozen: bool) {
        self.lock_inner().frozen = frozen;
    }

    /// Takes away the ability to tell boots apart.
    pub(crate) fn forget_boots(&self) {
        self.lock_inner().knows_boots = false;
    }

    /// Takes away the ability to exchange files.
    pub(crate) fn forget_exchange(&self) {
        self.lock_inner().knows_exchange = false;
    }

    /// Lets another program save a file right before the call with that number, counted from
    /// now and with those that only read; as a new file, or by cutting the file and writing.
    pub(crate) fn meddle(&self, call: u64, path: &Path, bytes: &[u8], in_place: bool) {
        let mut inner = self.lock_inner();
        inner.reads_count = true;
        let call = inner.calls + call;
        let (path, bytes) = (path.to_owned(), bytes.to_vec());
        inner.meddler = Some(Meddler { call, path, bytes, in_place });
    }

    /// Whether nobody has meddled yet, though somebody was asked to; then nobody will.
    pub(crate) fn withdraw_meddler(&self) -> bool {
        self.lock_inner().meddler.take().is_some()
    }

    /// A proper shutdown and start: nothing is lost.
    pub(crate) fn reboot(&self) {
        self.restart();
        let mut inner = self.lock_inner();
        let names = inner.names.clone();
        inner.durable = names;
        inner.pending.clear();
        inner.inodes.values_mut().for_each(|inode| inode.durable = inode.data.clone());
        inner.next_boot();
    }

    /// Pulls the plug and starts the machine again.
    pub(crate) fn lose_power(&self, loss: Loss, survivors: Survivors) {
        self.restart();
        let mut inner = self.lock_inner();
        for (position, change) in std::mem::take(&mut inner.pending).into_iter().enumerate() {
            if survivors >> (position % 64) & 1 == 1 {
                inner.make_durable(change);
            }
        }
        let mut names = inner.durable.clone();
        let all = names.clone();
        names.retain(|path, _| {
            path.ancestors().skip(1).all(|dir| {
                dir.parent().is_none()
                    || dir.parent() == Some(Path::new("/"))
                    || all.contains_key(dir)
            })
        });
        inner.durable = names.clone();
        inner.names = names;
        for inode in inner.inodes.values_mut() {
            inode.data = lose(&inode.durable, &inode.data, loss);
            inode.durable = inode.data.clone();
        }
        inner.next_boot();
    }

    /// Another program saves a file, durably and as a new file.
    pub(crate) fn edit(&self, path: &Path, bytes: &[u8]) {
        self.lock_inner().edit(path, bytes);
    }

    /// What a file contains, seen from outside.
    pub(crate) fn peek(&self, path: &Path) -> Option<Vec<u8>> {
        let inner = self.lock_inner();
        match inner.names.get(path)? {
            Entry::File(ino) => inner.inodes.get(ino).map(|inode| inode.data.clone()),
            Entry::Dir => None,
        }
    }

    /// Changes content without changing its time, as damage does; the length may change.
    pub(crate) fn damage(&self, path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
        let mut inner = self.lock_inner();
        if let Some(Entry::File(ino)) = inner.names.get(path).copied()
            && let Some(inode) = inner.inodes.get_mut(&ino)
        {
            change(&mut inode.data);
            inode.durable = inode.data.clone();
        }
    }
}

fn lose(durable: &[u8], data: &[u8], loss: Loss) -> Vec<u8> {
    if durable == data {
        return data.to_vec();
    }
    let common = durable.iter().zip(data).take_while(|(a, b)| a == b).count();
    let fill = |byte: u8| {
        let mut bytes = data[..common].to_vec();
        bytes.resize(data.len(), byte);
        bytes
    };
    match loss {
        Loss::Old => durable.to_vec(),
        Loss::Kept => data.to_vec(),
        Loss::Zeros => fill(0),
        Loss::Garbage => fill(b'#'),
        Loss::Half => data[..common + (data.len() - common) / 2].to_vec(),
    }
}

impl Inner {
    fn edit(&mut self, path: &Path, bytes: &[u8]) {
        let mtime = self.tick();
        let ino = mtime as u64;
        let inode =
            Inode { data: bytes.into(), durable: bytes.into(), mtime, mode: 0o644, locks: vec![] };
        self.inodes.insert(ino, inode);
        self.names.insert(path.into(), Entry::File(ino));
        self.durable.insert(path.into(), Entry::File(ino));
        for change in &mut self.pending {
            change.sets.retain(|(set, _)| set != path);
        }
    }

    /// Lets the other program act when its moment has come.
    ///
    /// Saving in place takes two steps: the file is cut now and written at the next call.
    fn meddle(&mut self) {
        let Some(mut meddler) = self.meddler.take_if(|meddler| meddler.call == self.calls) else {
            return;
        };
        if !meddler.in_place {
            return self.edit(&meddler.path, &meddler.bytes);
        }
        let ino = match self.names.get(&meddler.path) {
            Some(Entry::File(ino)) => *ino,
            _ => return self.edit(&meddler.path, &meddler.bytes),
        };
        let mtime = self.tick();
        if let Some(inode) = self.inodes.get_mut(&ino) {
            inode.data.clear();
            inode.mtime = mtime;
            meddler.call += 1;
            self.writing = Some((ino, meddler.call, meddler.bytes));
        }
    }

    fn finish_meddling(&mut self) {
        let Some((ino, _, bytes)) = self.writing.take_if(|(_, call, _)| *call <= self.calls) else {
            return;
        };
        let mtime = self.tick();
        if let Some(inode) = self.inodes.get_mut(&ino) {
            inode.data = bytes;
            inode.mtime = mtime;
        }
    }

    fn tick(&mut self) -> i64 {
        self.clock += 1;
        self.clock
    }

    fn next_boot(&mut self) {
        self.clock += 60 * SECOND;
        self.boot_time = self.clock;
        self.boot += 1;
        self.clock += SECOND;
    }

    fn make_durable(&mut self, change: Change) {
        for (path, entry) in change.sets {
            match entry {
                Some(entry) => self.durable.insert(path, entry),
                None => self.durable.remove(&path),
            };
        }
    }

    fn change(&mut self, sets: Vec<(PathBuf, Option<Entry>)>) {
        let dirs = sets.iter().map(|(path, _)| parent_of(path).to_owned()).collect();
        for (path, entry) in &sets {
            match entry {
                Some(entry) => self.names.insert(path.clone(), *entry),
                None => self.names.remove(path),
            };
        }
        self.pending.push(Change { dirs, sets });
    }

    /// Gives what is at a path another one; a directory takes along what is in it.
    fn relocate(&mut self, from: &Path, to: &Path, entry: Entry) {
        let mut sets = vec![(from.to_owned(), None), (to.to_owned(), Some(entry))];
        if entry == Entry::Dir {
            for (path, entry) in &self.names {
                if let Ok(rest) = path.strip_prefix(from).map(|rest| rest.to_owned())
                    && path != from
                {
                    sets.push((path.clone(), None));
                    sets.push((to.join(rest), Some(*entry)));
                }
            }
        }
        self.change(sets);
    }

    fn enter(&mut self, writes: bool) -> io::Result<Extent> {
        assert!(!(self.frozen && writes), "a frozen disk was written to");
        if self.dead {
            return Err(crashed());
        }
        if !writes && !self.reads_count {
            return Ok(Extent::Whole);
        }
        self.calls += 1;
        self.finish_meddling();
        self.meddle();
        let Some((_, fault)) = self.fault.filter(|(at, _)| *at == self.calls) else {
            return Ok(Extent::Whole);
        };
        self.fired = true;
        match fault {
            Fault::CrashBefore => {
                self.dead = true;
                Err(crashed())
            }
            Fault::CrashWithin => {
                self.dead = true;
                Ok(Extent::Half(crashed()))
            }
            Fault::CrashAfter => Ok(Extent::Whole),
            Fault::Fails(code) => Ok(Extent::Half(io::Error::from_raw_os_error(code))),
        }
    }

    /// Dies after the call if that was asked for.
    fn leave<T>(&mut self, value: T) -> io::Result<T> {
        match self.fault {
            Some((at, Fault::CrashAfter)) if at == self.calls && self.fired => {
                self.dead = true;
                Err(crashed())
            }
            _ => Ok(value),
        }
    }

    fn whole(&mut self, writes: bool) -> io::Result<()> {
        match self.enter(writes)? {
            Extent::Whole => Ok(()),
            Extent::Half(error) => Err(error),
        }
    }

    fn file(&self, path: &Path) -> io::Result<u64> {
        match self.names.get(path) {
            Some(Entry::File(ino)) => Ok(*ino),
            Some(Entry::Dir) => Err(io::ErrorKind::IsADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn stat(&self, ino: u64) -> Stat {
        let inode = &self.inodes[&ino];
        let len = inode.data.len() as u64;
        let (mtime, mode) = (inode.mtime, inode.mode);
        Stat { kind: FileKind::File, len, mtime, ctime: mtime, ino, mode, owner: (1, 1) }
    }
}

fn crashed() -> io::Error {
    io::Error::other("the process is dead")
}
