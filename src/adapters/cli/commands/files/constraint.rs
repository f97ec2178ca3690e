use serde_json::{Value, json};

use crate::{
    adapters::cli::{CliResult, Failure, Session, pairs},
    domain::{ErrorCode, Modifier, Setting, constraints::modifier::NOT_SET},
    workspace::Change,
};

/// Read and set modifiers and limits in constraints.md
#[derive(Clone, Debug, clap::Subcommand)]
#[command(
    defer = true,
    after_help = "\
Examples:
  statedir constraint list
  statedir constraint get priority
  statedir constraint set priority cost_efficiency
  statedir constraint set max_cost_per_task unlimited
  statedir constraint set preferred_tools '[\"Read\", \"Write\"]'
  statedir constraint unset active_persona"
)]
pub(in crate::adapters) enum Verb {
    /// List modifiers and limits (set or not), directives and rules
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
    /// Remove one value: a limit becomes unlimited, a modifier unset
    #[command(
        after_help = "Examples:\n  statedir constraint unset max_web_requests\n  statedir constraint unset priority"
    )]
    Unset {
        /// The name of a modifier or limit
        name: String,
    },
}

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, verb: Verb) -> CliResult {
    match verb {
        Verb::Set { name, value, create } => {
            // A number stays as it was typed: `0.50` is not `0.5`.
            let value = match pairs::value(&value)? {
                list @ Value::Array(_) => list,
                _ => value.into(),
            };
            session.apply(&[Change::ConstraintSet { name, value, create }])
        }
        Verb::Unset { name } => session.apply(&[Change::ConstraintUnset { name }]),
        Verb::Get { name } => get(session, &name),
        Verb::List => list(session),
    }
}

fn get(session: &mut Session<'_>, name: &str) -> CliResult {
    let snapshot = session.workspace()?.read()?;
    let (constraints, workflow) = (snapshot.constraints()?, snapshot.workflow()?);
    let setting = constraints.setting(name).map_err(crate::workspace::Error::from)?;
    let modifier = workflow.modifier(name);
    if setting.is_none() && modifier.is_none() {
        let written = constraints.settings.iter().map(|setting| setting.name.as_str());
        let names = written.chain(workflow.modifiers().iter().map(Modifier::name));
        let failure = Failure::new(ErrorCode::NotFound, format!("there is no constraint `{name}`"));
        return Err(match crate::domain::nearest(name, names) {
            Some(near) => failure.hint(format!("did you mean `{near}`?")),
            None => failure.hint("`statedir constraint list` shows them"),
        });
    }
    session.output.value(|| {
        let mut answer = entry(setting, modifier);
        answer["line"] = json!(setting.map(|setting| constraints.place(setting.item).line));
        answer["revision"] = json!(snapshot.revision().as_str());
        answer
    });
    session.output.line(display_value(setting, modifier));
    Ok(0)
}

/// A setting as JSON, whether the file has a line for it or not.
fn entry(setting: Option<&Setting>, modifier: Option<&Modifier>) -> Value {
    let group = setting.map(|setting| json!(setting.group));
    let name = setting.map(|setting| setting.name.as_str()).or(modifier.map(Modifier::name));
    json!({ "name": name, "value": setting.and_then(|setting| setting.value.as_deref()),
        "group": group.or_else(|| modifier.map(|modifier| json!(modifier.group()))) })
}

/// Its value, or that it has none.
fn display_value<'a>(setting: Option<&'a Setting>, modifier: Option<&'a Modifier>) -> &'a str {
    let value = setting.and_then(|setting| setting.value.as_deref());
    value.unwrap_or_else(|| modifier.map_or(NOT_SET, Modifier::unset_text))
}

fn list(session: &mut Session<'_>) -> CliResult {
    let snapshot = session.workspace()?.read()?;
    let (constraints, workflow) = (snapshot.constraints()?, snapshot.workflow()?);
    // Those in the file, in its order; then those that have no line in it.
    let written = constraints.settings.iter();
    let mut settings: Vec<(Option<&Setting>, Option<&Modifier>)> =
        written.map(|setting| (Some(setting), workflow.modifier(&setting.name))).collect();
    for modifier in workflow.modifiers() {
        if !settings.iter().any(|(_, known)| known.is_some_and(|known| known == modifier)) {
            settings.push((None, Some(modifier)));
        }
    }
    session.output.value(|| {
        let settings: Vec<Value> =
            settings.iter().map(|(one, known)| entry(*one, *known)).collect();
        json!({ "settings": settings, "directives": constraints.directives,
            "rules": constraints.rules, "behaviours": constraints.behaviours,
            "revision": snapshot.revision().as_str() })
    });
    let name = |(setting, modifier): &(Option<&Setting>, Option<&Modifier>)| {
        let written = setting.map(|setting| setting.name.clone());
        written.or(modifier.map(|modifier| modifier.name().to_owned())).unwrap_or_default()
    };
    let width = settings.iter().map(|entry| name(entry).len()).max().unwrap_or(0);
    for entry in &settings {
        session.output.line(format!(
            "{:<width$}  {}",
            name(entry),
            display_value(entry.0, entry.1)
        ));
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
