//! The tables of strategies, scenarios and partial work, row by row.

use proptest::prelude::*;

use super::*;
use crate::{
    domain::{Claim, PlanRole, StepRole},
    recovery::failure::classify,
};

fn step(number: u32, role: StepRole) -> StepEvidence {
    let me = Claim::bare("me");
    let signs = Signs { held_ms: Some(60_000), ..Signs::default() };
    let own = Holder::of(number, Some(&me), &me, &signs, 3_600_000);
    StepEvidence {
        number,
        id: Some("k3f9".to_owned()),
        title: "Implement the login".to_owned(),
        status: "RUNNING".to_owned(),
        role: Some(role),
        attempts: 1,
        failures: u32::from(role == StepRole::Failed),
        attempts_allowed: 3,
        claim: (role == StepRole::Active).then_some(own),
        started_at: Some("2026-01-01T00:00:00Z".to_owned()),
        last_action: None,
        state_changes: Vec::new(),
        error: None,
        names: Vec::new(),
        needed_by: Vec::new(),
    }
}

fn file(path: &str, bytes: Option<u64>) -> NamedFile {
    NamedFile {
        path: path.to_owned(),
        named_in: "side_effects",
        exists: bytes.is_some(),
        bytes: bytes.unwrap_or(0),
        changed: None,
    }
}

/// A plan of ten whose step failed after so many completed ones.
fn failing(completed: usize, error: &str, checkpoint: bool) -> Evidence {
    let mut failed = step(completed as u32 + 1, StepRole::Failed);
    failed.error = Some(ErrorSeen { text: error.to_owned(), failure: classify(error) });
    let checkpoint = checkpoint.then(|| CheckpointSummary {
        name: "before".to_owned(),
        operation: "abc".to_owned(),
        time: "2026-01-01T00:00:00Z".to_owned(),
        rewind: false,
        undoes: vec!["the end of step 2 (Read)".to_owned()],
    });
    Evidence {
        plan: PlanEvidence {
            status: Some("IN_PROGRESS".to_owned()),
            role: Some(PlanRole::Active),
            total: 10,
            completed,
            failed: 1,
            open: 9 - completed,
            ..PlanEvidence::default()
        },
        step: Some(failed),
        next: (completed < 9).then(|| step(completed as u32 + 2, StepRole::Open)),
        checkpoints: checkpoint.into_iter().collect(),
        ..Evidence::default()
    }
}

/// A step that was running, with its last words, the files it names and how many changed.
fn interrupted(last_note: Option<&str>, names: Vec<NamedFile>, changed: usize) -> Evidence {
    let mut running = step(3, StepRole::Active);
    running.last_action = last_note.map(str::to_owned);
    running.names = names;
    Evidence {
        plan: PlanEvidence {
            status: Some("IN_PROGRESS".to_owned()),
            role: Some(PlanRole::Active),
            total: 5,
            completed: 2,
            running: 1,
            open: 2,
            ..PlanEvidence::default()
        },
        step: Some(running),
        next: Some(step(4, StepRole::Open)),
        files: Some(FilesSeen { recent_count: changed, ..FilesSeen::default() }),
        ..Evidence::default()
    }
}

#[test]
fn a_failed_step_is_tried_again_and_nothing_is_given_up_for_it() {
    for completed in 0..10 {
        for checkpoint in [false, true] {
            for error in ["timed out", "assertion failed", "permission denied", ""] {
                let evidence = failing(completed, error, checkpoint);
                let decision = decide(&evidence);
                let row = format!("{completed} {error} {checkpoint}: {decision:?}");
                assert_eq!(decision.action, RecoveryAction::RetryTask, "{row}");
                assert_eq!(why_not(RecoveryAction::RetryTask, &evidence), None);
                let passes = error == "timed out";
                assert_eq!(decision.confidence == Confidence::High, passes, "{row}");
            }
        }
    }
}

