//! What the README shows is what happens: its commands are run, its table is generated.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::builder::Project;

/// Where the README says that its demonstration happens.
const SHOWN_ROOT: &str = "~/demo";

fn readme() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap()
}

/// The insides of the code blocks in a language.
fn blocks<'r>(readme: &'r str, language: &str) -> Vec<&'r str> {
    let opening = format!("\n```{language}\n");
    let inside = readme.split(&opening).skip(1);
    inside.map(|rest| rest.split_once("```").expect("the block ends").0).collect()
}

/// The block's commands with their real output.
///
/// A command begins with `$ `, continues in lines with `> `, and is followed by its output.
fn actual_output(project: &Project, block: &str) -> String {
    let mut shown = String::new();
    let mut lines = block.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(command) = line.strip_prefix("$ ") else { continue };
        shown.push_str(&format!("{line}\n"));
        let mut script = command.to_owned();
        while let Some(line) = lines.next_if(|line| line.starts_with("> ")) {
            shown.push_str(&format!("{line}\n"));
            script.push_str(&format!("\n{}", &line[2..]));
        }
        shown.push_str(&shell(project, &script));
    }
    shown
}

/// What a shell prints for a command, on both streams.
fn shell(project: &Project, script: &str) -> String {
    let root = project.root().canonicalize().unwrap();
    let output = crate::builder::outside_of_any_session(&mut Command::new("sh"))
        .args(["-c", &format!("exec 2>&1\n{script}")])
        .current_dir(&root)
        .env("PATH", crate::program::search_path())
        .env_remove("STATEDIR")
        .env("STATEDIR_NOW", "2026-01-15T09:00:00Z")
        .env("STATEDIR_SEED", "7")
        .env("STATEDIR_ACTOR", "ada")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.replace(root.to_str().unwrap(), SHOWN_ROOT)
}

/// Compares, and writes the text that the README should have to a file.
fn assert_shows(part: &str, readme: &str, actual: &str) {
    if readme != actual {
        let corrected: PathBuf =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("README.{part}.md"));
        std::fs::write(&corrected, actual).unwrap();
        let lines = crate::builder::line_diff(readme, actual).join("\n");
        panic!("the README is out of date:\n{lines}\nsee {}", corrected.display());
    }
}

#[test]
fn every_command_of_the_readme_prints_what_it_says() {
    let readme = readme();
    let project = Project::empty();
    let mut corrected = readme.clone();
    let blocks = blocks(&readme, "console");
    for block in &blocks {
        let actual = actual_output(&project, block);
        corrected =
            corrected.replace(&format!("```console\n{block}"), &format!("```console\n{actual}"));
    }
    let commands =
        blocks.iter().flat_map(|block| block.lines()).filter(|line| line.starts_with("$ "));
    assert!(commands.count() > 10, "the README has hardly any commands");
    assert_shows("console", &readme, &corrected);
}

#[test]
fn a_wrong_output_in_a_block_is_seen() {
    let block = "$ statedir status; echo \"exit $?\"\neverything is fine\n";
    let actual = actual_output(&Project::empty(), block);
    assert!(actual.starts_with("$ statedir status"), "{actual}");
    assert!(actual.ends_with("\nexit 1\n") && !actual.contains("fine"), "{actual}");
}

/// A row for each command: the first line of its help, and the words that follow it.
fn rows(command: &clap::Command) -> String {
    let mut table = String::new();
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        let about = sub.get_about().map(ToString::to_string).unwrap_or_default();
        let verbs: Vec<String> =
            sub.get_subcommands().map(|verb| format!("`{}`", verb.get_name())).collect();
        let verbs =
            if verbs.is_empty() { String::new() } else { format!(": {}", verbs.join(", ")) };
        table.push_str(&format!(
            "| `{}` | {}{verbs} |\n",
            sub.get_name(),
            about.replace('|', "\\|")
        ));
    }
    table
}

#[test]
fn the_table_of_commands_is_the_help() {
    let readme = readme();
    let head = "| command | what it does |\n|---|---|\n";
    let (before, rest) = readme.split_once(head).expect("the README has a table of commands");
    let shown: usize =
        rest.split_inclusive('\n').take_while(|row| row.starts_with('|')).map(str::len).sum();
    let after = &rest[shown..];
    let table = rows(&statedir::internals::command());
    assert_shows("table", &readme, &format!("{before}{head}{table}{after}"));
}

#[test]
fn the_template_and_the_workflow_of_the_readme_can_be_used() {
    let readme = readme();
    let (templates, workflows) = (blocks(&readme, "handlebars"), blocks(&readme, "yaml"));
    let ([template], [workflow]) = (&templates[..], &workflows[..]) else {
        panic!("one template and one workflow, not {} and {}", templates.len(), workflows.len());
    };
    let project = Project::empty();
    let dir = project.root().join("our-templates");
    std::fs::create_dir(&dir).unwrap();
    std::fs::write(dir.join("context.md.hbs"), template).unwrap();
    std::fs::write(dir.join("workflow.yaml"), workflow).unwrap();
    let init = ["init", "--goal", "Ship 2.0", "--template", "our-templates"];
    assert_eq!(project.run(&init).code, 1, "a missing value is refused");
    project.ok(&[&init[..], &["--set", "owner=ada"]].concat());
    assert!(project.read("context.md").contains("- **owner**: ada\n"));
    project.ok(&["check", "--strict"]);
    project.ok(&["step", "add", "Build"]);
    assert_eq!(project.json(&["step", "show", "1"])["step"]["status"], "TODO");
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "move", "1", "TESTED"]);
    project.ok(&["step", "done", "1"]);
    assert_eq!(project.json(&["step", "show", "1"])["step"]["status"], "SHIPPED");
}

#[test]
fn every_kind_of_change_is_described() {
    let command = statedir::internals::command();
    let help = command.find_subcommand("apply").unwrap().get_after_help().unwrap().to_string();
    // The reader of changes names all of them when it is asked for one that does not exist.
    let unknown = serde_json::json!({ "op": "none such" });
    let printed = serde_json::from_value::<statedir::Change>(unknown).unwrap_err();
    let printed = printed.to_string();
    let kinds: Vec<&str> = printed.split('`').filter(|word| word.contains('.')).collect();
    assert!(kinds.len() > 25, "{printed}");
    let described = |kind: &&str| help.split([' ', ',', '\n']).any(|word| word == *kind);
    let missing: Vec<&&str> = kinds.iter().filter(|kind| !described(kind)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn the_readme_is_short_and_its_links_lead_somewhere() {
    let readme = readme();
    assert!(readme.lines().count() < 400, "{} lines", readme.lines().count());
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let targets = readme.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let mut files = 0;
    for target in targets.filter(|target| !target.contains("://")) {
        assert!(root.join(target).exists(), "{target}");
        files += 1;
    }
    assert!(files > 2, "only {files} links");
}
