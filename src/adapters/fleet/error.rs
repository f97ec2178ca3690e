//! What can go wrong with a fleet.

use crate::domain::ErrorCode;

use super::{database::SCHEMA, project::Refusal};

/// Why a command of the fleet failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FleetError {
    #[error("`{0}` is not the address of a database")]
    BadAddress(String),
    /// The environment asks for a time that is none.
    #[error("STATEDIR_FLEET_TIMEOUT is not a time: `{0}`")]
    BadTimeout(String),
    /// Nothing answers there.
    #[error("the database of the fleet cannot be reached: {0}")]
    Unreachable(String),
    /// It answers and refuses, or its answer makes no sense.
    #[error("the database of the fleet: {0}")]
    Database(String),
    /// It has no tables of ours.
    #[error("`{address}` is not a fleet yet")]
    NotSetUp {
        /// Without its password.
        address: String,
    },
    /// It has tables of another version.
    #[error("the database has version {found} of the fleet's tables; this program knows {SCHEMA}")]
    Schema {
        /// The version.
        found: i64,
    },
    /// The state does not belong to a fleet.
    #[error("this state does not belong to a fleet")]
    NotJoined,
    /// No project has that name.
    #[error("the fleet has no project `{0}`")]
    NoProject(String),
    /// The database did not accept a push, a claim or a release.
    #[error("{0}")]
    Refused(Box<Refusal>),
    /// Files here were changed and not published.
    #[error("`{directory}` has changes that are not published: {files}")]
    Unpublished {
        /// The project.
        name: String,
        directory: String,
        files: String,
    },
    /// The published part of the history was changed.
    #[error("history.md was changed before byte {published}, which is published already")]
    Rewritten {
        /// How many bytes are published.
        published: u64,
    },
    /// What the database holds is not what was published.
    #[error("what the database holds of `{name}` is damaged: {why}")]
    Damaged {
        /// The project.
        name: String,
        /// What is wrong.
        why: String,
    },
    /// Both sides changed the same thing.
    #[error("{0}")]
    Merge(String),
    /// A state of another execution is there.
    #[error("`{directory}` holds another execution: {found}")]
    OtherState {
        directory: String,
        /// Its execution_id.
        found: String,
    },
    /// Something else than a state is there.
    #[error("`{directory}` is not empty, and holds no state")]
    NotEmpty { directory: String },
    /// The state has no name that it could have in a fleet.
    #[error("plan.md has no execution_id")]
    NoIdentity,
    /// The files are not ours alone.
    #[error("an adopted plan cannot join a fleet: its files belong to another tool")]
    Adopted,
    /// A file of the user's own, such as the list of joined states, cannot be read or written.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// The state cannot be read or written.
    #[error(transparent)]
    Workspace(#[from] crate::workspace::Error),
}

impl FleetError {
    /// The stable word for it.
    pub(crate) fn code(&self) -> ErrorCode {
        match self {
            Self::BadAddress(_) | Self::BadTimeout(_) => ErrorCode::BadValue,
            Self::Unreachable(_) => ErrorCode::FleetUnreachable,
            Self::Database(_) | Self::Schema { .. } | Self::Damaged { .. } => {
                ErrorCode::FleetDatabase
            }
            Self::NotSetUp { .. } | Self::NotJoined | Self::NoProject(_) => ErrorCode::NotFound,
            Self::Refused(refusal) if refusal.is_taken() => ErrorCode::Exists,
            Self::Refused(_) => ErrorCode::LeaseLost,
            Self::Unpublished { .. } | Self::Rewritten { .. } | Self::Merge(_) => {
                ErrorCode::Unpublished
            }
            Self::OtherState { .. } | Self::NotEmpty { .. } => ErrorCode::Exists,
            Self::NoIdentity | Self::Adopted => ErrorCode::BadValue,
            Self::Io(_) => ErrorCode::Io,
            Self::Workspace(error) => error.code(),
        }
    }

    /// The way out.
    pub(crate) fn hint(&self) -> Option<String> {
        Some(match self {
            Self::BadAddress(_) => {
                "sqlite:/var/lib/statedir/fleet.db, or postgres://worker@db.example/fleet"
                    .to_owned()
            }
            Self::BadTimeout(_) => "such as STATEDIR_FLEET_TIMEOUT=30s".to_owned(),
            Self::Unreachable(_) => {
                "other commands work without it; `statedir fleet push` catches up later".to_owned()
            }
            Self::NotSetUp { .. } => "`statedir fleet init` creates its tables".to_owned(),
            Self::Schema { found } if (1..SCHEMA).contains(found) => {
                "`statedir fleet init` brings them up to date".to_owned()
            }
            Self::Schema { .. } => "use the version of statedir that made it".to_owned(),
            Self::NotJoined => "`statedir fleet join` makes it part of one".to_owned(),
            Self::NoProject(_) => "`statedir fleet list` shows all".to_owned(),
            Self::Refused(refusal) => refusal.hint()?,
            Self::Unpublished { name, .. } => format!(
                "`statedir fleet push` publishes them; `statedir fleet pull {} --merge` merges both",
                crate::text::shell::shell_word(name)
            ),
            Self::Rewritten { .. } => {
                "`statedir fleet push --whole` publishes the whole history again".to_owned()
            }
            Self::NoIdentity => "`statedir plan set execution_id=my-project`".to_owned(),
            Self::OtherState { .. } | Self::NotEmpty { .. } => "name another directory".to_owned(),
            Self::Workspace(error) => error.hint()?,
            Self::Adopted => "git carries it to other machines".to_owned(),
            Self::Database(_) | Self::Damaged { .. } | Self::Merge(_) | Self::Io(_) => return None,
        })
    }
}
