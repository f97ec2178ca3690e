//! Making clients know `statedir`: hooks, MCP entry, a block of instructions, a skill.
//!
//! Existing content keeps its bytes. Setting up twice changes nothing, and removing it restores
//! what was there before.

mod block;
mod client;
mod file;
mod hook_entries;
mod json_text;
mod marker;
mod outcome;
mod own_file;
mod permissions;
mod server_entry;
mod signed_file;
mod standing;
mod toml_text;
mod trust;

use std::path::{Path, PathBuf};

use self::outcome::{FileOutcome, Wish};
pub(crate) use self::{
    client::{Client, FileContent, Scope, SetupPiece},
    file::{FileAction, FilePlan},
    outcome::HookOptions,
    standing::{FileStanding, FileState},
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
    NotRegular { path: PathBuf },
    /// A link leads out of the project: whoever committed it chose the file, not the user.
    #[error("`{}` was not changed: a symbolic link leads to `{}`, outside `{}`", path.display(), target.display(), root.display())]
    Outside {
        path: PathBuf,
        /// Where it leads.
        target: PathBuf,
        /// Where it may lead.
        root: PathBuf,
    },
    /// The client has no such place.
    #[error("{client} has no settings for {scope}")]
    NoPlace { client: Client, scope: Scope },
    /// The disk.
    #[error("{0}")]
    Io(#[from] std::io::Error),
}

/// What is to be set up, and where.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub client: Client,
    /// For one project or for all of a user's.
    pub scope: Scope,
    /// The project's directory, or the user's home.
    pub root: PathBuf,
    /// The program as the client should call it.
    pub program: String,
    /// Whether what somebody changed by hand is discarded.
    pub force: bool,
    /// What the hooks do besides.
    pub hooks: HookOptions,
}

impl Setup {
    /// What each piece is, as text to be put in by hand.
    ///
    /// # Errors
    /// The client has no place for this scope.
    pub(crate) fn pieces(&self) -> Result<Vec<(PathBuf, String)>, SetupError> {
        let pieces = self.client.pieces(self.scope)?;
        let text = |piece: &SetupPiece| match piece.kind {
            FileContent::Hooks(hooks) => pretty(&hooks.all(&self.program, self.hooks)),
            FileContent::Permissions(permissions) => pretty(&permissions.all()),
            FileContent::Server(entry) => pretty(&entry.whole(&self.program)),
            FileContent::TomlServer => toml_text::lines(&self.program),
            FileContent::Block => block::TEXT.to_owned(),
            FileContent::Own(file) => file.text(&self.program, self.hooks),
        };
        Ok(pieces.iter().map(|piece| (self.root.join(&piece.path), text(piece))).collect())
    }

    /// What would be written; with `remove`, what would be removed.
    ///
    /// # Errors
    /// One of the files cannot be understood; then none may be touched.
    pub(crate) fn plan(&self, remove: bool) -> Result<Vec<FilePlan>, SetupError> {
        let mut pieces = self.client.pieces(self.scope)?;
        self.share_instructions(&mut pieces, remove)?;
        if remove {
            // What was put last into a file is taken out first.
            pieces.reverse();
        }
        let mut plans: Vec<FilePlan> = Vec::new();
        for piece in pieces {
            let path = self.root.join(&piece.path);
            let at = match plans.iter().position(|plan| plan.path == path) {
                Some(at) => at,
                None => {
                    file::refuse_outside(&path, &self.root, self.scope)?;
                    let before = file::read(&path)?;
                    let (after, what) = (before.clone(), String::new());
                    plans.push(FilePlan { path, what, before, after, folders: 0, note: None });
                    plans.len() - 1
                }
            };
            let plan = &mut plans[at];
            let folders = file::empty_folders(&plan.path, &self.root)?;
            let FileOutcome { text, folders, note } =
                self.edit(&piece, plan.after.as_deref(), remove, folders).map_err(|message| {
                    SetupError::NotUnderstood { path: plan.path.clone(), message }
                })?;
            let named = if plan.what.is_empty() { "" } else { ", " };
            plan.what = match remove {
                false => format!("{}{named}{}", plan.what, piece.kind.what()),
                true => format!("{}{named}{}", piece.kind.what(), plan.what),
            };
            (plan.after, plan.folders) = (text, folders);
            plan.note = plan.note.take().or(note);
        }
        if remove {
            plans.reverse();
        }
        Ok(plans)
    }

    /// One file with a piece, or without it.
    fn edit(
        &self,
        piece: &SetupPiece,
        there: Option<&str>,
        remove: bool,
        folders: usize,
    ) -> Result<FileOutcome, String> {
        let (program, force) = (self.program.as_str(), self.force);
        let wish = Wish { program, force, folders, options: self.hooks };
        let client = self.client.to_string();
        match (piece.kind, remove) {
            (FileContent::Hooks(hooks), false) => hook_entries::put(hooks, there, wish),
            (FileContent::Hooks(hooks), true) => hook_entries::take(hooks, there, wish),
            (FileContent::Permissions(permissions), false) => permissions.put(there, wish),
            (FileContent::Permissions(permissions), true) => permissions.take(there, wish),
            (FileContent::Server(entry), false) => server_entry::put(entry, there, wish),
            (FileContent::Server(entry), true) => server_entry::take(entry, there, wish),
            (FileContent::TomlServer, false) => toml_text::put(there, wish),
            (FileContent::TomlServer, true) => toml_text::take(there, wish),
            (FileContent::Block, false) => block::markdown(&client).put(there, block::TEXT, wish),
            (FileContent::Block, true) => block::markdown(&client).take(there, block::TEXT, wish),
            (FileContent::Own(file), false) => Ok(file.put(there, &client, wish)),
            (FileContent::Own(file), true) => Ok(file.take(there, &client, wish)),
        }
    }

    /// A CLAUDE.md that imports AGENTS.md gets its instructions there, so that nobody reads them
    /// twice. Removing looks at both.
    fn share_instructions(
        &self,
        pieces: &mut Vec<SetupPiece>,
        remove: bool,
    ) -> Result<(), SetupError> {
        let own = pieces.iter_mut().find(|piece| piece.path == Path::new("CLAUDE.md"));
        let Some(own) = own else { return Ok(()) };
        let path = self.root.join(&own.path);
        file::refuse_outside(&path, &self.root, self.scope)?;
        let text = file::read(&path)?.unwrap_or_default();
        let imports =
            text.split_whitespace().any(|word| matches!(word, "@AGENTS.md" | "@./AGENTS.md"));
        let shared = SetupPiece { path: "AGENTS.md".into(), kind: own.kind };
        match (remove, imports) {
            (true, _) => pieces.push(shared),
            (false, true) => *own = shared,
            (false, false) => {}
        }
        Ok(())
    }

    /// Does what was planned, each file in one step.
    ///
    /// # Errors
    /// The disk fails; files before that one are done.
    pub(crate) fn carry_out(&self, plans: &[FilePlan]) -> Result<(), SetupError> {
        // A folder that only holds what another command left behind is empty.
        for plan in plans {
            file::refuse_outside(&plan.path, &self.root, self.scope)?;
            file::clean_up(plan, &self.root)?;
        }
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
