//! A directory with a hostile clone, a home, and files outside that no command may touch.

use std::{
    collections::BTreeMap,
    fs,
    io::Write as _,
    os::unix::{
        fs::{MetadataExt as _, symlink},
        process::{CommandExt as _, ExitStatusExt as _},
    },
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
    time::{Duration, Instant, SystemTime},
};

use serde_json::json;
use tempfile::TempDir;

use super::{
    links::Links,
    trace::{self, Action},
};
use crate::{needs, program};

/// The only address that a command may listen on.
const LOOPBACK: &str = "127.0.0.1";

/// How long a command may take.
const TIME_LIMIT: Duration = Duration::from_secs(10);
/// How long a command runs that ends only on a signal.
const SHORT_RUN: Duration = Duration::from_millis(600);
const SECRET: &str = "precious\n";
/// The folders that are restored before every command.
const CARRIED: [&str; 3] = ["home", "outside", "clone"];

/// How the repository came to the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// By `git clone`, with `.statedir/` under version control.
    Clone,
    /// Unpacked or copied: git does not track `.statedir/`.
    Copy,
}

/// One place in the file system.
pub struct Ground {
    _root: TempDir,
    place: PathBuf,
    /// A copy of what is at the place.
    kept: TempDir,
    before: Prints,
}

/// A kind, a mode, a time and the bytes, by path.
type Prints = BTreeMap<PathBuf, (u32, i64, i64, Vec<u8>)>;

/// How a command ended, and what it did.
pub struct Finish {
    pub code: Option<i32>,
    pub output: String,
    pub late: bool,
    pub actions: Vec<Action>,
}

/// What is run.
#[derive(Clone, Debug, Default)]
pub struct Act {
    pub args: Vec<String>,
    pub input: Vec<u8>,
    /// Places that it is documented to write, relative to the clone.
    pub writes: Vec<String>,
    /// Whether it runs until it gets a signal.
    pub endless: bool,
}

impl Act {
    pub fn new(args: &[&str]) -> Self {
        Self { args: args.iter().map(ToString::to_string).collect(), ..Self::default() }
    }

    pub fn hook(event: &serde_json::Value) -> Self {
        Self { input: event.to_string().into_bytes(), ..Self::new(&["hook"]) }
    }
}

impl Ground {
    /// Makes a clone of a state in use that a stranger has changed.
    pub fn new(carrier: Carrier, spoil: impl FnOnce(&Ground)) -> Self {
        let root = needs::directory_in_memory();
        let place = root.path().canonicalize().unwrap();
        let kept = needs::directory_in_memory();
        let mut ground = Self { _root: root, place, kept, before: Prints::new() };
        ground.lay_out();
        copy(state_in_use(), &ground.clone_dir());
        ground.put(&ground.at("precious.txt"), SECRET);
        ground.put(&ground.at("precious/kept.txt"), SECRET);
        match carrier {
            Carrier::Clone => {
                spoil(&ground);
                ground.commit(&["."]);
                ground.clone();
            }
            Carrier::Copy => {
                ground.commit(&[".", ":!*.statedir*"]);
                spoil(&ground);
            }
        }
        ground.before = ground.prints();
        for name in CARRIED {
            copy(&ground.place.join(name), &ground.kept.path().join(name));
        }
        ground
    }

    /// The directory that holds everything.
    pub fn place(&self) -> &Path {
        &self.place
    }

    pub fn clone_dir(&self) -> PathBuf {
        self.place.join("clone")
    }

    /// A path in the clone.
    pub fn at(&self, path: &str) -> PathBuf {
        self.clone_dir().join(path)
    }

    pub fn state(&self) -> PathBuf {
        self.at("workspace/state")
    }

    /// A path in the store's private directory.
    pub fn private(&self, path: &str) -> PathBuf {
        self.state().join(".statedir").join(path)
    }

    /// A file outside the clone.
    pub fn victim(&self) -> PathBuf {
        self.place.join("outside/victim")
    }

