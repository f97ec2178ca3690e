//! News for open pages.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    time::{Duration, Instant},
};

use super::{client::Server, project};

/// A page that listens for news.
fn listen(server: &Server, revision: &str) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(&server.host).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let path = format!("{}events?revision={revision}", server.home());
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: {}\r\n{}\r\n\r\n", server.host, server.cookie());
    stream.write_all(request.as_bytes()).unwrap();
    BufReader::new(stream)
}

/// Reads until something has changed.
fn wait(news: &mut BufReader<TcpStream>) {
    let mut line = String::new();
    while line != "event: change\n" {
        line.clear();
        assert!(news.read_line(&mut line).unwrap() > 0, "the news have ended");
    }
}

/// Reads until it is known that nothing is new.
fn wait_until_ready(news: &mut BufReader<TcpStream>) {
    let mut line = String::new();
    while line != ": nothing new\n" {
        line.clear();
        assert!(news.read_line(&mut line).unwrap() > 0, "the news have ended");
        assert_ne!(line, "event: change\n");
    }
}

#[test]
fn a_change_on_the_command_line_reaches_every_open_page() {
    let project = project();
    let server = Server::start(&project, &[]);
    let revision = server.revision();
    let mut pages: Vec<_> = (0..50).map(|_| listen(&server, &revision)).collect();
    pages.iter_mut().for_each(wait_until_ready);
    let began = Instant::now();
    project.ok(&["step", "start", "1"]);
    pages.iter_mut().for_each(wait);
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    assert_ne!(server.revision(), revision);
    assert!(server.memory() < 64 << 10, "{} KiB", server.memory());
}

#[test]
fn what_happened_before_a_page_listened_is_told_at_once() {
    let project = project();
    let server = Server::start(&project, &[]);
    let shown = server.revision();
    project.ok(&["step", "start", "1"]);
    wait(&mut listen(&server, &shown));
}

#[test]
fn connections_that_say_nothing_are_closed() {
    let project = project();
    let server = Server::start(&project, &[]);
    let mut idle: Vec<TcpStream> =
        (0..40).map(|_| TcpStream::connect(&server.host).unwrap()).collect();
    for stream in &mut idle {
        let _ = stream.write_all(b"GET / HT");
    }
    assert_eq!(server.get(&server.home()).status, 200, "others are served meanwhile");
    let began = Instant::now();
    for stream in &mut idle {
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let _ = stream.read(&mut [0; 16]);
    }
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

#[test]
fn writers_and_open_pages_end_at_the_same_revision() {
    let project = project();
    let server = Server::start(&project, &[]);
    let revision = server.revision();
    let mut pages: Vec<_> = (0..10).map(|_| listen(&server, &revision)).collect();
    pages.iter_mut().for_each(wait_until_ready);
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let project = &project;
            scope.spawn(move || {
                for turn in 0..5 {
                    project.ok(&["var", "set", &format!("w{writer}.t{turn}"), "1"]);
                }
            });
        }
    });
    pages.iter_mut().for_each(wait);
    let last: serde_json::Value =
        serde_json::from_str(&project.ok(&["status", "--json"]).stdout).unwrap();
    assert_eq!(server.revision(), last["revision"].as_str().unwrap());
}
