//! Recognises the files in a directory, so that they can be adopted.

mod find;
mod propose;
mod refused;

#[cfg(test)]
mod tests;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
};

pub(crate) use self::{
    propose::{AdoptRequest, Proposed, propose},
    refused::Refused,
};
use crate::{
    adapters::{config_directory, foreign},
    domain::{
        StepRole,
        checklist::{TaskCounts, unboxed},
        layout::profile::{self, Profile, Unit},
    },
    text::markdown::Document,
};

/// A file with tasks.
#[derive(Clone, Debug)]
pub(crate) struct FoundPlan {
    /// Its path below the directory, with `/` between the parts.
    pub path: String,
    /// What it is called for people.
    pub name: String,
    pub tasks: TaskCounts,
    /// The text.
    pub document: Arc<Document>,
    /// The title of the document.
    pub title: Option<String>,
    /// What it says is to be reached.
    pub goal: Option<String>,
}

impl FoundPlan {
    /// Reads a file; `None` if it cannot be one.
    fn read(dir: &Path, path: &str, profile: &Profile) -> Option<Self> {
        let file = dir.join(path);
        let data = file.symlink_metadata().ok()?;
        if !data.is_file() || data.len() > find::MAX_BYTES {
            return None;
        }
        let document = Document::from_bytes(fs_err::read(file).ok()?).ok()?;
        let tasks = TaskCounts::read(&document, &profile.grammar);
        let title = document.title_section().map(|id| document.section(id));
        let title = title.map(|section| section.title.trim().to_owned());
        let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
        let name = match profile.unit {
            Unit::Directory if !directory.is_empty() => directory.to_owned(),
            _ => path.to_owned(),
        };
        let first = tasks.first.unwrap_or(document.source().len());
        let goal = goal(document.source().get(..first).unwrap_or_default());
        let document = Arc::new(document);
        Some(Self { path: path.to_owned(), name, tasks, document, title, goal })
    }

    /// `89 tasks, 89 done, 0 open, 1 line left as prose`.
    pub(crate) fn summary(&self) -> String {
        let all = self.tasks.len();
        let noun = |count: usize, one: &str, many: &str| match count {
            1 => format!("1 {one}"),
            count => format!("{count} {many}"),
        };
        let mut said = vec![
            noun(all, "task", "tasks"),
            format!("{} done", self.tasks.count(StepRole::Done)),
            format!("{} open", self.tasks.count(StepRole::Open)),
        ];
        let active = self.tasks.count(StepRole::Active);
        if active > 0 {
            said.push(format!("{active} in progress"));
        }
        let unknown = self.tasks.unknown();
        if unknown > 0 {
            let markers = noun(unknown, "marker", "markers");
            said.push(format!("{markers} not known and counted as open"));
        }
        if self.tasks.prose > 0 {
            said.push(format!("{} left as prose", noun(self.tasks.prose, "line", "lines")));
        }
        let unboxed = self.tasks.unboxed.len();
        if unboxed > 0 {
            said.push(format!("{} without a box", noun(unboxed, "item", "items")));
        }
        said.join(", ")
    }

    /// Which items of its lists have no box.
    pub(crate) fn unboxed(&self) -> Option<String> {
        let first = self.tasks.unboxed.first()?;
        let message = unboxed::message(&self.tasks.unboxed, ("task", "tasks"))?;
        Some(format!("{}:{}: {message}", self.path, first.line))
    }
}

/// What people call it.
const GOALS: [&str; 5] = ["goal", "objective", "objetivo", "目标", "目標"];

/// The goal that is named before the first task: `**Goal:** Take money`, or the line below `## Goal`. A
/// placeholder of a template is none.
fn goal(text: &str) -> Option<String> {
    let mut is_next = false;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if line.starts_with("```") || line.starts_with("~~~") {
            break;
        }
        let bare = line.replace("**", "");
        let (word, rest) = bare.split_once([':', '：']).unwrap_or((bare.as_str(), ""));
        let word = word.trim_start_matches(['#', '-', '*', ' ']).trim_end();
        let is_goal = GOALS.iter().any(|goal| word.eq_ignore_ascii_case(goal));
        let said = match line.starts_with('#') {
            false if is_next => bare.trim_start_matches(['-', '*', ' ']),
            false if is_goal => rest.trim(),
            is_heading => {
                is_next = is_heading && is_goal && rest.is_empty();
                continue;
            }
        };
        let is_said = !said.is_empty() && !said.starts_with(['[', '{', '<']) && said.len() <= 400;
        return is_said.then(|| said.to_owned());
    }
    None
}

