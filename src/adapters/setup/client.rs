//! The clients, and where each keeps its files.

use std::{fmt, path::PathBuf};

use clap::ValueEnum as _;

use super::{
    SetupError,
    hook_entries::{self, Hooks},
    permissions::{self, Permissions},
    server_entry::{self, ServerEntry},
    signed_file::{OPENCODE_PLUGIN, SKILL, SignedFile},
};

/// An agent's client, as the command line names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Client {
    Claude,
    Codex,
    Cursor,
    Gemini,
    Opencode,
    Qwen,
    // VS Code with Copilot.
    Vscode,
    // Any client that reads AGENTS.md.
    Generic,
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.to_possible_value().unwrap_or_default().get_name())
    }
}

/// For whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Everybody who works on one project.
    Project,
    /// One user, in all projects.
    User,
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Project => "a project",
            Self::User => "a user",
        })
    }
}

/// What is put into a file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FileContent {
    /// Hooks in JSON settings.
    Hooks(&'static Hooks),
    /// Permissions in JSON settings.
    Permissions(&'static Permissions),
    /// The MCP server in JSON settings.
    Server(&'static ServerEntry),
    /// The MCP server in TOML settings.
    TomlServer,
    /// Instructions between markers.
    Block,
    /// A file of our own.
    Own(&'static SignedFile),
}

/// One thing that is put into one file; the path is relative to the project or the home. Several
/// pieces may go into the same file.
#[derive(Clone, Debug)]
pub(crate) struct SetupPiece {
    /// Where it goes.
    pub(crate) path: PathBuf,
    /// What it is.
    pub(crate) kind: FileContent,
}

impl FileContent {
    fn at(self, path: &str) -> SetupPiece {
        SetupPiece { path: path.into(), kind: self }
    }

    /// What it is, in a word or two.
    pub(crate) fn what(self) -> &'static str {
        match self {
            Self::Hooks(_) => "hooks",
            Self::Permissions(_) => "permissions",
            Self::Server(_) | Self::TomlServer => "MCP server",
            Self::Block => "instructions",
            Self::Own(file) => file.name,
        }
    }
}

/// Where clients other than Claude Code look for skills.
const SHARED_SKILL: &str = ".agents/skills/statedir/SKILL.md";

impl Client {
    /// What is put where, in the order in which it is put.
    ///
    /// # Errors
    /// The client has no place for this scope.
    pub(crate) fn pieces(self, scope: Scope) -> Result<Vec<SetupPiece>, SetupError> {
        use FileContent::{Block, Hooks, Own, Permissions, Server, TomlServer};
        use Scope::{Project, User};
        let settings = ".claude/settings.json";
        let skill = ".claude/skills/statedir/SKILL.md";
        Ok(match (self, scope) {
            (Self::Claude, Project) => vec![
                Hooks(&hook_entries::CLAUDE).at(settings),
                Permissions(&permissions::PROJECT).at(settings),
                Server(&server_entry::PLAIN).at(".mcp.json"),
                Block.at("CLAUDE.md"),
                Own(&SKILL).at(skill),
            ],
            // The user's MCP servers are in a file that the client itself rewrites all the time.
            (Self::Claude, User) => vec![
                Hooks(&hook_entries::CLAUDE).at(settings),
                Permissions(&permissions::USER).at(settings),
                Block.at(".claude/CLAUDE.md"),
                Own(&SKILL).at(skill),
            ],
            (Self::Codex, _) => vec![
                TomlServer.at(".codex/config.toml"),
                Hooks(&hook_entries::CODEX).at(".codex/hooks.json"),
                Block.at(if scope == User { ".codex/AGENTS.md" } else { "AGENTS.md" }),
                Own(&SKILL).at(SHARED_SKILL),
            ],
            (Self::Cursor, Project) => {
                vec![Server(&server_entry::PLAIN).at(".cursor/mcp.json"), Block.at("AGENTS.md")]
            }
            (Self::Cursor, User) => vec![Server(&server_entry::PLAIN).at(".cursor/mcp.json")],
            (Self::Gemini, _) => vec![
                Server(&server_entry::TRUSTED).at(".gemini/settings.json"),
                Hooks(&hook_entries::GEMINI).at(".gemini/settings.json"),
                Block.at(if scope == User { ".gemini/GEMINI.md" } else { "GEMINI.md" }),
                Own(&SKILL).at(SHARED_SKILL),
            ],
            (Self::Opencode, Project) => vec![
                Server(&server_entry::OPENCODE).at("opencode.json"),
                Own(&OPENCODE_PLUGIN).at(".opencode/plugins/statedir.js"),
                Block.at("AGENTS.md"),
                Own(&SKILL).at(SHARED_SKILL),
            ],
            (Self::Opencode, User) => vec![
                Server(&server_entry::OPENCODE).at(".config/opencode/opencode.json"),
                Own(&OPENCODE_PLUGIN).at(".config/opencode/plugins/statedir.js"),
                Block.at(".config/opencode/AGENTS.md"),
            ],
            (Self::Qwen, _) => vec![
                Server(&server_entry::TRUSTED).at(".qwen/settings.json"),
                Hooks(&hook_entries::QWEN).at(".qwen/settings.json"),
                Block.at(if scope == User { ".qwen/QWEN.md" } else { "QWEN.md" }),
                Own(&SKILL).at(SHARED_SKILL),
            ],
            (Self::Vscode, Project) => {
                vec![Server(&server_entry::VSCODE).at(".vscode/mcp.json"), Block.at("AGENTS.md")]
            }
            (Self::Generic, Project) => vec![Block.at("AGENTS.md"), Own(&SKILL).at(SHARED_SKILL)],
            (Self::Generic | Self::Vscode, User) => {
                return Err(SetupError::NoPlace { client: self, scope });
            }
        })
    }

    /// What is left for the user to do by hand.
    pub(crate) fn advice(self, scope: Scope, program: &str) -> Option<String> {
        Some(match (self, scope) {
            (Self::Claude, Scope::User) => {
                format!("for the MCP server: claude mcp add --scope user statedir -- {program} mcp")
            }
            (Self::Claude, Scope::Project) => {
                "Claude Code asks once whether you trust this folder; the permissions count from \
                 then on"
                    .to_owned()
            }
            (Self::Codex, _) => {
                "Codex asks once whether you trust this project and its hooks; restart it to load \
                 them"
                    .to_owned()
            }
            (Self::Gemini, _) => {
                "gemini loads its settings at the start, in folders that you trust".to_owned()
            }
            (Self::Qwen, _) => {
                "qwen loads its settings at the start, in folders that you trust; its task list, \
                 which becomes steps, is there with `tools.todoWrite.enabled`"
                    .to_owned()
            }
            _ => return None,
        })
    }
}
