//! A section's own body as a list of blocks that leaves no text out.

use std::ops::Range;

use crate::text::markdown::block::BlockKind;
use crate::text::markdown::{Document, ItemId, SectionId, line};

/// A block of a section's own body: a list item with all that is in it, or any other text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BodyBlock {
    /// Whole lines, without blank ones around them and without the last line end.
    pub span: Range<usize>,
    /// The item, if it is one.
    pub item: Option<ItemId>,
}

impl Document {
    /// The blocks of a section's own body, in order.
    ///
    /// Text that makes no block, such as a link definition, is in the list too: what lies
    /// between two blocks is white space only.
    pub fn body_blocks(&self, section: SectionId) -> Vec<BodyBlock> {
        let found = self.section(section);
        let body = if section == self.root() { 0..found.body.end } else { found.body.clone() };
        let mut known: Vec<BodyBlock> = Vec::new();
        for &item in self.items(section) {
            known.push(BodyBlock { span: self.item(item).span.clone(), item: Some(item) });
        }
        for block in &self.body(section).blocks {
            let is_item = matches!(block.kind, BlockKind::Section | BlockKind::Item);
            if block.depth == 0 && !is_item {
                known
                    .push(BodyBlock { span: block.start as usize..block.end as usize, item: None });
            }
        }
        known.sort_by_key(|block| (block.span.start, block.item.is_none()));
        let mut blocks = Vec::with_capacity(known.len());
        let mut done = body.start;
        for mut block in known {
            let start = line::line_start(&self.source, block.span.start).max(done);
            let end = line::trim_end(&self.source, start, block.span.end);
            if start >= end {
                continue;
            }
            self.rest(&mut blocks, done..start);
            block.span = start..end;
            done = line::next_line(&self.source, end).min(body.end).max(end);
            blocks.push(block);
        }
        self.rest(&mut blocks, done..body.end);
        blocks
    }

    /// Adds the text in `range` that no block accounts for.
    fn rest(&self, blocks: &mut Vec<BodyBlock>, range: Range<usize>) {
        let first = line::skip_space(&self.source, range.start, range.end);
        let end = line::trim_end(&self.source, range.start, range.end);
        if first < end {
            let start = line::line_start(&self.source, first).max(range.start);
            blocks.push(BodyBlock { span: start..end, item: None });
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(source: &str) -> Vec<String> {
        let document = Document::parse(source).unwrap();
        let blocks = document.sections().flat_map(|section| document.body_blocks(section));
        blocks.map(|block| document.source()[block.span].to_owned()).collect()
    }

    #[test]
    fn blocks_items_and_loose_text_are_all_listed() {
        let source = "# T\nwords\nmore\n\n- a\n  - b\n- c\n\n[x]: http://y\n\n~~~\n\n### no\n~~~\n";
        let expected = ["words\nmore", "- a\n  - b", "- c", "[x]: http://y", "~~~\n\n### no\n~~~"];
        assert_eq!(texts(source), expected);
    }

    proptest! {
        #[test]
        fn nothing_but_white_space_is_left_out(source in "[-#>*` a\\n\\t:|=\\[\\]1.<!]{0,60}") {
            let document = Document::parse(source.as_str()).unwrap();
            let mut left = source.clone().into_bytes();
            for section in document.sections() {
                let heading = document.section(section).heading.clone();
                left[heading].fill(b' ');
                for block in document.body_blocks(section) {
                    left[block.span].fill(b' ');
                }
            }
            let left = String::from_utf8(left).unwrap();
            prop_assert_eq!(left.trim_matches([' ', '\t', '\n', '\u{b}', '\u{c}', '\r']), "");
        }
    }
}
