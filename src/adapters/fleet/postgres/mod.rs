//! The fleet of many machines, on a PostgreSQL server.

mod connect;
mod push;

use std::{
    cell::Cell,
    future::Future,
    time::{Duration, Instant},
};

use serde_json::Value;
use tokio::{runtime::Runtime, sync::mpsc, task::JoinHandle, time::timeout};
use tokio_postgres::{
    Client, NoTls, Row,
    error::SqlState,
    types::{ToSql, Type},
};

use self::connect::{Security, settings, start};
use super::{
    FleetError, ProjectSummary,
    database::{
        Database, Filter, HistoryRange, NewProject, Project, ProjectChoice, ProjectFiles, Push,
        Ranges, Refusal, RefusalKind, SCHEMA, Totals, missing_versions,
    },
    row::{self, Row as _},
    sql::Dialect,
};

const SQL: Dialect = Dialect::Postgres;

/// What makes the tables of each version out of those of the one before.
const VERSIONS: [&str; 2] = [include_str!("tables.sql"), BY_AGE];
const BY_AGE: &str = "CREATE INDEX project_state_age ON statedir.project_state (updated_at)";

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);
/// How long a server may say nothing before it is asked whether it is still there.
const SILENCE: Duration = Duration::from_secs(5);
/// The channel on which pushes are announced.
const CHANNEL: &str = "statedir_fleet";

/// A connection.
pub(super) struct Postgres {
    runtime: Runtime,
    client: Client,
    notices: mpsc::UnboundedReceiver<()>,
    listens: bool,
    /// How long an answer may take.
    patience: Duration,
    /// When the server was last heard; never again, once an answer has not come.
    heard: Cell<Option<Instant>>,
    _driver: JoinHandle<()>,
}

/// How a lease is taken.
#[derive(Clone, Copy, Default)]
struct Take<'a> {
    /// Although another machine holds it.
    force: bool,
    /// With a new name for the project.
    name: Option<&'a str>,
}

impl From<tokio_postgres::Error> for FleetError {
    fn from(error: tokio_postgres::Error) -> Self {
        match error.as_db_error() {
            // The server is going down or coming up, or has no room.
            Some(found)
                if found.code().code().starts_with("57P")
                    || found.code().code().starts_with("53") =>
            {
                Self::Unreachable(found.message().to_owned())
            }
            Some(found) => Self::Database(found.message().to_owned()),
            None if error.is_closed() => Self::Unreachable("the connection was closed".to_owned()),
            None => {
                let cause = std::error::Error::source(&error).map(ToString::to_string);
                let text =
                    cause.map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"));
                match text.contains("communicating") || text.contains("connecting") {
                    true => Self::Unreachable(text),
                    false => Self::Database(text),
                }
            }
        }
    }
}

impl Postgres {
    pub(super) fn connect(url: &str, patience: Duration) -> Result<Self, FleetError> {
        let most = CONNECT.min(patience);
        let (config, security) = settings(url, most)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (sender, notices) = mpsc::unbounded_channel();
        let connected = runtime.block_on(async {
            let connecting = async {
                match security {
                    Security::Plain => start(&config, NoTls, sender).await,
                    Security::Verified(tls) => start(&config, tls, sender).await,
                }
            };
            timeout(most, connecting).await.unwrap_or_else(|_| Err(silent()))
        });
        match connected {
            Ok((client, driver)) => {
                let heard = Cell::new(Some(Instant::now()));
                let listens = false;
                Ok(Self { runtime, client, notices, listens, patience, heard, _driver: driver })
            }
            Err(error) => {
                // A name that is still being looked up is not waited for.
                runtime.shutdown_background();
                Err(error)
            }
        }
    }

    /// Sends one statement with its parameters: one round trip.
    fn query(
        &self,
        statement: &str,
        parameters: &[(&(dyn ToSql + Sync), Type)],
    ) -> Result<Vec<Row>, FleetError> {
        Ok(self.answer(self.client.query_typed(statement, parameters))??)
    }

    fn batch(&self, statements: &str) -> Result<(), FleetError> {
        Ok(self.answer(self.client.batch_execute(statements))??)
    }

    /// Waits for an answer. A server that owes one is not asked anything more.
    fn answer<T>(&self, asked: impl Future<Output = T>) -> Result<T, FleetError> {
        self.heard.take().ok_or_else(silent)?;
        let waited = self.runtime.block_on(async { timeout(self.patience, asked).await });
        let answered = waited.map_err(|_| silent())?;
        self.heard.set(Some(Instant::now()));
        Ok(answered)
    }

