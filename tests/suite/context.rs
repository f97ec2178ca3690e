//! Texts that are added to the context, with headings of their own.

use crate::builder::Project;

/// The text of context.md from a heading to the next of the template.
fn findings(project: &Project) -> String {
    let context = project.read("context.md");
    let (_, below) = context.split_once("### Key Findings\n").expect("the section");
    below.split("\n## ").next().unwrap_or_default().to_owned()
}

#[test]
fn a_heading_like_that_of_its_section_does_not_compete_with_it() {
    let project = Project::new();
    project.ok(&["context", "add", "## Key Findings\n- it works"]);
    project.ok(&["context", "add", "the next finding"]);
    project.ok(&["context", "set", "--section", "Key Findings", "all of them"]);
    let findings = findings(&project);
    assert!(
        findings.contains("all of them") && findings.contains("the next finding"),
        "{findings}"
    );
}

#[test]
fn two_sections_beside_each_other_are_still_ambiguous() {
    let project = Project::new();
    let twice = "\n## Notes\n\nfirst\n\n## Notes\n\nsecond\n";
    project.write("context.md", format!("{}{twice}", project.read("context.md")));
    project.refused(1, &["context", "add", "--section", "Notes", "which?"]);
}

#[test]
fn a_text_that_ends_in_a_heading_stays_above_the_next() {
    let project = Project::new();
    project.ok(&["context", "add", "Intro\n\n## Open points"]);
    project.ok(&["context", "add", "Second note"]);
    let findings = findings(&project);
    let places = ["Intro", "Open points", "Second note"].map(|text| findings.find(text));
    assert!(places.is_sorted() && places[0].is_some(), "{findings}");
    let brief = project.ok(&["brief"]).stdout;
    assert!(brief.contains("Second note") && !brief.contains("<!--"), "{brief}");
}

#[test]
fn a_text_that_has_to_be_fenced_is_as_it_was_given() {
    let project = Project::new();
    let text = "It is slow\n==========\nVery slow";
    project.ok(&["context", "add", text]);
    project.ok(&["context", "add", "```\ncode\n```\n\nIt is fast"]);
    let findings = findings(&project);
    assert!(findings.contains(&format!("```text\n{text}\n```\n")), "{findings}");
    // Control: where a comment is one, it says when the text was added.
    assert!(findings.contains("It is fast <!-- "), "{findings}");
}

/// A context in which two sections have one name.
fn with_two_findings() -> Project {
    let project = Project::new();
    let text = "# C\n\n## Alpha\n\n### Findings\n\none\n\n## Beta\n\n### Findings\n\ntwo\n";
    project.write("context.md", text);
    project
}

#[test]
fn one_of_two_sections_of_a_name_is_named_by_its_path() {
    let project = with_two_findings();
    let refusal = project.refused(1, &["context", "add", "--section", "Findings", "x"]);
    let hint = refusal["error"]["hint"].as_str().unwrap();
    assert!(hint.contains("such as `Alpha/Findings`"), "{hint}");
    project.ok(&["context", "add", "--section", "Alpha/Findings", "three"]);
    for args in [&["show", "context"][..], &["context", "show"]] {
        let shown = project.ok(&[args, &["--section", "Beta / findings"]].concat()).stdout;
        assert!(shown.contains("two") && !shown.contains("three"), "{args:?} {shown}");
    }
    project.refused(1, &["show", "context", "--section", "Beta/Nothing"]);
}

#[test]
fn a_path_of_headings_adds_a_section_below_the_one_that_it_names() {
    let project = with_two_findings();
    project.ok(&["context", "add", "--section", "Alpha / Open points", "--create", "which one?"]);
    project.ok(&["context", "set", "--section", "beta/Findings/Deeper", "--create", "four"]);
    let context = project.read("context.md");
    let lines: Vec<&str> = context.lines().filter(|line| line.starts_with('#')).collect();
    let expected = ["# C", "## Alpha", "### Findings", "### Open points", "## Beta"];
    assert_eq!(lines, [&expected[..], &["### Findings", "#### Deeper"]].concat(), "{context}");
    let shown = project.ok(&["context", "show", "--section", "Alpha/Open points"]).stdout;
    assert!(shown.contains("which one?"), "{shown}");
    // Without one section of that name, it is a heading with a slash.
    for name in ["Findings/New", "Nothing/New", "Alpha/"] {
        project.ok(&["context", "add", "--section", name, "--create", "text"]);
        let context = project.read("context.md");
        assert!(context.contains(&format!("\n## {name}\n")), "{context}");
    }
}

#[test]
fn a_hint_adds_no_section_where_something_hides_the_rest() {
    let project = Project::new();
    project.write("context.md", "# C\n\n## Alpha\n<pre>\n\n## Beta\n\ntwo\n");
    let refusal = project.refused(1, &["context", "add", "--section", "Beta", "x"]);
    let hint = refusal["error"]["hint"].as_str().unwrap();
    assert_eq!(hint, "the HTML block opened at 4:1 hides the headings after it");
}
