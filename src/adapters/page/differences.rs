//! What differs between two moments.

use std::fmt::Write as _;

use super::short;
use crate::{
    diff::{Verb, lines},
    text::html::escape,
    workspace::Comparison,
};

/// How much of the text of one file is shown.
const TEXT: usize = 40_000;

/// The differences by meaning, up to a limit, and below them as text.
pub(crate) fn differences(found: &Comparison, most: usize, with_text: bool) -> String {
    let all = lines(&found.changes);
    if all.is_empty() {
        return "<p class=\"none\">There is no difference.</p>".to_owned();
    }
    let mut out = String::from("<ul class=\"differences\">");
    for line in all.iter().take(most) {
        let (class, word) = match line.verb {
            Verb::Added => ("added", "added"),
            Verb::Removed => ("removed", "removed"),
            Verb::Changed => ("changed", "changed"),
        };
        let _ = write!(
            out,
            "<li class=\"{class}\"><span class=\"verb\">{word}</span> {}</li>",
            short(&line.text, 1000)
        );
    }
    out.push_str("</ul>");
    if all.len() > most {
        let _ = write!(out, "<p class=\"none\">and {} more</p>", all.len() - most);
    }
    if with_text {
        for file in found.text.files.iter().chain(&found.history) {
            let text: String = file.unified().chars().take(TEXT).collect();
            let _ = write!(
                out,
                "<details class=\"text\" id=\"text-{0}\"><summary>The text of {0}</summary><pre tabindex=\"0\" class=\"diff\">{1}</pre></details>",
                escape(file.file.name()),
                escape(&text)
            );
        }
    }
    out
}
