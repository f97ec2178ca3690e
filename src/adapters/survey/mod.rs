//! Surveys the project's files: what exists, what changed, whether named files exist.
//!
//! The walk never follows links, leaves out what its caller says is ignored, and is bounded in
//! depth, number and time; it says what it left out.

mod ecosystem;

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime},
};

use fs_err as fs;
use walkdir::{DirEntry, WalkDir};

use self::ecosystem::{Sort, sort};
use crate::{
    recovery::{FilesSeen, NamedFile},
    workspace::WantedFile,
};

/// How far a walk goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Survey {
    /// The most files that are looked at.
    pub most_files: usize,
    /// The most directories one inside the other.
    pub most_depth: usize,
    /// The longest time.
    pub limit: Duration,
}

impl Default for Survey {
    fn default() -> Self {
        Self { most_files: 50_000, most_depth: 30, limit: Duration::from_secs(5) }
    }
}

/// How many changed files are listed.
const LISTED: usize = 20;

/// Counts the files below `root` and lists those that changed since then.
///
/// The directory `state` and everything in `ignored`, files and whole directories, are left out;
/// both are named by paths that begin with `root`.
pub(crate) fn survey(
    root: &Path,
    state: &Path,
    ignored: &HashSet<PathBuf>,
    since: Option<StepStart>,
    bounds: Survey,
) -> FilesSeen {
    let end = Instant::now() + bounds.limit;
    let mut seen = FilesSeen { root: root.display().to_string(), ..FilesSeen::default() };
    let mut walk = Walk { state, ignored, pruned: 0, unreadable: 0 };
    let mut recent: Vec<(SystemTime, String)> = Vec::new();
    let mut entries = WalkDir::new(root)
        .follow_links(false)
        .max_depth(bounds.most_depth)
        .sort_by_file_name()
        .into_iter();
    while let Some(entry) = entries.next() {
        if seen.total_files >= bounds.most_files {
            seen.left_out.push(format!("everything after the first {} files", bounds.most_files));
            break;
        }
        if Instant::now() > end {
            seen.left_out.push(format!("what could not be reached within {:?}", bounds.limit));
            break;
        }
        let Ok(entry) = entry else {
            walk.unreadable += 1;
            continue;
        };
        if entry.depth() > 0 && walk.leaves_out(&entry) {
            if entry.file_type().is_dir() {
                entries.skip_current_dir();
            }
            continue;
        }
        if entry.file_type().is_dir() {
            continue;
        }
        if !entry.file_type().is_file() {
            continue;
        }
        count(&mut seen, root, entry.path());
        let modified = entry.metadata().ok().and_then(|data| data.modified().ok());
        if let Some(modified) = modified.filter(|time| since.is_some_and(|s| s.is_before(*time))) {
            let path = entry.path().strip_prefix(root).unwrap_or(entry.path());
            recent.push((modified, path.to_string_lossy().into_owned()));
        }
    }
    recent.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    seen.recent_count = recent.len();
    seen.recent = recent.into_iter().take(LISTED).map(|(_, path)| path).collect();
    if walk.pruned > 0 {
        seen.left_out.push(format!("{} ignored files and directories", walk.pruned));
    }
    if walk.unreadable > 0 {
        seen.left_out.push(format!("{} unreadable entries", walk.unreadable));
    }
    seen
}

fn count(seen: &mut FilesSeen, root: &Path, path: &Path) {
    seen.total_files += 1;
    match sort(path.strip_prefix(root).unwrap_or(path)) {
        Sort::Test(ecosystem) => {
            seen.test_files += 1;
            *seen.ecosystems.entry(ecosystem).or_default() += 1;
        }
        Sort::Source(ecosystem) => {
            seen.source_files += 1;
            *seen.ecosystems.entry(ecosystem).or_default() += 1;
        }
        Sort::Config => seen.config_files += 1,
        Sort::Other => {}
    }
}

