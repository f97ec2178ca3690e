//! Noticing what swallows headings: an unclosed fence, an unclosed comment, an HTML block.

use crate::text::markdown::{HiddenKind, line};

/// Whether the fenced code block `block`, which ends its document, lacks its closing fence and
/// has something that would be a heading in it.
pub(crate) fn fence_hides(block: &str) -> bool {
    !is_closed(block) && has_heading(block)
}

/// Whether the fenced code block `block` ends with its closing fence.
pub(crate) fn is_closed(block: &str) -> bool {
    let marker = block.as_bytes().first().copied().unwrap_or(b'`');
    let width = block.bytes().take_while(|b| *b == marker).count();
    let last = match block.rfind(['\n', '\r']) {
        Some(end) => line::trim(&block[end..]),
        None => return false,
    };
    last.len() >= width && last.bytes().all(|b| b == marker)
}

/// What the HTML block `block` hides, if anything; `last` says that the document ends with it.
///
/// A closed comment or `<pre>` hides on purpose. Other blocks end at a blank line, so that a
/// heading right below `<details>` is lost without anybody having meant it.
pub(crate) fn html_hides(block: &str, last: bool) -> Option<HiddenKind> {
    let kind = if block.starts_with("<!--") { HiddenKind::Comment } else { HiddenKind::Html };
    let closing = ["<!--", "<?", "<![CDATA[", "<!", "<pre", "<script", "<style", "<textarea"]
        .iter()
        .zip(["-->", "?>", "]]>", ">", "</pre>", "</script>", "</style>", "</textarea>"])
        .find(|(open, _)| {
            block.get(..open.len()).is_some_and(|start| start.eq_ignore_ascii_case(open))
        });
    let open = match closing {
        Some((_, end)) => last && !contains_ignoring_case(block, end),
        None => true,
    };
    (open && has_heading(block)).then_some(kind)
}

fn has_heading(block: &str) -> bool {
    line::lines(block).skip(1).any(|text| {
        let rest = text.trim_start_matches(' ');
        let marks = rest.bytes().take_while(|b| *b == b'#').count();
        text.len() - rest.len() <= 3
            && (1..=6).contains(&marks)
            && rest[marks..].bytes().next().is_none_or(line::is_space)
    })
}

fn contains_ignoring_case(text: &str, needle: &str) -> bool {
    text.as_bytes().windows(needle.len()).any(|w| w.eq_ignore_ascii_case(needle.as_bytes()))
}
