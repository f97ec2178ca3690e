//! `setup --check`: what is in place for each client, what it still needs, and a proof.

use std::{env, fs, path::PathBuf, process::Command, time::Duration};

use serde_json::{Value, json};

use crate::{
    adapters::{
        cli::{CliResult, Failure, Session},
        process,
        setup::{FileStanding, FileState, Setup},
    },
    domain::ErrorCode,
    workspace::InitOptions,
};

/// How long a proof may take.
const LIMIT: Duration = Duration::from_secs(10);
/// How much one may print.
const MOST: usize = 1 << 20;

/// What the check found about one client.
struct ClientCheck {
    client: String,
    files: Vec<FileStanding>,
    needs: Option<String>,
    /// What was proven, and the result.
    proofs: Vec<(&'static str, Result<(), String>)>,
}

impl ClientCheck {
    fn is_in_place(&self) -> bool {
        let files = self.files.iter().all(|file| file.state == FileState::InPlace);
        files && self.proofs.iter().all(|(_, proof)| proof.is_ok())
    }
}

/// Checks the clients; without a name those that are set up.
pub(super) fn run(session: &mut Session<'_>, setups: &[Setup], named: bool) -> CliResult {
    let mut checked = Vec::new();
    for setup in setups {
        let files = match setup.standing() {
            Ok(files) => files,
            Err(error) if named => return Err(error.into()),
            Err(_) => continue,
        };
        if setup.is_set_up(&files) {
            let (hook, server) = setup.proofs()?;
            let mut proofs = Vec::new();
            let ground = Ground::new(session)?;
            if let Some(command) = hook {
                proofs.push(("hook", ground.hook(&command)));
            }
            if server {
                proofs.push(("MCP server", ground.server(&setup.program)));
            }
            let (client, needs) = (setup.client.to_string(), setup.needs());
            checked.push(ClientCheck { client, files, needs, proofs });
        } else if named {
            let client = &setup.client;
            let message = format!("{client} is not set up here");
            let command = format!("setup {client}");
            let hint = format!("`statedir {command}` sets it up");
            return Err(Failure::new(ErrorCode::NotFound, message).hint(hint));
        }
    }
    if checked.is_empty() {
        let message = "no client is set up here";
        return Err(
            Failure::new(ErrorCode::NotFound, message).hint("for example `statedir setup claude`")
        );
    }
    report(session, &checked);
    Ok(u8::from(!checked.iter().all(ClientCheck::is_in_place)))
}

fn report(session: &mut Session<'_>, checked: &[ClientCheck]) {
    let word = |state: FileState| match state {
        FileState::InPlace => "in place",
        FileState::Outdated => "outdated",
        FileState::Changed => "changed by hand",
        FileState::Missing => "missing",
    };
    session.output.value(|| {
        let client = |checked: &ClientCheck| {
            let file = |file: &FileStanding| json!({ "path": file.path, "what": file.what, "state": word(file.state) });
            let proof = |(what, proof): &(&str, Result<(), String>)| json!({ "what": what, "answered": proof.is_ok(), "why": proof.as_ref().err() });
            json!({ "client": checked.client, "in_place": checked.is_in_place(),
                "files": checked.files.iter().map(file).collect::<Vec<_>>(),
                "needs": checked.needs, "proofs": checked.proofs.iter().map(proof).collect::<Vec<_>>() })
        };
        let clients: Vec<Value> = checked.iter().map(client).collect();
        json!({ "clients": clients })
    });
    for checked in checked {
        session.output.line(&checked.client);
        for file in &checked.files {
            let (path, what) = (file.path.display(), &file.what);
            session.output.line(format!("  {:<15} {path} ({what})", word(file.state)));
        }
        for (what, proof) in &checked.proofs {
            match proof {
                Ok(()) => session.output.line(format!("  {:<15} the {what}", "answers")),
                Err(why) => session.output.line(format!("  {:<15} the {what}: {why}", "no answer")),
            }
        }
        if let Some(needs) = &checked.needs {
            session.output.line(format!("  {:<15} {needs}", "still needed"));
        }
        if checked.files.iter().any(|file| file.state != FileState::InPlace) {
            let command = format!("setup {}", checked.client);
            session.output.line(format!("  hint: `statedir {command}` completes it"));
        }
    }
}

/// A temporary state for the proof.
struct Ground {
    root: PathBuf,
}

impl Ground {
    fn new(session: &Session<'_>) -> Result<Self, Failure> {
        let number = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0);
        let root = env::temp_dir().join(format!("statedir-check-{number:016x}"));
        // Whatever is there already is not ours.
        fs::create_dir(&root).map_err(|error| {
            Failure::new(ErrorCode::Io, format!("`{}`: {error}", root.display()))
        })?;
        let ground = Self { root };
        let state = ground.root.join("workspace/state");
        let goal = Some("Prove that the client is set up".to_owned());
        let options = InitOptions { goal, ..InitOptions::default() };
        session.workspace_in(state, None)?.init(&options)?;
        Ok(ground)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root);
        let clients = ["CLAUDE_PROJECT_DIR", "CLAUDE_ENV_FILE", "QWEN_PROJECT_DIR"];
        for name in ["STATEDIR", "STATEDIR_ACTOR"].into_iter().chain(clients) {
            command.env_remove(name);
        }
        command
    }

    /// The start of a session: the brief comes back.
    fn hook(&self, line: &str) -> Result<(), String> {
        let event = json!({ "hook_event_name": "SessionStart", "source": "startup",
            "session_id": "setup-check", "cwd": self.root });
        let mut command = self.command("sh");
        command.args(["-c", line]);
        let answer = process::run(command, event.to_string().into_bytes(), LIMIT, MOST)
            .map_err(|error| error.to_string())?;
        let answer = String::from_utf8_lossy(&answer);
        match answer.trim().is_empty() {
            true => Err("no answer; the program may not be on the PATH".to_owned()),
            false if answer.contains("# Brief at") => Ok(()),
            false => Err("it does not answer with the brief".to_owned()),
        }
    }

    /// Whether the server answers a client's greeting.
    fn server(&self, program: &str) -> Result<(), String> {
        let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "setup-check", "version": "1" } } });
        let mut command = self.command(program);
        command.arg("mcp");
        let answer = process::run(command, format!("{hello}\n").into_bytes(), LIMIT, MOST)
            .map_err(|error| error.to_string())?;
        let first = String::from_utf8_lossy(&answer).lines().next().unwrap_or_default().to_owned();
        let answer: Value = serde_json::from_str(&first).unwrap_or_default();
        match answer["result"]["serverInfo"]["name"] == "statedir" {
            true => Ok(()),
            false => Err("it does not answer a client".to_owned()),
        }
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}
