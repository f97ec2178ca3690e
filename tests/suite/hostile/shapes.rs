//! State files that are links, pipes or directories, too large, too deep, or not text.

use std::{
    fs,
    os::unix::fs::symlink,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use crate::builder::{FIVE, Project};

const COMMANDS: [&[&str]; 7] = [
    &["status"],
    &["check"],
    &["check", "--fix"],
    &["var", "set", "a", "1"],
    &["history", "add", "x"],
    &["context", "add", "y"],
    &["init"],
];

/// Runs a command that must end by itself, soon, and not by a crash.
fn ends(project: &Project, args: &[&str]) -> i32 {
    let mut child =
        project.command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code().unwrap_or_else(|| panic!("{args:?} died: {status}"));
        }
        if started.elapsed() > Duration::from_secs(30) {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("{args:?} hangs");
        }
        std::thread::sleep(Duration::from_millis(3));
    }
}

fn make_fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn a_linked_state_file_is_refused_and_its_target_untouched() {
    for name in FIVE {
        let project = Project::with_steps(1);
        let target = project.root().join("target");
        fs::rename(project.path(name), &target).unwrap();
        let before = fs::read(&target).ok();
        symlink(&target, project.path(name)).unwrap();
        for args in COMMANDS {
            let refusal = project.refused(4, args);
            let message = refusal["error"]["message"].as_str().unwrap();
            assert!(message.contains("symbolic link") && message.contains(name), "{message}");
        }
        assert_eq!(fs::read(&target).ok(), before);
        assert!(project.path(name).is_symlink());
    }
}

#[test]
fn a_linked_private_file_or_directory_is_refused() {
    let names = ["lock", "head", "log", "log/00000001.log", "tmp", "salvage", "objects"];
    for name in names {
        let project = Project::with_steps(1);
        let (path, outside) = (project.path(".statedir").join(name), project.root().join("out"));
        if path.exists() {
            fs::rename(&path, &outside).unwrap();
        } else {
            fs::create_dir(&outside).unwrap();
        }
        let list = |dir: &Path| fs::read_dir(dir).map(Iterator::count).unwrap_or_default();
        let before = (fs::read(&outside).ok(), list(&outside));
        symlink(&outside, &path).unwrap();
        let code = ends(&project, &["var", "set", "a", "1"]);
        assert!(code == 4 || code == 0, "{name}: {code}");
        assert_eq!((fs::read(&outside).ok(), list(&outside)), before, "{name} led outside");
    }
}

#[test]
fn a_leftover_link_in_the_place_of_a_temporary_file_is_not_followed() {
    let project = Project::with_steps(1);
    let victim = project.root().join("victim");
    fs::write(&victim, "victim").unwrap();
    symlink(&victim, project.path(".statedir/tmp/plan.md")).unwrap();
    project.ok(&["step", "start", "1"]);
    assert_eq!(fs::read_to_string(&victim).unwrap(), "victim");
    assert!(!project.path("plan.md").is_symlink());
}

#[test]
fn a_pipe_or_directory_in_place_of_a_file_is_refused_without_waiting() {
    let private = [".statedir/lock", ".statedir/head", ".statedir/log/00000001.log"];
    for name in FIVE.into_iter().chain(["workflow.yaml"]).chain(private) {
        for make in [make_fifo, |path: &Path| fs::create_dir(path).unwrap()] {
            let project = Project::with_steps(1);
            let _ = fs::remove_file(project.path(name));
            make(&project.path(name));
            for args in COMMANDS {
                assert_eq!(ends(&project, args), 4, "{name} {args:?}");
            }
        }
    }
}

#[test]
fn an_oversize_file_is_refused_before_it_is_read() {
    for name in ["variables.json", "plan.md", ".statedir/head"] {
        let project = Project::with_steps(1);
        let file = fs::OpenOptions::new().write(true).open(project.path(name)).unwrap();
        file.set_len(3_000_000_000).unwrap();
        let started = Instant::now();
        let code = ends(&project, &["status"]);
        assert!(code == 4 || name.contains("head") && code == 0, "{name}: {code}");
        assert!(started.elapsed() < Duration::from_secs(5), "{name} took {:?}", started.elapsed());
    }
    let project = Project::with_steps(1);
    project.write("variables.json", format!("{{\"a\": \"{}\"}}", "x".repeat(100_000_000)));
    assert_eq!(project.refused(4, &["var", "set", "a", "1"])["error"]["code"], "too_large");
}

