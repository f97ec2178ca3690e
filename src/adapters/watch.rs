//! Waiting for changes of the operation log, without polling.

use std::{
    collections::BTreeMap,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, Sender, channel},
};

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

/// How long changes in a row are waited for, to tell them together.
#[cfg(any(feature = "board", feature = "web"))]
const TOGETHER: std::time::Duration = std::time::Duration::from_millis(60);
/// How often to tell where the system watches nothing for us.
#[cfg(any(feature = "board", feature = "web"))]
const BLIND: std::time::Duration = std::time::Duration::from_secs(1);

/// Why the log can no longer be followed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WatchError {
    /// The system gives no watch.
    #[error("the directory `{}` cannot be watched: {source}", path.display())]
    Watch {
        /// The directory.
        path: PathBuf,
        /// What the system says.
        source: notify::Error,
    },
    /// The system gives no watcher at all.
    #[error("directories cannot be watched: {0}")]
    None(notify::Error),
}

/// What woke the one who waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wake {
    /// Something changed in a directory of the log.
    Changed,
    /// Nobody reads the answer any more.
    Unread,
}

/// Watches the directories of a log, those that are not there yet too.
#[derive(Debug)]
pub(crate) struct LogWatch {
    watcher: RecommendedWatcher,
    signals: Receiver<Wake>,
    sender: Sender<Wake>,
    /// The directories that are wanted, the outermost first.
    wanted: Vec<PathBuf>,
    /// Those that are watched, each with its number, since one can be replaced by another.
    watched: BTreeMap<PathBuf, (u64, u64)>,
}

impl LogWatch {
    /// Prepares to watch the log of the state in `dir`, which need not exist.
    ///
    /// # Errors
    /// The system gives no watcher.
    pub(crate) fn new(dir: &Path) -> Result<Self, WatchError> {
        let (sender, signals) = channel();
        let wake = sender.clone();
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // Reading the log opens it: being woken by that would never end.
            let read = event.is_ok_and(|event| matches!(event.kind, EventKind::Access(_)));
            if !read {
                let _ = wake.send(Wake::Changed);
            }
        });
        let private = dir.join(".statedir");
        let log = private.join("log");
        let wanted = vec![dir.to_owned(), private, log];
        let watcher = watcher.map_err(WatchError::None)?;
        Ok(Self { watcher, signals, sender, wanted, watched: BTreeMap::new() })
    }

    /// Watches what is there now; to be called before looking at the log each time.
    ///
    /// # Errors
    /// The system refuses a watch, for instance because there are too many.
    pub(crate) fn arm(&mut self) -> Result<(), WatchError> {
        self.arm_while(|| {})
    }

    /// Looks again until there is nothing more to watch: a directory that came into being between
    /// the look and the watch on what is above it is told by nobody. `meanwhile` happens there.
    fn arm_while(&mut self, mut meanwhile: impl FnMut()) -> Result<(), WatchError> {
        loop {
            let existing = self.directories_to_watch();
            meanwhile();
            if !self.watch_only(existing)? {
                return Ok(());
            }
        }
    }

    /// The directories to watch now.
    fn directories_to_watch(&self) -> Vec<PathBuf> {
        let there = |path: &Path| number(path).is_some();
        let mut existing: Vec<PathBuf> =
            self.wanted.iter().filter(|path| there(path)).cloned().collect();
        if let Some(outermost) = self.wanted.first().filter(|path| !existing.contains(path)) {
            // The directory may come into being one level at a time.
            let above = outermost.ancestors().skip(1).find(|path| there(path));
            existing.extend(above.map(Path::to_owned));
        }
        existing
    }

    /// Watches these and no others; whether that changed anything.
    fn watch_only(&mut self, existing: Vec<PathBuf>) -> Result<bool, WatchError> {
        let gone: Vec<PathBuf> =
            self.watched.keys().filter(|path| !existing.contains(path)).cloned().collect();
        let mut changed = !gone.is_empty();
        for path in gone {
            let _ = self.watcher.unwatch(&path);
            self.watched.remove(&path);
        }
        for path in existing {
            let now = number(&path);
            if now.is_some() && self.watched.get(&path) == now.as_ref() {
                continue;
            }
            changed = true;
            if self.watched.remove(&path).is_some() {
                let _ = self.watcher.unwatch(&path);
            }
            let Some(now) = now else { continue };
            match self.watcher.watch(&path, RecursiveMode::NonRecursive) {
                Ok(()) => {
                    self.watched.insert(path, now);
                }
                // It went away meanwhile; what is above it tells when it comes back.
                Err(_) if number(&path).is_none() => {}
                Err(source) => return Err(WatchError::Watch { path, source }),
            }
        }
        Ok(changed)
    }

    /// Also wakes when nobody reads standard output any more.
    #[cfg(unix)]
    pub(crate) fn wake_when_unread(&self) {
        let sender = self.sender.clone();
        let _ = std::thread::Builder::new().name("reader".into()).spawn(move || {
            use rustix::event::{PollFd, PollFlags, poll};
            let stdout = std::io::stdout();
            loop {
                // No event is asked for: only an error or a hang-up ends the wait.
                let mut fds = [PollFd::new(&stdout, PollFlags::empty())];
                match poll(&mut fds, None) {
                    Err(rustix::io::Errno::INTR) => {}
                    Err(_) => return,
                    Ok(_) => break,
                }
            }
            let _ = sender.send(Wake::Unread);
        });
    }

    /// Waits; several changes in a row wake once.
    pub(crate) fn wait(&self) -> Wake {
        let mut woken = self.signals.recv().unwrap_or(Wake::Unread);
        for more in self.signals.try_iter() {
            if more == Wake::Unread {
                woken = more;
            }
        }
        woken
    }
}

