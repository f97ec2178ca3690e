//! Every state directory below a root.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use walkdir::WalkDir;

/// The files of which a state directory holds some.
const FILES: [&str; 4] = ["context.md", "variables.json", "history.md", "constraints.md"];

/// Directories in which nobody keeps a state, and which may be very large.
const PASSED: [&str; 6] = [".git", ".hg", ".svn", "node_modules", "__pycache__", ".statedir"];

/// How far a scan goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scan {
    /// The most directories one inside the other.
    pub most_depth: usize,
    /// The most entries that are looked at.
    pub most_entries: usize,
    /// The most state directories.
    pub most_found: usize,
    /// The longest time.
    pub limit: Duration,
}

impl Scan {
    /// For somebody who waits for the answer.
    #[cfg(any(feature = "board", feature = "web"))]
    pub(crate) const QUICK: Self = Self {
        most_depth: 10,
        most_entries: 200_000,
        most_found: 500,
        limit: Duration::from_secs(5),
    };
}

impl Default for Scan {
    fn default() -> Self {
        let limit = Duration::from_secs(60);
        Self { most_depth: 20, most_entries: 2_000_000, most_found: 10_000, limit }
    }
}

/// What a scan found.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScanResult {
    /// The state directories, in order of their paths.
    pub directories: Vec<PathBuf>,
    /// Directories without a state in which there may be plans of others.
    pub adoptable: Vec<PathBuf>,
    /// The files that adopted states are made of.
    pub adopted: HashSet<PathBuf>,
    /// What was not looked at, and why.
    pub left_out: Vec<String>,
    /// Whether something of it could not be read.
    pub unread: bool,
}

/// Whether a folder below `root` holds what is over: nobody goes on there.
fn is_put_away(root: &Path, dir: &Path) -> bool {
    let below = dir.strip_prefix(root).unwrap_or(dir);
    below
        .components()
        .any(|part| ["archive", "archived"].iter().any(|name| part.as_os_str() == *name))
}

/// Finds the state directories at and below `root`. Links are not followed.
pub(crate) fn scan(root: &Path, bounds: Scan) -> ScanResult {
    let end = Instant::now() + bounds.limit;
    let mut found = ScanResult::default();
    let (mut seen, mut unreadable) = (0usize, 0usize);
    // Each is named, up to a number that a person reads.
    const NAMED: usize = 20;
    // What other systems keep in a project; whether there is a plan is for a closer look.
    let adoptable = super::adopt::entry_names();
    let mut entries = WalkDir::new(root)
        .follow_links(false)
        .max_depth(bounds.most_depth)
        .sort_by_file_name()
        .into_iter();
    while let Some(entry) = entries.next() {
        seen += 1;
        let why = if seen > bounds.most_entries {
            format!("everything after the first {} entries", bounds.most_entries)
        } else if found.directories.len() >= bounds.most_found {
            format!("everything after the first {} states", bounds.most_found)
        } else if Instant::now() > end {
            format!("what could not be reached within {:?}", bounds.limit)
        } else {
            String::new()
        };
        if !why.is_empty() {
            found.left_out.push(why);
            break;
        }
        let entry = match entry {
            Ok(entry) => entry,
            // What was removed while the scan ran is not left out: it is not there.
            Err(error) if error.io_error().is_some_and(is_gone) => continue,
            Err(error) => {
                found.unread = true;
                match error.path().filter(|_| found.left_out.len() < NAMED) {
                    Some(path) => {
                        found.left_out.push(format!("`{}`: could not be read", path.display()));
                    }
                    None => unreadable += 1,
                }
                continue;
            }
        };
        if adoptable.iter().any(|name| entry.file_name() == name.as_str())
            && let Some(parent) = entry.path().parent()
            && !is_put_away(root, parent)
            && !found.adoptable.iter().any(|known| known == parent)
        {
            found.adoptable.push(parent.to_owned());
        }
        if !entry.file_type().is_dir() {
            continue;
        }
        if entry.depth() > 0 && PASSED.iter().any(|name| entry.file_name() == *name) {
            entries.skip_current_dir();
            continue;
        }
        if is_state(entry.path()) {
            found.directories.push(entry.path().to_owned());
        }
    }
    if unreadable > 0 {
        found.left_out.push(format!("{unreadable} more that could not be read"));
    }
    for dir in &found.directories {
        if let Some(layout) = super::directory::layout_in(dir) {
            found.adopted.extend(layout.names().into_iter().map(|name| dir.join(name)));
        }
    }
    // A plan.md beside which an adopted state keeps its files makes no state of its own.
    let (adopted, is_adopted) = (&found.adopted, super::directory::is_adopted);
    found.directories.retain(|dir| {
        dir.join(".statedir").exists() || is_adopted(dir) || !adopted.contains(&dir.join("plan.md"))
    });
    let states = &found.directories;
    found.adoptable.retain(|dir| {
        let holds = |state: &PathBuf| state == dir || *state == dir.join("workspace").join("state");
        !states.iter().any(holds)
    });
    found
}

fn is_gone(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::NotFound
}

/// Whether a directory holds a state: a plan and at least one more of its files, or a log with
/// anything, so that one whose plan is lost is found, too.
fn is_state(dir: &Path) -> bool {
    let is_file = |name: &str| dir.join(name).symlink_metadata().is_ok_and(|data| !data.is_dir());
    let log = || dir.join(".statedir").symlink_metadata().is_ok_and(|data| data.is_dir());
    let plan = is_file("plan.md");
    if super::directory::is_adopted(dir) {
        return true;
    }
    if plan {
        return log() || FILES.iter().any(|name| is_file(name));
    }
    log()
}

/// Whether a state was put away: it lies in an `archive` beside or below a workspace.
pub(crate) fn is_archived(dir: &Path) -> bool {
    let parent = dir.parent().and_then(Path::file_name);
    parent.is_some_and(|name| name == "archive")
}
