//! Entries of the history that a commit removed again.
//!
//! Where only one side changed a file, git takes that version without calling the merge driver: a
//! revert of the newest commit cuts the end of the history off, and nothing in the file shows it.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    io::BufReader,
    path::Path,
};

use crate::{
    adapters::git::{program::AS_IT_IS, repository::Repository},
    domain::{Plan, StateFile},
    history::{EntryId, SegmentKind, segments, signed_ids},
    store::AppendedView,
    text::markdown::Document,
    workspace::{RemovedEntry, Remover},
};

/// How many versions of the history are compared, the newest first.
const MOST: usize = 200;
/// The largest version that is looked into.
const LARGEST: u64 = 256 << 20;
const NAME: &str = StateFile::History.name();

/// A commit that changed the history, against one of its parents.
pub(super) struct HistoryChange {
    commit: String,
    subject: String,
    is_merge: bool,
    pub(super) before: String,
    pub(super) after: String,
}

/// The entries that are committed in an ancestor of what is checked out and are not in `history`,
/// the one of `dir`, any more, the oldest first. Empty where there is no git to ask.
pub(crate) fn removed_entries(dir: &Path, history: &AppendedView) -> Vec<RemovedEntry> {
    let Ok(repository) = Repository::around(dir) else { return Vec::new() };
    let steps = steps(&repository, &["HEAD"]).unwrap_or_default();
    let sizes = sizes(&repository, &steps);
    let size = |blob: &str| sizes.get(blob).copied().unwrap_or(0);
    // A file that only grew lost nothing, except that a merge may have grown by too little.
    let is_suspect = |step: &&HistoryChange| {
        (step.is_merge || size(&step.after) < size(&step.before)) && size(&step.before) < LARGEST
    };
    let mut present = None;
    let mut removed: BTreeMap<EntryId, RemovedEntry> = BTreeMap::new();
    for step in steps.iter().filter(is_suspect).take(MOST) {
        let Some(before) = repository.git.blob(&step.before) else { continue };
        let after = repository.git.blob(&step.after).unwrap_or_default();
        if after.starts_with(&before) {
            continue;
        }
        let mut gone: BTreeSet<EntryId> = signed_ids(before.as_slice()).collect();
        let kept: BTreeSet<EntryId> = signed_ids(after.as_slice()).collect();
        gone.retain(|id| !kept.contains(id) && !removed.contains_key(id));
        if gone.is_empty() {
            continue;
        }
        let all = gone.clone();
        // Most repositories never get here, so a long history is read only once.
        let present = present.get_or_insert_with(|| present_in(history));
        gone.retain(|id| !present.contains(id));
        if gone.is_empty() || is_another(&repository, step) {
            continue;
        }
        let short = step.commit.get(..12).unwrap_or(&step.commit);
        let went_back = is_way_back(&repository, &steps, step, &all);
        for (entry, text) in texts(&before, &gone) {
            let by = format!("commit {short} ({})", step.subject);
            let remover = Remover::Commit(step.commit.clone());
            removed.insert(entry, RemovedEntry { entry, remover, by, went_back, text });
        }
    }
    removed.into_values().collect()
}

/// Whether a commit went back to a version that was committed before, or took out just what one
/// earlier commit had put in, as a revert does.
fn is_way_back(
    repository: &Repository,
    steps: &[HistoryChange],
    step: &HistoryChange,
    gone: &BTreeSet<EntryId>,
) -> bool {
    let others = || steps.iter().filter(|other| other.commit != step.commit);
    if others().any(|other| [&other.before, &other.after].contains(&&step.after)) {
        return true;
    }
    let ids = |blob: &str| -> BTreeSet<EntryId> {
        signed_ids(repository.git.blob(blob).unwrap_or_default().as_slice()).collect()
    };
    others().take(MOST).any(|other| {
        let before = ids(&other.before);
        ids(&other.after).difference(&before).eq(gone)
    })
}

