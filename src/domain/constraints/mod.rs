//! constraints.md: modifiers, limits, directives, rules and behaviours.

pub(crate) mod lifetime;
pub(crate) mod modifier;
pub(crate) mod nested;

use serde::{Deserialize, Serialize};

use super::{
    FactValue, ModelError, StateFile,
    constraints::modifier::{is_not_set, is_unlimited, unquoted},
    layout::ForeignLayout,
    problem::RENAME,
};
use crate::text::{
    Place,
    markdown::{Document, Edited, ItemId, LookupError, SectionId, is_placeholder},
};

const FILE: StateFile = StateFile::Constraints;

/// The spellings of the headings of the lists.
pub(super) const MODIFIERS: &[&str] =
    &["Behavioral Modifiers", "Behavioural Modifiers", "Modifiers"];
pub(super) const RESOURCES: &[&str] = &["Resource Constraints", "Resources"];
pub(super) const DIRECTIVES: &[&str] = &["Active Directives", "Directives"];
pub(super) const RULES: &[&str] = &["Adaptation Rules"];
pub(super) const BEHAVIOURS: &[&str] = &["Context-Aware Behaviors", "Context-Aware Behaviours"];

/// The lists of constraints.md, in their usual order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConstraintList {
    /// *Behavioral Modifiers*.
    Modifiers,
    /// *Resource Constraints*.
    Resources,
    /// *Active Directives*.
    Directives,
    /// *Adaptation Rules*.
    Rules,
    /// *Context-Aware Behaviors*.
    Behaviours,
}

impl ConstraintList {
    /// Every list, in order.
    pub const ALL: [Self; 5] =
        [Self::Modifiers, Self::Resources, Self::Directives, Self::Rules, Self::Behaviours];

    /// The spellings of its heading.
    pub(crate) const fn titles(self) -> &'static [&'static str] {
        match self {
            Self::Modifiers => MODIFIERS,
            Self::Resources => RESOURCES,
            Self::Directives => DIRECTIVES,
            Self::Rules => RULES,
            Self::Behaviours => BEHAVIOURS,
        }
    }
}

impl From<SettingGroup> for ConstraintList {
    fn from(group: SettingGroup) -> Self {
        match group {
            SettingGroup::Modifier => Self::Modifiers,
            SettingGroup::Resource => Self::Resources,
        }
    }
}

/// Which list a setting is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SettingGroup {
    /// *Behavioral Modifiers*.
    #[default]
    Modifier,
    /// *Resource Constraints*.
    Resource,
}

/// A modifier or a limit.
#[derive(Clone, Debug, Serialize)]
pub struct Setting {
    pub name: String,
    /// Its value without quotes; `None` while it is a placeholder or says that it is not set.
    pub value: Option<String>,
    /// The list it is in.
    pub group: SettingGroup,
    /// The line in the document.
    #[serde(skip)]
    pub item: ItemId,
    /// Where the value ends; text that somebody typed right below it is not a part of it.
    #[serde(skip)]
    pub(crate) end: usize,
}

impl Setting {
    /// The value, unless it is absent or unlimited.
    pub fn binding(&self) -> Option<&str> {
        self.value.as_deref().filter(|value| !is_unlimited(value))
    }
}

/// A line of a list: a directive or a rule.
#[derive(Clone, Debug, Serialize)]
pub struct Bullet {
    /// Its number in the list, from one.
    pub number: usize,
    /// The text as written, without the bullet.
    pub text: String,
    /// What is nested below it: lists, further paragraphs.
    #[serde(skip)]
    pub below: String,
    /// The line in the document.
    #[serde(skip)]
    pub item: ItemId,
}

/// What applies to one kind of task.
#[derive(Clone, Debug, Serialize)]
pub struct Behaviour {
    /// The kind of task, such as `legal_tasks`.
    pub task_type: String,
    /// What applies, as written.
    pub text: String,
    /// The line in the document.
    #[serde(skip)]
    pub item: ItemId,
}

