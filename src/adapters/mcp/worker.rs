//! The one thread that touches the state.
//!
//! Calls run one after another in the order in which they came, as they would with the command
//! line: two of them would only wait for the same lock. The protocol continues meanwhile. A call
//! waits for the lock in short stretches and is asked once more when it has it, so that one that
//! was cancelled never begins, and the time behind other calls counts as waiting.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use tokio::sync::oneshot;

use crate::{
    adapters::cli::in_process::{self, Caller, CommandAnswer, Request},
    domain::ErrorCode,
    store::Cancellation,
    workspace::Change,
};

/// How long a call waits for the lock.
pub(super) const LOCK_WAIT: Duration = Duration::from_secs(5);
/// How long it waits before it looks whether it was cancelled.
const STRETCH: Duration = Duration::from_millis(500);

/// What is to be done.
#[derive(Clone, Debug)]
pub(super) enum Work {
    /// Changes as one operation.
    Changes(Vec<Change>),
    /// A request of the command line.
    Run(Request),
    /// The same, answered in plain text under `text`.
    Text(Request),
}

/// A piece of work on its way.
struct Job {
    work: Work,
    caller: Caller,
    came: Instant,
    cancelled: Arc<dyn Fn() -> bool + Send + Sync>,
    answer: oneshot::Sender<CommandAnswer>,
}

/// Hands work to the thread.
#[derive(Debug)]
pub(super) struct Worker {
    jobs: mpsc::Sender<Job>,
    closing: Arc<AtomicBool>,
}

impl Worker {
    /// Starts the thread; it ends when the worker is dropped.
    pub(super) fn start() -> std::io::Result<(Self, JoinHandle<()>)> {
        let (jobs, queue) = mpsc::channel::<Job>();
        let closing = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&closing);
        let handle = thread::Builder::new().name("worker".into()).spawn(move || {
            for job in queue {
                let (stop, cancelled) = (Arc::clone(&stop), Arc::clone(&job.cancelled));
                let answer = run(&job, move || stop.load(Ordering::Relaxed) || cancelled());
                let _ = job.answer.send(answer);
            }
        })?;
        Ok((Self { jobs, closing }, handle))
    }

    /// Does the work in its turn; `None` if there is no thread any more.
    pub(super) async fn run(
        &self,
        work: Work,
        caller: Caller,
        cancelled: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Option<CommandAnswer> {
        let (answer, answered) = oneshot::channel();
        let cancelled = Arc::new(cancelled);
        self.jobs.send(Job { work, caller, came: Instant::now(), cancelled, answer }).ok()?;
        answered.await.ok()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // What nobody waits for any more is not begun.
        self.closing.store(true, Ordering::Relaxed);
    }
}

fn run(job: &Job, cancelled: impl Fn() -> bool + Clone + Send + Sync + 'static) -> CommandAnswer {
    let when_locked = Cancellation::when(cancelled.clone());
    loop {
        if cancelled() {
            return CommandAnswer::refusal(
                ErrorCode::Cancelled,
                "the call was cancelled; nothing was done",
                None,
            );
        }
        let left = LOCK_WAIT.saturating_sub(job.came.elapsed());
        let (wait, cancellation) = (left.min(STRETCH), when_locked.clone());
        let caller = Caller { wait, cancellation, ..job.caller.clone() };
        let answer = match &job.work {
            Work::Changes(changes) => in_process::apply(&caller, changes),
            Work::Run(request) => in_process::run(&caller, request.clone()),
            Work::Text(request) => match in_process::text(&caller, request.clone()) {
                Ok(text) => CommandAnswer {
                    document: serde_json::json!({ "ok": true, "text": text }),
                    exit: 0,
                },
                Err(answer) => answer,
            },
        };
        if !answer.is_lock_timeout() {
            return answer;
        }
        if left <= STRETCH {
            let hint = "waiting behind other calls counts towards the limit; try again";
            return answer.after_waiting(job.came.elapsed()).with_hint(hint.to_owned());
        }
    }
}
