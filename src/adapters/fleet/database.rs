//! The database of a fleet: what is the same for SQLite and PostgreSQL.

use std::time::Duration;

use serde_json::Value;

use super::{
    FleetError, ProjectSummary,
    project::{
        Filter, HistoryRange, NewProject, Project, ProjectChoice, ProjectFiles, Push, Ranges,
        Refusal, RefusalKind, Totals,
    },
    row::{self, Row},
    sql::Dialect,
};
use Parameter::{Null, Number, Text};

/// The version of the tables.
pub(crate) const SCHEMA: i64 = 2;

/// The migrations that tables of a version still need; all of them for a database without tables.
///
/// # Errors
/// They are newer than this program, or have an unknown version.
pub(super) fn missing_versions<'v>(
    versions: &'v [&'v str],
    found: Option<i64>,
) -> Result<&'v [&'v str], FleetError> {
    let rest = match found {
        None => Some(versions),
        Some(found) => usize::try_from(found)
            .ok()
            .filter(|found| *found > 0)
            .and_then(|found| versions.get(found..)),
    };
    rest.ok_or(FleetError::Schema { found: found.unwrap_or_default() })
}

/// A parameter of a statement, where it says `?1`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Parameter<'a> {
    Text(&'a str),
    Number(i64),
    Null,
}

