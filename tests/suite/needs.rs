//! What the tests need besides this repository, and what happens to a test without it.
//!
//! On a developer's machine a test that cannot run says so and passes. Under `CI=true` it fails: a
//! guarantee that nobody has tested is not one. `cargo xtask check` installs the packages there.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, OnceLock, PoisonError},
};

use tempfile::TempDir;

/// The programs, with arguments that show that each works (tracing may be forbidden, for example)
/// and its Debian package.
const PROGRAMS: &str = include_str!("../programs.txt");

/// Whether a test that needs this program can run.
///
/// # Panics
/// The program is missing or does not work, and `CI=true`.
pub fn program(name: &str) -> bool {
    let columns = |line: &'static str| line.split('|').map(str::trim).collect::<Vec<_>>();
    let known = PROGRAMS.lines().map(columns).find(|columns| columns[0] == name);
    let Some([_, probe, package, _]) = known.as_deref() else {
        panic!("`{name}` is not in tests/programs.txt")
    };
    let remedy = format!("install the package `{package}`, and permit `{name}` to work");
    met(works(name, probe), &format!("`{name}`"), &remedy)
}

/// Whether a program works, tried once: many tests ask, and a browser or npm takes its time.
fn works(name: &str, probe: &str) -> bool {
    static TRIED: Mutex<BTreeMap<String, bool>> = Mutex::new(BTreeMap::new());
    let mut tried = TRIED.lock().unwrap_or_else(PoisonError::into_inner);
    *tried.entry(name.to_owned()).or_insert_with(|| {
        let ran = Command::new(name).args(probe.split_whitespace()).output();
        ran.is_ok_and(|output| output.status.success())
    })
}

/// Whether a test that needs something else can run; `remedy` says how to provide it.
///
/// # Panics
/// It is not there, and `CI=true`.
pub fn met(is_there: bool, what: &str, remedy: &str) -> bool {
    let is_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
    match verdict(is_there, is_ci, what, remedy) {
        Ok(goes_on) => goes_on,
        Err(message) => panic!("{message}"),
    }
}

/// A directory in memory, or on the disk where memory is not mounted or starts no programs.
///
/// For tests that copy and remove whole projects again and again and are not about the disk. ext4 without
/// a journal looks at every inode that was freed within the last seconds whenever it makes a file: most
/// of the CPU time of such a test goes there.
pub fn directory_in_memory() -> TempDir {
    static IS_USABLE: OnceLock<bool> = OnceLock::new();
    let usable = || {
        std::fs::read_to_string("/proc/mounts").is_ok_and(|mounts| starts_programs(&mounts, MEMORY))
    };
    match *IS_USABLE.get_or_init(usable) {
        true => tempfile::tempdir_in(MEMORY).or_else(|_| tempfile::tempdir()),
        false => tempfile::tempdir(),
    }
    .expect("there is room for a temporary directory")
}

/// Where Linux distributions mount memory as a file system.
const MEMORY: &str = "/dev/shm";

/// Whether a file system is mounted there from which programs may be started.
fn starts_programs(mounts: &str, place: &str) -> bool {
    let columns = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let mounted = columns.rev().find(|columns| columns.get(1) == Some(&place));
    let options = mounted.and_then(|columns| columns.get(3).copied());
    options.is_some_and(|options| options.split(',').all(|option| option != "noexec"))
}

#[test]
fn memory_is_used_only_where_programs_can_be_started() {
    let root = "/dev/vda / ext4 rw,relatime 0 0\n";
    assert!(!starts_programs(root, MEMORY));
    let shared = format!("{root}tmpfs /dev/shm tmpfs rw,nosuid,nodev 0 0\n");
    assert!(starts_programs(&shared, MEMORY));
    let container = format!("{shared}shm /dev/shm tmpfs rw,nosuid,nodev,noexec,size=65536k 0 0\n");
    assert!(!starts_programs(&container, MEMORY));
}

/// Two tests must not install the same thing at once.
static INSTALLING: Mutex<()> = Mutex::new(());

/// Where a test keeps what it installs.
pub fn below_target(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Runs the steps of an installation unless it has been finished before.
///
/// # Panics
/// It fails, and `CI=true`.
pub fn installed(what: &str, directory: &Path, steps: &mut [Command]) -> bool {
    let _one = INSTALLING.lock().unwrap_or_else(PoisonError::into_inner);
    let finished = directory.join("installed");
    if finished.exists() {
        return true;
    }
    std::fs::create_dir_all(directory).expect("the directory can be made");
    let done = steps.iter_mut().all(|step| step.output().is_ok_and(|ran| ran.status.success()));
    if done {
        std::fs::write(finished, "").expect("the note can be written");
        return true;
    }
    met(false, what, "it is installed over the network")
}

/// The `node_modules` with a package of npm, or nothing where it cannot be had.
pub fn npm_package(name: &str, version: &str) -> Option<PathBuf> {
    if !program("npm") {
        return None;
    }
    let directory = below_target(&name.replace(['@', '/'], "-"));
    let mut install = Command::new("npm");
    install.args(["install", "--no-audit", "--no-fund", "--prefix"]).arg(&directory);
    install.arg(format!("{name}@{version}"));
    installed(&format!("`{name}` from npm"), &directory, &mut [install])
        .then(|| directory.join("node_modules"))
}

fn verdict(is_there: bool, is_ci: bool, what: &str, remedy: &str) -> Result<bool, String> {
    if !is_there {
        let message = format!("this needs {what}, which is not available here: {remedy}");
        if is_ci {
            return Err(format!("{message} (under CI=true nothing is skipped)"));
        }
        eprintln!("NOT TESTED: {message}");
    }
    Ok(is_there)
}

#[test]
fn a_test_without_what_it_needs_is_skipped_here_and_fails_in_ci() {
    assert_eq!(verdict(true, false, "`x`", "install it"), Ok(true));
    assert_eq!(verdict(true, true, "`x`", "install it"), Ok(true));
    assert_eq!(verdict(false, false, "`x`", "install it"), Ok(false));
    let failure = verdict(false, true, "`x`", "install the package `y`").unwrap_err();
    assert!(failure.contains("`x`") && failure.contains("package `y`"), "{failure}");
}

/// Early returns that bypass this module: such a test seems to have passed, even in CI.
fn silent_skips(source: &str) -> Vec<&str> {
    let is_skip = |line: &&str| {
        let says_so = line.contains("println!")
            && ["NOT tested", "NOT TESTED", "skipped:", "left out", "LEFT OUT", "not installed"]
                .iter()
                .any(|words| line.contains(words));
        says_so || line.contains(".output().is_err()")
    };
    source.lines().filter(is_skip).collect()
}

#[test]
fn no_test_skips_itself_in_another_way() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    let mut files = 0;
    for folder in ["tests", "benches"] {
        for entry in walkdir::WalkDir::new(root.join(folder)).into_iter().filter_map(Result::ok) {
            let path = entry.path();
            let is_rust = path.extension().is_some_and(|ending| ending == "rs");
            if !is_rust || path.ends_with("suite/needs.rs") {
                continue;
            }
            files += 1;
            let source = std::fs::read_to_string(path).unwrap();
            let skips = silent_skips(&source).into_iter();
            found.extend(skips.map(|line| format!("{}: {}", path.display(), line.trim())));
        }
    }
    assert!(files > 50, "only {files} files were looked at");
    assert!(found.is_empty(), "use `needs` instead:\n{}", found.join("\n"));
    let control = "if Command::new(\"x\").output().is_err() {\n    eprintln!(\"skipped: no x\");";
    assert_eq!(silent_skips(control).len(), 2);
}
