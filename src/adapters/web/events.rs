//! Telling open pages that something has changed.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, Sender, channel},
    },
    time::Duration,
};

use crate::adapters::watch::LogWatch;

/// How long changes in a row are waited for, to tell them together.
const TOGETHER: Duration = Duration::from_millis(80);
/// How often to tell where the system watches nothing for us.
const BLIND: Duration = Duration::from_secs(2);

/// The open pages by the state they show. One watch of a directory serves all its pages.
#[derive(Debug, Default)]
pub(super) struct Hub {
    listeners: Mutex<BTreeMap<PathBuf, Vec<Sender<()>>>>,
}

impl Hub {
    /// Listens for changes of the state in `dir`.
    pub(super) fn listen(self: &Arc<Self>, dir: &Path) -> Receiver<()> {
        let (sender, receiver) = channel();
        let Ok(mut listeners) = self.listeners.lock() else { return receiver };
        if let Some(known) = listeners.get_mut(dir) {
            known.push(sender);
            return receiver;
        }
        listeners.insert(dir.to_owned(), vec![sender]);
        let (hub, dir) = (Arc::clone(self), dir.to_owned());
        let _ = std::thread::Builder::new().name("watch".into()).spawn(move || hub.follow(&dir));
        receiver
    }

    /// Tells what happens until nobody listens any more.
    fn follow(&self, dir: &Path) {
        let mut watch = LogWatch::new(dir).ok();
        loop {
            let is_armed = watch.as_mut().is_some_and(|watch| watch.arm().is_ok());
            match watch.as_ref().filter(|_| is_armed) {
                Some(watch) => {
                    watch.wait();
                    std::thread::sleep(TOGETHER);
                }
                None => std::thread::sleep(BLIND),
            }
            let Ok(mut listeners) = self.listeners.lock() else { return };
            let Some(known) = listeners.get_mut(dir) else { return };
            known.retain(|listener| listener.send(()).is_ok());
            if known.is_empty() {
                listeners.remove(dir);
                return;
            }
        }
    }
}
