use serde_json::json;

use crate::{
    adapters::cli::{CliResult, Failure, Session, pairs},
    domain::ErrorCode,
    workspace::Change,
};

/// Read and set modifiers and limits in constraints.md
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  statedir constraint list
  statedir constraint get priority
  statedir constraint set priority cost_efficiency
  statedir constraint set preferred_tools '[\"Read\", \"Write\"]'")]
pub(in crate::adapters) struct Args {
    #[command(subcommand)]
    pub(in crate::adapters) verb: Verb,
}

#[derive(Clone, Debug, clap::Subcommand)]
#[command(defer = true)]
pub(in crate::adapters) enum Verb {
    /// List modifiers, limits, directives and rules
    #[command(after_help = "Examples:\n  statedir constraint list --json")]
    List,
    /// Print one value
    #[command(after_help = "Examples:\n  statedir constraint get max_cost_per_task")]
    Get {
        /// The name of a modifier or limit
        name: String,
    },
    /// Set one value
    #[command(
        after_help = "Examples:\n  statedir constraint set priority quality\n  statedir constraint set tone formal --create"
    )]
    Set {
        /// The name of a modifier or limit
        name: String,
        /// One of its values
        #[arg(allow_hyphen_values = true)]
        value: String,
        /// Add a modifier of your own
        #[arg(long)]
        create: bool,
    },
}

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, args: Args) -> CliResult {
    match args.verb {
        Verb::Set { name, value, create } => {
            // A number stays as it was typed: `0.50` is not `0.5`.
            let value = match pairs::value(&value)? {
                list @ serde_json::Value::Array(_) => list,
                _ => value.into(),
            };
            session.apply(&[Change::ConstraintSet { name, value, create }])
        }
        Verb::Get { name } => get(session, &name),
        Verb::List => list(session),
    }
}

fn get(session: &mut Session<'_>, name: &str) -> CliResult {
    let snapshot = session.workspace()?.read()?;
    let constraints = snapshot.constraints()?;
    let setting = constraints.setting(name).map_err(crate::workspace::Error::from)?;
    let Some(setting) = setting else {
        let names = constraints.settings.iter().map(|setting| setting.name.as_str());
        let failure = Failure::new(ErrorCode::NotFound, format!("there is no constraint `{name}`"));
        return Err(match crate::domain::nearest(name, names) {
            Some(near) => failure.hint(format!("did you mean `{near}`?")),
            None => failure.hint("`statedir constraint list` shows them"),
        });
    };
    if session.output.is_json() {
        let answer = json!({ "name": setting.name, "value": setting.value, "group": setting.group,
            "line": constraints.place(setting.item).line, "revision": snapshot.revision().as_str() });
        session.output.value(answer);
    } else {
        session.output.line(setting.value.as_deref().unwrap_or_default());
    }
    Ok(0)
}

fn list(session: &mut Session<'_>) -> CliResult {
    let snapshot = session.workspace()?.read()?;
    let constraints = snapshot.constraints()?;
    if session.output.is_json() {
        let answer = json!({ "settings": constraints.settings, "directives": constraints.directives,
            "rules": constraints.rules, "behaviours": constraints.behaviours,
            "revision": snapshot.revision().as_str() });
        session.output.value(answer);
        return Ok(0);
    }
    let width = constraints.settings.iter().map(|setting| setting.name.len()).max().unwrap_or(0);
    for setting in &constraints.settings {
        let value = setting.value.as_deref().unwrap_or("(not set)");
        session.output.line(format!("{:<width$}  {value}", setting.name));
    }
    for directive in &constraints.directives {
        session.output.line(format!("directive {}: {}", directive.number, directive.text));
    }
    for rule in &constraints.rules {
        session.output.line(format!("rule {}: {}", rule.number, rule.text));
    }
    for behaviour in &constraints.behaviours {
        session.output.line(format!("{}: {}", behaviour.task_type, behaviour.text));
    }
    Ok(0)
}
