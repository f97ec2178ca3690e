//! The layout of an adopted directory (`statedir.yaml`): which file has which role, and how a step is
//! written. People may edit it.

mod path;
pub(crate) mod profile;

use serde::{Deserialize, Serialize};

pub(crate) use self::path::FilePath;
use super::{StateFile, checklist::Grammar};
use crate::text::{markdown::Document, yaml};

/// The name of the layout file.
pub(crate) const LAYOUT_FILE: &str = "statedir.yaml";

/// The most bytes of one, and the most files that it names.
pub(crate) const MAX_BYTES: u64 = 256 * 1024;
const MAX_FILES: usize = 2000;

/// Which files make up an adopted state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ForeignLayout {
    /// The version of this format: 1.
    pub version: u32,
    /// The profile that it was created from.
    pub profile: String,
    /// The name of the execution.
    pub execution_id: String,
    /// What the plan is called.
    pub title: String,
    pub goal: String,
    /// The files with steps, in order.
    pub plan: Vec<PlanFile>,
    /// Files that are read as knowledge.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<FilePath>,
    /// Files that are read as rules in force.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<FilePath>,
    /// Our own files for everything that has no place in the others, created when needed.
    pub added: AddedFiles,
    /// How a step is written.
    #[serde(default)]
    pub grammar: Grammar,
}

/// A file with steps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlanFile {
    pub file: FilePath,
    /// The prefix of its step ids, if ids of several files could collide.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prefix: String,
}

/// The files that are added beside the others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AddedFiles {
    /// Claims, attempts and results of steps; reviews; further steps.
    pub steps: FilePath,
    /// The log.
    pub history: FilePath,
    /// Data passed between steps.
    pub variables: FilePath,
    /// Findings and decisions.
    pub context: FilePath,
    /// Modifiers, limits, directives, rules.
    pub constraints: FilePath,
    /// A custom workflow, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<FilePath>,
}

/// Why a layout cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct LayoutError {
    /// What is wrong.
    pub message: String,
    /// The line, from one.
    pub line: Option<usize>,
}

impl ForeignLayout {
    /// Reads a `statedir.yaml`.
    ///
    /// # Errors
    /// It is not valid YAML of this shape, or names a file outside its directory or twice.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, LayoutError> {
        let refused = |message: String| LayoutError { message, line: None };
        let text = std::str::from_utf8(bytes).map_err(|error| refused(error.to_string()))?;
        let layout: Self = read_yaml(text)?;
        layout.check().map_err(refused)?;
        Ok(layout)
    }

    /// The text of the layout file.
    pub(crate) fn write(&self) -> String {
        let said = serde_yaml::to_string(self).unwrap_or_default();
        format!(
            "# Which files make up the state here, and how a step is written in them.\n\
             # `statedir adopt` wrote it; edit it freely. Without it the state is gone, the files are not.\n\
             {said}"
        )
    }

    fn check(&self) -> Result<(), String> {
        if self.version != 1 {
            return Err(format!("version {} is not known; write `version: 1`", self.version));
        }
        let names = self.names();
        if names.len() > MAX_FILES {
            return Err(format!("it names more than {MAX_FILES} files"));
        }
        let mut sorted = names.clone();
        sorted.push(self.added.history.as_str());
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("`{}` has two roles", pair[0]));
        }
        for one in &self.plan {
            let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
            if !one.prefix.chars().all(fits) {
                return Err(format!("`{}` cannot be the prefix of an id", one.prefix));
            }
        }
        Ok(())
    }

    /// The native file that a file is part of.
    pub(crate) fn role_of(&self, name: &str) -> Option<StateFile> {
        let added = &self.added;
        let is = |path: &FilePath| path.as_str() == name;
        if self.is_checklist(name) || is(&added.steps) {
            Some(StateFile::Plan)
        } else if self.context.iter().any(is) || is(&added.context) {
            Some(StateFile::Context)
        } else if self.constraints.iter().any(is) || is(&added.constraints) {
            Some(StateFile::Constraints)
        } else if is(&added.variables) {
            Some(StateFile::Variables)
        } else if is(&added.history) {
            Some(StateFile::History)
        } else {
            None
        }
    }

    /// The names of the files that a native file is composed of, for people. `composed` is what was
    /// composed: of context and constraints our own file is named if there is something in it.
    pub(crate) fn sources_of(&self, file: StateFile, composed: &[u8]) -> String {
        /// How many files are named.
        const MOST: usize = 3;
        let added = &self.added;
        let (own, others) = match file {
            StateFile::Plan => (None, self.plan.iter().map(|one| &one.file).collect()),
            StateFile::Context => (Some(&added.context), self.context.iter().collect()),
            StateFile::Constraints => (Some(&added.constraints), self.constraints.iter().collect()),
            StateFile::Variables => (Some(&added.variables), Vec::new()),
            StateFile::History => (Some(&added.history), Vec::new()),
            StateFile::Workflow => (added.workflow.as_ref(), Vec::new()),
            StateFile::Log => (None, Vec::new()),
        };
        let begins = format!("{}\n\n# ", String::from_utf8_lossy(file.blank()));
        let is_ours = others.is_empty() || !composed.starts_with(begins.as_bytes());
        let all = own.filter(|_| is_ours).into_iter().chain(others);
        let all: Vec<&str> = all.map(FilePath::as_str).collect();
        let named = all.iter().take(MOST).copied().collect::<Vec<_>>().join(", ");
        match all.len().saturating_sub(MOST) {
            0 if named.is_empty() => file.name().to_owned(),
            0 => named,
            more => format!("{named} and {more} more"),
        }
    }

    /// Where the files that are only read begin in the text of a native file.
    pub(crate) fn foreign_part(&self, file: StateFile, document: &Document) -> Option<usize> {
        let paths = match file {
            StateFile::Context => &self.context,
            _ => &self.constraints,
        };
        let is_path = |title: &str| paths.iter().any(|path| path.as_str() == title);
        let mut sections = document.sections().map(|id| document.section(id));
        let first = sections.find(|found| found.level == 1 && is_path(found.title))?;
        Some(first.heading.start)
    }

    /// The file and the line that are at `offset` in the text of context.md or constraints.md, in
    /// which our own file is followed by those that are only read.
    pub(crate) fn source_at(
        &self,
        file: StateFile,
        document: &Document,
        offset: usize,
    ) -> (&FilePath, usize) {
        let (own, paths) = match file {
            StateFile::Context => (&self.added.context, &self.context),
            _ => (&self.added.constraints, &self.constraints),
        };
        let line = document.place(offset).line;
        let sections = document.sections().map(|id| document.section(id));
        let begins = sections.filter(|found| found.level == 1 && found.heading.start <= offset);
        let named = begins.filter_map(|found| {
            let path = paths.iter().find(|path| path.as_str() == found.title)?;
            Some((path, document.place(found.heading.start).line))
        });
        match named.last() {
            // A blank line is between the name and the text of the file.
            Some((path, first)) => (path, line.saturating_sub(first + 1).max(1)),
            None => (own, line),
        }
    }

    /// Whether a file is one of the checklists.
    pub(crate) fn is_checklist(&self, name: &str) -> bool {
        self.plan.iter().any(|one| one.file.as_str() == name)
    }

    /// The files that commands change and that belong into version control.
    pub(crate) fn written(&self) -> Vec<&str> {
        let added = &self.added;
        let own =
            [&added.steps, &added.history, &added.variables, &added.context, &added.constraints];
        let all = self.plan.iter().map(|one| &one.file).chain(own).chain(&added.workflow);
        all.map(FilePath::as_str).filter(|name| !name.starts_with(path::PRIVATE_FOLDER)).collect()
    }

    /// Every file that is rewritten or read, the layout file first.
    pub(crate) fn names(&self) -> Vec<&str> {
        let added = [
            &self.added.steps,
            &self.added.variables,
            &self.added.context,
            &self.added.constraints,
        ];
        let plan = self.plan.iter().map(|one| &one.file);
        let rest = plan.chain(&self.context).chain(&self.constraints).chain(added);
        let rest = rest.chain(&self.added.workflow).map(FilePath::as_str);
        std::iter::once(LAYOUT_FILE).chain(rest).collect()
    }
}

