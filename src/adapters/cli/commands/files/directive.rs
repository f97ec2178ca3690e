use serde_json::json;

use crate::{
    adapters::cli::{CliResult, Session, pairs},
    domain::{Bullet, Constraints},
    workspace::Change,
};

/// Add, list and remove directives: rules of behaviour in force now
#[derive(Clone, Debug, clap::Subcommand)]
#[command(
    defer = true,
    after_help = "\
Examples:
  statedir directive add \"Do not create new components without approval\"
  statedir directive add \"prefer fast tools\" --for-steps 2
  statedir directive remove 1"
)]
pub(in crate::adapters) enum Verb {
    /// Add a directive
    #[command(
        after_help = "Examples:\n  statedir directive add \"prefer fast tools\" --for-steps 2"
    )]
    Add {
        /// What holds from now on, in one line; - reads standard input
        text: String,
        /// Only for this many steps
        #[arg(long, value_name = "N")]
        for_steps: Option<u32>,
    },
    /// List the directives with their numbers
    #[command(after_help = "Examples:\n  statedir directive list")]
    List,
    /// Remove a directive (`undo` restores it)
    #[command(after_help = "Examples:\n  statedir directive remove 2")]
    Remove {
        /// Its number, or its text
        directive: String,
    },
}

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, verb: Verb) -> CliResult {
    match verb {
        Verb::Add { text, for_steps } => {
            let text = pairs::text(text)?;
            session.apply(&[Change::DirectiveAdd { text, steps: for_steps }])
        }
        Verb::Remove { directive } => {
            session.apply(&[Change::DirectiveRemove { directive: directive.into() }])
        }
        Verb::List => list(session, "directives", |constraints| &constraints.directives),
    }
}

/// A numbered list of constraints.md.
pub(super) fn list(
    session: &mut Session<'_>,
    name: &str,
    of: fn(&Constraints) -> &[Bullet],
) -> CliResult {
    let snapshot = session.workspace()?.read()?;
    let constraints = snapshot.constraints()?;
    let lines = of(&constraints);
    session.output.value(|| json!({ name: lines, "revision": snapshot.revision().as_str() }));
    if lines.is_empty() {
        session.output.line(format!("no {name}"));
    }
    for line in lines {
        session.output.line(format!("{:>2}  {}", line.number, line.text));
    }
    Ok(0)
}
