//! Whether what is about to be committed still has every entry of what was committed before.

use std::{
    collections::{BTreeSet, HashSet},
    path::Path,
};

use serde::Serialize;

use super::removed::{is_in_ancestor, wanted};
use crate::{
    adapters::git::{
        GitError,
        program::{AS_IT_IS, Git},
        repository::Repository,
    },
    domain::{ErrorCode, StateFile},
    history::{SegmentKind, segments, verify},
    merge::conflicts,
    store::AppendedView,
    text::display::counted,
};

/// Why a commit would lose or damage state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Shrunk {
    /// The file, from the top of the working tree.
    pub path: String,
    /// What is wrong.
    pub problem: String,
}

const REMOVED: &str = "the history would be removed";

impl Shrunk {
    /// What can be done about it.
    pub(crate) fn hint(&self) -> &'static str {
        if self.problem == REMOVED {
            return "`statedir archive` keeps it; `git commit --no-verify` removes it, if that is intended";
        }
        "`statedir merge --list` and `statedir history verify` show more"
    }
}

/// Checks the staged state files of the repository whose git runs us, or that the working directory
/// is in: history.md must verify and hold all entries of every parent of the commit, and no file
/// may hold conflicts.
pub(crate) fn check_staged() -> Result<Vec<Shrunk>, GitError> {
    let git = Git::that_called()?;
    git.ask_text(&["rev-parse", "--show-toplevel"])?;
    let has_head = git.run(&["rev-parse", "--verify", "--quiet", "HEAD"], "")?;
    let against = if has_head.status.success() { "HEAD" } else { "" };
    let mut args = vec!["diff", "--cached", "--name-only", "-z", "--no-renames"];
    args.extend(AS_IT_IS);
    let empty = git.run(&["hash-object", "-t", "tree", "/dev/null"], "")?;
    let empty = String::from_utf8_lossy(&empty.stdout).trim().to_owned();
    args.push(if against.is_empty() { &empty } else { against });
    let mut listing = git.ask_text(&args)?;
    // A file that is unchanged on our side may still lack what the other side wrote.
    let other = git.run(&["rev-parse", "--verify", "--quiet", "MERGE_HEAD"], "")?;
    if other.status.success() {
        args.pop();
        args.push("MERGE_HEAD");
        listing.push_str(&git.ask_text(&args)?);
    }
    let mut found = Vec::new();
    let paths: BTreeSet<&str> = listing.split('\0').filter(|path| !path.is_empty()).collect();
    let is_history = |path: &&str| path.rsplit('/').next() == Some(StateFile::History.name());
    let histories: Vec<&str> = paths.iter().copied().filter(is_history).collect();
    for path in paths {
        let name = path.rsplit('/').next().unwrap_or_default();
        let file = StateFile::FIVE.into_iter().find(|file| file.name() == name);
        let Some(file) = file.filter(|_| is_state(&git, path)) else { continue };
        let mut problem = |problem: String| found.push(Shrunk { path: path.to_owned(), problem });
        let staged = git.blob(&format!(":0:{path}"));
        let is_unmerged = staged.is_none()
            && ["2", "3"].iter().any(|stage| git.blob(&format!(":{stage}:{path}")).is_some());
        if is_unmerged {
            problem("git reports it as unmerged".to_owned());
            continue;
        }
        if let Some(bytes) = &staged {
            for conflict in conflicts(file, bytes) {
                problem(format!("the merge conflict in `{}` is unresolved", conflict.field));
            }
        }
        if file != StateFile::History {
            continue;
        }
        let Some(staged) = staged else {
            let is_kept = |before: &[u8]| {
                let others = histories.iter().filter_map(|path| git.blob(&format!(":0:{path}")));
                others.into_iter().any(|other| lost(before, &other) == 0)
            };
            // A state may be moved, or put into an archive, as a whole.
            if !git.blob(&format!("HEAD:{path}")).is_some_and(|before| is_kept(&before)) {
                problem(REMOVED.to_owned());
            }
            continue;
        };
        let checked = verify(staged.as_slice(), &[], &mut |_| {});
        let checked = checked.map_err(|error| {
            GitError::refused(
                ErrorCode::Unreadable,
                error.to_string(),
                "`statedir check` lists the problems",
            )
        })?;
        if let Some(first) = checked.problems.first() {
            problem(format!("the history does not verify: {}", first.message));
        }
        for parent in ["HEAD", "MERGE_HEAD"] {
            let Some(before) = git.blob(&format!("{parent}:{path}")) else { continue };
            let lost = lost(&before, &staged);
            if lost > 0 {
                let entries = counted(lost, "entry", "entries");
                problem(format!("{entries} of {parent} would be lost or changed"));
            }
        }
    }
    Ok(found)
}

/// Whether a missing entry was written on another branch: a commit of one has it, but none that this
/// branch comes from, and the history of `dir` holds every entry that is committed where this
/// branch stands.
pub(crate) fn is_entry_elsewhere(dir: &Path, history: &AppendedView, id: &str) -> bool {
    let name = StateFile::History.name();
    let Ok(repository) = Repository::around(dir) else { return false };
    let committed = repository.blob("HEAD", name);
    let (Some(committed), Ok(found), true) = (committed, history.read_from(0), history.exists())
    else {
        return false;
    };
    let path = repository.path(name);
    let [regex, wanted] = wanted(id);
    let of_all = ["--exclude=refs/stash", "--all", "-m", "-1", "--format=%H"];
    let args = [of_all.as_slice(), &[&regex, &wanted, "--", &path]].concat();
    lost(&committed, &found) == 0
        && repository
            .git
            .ask(&[&["log"], AS_IT_IS.as_slice(), &args].concat())
            .is_ok_and(|commits| !commits.is_empty())
        && !is_in_ancestor(&repository, id)
}

/// How many entries of `before` are not in `after` as they were.
fn lost(before: &[u8], after: &[u8]) -> usize {
    let kept = entries(after);
    entries(before).iter().filter(|entry| !kept.contains(*entry)).count()
}

fn entries(log: &[u8]) -> HashSet<String> {
    let entry = |segment: &crate::history::Segment| segment.kind != SegmentKind::Text;
    let text = |segment: crate::history::Segment| {
        let bytes = log.get(segment.span).unwrap_or_default().trim_ascii();
        String::from_utf8_lossy(bytes).replace("\r\n", "\n")
    };
    segments(log).into_iter().filter(entry).map(text).collect()
}

/// A state file has others of the five beside it; a `plan.md` alone may belong to anything.
fn is_state(git: &Git, path: &str) -> bool {
    let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
    let beside = |file: &&StateFile| {
        let other = if parent.is_empty() {
            file.name().to_owned()
        } else {
            format!("{parent}/{}", file.name())
        };
        let literal = format!(":(top,literal){other}");
        let before = format!("HEAD:{other}");
        // A whole state that is being removed is in the last commit only.
        let is_known = || {
            [
                ["--no-literal-pathspecs", "ls-files", "--error-unmatch", "--", &literal]
                    .as_slice(),
                &["cat-file", "-e", &before],
            ]
            .iter()
            .any(|args| git.run(args, "").is_ok_and(|output| output.status.success()))
        };
        other != path && is_known()
    };
    StateFile::FIVE.iter().filter(beside).count() >= 2
}
