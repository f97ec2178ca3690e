//! A tool: what clients are told about it, and how its arguments become work.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use super::{arguments::usage, verb::Verb, worker::Work};
use crate::{
    adapters::cli::in_process::{CommandAnswer, refused_digits},
    domain::ErrorCode,
};

/// Arguments that are objects or lists; some models send them as text.
const COMPOUND: [&str; 7] = ["input", "output", "set", "fields", "where", "depends_on", "changes"];

/// What every tool that changes something takes.
const CONDITIONS: &[(&str, Shape)] =
    &[("if_match", Shape::Text), ("dry_run", Shape::Flag), ("actor", Shape::Text)];
/// What every answer may hold.
const ANSWERS: &[(&str, Shape)] = &[("ok", Shape::Flag), ("revision", Shape::Text)];

/// A tool as agents see it.
#[derive(Debug)]
pub(super) struct Kind {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    /// The arguments besides `verb` and those that every tool takes.
    pub(super) arguments: &'static [(&'static str, Shape)],
    /// What answers hold besides what all do.
    pub(super) answers: &'static [(&'static str, Shape)],
    pub(super) verbs: &'static [Verb],
}

/// What a value looks like. Calls are read more leniently than this says: a number is taken where
/// text is expected, and the other way round.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    Any,
    Flag,
    Number,
    Object,
    Text,
    /// An object whose members are compared as text.
    Texts,
    Whole,
    /// The number or the id of a step.
    Step,
    List(&'static Shape),
}

impl Shape {
    fn schema(self) -> Value {
        match self {
            Self::Any => json!({ "description": "any JSON" }),
            Self::Flag => json!({ "type": "boolean" }),
            Self::Number => json!({ "type": "number" }),
            Self::Object | Self::Texts => json!({ "type": "object" }),
            Self::Text => json!({ "type": "string" }),
            Self::Whole => json!({ "type": "integer" }),
            Self::Step => json!({ "type": ["integer", "string"] }),
            Self::List(each) => json!({ "type": "array", "items": each.schema() }),
        }
    }
}

/// The conditions of a call, which every tool takes.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Conditions {
    pub(super) if_match: Option<String>,
    pub(super) dry_run: bool,
    pub(super) actor: Option<String>,
}

impl Kind {
    /// The description for clients.
    pub(super) fn describe(&self) -> Tool {
        let verbs: Vec<&str> =
            self.verbs.iter().map(|verb| verb.name).filter(|name| !name.is_empty()).collect();
        let mut properties = Map::new();
        let mut required = Vec::new();
        if !verbs.is_empty() {
            properties.insert("verb".to_owned(), json!({ "type": "string", "enum": verbs }));
            required.push("verb");
        }
        properties.extend(schemas(self.arguments));
        if self.name == "apply" {
            required.push("changes");
        }
        if !self.only_reads() {
            properties.extend(schemas(CONDITIONS));
        }
        let mut input = Map::new();
        input.insert("type".to_owned(), json!("object"));
        input.insert("properties".to_owned(), Value::Object(properties));
        if !required.is_empty() {
            input.insert("required".to_owned(), json!(required));
        }
        let answers: JsonObject = schemas(ANSWERS).chain(schemas(self.answers)).collect();
        let mut output = Map::new();
        output.insert("type".to_owned(), json!("object"));
        output.insert("properties".to_owned(), Value::Object(answers));
        output.insert("required".to_owned(), json!(["ok"]));
        let mut tool = Tool::new(self.name, self.about, Arc::new(input));
        tool.output_schema = Some(Arc::new(output));
        // Every change can be undone and stays on this machine. Clients refuse or ask where nothing
        // is said.
        let annotations = ToolAnnotations::new().read_only(self.only_reads());
        let annotations = annotations.destructive(false).idempotent(self.only_reads());
        tool.annotations = Some(annotations.open_world(false));
        tool
    }

    /// Whether none of its verbs changes anything.
    fn only_reads(&self) -> bool {
        matches!(self.name, "brief" | "status")
    }

    /// The work that the arguments ask for, and on what conditions.
    ///
    /// # Errors
    /// The verb or an argument is not known, or is of a wrong kind.
    pub(super) fn work(&self, arguments: JsonObject) -> Result<(Work, Conditions), CommandAnswer> {
        let mut arguments: JsonObject = arguments
            .into_iter()
            // An absent argument is often sent as null; only a value can be meant to be null.
            .filter(|(name, value)| !value.is_null() || name == "value")
            .map(|(name, value)| unwrapped(&name, value).map(|value| (name, value)))
            .collect::<Result<_, _>>()?;
        let conditions = Conditions::take(&mut arguments)?;
        let verb = self.verb(&mut arguments)?;
        Ok((verb.work(self.arguments, arguments)?, conditions))
    }

    fn verb(&self, arguments: &mut JsonObject) -> Result<&'static Verb, CommandAnswer> {
        if let [only] = self.verbs
            && only.name.is_empty()
        {
            return Ok(only);
        }
        let names = || self.verbs.iter().map(|verb| verb.name);
        let all = || names().collect::<Vec<_>>().join(", ");
        let Some(Value::String(name)) = arguments.remove("verb") else {
            return Err(usage(format!("`{}` needs a `verb`: one of {}", self.name, all())));
        };
        self.verbs.iter().find(|verb| verb.name == name).ok_or_else(|| {
            let hint = match crate::domain::nearest(&name, names()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("one of {}", all()),
            };
            let message = format!("`{}` has no verb `{name}`", self.name);
            CommandAnswer::refusal(ErrorCode::Usage, message, Some(hint))
        })
    }
}

impl Conditions {
    fn take(arguments: &mut JsonObject) -> Result<Self, CommandAnswer> {
        let mut string = |name: &str| match arguments.remove(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text).filter(|text| !text.trim().is_empty())),
            Some(_) => Err(usage(format!("`{name}` must be text"))),
        };
        let (if_match, actor) = (string("if_match")?, string("actor")?);
        let dry_run = match arguments.remove("dry_run") {
            None => false,
            Some(Value::Bool(flag)) => flag,
            Some(_) => return Err(usage("`dry_run` must be true or false".to_owned())),
        };
        Ok(Self { if_match, dry_run, actor })
    }
}

fn schemas(named: &'static [(&'static str, Shape)]) -> impl Iterator<Item = (String, Value)> {
    named.iter().map(|(name, shape)| ((*name).to_owned(), shape.schema()))
}

/// A compound value that came as its JSON text.
fn unwrapped(name: &str, value: Value) -> Result<Value, CommandAnswer> {
    let Value::String(text) = &value else { return Ok(value) };
    let read = serde_json::from_str(text).ok().filter(|_| COMPOUND.contains(&name));
    match read.filter(|read: &Value| read.is_object() || read.is_array()) {
        Some(read) => refused_digits(text).map_or(Ok(read), Err),
        None => Ok(value),
    }
}
