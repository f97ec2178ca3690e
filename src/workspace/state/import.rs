//! Imports a state document: builds the files from it.

use std::io::Cursor;

use serde_json::{Value, json};

use super::{SCHEMA_VERSION, rebuild, source::DocumentPart};
use crate::{
    domain::{ErrorCode, PlanRole, StateFile, StepRole, Variables, Workflow},
    history::{
        Counts, Entry, EntryKind, HistoryError, HistoryFacts, NewEntry, last_entries_where, render,
    },
    store::Operation,
    text::display::{counted, one_line},
    workspace::{
        Answer, Draft, Error, InitOptions, Mode, Outcome, TemplateSet, Workspace,
        change::{keep_state_before, text_of},
        is_absent,
        setup::{
            init::{modifiers, short},
            templates::TemplateInput,
        },
    },
};

/// The hint for an invalid document.
pub(super) const HINT: &str = "`statedir schema` prints what a document looks like";

/// The title of the history entry of an import.
const TITLE: &str = "Imported";

/// The kind of the operation.
const KIND: &str = "import";

/// The parts of a document, of which at least one is required.
const PARTS: [&str; 9] = [
    "identity", "status", "steps", "results", "constraints", "variables", "context",
    "recent_history", "reviews",
];

/// How a document is imported.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// Whether an existing state may be replaced; it can be undone.
    pub replace: bool,
    /// The templates that the files are built through.
    pub templates: TemplateSet,
}

impl Workspace {
    /// Builds the files from a state document, as one operation.
    ///
    /// What the document does not contain comes from the templates. The history is never shortened: if
    /// a state is replaced, the entries of the document are appended after an entry at which counting
    /// starts anew.
    ///
    /// # Errors
    /// There is a state already, the document is invalid, or something in it cannot be written so that
    /// it reads back.
    pub fn import(&self, document: &Value, options: &ImportOptions) -> Result<Outcome, Error> {
        let root = DocumentPart::root(document);
        check(&root)?;
        self.change_or_create(KIND, |draft| {
            let present = !is_absent(draft.view());
            if present && !options.replace {
                let message =
                    format!("there is already a state in `{}`", self.directory().display());
                let hint = "`--replace` replaces it with the document, which `undo` reverts; \
                    `-C` chooses another directory";
                return Err(Error::refused_with(ErrorCode::Exists, message, hint));
            }
            let saved = present.then(|| keep_state_before(draft, "before import")).transpose()?;
            let fault = self.rebuild(draft, &root, options)?;
            let steps = draft.plan()?.steps.len();
            let all = counted(steps, "step", "steps");
            let mut message = format!("imported {all} into {}", self.directory().display());
            if let Some(name) = &saved {
                message.push_str(&format!("; before that: checkpoint {name}"));
            }
            if let Some(fault) = &fault {
                message.push_str(&format!("; {fault}: `statedir check`"));
            }
            let answer = Answer::new(message).with("steps", steps).with("saved_as", saved);
            Ok(vec![match fault {
                Some(fault) => answer.with("fault", fault),
                None => answer,
            }])
        })
    }

