//! What opening the state found, as typed values.

use std::path::PathBuf;

use crate::store::Revision;

/// Something that opening the state found and set right.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) enum Report {
    /// An interrupted operation was completed.
    RolledForward {
        /// The operation.
        op: Revision,
        /// The files that were written.
        files: Vec<String>,
    },
    /// Files were edited outside and the edit was recorded.
    External {
        /// The operation that records it.
        op: Revision,
        /// The files.
        files: Vec<String>,
    },
    /// A file damaged by a power loss was set aside and restored from the log.
    Salvaged {
        /// The file.
        file: String,
        /// Where its damaged content is; `None` as long as only readers have seen it.
        copy: Option<PathBuf>,
    },
    /// Files without a log were adopted.
    Adopted {
        /// The operation that records it.
        op: Revision,
        /// The files.
        files: Vec<String>,
    },
    /// Bytes missing at the end of the appended file were added from the log.
    CompletedAppend {
        /// How many.
        bytes: u64,
    },
    /// The end of the log held an operation that never happened.
    TornTail {
        /// How many bytes.
        bytes: u64,
    },
    /// A private directory that was not made here is not used.
    Distrusted {
        /// Why, as the end of a sentence.
        why: &'static str,
        /// Where it was set aside; `None` as long as only readers have seen it.
        copy: Option<PathBuf>,
    },
}
