use super::{super::parse, CliResult, Failure, Session};

/// Print the manual page of statedir or of one command, in roff
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  statedir man | man -l -\n  statedir man step add > statedir-step-add.1"
)]
pub(in crate::adapters) struct Args {
    /// The command, such as: step add
    command: Vec<String>,
}

pub(super) fn run(session: &mut Session<'_>, args: &Args) -> CliResult {
    let mut command = parse::described();
    let mut name = String::from("statedir");
    for word in &args.command {
        let Some(found) = command.find_subcommand(word) else {
            return Err(Failure::refused(
                "not_found",
                format!("there is no command `{name} {word}`"),
            ));
        };
        name = format!("{name}-{word}");
        command = found.clone();
    }
    let mut page = Vec::new();
    let rendered = clap_mangen::Man::new(command).title(name).render(&mut page);
    rendered.map_err(|error| Failure::refused("io", error.to_string()))?;
    let page = String::from_utf8_lossy(&page);
    if session.output.is_json() {
        session.output.value(serde_json::json!({ "page": page }));
    } else {
        session.output.raw(&page);
    }
    Ok(0)
}
