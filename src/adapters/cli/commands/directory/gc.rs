use serde_json::json;

use crate::{
    adapters::cli::{CliResult, Session},
    workspace::Span,
};

/// Drop old operations from the log; the state itself is never touched
///
/// Automatic checkpoints of that age are dropped as well; named ones never are.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  statedir gc --older-than 7d\n  statedir gc --older-than 30d --dry-run"
)]
pub(in crate::adapters) struct Args {
    /// Drop operations older than this, such as 7d or 12h
    #[arg(long, value_name = "AGE", default_value = "7d", value_parser = age)]
    older_than: u64,
}

pub(super) fn age(text: &str) -> Result<u64, String> {
    const DAY: u64 = 24 * 60 * 60 * 1000;
    // Without a unit it would mean seconds, and drop nearly everything.
    if text.trim().parse::<f64>().is_ok() {
        return Err(format!("`{text}` has no unit; write `7d`, `12h` or `30m`"));
    }
    let days = text.trim().trim_end_matches("days").trim_end_matches("day").trim_end_matches('d');
    match days.trim().parse::<u64>() {
        Ok(days) if text.contains('d') => Ok(days.saturating_mul(DAY)),
        _ => text.parse::<Span>().map(Span::millis),
    }
}

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, args: &Args) -> CliResult {
    let report = session.workspace()?.gc(args.older_than)?;
    session.output.value(|| json!({ "operations_dropped": report.operations_dropped,
            "segments_dropped": report.segments_dropped, "objects_dropped": report.objects_dropped,
            "checkpoints_dropped": report.checkpoints_dropped,
            "bytes_freed": report.bytes_freed, "warnings": report.warnings, "dry_run": session.global.dry_run }));
    let would = if session.global.dry_run { "would drop" } else { "dropped" };
    for warning in &report.warnings {
        session.output.note(warning);
    }
    if report.operations_dropped == 0 && report.bytes_freed == 0 {
        session
            .output
            .line("nothing to drop: only whole log segments that are old enough are dropped");
        return Ok(0);
    }
    let checkpoints = match report.checkpoints_dropped {
        0 => String::new(),
        count => format!(", {count} automatic checkpoints"),
    };
    session.output.line(format!(
        "{would} {} operations{checkpoints} and {} images: {} bytes",
        report.operations_dropped, report.objects_dropped, report.bytes_freed
    ));
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_days_or_lengths_of_time() {
        assert_eq!(age("7d"), Ok(7 * 86_400_000));
        assert_eq!(age("2 days"), Ok(2 * 86_400_000));
        assert_eq!(age("90s"), Ok(90_000));
        assert!(age("soon").is_err());
        for bare in ["7", " 7 ", "0", "1.5"] {
            assert!(age(bare).is_err_and(|message| message.contains("no unit")), "{bare}");
        }
    }
}
