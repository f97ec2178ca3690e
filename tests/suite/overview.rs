//! Progress is counted once: every report shows the same numbers.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::builder::Project;

/// The numbers of one report, by what they count.
type Numbers = BTreeMap<&'static str, Value>;

/// A state with steps in every role, failures, costs, times, a turn and a review.
fn eventful(renamed: bool) -> Project {
    let project = Project::with_lifecycle(renamed);
    let goal = "Compare three vector databases";
    project.ok(&["init", "--goal", goal, "--template", "classic"]);
    for part in 1..=6 {
        project.ok(&["step", "add", &format!("Do part {part}")]);
    }
    project.ok(&["step", "add", "Sum up", "--depends-on", "6"]);
    project.ok(&["step", "start", "1"]);
    let took = ["--cost", "0.2", "--time", "41.424s", "--tool", "Read"];
    project.ok(&[&["step", "done", "1"][..], &took].concat());
    project.ok(&["step", "start", "2"]);
    project.ok(&["step", "fail", "2", "--error", "timeout", "--cost", "0.05", "--time", "10s"]);
    project.ok(&["step", "retry", "2"]);
    project.ok(&["step", "fail", "2", "--error", "connection refused", "--time", "20s"]);
    project.ok(&["step", "skip", "3"]);
    project.ok(&["step", "start", "4"]);
    project.ok(&["turn", "add", "--user", "How far?", "--response", "Half-way."]);
    project.ok(&["review", "open", "May the index be dropped?"]);
    project.ok(&["checkpoint", "create", "now"]);
    project
}

fn status(project: &Project) -> Numbers {
    let status = project.json(&["status"]);
    let used = |fact: &str| {
        let limits = status["limits"].as_array().unwrap();
        limits.iter().find(|limit| limit["fact"] == fact).unwrap()["used"].clone()
    };
    let time = used("execution_time").as_str().unwrap().trim_end_matches("ms").parse::<u64>();
    let mut numbers = progress(&status);
    numbers.extend([
        ("plan status", status["status"].clone()),
        ("cost", status["total_cost"].clone()),
        ("budget", status["budget"].clone()),
        ("retries", status["retries"].clone()),
        ("open reviews", json!(status["open_reviews"].as_array().unwrap().len())),
        ("next step", status["next"]["number"].clone()),
        ("time in ms", json!(time.unwrap())),
        ("file operations", used("file_operations")),
    ]);
    numbers
}

/// The steps by role, as `status`, `state` and `checkpoint show` name them.
fn progress(report: &Value) -> Numbers {
    let mut numbers = Numbers::from([("steps", report["total_steps"].clone())]);
    for (name, key) in [
        ("done", "completed"),
        ("skipped", "skipped"),
        ("failed", "failed"),
        ("running", "running"),
        ("open", "pending"),
        ("percent", "percent"),
        ("current step", "current_step"),
    ] {
        numbers.insert(name, report[key].clone());
    }
    let count = |key: &str| report[key].as_u64().unwrap();
    numbers.insert("finished", json!(count("completed") + count("skipped")));
    numbers
}

fn metrics(project: &Project) -> Numbers {
    let metrics = project.json(&["metrics"]);
    Numbers::from([
        ("steps", metrics["total_steps"].clone()),
        ("finished", metrics["finished_steps"].clone()),
        ("percent", metrics["percent"].clone()),
        ("cost", metrics["total_cost"].clone()),
        ("budget", metrics["budget"].clone()),
        ("retries", metrics["retries"].clone()),
        ("time in ms", metrics["total_time_ms"].clone()),
        ("executions", metrics["attempts"].clone()),
        ("completed executions", metrics["completed"].clone()),
        ("failed executions", metrics["failed"].clone()),
        ("failures in a row", metrics["consecutive_failures"].clone()),
        ("entries", metrics["history_entries"].clone()),
    ])
}

