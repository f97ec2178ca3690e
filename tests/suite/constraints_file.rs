//! constraints.md as people write it: what commands leave alone in it.

use serde_json::json;

use crate::builder::{Project, texts};

#[test]
fn text_right_below_a_setting_stays() {
    for newline in ["\n", "\r\n"] {
        let project = Project::new();
        let typed = project
            .read("constraints.md")
            .replace("\"quality\"\n", "\"quality\" <!-- why -->\nas agreed\n")
            .replace("\"moderate\"\n", "\"moderate\"\n  for now\n")
            .replace("operations**: unlimited\n", "operations**: unlimited\n*within* reason\n");
        let modifiers = "## Behavioral Modifiers\n";
        let typed = typed.replace(modifiers, &format!("{modifiers}- **pace**: slow\nvery slow\n"));
        project.write("constraints.md", typed.replace('\n', newline));
        project.ok(&["check"]);
        let value = |name: &str| project.json(&["constraint", "get", name])["value"].clone();
        assert_eq!((value("priority"), value("pace")), (json!("quality"), json!("slow")));
        assert_eq!(value("error_tolerance"), "moderate");
        for (name, new) in [
            ("priority", "cost_efficiency"),
            ("error_tolerance", "strict"),
            ("max_file_operations", "5"),
            ("pace", "fast"),
        ] {
            project.ok(&["constraint", "set", name, new]);
            assert_eq!(value(name).to_string().trim_matches('"'), new);
        }
        project.ok(&["constraint", "unset", "max_file_operations"]);
        project.refused(1, &["constraint", "unset", "pace"]);
        let text = project.read("constraints.md");
        for kept in [
            "- **priority**: \"cost_efficiency\" <!-- why -->\nas agreed\n",
            "- **error_tolerance**: \"strict\"\n  for now\n",
            "- **max_file_operations**: unlimited\n*within* reason\n",
            "- **pace**: fast\nvery slow\n",
        ] {
            assert!(text.contains(&kept.replace('\n', newline)), "{kept}\n{text}");
        }
        project.ok(&["check"]);
    }
}

#[test]
fn a_line_indented_below_a_single_word_is_not_a_part_of_the_value() {
    for newline in ["\n", "\r\n"] {
        let project = Project::new();
        let modifiers = "## Behavioral Modifiers\n";
        let own = "- **pace**: slow\n  because of the rain\n- mood: très-calme\n  today\n\
                   - **crew**: two painters\n  and a dog\n- **tools**: brush,\n  ladder\n";
        let typed = project
            .read("constraints.md")
            .replace("\"quality\"\n", "quality\n  as ada wants it\n")
            .replace("sentiment**: not set\n", "sentiment**: not set\n  nobody asked\n")
            .replace(modifiers, &format!("{modifiers}{own}"));
        project.write("constraints.md", typed.replace('\n', newline));
        project.ok(&["check"]);
        let value = |name: &str| project.json(&["constraint", "get", name])["value"].clone();
        let read = ["priority", "pace", "mood", "user_sentiment"].map(value);
        assert_eq!(read, [json!("quality"), json!("slow"), json!("très-calme"), json!(null)]);
        for (name, new) in [("priority", "cost_efficiency"), ("pace", "fast"), ("mood", "grim")] {
            project.ok(&["constraint", "set", name, new]);
            assert_eq!(value(name), new);
        }
        let text = project.read("constraints.md");
        for kept in [
            "- **priority**: cost_efficiency\n  as ada wants it\n",
            "- **pace**: fast\n  because of the rain\n- mood: grim\n  today\n",
            "not set\n  nobody asked\n",
        ] {
            assert!(text.contains(&kept.replace('\n', newline)), "{kept}\n{text}");
        }
        // Control: what is plainly a text goes on.
        assert_eq!(value("crew"), "two painters and a dog");
        assert_eq!(value("tools"), "brush, ladder");
    }
}

#[test]
fn a_directive_says_once_for_how_many_steps_it_holds() {
    let project = Project::with_steps(2);
    let twice = ["directive", "add", "For the next 3 steps, be brief", "--for-steps", "2"];
    assert_eq!(project.refused(1, &twice)["error"]["code"], "bad_value");
    project.ok(&["directive", "add", "For 2 steps, be brief"]);
    project.ok(&["directive", "add", "Plan the next release for the next 2 steps"]);
    let all = || {
        let listed = project.json(&["directive", "list"]);
        texts(&listed["directives"], "text").join("|")
    };
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "done", "1"]);
    assert_eq!(all(), "For 1 step, be brief|Plan the next release for the next 1 step");
    project.ok(&["step", "start", "2"]);
    project.ok(&["step", "done", "2"]);
    assert_eq!(all(), "");
}

#[test]
fn a_directive_with_a_condition_may_have_a_lifetime() {
    let steps = |project: &Project, costs: &[&str]| {
        for (at, cost) in costs.iter().enumerate() {
            let step = (at + 1).to_string();
            project.ok(&["step", "start", &step]);
            project.ok(&["step", "done", &step, "--cost", cost]);
        }
        let listed = project.json(&["directive", "list"]);
        let is_paused = project.json(&["status"])["paused_because"].is_string();
        (texts(&listed["directives"], "text").join("|"), is_paused)
    };
    let added = |project: &Project| {
        let add = ["directive", "add", "If cost > $1, pause because of the cost"];
        project.ok(&[&add[..], &["--for-steps", "2"]].concat());
        let checked = project.ok(&["rule", "check"]).stdout;
        assert!(checked.contains("if cost > $1"), "{checked}");
    };
    let one_left = "For the next 1 step, If cost > $1, pause because of the cost".to_owned();
    for (costs, expected) in [
        (&["0.60"][..], (one_left.clone(), false)),
        (&["1.20"], (one_left, true)),
        (&["0.60", "0.60"], (String::new(), true)),
        (&["0.40", "0.40", "0.40"], (String::new(), false)),
    ] {
        let project = Project::with_steps(4);
        added(&project);
        assert_eq!(steps(&project, costs), expected, "{costs:?}");
        project.ok(&["check"]);
    }
}
