//! Rebuilding the operation log from the commits.

use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;

use super::{
    has_head,
    replay::{Commit, Replay},
};
use crate::{
    adapters::git::{
        GitError, commits::version::PassedOver, install::failed, repository::Repository,
    },
    store::{LockHolder, Report, Store, private_directory},
};

/// How many commits, the newest ones, become operations.
const MOST: usize = 1000;

/// How it stands with the operation log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LogState {
    /// There was one, which was left alone.
    Kept,
    /// There was none, and now there is.
    Rebuilt,
    /// There is none, and no commit to make it from.
    #[default]
    NotFound,
}

/// What happened to the operation log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct RebuiltLog {
    /// How it stands with the log.
    pub log: LogState,
    /// How many operations it got from commits.
    pub operations: usize,
    /// How many older commits are not in it.
    pub left_out: usize,
    /// Versions that were skipped because they are unusable, oldest first.
    pub passed_over: Vec<PassedOver>,
    /// Files that differ from the newest commit, which the log says, too.
    pub edited: Vec<String>,
    /// The revision of the state.
    pub revision: Option<String>,
}

/// Makes an operation of each commit that touched the state on the checked-out branch, if there is
/// no operation log. The files stay as they are; where they differ from the newest commit, the log
/// says that they were edited.
///
/// # Errors
/// There is no repository, or the log cannot be written; then there is none.
pub(crate) fn rebuild_log(
    store: &Store,
    wait: Duration,
    holder: &LockHolder,
    dry_run: bool,
) -> Result<RebuiltLog, GitError> {
    if store.exists()?.log {
        return Ok(RebuiltLog { log: LogState::Kept, ..RebuiltLog::default() });
    }
    let repository = Repository::of(&store.layout().dir)?;
    let (commits, left_out) = commits(&repository)?;
    let mut replay = Replay::new(&repository);
    let mut relogged = RebuiltLog { left_out, ..RebuiltLog::default() };
    if commits.is_empty() {
        return Ok(relogged);
    }
    if dry_run {
        for commit in &commits {
            replay.add(commit, None)?;
        }
        relogged.operations = replay.operations;
    } else {
        let store = &store.for_change()?.0;
        let founded = store.install_rebuilt_log(wait, holder, |site| {
            let done = clear(store).and_then(|()| build(&mut replay, &commits, site));
            if done.is_err() {
                clear(store)?;
            }
            done
        })?;
        match founded {
            None if store.exists()?.log => {
                return Ok(RebuiltLog { log: LogState::Kept, ..RebuiltLog::default() });
            }
            None => {}
            Some(founded) => {
                relogged.operations = founded.built;
                relogged.revision = Some(founded.revision.as_str().to_owned());
                relogged.edited = edited(founded.reports);
            }
        }
        clear(store)?;
    }
    relogged.passed_over = replay.passed_over;
    if relogged.operations > 0 {
        relogged.log = LogState::Rebuilt;
    }
    Ok(relogged)
}

/// Replays all commits in an empty directory; returns how many operations that gave.
fn build(replay: &mut Replay<'_>, commits: &[Commit], site: &Store) -> Result<usize, GitError> {
    for commit in commits {
        replay.add(commit, Some(site))?;
    }
    Ok(site.operations(None)?.len())
}

fn edited(reports: Vec<Report>) -> Vec<String> {
    let files = |report| match report {
        Report::External { files, .. } => files,
        _ => Vec::new(),
    };
    reports.into_iter().flat_map(files).collect()
}

/// The newest commits that touched the state, oldest first, and how many more there are.
fn commits(repository: &Repository) -> Result<(Vec<Commit>, usize), GitError> {
    if !has_head(repository)? {
        return Ok((Vec::new(), 0));
    }
    let paths = repository.paths();
    let most = format!("--max-count={MOST}");
    let mut args = vec!["log", "--first-parent", &most, "-z"];
    args.extend(["--encoding=UTF-8", "--no-show-signature"]);
    args.extend(["--format=%H%x00%h%x00%ct%x00%an%x00%s", "HEAD", "--"]);
    args.extend(paths.iter().map(|(_, path)| path.as_str()));
    let listing = repository.git.ask_text(&args)?;
    let fields: Vec<&str> = listing.split('\0').collect();
    let commit = |fields: &[&str]| match fields {
        [hash, short, seconds, author, subject] => Some(Commit {
            hash: (*hash).to_owned(),
            short: (*short).to_owned(),
            time: time(seconds),
            author: one_line(author, "unknown"),
            subject: one_line(subject, ""),
        }),
        _ => None,
    };
    let mut commits: Vec<Commit> = fields.chunks(5).filter_map(commit).collect();
    commits.reverse();
    let mut left_out = 0;
    if commits.len() >= MOST {
        let mut args = vec!["rev-list", "--first-parent", "--count", "HEAD", "--"];
        args.extend(paths.iter().map(|(_, path)| path.as_str()));
        let all: usize = repository.git.ask_line(&args)?.parse().unwrap_or(0);
        left_out = all.saturating_sub(commits.len());
    }
    Ok((commits, left_out))
}

fn time(seconds: &str) -> String {
    let time = seconds.trim().parse().ok().and_then(|time| Timestamp::from_second(time).ok());
    time.unwrap_or(Timestamp::UNIX_EPOCH).strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

fn one_line(text: &str, otherwise: &str) -> String {
    let text = text.replace(|c: char| c.is_control(), " ");
    if text.trim().is_empty() { otherwise.to_owned() } else { text.trim().to_owned() }
}

/// Removes what an interrupted run left in the staging directory.
fn clear(store: &Store) -> Result<(), GitError> {
    let site = store.staging_directory();
    match private_directory(&store.layout().dir).map_err(failed)? {
        Some(dir) => dir.remove_all(site.file_name().unwrap_or_default()).map_err(failed),
        None => Ok(()),
    }
}
