use serde_json::{Value, json};

use crate::{
    adapters::cli::{CliResult, Failure, Session, pairs},
    domain::{ErrorCode, Variables},
    text::json::Path,
    workspace::{Change, Resolver, Snapshot},
};

/// Read and change variables.json
#[derive(Clone, Debug, clap::Subcommand)]
#[command(
    defer = true,
    after_help = "\
PATH is dotted (a.b.0) or a JSON pointer (/a/b/0). VALUE is JSON where it parses as JSON, else text.

Examples:
  statedir var set file_paths.report workspace/report.md
  statedir var get file_paths.report
  statedir var append extracted_data.urls_processed https://example.org
  echo '{\"extracted_data\":{\"flags\":{\"done\":true}}}' | statedir var merge -"
)]
pub(in crate::adapters) enum Verb {
    /// Print a value, or everything if no path is given
    #[command(
        after_help = "Examples:\n  statedir var get cost_tracking.total_cost\n  statedir var get steps.3.p99_ms\n  statedir var get /file_paths --json"
    )]
    Get {
        /// Dotted path or JSON pointer
        path: Option<String>,
    },
    /// Set a value, creating missing objects
    #[command(
        after_help = "Examples:\n  statedir var set a.b 42\n  statedir var set a.version 1.0 --string"
    )]
    Set {
        /// Dotted path or JSON pointer
        path: String,
        /// JSON where it parses as JSON, else text; - reads standard input
        #[arg(allow_hyphen_values = true)]
        value: String,
        /// Treat the value as text, whatever it looks like
        #[arg(long)]
        string: bool,
    },
    /// Remove a value
    #[command(visible_alias = "remove", after_help = "Examples:\n  statedir var unset a.b")]
    Unset {
        /// Dotted path or JSON pointer
        path: String,
    },
    /// Append to an array; nothing is replaced
    #[command(
        after_help = "Examples:\n  statedir var append extracted_data.urls_processed https://example.org"
    )]
    Append {
        /// Dotted path or JSON pointer
        path: String,
        /// JSON where it parses as JSON, else text; - reads standard input
        #[arg(allow_hyphen_values = true)]
        value: String,
        /// Treat the value as text, whatever it looks like
        #[arg(long)]
        string: bool,
    },
    /// Merge an object (RFC 7396): null removes, objects merge, the rest replaces
    #[command(
        after_help = "Examples:\n  statedir var merge patch.json\n  echo '{\"a\":{\"b\":null}}' | statedir var merge -"
    )]
    Merge {
        /// A file, or - for standard input
        file: String,
    },
    /// Apply a list of operations, all or none (RFC 6902)
    #[command(
        after_help = "Examples:\n  echo '[{\"op\":\"add\",\"path\":\"/a/-\",\"value\":1}]' | statedir var patch -"
    )]
    Patch {
        /// A file, or - for standard input
        file: String,
    },
}

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, verb: Verb) -> CliResult {
    let output = &session.output;
    let typed = |text: String, string: bool| -> Result<Value, Failure> {
        let text = pairs::text(text)?;
        if string {
            return Ok(Value::from(text));
        }
        let value = pairs::checked_value(&text)?;
        // As in `3.10`, which may be the number of a version.
        let given = text.trim();
        if value.is_f64() && given.ends_with('0') && !given.ends_with(".0") {
            output.note(&format!(
                "{given} was read as the number {value}; `--string` keeps it as text"
            ));
        }
        Ok(value)
    };
    let change = match verb {
        Verb::Get { path } => return get(session, path.as_deref()),
        Verb::Set { path, value, string } => Change::VarSet { path, value: typed(value, string)? },
        Verb::Unset { path } => Change::VarUnset { path },
        Verb::Append { path, value, string } => {
            Change::VarAppend { path, value: typed(value, string)? }
        }
        Verb::Merge { file } => Change::VarMerge { patch: pairs::json(&file)? },
        Verb::Patch { file } => Change::VarPatch { patch: pairs::json(&file)? },
    };
    session.apply(&[change])
}

/// What a reference such as `{{steps.3.p99_ms}}` means, or what follows from the other files.
fn of_reference(
    snapshot: &Snapshot,
    variables: &Variables,
    path: &str,
) -> Result<Option<Value>, Failure> {
    let (plan, workflow) = (snapshot.plan()?, snapshot.workflow()?);
    let overview = snapshot.overview()?;
    let (total_cost, last_updated) = (overview.spending.total_cost, overview.last_updated);
    let resolver = Resolver::new(Some(&plan), Some(variables), &workflow);
    Ok(resolver.with_totals(total_cost, last_updated.as_deref()).get(path))
}

fn get(session: &mut Session<'_>, path: Option<&str>) -> CliResult {
    let snapshot = session.workspace()?.read()?;
    let variables = snapshot.variables()?;
    let parsed = match path {
        Some(path) => Path::parse(path).map_err(|error| {
            Failure::new(ErrorCode::BadPath, error.to_string())
                .hint("a path is dotted (`a.b.0`) or a JSON pointer (`/a/b/0`)")
        })?,
        None => Path::root(),
    };
    let value = match (variables.document.get(&parsed), path) {
        (None, Some(path)) => {
            let dotted =
                path.strip_prefix('/').map_or(path.to_owned(), |path| path.replace('/', "."));
            of_reference(&snapshot, &variables, &dotted)?
        }
        (value, _) => value,
    };
    let Some(value) = value else {
        let keys = parsed.parent().and_then(|parent| variables.document.keys(&parent));
        let nearest = keys.as_ref().and_then(|keys| {
            let last = parsed.last().unwrap_or_default();
            crate::domain::nearest(last, keys.iter().map(String::as_str))
        });
        let failure =
            Failure::new(ErrorCode::NotFound, format!("`{parsed}` is not in variables.json"));
        return Err(match (nearest, &keys) {
            (Some(near), _) => failure.hint(format!("did you mean `{near}`?")),
            (None, Some(keys)) if !keys.is_empty() => {
                failure.hint(format!("there are: {}", keys.join(", ")))
            }
            (None, _) => failure.hint("`statedir var get` shows everything"),
        });
    };
    session.output.value(|| {
        json!({ "path": path.unwrap_or_default(), "value": value,
            "revision": snapshot.revision().as_str() })
    });
    let raw = variables.document.raw(&parsed).map(str::to_owned);
    let raw = raw.unwrap_or_else(|| value.to_string());
    match &value {
        Value::String(text) => session.output.verbatim(text),
        Value::Object(_) | Value::Array(_) => session.output.verbatim(format!("{value:#}")),
        _ => session.output.verbatim(raw),
    }
    Ok(0)
}
