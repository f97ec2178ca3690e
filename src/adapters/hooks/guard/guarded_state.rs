//! Which part of the state a path reaches.

use std::{
    cell::Cell,
    collections::VecDeque,
    ffi::OsString,
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use crate::{
    adapters::directory::layout_in,
    domain::{StateFile, layout::ForeignLayout},
};

/// How many links are followed.
const MOST_LINKS: usize = 40;
/// The longest text that can be a path, in bytes.
pub(super) const LONGEST_PATH: usize = 4096;
/// How many names in the paths of one event are looked up on disk; later paths are taken as written.
const MOST_LOOKUPS: usize = 1500;

/// What a path reaches; what only `statedir` writes comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::adapters::hooks) enum Reach {
    /// Lock, operation log and objects.
    Private,
    /// The append-only log.
    History,
    /// Another file of the state.
    File(&'static str),
    /// The state directory itself.
    State,
    /// A directory that contains it.
    Above,
}

impl Reach {
    /// Why a tool must not write there, and what to do instead.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::History => {
                "history.md is append-only and signed entry by entry; only statedir writes it. Add \
                 an entry with `statedir history add 'what happened'`; finishing a step with \
                 `statedir step done` writes one by itself."
            }
            Self::Private => {
                ".statedir/ holds the lock and the operation log; only statedir writes there. Use \
                 `statedir undo` to revert a change, `statedir check --fix` to repair, \
                 `statedir gc` to make room, and `statedir history add 'what happened'` to note something."
            }
            Self::File(_) | Self::State | Self::Above => {
                "this would remove the state with its history.md and .statedir/. Leave the \
                 state directory where it is; `statedir undo` reverts changes, and \
                 `statedir history add 'what happened'` notes why."
            }
        }
    }

    /// What to use instead of a command that may write there.
    pub(super) fn instead(self) -> &'static str {
        match self {
            Self::Private => "Look with `statedir op log` and `statedir check`.",
            Self::History => {
                "Use `statedir history add 'what happened'` to write, and `cat` or `grep` to read it."
            }
            Self::File(_) => "Use statedir's commands or the client's edit tool to change it.",
            Self::State | Self::Above => {
                "Name the files that are meant, or leave the state out (git: `':!workspace'`; git \
                 clean: `-e workspace`)."
            }
        }
    }

    /// What is reached, as part of a sentence.
    pub(super) fn name(self) -> String {
        match self {
            Self::Private => "the state's .statedir/".to_owned(),
            Self::History => "the state's history.md".to_owned(),
            Self::File(name) => format!("the state's {name}"),
            Self::State => "the state directory".to_owned(),
            Self::Above => "a directory that contains the state".to_owned(),
        }
    }

    /// Whether only `statedir` writes there.
    pub(super) fn is_protected(self) -> bool {
        matches!(self, Self::Private | Self::History)
    }

    /// Whether the whole state is reached.
    pub(super) fn is_whole(self) -> bool {
        matches!(self, Self::State | Self::Above)
    }
}

/// The files of a state that are not adopted from others.
pub(in crate::adapters::hooks) fn state_files() -> impl Iterator<Item = StateFile> {
    StateFile::FIVE.into_iter().chain([StateFile::Workflow])
}

/// The names in a state directory.
pub(super) fn state_names() -> impl Iterator<Item = &'static str> {
    state_files().map(StateFile::name).chain([".statedir"])
}

/// The state directory, by its real path.
#[derive(Clone, Debug)]
pub(in crate::adapters::hooks) struct GuardedState {
    state: PathBuf,
    /// The files of others that the state is made of, if it was adopted.
    layout: Option<Arc<ForeignLayout>>,
    lookups_left: Cell<usize>,
}

impl GuardedState {
    pub(in crate::adapters::hooks) fn new(dir: &Path) -> Self {
        let state = real_path(dir);
        let layout = layout_in(&state).map(Arc::new);
        Self { state, layout, lookups_left: Cell::new(MOST_LOOKUPS) }
    }

