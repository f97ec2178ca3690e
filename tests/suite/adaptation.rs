//! Events, rules, limits, behaviours, reviews: state that adapts and explains itself.

use serde_json::json;

use crate::builder::Project;

fn fail(project: &Project, step: &str) -> serde_json::Value {
    let status = project.json(&["step", "show", step])["step"]["status"].clone();
    let verb = if status == "FAILED" { "retry" } else { "start" };
    project.ok(&["step", verb, step]);
    project.json(&["step", "fail", step, "--error", "timeout"])
}

#[test]
fn two_failures_in_a_row_lower_the_review_level_once() {
    let project = Project::with_steps(4);
    assert_eq!(fail(&project, "1")["fired"], json!(null));
    let answer = fail(&project, "2");
    assert_eq!(answer["fired"][0]["rule"], 1);
    assert_eq!(answer["fired"][0]["values"]["consecutive_failures"], 2);
    assert_eq!(project.json(&["constraint", "get", "human_review_trigger_level"])["value"], "low");
    // A person's override is not overridden back while the condition stays true.
    project.ok(&["constraint", "set", "human_review_trigger_level", "high"]);
    assert_eq!(fail(&project, "3")["fired"], json!(null));
    assert_eq!(project.json(&["constraint", "get", "human_review_trigger_level"])["value"], "high");
    // After a success it can become true again.
    project.ok(&["step", "start", "4"]);
    project.ok(&["step", "done", "4"]);
    fail(&project, "1");
    assert_eq!(fail(&project, "2")["fired"][0]["rule"], 1);
    project.ok(&["check"]);
}

#[test]
fn a_fired_rule_is_explained_in_the_history_and_undone_with_its_command() {
    let project = Project::with_steps(1);
    project.ok(&["constraint", "set", "max_cost_per_task", "0.50"]);
    let before = project.read("constraints.md");
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "done", "1", "--cost", "0.45"]);
    assert_eq!(project.json(&["constraint", "get", "priority"])["value"], "cost_efficiency");
    let found = project.json(&["history", "search", "cost_efficiency"]);
    let entry = &found["entries"][0];
    assert_eq!(entry["kind"], "adaptation");
    let text = entry.to_string();
    assert!(text.contains("cost = $0.45") && text.contains("→"), "{text}");
    project.ok(&["undo"]);
    assert_eq!(project.read("constraints.md"), before);
}

#[test]
fn feedback_that_names_the_sentiment_is_seen_by_rules_about_it() {
    let project = Project::new();
    let emit = |kind: &str, fields: &str| project.json(&["event", "emit", kind, fields]);
    project.ok(&["rule", "add", "If sentiment drops to frustrated → pause"]);
    let explain = ["rule", "explain", "5", "--event", "feedback", "sentiment=frustrated"];
    assert!(project.ok(&explain).stdout.contains("\nfires: "));
    for (kind, fields) in [("feedback", "sentiment=angry"), ("poll", "sentiment=frustrated")] {
        assert_eq!(emit(kind, fields)["fired"], json!(null), "{kind} {fields}");
    }
    assert_eq!(emit("feedback", "sentiment=Frustrated")["fired"][0]["rule"], 5);
    // What the file has is changed by rules alone, from what it had.
    project.ok(&["constraint", "set", "user_sentiment", "pleased"]);
    project.ok(&["rule", "add", "If user provides negative feedback → lower user_sentiment"]);
    assert_eq!(emit("feedback", "sentiment=frustrated")["fired"][1]["rule"], 6);
    assert_eq!(project.json(&["constraint", "get", "user_sentiment"])["value"], "neutral");
}

#[test]
fn feedback_and_custom_events_fire_rules() {
    let project = Project::new();
    let answer = project.json(&["event", "emit", "feedback", "sentiment=positive"]);
    assert_eq!(answer["fired"][0]["rule"], 2);
    assert_eq!(project.json(&["constraint", "get", "user_sentiment"])["value"], "pleased");
    project.ok(&[
        "rule",
        "add",
        "If event.type is deployed -> add directive \"watch the logs\" for the next 2 steps",
    ]);
    project.ok(&["event", "emit", "deployed", "region=eu"]);
    let directives = project.json(&["directive", "list"]);
    assert_eq!(directives["directives"][0]["text"], "For the next 2 steps, watch the logs");
}

