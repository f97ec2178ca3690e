//! The names the language knows: facts with their kinds and other spellings, and number words.

use crate::{
    domain::{
        Modifier, ModifierKind, Workflow,
        facts::{BUILTIN, FactKind},
        nearest::nearest,
    },
    rules::parse::{
        lexer::{Kind, Token},
        phrase::Input,
        phrases::longest,
    },
};

/// What can be compared with a fact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::rules) enum FactType<'w> {
    Count,
    Money,
    Duration,
    Percent,
    Text,
    List,
    PlanStatus,
    /// A modifier with named values.
    Scale(&'w Modifier),
    /// A variable or a field of the event: known only when it is looked at.
    Dynamic,
}

/// A fact that a sentence speaks of.
#[derive(Clone, Debug)]
pub(in crate::rules) struct Fact<'w> {
    pub name: String,
    pub fact_type: FactType<'w>,
}

/// Other spellings of facts. Spaces stand for any separator.
const SYNONYMS: [(&str, &str); 62] = [
    ("consecutive failed steps", "consecutive_failures"),
    ("consecutive step failures", "consecutive_failures"),
    ("consecutive failure count", "consecutive_failures"),
    ("consecutive errors", "consecutive_failures"),
    ("failures in a row", "consecutive_failures"),
    ("failed steps in a row", "consecutive_failures"),
    ("failure streak", "consecutive_failures"),
    ("failure count", "failures"),
    ("failed step count", "failed_steps"),
    ("steps failed", "failed_steps"),
    ("steps completed", "completed_steps"),
    ("finished steps", "completed_steps"),
    ("steps done", "completed_steps"),
    ("steps skipped", "skipped_steps"),
    ("step count", "total_steps"),
    ("steps", "total_steps"),
    ("attempt count", "attempts"),
    ("attempt", "attempts"),
    ("total cost", "cost"),
    ("total costs", "cost"),
    ("actual cost", "cost"),
    ("current cost", "cost"),
    ("costs", "cost"),
    ("spend", "cost"),
    ("we spend", "cost"),
    ("we have spent", "cost"),
    ("we've spent", "cost"),
    ("spending", "cost"),
    ("total spend", "cost"),
    ("total spending", "cost"),
    ("cost budget", "budget"),
    ("total budget", "budget"),
    ("execution", "execution_time"),
    ("total execution time", "execution_time"),
    ("total time", "execution_time"),
    ("elapsed time", "execution_time"),
    ("time elapsed", "execution_time"),
    ("running time", "execution_time"),
    ("run time", "execution_time"),
    ("runtime", "execution_time"),
    ("time spent", "execution_time"),
    ("time", "execution_time"),
    ("file operation count", "file_operations"),
    ("file ops", "file_operations"),
    ("web request count", "web_requests"),
    ("type of task", "task_type"),
    ("kind of task", "task_type"),
    ("status of the plan", "plan_status"),
    ("plan's status", "plan_status"),
    ("plan state", "plan_status"),
    ("status", "plan_status"),
    ("plan", "plan_status"),
    ("sentiment", "user_sentiment"),
    ("user's sentiment", "user_sentiment"),
    ("sentiment of the user", "user_sentiment"),
    ("user mood", "user_sentiment"),
    ("user's mood", "user_sentiment"),
    ("persona", "active_persona"),
    ("error", "event.error"),
    ("error message", "event.error"),
    ("event type", "event.type"),
    ("event", "event.type"),
];

/// The fact whose name the tokens begin with, and how many tokens spell it; the longest name wins.
pub(in crate::rules) fn fact<'i>(input: &Input<'i>) -> Option<(Fact<'i>, usize)> {
    if let Some(Token { kind: Kind::Word(word), .. }) = input.first()
        && let Some(name) = dotted(word)
    {
        return Some((Fact { name, fact_type: FactType::Dynamic }, 1));
    }
    let workflow = input.state.workflow;
    let builtin = longest(input, BUILTIN.iter().map(|(name, ..)| (*name, *name)));
    let (count, name) = longer(builtin, modifier_name(input))?;
    let fact_type = fact_type(name, workflow)?;
    Some((Fact { name: name.to_owned(), fact_type }, count))
}

/// The modifier whose name, or another spelling of it, the tokens begin with.
pub(in crate::rules) fn modifier<'i>(input: &Input<'i>) -> Option<(&'i Modifier, usize)> {
    let workflow = input.state.workflow;
    let (count, name) = modifier_name(input)?;
    let modifier = workflow.modifiers().iter().find(|modifier| modifier.name() == name)?;
    Some((modifier, count))
}

/// The name of a modifier, or what another spelling stands for.
fn modifier_name<'i>(input: &Input<'i>) -> Option<(usize, &'i str)> {
    let modifiers = input.state.workflow.modifiers().iter();
    let named = longest(input, modifiers.map(|modifier| (modifier.name(), modifier.name())));
    longer(named, longest(input, SYNONYMS.iter().copied()))
}

/// The longer of two names; the first if they are equally long.
fn longer<'n>(
    first: Option<(usize, &'n str)>,
    second: Option<(usize, &'n str)>,
) -> Option<(usize, &'n str)> {
    match (first, second) {
        (Some(first), Some(second)) if second.0 <= first.0 => Some(first),
        (first, second) => second.or(first),
    }
}

/// What a fact of this full name can be compared with.
pub(in crate::rules) fn fact_type<'w>(name: &str, workflow: &'w Workflow) -> Option<FactType<'w>> {
    if root_of(name).is_some() {
        return Some(FactType::Dynamic);
    }
    if let Some((_, kind, _)) = BUILTIN.iter().find(|(fact, ..)| *fact == name) {
        return Some(match kind {
            FactKind::Count => FactType::Count,
            FactKind::Money => FactType::Money,
            FactKind::Duration => FactType::Duration,
            FactKind::Percent => FactType::Percent,
            FactKind::Text => FactType::Text,
            FactKind::PlanStatus => FactType::PlanStatus,
        });
    }
    let modifier = workflow.modifiers().iter().find(|modifier| modifier.name() == name)?;
    Some(match modifier.kind() {
        ModifierKind::Ordered | ModifierKind::Enum => FactType::Scale(modifier),
        ModifierKind::Number => FactType::Count,
        ModifierKind::Money => FactType::Money,
        ModifierKind::Duration => FactType::Duration,
        ModifierKind::Percent => FactType::Percent,
        ModifierKind::Text => FactType::Text,
        ModifierKind::List => FactType::List,
    })
}

/// The known fact or modifier closest to a name that is neither.
pub(in crate::rules) fn nearest_fact<'w>(name: &str, workflow: &'w Workflow) -> Option<&'w str> {
    let modifiers = workflow.modifiers().iter().map(Modifier::name);
    nearest(name, BUILTIN.iter().map(|(fact, ..)| *fact).chain(modifiers))
}

/// The full name of a variable or an event field: the first part in lower case, the rest as it is.
fn dotted(word: &str) -> Option<String> {
    let (root, path) = root_of(word)?;
    Some([root, ".", path].concat())
}

fn root_of(word: &str) -> Option<(&'static str, &str)> {
    let (root, path) = word.split_once('.')?;
    let root = match root {
        _ if root.eq_ignore_ascii_case("variables") => "variables",
        _ if root.eq_ignore_ascii_case("variable") => "variables",
        _ if root.eq_ignore_ascii_case("vars") => "variables",
        _ if root.eq_ignore_ascii_case("event") => "event",
        _ => return None,
    };
    Some((root, path))
}