    /// A directory outside the clone.
    pub fn victims(&self) -> PathBuf {
        self.place.join("outside/victims")
    }

    /// A program that a hostile clone tries to start.
    pub fn program(&self) -> PathBuf {
        self.place.join("outside/program")
    }

    /// Puts a link where something else may be now.
    pub fn link(&self, at: &Path, target: &Path) {
        clear(at);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        symlink(target, at).unwrap();
    }

    /// Puts a file where something else may be now.
    pub fn put(&self, at: &Path, bytes: impl AsRef<[u8]>) {
        clear(at);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        fs::write(at, bytes).unwrap();
    }

    fn lay_out(&self) {
        for dir in ["home", "tmp", "traces", "outside/victims/inner"] {
            fs::create_dir_all(self.place.join(dir)).unwrap();
        }
        let config = "[user]\nname = person\nemail = person@example.org\n[gc]\nauto = 0\n";
        self.put(&self.place.join("home/.gitconfig"), config);
        self.put(&self.victim(), SECRET);
        self.put(&self.program(), "#!/bin/sh\n: > \"${0%/*}/ran\"\n");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(self.program(), mode).unwrap();
        // Names that the store, the hooks and the collection know, all of them old.
        let mut names: Vec<String> = (0..40).map(|n| format!("{n:08x}.json")).collect();
        names.extend((1..4).map(|n| format!("{n:08}.log")));
        names.extend((1..4).map(|n| format!("{n:032x}")));
        names.extend(["00000001-one", "inner/file", "plan.md", "settings.json"].map(str::to_owned));
        let old = SystemTime::now() - Duration::from_secs(400 * 86_400);
        for name in names {
            let path = self.victims().join(name);
            self.put(&path, SECRET);
            fs::File::options().append(true).open(path).unwrap().set_modified(old).unwrap();
        }
    }

    /// Makes the project a repository with one commit.
    fn commit(&self, paths: &[&str]) {
        self.git(&["init", "--quiet", "--template=", "--initial-branch=main"]);
        self.git(&[&["add", "--force", "--all", "--"], paths].concat());
        self.git(&["commit", "--quiet", "--message=a state"]);
    }

    /// Puts a clone of the repository in its place.
    fn clone(&self) {
        let author = self.place.join("author");
        fs::rename(self.clone_dir(), &author).unwrap();
        fs::create_dir(self.clone_dir()).unwrap();
        self.git(&["clone", "--quiet", "--template=", "../author", "."]);
        fs::remove_dir_all(author).unwrap();
    }

