//! `web`: the page, by plain requests and in a real browser.

mod browser;
mod client;
mod driver;
#[cfg(feature = "fleet")]
mod fleet;
mod fuzz;
mod live;
mod moments;
mod refusals;

use client::{Answer, Server};
use serde_json::json;

use crate::builder::Project;

/// Every view of a state, from its address.
const VIEWS: [&str; 10] = [
    "", "graph", "timeline", "steps", "steps?from=1", "reviews", "context", "history",
    "operations", "constraints",
];

/// Two steps, the second behind the first.
fn project() -> Project {
    let project = Project::new();
    let changes = json!([
        { "op": "step.add", "title": "Collect benchmarks" },
        { "op": "step.add", "title": "Compare", "depends_on": ["1"] },
    ]);
    project.ok_with_input(&["apply", "-"], &changes.to_string());
    project
}

/// A change that the board offers: the words of the command and the revision it was shown at.
fn change<'a>(words: &[&'a str], revision: &'a str) -> Vec<(&'static str, &'a str)> {
    let mut form: Vec<(&str, &str)> = words.iter().map(|word| ("word", *word)).collect();
    form.push(("revision", revision));
    form
}

#[test]
fn the_address_with_its_token_is_one_line_and_lets_in_once_by_cookie() {
    let project = project();
    let server = Server::start(&project, &[]);
    assert!(server.url.starts_with("http://127.0.0.1:"), "{}", server.url);
    let token = server.url.split("token=").nth(1).unwrap();
    assert_eq!(token.len(), 32);
    let opened = server.raw("GET", &format!("/?token={token}"), &[], "");
    assert_eq!(opened.status, 200);
    let cookie = opened.header("set-cookie").unwrap();
    assert!(cookie.contains("HttpOnly; SameSite=Strict"), "{cookie}");
    assert!(!cookie.contains(token) && !opened.body.contains(token), "the token goes no further");
    let page = server.get(&server.home());
    assert_eq!(page.status, 200);
    assert!(page.body.contains("Collect benchmarks"), "{}", page.body);
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; script-src 'self'"), "{policy}");
    assert!(!page.body.contains("<script>") && !page.body.contains(" onclick"), "nothing inline");
}

#[test]
fn every_view_can_be_opened() {
    let project = crate::report::hostile();
    let server = Server::start(&project, &[]);
    let home = server.home();
    for view in VIEWS.iter().chain(&["operations?skip=2"]) {
        let page = server.get(&format!("{home}{view}"));
        assert_eq!(page.status, 200, "{view}: {}", page.body);
        let lower = page.body.to_ascii_lowercase();
        assert!(lower.contains("</html>") && lower.contains("&lt;script&gt;"), "{view}");
        for harm in ["<script>", "<img", "<b>eve", "href=\"javascript", "\u{202e}"] {
            assert!(!lower.contains(harm), "{view}: {harm}");
        }
    }
    assert_eq!(server.get("/style.css").header("content-type").unwrap(), "text/css; charset=utf-8");
    assert_eq!(server.get("/app.js").status, 200);
}

#[test]
fn a_change_goes_the_way_of_every_change_and_history_says_where_it_came_from() {
    let project = project();
    let server = Server::start(&project, &["--actor", "ada"]);
    let moved = server.change(&change(&["step", "start", "1"], &server.revision()));
    assert_eq!((moved.status, moved.header("location").unwrap()), (303, server.home().as_str()));
    let done = server.change(&change(&["step", "done", "1"], &server.revision()));
    assert_eq!(done.status, 303, "{}", done.body);
    let step: serde_json::Value =
        serde_json::from_str(&project.ok(&["step", "show", "1", "--json"]).stdout).unwrap();
    assert!(step.to_string().contains("ada"), "{step}");
    let history = project.ok(&["history", "list", "--json"]).stdout;
    assert!(history.contains("\"via\"") && history.contains("page"), "{history}");
    let log = project.ok(&["op", "log", "--json"]).stdout;
    assert!(log.contains("web: step done 1") && log.contains("\"actor\":\"ada\""), "{log}");
    project.ok(&["check"]);
    project.ok(&["history", "verify"]);
    let undone = server.change(&change(&["undo"], &server.revision()));
    assert_eq!(undone.status, 303, "{}", undone.body);
    assert!(server.get(&server.home()).body.contains("step done 1"), "it can be done again");
}

