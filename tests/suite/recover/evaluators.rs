//! Evaluators: an external program decides, or fails to.

use std::{path::Path, time::Instant};

use serde_json::{Value, json};

use super::failed;
use crate::builder::Project;

/// The answer with an evaluator that is a shell script.
fn asked(project: &Project, script: &str, more: &[&str]) -> Value {
    let path = project.root().join("evaluator.sh");
    std::fs::write(&path, script).unwrap();
    let line = format!("sh '{}'", path.display());
    project.json(&[&["recover", "--evaluator", &line][..], more].concat())
}

#[test]
fn a_program_decides_with_the_evidence_on_its_input() {
    let project = failed(4, 3, "timed out");
    let script = r#"cat > question
echo 'thinking...'
echo '{"action":"skip_task","reasoning":"not worth it"}'"#;
    let answer = asked(&project, script, &["--apply"]);
    assert_eq!(answer["action"], "skip_task");
    assert_eq!(answer["decided_by"], "evaluator sh");
    assert_eq!(answer["reasons"], json!(["not worth it"]));
    assert_eq!(answer["evaluator"]["built_in"], "retry_task");
    assert_eq!(answer["evaluator"]["used"], true);
    assert!(project.read("history.md").contains(" · decided evaluator sh"));
    let question = std::fs::read_to_string(project.root().join("question")).unwrap();
    assert!(question.contains("- \"retry_task\": retry the failed step"), "{question}");
    assert!(question.contains("timed out") && question.contains("never instructions"));
}

#[test]
fn whatever_a_program_does_wrong_the_built_in_decision_stands() {
    for (script, why) in [
        ("exit 3", "ended with"),
        ("echo oops >&2; exit 1", "oops"),
        ("kill -9 $$", "ended with"),
        ("true", "answered nothing"),
        ("echo '{\"action\":'", "no JSON object"),
        ("echo '{\"action\":\"format_disk\"}'", "is not an action"),
        ("echo '{\"action\":\"continue_task\",\"reasoning\":\"x\"}'", "not possible"),
        ("printf '\\377\\376'", "not text"),
        ("while :; do echo '{\"action\":\"restart\"}'; done", "wrote more than"),
    ] {
        let project = failed(4, 3, "timed out");
        let answer = asked(&project, script, &[]);
        assert_eq!(answer["action"], "retry_task", "{script}");
        assert_eq!(answer["decided_by"], "statedir");
        assert_eq!(answer["evaluator"]["used"], false);
        let error = answer["evaluator"]["error"].as_str().unwrap();
        assert!(error.contains(why), "{script}: {error}");
    }
    let project = failed(4, 3, "timed out");
    let answer = project.json(&["recover", "--evaluator", "/no/such/program"]);
    assert!(answer["evaluator"]["error"].as_str().unwrap().contains("cannot be started"));
    project.refused(2, &["recover", "--evaluator", "'open"]);
    project.refused(2, &["recover", "--evaluator", "x", "--decide", "restart"]);
}

#[cfg(unix)]
#[test]
fn a_program_that_hangs_is_ended_with_everything_it_started() {
    let project = failed(4, 3, "timed out");
    let script = "sleep 300 & echo $! > child\nwait\n";
    let began = Instant::now();
    let answer = asked(&project, script, &["--evaluator-timeout", "1s"]);
    assert!(began.elapsed().as_secs() < 60, "it was not waited for");
    assert!(answer["evaluator"]["error"].as_str().unwrap().contains("took longer"), "{answer}");
    assert_eq!(answer["action"], "retry_task");
    let child = std::fs::read_to_string(project.root().join("child")).unwrap();
    let alive = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.trim()));
        stat.is_ok_and(|stat| !stat.contains(") Z "))
    };
    let mut tries = 0;
    while alive() && tries < 100 {
        std::thread::sleep(std::time::Duration::from_millis(20));
        tries += 1;
    }
    assert!(!alive(), "the child is still there");
}

#[cfg(unix)]
#[test]
fn a_program_gets_a_clean_environment_and_no_shell() {
    let project = failed(4, 3, "timed out");
    let script = "env | cut -d= -f1 | sort > names\nprintf '%s\\n' \"$@\" > arguments\n";
    std::fs::write(project.root().join("e.sh"), script).unwrap();
    let args =
        ["recover", "--evaluator", "sh e.sh 'a b' $(touch pwned)", "--evaluator-arg", "--x;y"];
    let output = project.command(&args).env("SECRET_TOKEN", "x").output().unwrap();
    assert!(output.status.success());
    let names = std::fs::read_to_string(project.root().join("names")).unwrap();
    assert!(names.contains("STATEDIR") && names.contains("PATH"), "{names}");
    assert!(!names.contains("SECRET_TOKEN") && !names.contains("STATEDIR_ACTOR"), "{names}");
    let arguments = std::fs::read_to_string(project.root().join("arguments")).unwrap();
    assert_eq!(arguments, "a b\n$(touch\npwned)\n--x;y\n");
    assert!(!project.root().join("pwned").exists());
}

#[cfg(unix)]
#[test]
fn a_state_that_moves_on_while_a_program_thinks_is_a_conflict() {
    let project = failed(4, 3, "timed out");
    let script = format!(
        "'{}' -C \"$STATEDIR\" var set moved true >/dev/null\necho '{{\"action\":\"restart\"}}'\n",
        crate::program::name()
    );
    std::fs::write(project.root().join("e.sh"), script).unwrap();
    let ran = project.run(&["recover", "--apply", "--evaluator", "sh e.sh", "--json"]);
    assert_eq!(ran.code, 3, "{}", ran.stdout);
    assert_eq!(ran.json()["error"]["code"], "revision_moved");
    assert_eq!(project.json(&["var", "get", "moved"])["value"], true, "the lock was not held");
}

#[cfg(unix)]
#[test]
fn the_example_evaluator_decides() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/evaluator.sh");
    let line = format!("bash '{}'", example.display());
    for (error, action) in [
        ("write failed: No space left on device", "retry_task"),
        ("401 Unauthorized", "human_review"),
        ("timed out", "retry_task"),
    ] {
        let project = failed(4, 1, error);
        let answer = project.json(&["recover", "--evaluator", &line]);
        assert_eq!(answer["evaluator"]["used"], true, "{answer}");
        assert_eq!(answer["action"], action, "{error}: {answer}");
    }
}
