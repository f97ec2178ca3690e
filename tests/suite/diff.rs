//! `diff`: what changed, in words, between operations, git revisions and the files as they are.

use std::process::Command;

use crate::builder::Project;

/// Runs git in a project, with an identity of its own.
fn git(project: &Project, args: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "core.autocrlf=false"])
        .args(args)
        .current_dir(project.root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A project whose state is committed.
fn committed() -> Project {
    let project = Project::with_steps(2);
    git(&project, &["init", "-q", "-b", "main"]);
    git(&project, &["add", "."]);
    git(&project, &["commit", "-qm", "first"]);
    project
}

fn lines(project: &Project, args: &[&str]) -> Vec<String> {
    project.ok(args).stdout.lines().map(str::to_owned).collect()
}

#[test]
fn what_an_operation_did_is_reported_in_words() {
    let project = Project::with_steps(2);
    let id = project.json(&["step", "show", "1"])["step"]["id"].as_str().unwrap().to_owned();
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "done", "1", "--cost", "0.02", "--output", "rows=7"]);
    project.ok(&["constraint", "set", "priority", "cost_efficiency"]);
    project.ok(&["context", "add", "--section", "Key Findings", "Qdrant is fast"]);
    project.ok(&["var", "set", "a.b", "1"]);
    project.ok(&["var", "set", "a.b", "2"]);
    assert_eq!(lines(&project, &["diff", "@-", "@"]), ["variables.a.b: 1 → 2"]);
    let all = lines(&project, &["diff", "@-6"]);
    let found = |begin: &str, part: &str| {
        let hit = all.iter().any(|line| line.starts_with(begin) && line.contains(part));
        assert!(hit, "{begin} … {part} is not in {all:#?}");
    };
    found(&format!("step 1 ({id}) Do part 1: PENDING → COMPLETED ("), ", $0.02); rows = 7");
    assert_eq!(all.iter().filter(|line| line.contains(&id)).count(), 1, "{all:#?}");
    assert!(!all.iter().any(|line| line.starts_with("history")), "{all:#?}");
    found("constraints: priority ", "→ \"cost_efficiency\"");
    found("context: Key Findings: 1 added", "Qdrant is fast");
    found("variables.a: {\"b\":2} added", "");
}

#[test]
fn nothing_outside_since_the_newest_operation_says_what_to_look_at() {
    let project = Project::new();
    assert!(project.ok(&["diff"]).stdout.starts_with("no changes since "));
    project.ok(&["var", "set", "a", "1"]);
    let revision = project.json(&["status"])["revision"].as_str().unwrap().to_owned();
    let expected =
        format!("no changes since {revision}; `statedir diff @-` shows the last operation\n");
    assert_eq!(project.ok(&["diff"]).stdout, expected);
    assert_eq!(lines(&project, &["diff", "@-"]), ["variables.a: 1 added"]);
    assert!(project.ok(&["diff", "@", "@"]).stdout.starts_with("no difference between "));
}

#[test]
fn edits_made_outside_are_reported_whatever_they_are() {
    let project = Project::with_steps(1);
    let plan = project.read("plan.md");
    project.write("plan.md", plan.replace('\n', "\r\n"));
    assert_eq!(lines(&project, &["diff"]), ["plan.md: line ends only"]);
    project.write("plan.md", b"\xff\xfe not text");
    let printed = lines(&project, &["diff"]);
    assert!(printed.len() == 1 && printed[0].starts_with("plan.md: 1 line added"), "{printed:?}");
    std::fs::remove_file(project.path("plan.md")).unwrap();
    let printed = lines(&project, &["diff"]);
    assert!(printed.len() == 1 && printed[0].starts_with("plan.md: removed ("), "{printed:?}");
    project.write("plan.md", &plan);
    project.write("variables.json", "{oops");
    let printed = lines(&project, &["diff"]);
    assert!(printed.len() == 1 && printed[0].starts_with("variables.json: "), "{printed:?}");
    assert!(printed[0].contains("removed ("), "{printed:?}");
}

#[test]
fn the_answer_for_machines_has_changes_and_text() {
    let project = Project::new();
    project.ok(&["var", "set", "a", "1"]);
    project.edit("variables.json", "\"a\": 1", "\"a\": 2");
    let answer = project.json(&["diff"]);
    assert!(answer["from"].is_string() && answer["to"] == "working files");
    let expected = serde_json::json!({ "file": "variables.json", "kind": "variable", "path": "a",
        "change": "changed", "before": 1, "after": 2 });
    assert_eq!(answer["changes"], serde_json::json!([expected]));
    assert_eq!(answer["files"][0]["file"], "variables.json");
    assert!(answer["files"][0]["diff"].as_str().unwrap().contains("+  \"a\": 2"));
    assert_eq!(answer["history_grew"], 0);
}

