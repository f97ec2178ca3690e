//! What is kept of a plan beside it, so that it need not be read from its file again.

use super::Draft;
use crate::{
    domain::{Plan, StateFile},
    store::{ByteSplice, ChangeKind, FileChange, WORTH_SEALING, WORTHWHILE},
    text::Splice,
};

/// The file that a table is about, and the table.
pub(in crate::workspace) type PlanTable = (Vec<String>, Vec<u8>);

impl Draft<'_> {
    /// What is to be kept of a plan as it is after the change; `None` if that is there already.
    pub(in crate::workspace) fn plan_table(&self) -> Option<PlanTable> {
        let name = StateFile::Plan.name();
        let is_changed = self.changed.contains_key(&StateFile::Plan);
        let size = self.bytes(StateFile::Plan).map_or(0, <[u8]>::len);
        // A short plan is not read for this alone.
        let is_kept =
            || !self.has_parsed_plan.get() && (size < WORTH_SEALING || self.view.has_derived(name));
        if size < WORTHWHILE || !is_changed && is_kept() {
            return None;
        }
        // Of a plan that has to be read from its file in any case, just that is kept.
        let table = self.plan().ok().and_then(|plan| plan.to_table()).unwrap_or_default();
        Some((vec![name.to_owned()], table))
    }

    /// The same after changes that are not made through the draft.
    pub(in crate::workspace) fn plan_table_after(
        &self,
        changes: &[FileChange],
    ) -> Option<PlanTable> {
        let name = StateFile::Plan.name();
        let change = changes.iter().find(|change| change.name == name)?;
        let ChangeKind::Splice(splices) = &change.kind else { return None };
        let text = |splice: &ByteSplice| {
            let new = String::from_utf8(splice.new.clone()).ok()?;
            Some(Splice { at: splice.at.clone(), new })
        };
        let splices: Vec<Splice> = splices.iter().map(text).collect::<Option<_>>()?;
        let before = self.plan().ok()?;
        let edited = before.document.spliced(splices)?;
        let is_worthwhile = edited.document.source().len() >= WORTHWHILE;
        let table = || Plan::reread(before, edited).to_table().unwrap_or_default();
        is_worthwhile.then(|| (vec![name.to_owned()], table()))
    }
}
