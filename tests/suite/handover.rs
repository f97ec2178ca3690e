//! One session leaves a step and another finds it: who holds it, whether they are still at work, and
//! how it is taken over.

mod agent;
mod next_move;
mod self_review;

use serde_json::json;

use self::agent::{Agent, set_in_workflow};
use crate::builder::{Project, Ran};

/// A plan of three steps in a row, the first of which `one` has begun.
fn begun(project: &Project, one: &Agent<'_>) {
    for step in ["2", "3"] {
        let before = (step.parse::<u32>().unwrap() - 1).to_string();
        project.ok(&["step", "set", step, "--depends-on", &before]);
    }
    assert_eq!(one.json(&["step", "next", "--claim"])["step"]["number"], 1);
}

/// Every view that recommends the next move.
const VIEWS: [&[&str]; 6] =
    [&["brief"], &["resume"], &["status"], &["step", "list"], &["step", "show", "1"], &["recover"]];

#[test]
fn who_starts_a_running_step_learns_who_runs_it_and_what_to_do() {
    let project = Project::with_steps(3);
    begun(&project, &Agent::new(&project, "ada", "09:00:00"));
    let said = |who: &'static str, at: &'static str, command: &str| {
        let refused = Agent::new(&project, who, at).refused(&["step", command, "1"]);
        assert_eq!(refused["code"], "illegal_transition", "{refused}");
        let text = |key: &str| refused[key].as_str().unwrap().to_owned();
        let id =
            format!(" ({})", project.json(&["step", "show", "1"])["step"]["id"].as_str().unwrap());
        (text("message").replace(&id, ""), text("hint"))
    };
    for command in ["start", "retry"] {
        let (message, hint) = said("ada", "09:10:00", command);
        assert_eq!(message, "step 1 is RUNNING already, held by you, ada@build7 for 10m");
        assert_eq!(hint, "go on; when it is finished: `statedir step done 1`");
        let (message, hint) = said("bob", "09:10:00", command);
        let held =
            "step 1 is RUNNING already, held by ada@build7 for 10m; last sign of life 10m ago";
        assert_eq!(message, held);
        assert!(hint.contains("`statedir step take 1 --force --why"), "{hint}");
        let (message, hint) = said("bob", "11:30:00", command);
        assert!(message.contains("ada@build7 for 2h 30m; stale: no sign of life"), "{message}");
        assert_eq!(hint, "`statedir step take 1` takes it over");
    }
    let plan = project.read("plan.md");
    let unclaimed = plan.lines().map(|line| line.split(" · ada@").next().unwrap());
    project.write("plan.md", unclaimed.collect::<Vec<_>>().join("\n"));
    let (message, hint) = said("bob", "09:10:00", "start");
    assert_eq!(message, "step 1 is RUNNING already, and nobody has claimed it");
    assert_eq!(hint, "`statedir step take 1` makes it yours");
}

#[test]
fn every_view_names_the_holder_of_a_stale_step_and_how_to_take_it_over() {
    let project = Project::with_steps(3);
    begun(&project, &Agent::new(&project, "dead", "09:00:00"));
    let two = Agent::new(&project, "fresh", "11:30:00");
    let check = |text: &str, args: &[&str]| {
        for words in ["dead@build7", "2h 30m", "no sign of life", "statedir step take 1"] {
            assert!(text.contains(words), "{args:?} does not say {words:?}:\n{text}");
        }
    };
    for args in VIEWS {
        check(&two.ok(args), args);
    }
    let refusals: [&[&str]; 6] = [
        &["step", "next"],
        &["step", "next", "--claim"],
        &["step", "start", "1"],
        &["step", "done", "1"],
        &["step", "fail", "1", "--error", "x"],
        &["step", "skip", "1"],
    ];
    for args in refusals {
        check(&two.refused(args).to_string(), args);
    }
    check(&two.refused(&["step", "done"]).to_string(), &["step", "done"]);
    assert!(two.ok(&["step", "take", "1"]).contains("step 1 is yours now"));
    let shown = two.step(1);
    assert_eq!(shown["claimed_by"], "fresh@build7");
    assert_eq!((&shown["attempts"], &shown["claim"]["own"]), (&json!(1), &json!(true)));
    let history = project.read("history.md");
    assert!(history.contains("dead@build7") && history.contains("no sign of life"), "{history}");
    // The first session, back after all, learns that the step is no longer its own.
    let one = Agent::new(&project, "dead", "11:31:00");
    assert_eq!(one.refused(&["step", "done"])["code"], "held");
    two.ok(&["step", "done"]);
    project.ok(&["check"]);
    project.ok(&["history", "verify"]);
}