/// The constraints and the document they were read from.
#[derive(Clone, Debug)]
pub struct Constraints {
    /// The text with its spans.
    pub document: Document,
    /// Modifiers and limits, in order.
    pub settings: Vec<Setting>,
    /// Directives in force, in order.
    pub directives: Vec<Bullet>,
    /// Adaptation rules, in order.
    pub rules: Vec<Bullet>,
    /// Behaviours by kind of task, in order.
    pub behaviours: Vec<Behaviour>,
    /// Where the text of other people begins, which is read and never added to.
    pub(crate) own_end: Option<usize>,
}

impl Constraints {
    /// Reads the constraints out of a document.
    pub fn read(document: Document) -> Self {
        let mut settings = Vec::new();
        for group in [SettingGroup::Modifier, SettingGroup::Resource] {
            settings.extend(read_settings(&document, group));
        }
        Self {
            directives: bullets(&document, ConstraintList::Directives),
            rules: bullets(&document, ConstraintList::Rules),
            behaviours: behaviours(&document),
            settings,
            own_end: None,
            document,
        }
    }

    /// The same where files of other people follow, as in an adopted state.
    pub(crate) fn followed_by(mut self, layout: Option<&ForeignLayout>) -> Self {
        self.own_end = layout.and_then(|layout| layout.foreign_part(FILE, &self.document));
        self
    }

    /// The setting of that name, whatever its letter case.
    ///
    /// # Errors
    /// The name appears more than once.
    pub fn setting(&self, name: &str) -> Result<Option<&Setting>, ModelError> {
        let mut found = self.settings.iter().filter(|setting| same_name(&setting.name, name));
        let first = found.next();
        let (Some(one), Some(other)) = (first, found.next()) else { return Ok(first) };
        let places = vec![self.place(one.item), self.place(other.item)];
        Err(ModelError::Ambiguous {
            file: FILE,
            message: format!(
                "`{name}` appears more than once: {FILE}:{} and {FILE}:{}",
                places[0], places[1]
            ),
            places,
            hint: RENAME.to_owned(),
        })
    }

    /// The value of a setting, if it has one.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.settings.iter().find(|s| same_name(&s.name, name))?.value.as_deref()
    }

    /// The lines among the behaviours that name no task type: the text of each, and its item.
    pub(crate) fn unnamed_behaviours(&self) -> impl Iterator<Item = (String, ItemId)> {
        let items = nested::items(&self.document, ConstraintList::Behaviours);
        let unnamed = items.filter(|item| self.document.item(*item).key.is_none());
        unnamed.map(|item| (self.document.text(item), item))
    }

    /// Where an item begins.
    pub fn place(&self, item: ItemId) -> Place {
        self.document.place(self.document.item(item).span.start)
    }

    /// The section of a list.
    ///
    /// # Errors
    /// It is missing or appears twice.
    pub fn section(&self, list: ConstraintList) -> Result<SectionId, ModelError> {
        self.find(list).map_err(|error| ModelError::lookup(FILE, error))
    }

    /// The document with a section for the list; `None` if there is one already.
    ///
    /// # Errors
    /// It appears twice, or no section can be added.
    pub fn with_section(&self, list: ConstraintList) -> Result<Option<Edited>, ModelError> {
        match self.find(list) {
            Ok(_) => return Ok(None),
            Err(LookupError::NotFound { hidden: None, .. }) => {}
            Err(error) => return Err(ModelError::lookup(FILE, error)),
        }
        let document = &self.document;
        let before = ConstraintList::ALL.into_iter().take_while(|other| *other != list);
        let before = before.filter_map(|other| self.find(other).ok()).last();
        let (parent, level) = match before.map(|id| document.section(id)) {
            Some(sibling) => (sibling.parent.unwrap_or_else(|| document.root()), sibling.level),
            None => (document.title_section().unwrap_or_else(|| document.root()), 2),
        };
        let mut edit = document.edit();
        edit.insert_section(parent, before, level, list.titles()[0], "");
        edit.finish().map(Some).map_err(|error| ModelError::edit(FILE, &error))
    }

    fn find(&self, list: ConstraintList) -> Result<SectionId, LookupError> {
        let titles = list.titles();
        if let Some(end) = self.own_end {
            let is_meant = |id: &SectionId| {
                let found = self.document.section(*id);
                let has_title = titles.iter().any(|title| found.title.eq_ignore_ascii_case(title));
                has_title && found.heading.start < end
            };
            let name = titles[0].to_owned();
            let first = self.document.sections().find(is_meant);
            return first.ok_or(LookupError::NotFound { name, nearest: None, hidden: None });
        }
        let name = spelling(&self.document, titles).or(titles.first().copied()).unwrap_or_default();
        self.document.find(&[name])
    }
}

