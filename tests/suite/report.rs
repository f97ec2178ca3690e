//! `report`: the whole state as one page.

use serde_json::{Value, json};

use crate::builder::Project;

/// Text that would do harm in a page that does not escape it.
pub const HOSTILE: &str =
    "\"><script>document.title='run'</script><img src=x onerror=alert(1)>\u{202e}&lt;'";

/// A state in which every text is hostile, with something in every part.
pub fn hostile() -> Project {
    let project = Project::new();
    let changes = json!([
        { "op": "step.add", "title": HOSTILE, "time": "5m", "component": HOSTILE, "description": format!("{HOSTILE}\n\n![x](https://evil.example/p.png) [y](javascript:alert(1))") },
        { "op": "step.add", "title": "Second", "depends_on": ["1"] },
        { "op": "context.add", "text": format!("a <script>alert(2)</script> ![z](https://evil.example/q.png) {HOSTILE}") },
        { "op": "plan.set", "set": { "goal": HOSTILE } },
        { "op": "directive.add", "text": HOSTILE },
    ]);
    project.ok_with_input(&["apply", "-"], &changes.to_string());
    project.ok(&["--actor", "<b>eve</b>", "step", "start", "1"]);
    project.ok(&[
        "--actor", "<b>eve</b>", "step", "fail", "1", "--error", HOSTILE, "--cost", "0.5",
        "--time", "3m",
    ]);
    project.ok(&["review", "open", HOSTILE]);
    project
}

#[test]
fn one_page_has_everything_and_loads_nothing() {
    let project = Project::with_steps(3);
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "done", "1", "--cost", "0.25", "--time", "2m"]);
    project.ok(&["context", "add", "Indexes *matter* a lot"]);
    let ran = project.ok(&["report", "--output", "out/report.html"]);
    assert!(ran.stdout.starts_with("wrote out/report.html ("), "{}", ran.stdout);
    let page = project.read_at(&project.root().join("out/report.html"));
    for part in [
        "board", "graph", "timeline", "reviews", "steps", "context", "history", "operations",
        "numbers",
    ] {
        assert!(page.contains(&format!("<section id=\"{part}\"")), "{part} is missing");
    }
    for text in
        ["Do part 1", "<em>matter</em>", "$0.25", "<svg ", "default-src 'none'", "lang=\"en\""]
    {
        assert!(page.contains(text), "{text} is missing");
    }
    let lower = page.to_ascii_lowercase();
    for loaded in
        ["<script", "src=", "<link", "@import", "url(http", "<iframe", "style=", " onclick"]
    {
        assert!(!lower.contains(loaded), "{loaded}");
    }
    assert_eq!(project.ok(&["report"]).stdout, page, "the same state is the same page");
    let left: Vec<_> = std::fs::read_dir(project.root().join("out")).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing is left beside the page");
}

#[test]
fn the_style_is_the_one_that_the_policy_names() {
    let page = Project::with_steps(1).ok(&["report", "--json"]).stdout;
    let page: Value = serde_json::from_str(&page).unwrap();
    let page = page["html"].as_str().unwrap();
    let named = page.split("'sha256-").nth(1).unwrap().split('\'').next().unwrap();
    assert_eq!(named.len(), 44);
    assert_eq!(page.matches("<style>").count(), 1);
}

#[test]
fn nothing_in_a_state_becomes_markup() {
    let project = hostile();
    let page = project.ok(&["report"]).stdout;
    let lower = page.to_ascii_lowercase();
    assert!(lower.contains("&lt;script&gt;"), "the text is shown");
    for harm in ["<script", "<img", "<b>eve", "href=\"javascript", "\u{202e}"] {
        assert!(!lower.contains(harm), "{harm}");
    }
    // Every tag is closed, in order: nothing broke out of its place.
    let mut open: Vec<&str> = Vec::new();
    let body = &page[page.find("<body>").unwrap()..];
    for tag in body.split('<').skip(1) {
        let tag = tag.split('>').next().unwrap();
        let name =
            tag.trim_start_matches('/').trim_end_matches('/').split([' ', '\n']).next().unwrap();
        let is_empty = matches!(name, "input" | "br" | "hr" | "meta") || tag.ends_with('/');
        match tag.starts_with('/') {
            true if name == "html" => break,
            true => assert_eq!(open.pop(), Some(name), "</{name}>"),
            false if is_empty => {}
            false => open.push(name),
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn a_state_file_is_not_overwritten_by_a_page() {
    let project = Project::with_steps(1);
    let before = project.read("plan.md");
    let ran = project.run(&["report", "--output", "workspace/state/plan.md"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert_eq!(project.read("plan.md"), before);
    let dry = project.ok(&["report", "--output", "x.html", "--dry-run"]);
    assert!(dry.stdout.starts_with("would write x.html"), "{}", dry.stdout);
    assert!(!project.root().join("x.html").exists());
}

#[test]
fn a_file_that_cannot_be_read_is_an_error_and_the_rest_is_on_the_page() {
    for damaged in ["plan.md", "context.md", "variables.json", "history.md", "constraints.md"] {
        for how in ["missing", "binary", "directory"] {
            let project = Project::with_steps(2);
            project.ok(&["context", "add", "finding-mark"]);
            std::fs::remove_file(project.path(damaged)).unwrap();
            match how {
                "binary" => project.write(damaged, b"\xff\xfe\x00{"),
                "directory" => std::fs::create_dir(project.path(damaged)).unwrap(),
                _ => {}
            }
            let ran = project.run(&["report"]);
            assert_eq!(ran.code, 4, "{damaged} {how}: {}", ran.stderr);
            assert!(ran.stderr.contains(damaged), "{damaged} {how}: {}", ran.stderr);
            // Without a plan the page would be about nothing; what is no file is refused altogether.
            let has_page = damaged != "plan.md" && how != "directory";
            assert_eq!(ran.stdout.contains("</html>"), has_page, "{damaged} {how}");
            let is_shown = ran.stdout.contains("finding-mark");
            assert_eq!(is_shown, has_page && damaged != "context.md", "{damaged} {how}");
            let ran = project.run(&["report", "--json"]);
            let answer = ran.json();
            assert_eq!((ran.code, &answer["ok"]), (4, &json!(false)), "{answer}");
            assert_eq!(answer["html"].is_string(), has_page, "{damaged} {how}");
            let ran = project.run(&["report", "--output", "page.html"]);
            assert_eq!(ran.code, 4, "{damaged} {how}: {}", ran.stderr);
            let is_written = project.root().join("page.html").is_file();
            assert_eq!(is_written, has_page, "{damaged} {how}");
        }
    }
    // The control: without damage it is no error.
    Project::with_steps(2).ok(&["report"]);
}

#[test]
fn ten_thousand_steps_make_a_page_that_a_browser_can_show() {
    let project = Project::with_steps(10_000);
    let page = project.ok(&["report"]).stdout;
    assert!(page.len() < 8 << 20, "{} bytes", page.len());
    assert!(page.contains("and 8000 more"), "what is left out is told");
}