    /// What the path `text` reaches, relative to `cwd`.
    pub(super) fn reach(&self, cwd: &Path, text: &str) -> Option<Reach> {
        if text.is_empty() || text.len() > LONGEST_PATH {
            return None;
        }
        // As the kernel resolves it, and as a tool does that first removes `..` by itself.
        let path = cwd.join(expand_home(text));
        let Some(real) = self.look_up(&path) else { return reach_as_written(text) };
        let plain = without_dots(&path);
        let plain = if plain == path { None } else { self.look_up(&plain) };
        plain.into_iter().chain([real]).filter_map(|path| self.reach_of(&path)).min()
    }

    /// The real path, unless too many names were looked up already.
    pub(super) fn look_up(&self, path: &Path) -> Option<PathBuf> {
        let left = self.lookups_left.get().checked_sub(path.components().count())?;
        self.lookups_left.set(left);
        Some(real_path(path))
    }

    pub(in crate::adapters::hooks) fn directory(&self) -> &Path {
        &self.state
    }

    /// Whether git leaves the state alone when it removes what it does not track.
    pub(super) fn is_kept_by_git(&self, top: &Path) -> bool {
        let ignored = std::fs::read(self.state.join(".statedir/.gitignore"));
        let index = std::fs::read(top.join(".git/index")).unwrap_or_default();
        let tracks = |name: &str| {
            let path = self.state.join(name);
            let path = path.strip_prefix(real_path(top)).ok().and_then(Path::to_str);
            path.is_some_and(|path| index.windows(path.len()).any(|bytes| bytes == path.as_bytes()))
        };
        ignored.is_ok_and(|text| text.starts_with(b"*"))
            && match &self.layout {
                Some(layout) => {
                    let is_there = |name: &&str| self.state.join(name).exists();
                    layout.written().into_iter().filter(is_there).all(tracks)
                }
                None => StateFile::FIVE.into_iter().all(|file| tracks(file.name())),
            }
    }

    /// The append-only log.
    fn history(&self) -> PathBuf {
        let name = self.layout.as_ref().map(|layout| layout.added.history.as_str());
        self.state.join(name.unwrap_or(StateFile::History.name()))
    }

    fn reach_of(&self, path: &Path) -> Option<Reach> {
        let is_private = |part: Component<'_>| is_same(part.as_os_str().to_str(), ".statedir");
        if path.components().any(is_private) {
            return Some(Reach::Private);
        }
        if is_within(&self.state, path) {
            let itself = is_within(path, &self.state);
            return Some(if itself { Reach::State } else { Reach::Above });
        }
        let parent = path.parent()?;
        let name = path.file_name().and_then(|name| name.to_str());
        let in_state = is_within(parent, &self.state) && is_within(&self.state, parent);
        let is_other_history = || is_same(name, "history.md") && parent.join(".statedir").is_dir();
        if self.layout.is_some() {
            // The files of others are theirs to edit and to remove.
            let history = self.history();
            let is_history = is_within(path, &history) && is_within(&history, path);
            return (is_history || self.is_hard_link_to_history(path)).then_some(Reach::History);
        }
        if in_state && let Some(file) = state_names().find(|file| is_same(name, file)) {
            let history = file == StateFile::History.name();
            return Some(if history { Reach::History } else { Reach::File(file) });
        }
        (is_other_history() || self.is_hard_link_to_history(path)).then_some(Reach::History)
    }

    /// Whether the path is a hard link to the history.
    #[cfg(unix)]
    fn is_hard_link_to_history(&self, path: &Path) -> bool {
        use std::os::unix::fs::MetadataExt as _;
        let id = |path: &Path| {
            let meta = std::fs::metadata(path).ok()?;
            (meta.is_file() && meta.nlink() > 1).then(|| (meta.dev(), meta.ino()))
        };
        id(path).is_some_and(|one| id(&self.history()) == Some(one))
    }