/// The words of every command that a page offers.
fn offered(page: &str) -> Vec<String> {
    let value = |part: &str| part.split('"').next().unwrap_or_default().to_owned();
    let words = |form: &str| {
        let fields = form.split("name=\"word\" value=\"").skip(1).map(value);
        fields.collect::<Vec<_>>().join(" ")
    };
    page.split("<form method=\"post\"").skip(1).map(words).collect()
}

#[test]
fn every_action_is_offered_with_the_words_of_the_command_line() {
    let project = project();
    let mut start = project.command(&["--actor", "agent", "step", "start", "1"]);
    let long_ago = start.env("STATEDIR_NOW", "2026-01-15T09:00:00Z").output().unwrap();
    assert!(long_ago.status.success(), "{long_ago:?}");
    project.ok(&["--actor", "bob", "review", "open", "Is the budget fine?"]);
    let server = Server::start(&project, &["--actor", "ada"]);
    let shown = |view: &str| offered(&server.get(&format!("{}{view}", server.home())).body);
    let has = |found: &[String], wanted: &[&str]| {
        for words in wanted {
            assert!(found.iter().any(|one| one == words), "{words}: {found:?}");
        }
    };
    has(
        &shown(""),
        &[
            "step done 1", "step fail 1", "step take 1", "step skip 2", "review approve r1",
            "review reject r1", "pause", "history add",
        ],
    );
    has(&shown("steps?from=1"), &["step done 1", "history add step=1"]);
    has(&shown("operations"), &["undo"]);
    let run = |words: &[&str], reason: &str| {
        let revision = server.revision();
        let mut form = change(words, &revision);
        form.push(("reason", reason));
        let answer = server.change(&form);
        assert_eq!(answer.status, 303, "{words:?} {}", answer.body);
    };
    run(&["review", "approve", "r1"], "");
    run(&["step", "take", "1"], "");
    run(&["step", "fail", "1"], "no disk");
    has(&shown(""), &["step retry 1"]);
    run(&["step", "retry", "1"], "");
    run(&["history", "add", "step=1"], "--force is not an option here");
    run(&["pause"], "lunch");
    has(&shown(""), &["resume"]);
    assert!(!shown("").contains(&"pause".to_owned()));
    let revision = server.revision();
    assert_eq!(server.change(&change(&["pause"], &revision)).status, 400, "a reason is asked for");
    run(&["resume"], "");
    let log = project.ok(&["op", "log", "--json"]).stdout;
    for command in ["web: pause --why=lunch", "web: resume", "web: history add -- --force is not"] {
        assert!(log.contains(command), "{command}: {log}");
    }
    project.ok(&["check"]);
}

#[test]
fn a_stale_page_gets_a_conflict_with_what_changed() {
    let project = project();
    let server = Server::start(&project, &[]);
    let shown = server.revision();
    project.ok(&["--actor", "bob", "step", "start", "1"]);
    let files = project.files();
    let stale = server.change(
        &change(&["step", "skip", "2"], &shown)
            .into_iter()
            .chain([("reason", "no")])
            .collect::<Vec<_>>(),
    );
    assert_eq!(stale.status, 409);
    assert!(
        stale.body.contains("The state has changed since this page was shown"),
        "{}",
        stale.body
    );
    assert!(stale.body.contains("bob"), "it says who did what: {}", stale.body);
    assert_eq!(project.files(), files, "nothing was changed");
}

