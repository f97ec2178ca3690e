//! What tools used between commands: counted beside the history, reported by the next entry.

use serde_json::{Map, Value, json};

use crate::workspace::{Change, Draft, Error, Outcome, Snapshot, Workspace, adapt};
use crate::{
    domain::{Constraints, ErrorCode},
    history::Counts,
    store::View,
};

/// Something a tool did that is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Usage {
    /// A file was written.
    FileOperation,
    /// A page was fetched or searched for.
    WebRequest,
}

impl Usage {
    /// The fact it counts for.
    pub(crate) const fn fact(self) -> &'static str {
        match self {
            Self::FileOperation => FILES,
            Self::WebRequest => REQUESTS,
        }
    }
}

const FILES: &str = "file_operations";
const REQUESTS: &str = "web_requests";

/// What no entry has reported yet.
pub(in crate::workspace) struct Pending {
    pub(in crate::workspace) files: u64,
    pub(in crate::workspace) requests: u64,
}

impl Pending {
    pub(in crate::workspace) fn of(view: &View) -> Self {
        Self { files: view.tally().get(FILES), requests: view.tally().get(REQUESTS) }
    }

    /// What the history says, and what no entry has reported yet.
    pub(in crate::workspace) fn added_to(&self, mut history: Counts) -> Counts {
        history.file_operations = history.file_operations.saturating_add(self.files);
        history.web_requests = history.web_requests.saturating_add(self.requests);
        history
    }
}

impl Draft<'_> {
    /// The fields with which an entry tells what was counted since the one before; once.
    pub(in crate::workspace) fn tell_usage(&mut self) -> Vec<(&'static str, u64)> {
        let Pending { files, requests } = Pending::of(self.view());
        if std::mem::replace(&mut self.records_usage, true) || files + requests == 0 {
            return Vec::new();
        }
        vec![(FILES, files), (REQUESTS, requests)]
    }
}

impl Workspace {
    /// Counts what a tool did.
    ///
    /// As long as nothing depends on it this writes one short line beside the log: no operation,
    /// no new revision. The next step that ends tells the sum in its entry. When the count crosses
    /// a limit, or when a rule looks at it, an event tells it at once, so that rules can answer.
    pub(crate) fn count(&self, usage: Usage) -> Result<Option<Outcome>, Error> {
        // Counting takes no lock of the state: whoever cannot look at it in time counts all the same.
        let watched = match self.read() {
            Ok(snapshot) => snapshot.is_watched(usage),
            Err(error) if error.code() == ErrorCode::LockTimeout => false,
            Err(error) => return Err(error),
        };
        if !watched && self.store.count(usage.fact()).is_ok() {
            return Ok(None);
        }
        let fields = Map::from_iter([(usage.fact().to_owned(), json!(1))]);
        let event = Change::Event { kind: TOOL_USE.to_owned(), fields };
        self.apply(&[event]).map(Some)
    }
}

/// The event that tells what tools used.
pub(in crate::workspace) const TOOL_USE: &str = "tool_use";
/// The event that ends a session.
pub(in crate::workspace) const SESSION_END: &str = "session_end";

/// Adds what was counted to the fields of an event that tells it.
pub(in crate::workspace) fn with_usage(
    draft: &mut Draft<'_>,
    kind: &str,
    fields: &Map<String, Value>,
) -> Map<String, Value> {
    let mut fields = fields.clone();
    if matches!(kind, TOOL_USE | SESSION_END) {
        for (name, count) in draft.tell_usage() {
            let given = fields.get(name).and_then(Value::as_u64).unwrap_or(0);
            fields.insert(name.to_owned(), json!(given.saturating_add(count)));
        }
    }
    fields
}

impl Snapshot {
    /// Whether one more is something that a rule or a limit has to know at once.
    fn is_watched(&self, usage: Usage) -> bool {
        let (Ok(constraints), Ok(workflow), Ok(facts)) =
            (self.constraints(), self.workflow(), self.facts())
        else {
            return false;
        };
        let before = Pending::of(self.view()).added_to(facts.history.counts);
        let mut after = before;
        match usage {
            Usage::FileOperation => after.file_operations += 1,
            Usage::WebRequest => after.web_requests += 1,
        }
        let cost = crate::domain::Money::default();
        let facts = |counts| adapt::limit_facts(&constraints, &workflow, cost, counts);
        let exceeded = |facts| adapt::limits(facts).iter().filter(|limit| limit.exceeded).count();
        mentions(&constraints, usage) || exceeded(&facts(&before)) != exceeded(&facts(&after))
    }
}

/// Whether a rule looks at what is counted.
fn mentions(constraints: &Constraints, usage: Usage) -> bool {
    let words = match usage {
        Usage::FileOperation => ["file_op", "file op"],
        Usage::WebRequest => ["web_req", "web req"],
    };
    let lines = constraints.rules.iter().chain(&constraints.directives);
    lines.map(|line| line.text.to_lowercase()).any(|text| words.iter().any(|w| text.contains(w)))
}
