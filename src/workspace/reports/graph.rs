//! The plan as a graph, with the times that the history has measured.

use crate::{
    graph::Graph,
    workspace::{Error, Snapshot, StepTimes},
};

/// From how many of the newest entries, and of how many bytes, times are taken.
const COVERED: (usize, u64) = (1000, 1 << 20);

impl Snapshot {
    /// The graph of the plan; `group_by` is the field that says which group a step belongs to, else
    /// the usual one.
    pub(crate) fn graph(&self, group_by: Option<&str>) -> Result<Graph, Error> {
        let (plan, workflow) = (self.plan()?, self.workflow()?);
        let entries = self.recent_entries(COVERED.0, COVERED.1).unwrap_or_default();
        let times = StepTimes::of(&entries);
        Ok(Graph::new(&plan, &workflow, group_by.unwrap_or("group"), |id| times.total(id)))
    }
}
