//! plan.md as people write it: which lines are steps, and what commands do to them.

use crate::builder::{Project, line_diff};

/// Number, title and status of every step.
fn listed(project: &Project) -> Vec<String> {
    let list = project.json(&["step", "list", "--all"]);
    let steps = list["steps"].as_array().unwrap().iter();
    let text = |step: &serde_json::Value| {
        let status = step["role"].as_str().or(step["status"].as_str()).unwrap_or("?");
        format!("{} {} {status}", step["number"], step["title"].as_str().unwrap())
    };
    steps.map(text).collect()
}

const TYPED: &str = "\
- [ ] Send the letters
- [x] Call the landlord

### Tell finance

Ask for the budget of *both* floors.

### Step 14 Pack

### 15. Load

### ✅ Step 7: Sign

### 🟡 Step 8: Look

### Step 2.1: Half of it
Status: COMPLETED
";

#[test]
fn steps_that_people_type_are_listed() {
    let project = Project::with_typed_steps(TYPED);
    let list = project.json(&["step", "list", "--all"]);
    let titles: Vec<String> = list["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| format!("{} {}", step["number"], step["title"].as_str().unwrap()))
        .collect();
    let expected = [
        "1 Send the letters",
        "2 Call the landlord",
        "3 Tell finance",
        "14 Pack",
        "15 Load",
        "7 Sign",
        "8 Look",
        "4 2.1: Half of it",
    ];
    let mut sorted = (titles.clone(), expected.map(str::to_owned).to_vec());
    sorted.0.sort();
    sorted.1.sort();
    assert_eq!(sorted.0, sorted.1);
    let status = project.json(&["status"]);
    assert_eq!(status["completed"], 3, "{status}");
    let shown = project.ok(&["step", "list", "--all"]).stdout;
    assert!(shown.contains("COMPLETED  Call the landlord"), "{shown}");
    // An unknown mark counts as open, with a warning.
    let findings = project.json(&["check"])["findings"].clone();
    let is_mark = |finding: &&serde_json::Value| {
        finding["message"].as_str().unwrap().contains("unknown mark")
    };
    assert_eq!(findings.as_array().unwrap().iter().filter(is_mark).count(), 1, "{findings}");
}

#[test]
fn every_typed_step_is_started_finished_and_undone_to_the_byte() {
    for step in ["1", "3", "14", "15", "8", "7", "2.1"] {
        let project = Project::with_typed_steps(TYPED);
        let before = project.read("plan.md");
        if matches!(step, "7" | "2.1") {
            project.ok(&["step", "reset", step]);
        }
        project.ok(&["step", "start", step]);
        project.ok(&["step", "done", step, "--output", "n=1", "--note", "went well"]);
        let after = project.read("plan.md");
        let id = project.json(&["step", "show", step])["step"]["id"].clone();
        assert!(id.is_string(), "step {step} got an id");
        assert_eq!(project.json(&["step", "show", step])["step"]["status"], "COMPLETED");
        // Only lines of this step differ: its first line, its fields, the plan's status.
        for line in line_diff(&before, &after) {
            let is_own = line.contains("**") || line.contains("  - ") || line.contains("Status: ");
            let titles = ["Send", "Tell", "Pack", "Load", "Sign", "Look", "Half"];
            let is_title = titles.iter().filter(|title| line.contains(**title)).count() == 1;
            assert!(is_own || is_title || line.trim().len() == 1, "{step}: {line}");
        }
        project.ok(&["check"]);
        let undone = if matches!(step, "7" | "2.1") { 3 } else { 2 };
        for _ in 0..undone {
            project.ok(&["undo"]);
        }
        assert_eq!(project.read("plan.md"), before, "step {step}");
    }
}

#[test]
fn a_box_is_ticked_and_keeps_what_is_below_it() {
    let project = Project::with_typed_steps(
        "- [ ] Send\n  - to everybody\n- [-] Skip it\n- [?] Ask\n\nThe end.\n",
    );
    project.ok(&["step", "start", "1"]);
    let running = project.read("plan.md");
    assert!(running.contains("- [ ] Send\n  - to everybody\n  - status: RUNNING\n"), "{running}");
    project.ok(&["step", "fail", "1", "--error", "no stamps"]);
    project.ok(&["step", "retry", "1"]);
    project.ok(&["step", "done", "1"]);
    let done = project.read("plan.md");
    assert!(done.contains("- [x] Send\n  - to everybody\n"), "{done}");
    assert!(!done.contains("  - status:"), "{done}");
    assert!(done.contains("- [-] Skip it\n- [?] Ask\n\nThe end.\n"), "{done}");
    project.ok(&["step", "start", "3"]);
    project.ok(&["step", "done", "3"]);
    assert!(project.read("plan.md").contains("- [x] Ask\n"));
    project.ok(&["step", "add", "Tell them"]);
    assert!(project.read("plan.md").contains("\n- [ ] Tell them\n\nThe end.\n"));
    assert_eq!(project.json(&["step", "show", "1"])["step"]["description"], "- to everybody");
    project.ok(&["step", "set", "1", "--title", "Send all"]);
    assert!(project.read("plan.md").contains("- [x] Send all\n"));
    project.ok(&["step", "add", "Between", "--after", "1"]);
    assert!(project.read("plan.md").contains("- [ ] Between\n- [-] Skip it\n"));
    project.ok(&["step", "remove", "3"]);
    assert!(!project.read("plan.md").contains("Skip it"));
    project.ok(&["check"]);
}

#[test]
fn prose_among_the_steps_stays_prose() {
    let project = Project::with_typed_steps(
        "The order matters.\n\n### Notes on the order\n- [ ] think again\n\n### Step 1: Pack\n\
         #### How\n- [ ] boxes first\n#### Step 2: in words\nLift.\n\n### Phase 2: later\n",
    );
    assert_eq!(listed(&project).len(), 1);
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "done", "1"]);
    let plan = project.read("plan.md");
    for kept in ["- [ ] think again", "- [ ] boxes first", "#### Step 2: in words\nLift."] {
        assert!(plan.contains(kept), "{kept}\n{plan}");
    }
    // A line that a command adds below a step is never a step.
    project.ok(&["step", "set", "1", "--description", "### Step 9: x\n\n- [ ] y"]);
    assert_eq!(listed(&project).len(), 1);
}

