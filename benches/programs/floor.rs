//! The least a durable change can do, and nothing else: start, lock, append one record with one
//! fdatasync, replace two files by temp and rename. What a mutation is measured against.
use std::{fs, io::Write as _, path::Path};

fn main() -> std::io::Result<()> {
    let dir = std::env::args().nth(1).unwrap_or_default();
    let dir = Path::new(&dir);
    let lock = fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).open(dir.join("lock"))?;
    lock.lock()?;
    let mut log = fs::OpenOptions::new().append(true).create(true).open(dir.join("log"))?;
    log.write_all(&[b'x'; 500])?;
    log.sync_data()?;
    for name in ["one", "two"] {
        let temp = dir.join(format!("{name}.tmp"));
        fs::write(&temp, [b'y'; 2048])?;
        fs::rename(&temp, dir.join(name))?;
    }
    Ok(())
}
