//! Commands that also write outside the state: to git, to a client's settings, to somebody's checklist.
//!
//! No single record commits all of that, so there are moments in between. What holds: no file is
//! torn, the state is readable and whole, nothing that was acknowledged is missing, and repeating the
//! command leads to where it would have led, with nothing left over. What `setup` did in part, it can
//! take back.

use std::{collections::BTreeMap, fs, path::Path, sync::OnceLock};

use serde_json::Value;

use super::{
    Finish, examine,
    scene::{self, Scene, git, run},
    snapshot::Snapshot,
};
use crate::builder::Project;

/// Reads what there is in another system.
type Reader = fn(&Project) -> Result<Value, String>;

/// A command, and what may differ between two runs of it.
pub struct Outside {
    pub scene: Scene,
    /// What repeating it says when it had been done already.
    done_already: &'static str,
    /// What takes it back, wherever it was disturbed.
    taken_back_by: &'static [&'static str],
    /// What was there outside the state before it.
    before: OnceLock<BTreeMap<String, Vec<u8>>>,
    /// Done undisturbed, these files outside the state are there.
    made: OnceLock<BTreeMap<String, Vec<u8>>>,
    /// What there is in another system, and what an undisturbed run leaves there.
    pub elsewhere: Option<Reader>,
    left_elsewhere: OnceLock<Value>,
}

/// A busy state in a repository, with everything committed.
fn committed(project: &Project) {
    git(project, &["init", "--quiet", "--initial-branch=main"]);
    scene::busy(project);
    assert_eq!(run(project, &["git", "install"]).code, 0);
    git(project, &["add", "-A"]);
    git(project, &["commit", "--quiet", "-m", "a state"]);
}

fn changed(project: &Project) {
    committed(project);
    assert_eq!(run(project, &["step", "done", "1"]).code, 0);
}

/// Two branches that both went on, in the middle of merging them without the driver.
fn unmerged(project: &Project) {
    committed(project);
    git(project, &["config", "--unset", "merge.statedir.driver"]);
    git(project, &["checkout", "--quiet", "-b", "other"]);
    assert_eq!(run(project, &["step", "done", "1"]).code, 0);
    git(project, &["commit", "--quiet", "-a", "-m", "theirs"]);
    git(project, &["checkout", "--quiet", "main"]);
    assert_eq!(run(project, &["step", "fail", "1", "--error", "no"]).code, 0);
    git(project, &["commit", "--quiet", "-a", "-m", "ours"]);
    let mut merge = std::process::Command::new("git");
    merge.args(["merge", "--quiet", "other"]).current_dir(project.root());
    scene::with_git_identity(&mut merge).output().unwrap();
}

/// A worktree for each of these steps, each with work in it that is committed and done.
fn queued(project: &Project, steps: &[&str]) {
    committed(project);
    for step in steps {
        let (name, state) = (format!("tree-{step}"), format!("tree-{step}/workspace/state"));
        let made = run(project, &["worktree", "add", &name, "--step", step, "--path", &name]);
        assert_eq!(made.code, 0, "{}", made.stderr);
        fs::write(project.root().join(&name).join(format!("{name}.txt")), "work").unwrap();
        git(project, &["-C", &name, "add", &format!("{name}.txt")]);
        git(project, &["-C", &name, "commit", "--quiet", "-m", "the work"]);
        let done = run(project, &["-C", &state, "step", "done", step]);
        assert_eq!(done.code, 0, "{}", done.stderr);
    }
}

/// Two finished executions in the archive, long ago.
fn archived(project: &Project) {
    for goal in ["One", "Two"] {
        for args in [&["init", "--goal", goal][..], &["archive", "--force"]] {
            assert_eq!(run(project, args).code, 0, "{args:?}");
        }
    }
    scene::finished(project);
    for args in [&["archive"][..], &["init", "--goal", "Now"]] {
        assert_eq!(run(project, args).code, 0, "{args:?}");
    }
}

/// A checklist of somebody else's.
fn checklist(project: &Project) {
    fs::write(project.root().join("TODO.md"), "# Todo\n\n- [ ] Collect\n- [x] Measure\n").unwrap();
}

fn lost_files(project: &Project) {
    changed(project);
    git(project, &["commit", "--quiet", "-a", "-m", "more"]);
    fs::remove_dir_all(project.path(".statedir")).unwrap();
    fs::remove_file(project.path("plan.md")).unwrap();
}

