//! The first page shows the fleet where one is configured, and asks nobody where none is.

use std::process::Command;

use super::{client::Server, project};

#[test]
fn the_first_page_shows_the_fleet_that_is_configured() {
    let project = project();
    let elsewhere = project.root().join("elsewhere");
    let named = |command: &mut Command| {
        command
            .env("STATEDIR_FLEET", format!("sqlite:{}", project.root().join("fleet.db").display()))
            .env("XDG_STATE_HOME", &elsewhere);
    };
    for words in [&["fleet", "init"][..], &["fleet", "join", "--name", "billing <i>"]] {
        let mut command = project.command(words);
        named(&mut command);
        let ran = command.output().unwrap();
        assert!(ran.status.success(), "{words:?}: {}", String::from_utf8_lossy(&ran.stderr));
    }
    let server = Server::start_with(&project, &["."], |command| named(command));
    let page = server.get("/").body;
    assert!(page.contains("<h2>Fleet</h2>"), "{page}");
    assert!(page.contains("billing &lt;i&gt;"), "{page}");
    assert!(page.contains("0/2"), "{page}");
}

#[test]
fn a_fleet_that_does_not_answer_keeps_no_page_waiting() {
    let project = project();
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("postgres://nobody@{}/fleet", silent.local_addr().unwrap());
    let state_home = project.root().join("state-home");
    let server = Server::start_with(&project, &["."], |command| {
        command.env("STATEDIR_FLEET", &address).env("XDG_STATE_HOME", &state_home);
    });
    let page = server.get("/");
    assert_eq!(page.status, 200);
    assert!(page.body.contains("Collect") || page.body.contains("Compare"), "{}", page.body);
    assert!(page.body.contains("The fleet has not answered yet."), "{}", page.body);
    // Without one, no database is asked and nothing is shown.
    silent.set_nonblocking(true).unwrap();
    while silent.accept().is_ok() {}
    let server = Server::start_with(&project, &["."], |command| {
        command.env_remove("STATEDIR_FLEET").env("XDG_STATE_HOME", &state_home);
    });
    let page = server.get("/").body;
    assert!(!page.contains("Fleet"), "{page}");
    assert!(silent.accept().is_err(), "nobody was asked");
}
