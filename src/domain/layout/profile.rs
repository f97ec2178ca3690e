//! Profiles: how the files of a known planning system are found and read. Users can write their own.

use std::sync::OnceLock;

use serde::Deserialize;

use super::{LayoutError, read_yaml};
use crate::domain::checklist::Grammar;

/// How a system lays out its files. Patterns are paths with `*` inside a part.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Profile {
    /// Its name.
    pub profile: String,
    /// Files and folders of which one must exist for the profile to apply; if empty, a file of `plan`
    /// is enough.
    #[serde(default)]
    pub markers: Vec<String>,
    /// The files with steps.
    pub plan: Vec<String>,
    /// The files among them to leave out; a name without a folder applies to every folder.
    #[serde(default)]
    pub skip: Vec<String>,
    /// What names a plan.
    #[serde(default)]
    pub unit: Unit,
    /// Files with knowledge; those that begin with `./` are next to each plan.
    #[serde(default)]
    pub context: Vec<String>,
    /// Files with rules; those that begin with `./` are next to each plan.
    #[serde(default)]
    pub constraints: Vec<String>,
    /// Whether the profile also applies to files without any task.
    #[serde(default)]
    pub without_tasks: bool,
    /// How a step is written.
    #[serde(default)]
    pub grammar: Grammar,
}

/// What names a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Unit {
    /// The directory that the file is in.
    #[default]
    Directory,
    /// The file, without its ending.
    File,
    /// All files together.
    All,
}

macro_rules! builtin {
    ($($name:literal),* $(,)?) => {
        /// The profiles that come with the program, in the order in which they are tried.
        const BUILTIN: &[&str] = &[
            $(include_str!(concat!("../../../templates/layouts/", $name, ".yaml"))),*
        ];
        /// Their names.
        pub(crate) const NAMES: &[&str] = &[$($name),*];
    };
}

builtin!(
    "spec-kit",
    "openspec",
    "kiro",
    "superpowers",
    "planning-with-files",
    "conductor",
    "execplan",
    "memory-bank",
    "state-folder",
    "todo",
);

impl Profile {
    /// Reads a profile.
    ///
    /// # Errors
    /// It is not valid YAML of this shape.
    pub(crate) fn parse(text: &str) -> Result<Self, LayoutError> {
        read_yaml(text)
    }

    /// The profile of that name that comes with the program.
    pub(crate) fn builtin(name: &str) -> Option<Self> {
        Self::known(name).cloned()
    }

    /// A reference to the built-in profile of that name.
    pub(crate) fn known(name: &str) -> Option<&'static Self> {
        static READ: [OnceLock<Option<Profile>>; NAMES.len()] =
            [const { OnceLock::new() }; NAMES.len()];
        let at = NAMES.iter().position(|known| *known == name)?;
        READ[at].get_or_init(|| Self::parse(BUILTIN[at]).ok()).as_ref()
    }

    /// Whether a file is left out.
    pub(crate) fn skips(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or_default();
        self.skip.iter().any(|pattern| match pattern.contains('/') {
            true => matches(pattern, path),
            false => matches_part(pattern, name),
        })
    }

    /// The profile relative to a folder that its patterns lead into, whose last parts are `folders`;
    /// `None` if they do not, or only by a common name.
    pub(crate) fn below(&self, folders: &[&str]) -> Option<Self> {
        let rest_of = |pattern: &String| -> Option<String> {
            if pattern.starts_with("./") {
                return Some(pattern.clone());
            }
            let mut rest = pattern.as_str();
            for name in folders {
                let (part, behind) = rest.split_once('/')?;
                rest = Some(behind).filter(|_| matches_part(part, name))?;
            }
            Some(rest.to_owned())
        };
        let below = |patterns: &[String]| patterns.iter().filter_map(rest_of).collect();
        let mut plan: Vec<String> = below(&self.plan);
        let is_distinctive = folders.len() > 1 || folders.iter().any(|name| name.starts_with('.'));
        plan.retain(|rest| is_distinctive || rest.contains('/') || !rest.contains('*'));
        (!plan.is_empty()).then(|| Self {
            plan,
            markers: Vec::new(),
            context: below(&self.context),
            constraints: below(&self.constraints),
            ..self.clone()
        })
    }

    /// The name of the plan in a file.
    pub(crate) fn unit_of<'p>(&self, path: &'p str) -> &'p str {
        let (directory, file) = path.rsplit_once('/').unwrap_or(("", path));
        let name = directory.rsplit('/').next().unwrap_or_default();
        match self.unit {
            Unit::Directory if !name.is_empty() => name,
            _ => file.rsplit_once('.').map_or(file, |(stem, _)| stem),
        }
    }
}

