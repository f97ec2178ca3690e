//! constraints.md from its lists.

use serde_json::Value;

use super::{Placeholders, field, not_read_back, parse, plain, refused};
use crate::{
    domain::{
        ConstraintList, Constraints, ModifierKind, SettingGroup, StateFile, Workflow,
        constraints::modifier::NOT_SET,
    },
    text::markdown::{Document, ItemId, is_placeholder, render_item},
    workspace::{
        Error,
        state::{
            BehaviourState, ConstraintLine, ConstraintState, SettingState, Written,
            constraint_state, source::DocumentPart,
        },
    },
};

const FILE: StateFile = StateFile::Constraints;

/// Puts the lists of the document into the sections of the rendered template.
pub(in super::super) fn constraints(
    document: &DocumentPart<'_>,
    template: String,
    workflow: &Workflow,
) -> Result<String, Error> {
    let Some(part) = document.get("constraints") else { return Ok(template) };
    let wanted = read(&part, workflow)?;
    let mut text = template;
    let given = |key: &str| part.get(key).is_some();
    if given("settings") {
        for group in [SettingGroup::Modifier, SettingGroup::Resource] {
            let mut lines = String::new();
            for setting in wanted.settings.iter().filter(|setting| setting.group == group) {
                lines.push_str(&setting_line(&setting.written, workflow)?);
            }
            text = put(text, group.into(), &lines)?;
        }
    }
    for (key, list, bullets) in [
        ("directives", ConstraintList::Directives, &wanted.directives),
        ("rules", ConstraintList::Rules, &wanted.rules),
    ] {
        if given(key) {
            let lines: Result<String, Error> =
                bullets.iter().map(|line| bullet(&line.text)).collect();
            text = put(text, list, &lines?)?;
        }
    }
    if given("behaviours") {
        let mut lines = String::new();
        for behaviour in &wanted.behaviours {
            let (name, text) = (&behaviour.task_type, &behaviour.text);
            lines.push_str(&field(0, name, text, Placeholders::AreText)?);
        }
        text = put(text, ConstraintList::Behaviours, &lines)?;
    }
    let read = Constraints::read(parse(FILE, text.clone())?);
    let found = constraint_state(&read, workflow, false);
    let same = (!given("settings") || same_settings(&found.settings, &wanted.settings))
        && (!given("directives") || found.directives == wanted.directives)
        && (!given("rules") || found.rules == wanted.rules)
        && (!given("behaviours") || found.behaviours == wanted.behaviours);
    if same { Ok(text) } else { Err(not_read_back(FILE, "a constraint")) }
}

fn read(part: &DocumentPart<'_>, workflow: &Workflow) -> Result<ConstraintState, Error> {
    let mut state = ConstraintState::default();
    for item in part.list("settings")? {
        let (name, text) = item.written_here()?;
        let group = match item.text("group")?.as_deref() {
            Some("resource") => SettingGroup::Resource,
            _ => SettingGroup::Modifier,
        };
        let text = Some(text).filter(|text| !text.is_empty());
        let written = Written::setting(&name, text.as_deref(), workflow.modifier(&name));
        state.settings.push(SettingState { group, written });
    }
    for (key, list) in [("directives", &mut state.directives), ("rules", &mut state.rules)] {
        for item in part.list(key)? {
            let text = match item.value() {
                Value::String(text) => text.clone(),
                _ => item.needed_text("text")?,
            };
            list.push(ConstraintLine { number: list.len() + 1, text, place: None });
        }
    }
    for item in part.list("behaviours")? {
        let task_type = item.needed_text("task_type")?;
        let text = item.text("text")?.unwrap_or_default();
        state.behaviours.push(BehaviourState { task_type, text, place: None });
    }
    Ok(state)
}

/// The first form of a setting that reads back: in the style of its kind, as it is, or escaped.
fn setting_line(setting: &Written, workflow: &Workflow) -> Result<String, Error> {
    let name = &setting.name;
    let Some(text) = setting.text.as_deref() else {
        return Ok(format!("- **{}**: {NOT_SET}\n", plain(name)));
    };
    let kind = workflow.modifier(name).map(|modifier| modifier.kind());
    let is_word = matches!(kind, Some(ModifierKind::Ordered | ModifierKind::Enum));
    let quoted = format!("- **{name}**: {}\n", Value::from(text));
    let bare = format!("- **{name}**: {text}\n");
    let forms = if is_word { [quoted, bare] } else { [bare, quoted] };
    for form in forms {
        if let Some((document, item)) = only_item(&form)
            && document.item(item).key.as_deref() == Some(name)
            && document.value(item) == text
            && !is_placeholder(document.raw_value(item))
        {
            return Ok(form);
        }
    }
    field(0, name, text, Placeholders::Matter)
}

/// A directive or a rule: the plainest line that reads back as its text.
fn bullet(text: &str) -> Result<String, Error> {
    let plain = format!("- {text}\n");
    if only_item(&plain).is_some_and(|(document, item)| document.text(item) == text) {
        return Ok(plain);
    }
    render_item("\n", 0, text).map_err(|_| not_read_back(FILE, "a line"))
}

/// The document, if it is one item on one line and nothing else.
fn only_item(source: &str) -> Option<(Document, ItemId)> {
    let document = Document::parse(source).ok()?;
    let [item] = document.items(document.root())[..] else { return None };
    let whole = document.sections().count() == 1
        && document.item(item).children.is_empty()
        && document.hidden().is_none()
        && source.lines().count() == 1;
    whole.then_some((document, item))
}

/// Replaces the list of a section; its prose stays. A missing section is added.
fn put(text: String, list: ConstraintList, lines: &str) -> Result<String, Error> {
    let document = parse(FILE, text)?;
    let edit_error = |error: crate::text::markdown::EditError| refused(error.to_string());
    let find =
        |document: &Document| list.titles().iter().find_map(|title| document.section_titled(title));
    let section = match find(&document) {
        Some(section) => section,
        None if lines.is_empty() => return Ok(document.into_source()),
        None => {
            let mut edit = document.edit();
            let parent = document.title_section();
            let parent = parent.unwrap_or_else(|| document.root());
            edit.insert_section(parent, None, 2, list.titles()[0], lines);
            return Ok(edit.finish().map_err(edit_error)?.document.into_source());
        }
    };
    let mut edit = document.edit();
    for item in document.items(section) {
        edit.remove_item(*item);
    }
    let document = edit.finish().map_err(edit_error)?.document;
    if lines.is_empty() {
        return Ok(document.into_source());
    }
    let Some(section) = find(&document) else {
        return Err(not_read_back(FILE, "a section"));
    };
    // Right below a heading the list needs no blank line; below prose it does.
    let body = document.section(section).body.clone();
    let source = document.source();
    let prose = source[body.clone()].trim_end();
    let gap = if prose.trim().is_empty() { "" } else { "\n\n" };
    let rest = &source[body.end..];
    let end = if rest.is_empty() { "" } else { "\n" };
    Ok(format!("{}{}{gap}{lines}{end}{rest}", &source[..body.start], prose.trim_matches('\n')))
}

fn same_settings(found: &[SettingState], wanted: &[SettingState]) -> bool {
    let modifiers = |state: &&SettingState| state.group == SettingGroup::Modifier;
    let (mut first, rest): (Vec<_>, Vec<_>) = wanted.iter().partition(modifiers);
    first.extend(rest);
    found.iter().eq(first)
}
