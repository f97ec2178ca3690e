//! Completion in shells: the shell's own functions run the script that `completions` prints.

use std::process::Command;

use crate::{
    builder::{Project, outside_of_any_session},
    needs,
};

/// A state with one of everything that has a name.
fn eventful() -> Project {
    let project = Project::with_steps(3);
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "done", "1"]);
    project.ok(&["step", "start", "2"]);
    project.ok(&["checkpoint", "create", "before-cleanup", "-m", "all is well"]);
    project.ok(&["checkpoint", "create", "after"]);
    project.ok(&["review", "open", "Is the budget fine?"]);
    project.ok(&["var", "set", "metrics.p99_ms", "12"]);
    project.ok(&["var", "set", "metrics.p50_ms", "3"]);
    project.ok(&["context", "add", "one", "--section", "Open Questions", "--create"]);
    project.ok(&["directive", "add", "Be brief"]);
    project
}

/// The completions of a line, as the program prints them.
fn asked(project: &Project, words: &[&str]) -> Vec<String> {
    let answer = project.ok(&[&["__complete"], words].concat());
    assert_eq!(answer.stderr, "");
    let word = |line: &str| line.split('\t').next().unwrap_or_default().to_owned();
    answer.stdout.lines().map(word).collect()
}

#[test]
fn names_of_the_state_are_completed() {
    let project = eventful();
    for (words, expected) in [
        (&["step", "done", ""][..], &["2"][..]),
        (&["step", "start", ""], &["3"]),
        (&["step", "show", ""], &["1", "2", "3"]),
        (&["step", "add", "x", "--depends-on", "1,"], &["1,1", "1,2", "1,3"]),
        (&["step", "reorder", "3", "--before", ""], &["1", "2", "3"]),
        (&["context", "add", "x", "--section", "Open"], &["Open Questions"]),
        (&["context", "add", "x", "--section=Open"], &["--section=Open Questions"]),
        (&["context", "add", "x", "--section", "=", "Open"], &["Open Questions"]),
        (&["show", "context", "--section", "Key"], &["Key Findings"]),
        (&["show", "con"], &["context", "constraints"]),
        (&["checkpoint", "delete", ""], &["after", "before-cleanup"]),
        (&["restore", "before"], &["before-cleanup"]),
        // Ids of operations are hexadecimal, so none begins like this.
        (&["diff", "aft"], &["after"]),
        (&["review", "approve", ""], &["r1"]),
        (&["var", "get", "metr"], &["metrics", "metrics.p99_ms", "metrics.p50_ms"]),
        (&["var", "set", "metrics.p9"], &["metrics.p99_ms"]),
        (&["directive", "remove", ""], &["1"]),
        (&["constraint", "set", "prio"], &["priority"]),
        (&["constraint", "set", "priority", "cost"], &["cost_efficiency"]),
        (&["init", "--template", "cla"], &["classic"]),
        (&["ste"], &["step"]),
        (&["step", "sk"], &["skip"]),
        (&["--json", "step", "sk"], &["skip"]),
        (&["step", "done", "--out"], &["--output"]),
        (&["--actor", "step", "chec"], &["check", "checkpoint"]),
        (&["state", "--format", "y"], &["yaml"]),
        (&["context", "add", "--", "--sec"], &[]),
        (&["nonsense", ""], &[]),
    ] {
        assert_eq!(asked(&project, words), expected, "{words:?}");
    }
    let listed = project.json(&["step", "list"]);
    let ids: Vec<&str> = listed["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["id"].as_str().unwrap())
        .collect();
    for id in ids.iter().filter(|id| id.starts_with(|c: char| c.is_ascii_alphabetic())) {
        // Ids are drawn at random: another one may begin with the same letters.
        let typed = &id[..2];
        let meant: Vec<&str> = ids.iter().copied().filter(|id| id.starts_with(typed)).collect();
        assert_eq!(asked(&project, &["step", "show", typed]), meant);
    }
    let described = project.ok(&["__complete", "step", "start", ""]).stdout;
    assert!(described.starts_with("3\tDo part 3 ("), "{described}");
}

#[test]
fn completing_never_fails_writes_or_shows_what_a_shell_could_not_give_back() {
    for project in [Project::empty(), Project::new(), eventful()] {
        let before = project.files();
        for words in [&["step", "done", ""][..], &[], &[""], &["restore", ""], &["-C"], &["-", "="]]
        {
            asked(&project, words);
        }
        assert_eq!(project.files(), before);
    }
    assert!(!Project::empty().dir().exists());
    let project = Project::with_steps(1);
    project.write("variables.json", "{ not json");
    assert_eq!(asked(&project, &["var", "get", ""]), [""; 0]);
    project.write("variables.json", "{\"good\": 1, \"a\\u001b[31m\": 2, \"b\\nc\": 3}");
    let found = asked(&project, &["var", "get", ""]);
    assert!(found.contains(&"good".to_owned()) && found.len() == 3, "{found:?}");
    assert!(!found.iter().any(|word| word.contains(char::is_control)), "{found:?}");
    let hostile = "$(touch pwned) `touch pwned`; touch pwned";
    project.ok(&["context", "add", "x", "--section", hostile, "--create"]);
    assert_eq!(asked(&project, &["context", "show", "--section", "$("]), [hostile]);
}

/// A shell that has the program in its path and its script in a file.
fn shell(project: &Project, shell: &str, script: &str) -> String {
    let path = project.root().join(format!("completion.{shell}"));
    std::fs::write(&path, project.ok(&["completions", shell]).stdout).unwrap();
    let mut command = Command::new(shell);
    match shell {
        "bash" => command.args(["--norc", "--noprofile", "-c"]),
        "zsh" => command.args(["-f", "-c"]),
        _ => command.args(["--no-config", "-c"]),
    };
    let ran = outside_of_any_session(command.arg(script))
        .current_dir(project.root())
        .env_remove("STATEDIR")
        .env("PATH", crate::program::search_path())
        .env("LC_ALL", "C.UTF-8")
        .env("HOME", project.root())
        .output()
        .unwrap();
    let text = String::from_utf8(ran.stdout).unwrap();
    assert!(ran.status.success(), "{text}{}", String::from_utf8_lossy(&ran.stderr));
    assert!(!project.root().join("pwned").exists());
    text
}

#[test]
fn bash_completes_what_the_state_knows() {
    if !needs::program("bash") {
        return;
    }
    let project = eventful();
    project.ok(&["context", "add", "x", "--section", "$(touch pwned)", "--create"]);
    let completed = |words: &str| {
        let script = format!(
            "source ./completion.bash && complete -p statedir >/dev/null && COMP_WORDS=({words}) && \
             COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)) && \
             _statedir statedir \"${{COMP_WORDS[COMP_CWORD]}}\" && \
             [[ ${{#COMPREPLY[@]}} = 0 ]] || printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        shell(&project, "bash", &script).lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(completed("statedir step done ''"), ["2"]);
    assert_eq!(completed("statedir step show ''"), ["1", "2", "3"]);
    assert_eq!(completed("statedir context show --section Open"), ["Open\\ Questions"]);
    assert_eq!(completed("statedir context show --section '\"Open'"), ["Open Questions"]);
    assert_eq!(completed("statedir context show --section 'Open\\ Q'"), ["Open\\ Questions"]);
    assert_eq!(completed("statedir context show --section '$'"), ["\\$\\(touch\\ pwned\\)"]);
    assert_eq!(completed("statedir checkpoint delete bef"), ["before-cleanup"]);
    assert_eq!(completed("statedir review reject ''"), ["r1"]);
    assert_eq!(completed("statedir var get metrics.p9"), ["metrics.p99_ms"]);
    assert_eq!(completed("statedir init --template ver"), [""; 0]);
}

#[test]
fn zsh_completes_what_the_state_knows() {
    if !needs::program("zsh") {
        return;
    }
    let project = eventful();
    let completed = |words: &str| {
        // The input that the completion system gives the function, and how it uses the answer.
        let script = format!(
            "compdef() {{ :; }}; _files() {{ print files; }}; \
             _describe() {{ print -l -- \"${{(@P)argv[-1]}}\"; }}; \
             source ./completion.zsh; words=({words}); CURRENT=$#words; PREFIX=$words[-1]; _statedir"
        );
        shell(&project, "zsh", &script).lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(completed("statedir review reject ''"), ["r1:Is the budget fine?"]);
    assert_eq!(completed("statedir context show --section Open"), ["Open Questions"]);
    assert_eq!(completed("statedir checkpoint delete bef"), ["before-cleanup:all is well"]);
    assert_eq!(completed("statedir apply ''"), ["files"]);
}

#[test]
fn fish_completes_what_the_state_knows() {
    if !needs::program("fish") {
        return;
    }
    let project = eventful();
    let completed = |line: &str| {
        let script = format!("source ./completion.fish; complete -C '{line}'");
        shell(&project, "fish", &script).lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(completed("statedir review reject "), ["r1\tIs the budget fine?"]);
    assert_eq!(completed("statedir checkpoint delete bef"), ["before-cleanup\tall is well"]);
    assert_eq!(completed("statedir var get metrics.p9"), ["metrics.p99_ms"]);
    // Files are left to fish, whose functions may be installed elsewhere.
    let whether = "functions -q __fish_complete_path; and echo yes; or echo no";
    let files = completed("statedir apply comple");
    let is_offered = files.iter().any(|line| line.starts_with("completion.fish"));
    assert!(is_offered || shell(&project, "fish", whether).trim() == "no", "{files:?}");
}

#[test]
fn other_shells_get_a_script_of_their_own() {
    let project = Project::empty();
    for shell in ["elvish", "powershell"] {
        assert!(project.ok(&["completions", shell]).stdout.contains("statedir"), "{shell}");
    }
    // A script that asks the program is short: it is read at every start of a shell.
    for shell in ["bash", "zsh", "fish"] {
        assert!(project.ok(&["completions", shell]).stdout.len() < 2000, "{shell}");
    }
}
