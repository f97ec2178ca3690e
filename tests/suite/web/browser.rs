//! The page in a real browser, driven as WebDriver says.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{client::Server, project};
use crate::{builder::Project, needs};

/// A browser with one window; it ends with the test.
struct Browser {
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
    fn start() -> Self {
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

    fn ask(&self, method: &str, path: &str, body: Value) -> Value {
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

    fn open(&self, url: &str) {
        self.ask("POST", "/url", json!({ "url": url }));
    }

    fn run(&self, script: &str) -> Value {
        self.ask("POST", "/execute/sync", json!({ "script": script, "args": [] }))
    }

    /// Waits until an expression is true.
    fn until(&self, what: &str) {
        let end = Instant::now() + Duration::from_secs(30);
        while self.run(&format!("return Boolean({what})")) != true {
            assert!(Instant::now() < end, "{what}\n{}", self.run("return document.body.innerText"));
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn windows(&self) -> Vec<String> {
        let all = self.ask("GET", "/window/handles", Value::Null);
        all.as_array().unwrap().iter().map(|one| one.as_str().unwrap().to_owned()).collect()
    }

    fn switch(&self, window: &str) {
        self.ask("POST", "/window", json!({ "handle": window }));
    }

    /// What the browser complained about: loaded what it must not, ran what it must not.
    fn complaints(&self) -> Vec<String> {
        let log = self.ask("POST", "/se/log", json!({ "type": "browser" }));
        let lines = log.as_array().cloned().unwrap_or_default();
        let message = |line: &Value| line["message"].as_str().unwrap_or_default().to_owned();
        lines.iter().map(message).collect()
    }
}

fn is_there() -> bool {
    needs::program("chromium") && needs::program("chromedriver")
}

/// The button of a card that leads to a verb.
fn button(step: u32, verb: &str) -> String {
    format!(
        "document.querySelector('[data-step=\"{step}\"] form input[value=\"{verb}\"]').form.querySelector('button')"
    )
}

#[test]
fn a_person_sees_changes_moves_steps_and_answers_reviews() {
    if !is_there() {
        return;
    }
    let project = project();
    project.ok(&["--actor", "agent", "review", "open", "Is the budget fine?"]);
    project.ok(&["--actor", "agent", "review", "open", "Is the plan fine?"]);
    let server = Server::start(&project, &["--actor", "ada"]);
    let browser = Browser::start();
    browser.open(&server.url);
    browser.until("document.querySelector('.board')");
    assert!(!browser.run("return location.href").as_str().unwrap().contains("token"));
    // What happens on the command line appears by itself.
    project.ok(&["step", "add", "Write it down"]);
    browser.until("document.body.innerText.includes('Write it down')");
    // Reviews.
    browser.run("document.querySelector('[data-review=r1] form button').click()");
    browser.until(
        "document.querySelector('.board') && !document.querySelector('[data-review=r1].open')",
    );
    browser.run("const a = document.querySelector('[data-review=r2] details'); a.open = true; const f = a.querySelector('form'); f.querySelector('[name=reason]').value = 'too <b>long</b>'; f.querySelector('button').click()");
    browser.until("document.querySelector('.board') && !document.querySelector('.review.open')");
    let reviews = project.ok(&["review", "list", "--all"]).stdout;
    assert!(reviews.contains("approved") && reviews.contains("rejected"), "{reviews}");
    // A rejection pauses the plan.
    let shown = browser.run("return document.getElementById('live').dataset.revision");
    project.ok(&["resume"]);
    browser.until(&format!("document.getElementById('live').dataset.revision !== {shown}"));
    // A step is moved; a move that is not allowed is not offered.
    assert_eq!(
        browser.run("return document.querySelector('[data-step=\"2\"] form input[value=start]')"),
        Value::Null
    );
    browser.run(&format!("{}.click()", button(1, "start")));
    browser.until("document.querySelector('.card.active[data-step=\"1\"]')");
    // Dragged to a column that takes it, and to one that does not.
    let drag = |step: u32, role: &str| {
        browser.run(&format!(
            "const data = new DataTransfer(); const card = document.querySelector('.card[data-step=\"{step}\"]'); \
             const column = document.querySelector('.column.{role}'); \
             const send = (at, kind) => at.dispatchEvent(new DragEvent(kind, {{ bubbles: true, cancelable: true, dataTransfer: data }})); \
             send(card, 'dragstart'); const taken = !send(column, 'dragover'); if (taken) send(column, 'drop'); send(card, 'dragend'); return taken"
        ))
    };
    assert_eq!(drag(2, "done"), false);
    assert_eq!(drag(1, "done"), true);
    browser.until("document.querySelector('.card.done[data-step=\"1\"]')");
    // Back in time, and that undone.
    browser.run("[...document.querySelectorAll('nav a')].find((a) => a.textContent === 'Operations').click()");
    browser.until("document.querySelector('[data-operation] form')");
    browser.run("[...document.querySelectorAll('form button')].find((b) => b.textContent === 'Restore').click()");
    browser.until("document.querySelector('[data-operation]').innerText.includes('restore')");
    assert!(!project.ok(&["step", "list"]).stdout.contains('✓'), "the step is not done then");
    browser.run("[...document.querySelectorAll('form button')].find((b) => b.textContent === 'Undo').click()");
    browser.until("document.querySelector('[data-operation]').innerText.includes('undo')");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn two_tabs_in_conflict_lose_nothing() {
    if !is_there() {
        return;
    }
    let project = project();
    let server = Server::start(&project, &["--actor", "ada"]);
    let browser = Browser::start();
    browser.open(&server.url);
    browser.until("document.querySelector('.board')");
    // This tab hears no news any more.
    let stale = browser.run("return document.querySelector('[name=revision]').value");
    project.ok(&["--actor", "bob", "step", "add", "Something new"]);
    browser.until("document.body.innerText.includes('Something new')");
    browser.run(&format!(
        "for (const field of document.querySelectorAll('[name=revision]')) field.value = {stale}; {}.click()",
        button(1, "start")
    ));
    browser.until("document.body.innerText.includes('has changed since this page was shown')");
    browser.until("document.body.innerText.includes('bob')");
    assert!(
        project.ok(&["status"]).stdout.contains("0 running")
            || !project.ok(&["step", "list"]).stdout.contains('▶')
    );
    let first = browser.windows();
    browser.ask("POST", "/window/new", json!({ "type": "tab" }));
    let other = browser.windows().into_iter().find(|one| !first.contains(one)).unwrap();
    browser.switch(&other);
    browser.open(&format!("http://{}/", server.host));
    browser.until("document.querySelector('.board')");
    browser.run(&format!("{}.click()", button(1, "start")));
    browser.until("document.querySelector('.card.active[data-step=\"1\"]')");
}

#[test]
fn hostile_values_run_no_script_and_break_no_layout() {
    if !is_there() {
        return;
    }
    let project = crate::report::hostile();
    project.edit("plan.md", "Second", &"long".repeat(250_000));
    let server = Server::start(&project, &["--read-only"]);
    let browser = Browser::start();
    browser.open(&server.url);
    browser.until("document.querySelector('.board')");
    assert_eq!(browser.run("return document.querySelectorAll('form').length"), 0, "read-only");
    let home = format!("http://{}{}", server.host, server.home());
    for view in [
        "",
        "graph",
        "timeline",
        "steps",
        "reviews",
        "context",
        "history",
        "operations",
        "constraints",
    ] {
        browser.open(&format!("{home}{view}"));
        browser.until("document.querySelector('main')");
        let seen = browser.run(
            "return [document.title.includes('run') && !document.title.includes('script'), \
             document.querySelectorAll('main script, img, iframe, object, base').length, \
             document.documentElement.scrollWidth > window.innerWidth + 1]",
        );
        assert_eq!(seen, json!([false, 0, false]), "{view}");
        assert_eq!(browser.run(UNLABELLED), json!([]), "{view}");
    }
    assert_eq!(browser.complaints(), Vec::<String>::new());
    // The report says the same without a server.
    let file = project.root().join("report.html");
    project.ok(&["report", "--output", file.to_str().unwrap()]);
    browser.open(&format!("file://{}", file.display()));
    browser.until("document.querySelector('.board')");
    assert_eq!(
        browser.run("return [document.scripts.length, document.images.length]"),
        json!([0, 0])
    );
    assert_ne!(
        browser.run("return getComputedStyle(document.querySelector('.board')).display"),
        "block",
        "the style is allowed"
    );
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// Elements that a reader of screens could not name, ids that appear twice, and text too faint.
const UNLABELLED: &str = "\
const wrong = []; const ids = new Set();\
for (const one of document.querySelectorAll('[id]')) { if (ids.has(one.id)) wrong.push('id ' + one.id); ids.add(one.id); }\
for (const one of document.querySelectorAll('button, a, summary')) if (!one.textContent.trim()) wrong.push(one.outerHTML);\
for (const one of document.querySelectorAll('input:not([type=hidden])')) if (!one.labels.length) wrong.push(one.outerHTML);\
for (const one of document.querySelectorAll('progress, svg[role=img]')) if (!one.getAttribute('aria-label')) wrong.push(one.tagName);\
if (!document.documentElement.lang || !document.querySelector('main') || !document.querySelector('h1')) wrong.push('page');\
const light = (text) => { const [r, g, b] = text.match(/[\\d.]+/g).map((n) => { const s = n / 255; return s <= 0.03928 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };\
for (const one of document.querySelectorAll('p, a, button, h1, h2, h3, td, th, dt, dd, .status, .count, .proof')) {\
 let at = one; let back = 'rgba(0, 0, 0, 0)'; while (at && back === 'rgba(0, 0, 0, 0)') { back = getComputedStyle(at).backgroundColor; at = at.parentElement; }\
 const [a, b] = [light(getComputedStyle(one).color), light(back)].sort((x, y) => y - x);\
 if ((a + 0.05) / (b + 0.05) < 4.5) wrong.push('contrast ' + one.tagName + '.' + one.className); }\
return wrong.slice(0, 5);";

#[test]
fn ten_thousand_steps_stay_usable() {
    if !is_there() {
        return;
    }
    let project = Project::with_steps(10_000);
    let server = Server::start(&project, &["--read-only"]);
    let browser = Browser::start();
    browser.open(&server.url);
    browser.until("document.querySelector('.board')");
    let count = browser.run("return document.querySelectorAll('*').length").as_u64().unwrap();
    assert!(count < 5_000, "{count} elements");
    browser.open(&format!("http://{}{}graph", server.host, server.home()));
    browser.until("document.querySelector('svg.graph')");
}
