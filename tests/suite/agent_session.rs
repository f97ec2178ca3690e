//! Twenty steps from beginning to end, done by an agent with nothing but a shell: with
//! failures, a question to a person, a pause, a session that is killed, and a new one that knows
//! nothing but the brief.

use crate::builder::{Project, Ran, line_diff};

const STEPS: [(&str, &str); 20] = [
    ("List all routes and their callers", ""),
    ("Write a contract test for each route", "1"),
    ("Pin the image library", ""),
    ("Set up the skeleton", "3"),
    ("Port GET /thumb", "2,4"),
    ("Port GET /full", "2,4"),
    ("Port POST /upload", "2,4"),
    ("Port DELETE /image", "2,4"),
    ("Port the auth middleware", "4"),
    ("Port metrics", "4"),
    ("Load test both services", "5,6,7,8,9"),
    ("Write the runbook", ""),
    ("Shadow traffic for a day", "11"),
    ("Compare error rates", "13"),
    ("Switch 1 % of traffic", "12,14"),
    ("Switch half of the traffic", "15"),
    ("Switch all of it", "16"),
    ("Remove the old service", "17"),
    ("Archive its repository", "18"),
    ("Tell the team", "17"),
];

/// A session: a shell in which one name acts.
struct Session<'p> {
    project: &'p Project,
    id: &'static str,
}

impl Session<'_> {
    fn run(&self, args: &[&str]) -> Ran {
        let mut command = self.project.command(args);
        command.env_remove("STATEDIR_ACTOR").env("STATEDIR_SESSION", self.id);
        Ran::from(command.output().unwrap())
    }

    fn ok(&self, args: &[&str]) -> String {
        let ran = self.run(args);
        assert_eq!(ran.code, 0, "{args:?}\n{}{}", ran.stdout, ran.stderr);
        ran.stdout
    }

    fn refused(&self, args: &[&str]) -> String {
        let ran = self.run(args);
        assert_eq!(ran.code, 1, "{args:?}\n{}{}", ran.stdout, ran.stderr);
        ran.stderr
    }

    /// Takes the next step and finishes it.
    fn work(&self) -> String {
        let step = self.ok(&["step", "next", "--claim"]);
        self.ok(&["step", "done"]);
        step
    }
}

#[test]
fn twenty_steps_with_failures_a_question_a_pause_and_a_killed_session() {
    let project = Project::empty();
    project.ok(&["init", "--goal", "Move the image service without downtime"]);
    for (title, after) in STEPS {
        let mut args = vec!["step", "add", title];
        if !after.is_empty() {
            args.extend(["--depends-on", after]);
        }
        project.ok(&args);
    }
    let first = Session { project: &project, id: "first" };

    // Work, a failure, and the same step again.
    first.ok(&["step", "next", "--claim"]);
    first.ok(&["step", "done", "--output", "routes=14", "--note", "three callers are cron jobs"]);
    first.ok(&["context", "add", "The app calls /v1/thumb with a trailing slash."]);
    first.ok(&["step", "next", "--claim"]);
    first.ok(&["step", "fail", "--error", "3 contract tests need a running redis"]);
    let status = first.ok(&["status"]);
    assert!(status.contains("`statedir step retry 2`, or `statedir step start 3`"), "{status}");
    first.ok(&["step", "retry", "2"]);
    // The error suggests what was meant.
    let hint = first.refused(&["step", "retry", "2"]);
    assert!(hint.contains("`statedir step done 2`"), "{hint}");
    let hint = first.refused(&["step", "retry", "3"]);
    assert!(hint.contains("`statedir step start 3`"), "{hint}");
    let both = first.run(&["step", "next", "--claim"]);
    assert!(both.stderr.contains("step 2 is yours, too"), "{}", both.stderr);
    let hint = first.refused(&["step", "done"]);
    assert!(hint.contains("2 is Write a contract test for each route; 3 is Pin"), "{hint}");
    first.ok(&["step", "done", "2"]);
    first.ok(&["step", "done"]);
    first.ok(&["context", "add", "The work is CPU bound.", "--section", "Decision Rationale"]);
    first.work();

    // A question, which somebody else has to answer, and a pause.
    first.ok(&["step", "next", "--claim"]);
    first.ok(&["review", "open", "May the cache headers of /thumb change?"]);
    first.ok(&["step", "done"]);
    first.refused(&["step", "next", "--claim"]);
    first.refused(&["review", "approve", "r1"]);
    project.ok(&["review", "approve", "r1", "--why", "yes, but keep ETag", "--actor", "marta"]);
    first.ok(&["pause", "--why", "deploy freeze"]);
    first.refused(&["step", "next", "--claim"]);
    let brief = first.ok(&["resume"]);
    assert!(brief.contains("approved by marta: yes, but keep ETag"), "{brief}");
    assert!(!brief.contains("deploy freeze"), "{brief}");

    // The session is killed in the middle of a command; whatever it did is whole.
    first.work();
    first.ok(&["step", "next", "--claim"]);
    let mut command = project.command(&["context", "add", "The upload has to be streamed."]);
    let mut child = command.env("STATEDIR_SESSION", "first").spawn().unwrap();
    let _ = child.kill();
    child.wait().unwrap();
    project.ok(&["check"]);

    // A new one has nothing but the brief.
    let second = Session { project: &project, id: "second" };
    let brief = second.ok(&["brief", "--max-tokens", "1000"]);
    for text in [
        "Move the image service without downtime",
        "6 of 20 steps finished, 1 running",
        "7 Port POST /upload (running by first@build7 for",
        "last sign of life",
        "The app calls /v1/thumb with a trailing slash.",
        "The work is CPU bound.",
        "yes, but keep ETag",
        "20 Tell the team",
    ] {
        assert!(brief.contains(text), "{text}\n{brief}");
    }
    let hint = second.refused(&["step", "done", "7"]);
    assert!(hint.contains("`statedir step take 7 --force --why \"it is gone\"`"), "{hint}");
    second.ok(&["step", "take", "7", "--force", "--why", "the first session was killed"]);
    second.ok(&["step", "done", "--note", "it has to be streamed"]);
    for _ in 8..=10 {
        second.work();
    }

    // A step that fails until a person decides how to continue.
    second.ok(&["step", "next", "--claim"]);
    for error in ["p99 is 2.3 s", "p99 is 2.1 s"] {
        second.ok(&["step", "fail", "11", "--error", error]);
        second.ok(&["step", "retry", "11"]);
    }
    let brief = second.ok(&["brief"]);
    assert!(brief.contains("p99 is 2.3 s") && brief.contains("p99 is 2.1 s"), "{brief}");
    second.ok(&["step", "done", "--output", "p99=0.3"]);
    while second.run(&["step", "next"]).code == 0 {
        second.work();
    }
    assert_eq!(project.json(&["status"])["status"], "COMPLETED_SUCCESS");
    let brief = second.ok(&["brief"]);
    assert!(brief.contains("nothing left to do"), "{brief}");
    project.ok(&["check", "--strict"]);
    project.ok(&["history", "verify"]);

    // All of it can be undone, one change after another, and done again.
    let done = project.read("plan.md");
    project.ok(&["undo"]);
    assert!(!line_diff(&done, &project.read("plan.md")).is_empty());
    project.ok(&["redo"]);
    assert_eq!(project.read("plan.md"), done);
}
