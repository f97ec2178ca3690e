//! A real browser, driven over WebDriver.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::needs;

/// Whether a browser and its driver are installed.
pub fn is_there() -> bool {
    needs::program("chromium") && needs::program("chromedriver")
}

/// A browser with one window; it ends with the test.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.ask("DELETE", "", Value::Null);
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

impl Browser {
    pub fn start() -> Self {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let port = lines
            .find_map(|line| {
                let line = line.ok()?;
                let rest = line.split("started successfully on port ").nth(1)?;
                rest.trim_end_matches('.').parse().ok()
            })
            .unwrap();
        std::thread::spawn(move || lines.for_each(drop));
        let mut browser = Self { driver, port, session: String::new() };
        let options = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--window-size=1280,900",
        ];
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": { "binary": "/usr/bin/chromium", "args": options },
        } } });
        let made = browser.send("POST", "/session", &wanted);
        browser.session = made["sessionId"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned();
        browser
    }

    pub fn ask(&self, method: &str, path: &str, body: Value) -> Value {
        self.send(method, &format!("/session/{}{path}", self.session), &body)
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            self.port,
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body.as_bytes()).unwrap();
        // The driver keeps connections open: only the length says where an answer ends.
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            let count = reader.read_line(&mut line).unwrap();
            let line = line.trim().to_ascii_lowercase();
            if let Some(text) = line.strip_prefix("content-length:") {
                length = text.trim().parse().unwrap();
            }
            if count == 0 || line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        serde_json::from_slice::<Value>(&body).map_or(Value::Null, |value| value["value"].clone())
    }

    pub fn open(&self, url: &str) {
        self.ask("POST", "/url", json!({ "url": url }));
    }

    pub fn run(&self, script: &str) -> Value {
        self.ask("POST", "/execute/sync", json!({ "script": script, "args": [] }))
    }

    /// Waits until an expression is true.
    pub fn until(&self, what: &str) {
        let end = Instant::now() + Duration::from_secs(30);
        while self.run(&format!("return Boolean({what})")) != true {
            assert!(Instant::now() < end, "{what}\n{}", self.run("return document.body.innerText"));
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Does something that leads to another page, and waits for that page. An update of the current
    /// page in the meantime does not count.
    pub fn leave(&self, script: &str) {
        self.run(&format!("window.isLeft = true; {script}"));
        self.until("!window.isLeft && document.readyState === 'complete'");
    }

    pub fn windows(&self) -> Vec<String> {
        let all = self.ask("GET", "/window/handles", Value::Null);
        all.as_array().unwrap().iter().map(|one| one.as_str().unwrap().to_owned()).collect()
    }

    pub fn switch(&self, window: &str) {
        self.ask("POST", "/window", json!({ "handle": window }));
    }

    /// The complaints of the browser: what it was not allowed to load or to run.
    pub fn complaints(&self) -> Vec<String> {
        let log = self.ask("POST", "/se/log", json!({ "type": "browser" }));
        let lines = log.as_array().cloned().unwrap_or_default();
        let message = |line: &Value| line["message"].as_str().unwrap_or_default().to_owned();
        lines.iter().map(message).collect()
    }

    /// Switches between the dark and the light colour scheme.
    pub fn set_dark(&self, is_dark: bool) {
        let value = if is_dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": value }]);
        let params = json!({ "features": features });
        self.ask(
            "POST",
            "/goog/cdp/execute",
            json!({ "cmd": "Emulation.setEmulatedMedia", "params": params }),
        );
    }

    /// Runs a script that calls its last argument when it is done.
    pub fn run_later(&self, script: &str) -> Value {
        self.ask("POST", "/execute/async", json!({ "script": script, "args": [] }))
    }
}