#[test]
fn starting_or_taking_over_a_step_prints_what_it_needs() {
    let project = Project::with_steps(2);
    project.ok(&["step", "set", "1", "--description", "Ask Noor about the cookie."]);
    project.ok(&["step", "set", "1", "--input", "rows={{steps.2.rows}}"]);
    project.ok(&["step", "start", "2"]);
    project.ok(&["step", "done", "2", "--output", "rows=7"]);
    let one = Agent::new(&project, "dead", "09:00:00");
    let two = Agent::new(&project, "fresh", "11:30:00");
    let check = |text: &str| {
        assert!(text.contains("Ask Noor about the cookie."), "{text}");
        assert!(text.contains("input rows = 7"), "{text}");
    };
    check(&one.ok(&["step", "start", "1"]));
    check(&two.ok(&["step", "take", "1"]));
    two.ok(&["step", "fail", "1", "--error", "mypy: 12 errors"]);
    let again = two.ok(&["step", "retry", "1"]);
    check(&again);
    assert!(again.contains("failed before: mypy: 12 errors"), "{again}");
    // A step may get another number; its failures stay with it.
    project.ok(&["step", "add", "Before all", "--after", "0"]);
    two.ok(&["step", "fail", "2", "--error", "mypy: 3 errors"]);
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "fail", "1", "--error", "two"]);
    let first = project.ok(&["step", "retry", "1"]).stdout;
    assert!(first.contains("before: two") && !first.contains("mypy"), "{first}");
    let second = two.ok(&["step", "retry", "2"]);
    assert!(second.contains("12 errors") && second.contains("3 errors"), "{second}");
}

#[test]
fn a_live_step_is_taken_only_by_force_and_with_a_reason() {
    let project = Project::with_steps(3);
    begun(&project, &Agent::new(&project, "alive", "09:00:00"));
    let two = Agent::new(&project, "fresh", "09:10:00");
    for args in VIEWS {
        let text = two.ok(args);
        assert!(text.contains("alive@build7"), "{args:?}\n{text}");
        assert!(!text.contains("stale"), "{args:?}\n{text}");
    }
    let refusal = two.refused(&["step", "take", "1"]);
    assert_eq!(refusal["code"], "held");
    assert!(refusal["hint"].as_str().unwrap().contains("step take 1 --force --why"), "{refusal}");
    assert_eq!(two.run(&["step", "take", "1", "--force"]).code, 2, "a reason is needed");
    let change = r#"[{"op":"step.take","step":1,"force":true}]"#;
    let file = project.root().join("take.json");
    std::fs::write(&file, change).unwrap();
    assert_eq!(two.refused(&["apply", file.to_str().unwrap()])["code"], "held");
    two.ok(&["step", "take", "1", "--force", "--why", "the laptop was lost"]);
    assert!(project.read("history.md").contains("the laptop was lost"));
    assert_eq!(two.step(1)["claim"]["own"], true);
}

