//! Gemini CLI's transcript of a conversation. Gemini CLI announces before every request that it may
//! compact, and never says that it did; the transcript shows it.

use std::{
    fs::{self, File},
    io::{Read as _, Seek as _, SeekFrom},
    path::Path,
};

use memchr::memmem;

/// How much is searched at most, from the end.
const MOST_BYTES: u64 = 64 << 20;
/// The beginning of a line that replaces the conversation.
const REPLACEMENT: &str = "{\"$set\":{\"messages\":[";
/// What a summary begins with.
const SUMMARY: &str = "<state_snapshot>";

/// The length of a transcript; 0 if there is none.
pub(super) fn length(path: &Path) -> u64 {
    fs::metadata(path).ok().filter(fs::Metadata::is_file).map_or(0, |meta| meta.len())
}

/// Whether the conversation was compacted since the transcript had a length of `from`, and `brief` is
/// no longer in it.
pub(super) fn has_lost(path: &Path, from: u64, brief: &str) -> bool {
    let read = || {
        let length = length(path);
        let start = from.max(length.saturating_sub(MOST_BYTES));
        let wanted = length.checked_sub(start).filter(|bytes| *bytes > 0)?;
        let mut file = File::open(path).ok()?;
        file.seek(SeekFrom::Start(start)).ok()?;
        let mut bytes = Vec::new();
        file.take(wanted).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    };
    let bytes = read().unwrap_or_default();
    let mut lines = bytes.rsplit(|byte| *byte == b'\n');
    let last = lines.find(|line| line.starts_with(REPLACEMENT.as_bytes()));
    let has = |line: &[u8], text: &str| memmem::find(line, text.as_bytes()).is_some();
    last.is_some_and(|line| has(line, SUMMARY) && !has(line, brief))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_without_the_brief_is_noticed_once() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("session.jsonl");
        let begun = "{\"sessionId\":\"x\"}\n{\"$set\":{\"messages\":[{\"text\":\"hello\"}]}}\n\
                     {\"text\":\"BRIEF, <state_snapshot>\"}\n";
        let compacted =
            "{\"$set\":{\"messages\":[{\"text\":\"<state_snapshot>x\"}]}}\n{\"text\":1}\n";
        let known = "{\"$set\":{\"messages\":[{\"text\":\"<state_snapshot>x BRIEF\"}]}}\n";
        assert!(!has_lost(&path, 0, "BRIEF"), "there is none");
        fs::write(&path, begun).unwrap();
        assert!(!has_lost(&path, 0, "BRIEF"));
        fs::write(&path, [begun, compacted].concat()).unwrap();
        assert!(has_lost(&path, 0, "BRIEF") && has_lost(&path, begun.len() as u64, "BRIEF"));
        assert!(!has_lost(&path, length(&path), "BRIEF"));
        assert!(!has_lost(&path, u64::MAX, "BRIEF"));
        fs::write(&path, [begun, compacted, known].concat()).unwrap();
        assert!(!has_lost(&path, 0, "BRIEF"), "it was given back");
        assert!(!has_lost(root.path(), 0, "BRIEF"));
    }
}