    fn git(&self, args: &[&str]) {
        let output = git_command(&self.place).current_dir(self.clone_dir()).args(args).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{args:?} {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Restores everything, so that every command finds the clone as it came.
    pub fn again(&self) -> &Self {
        for name in CARRIED {
            clear(&self.place.join(name));
            copy(&self.kept.path().join(name), &self.place.join(name));
        }
        for entry in fs::read_dir(&self.place).unwrap().flatten() {
            if entry.file_name().to_string_lossy().starts_with("clone-") {
                clear(&entry.path());
            }
        }
        self
    }

    fn command(&self, words: &[String]) -> Command {
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).current_dir(self.clone_dir()).process_group(0);
        for name in ["STATEDIR", "CLAUDE_PROJECT_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
            command.env_remove(name);
        }
        command
            .env("STATEDIR_ACTOR", "tester")
            .env("HOME", self.place.join("home"))
            .env("TMPDIR", self.place.join("tmp"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .stdin(Stdio::piped())
            .stdout(fs::File::create(self.place.join("traces/said")).unwrap())
            .stderr(fs::File::options().append(true).open(self.place.join("traces/said")).unwrap());
        command
    }

    /// Runs a command of statedir under the tracer.
    pub fn run(&self, act: &Act) -> Finish {
        let own = program::name().to_owned();
        let words: Vec<String> = [own].into_iter().chain(act.args.iter().cloned()).collect();
        self.trace(&words, &act.input, act.endless)
    }

    /// Runs any program under the tracer.
    pub fn trace(&self, words: &[String], input: &[u8], endless: bool) -> Finish {
        let links = Links::below(&self.place);
        let prefix = self.place.join("traces/trace");
        for entry in fs::read_dir(self.place.join("traces")).unwrap().flatten() {
            fs::remove_file(entry.path()).unwrap();
        }
        let words = [trace::words(&prefix), words.to_vec()].concat();
        let mut child = self.command(&words).spawn().unwrap();
        // A command that refuses early does not read its input.
        let mut stdin = child.stdin.take().unwrap();
        let _ = stdin.write_all(input);
        drop(stdin);
        let started = Instant::now();
        let group = rustix::process::Pid::from_child(&child);
        let bound = if endless { SHORT_RUN } else { TIME_LIMIT };
        let mut is_running = true;
        while is_running && started.elapsed() <= bound {
            std::thread::sleep(Duration::from_millis(2));
            is_running = child.try_wait().unwrap().is_none();
        }
        if is_running {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let late = is_running && !endless;
        let status = child.wait().unwrap();
        // strace dies of the signal that its command died of.
        let killed = status.signal().map(|signal| 128 + signal);
        let code = if endless { Some(0) } else { status.code().or(killed) };
        let printed = fs::read(self.place.join("traces/said")).unwrap();
        let actions = trace::read(&prefix, &self.clone_dir(), links);
        Finish { code, output: String::from_utf8_lossy(&printed).into_owned(), late, actions }
    }

    /// Runs a command; returns everything that it should not have done.
    pub fn harm(&self, act: &Act) -> Vec<String> {
        let finish = self.run(act);
        let mut harm = self.forbidden(&finish.actions, &act.writes);
        harm.extend(self.damage());
        if finish.late {
            harm.push("did not end in time".to_owned());
        } else if finish.code.is_none_or(|code| code >= 100) {
            harm.push(format!("ended with {:?}", finish.code));
        }
        if !harm.is_empty() {
            harm.push(format!("it said: {:.600}", finish.output));
        }
        harm
    }

    /// The actions that are forbidden.
    pub fn forbidden(&self, actions: &[Action], writes: &[String]) -> Vec<String> {
        let own = program::path();
        let is_git = |path: &Path| {
            path.file_name().is_some_and(|name| name == "git" || name == "git-maintenance")
                && !path.starts_with(&self.place)
        };
        let mut places = vec![self.state(), self.at(".git"), self.place.join("tmp")];
        places.push(self.place.join("home/.local/state/statedir"));
        places.extend(["/dev/null", "/dev/tty"].map(PathBuf::from));
        let up = Path::new("..");
        let documented: Vec<PathBuf> = writes
            .iter()
            .map(|path| match Path::new(path).strip_prefix(up) {
                Ok(beside) => self.place.join(beside),
                Err(_) => self.at(path),
            })
            .collect();
        // A file or a folder is made beside its place, under a name that says so.
        let is_beside = |path: &Path, file: &PathBuf| {
            let names = (path.file_name(), file.file_name());
            path.parent() == file.parent()
                && matches!(names, (Some(new), Some(old))
                    if new.to_string_lossy().contains(&*old.to_string_lossy()))
        };
        let prepares =
            |path: &Path, file: &PathBuf| path.ancestors().any(|path| is_beside(path, file));
        let may_write = |path: &Path| {
            places.iter().chain(&documented).any(|place| path.starts_with(place))
                || documented.iter().any(|file| prepares(path, file))
        };
        let mut harm = std::collections::BTreeSet::new();
        for action in actions {
            match action {
                Action::Start(program) if program != own && !is_git(program) => {
                    harm.insert(format!("started {}", program.display()));
                }
                Action::Change { call, path } if !may_write(path) => {
                    harm.insert(format!("{call} of {}", path.display()));
                }
                Action::Read { program, path }
                    if path.starts_with(self.place.join("outside")) && !is_git(program) =>
                {
                    harm.insert(format!("read {}", path.display()));
                }
                // Listening on the loopback address is allowed.
                Action::Listen(address)
                    if !address.contains(LOOPBACK) || !writes.iter().any(|at| at == LOOPBACK) =>
                {
                    harm.insert(format!("listened at {address}"));
                }
                Action::Connect(address) => _ = harm.insert(format!("connected to {address}")),
                _ => {}
            }
        }
        harm.into_iter().collect()
    }

    /// What has changed outside the clone.
    pub fn damage(&self) -> Vec<String> {
        let (before, after) = (&self.before, self.prints());
        let paths: std::collections::BTreeSet<_> = before.keys().chain(after.keys()).collect();
        paths
            .into_iter()
            .filter(|path| before.get(*path) != after.get(*path))
            .map(|path| format!("{} is not as it was", path.display()))
            .collect()
    }

    fn prints(&self) -> Prints {
        let mut prints = Prints::new();
        for root in ["outside", "clone/precious.txt", "clone/precious"] {
            for entry in walkdir::WalkDir::new(self.place.join(root)).into_iter().flatten() {
                let meta = entry.path().symlink_metadata().unwrap();
                let bytes = match meta.is_file() {
                    true => fs::read(entry.path()).unwrap(),
                    false => Vec::new(),
                };
                let times = (meta.mtime(), meta.mtime_nsec());
                prints.insert(entry.path().to_owned(), (meta.mode(), times.0, times.1, bytes));
            }
        }
        prints
    }
}

fn git_command(place: &Path) -> Command {
    let mut command = Command::new("git");
    command
        .args(["-c", "core.fsmonitor=false", "-c", "safe.bareRepository=explicit"])
        .current_dir(place)
        .env("HOME", place.join("home"))
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .stdin(Stdio::null());
    command
}

/// Removes what is there, whatever it is.
pub fn clear(path: &Path) {
    match path.symlink_metadata() {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path).unwrap(),
        Ok(_) => fs::remove_file(path).unwrap(),
        // Something on the way is not a directory: replace it.
        Err(_) => {
            for above in path.ancestors().skip(1) {
                match above.symlink_metadata() {
                    Ok(meta) if !meta.is_dir() => return fs::remove_file(above).unwrap(),
                    Ok(_) => return,
                    Err(_) => {}
                }
            }
        }
    }
}

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").arg(from).arg(to).output().unwrap();
    assert!(copied.status.success(), "{}", String::from_utf8_lossy(&copied.stderr));
}

/// A project with a state in use: steps in all conditions, checkpoints, a review, hooks that ran.
fn state_in_use() -> &'static Path {
    static MADE: OnceLock<TempDir> = OnceLock::new();
    MADE.get_or_init(|| {
        let project = crate::builder::Project::with_steps(5);
        let commands: [&[&str]; 11] = [
            &["step", "start", "1"],
            &["step", "done", "1", "--output", "rows=42"],
            &["checkpoint", "create", "one", "-m", "the first"],
            &["step", "start", "2"],
            &["step", "fail", "2", "--error", "no answer"],
            &["checkpoint", "create", "two"],
            &["checkpoint", "delete", "two"],
            &["directive", "add", "be brief"],
            &["context", "add", "It works"],
            &["turn", "add", "--user", "Go on", "--response", "Done"],
            &["review", "open", "Is it good?"],
        ];
        for args in commands {
            project.ok(args);
        }
        for (name, more) in super::acts::EVENTS {
            let mut event = super::acts::event(name, more, project.root());
            event["session_id"] = json!("3f2a9c1e-77aa-4c1d-9b1f-001122334455");
            project.ok_with_input(&["hook"], &event.to_string());
        }
        // One session continues: its memory is there.
        let start = super::acts::event("SessionStart", "{}", project.root());
        project.ok_with_input(&["hook"], &start.to_string());
        let kept = needs::directory_in_memory();
        copy(&project.root().join("workspace"), &kept.path().join("workspace"));
        kept
    })
    .path()
}
