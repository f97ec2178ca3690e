//! The description of a step: what `step set --description` replaces, and what it leaves alone.

use crate::builder::Project;

const OLD: &str = "Old words,\ntwo lines.\n\n```sh\nmake\n```";

/// A step with everything that can stand around its description.
fn around(description: &str) -> String {
    format!(
        "### Step 1: Pack\n- **status**: PENDING\n- **inputs**:\n  - size: large\n- **why**:\n  \
         > Two reasons:\n  >\n  > - the old one is full\n- **id**: k3f9\n\n{description}\n\n\
         - [ ] glass\n- [x] books\n  - the heavy ones\n\n<!-- keep me -->\n\n#### Notes\nStay.\n\n\
         ### Step 2: Load\n- **status**: PENDING\n- **id**: k3fb\n\nAnother text.\n"
    )
}

#[test]
fn a_new_description_takes_the_place_of_the_old_one_and_nothing_else_changes() {
    for newline in ["\n", "\r\n"] {
        let project = Project::with_typed_steps(&around(OLD));
        project.write("plan.md", project.read("plan.md").replace('\n', newline));
        let before = project.read("plan.md");
        let replaced =
            |text: &str| before.replace(&OLD.replace('\n', newline), &text.replace('\n', newline));
        project.ok(&["step", "set", "1", "--description", "New words.\n\nAnd more."]);
        assert_eq!(project.read("plan.md"), replaced("New words.\n\nAnd more."));
        // Twice is once.
        project.ok(&["step", "set", "1", "--description", "New words.\n\nAnd more."]);
        assert_eq!(project.read("plan.md"), replaced("New words.\n\nAnd more."));
        let shown = project.ok(&["step", "set", "1", "--description", ""]).stdout;
        let gone = format!("{newline}{newline}{}", OLD.replace('\n', newline));
        assert_eq!(project.read("plan.md"), before.replace(&gone, ""));
        assert!(shown.starts_with("step 1 changed; its list stays"), "{shown}");
        project.ok(&["check"]);
    }
}

#[test]
fn the_description_of_the_last_step_is_replaced_and_cleared() {
    let project = Project::with_steps(1);
    let before = project.read("plan.md");
    for text in ["One.\n\nTwo.", "Three.", "See:\n\n> a quotation", "| a |\n|---|\n| b |"] {
        project.ok(&["step", "set", "1", "--description", text]);
        assert_eq!(project.json(&["step", "show", "1"])["step"]["description"], text);
        assert_eq!(project.read("plan.md"), format!("{before}\n{text}\n"));
    }
    project.ok(&["step", "set", "1", "--description", ""]);
    assert_eq!(project.read("plan.md"), before);
    let change = r#"[{"op":"step.set","step":1,"description":"Again."}]"#;
    project.ok_with_input(&["apply", "-"], change);
    assert_eq!(project.read("plan.md"), format!("{before}\nAgain.\n"));
}

#[test]
fn a_description_that_is_scattered_is_refused() {
    let project = Project::with_typed_steps(
        "### Step 1: Pack\nFirst.\n\n- **status**: PENDING\n- **id**: k3f9\n\nThen this.\n\n\
         ### Step 2: Load\nDo:\n\n- a\n- b\n\n### Step 3: Drive\nStatus: PENDING\nMind the ice.\n",
    );
    let refused = |step: &str, text: &str| {
        let answer = project.refused(1, &["step", "set", step, "--description", text]);
        answer["error"]["message"].as_str().unwrap().to_owned()
    };
    let message = refused("1", "New.");
    assert!(message.contains("`First.`") && message.contains("`Then this.`"), "{message}");
    assert!(refused("1", "").contains("`First.`"));
    assert!(refused("3", "New.").contains("Status"));
    // What it says already can be said again, and text alone leaves the list where it is.
    let before = project.read("plan.md");
    project.ok(&["step", "set", "2", "--description", "Do:\n\n- a\n- b"]);
    project.ok(&["step", "set", "2", "--description", "Do soon:"]);
    let after = project.read("plan.md");
    assert!(after.contains("\nDo soon:\n\n- a\n- b\n"), "{after}");
    assert!(before.contains("\nDo:\n\n- a\n- b\n"), "{before}");
}