#[test]
fn fields_on_lines_of_their_own_are_changed_where_they_stand() {
    let project = Project::new();
    project.write(
        "plan.md",
        "# Move\n\n**Goal:** move the office  \nStatus: IN_PROGRESS\n\n## Step 1: Pack\n\
         Status: RUNNING\nMind the glass.\n\n## Step 2: Load\n\n### Step 3: Drive\n",
    );
    let state = project.json(&["status"]);
    assert_eq!(state["goal"], "move the office");
    assert_eq!(listed(&project).len(), 3);
    project.ok(&["plan", "set", "goal=move twice"]);
    project.ok(&["step", "done", "1", "--force"]);
    let plan = project.read("plan.md");
    assert!(plan.contains("**Goal:** move twice  \nStatus: IN_PROGRESS\n"), "{plan}");
    assert!(plan.contains("Status: COMPLETED\nMind the glass.\n"), "{plan}");
    let refused = project.refused(1, &["step", "remove", "2"]);
    assert!(refused["error"]["message"].as_str().unwrap().contains("inside"), "{refused}");
    project.ok(&["step", "start", "3"]);
    project.ok(&["step", "done", "3"]);
    let plan = project.read("plan.md");
    assert!(plan.contains("## Step 2: Load\n\n### Step 3: Drive ✓\n"), "{plan}");
}

#[test]
fn steps_without_numbers_get_them_when_others_move() {
    let project =
        Project::with_typed_steps("### Tell finance\n\n### Tell the rest\n\n### Step 7: Pack\n");
    project.ok(&["step", "add", "First", "--before", "1"]);
    let plan = project.read("plan.md");
    let at = |title: &str| plan.find(title).unwrap_or_else(|| panic!("{title}\n{plan}"));
    assert!(at("First") < at("Tell finance"));
    let numbers: Vec<u64> = project.json(&["step", "list", "--all"])["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["number"].as_u64().unwrap())
        .collect();
    let mut unique = numbers.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), 4, "{numbers:?}\n{plan}");
    project.ok(&["check"]);
}

#[test]
fn a_goal_that_was_edited_is_followed_by_its_copy() {
    let project = Project::with_steps(1);
    project.edit("plan.md", "**goal**: Compare three", "**goal**: Compare four");
    project.ok(&["check"]);
    project.ok(&["step", "start", "1"]);
    assert!(project.read("variables.json").contains("\"goal\": \"Compare four vector databases\""));
}

