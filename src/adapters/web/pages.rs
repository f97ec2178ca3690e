//! The pages of the server.

use std::{fmt::Write as _, path::Path};

use serde_json::Value;

use super::http::{Request, Response};
use crate::{
    adapters::{
        cli::in_process::{self, Caller},
        page::{self, Actions},
    },
    text::html::escape,
    workspace::{Dashboard, Extent, Overview, Workspace},
};

/// What brings news and lets cards be dragged.
pub(super) const SCRIPT: &str = include_str!("app.js");

/// A small picture for the tab.
pub(super) const ICON: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 8 8\">\
    <rect width=\"8\" height=\"8\" rx=\"2\" fill=\"#0969da\"/></svg>";

/// How much of long lists a page shows; the next page has more.
const STEPS: usize = 100;
const ATTEMPTS: usize = 100;

/// The views of a state: the last part of the address, and its name.
const VIEWS: [(&str, &str); 9] = [
    ("", "Board"),
    ("graph", "Graph"),
    ("timeline", "Timeline"),
    ("steps", "Steps"),
    ("reviews", "Reviews"),
    ("context", "Context"),
    ("history", "History"),
    ("operations", "Operations"),
    ("constraints", "Constraints"),
];

/// Whether there is such a view.
pub(super) fn is_view(view: &str) -> bool {
    view == "diff" || VIEWS.iter().any(|(known, _)| *known == view)
}

/// The style of the pages.
pub(super) fn style() -> String {
    format!("{}{}", page::STYLE, crate::graph::STYLE)
}

/// Which page is shown.
pub(super) struct Shown<'a> {
    /// The word that stands for the state.
    pub(super) key: &'a str,
    pub(super) view: &'a str,
    pub(super) is_read_only: bool,
    /// Whether there is an overview to go back to.
    pub(super) is_one_of_several: bool,
}

/// What comes first: it leads on without the token. The cookie is sent along because this page is
/// ours, which a page that somebody followed a link from is not.
pub(super) fn opening() -> String {
    "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0;url=/\">\
     <title>statedir</title></head><body><p><a href=\"/\">Go on</a></p></body></html>\n"
        .to_owned()
}

/// All states below a directory.
pub(super) fn overview(
    root: &Path,
    states: &[(String, String, Result<Overview, String>)],
) -> String {
    let mut body = format!(
        "<header><h1>States below {}</h1></header><main id=\"live\">",
        escape(&root.display().to_string())
    );
    if states.is_empty() {
        body.push_str("<p class=\"none\">There is no state here yet: <code>statedir init --goal '…'</code></p>");
    } else {
        body.push_str(
            "<table><thead><tr><th scope=\"col\">state</th><th scope=\"col\">goal</th><th scope=\"col\">status</th>\
             <th scope=\"col\">progress</th><th scope=\"col\">running</th><th scope=\"col\">failed</th>\
             <th scope=\"col\">to review</th><th scope=\"col\">cost</th><th scope=\"col\">changed</th></tr></thead><tbody>",
        );
    }
    for (key, name, overview) in states {
        let name = if name.is_empty() { "." } else { name };
        let _ = write!(body, "<tr><td><a href=\"/s/{key}/\">{}</a></td>", escape(name));
        match overview {
            Ok(overview) => {
                let counts = &overview.counts;
                let title: String = overview.title.chars().take(200).collect();
                let _ = write!(
                    body,
                    "<td>{}</td><td>{}</td><td><progress max=\"100\" value=\"{}\" aria-label=\"progress\"></progress> {}/{}</td>\
                     <td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
                    escape(&title),
                    escape(&overview.status),
                    counts.percent(),
                    counts.finished(),
                    counts.total,
                    counts.running,
                    counts.failed,
                    overview.open_reviews.len(),
                    escape(&overview.spending.total_cost.to_string()),
                    escape(overview.last_updated.as_deref().unwrap_or("-")),
                );
            }
            Err(message) => {
                let message: String = message.chars().take(300).collect();
                let _ = write!(
                    body,
                    "<td colspan=\"8\" class=\"notice\">{}</td></tr>",
                    escape(&message)
                );
            }
        }
    }
    if !states.is_empty() {
        body.push_str("</tbody></table>");
    }
    body.push_str("</main>");
    whole("States", " data-poll=\"3000\"", &body)
}

/// One view of a state.
pub(super) fn state(
    shown: &Shown<'_>,
    workspace: &Workspace,
    caller: &Caller,
    request: &Request,
) -> Response {
    let operations = if shown.view == "operations" { 100 } else { 0 };
    let entries =
        if matches!(shown.view, "history" | "timeline" | "constraints") { 200 } else { 0 };
    let extent = Extent { entries, bytes: 1 << 20, operations };
    let material = match Dashboard::read(workspace, extent) {
        Ok(material) => material,
        Err(error) => {
            let hint: Vec<String> = error.hint().into_iter().collect();
            let page = failure(shown, "The state cannot be read", &error.to_string(), &hint);
            return Response::html(500, page);
        }
    };
    let to = format!("/s/{}/do", shown.key);
    let actions = Actions { to: &to, revision: &material.overview.revision, back: shown.view };
    let actions = (!shown.is_read_only).then_some(&actions);
    let steps_link = format!("/s/{}/steps?from=", shown.key);
    let body = match shown.view {
        "graph" => page::graph(&material),
        "timeline" => format!(
            "{}<h3>Numbers</h3>{}",
            page::timeline(&material, ATTEMPTS),
            page::numbers(&material)
        ),
        "steps" => steps(&material, shown, request),
        "reviews" => page::reviews(&material, actions),
        "context" => page::context(&material),
        "history" => page::history(&material),
        "operations" => {
            let compare = format!("/s/{}/diff", shown.key);
            page::operations(&material, Some(&compare), actions)
        }
        "constraints" => page::constraints(&material),
        "diff" => match difference(caller, request) {
            Ok(text) => format!("<pre class=\"diff\">{}</pre>", escape(&text)),
            Err(message) => format!("<p class=\"notice\">{}</p>", escape(&message)),
        },
        _ => {
            let open = if material.overview.open_reviews.is_empty() {
                String::new()
            } else {
                page::reviews(&material, actions)
            };
            format!("{open}{}", page::board(&material, &steps_link, actions))
        }
    };
    let revision = escape(&material.overview.revision);
    let content = format!(
        "<header>{}{}</header><div id=\"live\" data-revision=\"{revision}\"><div class=\"top\">{}</div>\
         <main id=\"main\">{}</main></div>",
        back(shown),
        navigation(shown),
        page::header(&material),
        page::section(
            if shown.view.is_empty() { "board" } else { shown.view },
            title_of(shown.view),
            &body
        ),
    );
    let events = if shown.view == "diff" {
        String::new()
    } else {
        format!(" data-events=\"/s/{}/events\"", shown.key)
    };
    Response::html(200, whole(&material.overview.title, &events, &content))
}

