//! context.md: sections of free text with knowledge, findings and decisions.

use std::{borrow::Cow, ops::Range};

use serde::Serialize;

use super::{ModelError, StateFile, layout::ForeignLayout, problem::RENAME};
use crate::text::markdown::{Document, EditError, Edited, SectionId, is_placeholder};

const FILE: StateFile = StateFile::Context;

/// The sections of the template. They are places for text, not part of a text.
const TEMPLATE_SECTIONS: [&str; 6] = [
    "Knowledge Accumulation",
    "Web Content Summaries",
    "Document Analysis Results",
    "Key Findings",
    "Current Understanding",
    "Decision Rationale",
];

/// Filler texts of older templates.
const FILLERS: [&str; 3] = [
    "What has been learned on the way, newest last.",
    "Nothing is known yet beyond the goal.",
    "Why the larger decisions were taken, and what was ruled out.",
];

/// One section of free text.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ContextSection {
    /// Its heading.
    pub title: String,
    /// The headings above it, outermost first, without the document's title.
    pub path: Vec<String>,
    /// Its own text, trimmed, without subsections, template fillers and origin comments.
    pub text: String,
    /// The section in the document.
    #[serde(skip)]
    pub section: SectionId,
}

/// Whether a text is added to a section or replaces its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PutMode {
    Append,
    Replace,
}

/// The context and the document it was read from.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    /// The text with its spans.
    pub document: Document,
    /// The sections below the title, in order.
    pub sections: Vec<ContextSection>,
    /// The text directly under the title or before any heading, trimmed.
    pub preface: String,
    /// Where the text of other people begins, which is read and never added to.
    own_end: Option<usize>,
}

impl Context {
    /// The section for texts without a given section.
    pub(crate) const DEFAULT_SECTION: &str = "Key Findings";

    /// Reads the context out of a document.
    pub(crate) fn read(document: Document) -> Self {
        let sections = document
            .sections()
            .filter(|id| document.section(*id).level > 1)
            .map(|id| ContextSection {
                title: document.section(id).title.to_owned(),
                path: path(&document, id),
                text: said(&document, id),
                section: id,
            })
            .collect();
        let above = document.sections().filter(|id| document.section(*id).level <= 1);
        let above: Vec<&str> = above.map(|id| document.body_text(id).trim()).collect();
        let preface = above.join("\n\n").trim().to_owned();
        Self { document, sections, preface, own_end: None }
    }

    /// The same where files of other people follow, as in an adopted state.
    pub(crate) fn followed_by(mut self, layout: Option<&ForeignLayout>) -> Self {
        self.own_end = layout.and_then(|layout| layout.foreign_part(FILE, &self.document));
        self
    }

    /// The section that a text of that name is added to, where files of other people follow; or
    /// whether only they have it.
    pub(crate) fn own_section(&self, name: &str) -> Option<Result<SectionId, bool>> {
        let end = self.own_end?;
        let is_meant = |found: &&ContextSection| found.title.eq_ignore_ascii_case(name.trim());
        let start = |found: &ContextSection| self.document.section(found.section).heading.start;
        let mut found = self.sections.iter().filter(is_meant).peekable();
        let is_known = found.peek().is_some();
        Some(found.find(|found| start(found) < end).map(|found| found.section).ok_or(is_known))
    }

    /// The level of the heading that a text needs at the end of a section if earlier texts there have
    /// headings of their own; `None` if it needs none.
    pub(crate) fn level_below(&self, section: SectionId) -> Option<u8> {
        let found = self.document.section(section);
        let is_own_heading = |id: &SectionId| {
            let child = self.document.section(*id);
            let is_template =
                TEMPLATE_SECTIONS.iter().any(|name| child.title.eq_ignore_ascii_case(name))
                    && !child.title.eq_ignore_ascii_case(found.title);
            !is_template && !self.document.extent_text(*id).trim().is_empty()
        };
        let own = self.document.children(section).find(is_own_heading)?;
        Some(self.document.section(own).level)
    }

    /// Whether a section contains only a template's filler.
    pub(crate) fn is_filler(&self, section: SectionId) -> bool {
        FILLERS.contains(&self.document.body_text(section).trim())
    }

    /// The paragraphs and items directly in a section, without origin comments.
    pub(crate) fn texts(&self, section: SectionId) -> Vec<String> {
        if self.is_filler(section) {
            return Vec::new();
        }
        let parts = self.document.body_blocks(section).into_iter();
        let source = self.document.source();
        parts
            .map(|part| Self::without_origins(&as_given(&self.document, part.span, source)))
            .collect()
    }

