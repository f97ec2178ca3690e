//! What it means that one rewritable file is not as the log expects.

use crate::store::{disk::read::Contents, inspect::inspection::Evidence};

/// What a difference between a file and the log means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) enum Verdict {
    /// An operation did not reach the file, or a power loss took it back: bring it forward.
    Behind,
    /// A power loss left something that never was: set it aside, then restore the file.
    Torn,
    /// Somebody edited it: record that.
    External,
}

/// Decides what a file's difference from `expected` means; both may be absent.
pub(in crate::store) fn classify(
    name: &str,
    actual: Option<&Contents>,
    expected: Option<&[u8]>,
    evidence: &Evidence<'_>,
) -> Verdict {
    if evidence.same_boot {
        same_boot(name, actual, expected, evidence)
    } else {
        other_boot(name, actual, expected, evidence)
    }
}

/// Without a reboot only the last operation can be missing: each one begins by completing the
/// one before.
fn same_boot(
    name: &str,
    actual: Option<&Contents>,
    expected: Option<&[u8]>,
    evidence: &Evidence<'_>,
) -> Verdict {
    let hash = actual.map(|contents| contents.hash);
    let behind = evidence
        .unapplied
        .is_some_and(|op| op.files.iter().any(|file| file.name == name && file.before == hash));
    if behind {
        return Verdict::Behind;
    }
    let blank = |contents: &Contents| contents.bytes.iter().all(|byte| *byte == 0);
    match (actual, expected) {
        // Where the boot is not known: no editor saves a file of zeros.
        (Some(contents), Some(expected))
            if !evidence.boots_known && blank(contents) && !expected.is_empty() =>
        {
            Verdict::Torn
        }
        _ => Verdict::External,
    }
}

fn other_boot(
    name: &str,
    actual: Option<&Contents>,
    expected: Option<&[u8]>,
    evidence: &Evidence<'_>,
) -> Verdict {
    let Some(contents) = actual else {
        // A lost rename and a deleted file look the same; restoring loses nothing.
        return Verdict::Behind;
    };
    if evidence.is_written_since_boot(&contents.stat) {
        return Verdict::External;
    }
    let known = evidence.segment.knows(name, Some(contents.hash));
    // Edited after us and shut down properly: a power loss leaves older times, or blanks.
    if evidence.is_written_since_last_operation(name, &contents.stat)
        && (known || !looks_torn(&contents.bytes, expected.unwrap_or_default()))
    {
        return Verdict::External;
    }
    if known {
        return Verdict::Behind;
    }
    match expected {
        Some(_) => Verdict::Torn,
        None => Verdict::External,
    }
}

fn looks_torn(actual: &[u8], expected: &[u8]) -> bool {
    actual.is_empty() || (actual.contains(&0) && !expected.contains(&0))
}
