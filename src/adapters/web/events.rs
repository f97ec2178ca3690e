//! Telling open pages that something has changed.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, Sender, channel},
    },
};

use crate::adapters::watch::follow;

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
        let (hub, followed) = (Arc::clone(self), dir.to_owned());
        if follow(dir, move || hub.tell(&followed)).is_err() {
            listeners.remove(dir);
        }
        receiver
    }

    /// Notifies all listeners; returns whether there are any.
    fn tell(&self, dir: &Path) -> bool {
        let Ok(mut listeners) = self.listeners.lock() else { return false };
        let Some(known) = listeners.get_mut(dir) else { return false };
        known.retain(|listener| listener.send(()).is_ok());
        if known.is_empty() {
            listeners.remove(dir);
            return false;
        }
        true
    }
}
