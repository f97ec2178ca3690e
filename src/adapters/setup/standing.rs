//! How much of a client's setup is in place.

use std::path::PathBuf;

use super::{Client, FileAction, FileContent, Scope, Setup, SetupError, hook_entries, trust};

/// How a file stands to what `setup` would write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileState {
    /// It has all that belongs there.
    InPlace,
    /// It has something of ours, but not what belongs there now.
    Outdated,
    /// Somebody changed what belongs there.
    Changed,
    /// It has nothing of ours.
    Missing,
}

/// One file.
#[derive(Clone, Debug)]
pub(crate) struct FileStanding {
    /// The file.
    pub path: PathBuf,
    /// What belongs into it.
    pub what: String,
    /// How it stands.
    pub state: FileState,
}

impl Setup {
    /// How the files of the client stand.
    ///
    /// # Errors
    /// The client has no place for this scope, or a file cannot be understood.
    pub(crate) fn standing(&self) -> Result<Vec<FileStanding>, SetupError> {
        let stand = |plan: super::FilePlan| {
            let has_ours = plan.before.as_ref().is_some_and(|text| text.contains("statedir"));
            let state = match plan.action() {
                FileAction::Keep if plan.note.is_some() => FileState::Changed,
                FileAction::Keep => FileState::InPlace,
                FileAction::Change if has_ours => FileState::Outdated,
                _ => FileState::Missing,
            };
            FileStanding { path: plan.path, what: plan.what, state }
        };
        Ok(self.plan(false)?.into_iter().map(stand).collect())
    }

    /// Whether the client is set up: what only it reads is there.
    pub(crate) fn is_set_up(&self, files: &[FileStanding]) -> bool {
        let shared = self.client == Client::Generic;
        files.first().is_some_and(|file| match file.state {
            FileState::Missing => false,
            // Instructions that another client asked for.
            FileState::Outdated => !shared,
            FileState::InPlace | FileState::Changed => true,
        })
    }

    /// What is left for the user to do after setting up.
    pub(crate) fn advice(&self) -> Option<String> {
        self.with_doubled(self.client.advice(self.scope, &self.program))
    }

    /// What the client still needs from the user.
    pub(crate) fn needs(&self) -> Option<String> {
        let is_trusted = match self.scope {
            Scope::Project => trust::is_trusted(self.client, &self.root),
            Scope::User => None,
        };
        self.with_doubled(match is_trusted {
            Some(true) => None,
            Some(false) => Some(format!(
                "{} does not trust this folder yet: start it here once and say yes; its hooks and \
                 servers count from then on",
                self.client
            )),
            None => self.client.advice(self.scope, &self.program),
        })
    }

    /// The advice, and what is to be done where a client calls the hooks of the user and those of the
    /// project: the others call what is the same only once.
    fn with_doubled(&self, advice: Option<String>) -> Option<String> {
        let is_doubled = || {
            let home =
                std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
            let own = Self { scope: Scope::User, root: home?, ..self.clone() };
            let hooks = |file: &FileStanding| file.what == "hooks";
            own.standing().ok()?.into_iter().find(hooks).map(|file| file.state)
        };
        let is_asked = self.client == Client::Codex && self.scope == Scope::Project;
        if !is_asked || matches!(is_doubled(), None | Some(FileState::Missing)) {
            return advice;
        }
        let doubled = "codex answers every event twice, since your own settings have the hooks, too: \
                       `statedir setup codex --user --remove` leaves those of the project";
        Some(advice.map_or(doubled.to_owned(), |advice| format!("{advice}\n{doubled}")))
    }

    /// The hook as a shell runs it, and whether the client has a server; only what `setup` itself
    /// writes is ever run, never what a file says.
    pub(crate) fn proofs(&self) -> Result<(Option<String>, bool), SetupError> {
        let pieces = self.client.pieces(self.scope)?;
        let hooks = pieces.iter().any(|piece| {
            matches!(piece.kind, FileContent::Hooks(_))
                || piece.path.ends_with("plugins/statedir.js")
        });
        let server = pieces
            .iter()
            .any(|piece| matches!(piece.kind, FileContent::Server(_) | FileContent::TomlServer));
        Ok((hooks.then(|| hook_entries::command(&self.program)), server))
    }
}
