//! Reports on rules: what they mean, why they fire or not, and trying them out.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::{
    domain::{
        Bullet, Constraints, ErrorCode, Problem, Review, Setting, StateFile, Step, StepRef,
        StepRole, Workflow,
    },
    rules::{
        Action, Directive, Explanation, RuleError, WrittenRule, as_reported, explain,
        is_meant_as_rule,
    },
    text::{Place, markdown::ItemId},
    workspace::{
        Answer, Change, Draft, Error, Snapshot, StepResult, Workspace,
        adapt::{self, Event},
    },
};

/// How a line of constraints.md is understood.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct RuleLine {
    /// Its number in its list, from one.
    pub number: usize,
    /// Its list: `rule`, `directive`, the task type of a behaviour, or `prose`.
    pub list: String,
    /// The line as written.
    pub text: String,
    /// The canonical form, if it is understood.
    pub means: Option<String>,
    /// What will be executed.
    pub executes: Vec<String>,
    /// Meaning and executed actions in a form for people.
    #[serde(skip)]
    pub readable: (String, Vec<String>),
    /// What is passed to the agent verbatim.
    pub advises: Vec<String>,
    /// Whether it is prose and not intended as a rule.
    pub prose: bool,
    /// Why it is not understood.
    pub error: Option<String>,
    /// The nearest form that would be understood.
    pub nearest: Option<String>,
    /// Its place in the file.
    pub place: Place,
}

impl RuleLine {
    /// The line as a finding, if it is not understood.
    pub(crate) fn problem(&self) -> Option<Problem> {
        let error = self.error.as_ref()?;
        let message = format!("{} {} is not understood: {error}", self.list, self.number);
        let mut problem =
            Problem::warning(ErrorCode::RuleNotUnderstood, StateFile::Constraints, message)
                .at(self.place);
        problem.hint = match &self.nearest {
            Some(nearest) => Some(format!("nearest: {nearest}")),
            None => Some("`statedir rule --help` describes the language".to_owned()),
        };
        Some(problem)
    }
}

impl Snapshot {
    /// Every rule, conditional directive and behaviour with its meaning.
    pub(crate) fn rule_lines(&self) -> Result<Vec<RuleLine>, Error> {
        let constraints = self.constraints()?;
        let workflow = self.workflow()?;
        let document = &constraints.document;
        let start = |item| {
            let item = document.item(item);
            item.key_span.as_ref().map_or(item.value_span.start, |key| key.start)
        };
        let mut lines = Vec::new();
        for rule in &constraints.rules {
            let entry = WrittenRule::parse(&rule.text, &workflow);
            let parsed = entry.parsed.map(|rule| (both(&rule), rule.actions));
            lines.push(line("rule", rule.number, &rule.text, parsed, document, start(rule.item)));
        }
        for directive in &constraints.directives {
            let parsed = match Directive::parse(&directive.text, &workflow) {
                Directive::Conditional(rule) => Ok((both(&rule), rule.actions)),
                Directive::NotUnderstood(error) => Err(error),
                Directive::Plain | Directive::Expiring { .. } => continue,
            };
            let at = start(directive.item);
            lines.push(line("directive", directive.number, &directive.text, parsed, document, at));
        }
        for (at, behaviour) in constraints.behaviours.iter().enumerate() {
            let parsed = Action::parse_all(&behaviour.text, &workflow);
            let parsed = parsed.map(|actions| (means(&actions), actions));
            let offset = document.item(behaviour.item).value_span.start;
            lines.push(line(
                &behaviour.task_type,
                at + 1,
                &behaviour.text,
                parsed,
                document,
                offset,
            ));
        }
        for (text, item) in unnamed_behaviours(&constraints, &workflow) {
            let message = "a behaviour begins with its task type: `**legal_tasks**: …`";
            let parsed = Err(RuleError::new(0..0, message));
            let number = lines.len() + 1;
            lines.push(line("behaviour", number, &text, parsed, document, start(item)));
        }
        for line in &mut lines {
            if line.error.is_some() && !is_meant_as_rule(&line.text, &workflow) {
                (line.prose, line.error, line.nearest) = (true, None, None);
                line.advises.push(line.text.clone());
            }
        }
        Ok(lines)
    }

