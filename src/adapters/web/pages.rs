//! The pages of one state.

use std::fmt::Write as _;

use super::{
    http::{Request, Response},
    moments,
};
use crate::{
    adapters::{
        cli::in_process::CommandAnswer,
        page::{self, Actions, Links},
    },
    text::html::escape,
    workspace::{Dashboard, Error, Extent, Workspace, state::StepState},
};

/// What brings news and lets cards be dragged.
pub(super) const SCRIPT: &str = include_str!("app.js");

/// A small picture for the tab.
pub(super) const ICON: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 8 8\">\
    <rect width=\"8\" height=\"8\" rx=\"2\" fill=\"#0969da\"/></svg>";

/// How much of long lists a page shows; the next page has more.
const STEPS: usize = 100;
const ENTRIES: usize = 200;
/// How far down such a list goes.
const DEEPEST: usize = 20_000;

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
    format!("{}{}", crate::graph::STYLE, page::STYLE)
}

/// Which page is shown.
#[derive(Clone, Copy)]
pub(super) struct Shown<'a> {
    /// The word that stands for the state.
    pub(super) key: &'a str,
    pub(super) view: &'a str,
    /// The moment of the past that is shown instead of now.
    pub(super) at: Option<&'a str>,
    pub(super) is_read_only: bool,
    /// Whether there is an overview to go back to.
    pub(super) is_one_of_several: bool,
}

/// The landing page, which redirects without the token. The browser sends the cookie because this
/// page is ours, unlike the page on which a link was followed.
pub(super) fn landing_page() -> String {
    "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0;url=/\">\
     <title>statedir</title></head><body><p><a href=\"/\">Go on</a></p></body></html>\n"
        .to_owned()
}

/// One view of a state.
pub(super) fn state(shown: &Shown<'_>, workspace: &Workspace, request: &Request) -> Response {
    if let Some(response) = moments::chosen(shown, workspace, request) {
        return response;
    }
    let built = match shown.view {
        "diff" => match moments::difference(shown, workspace, request) {
            Ok(body) => Dashboard::read(workspace, extent("", 0)).map(|now| {
                let title = "<h1>What changed between two moments</h1>";
                (now, format!("{title}{body}"))
            }),
            Err(response) => return *response,
        },
        _ => view(shown, workspace, request),
    };
    let (dashboard, body) = match built {
        Ok(built) => built,
        Err(error) => {
            let hint: Vec<String> = error.hint().into_iter().collect();
            let (status, title) = match shown.at {
                Some(_) => (404, "This moment cannot be shown"),
                None => (500, "The state cannot be read"),
            };
            return Response::html(status, failure(shown, title, &error.to_string(), &hint));
        }
    };
    let reviews = dashboard.overview.open_reviews.len();
    let content = format!(
        "{}<main id=\"main\"><div id=\"live\" data-revision=\"{}\">{body}</div></main>",
        bar(shown, reviews),
        escape(&dashboard.overview.revision),
    );
    // The past has no news.
    let events = match shown.view != "diff" && shown.at.is_none() {
        true => format!(" data-events=\"/s/{}/events\"", shown.key),
        false => String::new(),
    };
    Response::html(200, whole_page(&dashboard.overview.title, &events, &content))
}

/// How much has to be read for a view that skips some of the newest.
fn extent(view: &str, skipped: usize) -> Extent {
    let entries = match view {
        "history" | "timeline" | "constraints" | "steps" => ENTRIES + skipped,
        _ => 0,
    };
    let pages = 1 + (skipped / ENTRIES) as u64;
    let graph = matches!(view, "graph" | "steps");
    Extent { entries, bytes: (pages << 20).min(8 << 20), operations: 0, graph }
}

