//! Where the database of a fleet is.

use std::{
    fmt,
    path::{Path, PathBuf},
    time::Duration,
};

use super::{FleetError, publish::digest};
use crate::{store::Directory, workspace::Span};

/// The file beside the default database that names the one given to `fleet init`.
const CHOSEN: &str = "fleet";
/// How long the database may take to answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// The address of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// A file.
    Sqlite(PathBuf),
    /// A server, as a URL; it may hold a password, so it is never printed as it is.
    Postgres(String),
}

impl Address {
    /// Reads `sqlite:PATH` or `postgres://…`.
    ///
    /// # Errors
    /// It is neither.
    pub(crate) fn parse(text: &str) -> Result<Self, FleetError> {
        let text = text.trim();
        if let Some(path) = text.strip_prefix("sqlite:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            if path.is_empty() {
                return Err(FleetError::BadAddress(text.to_owned()));
            }
            return Ok(Self::Sqlite(std::path::absolute(path)?));
        }
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Ok(Self::Postgres(text.to_owned()));
        }
        Err(FleetError::BadAddress(without_password(text)))
    }

    /// The file of one's own.
    pub(crate) fn own() -> Result<Self, FleetError> {
        Ok(Self::Sqlite(own_directory()?.join("fleet.db")))
    }
}

/// The address without a password, for people and files.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            Self::Postgres(url) => f.write_str(&without_password(url)),
        }
    }
}

/// `postgres://worker:secret@host/db?password=x` without the secrets.
fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let authority = match authority.rsplit_once('@') {
        Some((user, host)) => format!("{}@{host}", user.split(':').next().unwrap_or_default()),
        None => authority.to_owned(),
    };
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let kept: Vec<&str> = query
        .split('&')
        .filter(|part| !part.is_empty() && !part.starts_with("password="))
        .collect();
    let query = if kept.is_empty() { String::new() } else { format!("?{}", kept.join("&")) };
    format!("{scheme}://{authority}{path}{query}")
}

/// `$XDG_STATE_HOME/statedir`, or the same below the home directory.
pub(super) fn own_directory() -> Result<PathBuf, FleetError> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let state = variable("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || variable("HOME").map(|home| Path::new(&home).join(".local/state"));
    let base = state.or_else(home).ok_or_else(|| {
        let message = "neither XDG_STATE_HOME nor HOME is set";
        FleetError::Io(std::io::Error::new(std::io::ErrorKind::NotFound, message))
    })?;
    Ok(base.join("statedir"))
}

/// The database to use: `$STATEDIR_FLEET`, else the one given to `fleet init`, else the default file.
pub(crate) fn configured() -> Result<Address, FleetError> {
    if let Ok(text) = std::env::var("STATEDIR_FLEET")
        && !text.trim().is_empty()
    {
        return Address::parse(&text);
    }
    match fs_err::read_to_string(own_directory()?.join(CHOSEN)) {
        Ok(text) => Address::parse(&text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Address::own(),
        Err(error) => Err(error.into()),
    }
}

/// The name of this machine in the fleet: the one that `$STATEDIR_HOST` gives it, else the first part
/// of its own with an id, since many machines are called `localhost`.
pub(crate) fn machine(host: &str) -> String {
    let is_given = std::env::var("STATEDIR_HOST").is_ok_and(|name| !name.trim().is_empty());
    let id = || std::fs::read_to_string("/etc/machine-id").ok();
    match (!is_given).then(id).flatten() {
        Some(id) => with_id(host.split('.').next().unwrap_or(host), &id),
        None => host.to_owned(),
    }
}

/// A host name with a hash of the machine's id, which itself must not be published.
fn with_id(host: &str, id: &str) -> String {
    let id = id.trim();
    let is_one = id.len() == 32 && id.chars().all(|c| c.is_ascii_hexdigit());
    match is_one {
        true => format!("{host}-{}", &digest(&[b"statedir fleet", id.as_bytes()])[..8]),
        false => host.to_owned(),
    }
}

/// How long the database may take to answer: `$STATEDIR_FLEET_TIMEOUT`, else 30 seconds. A network
/// that swallows everything must not hold a worker for ever.
pub(super) fn patience() -> Result<Duration, FleetError> {
    let Ok(text) = std::env::var("STATEDIR_FLEET_TIMEOUT") else { return Ok(PATIENCE) };
    if text.trim().is_empty() {
        return Ok(PATIENCE);
    }
    let time = text.trim().parse::<Span>().ok().map(|span| Duration::from_millis(span.millis()));
    time.filter(|time| !time.is_zero()).ok_or(FleetError::BadTimeout(text))
}

/// Whether somebody has chosen a database, for this process or for good.
#[cfg(feature = "web")]
pub(crate) fn is_configured() -> bool {
    let is_named = std::env::var("STATEDIR_FLEET").is_ok_and(|text| !text.trim().is_empty());
    is_named || own_directory().is_ok_and(|dir| dir.join(CHOSEN).exists())
}

/// Keeps the address for later commands, without its password.
pub(crate) fn remember(address: &Address) -> Result<(), FleetError> {
    let dir = own_directory()?;
    fs_err::create_dir_all(&dir)?;
    Directory::open(&dir)?.replace(CHOSEN, format!("{address}\n").as_bytes())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_printed() {
        let shown = |url: &str| Address::parse(url).unwrap().to_string();
        assert_eq!(shown("postgres://w:s3cret@db:5432/fleet"), "postgres://w@db:5432/fleet");
        assert_eq!(shown("postgres://w:a@b@db/fleet"), "postgres://w@db/fleet");
        assert_eq!(
            shown("postgres:///fleet?host=/run/pg&password=x&user=w"),
            "postgres:///fleet?host=/run/pg&user=w"
        );
        assert_eq!(shown("postgresql://db/fleet"), "postgresql://db/fleet");
    }

    #[test]
    fn machines_of_one_name_are_distinguished() {
        let (one, other) =
            ("0123456789abcdef0123456789abcdef\n", "0123456789abcdef0123456789abcdee");
        assert_eq!(with_id("localhost", one), with_id("localhost", one.trim()));
        assert_ne!(with_id("localhost", one), with_id("localhost", other));
        assert!(with_id("localhost", one).starts_with("localhost-"));
        assert!(
            !with_id("localhost", one).contains(&one[..8]),
            "the id itself is nobody's business"
        );
        for none in ["", "uninitialized\n"] {
            assert_eq!(with_id("build7", none), "build7");
        }
    }

    #[test]
    fn other_schemes_are_refused() {
        for text in ["", "mysql://x/y", "sqlite:", "fleet.db"] {
            assert!(matches!(Address::parse(text), Err(FleetError::BadAddress(_))), "{text}");
        }
        let refused = Address::parse("mysql://w:s3cret@db/x").unwrap_err().to_string();
        assert!(!refused.contains("s3cret"), "{refused}");
    }
}
