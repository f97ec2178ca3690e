//! What a machine remembers of the states that it has joined to a fleet.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{FleetError, address::own_directory};
use crate::{
    store::{Directory, private_directory},
    workspace::Workspace,
};

/// The file in the state's own directory.
const FILE: &str = "fleet.json";
/// The list of directories beside the database of one's own.
const JOINED: &str = "joined.json";
/// The largest of both that is read.
const LIMIT: u64 = 4 << 20;

/// How a state belongs to a fleet, and what of it was published last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Membership {
    /// The execution_id.
    pub id: String,
    /// The name in the fleet.
    pub name: String,
    /// The address of the database, without a password.
    pub fleet: String,
    /// The fencing number of the lease that this machine had last.
    pub fence: i64,
    /// The revision that was published last; empty before the first push.
    pub revision: String,
    /// What the state was here when that was published: the base of a merge.
    pub local_revision: String,
    /// Counts up when the history is published anew.
    pub generation: i64,
    /// The digests of the published files.
    pub files: BTreeMap<String, String>,
    /// How many bytes of the history are published.
    pub history_length: u64,
    /// The digest of the last bytes before that.
    pub history_tail: String,
    /// The digest over all published ranges.
    pub history_chain: String,
    /// Whether values that look like secrets are published in the document, too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub with_secrets: bool,
    /// What a push that was not answered may have published.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unanswered: Option<Box<Membership>>,
}

impl Membership {
    /// How the state belongs to a fleet.
    ///
    /// # Errors
    /// It does not, or the record of it cannot be read.
    pub(crate) fn of(workspace: &Workspace) -> Result<Self, FleetError> {
        Self::find(workspace)?.ok_or(FleetError::NotJoined)
    }

    /// The same; `None` if it belongs to none. A private directory that came with a clone says
    /// nothing about this machine.
    pub(crate) fn find(workspace: &Workspace) -> Result<Option<Self>, FleetError> {
        if !workspace.uses_private_directory() {
            return Ok(None);
        }
        let Some(private) = private_directory(workspace.directory())? else { return Ok(None) };
        let Some(bytes) = private.read(FILE, LIMIT)? else { return Ok(None) };
        let read = serde_json::from_slice(&bytes).map_err(std::io::Error::from)?;
        Ok(Some(read))
    }

    /// Keeps it.
    ///
    /// # Errors
    /// The state's own directory cannot be written.
    pub(crate) fn save(&self, workspace: &Workspace) -> Result<(), FleetError> {
        let private = private_directory(workspace.directory())?.ok_or_else(|| {
            let message = "the state has no directory of its own yet";
            std::io::Error::new(std::io::ErrorKind::NotFound, message)
        })?;
        let bytes = serde_json::to_vec_pretty(self).map_err(std::io::Error::from)?;
        private.replace(FILE, &bytes)?;
        private.sync()?;
        Ok(())
    }
}

/// The directories of all states on this machine that belong to a fleet, by execution_id.
pub(crate) fn joined_directories() -> Result<Vec<(String, PathBuf)>, FleetError> {
    let dir = match Directory::open(&own_directory()?) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    let Some(bytes) = dir.read(JOINED, LIMIT)? else { return Ok(Vec::new()) };
    Ok(serde_json::from_slice(&bytes).map_err(std::io::Error::from)?)
}

/// Remembers where a state is.
pub(crate) fn remember_directory(id: &str, state: &Path) -> Result<(), FleetError> {
    let own = own_directory()?;
    fs_err::create_dir_all(&own)?;
    let dir = Directory::open(&own)?;
    let _alone = dir.lock()?;
    let state = std::path::absolute(state)?;
    let mut all = joined_directories()?;
    all.retain(|(_, known)| *known != state && known.is_dir());
    all.push((id.to_owned(), state));
    let bytes = serde_json::to_vec_pretty(&all).map_err(std::io::Error::from)?;
    dir.replace(JOINED, &bytes)?;
    Ok(())
}