    /// Runs statements as one transaction; anything that fails takes all of it back.
    fn transact<T>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, FleetError>,
    ) -> Result<T, FleetError> {
        // A machine that falls asleep now must not keep the others from what it has locked.
        let most = self.patience.as_millis().min(i32::MAX as u128);
        self.batch(&format!("BEGIN; SET LOCAL idle_in_transaction_session_timeout = {most}"))?;
        match work(self) {
            Ok(done) => {
                self.batch("COMMIT")?;
                Ok(done)
            }
            Err(error) => {
                // The server takes it back by itself where the connection is gone.
                let _ = self.batch("ROLLBACK");
                Err(error)
            }
        }
    }

    /// What a statement answers whose parameters are all texts.
    fn filtered(&self, (query, parameters): (String, Vec<String>)) -> Result<Vec<Row>, FleetError> {
        let all: Vec<(&(dyn ToSql + Sync), Type)> =
            parameters.iter().map(|text| (text as &(dyn ToSql + Sync), Type::TEXT)).collect();
        self.query(&query, &all)
    }

    fn found(&self, name: &str) -> Result<Project, FleetError> {
        self.named(name)?.ok_or_else(|| FleetError::NoProject(name.to_owned()))
    }

    fn named(&self, name: &str) -> Result<Option<Project>, FleetError> {
        let query = format!(
            "SELECT {} FROM statedir.project_state WHERE name = $1 OR project_id = $1 \
             ORDER BY name <> $1 LIMIT 1",
            SQL.columns()
        );
        self.query(&query, &[(&name, Type::TEXT)])?.first().map(row::project).transpose()
    }

    fn take(
        &self,
        host: &str,
        id: &str,
        lease: Duration,
        how: Take<'_>,
    ) -> Result<Option<Project>, FleetError> {
        let free = match how.force {
            true => "true".to_owned(),
            false => format!("(lease_host = $2 OR NOT {})", SQL.is_held()),
        };
        let update = format!(
            "UPDATE statedir.project_state SET lease_fence = lease_fence + 1, lease_host = $2, \
             lease_until = now() + $3 * interval '1 millisecond', heard_at = now(), \
             name = coalesce($4, name) WHERE project_id = $1 AND {free} RETURNING {}",
            SQL.columns()
        );
        let rows = self.query(
            &update,
            &[
                (&id, Type::TEXT),
                (&host, Type::TEXT),
                (&millis(lease), Type::FLOAT8),
                (&how.name, Type::TEXT),
            ],
        )?;
        rows.first().map(row::project).transpose()
    }

    /// Why a push was not accepted, or that there is no such project.
    fn not_accepted(&self, push: &Push<'_>) -> FleetError {
        let there = match self.found(push.id) {
            Ok(there) => there,
            Err(error) => return error,
        };
        let lost = there.lease.fence != push.fence || there.lease.host != push.host;
        let kind = if lost { RefusalKind::Lost } else { RefusalKind::Moved };
        Refusal::of(there, &format!("revision {}", push.revision), kind)
    }
}

fn silent() -> FleetError {
    FleetError::Unreachable("the server does not answer".to_owned())
}

fn millis(time: Duration) -> f64 {
    time.min(super::LONGEST_LEASE).as_secs_f64() * 1000.0
}

fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// The error codes by which the server reports missing tables.
const NO_TABLE: [SqlState; 2] = [SqlState::UNDEFINED_TABLE, SqlState::INVALID_SCHEMA_NAME];

/// The condition under which a push is accepted: the fencing number, the machine, what it builds on.
const ACCEPTED: &str = "project_id = $1 AND lease_fence = $2 AND lease_host = $3 AND revision = $4";

impl Database for Postgres {
    fn schema(&mut self) -> Result<Option<i64>, FleetError> {
        let query = "SELECT version FROM statedir.statedir_schema";
        let rows = match self.answer(self.client.query_typed(query, &[]))? {
            Err(error) if error.code().is_some_and(|code| NO_TABLE.contains(code)) => {
                return Ok(None);
            }
            answered => answered?,
        };
        rows.first().map(|row| row.column(0)).transpose()
    }