/// The files of one system in a directory.
#[derive(Clone, Debug)]
pub(crate) struct Detected {
    pub profile: Profile,
    /// The files with tasks.
    pub plans: Vec<FoundPlan>,
    /// Files that should have been among them, and why they are not.
    pub unreadable: Vec<String>,
}

impl Detected {
    /// How many tasks there are.
    pub(crate) fn count(&self) -> usize {
        self.plans.iter().map(|plan| plan.tasks.len()).sum()
    }

    /// The report, a line for each plan.
    pub(crate) fn lines(&self) -> Vec<String> {
        let profile = &self.profile.profile;
        let line = |plan: &FoundPlan| format!("{profile}, {}: {}", plan.name, plan.summary());
        match self.plans.is_empty() {
            true => vec![format!("{profile}: 0 tasks")],
            false => self.plans.iter().map(line).collect(),
        }
    }

    /// All of it in one line, for hints: `spec-kit, 3 plans: 89 tasks`.
    pub(crate) fn line(&self) -> String {
        match self.plans.as_slice() {
            [] => format!("{}: 0 tasks", self.profile.profile),
            [one] => format!("{}, {}: {}", self.profile.profile, one.name, one.summary()),
            plans => {
                format!("{}, {} plans: {} tasks", self.profile.profile, plans.len(), self.count())
            }
        }
    }
}

/// Every system whose files are in a directory, in the order of the profiles.
pub(crate) fn detect(dir: &Path) -> Vec<Detected> {
    let own = own_profiles();
    let builtin = profile::NAMES.iter().filter_map(|name| Profile::builtin(name));
    let mut found = Vec::new();
    for profile in own.into_iter().chain(builtin) {
        let is_used = profile.markers.is_empty()
            || profile.markers.iter().any(|marker| !find::matching(dir, marker).is_empty());
        if !is_used {
            continue;
        }
        // A checklist of any kind is looked for where nothing else was found.
        if profile.markers.is_empty() && found.iter().any(|found: &Detected| found.count() > 0) {
            continue;
        }
        found.extend(with_profile(dir, profile));
    }
    found
}

/// Every system whose files are in a directory; where that is a folder of one, only those.
pub(crate) fn look(dir: &Path) -> Vec<Detected> {
    let inside = inside(dir).into_iter().find_map(|profile| with_profile(dir, profile));
    match inside.filter(|found| found.count() > 0) {
        Some(inside) => vec![inside],
        None => detect(dir),
    }
}

/// The profiles that lead into a directory, the one that says most of its path first: `.kiro/specs/a`
/// says more than `specs/a`.
pub(super) fn inside(dir: &Path) -> Vec<Profile> {
    let Ok(dir) = fs_err::canonicalize(dir) else { return Vec::new() };
    let parts: Vec<String> =
        dir.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    let builtin: Vec<&Profile> =
        profile::NAMES.iter().filter_map(|name| Profile::known(name)).collect();
    let mut found = Vec::new();
    for count in (1..=MOST_FOLDERS.min(parts.len())).rev() {
        let folders: Vec<&str> = parts[parts.len() - count..].iter().map(String::as_str).collect();
        found.extend(builtin.iter().filter_map(|profile| profile.below(&folders)));
    }
    found
}

/// How many folders a pattern has at most.
const MOST_FOLDERS: usize = 6;

/// The nearest directory above one, up to the root of its project, that has something to adopt or to
/// import, with what that is.
pub(crate) fn above(here: &Path) -> Option<(PathBuf, Vec<Detected>)> {
    let is_root = |dir: &&Path| dir.join(".git").exists();
    let root = here.ancestors().find(is_root)?;
    let mut dirs = here.ancestors().skip(1).take_while(|dir| dir.starts_with(root));
    dirs.find_map(|dir| {
        let found = look(dir);
        let is_found = found.iter().any(|found| found.count() > 0);
        (is_found || foreign::found_in(dir).is_some()).then(|| (dir.to_owned(), found))
    })
}

