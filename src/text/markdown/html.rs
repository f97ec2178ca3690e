//! Markdown of a state as HTML that is safe to show: no raw HTML, no images, no scripts.

use std::fmt::Write as _;

use pulldown_cmark::{Alignment, CodeBlockKind, Event, HeadingLevel, Parser, Tag};

use super::options;
use crate::text::html::escape;

/// How deep elements lie in each other at most: browsers give up further down.
const DEEPEST: usize = 40;

/// A text in markdown as HTML.
///
/// Raw HTML becomes text, an image the text that stands for it, and a link is one only if it leads
/// to the web or to a mailbox. Headings begin at `top`.
pub(crate) fn to_html(text: &str, top: u8) -> String {
    let mut html = Html {
        out: String::with_capacity(text.len() * 3 / 2),
        open: Vec::new(),
        top,
        in_head: false,
    };
    for event in Parser::new_ext(text, options()) {
        html.event(event);
    }
    html.out
}

struct Html {
    out: String,
    /// How each open element ends; `None` for one that is not shown.
    open: Vec<Option<String>>,
    top: u8,
    in_head: bool,
}

impl Html {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(_) => {
                if let Some(end) = self.open.pop().flatten() {
                    self.out.push_str(&end);
                    if end == "</thead>" {
                        self.in_head = false;
                    }
                }
            }
            Event::Code(text) => {
                let _ = write!(self.out, "<code>{}</code>", escape(&text));
            }
            Event::SoftBreak => self.out.push('\n'),
            Event::HardBreak => self.out.push_str("<br>\n"),
            Event::Rule => self.out.push_str("<hr>\n"),
            Event::TaskListMarker(done) => self.out.push_str(if done { "☑ " } else { "☐ " }),
            // A comment is not meant to be read.
            Event::InlineHtml(text) if text.starts_with("<!--") && text.ends_with("-->") => {}
            // Raw HTML is text like any other.
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => {
                self.out.push_str(&escape(&text));
            }
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => {
                self.out.push_str(&escape(&text));
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        if self.open.len() >= DEEPEST {
            self.open.push(None);
            return;
        }
        let pair = |name: &str| (format!("<{name}>"), Some(format!("</{name}>\n")));
        let (begin, end) = match tag {
            Tag::Paragraph => pair("p"),
            Tag::Heading { level, .. } => pair(&format!("h{}", self.level(level))),
            Tag::BlockQuote(_) => pair("blockquote"),
            Tag::CodeBlock(CodeBlockKind::Indented | CodeBlockKind::Fenced(_)) => {
                ("<pre><code>".to_owned(), Some("</code></pre>\n".to_owned()))
            }
            Tag::List(None) => pair("ul"),
            Tag::List(Some(first)) => {
                (format!("<ol start=\"{first}\">"), Some("</ol>\n".to_owned()))
            }
            Tag::Item => pair("li"),
            Tag::Table(alignments) => {
                let _: Vec<Alignment> = alignments;
                pair("table")
            }
            Tag::TableHead => {
                self.in_head = true;
                ("<thead>".to_owned(), Some("</thead>".to_owned()))
            }
            Tag::TableRow => pair("tr"),
            Tag::TableCell if self.in_head => pair("th"),
            Tag::TableCell => pair("td"),
            Tag::Emphasis => inline("em"),
            Tag::Strong => inline("strong"),
            Tag::Strikethrough => inline("del"),
            Tag::Link { dest_url, .. } if is_harmless(&dest_url) => {
                let to = escape(&dest_url);
                let begin = format!("<a href=\"{to}\" rel=\"noopener noreferrer nofollow\">");
                (begin, Some("</a>".to_owned()))
            }
            Tag::Link { dest_url, .. } => {
                (String::new(), Some(format!(" ({})", escape(&dest_url))))
            }
            Tag::Image { dest_url, .. } => {
                ("[image: ".to_owned(), Some(format!("] ({})", escape(&dest_url))))
            }
            Tag::HtmlBlock => ("<pre>".to_owned(), Some("</pre>\n".to_owned())),
            _ => (String::new(), None),
        };
        self.out.push_str(&begin);
        self.open.push(end);
    }