/// The state and what is shown of it.
fn view(
    shown: &Shown<'_>,
    workspace: &Workspace,
    request: &Request,
) -> Result<(Dashboard, String), Error> {
    let number = |name: &str| request.parameter(name).and_then(|text| text.parse().ok());
    let skipped: usize = number("skip").unwrap_or(0).min(DEEPEST);
    let extent = extent(shown.view, skipped);
    // For an earlier moment the only action is to restore it, on the current state.
    let now = match shown.at {
        Some(_) => Some(workspace.read()?.revision().to_string()),
        None => None,
    };
    let mut dashboard = match shown.at {
        Some(at) => Dashboard::at(workspace, at, extent)?,
        None => Dashboard::read(workspace, extent)?,
    };
    let has_older = dashboard.entries.len() == extent.entries;
    dashboard.entries.truncate(dashboard.entries.len().saturating_sub(skipped));
    let dashboard = dashboard;
    let to = format!("/s/{}/do", shown.key);
    let is_past = shown.at.is_some();
    let revision = now.as_ref().unwrap_or(&dashboard.overview.revision);
    let actions = Actions { to: &to, revision, back: shown.view };
    let offered = (!shown.is_read_only).then_some(&actions);
    let actions = offered.filter(|_| !is_past);
    let query = shown.at.map(|at| format!("at={}&amp;", escape(at))).unwrap_or_default();
    let steps = format!("/s/{}/steps?{query}from=", shown.key);
    let status = format!("/s/{}/steps?{query}status=", shown.key);
    let reviews = format!("/s/{}/reviews{}", shown.key, past_query(shown));
    let links = Links {
        steps: &steps,
        status: Some(&status),
        reviews: &reviews,
        says_next: !is_past && dashboard.overview.open_reviews.is_empty(),
    };
    let older = |word: &str| match has_older {
        true => format!(
            "<p><a href=\"/s/{}/{}?{query}skip={}\">Older {word}</a></p>",
            shown.key,
            shown.view,
            skipped + ENTRIES
        ),
        false => String::new(),
    };
    let body = match shown.view {
        "graph" => format!(
            "<p class=\"none\">The critical path is bold. Choose a step to see what it waits for and what waits for it.</p>{}",
            page::graph(&dashboard)
        ),
        "timeline" => format!(
            "{}{}<h3>Numbers</h3>{}",
            page::timeline(&dashboard, ENTRIES),
            older("attempts"),
            page::numbers(&dashboard)
        ),
        "steps" => listed_steps(&dashboard, shown, request, &links, actions),
        "reviews" => page::reviews(&dashboard, actions),
        "context" => page::context(&dashboard),
        "history" => format!("{}{}", page::history(&dashboard, skipped), older("entries")),
        "operations" => moments::operations(shown, workspace, skipped, actions)?,
        "constraints" => page::constraints(&dashboard),
        _ => page::board(&dashboard, &links, actions),
    };
    let mut top = String::new();
    if is_past {
        top.push_str(&moments::past(shown, workspace, &dashboard, offered)?);
    }
    top.push_str(&page::header(&dashboard, &links));
    if let Some(actions) = actions.filter(|_| shown.view.is_empty()) {
        top.push_str(&page::plan_moves(&dashboard, actions));
    }
    if shown.view.is_empty() && !is_past {
        if !dashboard.overview.open_reviews.is_empty() {
            let open = page::open_reviews(&dashboard, actions);
            top.push_str(&page::section("waiting", "Waits for you", &open));
        }
        top.push_str(&moments::since_own_change(shown, workspace)?);
    }
    let id = if shown.view.is_empty() { "board" } else { shown.view };
    top.push_str(&page::section(id, title_of(shown.view), &body));
    Ok((dashboard, top))
}

