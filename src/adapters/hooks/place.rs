//! Which file a path really means, and whether only `statedir` may write it.

use std::{
    collections::VecDeque,
    ffi::OsString,
    path::{Component, Path, PathBuf},
};

/// How many links are followed.
const MOST_LINKS: usize = 40;

/// What only `statedir` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protected {
    /// The append-only log.
    History,
    /// Lock, operation log and objects.
    Private,
    /// A directory that holds all of it.
    Whole,
}

impl Protected {
    /// Why a tool must not write there, and what to do instead.
    pub fn reason(self) -> &'static str {
        match self {
            Self::History => {
                "history.md is append-only and signed entry by entry; only statedir writes it. Add \
                 an entry with `statedir history add TITLE KEY=VALUE…`; finishing a step with \
                 `statedir step done|fail` writes one by itself."
            }
            Self::Private => {
                ".statedir/ holds the lock and the operation log; only statedir writes there. Use \
                 `statedir undo` to take a change back, `statedir check --fix` to repair, \
                 `statedir gc` to make room, and `statedir history add` to note something."
            }
            Self::Whole => {
                "this would take the state with its history.md and .statedir/ away. Leave the \
                 state directory where it is; `statedir undo` takes changes back, and \
                 `statedir history add` notes why."
            }
        }
    }
}

/// The state directory, by its real path.
#[derive(Clone, Debug)]
pub struct Guarded {
    state: PathBuf,
}

impl Guarded {
    /// Guards the state in `dir`.
    pub fn new(dir: &Path) -> Self {
        Self { state: real_path(dir) }
    }

    /// What a tool that writes `text`, seen from `cwd`, would write of what is protected.
    pub fn writes(&self, cwd: &Path, text: &str) -> Option<Protected> {
        self.meanings(cwd, text).find_map(|path| self.protects(&path))
    }

    /// The same for a tool that takes a whole tree away.
    pub fn removes(&self, cwd: &Path, text: &str) -> Option<Protected> {
        let mut whole = self.meanings(cwd, text).filter(|path| is_within(&self.state, path));
        let whole = whole.next().map(|_| Protected::Whole);
        self.writes(cwd, text).or(whole)
    }

    /// The state directory's path.
    pub fn state(&self) -> &Path {
        &self.state
    }

    /// A path as the kernel reads it, and as a tool does that removes `..` by itself first.
    fn meanings(&self, cwd: &Path, text: &str) -> impl Iterator<Item = PathBuf> {
        let path = cwd.join(expand_home(text));
        let plain = without_dots(&path);
        [real_path(&path), real_path(&plain)].into_iter()
    }

    fn protects(&self, path: &Path) -> Option<Protected> {
        let private = |part: &Component<'_>| is_same(part.as_os_str().to_str(), ".statedir");
        if path.components().any(|part| private(&part)) {
            return Some(Protected::Private);
        }
        let named = is_same(path.file_name().and_then(|name| name.to_str()), "history.md");
        let parent = path.parent()?;
        let here = is_within(parent, &self.state) && is_within(&self.state, parent);
        if named && (here || parent.join(".statedir").is_dir()) {
            return Some(Protected::History);
        }
        self.is_second_name(path).then_some(Protected::History)
    }

    /// Whether the path is another name of the history on disk.
    #[cfg(unix)]
    fn is_second_name(&self, path: &Path) -> bool {
        use std::os::unix::fs::MetadataExt as _;
        let id = |path: &Path| {
            let meta = std::fs::metadata(path).ok()?;
            (meta.is_file() && meta.nlink() > 1).then(|| (meta.dev(), meta.ino()))
        };
        id(path).is_some_and(|one| id(&self.state.join("history.md")) == Some(one))
    }

    #[cfg(not(unix))]
    fn is_second_name(&self, _path: &Path) -> bool {
        false
    }
}

fn is_same(name: Option<&str>, other: &str) -> bool {
    // Many file systems do not tell letter case apart, and nobody needs a `History.md` here.
    name.is_some_and(|name| name.to_lowercase() == other)
}

/// Whether `path` is `dir` or in it, without regard to letter case.
fn is_within(path: &Path, dir: &Path) -> bool {
    let lower = |part: Component<'_>| part.as_os_str().to_string_lossy().to_lowercase();
    let mut parts = path.components().map(lower);
    dir.components().map(lower).all(|part| parts.next() == Some(part))
}

