//! Names and texts of things, independent of how they are formatted.

use std::borrow::Cow;

use super::{Outline, SectionRole, ThingId, ThingKind};

/// `Tool Mapping`, `tool-mapping` and `tool_mapping` are one name.
pub(crate) fn normal_name(name: &str) -> String {
    name.trim().to_lowercase().replace([' ', '-'], "_")
}

/// The text with each run of ASCII white space replaced by one space.
pub(crate) fn single_spaced(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_ascii_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// A value and what follows it, with a space between them unless one is empty.
pub(crate) fn with_rest(text: &str, rest: &str) -> String {
    match (text.is_empty(), rest.is_empty()) {
        (_, true) => text.to_owned(),
        (true, false) => rest.to_owned(),
        _ => format!("{text} {rest}"),
    }
}

/// A prefix and a value, with a space between them if one is needed.
pub(crate) fn join(prefix: &str, value: &str) -> String {
    let tight = prefix.is_empty() || prefix.ends_with([' ', '\t', '\n', '\r']) || value.is_empty();
    let space = if tight || value.starts_with(['\n', '\r']) { "" } else { " " };
    [prefix, space, value].concat()
}

impl Outline<'_> {
    /// The key of a field or the title of a section, as written; directives and rules are sentences
    /// even where they begin like a field.
    pub(crate) fn written_name(&self, id: ThingId) -> Option<&str> {
        let thing = self.get(id);
        match (thing.kind, thing.item) {
            (ThingKind::Section(_), _) => Some(self.document.section(thing.section).title),
            (ThingKind::Part(name), _) => Some(name),
            (ThingKind::Item, _)
                if matches!(thing.role, SectionRole::Directives | SectionRole::Rules) =>
            {
                None
            }
            (_, Some(item)) => self.document.item(item).key.as_deref(),
            _ => None,
        }
    }

    /// The name in the spelling for comparison.
    pub(crate) fn name(&self, id: ThingId) -> Option<String> {
        self.written_name(id).map(normal_name)
    }

    /// The names of the fields around a thing and its own, with dots between them, and the path of
    /// the innermost field around it. A bullet without a name is not part of a path.
    pub(crate) fn field_path(&self, id: ThingId) -> (Option<String>, String) {
        let around = self.lineage(id).skip(1).take_while(|around| !self.begins_part(*around));
        let mut names: Vec<String> = around.filter_map(|around| self.name(around)).collect();
        names.reverse();
        let under = names.join(".");
        let own = self.name(id).filter(|_| self.get(id).kind.is_item());
        (own.map(|name| if under.is_empty() { name } else { format!("{under}.{name}") }), under)
    }

    /// The titles that lead to a section, without the title of the document.
    pub(crate) fn path(&self, id: ThingId) -> Vec<&str> {
        let sections = self.lineage(id).filter(|around| match self.get(*around).kind {
            ThingKind::Section(level) => level > 1,
            _ => false,
        });
        let mut path: Vec<&str> =
            sections.filter_map(|around| Some(self.written_name(around)?.trim())).collect();
        path.reverse();
        path
    }

    /// Its own text as written, without what is below it.
    pub(crate) fn written(&self, id: ThingId) -> String {
        let thing = self.get(id);
        join(thing.prefix.trim_start(), &thing.value)
    }

    /// The value of a field, else the whole text; and what follows the value without being part of it,
    /// such as a comment.
    pub(crate) fn value(&self, id: ThingId) -> (String, String) {
        let thing = self.get(id);
        let document = self.document;
        let (Some(found), Cow::Borrowed(_)) = (thing.item, &thing.value) else {
            return match (thing.kind, &thing.step) {
                (_, Some(step)) => (step.title.clone(), String::new()),
                (ThingKind::Section(_), _) => {
                    (document.section(thing.section).title.trim().to_owned(), String::new())
                }
                _ => (single_spaced(&thing.value), String::new()),
            };
        };
        let is_field = self.written_name(id).is_some();
        let item = document.item(found);
        let text = if is_field { document.value(found) } else { document.text(found) };
        let text = match item.checkbox {
            None => text,
            Some(true) => format!("[x] {text}"),
            Some(false) => format!("[ ] {text}"),
        };
        let from = item.block.as_ref().map_or(item.value_span.end, |block| block.end);
        let rest =
            document.source().get(from..thing.span.end).map(single_spaced).unwrap_or_default();
        match is_field {
            true => (text, rest),
            false => (with_rest(&text, &rest), String::new()),
        }
    }

    /// Its name and value.
    pub(crate) fn own_text(&self, id: ThingId) -> String {
        let (text, rest) = self.value(id);
        let text = with_rest(&text, &rest);
        match self.name(id).filter(|_| self.get(id).kind.is_item()) {
            Some(name) => format!("{name}: {text}"),
            None => text,
        }
    }

    /// Its text with everything below it for which `is_part` holds, a line for each thing.
    pub(crate) fn full_text(&self, id: ThingId, is_part: &dyn Fn(ThingId) -> bool) -> String {
        let mut text = if id == Self::ROOT { String::new() } else { self.own_text(id) };
        for child in self.children(id).filter(|child| is_part(*child)) {
            text.push('\n');
            text.push_str(&self.full_text(child, is_part));
        }
        text
    }
}