#[test]
fn variables_are_facts_when_a_rule_looks_at_them() {
    let project = Project::new();
    project.ok(&["plan", "set", "status=IN_PROGRESS"]);
    project.ok(&["rule", "add", "If variables.errors.count > 3 -> pause"]);
    project.ok(&["var", "set", "errors.count", "3"]);
    assert_eq!(project.json(&["status"])["status"], "IN_PROGRESS");
    let answer = project.json(&["var", "set", "errors.count", "4"]);
    assert_eq!(answer["fired"][0]["values"]["variables.errors.count"], 4);
    assert_eq!(project.json(&["status"])["status"], "PAUSED");
    assert_eq!(project.refused(1, &["step", "next", "--claim"])["error"]["code"], "no_ready_step");
}

#[test]
fn directives_count_down_in_the_file() {
    let project = Project::with_steps(3);
    project.ok(&["directive", "add", "prefer fast tools", "--for-steps", "2"]);
    project.ok(&["directive", "add", "be kind"]);
    let step = |n: &str| {
        project.ok(&["step", "start", n]);
        project.ok(&["step", "done", n]);
        project.read("constraints.md")
    };
    assert!(step("1").contains("- For the next 1 step, prefer fast tools\n- be kind\n"));
    let after = step("2");
    assert!(!after.contains("prefer fast tools") && after.contains("- be kind\n"));
}

#[test]
fn a_conditional_directive_seeks_human_guidance() {
    let project = Project::with_steps(2);
    project.ok(&[
        "directive",
        "add",
        "If sentiment drops to \"frustrated\", immediately seek human guidance",
    ]);
    let answer = project.json(&["constraint", "set", "user_sentiment", "frustrated"]);
    assert_eq!(answer["reviews_opened"], json!(["r1"]));
    assert!(project.read("plan.md").contains("## Reviews\n- [ ] r1: "));
    for args in [&["step", "next", "--claim"][..], &["step", "start", "1"], &["step", "next"]] {
        assert_eq!(project.refused(1, args)["error"]["code"], "review_open");
    }
    assert_eq!(project.json(&["status"])["open_reviews"][0]["id"], "r1");
    project.ok(&["--actor", "person", "review", "reject", "r1", "--why", "calm down first"]);
    assert!(project.ok(&["history", "search", "calm down first"]).stdout.contains("Rejected"));
    assert_eq!(project.refused(1, &["review", "approve", "r1"])["error"]["code"], "decided");
    // A rejected review opens nothing.
    assert_eq!(project.refused(1, &["step", "start", "1"])["error"]["code"], "paused");
    project.ok(&["resume"]);
    project.ok(&["step", "start", "1"]);
    project.ok(&["check"]);
}

#[test]
fn ticking_the_box_in_an_editor_approves() {
    let project = Project::with_steps(1);
    project.ok(&["review", "open", "Is the budget fine?"]);
    project.refused(1, &["step", "start", "1"]);
    project.edit("plan.md", "- [ ] r1", "- [x] r1");
    assert_eq!(project.json(&["review", "list", "--all"])["reviews"][0]["decision"], "approved");
    project.ok(&["step", "start", "1"]);
}

#[test]
fn the_retry_limit_escalates_to_a_person() {
    let project = Project::with_steps(1);
    fail(&project, "1");
    fail(&project, "1");
    let answer = fail(&project, "1");
    assert_eq!(answer["reviews_opened"], json!(["r1"]));
    assert_eq!(project.refused(1, &["step", "retry", "1"])["error"]["code"], "retry_limit");
    project.ok(&["--actor", "person", "review", "approve", "r1"]);
    let answer = fail(&project, "1");
    assert_eq!(answer["reviews_opened"], json!(["r2"]));
    project.ok(&["--actor", "person", "review", "reject", "r2", "--why", "enough"]);
    assert_eq!(project.refused(1, &["step", "retry", "1"])["error"]["code"], "retry_limit");
}

