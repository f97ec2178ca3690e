//! A directory tree as it was, put back in place so that even inode numbers and times survive.

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::Write as _,
    path::{Path, PathBuf},
    time::SystemTime,
};

/// Every directory and file below a root.
pub struct Snapshot {
    root: PathBuf,
    dirs: BTreeMap<PathBuf, fs::Permissions>,
    files: BTreeMap<PathBuf, (Vec<u8>, SystemTime)>,
}

impl Snapshot {
    pub fn take(root: &Path) -> Self {
        let mut snapshot =
            Self { root: root.to_owned(), dirs: BTreeMap::new(), files: BTreeMap::new() };
        for path in below(root) {
            if path.is_dir() {
                let permissions = path.metadata().unwrap().permissions();
                snapshot.dirs.insert(path, permissions);
            } else {
                let modified = path.symlink_metadata().unwrap().modified().unwrap();
                snapshot.files.insert(path.clone(), (fs::read(&path).unwrap(), modified));
            }
        }
        snapshot
    }

    /// Makes the tree what it was. Files keep their inode, because the store recognises
    /// `history.md` by it and would otherwise take the slow way through the log.
    pub fn restore(&self) {
        for path in below(&self.root).into_iter().rev() {
            if path.is_dir() && !self.dirs.contains_key(&path) {
                fs::remove_dir(&path).unwrap();
            } else if !path.is_dir() && !self.files.contains_key(&path) {
                fs::remove_file(&path).unwrap();
            }
        }
        for (dir, permissions) in self.dirs.iter().filter(|(dir, _)| !dir.is_dir()) {
            fs::create_dir(dir).unwrap();
            fs::set_permissions(dir, permissions.clone()).unwrap();
        }
        for (path, (bytes, modified)) in &self.files {
            let same = fs::read(path).is_ok_and(|now| now == *bytes);
            let mut file = match same {
                true => File::options().append(true).open(path).unwrap(),
                false => {
                    OpenOptions::new().write(true).create(true).truncate(true).open(path).unwrap()
                }
            };
            if !same {
                file.write_all(bytes).unwrap();
            }
            file.set_modified(*modified).unwrap();
        }
    }
}

/// All paths below a directory, parents before their children.
fn below(root: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(dir) = open.pop() {
        let Ok(entries) = fs::read_dir(&dir) else { continue };
        for entry in entries {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() {
                open.push(path.clone());
            }
            paths.push(path);
        }
    }
    paths.sort();
    paths
}