#[test]
fn an_illegal_move_is_not_offered_and_refused_when_asked_for() {
    let project = project();
    let server = Server::start(&project, &[]);
    let page = server.get(&server.home()).body;
    let card = page.split("data-step=\"2\"").nth(1).unwrap().split("</article>").next().unwrap();
    assert!(!card.contains("value=\"start\""), "step 2 waits for step 1: {card}");
    let files = project.files();
    for words in [&["step", "start", "2"][..], &["step", "done", "1"]] {
        let refused = server.change(&change(words, &server.revision()));
        assert_eq!(refused.status, 422, "{words:?} {}", refused.body);
        assert!(refused.body.contains("Nothing was changed"), "{}", refused.body);
    }
    assert_eq!(project.files(), files);
}

#[test]
fn reviews_are_decided_with_a_reason_and_earlier_moments_restored() {
    let project = project();
    project.ok(&["--actor", "agent", "review", "open", "Is the budget fine?"]);
    project.ok(&["--actor", "agent", "review", "open", "Is the plan fine?"]);
    let server = Server::start(&project, &["--actor", "ada"]);
    let before = server.revision();
    let mut form = change(&["review", "reject", "r1"], &before);
    assert_eq!(server.change(&form).status, 400, "a reason is asked for");
    form.push(("reason", "too expensive"));
    assert_eq!(server.change(&form).status, 303);
    assert_eq!(
        server.change(&change(&["review", "approve", "r2"], &server.revision())).status,
        303
    );
    let reviews = project.ok(&["review", "list", "--all"]).stdout;
    assert!(reviews.contains("rejected") && reviews.contains("approved"), "{reviews}");
    let restored = server.change(&change(&["restore", &before], &server.revision()));
    assert_eq!(restored.status, 303, "{}", restored.body);
    assert!(!project.ok(&["review", "list", "--all"]).stdout.contains("approved"));
    let undone = server.change(&change(&["undo"], &server.revision()));
    assert_eq!(undone.status, 303, "{}", undone.body);
    assert!(project.ok(&["review", "list", "--all"]).stdout.contains("approved"));
}

#[test]
fn all_states_below_a_directory_are_on_the_first_page() {
    let project = project();
    let other = project.root().join("other");
    project.ok(&["-C", other.to_str().unwrap(), "init", "--goal", "Something <else>"]);
    let server = Server::start(&project, &["."]);
    let page = server.get("/").body;
    assert!(
        page.contains("Compare three vector databases") && page.contains("Something &lt;else&gt;"),
        "{page}"
    );
    let links: Vec<&str> =
        page.split("href=\"/s/").skip(1).map(|part| part.split('"').next().unwrap()).collect();
    assert_eq!(links.len(), 2, "{page}");
    for link in links {
        assert_eq!(server.get(&format!("/s/{link}")).status, 200);
    }
}

#[test]
fn a_large_state_is_shown_in_pages() {
    let project = Project::with_steps(1_000);
    let server = Server::start(&project, &[]);
    let home = server.home();
    let Answer { status, body, .. } = server.get(&home);
    assert_eq!(status, 200);
    assert!(body.contains("and 940 more"), "a column has a limit");
    assert!(body.len() < 200_000, "{} bytes", body.len());
    // The rest of the column, and what does not fit on one page of it.
    let rest = link_with(&body, "steps?status=");
    let steps = server.get(&rest).body;
    assert!(steps.contains("id=\"step-100\"") && !steps.contains("id=\"step-101\""));
    assert!(steps.len() < 200_000, "{} bytes", steps.len());
    let more = server.get(&link_with(&steps, "skip=100")).body;
    assert!(more.contains("id=\"step-101\"") && more.contains("id=\"step-200\""));
    assert!(server.memory() < 64 << 10, "{} KiB", server.memory());
}

/// The first address on a page that contains a text.
fn link_with(page: &str, text: &str) -> String {
    let links = page.split("href=\"").skip(1).map(|part| part.split('"').next().unwrap());
    let found = links.into_iter().find(|link| link.contains(text));
    found.unwrap_or_else(|| panic!("no link with {text}: {page}")).replace("&amp;", "&")
}