    /// The prose of constraints.md: passed to the agent and never executed.
    pub(crate) fn prose_lines(&self) -> Result<Vec<RuleLine>, Error> {
        let constraints = self.constraints()?;
        let document = &constraints.document;
        let workflow = self.workflow()?;
        let unnamed: Vec<usize> = unnamed_behaviours(&constraints, &workflow)
            .map(|(_, item)| constraints.place(item).line)
            .collect();
        let mut lines = Vec::new();
        for prose in constraints.prose() {
            for text in prose.text.lines().filter(|text| !text.trim().is_empty()) {
                // The line itself if it is found, else its heading.
                let from = document.source().get(prose.offset..).unwrap_or_default();
                let offset = prose.offset + from.find(text).unwrap_or_default();
                let number = lines.len() + 1;
                let place = document.place(offset);
                if unnamed.contains(&place.line) {
                    continue;
                }
                let mut line = unparsed("prose", number, text.trim(), place);
                line.prose = true;
                line.advises.push(line.text.clone());
                lines.push(line);
            }
        }
        Ok(lines)
    }

    /// How many lines of constraints.md are executed, and how many are prose.
    pub(crate) fn constraint_reading(&self) -> Result<ConstraintReading, Error> {
        let lines = self.rule_lines()?;
        let constraints = self.constraints()?;
        let filled = |text: &str| text.lines().filter(|line| !line.trim().is_empty()).count();
        let elsewhere: usize = constraints.prose().iter().map(|prose| filled(&prose.text)).sum();
        let in_lists = lines.iter().filter(|line| line.prose || line.executes.is_empty());
        Ok(ConstraintReading {
            executed: lines.iter().filter(|line| !line.executes.is_empty()).count(),
            prose: in_lists.filter(|line| line.error.is_none()).count() + elsewhere,
        })
    }
}

/// How many lines of constraints.md are executed, and how many are prose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ConstraintReading {
    /// Rules, directives and behaviours that execute something.
    pub executed: usize,
    /// Lines that are passed to the agent verbatim.
    pub prose: usize,
}

/// Lines among the behaviours that were meant to be some, and lack their task type.
fn unnamed_behaviours(
    constraints: &Constraints,
    workflow: &Workflow,
) -> impl Iterator<Item = (String, ItemId)> {
    constraints.unnamed_behaviours().filter(|(text, _)| is_meant_as_rule(text, workflow))
}

fn line(
    list: &str,
    number: usize,
    text: &str,
    parsed: Result<((String, String), Vec<Action>), RuleError>,
    document: &crate::text::markdown::Document,
    offset: usize,
) -> RuleLine {
    let mut line = unparsed(list, number, text, document.place(offset));
    match parsed {
        Ok(((means, readable), actions)) => {
            line.means = Some(means);
            line.readable.0 = readable;
            for action in actions {
                let list = if action.is_advice() { &mut line.advises } else { &mut line.executes };
                list.push(action.to_string());
                if !action.is_advice() {
                    line.readable.1.push(format!("{action:#}"));
                }
            }
        }
        Err(error) => {
            line.place = document.place(offset + error.span.start);
            line.nearest = error.nearest.clone();
            line.error = Some(error.to_string());
        }
    }
    line
}

/// A line that has not been parsed yet.
fn unparsed(list: &str, number: usize, text: &str, place: Place) -> RuleLine {
    RuleLine {
        number,
        list: list.to_owned(),
        text: text.to_owned(),
        means: None,
        executes: Vec::new(),
        readable: Default::default(),
        advises: Vec::new(),
        prose: false,
        error: None,
        nearest: None,
        place,
    }
}

/// The canonical form, and the form for people.
fn both(rule: &impl std::fmt::Display) -> (String, String) {
    (rule.to_string(), format!("{rule:#}"))
}

fn means(actions: &[Action]) -> (String, String) {
    let (canonical, readable): (Vec<String>, Vec<String>) = actions.iter().map(both).unzip();
    (canonical.join(", "), readable.join(", "))
}

