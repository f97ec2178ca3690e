use serde_json::{Value, json};

use super::{directive, event};
use crate::{
    adapters::cli::{CliResult, Failure, Session, pairs},
    domain::ErrorCode,
    rules::LANGUAGE,
    text::display::counted,
    workspace::{Change, RuleLine},
};

/// `--help` shows the whole language, `-h` the examples only.
struct AfterHelp;

impl AfterHelp {
    fn long() -> String {
        format!(
            "Examples:\n  statedir rule add 'If cost exceeds 80% of budget → set priority to \
             \"cost_efficiency\"'\n  statedir rule check\n  statedir rule explain 1 --event \
             step_failed\n  statedir rule test step_failed error=timeout\n\nTHE LANGUAGE\n{LANGUAGE}"
        )
    }
}

/// Add, check, explain and try adaptation rules
#[derive(Clone, Debug, clap::Subcommand)]
#[command(defer = true, after_help = "\
Examples:
  statedir rule add 'If cost exceeds 80% of budget → set priority to \"cost_efficiency\"'
  statedir rule check
  statedir rule explain 1 --event step_failed
  statedir rule test step_failed error=timeout", after_long_help = AfterHelp::long())]
pub(in crate::adapters) enum Verb {
    /// List the rules with their numbers
    #[command(after_help = "Examples:\n  statedir rule list")]
    List,
    /// Add a rule; one that is not understood is refused
    #[command(
        after_help = "Examples:\n  statedir rule add 'If 3+ consecutive steps fail -> pause'"
    )]
    Add {
        /// The rule in plain words; - reads standard input
        text: String,
    },
    /// Remove a rule (`undo` restores it)
    #[command(after_help = "Examples:\n  statedir rule remove 2")]
    Remove {
        /// Its number, or its text
        rule: String,
    },
    /// Show for every rule what will be executed, what is advice, and what is not understood
    #[command(after_help = "Examples:\n  statedir rule check\n  statedir rule check --json")]
    Check,
    /// Explain why a rule fires or does not, with the values it sees
    #[command(after_help = "\
Examples:
  statedir rule explain 1
  statedir rule explain 2 --event feedback sentiment=positive")]
    Explain {
        /// Its number
        rule: usize,
        /// Explain it as if this event happened now
        #[arg(long, value_name = "TYPE")]
        event: Option<String>,
        /// Fields of the event
        #[arg(value_name = "KEY=VALUE", value_parser = pairs::pair)]
        fields: Vec<(String, String)>,
    },
    /// Simulate an event on a copy and print what would fire
    #[command(after_help = "\
A step event is simulated by running the command that causes it; a step is started first if need be.

Examples:
  statedir rule test step_failed --times 2
  statedir rule test feedback sentiment=positive")]
    Test {
        /// The type of the event
        event: String,
        /// Fields of the event
        #[arg(value_name = "KEY=VALUE", value_parser = pairs::pair)]
        fields: Vec<(String, String)>,
        /// How many times it happens
        #[arg(long, default_value_t = 1)]
        times: usize,
    },
}

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, verb: Verb) -> CliResult {
    match verb {
        Verb::Add { text } => session.apply(&[Change::RuleAdd { text: pairs::text(text)? }]),
        Verb::Remove { rule } => session.apply(&[Change::RuleRemove { rule: rule.into() }]),
        Verb::List => directive::list(session, "rules", |constraints| &constraints.rules),
        Verb::Check => check(session),
        Verb::Explain { rule, event, fields } => explain(session, rule, event, &fields),
        Verb::Test { event, fields, times } => test(session, &event, &fields, times),
    }
}

fn check(session: &mut Session<'_>) -> CliResult {
    let snapshot = session.workspace()?.read()?;
    let mut lines = snapshot.rule_lines()?;
    lines.extend(snapshot.prose_lines()?);
    let missed = lines.iter().filter(|line| line.error.is_some()).count();
    for text in lines.iter().flat_map(describe) {
        session.output.line(text);
    }
    let failure = (missed > 0).then(|| {
        let lines = counted(missed, "line is", "lines are");
        Failure::new(ErrorCode::RuleNotUnderstood, format!("{lines} not understood"))
            .hint("`statedir rule --help` describes the language")
    });
    session.end(failure, || json!({ "lines": lines, "revision": snapshot.revision().as_str() }))
}

fn describe(line: &RuleLine) -> Vec<String> {
    let mut texts = vec![format!(
        "{} {} (constraints.md:{}): {}",
        line.list, line.number, line.place, line.text
    )];
    let (means, executes) = &line.readable;
    texts.extend(line.means.as_ref().map(|_| format!("  means     {means}")));
    texts.extend(executes.iter().map(|action| format!("  executes  {action}")));
    let advises = line.advises.iter().filter(|_| !line.prose);
    texts.extend(advises.map(|advice| format!("  advises   {advice}")));
    texts.extend(line.prose.then(|| "  prose: passed on as it stands".to_owned()));
    texts.extend(line.error.as_ref().map(|error| format!("  NOT UNDERSTOOD: {error}")));
    texts.extend(line.nearest.as_ref().map(|nearest| format!("  nearest   {nearest}")));
    texts
}

fn explain(
    session: &mut Session<'_>,
    rule: usize,
    event: Option<String>,
    fields: &[(String, String)],
) -> CliResult {
    if event.is_none() && !fields.is_empty() {
        return Err(Failure::usage("fields need an `--event`"));
    }
    let event = event.map(|kind| event::event(&kind, fields)).transpose()?;
    let (text, explanation) = session.workspace()?.explain_rule(rule, event.as_ref())?;
    session.output.value(|| {
        let mut answer = json!(explanation);
        answer["rule"] = json!(rule);
        answer["text"] = json!(text);
        answer
    });
    session.output.line(format!("rule {rule}: {text}"));
    session.output.line(explanation.to_string());
    Ok(0)
}

fn test(
    session: &mut Session<'_>,
    kind: &str,
    fields: &[(String, String)],
    times: usize,
) -> CliResult {
    let events = vec![event::event(kind, fields)?; times.clamp(1, 1000)];
    let answers = session.workspace()?.test_rules(&events)?;
    session.output.value(|| json!({ "answers": answers }));
    for answer in &answers {
        session.output.line(&answer.message);
    }
    let fired =
        answers.iter().any(|answer| answer.data.get("fired").is_some_and(|f| f != &Value::Null));
    if !fired {
        session.output.line("no rule fires");
    }
    Ok(0)
}