    /// The text directly in a section as it was given, without blank lines around it.
    pub(crate) fn said_in(document: &Document, section: SectionId) -> Cow<'_, str> {
        let body = document.section(section).body.clone();
        within(as_given(document, body, document.source()))
    }

    /// A section with its subsections, as it was given.
    pub(crate) fn shown(document: &Document, section: SectionId) -> Cow<'_, str> {
        let extent = document.section(section).extent.clone();
        within(as_given(document, extent, document.source()))
    }

    /// Puts a text into a section, so that it is shown as it was given; `sign` may append to it.
    ///
    /// # Errors
    /// It cannot be kept inside the section.
    pub(crate) fn put_text(
        document: &Document,
        section: SectionId,
        text: &str,
        put: PutMode,
        sign: impl Fn(&str) -> String,
    ) -> Result<Edited, EditError> {
        let carried_out = |text: &str| {
            let mut edit = document.edit();
            match put {
                PutMode::Append => edit.append_text(section, text),
                PutMode::Replace => edit.replace_text(section, text),
            };
            edit.finish()
        };
        let carried_out = |text: &str| match carried_out(&sign(text))? {
            // Inside a fence, which may have been necessary, a comment is text, too.
            edited if is_signed_in_code(&edited, section, &sign(text), text) => carried_out(text),
            edited => Ok(edited),
        };
        let Cow::Owned(written) = as_written(text) else { return carried_out(text) };
        let edited = carried_out(&written)?;
        // Inside a fence, which may have been necessary, a backslash is text.
        let shown = Self::shown(&edited.document, section);
        let has_line = |line: &str| shown.lines().any(|shown| bare(shown) == bare(line));
        match text.lines().filter(|line| looks_like_placeholder(line)).all(has_line) {
            true => Ok(edited),
            false => carried_out(text),
        }
    }

    /// A text without blank lines around it; the indentation of its first line stays.
    pub(crate) fn trimmed(text: &str) -> &str {
        let first = text.len() - text.trim_start().len();
        let start = text[..first].rfind(['\n', '\r']).map_or(0, |at| at + 1);
        let end = text.trim_end().len();
        &text[start.min(end)..end]
    }

    /// A text as it is written to the file.
    pub(crate) fn as_written(text: &str) -> Cow<'_, str> {
        as_written(text)
    }

    /// A text with an origin comment at its end: when it was added, and during which step. The text is
    /// unchanged if a comment would not be read as one, as after a code block.
    pub(crate) fn with_origin<'t>(text: &'t str, step: Option<u32>, date: &str) -> Cow<'t, str> {
        let end = text.trim_end().len();
        let last = text[..end].lines().next_back().unwrap_or_default();
        let is_code = |document: Document| {
            document.code().iter().any(|range| range.contains(&end.saturating_sub(1)))
        };
        if last.starts_with('#') && ends_with_heading(text) {
            // The comment is what is below the heading: the next text is not put above it.
            return Cow::Owned(format!(
                "{}\n\n{}",
                &text[..end],
                origin_comment(step, date).trim()
            ));
        }
        let has_room = !last.starts_with(['#', '|', '<', '=', '-', '\t', '[', '`', '~', '$'])
            || last.starts_with("- ");
        let is_plain = !last.ends_with(['\\', '>', '`', '|']) && !last.starts_with("    ");
        if !has_room || !is_plain || Document::parse(text).map_or(true, is_code) {
            return Cow::Borrowed(text);
        }
        Cow::Owned(format!("{}{}", &text[..end], origin_comment(step, date)))
    }

    /// A text without its origin comments.
    pub(crate) fn without_origins(text: &str) -> String {
        if !text.contains(ORIGIN.trim_start()) {
            return text.to_owned();
        }
        let lines: Vec<&str> = text.split('\n').map(without_origin).collect();
        lines.join("\n")
    }

    /// The section named by a heading or a path such as `Knowledge/Key Findings`.
    ///
    /// # Errors
    /// There is none, or several.
    pub(crate) fn section(&self, name: &str) -> Result<SectionId, ModelError> {
        let found = self.sections_named(name)?;
        let [only] = found.as_slice() else { return Err(self.ambiguous(name, &found)) };
        Ok(*only)
    }

    /// Every section that has that name, as in [`Self::section`]; never none.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn sections_named(&self, name: &str) -> Result<Vec<SectionId>, ModelError> {
        self.document.find_named(name).map_err(|error| ModelError::lookup(FILE, error))
    }

    /// Several sections have that name: the hint is a path that only one of them has.
    fn ambiguous(&self, name: &str, found: &[SectionId]) -> ModelError {
        let name = name.rsplit('/').next().unwrap_or(name).trim();
        let mut error = ModelError::lookup(FILE, self.document.ambiguous(name, found));
        let path = |known: &ContextSection| {
            let path: Vec<&str> =
                known.path.iter().chain([&known.title]).map(String::as_str).collect();
            let is_only = path.len() > 1
                && path.iter().all(|part| !part.contains('/'))
                && self.document.find(&path).is_ok();
            is_only.then(|| path.join("/"))
        };
        let known = self.sections.iter().filter(|known| found.contains(&known.section));
        if let (ModelError::Ambiguous { hint, .. }, Some(path)) =
            (&mut error, known.filter_map(path).next())
        {
            *hint = format!("name it with the headings above it, such as `{path}`, or {RENAME}");
        }
        error
    }
}

