//! Entries that somebody cut out of the history are reported as long as the log has them.

use std::fs;

use crate::builder::Project;

/// Adds A and B, removes B as with an editor, and adds C; returns the text of B.
pub fn cut(project: &Project) -> String {
    let history = project.root().join("workspace/state/history.md");
    project.ok(&["history", "add", "A"]);
    let kept = fs::read(&history).unwrap();
    project.ok(&["history", "add", "B", "why=it matters"]);
    let whole = fs::read_to_string(&history).unwrap();
    fs::write(&history, &kept).unwrap();
    project.ok(&["history", "add", "C"]);
    whole[kept.len()..].trim().to_owned()
}

#[test]
fn an_entry_that_was_cut_off_is_named_after_the_history_went_on() {
    let project = Project::new();
    let lost = cut(&project);
    let verified = project.run(&["history", "verify"]);
    let printed = format!("{}{}", verified.stdout, verified.stderr);
    assert_eq!(verified.code, 4, "{printed}");
    assert!(printed.contains("an edit outside statedir, operation "), "{printed}");
    let fixed = project.ok(&["check", "--fix"]).stdout;
    assert!(fixed.contains("1 entry that had been removed: appended again"), "{fixed}");
    let history = fs::read_to_string(project.root().join("workspace/state/history.md")).unwrap();
    assert!(history.ends_with(&format!("{lost}\n")), "{history}");
    project.ok(&["history", "verify"]);
    project.ok(&["check"]);
}

#[test]
fn of_a_lost_history_that_the_log_has_in_parts_the_entries_come_back() {
    let project = Project::new();
    project.ok(&["history", "add", "One"]);
    project.ok(&["history", "add", "Two"]);
    project.write("history.md", project.read("history.md").replace("One", "Uno"));
    project.ok(&["var", "set", "a", "1"]);
    fs::remove_file(project.root().join("workspace/state/history.md")).unwrap();
    let fixed = project.ok(&["check", "--fix"]).stdout;
    assert!(fixed.contains("2 entries that had been removed: appended again"), "{fixed}");
    let history = project.read("history.md");
    let places = ["# Execution History\n", "### One\n", "### Two\n"].map(|text| history.find(text));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{history}");
    project.ok(&["history", "verify"]);
    project.ok(&["check"]);
}

/// The control: an entry that was added with an editor is no problem.
#[test]
fn a_history_that_only_grew_is_whole() {
    let project = Project::new();
    let history = project.root().join("workspace/state/history.md");
    project.ok(&["history", "add", "A"]);
    let mut text = fs::read_to_string(&history).unwrap();
    text.push_str("\nA person wrote this.\n");
    fs::write(&history, text).unwrap();
    project.ok(&["history", "add", "B"]);
    project.ok(&["history", "verify"]);
    project.ok(&["check"]);
}

/// A history of five entries and the text of each.
fn five(project: &Project) -> (String, Vec<String>) {
    let history = project.root().join("workspace/state/history.md");
    let mut texts = Vec::new();
    for title in ["A", "B", "C", "D", "E"] {
        let before = fs::read_to_string(&history).unwrap().len();
        project.ok(&["history", "add", title, "why=it matters"]);
        let whole = fs::read_to_string(&history).unwrap();
        texts.push(whole[before..].trim().to_owned());
    }
    (fs::read_to_string(&history).unwrap(), texts)
}

#[test]
fn entries_cut_out_of_the_middle_come_back_where_they_were() {
    for gone in [vec![1], vec![1, 2], vec![1, 3], vec![1, 2, 4]] {
        let project = Project::new();
        let path = project.root().join("workspace/state/history.md");
        let (whole, texts) = five(&project);
        let mut cut = whole.clone();
        for n in &gone {
            cut = cut.replace(&format!("{}\n\n", texts[*n]), "").replace(&texts[*n], "");
        }
        fs::write(&path, &cut).unwrap();
        assert_eq!(project.run(&["history", "verify"]).code, 4, "{gone:?}");
        let fixed = project.ok(&["check", "--fix"]).stdout;
        let now = fs::read_to_string(&path).unwrap();
        if !gone.contains(&4) {
            assert!(fixed.contains("put back in place"), "{fixed}");
            assert_eq!(now, whole, "{gone:?}");
        }
        for text in &texts {
            assert_eq!(now.matches(text.as_str()).count(), 1, "{gone:?}\n{now}");
        }
        project.ok(&["history", "verify"]);
        // A repair is an operation like any other, and the history continues after it.
        assert_eq!(project.json(&["op", "log"])["operations"][0]["kind"], "check.fix");
        project.ok(&["history", "add", "F"]);
        project.ok(&["history", "verify"]);
        project.ok(&["check"]);
        assert!(!project.ok(&["check", "--fix"]).stdout.contains("fixed:"));
    }
}
