//! Duplicate sections are reported, and sections that merely look alike are not.

use serde_json::Value;

use crate::builder::Project;

/// The doubled sections that `check` finds after text was added to a file, with its exit code.
fn doubled(file: &str, more: &str) -> (Vec<Value>, i32) {
    let project = Project::with_steps(1);
    project.write(file, project.read(file) + more);
    let ran = project.run(&["check", "--json"]);
    let findings = ran.json()["findings"].as_array().unwrap().clone();
    let is_doubled = |finding: &Value| finding["code"] == "doubled_section";
    (findings.into_iter().filter(is_doubled).collect(), ran.code)
}

#[test]
fn a_section_that_keeps_another_from_being_read_is_an_error_with_a_place() {
    for (file, more) in [
        ("constraints.md", "\n## Adaptation Rules\n- If cost > 1 → pause\n"),
        ("constraints.md", "\n## behavioral modifiers\n- **priority**: \"quality\"\n"),
        ("constraints.md", "\n## Directives\n- Be brief\n"),
        ("plan.md", "\n## Metadata\n- **status**: PAUSED\n"),
    ] {
        let (found, code) = doubled(file, more);
        assert_eq!((found.len(), code), (1, 4), "{file} {more} {found:?}");
        assert_eq!(found[0]["severity"], "error");
        assert!(found[0]["place"]["line"].as_u64().unwrap() > 5, "{found:?}");
        assert!(found[0]["hint"].is_string());
    }
}

#[test]
fn sections_that_can_be_read_but_not_distinguished_are_a_warning() {
    for (file, more) in
        [("plan.md", "\n## Steps\n"), ("context.md", "\n## Decision Rationale\nMore.\n")]
    {
        let (found, code) = doubled(file, more);
        assert_eq!((found.len(), code), (1, 0), "{file} {found:?}");
        assert_eq!(found[0]["severity"], "warning");
    }
}

#[test]
fn sections_in_different_places_and_placeholders_are_nothing() {
    for (file, more) in [
        ("plan.md", "\n#### Metadata\n- **owner**: ada\n"),
        (
            "context.md",
            "\n### Key Findings of others\n\n## Sources\n\n### Document Analysis Results\n",
        ),
        ("context.md", "\n## Sources\n\n### [Source]\n\n### [Source]\n"),
        ("context.md", "\n```\n## Decision Rationale\n```\n"),
        ("history.md", "\n### A note\n\n### A note\n"),
    ] {
        let (found, _) = doubled(file, more);
        assert_eq!(found, [] as [Value; 0], "{file} {more}");
    }
}

#[test]
fn texts_with_headings_follow_each_other_in_the_order_they_came() {
    let project = Project::new();
    project.ok(&["context", "add", "plain"]);
    for text in
        ["## Alpha\na\n### Deeper\nd", "# Beta\nb", "## Alpha\nagain", "## `Gamma`\nc", "last"]
    {
        project.ok(&["context", "add", text]);
    }
    let context = project.read("context.md");
    let headings: Vec<&str> = context
        .lines()
        .skip_while(|line| *line != "### Key Findings")
        .take_while(|line| !line.starts_with("## "))
        .filter(|line| line.starts_with('#') && !line.contains("20"))
        .collect();
    // What begins with a heading of its own needs no other, unless there is one of that name.
    let expected = [
        "### Key Findings", "#### Alpha", "##### Deeper", "#### Beta", "##### Alpha",
        "##### `Gamma`",
    ];
    assert_eq!(headings, expected, "{context}");
    let shown = project.ok(&["context", "show", "--section", "Key Findings"]).stdout;
    let places: Vec<usize> = ["plain", "\nd", "\nb", "again", "\nc", "last"]
        .iter()
        .map(|text| shown.find(text).unwrap())
        .collect();
    assert!(places.is_sorted(), "{shown}");
}
