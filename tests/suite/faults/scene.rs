//! A state and the one command that is to be disturbed in it.

use std::{
    fs,
    io::Write as _,
    process::{Child, Command, Stdio},
    sync::OnceLock,
    time::Duration,
};

use super::{Finish, snapshot::Snapshot};
use crate::{
    builder::{Project, Ran, copy_tree, outside_of_any_session},
    program,
};

pub const NOW: &str = "2026-11-16T10:00:00Z";
const SEED: &str = "77";

/// What is run, and on what.
///
/// It is in memory: the faults are injected between the program and the kernel, whatever the file system.
pub struct Scene {
    pub name: &'static str,
    pub args: Vec<String>,
    pub input: Option<String>,
    pub now: &'static str,
    pub project: Project,
    /// Whether processes that it starts are disturbed as well.
    pub follows: bool,
    /// Whether the state is prepared again each time, because it matters which directory is which.
    moves_directories: bool,
    prepare: Box<dyn Fn(&Project) + Send + Sync>,
    start: OnceLock<Snapshot>,
}

impl Scene {
    /// A command on a state that is prepared before it is first needed.
    pub fn new(
        name: &'static str,
        args: &[&str],
        prepare: impl Fn(&Project) + Send + Sync + 'static,
    ) -> Self {
        let args = args.iter().map(ToString::to_string).collect();
        Self {
            name,
            args,
            input: None,
            now: NOW,
            project: Project::empty().in_memory(),
            follows: true,
            moves_directories: false,
            prepare: Box::new(prepare),
            start: OnceLock::new(),
        }
    }

    /// Only the command itself is disturbed, and not the programs that it starts.
    pub fn of_one_process(mut self) -> Self {
        self.follows = false;
        self
    }

    /// Directories change places, which a snapshot does not put back.
    fn moving_directories(mut self) -> Self {
        self.moves_directories = true;
        self
    }

    pub fn with_input(mut self, input: &str) -> Self {
        self.input = Some(input.to_owned());
        self
    }

    pub fn at(mut self, now: &'static str) -> Self {
        self.now = now;
        self
    }

    /// The command makes a state in that directory, with the statuses of its own template.
    pub fn in_directory(mut self, state: &'static str) -> Self {
        self.project = Project::with_lifecycle(false).in_memory().with_state_in(state);
        self
    }

    /// On the state that is kept below `tests` under that name, with the built-in statuses.
    pub fn on_fixture(mut self, name: &str) -> Self {
        self.project = Project::with_lifecycle(false).in_memory().fixture(name);
        self
    }

    /// Whether there is no state before it.
    pub fn begins(&self) -> bool {
        ["import", "import --from"].contains(&self.name) || self.args[0] == "init"
    }

    /// Puts the state back to before the command.
    pub fn reset(&self) {
        if self.moves_directories {
            for entry in fs::read_dir(self.project.root()).unwrap() {
                fs::remove_dir_all(entry.unwrap().path()).unwrap();
            }
            return (self.prepare)(&self.project);
        }
        let start = self.start.get_or_init(|| {
            (self.prepare)(&self.project);
            Snapshot::take(self.project.root())
        });
        start.restore();
    }

    /// The command, to be run by `program` with the arguments before it (`strace …`).
    fn command(&self, before: &[String]) -> Command {
        let own = program::name();
        let mut words = before.iter().map(String::as_str).chain([own]);
        let mut command = Command::new(words.next().unwrap());
        command.args(words).args(&self.args);
        dress(&mut command, &self.project, self.now);
        command
    }

    /// Runs the command to its end.
    pub fn finish(&self, before: &[String]) -> Finish {
        Finish::from(self.spawn(before).wait_with_output().unwrap())
    }

    /// Runs the command and kills it after a while, if it still runs.
    pub fn finish_or_kill(&self, delay: Duration) -> Finish {
        let mut child = self.spawn(&[]);
        std::thread::sleep(delay);
        child.kill().unwrap();
        Finish::from(child.wait_with_output().unwrap())
    }

