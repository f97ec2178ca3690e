//! The layout that adopting a directory would give it.

use std::path::{Path, PathBuf};

use super::{Detected, Refused, best, find, inside, look, profile_named, with_file, with_profile};
use crate::{
    domain::{
        adopted::Documents,
        layout::{
            AddedFiles, FilePath, ForeignLayout, PlanFile,
            profile::{Profile, Unit},
        },
    },
    text::markdown::Document,
};

/// What the user asks for.
#[derive(Clone, Debug, Default)]
pub(crate) struct AdoptRequest {
    /// A directory, or one file of it.
    pub path: PathBuf,
    /// The profile, if it is named.
    pub profile: Option<String>,
    /// Whether nothing of ours may lie beside the files of others.
    pub private: bool,
}

/// What would be adopted.
#[derive(Clone, Debug)]
pub(crate) struct Proposed {
    /// The directory.
    pub dir: PathBuf,
    pub found: Detected,
    /// Whose files are there besides.
    pub others: Vec<Detected>,
    /// The layout; its `execution_id` is for the caller to give.
    pub layout: ForeignLayout,
}

impl Proposed {
    /// The files with tasks as they were read, by name.
    pub(crate) fn documents(&self) -> Documents {
        let plans = self.found.plans.iter();
        plans.map(|plan| (plan.path.clone(), plan.document.clone())).collect()
    }
}

/// What adopting would come to; files that `former` knows stay.
///
/// # Errors
/// Why nothing can be adopted.
pub(crate) fn propose(
    wanted: &AdoptRequest,
    former: Option<&ForeignLayout>,
) -> Result<Proposed, Refused> {
    if wanted.path.symlink_metadata().is_err() {
        return Err(Refused::missing(&wanted.path));
    }
    let (dir, file) = match wanted.path.is_file() {
        false => (wanted.path.clone(), None),
        true => {
            let dir = wanted.path.parent().filter(|dir| !dir.as_os_str().is_empty());
            let name = wanted.path.file_name().map(|name| name.to_string_lossy().into_owned());
            (dir.unwrap_or(Path::new(".")).to_owned(), name)
        }
    };
    let named = wanted.profile.as_deref().map(profile_named).transpose()?;
    let mut others = Vec::new();
    let found = match (file, named) {
        (Some(file), named) => {
            let inside = || inside(&dir).into_iter().next();
            let profile = named.or_else(inside).or_else(|| Profile::builtin("todo"));
            profile.and_then(|profile| with_file(&dir, &file, profile))
        }
        (None, Some(profile)) => with_profile(&dir, profile),
        (None, None) => {
            let mut all = look(&dir);
            let best = best(&all).map(|at| all.remove(at));
            others = all;
            best
        }
    };
    let found = found.ok_or_else(|| match wanted.path.is_file() {
        true => match unreadable(&wanted.path) {
            Some(why) => Refused::from(why),
            None => Refused::without_tasks(&wanted.path),
        },
        false => Refused::nothing_in(&wanted.path),
    })?;
    let layout = layout(&dir, &found, wanted.private, former)?;
    Ok(Proposed { dir, found, others, layout })
}

/// Why a file cannot be read as a plan.
pub(super) fn unreadable(path: &Path) -> Option<String> {
    // Reading a pipe would wait for somebody who writes into it.
    if path.symlink_metadata().is_ok_and(|data| !data.is_file()) {
        return Some(format!("`{}` is not a regular file", path.display()));
    }
    let error = match fs_err::read(path) {
        Ok(bytes) => Document::from_bytes(bytes).err()?.to_string(),
        Err(error) => return Some(error.to_string()),
    };
    Some(format!("`{}` cannot be read: {error}", path.display()))
}

fn layout(
    dir: &Path,
    found: &Detected,
    private: bool,
    former: Option<&ForeignLayout>,
) -> Result<ForeignLayout, String> {
    let profile = &found.profile;
    let mut plan: Vec<PlanFile> = former.map(|former| former.plan.clone()).unwrap_or_default();
    let is_alone = plan.is_empty() && found.plans.len() == 1;
    let mut prefixes: Vec<String> = plan.iter().map(|one| one.prefix.clone()).collect();
    for one in &found.plans {
        if plan.iter().any(|known| known.file.as_str() == one.path) {
            continue;
        }
        let prefix = match is_alone {
            true => String::new(),
            false => distinct(&as_prefix(profile.unit_of(&one.path)), &prefixes),
        };
        prefixes.push(prefix.clone());
        plan.push(PlanFile { file: FilePath::parse(&one.path)?, prefix });
    }
    // Knowledge belongs to what is still to be done; of plans that are finished, to the last.
    let mut open: Vec<&super::FoundPlan> =
        found.plans.iter().filter(|one| one.tasks.is_open()).collect();
    if open.is_empty() {
        open.extend(found.plans.last());
    }
    let mut taken: Vec<String> = plan.iter().map(|one| one.file.to_string()).collect();
    let mut read = |patterns: &[String]| {
        let mut files = Vec::new();
        for pattern in patterns {
            let below: Vec<String> = match pattern.strip_prefix("./") {
                None => vec![pattern.clone()],
                Some(name) => open.iter().map(|one| beside(&one.path, name)).collect(),
            };
            for path in below.iter().flat_map(|pattern| find::matching(dir, pattern)) {
                if taken.contains(&path) || !dir.join(&path).is_file() {
                    continue;
                }
                if let Ok(file) = FilePath::parse(&path) {
                    taken.push(path);
                    files.push(file);
                }
            }
        }
        files
    };
    let (context, constraints) = (read(&profile.context), read(&profile.constraints));
    let added = match former {
        Some(former) => former.added.clone(),
        None => added(dir, &plan, private)?,
    };
    let (title, goal) = match former {
        Some(former) => (former.title.clone(), former.goal.clone()),
        None => names(dir, found),
    };
    Ok(ForeignLayout {
        version: 1,
        profile: profile.profile.clone(),
        execution_id: former.map(|former| former.execution_id.clone()).unwrap_or_default(),
        title,
        goal,
        plan,
        context,
        constraints,
        added,
        grammar: former.map_or_else(|| profile.grammar.clone(), |former| former.grammar.clone()),
    })
}

