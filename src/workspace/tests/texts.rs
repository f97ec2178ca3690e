//! Whatever text a command takes comes out as it went in, or is refused: read back from the state,
//! and once more after the state was exported and imported.
//!
//! `STATEDIR_PROVE_SIZE` says how many states are filled with generated texts,
//! `STATEDIR_PROVE_SEED` where the generator begins.

use serde_json::{Value, json};

use super::action::{start, workspace};
use crate::{
    domain::Context,
    store::sim_disk::SimDisk,
    text::markdown::Document,
    workspace::{Change, Environment, ImportOptions},
};

/// Texts that were changed once, and some that look as if they could be.
const ODD: [&str; 34] = [
    "a\nb",
    "first\n\nsecond line  \n  third",
    "  blanks around  ",
    "two  blanks   inside",
    "dash — dash – dash - dash",
    "is it good — as good as before?",
    "- an item\n- another",
    "# heading",
    "```\n[Goal]\n```",
    "[Goal]",
    "[Goal Title]\nand more",
    "\\[Goal]",
    "<!-- open\n[Goal]",
    "-->",
    "PENDING | RUNNING",
    "\"quoted\"",
    "it's `code` and **bold**",
    "\u{202e}right to left\u{202c}",
    "{{variables.x}}",
    "key: value",
    "ends with a colon:",
    "x\u{0}y",
    "tab\tand\r\nline",
    "1. k: -->k: ---#",
    "Intro\n\n- Note: be careful\n- plain",
    "é漢字🎉\u{a0}\u{2028}",
    "word\n---",
    "word\n-",
    "two\nlines\n===",
    "Title\n-----\nbody",
    "# a\nb\n ---  ",
    "- item\n---",
    "> quote\n===",
    "a\n# b\nc\n## d",
];

/// What a text is to a command.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Nature {
    /// Any text, kept to the last blank.
    Text,
    /// One line. What is around it is not a part of it.
    Line,
    /// Markdown in a section: its headings are moved below that of the section, line ends become
    /// those of the file, and blank lines around it are not a part of it.
    Prose,
}

/// A command with a text, and where the state shows it.
struct Taker {
    name: &'static str,
    nature: Nature,
    /// Done before, undisturbed.
    before: &'static [&'static str],
    change: fn(&str) -> Value,
    shown: fn(&Value) -> Option<String>,
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// The text of a named thing in a list.
fn named(list: &Value, name: &str) -> Option<String> {
    list.as_array()?.iter().find(|one| one["name"] == name).and_then(|one| text(&one["text"]))
}

/// A field of the newest entry of the history that has it.
fn field(state: &Value, key: &str) -> Option<String> {
    let fields = state["recent_history"].as_array()?.iter().rev();
    let mut fields = fields.flat_map(|entry| entry["fields"].as_array().into_iter().flatten());
    fields.find(|pair| pair[0] == key).and_then(|pair| text(&pair[1]))
}

/// The key findings with their subsections.
fn findings(state: &Value) -> Option<String> {
    text(&state[FINDINGS])
}

const FINDINGS: &str = "Key Findings";

const STEP: &str = r#"{"op": "step.add", "title": "One", "id": "one"}"#;
const START: &str = r#"{"op": "step.start"}"#;
const DESCRIBED: &str = r#"{"op": "step.set", "step": 1, "description": "Old.\n\nWords."}"#;
const ASK: &str = r#"{"op": "review.open", "text": "Go on?"}"#;

