//! Creates a state: the five files from templates, or those of them that are missing.

use serde_json::{Map, Value};

use crate::{
    domain::{
        ErrorCode, ModifierKind, Plan, PlanRole, StateFile, StepRole, Ticket, Variables, Workflow,
    },
    store::{ChangeKind, FileChange, Report, View},
    text::shell::shell_word,
    workspace::{
        CachedFacts, Error, FileDiff, Mode, Outcome, TemplateSet, Workspace, is_missing,
        missing_files, setup::templates::TemplateInput, snapshot::markdown, transact::Proposal,
    },
};

/// Options for a new state.
#[derive(Clone, Debug, Default)]
pub struct InitOptions {
    /// The goal.
    pub goal: Option<String>,
    /// A short name for it; the beginning of the goal if absent.
    pub title: Option<String>,
    /// `EXECUTION` or `SIMULATION`.
    pub mode: Mode,
    /// The templates.
    pub templates: TemplateSet,
    /// Modifiers, limits, and further values for the templates.
    pub set: Map<String, Value>,
    /// The ticket it is about.
    pub ticket: Option<Ticket>,
}

/// What `init` did.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Initialised {
    /// Revision, changed files and notices.
    pub outcome: Outcome,
    /// The name of the execution.
    pub execution_id: String,
    /// Whether existing files (a clone) were adopted.
    pub adopted: bool,
}

impl Workspace {
    /// Writes the missing files. Never overwrites one.
    ///
    /// # Errors
    /// All five exist already, a value is refused, or there is no goal.
    pub fn init(&self, options: &InitOptions) -> Result<Initialised, Error> {
        let mut new = NewFiles::default();
        let outcome = self.transact(self.options.dry_run, |opened| {
            new = self.make(opened.view(), options)?;
            Ok(self.propose_files(&new))
        })?;
        Ok(Initialised { outcome, execution_id: new.execution_id, adopted: new.adopted })
    }

    fn propose_files(&self, new: &NewFiles) -> Proposal {
        let message = format!("initialised {}", new.execution_id);
        // `init` cannot be undone, but a restored file can.
        let kind = if new.restored.is_empty() { "init" } else { "init.restore" };
        let mut operation = self.operation(kind, message);
        let (mut changed, mut diff) = (Vec::new(), Vec::new());
        for (file, text) in &new.files {
            changed.push(*file);
            diff.push(FileDiff::new(*file, b"", text.as_bytes()));
            let bytes = text.clone().into_bytes();
            if *file == StateFile::History {
                // So that the first change need not read it.
                operation.facts =
                    CachedFacts::of_new_history(text).ok().map(|facts| facts.to_bytes());
                operation.append = bytes;
            } else {
                let kind = ChangeKind::Write(bytes);
                operation.changes.push(FileChange { name: file.name().to_owned(), kind });
            }
        }
        let notices = new.restored.clone();
        Proposal { operation, changed, diff, notices, ..Proposal::default() }
    }

    fn make(&self, view: &View, options: &InitOptions) -> Result<NewFiles, Error> {
        self.env.mix_in(view.revision.as_str());
        let missing = missing_files(view);
        let found = ExistingState::read(view);
        if missing.len() == StateFile::FIVE.len() && view.has_log() && self.has_files_in_log() {
            return Err(self.no_state(view));
        }
        let adopted = view.reports().iter().any(|report| matches!(report, Report::Adopted { .. }))
            || view.adopted();
        if missing.is_empty() {
            let same_goal = match (&options.goal, &found.goal) {
                (Some(wanted), Some(goal)) => wanted.trim() == goal.trim(),
                _ => true,
            };
            if adopted && same_goal {
                let execution_id = found.execution_id.unwrap_or_default();
                return Ok(NewFiles { execution_id, adopted, ..NewFiles::default() });
            }
            return Err(self.refuse_existing(&found));
        }
        let goal = options.goal.clone().filter(|goal| !goal.trim().is_empty());
        let Some(goal) = found.goal.clone().or(goal) else {
            return Err(Error::refused_with(
                ErrorCode::NoGoal,
                "a new state needs a goal",
                "name it, for example `statedir init --goal 'Compare three vector databases'`",
            ));
        };
        let lifecycle = with_retry_limit(options)?;
        let workflow = match &lifecycle {
            Some(text) => crate::rules::parse_workflow(text)?,
            None => Workflow::builtin().clone(),
        };
        let input = self.input(options, &found, goal.trim(), &workflow)?;
        let (mut files, mut restored) = (Vec::new(), Vec::new());
        // If all of them are missing, it is a new state.
        let is_rest = missing.len() < StateFile::FIVE.len();
        for file in missing {
            if let Some((text, from)) = is_rest.then(|| self.last_content(file)).flatten() {
                restored.push(format!("{file} was missing: restored from {from}"));
                files.push((file, text));
                continue;
            }
            let text = options
                .templates
                .render(file, &input, &workflow)
                .map_err(|error| Error::refused(ErrorCode::BadTemplate, error.to_string()))?;
            read_back(file, &text, &input, options.templates.is_custom())?;
            files.push((file, text));
        }
        if let Some(text) = lifecycle
            && is_missing(view, StateFile::Workflow)
        {
            files.push((StateFile::Workflow, text));
        }
        Ok(NewFiles { files, execution_id: input.execution_id, adopted: false, restored })
    }

