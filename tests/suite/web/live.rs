//! Updates of open pages.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use super::{client::Server, project};

/// A page that listens for updates.
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

/// Reads until the server reports that nothing is new.
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
fn what_happened_before_a_page_listened_is_reported_at_once() {
    let project = project();
    let server = Server::start(&project, &[]);
    let shown = server.revision();
    project.ok(&["step", "start", "1"]);
    wait(&mut listen(&server, &shown));
}

#[test]
fn clients_that_are_slow_or_too_many_are_cut_off() {
    let project = project();
    let server = Server::start(&project, &[]);
    let connect = || TcpStream::connect(&server.host).unwrap();
    let mut idle: Vec<TcpStream> = (0..40).map(|_| connect()).collect();
    for stream in &mut idle {
        let _ = stream.write_all(b"GET / HT");
    }
    assert_eq!(server.get(&server.home()).status, 200, "others are served meanwhile");
    // A client that sends a byte now and then gets no more time than the others.
    let mut slow = connect();
    let drip = std::thread::spawn(move || {
        let began = Instant::now();
        while slow.write_all(b"G").is_ok() && began.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(200));
        }
        began.elapsed()
    });
    // Connections beyond the limit are refused at once, not kept waiting.
    let began = Instant::now();
    idle.extend((0..200).map(|_| connect()));
    let mut refused = 0;
    for stream in &mut idle {
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let mut answer = [0; 12];
        if stream.read_exact(&mut answer).is_ok() {
            assert_eq!(&answer, b"HTTP/1.1 503");
            refused += 1;
        }
    }
    assert!(refused > 3, "only {refused} of 240");
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    let dripped = drip.join().unwrap();
    assert!(dripped < Duration::from_secs(15), "{dripped:?}");
    assert_eq!(server.get(&server.home()).status, 200, "there is room again");
}

/// A number that the environment may make larger.
fn sized(name: &str, small: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(small)
}

/// `STATEDIR_WEB_PAGES=50 STATEDIR_WEB_WRITERS=8 STATEDIR_WEB_SECONDS=60` is the large one.
#[test]
fn writers_and_open_pages_end_at_the_same_revision() {
    let project = project();
    let server = Server::start(&project, &[]);
    let pages = sized("STATEDIR_WEB_PAGES", 10) as usize;
    let writers = sized("STATEDIR_WEB_WRITERS", 4);
    let time = Duration::from_secs(sized("STATEDIR_WEB_SECONDS", 2));
    let first = server.revision();
    let seen: Vec<Mutex<String>> = (0..pages).map(|_| Mutex::new(first.clone())).collect();
    let listening: Vec<_> = (0..pages).map(|_| listen(&server, &first)).collect();
    let ends: Vec<TcpStream> =
        listening.iter().map(|news| news.get_ref().try_clone().unwrap()).collect();
    let (shown, changes) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for (mut news, seen) in listening.into_iter().zip(&seen) {
            let (server, shown) = (&server, &shown);
            // As the script of the page does: every update fetches the page again.
            scope.spawn(move || {
                let mut line = String::new();
                while news.read_line(&mut line).is_ok_and(|count| count > 0) {
                    if line == "event: change\n" {
                        *seen.lock().unwrap() = server.revision();
                        shown.fetch_add(1, Ordering::Relaxed);
                    }
                    line.clear();
                }
            });
        }
        let began = Instant::now();
        std::thread::scope(|scope| {
            for writer in 0..writers {
                let (project, changes) = (&project, &changes);
                scope.spawn(move || {
                    while began.elapsed() < time {
                        let turn = changes.fetch_add(1, Ordering::Relaxed);
                        project.ok(&[
                            "--wait",
                            "60s",
                            "var",
                            "set",
                            &format!("w{writer}"),
                            &turn.to_string(),
                        ]);
                    }
                });
            }
        });
        let last = project.json(&["status"])["revision"].as_str().unwrap().to_owned();
        let end = Instant::now() + Duration::from_secs(30);
        let behind = || seen.iter().filter(|seen| *seen.lock().unwrap() != last).count();
        while behind() > 0 && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(50));
        }
        let left = behind();
        for stream in &ends {
            let _ = stream.shutdown(std::net::Shutdown::Both);
        }
        assert_eq!(left, 0, "pages that do not show {last}");
    });
    let (shown, changes) = (shown.into_inner(), changes.into_inner());
    eprintln!(
        "{pages} pages, {writers} writers, {time:?}: {changes} changes, {shown} pages shown, {} KiB",
        server.memory()
    );
    assert!(changes >= writers && shown >= pages as u64, "{changes} changes, {shown} shown");
    assert!(server.memory() < 64 << 10, "{} KiB", server.memory());
    project.ok(&["check"]);
}
