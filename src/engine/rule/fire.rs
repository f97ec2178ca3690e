//! What an event sets off: the rules whose condition it makes true, and the rules those set off.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::{self, Display, Formatter},
};

use serde::Serialize;

use super::super::{FactValue, Facts, Modifier, Workflow};
use super::{Action, Rule, RuleError, Seen};

/// A rule as written and as understood.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The text.
    pub source: String,
    /// What it means, or why it was not understood.
    pub parsed: Result<Rule, RuleError>,
}

/// What came of an event.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Outcome {
    /// Modifiers that have another value now, each once, in the order of their first change.
    pub changes: Vec<Change>,
    /// Directives to add.
    pub directives: Vec<NewDirective>,
    /// Reviews to open: the rule and its reason, if it gives one.
    pub reviews: Vec<Request>,
    /// The first rule that pauses the plan.
    pub pause: Option<Request>,
    /// Checkpoints to save: the rule and the name, if it gives one.
    pub checkpoints: Vec<Request>,
    /// Every rule that fired, in the order of firing.
    pub trace: Vec<TraceLine>,
    /// Rules that would set each other off without end.
    pub cycles: Vec<Cycle>,
    /// Rules that were not understood and so could not fire.
    pub not_understood: Vec<NotUnderstood>,
}

/// A modifier and how it changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// The modifier.
    pub modifier: String,
    /// What it was.
    pub before: FactValue,
    /// What it is now.
    pub after: FactValue,
    /// The index of the rule that decided it.
    pub rule: usize,
}

/// A directive that a rule adds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewDirective {
    /// The index of the rule.
    pub rule: usize,
    /// Its text, word for word.
    pub text: String,
    /// For how many steps it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u32>,
    /// Whether it was prose rather than `add directive`.
    pub advice: bool,
}

/// A review, a pause or a checkpoint that a rule asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Request {
    /// The index of the rule.
    pub rule: usize,
    /// The reason, or the name of the checkpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// One rule that fired.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TraceLine {
    /// The index of the rule.
    pub rule: usize,
    /// The rule as written.
    pub text: String,
    /// The values that its condition saw.
    pub seen: Vec<Seen>,
    /// What it changed, or would have changed if no later rule had decided otherwise.
    pub changes: Vec<RuleChange>,
    /// The index of the rule whose change set it off; `None` if the event did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caused_by: Option<usize>,
}

/// What one rule did to one modifier.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RuleChange {
    /// The modifier.
    pub modifier: String,
    /// What it was.
    pub before: FactValue,
    /// What the rule made of it.
    pub after: FactValue,
    /// The index of the later rule that set the same modifier and so decided it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overridden_by: Option<usize>,
}

/// Rules that set each other off: each one the next, and the last one the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cycle {
    /// The indices of the rules.
    pub rules: Vec<usize>,
}

/// A rule that was not understood.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotUnderstood {
    /// The index of the rule.
    pub rule: usize,
    /// The rule as written.
    pub text: String,
    /// Why.
    pub error: RuleError,
}

impl Entry {
    /// Reads a rule with the modifiers and statuses of `workflow`.
    pub fn parse(source: &str, workflow: &Workflow) -> Self {
        Self { source: source.to_owned(), parsed: Rule::parse_with(source, workflow) }
    }
}

/// Fires every rule whose condition is false on the facts before an event and true after.
///
/// The rules that the event itself makes true fire first, in the order of the document. What they
/// set can make further rules true, which fire next, and so on; a rule fires at most once. Of two
/// rules that set the same modifier the later one in the document decides.
pub fn fire(rules: &[Entry], before: &Facts, after: &Facts, workflow: &Workflow) -> Outcome {
    let mut firing = Firing::new(rules, before, after, workflow);
    let mut due: Vec<usize> = (0..rules.len()).collect();
    while !due.is_empty() {
        let now: Vec<usize> = due.iter().copied().filter(|rule| firing.becomes_true(*rule)).collect();
        let mut changed = BTreeSet::new();
        for rule in now {
            firing.run(rule, &mut changed);
        }
        firing.find_cycles(&changed);
        due = firing.readers_of(&changed);
    }
    firing.finish()
}

/// What a list of actions does to the facts on its own, outside any rule: for context-aware
/// behaviours. The facts are changed accordingly.
pub fn apply(actions: &[Action], facts: &mut Facts, workflow: &Workflow) -> Outcome {
    let mut outcome = Outcome::default();
    for action in actions {
        if let Some((modifier, value)) = effect(action, facts, workflow) {
            let before = facts.insert(modifier, value.clone());
            record(&mut outcome.changes, modifier, before, value, 0);
        } else {
            outcome.request(action, 0);
        }
    }
    outcome.changes.retain(|change| change.before != change.after);
    outcome
}

