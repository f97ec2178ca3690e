//! Where a document is code, whose content means nothing else.

use std::ops::Range;

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use crate::text::markdown::block::BlockKind;
use crate::text::markdown::{Document, SectionId};

impl Document {
    /// The byte ranges of code blocks, code spans and HTML, in order.
    ///
    /// This parses the document again: it is for checks, not for the path of an edit.
    pub fn code(&self) -> Vec<Range<usize>> {
        let mut ranges = Vec::new();
        let start = crate::text::markdown::preamble::preamble(self.source()).end;
        let parser = Parser::new_ext(&self.source()[start..], crate::text::markdown::options());
        let mut open = 0;
        for (event, at) in parser.into_offset_iter() {
            let code = match event {
                Event::Start(Tag::CodeBlock(_) | Tag::HtmlBlock) => {
                    open += 1;
                    true
                }
                Event::End(TagEnd::CodeBlock | TagEnd::HtmlBlock) => {
                    open -= 1;
                    false
                }
                Event::Code(_) | Event::InlineHtml(_) => open == 0,
                _ => false,
            };
            if code {
                ranges.push(at.start + start..at.end + start);
            }
        }
        ranges
    }

    /// Where the blocks of HTML are, comments included, in order.
    pub(crate) fn html_blocks(&self) -> impl Iterator<Item = Range<usize>> {
        self.sections().flat_map(|section| self.html_blocks_in(section))
    }

    /// The same in the own body of a section.
    pub(crate) fn html_blocks_in(&self, section: SectionId) -> impl Iterator<Item = Range<usize>> {
        self.blocks_in(section, BlockKind::Html)
    }

    /// Where the blocks of code are, fenced and indented ones, in order.
    pub(crate) fn code_blocks(&self) -> impl Iterator<Item = Range<usize>> {
        self.sections().flat_map(|section| self.blocks_in(section, BlockKind::Code))
    }

    fn blocks_in(&self, section: SectionId, kind: BlockKind) -> impl Iterator<Item = Range<usize>> {
        let wanted = self.body(section).blocks.iter().filter(move |block| block.kind == kind);
        wanted.map(|block| block.start as usize..block.end as usize)
    }
}
