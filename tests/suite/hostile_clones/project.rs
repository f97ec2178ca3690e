//! Links on the way to the state, in templates, settings and the archive.

use std::fs;

use super::{
    ground::{Ground, clear},
    ways::{CHANGES, HOOKS, empties_the_victims, harmless, writes_the_victim},
};

#[test]
fn a_state_directory_behind_a_link_is_not_written() {
    for name in ["workspace", "workspace/state"] {
        let spoil = |ground: &Ground| {
            let elsewhere = ground.place().join("outside/elsewhere");
            fs::create_dir_all(elsewhere.parent().unwrap()).unwrap();
            fs::rename(ground.at(name), &elsewhere).unwrap();
            ground.link(&ground.at(name), &elsewhere);
        };
        let lines = [&CHANGES[..], &HOOKS[..2], &["init --goal Again", "status"]].concat();
        harmless(&lines, spoil, writes_the_victim);
    }
}

#[test]
fn a_template_that_is_a_link_is_not_read() {
    let lines = ["init --goal Again --template templates"];
    let file = |ground: &Ground| {
        clear(&ground.at("workspace"));
        ground.link(&ground.at("templates/plan.md.hbs"), &ground.victim());
        ground.put(&ground.at("templates/context.md.hbs"), "# Context\n");
    };
    harmless(&lines, file, writes_the_victim);
}

#[test]
fn settings_that_are_links_are_not_written() {
    for (name, line) in [
        ("CLAUDE.md", "setup claude"),
        (".claude/settings.json", "setup claude"),
        (".mcp.json", "setup claude"),
        ("CLAUDE.md", "setup claude --remove"),
        ("AGENTS.md", "setup codex"),
        (".codex/config.toml", "setup codex"),
        ("AGENTS.md", "setup generic"),
        (".cursor/mcp.json", "setup cursor"),
        (".gemini/settings.json", "setup gemini"),
        ("GEMINI.md", "setup gemini"),
        (".gitattributes", "git install --textconv --pre-commit"),
    ] {
        let spoil = |ground: &Ground| ground.link(&ground.at(name), &ground.victim());
        harmless(&[line], spoil, writes_the_victim);
    }
    for (name, line) in [("CLAUDE.md", "setup claude"), (".cursor/mcp.json", "setup cursor")] {
        let dangling = |ground: &Ground| {
            ground.link(&ground.at(name), &ground.place().join("outside/new"));
        };
        harmless(&[line], dangling, writes_the_victim);
    }
    for name in [".claude", ".claude/skills"] {
        let spoil = |ground: &Ground| ground.link(&ground.at(name), &ground.victims());
        harmless(&["setup claude", "setup claude --remove"], spoil, writes_the_victim);
    }
}

#[test]
fn an_archive_that_is_a_link_is_not_moved_into() {
    let spoil = |ground: &Ground| ground.link(&ground.at("workspace/archive"), &ground.victims());
    let lines = ["archive --force", "archive list", "archive show exec", "archive restore exec"];
    harmless(&lines, spoil, empties_the_victims);
}
