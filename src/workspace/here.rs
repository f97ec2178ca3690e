//! Whether a step is worked on in the working tree that the state is in.

use std::path::Path;

use crate::domain::Step;

/// The place of a state among the working trees of a repository.
#[derive(Clone, Copy, Debug)]
pub(super) struct Here<'a> {
    pub(super) dir: &'a Path,
    pub(super) is_checked_out: fn(&Path, &str) -> bool,
}

impl Here<'_> {
    /// Whether the branch or the place that the step names is this one. A worktree may have been
    /// moved since, and a branch may be checked out elsewhere, so either will do.
    pub(super) fn is_of(&self, step: &Step) -> bool {
        let named = |key: &str| {
            step.other.iter().find(|(found, _)| found == key).map(|(_, value)| value.as_str())
        };
        // A relative path would fit nearly anywhere.
        let place = named("worktree").map(Path::new).filter(|place| place.is_absolute());
        place.is_some_and(|place| self.dir.starts_with(place))
            || named("branch").is_some_and(|branch| (self.is_checked_out)(self.dir, branch))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(fields: &[(&str, &str)]) -> Step {
        let lines: String =
            fields.iter().map(|(key, value)| format!("- **{key}**: {value}\n")).collect();
        let text = format!("# Plan\n\n## Steps\n\n### Step 1: A\n- **status**: RUNNING\n{lines}");
        let document = crate::text::markdown::Document::parse(text).unwrap();
        crate::domain::Plan::read(document).steps.remove(0)
    }

    #[test]
    fn a_place_or_a_branch_makes_a_step_one_of_here() {
        let here = Here { dir: Path::new("/a/b/state"), is_checked_out: |_, name| name == "mine" };
        assert!(here.is_of(&step(&[("worktree", "/a/b")])));
        assert!(here.is_of(&step(&[("branch", "mine"), ("worktree", "/moved")])));
        assert!(!here.is_of(&step(&[("branch", "other"), ("worktree", "/a/bc")])));
        assert!(!here.is_of(&step(&[("worktree", "merged and removed")])));
        assert!(!here.is_of(&step(&[])));
    }
}
