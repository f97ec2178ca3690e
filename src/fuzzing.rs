//! What the targets in `fuzz/` check of the parts that are not public; only under `--cfg fuzzing`.
//! A panic is what the fuzzer looks for.

use crate::{
    domain::{FactValue, Facts, Workflow},
    history,
    rules::{Directive, Rule, WrittenRule, fire},
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
