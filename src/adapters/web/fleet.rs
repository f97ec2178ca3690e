//! What the fleet says of its projects.
//!
//! It is asked only where one is configured, and beside the requests: a database that is far away
//! or gone keeps no page waiting.

use std::{
    sync::{Arc, Condvar, Mutex, PoisonError},
    time::{Duration, Instant},
};

use super::overview::Fleet;
use crate::adapters::{
    cli::in_process::{self, Caller},
    fleet::is_configured,
};

/// How long an answer serves.
const FRESH: Duration = Duration::from_secs(5);
/// How long a page waits for a new one.
const PATIENCE: Duration = Duration::from_millis(400);
/// The most projects.
const MOST: &str = "200";

/// The last answer.
#[derive(Debug, Default)]
pub(super) struct Projects {
    known: Mutex<Known>,
    arrived: Condvar,
}

#[derive(Debug, Default)]
struct Known {
    is_asking: bool,
    at: Option<Instant>,
    answer: Option<Fleet>,
}

impl Projects {
    /// What is known of the fleet, if there is one.
    pub(super) fn look(self: &Arc<Self>, caller: &Caller) -> Option<Fleet> {
        if !is_configured() {
            return None;
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.at.is_none_or(|at| at.elapsed() > FRESH) {
            if !known.is_asking {
                known.is_asking = true;
                let (this, caller) = (Arc::clone(self), caller.clone());
                let asking = move || this.ask(&caller);
                let asked = std::thread::Builder::new().name("fleet".into()).spawn(asking);
                known.is_asking = asked.is_ok();
            }
            let waited = self.arrived.wait_timeout_while(known, PATIENCE, |known| known.is_asking);
            known = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let asking = || Err("The fleet has not answered yet.".to_owned());
        Some(known.answer.clone().unwrap_or_else(asking))
    }

    fn ask(&self, caller: &Caller) {
        let request = in_process::request(&["fleet", "list", "--limit", MOST]);
        let answer = request.map(|request| in_process::run(caller, request));
        let found = answer.map(|answer| match answer.document["projects"].as_array() {
            Some(projects) => Ok(projects.clone()),
            None => {
                let message = answer.document["error"]["message"].as_str();
                Err(message.unwrap_or("the fleet cannot be read").to_owned())
            }
        });
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        (known.is_asking, known.at) = (false, Some(Instant::now()));
        known.answer = found;
        self.arrived.notify_all();
    }
}