#[test]
fn a_diff_tells_boxes_and_headings_apart() {
    let project = Project::with_typed_steps(
        "- [ ] Send\n- [ ] Call\n\n### Step 3: Pack\n\n### Step 4: Load\n",
    );
    project.ok(&["step", "start", "3"]);
    project.ok(&["checkpoint", "create", "packing"]);
    project.ok(&["step", "done", "3"]);
    project.edit("plan.md", "- [ ] Call", "- [x] Call");
    let diff = project.ok(&["diff", "packing", "working"]).stdout;
    assert!(diff.contains("Pack: RUNNING → COMPLETED"), "{diff}");
    assert!(diff.contains("step 2 Call: \"[ ]\" → \"[x]\""), "{diff}");
    assert!(!diff.contains("removed") && !diff.contains("Load"), "{diff}");
    // For a step without a status only the new one is reported.
    project.ok(&["checkpoint", "create", "packed"]);
    project.ok(&["step", "start", "4"]);
    project.ok(&["step", "done", "4", "--time", "2m"]);
    let diff = project.ok(&["diff", "packed", "working"]).stdout;
    assert!(diff.contains("Load: COMPLETED (2m)") && diff.lines().count() == 1, "{diff}");
}

#[test]
fn links_and_code_in_a_heading_survive_the_life_of_a_step() {
    let project = Project::new();
    let heading = "### Step 1: Read [the log](https://example.org/a_b) with `grep -c '*'`";
    project
        .write("plan.md", format!("# Plan\n\n## Steps\n\n{heading}\n\n### Step 2: **Tell** Ada\n"));
    for args in [&["step", "start", "1"][..], &["step", "done", "1"], &["step", "reset", "1"]] {
        project.ok(args);
        let plan = project.read("plan.md");
        assert!(plan.contains(heading), "{args:?}:\n{plan}");
    }
    // Renumbering leaves the rest as it is, too.
    project.ok(&["step", "add", "First of all", "--before", "1"]);
    let plan = project.read("plan.md");
    assert!(plan.contains(&heading.replace("Step 1", "Step 2")), "{plan}");
    assert!(plan.contains("### Step 3: **Tell** Ada"), "{plan}");
}

#[test]
fn a_refusal_names_the_fence_that_was_never_closed() {
    let project = Project::new();
    project.write("plan.md", "# Plan\n\n## Steps\n\n### Step 1: A\n```\nopen\n\n### Step 2: B\n");
    for args in [&["step", "start", "1"][..], &["step", "add", "C"]] {
        let refused = project.run(args);
        let printed = refused.stderr;
        assert!(
            printed.contains("the code fence opened at 6:1 hides the headings after it"),
            "{printed}"
        );
    }
    let checked = project.run(&["check"]).stdout;
    assert!(checked.contains("hides the headings after it\n"), "{checked}");
    project.write("plan.md", "# Plan\n\n<pre>\n\n## Steps\n\n### Step 1: A\n");
    let noted = project.ok(&["step", "list"]).stderr;
    assert!(noted.contains("plan.md: the HTML block opened at 3:1 hides"), "{noted}");
}

#[test]
fn a_range_of_steps_is_what_people_type() {
    let project = Project::with_steps(5);
    let waits_for =
        |step: &str| project.json(&["step", "show", step])["step"]["depends_on"].clone();
    project.ok(&["step", "add", "Sum up", "--depends-on", "1-3,5"]);
    assert_eq!(waits_for("6").as_array().unwrap().len(), 4, "{}", waits_for("6"));
    let changes = r#"[{"op": "step.add", "title": "A", "depends_on": ["2..3"]},
                      {"op": "step.add", "title": "B", "depends_on": ["6-7"]}]"#;
    project.ok_with_input(&["apply", "-"], changes);
    assert_eq!(waits_for("8").as_array().unwrap().len(), 2, "{}", waits_for("8"));
    let answer = project.ok(&["step", "set", "6", "depends_on=4–5"]).stdout;
    assert!(answer.contains("it no longer depends on 1, 2, 3"), "{answer}");
    let refused = project.refused(1, &["step", "set", "6", "--depends-on", "1-99"]);
    assert_eq!(refused["error"]["message"], "there is no step `99`");
    project.refused(1, &["step", "set", "2", "--depends-on", "1-2"]);
    // A step that is called so is that step.
    project.ok(&["step", "add", "Log in", "--id", "1-3"]);
    project.ok(&["step", "set", "6", "--depends-on", "1-3"]);
    assert_eq!(waits_for("6"), serde_json::json!(["1-3"]));
    project.ok(&["check"]);
}

