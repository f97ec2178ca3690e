//! What an event triggers: the rules whose condition it makes true, and the rules those trigger.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use super::{
    Action, Cycle, NotUnderstood, Rule, RuleChange, RuleError, RuleOutcome, TraceLine,
    effect::{effect, record},
};
use crate::{
    domain::{FactValue, Facts, Workflow},
    rules::parse::grammar::is_meant_as_rule,
};

/// A rule as written and as understood.
#[derive(Clone, Debug)]
pub struct WrittenRule {
    /// The text.
    pub source: String,
    /// What it means, or why it was not understood.
    pub parsed: Result<Rule, RuleError>,
}

impl WrittenRule {
    /// Reads a rule with the modifiers and statuses of `workflow`.
    pub fn parse(source: &str, workflow: &Workflow) -> Self {
        Self { source: source.to_owned(), parsed: Rule::parse_with(source, workflow) }
    }

    /// Whether it is prose: no rule, and not meant to be one.
    pub(crate) fn is_prose(&self, workflow: &Workflow) -> bool {
        self.parsed.is_err() && !is_meant_as_rule(&self.source, workflow)
    }
}

/// The variables that the conditions of `rules` look at, such as `variables.a.b`, each once.
pub(crate) fn variables_of(rules: &[WrittenRule]) -> Vec<&str> {
    let mut names = Vec::new();
    for rule in rules.iter().filter_map(|entry| entry.parsed.as_ref().ok()) {
        rule.condition.visit_facts(&mut |name| {
            if name.starts_with("variables.") {
                names.push(name);
            }
        });
    }
    names.sort_unstable();
    names.dedup();
    names
}

const SENTIMENT: &str = "user_sentiment";

/// The facts as conditions see them: feedback that names a value of the user's sentiment says what it
/// is now, whatever constraints.md has.
pub(crate) fn as_reported<'f>(facts: &'f Facts, workflow: &Workflow) -> Cow<'f, Facts> {
    let is_feedback = *facts.get("event.type") == FactValue::text("feedback");
    let reported = match facts.get("event.sentiment") {
        FactValue::Text(reported) if is_feedback => reported,
        _ => return Cow::Borrowed(facts),
    };
    let modifier = workflow.modifier(SENTIMENT);
    match modifier.and_then(|modifier| modifier.value_named(reported)) {
        Some(value) => Cow::Owned(facts.clone().with(SENTIMENT, FactValue::text(value))),
        None => Cow::Borrowed(facts),
    }
}

/// Fires every rule whose condition is false on the facts before an event and true after.
///
/// The rules that the event itself makes true fire first, in the order of the document. What they
/// set can make further rules true, which fire next, and so on; a rule fires at most once. Of two
/// rules that set the same modifier the later one in the document decides.
pub fn fire(
    rules: &[WrittenRule],
    before: &Facts,
    after: &Facts,
    workflow: &Workflow,
) -> RuleOutcome {
    let mut firing = Firing::new(rules, before, after, workflow);
    let mut due: Vec<usize> = (0..rules.len()).collect();
    while !due.is_empty() {
        let now: Vec<usize> =
            due.iter().copied().filter(|rule| firing.becomes_true(*rule)).collect();
        let mut changed = BTreeSet::new();
        for rule in now {
            firing.run(rule, &mut changed);
        }
        firing.find_cycles(&changed);
        due = firing.readers_of(&changed);
    }
    firing.finish()
}

struct Firing<'a> {
    rules: &'a [WrittenRule],
    before: &'a Facts,
    facts: Facts,
    workflow: &'a Workflow,
    outcome: RuleOutcome,
    /// For each rule that fired: whether its condition has been false since.
    fired: BTreeMap<usize, bool>,
    /// For each modifier, the last rule that changed it.
    writer: BTreeMap<String, usize>,
    /// For each modifier, the latest rule in the document that gave it a value of its own.
    setter: BTreeMap<String, usize>,
    /// For each fact, the rules whose condition looks at it; filled when something changes.
    readers: BTreeMap<&'a str, Vec<usize>>,
}

impl<'a> Firing<'a> {
    fn new(
        rules: &'a [WrittenRule],
        before: &'a Facts,
        after: &Facts,
        workflow: &'a Workflow,
    ) -> Self {
        let not_understood = rules.iter().enumerate().filter_map(|(rule, entry)| {
            let error = entry.parsed.as_ref().err()?.clone();
            Some(NotUnderstood { rule, text: entry.source.clone(), error })
        });
        let outcome =
            RuleOutcome { not_understood: not_understood.collect(), ..RuleOutcome::default() };
        Self {
            rules,
            before,
            facts: after.clone(),
            workflow,
            outcome,
            fired: BTreeMap::new(),
            writer: BTreeMap::new(),
            setter: BTreeMap::new(),
            readers: BTreeMap::new(),
        }
    }

