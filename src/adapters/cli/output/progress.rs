//! Progress for work that takes longer than a second.

use std::{
    io::{self, IsTerminal as _, Write as _},
    time::{Duration, Instant},
};

/// Shows on a terminal's stderr how much has been read.
pub(in crate::adapters::cli) struct Progress {
    began: Instant,
    last: Instant,
    shown: bool,
    terminal: bool,
    what: &'static str,
}

impl Progress {
    pub(in crate::adapters::cli) fn new(what: &'static str) -> Self {
        let began = Instant::now();
        Self { began, last: began, shown: false, terminal: io::stderr().is_terminal(), what }
    }

    /// So many bytes are done.
    pub(in crate::adapters::cli) fn at(&mut self, bytes: u64) {
        const PATIENCE: Duration = Duration::from_secs(1);
        const PACE: Duration = Duration::from_millis(200);
        if !self.terminal || self.began.elapsed() < PATIENCE || self.last.elapsed() < PACE {
            return;
        }
        self.last = Instant::now();
        self.shown = true;
        let _ = write!(io::stderr(), "\r{}: {} MB", self.what, bytes >> 20);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown {
            let _ = write!(io::stderr(), "\r\u{1b}[K");
        }
    }
}

/// Shows how much of a long history has been read, for a command that has to read all of it.
pub(in crate::adapters::cli) fn reading(bytes: u64) {
    use std::sync::{Mutex, OnceLock, PoisonError};
    static SHOWN: OnceLock<Mutex<Progress>> = OnceLock::new();
    let shown = SHOWN.get_or_init(|| Mutex::new(Progress::new("reading history.md")));
    shown.lock().unwrap_or_else(PoisonError::into_inner).at(bytes);
}
