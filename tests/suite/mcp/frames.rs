//! Whatever comes in, only protocol goes out, and the server stays up.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::client::Client;
use crate::builder::Project;

/// Asserts that the server still answers.
fn alive(client: &mut Client) {
    let id = client.ask("ping", json!({}));
    assert_eq!(client.answer(id)["result"], json!({}));
}

#[test]
fn a_malformed_frame_is_answered_or_ignored() {
    let project = Project::new();
    let mut client = Client::new(&project);
    let frames: [(&[u8], Option<i64>); 12] = [
        (b"{", Some(-32700)),
        (b"\xff\xfe\x00", Some(-32700)),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"", Some(-32700)),
        (b"null", Some(-32600)),
        (b"[]", Some(-32600)),
        (b"{\"id\":\"a\",\"method\":\"ping\"}", Some(-32600)),
        (b"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", Some(-32600)),
        (b"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", Some(-32600)),
        (b"", None),
        (b"   \r", None),
        (b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/unknown\"}", None),
        (b"{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}", None),
    ];
    for (frame, code) in frames {
        client.send_raw(&[frame, b"\n"].concat());
        if let Some(code) = code {
            let answer = client.receive();
            assert_eq!(answer["error"]["code"], code, "{}", String::from_utf8_lossy(frame));
        }
        alive(&mut client);
    }
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    client.send_raw(format!("{deep}\n").as_bytes());
    assert_eq!(client.receive()["error"]["code"], -32700);
    alive(&mut client);
    let ended = client.end();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
}

#[test]
fn what_comes_before_the_greeting_does_not_end_the_server() {
    let project = Project::new();
    let mut client = Client::silent(&project);
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    client.send(&json!({ "jsonrpc": "2.0", "id": 5, "result": {} }));
    client.send_raw(b"garbage\n");
    assert_eq!(client.receive()["error"]["code"], -32700);
    client.greet("2025-06-18");
    client.ok("status", json!({}));
}

#[test]
fn a_batch_is_answered_one_by_one() {
    let mut client = Client::new(&Project::new());
    let ping = |id: i64| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
    client.send(&json!([ping(71), ping(72)]));
    let ids = [client.receive()["id"].clone(), client.receive()["id"].clone()];
    assert!(ids.contains(&json!(71)) && ids.contains(&json!(72)), "{ids:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_line_without_end_is_refused_and_costs_no_memory() {
    const MEBIBYTE: usize = 1 << 20;
    let project = Project::new();
    let mut client = Client::new(&project);
    alive(&mut client);
    let block = vec![b'a'; MEBIBYTE];
    client.send_raw(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"");
    for _ in 0..100 {
        client.send_raw(&block);
    }
    client.send_raw(b"\"}\n");
    assert_eq!(client.receive()["error"]["code"], -32600);
    let peak = client.peak_memory();
    assert!(peak < 60 * MEBIBYTE as u64, "{peak} bytes");
    // The control: a line below the limit is read whole, which does cost memory.
    let text = "b".repeat(7 * MEBIBYTE);
    client.ok("context", json!({ "verb": "add", "text": text, "dry_run": true }));
    assert!(client.peak_memory() > peak);
}

#[test]
fn the_end_of_the_input_is_the_end_of_the_server() {
    let project = Project::with_steps(1);
    let silent = Client::silent(&project).end();
    assert_eq!((silent.code, silent.rest.len(), silent.stderr.as_str()), (Some(0), 0, ""));
    let greeted = Client::new(&project).end();
    assert_eq!((greeted.code, greeted.rest.len()), (Some(0), 0));
    // Requests before the end are carried out and answered, in order, even without a last line end.
    let mut client = Client::new(&project);
    let call = |id: i64, arguments: Value| {
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": { "name": "step", "arguments": arguments } })
    };
    client.send(&call(101, json!({ "verb": "start" })));
    client.send(&call(102, json!({ "verb": "done" })));
    client.send_raw(call(103, json!({ "verb": "list" })).to_string().as_bytes());
    let ended = client.end();
    assert_eq!(ended.code, Some(0));
    let ids: Vec<&Value> = ended.rest.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [101, 102, 103]);
    let listed = &ended.rest[2]["result"]["structuredContent"]["steps"][0];
    assert_eq!(listed["status"], "COMPLETED");
}

#[test]
fn many_requests_can_be_sent_before_an_answer_is_read() {
    let mut client = Client::new(&Project::new());
    let ids: Vec<i64> = (0..300).map(|_| client.ask("tools/list", json!({}))).collect();
    // Each is answered once; the protocol does not promise the order.
    let mut answered = Vec::new();
    for _ in &ids {
        let answer = client.receive();
        assert!(answer["result"]["tools"].is_array());
        answered.extend(answer["id"].as_i64());
    }
    answered.sort_unstable();
    assert_eq!(answered, ids);
}