    fn spawn(&self, before: &[String]) -> Child {
        let mut command = self.command(before);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let _ = stdin.write_all(self.input.as_deref().unwrap_or_default().as_bytes());
        child
    }
}

/// Runs a command undisturbed, with the fixed clock and seed.
pub fn run(project: &Project, args: &[&str]) -> Ran {
    let mut command = project.command(args);
    dress(&mut command, project, NOW);
    command.env("STATEDIR", project.dir());
    Ran::from(command.output().unwrap())
}

fn dress(command: &mut Command, project: &Project, now: &str) {
    on_machine(outside_of_any_session(command), project, "alpha")
        .current_dir(project.root())
        .env_remove("STATEDIR")
        .env("STATEDIR_ACTOR", "tester")
        .env("STATEDIR_NOW", now)
        .env("STATEDIR_SEED", SEED)
        .stdin(Stdio::null());
    with_git_identity(command);
}

/// What belongs to a machine and not to the project: its home, its name, and the fleet it is in.
pub const MACHINES: &str = ".machines";

pub fn on_machine<'c>(command: &'c mut Command, project: &Project, name: &str) -> &'c mut Command {
    let machines = project.root().join(MACHINES);
    let home = machines.join(name);
    command
        .env("HOME", &home)
        .env("XDG_STATE_HOME", home.join("state"))
        .env("STATEDIR_HOST", name)
        .env("STATEDIR_FLEET", format!("sqlite:{}", machines.join("fleet.db").display()))
}

/// What git needs to commit, and nothing of the machine's own settings.
pub fn with_git_identity(command: &mut Command) -> &mut Command {
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    for kind in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{kind}_NAME"), "tester");
        command.env(format!("GIT_{kind}_EMAIL"), "tester@example.org");
        command.env(format!("GIT_{kind}_DATE"), NOW);
    }
    command
}

/// A state with four steps in different places of their lives, and something in every file.
///
/// In the layout `classic` a change has more files to write: it keeps copies of what follows.
pub fn busy(project: &Project) {
    let ok = |args: &[&str]| {
        let ran = run(project, args);
        assert_eq!(ran.code, 0, "{args:?} {}{}", ran.stdout, ran.stderr);
    };
    ok(&["init", "--goal", "Compare three vector databases", "--template", "classic"]);
    for title in ["Collect", "Measure", "Compare", "Report"] {
        ok(&["step", "add", title]);
    }
    ok(&["step", "start", "1"]);
    ok(&["step", "start", "2"]);
    ok(&["step", "fail", "2", "--error", "timeout"]);
    ok(&["directive", "add", "prefer fast tools"]);
    ok(&["var", "set", "notes.list", "[1]"]);
    ok(&["history", "add", "Asked", "answer=EU"]);
}

/// The same with a place for what belongs to the machine.
pub fn busy_on_a_machine(project: &Project) {
    fs::create_dir_all(project.root().join(MACHINES)).unwrap();
    busy(project);
}