#[test]
fn crossing_a_limit_is_an_event_and_shows() {
    let project = Project::new();
    project.ok(&["rule", "add", "If event.type is limit_exceeded -> require human review"]);
    project.ok(&["constraint", "set", "max_web_requests", "2"]);
    assert_eq!(
        project.json(&["event", "emit", "fetch", "web_requests=2"])["limits_exceeded"],
        json!(null)
    );
    let answer = project.json(&["event", "emit", "fetch", "web_requests=1"]);
    assert_eq!(answer["limits_exceeded"][0]["limit"], "max_web_requests");
    assert_eq!(answer["reviews_opened"], json!(["r1"]));
    let status = project.json(&["status"]);
    assert!(status["limits_exceeded"][0].as_str().unwrap().contains("web_requests = 3"));
    let again = project.json(&["event", "emit", "fetch", "web_requests=1"]);
    assert_eq!(again["limits_exceeded"], json!(null));
}

#[test]
fn what_is_not_understood_is_reported_everywhere() {
    let project = Project::with_steps(1);
    project.edit(
        "constraints.md",
        "- If 2+ consecutive",
        "- If the moon is full → set priority to \"quality\"\n- If 2+ consecutive",
    );
    let refusal = project.refused(1, &["rule", "check"]);
    let line = &refusal["lines"][0];
    assert!(line["error"].is_string() && line["place"]["line"].as_u64().unwrap() > 15, "{line}");
    let warning = &project.json(&["check"])["findings"][0];
    assert_eq!(
        (&warning["code"], &warning["severity"]),
        (&json!("rule_not_understood"), &json!("warning"))
    );
    let answer = project.json(&["step", "start", "1"]);
    assert!(answer["notices"].to_string().contains("rule 1 is not understood"), "{answer}");
    assert_eq!(
        project.refused(1, &["rule", "add", "If x flies → set priority to \"quality\""])["error"]["code"],
        "rule_not_understood"
    );
    project.refused(1, &["rule", "add", "If cost > $1 → set priority to \"sped\""]);
}

#[test]
fn prose_is_distinguished_from_what_is_executed_and_sixty_lines_of_it_are_quiet() {
    let project = Project::with_steps(3);
    let prose: String =
        (0..60).map(|n| format!("- If case {n} looks odd, pause and think\n")).collect();
    project.edit("constraints.md", "- If 2+ consecutive", &format!("{prose}- If 2+ consecutive"));
    let text = project.read("constraints.md") + "\n## House Rules\n\nAsk Ada.\n\nBe kind.\n";
    project.write("constraints.md", text);
    let answer = project.json(&["step", "start", "1"]);
    assert!(!answer["notices"].to_string().contains("understood"), "{answer}");
    let checked = project.json(&["check", "--strict"]);
    assert_eq!(checked["constraints"], json!({ "executed": 8, "prose": 62 }));
    let printed = project.ok(&["check"]).stdout;
    assert!(
        printed.contains("constraints.md: 8 lines executed, 62 lines passed on as prose"),
        "{printed}"
    );
    let lines = project.json(&["rule", "check"])["lines"].clone();
    assert_eq!((&lines[0]["prose"], &lines[60]["prose"]), (&json!(true), &json!(false)));
    // The control: lines that are meant as rules are reported, in one note.
    let wrong = "- If the moon is full → pause\n".repeat(3);
    project.edit("constraints.md", "- If 2+ consecutive", &format!("{wrong}- If 2+ consecutive"));
    let notices = project.json(&["step", "done", "1"])["notices"].clone();
    let notes = notices.as_array().unwrap().iter();
    let notes = notes.filter(|note| note.to_string().contains("not understood"));
    assert_eq!(notes.count(), 1, "{notices}");
    assert!(notices.to_string().contains("(2 more: `statedir rule check`)"), "{notices}");
}

