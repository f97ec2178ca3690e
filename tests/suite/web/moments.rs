//! Earlier moments: looked at, compared, restored, without a script.

use super::{change, client::Server, link_with, project};

#[test]
fn any_earlier_moment_can_be_looked_at_and_restored() {
    let project = project();
    let server = Server::start(&project, &["--actor", "ada"]);
    let home = server.home();
    let then = server.revision();
    project.ok(&["--actor", "bob", "step", "start", "1"]);
    project.ok(&["--actor", "bob", "step", "done", "1", "--cost", "0.25"]);
    project.ok(&["--actor", "bob", "step", "start", "2"]);
    // The slider as a form: its place becomes an address that stays the same.
    let operations = server.get(&format!("{home}operations")).body;
    let slider = operations.split("type=\"range\"").nth(1).unwrap();
    let value = |name: &str| {
        slider.split(&format!("{name}=\"")).nth(1).unwrap().split('"').next().unwrap().to_owned()
    };
    let newest = server.revision();
    assert_eq!(value("value"), value("max"), "it begins with now");
    let place: usize = value("max").parse::<usize>().unwrap() - 3;
    let chosen = server.get(&format!("{home}?until={newest}&place={place}"));
    assert_eq!(chosen.status, 303, "{}", chosen.body);
    let address = chosen.header("location").unwrap();
    assert_eq!(address, format!("{home}?at={then}"));
    let past = server.get(address).body;
    assert!(past.contains("This is the past") && past.contains("3 operations ago"), "{past}");
    let main = past.split("</aside>").nth(1).unwrap();
    assert!(main.contains("0 of 2") && main.contains("$0.00"), "as it was: {main}");
    assert!(!main.contains("<form method=\"post\"") && !main.contains("draggable"), "{main}");
    // What it would break.
    let aside = past.split("</aside>").next().unwrap();
    assert!(aside.contains("to do again: 1."), "{aside}");
    assert!(aside.contains("bob is at work on step 2 and would lose it."), "{aside}");
    assert!(aside.contains("removed") || aside.contains("changed"), "{aside}");
    // Every view of that moment, and nothing of it changes anything.
    let files = project.files();
    for view in ["graph", "timeline", "steps", "steps", "context", "history", "operations"] {
        let page = server.get(&format!("{home}{view}?at={then}"));
        assert_eq!(page.status, 200, "{view}: {}", page.body);
        assert!(page.body.contains("This is the past"), "{view}");
    }
    let entries = |query: &str| {
        let page = server.get(&format!("{home}history{query}")).body;
        page.split("<section id=\"history\"").nth(1).unwrap().to_owned()
    };
    let ended = entries(&format!("?at={then}"));
    assert!(!ended.contains("bob"), "its history ends then: {ended}");
    assert!(entries("").contains("bob"), "the control");
    assert_eq!(project.files(), files);
    // Restored on what the page showed, and undone.
    let restored = server.change(&change(&["restore", &then], &newest));
    assert_eq!(restored.status, 303, "{}", restored.body);
    assert!(server.get(&home).body.contains("0 of 2"));
    assert_eq!(server.change(&change(&["undo"], &server.revision())).status, 303);
    assert!(server.get(&home).body.contains("1 of 2"));
}

#[test]
fn two_moments_are_compared_by_meaning() {
    let project = project();
    let server = Server::start(&project, &[]);
    let home = server.home();
    let first = server.revision();
    project.ok(&["step", "start", "1"]);
    let second = server.revision();
    project.ok(&["context", "add", "Something <b>else</b>"]);
    let differences = |address: &str| {
        let page = server.get(address).body;
        page.split("<ul class=\"differences\">").nth(1).unwrap().to_owned()
    };
    let between = differences(&format!("{home}diff?from={first}&to={second}"));
    assert!(between.contains("step 1"), "{between}");
    assert!(!between.contains("Something"), "it came later: {between}");
    let since = differences(&format!("{home}diff?from={second}"));
    assert!(since.contains("Something &lt;b&gt;else") && !since.contains("step 1 "), "{since}");
    // The page offers two to choose from the list, and what each operation changed.
    let operations = server.get(&format!("{home}operations")).body;
    for name in ["from", "to"] {
        let radio = format!("type=\"radio\" name=\"{name}\" value=\"{second}\"");
        assert!(operations.contains(&radio), "{radio}: {operations}");
    }
    let changes = link_with(&operations, "/diff?from=");
    assert!(differences(&changes).contains("Something &lt;b&gt;else"));
    for (query, status) in [
        ("", 400),
        ("from=--text", 400),
        ("from=git:HEAD", 400),
        ("from=000000000000", 404),
        (&format!("from={first}&to=nosuchmoment"), 404),
    ] {
        let answer = server.get(&format!("{home}diff?{query}"));
        assert_eq!(answer.status, status, "{query}: {}", answer.body);
    }
    assert_eq!(server.get(&format!("{home}?at=000000000000")).status, 404);
}

#[test]
fn what_others_did_since_ones_own_last_change_is_on_the_board() {
    let project = project();
    project.ok(&["--actor", "ada", "step", "add", "Ask around"]);
    let server = Server::start(&project, &["--actor", "ada"]);
    assert!(!server.get(&server.home()).body.contains("since your last"));
    project.ok(&["--actor", "claude", "step", "start", "1"]);
    project.ok(&["--actor", "claude", "step", "done", "1"]);
    project.ok(&["--actor", "codex", "context", "add", "It rains"]);
    let page = server.get(&server.home()).body;
    assert!(page.contains("<b>3 changes</b> since your last (codex 1, claude 2)"), "{page}");
    let diff = server.get(&link_with(&page, "/diff?from=")).body;
    let listed = diff.split("<ul class=\"differences\">").nth(1).unwrap();
    assert!(listed.contains("It rains") && !listed.contains("Ask around"), "{listed}");
}

#[test]
fn a_long_log_and_a_long_history_come_in_pages() {
    let project = project();
    let entries: Vec<serde_json::Value> = (0..250)
        .map(|n| serde_json::json!({ "op": "history.add", "title": format!("Entry {n} of many") }))
        .collect();
    project.ok_with_input(&["apply", "-"], &serde_json::Value::from(entries).to_string());
    let server = Server::start(&project, &["--read-only"]);
    let home = server.home();
    let newest = server.get(&format!("{home}history")).body;
    assert!(newest.contains("Entry 249 of many") && newest.contains("Entry 50 of many"));
    assert!(!newest.contains("Entry 49 of many"), "it is on the next page");
    let older = server.get(&link_with(&newest, "skip=200")).body;
    assert!(older.contains("Entry 49 of many") && older.contains("Entry 0 of many"), "{older}");
    assert!(!older.contains("Entry 50 of many") && !older.contains("skip=400"));
    for n in 0..101 {
        project.ok(&["var", "set", "n", &n.to_string()]);
    }
    let operations = server.get(&format!("{home}operations")).body;
    assert_eq!(operations.matches("data-operation=").count(), 100);
    let older = server.get(&link_with(&operations, "skip=100")).body;
    assert!(older.matches("data-operation=").count() >= 3, "{older}");
}