    #[cfg(not(unix))]
    fn is_hard_link_to_history(&self, _path: &Path) -> bool {
        false
    }
}

/// What a path whose beginning is not known reaches, by its text.
pub(super) fn reach_as_written(text: &str) -> Option<Reach> {
    let text = text.to_lowercase();
    if text.split('/').any(|part| part == ".statedir") {
        return Some(Reach::Private);
    }
    let (_, rest) = text.split_once("workspace/state")?;
    match rest.strip_prefix('/').unwrap_or(rest) {
        "" => Some(Reach::State),
        "history.md" => Some(Reach::History),
        name => state_names().find(|file| *file == name).map(Reach::File),
    }
}

/// Whether a name is `other`. Many file systems ignore case, and nobody needs a `History.md` here.
fn is_same(name: Option<&str>, other: &str) -> bool {
    name.is_some_and(|name| name.to_lowercase() == other)
}

/// Whether `path` is `dir` or in it, without regard to letter case.
fn is_within(path: &Path, dir: &Path) -> bool {
    let lower = |part: Component<'_>| part.as_os_str().to_string_lossy().to_lowercase();
    let mut parts = path.components().map(lower);
    dir.components().map(lower).all(|part| parts.next() == Some(part))
}

pub(super) fn expand_home(text: &str) -> PathBuf {
    let rest = text.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
    match (rest, std::env::var_os("HOME")) {
        (Some(rest), Some(home)) => Path::new(&home).join(rest.trim_start_matches('/')),
        _ => PathBuf::from(text),
    }
}

/// The path without `.` and `..`, as if there were no links.
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

/// The path with all links followed; what does not exist yet stays as written.
pub(in crate::adapters::hooks) fn real_path(path: &Path) -> PathBuf {
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

    fn project() -> (tempfile::TempDir, PathBuf, GuardedState) {
        let root = tempfile::tempdir().unwrap();
        let state = root.path().join("workspace/state");
        std::fs::create_dir_all(state.join(".statedir/log")).unwrap();
        std::fs::write(state.join("history.md"), "# H\n").unwrap();
        std::fs::create_dir_all(root.path().join("src")).unwrap();
        let guarded = GuardedState::new(&state);
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
            assert_eq!(guarded.reach(root.path(), path), Some(Reach::History), "{path}");
        }
        assert_eq!(guarded.reach(&state, "history.md"), Some(Reach::History));
        for path in [".statedir/head", ".statedir", ".StateDir/x", ".statedir/new/deep.txt"] {
            assert_eq!(guarded.reach(&state, path), Some(Reach::Private), "{path}");
        }
    }

    #[test]
    fn other_files_are_told_apart() {
        let (root, state, guarded) = project();
        for path in [
            "history.md",
            "docs/history.md",
            "workspace/state/history.md.bak",
            "workspace/state/notes/plan.md",
            "workspace/statement",
            "src/statedir/x.rs",
            "",
        ] {
            assert_eq!(guarded.reach(root.path(), path), None, "{path}");
        }
        assert_eq!(guarded.reach(&state, "../history.md"), None);
        for (path, reach) in [
            ("workspace/state/plan.md", Reach::File("plan.md")),
            ("workspace/state/history.md/../plan.md", Reach::File("plan.md")),
            ("workspace/state", Reach::State),
            ("workspace", Reach::Above),
            (".", Reach::Above),
        ] {
            assert_eq!(guarded.reach(root.path(), path), Some(reach), "{path}");
        }
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
            assert_eq!(guarded.reach(root.path(), path), Some(Reach::History), "{path}");
        }
        // The kernel goes through the link before it goes up; a tool may do it the other way.
        assert_eq!(guarded.reach(root.path(), "src/deep/../history.md"), None);
        assert_eq!(guarded.reach(root.path(), "dangling"), Some(Reach::Private));
        assert_eq!(guarded.reach(root.path(), "loop"), None);
    }
}