#[test]
fn deep_nesting_is_refused_with_a_place() {
    let deep = 100_000;
    let project = Project::with_steps(1);
    for text in [
        format!("{}{}", "[".repeat(deep), "]".repeat(deep)),
        format!("{}1{}", "{\"a\":".repeat(deep), "}".repeat(deep)),
        "[".repeat(deep),
    ] {
        project.write("variables.json", &text);
        let refusal = project.refused(4, &["var", "set", "b", "1"]);
        assert!(refusal["error"]["location"]["column"].as_u64().unwrap() < 1000, "{refusal}");
        for input in [&["var", "merge", "-"][..], &["var", "patch", "-"], &["apply", "-"]] {
            let ran = project.run_with_input(input, &text);
            assert!([1, 4].contains(&ran.code), "{input:?} {}", ran.code);
        }
        for args in [&["status"][..], &["state"], &["check"]] {
            assert!([0, 4].contains(&ends(&project, args)), "{args:?}");
        }
    }
    let shapes = ["- ".repeat(deep), "> ".repeat(deep), "[".repeat(deep), "*a_ ".repeat(deep)];
    let ladder: String = (0..2000).map(|n| format!("{}- x\n", "  ".repeat(n))).collect();
    for text in shapes.into_iter().chain([ladder]) {
        for (name, args) in [
            ("plan.md", &["step", "start", "1"][..]),
            ("context.md", &["context", "add", "y"]),
            ("constraints.md", &["directive", "add", "y"]),
            ("history.md", &["history", "add", "y"]),
        ] {
            let project = Project::with_steps(1);
            let original = project.read(name);
            project.write(name, format!("{original}\n{text}x\n"));
            for args in [args, &["status"], &["check"], &["state"]] {
                assert!([0, 4].contains(&ends(&project, args)), "{name} {args:?}");
            }
        }
    }
}

#[test]
fn a_value_that_is_json_but_too_deep_does_not_silently_become_text() {
    let project = Project::with_steps(1);
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let ran = project.run(&["var", "set", "deep", &deep, "--json"]);
    assert_eq!(ran.code, 1, "a list of 200 levels was stored as {:.40}", ran.json()["value"]);
}

#[test]
fn a_bad_byte_is_refused_with_its_place_and_hides_no_other_file() {
    for (bytes, name) in [(&b"ab\xff\n"[..], "UTF-8"), (b"ab\0\n", "NUL")] {
        let project = Project::with_steps(1);
        let mut context = fs::read(project.path("context.md")).unwrap();
        let line = context.iter().filter(|byte| **byte == b'\n').count() + 1;
        context.extend_from_slice(bytes);
        project.write("context.md", &context);
        let refusal = project.refused(4, &["context", "add", "x"]);
        let message = refusal["error"]["message"].as_str().unwrap();
        assert!(message.contains(name) && message.contains(&format!("{line}:3")), "{message}");
        assert_eq!(refusal["error"]["location"]["line"], line);
        project.ok(&["status"]);
        project.ok(&["var", "set", "a", "1"]);
        project.ok(&["step", "start", "1"]);
        project.ok(&["step", "done", "1"]);
        assert_eq!(fs::read(project.path("context.md")).unwrap(), context);
        assert_eq!(project.run(&["check"]).code, 4);
    }
}

#[test]
fn a_bad_byte_in_any_file_is_found_by_check() {
    for name in FIVE {
        let project = Project::with_steps(1);
        let mut bytes = fs::read(project.path(name)).unwrap();
        bytes.extend_from_slice(b"\nab\xff\n");
        project.write(name, &bytes);
        let check = project.run(&["check", "--json"]);
        assert_eq!(check.code, 4, "{name}: {}", check.stdout);
    }
}

#[test]
fn line_ends_a_mark_at_the_start_and_a_missing_last_newline_survive() {
    let changes: [fn(&str) -> String; 3] = [
        |text| text.replace('\n', "\r\n"),
        |text| format!("\u{feff}{text}"),
        |text| text.trim_end().to_owned(),
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let project = Project::with_steps(2);
        for name in FIVE {
            project.write(name, change(&project.read(name)));
        }
        let last: Vec<String> = FIVE.iter().map(|name| project.read(name)).collect();
        for args in [
            &["plan", "set", "owner=ada"][..],
            &["step", "start", "1"],
            &["context", "add", "y", "--section", "Key Findings"],
            &["constraint", "set", "priority", "cost_efficiency"],
            &["var", "set", "a.b", "[1, {\"c\": 2}]"],
        ] {
            project.ok(args);
        }
        for (name, before) in FIVE.iter().zip(&last) {
            let text = project.read(name);
            match at {
                0 => assert!(!text.replace("\r\n", "").contains(['\r', '\n']), "{name}"),
                1 => assert!(text.starts_with('\u{feff}') && text.matches('\u{feff}').count() == 1),
                _ => assert_eq!(text.ends_with('\n'), before.ends_with('\n'), "{name}"),
            }
        }
        project.ok(&["step", "done", "1", "--note", "two\nlines"]);
        project.ok(&["history", "verify"]);
        project.ok(&["check"]);
        if at == 0 {
            assert!(!project.read("history.md").replace("\r\n", "").contains(['\r', '\n']));
        }
    }
}

#[test]
fn damaged_json_is_refused_with_line_and_column() {
    let project = Project::with_steps(1);
    for (text, line, column) in [
        ("{\n \"a\": 1,\n \"b\": \n}\n", 4, 1),
        ("{\"a\":1,\"a\":2}", 1, 8),
        ("[1]", 1, 1),
        ("", 1, 1),
    ] {
        project.write("variables.json", text);
        for args in [&["var", "set", "x", "1"][..], &["var", "get", "a"], &["step", "start", "1"]] {
            let refusal = project.refused(4, args);
            let location = &refusal["error"]["location"];
            assert_eq!((&location["line"], &location["column"]), (&line.into(), &column.into()));
        }
        project.ok(&["status"]);
    }
    project.ok(&["undo"]);
}
