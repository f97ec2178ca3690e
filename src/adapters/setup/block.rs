//! Text between two markers in a file that belongs to somebody else.

/// The instructions for an agent.
pub(super) const TEXT: &str = include_str!("block.md");

/// How the markers are written.
pub(super) struct Markers {
    open: &'static str,
    close: &'static str,
}

/// In markdown they are comments, invisible when rendered.
pub(super) const MARKDOWN: Markers = Markers { open: "<!-- ", close: " -->" };
/// In TOML they are comments.
pub(super) const TOML: Markers = Markers { open: "# ", close: "" };

/// A block that was found.
struct Found {
    /// From the first separating line end to behind the last line end.
    whole: std::ops::Range<usize>,
    /// Between the marker lines.
    inside: std::ops::Range<usize>,
    /// Whether the file was created for it.
    new: bool,
}

impl Markers {
    /// The text with the block: brought up to date where it stands, or added at the end.
    ///
    /// The opening marker notes how many line ends were put before it, and whether the file is
    /// new, so that taking it back leaves exactly what was there.
    pub(super) fn put(&self, there: Option<&str>, block: &str) -> Result<Option<String>, String> {
        let text = there.unwrap_or_default();
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let block = block.replace('\n', newline);
        if let Some(found) = self.find(text)? {
            let mut after = text.to_owned();
            after.replace_range(found.inside, &block);
            return Ok(Some(after));
        }
        let gap = match text {
            "" => 0,
            text if text.ends_with(&[newline, newline].concat()) => 0,
            text if text.ends_with('\n') => 1,
            _ => 2,
        };
        let note = if there.is_none() { "new".to_owned() } else { format!("gap={gap}") };
        let Self { open, close } = self;
        let blank = newline.repeat(gap);
        Ok(Some(format!(
            "{text}{blank}{open}statedir:begin {note}{close}{newline}{block}{open}statedir:end{close}{newline}"
        )))
    }

    /// The text without the block; nothing if there was nothing before.
    pub(super) fn take(&self, there: Option<&str>) -> Result<Option<String>, String> {
        let Some(text) = there else { return Ok(None) };
        let Some(found) = self.find(text)? else { return Ok(Some(text.to_owned())) };
        let mut after = text.to_owned();
        after.replace_range(found.whole, "");
        Ok((!after.is_empty() || !found.new).then_some(after))
    }

    /// The text without what is between the markers, for looking at the rest.
    pub(super) fn outside(&self, text: &str) -> Result<String, String> {
        Ok(match self.find(text)? {
            Some(found) => [&text[..found.whole.start], &text[found.whole.end..]].concat(),
            None => text.to_owned(),
        })
    }

    fn find(&self, text: &str) -> Result<Option<Found>, String> {
        let begin = format!("{}statedir:begin", self.open);
        let end = format!("{}statedir:end{}", self.open, self.close);
        let (mut begins, mut ends) = (Vec::new(), Vec::new());
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let bare = line.trim_end_matches(['\n', '\r']);
            if let Some(note) = bare.strip_prefix(&begin) {
                begins.push((at, at + line.len(), note.trim_end_matches(self.close).trim()));
            } else if bare == end {
                ends.push((at, at + line.len()));
            }
            at += line.len();
        }
        match (begins.as_slice(), ends.as_slice()) {
            ([], []) => Ok(None),
            ([(start, inside, note)], [(inside_end, stop)]) if inside <= inside_end => {
                let gap = note.strip_prefix("gap=").and_then(|gap| gap.parse().ok()).unwrap_or(0);
                let mut first = *start;
                for _ in 0..usize::min(gap, 2) {
                    let before = &text[..first];
                    let shorter = before.strip_suffix("\r\n").or(before.strip_suffix('\n'));
                    first = shorter.map_or(first, str::len);
                }
                let new = *note == "new";
                Ok(Some(Found { whole: first..*stop, inside: *inside..*inside_end, new }))
            }
            _ => Err("the markers `statedir:begin` and `statedir:end` do not pair up".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_instructions_are_short_and_teach_the_loop() {
        assert!(TEXT.split_whitespace().count() < 300);
        let loop_words =
            ["brief", "next --claim", "step done", "step fail", "context add", "check"];
        let places: Vec<_> = loop_words.iter().map(|word| TEXT.find(word).unwrap()).collect();
        assert!(places.is_sorted(), "{places:?}");
    }

    #[test]
    fn a_block_is_brought_up_to_date_where_it_stands() {
        let first = MARKDOWN.put(Some("# Mine\n"), "one\n").unwrap().unwrap();
        let grown = format!("{first}more of mine\n");
        let second = MARKDOWN.put(Some(&grown), "two\nthree\n").unwrap().unwrap();
        assert_eq!(
            second,
            "# Mine\n\n<!-- statedir:begin gap=1 -->\ntwo\nthree\n<!-- statedir:end -->\nmore of mine\n"
        );
        assert_eq!(MARKDOWN.take(Some(&second)).unwrap().unwrap(), "# Mine\nmore of mine\n");
        assert_eq!(MARKDOWN.take(MARKDOWN.put(None, "x\n").unwrap().as_deref()).unwrap(), None);
        assert_eq!(
            MARKDOWN.take(MARKDOWN.put(Some(""), "x\n").unwrap().as_deref()).unwrap().as_deref(),
            Some("")
        );
    }

    #[test]
    fn markers_that_do_not_pair_up_are_refused() {
        let both = "<!-- statedir:begin new -->\nx\n<!-- statedir:end -->\n";
        for text in
            [both.repeat(2).as_str(), "<!-- statedir:begin -->\n", "<!-- statedir:end -->\n"]
        {
            assert!(MARKDOWN.put(Some(text), "x\n").is_err(), "{text}");
            assert!(MARKDOWN.take(Some(text)).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn taking_back_leaves_exactly_what_was_there(text in "([a-z# <!-]|\n|\r\n){0,40}") {
            let with = MARKDOWN.put(Some(&text), "the block\n").unwrap().unwrap();
            let again = MARKDOWN.put(Some(&with), "the block\n").unwrap().unwrap();
            prop_assert_eq!(&again, &with);
            let back = MARKDOWN.take(Some(&with)).unwrap();
            prop_assert_eq!(back, Some(text));
        }
    }
}
