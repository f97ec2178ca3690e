//! Archived executions that nobody needs any more.

use crate::{
    domain::PlanRole,
    store::Directory,
    workspace::{ArchivedState, Error, Workspace, environment::millis_between},
};

impl Workspace {
    /// The archived executions that have ended and were last changed longer ago than that.
    ///
    /// # Errors
    /// The archive cannot be listed.
    pub(crate) fn prunable(&self, older_than_ms: u64) -> Result<Vec<ArchivedState>, Error> {
        let now = self.environment().timestamp();
        let is_old = |state: &ArchivedState| {
            let time = state.last_updated.as_deref();
            time.and_then(|time| millis_between(time, now)).is_some_and(|age| age >= older_than_ms)
        };
        let has_ended = |state: &ArchivedState| {
            let role = state.overview.as_ref().ok().and_then(|overview| overview.role);
            matches!(role, Some(PlanRole::Succeeded | PlanRole::Failed))
        };
        let mut found = self.archived()?;
        found.retain(|state| has_ended(state) && is_old(state));
        Ok(found)
    }

    /// Deletes an archived execution for good.
    ///
    /// # Errors
    /// It cannot be removed.
    pub(crate) fn prune(&self, state: &ArchivedState) -> Result<(), Error> {
        let (Some(archive), Some(name)) = (state.directory.parent(), state.directory.file_name())
        else {
            return Ok(());
        };
        let failed =
            |error: std::io::Error| Error::refused(crate::domain::ErrorCode::Io, error.to_string());
        Directory::open(archive).map_err(failed)?.remove_all(name).map_err(failed)
    }
}
