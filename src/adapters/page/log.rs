//! The history with its proof, and the operations with the ways back.

use std::fmt::Write as _;

use super::{Actions, short};
use crate::{text::html::escape, workspace::Dashboard};

/// How much of a field is shown.
const TEXT: usize = 20_000;

/// The entries that were read, the newest first.
pub(crate) fn history(material: &Dashboard) -> String {
    let mut out = String::new();
    let all = material.overview.history.entries;
    for entry in material.entries.iter().rev() {
        let (mark, proof) = entry.proof().words();
        let _ = write!(
            out,
            "<details class=\"entry\"><summary><span class=\"proof {mark}\" title=\"{proof}\">{mark}</span> \
             <time>{}</time> {}</summary><dl>",
            short(entry.time.as_deref().unwrap_or("-"), 40),
            short(&entry.summary().heading, 300)
        );
        for (key, value) in &entry.fields {
            let _ = write!(out, "<dt>{}</dt><dd>{}</dd>", short(key, 80), short(value, TEXT));
        }
        out.push_str("</dl></details>");
    }
    let shown = material.entries.len() as u64;
    if shown == 0 {
        out.push_str("<p class=\"none\">Nothing has happened yet.</p>");
    } else if all > shown {
        let _ = write!(
            out,
            "<p class=\"none\">The newest {shown} of {all} entries; <code>statedir history list</code> has all.</p>"
        );
    }
    out
}

/// The operations that were read, the newest first. `compare` is where two moments are compared.
pub(crate) fn operations(
    material: &Dashboard,
    compare: Option<&str>,
    actions: Option<&Actions<'_>>,
) -> String {
    let mut out = String::from(
        "<table><thead><tr><th scope=\"col\">operation</th><th scope=\"col\">time</th><th scope=\"col\">actor</th>\
         <th scope=\"col\">what</th><th scope=\"col\">files</th><th scope=\"col\"></th></tr></thead><tbody>",
    );
    for (place, operation) in material.operations.iter().enumerate() {
        let id = operation.id.as_str();
        let _ = write!(
            out,
            "<tr data-operation=\"{0}\"><td><code>{0}</code></td><td>{1}</td><td>{2}</td><td>{3}</td><td>{4}</td><td class=\"moves\">",
            escape(id),
            short(&operation.time, 40),
            short(&operation.actor, 40),
            short(operation.message.lines().next().unwrap_or(&operation.kind), 300),
            short(&operation.files.join(", "), 120)
        );
        if let Some(compare) = compare {
            let (parent, id) = (escape(operation.parent.as_str()), escape(id));
            let _ =
                write!(out, "<a href=\"{compare}?from={parent}&amp;to={id}\">what it changed</a>");
            if place > 0 {
                let _ = write!(out, " <a href=\"{compare}?from={id}\">compare with now</a>");
            }
        }
        if let Some(actions) = actions {
            match place {
                0 => out.push_str(&actions.form("Undo", &["undo"], None, "")),
                _ => out.push_str(&actions.form("Restore", &["restore", id], None, "")),
            }
        }
        out.push_str("</td></tr>");
    }
    out.push_str("</tbody></table>");
    out
}
