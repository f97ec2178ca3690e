//! What is refused, with nothing changed; each beside a control that is answered.

use super::{
    client::{Server, encoded},
    project,
};

#[test]
fn requests_from_elsewhere_change_nothing() {
    let project = project();
    let server = Server::start(&project, &[]);
    let files = project.files();
    let revision = server.revision();
    let path = format!("{}do", server.home());
    let body =
        encoded(&[("word", "step"), ("word", "start"), ("word", "1"), ("revision", &revision)]);
    let (cookie, origin) = (server.cookie(), server.origin());
    let kind = "Content-Type: application/x-www-form-urlencoded";
    let post = |headers: &[&str], body: &str| server.raw("POST", &path, headers, body).status;
    // Origin.
    assert_eq!(post(&[&cookie, kind], &body), 403, "no Origin");
    assert_eq!(post(&[&cookie, kind, "Origin: null"], &body), 403);
    assert_eq!(post(&[&cookie, kind, "Origin: https://evil.example"], &body), 403);
    assert_eq!(post(&[&cookie, kind, &origin, "Sec-Fetch-Site: cross-site"], &body), 403);
    // Token.
    assert_eq!(post(&[kind, &origin], &body), 401, "no cookie");
    assert_eq!(post(&[kind, &origin, "Cookie: statedir=1"], &body), 401);
    // Type and size of the body.
    assert_eq!(post(&[&cookie, &origin, "Content-Type: text/plain"], &body), 415);
    assert_eq!(post(&[&cookie, &origin, kind], &"a=b&".repeat(20_000)), 413);
    // What the form asks for.
    for form in [
        &[("word", "gc"), ("revision", revision.as_str())][..],
        &[("word", "step"), ("word", "start"), ("word", "1")],
        &[("word", "step"), ("word", "start"), ("word", "--force"), ("revision", &revision)],
    ] {
        assert_eq!(post(&[&cookie, &origin, kind], &encoded(form)), 400, "{form:?}");
    }
    // Path and method.
    for (method, path, status) in [
        ("POST", server.home().as_str(), 405),
        ("GET", path.as_str(), 405),
        ("PUT", path.as_str(), 405),
        ("DELETE", path.as_str(), 405),
        ("OPTIONS", path.as_str(), 405),
        ("GET", "/s/000000000000/", 404),
        ("GET", "/s/../../etc/passwd", 400),
        ("GET", "/s/%2e%2e/%2e%2e/etc/passwd", 400),
        ("GET", "/.statedir/log", 404),
        ("GET", "/etc/passwd", 404),
        ("POST", "/", 405),
    ] {
        let answer = server.raw(method, path, &[&cookie, &origin], "");
        assert_eq!(answer.status, status, "{method} {path}: {}", answer.body);
    }
    assert_eq!(project.files(), files, "nothing was changed");
    assert_eq!(post(&[&cookie, &origin, kind], &body), 303, "the control: all of it right");
    assert_ne!(project.files(), files);
}

#[test]
fn a_name_that_was_made_to_lead_here_is_not_answered() {
    let project = project();
    let server = Server::start(&project, &[]);
    let port = server.host.split(':').nth(1).unwrap();
    let ask = |host: &str| {
        let request = format!(
            "GET {} HTTP/1.1\r\nHost: {host}\r\n{}\r\n\r\n",
            server.home(),
            server.cookie()
        );
        server.bytes(request.as_bytes())
    };
    for host in [
        format!("evil.example:{port}"),
        "127.0.0.1:1".to_owned(),
        format!("127.0.0.1.evil.example:{port}"),
        String::new(),
    ] {
        let answer = ask(&host);
        assert_eq!(answer.status, 421, "{host}");
        assert!(!answer.body.contains("Collect"), "{host}");
    }
    assert_eq!(ask(&server.host).status, 200);
    let home = server.home();
    let two = format!(
        "GET {home} HTTP/1.1\r\nHost: {0}\r\nHost: evil.example\r\n{1}\r\n\r\n",
        server.host,
        server.cookie()
    );
    assert_eq!(server.bytes(two.as_bytes()).status, 400);
}

#[test]
fn without_the_token_nothing_is_shown() {
    let project = project();
    let server = Server::start(&project, &[]);
    for path in [
        "/",
        &server.home(),
        "/app.js",
        "/style.css",
        "/?token=",
        "/?token=00000000000000000000000000000000",
    ] {
        let answer = server.raw("GET", path, &[], "");
        assert_eq!(answer.status, 401, "{path}");
        assert!(!answer.body.contains("Collect"), "{path}");
        assert!(answer.header("set-cookie").is_none(), "{path}");
    }
    let events = server.raw("GET", &format!("{}events", server.home()), &[], "");
    assert_eq!(events.status, 401);
}

#[test]
fn a_read_only_page_offers_and_takes_nothing() {
    let project = project();
    let server = Server::start(&project, &["--read-only"]);
    let page = server.get(&server.home()).body;
    assert!(
        page.contains("Collect benchmarks")
            && !page.contains("<form")
            && !page.contains("draggable"),
        "{page}"
    );
    let first = server.revision();
    project.ok(&["step", "add", "Another"]);
    for view in ["operations", "reviews", "steps?from=1", &format!("?at={first}")] {
        let page = server.get(&format!("{}{view}", server.home())).body;
        assert!(!page.contains("method=\"post\""), "{view}: {page}");
    }
    let files = project.files();
    let revision = server.revision();
    let form =
        [("word", "step"), ("word", "start"), ("word", "1"), ("revision", revision.as_str())];
    assert_eq!(server.change(&form).status, 403);
    assert_eq!(project.files(), files);
}

#[test]
fn only_addresses_of_this_machine_are_listened_on() {
    let project = project();
    let server = Server::start(&project, &["--port", "0"]);
    assert!(server.host.starts_with("127.0.0.1:"));
    let refused = project.run(&["web", "--listen", "not-an-address"]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    let taken = server.host.split(':').nth(1).unwrap();
    let refused = project.run(&["web", "--port", taken]);
    assert_eq!(refused.code, 1, "{}", refused.stderr);
    assert!(refused.stderr.contains(taken), "{}", refused.stderr);
}
