//! Text between two markers in a file that belongs to somebody else.

use super::{
    marker::Marker,
    outcome::{FileOutcome, Wish, changed_by_hand},
};
use crate::store::Hash;

/// The instructions for an agent.
pub(super) const TEXT: &str = include_str!("block.md");

/// How the markers are written, and for whom.
pub(super) struct Markers<'c> {
    open: &'static str,
    close: &'static str,
    /// The client that asks, where several may ask for the same text in the same file.
    client: Option<&'c str>,
}

/// In TOML they are comments.
pub(super) const TOML: Markers<'static> = Markers { open: "# ", close: "", client: None };

/// In markdown they are comments, invisible when rendered.
pub(super) fn markdown(client: &str) -> Markers<'_> {
    Markers { open: "<!-- ", close: " -->", client: Some(client) }
}

/// A block that was found.
struct ManagedBlock {
    /// From the first separating line end to behind the last line end.
    whole: std::ops::Range<usize>,
    /// The line of the opening marker.
    begin: std::ops::Range<usize>,
    /// Between the marker lines.
    inside: std::ops::Range<usize>,
    marker: Marker,
}

impl ManagedBlock {
    /// Whether somebody wrote between the markers. A block without a sum is ours only if it is
    /// the one that would be put.
    fn is_changed(&self, text: &str, block: &str) -> bool {
        let inside = text[self.inside.clone()].replace("\r\n", "\n");
        match &self.marker.sum {
            Some(noted) => sum(&inside) != *noted,
            None => inside != block,
        }
    }
}

/// Tells whether a text is the one that was put.
fn sum(block: &str) -> String {
    Hash::of(block.as_bytes()).to_string()[..12].to_owned()
}

impl Markers<'_> {
    /// The text with the block: brought up to date where it is, or added at the end.
    ///
    /// The opening marker notes how many line ends were put before it, and whether the file is
    /// new, so that taking it back leaves exactly what was there; who asked for it; and a sum, so
    /// that what somebody wrote into it is not lost.
    pub(super) fn put(
        &self,
        there: Option<&str>,
        block: &str,
        wish: Wish<'_>,
    ) -> Result<FileOutcome, String> {
        let text = there.unwrap_or_default();
        if let Some(found) = self.find(text)? {
            let ending = line_end(&text[found.begin.clone()]);
            let kept = found.is_changed(text, block) && !wish.force;
            let mut marker = found.marker;
            marker.add(self.client);
            let mut after = text.to_owned();
            if !kept {
                marker.sum = Some(sum(block));
                after.replace_range(found.inside, &block.replace('\n', ending));
            }
            after.replace_range(found.begin, &(self.begin(&marker) + ending));
            let outcome = FileOutcome::text(after);
            return Ok(match kept {
                true => outcome.noting(changed_by_hand("the text between the markers", false)),
                false => outcome,
            });
        }
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let lines = block.replace('\n', newline);
        let gap = match text {
            "" => 0,
            text if text.ends_with(&[newline, newline].concat()) => 0,
            text if text.ends_with('\n') => 1,
            _ => 2,
        };
        let mut marker = Marker {
            new: there.is_none(),
            gap,
            folders: wish.folders,
            sum: Some(sum(block)),
            clients: Vec::new(),
        };
        marker.add(self.client);
        let (blank, begin, end) = (newline.repeat(gap), self.begin(&marker), self.end());
        Ok(FileOutcome::text(format!("{text}{blank}{begin}{newline}{lines}{end}{newline}")))
    }

    /// The text without the block; nothing if there was nothing before. It stays while another
    /// client has asked for it, and if somebody wrote into it.
    pub(super) fn take(
        &self,
        there: Option<&str>,
        block: &str,
        wish: Wish<'_>,
    ) -> Result<FileOutcome, String> {
        let Some(text) = there else { return Ok(FileOutcome::default()) };
        let Some(found) = self.find(text)? else { return Ok(FileOutcome::same(there)) };
        let mut marker = found.marker.clone();
        marker.clients.retain(|client| Some(client.as_str()) != self.client);
        let mut after = text.to_owned();
        if !marker.clients.is_empty() {
            let note = format!("stays for {}", marker.clients.join(", "));
            if marker != found.marker {
                let ending = line_end(&text[found.begin.clone()]);
                after.replace_range(found.begin, &(self.begin(&marker) + ending));
            }
            return Ok(FileOutcome::text(after).noting(note));
        }
        if found.is_changed(text, block) && !wish.force {
            let note = changed_by_hand("the text between the markers", true);
            return Ok(FileOutcome::same(there).noting(note));
        }
        after.replace_range(found.whole, "");
        Ok(match after.is_empty() && marker.new {
            true => FileOutcome::gone(marker.folders),
            false => FileOutcome::text(after),
        })
    }

    /// The text without what is between the markers, for looking at the rest.
    pub(super) fn outside(&self, text: &str) -> Result<String, String> {
        Ok(match self.find(text)? {
            Some(found) => [&text[..found.whole.start], &text[found.whole.end..]].concat(),
            None => text.to_owned(),
        })
    }

    fn begin(&self, marker: &Marker) -> String {
        format!("{}statedir:begin{marker}{}", self.open, self.close)
    }

    fn end(&self) -> String {
        format!("{}statedir:end{}", self.open, self.close)
    }

    fn find(&self, text: &str) -> Result<Option<ManagedBlock>, String> {
        let begin = format!("{}statedir:begin", self.open);
        let end = self.end();
        let (mut begins, mut ends) = (Vec::new(), Vec::new());
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let bare = line.trim_end_matches(['\n', '\r']);
            let note = bare.strip_prefix(&begin);
            if let Some(note) = note.filter(|note| note.is_empty() || note.starts_with(' ')) {
                let note = note.strip_suffix(self.close).unwrap_or(note);
                begins.push((at..at + line.len(), Marker::parse(note)));
            } else if bare == end {
                ends.push(at..at + line.len());
            }
            at += line.len();
        }
        match (begins.as_slice(), ends.as_slice()) {
            ([], []) => Ok(None),
            ([(begin, marker)], [end]) if begin.end <= end.start => {
                // The line ends before it are like the one behind it.
                let newline = line_end(&text[begin.clone()]);
                let mut first = begin.start;
                for _ in 0..usize::min(marker.gap, 2) {
                    first = text[..first].strip_suffix(newline).map_or(first, str::len);
                }
                let (begin, marker) = (begin.clone(), marker.clone());
                let inside = begin.end..end.start;
                Ok(Some(ManagedBlock { whole: first..end.end, begin, inside, marker }))
            }
            _ => Err("the markers `statedir:begin` and `statedir:end` do not match".to_owned()),
        }
    }
}

fn line_end(line: &str) -> &'static str {
    if line.ends_with("\r\n") { "\r\n" } else { "\n" }
}

#[cfg(test)]
mod tests;