impl Workspace {
    /// Why a rule fires or does not when `event` happens now, or in the current state without one.
    ///
    /// # Errors
    /// There is no such rule, or it is not understood.
    pub(crate) fn explain_rule(
        &self,
        number: usize,
        event: Option<&Event>,
    ) -> Result<(String, Explanation), Error> {
        let snapshot = self.read()?;
        let mut draft = Draft::new(snapshot.view(), &self.env, self.options.progress)?;
        let constraints = draft.constraints()?;
        let rules = adapt::rules(&draft, &constraints);
        let Some(entry) = number.checked_sub(1).and_then(|at| rules.get(at)) else {
            let message = format!("there is no rule `{number}`");
            return Err(Error::refused_with(
                ErrorCode::NotFound,
                message,
                "`statedir rule list` shows them",
            ));
        };
        let rule = entry.parsed.as_ref().map_err(|error| {
            let message = format!("rule {number} is not understood: {error}");
            Error::refused_with(
                ErrorCode::RuleNotUnderstood,
                message,
                "`statedir rule check` shows the place",
            )
        })?;
        let before = adapt::facts(&mut draft, &constraints, &rules)?;
        let mut after = before.clone();
        if let Some(event) = event {
            event.add_to(&mut after);
        }
        let after = as_reported(&after, draft.workflow());
        Ok((entry.source.clone(), explain(rule, &before, &after)))
    }

    /// Simulates events on a copy and returns the answers with their traces. Writes nothing.
    ///
    /// # Errors
    /// An event cannot happen in this state.
    pub(crate) fn test_rules(&self, events: &[Event]) -> Result<Vec<Answer>, Error> {
        let outcome = self.change_dry_run("rule.test", |draft| {
            let mut answers = Vec::new();
            for event in events {
                for change in changes_of(draft, event)? {
                    answers.push(crate::workspace::adapted(draft, &change)?);
                }
            }
            let notices = std::mem::take(&mut draft.notices);
            if let Some(last) = answers.last_mut() {
                last.data.insert("notices".to_owned(), json!(notices));
            }
            Ok(answers)
        })?;
        Ok(outcome.answers)
    }
}

/// The changes that simulate an event: for a step event, its command; a step is started first if
/// necessary.
fn changes_of(draft: &Draft<'_>, event: &Event) -> Result<Vec<Change>, Error> {
    let step = event.payload.get("step").map(crate::workspace::change::text_of);
    let plan = draft.plan()?;
    let selected = step.as_deref().map(StepRef::parse).transpose()?;
    let first_with = |role| {
        let mut steps = plan.steps.iter();
        steps.find(|step| draft.workflow().role_of(step) == Some(role))
    };
    let text = |key: &str| event.payload.get(key).map(crate::workspace::change::text_of);
    let bad = |message: String| Error::refused(ErrorCode::BadValue, message);
    let result = || -> Result<Box<StepResult>, Error> {
        Ok(Box::new(StepResult {
            step: selected.clone(),
            error: text("error"),
            cost: text("cost").map(|cost| cost.parse().map_err(bad)).transpose()?,
            time: text("time").map(|time| time.parse().map_err(bad)).transpose()?,
            ..StepResult::default()
        }))
    };
    let ending = match event.kind.as_str() {
        "step_started" => return Ok(vec![Change::StepStart { step: selected }]),
        "step_completed" => Change::StepDone(result()?),
        "step_failed" => Change::StepFail(result()?),
        "step_skipped" => {
            let mut result = result()?;
            if result.step.is_none() && first_with(StepRole::Active).is_none() {
                result.step = first_with(StepRole::Open).map(|step| StepRef::Number(step.number));
            }
            return Ok(vec![Change::StepSkip(result)]);
        }
        kind => {
            let fields: Map<String, Value> = event.payload.clone();
            return Ok(vec![Change::Event { kind: kind.to_owned(), fields }]);
        }
    };
    let is_running = |step: &Step| {
        let is_selected = selected.as_ref().is_none_or(|selected| step.is(selected));
        is_selected && draft.workflow().role_of(step) == Some(StepRole::Active)
    };
    if plan.steps.iter().any(is_running) {
        return Ok(vec![ending]);
    }
    Ok(vec![Change::StepStart { step: selected }, ending])
}

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
    /// The rules in force now; reviews are absent if the plan cannot be read.
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
