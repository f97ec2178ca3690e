//! Links that came with a clone: on the path to the state, among templates, in the place of the
//! clients' settings. Each test has a victim outside, which must not change, and a control.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::symlink,
    path::Path,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::builder::{Project, Ran};

/// Every file and link below a directory with its bytes.
fn tree(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = walkdir::WalkDir::new(root).into_iter().filter_map(Result::ok);
    let files = files.filter(|entry| !entry.file_type().is_dir());
    let bytes = |path: &Path| fs::read(path).unwrap_or_default();
    files.map(|entry| (entry.path().display().to_string(), bytes(entry.path()))).collect()
}

fn fire(project: &Project, event: &str) -> Ran {
    let event = json!({ "hook_event_name": event, "session_id": "s", "source": "startup",
        "prompt": "go on", "cwd": project.root() });
    let mut command = project.command(&["hook"]);
    command.env_remove("CLAUDE_PROJECT_DIR").stdin(std::process::Stdio::piped());
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut input, event.to_string().as_bytes()).unwrap();
    drop(input);
    Ran::from(child.wait_with_output().unwrap())
}

#[test]
fn a_state_behind_a_link_is_used_only_by_who_names_it() {
    for part in ["workspace", "workspace/state"] {
        let victim = Project::with_steps(1);
        let clone = Project::empty();
        let link = clone.root().join(part);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(victim.root().join(part), &link).unwrap();
        let before = tree(victim.root());
        let target = victim.root().join(part).display().to_string();
        let root = clone.root().display().to_string();
        fs::create_dir(clone.root().join("src")).unwrap();
        let below = clone.root().join("src").display().to_string();
        for args in [
            &["var", "set", "a", "1"][..],
            &["status"],
            &["check", "--fix"],
            &["gc"],
            &["archive", "--force"],
            &["archive", "list"],
            &["init", "--goal", "x"],
            &["-C", &root, "var", "set", "a", "1"],
        ] {
            for place in [&root, &below] {
                if args[0] == "init" && place == &below {
                    continue;
                }
                let args = [&["--json"], args].concat();
                let mut command = clone.command(&args);
                let ran = Ran::from(command.current_dir(place).output().unwrap());
                let answer = ran.json();
                assert_eq!((ran.code, &answer["error"]["code"]), (1, &json!("linked")), "{args:?}");
                assert!(answer["error"]["message"].as_str().unwrap().contains(&target));
                assert!(answer["error"]["hint"].as_str().unwrap().contains("`-C "));
            }
        }
        for event in ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"] {
            let ran = fire(&clone, event);
            assert_eq!((ran.code, &*ran.stdout, &*ran.stderr), (0, "", ""), "{event}");
        }
        assert_eq!(tree(victim.root()), before, "{part}");
        // Control: a user may name the directory, even by a link of their own.
        let state = clone.dir().display().to_string();
        clone.ok(&["-C", &state, "var", "set", "a", "1"]);
        assert_ne!(tree(victim.root()), before);
        // Control: without a link the hook answers.
        assert_ne!(fire(&victim, "SessionStart").stdout, "");
    }
}

#[test]
fn settings_that_are_links_out_of_the_project_are_not_written() {
    for (client, name, to_directory) in [
        ("claude", "CLAUDE.md", false),
        ("claude", ".mcp.json", false),
        ("claude", ".claude/settings.json", false),
        ("claude", ".claude", true),
        ("codex", "AGENTS.md", false),
        ("generic", "AGENTS.md", false),
        ("gemini", "GEMINI.md", false),
        ("cursor", ".cursor", true),
    ] {
        let (victim, clone) = (Project::empty(), Project::empty());
        let target = victim.root().join(if to_directory { "" } else { "profile" });
        fs::write(victim.root().join("profile"), "{}\n").unwrap();
        let link = clone.root().join(name);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(&target, &link).unwrap();
        let before = (tree(victim.root()), tree(clone.root()));
        let ran = clone.run(&["--json", "setup", client, "--project"]);
        assert_eq!(ran.code, 1, "{name}: {}", ran.stdout);
        let error = ran.json()["error"].clone();
        assert_eq!(error["code"], "outside", "{name}: {error}");
        assert_eq!((tree(victim.root()), tree(clone.root())), before, "{name}");
        // Control: a link that stays inside is followed.
        fs::remove_file(&link).unwrap();
        match to_directory {
            true => fs::create_dir(clone.root().join("inside")).unwrap(),
            false => fs::write(clone.root().join("inside"), "").unwrap(),
        }
        symlink(clone.root().join("inside"), &link).unwrap();
        let inside = clone.run(&["setup", client, "--project"]);
        assert_eq!(inside.code, 0, "{name}: {}", inside.stderr);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }
}