#[test]
fn the_text_is_there_when_it_is_asked_for() {
    let project = Project::new();
    project.ok(&["history", "add", "A note"]);
    project.ok(&["var", "set", "a", "1"]);
    let text = project.ok(&["diff", "@-2", "--text"]).stdout;
    assert!(text.contains("--- a/variables.json\n+++ b/variables.json\n@@"), "{text}");
    assert!(text.contains("+  \"a\": 1") && text.contains("+### A note"), "{text}");
    assert!(!text.contains('\u{1b}'), "a pipe gets no colour");
    project.edit("variables.json", "\"a\": 1", "\"a\": 2");
    let words = project.ok(&["diff", "--word-diff"]).stdout;
    assert!(words.contains("[-1") && words.contains("{+2"), "{words}");
}

#[test]
fn a_long_answer_says_what_it_left_out() {
    let project = Project::with_steps(12);
    let printed = lines(&project, &["diff", "@-", "@", "--limit", "5"]);
    assert_eq!(printed.len(), 6);
    assert_eq!(printed[5], "(7 more; all with --limit 0)");
    let all = lines(&project, &["diff", "@-", "@", "--limit", "0"]);
    assert_eq!(all[..5], printed[..5]);
    assert_eq!(all.len(), 12, "{all:?}");
    for (line, number) in all.iter().zip(1..) {
        assert!(line.starts_with(&format!("step {number} (")), "{line}");
    }
}

#[test]
fn git_revisions_are_sides() {
    let project = committed();
    let id = project.json(&["step", "show", "1"])["step"]["id"].as_str().unwrap().to_owned();
    assert!(project.ok(&["diff", "HEAD"]).stdout.starts_with("no difference between git HEAD ("));
    project.ok(&["step", "start", "1"]);
    git(&project, &["tag", "v1.0"]);
    let started = format!("step 1 ({id}) Do part 1: PENDING → RUNNING");
    for revision in ["HEAD", "main", "v1.0", "git:main", &git(&project, &["rev-parse", "HEAD"])] {
        assert!(lines(&project, &["diff", revision]).contains(&started), "{revision}");
    }
    project.ok(&["step", "done", "1"]);
    git(&project, &["commit", "-qam", "second"]);
    let printed = lines(&project, &["diff", "HEAD~1", "main"]);
    let finished = format!("step 1 ({id}) Do part 1: PENDING → COMPLETED (");
    assert!(printed.iter().any(|line| line.starts_with(&finished)), "{printed:?}");
    assert!(project.ok(&["diff", "HEAD", "@"]).stdout.starts_with("no difference between git"));
    let back = lines(&project, &["diff", "@", "HEAD~1"]);
    let removed = "history: 1 entry removed: ✓ Step 1: Do part 1";
    assert!(back.iter().any(|line| line.starts_with(removed)), "{back:?}");
}

#[test]
fn an_operation_goes_before_git_unless_git_is_named() {
    let project = committed();
    let revision = project.json(&["status"])["revision"].as_str().unwrap().to_owned();
    git(&project, &["branch", &revision]);
    project.ok(&["var", "set", "a", "1"]);
    assert_eq!(project.json(&["diff", &revision])["from"], revision.as_str());
    let named = project.json(&["diff", &format!("git:{revision}")]);
    assert!(named["from"].as_str().unwrap().starts_with("git "), "{named}");
}

#[test]
fn what_git_cannot_give_is_refused_with_a_reason() {
    let project = Project::new();
    let code = |project: &Project, args: &[&str]| {
        let answer = project.refused(1, args);
        assert!(answer["error"]["hint"].is_string(), "{answer}");
        answer["error"]["code"].as_str().unwrap().to_owned()
    };
    assert_eq!(code(&project, &["diff", "zzz"]), "not_found");
    assert_eq!(code(&project, &["diff", "git:HEAD"]), "no_repository");
    git(&project, &["init", "-q", "-b", "main"]);
    assert_eq!(code(&project, &["diff", "HEAD"]), "not_found");
    std::fs::write(project.root().join("readme"), "x").unwrap();
    git(&project, &["add", "readme"]);
    git(&project, &["commit", "-qm", "no state yet"]);
    assert_eq!(code(&project, &["diff", "HEAD"]), "not_in_revision");
    assert_eq!(code(&project, &["diff", "HEAD~7"]), "not_found");
    let mut without = project.command(&["diff", "git:HEAD", "--json"]);
    let ran = crate::builder::Ran::from(without.env("PATH", "/nonexistent").output().unwrap());
    assert_eq!((ran.code, ran.json()["error"]["code"].as_str()), (1, Some("no_git")));
}

