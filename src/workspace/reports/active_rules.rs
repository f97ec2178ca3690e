//! What binds an agent right now.

use crate::{
    domain::{Bullet, Review, Setting},
    workspace::{Error, Snapshot},
};

/// Modifiers, limits, directives, rules and open reviews.
#[derive(Clone, Debug, Default)]
pub(crate) struct ActiveRules {
    /// Modifiers and limits.
    pub settings: Vec<Setting>,
    /// Directives in force.
    pub directives: Vec<Bullet>,
    /// Adaptation rules.
    pub rules: Vec<Bullet>,
    /// Questions that wait for a person.
    pub reviews: Vec<Review>,
}

impl ActiveRules {
    /// A line each.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for setting in &self.settings {
            let value = setting.binding().map(|value| format!("{}: {value}", setting.name));
            lines.extend(value);
        }
        lines.extend(self.directives.iter().map(|line| format!("directive: {}", line.text)));
        lines.extend(self.rules.iter().map(|line| format!("rule: {}", line.text)));
        let reviews = self.reviews.iter();
        lines.extend(reviews.map(|review| format!("open review {}: {}", review.id, review.text)));
        lines
    }
}

impl Snapshot {
    /// What binds an agent right now; reviews are absent if the plan cannot be read.
    ///
    /// # Errors
    /// The constraints cannot be read.
    pub(crate) fn active_rules(&self) -> Result<ActiveRules, Error> {
        let constraints = self.constraints()?;
        let reviews = self.plan().map(|plan| plan.open_reviews().cloned().collect());
        Ok(ActiveRules {
            settings: constraints.settings,
            directives: constraints.directives,
            rules: constraints.rules,
            reviews: reviews.unwrap_or_default(),
        })
    }
}