/// Tells of every change in the state in `dir`, from now on and in a thread of its own, until `tell`
/// answers `false`. Changes in a row are told together; where nothing can be watched, it is told now
/// and then that there may be one.
///
/// # Errors
/// There can be no more threads.
#[cfg(any(feature = "board", feature = "web"))]
pub(crate) fn follow(
    dir: &Path,
    mut tell: impl FnMut() -> bool + Send + 'static,
) -> std::io::Result<()> {
    let mut watch = LogWatch::new(dir).ok();
    let mut is_armed = watch.as_mut().is_some_and(|watch| watch.arm().is_ok());
    let thread = std::thread::Builder::new().name("watch".into());
    thread.spawn(move || {
        loop {
            match watch.as_ref().filter(|_| is_armed) {
                Some(watch) => {
                    watch.wait();
                    std::thread::sleep(TOGETHER);
                }
                None => std::thread::sleep(BLIND),
            }
            // Before anybody looks, so that nothing falls in between.
            is_armed = watch.as_mut().is_some_and(|watch| watch.arm().is_ok());
            if !tell() {
                return;
            }
        }
    })?;
    Ok(())
}

/// What tells a directory from another one with its name.
fn number(path: &Path) -> Option<(u64, u64)> {
    let meta = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_dir)?;
    Some((meta.dev(), meta.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_into_being_while_watches_are_added_is_watched() {
        let levels = ["workspace", "workspace/state", "workspace/state/.statedir"];
        for first in 0..=levels.len() {
            let scratch = tempfile::tempdir().unwrap();
            let dir = scratch.path().join("workspace/state");
            if let Some(made) = first.checked_sub(1).and_then(|last| levels.get(last)) {
                std::fs::create_dir_all(scratch.path().join(made)).unwrap();
            }
            let mut watch = LogWatch::new(&dir).unwrap();
            let log = dir.join(".statedir/log");
            watch.arm_while(|| std::fs::create_dir_all(&log).unwrap()).unwrap();
            let watched: Vec<_> = watch.watched.keys().cloned().collect();
            assert_eq!(watched, watch.wanted, "{first} levels were there");
        }
    }

    #[test]
    fn a_directory_that_is_replaced_meanwhile_is_watched_as_it_is_now() {
        let scratch = tempfile::tempdir().unwrap();
        let dir = scratch.path().join("state");
        let (log, old) = (dir.join(".statedir/log"), scratch.path().join("old"));
        std::fs::create_dir_all(&log).unwrap();
        let mut watch = LogWatch::new(&dir).unwrap();
        watch.arm().unwrap();
        let mut times = 0;
        watch
            .arm_while(|| {
                times += 1;
                if times == 1 {
                    std::fs::rename(&dir, &old).unwrap();
                    std::fs::create_dir_all(&log).unwrap();
                }
            })
            .unwrap();
        for path in &watch.wanted {
            assert_eq!(watch.watched.get(path).copied(), number(path), "{}", path.display());
        }
    }
}
