//! A range of revisions, as a reviewer names it.

use std::path::Path;

use crate::{
    adapters::git::{GitError, GitRevision, program::Git, read_revision},
    domain::ErrorCode,
};

/// The two ends of a range; the newer one is `None` for the working files.
#[derive(Clone, Debug)]
pub(crate) struct CommitRange {
    /// What the older end is called.
    pub from: String,
    /// The state there; empty if there was none yet.
    pub before: GitRevision,
    /// What the newer end is called.
    pub to: String,
    /// The state there.
    pub after: Option<GitRevision>,
}

/// Reads `A..B`, `A...B` (from where they part) or `A`, which goes up to the working files. Without
/// a range: what this branch has and its target does not.
///
/// # Errors
/// A revision is not known.
pub(crate) fn range(dir: &Path, text: Option<&str>) -> Result<CommitRange, GitError> {
    let git = Git::around(dir)?;
    let (from, to) = match text {
        None => (default_base(&git)?, None),
        Some(text) => match (text.split_once("..."), text.split_once("..")) {
            (Some((from, to)), _) => {
                let (from, to) = (or_head(from), or_head(to));
                (git.ask_line(&["merge-base", "--end-of-options", from, to])?, Some(to.to_owned()))
            }
            (None, Some((from, to))) => (or_head(from).to_owned(), Some(or_head(to).to_owned())),
            (None, None) => (text.to_owned(), None),
        },
    };
    let before = match read_revision(dir, &from) {
        Ok(revision) => revision,
        // The state began in this range.
        Err(GitError::NoState { .. }) => {
            let commit = git.ask_line(&["rev-parse", "--verify", "--end-of-options", &from])?;
            GitRevision { commit, files: Default::default() }
        }
        Err(error) => return Err(error),
    };
    let after = to.as_deref().map(|to| read_revision(dir, to)).transpose()?;
    let name = |name: &str, commit: &str| {
        let short = commit.get(..12).unwrap_or(commit);
        if commit.starts_with(name) { short.to_owned() } else { format!("{name} ({short})") }
    };
    let to = match (&to, &after) {
        (Some(to), Some(after)) => name(to, &after.commit),
        _ => "the working files".to_owned(),
    };
    Ok(CommitRange { from: name(&from, &before.commit), before, to, after })
}

fn or_head(text: &str) -> &str {
    if text.is_empty() { "HEAD" } else { text }
}

/// Where this branch parted from its upstream or from the main branch; else the first commit.
fn default_base(git: &Git) -> Result<String, GitError> {
    let Ok(head) = git.ask_line(&["rev-parse", "--verify", "--quiet", "HEAD"]) else {
        let hint = "`statedir commit` commits the state";
        return Err(GitError::refused(ErrorCode::NotFound, "nothing is committed yet", hint));
    };
    for other in ["@{upstream}", "origin/HEAD", "main", "master"] {
        if let Ok(base) = git.ask_line(&["merge-base", "HEAD", other])
            && base != head
        {
            return Ok(base);
        }
    }
    let roots = git.ask_text(&["rev-list", "--max-parents=0", "HEAD"])?;
    Ok(roots.lines().last().unwrap_or("HEAD").to_owned())
}
