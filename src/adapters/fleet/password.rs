//! Passwords from where `psql` takes them.

use std::path::{Path, PathBuf};

/// What a password is for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Login<'a> {
    pub(super) host: &'a str,
    pub(super) port: u16,
    pub(super) database: &'a str,
    pub(super) user: &'a str,
}

/// `$PGPASSWORD`, else the first fitting line of `$PGPASSFILE` or `~/.pgpass`.
pub(super) fn password(login: Login<'_>) -> Option<String> {
    let variable = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
    if let Some(password) = variable("PGPASSWORD") {
        return Some(password);
    }
    let file = variable("PGPASSFILE").map(PathBuf::from);
    let file = file.or_else(|| variable("HOME").map(|home| Path::new(&home).join(".pgpass")))?;
    is_private(&file).then(|| std::fs::read_to_string(&file).ok()).flatten().and_then(|text| {
        text.lines().filter(|line| !line.starts_with('#')).find_map(|line| in_line(line, login))
    })
}

/// A file that others can read is not used, as with `psql`.
fn is_private(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(file)
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o077 == 0)
}

/// The password of a line `host:port:database:user:password`, if it fits.
fn in_line(line: &str, login: Login<'_>) -> Option<String> {
    let mut fields = vec![String::new()];
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        match c {
            ':' if fields.len() < 5 => fields.push(String::new()),
            '\\' => fields.last_mut()?.extend(characters.next()),
            c => fields.last_mut()?.push(c),
        }
    }
    let [host, port, database, user, password] = <[String; 5]>::try_from(fields).ok()?;
    let fits = |field: &str, value: &str| field == "*" || field == value;
    // A socket in a directory counts as localhost.
    let name = if login.host.starts_with('/') { "localhost" } else { login.host };
    let found = (fits(&host, name) || host == login.host)
        && fits(&port, &login.port.to_string())
        && fits(&database, login.database)
        && fits(&user, login.user);
    found.then_some(password)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_fits() {
        let login = Login { host: "db.example", port: 5432, database: "fleet", user: "worker" };
        let read = |line: &str| in_line(line, login);
        assert_eq!(read("db.example:5432:fleet:worker:s:e\\\\c").as_deref(), Some("s:e\\c"));
        assert_eq!(read("*:*:*:*:x").as_deref(), Some("x"));
        assert_eq!(read("*:5433:*:*:x"), None);
        assert_eq!(read("*:*:*:reader:x"), None);
        assert_eq!(read("too:few:fields"), None);
        let socket = Login { host: "/run/postgresql", ..login };
        assert_eq!(in_line("localhost:*:*:*:y", socket).as_deref(), Some("y"));
    }
}