#[test]
fn a_template_that_is_a_link_is_refused() {
    for name in ["plan.md.hbs", "variables.json.hbs", "workflow.yaml"] {
        let (victim, clone) = (Project::empty(), Project::empty());
        let secret = victim.root().join("secret");
        fs::write(&secret, "{}\n").unwrap();
        let templates = clone.root().join("templates");
        fs::create_dir(&templates).unwrap();
        fs::write(templates.join("context.md.hbs"), "# Context\n").unwrap();
        symlink(&secret, templates.join(name)).unwrap();
        let args = ["--json", "init", "--goal", "x", "--template", "templates"];
        let ran = clone.run(&args);
        let message = ran.json()["error"]["message"].as_str().unwrap_or_default().to_owned();
        assert_eq!(ran.code, 1, "{name}: {}", ran.stdout);
        assert!(message.contains(name) && message.contains("link"), "{message}");
        assert!(!clone.dir().exists());
        // Control: without it the directory is used, also by a link to it.
        fs::remove_file(templates.join(name)).unwrap();
        symlink(&templates, clone.root().join("named")).unwrap();
        let ran = clone.run(&["--json", "init", "--goal", "x", "--template", "named"]);
        let message = ran.json()["error"]["message"].as_str().unwrap_or_default().to_owned();
        assert!(ran.code == 0 || message.contains("context.md"), "{}", ran.stdout);
    }
}

#[test]
fn hostile_templates_are_refused_in_good_time() {
    let nested = |count: usize| "{{#if goal}}".repeat(count) + &"{{/if}}".repeat(count);
    let each = |count: usize| "{{#each modifiers}}".repeat(count) + &"{{/each}}".repeat(count);
    for (template, why) in [
        (nested(20_000), "65536"),
        (nested(2_000), "line 1: more than 32 blocks"),
        (each(10), "line 1: more than 2 loops"),
        ("{{#if goal}}{{/if}}".repeat(3_000), "more than 2000 tags"),
        (format!("{{{{json \"{}\"}}}}", "x".repeat(100_000)), "65536"),
        (
            "{{#each modifiers}}{{#each ../modifiers}}".to_owned()
                + &"y".repeat(60_000)
                + "{{/each}}{{/each}}",
            "bytes",
        ),
        (
            format!("{{{{#if {}goal{}}}}}{{{{/if}}}}", "(".repeat(20_000), ")".repeat(20_000)),
            "parentheses",
        ),
    ] {
        let project = Project::empty();
        let templates = project.root().join("templates");
        fs::create_dir(&templates).unwrap();
        fs::write(templates.join("context.md.hbs"), &template).unwrap();
        let start = Instant::now();
        let ran = project.run(&["--json", "init", "--goal", "x", "--template", "templates"]);
        let beginning = &template[..60];
        assert!(start.elapsed() < Duration::from_secs(10), "{beginning}: {:?}", start.elapsed());
        let message = ran.json()["error"]["message"].as_str().unwrap_or_default().to_owned();
        assert!(ran.code == 1 && message.contains(why), "{beginning}: {message}");
        assert!(message.len() < 2_000, "{beginning}: {}", message.len());
        assert!(!project.dir().exists());
    }
}

#[test]
fn a_pipe_in_the_place_of_a_file_makes_nobody_wait() {
    for name in ["plan.md", "context.md", "history.md", "constraints.md", "variables.json"] {
        let project = Project::with_steps(1);
        fs::remove_file(project.path(name)).unwrap();
        let pipe = project.path(name).display().to_string();
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let root = project.root().display().to_string();
        for args in [&["scan", root.as_str()][..], &["recover", "--all", &root], &["status"]] {
            let mut child =
                project.command(args).stdout(std::process::Stdio::null()).spawn().unwrap();
            let begun = Instant::now();
            while child.try_wait().unwrap().is_none() {
                std::thread::sleep(Duration::from_millis(20));
                if begun.elapsed() > Duration::from_secs(20) {
                    child.kill().unwrap();
                    panic!("{args:?} waits for {name}");
                }
            }
        }
    }
}
