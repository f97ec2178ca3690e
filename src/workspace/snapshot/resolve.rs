//! Looking up `{{references}}` in variables.json. What is found is a value, never a template.

use serde_json::Value;

use crate::workspace::{Error, Readiness};
use crate::{
    domain::{
        ModelError, Money, Plan, StateFile, StepId, StepRef, StepRole, Variables, Workflow,
        nearest, references,
    },
    text::json::Path,
};

/// The most paths that are compared with a misspelt one.
const MOST_PATHS: usize = 5000;

/// The prefix that variables have in rules.
const PREFIX: &str = "variables.";

/// Looks up references; `{{steps.3.key}}` is short for `{{step_data.outputs.<id of step 3>.key}}`, and
/// `{{variables.key}}` means `{{key}}`, unless there is a variable `variables`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resolver<'a> {
    plan: Option<&'a Plan>,
    variables: Option<&'a Variables>,
    workflow: &'a Workflow,
    /// What was spent, and when something happened last.
    totals: Option<(Money, Option<&'a str>)>,
}

impl<'a> Resolver<'a> {
    /// Looks into these files, as far as they could be read.
    pub(crate) fn new(
        plan: Option<&'a Plan>,
        variables: Option<&'a Variables>,
        workflow: &'a Workflow,
    ) -> Self {
        Self { plan, variables, workflow, totals: None }
    }

    /// Knows what was spent and when something happened last, for a file that does not keep it.
    pub(crate) fn with_totals(self, total_cost: Money, last_updated: Option<&'a str>) -> Self {
        Self { totals: Some((total_cost, last_updated)), ..self }
    }

    /// The value of a reference's path.
    pub(crate) fn get(&self, path: &str) -> Option<Value> {
        let variables = self.variables?;
        variables
            .get(path)
            .or_else(|| variables.get(&self.written_path(path)?))
            .or_else(|| self.derived(path))
    }

    /// What follows from the plan and the history, where the file has no copy of it.
    fn derived(&self, path: &str) -> Option<Value> {
        let plan = self.plan?;
        let metadata = &plan.metadata;
        let text = |text: &Option<String>| text.clone().map(Value::from);
        let (total_cost, last_updated) = self.totals.unzip();
        match path {
            "current_step" | "step_data.current_step" => {
                Some(Readiness::new(plan, self.workflow).counts().current_step.into())
            }
            "total_steps" | "step_data.total_steps" => Some(plan.steps.len().into()),
            "total_cost" | "cost_tracking.total_cost" => Some(total_cost?.to_json()),
            "last_updated" | "execution_metadata.last_updated" => Some(last_updated??.into()),
            "start_time" | "execution_metadata.start_time" => text(&metadata.start_time),
            "status" | "execution_metadata.status" => text(&metadata.status),
            "goal" | "execution_metadata.goal" => text(&metadata.goal),
            "mode" | "execution_metadata.mode" => text(&metadata.mode),
            "execution_id" | "execution_metadata.execution_id" => text(&metadata.execution_id),
            _ => None,
        }
    }

    /// The text with every reference looked up; a text that is one reference keeps the type.
    ///
    /// # Errors
    /// A reference leads nowhere; the error names the nearest path.
    pub(crate) fn resolve(&self, text: &str) -> Result<Value, Error> {
        self.substitute(text, |path| Err(self.missing(path)))
    }

    /// The same, where a reference that leads nowhere stays as it is.
    pub(crate) fn lenient(&self, text: &str) -> Value {
        let kept = self.substitute(text, |path| Ok(Value::from(format!("{{{{{path}}}}}"))));
        kept.unwrap_or_else(|_| Value::from(text))
    }

    /// Whether a step that is still to be finished can give what the path names.
    pub(crate) fn is_awaited(&self, path: &str) -> bool {
        let longer = self.written_path(path);
        let path = longer.as_deref().unwrap_or(path);
        let step = path.strip_prefix("step_data.outputs.").and_then(|rest| rest.split('.').next());
        let step = step.and_then(StepId::parse).and_then(|id| self.plan?.step_by_id(&id));
        step.is_some_and(|step| !self.workflow.role_of(step).is_some_and(StepRole::is_finished))
    }

    /// The path that comes nearest to one that is not there.
    pub(crate) fn nearest(&self, path: &str) -> Option<String> {
        let bare = path.strip_prefix(PREFIX).filter(|bare| self.get(bare).is_some());
        if let Some(bare) = bare {
            return Some(bare.to_owned());
        }
        let known = self.variables.map(all_paths).unwrap_or_default();
        let longer = self.written_path(path);
        let wanted = longer.as_deref().unwrap_or(path);
        nearest(wanted, known.iter().map(String::as_str)).map(str::to_owned)
    }

    fn substitute(
        &self,
        text: &str,
        missing: impl Fn(&str) -> Result<Value, Error>,
    ) -> Result<Value, Error> {
        let found = references(text);
        let value = |path: &str| self.get(path).map_or_else(|| missing(path), Ok);
        if let [only] = found.as_slice()
            && only.span == (0..text.len())
        {
            return value(&only.path);
        }
        let mut out = String::new();
        let mut at = 0;
        for reference in found {
            out.push_str(&text[at..reference.span.start]);
            match value(&reference.path)? {
                Value::String(text) => out.push_str(&text),
                other => out.push_str(&other.to_string()),
            }
            at = reference.span.end;
        }
        out.push_str(&text[at..]);
        Ok(Value::from(out))
    }

    fn missing(&self, path: &str) -> Error {
        let message = format!("`{{{{{path}}}}}` is not in variables.json");
        let hint = match self.nearest(path) {
            _ if self.is_awaited(path) => "the step that produces it is not finished".to_owned(),
            Some(near) => format!("did you mean `{near}`?"),
            None => "`statedir var get` shows what is available".to_owned(),
        };
        let file = StateFile::Variables;
        ModelError::NotFound { file, message, hint: Some(hint) }.into()
    }

    /// What `steps.3.key` or `variables.key` stands for.
    fn written_path(&self, path: &str) -> Option<String> {
        let rest = path.strip_prefix(PREFIX).filter(|_| !self.has_variables_key());
        rest.map(str::to_owned).or_else(|| self.output_path(path))
    }

    fn has_variables_key(&self) -> bool {
        let key = PREFIX.trim_end_matches('.');
        self.variables.is_some_and(|variables| variables.get(key).is_some())
    }

    /// What `steps.3.key` stands for.
    fn output_path(&self, path: &str) -> Option<String> {
        let (step, key) = match path.strip_prefix("steps.")?.split_once('.') {
            Some((step, key)) => (step, Some(key)),
            None => (path.strip_prefix("steps.")?, None),
        };
        let step = self.plan?.step(&StepRef::parse(step).ok()?).ok()?;
        let base = format!("step_data.outputs.{}", step.id.as_ref()?);
        Some(key.map_or(base.clone(), |key| format!("{base}.{key}")))
    }
}

fn all_paths(variables: &Variables) -> Vec<String> {
    let mut paths = Vec::new();
    let mut open = vec![Path::root()];
    while let Some(path) = open.pop() {
        for key in variables.document.keys(&path).unwrap_or_default() {
            let child = path.join(key);
            paths.push(child.to_string());
            if paths.len() >= MOST_PATHS {
                return paths;
            }
            open.push(child);
        }
    }
    paths
}
