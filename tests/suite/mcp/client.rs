//! A client that sends raw lines, malformed ones included.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    process::{Child, ChildStdin, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{builder::Project, lifecycle};

/// How long an answer may take before the test gives up.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// The protocol without a handshake.
pub const STATELESS: &str = "2026-07-28";

pub struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: mpsc::Receiver<String>,
    next_id: i64,
    meta: Option<Value>,
    renamed: bool,
}

/// How a server ended.
pub struct Ended {
    pub code: Option<i32>,
    pub rest: Vec<Value>,
    pub stderr: String,
}

impl Client {
    /// A server in the project, before any message.
    pub fn silent(project: &Project) -> Self {
        Self::with(project, &[])
    }

    /// The same with variables set.
    pub fn with(project: &Project, variables: &[(&str, &str)]) -> Self {
        let mut command = project.command(&["mcp"]);
        command.env_remove("STATEDIR_ACTOR").envs(variables.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdout = child.stdout.take().unwrap();
        let (sender, lines) = mpsc::channel();
        let renamed = project.is_renamed();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let line = if renamed { lifecycle::builtin_text(&line) } else { line };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        Self { child, stdin, lines, next_id: 0, meta: None, renamed }
    }

    /// A server after the handshake of 2025.
    pub fn new(project: &Project) -> Self {
        let mut client = Self::silent(project);
        client.greet("2025-11-25");
        client
    }

    /// Does the handshake; returns its result.
    pub fn greet(&mut self, version: &str) -> Value {
        let result = self.result(
            "initialize",
            json!({ "protocolVersion": version, "capabilities": {},
                "clientInfo": { "name": "raw client", "version": "1" } }),
        );
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        result
    }

    /// From now on every request identifies the client, as in the protocol of 2026.
    pub fn stateless(&mut self) {
        self.meta = Some(json!({
            "io.modelcontextprotocol/protocolVersion": STATELESS,
            "io.modelcontextprotocol/clientInfo": { "name": "stateless", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {} }));
    }

    pub fn send(&mut self, message: &Value) {
        self.send_raw(format!("{message}\n").as_bytes());
    }

    pub fn send_raw(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        let bytes = if self.renamed { lifecycle::renamed(bytes) } else { bytes.to_vec() };
        stdin.write_all(&bytes).and_then(|()| stdin.flush()).unwrap();
    }

    /// Sends a request; returns its id.
    pub fn ask(&mut self, method: &str, mut params: Value) -> i64 {
        self.next_id += 1;
        if let Some(meta) = &self.meta {
            params["_meta"] = meta.clone();
        }
        let id = self.next_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// The next message, whatever it is.
    pub fn receive(&mut self) -> Value {
        let line = self.lines.recv_timeout(TIME_LIMIT).expect("the server says nothing");
        let message: Value = serde_json::from_str(&line)
            .unwrap_or_else(|error| panic!("{error}: not protocol: {line}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        message
    }

    /// Whether nothing comes for a while.
    pub fn is_quiet_for(&mut self, time: Duration) -> bool {
        self.lines.recv_timeout(time).is_err()
    }

    /// The answer to a request; others are passed over.
    pub fn answer(&mut self, id: i64) -> Value {
        loop {
            let message = self.receive();
            if message["id"] == id {
                return message;
            }
        }
    }

    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.answer(id)
    }

    /// The result of a request that must succeed.
    pub fn result(&mut self, method: &str, params: Value) -> Value {
        let answer = self.request(method, params);
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }

    /// Calls a tool; returns its document, which is the same in text.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.result("tools/call", json!({ "name": tool, "arguments": arguments }));
        let document = result["structuredContent"].clone();
        let text = result["content"][0]["text"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), document);
        assert_eq!(result["isError"], document["ok"] != true, "{result}");
        document
    }

    /// Calls a tool that must succeed.
    pub fn ok(&mut self, tool: &str, arguments: Value) -> Value {
        let document = self.call(tool, arguments);
        assert_eq!(document["ok"], true, "{document}");
        document
    }

    /// Makes a change of `apply` by the tool of its subject, which must accept or refuse it.
    pub fn make_change(&mut self, mut change: Value, is_refused: bool) {
        let members = change.as_object_mut().unwrap();
        let op = members.remove("op").unwrap();
        let (tool, verb) = op.as_str().unwrap().split_once('.').unwrap();
        let verb = match members.remove("approve") {
            Some(Value::Bool(true)) => "approve",
            Some(_) => "reject",
            None => verb,
        };
        if let Some(to) = members.remove("to") {
            members.insert("status".to_owned(), to);
        }
        members.insert("verb".to_owned(), json!(verb));
        match is_refused {
            true => drop(self.refused(tool, change)),
            false => drop(self.ok(tool, change)),
        }
    }

    /// Calls a tool that must refuse; returns the error.
    pub fn refused(&mut self, tool: &str, arguments: Value) -> Value {
        let document = self.call(tool, arguments);
        assert_eq!(document["ok"], false, "{document}");
        document["error"].clone()
    }

    /// The peak memory of the server, in bytes.
    #[cfg(target_os = "linux")]
    pub fn peak_memory(&self) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = text.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
    }

    /// Ends the input and waits for the end of the server.
    pub fn end(mut self) -> Ended {
        drop(self.stdin.take());
        let began = Instant::now();
        let code = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status.code(),
                None if began.elapsed() > TIME_LIMIT => {
                    let _ = self.child.kill();
                    panic!("the server does not end");
                }
                None => thread::sleep(Duration::from_millis(5)),
            }
        };
        let rest = self.lines.iter().map(|line| serde_json::from_str(&line).unwrap()).collect();
        let mut stderr = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        Ended { code, rest, stderr }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
