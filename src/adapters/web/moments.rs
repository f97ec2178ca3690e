//! Earlier moments: a slider through the log, the operations, what restoring one would change, and
//! the difference between any two.

use std::fmt::Write as _;

use super::{
    http::{Request, Response},
    pages::{Shown, failure},
};
use crate::{
    adapters::page::{Actions, differences, operation_line, short},
    domain::StateFile,
    store::OperationSummary,
    text::html::escape,
    workspace::{Dashboard, DiffSide, Error, StepOverview, StepOverviews, Workspace},
};

/// How many moments the slider reaches.
const REACH: usize = 300;
/// How many operations a page lists.
pub(super) const LISTED: usize = 100;
/// How many differences are listed.
const TOLD: usize = 500;
/// How many changes of others are listed.
const OTHERS: usize = 12;
/// How far back the own last change is looked for.
const LOOKED_BACK: usize = 200;

/// Whether a text can be the name of a moment.
fn is_moment(text: &&str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    !text.is_empty() && text.len() <= 64 && !text.starts_with('-') && text.chars().all(plain)
}

/// A moment that an address names.
pub(super) fn named<'r>(request: &'r Request, name: &str) -> Option<&'r str> {
    request.parameter(name).filter(is_moment)
}

/// The moments that the slider goes through, the oldest first.
struct Moments {
    list: Vec<OperationSummary>,
    /// Which of them is shown.
    place: usize,
    /// How many operations came after them.
    later: usize,
}

impl Moments {
    /// Those around a moment, or the newest.
    fn around(workspace: &Workspace, at: Option<&str>) -> Result<Self, Error> {
        let is_it = |operation: &OperationSummary| {
            at.is_none_or(|at| operation.id.as_str().starts_with(at))
        };
        let mut all = workspace.operations(Some(REACH))?;
        if !all.iter().any(is_it) {
            all = workspace.operations(None)?;
        }
        let back = all.iter().position(is_it).unwrap_or(0);
        let later = if back < REACH { 0 } else { back - REACH / 2 };
        let mut list: Vec<OperationSummary> = all.into_iter().skip(later).take(REACH).collect();
        list.reverse();
        let place = (list.len() + later).saturating_sub(back + 1);
        Ok(Self { list, place, later })
    }

    fn current(&self) -> Option<&OperationSummary> {
        self.list.get(self.place)
    }

    /// How many operations ago it was.
    fn ago(&self) -> usize {
        self.list.len().saturating_sub(self.place + 1) + self.later
    }
}

/// The moment that was chosen on the slider, as an address to go on to.
pub(super) fn chosen(
    shown: &Shown<'_>,
    workspace: &Workspace,
    request: &Request,
) -> Option<Response> {
    let place: usize = request.parameter("place")?.parse().ok()?;
    let until = named(request, "until")?;
    let all = workspace.operations(None).ok()?;
    let newest = all.iter().position(|operation| operation.id.as_str() == until)?;
    let count = (all.len() - newest).min(REACH);
    let back = newest + count.saturating_sub(place.saturating_add(1));
    let here = format!("/s/{}/{}", shown.key, shown.view);
    Some(match all.get(back) {
        Some(operation) if back > 0 => Response::redirect(&format!("{here}?at={}", operation.id)),
        _ => Response::redirect(&here),
    })
}

/// The slider, with links to the previous and next moment.
pub(super) fn slider(shown: &Shown<'_>, workspace: &Workspace) -> Result<String, Error> {
    let moments = Moments::around(workspace, shown.at)?;
    let (Some(now), Some(last)) = (moments.current(), moments.list.last()) else {
        return Ok(String::new());
    };
    let view = escape(shown.view);
    let mut out = format!(
        "<form class=\"moments\" method=\"get\" action=\"/s/{}/{view}\"><label for=\"moment\">Look at an earlier moment</label>\
         <input type=\"hidden\" name=\"until\" value=\"{}\">\
         <input id=\"moment\" type=\"range\" name=\"place\" min=\"0\" max=\"{}\" value=\"{}\"><datalist id=\"moments\">",
        shown.key,
        escape(last.id.as_str()),
        moments.list.len() - 1,
        moments.place
    );
    for (place, operation) in moments.list.iter().enumerate() {
        let _ = write!(
            out,
            "<option value=\"{place}\" label=\"{}\"></option>",
            short(&format!("{} · {} · {}", operation.time, operation.actor, line(operation)), 160)
        );
    }
    let _ = write!(
        out,
        "</datalist><output id=\"moment-name\" for=\"moment\">{}</output><p class=\"ways\"><button>Look</button>",
        operation_line(now)
    );
    let link = |place: usize, text: &str| match moments.list.get(place) {
        Some(operation) if place + 1 < moments.list.len() || moments.later > 0 => format!(
            " <a href=\"/s/{}/{view}?at={}\">{text}</a>",
            shown.key,
            escape(operation.id.as_str())
        ),
        _ => format!(" <a href=\"/s/{}/{view}\">{text}</a>", shown.key),
    };
    if moments.place > 0 {
        out.push_str(&link(moments.place - 1, "Earlier"));
    }
    if moments.place + 1 < moments.list.len() {
        out.push_str(&link(moments.place + 1, "Later"));
    }
    out.push_str("</p></form>");
    Ok(out)
}

