//! The five files of a new state, rendered from templates with typed input.

use std::{borrow::Cow, collections::BTreeMap};

use handlebars::{
    Context, Handlebars, Helper, HelperResult, Output, RenderContext, RenderError,
    RenderErrorReason,
};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{
    domain::{StateFile, Ticket, Workflow, constraints::modifier::NOT_SET, literal_field},
    text::markdown::Document,
    workspace::setup::{builtin_templates::BuiltinTemplate, own_modifiers, template_limits},
};

/// Whether steps are executed or only simulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Mode {
    /// Executed.
    #[default]
    Execution,
    /// Simulated; never becomes training data.
    Simulation,
}

impl Mode {
    /// The word in the files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Execution => "EXECUTION",
            Self::Simulation => "SIMULATION",
        }
    }
}

/// The values that a template can use.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct TemplateInput {
    /// The short name of the goal.
    pub title: String,
    /// The goal in the user's words.
    pub goal: String,
    /// A sentence for *Current Understanding*.
    pub understanding: String,
    /// The name of the execution.
    pub execution_id: String,
    /// The moment of creation.
    pub now: String,
    /// `EXECUTION` or `SIMULATION`.
    pub mode: &'static str,
    /// Whether the mode is `SIMULATION`.
    pub simulation: bool,
    /// The first status of a plan.
    pub status: String,
    /// The first status of a step.
    pub step_status: String,
    /// The ticket it is about.
    pub ticket: Option<Ticket>,
    /// Zero while there are no steps.
    pub current_step: u32,
    /// Zero, unless the plan was there before the other files.
    pub total_steps: usize,
    /// Modifiers and limits by name.
    pub modifiers: Map<String, Value>,
    /// Values of `--set` that are not modifiers.
    pub set: Map<String, Value>,
}

/// Why a template cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the template of `{file}` cannot be used: {message}")]
pub(crate) struct TemplateError {
    pub file: StateFile,
    /// Why, with the line if there is one.
    pub message: String,
}

/// The templates to use: built-in ones, with some or all replaced.
#[derive(Clone, Debug, Default)]
pub struct TemplateSet {
    builtin: &'static BuiltinTemplate,
    overrides: BTreeMap<StateFile, String>,
    /// A custom lifecycle, copied into the state directory.
    pub workflow: Option<String>,
}

impl TemplateSet {
    /// Built-in templates, such as `default` or `classic`.
    pub fn named(name: &str) -> Option<Self> {
        let builtin = BuiltinTemplate::named(name)?;
        let workflow = builtin.workflow.map(str::to_owned);
        Some(Self { builtin, workflow, ..Self::default() })
    }

    /// Replaces the template of one file.
    pub fn replace(&mut self, file: StateFile, template: String) {
        self.overrides.insert(file, template);
    }

    /// Whether any template is not built in.
    pub(crate) fn is_custom(&self) -> bool {
        !self.overrides.is_empty()
    }

    /// Why the custom lifecycle cannot be used.
    pub(crate) fn workflow_error(&self) -> Option<String> {
        let parsed = crate::rules::parse_workflow(self.workflow.as_deref()?);
        parsed.err().map(|error| error.to_string())
    }

    /// Renders one file.
    ///
    /// # Errors
    /// The template has an error or uses an unknown value.
    pub(crate) fn render(
        &self,
        file: StateFile,
        input: &TemplateInput,
        workflow: &Workflow,
    ) -> Result<String, TemplateError> {
        let own = self.overrides.get(&file).map(|own| Cow::Borrowed(own.as_str()));
        let template = own.unwrap_or_else(|| match file {
            StateFile::Constraints => own_modifiers::fit(self.builtin.file(file), workflow).into(),
            file => self.builtin.file(file).into(),
        });
        let fail = |message: String| TemplateError { file, message };
        let mut handlebars = Handlebars::new();
        handlebars.set_strict_mode(true);
        handlebars.register_escape_fn(handlebars::no_escape);
        handlebars.unregister_helper("log");
        register(&mut handlebars);
        // Inline partials could call each other for ever and exhaust the stack.
        template_limits::check(&template).map_err(fail)?;
        let mut text = Bounded::default();
        let rendered = handlebars.render_template_to_write(&template, input, &mut text);
        if text.is_full {
            return Err(fail(format!("it produces more than {MOST_OUTPUT} bytes")));
        }
        rendered.map_err(|error| fail(error.to_string()))?;
        String::from_utf8(text.bytes).map_err(|error| fail(error.to_string()))
    }
}

/// The most bytes that a template may produce.
const MOST_OUTPUT: usize = 4 << 20;

/// Bytes up to a limit.
#[derive(Default)]
struct Bounded {
    bytes: Vec<u8>,
    is_full: bool,
}