/// One step with its lineage, or steps in pages.
fn listed_steps(
    dashboard: &Dashboard,
    shown: &Shown<'_>,
    request: &Request,
    links: &Links<'_>,
    actions: Option<&Actions<'_>>,
) -> String {
    let number = |name: &str| request.parameter(name).and_then(|text| text.parse::<u32>().ok());
    if let Some(from) = number("from") {
        return page::step(dashboard, from, links, actions);
    }
    let wanted = request.parameter("status").filter(|status| !status.is_empty());
    let fits = |step: &&StepState| {
        let status = step.status.as_deref().unwrap_or_default();
        wanted
            .is_none_or(|wanted| dashboard.workflow.step_status(status).unwrap_or(status) == wanted)
    };
    let all: Vec<&StepState> = dashboard.state.steps.iter().filter(fits).collect();
    let skipped = number("skip").map_or(0, |skip| skip as usize).min(all.len());
    let page = all.iter().skip(skipped).take(STEPS).copied();
    let mut out = match wanted {
        Some(status) => {
            format!("<p>Only <span class=\"status\">{}</span></p>", page::short(status, 40))
        }
        None => String::new(),
    };
    out.push_str(&page::steps(page, links, false));
    let left = all.len().saturating_sub(skipped + STEPS);
    if left > 0 {
        let at = shown.at.map(|at| format!("at={}&amp;", escape(at))).unwrap_or_default();
        let status = wanted.map(|status| format!("status={}&amp;", page::address(status)));
        let _ = write!(
            out,
            "<p><a href=\"/s/{}/steps?{at}{}skip={}\">More steps</a>: {left}</p>",
            shown.key,
            status.unwrap_or_default(),
            skipped + STEPS
        );
    }
    out
}

/// Why a change was not made, and what to do.
pub(super) fn refusal(shown: &Shown<'_>, answer: &CommandAnswer) -> String {
    let reasons = answer.reasons();
    let (message, more) =
        reasons.split_first().map_or(("", &[][..]), |(first, more)| (first, more));
    let title = match answer.exit {
        3 => "The state has changed since this page was shown",
        _ => "Nothing was changed",
    };
    failure(shown, title, message, more)
}

/// A page that says what is wrong.
pub(super) fn failure(shown: &Shown<'_>, title: &str, message: &str, more: &[String]) -> String {
    let lines: String =
        more.iter().map(|line| format!("<li>{}</li>", page::prose(line, 2000))).collect();
    let lines = if lines.is_empty() { lines } else { format!("<ul>{lines}</ul>") };
    let view = if shown.view == "diff" { "" } else { shown.view };
    let body = format!(
        "{}<main id=\"main\"><h1>{}</h1><p class=\"notice\" role=\"alert\">{}</p>{lines}\
         <p><a href=\"/s/{}/{}\">Show the state as it is now</a></p></main>",
        bar(&Shown { at: None, ..*shown }, 0),
        escape(title),
        page::prose(message, 4000),
        shown.key,
        escape(view),
    );
    whole_page(title, "", &body)
}

/// Where one is, and the other views.
fn bar(shown: &Shown<'_>, reviews: usize) -> String {
    let link = |(view, name): &(&str, &str)| {
        let current = if *view == shown.view { " aria-current=\"page\"" } else { "" };
        let count = match (*view, reviews) {
            ("reviews", 1..) => format!(" <span class=\"badge\">{reviews}</span>"),
            _ => String::new(),
        };
        let query = past_query(shown);
        format!("<li><a href=\"/s/{}/{view}{query}\"{current}>{name}{count}</a></li>", shown.key)
    };
    let links: String = VIEWS.iter().map(link).collect();
    let all =
        if shown.is_one_of_several { "<a href=\"/\">All states</a>" } else { "<b>statedir</b>" };
    let mode = if shown.is_read_only { "<span class=\"status\">read-only</span>" } else { "" };
    format!(
        "<header class=\"topbar\"><span class=\"brand\">{all} {mode}</span><nav aria-label=\"Views\"><ul>{links}</ul></nav></header>"
    )
}

fn past_query(shown: &Shown<'_>) -> String {
    shown.at.map(|at| format!("?at={}", escape(at))).unwrap_or_default()
}

fn title_of(view: &str) -> &str {
    VIEWS.iter().find(|(known, _)| *known == view).map_or("Difference", |(_, name)| name)
}

/// A whole page around its content.
pub(super) fn whole_page(title: &str, data: &str, body: &str) -> String {
    let title: String = title.chars().take(200).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>{} · statedir</title>\
         <link rel=\"stylesheet\" href=\"/style.css\"><script src=\"/app.js\" defer></script></head>\n\
         <body{data}><a class=\"skip\" href=\"#main\">Skip to the content</a>\n{body}\n\
         <footer><p class=\"live\" id=\"news\" role=\"status\"></p></footer></body></html>\n",
        escape(&title)
    )
}
