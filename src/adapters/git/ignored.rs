//! What git ignores in a work tree.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    time::Duration,
};

use super::program::Git;

/// How long git may take.
const LIMIT: Duration = Duration::from_secs(2);
/// How much it may print.
const MOST_BYTES: usize = 8 << 20;

/// The ignored files and directories of the work tree around `root`; a directory stands for all
/// that is in it. `None` where there is no work tree, or git gives no answer in time.
///
/// A repository inside the work tree has rules of its own, which are not asked for. A file that is
/// tracked is not ignored, whatever the patterns say.
pub(in super::super) fn ignored(root: &Path) -> Option<HashSet<PathBuf>> {
    let git = Git::around(root).ok()?;
    let args = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];
    let listed = git.ask_within(&args, LIMIT, MOST_BYTES).ok()?;
    let names = listed.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    let names = names.map(|name| name.strip_suffix(b"/").unwrap_or(name));
    Some(names.map(|name| git.top().join(path(name))).collect())
}

#[cfg(unix)]
fn path(bytes: &[u8]) -> &Path {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};
    Path::new(OsStr::from_bytes(bytes))
}

#[cfg(not(unix))]
fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    fn git(root: &Path, args: &[&str]) -> bool {
        let mut command = Command::new("git");
        command.arg("-C").arg(root).args(["-c", "core.excludesFile=/dev/null"]);
        command.args(args).status().unwrap().success()
    }

    #[test]
    fn tracked_files_are_not_ignored_and_no_work_tree_ignores_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for path in ["kept.log", "other.log", "out/a/b", "out/c", "src/ä b.log", "src/main.rs"] {
            write(&root, path, "x");
        }
        write(&root, ".gitignore", "*.log\n/out/\n");
        assert_eq!(ignored(&root), None);
        assert!(git(&root, &["init", "-q"]) && git(&root, &["add", "-f", "kept.log"]));
        let expected = ["other.log", "out", "src/ä b.log"].map(|path| root.join(path));
        assert_eq!(ignored(&root), Some(HashSet::from(expected.clone())));
        assert_eq!(ignored(&root.join("src")), Some(HashSet::from(expected)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        #[test]
        fn a_path_is_listed_itself_or_by_a_directory_above_it_if_git_ignores_it(
            outer in prop::collection::vec("!?/?(a|b|ab|\\*|\\*\\*|a\\*|\\?b|[ab]|\\[a-b\\]|\\[!a\\])(/(a|b|\\*|\\*\\*|\\*b)){0,2}/?", 1..5),
            inner in prop::collection::vec("!?/?(a|b|\\*|\\*b|\\*\\*)(/(a|b|\\*\\*))?/?", 0..3),
        ) {
            let dir = tempfile::tempdir().unwrap();
            let root = dir.path().canonicalize().unwrap();
            prop_assert!(git(&root, &["init", "-q"]));
            let paths = ["a", "b", "ab", "c/a", "c/b", "c/ab/a", "a1/b/a", "ab1/a/b/a"];
            for path in paths {
                write(&root, path, "");
            }
            write(&root, ".gitignore", &outer.join("\n"));
            write(&root, "c/.gitignore", &inner.join("\n"));
            let listed = ignored(&root).unwrap();
            for path in paths {
                let expected = git(&root, &["check-ignore", "-q", "--no-index", path]);
                let path = root.join(path);
                let found = path.ancestors().any(|path| listed.contains(path));
                prop_assert_eq!(found, expected, "{:?} {:?} {:?}", path, outer, inner);
            }
        }
    }
}
