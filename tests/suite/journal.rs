//! history.md as people read and write it.

use crate::builder::{Project, line_diff};

#[test]
fn a_history_written_by_hand_is_listed_and_searched() {
    let project = Project::with_steps(1);
    let text = project.read("history.md")
        + "\n## Before the tool\n\n- 2024-01-15: Began with the parser\n  It was slow.\n\
           - 2024-01-16 10:30 Made it fast\n\n### 2024-01-18: Shipped\nTo everybody.\n";
    project.write("history.md", text);
    let entries = project.json(&["history", "list"])["entries"].clone();
    let titles: Vec<&str> =
        entries.as_array().unwrap().iter().map(|entry| entry["title"].as_str().unwrap()).collect();
    let by_hand = ["Began with the parser", "Made it fast", "Shipped"];
    assert!(by_hand.iter().all(|title| titles.contains(title)), "{titles:?}");
    let shown = project.ok(&["history", "list"]).stdout;
    assert!(shown.contains("2024-01-18  Shipped  [unsigned]"), "{shown}");
    let found = project.json(&["history", "search", "slow"]);
    assert_eq!(found["total"], 1, "{found}");
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "done", "1"]);
    project.ok(&["history", "verify"]);
    project.ok(&["check"]);
    assert!(project.read("history.md").contains("It was slow."));
}

#[test]
fn an_edit_by_hand_is_mentioned_once() {
    let project = Project::with_steps(2);
    project.edit("plan.md", "Do part 2", "Do the second part");
    project.edit("context.md", "# ", "# My ");
    project.ok(&["step", "start", "1"]);
    project.ok(&["var", "set", "extracted_data.n", "1"]);
    project.ok(&["step", "done", "1"]);
    project.ok(&["step", "start", "2"]);
    project.ok(&["step", "done", "2"]);
    let history = project.read("history.md");
    assert_eq!(history.matches("edited context.md, plan.md").count(), 1, "{history}");
    project.ok(&["history", "verify"]);
}

#[test]
fn an_edit_that_nobody_made_is_not_mentioned() {
    let project = Project::with_steps(1);
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "done", "1"]);
    assert!(!project.read("history.md").contains("edited"));
}

/// A run of thirty steps: most succeed, some fail and are retried.
fn thirty_steps() -> Project {
    let project = Project::empty();
    project.ok(&["init", "--goal", "Move the parser to the new lexer"]);
    for step in 1..=30 {
        let title = format!("Port module {step} *carefully*");
        project.ok(&["step", "add", &title, "--tool", "Bash"]);
    }
    for step in 1..=30 {
        let number = step.to_string();
        project.ok(&["step", "start", &number]);
        if step % 5 == 0 {
            let error =
                "error[E0308]: mismatched types\n  --> src/lib.rs:3:5\n   | ^^^ expected `u8`";
            project.ok(&["step", "fail", &number, "--error", error, "--cost", "0.02"]);
            project.ok(&["step", "retry", &number]);
        }
        let rows = format!("rows={}", step * 7);
        let note = if step % 7 == 0 { "Two ways were tried.\n\n- a\n- b" } else { "went well" };
        project.ok(&["step", "done", &number, "--output", &rows, "--cost", "0.01", "--note", note]);
    }
    project
}

/// What a reader of the rendered page sees: the headings of level 3, and all words.
fn rendered(text: &str) -> (Vec<String>, String) {
    use pulldown_cmark::{Event, HeadingLevel, Parser, Tag, TagEnd};
    let (mut headings, mut visible, mut is_heading) = (Vec::new(), String::new(), false);
    for event in Parser::new(text) {
        match event {
            Event::Start(Tag::Heading { level: HeadingLevel::H3, .. }) => {
                headings.push(String::new());
                is_heading = true;
            }
            Event::End(TagEnd::Heading(_)) => is_heading = false,
            Event::Text(text) | Event::Code(text) => {
                visible.push_str(&text);
                if let Some(heading) = headings.last_mut().filter(|_| is_heading) {
                    heading.push_str(&text);
                }
            }
            Event::Html(html) | Event::InlineHtml(html) => {
                let is_comment = html.trim_start().starts_with("<!--");
                assert!(is_comment, "a text became markup: {html}");
            }
            _ => {}
        }
    }
    (headings, visible)
}

#[test]
fn a_run_of_thirty_steps_reads_as_a_journal() {
    let project = thirty_steps();
    let history = project.read("history.md");
    let (headings, visible) = rendered(&history);
    // Each attempt is a heading of its own, with its result.
    let count = |mark: &str| headings.iter().filter(|heading| heading.starts_with(mark)).count();
    assert_eq!((count("✓ Step "), count("✗ Step ")), (30, 6), "{headings:#?}");
    // The titles are unchanged, and the checksums are not visible.
    assert!(headings.iter().any(|heading| heading.contains("module 9 carefully")));
    assert!(!visible.contains(" after 0"), "{visible}");
    let lines = history.lines().count();
    let trailers = history.lines().filter(|line| line.starts_with("<!-- ")).map(str::len);
    let share = trailers.sum::<usize>() * 100 / history.len();
    println!("{lines} lines, {} bytes, trailers {share} %", history.len());
    assert!(lines <= 36 * 8, "{lines} lines\n{history}");
    assert!(share <= 33, "{share} %");
}

#[test]
fn the_diff_of_one_finished_step_is_short() {
    let project = Project::with_steps(3);
    let before = project.files();
    project.ok(&["step", "start", "2"]);
    project.ok(&["step", "fail", "2", "--error", "exit status 1", "--cost", "0.02"]);
    project.ok(&["step", "retry", "2"]);
    project.ok(&["step", "done", "2", "--output", "rows=42", "--cost", "0.01"]);
    let mut lines = Vec::new();
    for (name, after) in project.files() {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let old = before.get(&name).map(|bytes| text(bytes)).unwrap_or_default();
        lines.extend(line_diff(&old, &text(&after)));
    }
    let bytes: usize = lines.iter().map(String::len).sum();
    println!("fail, retry, done: {} lines, {bytes} bytes\n{}", lines.len(), lines.join("\n"));
    assert!(lines.len() <= 26 && bytes <= 1800, "{} lines, {bytes} bytes", lines.len());
}
