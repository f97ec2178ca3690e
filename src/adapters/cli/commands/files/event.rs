use crate::{
    adapters::cli::{CliResult, Failure, Session, pairs},
    workspace::{Change, Event},
};

/// Report an event, so that rules can react
#[derive(Clone, Debug, clap::Subcommand)]
#[command(
    defer = true,
    after_help = "\
Examples:
  statedir event emit feedback sentiment=positive
  statedir event emit cost amount=0.12
  statedir event emit error message=\"disk full\""
)]
pub(in crate::adapters) enum Verb {
    /// Record an event and let the rules react
    #[command(after_help = "\
feedback (sentiment=…), cost (amount=…), time (amount=…), error (message=…), task_type (type=…) and
any word of your own. `cost`, `time`, `file_operations` and `web_requests` of any event count.

Examples:
  statedir event emit feedback sentiment=positive
  statedir event emit deployed region=eu file_operations=3")]
    Emit {
        /// The type, one word
        #[arg(value_name = "TYPE")]
        kind: String,
        /// A field of the event
        #[arg(value_name = "KEY=VALUE", value_parser = pairs::pair)]
        fields: Vec<(String, String)>,
    },
}

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, verb: Verb) -> CliResult {
    let Verb::Emit { kind, fields } = verb;
    session.apply(&[Change::Event { kind, fields: pairs::values(&fields)? }])
}

/// The event that arguments name.
pub(super) fn event(kind: &str, fields: &[(String, String)]) -> Result<Event, Failure> {
    Ok(Event { kind: kind.to_owned(), payload: pairs::values(fields)? })
}