    /// Writes all files; what was wrong with the state that the document is an export of.
    fn rebuild(
        &self,
        draft: &mut Draft<'_>,
        document: &DocumentPart<'_>,
        options: &ImportOptions,
    ) -> Result<Option<String>, Error> {
        let given = document.text("workflow")?;
        let custom = given.clone().or_else(|| options.templates.workflow.clone());
        let workflow = match &custom {
            Some(text) => crate::rules::parse_workflow(text).map_err(|error| {
                refuse(format!("`workflow` of the document cannot be used: {error}"))
            })?,
            None => Workflow::builtin().clone(),
        };
        let mut input = self.template_input(document, &workflow)?;
        let render = |file, input: &TemplateInput| {
            let rendered = options.templates.render(file, input, &workflow);
            rendered.map_err(|error| Error::refused(ErrorCode::BadTemplate, error.to_string()))
        };
        let plan = rebuild::plan(document, render(StateFile::Plan, &input)?, &workflow)?;
        draft.put_whole(StateFile::Plan, plan);
        let fault = rebuild::fault(&*draft.plan()?, &workflow);
        // An export is taken as it is, so that a damaged state can be moved, too.
        if let Some(fault) = fault.clone().filter(|_| document.get("revision").is_none()) {
            return Err(refuse(fault));
        }
        let current = draft.plan()?.metadata.current_step.clone();
        input.current_step = current.and_then(|text| text.parse().ok()).unwrap_or(0);
        let render = |file| render(file, &input);
        let context = match document.get("context") {
            Some(_) => rebuild::context(document)?,
            None => render(StateFile::Context)?,
        };
        draft.put_whole(StateFile::Context, context);
        let template = render(StateFile::Constraints)?;
        let constraints = rebuild::constraints(document, template, &workflow)?;
        draft.put_whole(StateFile::Constraints, constraints);
        let variables = variables(document, &render(StateFile::Variables)?)?;
        draft.put_whole(StateFile::Variables, variables);
        match custom {
            Some(text) => draft.put_whole(StateFile::Workflow, text),
            None => draft.remove(StateFile::Workflow),
        }
        let seen = draft.view().appended().exists();
        if !seen {
            draft.begin_history(render(StateFile::History)?)?;
        }
        history(draft, document, seen)?;
        Ok(fault)
    }

    fn template_input(
        &self,
        document: &DocumentPart<'_>,
        workflow: &Workflow,
    ) -> Result<TemplateInput, Error> {
        let identity = document.get("identity");
        let text = |key: &str| match &identity {
            Some(identity) => identity.text(key),
            None => Ok(None),
        };
        let goal = text("goal")?.unwrap_or_default();
        let title = text("title")?.unwrap_or_else(|| short(&goal));
        let simulation = text("mode")?.is_some_and(|mode| mode.eq_ignore_ascii_case("SIMULATION"));
        let mode = if simulation { Mode::Simulation } else { Mode::Execution };
        let (modifiers, set) = modifiers(&InitOptions::default(), workflow)?;
        Ok(TemplateInput {
            title: rebuild::title_line(title.trim()),
            goal,
            understanding: String::new(),
            execution_id: text("execution_id")?.unwrap_or_else(|| self.execution_id()),
            now: self.environment().now(),
            mode: mode.as_str(),
            simulation,
            status: workflow.plan_with_role(PlanRole::Planning).to_owned(),
            step_status: workflow.step_with_role(StepRole::Open).to_owned(),
            ticket: None,
            current_step: 0,
            total_steps: document.list("steps")?.len(),
            modifiers,
            set,
        })
    }
}

/// Whether an entry is that of an import, at which counting starts anew.
pub(super) fn is_import(entry: &Entry) -> bool {
    entry.kind == EntryKind::Restore && entry.title == TITLE && entry.field("carried").is_some()
}

/// The counts to start from when an import that replaced a state is undone or redone.
pub(in super::super) fn carried(target: &Operation, undo: bool) -> Option<String> {
    let bytes = target.appended.as_ref()?.bytes.as_ref().filter(|_| target.kind == KIND)?;
    let found = last_entries_where(Cursor::new(bytes), 1, is_import).ok()?;
    let replaced = found.first()?.field("replaced")?.to_owned();
    if undo {
        return Some(replaced);
    }
    let facts = HistoryFacts::scan(bytes.as_slice(), &mut |_| {}).ok()?;
    Some(json!(facts.counts).to_string())
}

fn refuse(message: impl Into<String>) -> Error {
    Error::refused_with(ErrorCode::BadDocument, message, HINT)
}

fn check(document: &DocumentPart<'_>) -> Result<(), Error> {
    if document.get("schema_version").is_some()
        && document.count("schema_version")? > SCHEMA_VERSION
    {
        return Err(refuse(
            "the document has a newer format than this version of statedir understands",
        ));
    }
    if !PARTS.iter().any(|key| document.get(key).is_some()) {
        return Err(refuse("this is not a state document: it has none of the parts of one"));
    }
    for part in ["identity", "timing"].into_iter().filter_map(|key| document.get(key)) {
        if !part.value().is_object() {
            return Err(part.should_be("an object"));
        }
    }
    Ok(())
}

