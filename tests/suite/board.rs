//! The board as a whole: in a real terminal, and without one.
#![cfg(feature = "board")]

use std::{
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use crate::{
    builder::{Project, outside_of_any_session},
    needs, program,
};

/// How long to wait on a busy machine.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// A terminal of its own, in which a shell runs a script in a project.
struct Tmux<'p> {
    project: &'p Project,
    socket: String,
}

impl<'p> Tmux<'p> {
    fn begin(project: &'p Project, name: &str, script: &str) -> Self {
        let socket = format!("statedir-{name}-{}", std::process::id());
        let tmux = Self { project, socket };
        let script = script.replace("statedir", program::name());
        let ran = tmux.run(&["new-session", "-d", "-x", "100", "-y", "30", "sh", "-c", &script]);
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        tmux
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new("tmux");
        // -u: whatever the locale of the tests is, this terminal shows everything.
        command.args(["-u", "-L", &self.socket, "-f", "/dev/null"]).args(args);
        outside_of_any_session(&mut command)
            .current_dir(self.project.root())
            .env_remove("STATEDIR")
            .env_remove("TMUX")
            .env_remove("LC_ALL")
            .env("LC_CTYPE", "C.UTF-8")
            .env("STATEDIR_ACTOR", "tester")
            .env("TERM", "xterm-256color")
            .stdin(Stdio::null());
        command.output().unwrap()
    }

    fn press(&self, keys: &[&str]) {
        let ran = self.run(&[&["send-keys"], keys].concat());
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    }

    fn screen(&self) -> String {
        let text = self.project.in_builtin_words(self.run(&["capture-pane", "-p"]).stdout);
        String::from_utf8(text).unwrap()
    }