#[test]
fn going_back_says_what_it_would_undo() {
    let evidence = failing(4, "assertion failed", true);
    let ruled = decide(&evidence).ruled_out;
    let back =
        ruled.iter().find(|ruled| ruled.action == RecoveryAction::RollbackCheckpoint).unwrap();
    assert!(back.why.contains("would undo the end of step 2 (Read)"), "{}", back.why);
    let chosen = choose(RecoveryAction::RollbackCheckpoint, vec![], &evidence).unwrap();
    assert_eq!(chosen.undoes, ["the end of step 2 (Read)"]);
}

#[test]
fn a_retry_says_which_attempt_it_is_and_how_long_to_wait() {
    let mut evidence = failing(6, "timed out", false);
    let decision = decide(&evidence);
    assert_eq!((decision.attempt, decision.backoff_ms), (Some(2), Some(2_000)));
    // Attempts that were interrupted count for nothing.
    if let Some(step) = &mut evidence.step {
        (step.attempts, step.failures) = (7, 2);
    }
    assert_eq!(decide(&evidence).action, RecoveryAction::RetryTask);
    if let Some(step) = &mut evidence.step {
        (step.attempts, step.failures) = (3, 3);
    }
    let decision = decide(&evidence);
    assert_eq!(decision.action, RecoveryAction::HumanReview, "it has failed too often");
    assert!(why_not(RecoveryAction::RetryTask, &evidence).is_some());
}

#[test]
fn what_others_need_is_not_left_out() {
    let mut evidence = failing(8, "assertion failed", false);
    if let Some(step) = &mut evidence.step {
        step.needed_by = vec![10];
    }
    let ruled = decide(&evidence).ruled_out;
    let skip = ruled.iter().find(|ruled| ruled.action == RecoveryAction::SkipTask).unwrap();
    assert!(skip.why.contains("step 10 needs the result of step 9"), "{}", skip.why);
}

#[test]
fn partial_work_is_judged_by_words_and_files() {
    use RecoveryAction::*;
    let fifty_lines = || vec![file("auth.py", Some(1200))];
    let endpoint = || vec![file("api.py", Some(900)), file("test_api.py", Some(400))];
    let table = [
        // The four examples of the source document.
        (Some("Created auth.py"), fifty_lines(), 1, ContinueTask),
        (Some("Writing tests..."), vec![file("test_auth.py", Some(0))], 1, RestartTask),
        (Some("Completed endpoint"), endpoint(), 2, NextTask),
        (Some("Working on..."), vec![], 0, HumanReview),
        // A crash in the middle of a file.
        (None, vec![file("auth.py", Some(2400))], 1, ContinueTask),
        (None, fifty_lines(), 0, ContinueTask),
        // Many changes, and nothing says whether that is all.
        (Some("Refactoring"), vec![], 40, HumanReview),
        (None, vec![], 40, HumanReview),
        // Some changes.
        (Some("Working on it"), vec![], 3, ContinueTask),
        (None, vec![], 1, ContinueTask),
        // It had hardly begun.
        (None, vec![file("auth.py", None)], 0, RestartTask),
        (Some("Working on it"), vec![file("auth.py", None)], 0, HumanReview),
        // Partial work of unclear use.
        (Some("Working on it"), vec![file("auth.py", None)], 2, RestartTask),
        // Words and files contradict each other.
        (Some("Completed endpoint"), vec![file("api.py", None)], 1, HumanReview),
        (Some("Completed endpoint"), vec![file("api.py", Some(0))], 1, HumanReview),
        (Some("Completed endpoint"), vec![], 0, HumanReview),
        (Some("Completed endpoint"), vec![], 2, NextTask),
        (Some("not completed yet"), fifty_lines(), 1, ContinueTask),
        // Nothing is known at all.
        (None, vec![], 0, HumanReview),
    ];
    for (last_note, names, changed, action) in table {
        let evidence = interrupted(last_note, names.clone(), changed);
        let decision = decide(&evidence);
        assert_eq!(decision.action, action, "{last_note:?} {names:?} {changed}: {decision:?}");
        assert_eq!(decision.step, Some(3));
        if action == HumanReview {
            assert!(!decision.look_at.is_empty(), "{decision:?}");
        }
    }
}

