//! What the targets in `fuzz/` check of the parts that are not public; only under `--cfg fuzzing`.
//! A panic is what the fuzzer looks for.

use crate::{
    domain::{
        Constraints, FactValue, Facts, Plan, StateFile, Workflow,
        checklist::{Checklist, Grammar},
    },
    history, merge,
    rules::{self, Directive, Rule, WrittenRule, fire},
    text::markdown::Document,
};

/// A rule is refused at a place within its text, or means what it prints; firing ends.
pub fn rule(text: &str) {
    let workflow = Workflow::builtin();
    let _ = Directive::parse(text, workflow);
    match Rule::parse(text) {
        Ok(rule) => {
            let printed = rule.to_string();
            assert_eq!(Rule::parse(&printed), Ok(rule), "{text:?} was printed as {printed:?}");
        }
        Err(error) => assert!(text.get(error.span.clone()).is_some(), "{text:?}: {error:?}"),
    }
    let rules: Vec<WrittenRule> =
        text.lines().map(|line| WrittenRule::parse(line, workflow)).collect();
    let after = Facts::new()
        .with("cost", FactValue::Money(1_000_000))
        .with("attempts", FactValue::Number(2.0));
    let once = fire(&rules, &Facts::new(), &after, workflow);
    assert!(once.trace.len() <= rules.len(), "each rule fires once");
}

/// Reads an operation log.
pub fn operation_log(bytes: &[u8]) {
    crate::store::fuzz_log(bytes);
}

/// Takes a history apart without losing a byte, and verifies it.
pub fn history(bytes: &[u8]) {
    let parts = history::segments(bytes);
    let mut at = 0;
    for part in &parts {
        assert_eq!(part.span.start, at, "the parts cover the file without gaps");
        at = part.span.end;
    }
    assert_eq!(at, bytes.len(), "the parts cover the file to its end");
    let mut entries = 0;
    history::each_entry(bytes, |_| entries += 1).expect("bytes in memory can be read");
    history::verify(bytes, &[], &mut |_| {}).expect("bytes in memory can be read");
}

/// Reads what a client sends, to its end.
pub fn mcp_frames(bytes: &[u8]) {
    crate::adapters::fuzz_frames(bytes);
}

/// A request to the page is refused, or has a path that leads nowhere else.
#[cfg(feature = "web")]
pub fn http_request(bytes: &[u8]) {
    crate::adapters::fuzz_http_request(bytes);
}

/// A state file, a workflow of one's own or somebody's checklist can be read, whatever they hold.
pub fn state_file(text: &str) {
    let _ = rules::parse_workflow(text);
    let Ok(document) = Document::parse(text) else { return };
    let found = Checklist::read(&document, &Grammar::default());
    let outside = found.tasks.iter().find(|task| text.get(task.marker.clone()).is_none());
    assert!(outside.is_none(), "the marker of a task is outside of its text");
    let _ = Constraints::read(document.clone());
    let plan = Plan::read(document);
    for step in &plan.steps {
        plan.place(step);
    }
}

/// Three versions, apart by lines of `=====`: the laws of merging hold, whatever they say.
pub fn merge(text: &str) {
    let mut parts = text.split("\n=====\n").map(str::as_bytes);
    let (base, ours) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let theirs = parts.next().unwrap_or_default();
    let workflow = Workflow::builtin();
    for file in [StateFile::Plan, StateFile::Context, StateFile::History, StateFile::Variables] {
        let merged =
            |ours, theirs| merge::merge(file, Some(base), Some(ours), Some(theirs), workflow);
        for (one, other) in [(ours, ours), (ours, base), (base, ours)] {
            let same = merged(one, other).ok().flatten();
            assert!(same.is_none_or(|same| same.bytes == ours), "{file:?} was not kept");
        }
        if let Ok(Some(one)) = merged(ours, theirs) {
            let other = merged(theirs, ours).ok().flatten().map(|other| other.conflicts.len());
            assert_eq!(other, Some(one.conflicts.len()), "{file:?}: the sides are not equal");
        }
    }
}

/// Takes a line for the shell apart, as the guard of a client's commands does.
pub fn shell(text: &str) {
    crate::adapters::fuzz_shell(text);
}