#[test]
fn a_step_that_somebody_else_holds_is_removed_only_by_force() {
    let project = Project::with_steps(3);
    begun(&project, &Agent::new(&project, "alive", "09:00:00"));
    let two = Agent::new(&project, "fresh", "09:10:00");
    assert_eq!(two.refused(&["step", "remove", "1"])["code"], "held");
    let file = project.root().join("remove.json");
    std::fs::write(&file, r#"[{"op":"step.remove","step":1}]"#).unwrap();
    assert_eq!(two.refused(&["apply", file.to_str().unwrap()])["code"], "held");
    // Control: nobody holds the others.
    two.ok(&["step", "remove", "3"]);
    two.ok(&["step", "remove", "2"]);
    std::fs::write(&file, r#"[{"op":"step.remove","step":1,"force":true}]"#).unwrap();
    two.ok(&["apply", file.to_str().unwrap(), "--dry-run"]);
    two.ok(&["step", "remove", "1", "--force"]);
    assert!(!project.read("plan.md").contains("alive"));
}

#[test]
fn any_command_and_every_hook_is_a_sign_of_life() {
    let project = Project::with_steps(3);
    let one = Agent::new(&project, "alive", "09:00:00");
    begun(&project, &one);
    let two = Agent::new(&project, "fresh", "10:30:00");
    assert_eq!(two.step(1)["claim"]["stale"], true, "control: an hour and a half of silence");
    one.at("10:00:00").ok(&["var", "set", "rows", "1"]);
    assert_eq!(two.step(1)["claim"]["stale"], false);
    assert_eq!(two.at("11:30:00").step(1)["claim"]["stale"], true);
    one.at("11:00:00").hook("UserPromptSubmit");
    assert_eq!(two.at("11:30:00").step(1)["claim"]["stale"], false);
    // A session that ended makes its claim stale at once.
    one.at("11:10:00").hook("SessionEnd");
    let claim = two.at("11:11:00").step(1)["claim"].clone();
    assert_eq!(claim["stale"], true, "{claim}");
    assert!(claim["evidence"].as_str().unwrap().contains("session ended"), "{claim}");
    // A resumed session is alive again.
    one.at("11:12:00").hook("SessionStart");
    assert_eq!(two.at("11:13:00").step(1)["claim"]["stale"], false);
}

#[test]
fn a_clock_that_is_ahead_does_not_make_a_claim_stale() {
    let project = Project::with_steps(3);
    begun(&project, &Agent::new(&project, "ahead", "12:00:00"));
    let two = Agent::new(&project, "fresh", "09:00:00");
    let claim = two.step(1)["claim"].clone();
    assert_eq!(claim["stale"], false, "{claim}");
    assert!(claim["evidence"].as_str().unwrap().contains("3h 0m in the future"), "{claim}");
    assert_eq!(two.refused(&["step", "take", "1"])["code"], "held");
    // Control: once the clock here has passed that time, silence counts.
    assert_eq!(two.at("13:30:00").step(1)["claim"]["stale"], true);
}

#[test]
fn machines_are_distinguished_by_their_whole_names() {
    let project = Project::with_steps(1);
    let on = |machine: &str, args: &[&str]| {
        let mut command = project.command(args);
        command.env("STATEDIR_HOST", machine).env("STATEDIR_ACTOR", "ada");
        Ran::from(command.output().unwrap())
    };
    assert_eq!(on("a.x", &["step", "start", "1"]).code, 0);
    let refused = on("a.y", &["step", "done", "1"]);
    assert_eq!(refused.code, 1, "{}{}", refused.stdout, refused.stderr);
    assert!(refused.stderr.contains("held by ada@a.x"), "{}", refused.stderr);
    assert_eq!(on("a.x", &["step", "done", "1"]).code, 0);
}

#[test]
fn claiming_the_next_step_reports_one_that_was_left_running() {
    let project = Project::with_steps(3);
    Agent::new(&project, "dead", "09:00:00").ok(&["step", "start", "1"]);
    let soon = Agent::new(&project, "fresh", "09:10:00").run(&["step", "next", "--claim"]);
    assert!(!soon.stderr.contains("step 1"), "control: it is alive\n{}", soon.stderr);
    let later = Agent::new(&project, "fresh", "11:30:00").run(&["step", "next", "--claim"]);
    assert_eq!(later.code, 0, "{}", later.stderr);
    for words in ["dead@build7", "2h 30m", "no sign of life", "`statedir step take 1`"] {
        assert!(later.stderr.contains(words), "{words}: {}", later.stderr);
    }
}

#[test]
fn recovery_in_the_session_that_holds_a_step_continues_it() {
    let project = Project::with_steps(3);
    let one = Agent::new(&project, "s1", "09:00:00");
    one.ok(&["step", "start", "1"]);
    let decided = one.at("09:05:00").json(&["recover"]);
    assert_eq!(decided["action"], "continue_task", "{decided}");
    // Control: without a session it is unknown who started the step.
    let project = Project::with_steps(3);
    project.ok(&["step", "start", "1"]);
    assert_eq!(project.json(&["recover"])["action"], "human_review");
}

#[test]
fn the_period_of_silence_can_be_set() {
    let project = Project::with_steps(3);
    begun(&project, &Agent::new(&project, "quiet", "09:00:00"));
    let two = Agent::new(&project, "fresh", "10:30:00");
    assert_eq!(two.step(1)["claim"]["stale"], true, "control");
    set_in_workflow(&project, "stale_after: 1h", "stale_after: 8h");
    assert_eq!(two.step(1)["claim"]["stale"], false);
}

#[test]
fn the_same_name_in_two_sessions_is_two_holders() {
    let project = Project::with_steps(3);
    let one = Agent::new(&project, "s1", "09:00:00").called("ada");
    begun(&project, &one);
    let two = Agent::new(&project, "s2", "09:05:00").called("ada");
    let before = project.files();
    for _ in 0..3 {
        assert!(two.ok(&["resume"]).contains("ada@build7 (session s1)"));
    }
    assert!(project.files() == before, "resume took something back");
    assert_eq!(two.refused(&["step", "done", "1"])["code"], "held");
    assert_eq!(two.refused(&["step", "reset", "1"])["code"], "held");
    // Commands of the namesake are no sign of life of the other.
    let later = two.at("11:00:00");
    later.ok(&["var", "set", "rows", "1"]);
    assert_eq!(later.step(1)["claim"]["stale"], true);
    one.at("11:01:00").ok(&["step", "done"]);
}

#[test]
fn resuming_after_every_compaction_counts_no_attempt() {
    let project = Project::with_steps(3);
    let one = Agent::new(&project, "s1", "09:00:00");
    begun(&project, &one);
    for _ in 0..4 {
        let answer = one.ok(&["resume"]);
        assert!(answer.contains("step 1 continues: it is yours, attempt 1"), "{answer}");
    }
    assert_eq!(one.step(1)["attempts"], 1);
    one.ok(&["pause", "--why", "lunch"]);
    one.ok(&["resume"]);
    assert_eq!((&one.step(1)["attempts"], &one.step(1)["status"]), (&json!(1), &json!("RUNNING")));
}

#[test]
fn without_a_number_only_ones_own_step_is_meant() {
    let project = Project::with_steps(3);
    let (one, two) =
        (Agent::new(&project, "s1", "09:00:00"), Agent::new(&project, "s2", "09:00:00"));
    one.ok(&["step", "start", "1"]);
    two.ok(&["step", "start", "2"]);
    assert_eq!(one.json(&["step", "done"])["step"]["number"], 1);
    assert_eq!(one.refused(&["step", "done"])["code"], "held");
    assert_eq!(one.refused(&["step", "skip", "2"])["code"], "held");
    one.ok(&["step", "fail", "2", "--error", "x", "--force"]);
}

#[test]
fn a_name_alone_as_older_states_have_it_still_reads() {
    let project = Project::with_steps(3);
    project.ok(&["step", "start", "1"]);
    for (name, own) in [("ada", true), ("Ada Lovelace", false), ("bob@example.com", false)] {
        let plan = project.read("plan.md").replace("tester@build7", name);
        let older = Project::with_steps(3);
        older.write("plan.md", plan);
        let ada = Agent::new(&older, "s9", "09:00:00").called("ada");
        let claim = ada.step(1)["claim"].clone();
        assert_eq!(claim["own"], own, "{claim}");
        assert_eq!(claim["claimed_by"], name);
        let listed = ada.json(&["step", "list", "--claimed-by", name]);
        assert_eq!(listed["steps"].as_array().unwrap().len(), 1, "{listed}");
        if own {
            ada.ok(&["step", "done"]);
        } else {
            assert_eq!(ada.refused(&["step", "done", "1"])["code"], "held");
        }
    }
}

#[test]
fn a_name_comes_from_the_user_id_where_nothing_else_gives_one() {
    let project = Project::with_steps(1);
    let mut command = project.command(&["step", "start", "1"]);
    for name in ["STATEDIR_ACTOR", "USER", "LOGNAME"] {
        command.env_remove(name);
    }
    assert!(command.output().unwrap().status.success());
    let by = project.json(&["step", "show", "1"])["step"]["claimed_by"].clone();
    let by = by.as_str().unwrap();
    assert!(by.ends_with("@build7") && !by.starts_with("unknown"), "{by}");
}

#[test]
fn reading_leaves_no_trace() {
    let project = Project::with_steps(2);
    let one = Agent::new(&project, "s1", "09:00:00");
    one.ok(&["step", "start", "1"]);
    let private = project.path(".statedir");
    let all = |dir: &std::path::Path| {
        let files = walk(dir);
        files.into_iter().map(|path| (std::fs::read(&path).unwrap(), path)).collect::<Vec<_>>()
    };
    let before = all(&private);
    let two = Agent::new(&project, "s2", "11:00:00");
    for args in VIEWS.iter().filter(|args| args[0] != "resume") {
        two.ok(args);
    }
    assert!(all(&private) == before);
}

fn walk(dir: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        match entry.path() {
            path if path.is_dir() => files.extend(walk(&path)),
            path => files.push(path),
        }
    }
    files.sort();
    files
}

#[test]
fn who_may_not_remove_a_step_is_told_how_to_insist() {
    let project = Project::with_steps(1);
    project.ok(&["step", "start", "1", "--actor", "ada"]);
    let refused = project.refused(1, &["step", "remove", "1"]);
    let hint = refused["error"]["hint"].as_str().unwrap();
    assert!(
        hint.contains("`statedir step take 1 ") && hint.contains("; `--force` removes it"),
        "{hint}"
    );
    project.ok(&["step", "remove", "1", "--force"]);
}
