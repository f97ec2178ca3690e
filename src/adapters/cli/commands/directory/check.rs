use serde_json::json;

use crate::{
    adapters::{
        cli::{CliResult, Failure, Session, missing_file, output::progress::Progress},
        git,
    },
    domain::{ErrorCode, Problem, Severity},
    text::display::counted,
};

/// Find every inconsistency, with its place and a fix (exit 4 if there is an error)
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  statedir check
  statedir check --fix
  statedir check --json")]
pub(in crate::adapters) struct Args {
    /// Repair what is safe, as one operation that can be undone
    #[arg(long)]
    fix: bool,
    /// Exit 4 for warnings too
    #[arg(long)]
    strict: bool,
}

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, args: &Args) -> CliResult {
    let workspace = session.workspace()?;
    let mut progress = Progress::new("checking");
    let dry_run = args.fix && session.global.dry_run;
    let checked = workspace.check(args.fix, &mut |bytes| progress.at(bytes));
    drop(progress);
    let mut checked = checked?;
    for unmerged in git::unmerged_files(workspace.directory()).unwrap_or_default() {
        let file = unmerged.file;
        let is_known = |known: &Problem| known.file == file && known.code == ErrorCode::Unmerged;
        if !checked.findings.iter().any(is_known) {
            let problem =
                Problem::error(ErrorCode::Unmerged, file, "git reports it as unmerged".to_owned());
            checked.findings.push(problem.hint("`statedir merge --list` says what to do"));
        }
    }
    missing_file::add_hints(&workspace, &mut checked.findings);
    let errors = checked.errors();
    let warnings = checked.findings.len() - errors;
    for notice in &checked.notices {
        session.output.note(notice);
    }
    let repair = if dry_run { "would fix" } else { "fixed" };
    for fixed in &checked.fixed {
        session.output.line(format!("{repair}: {}: {}", fixed.file, fixed.message));
    }
    for finding in &checked.findings {
        let word = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        session.output.line(format!("{word}: {}", finding.line()));
        if let Some(hint) = &finding.hint {
            session.output.advice(format!("  hint: {hint}"));
        }
    }
    let read = checked.constraints;
    if read.prose > 0 {
        session.output.advice(format!(
            "{}: {} executed, {} passed on as prose (`statedir rule check`)",
            checked.constraints_in,
            counted(read.executed, "line", "lines"),
            counted(read.prose, "line", "lines")
        ));
    }
    if errors + warnings == 0 {
        let everything = match dry_run && !checked.fixed.is_empty() {
            true => "everything else is consistent",
            false => "everything is consistent",
        };
        session.output.line(everything);
    }
    let is_failure = errors > 0 || (warnings > 0 && args.strict);
    let failure = is_failure.then(|| {
        let message = format!(
            "found {} and {}",
            counted(errors, "error", "errors"),
            counted(warnings, "warning", "warnings")
        );
        let failure = Failure::new(ErrorCode::Inconsistent, message);
        match checked.findings.iter().any(|finding| finding.fixable) {
            true => failure.hint("`statedir check --fix` repairs what is safe"),
            false => failure,
        }
    });
    session.end(failure, || {
        let mut answer = json!(checked);
        if dry_run {
            answer["dry_run"] = json!(true);
        }
        answer
    })
}