fn line(operation: &OperationSummary) -> &str {
    operation.message.lines().next().unwrap_or(&operation.kind)
}

/// What is shown above a state of the past: when that was, and what restoring it would change.
pub(super) fn past(
    shown: &Shown<'_>,
    workspace: &Workspace,
    then: &Dashboard,
    actions: Option<&Actions<'_>>,
) -> Result<String, Error> {
    let moments = Moments::around(workspace, shown.at)?;
    let Some(operation) = moments.current() else { return Ok(String::new()) };
    let mut found = workspace
        .compare(&DiffSide::Working, &DiffSide::Operation(operation.id.as_str().to_owned()))?;
    // Restoring keeps the history.
    found.changes.retain(|change| change.file != StateFile::History);
    let ago = match moments.ago() {
        1 => "one operation ago".to_owned(),
        count => format!("{count} operations ago"),
    };
    let mut out = format!(
        "<aside class=\"past\" aria-label=\"An earlier moment\"><p><b>This is the past</b>, {ago}: right after {}</p>\
         <p><a href=\"/s/{}/{}\">Back to now</a></p>{}",
        operation_line(operation),
        shown.key,
        escape(shown.view),
        slider(shown, workspace)?
    );
    out.push_str(
        "<details id=\"restoring\" open><summary>What restoring it would change</summary>",
    );
    let now = workspace.read()?.overview()?;
    for warning in warnings(&now.steps, &then.overview.steps) {
        let _ = write!(out, "<p class=\"notice\">{}</p>", escape(&warning));
    }
    out.push_str(&differences(&found, 40, false));
    if let Some(actions) = actions {
        out.push_str("<div class=\"moves\">");
        out.push_str(&actions.form("Restore this moment", &["restore", operation.id.as_str()], ""));
        out.push_str("</div><p class=\"none\">Nothing is lost: restoring is an operation that can be undone, and history.md keeps every entry.</p>");
    }
    out.push_str("</details></aside>");
    Ok(out)
}

/// What restoring does not undo, and who is affected.
fn warnings(now: &StepOverviews, then: &StepOverviews) -> Vec<String> {
    let earlier = |step: &&StepOverview| {
        then.iter().find(|other| match (&other.id, &step.id) {
            (Some(one), Some(other)) => one == other,
            _ => other.number == step.number,
        })
    };
    let numbers = |steps: Vec<&StepOverview>| {
        let mut text: Vec<String> =
            steps.iter().take(20).map(|step| step.number.to_string()).collect();
        if steps.len() > 20 {
            text.push("…".to_owned());
        }
        text.join(", ")
    };
    let is_undone = |step: &&StepOverview| {
        step.is_finished() && earlier(step).is_none_or(|step| !step.is_finished())
    };
    let undone: Vec<&StepOverview> = now.iter().filter(is_undone).collect();
    let is_interrupted = |step: &&StepOverview| {
        step.is_running() && earlier(step).is_none_or(|step| !step.is_running())
    };
    let interrupted: Vec<&StepOverview> = now.iter().filter(is_interrupted).collect();
    let mut out = Vec::new();
    if !undone.is_empty() {
        out.push(format!(
            "Finished since, and to do again: {}. What they did outside these files is not undone.",
            numbers(undone)
        ));
    }
    for step in interrupted.iter().take(5) {
        let who = step.claimed_by.as_ref().map_or("Somebody", |claim| claim.actor.as_str());
        let who: String = who.chars().take(40).collect();
        out.push(format!("{who} is at work on step {} and would lose it.", step.number));
    }
    out
}

