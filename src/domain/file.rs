//! The files of a state directory.

use std::{collections::BTreeMap, fmt};

/// The bytes of files, by their names.
pub(crate) type FilesByName = BTreeMap<String, Vec<u8>>;

/// One of the tracked files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum StateFile {
    /// `plan.md`: the goal, the status and the steps.
    Plan,
    /// `context.md`: knowledge, findings, decisions.
    Context,
    /// `variables.json`: structured data passed between steps.
    Variables,
    /// `history.md`: the append-only log.
    History,
    /// `constraints.md`: modifiers, limits, directives, rules.
    Constraints,
    /// `workflow.yaml`: a custom workflow; absent means the built-in one.
    Workflow,
    /// The operation log in `.statedir/`; named in findings only.
    Log,
}

impl StateFile {
    /// The five files every state directory has.
    pub const FIVE: [Self; 5] =
        [Self::Plan, Self::Context, Self::Variables, Self::History, Self::Constraints];

    /// The files that are rewritten, as opposed to appended to.
    pub const REWRITABLE: [Self; 5] =
        [Self::Plan, Self::Context, Self::Variables, Self::Constraints, Self::Workflow];

    /// The file's name on disk.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plan => "plan.md",
            Self::Context => "context.md",
            Self::Variables => "variables.json",
            Self::History => "history.md",
            Self::Constraints => "constraints.md",
            Self::Workflow => "workflow.yaml",
            Self::Log => ".statedir/log",
        }
    }

    /// The content of an empty file.
    pub(crate) const fn blank(self) -> &'static [u8] {
        match self {
            Self::Context => b"# Execution Context\n\n## Key Findings\n",
            Self::Constraints => b"# Execution Constraints\n",
            Self::Variables => b"{}\n",
            _ => b"",
        }
    }

    /// The file's name without its ending.
    pub fn stem(self) -> &'static str {
        self.name().split_once('.').map_or(self.name(), |(stem, _)| stem)
    }

    /// The file of that name, with or without its ending.
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [Self::FIVE.as_slice(), &[Self::Workflow]].concat();
        all.into_iter().find(|file| file.name() == name || file.stem() == name)
    }
}

impl serde::Serialize for StateFile {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl fmt::Display for StateFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