#[test]
fn no_description_changes_what_the_plan_says_besides() {
    let project = Project::with_typed_steps("### Pack\nOld.\n\n### Load\n- **id**: k3f9\n\nOld.\n");
    for text in ["Status: COMPLETED", "Fine.\n\n- owner: ada"] {
        project.refused(1, &["step", "set", "1", "--description", text]);
    }
    let count = || project.json(&["step", "list", "--all"])["steps"].as_array().unwrap().len();
    // A heading before the fields would take them along, one behind them is a section of the step.
    for (step, shown) in
        [("1", "\n```text\n## Load\n\nNew.\n```\n"), ("2", "\n#### Load\n\nNew.\n")]
    {
        project.ok(&["step", "set", step, "--description", "## Load\n\nNew."]);
        assert!(project.read("plan.md").contains(shown), "{}", project.read("plan.md"));
        assert_eq!(count(), 2);
    }
    let message = project.refused(1, &["step", "set", "2", "--description", "## Load\n\nAgain."]);
    assert!(message["error"]["message"].as_str().unwrap().contains("`Load`"), "{message}");
}

#[test]
fn the_description_of_a_box_is_replaced_and_cleared() {
    let project = Project::with_typed_steps("- [ ] Send\n  - to everybody\n- [ ] Call\n");
    project.ok(&["step", "set", "1", "--description", "By post."]);
    project.ok(&["step", "set", "1", "--description", "By hand."]);
    let plan = project.read("plan.md");
    assert!(plan.contains("description: By hand.") && !plan.contains("By post."), "{plan}");
    project.ok(&["step", "set", "1", "--description", ""]);
    let plan = project.read("plan.md");
    assert!(plan.contains("- [ ] Send\n  - to everybody\n") && !plan.contains("By hand"), "{plan}");
}

#[test]
fn a_rule_between_steps_stays_behind_a_new_description() {
    for mark in ["---", "***", "- - -"] {
        for (old, expected) in [("Old.\n\n", "New."), ("", "New."), ("Old.\n\n", "")] {
            let step = |text: &str| {
                format!(
                    "### Step 1: Pack\n- **status**: PENDING\n- **id**: k3f9\n\n{text}{mark}\n\n\
                     ### Step 2: Load\n- **status**: PENDING\n- **id**: k3fb\n"
                )
            };
            let project = Project::with_typed_steps(&step(old));
            project.ok(&["step", "set", "1", "--description", expected]);
            let new = if expected.is_empty() { String::new() } else { format!("{expected}\n\n") };
            let plan = project.read("plan.md");
            assert!(plan.ends_with(&step(&new)), "{mark} {old:?}:\n{plan}");
        }
    }
}

#[test]
fn a_text_with_a_line_that_is_read_as_a_status_is_refused() {
    let project = Project::with_typed_steps(&around(OLD));
    for text in ["Status: COMPLETED", "Pack it.\n\n**Status:** done"] {
        let refused = project.refused(1, &["step", "set", "1", "--description", text]);
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains("a line of the text would be a status"), "{message}");
    }
    // A sentence or code is none.
    for text in ["Status: it is done when all boxes are shut", "```\nStatus: done\n```"] {
        project.ok(&["step", "set", "1", "--description", text]);
    }
}

#[test]
fn the_same_text_again_changes_nothing() {
    for text in ["***", "```\ncode\n```\n\n---", "<!-- why -->\n> so", "Words.\n\n<!-- why -->"] {
        let project = Project::with_typed_steps(&around(OLD).replace("\n<!-- keep me -->\n", ""));
        for _ in 0..3 {
            project.ok(&["step", "set", "1", "--description", text]);
            let plan = project.read("plan.md");
            assert_eq!(plan.matches(text).count(), 1, "{plan}");
            let last = text.lines().next_back().unwrap();
            assert_eq!(plan.matches(last).count(), 1, "{plan}");
        }
    }
}

