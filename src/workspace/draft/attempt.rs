//! Working something into a draft that may be refused, and in whose name.

use super::Draft;
use crate::workspace::Error;

impl Draft<'_> {
    /// Who acts, or for whom.
    pub(in crate::workspace) fn actor(&self) -> &str {
        self.on_behalf_of.as_ref().map_or_else(|| self.env.actor(), |claim| &claim.actor)
    }

    /// Works something into the draft, or leaves it as it was where that is refused.
    pub(in crate::workspace) fn attempt<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let (changed, facts) = (self.changed.clone(), self.facts.clone());
        let (appended, notices) = (self.appended.len(), self.notices.len());
        let (checkpoints, usage) = (self.checkpoints.len(), self.records_usage);
        let done = work(self);
        if done.is_err() {
            (self.changed, self.facts, self.records_usage) = (changed, facts, usage);
            self.appended.truncate(appended);
            self.notices.truncate(notices);
            self.checkpoints.truncate(checkpoints);
            self.forget();
        }
        done
    }
}