    /// The last known content of a file, and where it comes from.
    fn last_content(&self, file: StateFile) -> Option<(String, &'static str)> {
        let from_log = match file {
            StateFile::History => self.store.appended_from_log().ok().flatten(),
            file => self.store.last_known_files().ok()?.remove(file.name()),
        };
        let from_commit = || self.version_control().committed(self.directory(), file);
        let (bytes, from) = match from_log {
            Some(bytes) => (bytes, "the log"),
            None => (from_commit()?, "the last commit"),
        };
        Some((String::from_utf8(bytes).ok()?, from))
    }

    fn input(
        &self,
        options: &InitOptions,
        found: &ExistingState,
        goal: &str,
        workflow: &Workflow,
    ) -> Result<TemplateInput, Error> {
        let (modifiers, set) = modifiers(options, workflow)?;
        Error::refuse_placeholder(goal)?;
        let title = options.title.clone().or_else(|| found.title.clone());
        let title = title.map_or_else(|| short(goal), |title| title.trim().to_owned());
        Error::refuse_placeholder(&title)?;
        if title.contains(['\n', '\r']) {
            return Err(Error::refused(ErrorCode::BadValue, "the title must be one line"));
        }
        let mode = match found.mode.as_deref() {
            Some(mode) if mode.eq_ignore_ascii_case("SIMULATION") => Mode::Simulation,
            Some(_) => Mode::Execution,
            None => options.mode,
        };
        Ok(TemplateInput {
            understanding: String::new(),
            execution_id: found.execution_id.clone().unwrap_or_else(|| self.execution_id()),
            title,
            goal: goal.to_owned(),
            now: self.env.now(),
            mode: mode.as_str(),
            simulation: mode == Mode::Simulation,
            status: workflow.plan_with_role(PlanRole::Planning).to_owned(),
            step_status: workflow.step_with_role(StepRole::Open).to_owned(),
            ticket: options.ticket.clone(),
            current_step: found.current_step,
            total_steps: found.total_steps,
            modifiers,
            set,
        })
    }

    /// A new execution id.
    pub(crate) fn execution_id(&self) -> String {
        let moment = self.env.now().replace(['-', ':'], "");
        format!("exec_{moment}_{:08x}", self.env.random() >> 32)
    }

    fn refuse_existing(&self, found: &ExistingState) -> Error {
        let goal = found.goal.as_deref().unwrap_or("unknown");
        Error::refused_with(
            ErrorCode::Exists,
            format!(
                "there is already a state in `{}` (goal: {})",
                self.directory().display(),
                short(goal)
            ),
            format!(
                "`statedir -C {} status` shows it; `-C` chooses another directory",
                shell_word(&self.directory().display().to_string())
            ),
        )
    }
}

/// The files to be written.
#[derive(Default)]
struct NewFiles {
    files: Vec<(StateFile, String)>,
    execution_id: String,
    adopted: bool,
    /// Notes about files that were restored instead of created.
    restored: Vec<String>,
}

/// Values of existing files, so that new ones agree with them.
#[derive(Default)]
struct ExistingState {
    goal: Option<String>,
    title: Option<String>,
    execution_id: Option<String>,
    mode: Option<String>,
    current_step: u32,
    total_steps: usize,
}

impl ExistingState {
    fn read(view: &View) -> Self {
        if let Ok(document) = markdown(view, StateFile::Plan) {
            let plan = Plan::read(document);
            let current = plan.metadata.current_step.as_deref();
            return Self {
                goal: plan.metadata.goal,
                title: Some(plan.title).filter(|title| !title.is_empty()),
                execution_id: plan.metadata.execution_id,
                mode: plan.metadata.mode,
                current_step: current.and_then(|text| text.parse().ok()).unwrap_or(0),
                total_steps: plan.steps.len(),
            };
        }
        let bytes = view.bytes(StateFile::Variables.name()).unwrap_or_default().to_vec();
        let Ok(variables) = Variables::parse(bytes) else { return Self::default() };
        let text = |path: &str| Some(variables.get(path)?.as_str()?.to_owned());
        Self {
            goal: text("execution_metadata.goal"),
            execution_id: text("execution_metadata.execution_id"),
            mode: text("execution_metadata.mode"),
            ..Self::default()
        }
    }
}

const RETRY_LIMIT: &str = "retry_limit";