/// Whether what was put behind a text, which became `signed` by that, is in a block of code.
fn is_signed_in_code(edited: &Edited, section: SectionId, signed: &str, text: &str) -> bool {
    let is_fenced = || edited.splices.iter().any(|splice| splice.new.contains("```"));
    let Some(origin) = signed.get(text.trim_end().len()..).map(str::trim) else { return false };
    if origin.is_empty() || !is_fenced() {
        return false;
    }
    let document = &edited.document;
    let at = document.body_text(section).rfind(origin);
    let at = at.map(|at| document.section(section).body.start + at);
    at.is_some_and(|at| document.code_blocks().any(|block| block.contains(&at)))
}

fn origin_comment(step: Option<u32>, date: &str) -> String {
    let step = step.map(|step| format!("step {step}, ")).unwrap_or_default();
    format!(" <!-- {step}{date} -->")
}

/// Whether there is nothing below the last heading of a text.
fn ends_with_heading(text: &str) -> bool {
    let Ok(document) = Document::parse(text) else { return false };
    let last = document.sections().last();
    last.is_some_and(|id| id != document.root() && document.extent_text(id).trim().is_empty())
}

/// The text directly in a section.
fn said(document: &Document, section: SectionId) -> String {
    let text = Context::said_in(document, section);
    if FILLERS.contains(&text.trim()) {
        return String::new();
    }
    Context::without_origins(&text)
}

/// Whether a line looks like a template's placeholder, such as `[Smith 2024]`, with or without a
/// backslash in front.
fn looks_like_placeholder(line: &str) -> bool {
    let bare = bare(line).trim_start_matches('\\');
    bare.starts_with('[') && is_placeholder(bare)
}

/// A trimmed line without its origin comment.
fn bare(line: &str) -> &str {
    without_origin(line.trim()).trim()
}

/// The text with lines such as `[Smith 2024]` escaped as `\[Smith 2024]`, so that they are not read
/// as placeholders. Reading removes the backslash.
fn as_written(text: &str) -> Cow<'_, str> {
    if !text.lines().any(looks_like_placeholder) {
        return Cow::Borrowed(text);
    }
    let Ok(document) = Document::parse(text) else { return Cow::Borrowed(text) };
    let code = document.code();
    let mut written = String::with_capacity(text.len() + 8);
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let start = line.len() - line.trim_start().len();
        let is_code = code.iter().any(|range| range.contains(&(offset + start)));
        written.push_str(&line[..start]);
        written.push_str(if looks_like_placeholder(line) && !is_code { "\\" } else { "" });
        written.push_str(&line[start..]);
        offset += line.len();
    }
    Cow::Owned(written)
}

/// A part of the document without the backslashes that [`as_written`] puts in.
fn as_given<'d>(document: &Document, span: Range<usize>, source: &'d str) -> Cow<'d, str> {
    let text = &source[span.clone()];
    let is_escaped =
        |line: &str| line.trim_start().starts_with('\\') && looks_like_placeholder(line);
    if !text.lines().any(is_escaped) {
        return Cow::Borrowed(text);
    }
    let code = document.code();
    let mut given = String::with_capacity(text.len());
    let mut offset = span.start;
    for line in text.split_inclusive('\n') {
        let start = line.len() - line.trim_start().len();
        let is_code = code.iter().any(|range| range.contains(&(offset + start)));
        let skipped = usize::from(is_escaped(line) && !is_code);
        given.push_str(&line[..start]);
        given.push_str(&line[start + skipped..]);
        offset += line.len();
    }
    Cow::Owned(given)
}

/// The same without the blank lines around it.
fn within(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(Context::trimmed(text)),
        Cow::Owned(text) => Cow::Owned(Context::trimmed(&text).to_owned()),
    }
}