#[test]
fn a_range_in_the_file_follows_its_steps() {
    let project = Project::with_steps(4);
    let plan = project.read("plan.md");
    let at = plan.rfind("- **id**").unwrap();
    project.write("plan.md", format!("{}- **depends_on**: 1-3\n{}", &plan[..at], &plan[at..]));
    project.ok(&["check"]);
    project.refused(1, &["step", "start", "4"]);
    project.ok(&["step", "add", "In between", "--after", "1"]);
    let plan = project.read("plan.md");
    assert!(plan.contains("- **depends_on**: 1, 3-4\n"), "{plan}");
    for step in ["1", "3", "4"] {
        project.ok(&["step", "start", step]);
        project.ok(&["step", "done", step]);
    }
    project.ok(&["step", "start", "5"]);
    project.ok(&["check"]);
}

#[test]
fn a_numbered_list_below_a_step_stays_as_it_was_written() {
    let lists = ["1. do a\n2. do b\n", "1) do a\n   - in two parts\n2) do b\n\nAfter it.\n"];
    for list in lists {
        let project =
            Project::with_typed_steps(&format!("### Step 1: X\n\n{list}\n### Step 2: Y\n"));
        project.ok(&["step", "start", "1"]);
        let running = project.read("plan.md");
        let items = list.split("\n\n").next().unwrap().trim_end();
        let block = format!("\n{items}\n\n- **status**: RUNNING\n- **id**: ");
        assert!(running.contains(&block), "{running}");
        project.ok(&["step", "fail", "1", "--error", "no key"]);
        project.ok(&["step", "retry", "1"]);
        project.ok(&["step", "done", "1", "--output", "a=1"]);
        project.ok(&["step", "set", "1", "owner=ada"]);
        let done = project.read("plan.md");
        assert!(done.contains(&format!("\n{items}\n\n- **status**: COMPLETED\n")), "{done}");
        assert!(!done.contains("\n3. ") && !done.contains("\n3) "), "{done}");
        let shown = project.json(&["step", "show", "1"])["step"]["description"].clone();
        assert!(shown.as_str().unwrap().starts_with(items), "{shown}");
        project.ok(&["check"]);
    }
    // Fields that stand before the list stay together.
    let project =
        Project::with_typed_steps("### Step 1: X\n- **status**: PENDING\n\n1. do a\n2. do b\n");
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "done", "1", "--note", "fine"]);
    let done = project.read("plan.md");
    assert!(done.ends_with("\n\n1. do a\n2. do b\n"), "{done}");
    assert!(done.contains("- **status**: COMPLETED\n- **"), "{done}");
}

#[test]
fn a_mark_that_is_not_known_stays_until_the_step_is_done() {
    let project = Project::with_typed_steps("- [?] Ask\n- [ ] Send\n");
    for command in ["start", "reset"] {
        project.ok(&["step", command, "1"]);
        let plan = project.read("plan.md");
        assert!(plan.contains("- [?] Ask\n"), "{command}: {plan}");
    }
    project.ok(&["step", "start", "1"]);
    assert_eq!(listed(&project)[0], "1 Ask RUNNING");
    project.ok(&["step", "done", "1"]);
    assert!(project.read("plan.md").contains("- [x] Ask\n"));
    project.ok(&["step", "reset", "1"]);
    assert!(project.read("plan.md").contains("- [ ] Ask\n"), "it says what was done here");
}

/// In markdown a line right below a list item belongs to it, though nobody means that.
#[test]
fn text_right_below_the_last_field_stays_through_every_change() {
    for newline in ["\n", "\r\n"] {
        let project = Project::with_steps(2);
        let plan = project.read("plan.md");
        let id = plan.lines().find(|line| line.starts_with("- **id**")).unwrap().to_owned();
        let typed = format!("{id}\nwords of a person\n*and* more");
        project.write("plan.md", plan.replacen(&id, &typed, 1).replace('\n', newline));
        let below = format!("{newline}words of a person{newline}*and* more{newline}");
        let description = "words of a person\n*and* more".replace('\n', newline);
        for change in [
            &["step", "set", "1", "tool=Bash"][..],
            &["step", "start", "1"],
            &["step", "done", "1", "--note", "n"],
            &["step", "reset", "1"],
            &["step", "set", "2", "title=Other"],
        ] {
            project.ok(change);
            let plan = project.read("plan.md");
            assert!(plan.contains(&below), "{change:?}\n{plan}");
            let step = project.json(&["step", "show", "1"])["step"].clone();
            assert!(id.ends_with(step["id"].as_str().unwrap()), "{change:?} {step}");
            assert_eq!(step["description"], description, "{change:?}");
        }
        project.ok(&["check"]);
    }
    let project = Project::with_typed_steps("### Step 1: Tell\n- status: PENDING\nfinance first\n");
    project.ok(&["step", "start", "1"]);
    assert!(project.read("plan.md").contains("- status: RUNNING\nfinance first\n"));
}

