//! Counters between operations: counted without the store's lock, recorded by the next operation
//! that reports them.
//!
//! A count is one short line at the end of a file, without a sync: it is cheap enough to be made
//! hundreds of times, moves no revision and can be lost with `.statedir/`. What was recorded is
//! another line, so that nobody who counts at the same moment is in the way.

use std::collections::BTreeMap;
use std::path::Path;

use crate::store::{
    Result, Store,
    disk::{
        Access, Disk, DiskFile,
        read::{open_existing, read_range},
    },
    error::At as _,
};

/// From this size on, the lines are summed up.
const LIMIT: u64 = 64 * 1024;

/// The same where something was recorded, after which most of them are of no use.
const LIMIT_RECORDED: u64 = 4 * 1024;

/// The prefix of an amount that an operation has recorded.
const RECORDED: &str = "recorded ";

/// How many names are counted, and how long one is.
const NAMES: usize = 100;
const LONGEST: usize = 64;

/// The highest count: the sum of several is still a number.
const MOST: u64 = 1 << 32;

/// How many milliseconds to wait for somebody who counts at the same moment.
const PATIENCE: usize = 500;

/// What was counted and no operation has recorded yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    counts: BTreeMap<String, u64>,
}

impl Tally {
    /// How often `name` was counted.
    pub(crate) fn get(&self, name: &str) -> u64 {
        self.counts.get(name).copied().unwrap_or(0)
    }

    /// Whether nothing was counted.
    pub(crate) fn is_empty(&self) -> bool {
        self.counts.values().all(|count| *count == 0)
    }

    /// What the file says; a line that is not a count counts nothing.
    fn parse(bytes: &[u8]) -> Tally {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for line in String::from_utf8_lossy(bytes).lines() {
            let Some((name, amount)) = line.split_once(' ') else { continue };
            let recorded = amount.strip_prefix(RECORDED);
            let Ok(amount) = recorded.unwrap_or(amount).parse::<u64>() else { continue };
            let is_known = counts.contains_key(name);
            if !is_name(name) || (!is_known && counts.len() >= NAMES) {
                continue;
            }
            let count = counts.entry(name.to_owned()).or_default();
            *count = match recorded {
                // What is recorded was counted in a line before.
                Some(_) => count.saturating_sub(amount),
                None => count.saturating_add(amount).min(MOST),
            };
        }
        counts.retain(|_, count| *count > 0);
        Tally { counts }
    }

    fn to_lines(&self) -> String {
        self.counts.iter().map(|(name, count)| format!("{name} {count}\n")).collect()
    }

    /// Reads the file; what cannot be read counts nothing, since no change depends on it.
    pub(super) fn load(disk: &dyn Disk, path: &Path) -> Tally {
        let read = || -> Result<Tally> {
            let Some((file, stat)) = open_existing(disk, path, Access::Read)? else {
                return Ok(Tally::default());
            };
            Ok(Tally::parse(&read_range(&*file, path, 0, stat.len.min(2 * LIMIT))?))
        };
        read().unwrap_or_default()
    }
}

impl Store {
    /// Counts `name` once more. Needs a state that has been opened for a change before.
    ///
    /// # Errors
    /// There is no `.statedir/` yet, or the disk fails.
    pub(crate) fn count(&self, name: &str) -> Result<()> {
        let this = self.session();
        let (disk, path) = (&*this.disk, this.paths.tally());
        let file = disk.open(&path, Access::AppendOrCreate).at(&path)?;
        let locked = lock_briefly(&*file);
        file.append(format!("{name} 1\n").as_bytes()).at(&path)?;
        if locked && file.stat().at(&path)?.len > LIMIT {
            compact(&*file, &path)?;
        }
        Ok(())
    }

    /// Forgets counts that an operation has recorded; what was counted since stays.
    pub(super) fn subtract(&self, recorded: &Tally) -> Result<()> {
        let (disk, path) = (&*self.disk, self.paths.tally());
        if recorded.is_empty() {
            return Ok(());
        }
        let Some((file, _)) = open_existing(disk, &path, Access::Append)? else { return Ok(()) };
        let locked = lock_briefly(&*file);
        let counts = recorded.counts.iter();
        let lines = counts.map(|(name, count)| format!("{name} {RECORDED}{count}\n"));
        file.append(lines.collect::<String>().as_bytes()).at(&path)?;
        if locked && file.stat().at(&path)?.len > LIMIT_RECORDED {
            compact(&*file, &path)?;
        }
        Ok(())
    }
}

