//! Making clients know `statedir`: hooks, MCP entry, a block of instructions, a skill.
//!
//! What is there already keeps its bytes. Setting up twice changes nothing, and taking it back
//! leaves what was there before.

mod block;
mod client;
mod file;
mod hook_entries;
mod json_text;
mod marker;
mod outcome;
mod own_file;
mod server_entry;
mod skill;
mod toml_text;

use std::path::{Path, PathBuf};

use self::outcome::{FileOutcome, Wish};
pub(crate) use self::{
    client::{Client, Piece, Scope},
    file::{Action, FilePlan},
};

/// Why nothing was set up.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SetupError {
    /// A file that has to be changed cannot be understood. It stays as it is.
    #[error("`{}` was not changed: {message}", path.display())]
    NotUnderstood {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// The file is a link to nothing, a directory or a device.
    #[error("`{}` is not a regular file", path.display())]
    NotRegular {
        /// The path.
        path: PathBuf,
    },
    /// A link leads out of the project: whoever committed it chose the file, not the user.
    #[error("`{}` was not changed: a symbolic link leads to `{}`, outside of `{}`", path.display(), target.display(), root.display())]
    Outside {
        /// The path.
        path: PathBuf,
        /// Where it leads.
        target: PathBuf,
        /// Where it may lead.
        root: PathBuf,
    },
    /// The client has no such place.
    #[error("{client} has no settings for {scope}")]
    NoPlace {
        /// The client.
        client: Client,
        /// The scope.
        scope: Scope,
    },
    /// The disk.
    #[error("{0}")]
    Io(#[from] std::io::Error),
}

/// What is to be set up, and where.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    /// For which client.
    pub client: Client,
    /// For one project or for all of a user's.
    pub scope: Scope,
    /// The project's directory, or the user's home.
    pub root: PathBuf,
    /// The program as the client should call it.
    pub program: String,
    /// Whether what somebody changed by hand is given up.
    pub force: bool,
}

impl Setup {
    /// What each piece is, as text to be put in by hand.
    ///
    /// # Errors
    /// The client has no place for this scope.
    pub(crate) fn pieces(&self) -> Result<Vec<(PathBuf, String)>, SetupError> {
        let pieces = self.client.pieces(self.scope)?;
        let text = |piece: &Piece| match piece {
            Piece::Hooks(_) => pretty(&hook_entries::all(&self.program)),
            Piece::Server(_) => pretty(&server_entry::whole(&self.program)),
            Piece::TomlServer(_) => toml_text::lines(&self.program),
            Piece::Block(_) => block::TEXT.to_owned(),
            Piece::Skill(_) => skill::text(),
        };
        Ok(pieces.iter().map(|piece| (self.root.join(piece.path()), text(piece))).collect())
    }

    /// What would be written; with `remove`, what would be taken back.
    ///
    /// # Errors
    /// One of the files cannot be understood; then none may be touched.
    pub(crate) fn plan(&self, remove: bool) -> Result<Vec<FilePlan>, SetupError> {
        let mut plans = Vec::new();
        for piece in self.client.pieces(self.scope)? {
            let path = self.root.join(piece.path());
            file::refuse_outside(&path, &self.root, self.scope)?;
            let before = file::read(&path)?;
            let wrong = |message: String| SetupError::NotUnderstood { path: path.clone(), message };
            let there = before.as_deref();
            let (program, force) = (self.program.as_str(), self.force);
            let wish = Wish { program, force, folders: file::empty_folders(&path, &self.root) };
            let client = self.client.to_string();
            let edited = match (&piece, remove) {
                (Piece::Hooks(_), false) => hook_entries::put(there, wish),
                (Piece::Hooks(_), true) => hook_entries::take(there, wish),
                (Piece::Server(_), false) => server_entry::put(there, wish),
                (Piece::Server(_), true) => server_entry::take(there, wish),
                (Piece::TomlServer(_), false) => toml_text::put(there, wish),
                (Piece::TomlServer(_), true) => toml_text::take(there, wish),
                (Piece::Block(_), false) => block::markdown(&client).put(there, block::TEXT, wish),
                (Piece::Block(_), true) => block::markdown(&client).take(there, block::TEXT, wish),
                (Piece::Skill(_), false) => Ok(skill::put(there, wish)),
                (Piece::Skill(_), true) => Ok(skill::take(there, wish)),
            };
            let FileOutcome { text: after, folders, note } = edited.map_err(wrong)?;
            plans.push(FilePlan { path, what: piece.what(), before, after, folders, note });
        }
        Ok(plans)
    }

    /// Does what was planned, each file in one step.
    ///
    /// # Errors
    /// The disk fails; files before that one are done.
    pub(crate) fn carry_out(&self, plans: &[FilePlan]) -> Result<(), SetupError> {
        for plan in plans {
            file::refuse_outside(&plan.path, &self.root, self.scope)?;
            file::carry_out(plan, &self.root)?;
        }
        Ok(())
    }
}

/// The project that a directory belongs to: the nearest one with a state or a repository.
pub(crate) fn project_of(here: &Path) -> PathBuf {
    let is_project =
        |dir: &&Path| dir.join("workspace/state").is_dir() || dir.join(".git").exists();
    here.ancestors().find(is_project).unwrap_or(here).to_owned()
}

#[cfg(test)]
mod tests;

fn pretty(value: &serde_json::Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}
