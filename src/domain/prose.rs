//! Prose besides the fields: under a step, among the constraints; and text that is only from a template.

use super::{
    ConstraintList, Constraints, Plan, Setting, Step, Workflow,
    constraints::nested::{below, list_of},
    plan::read::field_lines::without_status,
};
use crate::text::markdown::{Document, ItemId, SectionId};

/// Text without a known form, verbatim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prose {
    /// The heading it is under, unless that is the title of the document.
    pub heading: Option<String>,
    pub text: String,
    /// Where that heading, or the text above all headings, begins.
    pub offset: usize,
}

impl Plan {
    /// The text under a step that is not a field, with its subsections.
    pub(crate) fn prose(&self, step: &Step) -> String {
        let document = &self.document;
        // A step without a description has only fields.
        if !step.has_description() {
            return String::new();
        }
        if step.item.is_some() {
            return step.details().description.clone().unwrap_or_default();
        }
        let is_field = |item: ItemId| document.item(item).key.is_some();
        let mut text = without_status(&outside_items(document, step.section, is_field));
        let end = self.inside(step).map_or(self.extent(step).end, |inner| inner.offset);
        for child in document.children(step.section) {
            let section = document.section(child);
            if section.heading.start < end {
                text.push_str("\n\n");
                text.push_str(
                    &document.source()[section.extent.start..section.extent.end.min(end)],
                );
            }
        }
        without_filler(&text)
    }
}

impl Constraints {
    /// The text that is not a setting, directive, rule or behaviour, and what is nested below settings
    /// and behaviours.
    pub(crate) fn prose(&self) -> Vec<Prose> {
        use ConstraintList::{Behaviours, Directives, Modifiers, Resources, Rules};
        let document = &self.document;
        let mut found = Vec::new();
        for id in document.sections() {
            let section = document.section(id);
            let list = list_of(document, id);
            let is_known = |item: ItemId| match list {
                Some(Directives | Rules) => true,
                Some(Modifiers | Resources | Behaviours) => document.item(item).key.is_some(),
                None => false,
            };
            let mut text = without_filler(&outside_items(document, id, is_known));
            for &item in document.items(id).iter().filter(|item| is_known(**item)) {
                let below = match list {
                    Some(Modifiers | Resources) => below(document, item),
                    Some(Behaviours) => {
                        let mut behaviours = self.behaviours.iter();
                        let behaviour = behaviours.find(|behaviour| behaviour.item == item);
                        behaviour.map(|found| found.below(document)).unwrap_or_default()
                    }
                    _ => continue,
                };
                let below = without_filler(&without_comments(&below));
                if !below.is_empty() {
                    let key = document.item(item).key.as_deref().unwrap_or_default();
                    text = format!("{text}\n\n{key}: {below}").trim().to_owned();
                }
            }
            if !text.is_empty() {
                let heading = (section.level > 1).then(|| section.title.to_owned());
                let offset = section.heading.start;
                found.push(Prose { heading, text, offset });
            }
        }
        found
    }
}

/// The source of a section's own body without some of its items, and without comments.
fn outside_items(
    document: &Document,
    section: SectionId,
    is_left_out: impl Fn(ItemId) -> bool,
) -> String {
    let found = document.section(section);
    let mut text = String::new();
    let mut from = found.body.start;
    for &item in document.items(section).iter().filter(|item| is_left_out(**item)) {
        let span = &document.item(item).span;
        // The white space before a bullet belongs to it.
        text.push_str(document.source().get(from..span.start).unwrap_or_default().trim_end());
        text.push_str("\n\n");
        from = span.end.max(from);
    }
    text.push_str(document.source().get(from..found.body.end).unwrap_or_default());
    without_comments(&text)
}

fn without_comments(text: &str) -> String {
    let mut rest = text;
    let mut kept = String::new();
    while let Some((before, after)) = rest.split_once("<!--") {
        kept.push_str(before);
        rest = after.split_once("-->").map_or("", |(_, after)| after);
    }
    kept + rest
}

/// Filler texts of the templates of this and earlier versions.
const FILLER: [&str; 18] = [
    "[Summaries, insights, and key findings gathered during execution]",
    "[Summaries of fetched web pages, extracted data]",
    "[Key insights from analyzed documents]",
    "[Important discoveries that influence subsequent steps]",
    "[Agent's evolving understanding of the task and domain]",
    "[Explanations for major decisions made during execution]",
    "[Dynamic behavioral rules that evolve during execution]",
    "[Rules for self-modification of constraints]",
    "[Behaviors that adapt based on task type or domain]",
    "[... continue for all planned steps]",
    "[... continue chronologically]",
    "[Structured data for fine-tuning - only in EXECUTION mode]",
    "What has been learned on the way, newest last.",
    "Nothing is known yet beyond the goal.",
    "Why the larger decisions were taken, and what was ruled out.",
    "Rules of behaviour that hold right now. `statedir directive add` adds one, and so can an adaptation rule.",
    "What changes the constraints when something happens.",
    "What changes with the kind of task.",
];