/// The operations with two of them to compare, and the way to undo the newest.
pub(super) fn operations(
    shown: &Shown<'_>,
    workspace: &Workspace,
    skipped: usize,
    actions: Option<&Actions<'_>>,
) -> Result<String, Error> {
    let all = workspace.operations(Some(skipped + LISTED + 1))?;
    let key = shown.key;
    let mut out = String::new();
    if let Some(actions) = actions.filter(|_| skipped == 0)
        && let Some(newest) = all.first()
    {
        let _ = write!(out, "<div class=\"moves\"><p>{}</p>", operation_line(newest));
        out.push_str(&actions.form("Undo", &["undo"], ""));
        if newest.undoes.is_some() {
            out.push_str(&actions.form("Redo", &["redo"], ""));
        }
        out.push_str("</div>");
    }
    out.push_str(&slider(shown, workspace)?);
    let _ = write!(
        out,
        "<form class=\"compare\" method=\"get\" action=\"/s/{key}/diff\"><p><button>Compare the two chosen moments</button></p><ol class=\"log\">"
    );
    let listed = || all.iter().skip(skipped).take(LISTED);
    for (place, operation) in listed().enumerate() {
        let id = escape(operation.id.as_str());
        let radio = |name: &str, chosen: usize| {
            let checked = if place == chosen { " checked" } else { "" };
            format!(
                "<label><input type=\"radio\" name=\"{name}\" value=\"{id}\"{checked}> {name}<span class=\"sr\"> {id}</span></label> "
            )
        };
        let look = match place + skipped {
            0 => format!("/s/{key}/"),
            _ => format!("/s/{key}/?at={id}"),
        };
        let _ = write!(
            out,
            "<li data-operation=\"{id}\"><span class=\"choose\">{}{}</span><div class=\"what\">{}</div>\
             <span class=\"ways\"><a href=\"{look}\">Look<span class=\"sr\"> at {id}</span></a> \
             <a href=\"/s/{key}/diff?from={}&amp;to={id}\">Changes<span class=\"sr\"> of {id}</span></a></span></li>",
            radio("from", 1),
            radio("to", 0),
            operation_line(operation),
            escape(operation.parent.as_str())
        );
    }
    out.push_str("</ol></form>");
    if all.len() > skipped + LISTED {
        let _ = write!(
            out,
            "<p><a href=\"/s/{key}/operations?skip={}\">Older operations</a></p>",
            skipped + LISTED
        );
    }
    Ok(out)
}

/// What differs between two moments, by meaning; without a second one, up to now.
pub(super) fn difference(
    shown: &Shown<'_>,
    workspace: &Workspace,
    request: &Request,
) -> Result<String, Box<Response>> {
    let refused = |status: u16, message: &str| {
        let title = "These moments cannot be compared";
        Box::new(Response::html(status, failure(shown, title, message, &[])))
    };
    let Some(from) = named(request, "from") else {
        return Err(refused(400, "which moments are to be compared?"));
    };
    let to = named(request, "to").unwrap_or("working");
    let found = workspace
        .compare(&DiffSide::parse(from), &DiffSide::parse(to))
        .map_err(|error| refused(404, &error.to_string()))?;
    let name = |word: &str| match word {
        "working" => "now".to_owned(),
        id => match workspace.operation_named(id) {
            Ok(operation) => operation_line(&operation.summary("history.md")),
            Err(_) => short(id, 64),
        },
    };
    Ok(format!(
        "<dl class=\"sides\"><dt>from</dt><dd>{}</dd><dt>to</dt><dd>{}</dd></dl>{}\
         <p><a href=\"/s/{}/operations\">Choose other moments</a></p>",
        name(from),
        name(to),
        differences(&found, TOLD, true),
        shown.key
    ))
}

/// What others did since the viewer's last change.
pub(super) fn since_own_change(shown: &Shown<'_>, workspace: &Workspace) -> Result<String, Error> {
    let all = workspace.operations(Some(LOOKED_BACK))?;
    let actor = workspace.environment().actor();
    let own = all.iter().position(|operation| operation.actor == actor);
    let others = &all[..own.unwrap_or(all.len())];
    if others.is_empty() {
        return Ok(String::new());
    }
    let mut names: Vec<(&str, usize)> = Vec::new();
    for operation in others {
        match names.iter_mut().find(|(name, _)| *name == operation.actor) {
            Some((_, count)) => *count += 1,
            None => names.push((&operation.actor, 1)),
        }
    }
    let names: Vec<String> =
        names.iter().take(6).map(|(name, count)| format!("{} {count}", short(name, 30))).collect();
    let (count, least) = (others.len(), if own.is_none() { "at least " } else { "" });
    let least = if count < LOOKED_BACK { "" } else { least };
    let change = if count == 1 { "change" } else { "changes" };
    let mut out = format!(
        "<details class=\"since\" id=\"since\"><summary><b>{least}{count} {change}</b> since your last ({})</summary><ol class=\"log\">",
        names.join(", ")
    );
    for operation in others.iter().take(OTHERS) {
        let _ = write!(out, "<li><div class=\"what\">{}</div></li>", operation_line(operation));
    }
    out.push_str("</ol><p>");
    if let Some(own) = own.and_then(|own| all.get(own)) {
        let _ = write!(
            out,
            "<a href=\"/s/{}/diff?from={}\">What they changed, by meaning</a> ",
            shown.key,
            escape(own.id.as_str())
        );
    }
    let _ = write!(out, "<a href=\"/s/{}/operations\">All operations</a></p></details>", shown.key);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_moments_are_passed_on() {
        for (text, fits) in [
            ("8f3a2c91b0d4", true),
            ("working", true),
            ("before-release_2.1", true),
            ("", false),
            ("--text", false),
            ("git:main", false),
            ("a/b", false),
            ("@-2", false),
        ] {
            assert_eq!(is_moment(&text), fits, "{text}");
        }
        assert!(!is_moment(&"a".repeat(65).as_str()));
    }
}
