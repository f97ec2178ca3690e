//! Many machines on one database: the same scenes on SQLite and on PostgreSQL.

mod hostile;
mod life;
mod proxy;
mod server;
mod silence;
mod tls;
mod workers;

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::Arc,
};

use serde_json::Value;
use tempfile::TempDir;

use self::server::{FLEET, Server};

/// A database and the machines that use it.
pub struct Fleet {
    root: TempDir,
    server: Option<Arc<Server>>,
    database: String,
    url: String,
}

/// A machine: a directory and a name.
pub struct Machine<'f> {
    fleet: &'f Fleet,
    name: String,
}

/// The result of a command.
pub struct CommandResult {
    pub stdout: String,
    pub stderr: String,
    pub code: i32,
}

/// Runs a scene on every kind of database. The scene must not stop the server: others use it.
pub fn on_both(scene: impl Fn(&Fleet)) {
    // Before the first scene, so that a server that another test has started stays up.
    let shared = Server::shared();
    scene(&Fleet::sqlite());
    if let Some((server, database)) = shared {
        scene(&Fleet::on(server, database));
    }
}

impl Fleet {
    pub fn sqlite() -> Self {
        let root = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", root.path().join("fleet.db").display());
        let fleet = Self { root, server: None, database: String::new(), url };
        fleet.machine("operator").ok(&["fleet", "init"]);
        fleet
    }

    /// On a server that no other test uses.
    pub fn postgres() -> Option<Self> {
        Some(Self::on(Arc::new(Server::start()?), FLEET.to_owned()))
    }

    fn on(server: Arc<Server>, database: String) -> Self {
        let (root, url) = (tempfile::tempdir().unwrap(), server.url(&database));
        let fleet = Self { root, server: Some(server), database, url };
        fleet.machine("operator").ok(&["fleet", "init"]);
        fleet
    }

    pub fn machine(&self, name: &str) -> Machine<'_> {
        let machine = Machine { fleet: self, name: name.to_owned() };
        std::fs::create_dir_all(machine.dir()).unwrap();
        machine
    }

    pub fn server(&self) -> &Server {
        self.server.as_ref().unwrap()
    }

    pub fn is_postgres(&self) -> bool {
        self.server.is_some()
    }

    /// The answer to a query, as of [`Server::query`]; the names of tables are without schema.
    pub fn query(&self, sql: &str) -> String {
        match &self.server {
            Some(server) => server.query(
                &self.database,
                &sql.replace("FROM project", "FROM statedir.project")
                    .replace("UPDATE project", "UPDATE statedir.project")
                    .replace("UPDATE statedir_schema", "UPDATE statedir.statedir_schema"),
            ),
            None => {
                let file = self.url.strip_prefix("sqlite:").unwrap();
                let output = Command::new("sqlite3")
                    .args(["-cmd", ".timeout 30000", "-list", file, sql])
                    .output()
                    .unwrap();
                let printed = String::from_utf8_lossy(&output.stderr).into_owned();
                assert!(output.status.success(), "{sql}: {printed}");
                String::from_utf8(output.stdout).unwrap()
            }
        }
    }

    /// Lets every lease expire, as time would.
    pub fn let_leases_run_out(&self) {
        let past = if self.is_postgres() { "to_timestamp(1)" } else { "1" };
        self.query(&format!("UPDATE project_state SET lease_until = {past}"));
    }
}

impl Machine<'_> {
    pub fn dir(&self) -> PathBuf {
        self.fleet.root.path().join(&self.name)
    }

    pub fn state(&self, project: &str) -> PathBuf {
        self.dir().join(project).join("state")
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(crate::program::path());
        command.args(args).current_dir(self.dir()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.dir()).env("XDG_STATE_HOME", self.dir().join(".own"));
        command.env("STATEDIR_FLEET", &self.fleet.url).env("STATEDIR_HOST", &self.name);
        command.env("USER", "ada");
        command
    }

    pub fn run(&self, args: &[&str]) -> CommandResult {
        command_result(self.command(args).output().unwrap())
    }

    pub fn ok(&self, args: &[&str]) -> String {
        let printed = self.run(args);
        assert_eq!(
            printed.code, 0,
            "{args:?} on {}: {}{}",
            self.name, printed.stdout, printed.stderr
        );
        printed.stdout
    }

    pub fn json(&self, args: &[&str]) -> Value {
        let printed = self.run(&[args, &["--json"]].concat());
        serde_json::from_str(&printed.stdout)
            .unwrap_or_else(|_| panic!("{args:?}: {}{}", printed.stdout, printed.stderr))
    }

    /// Runs a command in the copy of a project.
    pub fn at(&self, project: &str, args: &[&str]) -> CommandResult {
        let dir = self.state(project).display().to_string();
        self.run(&[&["-C", &dir], args].concat())
    }

    pub fn ok_at(&self, project: &str, args: &[&str]) -> String {
        let printed = self.at(project, args);
        assert_eq!(
            printed.code, 0,
            "{args:?} on {}: {}{}",
            self.name, printed.stdout, printed.stderr
        );
        printed.stdout
    }

    /// A project with so many steps, published.
    pub fn start(&self, project: &str, steps: usize) {
        self.ok_at(project, &["init", "--goal", &format!("Finish {project}")]);
        for number in 1..=steps {
            self.ok_at(project, &["step", "add", &format!("Part {number}")]);
        }
        self.ok_at(project, &["fleet", "join", "--name", project]);
    }
}

fn command_result(output: Output) -> CommandResult {
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    CommandResult {
        stdout: text(output.stdout),
        stderr: text(output.stderr),
        code: output.status.code().unwrap_or(-1),
    }
}

/// The state files of a directory, byte for byte.
pub fn bytes(dir: &Path) -> Vec<(String, Vec<u8>)> {
    ["plan.md", "context.md", "variables.json", "history.md", "constraints.md", "workflow.yaml"]
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), std::fs::read(dir.join(name)).ok()?)))
        .collect()
}
