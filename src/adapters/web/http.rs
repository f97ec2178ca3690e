//! As much of HTTP as the page needs: one short request for each connection, read with limits.

use std::{
    io::{self, Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

/// The longest request line with its headers, and the longest body.
const MOST_HEAD: usize = 16 << 10;
const MOST_BODY: usize = 64 << 10;
/// The most headers.
const MOST_HEADERS: usize = 100;

/// What is asked for in what way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Get,
    Head,
    Post,
}

/// A well-formed request; whether it is allowed is decided elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) method: Method,
    /// The path, decoded; it begins with a slash.
    pub(super) path: String,
    /// What follows the question mark, decoded.
    pub(super) query: Vec<(String, String)>,
    /// Names in lower case.
    headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

/// Why a request was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unread {
    /// It is not a request that this server understands.
    Malformed(&'static str),
    /// A method that nothing here answers.
    Method,
    /// It is longer than anything that makes sense here.
    TooLarge,
    /// It did not arrive in time, or the other side is gone.
    Gone,
}

impl Request {
    /// A header that must not appear twice is refused when it does; others give their first value.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// A parameter of the address.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The fields of a form.
    pub(super) fn form(&self) -> Option<Vec<(String, String)>> {
        let kind = self.header("content-type")?.split(';').next()?.trim();
        if !kind.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            return None;
        }
        pairs(std::str::from_utf8(&self.body).ok()?)
    }
}

/// Reads one request.
pub(super) fn read(stream: &mut impl Read) -> Result<Request, Unread> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        if bytes.len() > MOST_HEAD {
            return Err(Unread::TooLarge);
        }
        let count = stream.read(&mut chunk).map_err(|_| Unread::Gone)?;
        if count == 0 {
            return Err(if bytes.is_empty() {
                Unread::Gone
            } else {
                Unread::Malformed("it ends too early")
            });
        }
        bytes.extend_from_slice(&chunk[..count]);
    };
    if end > MOST_HEAD {
        return Err(Unread::TooLarge);
    }
    let mut body = bytes.split_off(end + 4);
    bytes.truncate(end);
    let mut request = head(&bytes)?;
    let length = length(&request)?;
    if body.len() > length {
        return Err(Unread::Malformed("more follows than it says"));
    }
    while body.len() < length {
        let most = (length - body.len()).min(chunk.len());
        let count = stream.read(&mut chunk[..most]).map_err(|_| Unread::Gone)?;
        if count == 0 {
            return Err(Unread::Malformed("it ends too early"));
        }
        body.extend_from_slice(&chunk[..count]);
    }
    request.body = body;
    Ok(request)
}

fn head(bytes: &[u8]) -> Result<Request, Unread> {
    let malformed = Unread::Malformed;
    let text = std::str::from_utf8(bytes).map_err(|_| malformed("it is not text"))?;
    let mut lines = text.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (method, target, version) = (words.next(), words.next(), words.next());
    let (Some(method), Some(target), Some("HTTP/1.1" | "HTTP/1.0"), None) =
        (method, target, version, words.next())
    else {
        return Err(malformed("its first line is not HTTP/1.1"));
    };
    let mut headers: Vec<(String, String)> = Vec::new();
    for line in lines {
        let (name, value) = line.split_once(':').ok_or(malformed("a header has no colon"))?;
        let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        if name.is_empty() || !name.chars().all(is_token) {
            return Err(malformed("a header has no name"));
        }
        if value.contains(|c: char| c.is_control() && c != '\t') {
            return Err(malformed("a header has control characters"));
        }
        let name = name.to_ascii_lowercase();
        let is_single =
            ["host", "origin", "content-length", "cookie", "content-type"].contains(&name.as_str());
        if is_single && headers.iter().any(|(known, _)| *known == name) {
            return Err(malformed("a header appears twice"));
        }
        headers.push((name, value.trim().to_owned()));
        if headers.len() > MOST_HEADERS {
            return Err(Unread::TooLarge);
        }
    }
    let method = match method {
        "GET" => Method::Get,
        "HEAD" => Method::Head,
        "POST" => Method::Post,
        _ => return Err(Unread::Method),
    };
    if !target.starts_with('/') || target.contains(|c: char| !c.is_ascii_graphic()) {
        return Err(malformed("its address is not a path"));
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let path = decoded(path, false).ok_or(malformed("its path cannot be decoded"))?;
    let is_plain = |c: char| c.is_ascii_graphic() && c != '\\';
    if !path.chars().all(is_plain) || path.split('/').any(|part| part == "..") {
        return Err(malformed("its path leads elsewhere"));
    }
    let query = pairs(query).ok_or(malformed("its parameters cannot be decoded"))?;
    Ok(Request { method, path, query, headers, body: Vec::new() })
}

fn length(request: &Request) -> Result<usize, Unread> {
    if request.header("transfer-encoding").is_some() {
        return Err(Unread::Malformed("a body needs its length"));
    }
    let length = match request.header("content-length") {
        None => 0,
        Some(text) if text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty() => {
            text.parse().map_err(|_| Unread::TooLarge)?
        }
        Some(_) => return Err(Unread::Malformed("its length is not a number")),
    };
    if length > MOST_BODY {
        return Err(Unread::TooLarge);
    }
    if length > 0 && request.method != Method::Post {
        return Err(Unread::Malformed("it has a body and changes nothing"));
    }
    Ok(length)
}

/// `a=b&c=d`, decoded.
fn pairs(text: &str) -> Option<Vec<(String, String)>> {
    let parts = text.split('&').filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            Some((decoded(name, true)?, decoded(value, true)?))
        })
        .collect()
}

