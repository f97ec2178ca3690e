//! The walk.

use super::*;

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
    write(root, ".gitignore", "");
    write(root, "src/.gitignore", "");
    let ignored = ["b.log", "out", "src/gen"].map(|path| root.join(path)).into();
    let state = root.join("workspace/state");
    let seen = survey(root, &state, &ignored, None, Survey::default());
    assert_eq!((seen.source_files, seen.test_files, seen.config_files), (2, 1, 3), "{seen:?}");
    assert_eq!(seen.total_files, 7, "{seen:?}");
    assert!(seen.left_out[0].starts_with("4 ignored"), "{seen:?}");
    let few = Survey { most_files: 2, ..Survey::default() };
    let seen = survey(root, &state, &ignored, None, few);
    assert_eq!(seen.total_files, 2);
    assert!(seen.left_out[0].contains("first 2 files"), "{seen:?}");
    let shallow = Survey { most_depth: 2, ..Survey::default() };
    assert_eq!(survey(root, &state, &ignored, None, shallow).total_files, 6);
}

#[cfg(unix)]
#[test]
fn links_are_not_followed_and_loops_end() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "a/b.rs", "x");
    std::os::unix::fs::symlink(dir.path(), dir.path().join("a/loop")).unwrap();
    std::os::unix::fs::symlink("/etc/hosts", dir.path().join("hosts.py")).unwrap();
    let seen = survey(dir.path(), Path::new("/none"), &HashSet::new(), None, Survey::default());
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
    let since = StepStart::new(&began, dir.path());
    let seen = survey(dir.path(), Path::new("/none"), &HashSet::new(), since, Survey::default());
    assert_eq!(seen.recent, ["new.rs"]);
    let wanted = |path: &str| WantedFile { path: path.to_owned(), named_in: "title" };
    let named =
        find_named(dir.path(), &[wanted("old.rs"), wanted("new.rs"), wanted("no.rs")], since);
    let told: Vec<_> = named.iter().map(|file| (file.exists, file.changed)).collect();
    assert_eq!(told, [(true, Some(false)), (true, Some(true)), (false, None)]);
}

#[test]
fn a_start_just_before_the_next_second_is_told_from_what_was_there() {
    let dir = tempfile::tempdir().unwrap();
    let second = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    let at = |name: &str, millis: u64| {
        write(dir.path(), name, "x");
        let file = fs::OpenOptions::new().write(true).open(dir.path().join(name)).unwrap();
        file.file().set_modified(second + Duration::from_millis(millis)).unwrap();
    };
    at("before.rs", 980);
    at("plan.md", 1_010);
    at("after.rs", 1_100);
    let began = jiff::Timestamp::try_from(second).unwrap().to_string();
    let since = StepStart::new(&began, dir.path());
    let seen = survey(dir.path(), Path::new("/none"), &HashSet::new(), since, Survey::default());
    assert_eq!(seen.recent, ["after.rs"]);
}