#[test]
fn a_change_that_two_running_steps_may_have_made_is_for_a_person() {
    for last_note in [None, Some("Working on it"), Some("done")] {
        let mut evidence = interrupted(last_note, vec![], 1);
        assert_ne!(decide(&evidence).action, RecoveryAction::HumanReview, "control: one step runs");
        let other = step(5, StepRole::Active).claim.map(|claim| Holder { step: 5, ..claim });
        evidence.other_running = other.into_iter().collect();
        let decision = decide(&evidence);
        assert_eq!(decision.action, RecoveryAction::HumanReview, "{last_note:?}");
        assert!(decision.reasons[0].contains("step 5"), "{decision:?}");
        if let Some(step) = &mut evidence.step {
            step.names = vec![file("a.rs", Some(9))];
        }
        assert_ne!(
            decide(&evidence).action,
            RecoveryAction::HumanReview,
            "the step names its file"
        );
    }
}

#[test]
fn a_step_that_nobody_claimed_has_no_stale_claim() {
    let mut evidence = interrupted(None, vec![], 1);
    if let Some(claim) = evidence.step.as_mut().and_then(|step| step.claim.as_mut()) {
        (claim.own, claim.claimed_by, claim.stale) = (false, None, true);
    }
    let reasons = decide(&evidence).reasons.join("\n");
    assert!(!reasons.contains("stale claim"), "{reasons}");
    assert!(reasons.contains("nobody has claimed"), "{reasons}");
}

#[test]
fn the_scenarios_after_an_interruption() {
    // A server restart while the tests ran: they are there, so run them.
    let mut evidence = interrupted(Some("Running the suite"), vec![], 0);
    if let (Some(step), Some(files)) = (&mut evidence.step, &mut evidence.files) {
        step.title = "run_tests".to_owned();
        (files.source_files, files.test_files) = (12, 4);
    }
    assert_eq!(decide(&evidence).action, RecoveryAction::ContinueTask);
    if let Some(files) = &mut evidence.files {
        files.test_files = 0;
    }
    assert_eq!(decide(&evidence).action, RecoveryAction::HumanReview, "no tests to run");

    // A long pause before the deployment, running or not begun.
    let mut evidence = interrupted(None, vec![], 0);
    evidence.plan.role = Some(PlanRole::Paused);
    assert_eq!(decide(&evidence).action, RecoveryAction::ContinueTask);
    evidence.step = None;
    (evidence.plan.running, evidence.plan.open) = (0, 3);
    let decision = decide(&evidence);
    assert_eq!((decision.action, decision.step), (RecoveryAction::ContinueTask, Some(4)));

    // State that changed while the step ran is progress, too.
    let mut evidence = interrupted(None, vec![], 0);
    if let Some(step) = &mut evidence.step {
        step.state_changes = vec!["context.md Key Findings".to_owned()];
    }
    assert_eq!(decide(&evidence).action, RecoveryAction::ContinueTask);
}

#[test]
fn what_stops_everything_comes_first() {
    let mut evidence = failing(6, "timed out", false);
    evidence.plan.open_reviews = vec!["r1: is this right?".to_owned()];
    let decision = decide(&evidence);
    assert_eq!(decision.action, RecoveryAction::HumanReview);
    assert!(decision.reasons[0].contains("r1"));

    evidence.damage = vec!["`plan.md` is missing".to_owned()];
    let decision = decide(&evidence);
    assert_eq!(decision.action, RecoveryAction::HumanReview);
    assert!(decision.look_at.iter().any(|hint| hint.contains("check --fix")));
    evidence.checkpoints = failing(1, "", true).checkpoints;
    assert_eq!(decide(&evidence).action, RecoveryAction::HumanReview, "the log can bring it back");
    evidence.log_cannot_repair = true;
    assert_eq!(decide(&evidence).action, RecoveryAction::RollbackCheckpoint);

    let mut evidence = interrupted(None, vec![], 0);
    (evidence.step, evidence.next) = (None, None);
    (evidence.plan.running, evidence.plan.open) = (0, 0);
    assert!(decide(&evidence).nothing_to_do, "control");
    evidence.plan.unknown = vec!["step 4 is `WAITING`".to_owned()];
    let decision = decide(&evidence);
    assert_eq!((decision.action, decision.nothing_to_do), (RecoveryAction::HumanReview, false));
    assert!(decision.reasons[0].contains("`WAITING`"));

    let mut evidence = interrupted(None, vec![], 0);
    evidence.plan.role = Some(PlanRole::Succeeded);
    assert_eq!(decide(&evidence).action, RecoveryAction::HumanReview, "succeeded, but a step runs");

    let mut evidence = interrupted(Some("done"), vec![file("a.rs", Some(9))], 1);
    evidence.git = Some(GitSeen { conflicts: 2, ..GitSeen::default() });
    assert_eq!(decide(&evidence).action, RecoveryAction::HumanReview, "conflicts");
}

