use serde_json::json;

use crate::{
    adapters::cli::{CliResult, Failure, Session, pairs},
    domain::{Decision, ErrorCode, Review},
    text::{display::one_line, shell},
    workspace::Change,
};

/// Ask a person a question; the plan waits for the answer
#[derive(Clone, Debug, clap::Subcommand)]
#[command(
    defer = true,
    after_help = "\
Examples:
  statedir review open \"Is the budget fine?\"
  statedir review list
  statedir review approve r1
  statedir review reject r1 --why \"too expensive\"

Ticking its box in plan.md (in an adopted project: in steps.md) approves, too."
)]
pub(in crate::adapters) enum Verb {
    /// List the reviews; open ones only unless --all
    #[command(after_help = "Examples:\n  statedir review list --all")]
    List {
        /// Include decided ones
        #[arg(long)]
        all: bool,
    },
    /// Open a review: ask a person
    #[command(after_help = "Examples:\n  statedir review open \"Is the budget fine?\"")]
    Open {
        /// What needs to be decided
        question: String,
    },
    /// Approve; a move that waits for it is made
    #[command(after_help = "Examples:\n  statedir review approve r1")]
    Approve {
        /// Which review, such as r1
        id: Option<String>,
        /// A remark
        #[arg(long, value_name = "TEXT")]
        why: Option<String>,
    },
    /// Reject; the reason is recorded and decides to which step a gate sends the work back
    ///
    /// A gate sends the work back to the step that its `reject` names for the reason, or to that of
    /// --to; the steps that depend on it are done again. Without such a step the plan is paused.
    #[command(
        after_help = "Examples:\n  statedir review reject r1 --why \"too expensive\"\n  statedir review reject r1 --why \"Scope too large\" --to 2"
    )]
    Reject {
        /// Which review, such as r1
        id: Option<String>,
        /// The reason
        #[arg(long, value_name = "TEXT")]
        why: Option<String>,
        /// The step to go back to: number, id or title
        #[arg(long, value_name = "STEP")]
        to: Option<String>,
    },
}

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, verb: Verb) -> CliResult {
    match verb {
        Verb::Open { question } => {
            session.apply(&[Change::ReviewOpen { text: pairs::text(question)? }])
        }
        Verb::Approve { id, why } => {
            let why = pairs::optional_text(why)?;
            let id = review_id(session, id, "approve", why.as_deref())?;
            session.apply(&[Change::ReviewDecide { id, approve: true, why, to: None }])
        }
        Verb::Reject { id, why, to } => {
            let why = pairs::optional_text(why)?;
            let id = review_id(session, id, "reject", why.as_deref())?;
            session.apply(&[Change::ReviewDecide { id, approve: false, why, to }])
        }
        Verb::List { all } => list(session, all),
    }
}

/// The review to decide. It is never guessed: without an id, the error lists the open ones.
fn review_id(
    session: &Session<'_>,
    id: Option<String>,
    verb: &str,
    why: Option<&str>,
) -> Result<String, Failure> {
    if let Some(id) = id {
        return Ok(id);
    }
    let snapshot = session.workspace()?.read()?;
    let plan = snapshot.plan()?;
    let open: Vec<&Review> = plan.open_reviews().collect();
    let failure = match open.as_slice() {
        [] => Failure::new(ErrorCode::Usage, "no review is open")
            .hint("`statedir review list --all` shows those that were decided"),
        [first, ..] => {
            let ids: Vec<&str> = open.iter().map(|review| review.id.as_str()).collect();
            let message = format!("which review? open: {}", ids.join(", "));
            let mut words = vec!["review", verb, first.id.as_str()];
            words.extend(why.into_iter().flat_map(|why| ["--why", why]));
            let command = shell::command_line(words);
            let hint = format!("`{command}` answers: {}", one_line(&first.text));
            Failure::new(ErrorCode::Usage, message).hint(hint)
        }
    };
    Err(failure)
}

fn list(session: &mut Session<'_>, all: bool) -> CliResult {
    let snapshot = session.workspace()?.read()?;
    let mut reviews = snapshot.plan()?.reviews.clone();
    reviews.retain(|review| all || review.decision == Decision::Open);
    session
        .output
        .value(|| json!({ "reviews": reviews, "revision": snapshot.revision().as_str() }));
    if reviews.is_empty() {
        session.output.line(if all { "no reviews" } else { "no open reviews" });
    }
    let first = reviews.iter().find(|review| review.decision == Decision::Open);
    let first = first.map(|review| review.id.clone());
    for review in reviews {
        let mark = match review.decision {
            Decision::Open => "[ ]",
            Decision::Approved => "[x]",
            Decision::Rejected | Decision::Closed => "[-]",
        };
        session.output.line(format!("{mark} {}: {}", review.id, review.text));
    }
    if let Some(id) = first {
        let how = "`statedir review approve {id}` or `statedir review reject {id}`";
        session.output.line(format!("a person decides: {}", how.replace("{id}", &id)));
    }
    Ok(0)
}