#[test]
fn text_right_below_a_field_of_the_plan_stays() {
    let project = Project::with_steps(1);
    let line_with = |key: &str| {
        let plan = project.read("plan.md");
        plan.lines().find(|line| line.starts_with(&format!("- **{key}**"))).unwrap().to_owned()
    };
    let put_below = |line: &str, words: &str| {
        let plan = project.read("plan.md");
        project.write("plan.md", plan.replacen(line, &format!("{line}{words}"), 1));
    };
    put_below(&line_with("status"), "\nwords of a person");
    project.ok(&["check"]);
    let before = line_with("status");
    project.ok(&["step", "start", "1"]);
    assert_ne!(line_with("status"), before);
    let kept = format!("{}\nwords of a person\n", line_with("status"));
    assert!(project.read("plan.md").contains(&kept));

    // What is removed takes nothing along that a person typed.
    project.ok(&["step", "done", "1"]);
    let ended = line_with("completed_at");
    put_below(&ended, "\nand more");
    project.refused(1, &["step", "reset", "1"]);
    assert!(project.read("plan.md").contains("\nand more\n"));
}

#[test]
fn a_field_that_is_added_to_a_numbered_list_counts_on() {
    let project = Project::with_typed_steps(
        "### Step 1: Tell\n1. Status: PENDING\n2. Action: Call\n\n\
         ### Step 2: Ask\n1. Status: PENDING\n1. Action: Write\n",
    );
    for step in ["1", "2"] {
        project.ok(&["step", "set", step, "tool=Bash", "component=mail"]);
        project.ok(&["step", "start", step]);
    }
    let plan = project.read("plan.md");
    let numbers = |step: &str| -> Vec<&str> {
        let lines = plan.split(step).nth(1).unwrap().lines().skip(1);
        lines.map_while(|line| Some(line.split_once(". ")?.0)).collect()
    };
    assert_eq!(numbers("### Step 1"), ["1", "2", "3", "4", "5"], "{plan}");
    assert_eq!(numbers("### Step 2"), ["1"; 5], "{plan}");
    project.ok(&["check"]);
}

#[test]
fn fields_stay_together_where_the_description_ends_in_a_list() {
    let list = "Like so:\n\n- first coat\n- Note: dry\n";
    let project = Project::with_typed_steps(&format!(
        "### Step 1: Paint\n- **tool_mapping**: brush\n- **status**: PENDING\n\n{list}\n\
         ### Step 2: Ask\n- **status**: PENDING\n- why not\n"
    ));
    for step in ["1", "2"] {
        project.ok(&["step", "start", step]);
        project.ok(&["step", "done", step, "--output", "a=1"]);
        project.ok(&["step", "set", step, "component=c", "owner=ada"]);
    }
    let plan = project.read("plan.md");
    let (one, two) = plan.split_once("### Step 1").unwrap().1.split_once("### Step 2").unwrap();
    let keys = |text: &str| -> Vec<String> {
        let lines = text.lines().skip(1).map_while(|line| line.strip_prefix("- **"));
        lines.map(|line| line.split("**").next().unwrap().to_owned()).collect()
    };
    let mut fields = keys(one);
    fields.sort_unstable();
    assert_eq!(fields, ["component", "id", "owner", "result", "status", "tool_mapping"], "{plan}");
    assert!(one.ends_with(&format!("\n\n{list}\n")), "{plan}");
    assert!(keys(two).len() >= 5 && two.trim_end().ends_with("\n- why not"), "{plan}");
    let step = project.json(&["step", "show", "1"])["step"].clone();
    assert!(step["description"].as_str().unwrap().contains("- first coat"), "{step}");
    project.ok(&["check"]);
}
