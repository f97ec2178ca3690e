//! The fleet of one machine, or of several that share a disk, in a file.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use rusqlite::{
    Connection, OptionalExtension as _, Params, Row, Transaction, TransactionBehavior, params,
    params_from_iter,
};
use serde_json::Value;

use super::{
    FleetError, ProjectSummary,
    database::{
        Database, Filter, HistoryRange, NewProject, Project, ProjectChoice, ProjectFiles, Push,
        Ranges, Refusal, RefusalKind, SCHEMA, Totals, missing_versions,
    },
    row::{self, Row as _},
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

/// What a query answers, each row read.
fn rows<T>(
    connection: &Connection,
    query: &str,
    parameters: impl Params,
    read: impl Fn(&Row<'_>) -> Result<T, FleetError>,
) -> Result<Vec<T>, FleetError> {
    connection.prepare(query)?.query_and_then(parameters, read)?.collect()
}

/// The project of that name or id; a name wins.
fn named(connection: &Connection, name: &str) -> Result<Option<Project>, FleetError> {
    let query = format!(
        "SELECT {} FROM project_state WHERE name = ?1 OR project_id = ?1 ORDER BY name <> ?1 LIMIT 1",
        SQL.columns()
    );
    Ok(rows(connection, &query, [name], |row| row::project(row))?.pop())
}

fn found(connection: &Connection, name: &str) -> Result<Project, FleetError> {
    named(connection, name)?.ok_or_else(|| FleetError::NoProject(name.to_owned()))
}

fn millis(time: Duration) -> i64 {
    i64::try_from(time.min(super::LONGEST_LEASE).as_millis()).unwrap_or(i64::MAX)
}

fn take(
    transaction: &Transaction<'_>,
    host: &str,
    id: &str,
    lease: Duration,
) -> Result<Project, FleetError> {
    let now = SQL.now();
    let update = format!(
        "UPDATE project_state SET lease_fence = lease_fence + 1, lease_host = ?2, \
         lease_until = {now} + ?3, heard_at = {now} WHERE project_id = ?1"
    );
    transaction.execute(&update, params![id, host, millis(lease)])?;
    found(transaction, id)
}

impl Database for Sqlite {
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

    fn join(&mut self, new: &NewProject<'_>) -> Result<Project, FleetError> {
        let transaction = self.writing()?;
        let there = named(&transaction, new.id)?.filter(|there| there.id == new.id);
        let other = named(&transaction, new.name)?.filter(|other| other.id != new.id);
        if let Some(other) = other.filter(|_| new.renames || there.is_none()) {
            return Err(Refusal::of(other, "joining", RefusalKind::NameTaken));
        }
        if let Some(there) = there {
            if there.lease.is_held() && there.lease.host != new.host {
                return Err(Refusal::of(there, "joining", RefusalKind::Held));
            }
            if new.renames {
                let rename = "UPDATE project_state SET name = ?2 WHERE project_id = ?1";
                transaction.execute(rename, [new.id, new.name])?;
            }
            let taken = take(&transaction, new.host, new.id, new.lease)?;
            transaction.commit()?;
            return Ok(taken);
        }
        let now = SQL.now();
        let insert = format!(
            "INSERT INTO project_state VALUES (?1, ?2, 'active', NULL, NULL, NULL, '{{}}', '{{}}', \
             '', 0, '', 0, {now}, {now}, ?3, 1, {now} + ?4)"
        );
        transaction.execute(&insert, params![new.id, new.name, new.host, millis(new.lease)])?;
        let joined = found(&transaction, new.id)?;
        transaction.commit()?;
        Ok(joined)
    }

    fn push(&mut self, push: &Push<'_>, history: &mut Ranges<'_>) -> Result<(), FleetError> {
        let transaction = self.writing()?;
        let there = found(&transaction, push.id)?;
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

    fn claim(
        &mut self,
        host: &str,
        wanted: &ProjectChoice,
        lease: Duration,
    ) -> Result<Option<Project>, FleetError> {
        let transaction = self.writing()?;
        let id = match wanted {
            ProjectChoice::Named(name) => {
                let there = found(&transaction, name)?;
                if there.lease.is_held() && there.lease.host != host {
                    return Err(Refusal::of(there, "the claim", RefusalKind::Held));
                }
                Some(there.id)
            }
            ProjectChoice::Next(filter) => {
                let (condition, parameters) = SQL.condition(filter, 1);
                let query = format!(
                    "SELECT project_id FROM project_state WHERE {condition} AND NOT {} \
                     ORDER BY updated_at LIMIT 1",
                    SQL.is_held()
                );
                let parameters = params_from_iter(parameters);
                transaction.query_row(&query, parameters, |row| row.get(0)).optional()?
            }
        };
        let Some(id) = id else { return Ok(None) };
        let taken = take(&transaction, host, &id, lease)?;
        transaction.commit()?;
        Ok(Some(taken))
    }

    fn steal(&mut self, host: &str, id: &str, lease: Duration) -> Result<Project, FleetError> {
        let transaction = self.writing()?;
        let id = found(&transaction, id)?.id;
        let taken = take(&transaction, host, &id, lease)?;
        transaction.commit()?;
        Ok(taken)
    }

    fn renew(
        &mut self,
        id: &str,
        host: &str,
        fence: i64,
        lease: Duration,
    ) -> Result<bool, FleetError> {
        let now = SQL.now();
        let update = format!(
            "UPDATE project_state SET lease_until = {now} + ?4, heard_at = {now} \
             WHERE project_id = ?1 AND lease_host = ?2 AND lease_fence = ?3"
        );
        Ok(self.connection.execute(&update, params![id, host, fence, millis(lease)])? == 1)
    }

    fn release(&mut self, id: &str, host: &str, fence: i64) -> Result<bool, FleetError> {
        let changed = self.connection.execute(
            "UPDATE project_state SET lease_until = 0, lease_host = '' \
             WHERE project_id = ?1 AND lease_host = ?2 AND lease_fence = ?3",
            params![id, host, fence],
        )?;
        Ok(changed == 1)
    }

    fn project(&mut self, name: &str) -> Result<Option<Project>, FleetError> {
        named(&self.connection, name)
    }

    fn document(&mut self, id: &str) -> Result<Option<Value>, FleetError> {
        let query = "SELECT document FROM project_state WHERE project_id = ?1";
        let texts = rows(&self.connection, query, [id], |row| row.column::<String>(0))?;
        Ok(texts.first().and_then(|text| row::json(text)))
    }

    fn list(&mut self, filter: &Filter) -> Result<Vec<Project>, FleetError> {
        let (query, parameters) = SQL.list(filter);
        rows(&self.connection, &query, params_from_iter(parameters), |row| row::project(row))
    }

    fn summaries(&mut self, filter: &Filter) -> Result<Vec<ProjectSummary>, FleetError> {
        let (query, parameters) = SQL.summaries(filter);
        rows(&self.connection, &query, params_from_iter(parameters), |row| row::summary(row))
    }

    fn files(&mut self, id: &str) -> Result<Option<ProjectFiles>, FleetError> {
        let transaction = self.connection.transaction()?;
        let Some(project) = named(&transaction, id)? else { return Ok(None) };
        let query = "SELECT name, content FROM project_file WHERE project_id = ?1 ORDER BY name";
        let files = rows(&transaction, query, [&project.id], |row| row::file(row))?;
        Ok(Some(ProjectFiles { project, files }))
    }

    fn range(
        &mut self,
        id: &str,
        generation: i64,
        from: u64,
    ) -> Result<Option<HistoryRange>, FleetError> {
        let query = "SELECT start, content, chain FROM project_history \
                     WHERE project_id = ?1 AND generation = ?2 AND start = ?3";
        let from = i64::try_from(from).unwrap_or(i64::MAX);
        Ok(rows(&self.connection, query, params![id, generation, from], |row| row::range(row))?
            .pop())
    }

    fn totals(&mut self, by_template: bool) -> Result<Vec<Totals>, FleetError> {
        rows(&self.connection, &SQL.totals(by_template), [], |row| row::totals(row))
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
