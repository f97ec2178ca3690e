//! Sessions from their start to their end.

use super::*;

#[test]
fn a_session_starts_with_the_brief_whatever_its_source() {
    let project = Project::with_steps(2);
    for source in ["startup", "resume", "clear", "compact", "fork", "tomorrow"] {
        let event = json!({ "hook_event_name": "SessionStart", "source": source });
        let answer = fire(&project, event).unwrap();
        assert_eq!(answer["hookSpecificOutput"]["hookEventName"], "SessionStart");
        let text = context(&answer);
        assert!(text.contains("# Brief at ") && text.contains("> Compare three vector"), "{text}");
        assert!(text.contains("--actor 3f2a9c1e"), "{text}");
        assert_eq!(answer.as_object().unwrap().len(), 1);
    }
    assert_eq!(operations(&project).len(), 2, "looking changes nothing");
}

/// Copilot CLI sends an event before a compaction, and none after it.
#[test]
fn after_a_compaction_copilot_gets_the_brief_with_its_next_call_and_once() {
    let project = Project::with_steps(2);
    let fire = |name: &str, more: Value| {
        let mut event = tool(name, "Bash", json!({ "command": "ls" }));
        event["session_id"] = json!("3f2a9c1e-77aa-4c1d-9b1f-001122334455");
        event["cwd"] = json!(project.root());
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let ran = fire_in(&project, &[], &[("COPILOT_CLI", "1")], event.to_string().as_bytes());
        (!ran.stdout.is_empty()).then(|| ran.json())
    };
    let call = || fire("PreToolUse", json!({}));
    assert!(fire("SessionStart", json!({ "source": "new" })).is_some());
    assert_eq!(call(), None, "it has the brief");
    assert_eq!(fire("PreCompact", json!({ "trigger": "auto" })), None);
    assert_eq!(fire("PreToolUse", json!({ "agent_id": "a1" })), None, "a helper forgot nothing");
    let answer = call().unwrap();
    assert!(answer["additionalContext"].as_str().unwrap().contains("# Brief at "), "{answer}");
    assert!(answer["hookSpecificOutput"].get("permissionDecision").is_none(), "{answer}");
    assert_eq!(call(), None, "it is told once");
}

