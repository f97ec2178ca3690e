//! The fleet of many machines, on a PostgreSQL server.

mod connect;
mod push;

use std::{
    cell::Cell,
    future::Future,
    time::{Duration, Instant},
};

use tokio::{runtime::Runtime, sync::mpsc, task::JoinHandle, time::timeout};
use tokio_postgres::{
    Client, NoTls,
    error::SqlState,
    types::{ToSql, Type},
};

use self::connect::{Security, settings, start};
use super::{
    FleetError,
    database::{Database, Parameter, SCHEMA, missing_versions},
    project::{Push, Ranges, Refusal, RefusalKind},
    row::{self, Row},
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
    ) -> Result<Vec<tokio_postgres::Row>, FleetError> {
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

    /// Why a push was not accepted, or that there is no such project.
    fn not_accepted(&self, push: &Push<'_>) -> FleetError {
        let query = SQL.with_id(&SQL.columns()).replace('?', "$");
        let rows = self.query(&query, &[(&push.id, Type::TEXT)]);
        let there = rows.and_then(|rows| {
            let row = rows.first().ok_or_else(|| FleetError::NoProject(push.id.to_owned()))?;
            row::project(Row::Postgres(row))
        });
        let there = match there {
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

fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// The error codes by which the server reports missing tables.
const NO_TABLE: [SqlState; 2] = [SqlState::UNDEFINED_TABLE, SqlState::INVALID_SCHEMA_NAME];

/// The condition under which a push is accepted: the fencing number, the machine, what it builds on.
const ACCEPTED: &str = "project_id = $1 AND lease_fence = $2 AND lease_host = $3 AND revision = $4";

impl Database for Postgres {
    fn dialect(&self) -> Dialect {
        SQL
    }

    fn each(
        &mut self,
        statement: &str,
        parameters: &[Parameter<'_>],
        read: &mut dyn FnMut(Row<'_>) -> Result<(), FleetError>,
    ) -> Result<(), FleetError> {
        let typed: Vec<(&(dyn ToSql + Sync), Type)> = parameters
            .iter()
            .map(|parameter| match parameter {
                Parameter::Text(text) => (text as &(dyn ToSql + Sync), Type::TEXT),
                Parameter::Number(number) => (number as _, Type::INT8),
                Parameter::Null => (&None::<&str> as _, Type::TEXT),
            })
            .collect();
        // What both databases are asked has no other question mark.
        let rows = self.query(&statement.replace('?', "$"), &typed)?;
        rows.iter().try_for_each(|row| read(Row::Postgres(row)))
    }

    fn schema(&mut self) -> Result<Option<i64>, FleetError> {
        let query = "SELECT version FROM statedir.statedir_schema";
        let rows = match self.answer(self.client.query_typed(query, &[]))? {
            Err(error) if error.code().is_some_and(|code| NO_TABLE.contains(code)) => {
                return Ok(None);
            }
            answered => answered?,
        };
        Ok(rows.first().map(|row| row.try_get(0)).transpose()?)
    }

    fn install(&mut self) -> Result<bool, FleetError> {
        self.transact(|database| {
            // Two machines that begin at once make the tables once.
            database.batch("SELECT pg_advisory_xact_lock(7395012)")?;
            let query = "SELECT to_regclass('statedir.statedir_schema') IS NOT NULL";
            let exists = database.query(query, &[])?;
            let found = match exists.first().map_or(Ok(false), |row| row.try_get(0))? {
                false => None,
                true => {
                    let rows =
                        database.query("SELECT version FROM statedir.statedir_schema", &[])?;
                    rows.first().map(|row| row.try_get(0)).transpose()?
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
        let version: String = rows.first().map_or(Ok(String::new()), |row| row.try_get(0))?;
        Ok(format!("PostgreSQL {version}"))
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