/// Whether a path matches a pattern, in which `*` stands for anything within one part.
pub(crate) fn matches(pattern: &str, path: &str) -> bool {
    let (mut parts, mut names) = (pattern.split('/'), path.split('/'));
    loop {
        match (parts.next(), names.next()) {
            (None, None) => return true,
            (Some(part), Some(name)) if matches_part(part, name) => {}
            _ => return false,
        }
    }
}

/// The same for one part.
pub(crate) fn matches_part(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, rest)) => {
            let Some(name) = name.strip_prefix(start) else { return false };
            // A leading `*` does not match a hidden file.
            if start.is_empty() && name.starts_with('.') {
                return false;
            }
            let mut ends = name.char_indices().map(|(at, _)| at).chain([name.len()]);
            ends.any(|at| matches_part(rest, &name[at..]))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_that_comes_with_the_program_can_be_read() {
        for name in NAMES {
            let profile = Profile::builtin(name).unwrap_or_else(|| panic!("{name}"));
            assert_eq!(profile.profile, *name);
            assert!(!profile.plan.is_empty(), "{name}");
        }
        assert_eq!(Profile::builtin("none"), None);
    }

    #[test]
    fn what_is_left_out_is_named_by_its_path_or_in_every_folder() {
        let text = "profile: p\nplan: ['a/*.md']\nskip: [TEMPLATE.md, a/old.md]\n";
        let profile = Profile::parse(text).unwrap();
        assert!(profile.skips("a/TEMPLATE.md") && profile.skips("a/b/TEMPLATE.md"));
        assert!(profile.skips("a/old.md") && !profile.skips("b/old.md"));
        assert!(!profile.skips("a/plan.md"));
    }

    #[test]
    fn a_profile_is_known_in_the_folders_that_it_leads_into() {
        let plan = |name: &str, folders: &[&str]| {
            Profile::builtin(name).unwrap().below(folders).map(|below| below.plan)
        };
        assert_eq!(plan("openspec", &["openspec"]).unwrap(), ["changes/*/tasks.md"]);
        assert_eq!(plan("openspec", &["openspec", "changes", "a"]).unwrap(), ["tasks.md"]);
        assert_eq!(plan("superpowers", &["docs", "plans"]).unwrap(), ["*.md"]);
        assert_eq!(plan("execplan", &[".agent"]).unwrap()[0], "*.md");
        assert_eq!(plan("openspec", &["changes"]), None);
        // Any folder may be called so.
        assert_eq!(plan("state-folder", &["state"]), None);
        assert_eq!(plan("execplan", &["plans"]), None);
        let bank = Profile::builtin("memory-bank").unwrap().below(&["memory-bank"]).unwrap();
        assert!(bank.context.iter().any(|name| name == "projectbrief.md"), "{:?}", bank.context);
    }

    #[test]
    fn a_star_stands_for_anything_within_one_part() {
        assert!(matches("specs/*/tasks.md", "specs/001-login/tasks.md"));
        assert!(!matches("specs/*/tasks.md", "specs/a/b/tasks.md"));
        assert!(matches("docs/plans/*.md", "docs/plans/2026-01-15-x.md"));
        assert!(!matches("*.md", ".hidden.md") && !matches("specs/*/tasks.md", "specs/tasks.md"));
    }
}
