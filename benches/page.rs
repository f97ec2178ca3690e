//! What the first answer of `web` costs for a state with 1,000 steps and a history of 100 MB, against
//! `state --json` of one with as many steps and no history, measured in one run; and its memory.

mod common;

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use common::{alternate, is_wanted, report, run, signed, statedir, title};

/// The most that the page may cost against the document.
const LIMIT: f64 = 2.0;
/// The most memory that the server may take, in KiB.
const MEMORY: u64 = 64 << 10;
const HISTORY: usize = 100 << 20;

fn main() {
    if !is_wanted() {
        return;
    }
    let root = tempfile::tempdir().expect("a temporary directory");
    let plain = common::state(root.path(), "plain", 1000);
    let long = common::state(root.path(), "long", 1000);
    let path = long.join("workspace/state/history.md");
    let mut text = fs::read_to_string(&path).expect("a history");
    let some = signed(20_000);
    while text.len() < HISTORY {
        text.push_str(&some);
    }
    fs::write(&path, text).expect("space for the history");
    // The first command reads all of it once, because it was written from outside.
    run(statedir(), &long, &["var", "set", "seen", "1"]);
    title();
    let first = || {
        let server = Server::start(&long);
        server.get(&server.location("/"))
    };
    let pair = alternate(20, first, || run(statedir(), &plain, &["state", "--json"]));
    report("web, the first answer of a new server", pair, LIMIT);
    let server = Server::start(&long);
    let home = server.location("/");
    for (name, view) in [("board", ""), ("history", "history"), ("operations", "operations")] {
        let pair = alternate(
            20,
            || server.get(&format!("{home}{view}")),
            || run(statedir(), &plain, &["state", "--json"]),
        );
        report(&format!("web, {name}"), pair, LIMIT);
    }
    let memory = server.memory();
    println!("memory of the server at most: {memory} KiB of {MEMORY}");
    assert!(memory < MEMORY, "{memory} KiB");
}

/// A server that ends with the measurement.
struct Server {
    child: Child,
    host: String,
    cookie: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn start(dir: &Path) -> Self {
        let mut command = Command::new(statedir());
        command.arg("web").current_dir(dir).env("STATEDIR_ACTOR", "bench").env_remove("STATEDIR");
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the program to start");
        let mut url = String::new();
        let output = child.stdout.take().expect("its output");
        BufReader::new(output).read_line(&mut url).expect("an address");
        let (host, path) =
            url.trim().trim_start_matches("http://").split_once('/').expect("a path");
        let mut server = Self { child, host: host.to_owned(), cookie: String::new() };
        let opened = server.ask(&format!("/{path}"));
        let cookie = opened.split("Set-Cookie: ").nth(1).expect("a cookie");
        server.cookie = cookie.split(';').next().unwrap_or_default().to_owned();
        server
    }

    fn ask(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.host).expect("a connection");
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\n\r\n",
            self.host, self.cookie
        );
        stream.write_all(request.as_bytes()).expect("a request");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    }

    fn location(&self, path: &str) -> String {
        let answer = self.ask(path);
        let to = answer.split("Location: ").nth(1).expect("where to go");
        to.lines().next().unwrap_or_default().to_owned()
    }

    fn get(&self, path: &str) -> Duration {
        let began = Instant::now();
        let answer = self.ask(path);
        let took = began.elapsed();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        took
    }

    fn memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.expect("the system says");
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("a line");
        line.split_whitespace().nth(1).and_then(|text| text.parse().ok()).expect("a number")
    }
}
