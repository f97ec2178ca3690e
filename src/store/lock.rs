//! The lock: flock on a file that is never unlinked, waited for with a limit.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::store::{
    LockHolder, Result, StoreError,
    disk::{Access, Disk, DiskFile, FileKind, read::open_existing},
    error::At as _,
};

/// The lock, held until this value is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    _file: Box<dyn DiskFile>,
}

/// What the holder leaves in the lock file for those who wait.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    pid: u32,
    actor: String,
    command: String,
    since: String,
}

/// Takes the lock for changing the state, creating the lock file when absent.
pub(super) fn exclusive(
    disk: &dyn Disk,
    path: &Path,
    wait: Duration,
    holder: &LockHolder,
) -> Result<Lock> {
    let file = match disk.open(path, Access::WriteOrCreate) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(moved_error(path)),
        other => other.at(path)?,
    };
    let file = acquire(disk, path, file, true, wait)?;
    if holder.cancellation.prevents_start() {
        return Err(StoreError::Cancelled);
    }
    let note = Note {
        pid: std::process::id(),
        actor: holder.actor.clone(),
        command: holder.command.clone(),
        since: holder.time.clone(),
    };
    if let Ok(mut line) = serde_json::to_vec(&note) {
        line.push(b'\n');
        // Only information for others: a full disk must not keep the holder from its work.
        let _ = file.write_at(&line, 0);
    }
    Ok(Lock { _file: file })
}

/// Takes the lock for reading; `None` when there is no lock file and so no writer.
pub(super) fn shared(disk: &dyn Disk, path: &Path, wait: Duration) -> Result<Option<Lock>> {
    let Some((file, _)) = open_existing(disk, path, Access::Read)? else {
        return Ok(None);
    };
    Ok(Some(Lock { _file: acquire(disk, path, file, false, wait)? }))
}

/// Takes the lock, and makes sure that the directory is still the one it belongs to: it may have
/// been moved, and another put in its place, while this call was waiting.
fn acquire(
    disk: &dyn Disk,
    path: &Path,
    file: Box<dyn DiskFile>,
    exclusive: bool,
    wait: Duration,
) -> Result<Box<dyn DiskFile>> {
    let file = wait_for(disk, path, file, exclusive, wait)?;
    // By its path and not through the directory that this session holds, which moves along.
    let here = disk.stat_by_path(path).at(path)?.map(|stat| (stat.kind, stat.ino));
    if here != Some((FileKind::File, file.stat_when_opened().at(path)?.ino)) {
        return Err(moved_error(path));
    }
    disk.forget_directories();
    Ok(file)
}

fn moved_error(path: &Path) -> StoreError {
    let dir = path.ancestors().nth(2).unwrap_or(path);
    StoreError::Moved { path: dir.into() }
}

fn wait_for(
    disk: &dyn Disk,
    path: &Path,
    file: Box<dyn DiskFile>,
    exclusive: bool,
    wait: Duration,
) -> Result<Box<dyn DiskFile>> {
    if file.try_lock(exclusive).at(path)? {
        return Ok(file);
    }
    let timeout =
        |waited| Err(StoreError::LockTimeout { holder: describe_holder(disk, path), waited });
    if wait.is_zero() {
        return timeout(wait);
    }
    let started = Instant::now();
    // A thread blocks in the kernel's queue, which is fair and needs no polling. If it gets the
    // lock after the deadline, nobody receives the file, so it is closed and the lock is free.
    let (sender, receiver) = mpsc::sync_channel(1);
    std::thread::Builder::new()
        .name("lock".into())
        .spawn(move || {
            let result = file.lock(exclusive);
            let _ = sender.send(result.map(|()| file));
        })
        .at(path)?;
    match receiver.recv_timeout(wait) {
        Ok(result) => result.at(path),
        Err(_) => timeout(started.elapsed()),
    }
}

fn describe_holder(disk: &dyn Disk, path: &Path) -> String {
    let unknown = || "another process".to_owned();
    let mut buf = vec![0; 4096];
    let Ok(read) = disk.open(path, Access::Read).and_then(|file| file.read_at(&mut buf, 0)) else {
        return unknown();
    };
    buf.truncate(read);
    let line = buf.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let Ok(note) = serde_json::from_slice::<Note>(line) else {
        return unknown();
    };
    let Note { pid, actor, command, since } = note;
    // Readers leave no note, so the note of a process that is gone says who was last.
    let mut text = match disk.process_alive(pid) {
        Some(false) => format!("another process; the last known holder was process {pid}"),
        _ => format!("process {pid}"),
    };
    for (label, value) in [("actor", actor), ("command", command), ("since", since)] {
        if !value.is_empty() {
            text.push_str(&format!(", {label} `{value}`"));
        }
    }
    text
}