fn takers() -> Vec<Taker> {
    use Nature::{Line, Prose, Text};
    let taker = |name, nature, before, change, shown| Taker { name, nature, before, change, shown };
    vec![
        taker(
            "plan set goal",
            Text,
            &[],
            |t| json!({"op": "plan.set", "set": {"goal": t}}),
            |s| text(&s["identity"]["goal"]),
        ),
        taker(
            "plan set owner",
            Text,
            &[],
            |t| json!({"op": "plan.set", "set": {"owner": t}}),
            |s| named(&s["identity"]["other"], "owner"),
        ),
        taker(
            "plan set title",
            Line,
            &[],
            |t| json!({"op": "plan.set", "set": {"title": t}}),
            |s| text(&s["identity"]["title"]),
        ),
        taker(
            "pause",
            Text,
            &[STEP, START],
            |t| json!({"op": "plan.pause", "why": t}),
            |s| named(&s["identity"]["other"], "paused_because"),
        ),
        taker(
            "pause, in the history",
            Text,
            &[STEP, START],
            |t| json!({"op": "plan.pause", "why": t}),
            |s| field(s, "notes"),
        ),
        taker(
            "step add",
            Line,
            &[],
            |t| json!({"op": "step.add", "title": t}),
            |s| text(&s["steps"][0]["title"]),
        ),
        taker(
            "step add --component",
            Text,
            &[],
            |t| json!({"op": "step.add", "title": "x", "component": t}),
            |s| text(&s["steps"][0]["component"]),
        ),
        taker(
            "step add --tool",
            Text,
            &[],
            |t| json!({"op": "step.add", "title": "x", "tool": t}),
            |s| text(&s["steps"][0]["tool_mapping"]),
        ),
        taker(
            "step add --effects",
            Text,
            &[],
            |t| json!({"op": "step.add", "title": "x", "effects": t}),
            |s| text(&s["steps"][0]["side_effects"]),
        ),
        taker(
            "step add --input",
            Text,
            &[],
            |t| json!({"op": "step.add", "title": "x", "input": {"in": t}}),
            |s| named(&s["steps"][0]["inputs"], "in"),
        ),
        taker(
            "step add --output",
            Text,
            &[],
            |t| json!({"op": "step.add", "title": "x", "output": {"out": t}}),
            |s| named(&s["steps"][0]["expected_outputs"], "out"),
        ),
        taker(
            "step add --description",
            Prose,
            &[],
            |t| json!({"op": "step.add", "title": "x", "description": t}),
            |s| text(&s["steps"][0]["description"]),
        ),
        taker(
            "step set --description",
            Prose,
            &[STEP, DESCRIBED],
            |t| json!({"op": "step.set", "step": 1, "description": t}),
            |s| text(&s["steps"][0]["description"]),
        ),
        taker(
            "step set",
            Text,
            &[STEP],
            |t| json!({"op": "step.set", "step": 1, "set": {"mine": t}}),
            |s| named(&s["steps"][0]["other"], "mine"),
        ),
        taker(
            "step done --note",
            Text,
            &[STEP, START],
            |t| json!({"op": "step.done", "note": t}),
            |s| field(s, "notes"),
        ),
        taker(
            "step done --output",
            Text,
            &[STEP, START],
            |t| json!({"op": "step.done", "output": {"r": t}}),
            |s| text(&s["results"]["one"]["r"]),
        ),
        taker(
            "step fail",
            Text,
            &[STEP, START],
            |t| json!({"op": "step.fail", "error": t}),
            |s| field(s, "errors"),
        ),
        taker(
            "context add",
            Prose,
            &[],
            |t| json!({"op": "context.add", "section": "Key Findings", "text": t}),
            findings,
        ),
        taker(
            "context set",
            Prose,
            &[],
            |t| json!({"op": "context.set", "section": "Key Findings", "text": t}),
            findings,
        ),
        taker(
            "var set",
            Text,
            &[],
            |t| json!({"op": "var.set", "path": "t", "value": t}),
            |s| text(&s["variables"]["t"]),
        ),
        taker(
            "history add",
            Line,
            &[],
            |t| json!({"op": "history.add", "title": t}),
            |s| text(&s["recent_history"].as_array()?.last()?["title"]),
        ),
        taker(
            "history add K=V",
            Text,
            &[],
            |t| json!({"op": "history.add", "title": "x", "fields": {"f": t}}),
            |s| field(s, "f"),
        ),
        taker(
            "turn add",
            Text,
            &[],
            |t| json!({"op": "turn.add", "user_message": "u", "response": t}),
            |s| field(s, "response"),
        ),
        taker(
            "constraint set",
            Text,
            &[],
            |t| json!({"op": "constraint.set", "name": "mine", "value": t, "create": true}),
            |s| named(&s["constraints"]["settings"], "mine"),
        ),
        taker(
            "directive add",
            Line,
            &[],
            |t| json!({"op": "directive.add", "text": t}),
            |s| text(&s["constraints"]["directives"].as_array()?.last()?["text"]),
        ),
        taker(
            "review open",
            Text,
            &[],
            |t| json!({"op": "review.open", "text": t}),
            |s| text(&s["reviews"][0]["text"]),
        ),
        taker(
            "review open, in the history",
            Text,
            &[],
            |t| json!({"op": "review.open", "text": t}),
            |s| field(s, "notes"),
        ),
        taker(
            "review decide",
            Text,
            &[ASK],
            |t| json!({"op": "review.decide", "id": "r1", "approve": true, "why": t}),
            |s| {
                let decided = text(&s["reviews"][0]["text"])?;
                decided.strip_prefix("Go on? — approved by ada: ").map(str::to_owned)
            },
        ),
    ]
}

