//! What differs between two versions of the constraints.

use std::collections::{HashMap, HashSet};

use super::sections::{self, Found, Role, Side};
use crate::{
    domain::{Constraints, SettingGroup, StateFile},
    text::markdown::Document,
};

/// Compares modifiers, limits, directives, rules and behaviours, and what else there is.
pub(super) fn compare(before: Document, after: Document) -> Found {
    let (before, after) = (Constraints::read(before), Constraints::read(after));
    sections::compare(StateFile::Constraints, &side(&before), &side(&after))
}

/// All sections, and what each is for.
pub(super) fn side(constraints: &Constraints) -> Side<'_> {
    let document = &constraints.document;
    let mut roles = HashMap::new();
    let behaviours = constraints.behaviours.first();
    roles.extend(behaviours.map(|first| (document.item(first.item).section, Role::Behaviours)));
    roles.extend(constraints.rules_section().ok().map(|id| (id, Role::Rules)));
    roles.extend(constraints.directives_section().ok().map(|id| (id, Role::Directives)));
    for group in [SettingGroup::Modifier, SettingGroup::Resource] {
        let section = constraints.settings_section(group).ok();
        roles.extend(section.map(|id| (id, Role::Settings(group))));
    }
    Side { document, sections: document.sections().collect(), roles, leave_out: HashSet::new() }
}
