//! The built-in constraints.md for a lifecycle that has modifiers of its own.

use crate::{
    domain::{ConstraintList, ModifierKind, Workflow, constraints::modifier::UNLIMITED},
    rules::{Action, WrittenRule},
};

/// The template with a field for every modifier that the lifecycle adds, and without the fields, rules
/// and behaviours about modifiers that it does not have.
pub(super) fn fit(template: &str, workflow: &Workflow) -> String {
    let named: Vec<&str> = template.lines().filter_map(field_name).collect();
    let is_known = |name: &&str| workflow.modifier(name).is_some();
    let gone: Vec<&str> = named.iter().copied().filter(|name| !is_known(name)).collect();
    let is_gone = |line: &str| gone.iter().any(|name| line.contains(name));
    let mut list = None;
    let mut text = String::new();
    for line in template.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            list = ConstraintList::ALL.into_iter().find(|list| list.titles().contains(&title));
        }
        let is_followed = match line.strip_prefix("- ") {
            Some(item) => is_understood(list, item, workflow) && !is_gone(item),
            None => field_name(line).is_none_or(|name| is_known(&name)),
        };
        if !is_followed {
            continue;
        }
        text.push_str(line);
        text.push('\n');
        if !line.starts_with("## ") {
            continue;
        }
        for modifier in workflow.modifiers() {
            let name = modifier.name();
            let is_own = Workflow::builtin().modifier(name).is_none() && !named.contains(&name);
            if is_own && list == Some(modifier.group().into()) {
                text.push_str(&field(name, modifier.kind()));
            }
        }
    }
    text
}

/// `{{quoted_field "priority" modifiers.priority}}`
fn field_name(line: &str) -> Option<&str> {
    let (helper, rest) = line.strip_prefix("{{")?.split_once(" \"")?;
    helper.ends_with("field").then(|| rest.split('"').next()).flatten()
}

fn field(name: &str, kind: ModifierKind) -> String {
    let value = format!("\"{name}\" modifiers.[{name}]");
    match kind {
        ModifierKind::Ordered | ModifierKind::Enum => format!("{{{{quoted_field {value}}}}}\n"),
        ModifierKind::List => format!("{{{{list_field {value}}}}}\n"),
        _ => format!("{{{{field {value} \"{UNLIMITED}\"}}}}\n"),
    }
}

fn is_understood(list: Option<ConstraintList>, item: &str, workflow: &Workflow) -> bool {
    match list {
        Some(ConstraintList::Rules) => WrittenRule::parse(item, workflow).parsed.is_ok(),
        Some(ConstraintList::Behaviours) => {
            let actions = item.split_once("**: ").map(|(_, text)| text);
            actions.is_none_or(|text| Action::parse_all(text, workflow).is_ok())
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::setup::builtin_templates::BUILTIN;

    #[test]
    fn the_built_in_lifecycle_needs_no_other_template() {
        for template in &BUILTIN {
            let text = template.file(crate::domain::StateFile::Constraints);
            assert_eq!(fit(text, Workflow::builtin()), text, "{}", template.name);
        }
    }

    #[test]
    fn modifiers_of_ones_own_take_the_place_of_the_built_in_ones() {
        let own = "version: 1\nmodifiers:\n  - {name: pace, kind: ordered, values: [slow, fast]}\n  \
                   - {name: max_cost_per_task, kind: money}\n  \
                   - {name: max_pages, kind: number, group: resource}\n";
        let workflow = crate::rules::parse_workflow(own).unwrap();
        let text = fit(BUILTIN[0].file(crate::domain::StateFile::Constraints), &workflow);
        let fields: Vec<&str> = text.lines().filter(|line| line.contains("field")).collect();
        assert_eq!(
            fields,
            [
                "{{quoted_field \"pace\" modifiers.[pace]}}",
                "{{field \"max_cost_per_task\" modifiers.max_cost_per_task \"unlimited\"}}",
                "{{field \"max_pages\" modifiers.[max_pages] \"unlimited\"}}",
            ]
        );
        assert!(!text.contains("- "), "every rule speaks of modifiers that are gone: {text}");
    }
}