fn busy_then(more: &'static [&'static [&'static str]]) -> impl Fn(&Project) + Send + Sync {
    move |project| {
        busy(project);
        for args in more {
            assert_eq!(run(project, args).code, 0, "{args:?}");
        }
    }
}

/// A step whose end waits for a person, and one that was built on another.
fn gated(project: &Project) {
    busy(project);
    let gates = "gates: [{name: look, step: Collect, to: COMPLETED, reject: [{reset: Measure}]}]";
    let own = match project.path("workflow.yaml").exists() {
        true => project.read("workflow.yaml").replace("gates: []", gates),
        false => format!("version: 1\n{gates}\n"),
    };
    project.write("workflow.yaml", own);
    for args in [
        &["step", "set", "1", "--depends-on", "2"][..],
        &["step", "retry", "2", "--note", "with more time"],
        &["step", "done", "2"],
    ] {
        assert_eq!(run(project, args).code, 0, "{args:?}");
    }
    let asked = run(project, &["step", "done", "1", "--output", "rows=42", "--cost", "0.02"]);
    assert_eq!(asked.code, 1, "{}{}", asked.stdout, asked.stderr);
}

/// A checkpoint, and changes since.
fn marked(project: &Project) {
    busy(project);
    for args in [&["checkpoint", "create", "one"][..], &["step", "done", "1"]] {
        assert_eq!(run(project, args).code, 0, "{args:?}");
    }
    project.edit("context.md", "## ", "## Edited ");
}

fn forgotten(project: &Project) {
    marked(project);
    assert_eq!(run(project, &["checkpoint", "delete", "one"]).code, 0);
}

/// A finished execution.
pub fn finished(project: &Project) {
    busy(project);
    for args in [
        &["step", "done", "1"][..],
        &["step", "skip", "3"],
        &["step", "skip", "4"],
        &["plan", "set", "status=COMPLETED_SUCCESS"],
    ] {
        assert_eq!(run(project, args).code, 0, "{args:?}");
    }
}

/// A log of two segments, the older of which may go.
fn rotated(project: &Project) {
    nearly_full(project);
    assert_eq!(run(project, &["var", "unset", "bulk"]).code, 0);
    assert_eq!(run(project, &["var", "set", "small", "1"]).code, 0);
    let segments = fs::read_dir(project.path(".statedir/log")).unwrap().count();
    assert!(segments > 1, "the log was not rotated");
}

/// A log that the next removal of the bulk makes larger than a segment may be.
fn nearly_full(project: &Project) {
    busy(project);
    let bulk = format!("{{\"bulk\": \"{}\"}}", "x".repeat(180_000));
    fs::write(project.root().join("bulk.json"), bulk).unwrap();
    assert_eq!(run(project, &["var", "merge", "bulk.json"]).code, 0);
}

/// A command that stopped after its commit point: only the log knows of it.
fn interrupted(project: &Project) {
    busy(project);
    let before = Snapshot::take(&project.dir());
    assert_eq!(run(project, &["step", "done", "1", "--output", "rows=42"]).code, 0);
    let log = fs::read(project.path(".statedir/log/00000001.log")).unwrap();
    before.restore();
    fs::write(project.path(".statedir/log/00000001.log"), log).unwrap();
}

/// The same, with one file written and history.md half written.
fn half_applied(project: &Project) {
    interrupted(project);
    let behind = Snapshot::take(&project.dir());
    assert_eq!(run(project, &["var", "set", "x", "1"]).code, 0);
    let (plan, history) = (project.read("plan.md"), project.read("history.md"));
    behind.restore();
    let old = project.read("history.md").len();
    project.write("plan.md", plan);
    let half = (old + history.len()) / 2;
    let mut file = fs::OpenOptions::new().append(true).open(project.path("history.md")).unwrap();
    file.write_all(&history.as_bytes()[old..half]).unwrap();
}

/// A record of which only the first part reached the log.
fn torn_log(project: &Project) {
    busy(project);
    let path = project.path(".statedir/log/00000001.log");
    let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(b"0123456789abcdef {\"id\":\"half a rec").unwrap();
}

fn edited(project: &Project) {
    busy(project);
    project.edit("plan.md", "Measure", "Measure twice");
    let mut file = fs::OpenOptions::new().append(true).open(project.path("history.md")).unwrap();
    file.write_all(b"\nA line by hand.\n").unwrap();
}

fn cloned(project: &Project) {
    busy(project);
    fs::remove_dir_all(project.path(".statedir")).unwrap();
}

/// A history.md that is longer than the log, so that a size limit cuts it and not the log.
pub fn long_history(project: &Project) {
    busy(project);
    let mut file = fs::OpenOptions::new().append(true).open(project.path("history.md")).unwrap();
    file.write_all("Some prose.\n".repeat(4000).as_bytes()).unwrap();
    fs::remove_dir_all(project.path(".statedir")).unwrap();
    assert_eq!(run(project, &["var", "set", "x", "1"]).code, 0);
}

/// Something that `check --fix` repairs.
fn inconsistent(project: &Project) {
    busy(project);
    project.edit("variables.json", "\"total_steps\": 4", "\"total_steps\": 9");
}

/// A log that came with a clone, in its place or set aside by a change.
fn from_elsewhere(project: &Project, is_used: bool) {
    busy(project);
    let elsewhere = project.path(".statedir.copy");
    copy_tree(&project.path(".statedir"), &elsewhere);
    fs::remove_dir_all(project.path(".statedir")).unwrap();
    fs::rename(elsewhere, project.path(".statedir")).unwrap();
    git(project, &["init", "--quiet"]);
    git(project, &["add", "--force", "workspace/state/.statedir"]);
    if is_used {
        assert_eq!(run(project, &["step", "start", "3"]).code, 0);
        assert!(project.path(".statedir.untrusted-1").is_dir(), "the log was not set aside");
    }
}

/// The plan of another program.
fn product(project: &Project) {
    let plan = r#"{"project": "P", "branchName": "b", "description": "d", "userStories": [
        {"id": "US-1", "title": "One", "acceptanceCriteria": ["x"], "passes": true},
        {"id": "US-2", "title": "Two", "acceptanceCriteria": ["y"], "passes": false}]}"#;
    fs::write(project.root().join("prd.json"), plan).unwrap();
}