/// The text that `%41` and, in a form, `+` stand for.
fn decoded(text: &str, in_form: bool) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
                let value = digit(rest.next())? * 16 + digit(rest.next())?;
                u8::try_from(value).ok()?
            }
            b'+' if in_form => b' ',
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

/// An answer.
#[derive(Clone, Debug)]
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) kind: &'static str,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: String,
}

/// What every answer says: nothing from elsewhere is loaded, nothing inline runs, nobody frames it.
/// Under the policy `no-referrer` a browser would not say that a form is ours.
const SAFE: &str = "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; \
    connect-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'\r\n\
    X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nReferrer-Policy: same-origin\r\n\
    Cross-Origin-Resource-Policy: same-origin\r\nCross-Origin-Opener-Policy: same-origin\r\n\
    Cache-Control: no-store\r\nConnection: close\r\n";

impl Response {
    pub(super) fn new(status: u16, kind: &'static str, body: impl Into<String>) -> Self {
        Self { status, kind, headers: Vec::new(), body: body.into() }
    }

    pub(super) fn html(status: u16, body: String) -> Self {
        Self::new(status, "text/html; charset=utf-8", body)
    }

    pub(super) fn text(status: u16, body: impl Into<String>) -> Self {
        Self::new(status, "text/plain; charset=utf-8", body)
    }

    pub(super) fn redirect(path: &str) -> Self {
        let mut response = Self::text(303, "");
        response.headers.push(("Location", path.to_owned()));
        response
    }

    /// Sends it; of an answer to HEAD only the headers.
    pub(super) fn send(&self, stream: &mut impl Write, with_body: bool) -> io::Result<()> {
        let mut head = format!(
            "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{SAFE}",
            self.status,
            reason(self.status),
            self.kind,
            self.body.len()
        );
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        stream.write_all(head.as_bytes())?;
        if with_body {
            stream.write_all(self.body.as_bytes())?;
        }
        stream.flush()
    }
}

/// The beginning of an event stream, which lasts as long as somebody listens.
pub(super) fn begin_events(stream: &mut impl Write) -> io::Result<()> {
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n{SAFE}\r\nretry: 1000\n\n");
    stream.write_all(head.as_bytes())?;
    stream.flush()
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        303 => "See Other",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        409 => "Conflict",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        421 => "Misdirected Request",
        422 => "Unprocessable Content",
        503 => "Service Unavailable",
        _ => "Internal Server Error",
    }
}

/// A connection from which everything has to arrive before a moment.
pub(super) struct Timed<'s> {
    pub(super) stream: &'s TcpStream,
    pub(super) end: Instant,
}

impl Read for Timed<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
        (&mut &*self.stream).read(bytes)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Result<Request, Unread> {
        read(&mut text.as_bytes())
    }

    #[test]
    fn a_request_is_read() {
        let request = parse("POST /s/a%2Db/do?x=1+2&y HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded; charset=utf-8\r\nContent-Length: 11\r\n\r\nword=a%26b+").unwrap();
        assert_eq!((request.method, request.path.as_str()), (Method::Post, "/s/a-b/do"));
        assert_eq!(request.parameter("x"), Some("1 2"));
        assert_eq!(request.parameter("y"), Some(""));
        assert_eq!(request.form().unwrap(), [("word".to_owned(), "a&b ".to_owned())]);
    }

    #[test]
    fn malformed_requests_are_refused() {
        for (text, what) in [
            (
                "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
                Unread::Malformed("a header appears twice"),
            ),
            ("GET /../x HTTP/1.1\r\n\r\n", Unread::Malformed("its path leads elsewhere")),
            ("GET /%2e%2e/x HTTP/1.1\r\n\r\n", Unread::Malformed("its path leads elsewhere")),
            ("GET /%zz HTTP/1.1\r\n\r\n", Unread::Malformed("its path cannot be decoded")),
            ("GET http://a/ HTTP/1.1\r\n\r\n", Unread::Malformed("its address is not a path")),
            ("GET / HTTP/1.1\r\n folded\r\n\r\n", Unread::Malformed("a header has no colon")),
            (
                "GET / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc",
                Unread::Malformed("it has a body and changes nothing"),
            ),
            (
                "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
                Unread::Malformed("a body needs its length"),
            ),
            ("POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n", Unread::TooLarge),
            (
                "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
                Unread::Malformed("its length is not a number"),
            ),
            ("PUT / HTTP/1.1\r\n\r\n", Unread::Method),
            ("GET /\r\n\r\n", Unread::Malformed("its first line is not HTTP/1.1")),
        ] {
            assert_eq!(parse(text).unwrap_err(), what, "{text}");
        }
        let long = format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(40_000));
        assert_eq!(parse(&long).unwrap_err(), Unread::TooLarge);
    }

    proptest! {
        #[test]
        fn no_bytes_do_any_harm(bytes in prop::collection::vec(any::<u8>(), 0..400), cut in 0..60usize) {
            let _ = read(&mut bytes.as_slice());
            let mut request = b"POST /s/x/do?a=%41 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\na=%4".to_vec();
            let at = cut.min(request.len());
            request.splice(at..at, bytes.iter().copied().take(8));
            if let Ok(request) = read(&mut request.as_slice()) {
                prop_assert!(request.path.starts_with('/') && !request.path.contains(".."));
                prop_assert!(request.body.len() <= MOST_BODY);
            }
        }
    }
}