/// Which of them is meant where nobody says: one with something left to do, and the largest.
pub(crate) fn best(found: &[Detected]) -> Option<usize> {
    let rank = |at: &usize| {
        let is_open = found[*at].plans.iter().any(|plan| plan.tasks.is_open());
        (is_open, found[*at].count())
    };
    (0..found.len()).rev().max_by_key(rank)
}

/// What lies in the top folder of a project in which there may be something to adopt or to import.
pub(crate) fn entry_names() -> BTreeSet<String> {
    let builtin = profile::NAMES.iter().filter_map(|name| Profile::builtin(name));
    let patterns = own_profiles().into_iter().chain(builtin).flat_map(|profile| {
        profile.markers.into_iter().chain(profile.plan).collect::<Vec<String>>()
    });
    let places = foreign::PLACES.iter().map(|(_, path)| (*path).to_owned());
    let first = |path: String| path.split('/').next().unwrap_or_default().to_owned();
    patterns.chain(places).map(first).filter(|name| !name.contains('*')).collect()
}

/// The files of one system in a directory.
pub(crate) fn with_profile(dir: &Path, profile: Profile) -> Option<Detected> {
    let mut paths: Vec<String> =
        profile.plan.iter().flat_map(|pattern| find::matching(dir, pattern)).collect();
    if paths.is_empty() {
        paths = find::inside(dir, &profile);
    }
    paths.retain(|path| !profile.skips(path));
    paths.sort_unstable();
    paths.dedup();
    paths.truncate(find::MOST);
    let (mut plans, mut unreadable) = (Vec::new(), Vec::new());
    for path in &paths {
        match FoundPlan::read(dir, path, &profile) {
            Some(plan) if plan.tasks.len() == 0 => {}
            Some(plan) => plans.push(plan),
            None if dir.join(path).is_dir() => {}
            None => unreadable.extend(propose::unreadable(&dir.join(path))),
        }
    }
    let is_there = !plans.is_empty() || profile.without_tasks && !paths.is_empty();
    is_there.then_some(Detected { profile, plans, unreadable })
}

/// One file that the user named.
pub(crate) fn with_file(dir: &Path, file: &str, profile: Profile) -> Option<Detected> {
    let plan = FoundPlan::read(dir, file, &profile)?;
    let is_there = plan.tasks.len() > 0 || profile.without_tasks;
    is_there.then(|| Detected { profile, plans: vec![plan], unreadable: Vec::new() })
}

/// The profile that a user names: one of ours, one of their own, or a file.
///
/// # Errors
/// Why it cannot be used.
pub(crate) fn profile_named(name: &str) -> Result<Profile, Refused> {
    if let Some(own) = own_profiles().into_iter().find(|profile| profile.profile == name) {
        return Ok(own);
    }
    if let Some(builtin) = Profile::builtin(name) {
        return Ok(builtin);
    }
    let path = PathBuf::from(name);
    if !path.is_file() {
        let hint = format!(
            "there are {}; a file of your own can be named, too: `--profile FILE`",
            profile::NAMES.join(", ")
        );
        return Err(Refused { message: format!("there is no profile `{name}`"), hint });
    }
    let text = fs_err::read_to_string(path).map_err(|error| Refused::from(error.to_string()))?;
    let read = Profile::parse(&text);
    read.map_err(|error| Refused::from(format!("`{name}` is no profile: {error}")))
}

/// The profiles that the user wrote: `layouts/*.yaml` beside their templates.
fn own_profiles() -> Vec<Profile> {
    let Some(dir) = config_directory().map(|dir| dir.join("layouts")) else { return Vec::new() };
    let Ok(entries) = fs_err::read_dir(dir) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "yaml"));
    files.sort_unstable();
    let texts = files.iter().filter_map(|path| fs_err::read_to_string(path).ok());
    texts.filter_map(|text| Profile::parse(&text).ok()).collect()
}