pub(super) fn expand_home(text: &str) -> PathBuf {
    let rest = text.strip_prefix("~/").or(text.strip_prefix("$HOME/"));
    match (rest, std::env::var_os("HOME")) {
        (Some(rest), Some(home)) => Path::new(&home).join(rest),
        _ => PathBuf::from(text),
    }
}

/// The path without `.` and `..`, links not looked at.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

/// The path with all links followed; what is not there yet stays as it is written.
pub fn real_path(path: &Path) -> PathBuf {
    let parts = |path: &Path| -> Vec<OsString> {
        path.components().map(|part| part.as_os_str().to_owned()).collect()
    };
    let mut todo: VecDeque<OsString> = parts(path).into();
    let mut real = PathBuf::new();
    let mut links = 0;
    while let Some(part) = todo.pop_front() {
        match part.to_str() {
            Some(".") => continue,
            Some("..") => {
                real.pop();
                continue;
            }
            _ => real.push(&part),
        }
        let is_link = std::fs::symlink_metadata(&real).is_ok_and(|meta| meta.is_symlink());
        if is_link && links < MOST_LINKS {
            links += 1;
            if let Ok(target) = std::fs::read_link(&real) {
                real.pop();
                for part in parts(&target).into_iter().rev() {
                    todo.push_front(part);
                }
            }
        }
    }
    real
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project() -> (tempfile::TempDir, PathBuf, Guarded) {
        let root = tempfile::tempdir().unwrap();
        let state = root.path().join("workspace/state");
        std::fs::create_dir_all(state.join(".statedir/log")).unwrap();
        std::fs::write(state.join("history.md"), "# H\n").unwrap();
        std::fs::create_dir_all(root.path().join("src")).unwrap();
        let guarded = Guarded::new(&state);
        (root, state, guarded)
    }

    #[test]
    fn every_way_to_name_the_history_is_seen() {
        let (root, state, guarded) = project();
        let whole = state.join("history.md").display().to_string();
        for path in [
            "workspace/state/history.md",
            "./workspace//state/./history.md",
            "src/../workspace/state/history.md",
            "nowhere/../workspace/state/history.md",
            "workspace/state/HISTORY.MD",
            "WORKSPACE/state/history.md",
            &whole,
        ] {
            assert_eq!(guarded.writes(root.path(), path), Some(Protected::History), "{path}");
        }
        assert_eq!(guarded.writes(&state, "history.md"), Some(Protected::History));
        for path in [".statedir/head", ".statedir", ".StateDir/x", ".statedir/new/deep.txt"] {
            assert_eq!(guarded.writes(&state, path), Some(Protected::Private), "{path}");
        }
    }

    #[test]
    fn other_files_are_free() {
        let (root, state, guarded) = project();
        for path in [
            "history.md",
            "docs/history.md",
            "workspace/state/plan.md",
            "workspace/state/history.md.bak",
            "workspace/state/history.md/../plan.md",
            "src/statedir/x.rs",
            "",
        ] {
            assert_eq!(guarded.writes(root.path(), path), None, "{path}");
        }
        assert_eq!(guarded.writes(&state, "../history.md"), None);
        assert_eq!(guarded.removes(root.path(), "src"), None);
        assert_eq!(guarded.removes(root.path(), "workspace"), Some(Protected::Whole));
        assert_eq!(guarded.removes(root.path(), "."), Some(Protected::Whole));
    }

    #[cfg(unix)]
    #[test]
    fn links_lead_to_what_they_mean() {
        use std::os::unix::fs::symlink;
        let (root, state, guarded) = project();
        symlink("workspace/state/history.md", root.path().join("notes.md")).unwrap();
        symlink(&state, root.path().join("src/deep")).unwrap();
        symlink("notes.md", root.path().join("twice.md")).unwrap();
        symlink("loop", root.path().join("loop")).unwrap();
        symlink("workspace/state/.statedir/new", root.path().join("dangling")).unwrap();
        std::fs::hard_link(state.join("history.md"), root.path().join("hard.md")).unwrap();
        for path in ["notes.md", "twice.md", "src/deep/history.md", "hard.md"] {
            assert_eq!(guarded.writes(root.path(), path), Some(Protected::History), "{path}");
        }
        // The kernel goes through the link before it goes up; a tool may do it the other way.
        assert_eq!(guarded.writes(root.path(), "src/deep/../history.md"), None);
        assert_eq!(guarded.writes(root.path(), "dangling"), Some(Protected::Private));
        assert_eq!(guarded.writes(root.path(), "loop"), None);
    }
}
