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
    /// Changes that are made before, undisturbed.
    before: Vec<&'static str>,
    /// The change, with `"@"` in the place of the text.
    change: &'static str,
    shown: &'static str,
}

impl Taker {
    fn parse(line: &'static str) -> Self {
        let [name, nature, before, change, shown] =
            line.split(" | ").collect::<Vec<_>>().try_into().expect(line);
        let nature = match nature {
            "text" => Nature::Text,
            "line" => Nature::Line,
            "prose" => Nature::Prose,
            other => panic!("{other}"),
        };
        let before = before.split(", ").filter(|word| !word.is_empty()).map(|word| match word {
            "step" => STEP,
            "start" => START,
            "described" => DESCRIBED,
            "ask" => ASK,
            other => panic!("{other}"),
        });
        Self { name, nature, before: before.collect(), change, shown }
    }

    /// The text as a state shows it.
    fn shown(&self, state: &Value) -> Option<String> {
        let list = |at: &str| state.pointer(at).and_then(Value::as_array);
        let (how, what) = self.shown.split_once(' ').unwrap();
        let (name, at) = what.split_once(' ').unwrap_or((what, ""));
        let found = match how {
            "at" => state.pointer(what)?,
            "named" => &list(at)?.iter().find(|one| one["name"] == name)?["text"],
            "last" => &list(at)?.last()?[name],
            "field" => {
                let entries = list("/recent_history")?.iter().rev();
                let mut fields = entries.filter_map(|entry| entry["fields"].as_array()).flatten();
                &fields.find(|pair| pair[0] == what)?[1]
            }
            "decided" => {
                let decided = state.pointer("/reviews/0/text")?.as_str()?;
                return decided.strip_prefix(what)?.strip_prefix(' ').map(str::to_owned);
            }
            other => panic!("{other}"),
        };
        found.as_str().map(str::to_owned)
    }
}

/// The key findings with their subsections.
const FINDINGS: &str = "Key Findings";

const STEP: &str = r#"{"op": "step.add", "title": "One", "id": "one"}"#;
const START: &str = r#"{"op": "step.start"}"#;
const DESCRIBED: &str = r#"{"op": "step.set", "step": 1, "description": "Old.\n\nWords."}"#;
const ASK: &str = r#"{"op": "review.open", "text": "Go on?"}"#;

/// A command in a line: its name, the nature of its text, what is done before, the change, and where
/// the text is shown: at a JSON pointer, under a name or last in a list, in the newest entry of the
/// history with that field, or behind what a decided review begins with.
const TAKERS: &str = r#"
plan set goal | text |  | {"op": "plan.set", "set": {"goal": "@"}} | at /identity/goal
plan set owner | text |  | {"op": "plan.set", "set": {"owner": "@"}} | named owner /identity/other
plan set title | line |  | {"op": "plan.set", "set": {"title": "@"}} | at /identity/title
pause | text | step, start | {"op": "plan.pause", "why": "@"} | named paused_because /identity/other
pause, in the history | text | step, start | {"op": "plan.pause", "why": "@"} | field notes
step add | line |  | {"op": "step.add", "title": "@"} | at /steps/0/title
step add --component | text |  | {"op": "step.add", "title": "x", "component": "@"} | at /steps/0/component
step add --tool | text |  | {"op": "step.add", "title": "x", "tool": "@"} | at /steps/0/tool_mapping
step add --effects | text |  | {"op": "step.add", "title": "x", "effects": "@"} | at /steps/0/side_effects
step add --input | text |  | {"op": "step.add", "title": "x", "input": {"in": "@"}} | named in /steps/0/inputs
step add --output | text |  | {"op": "step.add", "title": "x", "output": {"out": "@"}} | named out /steps/0/expected_outputs
step add --description | prose |  | {"op": "step.add", "title": "x", "description": "@"} | at /steps/0/description
step set --description | prose | step, described | {"op": "step.set", "step": 1, "description": "@"} | at /steps/0/description
step set | text | step | {"op": "step.set", "step": 1, "set": {"mine": "@"}} | named mine /steps/0/other
step done --note | text | step, start | {"op": "step.done", "note": "@"} | field notes
step done --output | text | step, start | {"op": "step.done", "output": {"r": "@"}} | at /results/one/r
step fail | text | step, start | {"op": "step.fail", "error": "@"} | field errors
context add | prose |  | {"op": "context.add", "section": "Key Findings", "text": "@"} | at /Key Findings
context set | prose |  | {"op": "context.set", "section": "Key Findings", "text": "@"} | at /Key Findings
var set | text |  | {"op": "var.set", "path": "t", "value": "@"} | at /variables/t
history add | line |  | {"op": "history.add", "title": "@"} | last title /recent_history
history add K=V | text |  | {"op": "history.add", "title": "x", "fields": {"f": "@"}} | field f
turn add | text |  | {"op": "turn.add", "user_message": "u", "response": "@"} | field response
constraint set | text |  | {"op": "constraint.set", "name": "mine", "value": "@", "create": true} | named mine /constraints/settings
directive add | line |  | {"op": "directive.add", "text": "@"} | last text /constraints/directives
review open | text |  | {"op": "review.open", "text": "@"} | at /reviews/0/text
review open, in the history | text |  | {"op": "review.open", "text": "@"} | field notes
review decide | text | ask | {"op": "review.decide", "id": "r1", "approve": true, "why": "@"} | decided Go on? — approved by ada:
"#;

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
    let change = taker.change.replace("\"@\"", &json!(given).to_string());
    let change: Change = serde_json::from_str(&change).unwrap();
    if workspace.apply(&[change]).is_err() {
        tally.refused += 1;
        return;
    }
    let now = state(&disk, 10);
    let shown = taker.shown(&now);
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
            let shown = taker.shown(&again);
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
    for taker in TAKERS.lines().skip(1).map(Taker::parse) {
        let prepared = prepared(&taker.before);
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
