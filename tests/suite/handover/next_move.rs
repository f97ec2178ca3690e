//! Every view recommends the same next move.

use serde_json::Value;

use super::agent::Agent;
use crate::builder::Project;

/// Typical states, each as the commands that lead to it; `1` and `2` are two sessions.
const STORIES: [&[(&str, &[&str])]; 16] = [
    &[],
    &[("1", &["step", "start", "1"])],
    &[("2", &["step", "start", "1"])],
    &[("2", &["step", "start", "1"]), ("1", &["step", "start", "2"])],
    &[("1", &["step", "start", "1"]), ("1", &["step", "fail", "1", "--error", "2 tests fail"])],
    &[("1", &["step", "start", "1"]), ("1", &["step", "done", "1"])],
    &[("1", &["step", "start", "2"]), ("1", &["step", "fail", "2", "--error", "timed out"])],
    &[("1", &["pause", "--why", "lunch"])],
    &[("2", &["step", "start", "1"]), ("1", &["pause", "--why", "lunch"])],
    &[("1", &["review", "open", "Is it right?"])],
    &[("1", &["step", "start", "1"]), ("1", &["review", "open", "Is it right?"])],
    &[("1", &["step", "skip", "1"]), ("1", &["step", "skip", "2"]), ("1", &["step", "skip", "3"])],
    &[("1", &["plan", "set", "status=COMPLETED_FAILURE"])],
    &[("1", &["step", "start", "1"]), ("1", &["step", "reset", "1"])],
    &[
        ("2", &["step", "start", "1"]),
        ("2", &["step", "fail", "1"]),
        ("2", &["step", "start", "2"]),
    ],
    &[("1", &["checkpoint", "create", "c"]), ("1", &["step", "start", "1"])],
];

#[test]
fn all_views_recommend_the_same_next_move() {
    let mut seen = std::collections::BTreeSet::new();
    for story in STORIES {
        let project = Project::with_steps(3);
        project.ok(&["step", "set", "3", "--depends-on", "1,2"]);
        for (who, args) in story {
            let session = if *who == "1" { "s1" } else { "s2" };
            Agent::new(&project, session, "09:00:00").ok(args);
        }
        for time in ["09:05:00", "14:00:00"] {
            let asking = Agent::new(&project, "s1", time);
            let status = asking.json(&["status"]);
            let next = &status["next_move"];
            seen.insert(next["action"].as_str().unwrap().to_owned());
            let text = next["text"].as_str().unwrap();
            let recover = asking.json(&["recover"]);
            assert_eq!(&recover["next_move"], next, "{story:?}");
            for view in ["brief", "status"] {
                let shown = asking.ok(&[view]);
                assert!(shown.contains(text), "{view} {story:?}: {text}\n{shown}");
            }
            let ran = asking.run(&["step", "next", "--json"]);
            let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
            let recommended = match ran.code {
                0 => answer["next_move"]["text"].as_str().unwrap().to_owned(),
                _ => answer["error"]["hint"].as_str().unwrap().to_owned(),
            };
            if answer["error"]["code"] != "review_open" {
                assert_eq!(recommended, text, "step next {story:?}");
            }
            // `recover` decides about the same step, and does not contradict the next move.
            let actions: &[&str] = match next["action"].as_str().unwrap() {
                "wait_for_review" | "repair" | "ask" | "blocked" => &["human_review"],
                "retry" => &["retry_task"],
                "start" => &["next_task"],
                "finish" | "take" => {
                    &["continue_task", "restart_task", "next_task", "human_review"]
                }
                "wait" => &["continue_task"],
                "nothing" | "add_steps" => &["next_task"],
                _ => &["continue_task", "restart_task", "next_task", "retry_task", "human_review"],
            };
            let action = recover["action"].as_str().unwrap();
            assert!(actions.contains(&action), "{story:?} {next} {action}");
            if next.get("step").is_some() && next["action"] != "wait" {
                assert_eq!(next["step"], recover["step"], "{story:?}");
            }
            // Resuming changes no step that is alive, and recommends the same move.
            if !matches!(next["action"].as_str(), Some("wait_for_review" | "nothing" | "resume")) {
                let before = asking.json(&["step", "list"])["steps"].clone();
                let resumed = asking.ok(&["resume"]);
                assert!(resumed.contains(text), "resume {story:?}: {text}\n{resumed}");
                let roles = |steps: &Value| {
                    let all = steps.as_array().unwrap().iter();
                    all.map(|step| (step["status"].clone(), step["attempts"].clone()))
                        .collect::<Vec<_>>()
                };
                let after = asking.json(&["step", "list"])["steps"].clone();
                assert_eq!(roles(&before), roles(&after), "{story:?}");
            }
        }
    }
    for action in ["start", "finish", "take", "retry", "resume", "wait_for_review", "nothing"] {
        assert!(seen.contains(action), "{action} never came up: {seen:?}");
    }
}
