//! The page in a real browser.

use serde_json::{Value, json};

use super::{
    VIEWS,
    client::Server,
    driver::{Browser, is_there},
    project,
};
use crate::{builder::Project, needs};

/// The button of a card that leads to a verb.
fn button(step: u32, verb: &str) -> String {
    format!(
        "document.querySelector('[data-step=\"{step}\"] form input[value=\"{verb}\"]').form.querySelector('button')"
    )
}

#[test]
fn a_person_sees_changes_moves_steps_answers_reviews_and_goes_back() {
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
    let began = std::time::Instant::now();
    browser.until("document.body.innerText.includes('Write it down')");
    eprintln!("what the command line did was on the page after {:?}", began.elapsed());
    answer_reviews(&browser, &project);
    move_steps(&browser);
    lineage(&browser);
    go_back_and_forth(&browser, &project);
    assert_eq!(browser.complaints(), Vec::<String>::new());
    conflict(&browser, &project, &server);
}

fn answer_reviews(browser: &Browser, project: &Project) {
    browser.leave("document.querySelector('[data-review=r1] form button').click()");
    browser.until(
        "document.querySelector('.board') && !document.querySelector('[data-review=r1].open')",
    );
    browser.leave(
        "const a = document.querySelector('[data-review=r2] details'); a.open = true; const f = a.querySelector('form'); \
         f.querySelector('[name=reason]').value = 'too <b>long</b>'; f.querySelector('button').click()",
    );
    browser.until("document.querySelector('.board') && !document.querySelector('.review.open')");
    let reviews = project.ok(&["review", "list", "--all"]).stdout;
    assert!(reviews.contains("approved") && reviews.contains("rejected"), "{reviews}");
    // A rejection pauses the plan.
    let click = |text: &str| {
        browser.leave(&format!(
            "[...document.querySelectorAll('.plan form button')].find((one) => one.textContent === '{text}').click()"
        ));
    };
    let write = |label: &str, text: &str| {
        browser.run(&format!(
            "const ask = [...document.querySelectorAll('.plan details')].find((one) => one.innerText.startsWith('{label}')); \
             ask.open = true; ask.querySelector('[name=reason]').value = '{text}'"
        ));
    };
    let answer = |label: &str, text: &str| {
        write(label, text);
        click(label);
    };
    let offers = |text: &str| {
        format!(
            "[...document.querySelectorAll('.plan button')].some((one) => one.textContent === '{text}')"
        )
    };
    browser.until(&offers("Resume"));
    click("Resume");
    browser.until(&offers("Pause"));
    answer("Pause", "lunch");
    browser.until(&offers("Resume"));
    browser.until("document.body.innerText.includes('Paused: lunch')");
    click("Resume");
    browser.until(&offers("Pause"));
    // Typed text stays while the page shows the changes of others.
    write("Note", "-- asked finance");
    project.ok(&["step", "add", "Meanwhile"]);
    browser.until("document.querySelector('.board').innerText.includes('Meanwhile')");
    click("Note");
    let end = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while !project.read("history.md").contains("-- asked finance") {
        assert!(std::time::Instant::now() < end, "the note is not there");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

fn move_steps(browser: &Browser) {
    // A move that is not allowed is not offered.
    assert_eq!(
        browser.run("return document.querySelector('[data-step=\"2\"] form input[value=start]')"),
        Value::Null
    );
    browser.leave(&format!("{}.click()", button(1, "start")));
    browser.until("document.querySelector('.card.active[data-step=\"1\"]')");
    // Dragged to a column that accepts it, and to one that does not.
    let drag = |step: u32, role: &str| {
        browser.run(&format!(
            "const data = new DataTransfer(); const card = document.querySelector('.card[data-step=\"{step}\"]'); \
             const column = document.querySelector('.column.{role}'); \
             const send = (at, kind) => at.dispatchEvent(new DragEvent(kind, {{ bubbles: true, cancelable: true, dataTransfer: data }})); \
             send(card, 'dragstart'); const taken = !send(column, 'dragover'); if (taken) send(column, 'drop'); send(card, 'dragend'); return taken"
        ))
    };
    assert_eq!(drag(2, "done"), false);
    browser.run("window.isLeft = true");
    assert_eq!(drag(1, "done"), true);
    browser.until("!window.isLeft && document.readyState === 'complete'");
    browser.until("document.querySelector('.card.done[data-step=\"1\"]')");
    // One that asks for a reason opens the question instead.
    assert_eq!(drag(2, "skipped"), true);
    browser.until("document.activeElement.name === 'reason'");
    browser.run("document.activeElement.blur()");
}

/// What a step of the graph waits for and what waits for it, on a click and by keyboard.
fn lineage(browser: &Browser) {
    let home = browser.run("return location.pathname");
    browser.leave("location.href = location.pathname + 'graph'");
    browser.until("document.querySelector('svg.graph g[data-step][tabindex]')");
    let seen = || {
        browser.run(
            "return [...document.querySelectorAll('svg.graph.lineage g.on')].map((one) => one.dataset.step).sort().join()",
        )
    };
    browser.run(
        "document.querySelector('g[data-step=\"2\"]').dispatchEvent(new MouseEvent('click', { bubbles: true }))",
    );
    assert_eq!(seen(), "1,2", "not step 3, which waits for nothing");
    browser.run(
        "document.querySelector('g[data-step=\"2\"]').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }))",
    );
    assert_eq!(seen(), "", "the same key takes it back");
    browser.leave(&format!("location.href = {home}"));
    browser.until("document.querySelector('.board')");
}

fn go_back_and_forth(browser: &Browser, project: &Project) {
    let click = |text: &str| {
        browser.leave(&format!(
            "[...document.querySelectorAll('nav a, form button, .ways a')].find((a) => a.textContent.startsWith('{text}')).click()"
        ));
    };
    click("Operations");
    browser.until("document.getElementById('moment')");
    // The slider names the moment below it, and shows it when released.
    browser.leave(
        "const slider = document.getElementById('moment'); slider.value = Number(slider.max) - 1; \
         for (const kind of ['input', 'change']) slider.dispatchEvent(new Event(kind, { bubbles: true }))",
    );
    browser.until("document.querySelector('.past') && location.search.startsWith('?at=')");
    assert_eq!(
        browser.run("return document.querySelectorAll('main form[method=post]').length"),
        1,
        "the past offers nothing but to restore it"
    );
    assert_eq!(
        browser.run("return document.querySelector('.past').innerText.includes('to do again: 1')"),
        true,
        "{}",
        browser.run("return document.querySelector('.past').innerText")
    );
    click("Restore");
    browser.until("!document.querySelector('.past') && document.querySelector('[data-operation]').innerText.includes('restore')");
    let is_done = || project.read("plan.md").contains("Collect benchmarks ✓");
    assert!(!is_done(), "the step is not done then");
    let newest = browser.run("return document.querySelector('[data-operation]').dataset.operation");
    click("Undo");
    browser.until(&format!(
        "(document.querySelector('[data-operation]') || document.body).dataset.operation > '' \
         && document.querySelector('[data-operation]').dataset.operation !== {newest}"
    ));
    assert!(is_done(), "it is done again");
    click("Compare");
    browser.until("document.querySelector('.differences') && location.pathname.endsWith('/diff')");
    click("Board");
    browser.until("document.querySelector('.board')");
}

/// Two tabs: one changes something while the other shows what was before.
fn conflict(browser: &Browser, project: &Project, server: &Server) {
    let first = browser.windows();
    browser.ask("POST", "/window/new", json!({ "type": "tab" }));
    let other = browser.windows().into_iter().find(|one| !first.contains(one)).unwrap();
    browser.switch(&other);
    browser.open(&format!("http://{}/", server.host));
    browser.until("document.querySelector('.board')");
    let stale = browser.run("return document.querySelector('[name=revision]').value");
    browser.switch(&first[0]);
    browser.leave(&format!("{}.click()", button(2, "start")));
    browser.until("document.querySelector('.card.active[data-step=\"2\"]')");
    let before = project.files();
    browser.switch(&other);
    // As if the update had not arrived.
    browser.run(&format!(
        "for (const field of document.querySelectorAll('[name=revision]')) field.value = {stale}; \
         document.querySelector('[data-step=\"3\"] form input[value=start]').form.querySelector('button').click()"
    ));
    browser.until("document.body.innerText.includes('has changed since this page was shown')");
    browser.until("document.body.innerText.includes('ada')");
    assert_eq!(project.files(), before, "nothing was overwritten");
    browser.leave("document.querySelector('main a').click()");
    browser.until("document.querySelector('.card.active[data-step=\"2\"]')");
}

#[test]
fn hostile_values_and_ten_thousand_steps_break_no_page() {
    if !is_there() {
        return;
    }
    let project = crate::report::hostile();
    project.edit("plan.md", "Second", &"long".repeat(250_000));
    let server = Server::start(&project, &["--read-only"]);
    let browser = Browser::start();
    browser.open(&server.url);
    browser.until("document.querySelector('.board')");
    let home = format!("http://{}{}", server.host, server.home());
    for view in VIEWS {
        browser.open(&format!("{home}{view}"));
        browser.until("document.querySelector('main')");
        let seen = browser.run(
            "return [document.title.includes('run') && !document.title.includes('script'), \
             document.querySelectorAll('main script, img, iframe, object, base').length, \
             document.querySelectorAll('form[method=post]').length, \
             document.documentElement.scrollWidth <= document.documentElement.clientWidth]",
        );
        assert_eq!(seen, json!([false, 0, 0, true]), "{view}");
    }
    assert_eq!(browser.complaints(), Vec::<String>::new());
    // The control: an element that is too wide is found.
    assert_eq!(
        browser.run(
            "document.querySelector('main').insertAdjacentHTML('beforeend', '<pre>' + 'x'.repeat(9000)); \
             const pre = document.querySelector('main').lastElementChild; pre.className = ''; \
             pre.setAttribute('width', '1'); const sheet = new CSSStyleSheet(); sheet.replaceSync('pre{white-space:pre;overflow:visible}'); \
             document.adoptedStyleSheets = [sheet]; \
             return document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        ),
        false
    );
    report_in(&browser, &project);

    let large = Project::with_steps(10_000);
    let server = Server::start(&large, &["--read-only"]);
    browser.open(&server.url);
    browser.until("document.querySelector('.board')");
    let count = browser.run("return document.querySelectorAll('*').length").as_u64().unwrap();
    assert!(count < 5_000, "{count} elements");
    browser.open(&format!("http://{}{}graph", server.host, server.home()));
    browser.until("document.querySelector('svg.graph')");
}

/// The report shows the same without a server.
fn report_in(browser: &Browser, project: &Project) {
    let file = project.root().join("report.html");
    project.ok(&["report", "--output", file.to_str().unwrap()]);
    browser.open(&format!("file://{}", file.display()));
    browser.until("document.querySelector('.board')");
    assert_eq!(
        browser.run(
            "return [document.scripts.length, document.images.length, \
             document.documentElement.scrollWidth <= document.documentElement.clientWidth]"
        ),
        json!([0, 0, true])
    );
    assert_ne!(
        browser.run("return getComputedStyle(document.querySelector('.board')).display"),
        "block",
        "the style is allowed"
    );
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// What axe-core finds that keeps somebody from using the page.
fn barriers(browser: &Browser, axe: &str, rules: &str) -> Vec<String> {
    browser.run(axe);
    let found = browser.run_later(&format!(
        "const done = arguments[arguments.length - 1]; axe.run(document, {{ resultTypes: ['violations'], {rules} }}).then((found) => \
         done(found.violations.filter((one) => ['serious', 'critical'].includes(one.impact)) \
         .map((one) => one.id + ': ' + one.nodes.map((node) => node.target).slice(0, 3).join(', '))), (error) => done(['axe: ' + error]))"
    ));
    let found = found.as_array().unwrap_or_else(|| panic!("{found}"));
    found.iter().map(|one| one.as_str().unwrap().to_owned()).collect()
}

#[test]
fn nothing_keeps_anybody_from_using_the_page() {
    if !is_there() {
        return;
    }
    let Some(modules) = needs::npm_package("axe-core", "4") else { return };
    let axe = std::fs::read_to_string(modules.join("axe-core").join("axe.min.js")).unwrap();
    let project = project();
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "fail", "1", "--error", "no network", "--cost", "0.5", "--time", "3m"]);
    project.ok(&["context", "add", "Indexes *matter*:\n\n| a | b |\n|---|---|\n| 1 | 2 |"]);
    project.ok(&["directive", "add", "Cite sources"]);
    project.ok(&["--actor", "agent", "review", "open", "Is the budget fine?"]);
    let server = Server::start(&project, &["."]);
    let browser = Browser::start();
    browser.open(&server.url);
    browser.until("document.querySelector('table')");
    assert_eq!(barriers(&browser, &axe, ""), Vec::<String>::new(), "overview");
    let page = server.get("/").body;
    let home = page.split("href=\"/s/").nth(1).unwrap().split('"').next().unwrap();
    let home = format!("/s/{home}");
    let revision = page_revision(&server, &home);
    let past = format!("?at={revision}");
    let diff = format!("diff?from={revision}");
    project.ok(&["step", "add", "Afterwards"]);
    for is_dark in [false, true] {
        browser.set_dark(is_dark);
        for view in VIEWS.into_iter().chain([past.as_str(), diff.as_str()]) {
            browser.open(&format!("http://{}{home}{view}", server.host));
            browser.until("document.querySelector('main h1')");
            // In the dark scheme only colours differ.
            let rules = if is_dark { "runOnly: ['color-contrast']" } else { "" };
            assert_eq!(barriers(&browser, &axe, rules), Vec::<String>::new(), "{view} {is_dark}");
        }
    }
    let control = "document.body.insertAdjacentHTML('beforeend', '<button></button>')";
    browser.run(control);
    assert_eq!(barriers(&browser, &axe, "").len(), 1, "the control: a button without a name");
}

fn page_revision(server: &Server, home: &str) -> String {
    let page = server.get(home).body;
    page.split("data-revision=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
}