/// The database of a fleet: what SQLite and PostgreSQL do each in its own way, and below it what is the
/// same for both.
///
/// Every method happens as a whole or not at all. Texts reach the database as parameters, never as part
/// of a statement.
pub(crate) trait Database {
    fn dialect(&self) -> Dialect;
    /// Runs one statement as a transaction of its own, and reads the rows that it answers.
    fn each(
        &mut self,
        statement: &str,
        parameters: &[Parameter<'_>],
        read: &mut dyn FnMut(Row<'_>) -> Result<(), FleetError>,
    ) -> Result<(), FleetError>;
    /// The version of its tables; `None` if it has none.
    fn schema(&mut self) -> Result<Option<i64>, FleetError>;
    /// Creates or upgrades the tables; `false` if they are up to date.
    fn install(&mut self) -> Result<bool, FleetError>;
    /// What it is, and its version.
    fn description(&mut self) -> Result<String, FleetError>;
    /// Publishes what changed, if the fencing number and the base are still right.
    fn push(&mut self, push: &Push<'_>, history: &mut Ranges<'_>) -> Result<(), FleetError>;
    /// Waits until something was published, with a time limit; `false` if nothing was.
    fn wait(&mut self, at_most: Duration) -> Result<bool, FleetError>;

    /// Adds a project, with the lease for its machine. An existing one keeps its data.
    fn join(&mut self, new: &NewProject<'_>) -> Result<Project, FleetError> {
        let insert = self.dialect().insert();
        let parameters = [Text(new.id), Text(new.name), Text(new.host), time(new.lease)];
        self.each(&insert, &parameters, &mut |_| Ok(()))?;
        let other = self.project(new.name)?.filter(|other| other.id != new.id);
        let query = self.dialect().with_id(&self.dialect().columns());
        let Some(there) = rows(self, &query, &[Text(new.id)], row::project)?.pop() else {
            let other = other.ok_or_else(|| FleetError::NoProject(new.id.to_owned()))?;
            return Err(Refusal::of(other, "joining", RefusalKind::NameTaken));
        };
        let name = Some(new.name).filter(|name| new.renames && there.name != *name);
        if let Some(other) = other.filter(|_| name.is_some()) {
            return Err(Refusal::of(other, "joining", RefusalKind::NameTaken));
        }
        let is_new =
            there.lease.host == new.host && there.lease.fence == 1 && there.revision.is_empty();
        if is_new && name.is_none() {
            return Ok(there);
        }
        let taken = take(self, new.host, new.id, new.lease, Take { name, force: false })?;
        taken.ok_or_else(|| Refusal::of(there, "joining", RefusalKind::Held))
    }

    /// Gives the lease to a machine, with a new fencing number.
    fn claim(
        &mut self,
        host: &str,
        wanted: &ProjectChoice,
        lease: Duration,
    ) -> Result<Option<Project>, FleetError> {
        let filter = match wanted {
            ProjectChoice::Named(name) => {
                let there = found(self, name)?;
                return match take(self, host, &there.id, lease, Take::default())? {
                    Some(taken) => Ok(Some(taken)),
                    None => Err(Refusal::of(found(self, name)?, "the claim", RefusalKind::Held)),
                };
            }
            ProjectChoice::Next(filter) => filter,
        };
        let (update, texts) = self.dialect().claim_next(filter);
        let mut parameters = vec![Text(host), time(lease)];
        parameters.extend(texts.iter().map(|text| Text(text)));
        Ok(rows(self, &update, &parameters, row::project)?.pop())
    }

    /// Gives it to a machine although another holds it.
    fn steal(&mut self, host: &str, id: &str, lease: Duration) -> Result<Project, FleetError> {
        let there = found(self, id)?;
        let taken = take(self, host, &there.id, lease, Take { force: true, name: None })?;
        taken.ok_or_else(|| FleetError::NoProject(id.to_owned()))
    }

    /// Renews a lease; `false` if another machine has it by now.
    fn renew(
        &mut self,
        id: &str,
        host: &str,
        fence: i64,
        lease: Duration,
    ) -> Result<bool, FleetError> {
        let update = self.dialect().renew();
        let parameters = [Text(id), Text(host), Number(fence), time(lease)];
        Ok(!rows(self, &update, &parameters, |row| row.column::<String>(0))?.is_empty())
    }

    /// Releases a lease; `false` if another machine has it by now.
    fn release(&mut self, id: &str, host: &str, fence: i64) -> Result<bool, FleetError> {
        let update = self.dialect().release();
        let parameters = [Text(id), Text(host), Number(fence)];
        Ok(!rows(self, &update, &parameters, |row| row.column::<String>(0))?.is_empty())
    }

    /// The project of that name or id; a name wins.
    fn project(&mut self, name: &str) -> Result<Option<Project>, FleetError> {
        let query = self.dialect().named(&self.dialect().columns());
        Ok(rows(self, &query, &[Text(name)], row::project)?.pop())
    }

    /// The merged document of a project.
    fn document(&mut self, id: &str) -> Result<Option<Value>, FleetError> {
        let query = self.dialect().with_id(&self.dialect().text("document"));
        let texts = rows(self, &query, &[Text(id)], |row| row.column::<String>(0))?;
        Ok(texts.first().and_then(|text| row::json(text)))
    }

    /// Projects, those that need somebody first.
    fn list(&mut self, filter: &Filter) -> Result<Vec<Project>, FleetError> {
        let (query, texts) = self.dialect().list(filter);
        rows(self, &query, &parameters(&texts), row::project)
    }

    /// The same in short.
    fn summaries(&mut self, filter: &Filter) -> Result<Vec<ProjectSummary>, FleetError> {
        let (query, texts) = self.dialect().summaries(filter);
        rows(self, &query, &parameters(&texts), row::summary)
    }

    /// The project with its small files, of one moment.
    fn files(&mut self, name: &str) -> Result<Option<ProjectFiles>, FleetError> {
        let query = self.dialect().with_files();
        let read = |row: Row<'_>| Ok((row::project(row)?, row::file(row)?));
        let mut found: Option<ProjectFiles> = None;
        for (project, file) in rows(self, &query, &[Text(name)], read)? {
            let one = found.get_or_insert(ProjectFiles { project, files: Vec::new() });
            one.files.extend(file);
        }
        Ok(found)
    }

    /// The next range of a history from an offset on, of one generation.
    fn range(
        &mut self,
        id: &str,
        generation: i64,
        from: u64,
    ) -> Result<Option<HistoryRange>, FleetError> {
        let from = i64::try_from(from).unwrap_or(i64::MAX);
        let parameters = [Text(id), Number(generation), Number(from)];
        Ok(rows(self, &self.dialect().range(), &parameters, row::range)?.pop())
    }

    /// The totals of all projects, by `machine` or `template`.
    fn totals(&mut self, by_template: bool) -> Result<Vec<Totals>, FleetError> {
        rows(self, &self.dialect().totals(by_template), &[], row::totals)
    }
}

/// What a statement answers, each row read.
fn rows<T>(
    database: &mut (impl Database + ?Sized),
    statement: &str,
    parameters: &[Parameter<'_>],
    read: impl Fn(Row<'_>) -> Result<T, FleetError>,
) -> Result<Vec<T>, FleetError> {
    let mut rows = Vec::new();
    database.each(statement, parameters, &mut |row| {
        rows.push(read(row)?);
        Ok(())
    })?;
    Ok(rows)
}

fn parameters(texts: &[String]) -> Vec<Parameter<'_>> {
    texts.iter().map(|text| Text(text)).collect()
}

fn found(database: &mut (impl Database + ?Sized), name: &str) -> Result<Project, FleetError> {
    database.project(name)?.ok_or_else(|| FleetError::NoProject(name.to_owned()))
}

/// How a lease is taken.
#[derive(Clone, Copy, Default)]
struct Take<'a> {
    /// Although another machine holds it.
    force: bool,
    /// With a new name for the project.
    name: Option<&'a str>,
}

fn take(
    database: &mut (impl Database + ?Sized),
    host: &str,
    id: &str,
    lease: Duration,
    how: Take<'_>,
) -> Result<Option<Project>, FleetError> {
    let update = database.dialect().take(how.force);
    let parameters = [Text(id), Text(host), time(lease), how.name.map_or(Null, Text)];
    Ok(rows(database, &update, &parameters, row::project)?.pop())
}

fn time(lease: Duration) -> Parameter<'static> {
    Number(millis(lease))
}

/// How long a lease lasts.
pub(super) fn millis(lease: Duration) -> i64 {
    i64::try_from(lease.min(super::LONGEST_LEASE).as_millis()).unwrap_or(i64::MAX)
}
