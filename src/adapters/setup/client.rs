//! The clients and where each keeps what.

use std::{fmt, path::PathBuf};

use super::SetupError;

/// An agent's client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Client {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Cursor.
    Cursor,
    /// Gemini CLI.
    Gemini,
    /// Any client that reads AGENTS.md.
    Generic,
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
            Self::Gemini => "gemini",
            Self::Generic => "generic",
        })
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

/// One thing that is put into one file; the path is relative to the project or the home.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Hooks in JSON settings.
    Hooks(PathBuf),
    /// The MCP server in JSON settings.
    Server(PathBuf),
    /// The MCP server in TOML settings.
    TomlServer(PathBuf),
    /// Instructions between markers.
    Block(PathBuf),
    /// A skill of its own.
    Skill(PathBuf),
}

impl Piece {
    /// Where it goes.
    pub(crate) fn path(&self) -> &PathBuf {
        match self {
            Self::Hooks(path)
            | Self::Server(path)
            | Self::TomlServer(path)
            | Self::Block(path)
            | Self::Skill(path) => path,
        }
    }

    /// What it is, in a word or two.
    pub(crate) fn what(&self) -> &'static str {
        match self {
            Self::Hooks(_) => "hooks",
            Self::Server(_) | Self::TomlServer(_) => "MCP server",
            Self::Block(_) => "instructions",
            Self::Skill(_) => "skill",
        }
    }
}

impl Client {
    /// What is put where.
    ///
    /// # Errors
    /// The client has no place for this scope.
    pub(crate) fn pieces(self, scope: Scope) -> Result<Vec<Piece>, SetupError> {
        use Piece::{Block, Hooks, Server, Skill, TomlServer};
        use Scope::{Project, User};
        let skill = || Skill(".claude/skills/statedir/SKILL.md".into());
        Ok(match (self, scope) {
            (Self::Claude, Project) => vec![
                Hooks(".claude/settings.json".into()),
                Server(".mcp.json".into()),
                Block("CLAUDE.md".into()),
                skill(),
            ],
            // The user's MCP servers are in a file that the client itself rewrites all the time.
            (Self::Claude, User) => vec![
                Hooks(".claude/settings.json".into()),
                Block(".claude/CLAUDE.md".into()),
                skill(),
            ],
            (Self::Codex, Project) => {
                vec![TomlServer(".codex/config.toml".into()), Block("AGENTS.md".into())]
            }
            (Self::Codex, User) => {
                vec![TomlServer(".codex/config.toml".into()), Block(".codex/AGENTS.md".into())]
            }
            (Self::Cursor, Project) => {
                vec![Server(".cursor/mcp.json".into()), Block("AGENTS.md".into())]
            }
            (Self::Cursor, User) => vec![Server(".cursor/mcp.json".into())],
            (Self::Gemini, Project) => {
                vec![Server(".gemini/settings.json".into()), Block("GEMINI.md".into())]
            }
            (Self::Gemini, User) => {
                vec![Server(".gemini/settings.json".into()), Block(".gemini/GEMINI.md".into())]
            }
            (Self::Generic, Project) => vec![Block("AGENTS.md".into())],
            (Self::Generic, User) => {
                return Err(SetupError::NoPlace { client: self, scope });
            }
        })
    }

    /// What is left for the user to do by hand.
    pub(crate) fn advice(self, scope: Scope, program: &str) -> Option<String> {
        let mcp = (self, scope) == (Self::Claude, Scope::User);
        mcp.then(|| {
            format!("for the MCP server: claude mcp add --scope user statedir -- {program} mcp")
        })
    }
}