struct Firing<'a> {
    rules: &'a [Entry],
    before: &'a Facts,
    facts: Facts,
    workflow: &'a Workflow,
    outcome: Outcome,
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
    fn new(rules: &'a [Entry], before: &'a Facts, after: &Facts, workflow: &'a Workflow) -> Self {
        let not_understood = rules.iter().enumerate().filter_map(|(rule, entry)| {
            let error = entry.parsed.as_ref().err()?.clone();
            Some(NotUnderstood { rule, text: entry.source.clone(), error })
        });
        let outcome = Outcome { not_understood: not_understood.collect(), ..Outcome::default() };
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
            && rule.condition.holds(&self.facts)
            && !rule.condition.holds(self.before)
    }

    fn run(&mut self, index: usize, changed: &mut BTreeSet<String>) {
        let Some(rule) = self.rule(index) else { return };
        let line = TraceLine {
            rule: index,
            text: self.rules.get(index).map(|entry| entry.source.clone()).unwrap_or_default(),
            seen: rule.condition.seen(&self.facts),
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
            let holds = rule.condition.holds(&self.facts);
            if was_false && holds {
                self.report_cycle(index, self.cause(rule));
            }
            self.fired.insert(index, !holds);
        }
    }

    /// The same for a change that the order of the document did not let happen.
    fn find_stifled_cycle(&mut self, index: usize, setter: usize, modifier: &str, value: FactValue) {
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

    fn finish(mut self) -> Outcome {
        self.outcome.changes.retain(|change| change.before != change.after);
        self.outcome
    }
}

impl Outcome {
    fn request(&mut self, action: &Action, rule: usize) {
        let directive = |text: &String, steps: &Option<u32>, advice| NewDirective {
            rule,
            text: text.clone(),
            steps: *steps,
            advice,
        };
        match action {
            Action::Directive { text, steps } => {
                self.directives.push(directive(text, steps, false));
            }
            Action::Advice { text, steps } => self.directives.push(directive(text, steps, true)),
            Action::Review { reason } => {
                self.reviews.push(Request { rule, text: reason.clone() });
            }
            Action::Pause { reason } => {
                let request = Request { rule, text: reason.clone() };
                self.pause.get_or_insert(request);
            }
            Action::Checkpoint { name } => {
                self.checkpoints.push(Request { rule, text: name.clone() });
            }
            Action::Set { .. } | Action::Shift { .. } | Action::Adjust { .. } => {}
        }
    }
}

impl Display for TraceLine {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "rule {}: {}", self.rule + 1, self.text)?;
        for (i, seen) in self.seen.iter().enumerate() {
            write!(f, "{}{seen}", if i == 0 { " (" } else { ", " })?;
        }
        if !self.seen.is_empty() {
            f.write_str(")")?;
        }
        for change in &self.changes {
            let RuleChange { modifier, before, after, overridden_by } = change;
            write!(f, "; {modifier}: {before} → {after}")?;
            if let Some(rule) = overridden_by {
                write!(f, ", overridden by rule {}", rule + 1)?;
            }
        }
        Ok(())
    }
}

/// The modifier an action changes and the value it gets; `None` for other actions.
fn effect<'a>(
    action: &'a Action,
    facts: &Facts,
    workflow: &Workflow,
) -> Option<(&'a str, FactValue)> {
    match action {
        Action::Set { modifier, value } => Some((modifier, value.clone())),
        Action::Shift { modifier, steps } => {
            let known = workflow.modifier(modifier)?;
            let last = known.values().len().saturating_sub(1) as i64;
            let rank = rank(known, facts.get(modifier))?;
            let rank = (rank + i64::from(*steps)).clamp(0, last) as usize;
            Some((modifier, FactValue::text(known.values().get(rank)?)))
        }
        Action::Adjust { modifier, by } => {
            let known = workflow.modifier(modifier)?;
            let now = known.coerce(facts.get(modifier)).or_else(|| known.read(known.default()?).ok())?;
            Some((modifier, adjusted(&now, by)?))
        }
        _ => None,
    }
}

/// A modifier without a value stands at its default.
fn rank(modifier: &Modifier, value: &FactValue) -> Option<i64> {
    let now = match value {
        FactValue::Text(text) => modifier.rank(text),
        _ => None,
    };
    let rank = now.or_else(|| modifier.rank(modifier.default()?))?;
    Some(rank as i64)
}

fn adjusted(now: &FactValue, by: &FactValue) -> Option<FactValue> {
    let by = match (now, by) {
        (FactValue::Percent(_), by) => by.clone(),
        (now, FactValue::Percent(percent)) => FactValue::percent_of(*percent, now)?,
        (_, by) => by.clone(),
    };
    Some(match (now, by) {
        (FactValue::Number(now), FactValue::Number(by)) => FactValue::number((now + by).max(0.0)),
        (FactValue::Percent(now), FactValue::Percent(by)) => FactValue::Percent((now + by).max(0.0)),
        (FactValue::Money(now), FactValue::Money(by)) => {
            FactValue::Money(now.saturating_add(by).max(0))
        }
        (FactValue::Duration(now), FactValue::Duration(by)) => {
            FactValue::Duration(now.saturating_add(by).max(0))
        }
        _ => return None,
    })
}

/// Remembers the first value before and the last one after.
fn record(
    changes: &mut Vec<Change>,
    modifier: &str,
    before: FactValue,
    after: FactValue,
    rule: usize,
) {
    if let Some(change) = changes.iter_mut().find(|change| change.modifier == modifier) {
        change.after = after;
        change.rule = rule;
    } else {
        changes.push(Change { modifier: modifier.to_owned(), before, after, rule });
    }
}