    fn level(&self, level: HeadingLevel) -> u8 {
        let level: u8 = match level {
            HeadingLevel::H1 => 0,
            HeadingLevel::H2 => 1,
            HeadingLevel::H3 => 2,
            HeadingLevel::H4 => 3,
            HeadingLevel::H5 => 4,
            HeadingLevel::H6 => 5,
        };
        (self.top + level).clamp(1, 6)
    }
}

fn inline(name: &str) -> (String, Option<String>) {
    (format!("<{name}>"), Some(format!("</{name}>")))
}

/// Whether a link leads to the web or to a mailbox, and to nothing that runs.
fn is_harmless(url: &str) -> bool {
    let start: String = url.chars().take(8).collect::<String>().to_ascii_lowercase();
    let is_plain = !url.contains(|c: char| c.is_control() || c.is_whitespace());
    is_plain && ["https://", "http://", "mailto:"].iter().any(|scheme| start.starts_with(scheme))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ordinary_markdown_is_shown() {
        let html = to_html(
            "# Title\n\nSome *text* and `code`.\n\n- [x] one\n- two\n\n| a |\n|---|\n| b |\n",
            3,
        );
        assert!(
            html.starts_with("<h3>Title</h3>\n<p>Some <em>text</em> and <code>code</code>.</p>"),
            "{html}"
        );
        assert!(html.contains("<li>☑ one</li>") && html.contains("<th>a</th>"), "{html}");
        assert!(html.contains("<td>b</td>"), "{html}");
    }

    #[test]
    fn nothing_runs_and_nothing_is_loaded() {
        for hostile in [
            "<script>alert(1)</script>",
            "a <img src=x onerror=alert(1)> b",
            "![x](https://evil.example/pixel.png)",
            "[x](javascript:alert(1))",
            "[x](JaVaScRiPt:alert(1))",
            "[x](data:text/html,<script>alert(1)</script>)",
            "[x](\"onmouseover=alert(1))",
            "<svg/onload=alert(1)>",
            "[a]: javascript:alert(1)\n\n[a]",
            "<javascript:alert(1)>",
        ] {
            let html = to_html(hostile, 3);
            let lower = html.to_ascii_lowercase();
            assert!(!lower.contains("<script") && !lower.contains("<img"), "{html}");
            assert!(!lower.contains("<svg") && !lower.contains("href=\"javascript"), "{html}");
            assert!(!lower.contains("href=\"data"), "{html}");
        }
        assert!(to_html("[x](https://a.example)", 3).contains("href=\"https://a.example\""));
    }

    #[test]
    fn a_comment_in_a_line_is_not_shown() {
        assert_eq!(to_html("found <!-- <b>2026</b> -->", 3), "<p>found </p>\n");
    }

    #[test]
    fn deep_nesting_is_contained() {
        let html = to_html(&">".repeat(20_000), 3);
        assert!(html.matches("<blockquote>").count() <= DEEPEST, "{}", html.len());
    }

    proptest! {
        #[test]
        fn every_tag_is_one_of_ours_and_closed(text in "[-a-z<>/\"'=!\\[\\]()#*_`|&\n ]{0,200}") {
            let html = to_html(&text, 3);
            let mut open: Vec<String> = Vec::new();
            for tag in html.split('<').skip(1) {
                let tag = tag.split('>').next().unwrap_or_default();
                let name = tag.trim_start_matches('/').split(' ').next().unwrap_or_default().to_owned();
                prop_assert!(OURS.contains(&name.as_str()), "{} in {}", name, html);
                match tag.starts_with('/') {
                    true => prop_assert_eq!(open.pop(), Some(name), "{}", html),
                    false if matches!(name.as_str(), "br" | "hr") => {}
                    false => open.push(name),
                }
            }
            prop_assert!(open.is_empty(), "{}", html);
        }
    }

    const OURS: [&str; 25] = [
        "p", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre", "code", "ul", "ol", "li",
        "table", "thead", "tr", "th", "td", "em", "strong", "del", "a", "br", "hr", "tbody",
    ];
}