pub fn git(project: &Project, args: &[&str]) {
    let mut command = Command::new("git");
    command.args(args).current_dir(project.root());
    let done = with_git_identity(&mut command).output().unwrap();
    assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// Every mutating command, and every recovery that a command begins with.
pub fn all() -> Vec<Scene> {
    let patch = r#"[{"op":"add","path":"/notes/list/-","value":7}]"#;
    let changes = r#"[{"op":"step.done","step":1},{"op":"var.set","path":"a.b","value":1},
        {"op":"history.add","title":"Batch"},{"op":"context.add","text":"found"},
        {"op":"constraint.set","name":"priority","value":"cost_efficiency"}]"#;
    let done = ["step", "done", "1", "--output", "rows=42", "--cost", "0.02"];
    let document = r#"{"plan":{"goal":"Imported","steps":[{"title":"One"},{"title":"Two"}]},
        "variables":{"a":[1]}}"#;
    vec![
        Scene::new("init", &["init", "--goal", "Start"], |_| ()),
        Scene::new("init --ticket", &["init", "--template", "ticket", "--ticket", "#7"], |_| ())
            .in_directory("docs/plan/tickets/7"),
        Scene::new("plan set", &["plan", "set", "goal=Another", "owner=ada"], busy),
        Scene::new("step add", &["step", "add", "Between", "--after", "2"], busy),
        Scene::new("step start", &["step", "start", "3"], busy),
        Scene::new("step done", &done, busy),
        Scene::new("step fail", &["step", "fail", "1", "--error", "no answer"], busy),
        Scene::new("step skip", &["step", "skip", "3"], busy),
        Scene::new("step retry", &["step", "retry", "2"], busy),
        Scene::new("step reset", &["step", "reset", "2"], busy),
        Scene::new("step reset --dependents", &["step", "reset", "2", "--dependents"], gated),
        Scene::new("step reset --fresh", &["step", "reset", "2", "--fresh"], busy),
        Scene::new("step retry --note", &["step", "retry", "2", "--note", "slower"], busy),
        Scene::new("step move", &["step", "move", "1", "FAILED", "--error", "no answer"], busy),
        Scene::new("review approve", &["--actor", "ada", "review", "approve", "r1"], gated),
        Scene::new("review reject", &["--actor", "ada", "review", "reject", "r1"], gated),
        Scene::new("turn add", &["turn", "add", "--user", "Thanks, that is perfect!"], busy),
        Scene::new("pause", &["pause", "--why", "lunch"], busy),
        Scene::new("resume", &["resume"], busy_then(&[&["pause", "--why", "lunch"]])),
        Scene::new("step set", &["step", "set", "4", "title=Write", "--tool", "Write"], busy),
        Scene::new("step remove", &["step", "remove", "3"], busy),
        Scene::new("step next --claim", &["step", "next", "--claim"], busy),
        Scene::new("context add", &["context", "add", "It works"], busy),
        Scene::new("context set", &["context", "set", "--section", "Key Findings", "New"], busy),
        Scene::new("var set", &["var", "set", "a.b.c", "[1,2]"], busy),
        Scene::new("var unset", &["var", "unset", "notes"], busy),
        Scene::new("var append", &["var", "append", "notes.list", "2"], busy),
        Scene::new("var merge", &["var", "merge", "-"], busy).with_input(r#"{"m":{"n":1}}"#),
        Scene::new("var patch", &["var", "patch", "-"], busy).with_input(patch),
        Scene::new("history add", &["history", "add", "Told", "to=ada"], busy),
        Scene::new("constraint set", &["constraint", "set", "priority", "cost_efficiency"], busy),
        Scene::new("directive add", &["directive", "add", "be brief"], busy),
        Scene::new("directive remove", &["directive", "remove", "1"], busy),
        Scene::new("apply", &["apply", "-"], busy).with_input(changes),
        Scene::new("check --fix", &["check", "--fix"], inconsistent),
        Scene::new("checkpoint create", &["checkpoint", "create", "two", "-m", "x"], marked),
        Scene::new("checkpoint restore", &["checkpoint", "restore", "one", "--rewind"], marked),
        Scene::new("checkpoint delete", &["checkpoint", "delete", "one"], marked),
        Scene::new("undo of a delete", &["undo"], forgotten),
        Scene::new("undo", &["undo"], busy_then(&[&["step", "done", "1"]])),
        Scene::new("redo", &["redo"], busy_then(&[&["step", "done", "1"], &["undo"]])),
        Scene::new("gc", &["gc", "--older-than", "1d"], rotated).at("2027-01-01T00:00:00Z"),
        Scene::new(
            "step take",
            &["--actor", "ada", "step", "take", "1", "--force", "--why", "gone"],
            busy,
        ),
        Scene::new("step reorder", &["step", "reorder", "4", "--before", "3"], busy),
        Scene::new("constraint unset", &["constraint", "unset", "priority"], busy),
        Scene::new("rule add", &["rule", "add", "If cost > 1 -> pause"], busy),
        Scene::new("rule remove", &["rule", "remove", "1"], busy),
        Scene::new("event emit", &["event", "emit", "cost", "amount=0.12"], busy),
        Scene::new("review open", &["review", "open", "Is that enough?"], busy),
        Scene::new("restore", &["restore", "@-2"], busy),
        Scene::new("import", &["import", "-"], |_| ()).with_input(document),
        Scene::new("import --from", &["import", "--from", "ralph", "prd.json"], product),
        Scene::new("import --replace", &["import", "--replace", "-"], busy).with_input(document),
        Scene::new("migrate", &["migrate"], |_| ()).on_fixture("older-layout"),
        Scene::new("trust", &["trust"], |project| from_elsewhere(project, false))
            .of_one_process()
            .moving_directories(),
        Scene::new("trust of one aside", &["trust"], |project| from_elsewhere(project, true))
            .of_one_process()
            .moving_directories(),
        Scene::new("rotation", &["var", "unset", "bulk"], nearly_full),
        Scene::new("recovery", &["var", "set", "x", "1"], interrupted),
        Scene::new("recovery of a half", &["step", "start", "3"], half_applied),
        Scene::new("recovery of a torn log", &["step", "start", "3"], torn_log),
        Scene::new("capture of an edit", &["step", "start", "3"], edited),
        Scene::new("adoption", &["step", "start", "3"], cloned),
    ]
}