/// `Max Cost` and `max_cost` are one name.
fn same_name(one: &str, other: &str) -> bool {
    let plain = |c: char| if matches!(c, ' ' | '-') { '_' } else { c.to_ascii_lowercase() };
    one.chars().map(plain).eq(other.chars().map(plain))
}

/// The first spelling that a heading of the document has.
fn spelling<'n>(document: &Document, names: &[&'n str]) -> Option<&'n str> {
    names.iter().copied().find(|name| document.has_section(name))
}

fn read_settings(document: &Document, group: SettingGroup) -> Vec<Setting> {
    let setting = |item: ItemId| {
        let name = document.item(item).key.clone()?;
        let end = setting_end(document, item);
        let raw = &document.source()[document.item(item).value_span.start..end];
        let is_set = !is_placeholder(raw) && !is_not_set(raw);
        let value = is_set.then(|| document.value_until(item, end));
        let value = value.filter(|value| !value.is_empty());
        Some(Setting { name, value, group, item, end })
    };
    nested::items(document, group.into()).filter_map(setting).collect()
}

/// Where the value of a setting ends: with its line, if that line can only be a whole value, and
/// else with the lines that are its own.
fn setting_end(document: &Document, item: ItemId) -> usize {
    let (start, end) = (document.item(item).value_span.start, document.own_lines_end(item));
    let own = &document.source()[start..end];
    let Some((line, _)) = own.split_once('\n') else { return end };
    let line = line.trim_end();
    let inner = unquoted(line);
    let is_quoted = inner != line && !inner.contains(['"', '\'']);
    let is_whole = is_quoted
        || is_word(line)
        || is_not_set(line)
        || is_unlimited(line)
        || FactValue::parse_quantity(line).is_some();
    if is_whole { start + line.len() } else { end }
}

/// Whether a line is a single word. Nobody breaks a line after the first word of a text, but people
/// explain on the next line why they chose it.
fn is_word(line: &str) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    line.ends_with(is_letter) && line.chars().all(|c| is_letter(c) || matches!(c, '-' | '.'))
}

fn bullets(document: &Document, list: ConstraintList) -> Vec<Bullet> {
    let mut found = Vec::new();
    for item in nested::items(document, list) {
        let mut text = document.text(item);
        if text.is_empty() || is_placeholder(&text) {
            continue;
        }
        let continued = (list == ConstraintList::Rules).then(|| nested::continued(document, item));
        let below = match continued.flatten() {
            Some(actions) => {
                text = format!("{text} {actions}");
                String::new()
            }
            None => nested::below(document, item),
        };
        found.push(Bullet { number: found.len() + 1, text, below, item });
    }
    found
}

fn behaviours(document: &Document) -> Vec<Behaviour> {
    let behaviour = |item: ItemId| {
        let task_type = document.item(item).key.clone()?;
        let mut text = document.value(item);
        if text.is_empty() {
            text = nested::listed(document, item).unwrap_or_default();
        }
        Some(Behaviour { task_type, text, item })
    };
    nested::items(document, ConstraintList::Behaviours).filter_map(behaviour).collect()
}