/// The variables of the document, or the template's with the results of the steps.
fn variables(document: &DocumentPart<'_>, template: &str) -> Result<String, Error> {
    let value = match document.get("variables") {
        Some(part) if part.value().is_object() => part.value().clone(),
        Some(part) => return Err(part.should_be("an object")),
        None => {
            let mut value: Value = serde_json::from_str(template)
                .map_err(|error| Error::refused(ErrorCode::BadTemplate, error.to_string()))?;
            if let Some(results) = document.get("results") {
                value["step_data"]["outputs"] = results.value().clone();
            }
            value
        }
    };
    let text = format!("{value:#}\n");
    Variables::parse(text.clone().into_bytes())?;
    Ok(text)
}

/// Appends the entries of the document, after an entry with the counts of earlier ones.
fn history(draft: &mut Draft<'_>, document: &DocumentPart<'_>, seen: bool) -> Result<(), Error> {
    let mut entries = Vec::new();
    for part in document.list("recent_history")? {
        entries.push(entry(&part, &draft.env.now())?);
    }
    let mut text = String::new();
    for entry in &entries {
        text.push_str(&render(entry, 0, &[], "\n")?.text);
    }
    let own = HistoryFacts::scan(text.as_bytes(), &mut |_| {})?;
    let counted = document.get("metrics").and_then(|metrics| metrics.get("history"));
    let counted: Counts = match counted {
        Some(part) => serde_json::from_value(part.value().clone())
            .map_err(|_| part.should_be("an object of whole numbers"))?,
        None => own.counts,
    };
    let carried = counted.without(own.counts);
    if seen || carried != Counts::default() {
        let replaced = draft.facts()?.history.counts;
        let actor = draft.env.actor().to_owned();
        let text = |counts: Counts| json!(counts).to_string();
        let mut fields = vec![("kind".to_owned(), EntryKind::Restore.word().to_owned())];
        fields.push(("carried".to_owned(), text(carried)));
        if seen {
            fields.push(("replaced".to_owned(), text(replaced)));
        }
        fields.push(("actor".to_owned(), actor));
        draft.log(TITLE, fields)?;
    }
    for entry in &entries {
        draft.log_entry(entry)?;
    }
    draft.facts()?.touches.clear();
    Ok(())
}

/// An entry that can be written: invalid titles and keys are simplified, and an entry without a time
/// gets the time of the import.
fn entry(part: &DocumentPart<'_>, now: &str) -> Result<NewEntry, Error> {
    let mut fields = Vec::new();
    match part.get("fields").and_then(|fields| fields.value().as_object()) {
        Some(members) => {
            fields.extend(members.iter().map(|(key, value)| (key.clone(), text_of(value))));
        }
        None => {
            for pair in part.list("fields")? {
                let Some([key, value]) = pair.value().as_array().map(Vec::as_slice) else {
                    return Err(pair.should_be("a key and a text"));
                };
                fields.push((text_of(key), text_of(value)));
            }
        }
    }
    let time = part.text("time")?.unwrap_or_else(|| now.to_owned());
    let mut entry = NewEntry { title: part.needed_text("title")?, time, fields };
    for _ in 0..entry.fields.len() + 3 {
        match render(&entry, 0, &[], "\n") {
            Err(HistoryError::Heading { part: "time", .. }) => entry.time = now.to_owned(),
            Err(HistoryError::Heading { .. }) => {
                let visible = |c: char| if c.is_control() { ' ' } else { c };
                let title: String = entry.title.chars().map(visible).take(200).collect();
                entry.title = one_line(&title);
                if entry.title.is_empty() {
                    entry.title = "Note".to_owned();
                }
            }
            Err(HistoryError::Field { key, .. }) => {
                for (name, _) in entry.fields.iter_mut().filter(|(name, _)| *name == key) {
                    *name = rebuild::plain(name);
                }
            }
            _ => break,
        }
    }
    Ok(entry)
}