/// Every command that writes elsewhere as well.
pub fn all() -> Vec<Outside> {
    let scene = Outside::new;
    let session = r#"{"hook_event_name": "PreCompact", "session_id": "s1", "trigger": "auto"}"#;
    let tasks = r#"{"hook_event_name": "PostToolUse", "session_id": "s1", "tool_name": "TodoWrite",
        "tool_input": {"todos": [{"content": "a", "status": "in_progress"}]}}"#;
    let mut all = vec![
        scene("setup", &["setup", "claude"], scene::busy, ""),
        scene("git install", &["git", "install"], changed, ""),
        scene("commit", &["commit", "-m", "as it is"], changed, "nothing to commit"),
        scene("merge", &["merge", "--resolve"], unmerged, ""),
        scene("merge --take", &["merge", "--take", "theirs", "--all"], in_conflict, "no conflict"),
        scene("worktree add", &["worktree", "add", "side", "--path", "tree"], committed, "already"),
        scene(
            "worktree add --step",
            &["worktree", "add", "side", "--step", "3", "--path", "tree"],
            committed,
            "already",
        ),
        scene("recover --from-git", &["recover", "--from-git"], lost_files, ""),
        scene(
            "recover --apply",
            &["recover", "--apply", "--decide", "retry_task", "--step", "2"],
            scene::busy,
            "not possible",
        ),
        scene("adopt", &["adopt"], checklist, "already"),
        scene(
            "worktree finish",
            &["worktree", "finish", "tree-3"],
            |project| queued(project, &["3"]),
            "no other worktree",
        ),
        scene(
            "worktree finish --abandon",
            &["worktree", "finish", "tree-3", "--abandon"],
            |project| queued(project, &["3"]),
            "no other worktree",
        ),
        scene("git uninstall", &["git", "uninstall"], committed, ""),
        scene("history accept", &["history", "accept", "--why", "x"], gone_back, ""),
        scene("archive restore", &["archive", "restore", "exec"], put_away, "no archived state"),
        scene("adopt --private", &["adopt", "--private"], checklist, "already"),
        scene("report", &["report", "--output", "report.html"], scene::busy, ""),
        scene(
            "worktree finish --next",
            &["worktree", "finish", "--next"],
            |project| queued(project, &["3"]),
            "no worktree waits to be merged",
        ),
        scene(
            "worktree finish --all",
            &["worktree", "finish", "--all"],
            |project| queued(project, &["3", "4"]),
            "no worktree waits to be merged",
        ),
    ];
    let prune = ["archive", "prune", "--older-than", "30d", "--yes"];
    let mut prune = scene("archive prune", &prune, archived, "");
    prune.scene = prune.scene.at("2027-01-01T00:00:00Z");
    all.push(prune);
    let mut hook = scene("hook", &["hook"], scene::busy, "");
    hook.scene = hook.scene.with_input(session);
    all.push(hook);
    let mut list = scene("hook with a list of tasks", &["hook"], scene::busy, "");
    list.scene = list.scene.with_input(tasks);
    all.push(list);
    let remove = &["setup", "claude", "--remove"];
    all[0].taken_back_by = remove;
    let mut beside = scene("setup beside an empty folder", &["setup", "claude"], own_folder, "");
    beside.taken_back_by = remove;
    let mut without = scene("setup --remove", remove, set_up, "");
    without.taken_back_by = remove;
    let mut codex = scene("setup codex", &["setup", "codex"], scene::busy, "");
    codex.taken_back_by = &["setup", "codex", "--remove"];
    all.extend([beside, without, codex]);
    all.extend(super::fleet::all());
    all
}

/// An earlier version of the files that git went back to.
fn gone_back(project: &Project) {
    changed(project);
    git(project, &["commit", "--quiet", "-a", "-m", "more"]);
    git(project, &["checkout", "--quiet", "HEAD~1", "--", "workspace"]);
}

/// A finished execution in the archive, and no state.
fn put_away(project: &Project) {
    scene::finished(project);
    assert_eq!(run(project, &["archive"]).code, 0);
}

/// Fields that a merge left in conflict.
fn in_conflict(project: &Project) {
    scene::busy(project);
    let marked =
        "<<<<<<< ours \"FAILED\" ||||||| base \"RUNNING\" ======= theirs \"COMPLETED\" >>>>>>>";
    project.edit("plan.md", "- **status**: RUNNING", &format!("- **status**: {marked}"));
}

/// A folder that is the user's, though nothing is in it.
fn own_folder(project: &Project) {
    scene::busy(project);
    fs::create_dir_all(project.root().join(".claude/skills")).unwrap();
}

fn set_up(project: &Project) {
    scene::busy(project);
    assert_eq!(run(project, &["setup", "claude"]).code, 0);
}

impl Outside {
    /// A command, and what repeating it says when it had been done already.
    pub fn new(
        name: &'static str,
        args: &[&str],
        prepare: fn(&Project),
        done_already: &'static str,
    ) -> Self {
        Self {
            scene: Scene::new(name, args, prepare).of_one_process(),
            done_already,
            taken_back_by: &[],
            before: OnceLock::new(),
            made: OnceLock::new(),
            elsewhere: None,
            left_elsewhere: OnceLock::new(),
        }
    }

    /// What an undisturbed run leaves in the other system is there.
    fn is_elsewhere(&self, what: &str) -> Result<(), String> {
        let Some(elsewhere) = self.elsewhere else { return Ok(()) };
        let (found, wanted) = (elsewhere(&self.scene.project)?, &self.left_elsewhere);
        match wanted.get() {
            Some(wanted) if *wanted != found => Err(format!("{what}: {found} elsewhere")),
            _ => Ok(()),
        }
    }

