//! States of many machines, in a database that operators trust.
//!
//! The files of the machine that holds the lease stay the truth; a push publishes what changed and
//! costs what changed. A lease has a fencing number: every claim raises it, and a push with an older
//! one is refused, so that two machines never overwrite each other, whatever their clocks say. Only
//! the database's clock decides about leases. No ordinary command opens a database.

mod address;
mod database;
mod error;
mod membership;
mod password;
mod postgres;
mod project;
mod publish;
mod receive;
mod row;
mod sql;
mod sqlite;
mod summary;

use std::time::Duration;

#[cfg(feature = "web")]
pub(crate) use self::address::is_configured;
use self::address::patience;
pub(crate) use self::{
    address::{Address, configured, machine, remember},
    database::{Database, SCHEMA},
    error::FleetError,
    membership::{Membership, joined_directories},
    project::{
        Filter, FilterColumn, NewProject, Project, ProjectChoice, Published, Push, Refusal, Totals,
    },
    publish::{Joined, join, push},
    receive::{Pulled, fetch, pull},
    summary::{ProjectSummary, summaries},
};

/// The longest lease. One that ends later than that was written by a clock that is wrong.
pub(crate) const LONGEST_LEASE: Duration = Duration::from_secs(24 * 3600);

/// Opens the database at an address.
///
/// # Errors
/// It cannot be reached, or its schema is not one that this program knows.
pub(crate) fn open(address: &Address) -> Result<Box<dyn Database>, FleetError> {
    let mut database = connect(address)?;
    match database.schema()? {
        Some(SCHEMA) => Ok(database),
        Some(found) => Err(FleetError::Schema { found }),
        None => Err(FleetError::NotSetUp { address: address.to_string() }),
    }
}

/// Makes the tables of a new database, or brings those of an older version up to date.
///
/// # Errors
/// It cannot be reached or written, or its schema is newer than this program.
pub(crate) fn install(address: &Address) -> Result<bool, FleetError> {
    let mut database = connect(address)?;
    match database.schema()? {
        Some(SCHEMA) => Ok(false),
        _ => database.install(),
    }
}

fn connect(address: &Address) -> Result<Box<dyn Database>, FleetError> {
    let patience = patience()?;
    Ok(match address {
        Address::Sqlite(path) => Box::new(sqlite::Sqlite::open(path, patience)?),
        Address::Postgres(address) => Box::new(postgres::Postgres::connect(address, patience)?),
    })
}