    fn install(&mut self) -> Result<bool, FleetError> {
        self.transact(|database| {
            // Two machines that begin at once make the tables once.
            database.batch("SELECT pg_advisory_xact_lock(7395012)")?;
            let query = "SELECT to_regclass('statedir.statedir_schema') IS NOT NULL";
            let exists = database.query(query, &[])?;
            let found = match exists.first().map_or(Ok(false), |row| row.column(0))? {
                false => None,
                true => {
                    let rows =
                        database.query("SELECT version FROM statedir.statedir_schema", &[])?;
                    rows.first().map(|row| row.column(0)).transpose()?
                }
            };
            let missing = missing_versions(&VERSIONS, found)?;
            for statements in missing {
                database.batch(statements)?;
            }
            database.batch("DELETE FROM statedir.statedir_schema")?;
            let insert = "INSERT INTO statedir.statedir_schema VALUES ($1)";
            database.query(insert, &[(&SCHEMA, Type::INT8)])?;
            Ok(!missing.is_empty())
        })
    }

    fn description(&mut self) -> Result<String, FleetError> {
        let rows = self.query("SELECT current_setting('server_version')", &[])?;
        let version: String = rows.first().map_or(Ok(String::new()), |row| row.column(0))?;
        Ok(format!("PostgreSQL {version}"))
    }

    fn join(&mut self, new: &NewProject<'_>) -> Result<Project, FleetError> {
        let insert = "INSERT INTO statedir.project_state VALUES ($1, $2, 'active', NULL, NULL, NULL, \
                      '{}', '{}', '', 0, '', 0, now(), now(), $3, 1, \
                      now() + $4 * interval '1 millisecond') ON CONFLICT DO NOTHING";
        let lease = millis(new.lease);
        self.query(
            insert,
            &[
                (&new.id, Type::TEXT),
                (&new.name, Type::TEXT),
                (&new.host, Type::TEXT),
                (&lease, Type::FLOAT8),
            ],
        )?;
        let there = self.found(new.id).or_else(|_| self.found(new.name))?;
        if there.id != new.id {
            return Err(Refusal::of(there, "joining", RefusalKind::NameTaken));
        }
        let is_named = there.name == new.name || !new.renames;
        if let Some(other) = self.named(new.name)?.filter(|other| other.id != new.id && !is_named) {
            return Err(Refusal::of(other, "joining", RefusalKind::NameTaken));
        }
        let is_new =
            there.lease.host == new.host && there.lease.fence == 1 && there.revision.is_empty();
        if is_new && is_named {
            return Ok(there);
        }
        let name = Some(new.name).filter(|_| !is_named);
        let taken = self.take(new.host, new.id, new.lease, Take { name, force: false })?;
        taken.ok_or_else(|| Refusal::of(there, "joining", RefusalKind::Held))
    }

    fn push(&mut self, push: &Push<'_>, history: &mut Ranges<'_>) -> Result<(), FleetError> {
        let mut ranges = Vec::new();
        for range in &mut *history {
            ranges.push(range?);
            // More than one range is more than one statement should hold.
            if ranges.len() > 1 {
                return self.push_much(push, ranges, history);
            }
        }
        if push.whole {
            return self.push_much(push, ranges, history);
        }
        self.push_little(push, &ranges)
    }

    fn claim(
        &mut self,
        host: &str,
        wanted: &ProjectChoice,
        lease: Duration,
    ) -> Result<Option<Project>, FleetError> {
        let filter = match wanted {
            ProjectChoice::Named(name) => {
                let there = self.found(name)?;
                return match self.take(host, &there.id, lease, Take::default())? {
                    Some(taken) => Ok(Some(taken)),
                    None => Err(Refusal::of(self.found(name)?, "the claim", RefusalKind::Held)),
                };
            }
            ProjectChoice::Next(filter) => filter,
        };
        let (condition, parameters) = SQL.condition(filter, 3);
        // Those that another worker is about to take are skipped, so that nobody waits.
        let update = format!(
            "UPDATE statedir.project_state SET lease_fence = lease_fence + 1, lease_host = $1, \
             lease_until = now() + $2 * interval '1 millisecond', heard_at = now() \
             WHERE project_id = (SELECT project_id FROM statedir.project_state \
             WHERE {condition} AND NOT {} ORDER BY updated_at LIMIT 1 FOR UPDATE SKIP LOCKED) \
             RETURNING {}",
            SQL.is_held(),
            SQL.columns()
        );
        let lease = millis(lease);
        let mut all: Vec<(&(dyn ToSql + Sync), Type)> =
            vec![(&host, Type::TEXT), (&lease, Type::FLOAT8)];
        all.extend(parameters.iter().map(|text| (text as &(dyn ToSql + Sync), Type::TEXT)));
        self.query(&update, &all)?.first().map(row::project).transpose()
    }

