//! What opening the state found and did, in words.

use crate::store::Report;

/// One line for each report of a command that changes the state.
pub(in crate::workspace) fn done(reports: &[Report]) -> Vec<String> {
    reports.iter().map(describe).collect()
}

/// One line for each report of a command that only reads: nothing was recorded or written.
pub(in crate::workspace) fn pending(reports: &[Report]) -> Vec<String> {
    let pending = |report: &Report| match report {
        Report::External { files, .. } => {
            format!("edited outside statedir and not yet recorded: {}", files.join(", "))
        }
        Report::Adopted { .. } => {
            "there is no operation log yet; the first change starts one".to_owned()
        }
        Report::RolledForward { op, .. } => {
            format!("operation {op} was interrupted; the next change completes the files")
        }
        other => describe(other),
    };
    reports.iter().map(pending).collect()
}

fn describe(report: &Report) -> String {
    match report {
        Report::RolledForward { op, .. } => {
            format!("completed operation {op}, which had been interrupted")
        }
        Report::External { op, files } => {
            format!("recorded an edit made outside statedir as {op}: {}", files.join(", "))
        }
        Report::Salvaged { file, copy } => {
            let aside = copy
                .as_ref()
                .map(|copy| format!("; the damaged version is in `{}`", copy.display()));
            format!("`{file}` was damaged by a power loss: restored{}", aside.unwrap_or_default())
        }
        Report::Adopted { files, .. } => format!("adopted {}", files.join(", ")),
        Report::CompletedAppend { bytes } => {
            format!("added {bytes} bytes to history.md that an interrupted operation had left out")
        }
        Report::Distrusted { why, copy } => {
            let aside = match copy {
                Some(copy) => format!("was set aside as `{}`", copy.display()),
                None => "is not used".to_owned(),
            };
            format!(
                "`.statedir/` {aside}: {why}; the state files are unchanged. \
                 `statedir trust` accepts it"
            )
        }
        Report::TornTail { bytes } => {
            format!("dropped {bytes} bytes of an operation that was never completed")
        }
    }
}
