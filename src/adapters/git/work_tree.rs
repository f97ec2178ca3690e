//! The git work tree around a project, where `git` is available.

use std::{path::Path, time::Duration};

use super::program::Git;
use crate::recovery::GitSeen;

/// How many files and commits are listed.
const MOST: usize = 20;
/// How long git may take.
const LIMIT: Duration = Duration::from_secs(5);
/// How much it may print.
const MOST_BYTES: usize = 4 << 20;

/// What git says about the work tree at `root`, without the state directory itself; `None` where
/// there is no git or no work tree.
pub(in super::super) fn look(root: &Path, state: &Path, since: Option<&str>) -> Option<GitSeen> {
    let git = Git::around(root).ok()?;
    let ask = |args: &[&str]| git.ask_within(args, LIMIT, MOST_BYTES).ok();
    let status = ask(&["status", "--porcelain=v1", "-z", "--untracked-files=all"])?;
    let own = state.strip_prefix(git.top()).ok().map(|dir| dir.to_string_lossy().into_owned());
    let mut seen = GitSeen::default();
    let mut records = status.split(|byte| *byte == 0).filter(|record| record.len() > 3);
    while let Some(record) = records.next() {
        let record = String::from_utf8_lossy(record);
        let Some((mark, path)) = record.split_at_checked(3) else { continue };
        if mark.starts_with(['R', 'C']) {
            records.next();
        }
        let is_own = |own: &str| !own.is_empty() && Path::new(path).starts_with(own);
        if own.as_deref().is_some_and(is_own) {
            continue;
        }
        seen.conflicts +=
            usize::from(matches!(mark, "UU " | "AA " | "DD " | "AU " | "UA " | "DU " | "UD "));
        seen.changed_count += 1;
        if seen.changed.len() < MOST {
            seen.changed.push(path.to_owned());
        }
    }
    if let Some(since) = since {
        let since = format!("--since={since}");
        let most = format!("--max-count={MOST}");
        // A repository without commits has no log.
        let log = ask(&["log", &since, &most, "--format=%h %s", "--no-show-signature"]);
        let log = log.unwrap_or_default();
        let lines = String::from_utf8_lossy(&log);
        seen.commits = lines.lines().map(|line| line.chars().take(120).collect()).collect();
    }
    Some(seen)
}
