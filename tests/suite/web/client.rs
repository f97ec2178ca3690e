//! The server as a child, and requests to it byte by byte.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Stdio},
    time::Duration,
};

use crate::builder::Project;

/// A running server; it ends with the test.
pub struct Server {
    child: Child,
    /// The address, as printed.
    pub url: String,
    pub host: String,
    cookie: String,
}

/// A response.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    headers: Vec<(String, String)>,
    pub body: String,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn read(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let mut lines = head.lines();
        let status =
            lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).unwrap_or(0);
        let headers = lines.filter_map(|line| line.split_once(": "));
        let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()));
        Self { status, headers: headers.collect(), body: body.to_owned() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    /// Starts one in the project and opens it as a browser would.
    pub fn start(project: &Project, args: &[&str]) -> Self {
        Self::start_with(project, args, |_| {})
    }

    /// The same in another environment.
    pub fn start_with(
        project: &Project,
        args: &[&str],
        prepare: impl FnOnce(&mut std::process::Command),
    ) -> Self {
        let mut words = vec!["web"];
        words.extend(args);
        let mut command = project.command(&words);
        prepare(&mut command);
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        let url = url.trim().to_owned();
        let host = url.trim_start_matches("http://").split('/').next().unwrap().to_owned();
        let mut server = Self { child, url, host, cookie: String::new() };
        let path = server.url.split(&server.host).nth(1).unwrap().to_owned();
        let opened = server.raw("GET", &path, &[], "");
        let cookie = opened.header("set-cookie").unwrap_or_default();
        server.cookie = cookie.split(';').next().unwrap_or_default().to_owned();
        server
    }

    pub fn cookie(&self) -> String {
        format!("Cookie: {}", self.cookie)
    }

    pub fn origin(&self) -> String {
        format!("Origin: http://{}", self.host)
    }

    /// A request with these headers and the right Host.
    pub fn raw(&self, method: &str, path: &str, headers: &[&str], body: &str) -> Answer {
        let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\n", self.host);
        for header in headers {
            head.push_str(&format!("{header}\r\n"));
        }
        if !body.is_empty() {
            head.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        self.bytes(format!("{head}\r\n{body}").as_bytes())
    }

    /// Any bytes at all.
    pub fn bytes(&self, bytes: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        // A server that refuses early does not read everything.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        Answer::read(&answer)
    }

    pub fn get(&self, path: &str) -> Answer {
        self.raw("GET", path, &[&self.cookie()], "")
    }

    /// The address of the only state.
    pub fn home(&self) -> String {
        self.get("/").header("location").unwrap().to_owned()
    }

    /// The revision that the board shows.
    pub fn revision(&self) -> String {
        let page = self.get(&self.home()).body;
        page.split("data-revision=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
    }

    /// Sends a form of the page.
    pub fn change(&self, form: &[(&str, &str)]) -> Answer {
        let kind = "Content-Type: application/x-www-form-urlencoded";
        let headers = [self.cookie(), self.origin(), kind.to_owned()];
        let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
        self.raw("POST", &format!("{}do", self.home()), &headers, &encoded(form))
    }

    /// The peak memory of the server, in KiB.
    pub fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

/// A form as a browser sends it.
pub fn encoded(form: &[(&str, &str)]) -> String {
    let part = |text: &str| -> String { text.bytes().map(|byte| format!("%{byte:02x}")).collect() };
    form.iter().map(|(name, value)| format!("{name}={}", part(value))).collect::<Vec<_>>().join("&")
}
