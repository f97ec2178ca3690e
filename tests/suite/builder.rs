//! A state directory to run commands in, with their output and the files they changed.

use std::{
    collections::BTreeMap,
    io::Write as _,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::{lifecycle, needs, program};

/// The names of the five files.
pub const FIVE: [&str; 5] =
    ["plan.md", "context.md", "variables.json", "history.md", "constraints.md"];

/// A project in a temporary directory.
pub struct Project {
    root: TempDir,
    /// Where its state is, from the root.
    state: &'static str,
    /// Whether its statuses have other names.
    renamed: bool,
}

/// The result of a command.
pub struct Ran {
    pub stdout: String,
    pub stderr: String,
    pub code: i32,
}

impl Project {
    /// An empty project.
    pub fn empty() -> Self {
        Self::with_lifecycle(lifecycle::is_renamed())
    }

    /// An empty project with the built-in or the renamed statuses, in any run.
    pub fn with_lifecycle(renamed: bool) -> Self {
        Self { root: tempfile::tempdir().unwrap(), state: "workspace/state", renamed }
    }

    /// The same in memory, for tests that put it back again and again and are not about the disk.
    pub fn in_memory(self) -> Self {
        Self { root: needs::directory_in_memory(), ..self }
    }

    /// The same with its state in another directory.
    pub fn with_state_in(self, state: &'static str) -> Self {
        Self { state, ..self }
    }

    /// A project with a fresh state.
    pub fn new() -> Self {
        let project = Self::empty();
        project.ok(&["init", "--goal", "Compare three vector databases"]);
        project
    }

    /// A project whose steps were typed into an editor.
    pub fn with_typed_steps(steps: &str) -> Self {
        let project = Self::new();
        let plan = project.read("plan.md");
        let head = plan.split("## Steps").next().unwrap();
        project.write("plan.md", format!("{head}## Steps\n\n{steps}"));
        project
    }

    /// A project with a fresh state that has limits, as the template `classic` sets them.
    pub fn classic() -> Self {
        let project = Self::empty();
        let goal = "Compare three vector databases";
        project.ok(&["init", "--goal", goal, "--template", "classic"]);
        project
    }

    /// A project with a fresh state and so many pending steps.
    pub fn with_steps(count: usize) -> Self {
        let project = Self::empty();
        project.begin(count);
        project
    }

    /// Makes a state with so many pending steps.
    pub fn begin(&self, count: usize) {
        self.ok(&["init", "--goal", "Compare three vector databases"]);
        let changes: Vec<Value> = (1..=count)
            .map(|n| serde_json::json!({ "op": "step.add", "title": format!("Do part {n}") }))
            .collect();
        self.ok_with_input(&["apply", "-"], &Value::from(changes).to_string());
    }

    /// Adds the state that is stored below `tests` under that name, with its log.
    pub fn fixture(self, name: &str) -> Self {
        let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name);
        copy_tree(&kept, &self.dir());
        std::fs::rename(self.path("private"), self.path(".statedir")).unwrap();
        self
    }

    /// Whether its statuses have other names.
    pub fn is_renamed(&self) -> bool {
        self.renamed
    }

    /// Translates text of a test to the status words of the project.
    pub fn in_project_words(&self, text: &[u8]) -> Vec<u8> {
        if self.renamed { lifecycle::renamed(text) } else { text.to_vec() }
    }

    /// Translates text of the project to the built-in status words.
    pub fn in_builtin_words(&self, text: Vec<u8>) -> Vec<u8> {
        if self.renamed { lifecycle::builtin(&text) } else { text }
    }

    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// The state directory.
    pub fn dir(&self) -> PathBuf {
        self.root.path().join(self.state)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir().join(name)
    }

    pub fn read(&self, name: &str) -> String {
        self.read_at(&self.path(name))
    }

    /// The same for a state file elsewhere.
    pub fn read_at(&self, path: &Path) -> String {
        String::from_utf8(self.in_builtin_words(std::fs::read(path).unwrap())).unwrap()
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::create_dir_all(self.dir()).unwrap();
        let workflow = self.path("workflow.yaml");
        if self.renamed && name == "plan.md" && !workflow.exists() {
            std::fs::write(workflow, lifecycle::workflow()).unwrap();
        }
        std::fs::write(self.path(name), self.in_project_words(text.as_ref())).unwrap();
    }

    /// Replaces text that must be there.
    pub fn edit(&self, name: &str, from: &str, to: &str) {
        let text = self.read(name);
        assert!(text.contains(from), "{name} does not contain {from:?}:\n{text}");
        self.write(name, text.replacen(from, to, 1));
    }

    /// The bytes of all files that exist, including a workflow.yaml that the test wrote.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let names = FIVE.iter().chain(&["workflow.yaml"]);
        names
            .filter_map(|name| Some((name.to_string(), std::fs::read(self.path(name)).ok()?)))
            .filter(|(_, bytes)| !self.renamed || *bytes != lifecycle::workflow())
            .map(|(name, bytes)| (name, self.in_builtin_words(bytes)))
            .collect()
    }

    /// A command that is ready to be run in this project.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(program::path());
        for (at, arg) in args.iter().enumerate() {
            let is_template = at > 0 && args[at - 1] == "--template";
            if self.renamed && is_template && *arg == "classic" {
                command.arg(lifecycle::classic_templates());
            } else {
                command.arg(std::ffi::OsStr::from_bytes(&self.in_project_words(arg.as_bytes())));
            }
        }
        if self.renamed && args.contains(&"init") && !args.contains(&"--template") {
            command.args(["--template", lifecycle::templates()]);
        }
        outside_of_any_session(&mut command)
            .current_dir(self.root())
            .env_remove("STATEDIR")
            .env("STATEDIR_ACTOR", "tester")
            .stdin(Stdio::null());
        command
    }

    /// Runs a command.
    pub fn run(&self, args: &[&str]) -> Ran {
        Ran::from(self.command(args).output().unwrap())
    }

    /// Runs a command with text on standard input.
    pub fn run_with_input(&self, args: &[&str], input: &str) -> Ran {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A command that refuses early does not read its input.
        let _ = child.stdin.take().unwrap().write_all(&self.in_project_words(input.as_bytes()));
        Ran::from(child.wait_with_output().unwrap())
    }

    /// Runs a command that must succeed.
    pub fn ok(&self, args: &[&str]) -> Ran {
        let ran = self.run(args);
        assert_eq!(ran.code, 0, "{args:?}\n{}{}", ran.stdout, ran.stderr);
        ran
    }

    /// The same at a time of the 31st of January, such as `12:00:00`.
    pub fn at(&self, time: &str, args: &[&str]) -> Ran {
        let mut command = self.command(args);
        let ran = command.env("STATEDIR_NOW", format!("2026-01-31T{time}Z")).output().unwrap();
        let ran = Ran::from(ran);
        assert_eq!(ran.code, 0, "{args:?}\n{}{}", ran.stdout, ran.stderr);
        ran
    }

    pub fn ok_with_input(&self, args: &[&str], input: &str) -> Ran {
        let ran = self.run_with_input(args, input);
        assert_eq!(ran.code, 0, "{args:?}\n{}{}", ran.stdout, ran.stderr);
        ran
    }

    /// Runs a command with `--json` that must succeed.
    pub fn json(&self, args: &[&str]) -> Value {
        let ran = self.ok(&[args, &["--json"]].concat());
        let answer = ran.json();
        assert_eq!(answer["ok"], true, "{answer}");
        answer
    }

    /// Runs a command that must be refused with an exit code, and must not change a byte.
    pub fn refused(&self, code: i32, args: &[&str]) -> Value {
        let before = self.files();
        let ran = self.run(&[args, &["--json"]].concat());
        assert_eq!(ran.code, code, "{args:?}\n{}{}", ran.stdout, ran.stderr);
        assert_eq!(self.files(), before, "{args:?} changed files");
        let answer = ran.json();
        assert_eq!(answer["ok"], false);
        assert!(answer["error"]["code"].is_string() && answer["error"]["message"].is_string());
        answer
    }

    /// Runs a command that must succeed; returns the names of the files it changed.
    pub fn changed_by(&self, args: &[&str]) -> Vec<String> {
        let before = self.files();
        self.ok(args);
        let after = self.files();
        let names = after.keys().chain(before.keys()).collect::<std::collections::BTreeSet<_>>();
        names.into_iter().filter(|name| before.get(*name) != after.get(*name)).cloned().collect()
    }
}

