//! Random requests: each gets an answer, none does harm.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    time::{Duration, Instant},
};

use super::{client::Server, project};

/// Random numbers from a seed, so that a failure can be repeated.
struct Chance(u64);

impl Chance {
    fn next(&mut self, most: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.next(all.len())]
    }
}

const PATHS: [&str; 14] = [
    "", "graph", "timeline", "steps", "reviews", "context", "history", "operations", "constraints",
    "diff", "do", "events/x", "../do", "%2e%2e%2fdo",
];
const NAMES: [&str; 9] = ["at", "from", "to", "until", "place", "skip", "status", "token", "x"];
const VALUES: [&str; 12] = [
    "",
    "0",
    "-1",
    "1",
    "99999999999999999999",
    "working",
    "@-1",
    "--text",
    "%00",
    "%F0%9F%92%A9",
    "000000000000",
    "git:HEAD",
];

/// A request that could come from a page, with something wrong in most of them.
fn request(chance: &mut Chance, server: &Server, home: &str, revision: &str) -> Vec<u8> {
    let method = chance.of(&["GET", "GET", "GET", "GET", "HEAD", "POST", "PUT", "get", "OPTIONS"]);
    let mut target = format!("{home}{}", chance.of(&PATHS));
    for part in 0..chance.next(4) {
        let value = if chance.next(3) == 0 { revision } else { chance.of(&VALUES) };
        target.push_str(if part == 0 { "?" } else { "&" });
        target.push_str(&format!("{}={value}", chance.of(&NAMES)));
    }
    // None of these is a command of the page, so any change is a fault.
    let body = match (method, chance.next(3)) {
        ("POST", 0) => format!("word=gc&revision={revision}"),
        ("POST", 1) => format!("word=step&word=done&word=%2d%2dforce&revision={revision}"),
        ("POST", _) => "word=undo&revision=000000000000&reason=%ff".to_owned(),
        _ => String::new(),
    };
    let mut text = format!(
        "{method} {target} {}\r\n",
        chance.of(&["HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/2"])
    );
    let host = format!("Host: {}", server.host);
    let headers = [host, server.cookie(), server.origin()];
    for header in &headers {
        for _ in 0..[1, 1, 1, 1, 1, 1, 0, 2][chance.next(8)] {
            text.push_str(&format!("{header}\r\n"));
        }
    }
    let odd = [
        "X: y",
        "Content-Type: application/x-www-form-urlencoded",
        "Expect: 100-continue",
        "Transfer-Encoding: chunked",
        "Content-Length: 7",
        "Sec-Fetch-Site: cross-site",
        ": no name",
    ];
    for _ in 0..chance.next(3) {
        text.push_str(&format!("{}\r\n", chance.of(&odd)));
    }
    if !body.is_empty() && chance.next(8) > 0 {
        text.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    let mut bytes = format!("{text}\r\n{body}").into_bytes();
    for _ in 0..[0, 0, 1, 3][chance.next(4)] {
        let (at, byte) = (chance.next(bytes.len()), chance.next(256) as u8);
        match chance.next(3) {
            0 => bytes[at] = byte,
            1 => drop(bytes.remove(at)),
            _ => bytes.insert(at, byte),
        }
    }
    bytes
}

/// `STATEDIR_FUZZ_SECONDS` makes it longer.
#[test]
fn no_request_does_any_harm() {
    let project = project();
    let server = Server::start(&project, &[]);
    let (home, revision) = (server.home(), server.revision());
    let files = project.files();
    let seconds = std::env::var("STATEDIR_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let end = Instant::now() + Duration::from_secs(seconds.unwrap_or(4));
    let mut chance = Chance(7);
    let (mut tried, mut shown) = (0, 0);
    while Instant::now() < end {
        let bytes = request(&mut chance, &server, &home, &revision);
        let printed = || String::from_utf8_lossy(&bytes).into_owned();
        let mut stream = TcpStream::connect(&server.host).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let _ = stream.write_all(&bytes);
        // The server would wait for a body that is announced and not sent.
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer);
        let status = answer.split(' ').nth(1).unwrap_or_default();
        assert!(
            matches!(
                status,
                "200"
                    | "303"
                    | "400"
                    | "401"
                    | "403"
                    | "404"
                    | "405"
                    | "409"
                    | "413"
                    | "415"
                    | "421"
                    | "422"
            ),
            "{status}: {}",
            printed()
        );
        assert!(answer.contains("Content-Security-Policy: default-src 'none'"), "{}", printed());
        assert!(!answer.contains("root:"), "{}", printed());
        tried += 1;
        shown += usize::from(status == "200");
    }
    assert!(tried > 20 && shown > 2, "only {tried}, of which {shown} were shown");
    assert_eq!(server.get(&home).status, 200);
    assert_eq!(project.files(), files);
    assert!(server.memory() < 64 << 10, "{} KiB", server.memory());
}
