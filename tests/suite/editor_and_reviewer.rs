//! Two sessions of about twenty moves each: a person with an editor, and a reviewer with git. That of
//! an agent is in `agent_session.rs`.

use serde_json::{Value, json};

use crate::{builder::Project, lifecycle, merge::repository::Repository};

/// Number, title and role of every step, in the order of the file.
fn listed(project: &Project) -> Vec<(u64, String)> {
    let steps = project.json(&["step", "list"])["steps"].clone();
    let summarise = |step: &Value| {
        (step["number"].as_u64().unwrap(), step["title"].as_str().unwrap().to_owned())
    };
    steps.as_array().unwrap().iter().map(summarise).collect()
}

fn findings(project: &Project) -> Vec<String> {
    let ran = project.run(&["check", "--json"]).json();
    let all = ran["findings"].as_array().cloned().unwrap_or_default();
    all.iter().map(|found| found["code"].as_str().unwrap().to_owned()).collect()
}

/// Cuts `what` out of the text and puts it before `before`, or at the end.
fn moved(text: &str, what: &str, before: Option<&str>) -> String {
    let rest = text.replacen(what, "", 1);
    assert_ne!(rest, text, "{what}");
    match before {
        Some(before) => rest.replacen(before, &format!("{what}{before}"), 1),
        None => rest + what,
    }
}

#[test]
fn a_person_plans_a_move_with_an_editor() {
    let project = Project::new();
    let plan = || project.read("plan.md");
    // 1-3: steps as people type them, with prose and a dependency.
    let typed = "\n### Tell the landlord\nBy letter, with **three months** notice.\n\n\
                 ### 2. Book movers\n- **depends_on**: 1\n\n### Step 3 Pack\n\n### Clean\n";
    project.write("plan.md", plan() + typed);
    let titles = ["Tell the landlord", "Book movers", "Pack", "Clean"];
    let expected: Vec<(u64, String)> = (1..).zip(titles.map(str::to_owned)).collect();
    assert_eq!(listed(&project), expected);
    assert_eq!(findings(&project), Vec::<String>::new());
    let brief = project.ok(&["brief"]).stdout;
    assert!(brief.contains("three months"), "{brief}");
    // 4-6: one of them is worked on, and moved in the file meanwhile.
    project.ok(&["step", "start", "1"]);
    project.write("plan.md", moved(&plan(), "### Step 3 Pack\n\n", Some("### 2. Book movers")));
    let order: Vec<u64> = listed(&project).into_iter().map(|(number, _)| number).collect();
    assert_eq!(order, [1, 3, 2, 4]);
    project.ok(&["step", "done", "1", "--note", "sent on Monday"]);
    assert_eq!(findings(&project), Vec::<String>::new());
    // 7-9: its id is deleted by accident; the next command gives it another.
    let id = plan().lines().find(|line| line.starts_with("- **id**: ")).unwrap().to_owned();
    project.write("plan.md", plan().replacen(&format!("{id}\n"), "", 1));
    assert_eq!(findings(&project), Vec::<String>::new());
    project.ok(&["step", "set", "1", "--title", "Tell the landlord and the bank"]);
    assert!(plan().contains("### Tell the landlord and the bank ✓\n"), "{}", plan());
    // 10-12: a step is copied; this is reported, and fixed by the command in the hint.
    let start = plan().find("### Tell the landlord").unwrap();
    let end = start + 4 + plan()[start + 4..].find("\n### ").unwrap();
    let copy = plan()[start..end].to_owned();
    project.write("plan.md", plan() + "\n" + &copy);
    assert_eq!(findings(&project), ["duplicate_id"]);
    project.ok(&["check", "--fix"]);
    assert_eq!(findings(&project), Vec::<String>::new());
    project.ok(&["step", "remove", "5"]);
    // 13-15: an editor saves with other line ends, and a title is in another script.
    let arabic = "### إرسال الرسالة إلى المالك\n- **status**: PENDING\n";
    let words = String::from_utf8(project.in_project_words(arabic.as_bytes())).unwrap();
    project.write("plan.md", (plan() + "\n" + &words).replace('\n', "\r\n"));
    project.ok(&["step", "add", "Last look", "--description", "Keys,\nmeters, walls"]);
    let all = plan();
    assert_eq!(all.matches('\n').count(), all.matches("\r\n").count(), "{all:?}");
    assert_eq!(listed(&project).last().unwrap().1, "Last look");
    // 16-18: half an edit hides nothing that is there, and a fence that stays open is noticed.
    project.write("plan.md", plan() + "\r\n### Step 9: Half\r\n- **status\r\n");
    assert_eq!(listed(&project).len(), 7);
    project.ok(&["undo", "--dry-run"]);
    project.write("context.md", project.read("context.md") + "\n```\nnot closed yet\n");
    project.ok(&["context", "add", "The lift is too small for the table"]);
    assert!(project.ok(&["show", "context"]).stdout.contains("The lift is too small"));
    assert!(project.read("context.md").contains("\n```\nnot closed yet\n"));
    // 19-21: rules and limits by hand.
    let rules = project.read("constraints.md");
    let limit = rules.replace("max_cost_per_task**: unlimited", "max_cost_per_task**: $40");
    project.write("constraints.md", limit);
    assert_eq!(project.json(&["constraint", "get", "max_cost_per_task"])["value"], "$40");
    project.ok(&["step", "start", "2"]);
    project.ok(&["step", "done", "2", "--cost", "35"]);
    let status = project.ok(&["status"]).stdout;
    assert!(status.contains("$35.00 of $40"), "{status}");
    project.ok(&["history", "verify"]);
}