impl Ran {
    /// The answer as exactly one JSON document.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {:?} {:?}", self.stdout, self.stderr))
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let in_builtin_words = |text: Vec<u8>| match lifecycle::is_renamed() {
            true => lifecycle::builtin(&text),
            false => text,
        };
        Self {
            stdout: String::from_utf8(in_builtin_words(output.stdout)).unwrap(),
            stderr: String::from_utf8_lossy(&in_builtin_words(output.stderr)).into_owned(),
            code: output.status.code().unwrap_or(-1),
        }
    }
}

/// The text under a key, of every member of a list.
pub fn texts<'a>(list: &'a Value, key: &str) -> Vec<&'a str> {
    list.as_array().unwrap().iter().map(|member| member[key].as_str().unwrap()).collect()
}

/// Copies a directory with everything in it.
pub fn copy_tree(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy_tree(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).unwrap()),
        }
    }
}

/// The lines that differ, `-old` and `+new`, without context.
pub fn line_diff(before: &str, after: &str) -> Vec<String> {
    let diff = similar::TextDiff::from_lines(before, after);
    diff.iter_all_changes()
        .filter(|change| change.tag() != similar::ChangeTag::Equal)
        .map(|change| {
            let sign = if change.tag() == similar::ChangeTag::Delete { '-' } else { '+' };
            format!("{sign}{}", change.value().trim_end_matches(['\n', '\r']))
        })
        .collect()
}

/// Removes the session of whoever runs the tests from the environment of a command.
pub fn outside_of_any_session(command: &mut Command) -> &mut Command {
    for name in [
        "STATEDIR_SESSION",
        "CLAUDE_CODE_SESSION_ID",
        "COPILOT_AGENT_SESSION_ID",
        "CODEX_THREAD_ID",
        "GEMINI_SESSION_ID",
    ] {
        command.env_remove(name);
    }
    command.env("STATEDIR_HOST", "build7")
}

/// The milliseconds in `4s`, `250ms` or `0ns`, as a message about a wait for the lock prints them.
pub fn waited_ms(text: &str) -> u64 {
    let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
    let unit = text[digits.len()..].trim_matches(|c: char| !c.is_alphabetic());
    let number: u64 = digits.parse().unwrap_or_else(|_| panic!("{text}"));
    match unit {
        "s" => number * 1_000,
        "ms" => number,
        _ => 0,
    }
}
