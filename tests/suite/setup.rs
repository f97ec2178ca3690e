//! Setting up a client, and removing the setup to the byte.

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::{Value, json};

use crate::{
    builder::{Project, Ran},
    program,
};

const CLIENTS: [&str; 8] =
    ["claude", "codex", "cursor", "gemini", "opencode", "qwen", "vscode", "generic"];

/// Runs `setup` with a home of its own.
fn setup(project: &Project, args: &[&str]) -> Ran {
    let mut command = project.command(&[&["setup"], args].concat());
    Ran::from(command.env("HOME", project.root().join("home")).output().unwrap())
}

/// Every file and link below the project with its bytes.
fn tree(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = walkdir::WalkDir::new(root).into_iter().filter_map(Result::ok);
    let files = files.filter(|entry| !entry.file_type().is_dir());
    files
        .map(|entry| {
            (entry.path().display().to_string(), fs::read(entry.path()).unwrap_or_default())
        })
        .collect()
}

fn write(project: &Project, name: &str, text: &str) {
    let path = project.root().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn read(project: &Project, name: &str) -> String {
    fs::read_to_string(project.root().join(name)).unwrap()
}

#[test]
fn every_client_is_set_up_once_and_leaves_without_a_trace() {
    for client in CLIENTS {
        for scope in ["--project", "--user"] {
            let project = Project::empty();
            fs::create_dir(project.root().join("home")).unwrap();
            if matches!(client, "generic" | "vscode") && scope == "--user" {
                assert_eq!(setup(&project, &[client, scope]).code, 1);
                continue;
            }
            let first = setup(&project, &[client, scope, "--json"]);
            assert_eq!(first.code, 0, "{}", first.stdout);
            let files = first.json()["files"].as_array().unwrap().clone();
            assert!(!files.is_empty() && files.iter().all(|file| file["action"] == "created"));
            let done = tree(project.root());
            assert_eq!(done.len(), files.len());
            let again = setup(&project, &[client, scope, "--json"]).json();
            let kept = |file: &Value| file["action"] == "unchanged";
            assert!(again["files"].as_array().unwrap().iter().all(kept), "{again}");
            assert_eq!(tree(project.root()), done);
            assert_eq!(setup(&project, &[client, scope, "--remove"]).code, 0);
            assert_eq!(tree(project.root()), BTreeMap::new(), "{client} {scope}");
            let left: Vec<_> = fs::read_dir(project.root()).unwrap().flatten().collect();
            assert_eq!(left.len(), 1, "{left:?}");
        }
    }
}

#[test]
fn prompts_are_recorded_on_request_and_no_longer_when_that_is_taken_back() {
    for before in [None, Some("{\n  \"model\": \"x\"\n}\n")] {
        let project = Project::empty();
        let path = ".claude/settings.json";
        if let Some(text) = before {
            write(&project, path, text);
        }
        let options = || read(&project, path).matches(" hook --record-prompts\"").count();
        setup(&project, &["claude"]);
        assert_eq!(options(), 0);
        let plain = read(&project, path);
        setup(&project, &["claude", "--record-prompts"]);
        assert_eq!(options(), 1, "{}", read(&project, path));
        let again = setup(&project, &["claude", "--record-prompts"]).stdout;
        assert!(!again.lines().any(|line| line.starts_with("changed")), "{again}");
        setup(&project, &["claude"]);
        assert_eq!(read(&project, path), plain);
        setup(&project, &["claude", "--record-prompts"]);
        setup(&project, &["claude", "--remove"]);
        let left = fs::read_to_string(project.root().join(path)).ok();
        assert_eq!(left.as_deref(), before);
    }
}

#[test]
fn what_was_there_stays_and_comes_back_to_the_byte() {
    let project = Project::new();
    let there = [
        (
            ".claude/settings.json",
            "{\r\n\t\"permissions\": {\"allow\":[\"Bash(ls)\"]},\r\n\t\"hooks\": { \"Stop\": [ {\"hooks\":[{\"type\":\"command\",\"command\":\"say hi\"}]} ] }\r\n}",
        ),
        (".mcp.json", "{ \"mcpServers\": { \"db\": {\"command\":\"db\"} } }\n\n"),
        ("CLAUDE.md", "# Mine\r\n\r\nNo final line end"),
        ("AGENTS.md", "# Agents\n\n\n"),
        (".cursor/mcp.json", "{}"),
        (".gemini/settings.json", "{\"theme\": \"x\"}\n"),
        (".codex/config.toml", "model = \"o\" # mine\n[a.b]\nc = [1,\n2]\n"),
        ("GEMINI.md", ""),
    ];
    for (name, text) in there {
        write(&project, name, text);
    }
    let before = tree(project.root());
    for client in CLIENTS {
        let ran = setup(&project, &[client]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert_ne!(tree(project.root()), before, "{client}");
        assert_eq!(setup(&project, &[client, "--remove"]).code, 0);
        assert_eq!(tree(project.root()), before, "{client}");
    }
    setup(&project, &["claude"]);
    let settings: Value = serde_json::from_str(&read(&project, ".claude/settings.json")).unwrap();
    let stop = settings["hooks"]["Stop"].as_array().unwrap();
    assert_eq!(stop.len(), 2);
    assert_eq!(
        stop[1]["hooks"][0]["command"],
        "command -v statedir >/dev/null 2>&1 || exit 0; statedir hook"
    );
    for event in [
        "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PreCompact",
        "SubagentStop", "SessionEnd",
    ] {
        assert_eq!(settings["hooks"][event][0]["hooks"][0]["type"], "command", "{event}");
    }
    assert_eq!(
        settings["permissions"],
        json!({
            "allow": ["Bash(ls)", "Bash(statedir *)", "mcp__statedir"],
            "ask": ["Bash(statedir *review approve*)", "Bash(statedir *review reject*)"],
        })
    );
    assert_eq!(settings["enabledMcpjsonServers"], json!(["statedir"]));
    let servers: Value = serde_json::from_str(&read(&project, ".mcp.json")).unwrap();
    assert_eq!(
        servers["mcpServers"]["statedir"],
        json!({ "command": "statedir", "args": ["mcp"] })
    );
    assert_eq!(servers["mcpServers"]["db"], json!({ "command": "db" }));
    // Text that was added around the block meanwhile stays.
    let block = read(&project, "CLAUDE.md");
    fs::write(project.root().join("CLAUDE.md"), format!("{block}More of mine\n")).unwrap();
    setup(&project, &["claude", "--remove"]);
    assert_eq!(read(&project, "CLAUDE.md"), "# Mine\r\n\r\nNo final line endMore of mine\n");
}

#[test]
fn settings_that_are_not_understood_are_refused_and_nothing_is_written() {
    for (client, name, text) in [
        ("claude", ".claude/settings.json", "{ // mine\n"),
        ("claude", ".mcp.json", "[]"),
        ("claude", "CLAUDE.md", "<!-- statedir:begin gap=1 -->\nx\n"),
        ("cursor", ".cursor/mcp.json", "{\"mcpServers\":[]}"),
        ("codex", ".codex/config.toml", "a = \"open\n"),
    ] {
        let project = Project::empty();
        write(&project, name, text);
        let before = tree(project.root());
        let ran = setup(&project, &[client, "--json"]);
        assert_eq!((ran.code, ran.json()["error"]["code"].clone()), (1, json!("bad_settings")));
        assert!(
            ran.json()["error"]["message"]
                .as_str()
                .unwrap()
                .contains(name.rsplit('/').next().unwrap())
        );
        assert_eq!(tree(project.root()), before, "{name}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_a_broken_one_is_refused() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let project = Project::empty();
    write(&project, "dotfiles/settings.json", "{\"a\": 1}\n");
    let target = project.root().join("dotfiles/settings.json");
    fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).unwrap();
    fs::create_dir(project.root().join(".claude")).unwrap();
    symlink("../dotfiles/settings.json", project.root().join(".claude/settings.json")).unwrap();
    assert_eq!(setup(&project, &["claude"]).code, 0);
    let link = project.root().join(".claude/settings.json");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(&target).unwrap().contains("statedir hook"));
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(setup(&project, &["claude", "--remove"]).code, 0);
    assert_eq!(fs::read_to_string(&target).unwrap(), "{\"a\": 1}\n");
    // One page of instructions under two names.
    write(&project, "AGENTS.md", "# Mine\n");
    symlink("AGENTS.md", project.root().join("CLAUDE.md")).unwrap();
    setup(&project, &["claude"]);
    setup(&project, &["codex"]);
    setup(&project, &["claude", "--remove"]);
    assert_eq!(read(&project, "CLAUDE.md").matches("statedir:begin codex ").count(), 1);
    setup(&project, &["codex", "--remove"]);
    assert_eq!(read(&project, "AGENTS.md"), "# Mine\n");
    fs::remove_file(project.root().join("CLAUDE.md")).unwrap();
    symlink("nowhere", project.root().join("CLAUDE.md")).unwrap();
    let before = tree(project.root());
    assert_eq!(setup(&project, &["claude"]).code, 1);
    assert_eq!(tree(project.root()), before);
}

#[test]
fn printing_and_trying_write_nothing() {
    let project = Project::empty();
    write(&project, ".claude/settings.json", "{}\n");
    let before = tree(project.root());
    let printed = setup(&project, &["claude", "--print"]);
    assert_eq!(printed.code, 0);
    for part in [
        "settings.json", "statedir hook", "Bash(statedir *)", "mcpServers", "CLAUDE.md",
        "SKILL.md", "next --claim",
    ] {
        assert!(printed.stdout.contains(part), "{part}");
    }
    let tried = setup(&project, &["claude", "--dry-run"]);
    assert!(
        tried.stdout.contains("+++") && tried.stdout.contains("+## Tracked work"),
        "{}",
        tried.stdout
    );
    assert_eq!(
        setup(&project, &["claude", "--print", "--json"]).json()["files"].as_array().unwrap().len(),
        5
    );
    assert_eq!(tree(project.root()), before);
}

#[test]
fn a_skill_that_somebody_changed_stays() {
    let project = Project::empty();
    setup(&project, &["claude"]);
    let name = ".claude/skills/statedir/SKILL.md";
    let mine = read(&project, name).replace("Rules:", "My rules:");
    write(&project, name, &mine);
    setup(&project, &["claude"]);
    assert_eq!(read(&project, name), mine);
    setup(&project, &["claude", "--remove"]);
    assert_eq!(tree(project.root()).len(), 1);
    assert_eq!(read(&project, name), mine);
}

#[test]
fn instructions_that_clients_share_stay_until_the_last_one_goes() {
    let project = Project::empty();
    write(&project, "AGENTS.md", "# Mine\n");
    for client in ["codex", "cursor", "generic"] {
        assert_eq!(setup(&project, &[client]).code, 0);
    }
    let block = read(&project, "AGENTS.md");
    assert!(block.contains("<!-- statedir:begin codex cursor generic "), "{block}");
    for (client, left) in [("codex", "cursor, generic"), ("generic", "cursor")] {
        let ran = setup(&project, &[client, "--remove", "--json"]);
        let files = ran.json()["files"].as_array().unwrap().clone();
        let file = files.iter().find(|file| file["what"] == "instructions").unwrap();
        assert_eq!(file["note"], format!("stays for {left}"));
        assert!(read(&project, "AGENTS.md").contains("Tracked work"));
        let again = setup(&project, &[client, "--remove"]);
        assert!(again.stdout.contains("unchanged"), "{}", again.stdout);
    }
    setup(&project, &["cursor", "--remove"]);
    assert_eq!(tree(project.root()).len(), 1);
    assert_eq!(read(&project, "AGENTS.md"), "# Mine\n");
}

#[test]
fn what_a_person_wrote_into_a_block_is_not_lost_silently() {
    let project = Project::empty();
    setup(&project, &["claude"]);
    let mine = read(&project, "CLAUDE.md").replace("The loop:", "The loop, as we like it:");
    write(&project, "CLAUDE.md", &mine);
    for args in [&["claude"][..], &["claude", "--remove"]] {
        let ran = setup(&project, args);
        assert_eq!(ran.code, 0);
        let line = ran.stdout.lines().find(|line| line.contains("CLAUDE.md")).unwrap();
        assert!(line.starts_with("unchanged") && line.contains("`--force`"), "{line}");
        assert_eq!(read(&project, "CLAUDE.md"), mine);
    }
    setup(&project, &["claude", "--force"]);
    assert!(!read(&project, "CLAUDE.md").contains("as we like it"));
    write(&project, "CLAUDE.md", &mine);
    setup(&project, &["claude", "--remove", "--force"]);
    assert_eq!(tree(project.root()), BTreeMap::new());
}

#[test]
fn the_project_is_the_one_above_or_the_one_named() {
    let project = Project::new();
    fs::create_dir_all(project.root().join("src/deep")).unwrap();
    let mut command = project.command(&["setup", "generic"]);
    assert!(
        command.current_dir(project.root().join("src/deep")).output().unwrap().status.success()
    );
    assert!(project.root().join("AGENTS.md").exists());
    let other = Project::empty();
    let root = other.root().display().to_string();
    assert_eq!(setup(&project, &["generic", "-C", &root]).code, 0);
    assert!(other.root().join("AGENTS.md").exists());
}

#[test]
fn instructions_go_to_the_file_that_claude_imports() {
    let project = Project::new();
    write(&project, "CLAUDE.md", "@AGENTS.md\n");
    write(&project, "AGENTS.md", "# Agents\n");
    let before = tree(project.root());
    assert_eq!(setup(&project, &["claude"]).code, 0);
    assert_eq!(read(&project, "CLAUDE.md"), "@AGENTS.md\n");
    assert!(read(&project, "AGENTS.md").contains("## Tracked work: statedir"));
    assert_eq!(setup(&project, &["claude", "--remove"]).code, 0);
    assert_eq!(tree(project.root()), before);
}

#[test]
fn a_hook_is_silent_where_the_program_is_missing() {
    let project = Project::new();
    setup(&project, &["claude", "--program", "statedir-that-nobody-has"]);
    let settings: Value = serde_json::from_str(&read(&project, ".claude/settings.json")).unwrap();
    let line = settings["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().unwrap().to_owned();
    let ran = std::process::Command::new("sh").args(["-c", &line]).output().unwrap();
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
    assert!(ran.stdout.is_empty() && ran.stderr.is_empty(), "{ran:?}");
    // The control: without the guard a shell complains at every event.
    let bare = line.rsplit_once("; ").unwrap().1;
    let ran = std::process::Command::new("sh").args(["-c", bare]).output().unwrap();
    assert_eq!(ran.status.code(), Some(127));
}

#[test]
fn every_choice_is_removed_to_the_byte_for_every_client() {
    for client in CLIENTS {
        for choice in ["--capture", "--no-capture", "--record-prompts"] {
            let project = Project::empty();
            fs::create_dir(project.root().join("home")).unwrap();
            write(&project, ".claude/settings.json", "{ \"model\":\"x\" }");
            write(&project, "AGENTS.md", "# Mine\n");
            let before = tree(project.root());
            assert_eq!(setup(&project, &[client, choice]).code, 0, "{client} {choice}");
            assert_ne!(tree(project.root()), before);
            assert_eq!(setup(&project, &[client, "--remove"]).code, 0);
            assert_eq!(tree(project.root()), before, "{client} {choice}");
        }
    }
}

#[test]
fn what_was_said_about_task_lists_is_kept() {
    let project = Project::empty();
    for client in ["claude", "codex", "gemini", "opencode"] {
        let files = |project: &Project| {
            let all = tree(project.root()).into_values().collect::<Vec<_>>().concat();
            String::from_utf8_lossy(&all).into_owned()
        };
        assert_eq!(setup(&project, &[client, "--capture"]).code, 0);
        let asked = files(&project);
        assert!(asked.contains("--capture"), "{client}: {asked}");
        assert_eq!(setup(&project, &[client]).code, 0);
        assert_eq!(files(&project), asked, "{client}: setting up again keeps the choice");
        assert_eq!(setup(&project, &[client, "--no-capture"]).code, 0);
        assert!(files(&project).contains("--no-capture") && !files(&project).contains("--capture"));
        assert_eq!(setup(&project, &[client, "--remove"]).code, 0);
    }
    assert_eq!(setup(&project, &["claude", "--capture", "--no-capture"]).code, 2);
}

#[test]
fn hooks_that_a_client_calls_twice_are_named() {
    let project = Project::new();
    fs::create_dir(project.root().join("home")).unwrap();
    let twice = |args: &[&str]| setup_with_path(&project, args, true).stdout.contains("twice");
    assert!(!twice(&["codex"]) && !twice(&["codex", "--user"]));
    assert!(twice(&["codex"]) && twice(&["codex", "--check"]));
    assert!(!twice(&["gemini", "--user"]) && !twice(&["gemini"]), "it calls the same once");
    assert!(!twice(&["codex", "--user", "--remove"]) && !twice(&["codex"]));
}

/// Runs `setup` where the program is on the PATH, or is not.
fn setup_with_path(project: &Project, args: &[&str], found: bool) -> Ran {
    let directory = program::path().parent().unwrap().display();
    let path =
        if found { format!("{directory}:/usr/bin:/bin") } else { "/usr/bin:/bin".to_owned() };
    let mut command = project.command(&[&["setup"], args].concat());
    command.env("HOME", project.root().join("home")).env("PATH", path);
    Ran::from(command.output().unwrap())
}

#[test]
fn a_check_tells_what_is_in_place_and_proves_it() {
    let project = Project::new();
    fs::create_dir(project.root().join("home")).unwrap();
    let check = |args: &[&str]| setup_with_path(&project, &[&["--check"], args].concat(), true);
    assert_eq!(check(&[]).code, 1, "nothing is set up");
    assert_eq!(check(&["claude"]).code, 1);
    for client in ["claude", "codex", "gemini", "opencode", "cursor"] {
        setup(&project, &[client]);
    }
    let before = tree(project.root());
    let shown_text = check(&["--json"]);
    assert_eq!(shown_text.code, 0, "{}", shown_text.stdout);
    let clients = shown_text.json()["clients"].as_array().unwrap().clone();
    let named: Vec<&str> =
        clients.iter().map(|client| client["client"].as_str().unwrap()).collect();
    assert_eq!(named, ["claude", "codex", "cursor", "gemini", "opencode"]);
    for client in &clients {
        assert_eq!(client["in_place"], true, "{client}");
        let proofs = client["proofs"].as_array().unwrap();
        assert!(!proofs.is_empty() && proofs.iter().all(|proof| proof["answered"] == true));
    }
    assert!(clients[0]["needs"].as_str().unwrap().contains("does not trust this folder"));
    assert_eq!(tree(project.root()), before, "looking changes nothing");
    let trusted = json!({ "projects": { fs::canonicalize(project.root()).unwrap().to_str().unwrap():
        { "hasTrustDialogAccepted": true } } });
    write(&project, "home/.claude.json", &trusted.to_string());
    assert_eq!(check(&["claude", "--json"]).json()["clients"][0]["needs"], Value::Null);

    let lost = setup_with_path(&project, &["claude", "--check"], false);
    assert_eq!(lost.code, 1);
    assert!(lost.stdout.contains("no answer"), "{}", lost.stdout);
    fs::remove_file(project.root().join(".mcp.json")).unwrap();
    let partly = check(&["claude"]);
    assert_eq!(partly.code, 1);
    assert!(partly.stdout.contains("missing") && partly.stdout.contains("statedir setup claude"));
}