#[test]
fn a_reviewer_follows_the_work_in_git() {
    if lifecycle::is_renamed() {
        return;
    }
    let Some(repository) = Repository::without_driver(5) else { return };
    let project = &repository.project;
    let on = |branch: &str, commands: &[&[&str]]| {
        repository.on(branch, commands);
        repository.git(&["checkout", "--quiet", "main"]);
    };
    let check = || project.json(&["check"])["findings"].clone();
    // 1-5: two branches with the driver, one that ends well and one that does not.
    project.ok(&["git", "install"]);
    repository.commit("driver");
    on(
        "titles",
        &[
            &["step", "start", "2"],
            &["step", "done", "2", "--output", "p99=120", "--note", "enough for most"],
            &["context", "add", "Titles answer 80 % of queries"],
        ],
    );
    on("bodies", &[&["step", "start", "3"], &["step", "fail", "3", "--error", "no memory"]]);
    assert!(repository.merges("titles") && repository.merges("bodies"));
    assert_eq!(check(), json!([]));
    // 6-8: what a reviewer reads.
    let log = repository.git(&["log", "--oneline", "--graph"]);
    let ran = project.run(&["review-notes", "main~2"]);
    assert_eq!(ran.code, 0, "{log}\n{}", ran.stderr);
    let notes = ran.stdout;
    for expected in ["Titles answer 80 % of queries", "no memory", "Do part 2", "```mermaid"] {
        assert!(notes.contains(expected), "{expected}\n{notes}");
    }
    for noise in ["attempts", "last_updated", "current_step", "execution_id"] {
        assert!(!notes.contains(noise), "{noise}\n{notes}");
    }
    let changes = repository.git(&["diff", "--stat", "main~1", "main"]);
    assert!(!changes.contains("variables.json"), "a failed step has no results: {changes}");
    // 9-12: one merge is reverted on purpose; work continues either way.
    repository.git(&["revert", "--no-edit", "-m", "1", "HEAD"]);
    let found = check();
    assert_eq!(found[0]["code"], "went_back", "{found}");
    project.ok(&["history", "accept"]);
    assert_eq!(check(), json!([]));
    repository.commit("accepted");
    assert!(project.ok(&["history", "list"]).stdout.contains("Do part 2"));
    // 13-16: the same step on two branches with different results is one conflict, and settled.
    let done = |size: &'static str| ["step", "done", "4", "--output", size];
    on("one", &[&["step", "start", "4"], &done("size=1")]);
    on("two", &[&["step", "start", "4"], &done("size=2")]);
    assert!(repository.merges("one"));
    assert!(!repository.merges("two"));
    let sides = project.json(&["merge", "--list"]);
    assert_eq!(sides["conflicts"].as_array().unwrap().len(), 1, "{sides}");
    project.ok(&["merge", "--take", "theirs", "--all"]);
    repository.commit("settled");
    assert_eq!(project.json(&["var", "get", "steps.4.size"])["value"], 2);
    assert_eq!(check(), json!([]));
    // 17-20: a clone in which the driver was never installed meets the end of the history; with the
    // driver the same merge is clean.
    repository.git(&["config", "--remove-section", "merge.statedir"]);
    on("three", &[&["step", "start", "1"], &["step", "done", "1"]]);
    on("four", &[&["step", "start", "5"], &["step", "done", "5"]]);
    assert!(repository.merges("three"));
    assert!(!repository.merges("four"));
    let unmerged = repository.git(&["diff", "--name-only", "--diff-filter=U"]);
    assert_eq!(unmerged.trim(), "workspace/state/history.md", "the plan itself merges by lines");
    repository.git(&["merge", "--abort"]);
    project.ok(&["git", "install"]);
    assert!(repository.merges("four"));
    assert_eq!(check(), json!([]));
    project.ok(&["history", "verify"]);
}

#[test]
fn a_refused_command_tells_of_an_edit_that_it_recorded() {
    let refused: [&[&str]; 4] = [
        &["redo"],
        &["step", "done", "9"],
        &["var", "set", "a", "1", "--if-match", "0123456789ab"],
        &["plan", "set", "status=NONSENSE"],
    ];
    for args in refused {
        let project = Project::with_steps(1);
        let edit = || project.edit("plan.md", "Do part 1", "Do part 1 at last");
        edit();
        let pending = project.run(&[args, &["--dry-run"]].concat()).stderr;
        assert!(pending.starts_with("note: edited outside statedir and not yet"), "{pending}");
        let ran = project.run(args);
        assert_ne!(ran.code, 0);
        let mut lines = ran.stderr.lines();
        let note = lines.next().unwrap();
        assert!(note.starts_with("note: recorded an edit made outside statedir as"), "{note}");
        assert!(note.ends_with(": plan.md"), "{note}");
        assert!(lines.next().unwrap().starts_with("error: "), "{}", ran.stderr);
        // It is recorded, and so told once.
        assert!(!project.run(args).stderr.contains("note:"));
        edit();
        let answer = project.run(&[args, &["--json"]].concat()).json();
        let notice = answer["notices"][0].as_str().unwrap();
        assert!(notice.starts_with("recorded an edit made outside statedir"), "{answer}");
    }
}
