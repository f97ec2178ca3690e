use serde_json::{Value, json};

use super::{CliResult, Failure, Session};
use crate::workspace::StateDocument;

/// Print the JSON Schema of the document that `state` prints and `import` takes
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  statedir schema > state.schema.json")]
pub(in crate::adapters) struct Args {}

pub(super) fn run(session: &mut Session<'_>, _: &Args) -> CliResult {
    if session.output.is_json() {
        let schema: Value = serde_json::from_str(StateDocument::SCHEMA)
            .map_err(|error| Failure::new("bug", error.to_string(), 255))?;
        session.output.value(json!({ "schema": schema }));
    } else {
        session.output.raw(StateDocument::SCHEMA);
    }
    Ok(0)
}