#[test]
fn a_revision_never_becomes_an_option_of_git() {
    let project = committed();
    let target = project.root().join("written");
    let option = format!("git:--output={}", target.display());
    for word in ["git:--help", "git:-h", "git:--all", "git:", "git:HEAD\n", "git:HEAD --", &option]
    {
        let answer = project.refused(1, &["diff", word]);
        assert_eq!(answer["error"]["code"], "not_found", "{word}");
    }
    assert!(!target.exists());
    let ran = project.run(&["diff", "--json", "--", "--output=x"]);
    assert_eq!(ran.json()["error"]["code"], "not_found");
}

#[test]
fn a_linked_state_file_in_a_commit_is_not_followed() {
    let project = committed();
    std::fs::remove_file(project.path("context.md")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", project.path("context.md")).unwrap();
    git(&project, &["commit", "-qam", "a link"]);
    std::fs::remove_file(project.path("context.md")).unwrap();
    project.write("context.md", "# C\n");
    let answer = project.refused(1, &["diff", "HEAD"]);
    assert_eq!(answer["error"]["code"], "not_regular");
}

#[test]
fn a_hook_of_another_repository_does_not_mislead() {
    let project = committed();
    let other = committed();
    let mut command = project.command(&["diff", "HEAD"]);
    command.env("GIT_DIR", other.root().join(".git")).env("GIT_WORK_TREE", other.root());
    let ran = crate::builder::Ran::from(command.output().unwrap());
    assert!(
        ran.stdout.starts_with("no difference between git HEAD"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

#[test]
fn a_history_that_was_cut_is_compared_by_its_length() {
    let project = Project::new();
    project.ok(&["history", "add", "One"]);
    project.ok(&["history", "add", "Two"]);
    let whole = project.read("history.md");
    project.write("history.md", &whole[..whole.len() - 40]);
    project.ok(&["var", "set", "a", "1"]);
    let printed = lines(&project, &["diff", "@-2"]);
    assert!(printed.iter().any(|line| line.starts_with("history.md: ")), "{printed:?}");
}

#[test]
fn a_step_between_two_that_changed_places_did_not_move() {
    let project = Project::with_steps(4);
    let plan = project.read("plan.md");
    let mut parts: Vec<&str> = plan.split("### Step ").collect();
    parts.swap(1, 3);
    project.write("plan.md", parts.join("### Step "));
    let printed = lines(&project, &["diff"]).join("\n");
    assert!(printed.contains("moved from place 1 to 3"), "{printed}");
    assert!(printed.contains("moved from place 3 to 1"), "{printed}");
    assert!(!printed.contains("from place 2 to 2"), "{printed}");
}

#[test]
fn text_that_reads_as_a_number_is_in_quotes() {
    let project = Project::new();
    project.write("variables.json", "{\"t\": \"1\", \"when\": \"2026-01-01\"}\n");
    project.ok(&["checkpoint", "create", "c"]);
    project.write("variables.json", "{\"t\": 1, \"when\": \"2026-01-02\"}\n");
    let printed = lines(&project, &["diff", "c"]).join("\n");
    assert!(printed.contains("variables.t: \"1\" → 1"), "{printed}");
    assert!(printed.contains("variables.when: 2026-01-01 → 2026-01-02"), "{printed}");
}

#[test]
fn notes_on_what_was_never_committed_say_so() {
    let project = Project::with_steps(1);
    git(&project, &["init", "-q", "-b", "main"]);
    let refused = project.run(&["review-notes"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (1, ""));
    assert!(refused.stderr.contains("nothing is committed yet"), "{}", refused.stderr);
    assert!(refused.stderr.contains("`statedir commit`"), "{}", refused.stderr);
    git(&project, &["add", "."]);
    git(&project, &["commit", "-qm", "first"]);
    project.ok(&["review-notes"]);
}

#[test]
fn a_branch_of_one_letter_is_meant_before_the_beginning_of_an_id() {
    let project = committed();
    let mut ids = String::new();
    for digit in "0123456789abcdef".chars() {
        git(&project, &["branch", &format!("{digit}")]);
    }
    for count in 0..24 {
        project.ok(&["var", "set", "count", &count.to_string()]);
        let newest = project.json(&["op", "log", "--limit", "1"])["operations"][0].clone();
        ids.push_str(&newest["id"].as_str().unwrap()[..1]);
    }
    // One letter may begin one id or several; all branches are at the first commit.
    for letter in ids.chars() {
        let printed = lines(&project, &["diff", &letter.to_string(), "working"]);
        assert_eq!(printed, ["variables.count: 23 added"], "{letter}");
    }
}
