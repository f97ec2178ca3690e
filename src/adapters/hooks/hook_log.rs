//! `.statedir/hook.log`, of bounded size: what went wrong in hooks.

use std::{io, path::Path};

use crate::store::{Directory, FileKind, private_directory};

const NAME: &str = "hook.log";
/// From this size on, the older half is dropped.
const LIMIT: u64 = 64 << 10;
/// The longest line.
const LONGEST: usize = 600;

/// Appends a line. Failing here is not worth a failure.
pub(crate) fn log_failure(state: &Path, time: &str, event: &str, message: &str) {
    let _ = append(state, time, event, message);
}

fn append(state: &Path, time: &str, event: &str, message: &str) -> io::Result<()> {
    // Only a state that is in use has a log: a hook creates nothing.
    let Some(private) = private_directory(state)? else { return Ok(()) };
    let long = private.stat(NAME)?.filter(|stat| stat.kind == FileKind::File && stat.len > LIMIT);
    if long.is_some() {
        drop_older_half(&private)?;
    }
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    let line: String =
        format!("{time} {event} {message}").chars().map(clean).take(LONGEST).collect();
    private.append(NAME, format!("{line}\n").as_bytes())
}

/// Keeps the newer half, from the beginning of a line. A file that is far too long is not ours.
fn drop_older_half(private: &Directory) -> io::Result<()> {
    let bytes = match private.read(NAME, 2 * LIMIT) {
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => Vec::new(),
        other => other?.unwrap_or_default(),
    };
    let half = bytes.get(bytes.len() / 2..).unwrap_or_default();
    let start = half.iter().position(|byte| *byte == b'\n').map_or(half.len(), |at| at + 1);
    private.replace(NAME, half.get(start..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    #[test]
    fn the_log_stays_small_and_has_one_line_each() {
        let root = tempfile::tempdir().unwrap();
        log_failure(root.path(), "t", "Stop", "nobody is there");
        assert!(!root.path().join(".statedir").exists());
        fs::create_dir(root.path().join(".statedir")).unwrap();
        for n in 0..2000 {
            log_failure(root.path(), "t", "Stop", &format!("{n}\nforged {}", "x".repeat(100)));
        }
        let text = fs::read_to_string(root.path().join(".statedir/hook.log")).unwrap();
        assert!(text.len() as u64 <= LIMIT + LONGEST as u64, "{}", text.len());
        assert!(text.lines().all(|line| line.starts_with("t Stop ")));
        assert!(text.contains("1999 forged"));
    }

    #[test]
    fn links_in_the_place_of_the_log_or_its_directory_lead_nowhere() {
        let root = tempfile::tempdir().unwrap();
        let [state, victims] = ["state", "victims"].map(|name| root.path().join(name));
        let private = state.join(".statedir");
        fs::create_dir_all(&private).unwrap();
        fs::create_dir(&victims).unwrap();
        let victim = victims.join("hook.log");
        let kept = "x".repeat(2 * LIMIT as usize);
        fs::write(&victim, &kept).unwrap();
        let logged = || {
            log_failure(&state, "t", "Stop", "bad");
            assert_eq!(fs::read_to_string(&victim).unwrap(), kept);
            assert_eq!(fs::read_dir(&victims).unwrap().count(), 1);
        };

        symlink(&victim, private.join("hook.log")).unwrap();
        logged();
        fs::remove_file(private.join("hook.log")).unwrap();

        // A long log that is to be shortened, and a link where its new content used to be put.
        fs::write(private.join("hook.log"), "line\n".repeat(LIMIT as usize / 4)).unwrap();
        symlink(&victim, private.join("hook.new")).unwrap();
        logged();
        assert!(fs::metadata(private.join("hook.log")).unwrap().len() < LIMIT);
        assert!(private.join("hook.new").is_symlink());

        fs::remove_dir_all(&private).unwrap();
        symlink(&victims, &private).unwrap();
        logged();

        // The control: through the path, the victim is hit.
        fs::write(private.join("hook.log"), "bad").unwrap();
        assert_ne!(fs::read_to_string(&victim).unwrap(), kept);
    }
}
