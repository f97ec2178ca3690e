//! What a row of either database means; only how a column is read differs.

use serde_json::Value;
use tokio_postgres::types::FromSql;

use super::{
    FleetError, ProjectSummary,
    project::{HistoryRange, Lease, Project, Totals},
};

/// What a column can hold in both databases.
pub(super) trait ColumnValue: rusqlite::types::FromSql + for<'a> FromSql<'a> {}

impl<T: rusqlite::types::FromSql + for<'a> FromSql<'a>> ColumnValue for T {}

/// A row. A column of another type than it should have is refused, not misread.
#[derive(Clone, Copy)]
pub(crate) enum Row<'r> {
    Sqlite(&'r rusqlite::Row<'r>),
    Postgres(&'r tokio_postgres::Row),
}

impl Row<'_> {
    pub(super) fn column<T: ColumnValue>(self, at: usize) -> Result<T, FleetError> {
        Ok(match self {
            Self::Sqlite(row) => row.get(at)?,
            Self::Postgres(row) => row.try_get(at)?,
        })
    }
}

/// The columns that `Dialect::columns` names.
pub(super) fn project(row: Row<'_>) -> Result<Project, FleetError> {
    Ok(Project {
        id: row.column(0)?,
        name: row.column(1)?,
        status: row.column(2)?,
        current_task_id: row.column(3)?,
        current_agent_id: row.column(4)?,
        last_action: row.column(5)?,
        metadata: json(&row.column::<String>(6)?).unwrap_or_default(),
        revision: row.column(7)?,
        history_length: row.column(8)?,
        history_chain: row.column(9)?,
        generation: row.column(10)?,
        age_ms: row.column(11)?,
        silent_ms: row.column(12)?,
        lease: Lease { host: row.column(13)?, fence: row.column(14)?, left_ms: row.column(15)? },
    })
}

/// The columns of `Dialect::summaries`. Metadata that is not a number counts as zero.
pub(super) fn summary(row: Row<'_>) -> Result<ProjectSummary, FleetError> {
    let number = |at: usize| -> Result<u64, FleetError> {
        let text: Option<String> = row.column(at)?;
        Ok(text.and_then(|text| text.parse().ok()).unwrap_or(0))
    };
    let milliseconds = |at: usize| -> Result<u64, FleetError> {
        Ok(u64::try_from(row.column::<i64>(at)?).unwrap_or(0))
    };
    let lease = Lease { host: row.column(3)?, fence: 0, left_ms: row.column(4)? };
    Ok(ProjectSummary {
        name: row.column(0)?,
        status: row.column(1)?,
        current_step: row.column(2)?,
        is_held: lease.is_held(),
        machine: Some(lease.host).filter(|host| !host.is_empty()),
        heard_ms: milliseconds(5)?,
        published_ms: milliseconds(6)?,
        goal: row.column(7)?,
        steps_done: number(8)?,
        steps: number(9)?,
        open_reviews: number(10)?,
    })
}

/// The columns of `Dialect::totals`.
pub(super) fn totals(row: Row<'_>) -> Result<Totals, FleetError> {
    Ok(Totals {
        group: row.column(0)?,
        projects: row.column(1)?,
        completed: row.column(2)?,
        failed: row.column(3)?,
        steps_done: row.column(4)?,
        steps: row.column(5)?,
        cost: row.column(6)?,
        time_ms: row.column(7)?,
        recoveries: row.column(8)?,
    })
}

/// A start, a content and a chain.
pub(super) fn range(row: Row<'_>) -> Result<HistoryRange, FleetError> {
    let start = u64::try_from(row.column::<i64>(0)?).unwrap_or_default();
    Ok(HistoryRange { start, bytes: row.column(1)?, chain: row.column(2)? })
}

/// The name and the content that `Dialect::with_files` puts behind the columns of a project; a project
/// without files has neither.
pub(super) fn file(row: Row<'_>) -> Result<Option<(String, Vec<u8>)>, FleetError> {
    let (name, content): (Option<String>, Option<Vec<u8>>) = (row.column(16)?, row.column(17)?);
    Ok(name.zip(content))
}

/// A document; what is no JSON is none.
pub(super) fn json(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}