impl std::io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.bytes.len() + bytes.len() > MOST_OUTPUT {
            self.is_full = true;
            return Err(std::io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Makes the text of a helper.
type Make = fn(&Helper<'_>) -> Result<String, RenderError>;

/// The helpers a template can use, and no others besides the language's own.
const HELPERS: [(&str, Make); 6] = [
    ("field", field),
    ("quoted_field", quoted_field),
    ("list_field", list_field),
    ("heading", heading),
    ("paragraph", paragraph),
    ("json", json),
];

fn register(handlebars: &mut Handlebars<'_>) {
    for (name, make) in HELPERS {
        let helper = move |helper: &Helper<'_>,
                           _: &Handlebars<'_>,
                           _: &Context,
                           _: &mut RenderContext<'_, '_>,
                           out: &mut dyn Output|
              -> HelperResult {
            out.write(&make(helper)?)?;
            Ok(())
        };
        handlebars.register_helper(name, Box::new(helper));
    }
}

/// `{{field "goal" goal}}`: one list item that reads back as the value, whatever it contains.
/// `{{field "max_web_requests" value "5"}}` has a default.
fn field(helper: &Helper<'_>) -> Result<String, RenderError> {
    let key = text_param(helper, 0)?;
    let value = match param(helper, 1)? {
        Value::Null if helper.param(2).is_some() => text_param(helper, 2)?,
        Value::Null => NOT_SET.to_owned(),
        _ => text_param(helper, 1)?,
    };
    let item = literal_field("\n", 0, true, &key, &value).map_err(|error| refuse(&error))?;
    Ok(item.trim_end_matches('\n').to_owned())
}

/// `{{quoted_field "priority" value}}`: a list item with its value in quotes; a third parameter is the
/// default.
fn quoted_field(helper: &Helper<'_>) -> Result<String, RenderError> {
    let key = text_param(helper, 0)?;
    let value = match param(helper, 1)? {
        Value::Null if helper.param(2).is_some() => text_param(helper, 2)?,
        Value::Null => return Ok(format!("- **{key}**: {NOT_SET}")),
        _ => text_param(helper, 1)?,
    };
    Ok(format!("- **{key}**: {}", Value::from(value)))
}

/// `{{list_field "tools" value}}`: a list item with a list on one line; further parameters are the
/// default.
fn list_field(helper: &Helper<'_>) -> Result<String, RenderError> {
    let key = text_param(helper, 0)?;
    let rest: Result<Vec<Value>, _> =
        (2..helper.params().len()).map(|at| param(helper, at).cloned()).collect();
    let items = match param(helper, 1)? {
        Value::Null if helper.params().len() == 2 => return Ok(format!("- **{key}**: {NOT_SET}")),
        Value::Null => rest?,
        value => value.as_array().cloned().unwrap_or_default(),
    };
    let items: Vec<String> = items.iter().map(ToString::to_string).collect();
    Ok(format!("- **{key}**: [{}]", items.join(", ")))
}

/// `{{heading 1 "Execution Plan" title}}`: a heading that stays one line.
fn heading(helper: &Helper<'_>) -> Result<String, RenderError> {
    let level = param(helper, 0)?.as_u64().and_then(|level| u8::try_from(level).ok());
    let parts: Result<Vec<String>, _> =
        (1..helper.params().len()).map(|at| text_param(helper, at)).collect();
    let document = Document::parse("").map_err(|error| refuse(&error))?;
    let mut edit = document.edit();
    edit.insert_section(document.root(), None, level.unwrap_or(0), &parts?.join(": "), "");
    let edited = edit.finish().map_err(|error| refuse(&error))?;
    Ok(edited.document.source().trim_matches('\n').to_owned())
}

/// `{{paragraph text}}`: text that adds no heading to the document.
fn paragraph(helper: &Helper<'_>) -> Result<String, RenderError> {
    let document = Document::parse("###### x\n").map_err(|error| refuse(&error))?;
    let last = |document: &Document| document.sections().last().unwrap_or_else(|| document.root());
    let mut edit = document.edit();
    edit.replace_text(last(&document), &text_param(helper, 0)?);
    let edited = edit.finish().map_err(|error| refuse(&error))?.document;
    Ok(edited.body_text(last(&edited)).trim_matches('\n').to_owned())
}

/// `{{json value}}`: the value as JSON.
fn json(helper: &Helper<'_>) -> Result<String, RenderError> {
    Ok(param(helper, 0)?.to_string())
}

fn param<'a>(helper: &'a Helper<'_>, at: usize) -> Result<&'a Value, RenderError> {
    let param = helper.param(at).filter(|param| !param.is_value_missing());
    param.map(|param| param.value()).ok_or_else(|| {
        let name = helper.param(at).and_then(|param| param.relative_path().cloned());
        refuse(&format!("`{}` of `{}` is missing", name.unwrap_or_default(), helper.name()))
    })
}

/// Text as it is, anything else as JSON.
fn text_param(helper: &Helper<'_>, at: usize) -> Result<String, RenderError> {
    Ok(match param(helper, at)? {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    })
}

fn refuse(why: &impl ToString) -> RenderError {
    RenderErrorReason::Other(why.to_string()).into()
}