#[test]
fn a_rule_never_loses_its_condition() {
    let project = Project::new();
    for (kind, text) in [
        ("mine_tasks", "Calls the validator. If score < 50, escalate to human"),
        ("your_tasks", "After 3 failed attempts: STOP and ESCALATE"),
        ("other_tasks", "Do not require human review"),
    ] {
        let first = "- **legal_tasks**";
        project.edit("constraints.md", first, &format!("- **{kind}**: {text}\n{first}"));
        let answer = project.json(&["plan", "set", &format!("task_type={kind}")]);
        assert_eq!(answer["reviews_opened"], json!(null), "{text}");
    }
    // The control: a line that is understood in full is executed.
    let answer = project.json(&["plan", "set", "task_type=legal_tasks"]);
    assert_eq!(answer["reviews_opened"], json!(["r1"]));
}

#[test]
fn three_failures_of_one_step_count_and_so_do_three_attempts_once_the_third_failed() {
    let project = Project::with_steps(2);
    project.ok(&["rule", "add", "If 3 failures → checkpoint"]);
    project.ok(&["rule", "add", "After 3 attempts, set error_tolerance to strict"]);
    project.ok(&["step", "start", "1"]);
    for failure in 1..=3 {
        let answer = project.json(&["step", "fail", "1", "--error", "no"]);
        let fired = answer["fired"].as_array().cloned().unwrap_or_default();
        let fired: Vec<u64> = fired.iter().filter_map(|rule| rule["rule"].as_u64()).collect();
        let both = fired.contains(&5) && fired.contains(&6);
        assert_eq!(both, failure == 3, "{answer}");
        if failure < 3 {
            let answer = project.json(&["step", "retry", "1"]);
            assert!(answer["fired"].is_null(), "{answer}");
        }
    }
}

#[test]
fn rules_can_be_explained_and_tried_out() {
    let project = Project::with_steps(2);
    let files = project.files();
    let explained = project.json(&["rule", "explain", "1"]);
    assert_eq!(explained["fires"], false);
    assert_eq!(
        project.json(&["rule", "explain", "2", "--event", "feedback", "sentiment=positive"])["fires"],
        true
    );
    let tried = project.json(&["rule", "test", "step_failed", "--times", "2"]);
    assert!(tried.to_string().contains("human_review_trigger_level"), "{tried}");
    project.ok(&["rule", "test", "step_skipped"]);
    assert_eq!(project.files(), files);
    project.refused(1, &["rule", "explain", "99"]);
}

#[test]
fn replaying_the_same_events_gives_the_same_bytes() {
    let play = || {
        let project = Project::empty();
        let run = |args: &[&str]| {
            let mut command = project.command(args);
            command.env("STATEDIR_NOW", "2026-01-31T12:00:00Z").env("STATEDIR_SEED", "7");
            assert!(command.output().unwrap().status.success(), "{args:?}");
        };
        run(&["init", "--goal", "Repeat"]);
        run(&["step", "add", "One"]);
        for _ in 0..2 {
            run(&["step", "next", "--claim"]);
            run(&["step", "fail", "--error", "x", "--cost", "0.2"]);
            run(&["step", "reset", "1"]);
        }
        run(&["event", "emit", "feedback", "sentiment=positive"]);
        project.files()
    };
    assert_eq!(play(), play());
}

