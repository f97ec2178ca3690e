//! Why nothing can be adopted, and what to do instead.

use std::path::Path;

use super::{Profile, find, profile, propose};
use crate::adapters::foreign::way_to_import;

/// Why nothing can be adopted, and what to do instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    /// What is wrong.
    pub message: String,
    /// The way out.
    pub hint: String,
}

impl From<String> for Refused {
    fn from(message: String) -> Self {
        let hint = "`statedir adopt --dry-run` shows what can be adopted here";
        Self { message, hint: hint.to_owned() }
    }
}

/// What a task looks like.
const A_TASK: &str = "a task is an item of a list with a box: `- [ ] What to do`";

impl Refused {
    /// There is nothing at a path.
    pub(super) fn missing(path: &Path) -> Self {
        let message = format!("there is neither a file nor a folder `{}`", path.display());
        let hint =
            "`statedir adopt` looks for plans here, `statedir scan` in the folders below, too";
        Self { message, hint: hint.to_owned() }
    }

    /// A file in which nothing is to be done.
    pub(super) fn without_tasks(path: &Path) -> Self {
        let message = format!("there is no task in `{}`", path.display());
        Self { message, hint: A_TASK.to_owned() }
    }

    /// A directory in which no plan was found.
    pub(super) fn nothing_in(dir: &Path) -> Self {
        let message = format!("no profile recognises a plan in `{}`", dir.display());
        let hint = way_to_import(dir).or_else(|| almost(dir)).unwrap_or_else(|| {
            let own = match dir.join("workspace/state").is_dir() {
                true => "`statedir step add 'What to do'` adds to the plan that is here",
                false => "`statedir init --goal 'What to reach'` begins a plan",
            };
            format!(
                "`statedir scan` looks in the folders below; `statedir adopt TODO.md` works in \
                 that file, or any other with tasks ({A_TASK}); {own}"
            )
        });
        Self { message, hint }
    }
}

/// What would have been a plan if there were tasks in it.
fn almost(dir: &Path) -> Option<String> {
    let mut place = None;
    for profile in profile::NAMES.iter().filter_map(|name| Profile::builtin(name)) {
        let is_there = |marker: &&String| !find::matching(dir, marker).is_empty();
        let marker = profile.markers.iter().find(is_there);
        if marker.is_none() && !profile.markers.is_empty() {
            continue;
        }
        let mut files = profile.plan.iter().flat_map(|pattern| find::matching(dir, pattern));
        if let Some(file) = files.find(|path| !profile.skips(path) && dir.join(path).is_file()) {
            let why = propose::unreadable(&dir.join(&file));
            return Some(why.unwrap_or_else(|| format!("`{file}` has no tasks: {A_TASK}")));
        }
        let pattern = profile.plan.first();
        let described = marker.zip(pattern).map(|(marker, pattern)| {
            format!("there is `{marker}`, but no file `{pattern}` in use; `statedir scan` looks in the folders below")
        });
        place = place.or(described);
    }
    place
}
