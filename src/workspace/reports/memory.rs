//! The conversation as it is remembered.

use crate::{
    brief::{self, Memory, Preferences, Project},
    workspace::{Error, Snapshot},
};

/// How many of the newest entries patterns are drawn from.
const PATTERN_ENTRIES: usize = 200;

/// How many turns are looked at for decisions and lessons that last.
const LONG_TURNS: usize = 1000;

/// How far back turns are looked for, in bytes of the history.
const TAIL: u64 = 16 << 20;

impl Snapshot {
    /// The four tiers of memory, derived now. Turns are looked for in the last 16 MiB.
    ///
    /// # Errors
    /// The history cannot be read; what else cannot be read is left empty.
    pub(crate) fn memory(&self) -> Result<Memory, Error> {
        let history = self.facts()?.history.counts;
        let turns = self.newest_turns(LONG_TURNS, TAIL, &history)?;
        let entries = self.newest(PATTERN_ENTRIES, |_| true)?;
        let plan = self.plan().ok();
        let understanding = self.context().ok().and_then(|context| {
            let sections = context.sections.into_iter();
            let mut found = sections
                .filter(|section| section.title.eq_ignore_ascii_case("Current Understanding"));
            found.next().map(|section| section.text).filter(|text| !text.is_empty())
        });
        let project = Project {
            title: plan.as_ref().map(|plan| plan.title.clone()),
            goal: plan.as_ref().and_then(|plan| plan.metadata.goal.clone()),
            mode: plan.as_ref().and_then(|plan| plan.metadata.mode.clone()),
            understanding,
            context: self.variables().ok().and_then(|read| read.get("project_context")),
        };
        let mut preferences = Preferences::default();
        if let Ok(constraints) = self.constraints() {
            let settings = constraints.settings.into_iter();
            preferences.settings =
                settings.filter_map(|s| Some((s.name.clone(), s.binding()?.into()))).collect();
            preferences.directives = constraints.directives.into_iter().map(|d| d.text).collect();
        }
        let mut memory = brief::memory(&turns, &entries, &history, project, preferences);
        // What was spent is one number, whoever asks.
        if let Ok(overview) = self.overview() {
            memory.long.statistics.total_cost = overview.spending.total_cost;
        }
        Ok(memory)
    }
}