/// A file in the folder of another.
fn beside(path: &str, name: &str) -> String {
    match path.rsplit_once('/') {
        Some((directory, _)) => format!("{directory}/{name}"),
        None => name.to_owned(),
    }
}

/// Names for the files that are added, none of which is taken: beside the plans, in the folder that
/// they have in common, or out of sight.
fn added(dir: &Path, plan: &[PlanFile], private: bool) -> Result<AddedFiles, String> {
    let folder = match (private, common(plan)) {
        (true, _) => ".statedir/state".to_owned(),
        (false, folder) => folder,
    };
    // A state of our own that is there already goes on in its own files.
    let is_ours = folder.is_empty() && dir.join(".statedir").is_dir();
    let path = |name: &str| {
        let plain = match folder.as_str() {
            "" => name.to_owned(),
            folder => format!("{folder}/{name}"),
        };
        let other = beside(&plain, &format!("statedir-{name}"));
        let is_free = private || is_ours || dir.join(&plain).symlink_metadata().is_err();
        FilePath::parse(if is_free { &plain } else { &other })
    };
    Ok(AddedFiles {
        steps: path("steps.md")?,
        history: path("history.md")?,
        variables: path("variables.json")?,
        context: path("context.md")?,
        constraints: path("constraints.md")?,
        workflow: None,
    })
}

/// The folder that all plans are in.
fn common(plan: &[PlanFile]) -> String {
    let mut folders = plan.iter().map(|one| one.file.directory());
    let Some(first) = folders.next() else { return String::new() };
    let mut parts: Vec<&str> = first.split('/').filter(|part| !part.is_empty()).collect();
    for folder in folders {
        let same = parts.iter().zip(folder.split('/')).take_while(|(one, other)| **one == *other);
        let same = same.count();
        parts.truncate(same);
    }
    parts.join("/")
}

/// Titles that say what the file is and not what it is for.
const LISTS: [&str; 7] = ["Checklist", "Plan", "Steps", "Task", "Tasks", "Todo", "To-do"];

/// What the plan is called, and what is to be reached.
fn names(dir: &Path, found: &Detected) -> (String, String) {
    let here = fs_err::canonicalize(dir).unwrap_or_else(|_| dir.to_owned());
    let here = here.file_name().map(|name| name.to_string_lossy().into_owned());
    let here = here.unwrap_or_else(|| found.profile.profile.clone());
    let plain = |text: &str| text.split(|c: char| c.is_control()).collect::<Vec<_>>().join(" ");
    match found.plans.as_slice() {
        [one] => {
            let is_here = found.profile.unit == Unit::Directory && !one.path.contains('/');
            let unit = if is_here { here.as_str() } else { found.profile.unit_of(&one.path) };
            let title = one.title.as_deref().map(plain).unwrap_or_default();
            let bare =
                ["Tasks:", "Implementation Plan:", "Plan:", "Task Plan:", "Tasks -", "Tasks –"];
            let title = bare.iter().find_map(|start| title.strip_prefix(start)).unwrap_or(&title);
            let title = title.trim();
            // A template's placeholder says nothing, nor does a word for any list.
            let is_said = !title.is_empty()
                && !title.contains(['[', '{', '<'])
                && title.len() <= 200
                && !LISTS.iter().any(|word| title.eq_ignore_ascii_case(word));
            let goal = match &one.goal {
                Some(goal) => goal,
                None if is_said => title,
                None => unit,
            };
            (plain(unit), plain(goal))
        }
        [] => (here.clone(), here),
        plans => {
            // What is over is no goal any more.
            let mut left: Vec<&super::FoundPlan> =
                plans.iter().filter(|one| one.tasks.is_open()).collect();
            if left.is_empty() {
                left.extend(plans);
            }
            let units: Vec<&str> =
                left.iter().map(|one| found.profile.unit_of(&one.path)).collect();
            let more = match units.len() {
                count if count > 5 => format!(" and {} more", count - 5),
                _ => String::new(),
            };
            let some = units.iter().take(5).copied().collect::<Vec<_>>().join(", ");
            (here, plain(&format!("{some}{more}")))
        }
    }
}

/// A name in the letters that an id has.
fn as_prefix(name: &str) -> String {
    let plain = |c: char| match c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.') {
        true => c,
        false => '-',
    };
    let name: String = name.chars().map(plain).take(60).collect();
    match name.trim_matches(['-', '.', '_']) {
        "" => "plan".to_owned(),
        name => name.to_owned(),
    }
}

fn distinct(name: &str, taken: &[String]) -> String {
    let named = (1u32..).map(|count| match count {
        1 => name.to_owned(),
        count => format!("{name}-{count}"),
    });
    named.into_iter().find(|name| !taken.contains(name)).unwrap_or_default()
}
