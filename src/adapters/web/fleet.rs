//! The projects of the fleet on the first page.
//!
//! It is asked only where one is configured, and beside the requests: a database that is far away
//! or gone keeps no page waiting. It is polled only while somebody is looking.

use std::{
    fmt::Write as _,
    sync::{Arc, Condvar, Mutex, PoisonError},
    time::{Duration, Instant},
};

use crate::{
    adapters::{
        fleet::{self, Filter, FleetError, ProjectSummary},
        page::short,
    },
    domain::format_age,
};

/// How long it is polled after the last look.
const FOLLOWED: Duration = Duration::from_secs(15);
/// How long an answer serves: silence is news, too.
const FRESH: Duration = Duration::from_secs(5);
/// How long a page waits for the first answer.
const PATIENCE: Duration = Duration::from_millis(400);
/// The most projects.
const MOST: usize = 200;

/// The last answer.
#[derive(Debug, Default)]
pub(super) struct Projects {
    known: Mutex<Known>,
    arrived: Condvar,
}

#[derive(Debug, Default)]
struct Known {
    is_followed: bool,
    looked: Option<Instant>,
    answer: Option<Result<Vec<ProjectSummary>, String>>,
}

impl Projects {
    /// What is known of the fleet, if there is one, as a part of the page.
    pub(super) fn section(self: &Arc<Self>) -> String {
        if !fleet::is_configured() {
            return String::new();
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.looked = Some(Instant::now());
        if !known.is_followed {
            let this = Arc::clone(self);
            let thread = std::thread::Builder::new().name("fleet".into());
            known.is_followed = thread.spawn(move || this.follow()).is_ok();
            // What was known before may be long out of date.
            known.answer = None;
        }
        let waits = |known: &mut Known| known.is_followed && known.answer.is_none();
        let waited = self.arrived.wait_timeout_while(known, PATIENCE, waits);
        let known = waited.unwrap_or_else(PoisonError::into_inner).0;
        match &known.answer {
            Some(Ok(projects)) => table(projects),
            Some(Err(message)) => notice(message),
            None => notice("The fleet has not answered yet."),
        }
    }

    fn follow(&self) {
        let failed = self.read().err().map(|error| Err(error.to_string()));
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.is_followed = false;
        known.answer = failed.or(known.answer.take());
        self.arrived.notify_all();
    }

    /// Reads the projects again whenever something was published, as long as somebody looks.
    fn read(&self) -> Result<(), FleetError> {
        let mut database = fleet::open(&fleet::configured()?)?;
        let filter = Filter { limit: Some(MOST), ..Filter::default() };
        // It subscribes before it reads, so that no change is missed.
        database.wait(Duration::ZERO)?;
        loop {
            let found = database.summaries(&filter)?;
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.answer = Some(Ok(found));
            self.arrived.notify_all();
            if known.looked.is_none_or(|looked| looked.elapsed() > FOLLOWED) {
                return Ok(());
            }
            drop(known);
            database.wait(FRESH)?;
        }
    }
}

fn notice(message: &str) -> String {
    format!("<h2>Fleet</h2><p class=\"notice\">{}</p>", short(message, 500))
}

fn table(projects: &[ProjectSummary]) -> String {
    let mut out = String::from("<h2>Fleet</h2>");
    if projects.is_empty() {
        out.push_str("<p class=\"none\">No project has joined it yet.</p>");
        return out;
    }
    out.push_str(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Fleet\"><table><thead><tr><th scope=\"col\">project</th>\
         <th scope=\"col\">status</th><th scope=\"col\">progress</th><th scope=\"col\">step</th><th scope=\"col\">reviews</th>\
         <th scope=\"col\">machine</th><th scope=\"col\">heard</th><th scope=\"col\">published</th></tr></thead><tbody>",
    );
    for project in projects {
        let text = |text: Option<&str>| short(text.unwrap_or_default(), 200);
        let ago = |ms: u64| format!("{} ago", format_age(ms));
        let reviews = project.open_reviews;
        let _ = write!(
            out,
            "<tr><td class=\"text\"><b>{}</b><br><span class=\"none\">{}</span></td><td><span class=\"status\">{}</span></td>\
             <td>{}/{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            short(&project.name, 200),
            text(project.goal.as_deref()),
            text(Some(&project.status)),
            project.steps_done,
            project.steps,
            text(project.current_step.as_deref()),
            if reviews == 0 { String::new() } else { reviews.to_string() },
            text(project.machine.as_deref()),
            ago(project.heard_ms),
            ago(project.published_ms),
        );
    }
    out.push_str("</tbody></table></div>");
    out
}