/// The workflow of the templates with the `retry_limit` of `--set`.
fn with_retry_limit(options: &InitOptions) -> Result<Option<String>, Error> {
    let given = options.set.iter().find(|(key, _)| *key == RETRY_LIMIT);
    let (Some((_, limit)), own) = (given, &options.templates.workflow) else {
        return Ok(options.templates.workflow.clone());
    };
    let limit = crate::workspace::change::text_of(limit);
    if !limit.parse().is_ok_and(|limit: u32| (1..=100).contains(&limit)) {
        let message = format!("`{RETRY_LIMIT}` is between 1 and 100, not `{limit}`");
        return Err(Error::refused(ErrorCode::BadValue, message));
    }
    let line = format!("{RETRY_LIMIT}: {limit}\n");
    let Some(own) = own else { return Ok(Some(format!("version: 1\n{line}"))) };
    let is_limit = |line: &&str| line.starts_with("retry_limit:");
    if !own.lines().any(|line| is_limit(&line)) {
        let end = if own.ends_with('\n') { "" } else { "\n" };
        return Ok(Some(format!("{own}{end}{line}")));
    }
    let lines = own.split_inclusive('\n');
    Ok(Some(lines.map(|old| if is_limit(&old) { line.as_str() } else { old }).collect()))
}

type Values = Map<String, Value>;

/// The modifiers with their defaults or the values of `--set`; and the rest of `--set` for templates.
pub(in crate::workspace) fn modifiers(
    options: &InitOptions,
    workflow: &Workflow,
) -> Result<(Values, Values), Error> {
    let mut modifiers = Map::new();
    for modifier in workflow.modifiers() {
        let default = modifier.default().map(|default| value_of(modifier.kind(), default));
        modifiers.insert(modifier.name().to_owned(), default.unwrap_or_default());
    }
    let mut rest = Map::new();
    for (key, value) in &options.set {
        let text = crate::workspace::change::text_of(value);
        if key == RETRY_LIMIT {
            continue;
        }
        match workflow.modifier(key) {
            Some(modifier) => {
                modifier
                    .read(&text)
                    .map_err(|error| Error::refused(ErrorCode::BadValue, error.to_string()))?;
                modifiers.insert(modifier.name().to_owned(), value_of(modifier.kind(), &text));
            }
            None if options.templates.is_custom() => {
                rest.insert(key.clone(), value.clone());
            }
            None => {
                let names = workflow.modifiers().iter().map(|modifier| modifier.name());
                let hint = match crate::domain::nearest(key, names.clone()) {
                    Some(nearest) => format!("did you mean `{nearest}`?"),
                    None => format!("one of {}", names.collect::<Vec<_>>().join(", ")),
                };
                let message = format!("`{key}` is not used by this template");
                return Err(Error::refused_with(ErrorCode::BadValue, message, hint));
            }
        }
    }
    Ok((modifiers, rest))
}

fn value_of(kind: ModifierKind, text: &str) -> Value {
    match kind {
        ModifierKind::List => serde_json::from_str(text).unwrap_or_else(|_| {
            let words = text.trim_matches(['[', ']']).split(',').map(str::trim);
            words.filter(|word| !word.is_empty()).map(Value::from).collect()
        }),
        _ => Value::from(text),
    }
}

/// Makes sure that a rendered file can be read.
fn read_back(
    file: StateFile,
    text: &str,
    input: &TemplateInput,
    custom: bool,
) -> Result<(), Error> {
    let fail = |message: String| {
        let message =
            format!("the template of `{file}` produces a file that cannot be used: {message}");
        Err(Error::refused(ErrorCode::BadTemplate, message))
    };
    match file {
        StateFile::Variables => match Variables::parse(text.as_bytes().to_vec()) {
            Ok(_) => Ok(()),
            Err(error) => fail(error.to_string()),
        },
        StateFile::Plan => {
            let document = match crate::text::markdown::Document::parse(text) {
                Ok(document) => document,
                Err(error) => return fail(error.to_string()),
            };
            let plan = Plan::read(document);
            if plan.metadata.status.is_none() {
                return fail("there is no `status` under `Metadata`".to_owned());
            }
            if !custom && plan.metadata.goal.as_deref() != Some(input.goal.as_str()) {
                return fail("the goal does not read back as given".to_owned());
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The first line, cut at sixty characters.
pub(in crate::workspace) fn short(goal: &str) -> String {
    // Markdown ends a line at a lone carriage return, too.
    let mut lines = goal.split(['\n', '\r']).map(str::trim);
    let line = lines.find(|line| !line.is_empty()).unwrap_or_default();
    if line.chars().count() <= 60 {
        return line.to_owned();
    }
    let cut: String = line.chars().take(59).collect();
    let whole = cut.rsplit_once(' ').map_or(cut.as_str(), |(words, _)| words);
    format!("{}…", whole.trim_end_matches([',', '.', ';', ':']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_goal_is_cut_between_words() {
        assert_eq!(short("Write a report\non X"), "Write a report");
        assert_eq!(short("\rWrite\ra report"), "Write");
        let long = "Compare the three largest open-source vector databases for our use case";
        assert_eq!(short(long), "Compare the three largest open-source vector databases for…");
    }
}
