//! The task lists of agents' clients, as they were last seen.

use std::io;

use super::{Store, session_files::SessionFiles};

const LISTS: SessionFiles = SessionFiles { directory: "lists", most: 32, limit: 1 << 20 };

impl Store {
    /// The list of a session.
    pub(crate) fn task_list(&self, session: &str) -> Option<Vec<u8>> {
        LISTS.read(self, session)
    }

    /// The lists that were written last, the newest first.
    pub(crate) fn newest_task_lists(&self, count: usize) -> Vec<Vec<u8>> {
        LISTS.newest(self, count)
    }

    /// Keeps the list of a session, where there is a state that is in use.
    ///
    /// # Errors
    /// The disk fails, or something else is where the lists belong.
    pub(crate) fn keep_task_list(&self, session: &str, bytes: &[u8]) -> io::Result<()> {
        LISTS.write(self, session, bytes)
    }
}