/// Whether a text is shown as it may be.
fn is_kept(nature: Nature, given: &str, shown: &str) -> bool {
    let lines = |text: &str| text.replace("\r\n", "\n").replace('\r', "\n");
    match nature {
        Nature::Text => given == shown,
        Nature::Line => given.trim() == shown.trim(),
        Nature::Prose => {
            let given = prose_lines(&lines(given));
            let shown = prose_lines(&Context::without_origins(&lines(shown)));
            given.is_empty() || shown.windows(given.len()).any(|window| window == given)
        }
    }
}

/// What is compared of a text in a section: a heading is its title, whatever its level, and the blank
/// lines around it do not count; nor do blanks at the end of a line.
fn prose_lines(text: &str) -> Vec<String> {
    let title = |line: &str| {
        let line = line.trim_start_matches(' ');
        let document = Document::parse(line).ok().filter(|_| line.starts_with('#'))?;
        let section = document.sections().nth(1)?;
        Some(format!("# {}", document.section(section).title))
    };
    let mut lines: Vec<String> = Vec::new();
    let mut is_below_heading = false;
    for line in Context::trimmed(text).lines() {
        if let Some(title) = title(line) {
            let end = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
            lines.truncate(end);
            lines.push(title);
            is_below_heading = true;
        } else if !(is_below_heading && line.trim().is_empty()) {
            lines.push(line.trim_end().to_owned());
            is_below_heading = false;
        }
    }
    lines
}

fn state(disk: &SimDisk, number: u64) -> Value {
    let state = workspace(disk, number).read().unwrap();
    let context = state.context().unwrap();
    let mut value = serde_json::to_value(state.state(false)).unwrap();
    if let Ok(section) = context.section(FINDINGS) {
        value[FINDINGS] = json!(Context::shown(&context.document, section));
    }
    value
}

/// A state exported, and imported elsewhere; `None` if it is refused.
fn imported(document: &Value) -> Option<Value> {
    let disk = SimDisk::new(std::path::Path::new("/s"));
    let mut document = document.clone();
    document.as_object_mut()?.remove(FINDINGS);
    workspace(&disk, 0).import(&document, &ImportOptions::default()).ok()?;
    Some(state(&disk, 1))
}

/// How often a text was kept, and what became of it otherwise.
#[derive(Default)]
struct Tally {
    kept: usize,
    refused: usize,
    not_imported: Vec<String>,
    wrong: Vec<String>,
}