const ORIGIN: &str = " <!-- ";

/// A line without its origin comment.
fn without_origin(line: &str) -> &str {
    let origin = line.trim_end().strip_suffix(" -->").and_then(|line| {
        // Below a heading the comment has a line of its own.
        line.rsplit_once(ORIGIN).or_else(|| Some(("", line.strip_prefix(ORIGIN.trim_start())?)))
    });
    let Some((text, origin)) = origin else { return line };
    let date = match origin.strip_prefix("step ").and_then(|rest| rest.split_once(", ")) {
        Some((step, date)) if step.bytes().all(|byte| byte.is_ascii_digit()) => date,
        _ => origin,
    };
    let is_digit = |(at, byte): (usize, u8)| (at == 4 || at == 7) == (byte == b'-');
    let is_date = date.len() == 10
        && date.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
        && date.bytes().enumerate().all(is_digit);
    if is_date { text } else { line }
}

fn path(document: &Document, section: SectionId) -> Vec<String> {
    let parents =
        std::iter::successors(document.section(section).parent, |id| document.section(*id).parent);
    let mut path: Vec<String> = parents
        .filter(|id| document.section(*id).level > 1)
        .map(|id| document.section(id).title.to_owned())
        .collect();
    path.reverse();
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_left_open_is_shown_as_it_was_given() {
        for (text, written) in [
            ("[Smith 2024]", "\\[Smith 2024]"),
            ("\\[Smith 2024]", "\\\\[Smith 2024]"),
            ("a\n  [Goal]\nb", "a\n  \\[Goal]\nb"),
            ("```\n[Goal]\n```", "```\n[Goal]\n```"),
            ("[x]", "[x]"),
        ] {
            let document = Document::parse("# C\n\n## Key Findings\n\nx\n").unwrap();
            let section = document.sections().last().unwrap();
            let put = |text: &str| text.to_owned();
            let edited =
                Context::put_text(&document, section, text, PutMode::Replace, put).unwrap();
            assert_eq!(edited.document.body_text(section).trim_matches('\n'), written);
            assert_eq!(Context::said_in(&edited.document, section), text);
        }
    }

    /// The fence that an open comment makes necessary shows what is in it as it is.
    #[test]
    fn what_has_to_be_fenced_gets_no_backslash() {
        let text = "[Goal]\n<!-- open\n[Goal Title]";
        let document = Document::parse("# C\n\n## Key Findings\n\nx\n\n## Z\n").unwrap();
        let section = document.find(&["Key Findings"]).unwrap();
        let put = |text: &str| text.to_owned();
        let edited = Context::put_text(&document, section, text, PutMode::Append, put).unwrap();
        assert!(edited.document.source().contains("```"), "{}", edited.document.source());
        assert!(!edited.document.source().contains('\\'), "{}", edited.document.source());
        assert!(Context::said_in(&edited.document, section).contains(text));
    }

    #[test]
    fn an_origin_is_a_comment_that_reading_leaves_out() {
        let text = Context::with_origin("It is slow.\n\nVery slow.\n", Some(4), "2026-01-15");
        assert_eq!(text, "It is slow.\n\nVery slow. <!-- step 4, 2026-01-15 -->");
        let source = format!("# C\n\n## Key Findings\n{text}\n\nx <!-- mine -->\n");
        let context = Context::read(Document::parse(source.as_str()).unwrap());
        assert_eq!(context.sections[0].text, "It is slow.\n\nVery slow.\n\nx <!-- mine -->");
        assert_eq!(without_origin("a <!-- 2026-01-15 -->"), "a");
        assert_eq!(
            without_origin("a <!-- step x, 2026-01-15 -->"),
            "a <!-- step x, 2026-01-15 -->"
        );
    }

    #[test]
    fn where_a_comment_would_be_text_there_is_none() {
        for text in [
            "```\ncode\n```", "```\nopen", "    code", "| a | b |", "<b>x</b>", "title\n---",
            "break\\", "`code`", "[a]: b",
        ] {
            assert_eq!(Context::with_origin(text, None, "2026-01-15"), text, "{text}");
        }
        assert_eq!(Context::with_origin("- a", None, "2026-01-15"), "- a <!-- 2026-01-15 -->");
        let heading = Context::with_origin("# Heading", None, "2026-01-15");
        assert_eq!(heading, "# Heading\n\n<!-- 2026-01-15 -->");
        assert_eq!(Context::without_origins(&heading), "# Heading\n\n");
    }
}
