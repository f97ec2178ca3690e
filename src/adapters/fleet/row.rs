//! What a row of either database means; only how a column is read differs.

use serde_json::Value;

use super::{
    FleetError,
    database::{Lease, Project, Range, Totals},
};

/// A row. A column of another type than it should have is refused, not misread.
pub(super) trait Row {
    fn text(&self, at: usize) -> Result<String, FleetError>;
    fn optional_text(&self, at: usize) -> Result<Option<String>, FleetError>;
    fn integer(&self, at: usize) -> Result<i64, FleetError>;
    fn real(&self, at: usize) -> Result<f64, FleetError>;
    fn bytes(&self, at: usize) -> Result<Vec<u8>, FleetError>;
}

/// The columns that `Dialect::columns` names.
pub(super) fn project(row: &dyn Row) -> Result<Project, FleetError> {
    Ok(Project {
        id: row.text(0)?,
        name: row.text(1)?,
        status: row.text(2)?,
        current_task_id: row.optional_text(3)?,
        current_agent_id: row.optional_text(4)?,
        last_action: row.optional_text(5)?,
        metadata: json(&row.text(6)?).unwrap_or_default(),
        revision: row.text(7)?,
        history_length: row.integer(8)?,
        history_chain: row.text(9)?,
        generation: row.integer(10)?,
        age_ms: row.integer(11)?,
        silent_ms: row.integer(12)?,
        lease: Lease { host: row.text(13)?, fence: row.integer(14)?, left_ms: row.integer(15)? },
    })
}

/// The columns of `Dialect::totals`.
pub(super) fn totals(row: &dyn Row) -> Result<Totals, FleetError> {
    Ok(Totals {
        group: row.text(0)?,
        projects: row.integer(1)?,
        completed: row.integer(2)?,
        failed: row.integer(3)?,
        steps_done: row.integer(4)?,
        steps: row.integer(5)?,
        cost: row.real(6)?,
        time_ms: row.integer(7)?,
        recoveries: row.integer(8)?,
    })
}

/// A start, a content and a chain.
pub(super) fn range(row: &dyn Row) -> Result<Range, FleetError> {
    let start = u64::try_from(row.integer(0)?).unwrap_or_default();
    Ok(Range { start, bytes: row.bytes(1)?, chain: row.text(2)? })
}

/// A name and a content.
pub(super) fn file(row: &dyn Row) -> Result<(String, Vec<u8>), FleetError> {
    Ok((row.text(0)?, row.bytes(1)?))
}

/// A document; what is no JSON is none.
pub(super) fn json(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}
