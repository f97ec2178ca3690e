//! Git runs no program that a clone or a foreign environment names.

use std::{
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

use crate::{
    builder::{Project, Ran},
    merge::repository::Repository,
};

/// A clone whose state directory also looks like a bare repository with settings of its own.
struct Clone {
    repository: Repository,
    outside: TempDir,
}

impl Clone {
    fn new() -> Option<Self> {
        let outside = tempfile::tempdir().unwrap();
        let script = outside.path().join("program");
        let canary = outside.path().join("canary");
        let text = format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\ncat\n", canary.display());
        std::fs::write(&script, text).unwrap();
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
        let origin = Repository::without_driver(2)?;
        let dir = origin.project.dir();
        for name in ["objects", "refs"] {
            std::fs::create_dir(dir.join(name)).unwrap();
            std::fs::write(dir.join(name).join("keep"), "").unwrap();
        }
        std::fs::write(dir.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        std::fs::copy(origin.project.root().join(".git/index"), dir.join("index")).unwrap();
        let script = script.display();
        let included = format!(
            "[core]\n\tfsmonitor = {script}\n\tsshCommand = {script}\n\tpager = {script}\n\
             \teditor = {script}\n[diff]\n\texternal = {script}\n[gpg]\n\tprogram = {script}\n\
             [log]\n\tshowSignature = true\n[diff \"evil\"]\n\ttextconv = {script}\n\
             \tcommand = {script}\n[filter \"evil\"]\n\tclean = {script}\n\tsmudge = {script}\n\
             [merge \"evil\"]\n\tdriver = {script}\n"
        );
        std::fs::write(dir.join("included"), included).unwrap();
        let config = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ../..\n\
                      [include]\n\tpath = included\n";
        std::fs::write(dir.join("config"), config).unwrap();
        let attributes = "* diff=evil filter=evil merge=evil\n";
        std::fs::write(origin.project.root().join(".gitattributes"), attributes).unwrap();
        origin.commit("looks like a repository");
        let clone = Repository { project: Project::empty() };
        clone.git(&["clone", "--quiet", &origin.project.root().to_string_lossy(), "."]);
        let clone = Self { repository: clone, outside };
        assert!(!clone.has_canary(), "cloning alone runs nothing");
        Some(clone)
    }

    fn program(&self) -> PathBuf {
        self.outside.path().join("program")
    }

    fn has_canary(&self) -> bool {
        self.outside.path().join("canary").exists()
    }

    fn forget_canary(&self) {
        let _ = std::fs::remove_file(self.outside.path().join("canary"));
    }

    /// An environment that makes git run the program, or use another repository.
    fn poison(&self, command: &mut Command) {
        let program = self.program();
        let setting = format!("'core.fsmonitor={}'", program.display());
        let fake = self.outside.path().join("exec");
        std::fs::create_dir_all(&fake).unwrap();
        for name in ["git-status", "git-log", "git-commit", "git-remote-https", "git-merge"] {
            let _ = std::fs::copy(&program, fake.join(name));
        }
        command
            .env("GIT_DIR", self.repository.project.dir())
            .env("GIT_WORK_TREE", self.repository.project.root())
            .env("GIT_CONFIG_COUNT", "1")
            .env("GIT_CONFIG_KEY_0", "core.fsmonitor")
            .env("GIT_CONFIG_VALUE_0", &program)
            .env("GIT_CONFIG_PARAMETERS", setting)
            .env("GIT_EXEC_PATH", fake)
            .env("GIT_TRACE", self.outside.path().join("canary"));
        for name in
            ["EXTERNAL_DIFF", "PAGER", "SSH_COMMAND", "EDITOR", "SEQUENCE_EDITOR", "ASKPASS"]
        {
            command.env(format!("GIT_{name}"), &program);
        }
    }

    /// Runs a command of statedir; fails if the planted program was run.
    fn ours(&self, poisoned: bool, args: &[&str]) -> Ran {
        let mut command = self.repository.project.command(&[args, &["--json"]].concat());
        if poisoned {
            self.poison(&mut command);
        }
        command.env("GIT_CONFIG_GLOBAL", "/dev/null");
        for (kind, word) in [("NAME", "tester"), ("EMAIL", "tester@example.org")] {
            command.env(format!("GIT_AUTHOR_{kind}"), word);
            command.env(format!("GIT_COMMITTER_{kind}"), word);
        }
        let ran = Ran::from(command.output().unwrap());
        assert!(!self.has_canary(), "{args:?} ran a program\n{}{}", ran.stdout, ran.stderr);
        ran
    }
}

/// Every command that asks git, in an order in which each has something to do.
fn run_all(clone: &Clone, poisoned: bool) {
    let tree = clone.outside.path().join("tree");
    let tree = tree.to_string_lossy();
    let ok = |args: &[&str]| {
        let ran = clone.ours(poisoned, args);
        assert_eq!(ran.code, 0, "{args:?}\n{}{}", ran.stdout, ran.stderr);
    };
    let any = |args: &[&str]| {
        clone.ours(poisoned, args);
    };
    any(&["check"]);
    any(&["check", "--fix"]);
    ok(&["scan"]);
    ok(&["step", "start", "1"]);
    ok(&["merge", "--list"]);
    ok(&["merge", "--resolve"]);
    ok(&["commit", "--dry-run"]);
    ok(&["commit"]);
    any(&["diff", "git:HEAD~1", "working"]);
    any(&["diff", "git:HEAD~1", "git:HEAD"]);
    ok(&["review-notes", "HEAD~1"]);
    any(&["recover"]);
    ok(&["git", "status"]);
    ok(&["git", "install", "--pre-commit", "--textconv"]);
    any(&["git", "pre-commit"]);
    ok(&["worktree", "add", "part", "--path", &tree]);
    ok(&["worktree", "list"]);
    ok(&["worktree", "finish", "part", "--force"]);
    std::fs::remove_file(clone.repository.project.path("context.md")).unwrap();
    std::fs::remove_dir_all(clone.repository.project.path(".statedir")).unwrap();
    ok(&["recover", "--from-git"]);
    assert!(clone.repository.project.path("context.md").exists());
    ok(&["git", "uninstall"]);
    any(&["check"]);
}

#[test]
fn a_state_directory_that_looks_like_a_repository_runs_nothing() {
    let Some(clone) = Clone::new() else { return };
    run_all(&clone, false);
    // Control: git itself, run inside, does start it.
    clone.repository.try_git_in(&clone.repository.project.dir(), &["status"]);
    assert!(clone.has_canary(), "the control does not work");
}

#[test]
fn an_environment_for_another_repository_is_not_followed() {
    let Some(clone) = Clone::new() else { return };
    run_all(&clone, true);
    let mut command = Command::new("git");
    clone.poison(&mut command);
    command.arg("status").current_dir(clone.repository.project.root()).env_remove("GIT_TRACE");
    command.env_remove("GIT_EXEC_PATH").output().unwrap();
    assert!(clone.has_canary(), "the control does not work");
    clone.forget_canary();
}

#[test]
fn attributes_that_are_a_link_are_not_written() {
    let Some(repository) = Repository::without_driver(1) else { return };
    let outside = tempfile::tempdir().unwrap();
    let target = outside.path().join("profile");
    std::fs::write(&target, "mine\n").unwrap();
    let link = repository.project.root().join(".gitattributes");
    symlink(&target, &link).unwrap();
    // Neither here nor beside the state; what a state needs is in git's own directory.
    let beside = repository.project.path(".gitattributes");
    symlink(&target, &beside).unwrap();
    let installed = repository.ours(&["git", "install"]);
    assert_eq!(installed["git"]["merge_driver"], true, "{installed}");
    repository.ours(&["git", "uninstall"]);
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "mine\n");
    assert!(link.is_symlink() && beside.is_symlink());
}

#[test]
fn a_worktree_is_not_made_behind_a_committed_link() {
    let Some(repository) = Repository::without_driver(1) else { return };
    let outside = tempfile::tempdir().unwrap();
    let link = repository.project.root().join("trees");
    symlink(outside.path(), &link).unwrap();
    repository.commit("a link");
    repository.ours_refused(1, "bad_place", &["worktree", "add", "part", "--path", "trees/part"]);
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
    // A link that the user made is followed.
    repository.git(&["rm", "--quiet", "--cached", "trees"]);
    repository.ours(&["worktree", "add", "part", "--path", "trees/part"]);
    assert!(outside.path().join("part/workspace/state/plan.md").exists());
}

#[test]
fn state_files_that_are_links_are_neither_read_nor_written() {
    let Some(repository) = Repository::without_driver(2) else { return };
    repository.on("one", &[&["history", "add", "one"], &["step", "start", "1"]]);
    repository.on("main", &[]);
    repository.on("two", &[&["history", "add", "two"], &["step", "start", "2"]]);
    assert!(!repository.merges("one"), "there is something to settle");
    let outside = tempfile::tempdir().unwrap();
    for name in ["plan.md", "variables.json", "history.md", "workflow.yaml"] {
        let (path, target) = (repository.project.path(name), outside.path().join(name));
        let kept = std::fs::read(&path).ok();
        let secret = "<<<<<<< a\nSECRET: one\n=======\nSECRET: two\n>>>>>>> b\n";
        std::fs::write(&target, secret).unwrap();
        let _ = std::fs::remove_file(&path);
        symlink(&target, &path).unwrap();
        for args in [
            ["merge", "--list"].as_slice(),
            &["merge", "--resolve", "--dry-run"],
            &["check"],
            &["recover"],
            &["commit", "--dry-run"],
            &["recover", "--from-git"],
            &["merge", "--resolve"],
        ] {
            let ran = repository.ours_in(repository.project.root(), args);
            let printed = ran.stdout + &ran.stderr;
            assert!(!printed.contains("SECRET"), "{name} {args:?}: {printed}");
            assert_eq!(std::fs::read_to_string(&target).unwrap(), secret, "{name} {args:?}");
            let now = std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
            let text = if now { std::fs::read_to_string(&path).unwrap() } else { String::new() };
            assert!(!text.contains("SECRET"), "{name} {args:?}: {text}");
        }
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
        std::fs::remove_file(&target).unwrap();
        let _ = std::fs::remove_file(&path);
        kept.into_iter().for_each(|bytes| std::fs::write(&path, bytes).unwrap());
    }
}

/// The lines of a source file that start git, without its tests.
fn starts_git(source: &str) -> bool {
    let source = source.split("#[cfg(test)]").next().unwrap_or_default();
    let dense: String = source.chars().filter(|c| !c.is_whitespace()).collect();
    dense.contains("Command::new(\"git\"") || dense.contains("exec(\"git")
}

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let is_test = path.file_stem().is_some_and(|name| name == "tests");
        if path.is_dir() && !is_test {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") && !is_test {
            found.push(path);
        }
    }
}

#[test]
fn one_place_runs_git() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    sources(&root, &mut found);
    found.retain(|path| starts_git(&std::fs::read_to_string(path).unwrap()));
    assert_eq!(found, [root.join("adapters/git/program.rs")]);
    assert!(starts_git("let child = process::Command::new(\n    \"git\",\n);"));
    assert!(!starts_git("Command::new(program)"));
}