/// Writes one line for each name instead of many. The caller holds the lock.
fn compact(file: &dyn DiskFile, path: &Path) -> Result<()> {
    let sum = Tally::parse(&read_range(file, path, 0, 2 * LIMIT)?).to_lines();
    file.set_len(0).at(path)?;
    file.append(sum.as_bytes()).at(path)
}

fn is_name(name: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    !name.is_empty() && name.len() <= LONGEST && name.bytes().all(is_word)
}

/// Locks the file against others who count or record, until it is closed.
///
/// Nobody waits for long: a line that is added meanwhile may get lost, which is better than a
/// caller that hangs because somebody was stopped at the wrong moment.
fn lock_briefly(file: &dyn DiskFile) -> bool {
    for _ in 0..PATIENCE {
        match file.try_lock(true) {
            Ok(true) => return true,
            Ok(false) => std::thread::sleep(std::time::Duration::from_millis(1)),
            Err(_) => return false,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Layout;

    fn store() -> (tempfile::TempDir, Store) {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join(".statedir")).unwrap();
        let layout = Layout {
            dir: root.path().to_owned(),
            rewritable: &["a.md"],
            appended: "log.md",
            max_bytes: 1 << 20,
            keeps_former: false,
        };
        let store = Store::new(layout);
        (root, store)
    }

    fn tally(store: &Store) -> Tally {
        Tally::load(&*store.disk, &store.paths.tally())
    }

    #[test]
    fn what_is_counted_after_it_was_recorded_stays() {
        let (_root, store) = store();
        for name in ["x", "y", "x"] {
            store.count(name).unwrap();
        }
        let recorded = tally(&store);
        assert_eq!((recorded.get("x"), recorded.get("y"), recorded.get("z")), (2, 1, 0));
        store.count("x").unwrap();
        store.subtract(&recorded).unwrap();
        let left = tally(&store);
        assert_eq!((left.get("x"), left.get("y")), (1, 0));
        store.subtract(&left).unwrap();
        assert!(tally(&store).is_empty());
    }

    /// A caller that does not get the lock in time continues without it.
    #[test]
    fn what_is_counted_while_others_record_is_not_lost_whoever_has_the_lock() {
        let (_root, store) = store();
        store.count("x").unwrap();
        let recorded = tally(&store);
        let held = std::fs::File::open(store.paths.tally()).unwrap();
        held.lock().unwrap();
        store.count("x").unwrap();
        let before = std::fs::read(store.paths.tally()).unwrap();
        store.subtract(&recorded).unwrap();
        let after = std::fs::read(store.paths.tally()).unwrap();
        assert!(after.starts_with(&before), "a line that came meanwhile would be gone");
        store.count("x").unwrap();
        assert_eq!(tally(&store).get("x"), 2);
    }

    #[test]
    fn what_was_recorded_is_summed_up_sooner() {
        let (_root, store) = store();
        for _ in 0..300 {
            store.count("file_operations").unwrap();
            store.subtract(&tally(&store)).unwrap();
            assert!(tally(&store).is_empty());
        }
        assert!(std::fs::metadata(store.paths.tally()).unwrap().len() <= LIMIT_RECORDED);
    }

    #[test]
    fn many_counts_are_summed_up() {
        let (_root, store) = store();
        let line = "file_operations 1\n".len() as u64;
        let count = LIMIT / line + 10;
        for _ in 0..count {
            store.count("file_operations").unwrap();
        }
        assert_eq!(tally(&store).get("file_operations"), count);
        assert!(std::fs::metadata(store.paths.tally()).unwrap().len() < LIMIT);
    }

    #[test]
    fn a_tally_of_a_stranger_stays_small() {
        let (_root, store) = store();
        let mut lines =
            format!("x {}\nx {}\n{} 1\na\u{1b}b 1\n", u64::MAX, u64::MAX, "y".repeat(65));
        (0..5000).for_each(|n| lines.push_str(&format!("name{n} 1\n")));
        std::fs::write(store.paths.tally(), &lines).unwrap();
        let found = tally(&store);
        assert_eq!((found.get("x"), found.counts.len()), (MOST, NAMES));
        assert_eq!((found.get("a\u{1b}b"), found.get(&"y".repeat(65))), (0, 0));
    }

    #[test]
    fn nothing_is_counted_where_there_is_no_state_and_rubbish_counts_nothing() {
        let (root, store) = store();
        std::fs::write(store.paths.tally(), b"x\nx y\n\xff 3\nx 2\nx -1\n").unwrap();
        assert_eq!(tally(&store).get("x"), 2);
        std::fs::remove_dir_all(root.path().join(".statedir")).unwrap();
        assert!(store.count("x").is_err());
        assert!(tally(&store).is_empty());
    }
}
