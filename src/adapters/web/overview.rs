//! The first page: all states below a directory, and the projects of a fleet.

use std::{fmt::Write as _, path::Path};

use super::pages::whole_page;
use crate::{
    adapters::page::{moment, short},
    domain::{Money, PlanRole},
    text::html::escape,
    workspace::Overview,
};

/// A state, as far as it can be read.
pub(super) struct State {
    /// The word that stands for it in addresses.
    pub(super) key: String,
    /// Where it is, below the directory.
    pub(super) name: String,
    pub(super) overview: Result<Overview, String>,
}

/// What needs a person comes first, then what runs, then what is finished.
fn urgency(state: &State) -> u8 {
    let Ok(overview) = &state.overview else { return 0 };
    match overview {
        _ if !overview.open_reviews.is_empty() => 1,
        _ if overview.counts.failed > 0 || overview.role == Some(PlanRole::Paused) => 2,
        _ if overview.counts.running > 0 => 3,
        _ if overview.counts.finished() < overview.counts.total => 4,
        _ => 5,
    }
}

/// The page; what there is to say of the fleet comes last.
pub(super) fn page(root: &Path, mut states: Vec<State>, fleet: &str) -> String {
    states.sort_by(|one, other| {
        urgency(one).cmp(&urgency(other)).then_with(|| one.name.cmp(&other.name))
    });
    let mut body = format!(
        "<header class=\"topbar\"><span class=\"brand\"><b>statedir</b></span></header><main id=\"main\"><div id=\"live\">\
         <h1>States below {}</h1>",
        short(&root.display().to_string(), 300)
    );
    match states.is_empty() {
        true => body.push_str("<p class=\"none\">There is no state here yet: <code>statedir init --goal 'Compare three vector databases'</code></p>"),
        false => {
            body.push_str(&tiles(&states));
            body.push_str(&table(&states));
        }
    }
    body.push_str(fleet);
    body.push_str("</div></main>");
    whole_page("States", " data-poll=\"3000\"", &body)
}

fn tiles(states: &[State]) -> String {
    let read = || states.iter().filter_map(|state| state.overview.as_ref().ok());
    let sum = |count: fn(&Overview) -> usize| read().map(count).sum::<usize>();
    let cost = Money(read().map(|one| one.spending.total_cost.0).sum());
    let tiles = [
        ("States", "", states.len().to_string()),
        ("Running steps", "active", sum(|one| one.counts.running).to_string()),
        ("Waits for you", "waiting", sum(|one| one.open_reviews.len()).to_string()),
        ("Failed steps", "failed", sum(|one| one.counts.failed).to_string()),
        ("Cost", "", cost.to_string()),
    ];
    let mut out = String::from("<dl class=\"tiles\">");
    for (name, class, value) in tiles {
        let class = if value == "0" { "" } else { class };
        let _ =
            write!(out, "<div class=\"tile {class}\"><dt>{name}</dt><dd><b>{value}</b></dd></div>");
    }
    out.push_str("</dl>");
    out
}

fn table(states: &[State]) -> String {
    let mut out = String::from(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"States\"><table><thead><tr><th scope=\"col\">state</th>\
         <th scope=\"col\">status</th><th scope=\"col\">progress</th><th scope=\"col\">running</th><th scope=\"col\">failed</th>\
         <th scope=\"col\">waits for you</th><th scope=\"col\">cost</th><th scope=\"col\">last change</th></tr></thead><tbody>",
    );
    for State { key, name, overview } in states {
        let name = if name.is_empty() { "." } else { name };
        let overview = match overview {
            Ok(overview) => overview,
            Err(message) => {
                let _ = write!(
                    out,
                    "<tr><td class=\"text\"><a href=\"/s/{key}/\">{}</a></td><td colspan=\"7\" class=\"text\">\
                     <p class=\"notice\">{}</p></td></tr>",
                    short(name, 200),
                    short(message, 300)
                );
                continue;
            }
        };
        let counts = &overview.counts;
        let running: Vec<String> = overview
            .steps
            .iter()
            .filter(|step| step.is_running())
            .take(3)
            .map(|step| {
                let who = step.claimed_by.as_ref().map_or("", |claim| claim.actor.as_str());
                format!("{} {}", step.number, short(who, 20))
            })
            .collect();
        let more = if counts.running > running.len() { ", …" } else { "" };
        let failed = if counts.failed == 0 { String::new() } else { counts.failed.to_string() };
        let reviews = match overview.open_reviews.len() {
            0 => String::new(),
            1 => format!("<a href=\"/s/{key}/reviews\">1 review</a>"),
            count => format!("<a href=\"/s/{key}/reviews\">{count} reviews</a>"),
        };
        let _ = write!(
            out,
            "<tr><td class=\"text\"><a href=\"/s/{key}/\"><b>{}</b></a><br><span class=\"none\">{}</span></td>\
             <td><span class=\"status\">{}</span></td><td><progress max=\"100\" value=\"{}\" aria-label=\"progress\"></progress> {}/{}</td>\
             <td>{}{more}</td><td>{failed}</td><td>{reviews}</td><td class=\"number\">{}</td><td>{}</td></tr>",
            short(&overview.title, 200),
            short(name, 200),
            short(&overview.status, 60),
            counts.percent(),
            counts.finished(),
            counts.total,
            running.join(", "),
            escape(&overview.spending.total_cost.to_string()),
            overview.last_updated.as_deref().map_or("-".to_owned(), moment),
        );
    }
    out.push_str("</tbody></table></div>");
    out
}
