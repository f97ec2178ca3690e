//! The templates that come with the program.

use crate::domain::StateFile;

/// A set of templates under a name.
#[derive(Debug)]
pub(crate) struct BuiltinTemplate {
    /// The name that `init --template` takes.
    pub(crate) name: &'static str,
    /// What it is for, in a line.
    pub(crate) summary: &'static str,
    files: [(StateFile, &'static str); 5],
    /// Its workflow, if it is not the default one.
    pub(super) workflow: Option<&'static str>,
}

/// The five files of a folder below `templates`.
macro_rules! folder {
    ($name:literal) => {
        [
            (StateFile::Plan, file!($name, "plan.md.hbs")),
            (StateFile::Context, file!($name, "context.md.hbs")),
            (StateFile::Variables, file!($name, "variables.json.hbs")),
            (StateFile::History, file!($name, "history.md.hbs")),
            (StateFile::Constraints, file!($name, "constraints.md.hbs")),
        ]
    };
}

macro_rules! file {
    ($name:literal, $file:literal) => {
        include_str!(concat!("../../../templates/", $name, "/", $file))
    };
}

/// Every built-in template; the first is the default.
pub(crate) static BUILTIN: [BuiltinTemplate; 6] = [
    BuiltinTemplate {
        name: "default",
        summary: "no limits, no persona until something sets them",
        files: folder!("default"),
        workflow: None,
    },
    BuiltinTemplate {
        name: "classic",
        summary: "every field written out, with limits: $0.50, 300 seconds, 20 files, 5 web requests",
        files: folder!("classic"),
        workflow: None,
    },
    BuiltinTemplate {
        name: "execute",
        summary: "tasks in layers, built in worktrees, verified and merged in turn",
        files: folder!("execute"),
        workflow: Some(file!("execute", "workflow.yaml")),
    },
    BuiltinTemplate {
        name: "ticket",
        summary: "a ticket in nine phases, with a person's approval of plan and pull request",
        files: folder!("ticket"),
        workflow: Some(file!("ticket", "workflow.yaml")),
    },
    BuiltinTemplate {
        name: "approval",
        summary: "a plan that a person approves before it is carried out",
        files: folder!("approval"),
        workflow: Some(file!("approval", "workflow.yaml")),
    },
    BuiltinTemplate {
        name: "simple",
        summary: "a to-do list: boxes, three statuses, no costs",
        files: folder!("simple"),
        workflow: Some(file!("simple", "workflow.yaml")),
    },
];

impl BuiltinTemplate {
    /// The template of that name.
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        BUILTIN.iter().find(|template| template.name == name)
    }

    /// The template of one file.
    pub(super) fn file(&self, file: StateFile) -> &'static str {
        let found = self.files.iter().find(|(name, _)| *name == file);
        found.map_or("", |(_, text)| text)
    }
}

impl Default for &'static BuiltinTemplate {
    fn default() -> Self {
        &BUILTIN[0]
    }
}