/// The default values of the first version.
const FIRST_DEFAULTS: [(&str, &str); 10] = [
    ("user_sentiment", "neutral"),
    ("priority", "quality"),
    ("max_cost_per_task", "0.50"),
    ("human_review_trigger_level", "medium"),
    ("active_persona", "concise_assistant"),
    ("error_tolerance", "moderate"),
    ("max_execution_time", "300 seconds"),
    ("max_file_operations", "20"),
    ("max_web_requests", "5"),
    ("preferred_tools", r#"["WebFetch", "Read", "Write"]"#),
];

/// The rules in the templates of this version and the first one.
const TEMPLATE_RULES: [&str; 5] = [
    "If 2+ consecutive steps fail → set human_review_trigger_level to \"low\"",
    "If user provides positive feedback → set user_sentiment to \"pleased\"",
    "If cost exceeds 80% of budget → set priority to \"cost_efficiency\"",
    "If execution time > 200s → set priority to \"speed_and_clarity\"",
    "If execution time exceeds 80% of max_execution_time → set priority to \"speed_and_clarity\"",
];

/// A trimmed text without filler lines of templates, and with single blank lines.
pub(crate) fn without_filler(text: &str) -> String {
    let lines = text.trim().lines().filter(|line| !FILLER.contains(&line.trim()));
    let mut kept: Vec<&str> = lines.collect();
    kept.dedup_by(|line, before| line.trim().is_empty() && before.trim().is_empty());
    kept.join("\n").trim().to_owned()
}

/// Whether a setting has its default value, of this version or the first one.
pub(crate) fn is_default_setting(setting: &Setting, workflow: &Workflow) -> bool {
    let Some(value) = setting.binding() else { return true };
    let default = workflow.modifier(&setting.name).and_then(|modifier| modifier.default());
    default == Some(value) || FIRST_DEFAULTS.contains(&(setting.name.as_str(), value))
}

/// Whether a rule is from a template.
pub(crate) fn is_template_rule(rule: &str) -> bool {
    TEMPLATE_RULES.contains(&rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(text: &str) -> Document {
        Document::parse(text).unwrap()
    }

    #[test]
    fn prose_under_a_step_is_what_is_no_field() {
        let plan = Plan::read(document(
            "# P\n\n## Steps\n\n### Step 1: A\nFirst.\n\n- **status**: X\n- **note**: n\n\nThen:\n\
             - a plain bullet\n\n<!-- not for readers -->\n\n#### Detail\nmore\n\n### Step 2: B\n- **status**: X\n",
        ));
        assert_eq!(
            plan.prose(&plan.steps[0]),
            "First.\n\nThen:\n- a plain bullet\n\n#### Detail\nmore"
        );
        assert_eq!(plan.prose(&plan.steps[1]), "");
    }

    #[test]
    fn unknown_prose_among_the_constraints_is_kept_word_for_word() {
        let constraints = Constraints::read(document(
            "# House rules\n\nNever on *Sundays*.\n\n## Behavioral Modifiers\n- **priority**: quality\n\
             - be kind\n\n## Active Directives\nWhat changes with the kind of task.\n- Known one\n\n\
             ## Noise\n- Quiet after 18:00\n- **key**: value\n",
        ));
        let prose = |heading: Option<&str>, text: &str, offset: usize| Prose {
            heading: heading.map(str::to_owned),
            text: text.to_owned(),
            offset,
        };
        assert_eq!(
            constraints.prose(),
            [
                prose(None, "Never on *Sundays*.", 0),
                prose(Some("Behavioral Modifiers"), "- be kind", 36),
                prose(Some("Noise"), "- Quiet after 18:00\n- **key**: value", 165),
            ]
        );
    }

    #[test]
    fn what_is_nested_in_the_lists_of_the_constraints_is_kept() {
        let constraints = Constraints::read(document(
            "# C\n## Modifiers\n- **priority**: quality\n  - the client is picky\n## Directives\n\
             - Be careful:\n  - no force pushes\n    - ever\n\n  A second paragraph.\n- Alone\n\
             ### By the client\n- No calls\n### Examples\n- Not in force\n\
             ## Adaptation Rules\n- If 2 failures:\n  - pause\n  - set priority to quality\n\
             ### Cost\n- If cost > $1 → pause\n  - or ask\n## Adaptation Rules\n- If 3 failures → pause\n\
             ## Context-Aware Behaviors\n- **legal_tasks**:\n  - require human review\n  - pause\n",
        ));
        let text = |bullet: &crate::domain::Bullet| (bullet.text.clone(), bullet.below.clone());
        let pair = |text: &str, below: &str| (text.to_owned(), below.to_owned());
        assert_eq!(
            constraints.directives.iter().map(text).collect::<Vec<_>>(),
            [
                pair("Be careful:", "- no force pushes\n  - ever\n\nA second paragraph."),
                pair("Alone", ""),
                pair("No calls", ""),
            ]
        );
        assert_eq!(
            constraints.rules.iter().map(text).collect::<Vec<_>>(),
            [
                pair("If 2 failures: pause, set priority to quality", ""),
                pair("If cost > $1 → pause", "- or ask"),
                pair("If 3 failures → pause", ""),
            ]
        );
        assert_eq!(constraints.behaviours[0].text, "require human review, pause");
        let prose: Vec<_> = constraints.prose().into_iter().map(|prose| prose.text).collect();
        assert_eq!(prose, ["priority: - the client is picky", "- Not in force"]);
    }
}
