//! Cancelling a change that still waits for the lock.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// Checked once the lock is held and before anything is written. A change that has started is not
/// stopped half-way: after the first lock that was kept, it can no longer be cancelled.
#[derive(Clone, Default)]
pub(crate) struct Cancellation {
    asked: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
    begun: Arc<AtomicBool>,
}

impl Cancellation {
    /// A call that is cancelled once `asked` returns true.
    pub(crate) fn when(asked: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self { asked: Some(Arc::new(asked)), begun: Arc::default() }
    }

    /// Whether the change must not start. If it may, it counts as started from now on.
    pub(in crate::store) fn prevents_start(&self) -> bool {
        let Some(asked) = &self.asked else { return false };
        if self.begun.load(Ordering::Relaxed) {
            return false;
        }
        let cancelled = asked();
        self.begun.store(!cancelled, Ordering::Relaxed);
        cancelled
    }
}

impl fmt::Debug for Cancellation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cancellation").field("begun", &self.begun).finish_non_exhaustive()
    }
}
