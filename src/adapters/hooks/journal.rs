//! What went wrong in hooks: a log of bounded size beside the operation log.

use std::{
    fs,
    io::{self, Write as _},
    path::Path,
};

/// From this size on, the older half goes.
const LIMIT: u64 = 64 << 10;
/// The longest line.
const LONGEST: usize = 600;

/// Notes a line. Whatever fails here is not worth a failure.
pub fn note(state: &Path, time: &str, event: &str, message: &str) {
    let _ = append(state, time, event, message);
}

fn append(state: &Path, time: &str, event: &str, message: &str) -> io::Result<()> {
    let private = state.join(".statedir");
    // Only a state that is in use has a log: a hook creates nothing.
    if !fs::symlink_metadata(&private)?.is_dir() {
        return Ok(());
    }
    let path = private.join("hook.log");
    match fs::symlink_metadata(&path) {
        Ok(meta) if !meta.is_file() => return Ok(()),
        Ok(meta) if meta.len() > LIMIT => shorten(&path)?,
        _ => {}
    }
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    let line: String =
        format!("{time} {event} {message}").chars().map(clean).take(LONGEST).collect();
    let mut file = fs::OpenOptions::new().append(true).create(true).open(&path)?;
    file.write_all(format!("{line}\n").as_bytes())
}

/// Keeps the newer half, from a line's beginning on.
fn shorten(path: &Path) -> io::Result<()> {
    let bytes = fs::read(path)?;
    let half = bytes.get(bytes.len() / 2..).unwrap_or_default();
    let start = half.iter().position(|byte| *byte == b'\n').map_or(half.len(), |at| at + 1);
    let new = path.with_extension("new");
    fs::write(&new, half.get(start..).unwrap_or_default())?;
    fs::rename(&new, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_stays_small_and_has_one_line_each() {
        let root = tempfile::tempdir().unwrap();
        note(root.path(), "t", "Stop", "nobody is there");
        assert!(!root.path().join(".statedir").exists());
        fs::create_dir(root.path().join(".statedir")).unwrap();
        for n in 0..2000 {
            note(root.path(), "t", "Stop", &format!("{n}\nforged {}", "x".repeat(100)));
        }
        let text = fs::read_to_string(root.path().join(".statedir/hook.log")).unwrap();
        assert!(text.len() as u64 <= LIMIT + LONGEST as u64, "{}", text.len());
        assert!(text.lines().all(|line| line.starts_with("t Stop ")));
        assert!(text.contains("1999 forged"));
    }
}