    /// Waits until the screen holds a text.
    #[track_caller]
    fn wait_for(&self, text: &str) -> String {
        let end = Instant::now() + TIME_LIMIT;
        loop {
            let screen = self.screen();
            if screen.contains(text) {
                return screen;
            }
            assert!(Instant::now() < end, "`{text}` does not appear:\n{screen}");
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// A fact about the terminal, such as `alternate_on`.
    fn fact(&self, name: &str) -> String {
        let ran = self.run(&["display-message", "-p", &format!("#{{{name}}}")]);
        String::from_utf8(ran.stdout).unwrap().trim().to_owned()
    }

    /// Asserts that the board has left nothing in the terminal.
    #[track_caller]
    fn assert_given_back(&self) {
        let screen = self.wait_for("the shell goes on");
        assert!(!screen.contains("q quit"), "{screen}");
        let facts = ["alternate_on", "mouse_any_flag", "cursor_flag"].map(|name| self.fact(name));
        assert_eq!(facts, ["0", "0", "1"], "screen, mouse and cursor");
        assert_eq!(self.project.read_at(&self.project.root().join("after")), self.before());
    }

    /// The control: asserts that the terminal is still in the modes of the board.
    #[track_caller]
    fn assert_left_behind(&self) {
        self.wait_for("the shell goes on");
        let facts = ["alternate_on", "mouse_any_flag", "cursor_flag"].map(|name| self.fact(name));
        assert_eq!(facts, ["1", "1", "0"], "screen, mouse and cursor");
        assert_ne!(self.project.read_at(&self.project.root().join("after")), self.before());
    }

    fn before(&self) -> String {
        self.project.read_at(&self.project.root().join("before"))
    }
}

impl Drop for Tmux<'_> {
    fn drop(&mut self) {
        self.run(&["kill-server"]);
    }
}

/// Notes the settings of the terminal before and after the board.
const SCRIPT: &str =
    "stty -g > before; statedir board; stty -g > after; echo the shell goes on; sleep 600";

#[test]
fn a_person_works_in_a_real_terminal() {
    if !needs::program("tmux") {
        return;
    }
    let project = Project::with_steps(3);
    let tmux = Tmux::begin(&project, "work", SCRIPT);
    tmux.wait_for("Do part 1");
    assert_eq!(tmux.fact("alternate_on"), "1", "control: the board has a screen of its own");
    assert_eq!(tmux.fact("mouse_any_flag"), "1", "control: and the mouse");
    // What another process does appears by itself.
    project.ok(&["--actor", "agent-b", "step", "start", "2"]);
    let began = Instant::now();
    tmux.wait_for("agent-b");
    eprintln!("what an agent did was on the board after {:?}", began.elapsed());
    project.ok(&["step", "add", "Added meanwhile"]);
    tmux.wait_for("Added meanwhile");
    // So does what an editor saves.
    project.edit("plan.md", "Added meanwhile", "Saved meanwhile");
    tmux.wait_for("Saved meanwhile");
    // A step is claimed and finished by keys.
    tmux.press(&["c"]);
    tmux.wait_for("step start 1 --if-match");
    assert_eq!(project.json(&["step", "show", "1"])["step"]["status"], "RUNNING");
    tmux.press(&["d"]);
    tmux.wait_for("Enter runs it, Esc cancels");
    tmux.press(&["-l", "went well"]);
    tmux.wait_for("--note=went well");
    tmux.press(&["Enter"]);
    tmux.wait_for("1/4");
    assert_eq!(project.json(&["step", "show", "1"])["step"]["status"], "COMPLETED");
    // The board holds no lock while it waits; it may be about to release one.
    let is_free = || {
        std::thread::sleep(Duration::from_millis(50));
        project.run(&["--wait", "0s", "var", "set", "a", "1"]).code == 0
    };
    assert!((0..100).any(|_| is_free()), "the board holds the lock");
    tmux.press(&["q"]);
    tmux.assert_given_back();
}

#[test]
fn the_terminal_is_given_back_whatever_ends_the_board() {
    if !needs::program("tmux") {
        return;
    }
    for (name, signal) in [("term", "TERM"), ("int", "INT"), ("hup", "HUP")] {
        let project = Project::with_steps(1);
        let script =
            SCRIPT.replace("statedir board;", "sh -c 'echo $$ > pid; exec statedir board';");
        let tmux = Tmux::begin(&project, name, &script);
        tmux.wait_for("Do part 1");
        let pid = project.read_at(&project.root().join("pid"));
        let killed = Command::new("kill").args(["-s", signal, pid.trim()]).status().unwrap();
        assert!(killed.success());
        tmux.assert_given_back();
    }
}

#[test]
fn what_is_left_of_a_board_that_is_killed_would_be_seen() {
    if !needs::program("tmux") {
        return;
    }
    let project = Project::with_steps(1);
    let script = SCRIPT.replace("statedir board;", "sh -c 'echo $$ > pid; exec statedir board';");
    let tmux = Tmux::begin(&project, "kill", &script);
    tmux.wait_for("Do part 1");
    let pid = project.read_at(&project.root().join("pid"));
    let killed = Command::new("kill").args(["-s", "KILL", pid.trim()]).status().unwrap();
    assert!(killed.success());
    tmux.assert_left_behind();
}

/// Ends the board abnormally, as `STATEDIR_ENDS` names it: by a panic in another thread, and by an
/// abort as in a release build.
#[test]
#[ignore = "it ends the process; the next one runs it in a terminal"]
fn ends_while_it_has_the_terminal() {
    let panics = std::env::var("STATEDIR_ENDS").is_ok_and(|how| how == "panic");
    let _ = statedir::internals::with_terminal(|| {
        if panics {
            let _ = std::thread::spawn(|| panic!("the control room is on fire")).join();
        }
        std::process::abort()
    });
}

#[test]
fn the_terminal_is_restored_before_a_panic_is_reported() {
    if !needs::program("tmux") {
        return;
    }
    let own = std::env::current_exe().unwrap();
    for how in ["panic", "at once"] {
        let project = Project::with_steps(1);
        let line = format!(
            "STATEDIR_ENDS='{how}' {} --exact board::ends_while_it_has_the_terminal --ignored --nocapture;",
            own.display()
        );
        // An abort would otherwise leave a large core file.
        let script = format!("ulimit -c 0; {}", SCRIPT.replace("statedir board;", &line));
        let tmux = Tmux::begin(&project, &how.replace(' ', "-"), &script);
        match how {
            "panic" => {
                tmux.assert_given_back();
                tmux.wait_for("the control room is on fire");
            }
            _ => tmux.assert_left_behind(),
        }
    }
}

#[test]
fn the_users_editor_opens_the_step_and_the_edit_is_recorded() {
    if !needs::program("tmux") {
        return;
    }
    let project = Project::with_steps(2);
    // An editor that gets the line number and replaces text in that line.
    let script = "EDITOR='sh -c '\\''sed -i \"${1#+}s/part 2/part two/\" \"$2\"'\\'' editor' statedir board; echo the shell goes on; sleep 600";
    let tmux = Tmux::begin(&project, "edit", script);
    tmux.wait_for("Do part 2");
    tmux.press(&["j", "e"]);
    tmux.wait_for("Do part two");
    tmux.press(&["n"]);
    tmux.wait_for("What should be noted?");
    tmux.press(&["-l", "renamed it"]);
    tmux.press(&["Enter"]);
    tmux.wait_for("history add");
    tmux.press(&["q"]);
    tmux.wait_for("the shell goes on");
    let log = project.json(&["op", "log", "--limit", "2"]);
    assert_eq!(log["operations"][1]["kind"], "external", "{log}");
    assert_eq!(log["operations"][0]["kind"], "history.add", "{log}");
}

#[test]
fn several_states_below_a_directory_come_first() {
    if !needs::program("tmux") {
        return;
    }
    let project = Project::with_steps(2);
    let second = project.root().join("second/workspace/state");
    project.ok(&["-C", second.to_str().unwrap(), "init", "--goal", "Clean the attic"]);
    let tmux =
        Tmux::begin(&project, "states", "statedir board .; echo the shell goes on; sleep 600");
    tmux.wait_for("Clean the attic");
    // A new state appears, too.
    let third = project.root().join("third/workspace/state");
    project.ok(&["-C", third.to_str().unwrap(), "init", "--goal", "Paint the fence"]);
    tmux.wait_for("Paint the fence");
    tmux.press(&["/"]);
    tmux.press(&["-l", "vector"]);
    tmux.press(&["Enter", "Enter"]);
    tmux.wait_for("Do part 1");
    tmux.press(&["c"]);
    // The command names the state, so that it can be pasted anywhere.
    tmux.wait_for("statedir -C /");
    tmux.press(&["q"]);
    tmux.wait_for("the shell goes on");
}

#[test]
fn without_a_terminal_it_names_what_prints_the_same() {
    let project = Project::with_steps(1);
    for args in [&["board"][..], &["board", "."], &["board", "--json"]] {
        let ran = project.run(args);
        assert_eq!(ran.code, 2, "{args:?} {}{}", ran.stdout, ran.stderr);
        let printed = format!("{}{}", ran.stdout, ran.stderr);
        for text in ["terminal", "`statedir status`", "`statedir step list`"] {
            assert!(printed.contains(text), "{args:?} {printed}");
        }
    }
}

#[test]
fn a_dumb_terminal_is_treated_as_none() {
    if !needs::program("script") {
        return;
    }
    let project = Project::with_steps(1);
    let line = format!("{} board", program::name());
    let mut command = Command::new("script");
    command.args(["--quiet", "--return", "--command", &line, "/dev/null"]);
    let ran = outside_of_any_session(&mut command)
        .current_dir(project.root())
        .env_remove("STATEDIR")
        .env("TERM", "dumb")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&ran.stdout).contains("the board needs a terminal"));
}
