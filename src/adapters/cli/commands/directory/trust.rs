use serde_json::json;

use crate::adapters::cli::{CliResult, Session};

/// Accept a .statedir/ that was not made here
///
/// `.statedir/` holds the operation log and the checkpoints. One that git tracks may have come
/// with a clone: it is not used, and the first change sets it aside as `.statedir.untrusted-1`.
/// The five files are not affected. This accepts it: the one in place, or the one set aside last,
/// which then replaces the one in use (that one is set aside in turn). Do this only if you know who
/// made it.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  statedir trust\n  statedir trust --dry-run")]
pub(in crate::adapters) struct Args {}

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, _args: &Args) -> CliResult {
    let workspace = session.workspace()?;
    let was_used = workspace.uses_private_directory();
    let trusted = workspace.trust()?;
    let dry_run = session.global.dry_run;
    let changed = !was_used || trusted.from.is_some();
    session.output.value(|| {
        let replaced = trusted.replaced.as_ref().map(|path| path.display().to_string());
        json!({ "changed": changed, "from": trusted.from,
            "replaced": replaced, "dry_run": dry_run })
    });
    let would = if dry_run { "would be trusted" } else { "is trusted" };
    session.output.line(match &trusted.from {
        Some(from) => format!("`.statedir/` {would}; it had been set aside as `{from}`"),
        None if changed => format!("`.statedir/` {would}"),
        None => "nothing to do: `.statedir/` is trusted, and none was set aside".to_owned(),
    });
    if let Some(replaced) = &trusted.replaced {
        session
            .output
            .note(&format!("the one in use until now is kept as `{}`", replaced.display()));
    }
    Ok(0)
}
