//! The files beside the one that git gives to the driver: the plans that belong to three versions
//! of variables.json, and the lifecycle.
//!
//! Git gives a driver one file at a time, but `step_data` repeats what the merged plan will say.
//! The commits that are being merged are found by what git leaves in the environment of a driver
//! and in its directory; they count only if they hold the very versions that are being merged.

use std::{borrow::Cow, path::Path};

use crate::{
    adapters::{
        directory::layout_in,
        git::{program::Git, repository::read_state_file},
    },
    domain::{
        StateFile, Workflow,
        layout::{ForeignLayout, LAYOUT_FILE},
    },
    rules::workflow_or_builtin,
};

/// A version of a plan; `None` where there is none.
type Version = Option<Vec<u8>>;

/// The plans beside the base, our and their version of the variables at `path`, if they are found.
pub(crate) fn plans(path: &str, versions: [&[u8]; 3]) -> Option<[Version; 3]> {
    let plan = beside(path, StateFile::Plan);
    let [base, ours, theirs] = versions;
    let git = Git::that_called().ok()?;
    let blob = |commit: &str, path: &str| git.blob(&format!("{commit}:{path}"));
    let is = |commit: &str, bytes: &[u8]| blob(commit, path).unwrap_or_default() == bytes;
    if !is("HEAD", ours) {
        return None;
    }
    for head in heads(&git) {
        let pairs = [
            (line(&git, &["merge-base", "HEAD", &head]).unwrap_or_default(), head.clone()),
            (format!("{head}^"), head.clone()),
            (head.clone(), format!("{head}^")),
        ];
        for (old, new) in pairs {
            if !old.is_empty() && is(&new, theirs) && is(&old, base) {
                return Some([blob(&old, &plan), blob("HEAD", &plan), blob(&new, &plan)]);
            }
        }
    }
    None
}

/// The lifecycle beside the state file at `path`: the one in the work tree, or else the one that a
/// commit being merged brings; the built-in one where there is none that can be used.
pub(crate) fn workflow(path: &str) -> Cow<'static, Workflow> {
    let path = beside(path, StateFile::Workflow);
    let dir = Path::new(&path).parent().unwrap_or(Path::new(""));
    let known = read_state_file(dir, StateFile::Workflow).ok().flatten().or_else(|| {
        let git = Git::that_called().ok()?;
        let commits = [vec!["HEAD".to_owned()], heads(&git)].concat();
        commits.iter().find_map(|commit| git.blob(&format!("{commit}:{path}")))
    });
    workflow_or_builtin(known.as_deref())
}

/// The layout that names the file at `path`, and the name that the file has in it: of the adopted
/// state around it in the work tree, or else in a commit being merged.
pub(crate) fn layout(path: &str) -> Option<(ForeignLayout, String)> {
    let named = |dir: &str, layout: ForeignLayout| {
        let name = path.strip_prefix(dir)?.trim_start_matches('/').to_owned();
        layout.role_of(&name).map(|_| (layout, name))
    };
    let mut around: Vec<&str> = path.match_indices('/').map(|(at, _)| &path[..at]).collect();
    around.reverse();
    around.push("");
    let in_tree = |dir: &&str| {
        let place = if dir.is_empty() { "." } else { dir };
        named(dir, layout_in(Path::new(place))?)
    };
    let is_native = StateFile::FIVE.iter().any(|file| path.rsplit('/').next() == Some(file.name()));
    around.iter().find_map(in_tree).or_else(|| {
        if is_native {
            return None;
        }
        let git = Git::that_called().ok()?;
        let commits = [vec!["HEAD".to_owned()], heads(&git)].concat();
        let at = |dir: &str, commit: &String| {
            let file = format!("{dir}/{LAYOUT_FILE}");
            let bytes = git.blob(&format!("{commit}:{}", file.trim_start_matches('/')))?;
            named(dir, ForeignLayout::parse(&bytes).ok()?)
        };
        around.iter().find_map(|dir| commits.iter().find_map(|commit| at(dir, commit)))
    })
}

fn beside(path: &str, file: StateFile) -> String {
    let parent = path.rsplit_once('/').map_or(String::new(), |(parent, _)| format!("{parent}/"));
    format!("{parent}{}", file.name())
}

/// Commits that may be the ones being merged, picked or reverted.
fn heads(git: &Git) -> Vec<String> {
    let named = std::env::vars_os()
        .filter_map(|(key, _)| Some(key.to_str()?.strip_prefix("GITHEAD_")?.to_owned()));
    let mut heads: Vec<String> = named.collect();
    heads.sort();
    for name in ["CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "MERGE_HEAD"] {
        heads.extend(line(git, &["rev-parse", "--verify", "--quiet", name]));
    }
    // The last line that a rebase or a series of picks has begun.
    for name in ["rebase-merge/done", "sequencer/todo"] {
        let file = line(git, &["rev-parse", "--path-format=absolute", "--git-path", name]);
        let text = file.and_then(|file| fs_err::read_to_string(Path::new(&file)).ok());
        let lines = text.unwrap_or_default();
        let words = lines.lines().filter_map(|line| line.split_whitespace().nth(1));
        let words: Vec<&str> = words.collect();
        let word = if name.ends_with("done") { words.last() } else { words.first() };
        heads.extend(word.map(|word| (*word).to_owned()));
    }
    heads.retain(|head| !head.is_empty() && head.bytes().all(|byte| byte.is_ascii_hexdigit()));
    heads.dedup();
    heads
}

fn line(git: &Git, args: &[&str]) -> Option<String> {
    git.ask_line(args).ok().filter(|text| !text.is_empty())
}