/// Gemini CLI says nothing of a compaction; its record of the conversation does.
#[test]
fn after_a_compaction_gemini_gets_the_brief_with_its_next_tool_and_once() {
    let project = Project::with_steps(2);
    let record = project.root().join("session.jsonl");
    let say = |line: &str| {
        let known = fs::read_to_string(&record).unwrap_or_default();
        fs::write(&record, format!("{known}{line}\n")).unwrap();
    };
    let fire = |name: &str, tool: &str| {
        let event = json!({ "hook_event_name": name, "tool_name": tool, "tool_input": {},
            "prompt": "go on", "transcript_path": record });
        fire(&project, event).map(|answer| context(&answer).to_owned())
    };
    let named = |name: &str| fire(name, "run_shell_command");
    say(r#"{"$set":{"messages":[{"text":"hello"}]}}"#);
    assert!(named("BeforeAgent").unwrap().contains("Rules in force"), "the dialect is known");
    assert_eq!(named("AfterTool"), None);
    say(r#"{"$set":{"messages":[{"text":"<state_snapshot>before</state_snapshot>"}]}}"#);
    assert_eq!(named("BeforeTool"), None, "that takes no context");
    fire("BeforeTool", "invoke_agent");
    assert_eq!(named("AfterTool"), None, "a helper forgot nothing");
    let brief = fire("AfterTool", "invoke_agent").unwrap();
    assert!(brief.contains("# Brief at "), "{brief}");
    assert_eq!(named("AfterTool"), None, "it is told once");
    // A conversation that was replaced, and that still has the brief.
    let text = json!({ "text": format!("<state_snapshot>before</state_snapshot>{brief}") });
    say(&json!({ "$set": { "messages": [text] } }).to_string());
    assert_eq!(named("AfterTool"), None, "nothing was forgotten");
    say(r#"{"$set":{"messages":[{"text":"<state_snapshot>again</state_snapshot>"}]}}"#);
    assert!(named("BeforeAgent").unwrap().contains("# Brief at "));
}

/// Qwen Code sends no start event when it runs unattended.
#[test]
fn a_session_of_qwen_that_goes_on_in_another_process_gets_the_brief_again_and_once() {
    let project = Project::with_steps(2);
    let prompt = || {
        let event = json!({ "hook_event_name": "UserPromptSubmit", "prompt": "go on",
            "session_id": "3f2a9c1e-77aa-4c1d-9b1f-001122334455", "cwd": project.root() });
        let here = [("QWEN_PROJECT_DIR", "x")];
        let ran = fire_in(&project, &[], &here, event.to_string().as_bytes());
        (!ran.stdout.is_empty()).then(|| context(&ran.json()).to_owned())
    };
    assert!(prompt().unwrap().contains("# Brief at "));
    assert_eq!(prompt(), None, "it has the brief");
    let path = project.dir().join(".statedir/signs/3f2a9c1e.json");
    let line = fs::read_to_string(&path).unwrap();
    let mut sign: Value = serde_json::from_str(line[line.find('{').unwrap()..].trim()).unwrap();
    assert_eq!(sign["is_confirmed"], true, "the process was seen twice: {sign}");
    let mut gone = std::process::Command::new("true").spawn().unwrap();
    gone.wait().unwrap();
    sign["client"]["pid"] = json!(gone.id());
    fs::write(&path, sign.to_string()).unwrap();
    assert!(prompt().unwrap().contains("# Brief at "), "it was in a process that is gone");
    assert_eq!(prompt(), None, "it is told once");
}

#[test]
fn a_step_left_running_is_mentioned_once() {
    let project = Project::with_steps(2);
    let stop = |active: bool| json!({ "hook_event_name": "Stop", "stop_hook_active": active });
    assert_eq!(fire(&project, stop(false)), None);
    project.ok(&["step", "start", "1", "--actor", "3f2a9c1e"]);
    project.ok(&["step", "start", "2", "--actor", "another"]);
    assert_eq!(fire(&project, stop(true)), None, "a hook made it go on already");
    let answer = fire(&project, stop(false)).unwrap();
    assert_eq!(answer["decision"], "block");
    let reason = answer["reason"].as_str().unwrap();
    assert!(reason.contains("step 1 ") && reason.contains("statedir step done 1"), "{reason}");
    assert!(!reason.contains("step 2 "), "another session's: {reason}");
    assert_eq!(fire(&project, stop(false)), None, "once");
    let other = |event: &str| json!({ "hook_event_name": event, "session_id": "another" });
    assert_eq!(fire(&project, other("SubagentStop")), None, "a helper is not held up");
    let printed = fire(&project, other("Stop")).unwrap();
    assert!(
        printed["reason"].as_str().unwrap().contains("step 2 "),
        "nor is the one mention used up"
    );
    project.ok(&["step", "fail", "1", "--error", "x", "--force"]);
    project.ok(&["step", "retry", "1", "--actor", "person"]);
    assert!(fire(&project, stop(false)).is_some(), "another attempt, by the session's user");
}

#[test]
fn a_step_of_the_session_is_mentioned_whatever_name_it_was_claimed_under() {
    let project = Project::with_steps(1);
    let mut command = project.command(&["step", "next", "--claim"]);
    command
        .env("STATEDIR_ACTOR", "a-name")
        .env("CODEX_THREAD_ID", "3f2a9c1e-77aa-4c1d-9b1f-001122334455");
    assert!(command.output().unwrap().status.success());
    let stop = || json!({ "hook_event_name": "Stop", "turn_id": "1", "stop_hook_active": false });
    assert!(fire(&project, stop()).is_some());
    assert_eq!(fire(&project, stop()), None, "once");
}

#[test]
fn sessions_that_only_stop_are_forgotten_in_the_end() {
    let project = Project::with_steps(1);
    project.ok(&["step", "start", "1", "--actor", "person"]);
    for n in 0..40 {
        let stop = json!({ "hook_event_name": "Stop", "session_id": format!("s{n}") });
        assert!(fire(&project, stop).is_some());
    }
    assert_eq!(fs::read_dir(project.path(".statedir/sessions")).unwrap().count(), 32);
}

#[test]
fn a_session_whose_commands_carry_its_name_gets_no_reports_about_others() {
    let project = Project::with_steps(1);
    let file = project.root().join("env.sh");
    let start =
        json!({ "hook_event_name": "SessionStart", "session_id": "s1", "cwd": project.root() });
    let mut command = project.command(&["hook"]);
    command.env_remove("STATEDIR_ACTOR").env("CLAUDE_ENV_FILE", &file);
    let input = project.root().join("event.json");
    fs::write(&input, start.to_string()).unwrap();
    let output = command.stdin(fs::File::open(&input).unwrap()).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("act as `s1`"));
    assert_eq!(fs::read_to_string(&file).unwrap(), "export STATEDIR_SESSION=s1\n");
    project.ok(&["step", "start", "1", "--actor", "person"]);
    let stop = json!({ "hook_event_name": "Stop", "session_id": "s1" });
    assert_eq!(fire(&project, stop), None, "a person works on it");
}

#[test]
fn the_end_of_a_session_is_recorded_soon() {
    let project = Project::classic();
    fire(&project, tool("PostToolUse", "Write", json!({ "file_path": "a" })));
    let end = json!({ "hook_event_name": "SessionEnd", "reason": "prompt_input_exit" });
    assert_eq!(fire(&project, end.clone()), None);
    let history = project.read("history.md");
    assert!(history.contains("Event session_end") && history.contains("prompt_input_exit"));
    assert!(history.contains(" · files 1"), "{history}");
    assert_eq!(used(&project, "file_operations"), json!(1));

    let lock = fs::OpenOptions::new().write(true).open(project.path(".statedir/lock")).unwrap();
    lock.lock().unwrap();
    assert_eq!(fire(&project, end), None);
    drop(lock);
    let log = project.read(".statedir/hook.log");
    let waited = log.split("waited ").nth(1).and_then(|rest| rest.split_whitespace().next());
    // A command would have waited for ten seconds.
    assert!(waited_ms(waited.unwrap()) < 5_000, "{log}");
    assert!(log.contains("SessionEnd") && log.lines().count() == 1, "{log}");
}

#[test]
fn an_event_waits_for_the_lock_once() {
    let project = Project::with_steps(1);
    let plan = project.path("plan.md");
    let lock = fs::OpenOptions::new().write(true).open(project.path(".statedir/lock")).unwrap();
    lock.lock().unwrap();
    let events = [
        json!({ "hook_event_name": "SessionStart" }),
        json!({ "hook_event_name": "UserPromptSubmit", "prompt": "go" }),
        tool("PostToolUse", "Edit", json!({ "file_path": plan })),
    ];
    for event in &events {
        assert_eq!(fire_with(&project, &["--record-prompts"], event.clone()), None);
    }
    drop(lock);
    let log = project.read(".statedir/hook.log");
    let waited: Vec<u64> = log
        .split("waited ")
        .skip(1)
        .filter_map(|rest| rest.split_whitespace().next().map(waited_ms))
        .collect();
    // The note is about the last wait for the lock. A wait that used up the time leaves none for
    // a second attempt.
    assert_eq!(waited.len(), events.len(), "{log}");
    assert!(waited[0] >= 1_000, "{log}");
    assert!(waited[1] < 1_000 && waited[2] < 1_000, "{log}");
    // The wait before that is reported, too.
    let line = log.lines().nth(1).unwrap();
    let all = line.rsplit_once('(').and_then(|(_, rest)| rest.strip_suffix(" in all)"));
    assert!(waited_ms(all.unwrap()) >= 1_000, "{log}");
}

/// The commands in backticks.
fn commands(text: &str) -> Vec<String> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted.filter(|part| part.starts_with("statedir ")).map(str::to_owned).collect()
}

/// Runs a command of a sentence in a shell that knows no session.
fn run_line(project: &Project, line: &str) -> Ran {
    let words = line.replace("statedir ", "").replace('"', "'");
    let mut args: Vec<String> = Vec::new();
    for (at, part) in words.split('\'').enumerate() {
        match at % 2 {
            0 => args.extend(part.split_whitespace().map(str::to_owned)),
            _ => args.push(part.to_owned()),
        }
    }
    project.run(&args.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn what_the_stop_hook_offers_works_in_a_shell_that_knows_no_session() {
    let stop = json!({ "hook_event_name": "Stop" });
    for at in 0..3 {
        let project = Project::with_steps(1);
        project.ok(&["step", "start", "1", "--actor", "3f2a9c1e"]);
        let answer = fire(&project, stop.clone()).unwrap();
        let offered = commands(answer["reason"].as_str().unwrap());
        assert_eq!(offered.len(), 3, "{offered:?}");
        let ran = run_line(&project, &offered[at]);
        assert_eq!(ran.code, 0, "{}: {}{}", offered[at], ran.stdout, ran.stderr);
    }
    // Where the shell knows the session, it needs no name.
    let project = Project::with_steps(1);
    project.ok(&["step", "start", "1", "--actor", "3f2a9c1e"]);
    let mut event = stop;
    event["session_id"] = json!("3f2a9c1e-77aa-4c1d-9b1f-001122334455");
    event["cwd"] = json!(project.root());
    let here = [("STATEDIR_SESSION", "3f2a9c1e")];
    let ran = fire_in(&project, &[], &here, event.to_string().as_bytes());
    assert!(!ran.stdout.contains("--actor"), "{}", ran.stdout);
}

#[test]
fn the_stop_hook_offers_what_the_lifecycle_has() {
    let project = Project::with_lifecycle(false);
    project.ok(&["init", "--goal", "Move", "--template", "simple"]);
    for command in [&["step", "add", "Pack"][..], &["step", "start", "1", "--actor", "3f2a9c1e"]] {
        project.ok(command);
    }
    let begun = fire(&project, json!({ "hook_event_name": "SessionStart" })).unwrap();
    assert!(!context(&begun).contains("step fail"), "{begun}");
    let answer = fire(&project, json!({ "hook_event_name": "Stop" })).unwrap();
    let offered = commands(answer["reason"].as_str().unwrap());
    assert_eq!(
        offered,
        ["statedir step done 1 --actor 3f2a9c1e", "statedir step reset 1 --actor 3f2a9c1e"]
    );
}

#[test]
fn a_note_with_backticks_does_not_end_the_command_that_is_offered() {
    for (said, marks) in [("ran `make` twice", "``"), ("wrote ``a`b``", "```"), ("done", "`")] {
        let project = Project::with_steps(1);
        project.ok(&["step", "start", "1", "--actor", "3f2a9c1e"]);
        let stop = json!({ "hook_event_name": "Stop", "last_assistant_message": said });
        let answer = fire(&project, stop).unwrap();
        let reason = answer["reason"].as_str().unwrap();
        let open = if marks.len() > 1 { format!("{marks} ") } else { marks.to_owned() };
        let command = reason.split(&format!(" run {open}statedir step done 1 ")).nth(1).unwrap();
        assert!(command.split(marks).next().unwrap().contains("--note"), "{reason}");
        let whole = command.split(&open.chars().rev().collect::<String>()).next().unwrap();
        assert!(whole.contains(said), "{reason}");
    }
}

#[test]
fn the_stop_hook_names_the_status_that_the_step_has() {
    let project = Project::with_steps(1);
    let lifecycle = "version: 1\nstep:\n  - {status: PENDING, role: open, next: [WRITING]}\n  \
                     - {status: WRITING, role: active, next: [TESTING]}\n  \
                     - {status: TESTING, role: active, next: [COMPLETED]}\n  \
                     - {status: COMPLETED, role: done, next: []}\n";
    project.write("workflow.yaml", lifecycle);
    project.ok(&["step", "start", "1", "--actor", "3f2a9c1e"]);
    project.ok(&["step", "move", "1", "TESTING", "--actor", "3f2a9c1e"]);
    let answer = fire(&project, json!({ "hook_event_name": "Stop" })).unwrap();
    let reason = answer["reason"].as_str().unwrap();
    assert!(reason.contains("is still TESTING in the plan"), "{reason}");
}

#[test]
fn a_helper_is_told_whose_step_it_is_and_nothing_to_the_contrary() {
    let helper =
        || json!({ "hook_event_name": "SubagentStart", "agent_id": "h1", "agent_type": "x" });
    let project = Project::with_steps(2);
    let told = |project: &Project| context(&fire(project, helper()).unwrap()).to_owned();
    let none = told(&project);
    assert!(none.contains("No step is running"), "{none}");
    project.ok(&["step", "start", "1", "--actor", "3f2a9c1e"]);
    let one = told(&project);
    assert!(one.contains("step 1, which belongs to the agent that called you"), "{one}");
    assert!(one.contains("Do part 1"), "{one}");
    project.ok(&["step", "start", "2", "--actor", "another"]);
    project.ok(&["step", "done", "1", "--actor", "3f2a9c1e"]);
    let other = told(&project);
    assert!(other.contains("step 2"), "{other}");
    for text in [none, one, other] {
        let looks = ["statedir step list", "statedir step show"];
        let is_look = |command: &String| looks.iter().any(|look| command.starts_with(look));
        let is_step = |command: &String| command.starts_with("statedir step ");
        assert!(!text.contains("is yours") && !text.contains("What to do next"), "{text}");
        assert!(
            !commands(&text).iter().any(|command| is_step(command) && !is_look(command)),
            "{text}"
        );
    }
}
