//! Counters between operations: counted without the store's lock, taken up by the next operation
//! that tells of them.
//!
//! A count is one short line at the end of a file, without a sync: it is cheap enough to be made
//! hundreds of times, moves no revision and can be lost with `.statedir/`.

use std::collections::BTreeMap;
use std::path::Path;

use super::disk::{Access, Disk};
use super::error::At as _;
use super::files::{read_range, require_file};
use super::{Result, Store};

/// From this size on, the lines are summed up.
const LIMIT: u64 = 64 * 1024;

/// How many milliseconds to wait for somebody who counts at the same moment.
const PATIENCE: usize = 20;

/// What was counted and no operation has told of yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    counts: BTreeMap<String, u64>,
}

impl Tally {
    /// How often `name` was counted.
    pub fn get(&self, name: &str) -> u64 {
        self.counts.get(name).copied().unwrap_or(0)
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.counts.values().all(|count| *count == 0)
    }

    /// What the file says; a line that is not a count counts nothing.
    fn parse(bytes: &[u8]) -> Tally {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for line in String::from_utf8_lossy(bytes).lines() {
            let Some((name, amount)) = line.split_once(' ') else { continue };
            let Ok(amount) = amount.parse::<u64>() else { continue };
            let count = counts.entry(name.to_owned()).or_default();
            *count = count.saturating_add(amount);
        }
        Tally { counts }
    }

    fn to_lines(&self) -> String {
        self.counts.iter().map(|(name, count)| format!("{name} {count}\n")).collect()
    }

    /// Reads the file; what cannot be read counts nothing, since no change depends on it.
    pub(super) fn load(disk: &dyn Disk, path: &Path) -> Tally {
        let read = || -> Result<Tally> {
            let Some(stat) = require_file(disk, path)? else { return Ok(Tally::default()) };
            let file = disk.open(path, Access::Read).at(path)?;
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
    pub fn count(&self, name: &str) -> Result<()> {
        let (disk, path) = (&*self.disk, self.paths.tally());
        require_file(disk, &path)?;
        let file = disk.open(&path, Access::AppendOrCreate).at(&path)?;
        // Keeps apart those who count and those who take the counts up. Nobody waits for it: a
        // line that is added meanwhile may get lost, which is better than a caller that hangs.
        let locked = file.try_lock(true).unwrap_or(false);
        file.append(format!("{name} 1\n").as_bytes()).at(&path)?;
        if locked && file.stat().at(&path)?.len > LIMIT {
            let sum = Tally::parse(&read_range(&*file, &path, 0, 2 * LIMIT)?).to_lines();
            file.set_len(0).at(&path)?;
            file.append(sum.as_bytes()).at(&path)?;
        }
        Ok(())
    }

    /// Forgets counts that an operation has told of; what was counted since stays.
    ///
    /// # Errors
    /// The disk fails.
    pub fn settle(&self, told: &Tally) -> Result<()> {
        let (disk, path) = (&*self.disk, self.paths.tally());
        if told.is_empty() || require_file(disk, &path)?.is_none() {
            return Ok(());
        }
        let file = disk.open(&path, Access::Append).at(&path)?;
        for _ in 0..PATIENCE {
            if file.try_lock(true).at(&path)? {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let mut left = Tally::parse(&read_range(&*file, &path, 0, 2 * LIMIT)?);
        for (name, count) in &mut left.counts {
            *count = count.saturating_sub(told.get(name));
        }
        left.counts.retain(|_, count| *count > 0);
        file.set_len(0).at(&path)?;
        file.append(left.to_lines().as_bytes()).at(&path)
    }
}