/// Looks for the files that a step names.
pub(crate) fn find_named(
    root: &Path,
    wanted: &[WantedFile],
    since: Option<StepStart>,
) -> Vec<NamedFile> {
    let find = |file: &WantedFile| {
        let path = root.join(&file.path);
        // What lies outside the project is no work on it, whatever a link says.
        let inside = fs::canonicalize(&path).is_ok_and(|path| path.starts_with(real(root)));
        let data = fs::metadata(&path).ok().filter(|_| inside);
        let bytes = data.as_ref().map_or(0, |data| match data.is_dir() {
            true => std::fs::read_dir(&path).map_or(0, |entries| entries.take(1000).count() as u64),
            false if is_blank(&path, data.len()) => 0,
            false => data.len(),
        });
        let modified = data.as_ref().and_then(|data| data.modified().ok());
        NamedFile {
            path: file.path.clone(),
            named_in: file.named_in,
            exists: data.is_some(),
            bytes,
            changed: since.zip(modified).map(|(since, modified)| since.is_before(modified)),
        }
    };
    wanted.iter().map(find).collect()
}

/// Whether a small file holds nothing but white space.
fn is_blank(path: &Path, len: u64) -> bool {
    const MOST: u64 = 64 << 10;
    let regular = || fs::metadata(path).is_ok_and(|data| data.is_file());
    len <= MOST
        && regular()
        && fs::read(path).is_ok_and(|bytes| bytes.iter().all(u8::is_ascii_whitespace))
}

/// The moment a step began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepStart {
    time: SystemTime,
    /// Whether a file of exactly that time is a later one.
    inclusive: bool,
}

impl StepStart {
    /// From the time in the plan, which knows seconds only; if the plan was last written within
    /// that second, or as long after it as a command takes, then that is the moment.
    pub(crate) fn new(text: &str, state: &Path) -> Option<Self> {
        let time: jiff::Timestamp = text.trim().parse().ok()?;
        let time = SystemTime::from(time);
        let written = fs::metadata(state.join("plan.md")).and_then(|data| data.modified()).ok();
        let within = |written: &SystemTime| {
            written.duration_since(time).is_ok_and(|later| later < Duration::from_millis(1_500))
        };
        Some(match written.filter(within) {
            Some(written) => Self { time: written, inclusive: false },
            None => Self { time, inclusive: true },
        })
    }

    fn is_before(self, time: SystemTime) -> bool {
        if self.inclusive { time >= self.time } else { time > self.time }
    }
}

/// What a walk leaves out.
struct Walk<'a> {
    state: &'a Path,
    ignored: &'a HashSet<PathBuf>,
    pruned: usize,
    unreadable: usize,
}

impl Walk<'_> {
    fn leaves_out(&mut self, entry: &DirEntry) -> bool {
        let (path, is_dir) = (entry.path(), entry.file_type().is_dir());
        let name = entry.file_name().to_string_lossy();
        // Version control and our own files are no part of the work.
        if is_dir && (matches!(&*name, ".git" | ".hg" | ".svn") || path == self.state) {
            return true;
        }
        let made = is_dir
            && (matches!(&*name, "node_modules" | "__pycache__" | ".venv" | ".statedir")
                || path.join("CACHEDIR.TAG").is_file());
        let out = made || self.ignored.contains(path);
        self.pruned += usize::from(out);
        out
    }
}

/// The directory with symbolic links resolved where that can be done.
pub(super) fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// The project of a state directory: the one above `workspace/state`, else the git work tree it is
/// in, else the working directory if that is above it, else its parent.
///
/// A directory that holds everybody's files is no project; then there is none.
pub(crate) fn project_root(state: &Path) -> Option<PathBuf> {
    let state = real(state);
    let mut above = state.ancestors().skip(1);
    let parent = above.next()?;
    let named = |path: &Path, name: &str| path.file_name().is_some_and(|found| found == name);
    if named(&state, "state") && named(parent, "workspace") {
        return parent.parent().map(Path::to_owned);
    }
    if let Some(tree) = state.ancestors().find(|dir| dir.join(".git").exists()) {
        return Some(tree.to_owned());
    }
    let here = std::env::current_dir().map(|dir| real(&dir)).ok();
    if let Some(here) = here.filter(|here| state.starts_with(here) && !is_common(here)) {
        return Some(here);
    }
    (!is_common(parent)).then(|| parent.to_owned())
}

/// Whether a directory holds everybody's files.
fn is_common(dir: &Path) -> bool {
    let home = std::env::var_os("HOME").map(|home| real(Path::new(&home)));
    dir.parent().is_none() || home.as_deref() == Some(dir) || real(&std::env::temp_dir()) == dir
}

#[cfg(test)]
mod tests;
