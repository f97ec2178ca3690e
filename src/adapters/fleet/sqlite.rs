//! The fleet of one machine, or of several that share a disk, in a file.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use rusqlite::{
    Connection, ToSql, Transaction, TransactionBehavior, params, params_from_iter,
    types::ToSqlOutput,
};

use super::{
    FleetError,
    database::{Database, Parameter, SCHEMA, millis, missing_versions},
    project::{Push, Ranges, Refusal, RefusalKind},
    row::{self, Row},
    sql::Dialect,
};

const SQL: Dialect = Dialect::Sqlite;

/// What makes the tables of each version out of those of the one before.
const VERSIONS: [&str; 2] = [include_str!("sqlite.sql"), BY_AGE];
const BY_AGE: &str = "CREATE INDEX project_state_age ON project_state (updated_at)";

/// How often a waiting reader looks.
const POLL: Duration = Duration::from_millis(100);

/// An open file.
pub(super) struct Sqlite {
    connection: Connection,
    seen: i64,
}

impl From<rusqlite::Error> for FleetError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::{CannotOpen, DatabaseBusy, DatabaseLocked};
        match error.sqlite_error_code() {
            Some(CannotOpen | DatabaseBusy | DatabaseLocked) => {
                Self::Unreachable(error.to_string())
            }
            _ => Self::Database(error.to_string()),
        }
    }
}

impl Sqlite {
    /// Opens a file; another writer is waited for as long.
    pub(super) fn open(path: &Path, patience: Duration) -> Result<Self, FleetError> {
        if let Some(parent) = path.parent() {
            fs_err::create_dir_all(parent)?;
        }
        let connection = Connection::open(path)?;
        connection.busy_timeout(patience)?;
        connection.pragma_update(None, "journal_mode", "wal")?;
        connection.pragma_update(None, "synchronous", "full")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        let seen = data_version(&connection)?;
        Ok(Self { connection, seen })
    }

    fn writing(&mut self) -> Result<Transaction<'_>, FleetError> {
        Ok(self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?)
    }
}

fn data_version(connection: &Connection) -> Result<i64, FleetError> {
    Ok(connection.pragma_query_value(None, "data_version", |row| row.get(0))?)
}

/// The version of the tables, if there are any.
fn version(connection: &Connection) -> Result<Option<i64>, FleetError> {
    let tables = "SELECT count(*) FROM sqlite_schema WHERE name = 'statedir_schema'";
    let tables: i64 = connection.query_row(tables, [], |row| row.get(0))?;
    if tables == 0 {
        return Ok(None);
    }
    let version = connection.query_row("SELECT version FROM statedir_schema", [], |row| row.get(0));
    Ok(Some(version?))
}

impl ToSql for Parameter<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Text(text) => (*text).into(),
            Self::Number(number) => (*number).into(),
            Self::Null => rusqlite::types::Null.into(),
        })
    }
}

impl Database for Sqlite {
    fn dialect(&self) -> Dialect {
        SQL
    }

    fn each(
        &mut self,
        statement: &str,
        parameters: &[Parameter<'_>],
        read: &mut dyn FnMut(Row<'_>) -> Result<(), FleetError>,
    ) -> Result<(), FleetError> {
        let mut statement = self.connection.prepare(statement)?;
        let mut rows = statement.query(params_from_iter(parameters))?;
        while let Some(row) = rows.next()? {
            read(Row::Sqlite(row))?;
        }
        Ok(())
    }

    fn schema(&mut self) -> Result<Option<i64>, FleetError> {
        version(&self.connection)
    }

    fn install(&mut self) -> Result<bool, FleetError> {
        let transaction = self.writing()?;
        let missing = missing_versions(&VERSIONS, version(&transaction)?)?;
        for statements in missing {
            transaction.execute_batch(statements)?;
        }
        transaction.execute("DELETE FROM statedir_schema", [])?;
        transaction.execute("INSERT INTO statedir_schema VALUES (?1)", [SCHEMA])?;
        transaction.commit()?;
        Ok(!missing.is_empty())
    }

    fn description(&mut self) -> Result<String, FleetError> {
        Ok(format!("SQLite {}", rusqlite::version()))
    }

    fn push(&mut self, push: &Push<'_>, history: &mut Ranges<'_>) -> Result<(), FleetError> {
        let transaction = self.writing()?;
        let query = SQL.with_id(&SQL.columns());
        let there = transaction
            .prepare(&query)?
            .query_and_then([push.id], |row| row::project(Row::Sqlite(row)))?
            .next()
            .ok_or_else(|| FleetError::NoProject(push.id.to_owned()))??;
        let what = format!("revision {}", push.revision);
        if there.lease.fence != push.fence || there.lease.host != push.host {
            return Err(Refusal::of(there, &what, RefusalKind::Lost));
        }
        let length = i64::try_from(push.history_from).unwrap_or(i64::MAX);
        if there.revision != push.base || (!push.whole && there.history_length != length) {
            return Err(Refusal::of(there, &what, RefusalKind::Moved));
        }
        let generation = there.generation + i64::from(push.whole);
        if push.whole {
            transaction.execute("DELETE FROM project_history WHERE project_id = ?1", [push.id])?;
        }
        let mut chain = if push.whole { String::new() } else { there.history_chain };
        for range in history {
            let range = range?;
            transaction.execute(
                "INSERT INTO project_history VALUES (?1, ?2, ?3, ?4, ?5)",
                params![
                    push.id,
                    generation,
                    i64::try_from(range.start).unwrap_or(i64::MAX),
                    range.bytes,
                    range.chain
                ],
            )?;
            chain = range.chain;
        }
        for (name, content) in push.files {
            transaction.execute(
                "INSERT INTO project_file VALUES (?1, ?2, ?3) \
                 ON CONFLICT (project_id, name) DO UPDATE SET content = excluded.content",
                params![push.id, name, content],
            )?;
        }
        for name in push.removed {
            transaction.execute(
                "DELETE FROM project_file WHERE project_id = ?1 AND name = ?2",
                [push.id, name],
            )?;
        }
        let (now, published) = (SQL.now(), push.published);
        let update = format!(
            "UPDATE project_state SET status = ?2, current_task_id = ?3, current_agent_id = ?4, \
             last_action = ?5, metadata = ?6, document = ?7, revision = ?8, history_length = ?9, \
             history_chain = ?10, generation = ?11, updated_at = {now}, heard_at = {now}, \
             lease_until = {now} + ?12 WHERE project_id = ?1"
        );
        transaction.execute(
            &update,
            params![
                push.id,
                published.status,
                published.current_task_id,
                published.current_agent_id,
                published.last_action,
                published.metadata.to_string(),
                published.document.to_string(),
                push.revision,
                i64::try_from(push.history_length).unwrap_or(i64::MAX),
                chain,
                generation,
                millis(push.lease)
            ],
        )?;
        let insert = format!(
            "INSERT INTO project_push (project_id, fence, host, base, revision, pushed_at) \
             VALUES (?1, ?2, ?3, ?4, ?5, {now})"
        );
        transaction
            .execute(&insert, params![push.id, push.fence, push.host, push.base, push.revision])?;
        Ok(transaction.commit()?)
    }

    fn wait(&mut self, at_most: Duration) -> Result<bool, FleetError> {
        let end = Instant::now() + at_most;
        loop {
            let version = data_version(&self.connection)?;
            if version != self.seen {
                self.seen = version;
                return Ok(true);
            }
            if Instant::now() >= end {
                return Ok(false);
            }
            std::thread::sleep(POLL.min(at_most));
        }
    }
}