#[test]
fn a_description_with_a_list_takes_the_place_of_one_with_a_list() {
    for newline in ["\n", "\r\n"] {
        let steps = |description: &str| {
            let steps = format!(
                "### Step 1: Pack\n- **status**: PENDING\n- **id**: k3f9\n\n{description}\n\n\
                 ### Step 2: Load\n- **status**: PENDING\n- **id**: k3fb\n"
            );
            steps.replace('\n', newline)
        };
        let texts = [
            "Do:\n\n- a\n  - b\n- c",
            "Do:\n\n- a\n- d",
            "- only\n- these",
            "1. first\n2. then\n\nEnd.",
            "- a\n\nand\n\n- b",
            "Do:\n\n- last",
        ];
        let project = Project::with_typed_steps(&steps("Old:\n\n- x").replace("\r\n", "\n"));
        project.write("plan.md", project.read("plan.md").replace('\n', newline));
        for text in texts {
            let said = project.ok(&["step", "set", "1", "--description", text]).stdout;
            assert!(!said.contains("stays"), "{said}");
            let plan = project.read("plan.md");
            assert!(plan.ends_with(&steps(text)), "{text}\n{plan}");
            let step = project.json(&["step", "show", "1"])["step"].clone();
            assert_eq!(step["description"], text.replace('\n', newline), "{step}");
        }
    }
    // Boxes, and what is right below a field, may be more than text.
    for list in ["\n- [x] a\n- [ ] b\n", "- a\n- b\n"] {
        let steps = format!("### Step 1: Pack\n- **status**: PENDING\n- **id**: k3f9\n{list}");
        let project = Project::with_typed_steps(&steps);
        let refused = project.refused(1, &["step", "set", "1", "--description", "- c\n- d"]);
        assert!(refused["error"]["message"].as_str().unwrap().contains("a list already"));
        assert!(project.read("plan.md").ends_with(&steps));
    }
}

#[test]
fn a_heading_in_a_description_is_not_suggested_as_a_step() {
    let text = "As before:\n\n### Step 9: Drive\nSlowly.\n\n#### Step 10";
    let project = Project::with_steps(2);
    project.ok(&["step", "add", "Third", "--description", text]);
    project.ok(&["step", "set", "1", "--description", &text.replace("###", "#")]);
    let found = project.json(&["check"])["findings"].clone();
    assert_eq!(found.as_array().unwrap().len(), 0, "{found}");
    assert!(project.read("plan.md").contains("\n##### Step 9: Drive\nSlowly.\n\n###### Step 10\n"));
    // Control: what a person types a level too deep may be meant as a step.
    project.write("plan.md", format!("{}\n#### Step 4: Fly\n", project.read("plan.md")));
    let found = project.json(&["check"])["findings"].to_string();
    assert!(found.contains("`Step 4: Fly` is not read as a step"), "{found}");
}

#[test]
fn a_description_is_the_same_however_it_is_given() {
    let project = Project::with_steps(1);
    project.ok(&["step", "set", "1", "description=Two coats"]);
    project.ok(&["step", "add", "Dry", "description=A day"]);
    let shown = |step: &str| project.json(&["step", "show", step])["step"].clone();
    for (step, text) in [("1", "Two coats"), ("2", "A day")] {
        let found = shown(step);
        assert_eq!(
            (&found["description"], &found["other"]),
            (&text.into(), &serde_json::json!({}))
        );
    }
    // A field of that name that somebody typed stays the place.
    project.edit(
        "plan.md",
        "- **status**: PENDING\n",
        "- **status**: PENDING\n- **description**: old\n",
    );
    project.ok(&["step", "set", "1", "description=new"]);
    assert_eq!(shown("1")["other"]["description"], "new");
    let clear = r#"{"op": "step.set", "step": 1, "set": {"description": null}}"#;
    project.ok_with_input(&["apply", "-"], clear);
    assert_eq!(shown("1")["other"], serde_json::json!({}));
    assert_eq!(shown("1")["description"], "Two coats");
}
