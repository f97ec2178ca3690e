use super::*;
use crate::domain::StateFile;

fn parts() -> Vec<BriefPart> {
    let part = |section, stage, texts: &[String]| {
        BriefPart::new(section, StateFile::Plan, stage).texts(texts)
    };
    let many = |text: &str| text.repeat(5);
    vec![
        part(BriefSection::Goal, Stage::First, &["the goal".to_owned()]),
        part(BriefSection::KeyFindings, Stage::Findings, &[many("finding\n")]),
        part(BriefSection::RecentTurns, Stage::Turns, &[many("new turn\n"), many("old turn\n")]),
        part(BriefSection::OlderHistory, Stage::History, &["long ago".to_owned()]),
    ]
}

#[test]
fn what_there_cannot_be_room_for_is_counted_all_the_same() {
    let mut parts = parts();
    parts[1].more = 7;
    let brief = fit_budget(&parts, "0123", Budget::default(), Format::Md);
    assert!(brief.text.contains("- 7 findings: `statedir show context`"), "{}", brief.text);
}

fn text(max_tokens: usize) -> String {
    let budget = Budget { max_tokens, max_bytes: None };
    fit_budget(&parts(), "0123", budget, Format::Md).text
}

#[test]
fn the_goal_comes_first_and_everything_is_there_when_it_fits() {
    let marks = ["the goal", "new turn", "old turn", "finding", "long ago"];
    let mut goal = true;
    for budget in (0..400).rev() {
        let text = text(budget);
        assert!(Size::of(&text).tokens <= budget, "{budget}: {text}");
        goal &= text.contains("the goal");
        let shown = marks.iter().filter(|mark| text.contains(*mark)).count();
        assert!(goal || shown == 0, "{budget}: {text}");
        assert!(shown == 5 || !goal || text.contains("eft out"), "{budget}: {text}");
    }
    assert_eq!(marks.iter().filter(|mark| text(400).contains(*mark)).count(), 5);
    assert!(text(400).find("old turn") < text(400).find("new turn"), "oldest first");
}

#[test]
fn a_long_list_leaves_room_for_what_comes_behind_it() {
    let steps: Vec<String> = (0..200).map(|n| format!("{n} a step of the plan")).collect();
    let parts = [
        BriefPart::new(BriefSection::OpenSteps, StateFile::Plan, Stage::OpenSteps).texts(steps),
        BriefPart::new(BriefSection::KeyFindings, StateFile::Context, Stage::Findings)
            .texts(["found"]),
    ];
    let budget = Budget { max_tokens: 300, max_bytes: None };
    let text = fit_budget(&parts, "0123", budget, Format::Md).text;
    assert!(text.contains("> 3 a step") && text.contains("> found"), "{text}");
    assert!(text.contains("open steps: `statedir step list`"), "{text}");
}

#[test]
fn short_forms_come_first_and_grow_where_there_is_room() {
    let items = ["one", "two"]
        .map(|name| BriefItem::new(&format!("{name}\n{}", "more of it\n".repeat(8))).or(name));
    let mut part = BriefPart::new(BriefSection::OpenSteps, StateFile::Plan, Stage::OpenSteps);
    part.items.extend(items);
    let text = |max_tokens| {
        let budget = Budget { max_tokens, max_bytes: None };
        fit_budget(std::slice::from_ref(&part), "0123", budget, Format::Md).text
    };
    assert!(text(75).contains("> one\n> two\n"), "{}", text(75));
    assert!(text(110).contains("> more of it\n> two\n"), "{}", text(110));
    assert_eq!(text(400).matches("more of it").count(), 16);
}

#[test]
fn a_goal_that_is_too_long_is_cut_and_the_brief_says_so() {
    let goal = BriefPart::new(BriefSection::Goal, StateFile::Plan, Stage::First)
        .texts(["word ".repeat(999)]);
    let next =
        BriefPart::new(BriefSection::WhatToDoNext, StateFile::Plan, Stage::First).note("Go on.");
    let budget = Budget { max_tokens: 120, max_bytes: None };
    let parts = [goal, next];
    let brief = fit_budget(&parts, "0123", budget, Format::Md);
    assert!(brief.essentials_need.is_some_and(|need| need > 900));
    assert!(brief.text.contains("> word word") && brief.text.contains("Too small"));
    assert!(brief.text.contains("Go on."), "{}", brief.text);
    // Where hardly anything fits, it is the first thing that is said.
    for tokens in [30, 40, 60] {
        let budget = Budget { max_tokens: tokens, max_bytes: None };
        let little = fit_budget(&parts, "0123", budget, Format::Md);
        assert!(little.text.contains("Too small for the essentials: `--max-tokens "), "{tokens}");
        assert!(Size::of(&little.text).tokens <= tokens, "{}", little.text);
    }
    let enough = Budget { max_tokens: brief.essentials_need.unwrap(), max_bytes: None };
    assert_eq!(fit_budget(&parts, "0123", enough, Format::Md).essentials_need, None);
}
