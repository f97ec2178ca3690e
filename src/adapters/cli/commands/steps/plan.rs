use serde_json::json;

use crate::{
    adapters::cli::{
        CliResult, Session,
        commands::{brief, graph},
        output::outcome_json,
        pairs,
    },
    workspace::Change,
};

/// Change the plan's metadata; show its steps as a graph
#[derive(Clone, Debug, clap::Subcommand)]
#[command(
    defer = true,
    after_help = "\
Examples:
  statedir plan set status=PAUSED
  statedir plan set goal=\"Compare four vector databases\" owner=ada
  statedir plan graph --format mermaid
  statedir plan tracks"
)]
pub(in crate::adapters) enum Verb {
    /// Set one or several fields: title, goal, status, mode, or your own
    #[command(after_help = "\
Examples:
  statedir plan set status=PAUSED
  statedir plan set goal=\"Compare four vector databases\" owner=ada")]
    Set {
        /// A field and its new value
        #[arg(required = true, value_name = "KEY=VALUE", value_parser = pairs::pair)]
        set: Vec<(String, String)>,
    },
    Graph(graph::GraphArgs),
    Tracks(graph::TracksArgs),
}

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, verb: &Verb) -> CliResult {
    match verb {
        Verb::Set { set } => session.apply(&[Change::PlanSet { set: pairs::texts(set)? }]),
        Verb::Graph(args) => graph::graph(session, args),
        Verb::Tracks(args) => graph::tracks(session, args),
    }
}

/// Pause the plan; no step can be started until `resume`
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  statedir pause --why \"waiting for the API key\"")]
pub(in crate::adapters) struct PauseArgs {
    /// Why
    #[arg(long, value_name = "TEXT")]
    pub(in crate::adapters) why: String,
}

/// Continue a paused, failed or interrupted execution
///
/// The plan continues; running steps are left alone, and the answer says who holds them. Resuming
/// again, as after a compaction, changes nothing. The brief follows, as `statedir brief` prints it.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  statedir resume\n  statedir resume --json")]
pub(in crate::adapters) struct ResumeArgs {}

pub(in crate::adapters::cli) fn pause(session: &mut Session<'_>, args: PauseArgs) -> CliResult {
    session.apply(&[Change::Pause { why: pairs::text(args.why)? }])
}

pub(in crate::adapters::cli) fn resume(session: &mut Session<'_>) -> CliResult {
    let outcome = session.workspace()?.apply(&[Change::Resume])?;
    let dry_run = session.global.dry_run;
    // The change is done: a brief that cannot be made is only reported.
    let (briefed, document) = match brief::after_resume(session) {
        Ok(made) => made,
        Err(failure) => {
            session.output.outcome(&outcome, dry_run);
            session.output.note(&failure.message);
            return Ok(0);
        }
    };
    let mut damage = brief::damage(&briefed);
    // A disk that fails for a moment has not damaged the state, and the request was carried out.
    let is_passing = briefed.damaged.iter().all(|problem| problem.code.is_of_disk());
    let is_carried_out = outcome.committed || (dry_run && !outcome.changed.is_empty());
    let missing = damage.take_if(|_| is_carried_out && is_passing);
    let missing = missing.map(|failure| {
        format!("the brief is not complete: {}; `statedir brief` shows it again", failure.message)
    });
    session.output.outcome(&outcome, dry_run);
    if !dry_run {
        session.output.raw("\n");
        session.output.raw(&briefed.brief.text);
    }
    if let Some(missing) = &missing {
        session.output.note(missing);
    }
    session.end(damage, || {
        let mut answer = outcome_json(&outcome, dry_run);
        if !dry_run {
            answer["brief"] = document;
        }
        if missing.is_some() {
            let notices = outcome.notices.iter().chain(&missing);
            answer["notices"] = json!(notices.collect::<Vec<_>>());
        }
        answer
    })
}