#[test]
fn somebody_at_work_is_not_disturbed_and_a_stale_claim_is_named() {
    let mut evidence = interrupted(None, vec![file("a.rs", Some(0))], 1);
    let claim = evidence.step.as_mut().and_then(|step| step.claim.as_mut());
    if let Some(claim) = claim {
        (claim.own, claim.claimed_by) = (false, Some(Claim::bare("agent-b")));
    }
    let decision = decide(&evidence);
    assert_eq!((decision.action, decision.nothing_to_do), (RecoveryAction::ContinueTask, true));
    for action in [
        RecoveryAction::RestartTask,
        RecoveryAction::ContinueTask,
        RecoveryAction::SkipTask,
        RecoveryAction::Restart,
    ] {
        assert!(choose(action, vec![], &evidence).is_err(), "{action}");
    }
    // The next one may be taken; the one that somebody works on is not ended.
    let next = choose(RecoveryAction::NextTask, vec![], &evidence).unwrap();
    assert_eq!(next.step, Some(4));
    let claim = evidence.step.as_mut().and_then(|step| step.claim.as_mut());
    if let Some(claim) = claim {
        (claim.stale, claim.silent_ms) = (true, Some(7_200_000));
    }
    let decision = decide(&evidence);
    assert_eq!((decision.action, decision.nothing_to_do), (RecoveryAction::RestartTask, false));
    let names_it = |reason: &String| {
        ["left running", "agent-b", "stale", "step take"].iter().all(|part| reason.contains(part))
    };
    assert!(decision.reasons.iter().any(names_it), "{:?}", decision.reasons);
}

#[test]
fn without_interruption_or_failure_the_next_step_comes() {
    let mut evidence = interrupted(None, vec![], 0);
    evidence.step = None;
    (evidence.plan.running, evidence.plan.open) = (0, 3);
    let decision = decide(&evidence);
    assert_eq!((decision.action, decision.step), (RecoveryAction::NextTask, Some(4)));

    evidence.next = None;
    assert_eq!(decide(&evidence).action, RecoveryAction::HumanReview, "all of them wait");

    (evidence.plan.open, evidence.plan.completed) = (0, 5);
    let decision = decide(&evidence);
    assert_eq!((decision.action, decision.nothing_to_do), (RecoveryAction::NextTask, true));
    assert_eq!(decision.step, None);

    let decision = decide(&Evidence::default());
    assert_eq!((decision.action, decision.nothing_to_do), (RecoveryAction::NextTask, true));
}

#[test]
fn every_other_action_is_ruled_out_with_a_reason() {
    for evidence in [failing(6, "timed out", true), interrupted(None, vec![], 0)] {
        let decision = decide(&evidence);
        assert_eq!(decision.ruled_out.len(), 7);
        assert!(decision.ruled_out.iter().all(|ruled| !ruled.why.is_empty()));
        assert!(decision.ruled_out.iter().all(|ruled| ruled.action != decision.action));
    }
}

