//! Where the symbolic links of a directory lead, kept up to date while a trace is read.

use std::{
    collections::BTreeMap,
    fs,
    path::{Component, Path, PathBuf},
};

/// Every link below a directory, by its own resolved path.
#[derive(Clone, Debug, Default)]
pub struct Links {
    targets: BTreeMap<PathBuf, PathBuf>,
}

impl Links {
    /// The links below a directory as they are now.
    pub fn below(root: &Path) -> Self {
        let mut links = Self::default();
        for entry in walkdir::WalkDir::new(root).into_iter().flatten() {
            if entry.path_is_symlink()
                && let Ok(target) = fs::read_link(entry.path())
            {
                links.targets.insert(entry.path().to_owned(), target);
            }
        }
        links
    }

    /// The real place of a path, relative to a directory that is already resolved.
    ///
    /// A link at the end is followed only on request, as in system calls.
    pub fn resolve(&self, base: &Path, path: &Path, follow: bool) -> PathBuf {
        let mut left = 40;
        self.walk(base, path, follow, &mut left)
    }

    fn walk(&self, base: &Path, path: &Path, follow: bool, left: &mut usize) -> PathBuf {
        let mut done = base.to_owned();
        let mut parts = path.components().peekable();
        while let Some(part) = parts.next() {
            match part {
                Component::RootDir | Component::Prefix(_) => done = PathBuf::from("/"),
                Component::CurDir => {}
                Component::ParentDir => _ = done.pop(),
                Component::Normal(name) => {
                    let here = done.join(name);
                    let target = self.targets.get(&here);
                    let followed = follow || parts.peek().is_some();
                    match target.filter(|_| followed && *left > 0) {
                        Some(target) => {
                            *left -= 1;
                            done = self.walk(&done, target, true, left);
                        }
                        None => done = here,
                    }
                }
            }
        }
        done
    }

    pub fn made(&mut self, link: &Path, target: &Path) {
        self.targets.insert(link.to_owned(), target.to_owned());
    }

    pub fn removed(&mut self, path: &Path) {
        self.targets.remove(path);
    }

    /// A rename takes the links below the old name along.
    pub fn renamed(&mut self, from: &Path, to: &Path) {
        let moved: Vec<PathBuf> =
            self.targets.keys().filter(|path| path.starts_with(from)).cloned().collect();
        self.targets.retain(|path, _| !path.starts_with(to));
        for path in moved {
            let Some(target) = self.targets.remove(&path) else { continue };
            let below = path.strip_prefix(from).unwrap_or(Path::new(""));
            let path = if below.as_os_str().is_empty() { to.to_owned() } else { to.join(below) };
            self.targets.insert(path, target);
        }
    }
}

#[test]
fn links_are_followed_as_the_kernel_follows_them() {
    let mut links = Links::default();
    links.made(Path::new("/p/state"), Path::new("../q/real"));
    links.made(Path::new("/q/real/tmp"), Path::new("/victims"));
    links.made(Path::new("/p/loop"), Path::new("loop"));
    let at =
        |links: &Links, path: &str, follow| links.resolve("/p".as_ref(), path.as_ref(), follow);
    assert_eq!(at(&links, "state/tmp/x", false), Path::new("/victims/x"));
    assert_eq!(at(&links, "state/tmp", false), Path::new("/q/real/tmp"));
    assert_eq!(at(&links, "./a/../state/b", false), Path::new("/q/real/b"));
    at(&links, "loop", true);
    links.renamed(Path::new("/p/state"), Path::new("/p/other"));
    assert_eq!(at(&links, "state/x", false), Path::new("/p/state/x"));
    assert_eq!(at(&links, "other/x", false), Path::new("/q/real/x"));
    links.removed(Path::new("/q/real/tmp"));
    assert_eq!(at(&links, "other/tmp/x", true), Path::new("/q/real/tmp/x"));
}