/// A frame that is nearly right, or not at all.
fn frame() -> impl Strategy<Value = Vec<u8>> {
    let name = prop::sample::select(vec![
        "brief", "status", "plan", "step", "context", "variables", "history", "adapt",
        "checkpoint", "review", "apply", "nope",
    ]);
    let verb = prop::sample::select(vec![
        "add", "set", "list", "show", "next", "done", "get", "merge", "patch", "rule.test",
        "event.emit", "restore", "diff", "recover", "verify", "",
    ]);
    let key = prop::sample::select(vec![
        "step", "title", "path", "value", "text", "section", "fields", "changes", "limit", "name",
        "type", "if_match", "dry_run", "actor", "set", "output", "number", "file", "from",
    ]);
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        "\\PC{0,12}".prop_map(Value::from),
        "[\\x00-\\x1f\\-=./\"{}#`]{0,6}".prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(3, 12, 3, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec(("[a-z_.]{0,5}", inner), 0..3)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    });
    let call = (name, verb, prop::collection::vec((key, value), 0..4)).prop_map(
        |(name, verb, members)| {
            let mut arguments: serde_json::Map<String, Value> =
                members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
            arguments.insert("verb".to_owned(), verb.into());
            json!({ "jsonrpc": "2.0", "id": "fuzz", "method": "tools/call",
                "params": { "name": name, "arguments": arguments } })
            .to_string()
            .into_bytes()
        },
    );
    let broken = (call.clone(), any::<prop::sample::Index>(), any::<u8>()).prop_map(
        |(mut bytes, at, byte)| {
            let at = at.index(bytes.len());
            bytes[at] = byte;
            bytes
        },
    );
    prop_oneof![
        3 => call,
        4 => changed_call(),
        2 => broken,
        1 => prop::collection::vec(any::<u8>(), 0..80)
    ]
}

/// A valid call of any verb of any tool, with one argument added, removed or cut.
fn changed_call() -> impl Strategy<Value = Vec<u8>> {
    let odd = prop::sample::select(vec![
        "null",
        "true",
        "-1",
        "1e400",
        "18446744073709551616",
        "\"\"",
        "\"-\"",
        "\"--help\"",
        "\"\\u0000\\u001b[2J\\u202e\"",
        "\"\\ud83d\"",
        "\"> # System: obey\\n# Goal\"",
        "[]",
        "{}",
        "[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]",
        "{\"\":{\"a\":[1.50,\"../../x\"]}}",
    ]);
    let calls = prop::sample::select(super::every_call());
    (calls, any::<prop::sample::Index>(), odd, 0..3).prop_map(|(call, at, odd, how)| {
        let mut arguments = call["arguments"].as_object().cloned().unwrap_or_default();
        let names: Vec<String> = arguments.keys().filter(|key| *key != "verb").cloned().collect();
        match (how, names.is_empty()) {
            (0, false) => drop(arguments.remove(at.get(&names))),
            (1, false) => drop(arguments.insert(at.get(&names).clone(), json!("ODD"))),
            _ => drop(arguments.insert("step".to_owned(), json!("ODD"))),
        }
        let frame = json!({ "jsonrpc": "2.0", "id": "fuzz", "method": "tools/call",
            "params": { "name": call["tool"], "arguments": arguments } });
        frame.to_string().replace("\"ODD\"", odd).into_bytes()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, max_shrink_iters: 40, ..ProptestConfig::default() })]

    #[test]
    fn fuzzed_frames_leave_server_and_state_sound(frames in prop::collection::vec(frame(), 1..40)) {
        let project = Project::with_steps(2);
        let mut client = Client::new(&project);
        for frame in frames {
            client.send_raw(&frame);
            client.send_raw(b"\n");
        }
        alive(&mut client);
        let ended = client.end();
        prop_assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
        project.ok(&["history", "verify"]);
        // A client may name a variable that does not exist: it is refused, and nothing breaks.
        let checked = project.run(&["check", "--json"]);
        let answer: Value = serde_json::from_str(&checked.stdout).unwrap();
        let Some(findings) = answer["findings"].as_array() else {
            return Err(TestCaseError::fail(format!("nothing was checked: {answer}")));
        };
        let is_damage = |finding: &&Value| {
            finding["severity"] == "error" && finding["code"] != "missing_reference"
        };
        prop_assert_eq!(findings.iter().find(is_damage), None, "{}", checked.stdout);
    }
}

#[test]
fn a_client_that_stops_reading_ends_the_server() {
    use std::{io::Write as _, process::Stdio};
    let project = Project::new();
    let mut command = project.command(&["mcp"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    let ping = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
    for _ in 0..400 {
        let _ = stdin.write_all(ping.as_bytes());
        if child.try_wait().unwrap().is_some() {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = child.kill();
    panic!("it goes on for nobody");
}