/// Steps from a number on, in pages.
fn steps(material: &Dashboard, shown: &Shown<'_>, request: &Request) -> String {
    let from: u32 = request.parameter("from").and_then(|text| text.parse().ok()).unwrap_or(0);
    let all = &material.state.steps;
    let first = all.iter().position(|step| step.number == from).unwrap_or(0);
    let mut out = page::steps(material, first, if from > 0 { 1 } else { STEPS }, from > 0);
    if from > 0 {
        let link = |at: usize, text: &str| {
            format!("<a href=\"/s/{}/steps?from={}\">{text}</a> ", shown.key, all[at].number)
        };
        out.push_str("<p>");
        if first > 0 {
            out.push_str(&link(first - 1, "Previous step"));
        }
        if first + 1 < all.len() {
            out.push_str(&link(first + 1, "Next step"));
        }
        out.push_str("</p>");
    } else if let Some(next) = all.get(STEPS) {
        let _ = write!(
            out,
            "<p><a href=\"/s/{}/steps?from={}\">More steps</a></p>",
            shown.key, next.number
        );
    }
    out
}

/// What changed between two moments, as `statedir diff` says it.
fn difference(caller: &Caller, request: &Request) -> Result<String, String> {
    let is_moment = |text: &&str| {
        !text.is_empty() && text.len() <= 64 && text.chars().all(|c| c.is_ascii_alphanumeric())
    };
    let from =
        request.parameter("from").filter(is_moment).ok_or("which moments are to be compared?")?;
    let mut words = vec!["diff", from];
    words.extend(request.parameter("to").filter(is_moment));
    let wanted = in_process::request(&words).ok_or("this cannot be compared")?;
    in_process::text(caller, wanted).map_err(|answer| {
        answer.document["error"]["message"].as_str().unwrap_or("this cannot be compared").to_owned()
    })
}

/// Why a change was not made, and what to do.
pub(super) fn refusal(shown: &Shown<'_>, exit: u8, document: &Value) -> String {
    let error = &document["error"];
    let message = error["message"].as_str().unwrap_or("the command failed");
    let mut more: Vec<String> =
        error["hint"].as_str().map(|hint| format!("Hint: {hint}")).into_iter().collect();
    for operation in document["changed"].as_array().into_iter().flatten() {
        let text = |key: &str| operation[key].as_str().unwrap_or_default();
        more.push(format!("{} {}: {}", text("time"), text("actor"), text("message")));
    }
    let title = match exit {
        3 => "The state has changed since this page was shown",
        _ => "Nothing was changed",
    };
    failure(shown, title, message, &more)
}

/// A page that says what is wrong.
pub(super) fn failure(shown: &Shown<'_>, title: &str, message: &str, more: &[String]) -> String {
    let lines: String = more.iter().map(|line| format!("<li>{}</li>", escape(line))).collect();
    let body = format!(
        "<header>{}{}</header><main id=\"main\"><h1>{}</h1><p class=\"notice\" role=\"alert\">{}</p><ul>{lines}</ul>\
         <p><a href=\"/s/{}/{}\">Show the state as it is now</a></p></main>",
        back(shown),
        navigation(shown),
        escape(title),
        escape(message),
        shown.key,
        escape(shown.view),
    );
    whole(title, "", &body)
}

fn back(shown: &Shown<'_>) -> &'static str {
    if shown.is_one_of_several { "<p><a href=\"/\">All states</a></p>" } else { "" }
}

fn navigation(shown: &Shown<'_>) -> String {
    let link = |(view, name): &(&str, &str)| {
        let current = if *view == shown.view { " aria-current=\"page\"" } else { "" };
        format!("<li><a href=\"/s/{}/{view}\"{current}>{name}</a></li>", shown.key)
    };
    let links: String = VIEWS.iter().map(link).collect();
    format!("<nav aria-label=\"Views\"><ul>{links}</ul></nav>")
}

fn title_of(view: &str) -> &str {
    VIEWS.iter().find(|(known, _)| *known == view).map_or("Difference", |(_, name)| name)
}

fn whole(title: &str, data: &str, body: &str) -> String {
    let title: String = title.chars().take(200).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>{} · statedir</title>\
         <link rel=\"stylesheet\" href=\"/style.css\"><script src=\"/app.js\" defer></script></head>\n\
         <body{data}><a class=\"skip\" href=\"#main\">Skip to the content</a>\n{body}\n\
         <p class=\"live\" id=\"news\" role=\"status\"></p></body></html>\n",
        escape(&title)
    )
}
