//! Steps that are boxes in a list are compared as steps.

use crate::{
    diff::{canonical, compare, summary},
    domain::StateFile,
};

const PLAN: &str = "\
# T

## Steps
- [ ] Read
- [ ] Send
  - id: bbbb
- [x] Tell
";

fn said(after: &str) -> Vec<String> {
    summary(&compare(StateFile::Plan, Some(PLAN.as_bytes()), Some(after.as_bytes())))
}

#[test]
fn what_happens_to_a_box_is_said_of_its_step() {
    let begun = "  - status: RUNNING\n  - id: bbbb · attempt 1 · ada since 2026-01-15T09:00:00Z\n";
    let after = PLAN.replace("  - id: bbbb\n", begun);
    assert_eq!(said(&after), ["step 2 (bbbb) Send: \"[ ]\" → RUNNING"]);
    assert_eq!(said(&PLAN.replace("[ ] Read", "[x] Read")), ["step 1 Read: \"[ ]\" → \"[x]\""]);
    let after =
        PLAN.replace("  - id: bbbb\n", "  - tool: t\n  - id: bbbb\n").replace("Send", "Post");
    assert_eq!(
        said(&after),
        ["step 2 (bbbb) Post: title Send → Post", "step 2 (bbbb) Post: tool \"t\" added",]
    );
}

#[test]
fn a_box_that_comes_goes_or_moves_is_a_step_that_does() {
    let after = PLAN.replace("- [ ] Send", "- [ ] Post\n- [ ] Send").replace("- [x] Tell\n", "");
    assert_eq!(said(&after), ["step 3 Tell: removed, [x]", "step 2 Post: added, [ ]"]);
    let after =
        PLAN.replace("- [ ] Read\n", "").replace("- [x] Tell\n", "- [x] Tell\n- [ ] Read\n");
    assert_eq!(said(&after), ["step 3 Read: moved from place 1 to 3"]);
}

#[test]
fn a_box_is_given_by_its_step_in_the_view_for_git() {
    let view = canonical(StateFile::Plan, PLAN.as_bytes());
    for fact in
        ["step 1 title: Read", "step 1 box: [ ]", "step bbbb title: Send", "step 3 box: [x]"]
    {
        assert!(view.lines().any(|line| line == fact), "{fact}\n{view}");
    }
    assert!(!view.contains("Steps - "), "{view}");
}