    /// What an undisturbed run leaves outside the state.
    pub fn learn(&self) {
        self.scene.reset();
        let project = &self.scene.project;
        let done = self.scene.finish(&[]);
        assert_eq!(done.code, Some(0), "{}: {}", self.scene.name, done.text());
        self.made.set(files(project.root())).ok().unwrap();
        if let Some(elsewhere) = self.elsewhere {
            self.left_elsewhere.set(elsewhere(project).unwrap()).ok().unwrap();
        }
        self.scene.reset();
        if !self.taken_back_by.is_empty() && self.scene.args != self.taken_back_by {
            self.before.set(files(project.root())).ok().unwrap();
        }
        self.scene.reset();
    }

    /// What is wrong after a disturbed run.
    pub fn examine(&self, finish: &Finish) -> Result<(), String> {
        let project = &self.scene.project;
        if finish.text().contains("panicked at") {
            return Err("it panicked".to_owned());
        }
        let made = self.made.get().expect("learnt");
        if finish.code == Some(0) {
            same_names(made, &files(project.root()), "acknowledged, but not done")?;
            self.is_elsewhere("acknowledged, but not done")?;
        }
        // Before it, the state is in conflict.
        let is_merge = self.scene.args[0] == "merge";
        if project.path("plan.md").exists() {
            let usable = examine::state(project).and_then(|_| examine::verify(project));
            usable.or_else(|why| if is_merge { Ok(()) } else { Err(why) })?;
        }
        if let Some(before) = self.before.get() {
            let disturbed = Snapshot::take(project.root());
            let taken = run(project, self.taken_back_by);
            if taken.code != 0 {
                return Err(format!("it cannot be taken back: {}", taken.stderr));
            }
            same_names(before, &files(project.root()), "taken back, but not as before")?;
            disturbed.restore();
        }
        let again = self.scene.finish(&[]);
        let printed = again.text();
        let is_done = !self.done_already.is_empty() && printed.contains(self.done_already);
        if again.code != Some(0) && !is_done {
            return Err(format!("it cannot be repeated: {printed}"));
        }
        same_names(made, &files(project.root()), "repeated, but not done")?;
        self.is_elsewhere("repeated, but not done")
    }
}

/// The files and folders that a person or a client sees: not what git and the store keep for
/// themselves.
fn files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let walk = walkdir::WalkDir::new(root).min_depth(1).into_iter().filter_entry(|entry| {
        let name = entry.file_name();
        // What a killed command leaves of a private directory that it was making, the next takes away.
        let is_unfinished = name.to_string_lossy().starts_with(".statedir.new-");
        name != ".git" && name != ".statedir" && name != scene::MACHINES && !is_unfinished
    });
    let named = walk.filter_map(Result::ok).map(|entry| {
        let path = entry.path().strip_prefix(root).unwrap().display().to_string();
        match entry.file_type().is_dir() {
            true => (path + "/", Vec::new()),
            false => (path, fs::read(entry.path()).unwrap()),
        }
    });
    named.collect()
}

/// The same names, and outside the state with the same content: ids and times of the history differ
/// where a command was repeated.
fn same_names(
    made: &BTreeMap<String, Vec<u8>>,
    found: &BTreeMap<String, Vec<u8>>,
    what: &str,
) -> Result<(), String> {
    for (path, bytes) in made {
        let Some(now) = found.get(path) else { return Err(format!("{what}: {path} is missing")) };
        let is_state = path.contains("workspace/state/");
        // What a merge brings is told of every step that it completes, however often it was begun.
        let merges = |bytes: &[u8]| String::from_utf8_lossy(bytes).matches("merged_at").count();
        if path.ends_with("plan.md") && merges(now) != merges(bytes) {
            return Err(format!("{what}: {path} tells of {} merges", merges(now)));
        }
        if !is_state && now != bytes {
            let now = String::from_utf8_lossy(now);
            return Err(format!("{what}: {path} is {now:.300}"));
        }
    }
    match found.keys().find(|path| !made.contains_key(*path)) {
        Some(path) => Err(format!("{what}: {path} is left over")),
        None => Ok(()),
    }
}

/// The control: a folder or a file more is found out.
#[test]
fn what_is_left_over_is_found_out() {
    let (project, none) = (Project::empty(), BTreeMap::new());
    let found = |what: &str| {
        let found = same_names(&none, &files(project.root()), what);
        found.unwrap_err()
    };
    fs::create_dir_all(project.root().join(".claude")).unwrap();
    assert_eq!(found("done"), "done: .claude/ is left over");
    fs::remove_dir(project.root().join(".claude")).unwrap();
    fs::write(project.root().join(".plan.md.statedir-0.new"), "").unwrap();
    assert_eq!(found("done"), "done: .plan.md.statedir-0.new is left over");
}
