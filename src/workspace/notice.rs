//! What opening the state found and did, in words.

use crate::store::Report;

/// One line for each report.
pub(super) fn notices(reports: &[Report]) -> Vec<String> {
    reports.iter().map(describe).collect()
}

fn describe(report: &Report) -> String {
    match report {
        Report::RolledForward { op, .. } => {
            format!("completed operation {op}, which had been interrupted")
        }
        Report::External { op, files } => {
            format!("recorded an edit made outside as {op}: {}", files.join(", "))
        }
        Report::Salvaged { file, copy } => {
            let aside = copy.as_ref().map(|copy| format!("; what was there is in `{}`", copy.display()));
            format!("`{file}` was damaged by a power loss: restored{}", aside.unwrap_or_default())
        }
        Report::Adopted { files, .. } => format!("took over {}", files.join(", ")),
        Report::CompletedAppend { bytes } => {
            format!("added {bytes} bytes to history.md that an interrupted operation had left out")
        }
        Report::TornTail { bytes } => {
            format!("dropped {bytes} bytes of an operation that was never completed")
        }
    }
}
