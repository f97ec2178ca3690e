//! What is printed for shells, manuals and validators: it describes statedir, not a state.

use clap_complete::Shell;
use serde_json::{Value, json};

use crate::{
    adapters::cli::{CliResult, Failure, Session, completion, parse},
    domain::ErrorCode,
    workspace::StateDocument,
};

/// Print a completion script for a shell
///
/// In bash, zsh and fish it also completes names from the state: steps, sections, variables,
/// reviews, checkpoints, templates.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  statedir completions bash > ~/.local/share/bash-completion/completions/statedir\n  statedir completions zsh > _statedir"
)]
pub(in crate::adapters) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub(in crate::adapters::cli) fn completions(
    session: &mut Session<'_>,
    args: &CompletionsArgs,
) -> CliResult {
    let script = match completion::script(args.shell) {
        Some(script) => script.to_owned(),
        None => {
            let (mut command, mut script) = (parse::described_with_help(), Vec::new());
            clap_complete::generate(args.shell, &mut command, "statedir", &mut script);
            String::from_utf8_lossy(&script).into_owned()
        }
    };
    session.output.value(|| json!({ "script": script }));
    session.output.raw(&script);
    Ok(0)
}

/// Print the manual page of statedir or of one command, in roff
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  statedir man | man -l -\n  statedir man step add > statedir-step-add.1"
)]
pub(in crate::adapters) struct ManArgs {
    /// The command, such as: step add
    command: Vec<String>,
}

pub(in crate::adapters::cli) fn man(session: &mut Session<'_>, args: &ManArgs) -> CliResult {
    let mut command = parse::described();
    let mut name = String::from("statedir");
    for word in &args.command {
        let Some(found) = command.find_subcommand(word) else {
            return Err(Failure::new(
                ErrorCode::NotFound,
                format!("there is no command `{name} {word}`"),
            ));
        };
        name = format!("{name}-{word}");
        command = found.clone();
    }
    let mut page = Vec::new();
    let rendered = clap_mangen::Man::new(command).title(name).render(&mut page);
    rendered.map_err(|error| Failure::new(ErrorCode::Io, error.to_string()))?;
    let page = String::from_utf8_lossy(&page);
    session.output.value(|| json!({ "page": page }));
    session.output.raw(&page);
    Ok(0)
}

/// Print the JSON Schema of the document that `state` prints and `import` takes
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  statedir schema > state.schema.json")]
pub(in crate::adapters) struct SchemaArgs {}

pub(in crate::adapters::cli) fn schema(session: &mut Session<'_>, _: &SchemaArgs) -> CliResult {
    session.output.value(|| {
        let schema: Value = serde_json::from_str(StateDocument::SCHEMA).unwrap_or_default();
        json!({ "schema": schema })
    });
    session.output.raw(StateDocument::SCHEMA);
    Ok(0)
}