    fn steal(&mut self, host: &str, id: &str, lease: Duration) -> Result<Project, FleetError> {
        let there = self.found(id)?;
        let taken = self.take(host, &there.id, lease, Take { force: true, name: None })?;
        taken.ok_or_else(|| FleetError::NoProject(id.to_owned()))
    }

    fn renew(
        &mut self,
        id: &str,
        host: &str,
        fence: i64,
        lease: Duration,
    ) -> Result<bool, FleetError> {
        let update = "UPDATE statedir.project_state \
                      SET lease_until = now() + $4 * interval '1 millisecond', heard_at = now() \
                      WHERE project_id = $1 AND lease_host = $2 AND lease_fence = $3 RETURNING 1";
        let rows = self.query(
            update,
            &[
                (&id, Type::TEXT),
                (&host, Type::TEXT),
                (&fence, Type::INT8),
                (&millis(lease), Type::FLOAT8),
            ],
        )?;
        Ok(!rows.is_empty())
    }

    fn release(&mut self, id: &str, host: &str, fence: i64) -> Result<bool, FleetError> {
        let update = "UPDATE statedir.project_state SET lease_until = to_timestamp(0), \
                      lease_host = '' WHERE project_id = $1 AND lease_host = $2 AND lease_fence = $3 RETURNING 1";
        let rows =
            self.query(update, &[(&id, Type::TEXT), (&host, Type::TEXT), (&fence, Type::INT8)])?;
        Ok(!rows.is_empty())
    }

    fn project(&mut self, name: &str) -> Result<Option<Project>, FleetError> {
        self.named(name)
    }

    fn document(&mut self, id: &str) -> Result<Option<Value>, FleetError> {
        let query = "SELECT document::text FROM statedir.project_state WHERE project_id = $1";
        let rows = self.query(query, &[(&id, Type::TEXT)])?;
        let text: Option<String> = rows.first().map(|row| row.column(0)).transpose()?;
        Ok(text.and_then(|text| row::json(&text)))
    }

    fn list(&mut self, filter: &Filter) -> Result<Vec<Project>, FleetError> {
        self.filtered(SQL.list(filter))?.iter().map(row::project).collect()
    }

    fn summaries(&mut self, filter: &Filter) -> Result<Vec<ProjectSummary>, FleetError> {
        self.filtered(SQL.summaries(filter))?.iter().map(row::summary).collect()
    }

    fn files(&mut self, id: &str) -> Result<Option<ProjectFiles>, FleetError> {
        self.transact(|database| {
            database.batch("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")?;
            let Some(project) = database.named(id)? else { return Ok(None) };
            let query = "SELECT name, content FROM statedir.project_file WHERE project_id = $1 \
                         ORDER BY name";
            let rows = database.query(query, &[(&project.id, Type::TEXT)])?;
            let files = rows.iter().map(row::file).collect::<Result<_, _>>()?;
            Ok(Some(ProjectFiles { project, files }))
        })
    }

    fn range(
        &mut self,
        id: &str,
        generation: i64,
        from: u64,
    ) -> Result<Option<HistoryRange>, FleetError> {
        let query = "SELECT start, content, chain FROM statedir.project_history \
                     WHERE project_id = $1 AND generation = $2 AND start = $3";
        let rows = self.query(
            query,
            &[(&id, Type::TEXT), (&generation, Type::INT8), (&number(from), Type::INT8)],
        )?;
        rows.first().map(row::range).transpose()
    }

    fn totals(&mut self, by_template: bool) -> Result<Vec<Totals>, FleetError> {
        self.query(&SQL.totals(by_template), &[])?.iter().map(row::totals).collect()
    }

    fn wait(&mut self, at_most: Duration) -> Result<bool, FleetError> {
        if !self.listens {
            self.batch(&format!("LISTEN {CHANNEL}"))?;
            self.listens = true;
        }
        let notices = &mut self.notices;
        let waited = self.runtime.block_on(async { timeout(at_most, notices.recv()).await });
        match waited {
            // Nothing was announced, or nobody is there any more.
            Err(_) => {
                if self.heard.get().is_none_or(|heard| heard.elapsed() > SILENCE) {
                    self.batch("")?;
                }
                Ok(false)
            }
            Ok(Some(())) => {
                self.heard.set(Some(Instant::now()));
                // Several pushes are one piece of news.
                while self.notices.try_recv().is_ok() {}
                Ok(true)
            }
            Ok(None) => Err(FleetError::Unreachable("the connection was closed".to_owned())),
        }
    }
}
