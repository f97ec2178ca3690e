//! The walk, and the patterns against git itself.

use std::{path::Path, process::Command};

use proptest::prelude::*;

use super::{gitignore::Ignored, *};

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn a_walk_counts_what_is_not_ignored_and_says_what_it_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    for path in [
        "src/main.rs",
        "src/gen/made.rs",
        "tests/a.rs",
        "Cargo.toml",
        "out/x.py",
        "keep.log",
        "b.log",
        "node_modules/a/index.js",
        ".git/config",
        "workspace/state/plan.md",
        "a/b/c/d.py",
    ] {
        write(root, path, "x");
    }
    write(root, ".gitignore", "*.log\n!keep.log\n/out/\n");
    write(root, "src/.gitignore", "gen\n");
    let state = root.join("workspace/state");
    let seen = survey(root, &state, None, Survey::default());
    assert_eq!((seen.source_files, seen.test_files, seen.config_files), (2, 1, 3), "{seen:?}");
    assert_eq!(seen.total_files, 7, "{seen:?}");
    assert!(seen.left_out[0].starts_with("4 ignored"), "{seen:?}");
    let few = Survey { most_files: 2, ..Survey::default() };
    let seen = survey(root, &state, None, few);
    assert_eq!(seen.total_files, 2);
    assert!(seen.left_out[0].contains("first 2 files"), "{seen:?}");
    let shallow = Survey { most_depth: 2, ..Survey::default() };
    assert_eq!(survey(root, &state, None, shallow).total_files, 6);
}

#[cfg(unix)]
#[test]
fn links_are_not_followed_and_loops_end() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "a/b.rs", "x");
    std::os::unix::fs::symlink(dir.path(), dir.path().join("a/loop")).unwrap();
    std::os::unix::fs::symlink("/etc/hosts", dir.path().join("hosts.py")).unwrap();
    let seen = survey(dir.path(), Path::new("/none"), None, Survey::default());
    assert_eq!(seen.total_files, 1);
}

#[test]
fn changes_are_those_after_the_beginning() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "old.rs", "x");
    write(dir.path(), "new.rs", "x");
    let hour = Duration::from_secs(3600);
    let old = fs::OpenOptions::new().write(true).open(dir.path().join("old.rs")).unwrap();
    old.file().set_modified(SystemTime::now() - 2 * hour).unwrap();
    let began = jiff::Timestamp::try_from(SystemTime::now() - hour).unwrap().to_string();
    let since = Since::new(&began, dir.path());
    let seen = survey(dir.path(), Path::new("/none"), since, Survey::default());
    assert_eq!(seen.recent, ["new.rs"]);
    let wanted = |path: &str| WantedFile { path: path.to_owned(), named_in: "title" };
    let named =
        find_named(dir.path(), &[wanted("old.rs"), wanted("new.rs"), wanted("no.rs")], since);
    let told: Vec<_> = named.iter().map(|file| (file.exists, file.changed)).collect();
    assert_eq!(told, [(true, Some(false)), (true, Some(true)), (false, None)]);
}

/// Whether git ignores each of the paths.
fn git_says(root: &Path, paths: &[String]) -> Vec<bool> {
    let ignored = |path: &String| {
        let mut command = Command::new("git");
        command.arg("-C").arg(root).args(["-c", "core.excludesFile=/dev/null"]);
        command.args(["check-ignore", "-q", "--no-index", path]).status().unwrap().success()
    };
    paths.iter().map(ignored).collect()
}

/// The same by our walk: a path is ignored if it or a directory above it is.
fn we_say(root: &Path, paths: &[String]) -> Vec<bool> {
    let ignored = |path: &String| {
        let mut patterns = Ignored::new(root);
        patterns.enter(root);
        let mut at = root.to_owned();
        let parts: Vec<&str> = path.split('/').collect();
        for (count, part) in parts.iter().enumerate() {
            at.push(part);
            let is_dir = count + 1 < parts.len();
            if patterns.matches(&at, is_dir) {
                return true;
            }
            if is_dir {
                patterns.enter(&at);
            }
        }
        false
    };
    paths.iter().map(ignored).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn patterns_mean_what_git_means(
        outer in prop::collection::vec("!?/?(a|b|ab|\\*|\\*\\*|a\\*|\\?b|[ab]|\\[a-b\\]|\\[!a\\])(/(a|b|\\*|\\*\\*|\\*b)){0,2}/?", 1..5),
        inner in prop::collection::vec("!?/?(a|b|\\*|\\*b|\\*\\*)(/(a|b|\\*\\*))?/?", 0..3),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        let made = Command::new("git").arg("-C").arg(root).args(["init", "-q"]).status();
        prop_assume!(made.is_ok_and(|status| status.success()));
        let paths: Vec<String> = ["a", "b", "ab", "c/a", "c/b", "c/ab/a", "a1/b/a", "ab1/a/b/a"]
            .iter()
            .map(ToString::to_string)
            .collect();
        for path in &paths {
            write(root, path, "");
        }
        write(root, ".gitignore", &outer.join("\n"));
        write(root, "c/.gitignore", &inner.join("\n"));
        prop_assert_eq!(we_say(root, &paths), git_says(root, &paths), "{:?} {:?}", outer, inner);
    }
}