fn state(project: &Project) -> Numbers {
    let state = project.json(&["state"]);
    let seconds = state["timing"]["execution_seconds"].as_f64().unwrap();
    let (metrics, counted) = (&state["metrics"], &state["metrics"]["history"]);
    let ready = state["steps"].as_array().unwrap().iter().find(|step| step["ready"] == true);
    let mut numbers = progress(&state["progress"]);
    numbers.extend([
        ("plan status", state["status"].clone()),
        ("cost", metrics["total_cost"].clone()),
        ("budget", metrics["budget"].clone()),
        ("open reviews", json!(state["open_reviews"].as_array().unwrap().len())),
        ("next step", ready.unwrap()["number"].clone()),
        ("resumed step", state["recovery"]["resume_from"]["number"].clone()),
        ("time in ms", json!((seconds * 1000.0).round() as u64)),
        ("executions", metrics["attempts"].clone()),
        ("completed executions", counted["completed"].clone()),
        ("failed executions", state["recovery"]["attempts"].clone()),
        ("failures in a row", metrics["consecutive_failures"].clone()),
        ("entries", metrics["history_entries"].clone()),
        ("file operations", counted["file_operations"].clone()),
    ]);
    numbers
}

fn brief(project: &Project) -> Numbers {
    let brief = project.json(&["brief"]);
    let sections = brief["sections"].as_array().unwrap();
    let text = |name: &str| {
        let section = sections.iter().find(|section| section["section"] == name).unwrap();
        section["text"].as_str().unwrap().to_owned()
    };
    let standing = text("where_we_are");
    // `2 of 7 steps finished, 1 running, 1 failed`
    let before = |word: &str| {
        let (head, _) = standing.split_once(&format!(" {word}")).unwrap();
        json!(head.rsplit(' ').next().unwrap().parse::<u64>().unwrap())
    };
    let (cost, rest) = standing.split_once("cost $").unwrap().1.split_once(" of $").unwrap();
    let money = |text: &str| json!(text.parse::<f64>().unwrap());
    Numbers::from([
        ("steps", before("steps")),
        ("finished", before("of")),
        ("running", before("running")),
        ("failed", before("failed")),
        ("plan status", json!(standing["status: ".len()..].split([' ', ',']).next().unwrap())),
        ("cost", money(cost)),
        ("budget", money(rest.lines().next().unwrap())),
        ("open reviews", json!(text("open_reviews").lines().count())),
    ])
}

fn recover(project: &Project) -> Numbers {
    let recovery = project.json(&["recover"]);
    let plan = &recovery["evidence"]["plan"];
    Numbers::from([
        ("steps", plan["total"].clone()),
        ("done", plan["completed"].clone()),
        ("skipped", plan["skipped"].clone()),
        ("failed", plan["failed"].clone()),
        ("running", plan["running"].clone()),
        ("open", plan["open"].clone()),
        ("plan status", plan["status"].clone()),
        ("open reviews", json!(plan["open_reviews"].as_array().unwrap().len())),
        ("next step", recovery["evidence"]["next"]["number"].clone()),
        ("resumed step", recovery["step"].clone()),
    ])
}

fn memory(project: &Project) -> Numbers {
    let statistics = project.json(&["memory"])["long"]["statistics"].clone();
    Numbers::from([
        ("executions", statistics["executions"].clone()),
        ("completed executions", statistics["completed"].clone()),
        ("failed executions", statistics["failed"].clone()),
        ("cost", statistics["total_cost"].clone()),
    ])
}

fn scan(project: &Project) -> Numbers {
    let scan = &project.json(&["scan", "."])["states"][0];
    Numbers::from([
        ("steps", scan["total_steps"].clone()),
        ("done", scan["completed"].clone()),
        ("skipped", scan["skipped"].clone()),
        ("failed", scan["failed"].clone()),
        ("running", scan["running"].clone()),
        ("percent", scan["percent"].clone()),
        ("plan status", scan["status"].clone()),
        ("open reviews", scan["open_reviews"].clone()),
    ])
}

