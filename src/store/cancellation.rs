//! Whether somebody still wants what waits for the lock.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// Asked once the lock is there and before anything is written. What has begun is not stopped
/// half-way: after the first lock that was kept, the answer is no.
#[derive(Clone, Default)]
pub struct GivenUp {
    asked: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
    begun: Arc<AtomicBool>,
}

impl GivenUp {
    /// Given up when `asked` says so.
    pub fn when(asked: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self { asked: Some(Arc::new(asked)), begun: Arc::default() }
    }

    /// Whether nothing may be begun; if it may, it has begun.
    pub(in crate::store) fn before_begin(&self) -> bool {
        let Some(asked) = &self.asked else { return false };
        if self.begun.load(Ordering::Relaxed) {
            return false;
        }
        let given_up = asked();
        self.begun.store(!given_up, Ordering::Relaxed);
        given_up
    }
}

impl fmt::Debug for GivenUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GivenUp").field("begun", &self.begun).finish_non_exhaustive()
    }
}
