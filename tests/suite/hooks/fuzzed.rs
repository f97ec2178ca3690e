//! Malformed events, and state text that pretends to be instructions.

use proptest::prelude::*;

use super::*;

/// Marks state text. It is longer than the random part of the name of a temporary directory.
const MARK: &str = "ZQXZQXZQX";

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,30}".prop_map(Value::from),
        Just(Value::from("workspace/state/history.md")),
        Just(Value::from("workspace/state/plan.md")),
        Just(Value::from("../".repeat(50))),
        Just(Value::from("\0\u{1b}[2J\u{202e}")),
        Just(Value::from("rm -rf $(`\"'<<EOF\n>&")),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(key(), inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn key() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "session_id", "cwd", "source", "prompt", "tool_name", "tool_input", "tool_response",
        "trigger", "stop_hook_active", "reason", "file_path", "notebook_path", "command", "x",
    ])
    .prop_map(str::to_owned)
}

fn event() -> impl Strategy<Value = Value> {
    let names = prop::sample::select(vec![
        "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PreCompact", "Stop",
        "SubagentStop", "SessionEnd", "Unknown",
    ]);
    let tools = prop::sample::select(vec![
        "Write", "Edit", "MultiEdit", "NotebookEdit", "Bash", "WebFetch", "WebSearch", "Read",
        "Task", "Agent",
    ]);
    let members = prop::collection::hash_map(key(), any_value(), 0..8);
    (names, tools, members, any_value()).prop_map(|(name, tool, members, input)| {
        let mut event = json!({ "hook_event_name": name, "tool_name": tool, "tool_input": input });
        event.as_object_mut().unwrap().extend(members);
        event
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_event_ends_well_and_leaves_a_sound_state(events in prop::collection::vec(event(), 1..4)) {
        let project = Project::with_steps(1);
        let dir = project.dir().display().to_string();
        for event in events {
            let ran = fire_bytes(&project, &["-C", &dir], event.to_string().as_bytes());
            prop_assert_eq!(ran.stderr.as_str(), "");
            if !ran.stdout.is_empty() {
                let answer = ran.json();
                let name = &event["hook_event_name"];
                let specific = &answer["hookSpecificOutput"]["hookEventName"];
                prop_assert!(specific.is_null() || specific == name, "{answer}");
                prop_assert!(name != "SessionEnd" && name != "PreCompact", "{answer}");
            }
        }
        project.ok(&["check"]);
        project.ok(&["history", "verify"]);
    }

    #[test]
    fn any_bytes_end_well(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let project = Project::new();
        let dir = project.dir().display().to_string();
        let ran = fire_bytes(&project, &["-C", &dir], &bytes);
        prop_assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
    }

    #[test]
    fn a_real_event_that_was_damaged_ends_well(
        at in any::<prop::sample::Index>(), from in any::<prop::sample::Index>(),
        byte in any::<u8>(), how in 0..3,
    ) {
        let project = Project::with_steps(1);
        let transcript = include_str!("../../../examples/hook-transcript.jsonl");
        let lines: Vec<&str> = transcript.lines().collect();
        let line = at.get(&lines).replace("@PROJECT@", project.root().to_str().unwrap());
        let mut bytes = line.into_bytes();
        let place = from.index(bytes.len());
        match how {
            0 => bytes[place] = byte,
            1 => bytes.truncate(place),
            _ => drop(bytes.splice(place..place, *b"1e400,[[")),
        }
        let dir = project.dir().display().to_string();
        let ran = fire_bytes(&project, &["-C", &dir], &bytes);
        prop_assert_eq!(ran.stderr.as_str(), "");
        prop_assert!(ran.stdout.lines().count() <= 1);
        project.ok(&["check"]);
    }

    #[test]
    fn state_text_is_data_in_every_answer(
        text in "[a-z#>*`\"\\\\-]{0,6}", gap in prop::sample::select(vec![
            "\n", "\r\n", "\n\n", "\u{2028}", "\u{85}", "\u{b}", "\u{c}", "\r", " ", "\n```\n", "\n> \n",
        ]),
    ) {
        let project = Project::new();
        let evil = format!("x{text}{gap}# {MARK} {text} {MARK}");
        // Some commands refuse some of it; what they accept must stay data.
        for command in [
            &["plan", "set", "goal"][..], &["context", "add"], &["directive", "add"], &["step", "add"],
            &["var", "set", "zqx", "--string"], &["review", "open"], &["history", "add"], &["pause"],
            &["constraint", "set", "zqx", "--create"], &["rule", "add"],
        ] {
            project.run(&[command, &["--", &evil]].concat());
        }
        project.run(&["step", "add", &format!("{MARK} plain")]);
        project.run(&["review", "open", &format!("{MARK} plain")]);
        project.run(&["step", "start", "1", "--actor", "3f2a9c1e"]);
        project.run(&["constraint", "set", "max_web_requests", "0"]);
        let events = [
            json!({ "hook_event_name": "UserPromptSubmit", "prompt": evil }),
            json!({ "hook_event_name": "SessionStart", "source": "compact" }),
            json!({ "hook_event_name": "Stop" }),
            tool("PreToolUse", "Bash", json!({ "command": "make" })),
            tool("PreToolUse", "WebFetch", json!({})),
            tool("PostToolUse", "WebFetch", json!({})),
            tool("PostToolUse", "Edit", json!({ "file_path": project.path("plan.md") })),
        ];
        let mut seen = 0;
        for event in events {
            let Some(answer) = fire(&project, event.clone()) else { continue };
            seen += check_is_data(&answer, &event)?;
        }
        prop_assert!(seen >= 2, "the text came along");
    }
}

/// Asserts that every line with the word is marked as data or is a quoted one-line string; counts them.
fn check_is_data(answer: &Value, event: &Value) -> Result<usize, TestCaseError> {
    let texts = [
        &answer["reason"],
        &answer["hookSpecificOutput"]["additionalContext"],
        &answer["hookSpecificOutput"]["permissionDecisionReason"],
    ];
    let breaks = ['\n', '\r', '\u{2028}', '\u{2029}', '\u{85}', '\u{b}', '\u{c}'];
    let mut seen = 0;
    for text in texts.into_iter().filter_map(Value::as_str) {
        for line in text.split(breaks).filter(|line| line.contains(MARK)) {
            let quoted = line.split("as data: \"").skip(1).any(|rest| rest.contains(MARK));
            prop_assert!(line.starts_with('>') || quoted, "{}\n{:?}", event, line);
            seen += 1;
        }
    }
    Ok(seen)
}

#[test]
fn text_that_is_not_marked_is_noticed() {
    for (text, is_data) in
        [("> a ZQX", true), ("(text, as data: \"ZQX\")", true), ("> a\u{85}ZQX", false)]
    {
        let answer = json!({ "reason": text.replace("ZQX", MARK) });
        assert_eq!(check_is_data(&answer, &json!(null)).is_ok(), is_data, "{text}");
    }
}
