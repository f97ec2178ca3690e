//! Tasks in an agent's markdown: checklists, and the steps of a plan.

use crate::{domain::StepRole as Role, workspace::ClientTask};

/// The items of a checklist: `- [ ] a`, `- [x] b`, `- [~] c`.
pub(super) fn checklist(text: &str) -> Vec<ClientTask> {
    let item = |line: &str| {
        let rest = line.trim_start().trim_start_matches(['-', '*', '+']).trim_start();
        let mark = rest.strip_prefix('[')?.chars().next()?;
        let text = rest.get(1 + mark.len_utf8()..)?.strip_prefix(']')?.trim();
        let role = match mark {
            'x' | 'X' => Role::Done,
            '~' | '>' | '/' | '-' => Role::Active,
            _ => Role::Open,
        };
        (!text.is_empty()).then(|| task(text, role))
    };
    text.lines().filter_map(item).collect()
}

/// The steps of a plan: its numbered items, else its numbered headings, else its checklist. One
/// alone is not a plan.
pub(super) fn tasks(plan: &str) -> Vec<ClientTask> {
    let lines: Vec<&str> = without_code(plan).collect();
    let found = |of: fn(&str) -> Option<&str>| -> Vec<ClientTask> {
        lines.iter().filter_map(|line| of(line)).map(|text| task(text, Role::Open)).collect()
    };
    let ways = [found(numbered), found(numbered_heading), checklist(&lines.join("\n"))];
    ways.into_iter().find(|tasks| tasks.len() > 1).unwrap_or_default()
}

/// The first heading of a plan.
pub(super) fn title(plan: &str) -> Option<String> {
    let heading = without_code(plan).find_map(|line| heading(line))?;
    let words = heading.strip_prefix("Plan:").unwrap_or(heading).trim();
    (!words.is_empty()).then(|| words.to_owned())
}

fn without_code(text: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        inside ^= is_fence;
        !inside && !is_fence
    })
}

fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    (text.len() < line.len() && text.starts_with(' ')).then(|| text.trim())
}

/// The text of `1. text` or `1) text` at the beginning of a line.
fn numbered(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == line.len() {
        return None;
    }
    let text = rest.strip_prefix(['.', ')'])?.strip_prefix(' ')?;
    Some(without_bold(text)).filter(|text| !text.is_empty())
}

/// The text of `## 1. text`, `### Step 1: text`, `## Phase 2: text`.
fn numbered_heading(line: &str) -> Option<&str> {
    let text = heading(line)?;
    let kind = ["Step ", "Phase ", "Task "].iter().find_map(|kind| text.strip_prefix(kind));
    let numbered = kind.unwrap_or(text);
    let rest = numbered.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == numbered.len() {
        return None;
    }
    let text = rest.trim_start_matches([':', '.', ')', ' ', '-', '–', '—']);
    Some(without_bold(text)).filter(|text| !text.is_empty())
}

/// A text without bold markers around it and a colon after it.
fn without_bold(text: &str) -> &str {
    let text = text.trim();
    let bold = text.strip_prefix("**").and_then(|rest| rest.strip_suffix("**"));
    bold.filter(|bold| !bold.contains("**")).unwrap_or(text).trim_end_matches(':')
}

fn task(text: &str, role: Role) -> ClientTask {
    ClientTask { key: None, text: text.to_owned(), role }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(plan: &str) -> Vec<String> {
        tasks(plan).into_iter().map(|task| task.text).collect()
    }

    #[test]
    fn the_steps_of_a_plan_are_found_in_the_form_it_has() {
        assert_eq!(texts("1) a\n2) **b**:\n```\n3. no\n```\n"), ["a", "**b**"]);
        assert_eq!(texts("## Step 1: Read\ntext\n## Step 2 – Write\n"), ["Read", "Write"]);
        assert_eq!(texts("- [ ] a\n- [x] b\n"), ["a", "b"]);
        assert!(texts("1. alone\n").is_empty() && texts("- a\n- b\n").is_empty());
        assert_eq!(title("```\n# no\n```\n# Plan: Speed up\n"), Some("Speed up".to_owned()));
    }

    #[test]
    fn odd_lines_harm_nobody() {
        for text in
            ["- [", "- []", "- [é", "[é] a", "1.", "1. ", "#", "# ", "9999999999999999999999. a"]
        {
            let _ = (checklist(text), tasks(text), title(text));
        }
        assert_eq!(checklist("* [é] a")[0].text, "a");
    }
}