/// Whether an ancestor of what is checked out has the entry.
pub(crate) fn is_in_ancestor(repository: &Repository, id: &str) -> bool {
    let ([regex, wanted], path) = (wanted(id), repository.path(NAME));
    let args = ["--full-history", "-m", "-1", "--format=%H", &regex, &wanted, "HEAD", "--", &path];
    let commits = repository.git.ask(&[&["log"], AS_IT_IS.as_slice(), &args].concat());
    commits.is_ok_and(|commits| !commits.is_empty())
}

/// The pattern for commits that added or removed the entry itself, and not one that follows it.
pub(super) fn wanted(id: &str) -> [String; 2] {
    ["--pickaxe-regex".to_owned(), format!("-S(entry=|<!-- ){id}")]
}

/// Every commit that changed the history, the newest first.
pub(super) fn steps(repository: &Repository, from: &[&str]) -> Option<Vec<HistoryChange>> {
    let format = "--format=%x01%H %P%x02%s";
    let args = ["log", "--full-history", "-m", "--raw", "--no-abbrev", "--no-renames", format];
    let path = repository.path(NAME);
    let args = [args.as_slice(), &AS_IT_IS, from, &["--", &path]].concat();
    let listing = repository.git.ask_text(&args).ok()?;
    let mut steps = Vec::new();
    for record in listing.split('\u{1}').skip(1) {
        let (head, diff) = record.split_once('\n').unwrap_or((record, ""));
        let (hashes, subject) = head.split_once('\u{2}').unwrap_or((head, ""));
        let mut hashes = hashes.split(' ');
        let commit = hashes.next().unwrap_or_default().to_owned();
        let is_merge = hashes.count() > 1;
        for line in diff.lines().filter(|line| line.starts_with(':')) {
            let mut words = line.split_whitespace().skip(2).map(str::to_owned);
            let (Some(before), Some(after)) = (words.next(), words.next()) else { continue };
            let is_new = before.bytes().all(|byte| byte == b'0');
            if !is_new {
                let (commit, subject) = (commit.clone(), subject.to_owned());
                steps.push(HistoryChange { commit, subject, is_merge, before, after });
            }
        }
    }
    Some(steps)
}

pub(super) fn sizes(repository: &Repository, steps: &[HistoryChange]) -> HashMap<String, u64> {
    let blobs: BTreeSet<&str> =
        steps.iter().flat_map(|step| [step.before.as_str(), step.after.as_str()]).collect();
    let mut input: String = blobs.into_iter().collect::<Vec<_>>().join("\n");
    input.push('\n');
    let args = ["cat-file", "--batch-check=%(objectname) %(objectsize)"];
    let Ok(output) = repository.git.run(&args, &input) else { return HashMap::new() };
    let listing = String::from_utf8_lossy(&output.stdout).into_owned();
    let pair = |line: &str| {
        let (name, size) = line.split_once(' ')?;
        Some((name.to_owned(), size.parse().ok()?))
    };
    listing.lines().filter_map(pair).collect()
}

/// The entries in the history as it is.
fn present_in(history: &AppendedView) -> BTreeSet<EntryId> {
    let reader = history.reader();
    reader.map(|reader| signed_ids(BufReader::new(reader)).collect()).unwrap_or_default()
}

/// The texts of these entries, as far as they fit their checksums.
fn texts(log: &[u8], wanted: &BTreeSet<EntryId>) -> BTreeMap<EntryId, Vec<u8>> {
    let signed = |segment: crate::history::Segment| match segment.kind {
        SegmentKind::Signed { id, intact: true } if wanted.contains(&id) => {
            Some((id, log.get(segment.span).unwrap_or_default().trim_ascii().to_vec()))
        }
        _ => None,
    };
    segments(log).into_iter().filter_map(signed).collect()
}

/// Whether the state before a commit was that of another execution, whose history ended there.
fn is_another(repository: &Repository, step: &HistoryChange) -> bool {
    let now = repository.read(StateFile::Plan).ok().flatten().and_then(execution_of);
    let parent = format!("{}^", step.commit);
    let before = repository.blob(&parent, StateFile::Plan.name()).and_then(execution_of);
    now.is_some() && before.is_some() && now != before
}

fn execution_of(plan: Vec<u8>) -> Option<String> {
    Plan::read(Document::from_bytes(plan).ok()?).metadata.execution_id
}
