//! Several clients at once, locks that are held, and calls that are cancelled.

use std::{collections::BTreeSet, fs::File, thread, time::Duration};

use serde_json::json;

use super::client::Client;
use crate::builder::{Project, waited_ms};

/// Holds the lock of a state as another process would.
fn hold(project: &Project) -> File {
    let file = File::options().read(true).write(true).open(project.path(".statedir/lock")).unwrap();
    file.lock().unwrap();
    file
}

#[test]
fn a_call_that_waits_for_the_lock_keeps_nobody_from_asking() {
    let project = Project::with_steps(1);
    let mut client = Client::new(&project);
    let lock = hold(&project);
    let waiting =
        client.ask("tools/call", json!({ "name": "step", "arguments": { "verb": "start" } }));
    let ping = client.ask("ping", json!({}));
    assert_eq!(client.receive()["id"], ping);
    let listed = client.ask("tools/list", json!({}));
    assert_eq!(client.receive()["id"], listed);
    drop(lock);
    let answer = client.answer(waiting);
    assert_eq!(answer["result"]["structuredContent"]["ok"], true, "{answer}");
}

#[test]
fn a_lock_that_is_never_free_is_waited_for_with_a_limit() {
    let project = Project::with_steps(1);
    let mut client = Client::new(&project);
    let _lock = hold(&project);
    let call = json!({ "name": "step", "arguments": { "verb": "start" } });
    let ids = [client.ask("tools/call", call.clone()), client.ask("tools/call", call)];
    for id in ids {
        let answer = client.answer(id);
        let document = &answer["result"]["structuredContent"];
        assert_eq!(document["error"]["code"], "lock_timeout", "{answer}");
        let message = document["error"]["message"].as_str().unwrap();
        let waited = message.split("waited ").nth(1).and_then(|rest| rest.split(' ').next());
        // The whole wait, not only its last interval.
        assert!(waited_ms(waited.unwrap()) >= 4_000, "{message}");
        assert_eq!(answer["result"]["isError"], true);
    }
}

#[test]
fn a_cancelled_call_does_nothing_and_is_not_answered() {
    for cancel in [true, false] {
        let project = Project::with_steps(1);
        let mut client = Client::new(&project);
        let lock = hold(&project);
        let call = json!({ "name": "step", "arguments": { "verb": "start" } });
        let id = client.ask("tools/call", call);
        client.result("ping", json!({}));
        if cancel {
            client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
                "params": { "requestId": id, "reason": "changed my mind" } }));
        }
        client.result("ping", json!({}));
        if cancel {
            // The call checks for its cancellation between two intervals of waiting.
            thread::sleep(Duration::from_millis(1500));
        }
        drop(lock);
        if cancel {
            assert!(client.is_quiet_for(Duration::from_millis(300)));
        } else {
            client.answer(id);
        }
        let status = client.ok("step", json!({ "verb": "list" }))["steps"][0]["status"].clone();
        // The control shows that the call would have been made.
        assert_eq!(status, if cancel { "PENDING" } else { "RUNNING" });
    }
}

#[test]
fn a_call_that_was_cancelled_does_nothing_with_a_lock_that_comes_free_at_once() {
    for _ in 0..3 {
        let project = Project::with_steps(1);
        let log = project.json(&["op", "log"]);
        let mut client = Client::new(&project);
        let lock = hold(&project);
        let call = json!({ "name": "step", "arguments": { "verb": "start" } });
        let id = client.ask("tools/call", call);
        client.result("ping", json!({}));
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": { "requestId": id } }));
        client.result("ping", json!({}));
        drop(lock);
        let status = client.ok("step", json!({ "verb": "list" }))["steps"][0]["status"].clone();
        assert_eq!(status, "PENDING");
        assert_eq!(project.json(&["op", "log"]), log);
    }
}

#[test]
fn two_clients_share_the_work_and_lose_nothing() {
    const STEPS: usize = 12;
    const VALUES: usize = 15;
    let project = Project::with_steps(STEPS);
    project.ok(&["var", "set", "seen", "[]"]);
    let work = |name: &'static str| {
        let mut client = Client::new(&project);
        move || {
            let mut claimed = Vec::new();
            for n in 0..VALUES {
                let value = format!("{name}{n}");
                client.ok("variables", json!({ "verb": "append", "path": "seen", "value": value }));
                let next = client.call("step", json!({ "verb": "next", "claim": true }));
                if next["ok"] == true {
                    let id = next["step"]["id"].clone();
                    client.ok("step", json!({ "verb": "done", "step": id }));
                    claimed.push(id.as_str().unwrap().to_owned());
                }
            }
            claimed
        }
    };
    let (mut one, two) = (work("a"), work("b"));
    let (one, two) = thread::scope(|scope| {
        let other = scope.spawn(two);
        (one(), other.join().unwrap())
    });
    let all: BTreeSet<&String> = one.iter().chain(&two).collect();
    assert_eq!((all.len(), one.len() + two.len()), (STEPS, STEPS), "{one:?} {two:?}");
    let seen = project.json(&["var", "get", "seen"])["value"].clone();
    assert_eq!(seen.as_array().unwrap().len(), 2 * VALUES);
    assert_eq!(project.json(&["status"])["completed"], STEPS);
    project.ok(&["history", "verify"]);
}
