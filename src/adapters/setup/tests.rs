//! Setup and removal restore the original bytes, for every client.

use std::{collections::BTreeMap, fs, path::Path};

use clap::ValueEnum as _;
use proptest::{prelude::*, sample::select, strategy::ValueTree as _, test_runner::TestRunner};
use serde_json::{Value, json};

use super::{Client, FileContent, HookOptions, Scope, Setup, SetupPiece, json_text};

/// JSON with odd white space in every gap.
fn laid_out(value: &Value, gaps: &mut impl Iterator<Item = &'static str>) -> String {
    let list = |brackets: [char; 2], parts: Vec<String>| {
        format!("{}{}{}", brackets[0], parts.join(","), brackets[1])
    };
    let mut gap = || gaps.next().unwrap_or_default();
    match value {
        Value::Object(members) if members.is_empty() => list(['{', '}'], vec![gap().to_owned()]),
        Value::Array(items) if items.is_empty() => list(['[', ']'], vec![gap().to_owned()]),
        Value::Object(members) => {
            let mut parts = Vec::new();
            for (key, value) in members {
                let mut gap = || gaps.next().unwrap_or_default();
                let lead = format!("{}{}{}:{}", gap(), json!(key), gap(), gap());
                parts.push(lead + &laid_out(value, gaps) + gaps.next().unwrap_or_default());
            }
            list(['{', '}'], parts)
        }
        Value::Array(items) => {
            let mut parts = Vec::new();
            for item in items {
                let lead = gaps.next().unwrap_or_default().to_owned();
                parts.push(lead + &laid_out(item, gaps) + gaps.next().unwrap_or_default());
            }
            list(['[', ']'], parts)
        }
        scalar => scalar.to_string(),
    }
}

fn settings() -> impl Strategy<Value = String> {
    let group = select(vec![
        json!({ "hooks": [{ "type": "command", "command": "say hi" }] }),
        json!({ "matcher": "X", "hooks": [] }),
    ]);
    let events = select(vec!["SessionStart", "PreToolUse", "Stop", "SessionEnd", "Other"]);
    let hooks = prop::collection::btree_map(events, prop::collection::vec(group, 0..3), 0..4);
    let servers = select(vec![json!({}), json!({ "db": { "command": "db", "args": [] } })]);
    let member = prop_oneof![
        hooks.prop_map(|hooks| ("hooks", json!(hooks))),
        (select(vec!["mcpServers", "servers", "mcp"]), servers),
        select(vec![
            json!({}),
            json!({ "allow": [] }),
            json!({ "allow": ["Bash(ls)", "mcp__statedir"], "deny": ["x"] }),
            json!({ "ask": ["y"] }),
        ])
        .prop_map(|permissions| ("permissions", permissions)),
        select(vec![json!([]), json!(["db"])]).prop_map(|names| ("enabledMcpjsonServers", names)),
        select(vec![json!(1.10), json!("é \u{1}"), json!([]), json!({ "a": [1, { "b": null }] })])
            .prop_map(|value| ("theme", value)),
    ];
    let members = prop::collection::vec(member, 0..4);
    let comments = ["/* {\"é\": [, */", " // mine, \"x\": {\r\n  "];
    let blanks = ["", "", "", " ", "\n", "\n  ", "\n\t", "\r\n    ", " \n\n ", "\r", "\n  "];
    let gap = select([blanks.as_slice(), &comments].concat());
    let gaps = prop::collection::vec(gap, 1..12);
    (members, gaps, select(vec!["", "\u{feff}", "\n"]), select(vec!["", "\n", "\r\n", " \n\n"]))
        .prop_map(|(members, gaps, before, after)| {
            let value =
                Value::Object(members.into_iter().map(|(k, v)| (k.to_owned(), v)).collect());
            format!("{before}{}{after}", laid_out(&value, &mut gaps.into_iter().cycle()))
        })
}

/// What is in the place of a piece; nothing means no file.
fn there(piece: &SetupPiece) -> BoxedStrategy<Option<String>> {
    let blank = select(vec!["", "\n", " \r\n", "\u{feff}"]).prop_map(str::to_owned);
    let text = match piece.kind {
        FileContent::Hooks(_) | FileContent::Permissions(_) | FileContent::Server(_) => {
            settings().boxed()
        }
        FileContent::TomlServer => select(vec![
            "# mine",
            "model = \"o\" # mine\n\n[a.b]\nc = [1,\n\t2]",
            "[mcp_servers.db]\r\ncommand = 'db'\r\n",
            "mcp_servers.db.command = \"x\"\n\n\n",
            "a = [\n 1, # x\n 2 ]\n\n[t.\"x y\"]\nk = '''\n[not]\n'''\r\n",
        ])
        .prop_map(str::to_owned)
        .boxed(),
        FileContent::Block => "\u{feff}?([a-z# <!-]|\n|\r\n){0,30}".boxed(),
        // A skill or a plugin that is there is somebody's own.
        FileContent::Own(_) => Just("mine\n".to_owned()).boxed(),
    };
    prop_oneof![2 => Just(None), 1 => blank.prop_map(Some), 5 => text.prop_map(Some)].boxed()
}