    fn rule(&self, index: usize) -> Option<&'a Rule> {
        self.rules.get(index)?.parsed.as_ref().ok()
    }

    fn becomes_true(&self, index: usize) -> bool {
        let Some(rule) = self.rule(index) else { return false };
        !self.fired.contains_key(&index)
            && rule.condition.holds(&self.seen())
            && !rule.condition.holds(self.before)
    }

    /// The facts as conditions see them.
    fn seen(&self) -> Cow<'_, Facts> {
        match self.writer.contains_key(SENTIMENT) {
            true => Cow::Borrowed(&self.facts),
            false => as_reported(&self.facts, self.workflow),
        }
    }

    fn run(&mut self, index: usize, changed: &mut BTreeSet<String>) {
        let Some(rule) = self.rule(index) else { return };
        let line = TraceLine {
            rule: index,
            text: self.rules.get(index).map(|entry| entry.source.clone()).unwrap_or_default(),
            seen: rule.condition.observed_facts(&self.seen()),
            changes: Vec::new(),
            caused_by: self.cause(rule),
        };
        self.fired.insert(index, false);
        self.outcome.trace.push(line);
        for action in &rule.actions {
            match effect(action, &self.facts, self.workflow) {
                Some((modifier, value)) => self.change(index, action, modifier, value, changed),
                None => self.outcome.request(action, index),
            }
        }
    }

    /// Gives a modifier a value, unless a rule further down the document has already decided it.
    fn change(
        &mut self,
        index: usize,
        action: &Action,
        modifier: &str,
        value: FactValue,
        changed: &mut BTreeSet<String>,
    ) {
        let decided = self.setter.get(modifier).copied().filter(|setter| *setter > index);
        let before = self.facts.get(modifier).clone();
        if let Some(line) = self.outcome.trace.last_mut() {
            let change = RuleChange {
                modifier: modifier.to_owned(),
                before: before.clone(),
                after: value.clone(),
                overridden_by: decided,
            };
            line.changes.push(change);
        }
        if let Some(setter) = decided {
            self.find_stifled_cycle(index, setter, modifier, value);
            return;
        }
        if matches!(action, Action::Set { .. }) {
            self.override_earlier(modifier, index);
            self.setter.insert(modifier.to_owned(), index);
        }
        self.writer.insert(modifier.to_owned(), index);
        if before != value {
            changed.insert(modifier.to_owned());
        }
        record(&mut self.outcome.changes, modifier, before, value.clone(), index);
        self.facts.insert(modifier, value);
    }

    fn override_earlier(&mut self, modifier: &str, by: usize) {
        let earlier = self.outcome.trace.iter_mut().filter(|line| line.rule != by);
        for change in earlier.flat_map(|line| &mut line.changes) {
            if change.modifier == modifier && change.overridden_by.is_none() {
                change.overridden_by = Some(by);
            }
        }
    }

    /// The latest change that a rule's condition looks at.
    fn cause(&self, rule: &Rule) -> Option<usize> {
        rule.facts().into_iter().find_map(|fact| self.writer.get(fact).copied())
    }

    fn readers_of(&mut self, changed: &BTreeSet<String>) -> Vec<usize> {
        if changed.is_empty() {
            return Vec::new();
        }
        if self.readers.is_empty() {
            for (index, entry) in self.rules.iter().enumerate() {
                let Ok(rule) = &entry.parsed else { continue };
                for fact in rule.facts() {
                    self.readers.entry(fact).or_default().push(index);
                }
            }
        }
        let readers = changed.iter().filter_map(|fact| self.readers.get(fact.as_str()));
        let all: BTreeSet<usize> = readers.flatten().copied().collect();
        all.into_iter().collect()
    }

    /// A rule that fired, became false and is true again would fire again without end.
    fn find_cycles(&mut self, changed: &BTreeSet<String>) {
        for index in self.readers_of(changed) {
            let Some(rule) = self.rule(index) else { continue };
            let Some(was_false) = self.fired.get(&index).copied() else { continue };
            let holds = rule.condition.holds(&self.seen());
            if was_false && holds {
                self.report_cycle(index, self.cause(rule));
            }
            self.fired.insert(index, !holds);
        }
    }

    /// The same for a change that the order of the document did not let happen.
    fn find_stifled_cycle(
        &mut self,
        index: usize,
        setter: usize,
        modifier: &str,
        value: FactValue,
    ) {
        let Some(rule) = self.rule(setter) else { return };
        if rule.condition.holds(&self.facts) {
            return;
        }
        let kept = self.facts.insert(modifier, value);
        let again = rule.condition.holds(&self.facts);
        self.facts.insert(modifier, kept);
        if again {
            self.report_cycle(setter, Some(index));
        }
    }

    fn report_cycle(&mut self, first: usize, cause: Option<usize>) {
        let mut rules = Vec::new();
        let mut at = cause;
        while let Some(index) = at.filter(|index| *index != first && !rules.contains(index)) {
            rules.push(index);
            let line = self.outcome.trace.iter().find(|line| line.rule == index);
            at = line.and_then(|line| line.caused_by);
        }
        rules.push(first);
        rules.reverse();
        let mut members = rules.clone();
        members.sort_unstable();
        let known = self.outcome.cycles.iter().any(|cycle| {
            let mut others = cycle.rules.clone();
            others.sort_unstable();
            others == members
        });
        if !known {
            self.outcome.cycles.push(Cycle { rules });
        }
    }

    fn finish(mut self) -> RuleOutcome {
        self.outcome.changes.retain(|change| change.before != change.after);
        self.outcome
    }
}