#[test]
fn a_lifecycle_of_ones_own_is_enforced_for_every_door() {
    let project = Project::empty();
    let templates = project.root().join("templates");
    std::fs::create_dir_all(&templates).unwrap();
    std::fs::write(
        templates.join("workflow.yaml"),
        "version: 1\nretry_limit: 1\nauto_complete: false\ngates:\n  - {name: go, subject: plan, to: IN_PROGRESS}\n",
    )
    .unwrap();
    project.ok(&["init", "--goal", "Gated", "--template", templates.to_str().unwrap()]);
    project.ok(&["step", "add", "One"]);
    let before = project.read("plan.md");
    let ran = project.run(&["step", "start", "1", "--json"]);
    assert_eq!((ran.code, &ran.json()["error"]["code"]), (1, &json!("review_open")));
    let after = project.read("plan.md");
    assert!(after.starts_with(before.trim_end()) && after.contains("- [ ] r1: gate go"), "{after}");
    let ran =
        project.run_with_input(&["apply", "-", "--json"], r#"[{"op":"step.start","step":1}]"#);
    assert_eq!(ran.code, 1);
    project.ok(&["--actor", "person", "review", "approve", "r1"]);
    project.ok(&["step", "start", "1"]);
    assert_eq!(project.json(&["step", "fail", "1"])["reviews_opened"], json!(["r2"]));
    project.ok(&["check"]);
}

#[test]
fn pause_and_resume_move_the_plan() {
    let project = Project::with_steps(2);
    project.ok(&["step", "start", "1"]);
    project.ok(&["pause", "--why", "lunch"]);
    assert_eq!(project.refused(1, &["step", "start", "2"])["error"]["code"], "paused");
    project.ok(&["resume"]);
    let status = project.json(&["status"]);
    assert_eq!((&status["status"], &status["running"]), (&json!("IN_PROGRESS"), &json!(1)));
    project.ok(&["step", "done", "1"]);
    project.ok(&["step", "start", "2"]);
    project.ok(&["step", "done", "2"]);
    assert_eq!(project.refused(1, &["resume"])["error"]["code"], "finished");
}

#[test]
fn a_step_that_is_given_up_later_used_no_time_and_no_tool_meanwhile() {
    let project = Project::classic();
    let at = |time: &str, args: &[&str]| project.at(time, args).stdout;
    at("09:00:00", &["step", "add", "fetch", "--tool", "WebFetch"]);
    at("09:00:00", &["step", "start", "1"]);
    at("09:00:10", &["step", "fail", "1", "--error", "HTTP 503"]);
    let skipped = at("12:00:00", &["step", "skip", "1"]);
    assert!(!skipped.contains("exceeded"), "{skipped}");
    let status = at("12:00:01", &["status"]);
    assert!(status.contains("execution time 10s of 5m"), "{status}");
    assert!(status.contains("web requests 1 of 5"), "{status}");
}

#[test]
fn what_is_taken_back_counts_neither_as_a_failure_nor_against_a_limit() {
    let project = Project::with_steps(2);
    project.ok(&["step", "start", "1"]);
    let facts = |what: &str| {
        let history = project.json(&["state"])["metrics"]["history"].clone();
        (history[what].clone(), history["consecutive_failures"].clone())
    };
    let fail = ["step", "fail", "1", "--error", "x", "--time", "150s", "--tool", "WebFetch"];
    project.ok(&fail);
    project.ok(&["undo"]);
    assert_eq!(facts("failed"), (0.into(), 0.into()));
    // A second failure in a row would fire the rule about two failures.
    let failed = project.ok(&fail).stdout;
    assert!(!failed.contains("fired") && !failed.contains("exceeded"), "{failed}");
    assert_eq!(facts("failed"), (1.into(), 1.into()));
    assert_eq!(facts("web_requests").0, 1);
    // A success that is undone does not end the row of failures; redone, it does.
    project.ok(&["step", "retry", "1"]);
    project.ok(&["step", "done", "1", "--time", "1s"]);
    assert_eq!(facts("completed"), (1.into(), 0.into()));
    project.ok(&["undo"]);
    assert_eq!(facts("completed"), (0.into(), 1.into()));
    project.ok(&["redo"]);
    assert_eq!(facts("completed"), (1.into(), 0.into()));
    assert_eq!(facts("time_ms").0, 151_000);
    let entry = project.ok(&["history", "list", "--limit", "2"]).stdout;
    assert!(entry.contains("Redo"), "{entry}");
    project.ok(&["history", "verify"]);
    project.ok(&["check"]);
}

/// constraints.md as people arrange it: headings within the lists, lists within lists.
const ARRANGED: &str = "# Constraints\n\n## Behavioral Modifiers\n- **priority**: quality\n  - the client is picky\n\n\
## Active Directives\n- Be careful:\n  - no force pushes\n  - no deletes\n\n  Ask Ada first.\n\n### By the client\n- No calls\n\n\
## Adaptation Rules\n- If 2+ consecutive steps fail:\n  - pause\n  - set priority to \"cost_efficiency\"\n\n\
### Cost\n- If cost > $3 → checkpoint\n  - tell finance\n\n### Examples\n- If cost > $1 → pause\n\n\
## Context-Aware Behaviors\n- **legal_tasks**:\n  - require human review\n- If in doubt, ask\n";

#[test]
fn nothing_that_is_nested_in_the_constraints_is_lost() {
    let project = Project::with_steps(2);
    project.write("constraints.md", ARRANGED);
    let brief = project.ok(&["brief"]).stdout;
    for text in [
        "the client is picky",
        "no force pushes",
        "no deletes",
        "Ask Ada first.",
        "No calls",
        "tell finance",
        "If cost > $1 → pause",
        "If in doubt, ask",
    ] {
        assert!(brief.contains(text), "{text}:\n{brief}");
    }
    let lines = project.json(&["rule", "check"])["lines"].clone();
    let of = |list: &str| -> Vec<String> {
        let lines = lines.as_array().unwrap().iter().filter(|line| line["list"] == list);
        lines.map(|line| line["means"].as_str().unwrap_or("prose").to_owned()).collect()
    };
    assert_eq!(
        of("rule"),
        [
            "if consecutive_failures >= 2 → pause, set priority to \"cost_efficiency\"",
            "if cost > 3 usd → checkpoint",
        ]
        .map(|text| text.replace("3 usd", "$3.00"))
    );
    assert_eq!(of("legal_tasks"), ["require human review"]);
    let prose = lines.as_array().unwrap().iter().filter(|line| line["list"] == "prose");
    let prose: Vec<_> = prose.map(|line| line["text"].as_str().unwrap()).collect();
    assert_eq!(
        prose,
        ["priority: - the client is picky", "- If cost > $1 → pause", "- If in doubt, ask"]
    );
    // A rule under a heading of its own, or continued in a list, is executed.
    fail(&project, "1");
    let fired = fail(&project, "2");
    assert_eq!(fired["fired"][0]["rule"], 1, "{fired}");
    assert_eq!(project.json(&["constraint", "get", "priority"])["value"], "cost_efficiency");
    // A line that is added gets the number that lists show.
    let added = project.json(&["directive", "add", "Speak up"]);
    let listed = project.json(&["directive", "list"])["directives"].clone();
    let number = listed.as_array().unwrap().iter().find(|line| line["text"] == "Speak up");
    assert_eq!(added["number"], number.unwrap()["number"]);
    project.ok(&["directive", "remove", &number.unwrap()["number"].to_string()]);
    assert!(!project.read("constraints.md").contains("Speak up"));
}

#[test]
fn lists_that_stand_twice_are_all_read() {
    let project = Project::new();
    project.write(
        "constraints.md",
        "# C\n\n## Active Directives\n- One\n\n## Adaptation Rules\n- If 2 failures → pause\n\n\
         ## Directives\n- Two\n\n## Adaptation Rules\n- If 3 failures → checkpoint\n",
    );
    let brief = project.ok(&["brief"]).stdout;
    for text in ["- One", "- Two", "If 2 failures → pause", "If 3 failures → checkpoint"] {
        assert!(brief.contains(text), "{text}:\n{brief}");
    }
    assert_eq!(project.json(&["rule", "list"])["rules"].as_array().unwrap().len(), 2);
}

#[test]
fn a_directive_that_fires_is_named_by_its_own_number() {
    let project = Project::new();
    project.ok(&["directive", "add", "Be brief"]);
    project.ok(&["directive", "add", "If sentiment drops to \"frustrated\", seek human guidance"]);
    let printed = project.ok(&["constraint", "set", "user_sentiment", "frustrated"]).stdout;
    assert!(printed.contains("rule 5 (directive 2) fired: review required"), "{printed}");
    let explained = project.ok(&["rule", "explain", "5"]).stdout;
    assert!(explained.contains("seek human guidance"), "{explained}");
}

#[test]
fn a_rule_that_comes_too_late_to_fire_is_said_to_be_late() {
    let project = Project::with_steps(1);
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "done", "1", "--cost", "5"]);
    let late = project.ok(&["rule", "add", "If cost exceeds 2 then pause"]).stderr;
    assert!(late.contains("rule 5 is true already") && late.contains("rule explain 5`"), "{late}");
    // Control: one that can still fire.
    assert_eq!(project.ok(&["rule", "add", "If cost exceeds 9 then pause"]).stderr, "");
}