/// Every file with its bytes, and every folder.
fn tree(root: &Path) -> BTreeMap<String, Option<Vec<u8>>> {
    let entries = walkdir::WalkDir::new(root).into_iter().filter_map(Result::ok);
    entries.map(|entry| (entry.path().display().to_string(), fs::read(entry.path()).ok())).collect()
}

fn scenes() -> impl Strategy<Value = (Setup, Vec<(SetupPiece, Option<String>)>, usize)> {
    let scopes = select(vec![Scope::Project, Scope::User]);
    let pairs = (select(Client::value_variants()), scopes)
        .prop_filter("the client has a place", |(client, scope)| client.pieces(*scope).is_ok());
    pairs.prop_flat_map(|(client, scope)| {
        let pieces = client.pieces(scope).unwrap();
        let texts: Vec<_> = pieces.iter().map(there).collect();
        let setup = Setup {
            client,
            scope,
            root: "".into(),
            program: "statedir".to_owned(),
            force: false,
            hooks: HookOptions::NONE,
        };
        (Just(setup), texts, 0usize..4).prop_map(move |(setup, texts, folders)| {
            (setup, pieces.iter().cloned().zip(texts).collect(), folders)
        })
    })
}

proptest! {
    #[test]
    fn setting_up_and_removing_gives_back_every_byte((setup, files, folders) in scenes()) {
        let root = tempfile::tempdir().unwrap();
        let setup = Setup { root: root.path().to_owned(), ..setup };
        for (piece, text) in &files {
            let path = root.path().join(&piece.path);
            // Some of the folders are there, empty.
            let above = piece.path.parent().unwrap().iter().take(folders);
            fs::create_dir_all(root.path().join(above.collect::<std::path::PathBuf>())).unwrap();
            if let Some(text) = text {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
        }
        let before = tree(root.path());
        setup.carry_out(&setup.plan(false).unwrap()).unwrap();
        let with = tree(root.path());
        for (piece, _) in &files {
            if !matches!(piece.kind, FileContent::Own(_)) {
                let text = fs::read_to_string(root.path().join(&piece.path)).unwrap();
                prop_assert!(text.contains("statedir"), "{:?}", piece);
                if matches!(piece.kind, FileContent::Hooks(_) | FileContent::Permissions(_) | FileContent::Server(_)) {
                    prop_assert!(json_text::parse(&text).is_ok(), "{}", text);
                }
            }
        }
        setup.carry_out(&setup.plan(false).unwrap()).unwrap();
        prop_assert_eq!(&tree(root.path()), &with, "setting up again changes nothing");
        let moved = Setup { program: "/opt/s p/statedir".to_owned(), ..setup.clone() };
        moved.carry_out(&moved.plan(false).unwrap()).unwrap();
        setup.carry_out(&setup.plan(true).unwrap()).unwrap();
        prop_assert_eq!(tree(root.path()), before);
    }

}

/// The control, on what is drawn first, which is the same in every run.
#[test]
fn the_settings_that_are_tried_are_more_than_a_parser_and_a_printer_keep() {
    let mut runner = TestRunner::deterministic();
    let draw = |_| settings().new_tree(&mut runner).unwrap().current();
    let texts: Vec<String> = (0..400).map(draw).collect();
    let count = |is_so: &dyn Fn(&String) -> bool| texts.iter().filter(|text| is_so(text)).count();
    let printed = |text: &String| {
        let value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()?;
        Some(super::pretty(&value))
    };
    assert!(count(&|text| printed(text).as_ref() != Some(text)) > 100);
    let empty = |text: &String| {
        let value = json_text::parse(text).map(|read| read.to_value()).unwrap_or_default();
        value.as_object().is_some_and(|members| members.values().any(|v| *v == json!({})))
    };
    assert!(count(&empty) > 20, "some have empty containers");
    assert!(count(&|text| text.contains("mine,")) > 20, "some have comments");
}
