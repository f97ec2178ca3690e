//! A PostgreSQL server on a socket and a port of its own.

use std::{
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use tempfile::TempDir;

use crate::needs;

/// The database that every server has.
pub const FLEET: &str = "fleet";

/// A running server; dropping it stops it.
pub struct Server {
    root: TempDir,
    bin: PathBuf,
    pub port: u16,
}

/// The directory with the server's programs: Debian keeps them out of the path.
fn programs() -> Option<PathBuf> {
    let has = |dir: &Path| dir.join("initdb").is_file() && dir.join("pg_ctl").is_file();
    let in_path = std::env::var_os("PATH");
    let mut all: Vec<PathBuf> =
        in_path.iter().flat_map(std::env::split_paths).filter(|dir| has(dir)).collect();
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    all.extend(versions.map(|version| version.path().join("bin")).filter(|dir| has(dir)));
    all.pop()
}

impl Server {
    /// `None` where there is no PostgreSQL; under `CI=true` that fails.
    pub fn start() -> Option<Self> {
        let found = programs();
        let remedy = "install the package `postgresql`";
        if !needs::met(found.is_some(), "the PostgreSQL server", remedy) {
            return None;
        }
        let root = tempfile::tempdir_in("/tmp").expect("a directory");
        let port = free_port();
        let server = Self { root, bin: found?, port };
        if is_root() {
            run(Command::new("chown").arg("postgres").arg(server.root.path()));
        }
        let data = server.data();
        run(server
            .command("initdb")
            .args(["-D", &data, "-A", "trust", "-U", "worker", "--no-sync"]));
        server.up();
        server.create(FLEET);
        Some(server)
    }

    /// A server that tests share, and the name of a new database on it. It stops with the last test
    /// that uses it.
    pub fn shared() -> Option<(Arc<Self>, String)> {
        static RUNNING: Mutex<Weak<Server>> = Mutex::new(Weak::new());
        static DATABASES: AtomicUsize = AtomicUsize::new(1);
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        let server = match running.upgrade() {
            Some(server) => server,
            None => Arc::new(Self::start()?),
        };
        *running = Arc::downgrade(&server);
        drop(running);
        let database = format!("{FLEET}{}", DATABASES.fetch_add(1, Ordering::Relaxed));
        server.create(&database);
        Some((server, database))
    }

    fn create(&self, database: &str) {
        let mut createdb = Command::new(self.bin.join("createdb"));
        createdb.arg("-h").arg(self.root.path()).args(["-p", &self.port.to_string()]);
        run(createdb.args(["-U", "worker", database]));
    }

    fn data(&self) -> String {
        self.root.path().join("data").to_string_lossy().into_owned()
    }

    /// A program of the server, which refuses to run as root.
    fn command(&self, name: &str) -> Command {
        let program = self.bin.join(name);
        let mut command = match is_root() {
            false => Command::new(program),
            true => {
                let mut command = Command::new("setpriv");
                command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]);
                command.arg(program);
                command
            }
        };
        command.current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    pub fn up(&self) {
        self.up_with("");
    }

    /// Its own directory.
    pub fn dir(&self) -> &Path {
        self.root.path()
    }

    /// Restarts it with the certificate in its directory: TCP connections then need TLS and a password.
    pub fn ask_for_tls(&self) {
        self.crash();
        let dir = self.root.path();
        let allowed = "local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n";
        std::fs::write(dir.join("data/pg_hba.conf"), allowed).expect("room for a file");
        run(Command::new("chmod").arg("600").arg(dir.join("server.key")));
        if is_root() {
            run(Command::new("chown").arg("postgres").arg(dir.join("server.key")));
        }
        let dir = dir.display();
        self.up_with(&format!(
            "-c ssl=on -c ssl_cert_file={dir}/server.pem -c ssl_key_file={dir}/server.key"
        ));
    }

    fn up_with(&self, more: &str) {
        let (socket, port) = (self.root.path().display(), self.port);
        let options = format!(
            "-k {socket} -p {port} -c listen_addresses=127.0.0.1 -c fsync=on -c max_connections=120 {more}"
        );
        let log = self.root.path().join("log");
        let (data, log) = (self.data(), log.to_string_lossy().into_owned());
        let args = ["-D", &data, "-l", &log, "-o", &options, "-w", "-t", "60", "start"];
        run(self.command("pg_ctl").args(args));
    }

    /// Stops it as a crash would.
    pub fn crash(&self) {
        let data = self.data();
        run(self.command("pg_ctl").args(["-D", &data, "-m", "immediate", "-w", "stop"]));
    }

    /// The address of a database over the socket.
    pub fn url(&self, database: &str) -> String {
        let socket = self.root.path().display();
        format!("postgres://worker@/{database}?host={socket}&port={}", self.port)
    }

    /// The address over a port of this machine.
    pub fn tcp(&self, port: u16) -> String {
        format!("postgres://worker@127.0.0.1:{port}/{FLEET}")
    }

    /// The answer to a query: a line for each row, columns separated by `|`.
    pub fn query(&self, database: &str, sql: &str) -> String {
        let socket = self.root.path().to_string_lossy().into_owned();
        let end = Instant::now() + Duration::from_secs(30);
        loop {
            let mut psql = Command::new(self.bin.join("psql"));
            psql.args([
                "-h",
                &socket,
                "-p",
                &self.port.to_string(),
                "-U",
                "worker",
                "-d",
                database,
            ]);
            let output = psql.args(["-AtX", "-c", sql]).output().expect("psql to start");
            if output.status.success() {
                return String::from_utf8_lossy(&output.stdout).into_owned();
            }
            let printed = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(Instant::now() < end, "{sql}: {printed}");
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let data = self.data();
        let _ = self.command("pg_ctl").args(["-D", &data, "-m", "immediate", "stop"]).status();
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn run(command: &mut Command) {
    let status = command.status().expect("a program to start");
    assert!(status.success(), "{command:?}");
}