fn take(taker: &Taker, prepared: &SimDisk, given: &str, tally: &mut Tally) {
    let disk = prepared.fork();
    let mut workspace = workspace(&disk, 9);
    if taker.before.contains(&ASK) {
        // Nobody decides what they asked themselves.
        workspace.env = Environment::fixed(workspace.env.timestamp(), "ada", 9);
    }
    let change: Change = serde_json::from_value((taker.change)(given)).unwrap();
    if workspace.apply(&[change]).is_err() {
        tally.refused += 1;
        return;
    }
    let now = state(&disk, 10);
    let shown = (taker.shown)(&now);
    let is_right = |shown: &Option<String>| match shown {
        Some(shown) => is_kept(taker.nature, given, shown),
        // Nothing was said.
        None => given.trim().is_empty(),
    };
    if !is_right(&shown) {
        return tally.wrong.push(format!("{}: {given:?} is {shown:?}", taker.name));
    }
    tally.kept += 1;
    match imported(&now) {
        Some(again) => {
            let shown = (taker.shown)(&again);
            if !is_right(&shown) {
                tally.wrong.push(format!("{}, imported: {given:?} is {shown:?}", taker.name));
            }
        }
        None => tally.not_imported.push(format!("{}: {given:?}", taker.name)),
    }
}

fn prepared(before: &[&str]) -> SimDisk {
    let disk = start();
    for (at, change) in before.iter().enumerate() {
        let change: Change = serde_json::from_str(change).unwrap();
        workspace(&disk, at as u64 + 1).apply(&[change]).unwrap();
    }
    disk
}

/// Reproducible texts made of pieces that mean something somewhere.
struct Texts(u64);

impl Texts {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides as u64) as usize
    }

    fn next(&mut self) -> String {
        const PIECES: [&str; 40] = [
            "\n", "\n\n", "\r\n", " ", "  ", "\t", "#", "## x\n", "- ", "* ", "1. ", "> ", "**",
            "k: ", "```", "~~~\n", "`", "<!--", "-->", "<div>", "---", " — ", "[ ]", "[Goal]",
            "[a]: b", "|", "\"", "\\", "&amp;", "\u{202e}", "\u{1b}", "word", "漢", "{{x}}",
            "\n---", "\n-", "\n===", "\n=\n", "\n--\n", "word\n",
        ];
        let count = 1 + self.roll(7);
        (0..count)
            .map(|_| match self.roll(8) {
                0 => char::from_u32(self.roll(0x3000) as u32).unwrap_or('x').to_string(),
                _ => PIECES[self.roll(PIECES.len())].to_owned(),
            })
            .collect()
    }
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn every_text_is_kept_or_refused() {
    let size = number("STATEDIR_PROVE_SIZE", 6);
    let mut texts = Texts(number("STATEDIR_PROVE_SEED", 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut all = Tally::default();
    for taker in takers() {
        let prepared = prepared(taker.before);
        let mut tally = Tally::default();
        for given in ODD {
            take(&taker, &prepared, given, &mut tally);
        }
        for _ in 0..size {
            take(&taker, &prepared, &texts.next(), &mut tally);
        }
        if tally.kept < 10 {
            all.wrong.push(format!("{} keeps only {}", taker.name, tally.kept));
        }
        all.kept += tally.kept;
        all.refused += tally.refused;
        all.not_imported.extend(tally.not_imported);
        all.wrong.extend(tally.wrong);
    }
    println!("proved: {} texts kept, {} refused", all.kept, all.refused);
    assert!(all.wrong.is_empty(), "{} changed\n{}", all.wrong.len(), all.wrong.join("\n"));
    let lost = &all.not_imported;
    assert!(lost.is_empty(), "{} not imported\n{}", lost.len(), lost.join("\n"));
}

/// The control: a text that lost something is seen, of each nature.
#[test]
fn a_text_that_lost_something_is_seen() {
    for (nature, given, shown) in [
        (Nature::Text, "a  b", "a b"),
        (Nature::Text, " a", "a"),
        (Nature::Line, "a  b", "a b"),
        (Nature::Prose, "[Goal]", "\\[Goal]"),
        (Nature::Prose, "a\n\nb", "a\nb"),
        (Nature::Prose, "word\n---", "#### word"),
        (Nature::Prose, "# a\nb", "#### a"),
        (Nature::Prose, "# a\nb", "b"),
    ] {
        assert!(is_kept(nature, given, given));
        assert!(!is_kept(nature, given, shown), "{given:?} {shown:?}");
    }
}