fn reports(project: &Project) -> Vec<(&'static str, Numbers)> {
    vec![
        ("status", status(project)),
        ("metrics", metrics(project)),
        ("state", state(project)),
        ("brief", brief(project)),
        ("recover", recover(project)),
        ("memory", memory(project)),
        ("scan", scan(project)),
        ("checkpoint", progress(&project.json(&["checkpoint", "show", "now"])["progress"])),
    ]
}

/// The numbers in which two reports differ.
fn disagreements(reports: &[(&'static str, Numbers)]) -> Vec<String> {
    let mut first: BTreeMap<&str, (&str, &Value)> = BTreeMap::new();
    let mut found = Vec::new();
    for (report, numbers) in reports {
        for (name, value) in numbers {
            let (other, known) = *first.entry(name).or_insert((report, value));
            if known != value {
                found.push(format!("{name}: {known} in {other}, {value} in {report}"));
            }
        }
    }
    found
}

#[test]
fn every_report_gives_the_same_numbers_under_any_lifecycle() {
    for renamed in [false, true] {
        let project = eventful(renamed);
        let reports = reports(&project);
        assert_eq!(disagreements(&reports), [""; 0], "renamed: {renamed}");
        let expected = json!({ "steps": 7, "done": 1, "skipped": 1, "finished": 2, "failed": 1,
            "running": 1, "open": 3, "percent": 28, "current step": 4, "next step": 5,
            "resumed step": 4, "retries": 1, "executions": 4, "completed executions": 1,
            "failed executions": 2, "failures in a row": 2, "cost": 0.25, "budget": 0.5,
            "time in ms": 71_424, "file operations": 1, "open reviews": 1 });
        for (name, value) in expected.as_object().unwrap() {
            let seen = reports.iter().filter_map(|(_, numbers)| numbers.get(name.as_str()));
            let seen: Vec<&Value> = seen.collect();
            assert!(seen.len() > 1, "only one report has: {name}");
            assert_eq!(seen[0], value, "{name}, renamed: {renamed}");
        }
    }
}

#[test]
fn a_report_that_counts_for_itself_is_found_out() {
    let project = eventful(false);
    let mut reports = reports(&project);
    for at in 0..reports.len() {
        let (report, numbers) = &mut reports[at];
        let (report, kept) = (*report, numbers.clone());
        *numbers.get_mut(if report == "memory" { "cost" } else { "steps" }).unwrap() = json!(99);
        let found = disagreements(&reports);
        assert!(found.iter().any(|line| line.contains("99")), "{report}: {found:?}");
        reports[at].1 = kept;
    }
    // The reverse: the amount spent is edited in the one file that holds it.
    project.edit("variables.json", "0.25", "0.35");
    assert_eq!(status(&project)["cost"], 0.35);
    assert_eq!(disagreements(&self::reports(&project)), [""; 0]);
}

#[test]
fn status_says_why_a_plan_is_paused_and_no_limit_that_is_not_set() {
    let project = Project::with_steps(2);
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "done", "1", "--tool", "WebFetch"]);
    let status = project.ok(&["status"]).stdout;
    assert!(
        !status.contains("limits") && status.contains("used      web requests 1\n"),
        "{status}"
    );
    project.ok(&["constraint", "set", "max_web_requests", "5"]);
    assert!(project.ok(&["status"]).stdout.contains("web requests 1 of 5"));
    project.ok(&["pause", "--why", "the key is missing\nsince Monday"]);
    let status = project.ok(&["status"]).stdout;
    assert!(status.contains("): the key is missing\n"), "{status}");
    let why = project.json(&["status"])["paused_because"].clone();
    assert_eq!(why, "the key is missing\nsince Monday", "whole in JSON");
    let refused = project.refused(1, &["step", "start", "2"]);
    assert_eq!(refused["error"]["message"], "the plan is paused: the key is missing");
    project.ok(&["resume"]);
    assert!(!project.ok(&["status"]).stdout.contains("the key is missing"));
    let status = project.json(&["status"]);
    assert_eq!(status.get("paused_because"), Some(&Value::Null));
}