/// Reads YAML of a limited size and depth.
fn read_yaml<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, LayoutError> {
    let refused = |message: String, line| LayoutError { message, line };
    if text.len() as u64 > MAX_BYTES {
        return Err(refused(format!("it has more than {MAX_BYTES} bytes"), None));
    }
    if let Some(line) = yaml::too_deep(text) {
        return Err(refused("lists and maps are nested too deep".to_owned(), Some(line)));
    }
    serde_yaml::from_str(text)
        .map_err(|error| refused(error.to_string(), error.location().map(|place| place.line())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout() -> ForeignLayout {
        let path = |name: &str| FilePath::parse(name).unwrap();
        ForeignLayout {
            version: 1,
            profile: "spec-kit".to_owned(),
            execution_id: "exec_1".to_owned(),
            title: "001-login".to_owned(),
            goal: "Log in".to_owned(),
            plan: vec![PlanFile { file: path("specs/001-login/tasks.md"), prefix: String::new() }],
            context: vec![path("specs/001-login/spec.md")],
            constraints: vec![path(".specify/memory/constitution.md")],
            added: AddedFiles {
                steps: path("specs/001-login/steps.md"),
                history: path("specs/001-login/history.md"),
                variables: path("specs/001-login/variables.json"),
                context: path("specs/001-login/context.md"),
                constraints: path("specs/001-login/constraints.md"),
                workflow: None,
            },
            grammar: Grammar::default(),
        }
    }

    #[test]
    fn a_layout_reads_back_as_it_was_written() {
        assert_eq!(ForeignLayout::parse(layout().write().as_bytes()).unwrap(), layout());
    }

    #[test]
    fn a_file_outside_or_with_two_roles_is_refused() {
        let text = layout().write();
        for (from, to) in [
            ("specs/001-login/spec.md", "../spec.md"),
            ("specs/001-login/spec.md", "/etc/passwd"),
            ("specs/001-login/spec.md", "specs/001-login/tasks.md"),
            ("specs/001-login/history.md", "specs/001-login/tasks.md"),
            ("specs/001-login/spec.md", ".git/config"),
            ("specs/001-login/spec.md", ".statedir/log/00000001.log"),
            ("version: 1", "version: 2"),
        ] {
            let changed = text.replacen(from, to, 1);
            assert_ne!(changed, text, "{from}");
            assert!(ForeignLayout::parse(changed.as_bytes()).is_err(), "{to}");
        }
    }
}
