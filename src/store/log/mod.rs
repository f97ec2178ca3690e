//! Writing the log: the commit point, creating a log, starting a new segment.

pub(in crate::store) mod byte_text;
pub(in crate::store) mod hash;
pub(in crate::store) mod head;
pub(in crate::store) mod losses;
pub(in crate::store) mod lost_files;
pub(in crate::store) mod operation;
pub(in crate::store) mod rebuild;
pub(in crate::store) mod record;
pub(in crate::store) mod segment;
pub(in crate::store) mod splice;
pub(in crate::store) mod tail;
pub(in crate::store) mod validate;

use crate::store::{
    Operation, Result, StoreError,
    disk::{
        Access, Disk, DiskFile, WORTH_SEALING,
        publish::{ensure_dir, ensure_dir_all, parent_of, publish},
        read::read_range,
    },
    error::At as _,
    log::{
        head::Head,
        segment::{Header, LIMIT, Segment},
    },
    paths::Paths,
};

/// The newest segment, open for the next record.
#[derive(Debug)]
pub(in crate::store) struct Log {
    pub number: u64,
    /// Where the next record goes.
    pub end: u64,
    /// Where the last line begins, and its checksum.
    pub last: u64,
    pub sum: String,
    file: Box<dyn DiskFile>,
}

impl Log {
    /// Continues a segment at a place known to be its end.
    pub(in crate::store) fn resume(
        file: Box<dyn DiskFile>,
        number: u64,
        end: u64,
        last: u64,
        sum: String,
    ) -> Log {
        Log { number, end, last, sum, file }
    }

    /// The time of the last change of the segment, if its last line is long and every later change
    /// will have another time.
    pub(in crate::store) fn seal(&self) -> Option<i64> {
        let is_long = self.end - self.last >= WORTH_SEALING as u64;
        let sealed = is_long.then(|| self.file.seal().ok().flatten())??;
        Some(sealed.ctime).filter(|_| sealed.len == self.end)
    }

    /// Opens a segment that was read, and cuts off the operation that never happened.
    ///
    /// The directory is synced because the process that created the segment may have stopped
    /// before it could: a record must not go into a file that a power loss takes away.
    pub(in crate::store) fn reopen(
        disk: &dyn Disk,
        paths: &Paths,
        segment: &Segment,
    ) -> Result<Log> {
        let path = paths.segment(segment.number);
        let file = disk.open(&path, Access::Append).at(&path)?;
        if segment.torn > 0 {
            file.set_len(segment.end).at(&path)?;
        }
        disk.sync_dir(&paths.log()).at(&paths.log())?;
        let (last, sum) = match segment.records.last() {
            Some(placed) => (placed.offset, placed.sum.clone()),
            None => (0, checksum_of(&record::encode(&segment.header).at(&path)?)),
        };
        Ok(Log { number: segment.number, end: segment.end, last, sum, file })
    }

    /// Creates a log whose first segment holds one operation, creating the directories.
    pub(in crate::store) fn create(
        disk: &dyn Disk,
        paths: &Paths,
        header: &Header,
        op: &Operation,
    ) -> Result<Log> {
        create_directories(disk, paths)?;
        let path = paths.segment(header.segment);
        let first = record::encode(header).at(&path)?;
        let line = record::encode(op).at(&path)?;
        let bytes = [first.as_slice(), &line].concat();
        let founded = publish(disk, paths, &path, &bytes)
            .and_then(|()| disk.sync_dir(&paths.log()).at(&paths.log()))
            .and_then(|()| disk.open(&path, Access::Append).at(&path));
        match founded {
            Ok(file) => Ok(Log {
                number: header.segment,
                end: bytes.len() as u64,
                last: first.len() as u64,
                sum: checksum_of(&line),
                file,
            }),
            Err(error) => {
                // Reported as failed, so it must not turn up as done.
                let _ = disk.remove(&path);
                Err(error)
            }
        }
    }

    /// Starts the segment after this one. The old one stays as it is.
    pub(in crate::store) fn rotate(
        &mut self,
        disk: &dyn Disk,
        paths: &Paths,
        header: &Header,
    ) -> Result<()> {
        let path = paths.segment(header.segment);
        let line = record::encode(header).at(&path)?;
        publish(disk, paths, &path, &line)?;
        disk.sync_dir(&paths.log()).at(&paths.log())?;
        let file = disk.open(&path, Access::Append).at(&path)?;
        *self = Log {
            number: header.segment,
            end: line.len() as u64,
            last: 0,
            sum: checksum_of(&line),
            file,
        };
        Ok(())
    }

    /// Appends a record and syncs it: the commit point. After an error the record is not there.
    pub(in crate::store) fn append(
        &mut self,
        disk: &dyn Disk,
        paths: &Paths,
        op: &Operation,
    ) -> Result<()> {
        let path = paths.segment(self.number);
        let line = record::encode(op).at(&path)?;
        let bytes = self.end + line.len() as u64;
        if bytes > LIMIT {
            return Err(StoreError::TooLarge { path, bytes, limit: LIMIT });
        }
        if let Err(error) = self.file.append(&line).at(&path) {
            // If cutting fails too, the tail is torn and the next writer cuts it.
            let _ = self.file.set_len(self.end);
            return Err(error);
        }
        if let Err(error) = self.file.sync().at(&path) {
            self.withdraw(disk, paths);
            return Err(error);
        }
        self.last = self.end;
        self.end += line.len() as u64;
        self.sum = checksum_of(&line);
        Ok(())
    }

    /// Syncs what another process wrote but may not have synced.
    pub(in crate::store) fn sync(&self, paths: &Paths) -> Result<()> {
        self.file.sync().at(&paths.segment(self.number))
    }

    /// Replaces the segment by its valid part.
    ///
    /// A failed sync must not be retried on the same descriptor: the kernel may have dropped the
    /// pages and would report success.
    fn withdraw(&mut self, disk: &dyn Disk, paths: &Paths) {
        let path = paths.segment(self.number);
        // First the quick way, so that the record is gone even if the disk takes nothing more.
        let _ = self.file.set_len(self.end);
        let _ = read_range(&*self.file, &path, 0, self.end)
            .and_then(|valid| publish(disk, paths, &path, &valid))
            .and_then(|()| disk.sync_dir(&paths.log()).at(&paths.log()));
    }
}

/// Creates what a log needs around it, durably.
pub(in crate::store) fn create_directories(disk: &dyn Disk, paths: &Paths) -> Result<()> {
    ensure_private(disk, paths)?;
    ensure_dir(disk, &paths.log(), true)?;
    ensure_dir(disk, &paths.tmp(), true)?;
    Head::forget(disk, paths)?;
    let ignore = paths.ignore();
    if disk.stat(&ignore).at(&ignore)?.is_none() {
        publish(disk, paths, &ignore, b"*\n")?;
    }
    disk.sync_dir(&paths.private).at(&paths.private)?;
    disk.sync_dir(&paths.dir).at(&paths.dir)?;
    let parent = parent_of(&paths.dir);
    match disk.sync_dir(parent) {
        // A parent that may be passed but not listed was not made by us.
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => Ok(()),
        other => other.at(parent),
    }
}

/// Creates the state directory and the private one in it, for the lock.
pub(in crate::store) fn ensure_private(disk: &dyn Disk, paths: &Paths) -> Result<()> {
    ensure_dir_all(disk, &paths.dir)?;
    ensure_dir(disk, &paths.private, true)?;
    Ok(())
}

fn checksum_of(line: &[u8]) -> String {
    String::from_utf8_lossy(line.get(..record::SUM_LEN).unwrap_or_default()).into_owned()
}
