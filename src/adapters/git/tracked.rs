//! Whether the private directory of a state is under version control.

use std::{path::Path, time::Duration};

use super::{super::process::ProcessError, discovery, program::Git};

/// The private directory.
pub(super) const PRIVATE_DIR: &str = ".statedir";

/// How long git may take.
const LIMIT: Duration = Duration::from_secs(10);
/// How much is read of its answer; one name is enough.
const MOST_BYTES: usize = 64 << 10;

/// Whether git has a file in its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tracked {
    /// It has.
    Yes,
    /// It has not, or there is no git or no repository.
    No,
    /// Git cannot tell.
    Unknown,
}

/// Whether any file of the private directory of the state in `state` is in the index of a
/// repository whose work tree the state is in: then it may have come with a clone. Asks every
/// repository around, as somebody may have made one inside a clone.
///
/// Starts git, and does nothing else: what is in the directory is not looked at.
pub(crate) fn tracks(state: &Path) -> Tracked {
    let state = discovery::resolve(state);
    let mut answer = Tracked::No;
    for top in discovery::tops(&state) {
        match ask(top, &state) {
            Tracked::Yes => return Tracked::Yes,
            Tracked::Unknown => answer = Tracked::Unknown,
            Tracked::No => {}
        }
    }
    answer
}

fn ask(top: &Path, state: &Path) -> Tracked {
    let Ok(inside) = state.join(PRIVATE_DIR).strip_prefix(top).map(Path::to_owned) else {
        return Tracked::Unknown;
    };
    let Some(inside) = inside.to_str() else { return Tracked::Unknown };
    // On a case-insensitive file system git still distinguishes `.StateDir` from `.statedir`.
    let pattern = format!(":(icase,literal){inside}");
    let args = ["--no-literal-pathspecs", "ls-files", "-z", "--cached", "--", &pattern];
    match Git::at(top).ask_within(&args, LIMIT, MOST_BYTES) {
        Ok(names) if names.is_empty() => Tracked::No,
        Ok(_) | Err(ProcessError::TooMuch(_)) => Tracked::Yes,
        Err(ProcessError::Start { source, .. })
            if source.kind() == std::io::ErrorKind::NotFound =>
        {
            Tracked::No
        }
        Err(_) => Tracked::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git(dir: &Path, args: &[&str]) {
        assert!(Git::at(dir).run(args, "").unwrap().status.success(), "{args:?}");
    }

    #[test]
    fn a_private_directory_is_tracked_once_a_file_of_it_is_in_an_index() {
        let project = tempfile::tempdir().unwrap();
        let root = project.path();
        let state = root.join("workspace/state");
        let private = state.join(PRIVATE_DIR);
        std::fs::create_dir_all(&private).unwrap();
        std::fs::write(private.join("log"), "a log").unwrap();
        std::fs::write(state.join("plan.md"), "# Plan\n").unwrap();
        assert_eq!(tracks(&state), Tracked::No, "there is no repository");
        assert!(
            std::process::Command::new("git")
                .args(["init", "-q"])
                .current_dir(root)
                .status()
                .is_ok()
        );
        git(root, &["add", "--", "workspace/state/plan.md"]);
        assert_eq!(tracks(&state), Tracked::No);
        git(root, &["add", "-f", "--", "workspace/state/.statedir/log"]);
        assert_eq!(tracks(&state), Tracked::Yes);
        // A repository that somebody makes inside does not hide it.
        assert!(
            std::process::Command::new("git")
                .args(["init", "-q"])
                .current_dir(&state)
                .status()
                .is_ok()
        );
        assert_eq!(tracks(&state), Tracked::Yes);
        std::fs::remove_dir_all(root.join(".git")).unwrap();
        assert_eq!(tracks(&state), Tracked::No);
        git(&state, &["add", "-f", "--", PRIVATE_DIR]);
        assert_eq!(tracks(&state), Tracked::Yes, "its own repository has it");
        std::fs::write(state.join(".git/index"), "no index").unwrap();
        assert_eq!(tracks(&state), Tracked::Unknown);
    }
}