#[test]
fn words_of_completion_are_not_taken_from_their_denial() {
    for text in [
        "Completed endpoint",
        "done",
        "All tests pass",
        "finished the parser",
        "Done.",
        "It is done",
        "100% complete",
        "auth.py done",
        "Completed src/api.py and tests/test_api.py",
        "Completed endpoint, all tests pass",
        "Step completed successfully",
        "Endpoint: completed",
        "The endpoint is finished",
        "Login implemented, done",
        "I have completed the task.",
        "Completed: implement the login",
        "Everything is done!",
    ] {
        assert!(says_complete(text, "Implement the login"), "{text}");
    }
    for text in [
        "Working on...",
        "not done",
        "half finished",
        "to be completed",
        "incomplete",
        "almost done",
        "once it is finished",
        "Created auth.py",
        "",
        "the password",
        "tests passed? not completed",
        "nothing is done",
        "50% complete",
        "completed 50%",
        "Completed 2 of 5 endpoints",
        "3/5 done",
        "Completed? No.",
        "is it done",
        "TODO: mark as completed",
        "Done with the first part, second part to do",
        "Endpoint completed, tests failing",
        "Completed endpoint. Next: write the tests",
        "Finished reading the spec",
        "Completed the plan for the endpoint",
        "Working on completed-orders endpoint",
        "completed-orders",
        "Completed endpoint and writing tests",
        "it isn’t done",
        "Completed endpoint, tests remain",
        "Set the flag done in the table of jobs",
        "2 out of 5 done",
        "50 percent done",
        "done?",
    ] {
        assert!(!says_complete(text, "Implement the login"), "{text}");
    }
}

#[test]
fn paths_are_taken_from_prose() {
    let table: [(&str, &[&str]); 9] = [
        ("Created auth.py", &["auth.py"]),
        ("writes `src/auth.rs`, and docs/login.md.", &["src/auth.rs", "docs/login.md"]),
        ("report: ./out/report.pdf", &["out/report.pdf"]),
        ("files below src/auth/", &["src/auth"]),
        ("e.g. and/or TCP/IP 3/4 v1.2 1.5s", &[]),
        ("see https://example.com/a.html", &[]),
        ("/etc/passwd ../secret.txt a/../b.rs", &[]),
        ("mail ada@example.py", &[]),
        ("one page", &[]),
    ];
    for (text, paths) in table {
        assert_eq!(named_paths(text), paths, "{text}");
    }
}

fn any_evidence() -> impl Strategy<Value = Evidence> {
    let texts = prop::option::of("\\PC{0,40}|done|Working on|Completed x");
    let role = prop::sample::select(vec![
        StepRole::Active,
        StepRole::Failed,
        StepRole::Open,
        StepRole::Done,
    ]);
    let plan = prop::sample::select(vec![
        PlanRole::Active,
        PlanRole::Paused,
        PlanRole::Failed,
        PlanRole::Succeeded,
        PlanRole::Planning,
    ]);
    let flags = prop::array::uniform6(any::<bool>());
    (0usize..12, texts, role, plan, flags, 0usize..40, 1u32..5).prop_map(
        |(completed, text, role, plan, flags, changed, attempts)| {
            let mut evidence = failing(completed.min(9), text.as_deref().unwrap_or(""), flags[0]);
            evidence.plan.role = Some(plan);
            evidence.files =
                flags[1].then(|| FilesSeen { recent_count: changed, ..Default::default() });
            let mut about = step(1, role);
            (about.attempts, about.failures) = (attempts, attempts);
            about.last_action = text;
            if flags[2] {
                about.names = vec![file("a.rs", flags[3].then_some(changed as u64))];
            }
            if let Some(claim) = &mut about.claim {
                (claim.own, claim.stale) = (flags[4], flags[5]);
            }
            evidence.step = (!flags[3] || flags[2]).then_some(about);
            if flags[5] {
                evidence.next = None;
            }
            evidence
        },
    )
}

proptest! {
    #[test]
    fn whatever_is_decided_can_be_done(evidence in any_evidence()) {
        let decision = decide(&evidence);
        if !decision.nothing_to_do {
            prop_assert_eq!(why_not(decision.action, &evidence), None);
        }
        prop_assert!(!decision.reasons.is_empty());
        prop_assert_eq!(decision.ruled_out.len(), 7);
        prop_assert_eq!(RecoveryAction::parse(decision.action.word()), Some(decision.action));
    }
}
