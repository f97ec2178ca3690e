//! Names that the state knows.

use clap::Arg;

use super::{Candidate, Typed};
use crate::{
    adapters::cli::{Failure, Session, templates},
    domain::{StateFile, StepRole},
    text::{json::Path, markdown::Document},
    workspace::{Error, Snapshot, StepOverview},
};

/// How many operations are offered.
const OPERATIONS: usize = 30;
/// How many variables.
const VARIABLES: usize = 500;

/// Where the values of an argument come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// Steps, those first that the verb is about.
    Steps(Option<StepRole>),
    /// The headings of a file, or the paths of variables.json.
    Sections(StateFile),
    Variables,
    Settings,
    /// The values of one setting.
    ValuesOf(String),
    Checkpoints,
    /// Checkpoints and operations.
    Versions,
    Operations,
    Reviews,
    Archived,
    Directives,
    Rules,
    Templates,
    Files,
}

impl Source {
    /// What an argument of a command takes, by the name it has in the help.
    pub(super) fn of(typed: &Typed<'_>, arg: &Arg) -> Option<Self> {
        let name = arg.get_value_names()?.first()?.as_str();
        let path: Vec<&str> = typed.path.iter().map(String::as_str).collect();
        let given = |at: usize| typed.given.get(at).map(String::as_str);
        Some(match (path.as_slice(), name) {
            (["step", verb], "STEP") if arg.is_positional() => Self::Steps(match *verb {
                "start" => Some(StepRole::Open),
                "done" | "fail" | "take" => Some(StepRole::Active),
                "retry" => Some(StepRole::Failed),
                _ => None,
            }),
            (_, "STEP" | "STEP,…") => Self::Steps(None),
            (["show"], "SECTION") => match StateFile::from_name(given(0)?)? {
                StateFile::Variables => Self::Variables,
                file => Self::Sections(file),
            },
            (_, "SECTION") => Self::Sections(StateFile::Context),
            (["show"], "FILE") => Self::Files,
            (_, "FILE") if arg.get_id() == "only" => Self::Files,
            (["var", _], "PATH") => Self::Variables,
            (["constraint", _], "NAME") => Self::Settings,
            (["constraint", "set"], "VALUE") => Self::ValuesOf(given(0)?.to_owned()),
            (["checkpoint", "show" | "delete"], "NAME") => Self::Checkpoints,
            (_, "NAME|OP") | (["diff"], "FROM" | "TO") => Self::Versions,
            (["op", "show"], "ID") => Self::Operations,
            (["review", _], "ID") => Self::Reviews,
            (["archive", _], "ID") => Self::Archived,
            (["directive", "remove"], _) => Self::Directives,
            (["rule", _], "RULE") => Self::Rules,
            (_, "NAME|DIR") => Self::Templates,
            _ => return None,
        })
    }

    /// The names there are; a state that cannot be read has none to offer.
    pub(super) fn candidates(
        &self,
        session: &Session<'_>,
        current: &str,
    ) -> Result<Vec<Candidate>, Failure> {
        let read = || session.workspace()?.read().map_err(Failure::from);
        let numbered = |list: &[crate::domain::Bullet]| {
            list.iter().map(|one| Candidate::new(one.number.to_string(), &one.text)).collect()
        };
        Ok(match self {
            Self::Steps(role) => steps(&read()?, *role, current)?,
            Self::Sections(file) => sections(&read()?, *file)?,
            Self::Variables => variables(&read()?, current)?,
            Self::Settings => settings(&read()?)?,
            Self::ValuesOf(name) => values_of(&read()?, name)?,
            Self::Checkpoints => checkpoints(session)?,
            Self::Versions => [checkpoints(session)?, operations(session)?].concat(),
            Self::Operations => operations(session)?,
            Self::Reviews => {
                let overview = read()?.overview()?;
                let open = overview.open_reviews.iter();
                open.map(|review| Candidate::new(&review.id, &review.text)).collect()
            }
            Self::Archived => {
                let title = |overview: &crate::workspace::Overview| overview.title.clone();
                let all = session.new_workspace()?.archived()?;
                let about = |state: &crate::workspace::ArchivedState| {
                    state.overview.as_ref().map(title).unwrap_or_default()
                };
                all.iter().map(|state| Candidate::new(&state.id, about(state))).collect()
            }
            Self::Directives => numbered(&read()?.constraints()?.directives),
            Self::Rules => numbered(&read()?.constraints()?.rules),
            Self::Templates => {
                let named = templates::list()?.into_iter();
                named.map(|one| Candidate::new(one.name, one.summary.unwrap_or_default())).collect()
            }
            Self::Files => StateFile::FIVE
                .iter()
                .map(|file| Candidate::new(file.stem(), file.name()))
                .collect(),
        })
    }
}

fn steps(
    snapshot: &Snapshot,
    role: Option<StepRole>,
    current: &str,
) -> Result<Vec<Candidate>, Error> {
    let overview = snapshot.overview()?;
    let is_meant = |step: &&StepOverview| role.is_none_or(|role| step.role == Some(role));
    let mut meant: Vec<&StepOverview> = overview.steps.iter().filter(is_meant).collect();
    if meant.is_empty() {
        meant = overview.steps.iter().collect();
    }
    let by_id = current.starts_with(|c: char| !c.is_ascii_digit());
    let candidate = |step: &StepOverview| {
        let word = if by_id { step.id.clone()? } else { step.number.to_string() };
        Some(Candidate::new(word, format!("{} ({})", step.title, step.status)))
    };
    Ok(meant.into_iter().filter_map(candidate).collect())
}

fn sections(snapshot: &Snapshot, file: StateFile) -> Result<Vec<Candidate>, Error> {
    let titles = |document: &Document| -> Vec<Candidate> {
        let all = document.sections().map(|section| document.section(section));
        // The title of the document is not a section.
        let below = all.filter(|section| section.level > 1);
        below.map(|section| Candidate::new(section.title.trim(), "")).collect()
    };
    Ok(match file {
        StateFile::Plan => titles(&snapshot.plan()?.document),
        StateFile::Context => titles(&snapshot.context()?.document),
        StateFile::Constraints => titles(&snapshot.constraints()?.document),
        _ => Vec::new(),
    })
}

/// The paths down to one level below what was typed.
fn variables(snapshot: &Snapshot, current: &str) -> Result<Vec<Candidate>, Error> {
    let variables = snapshot.variables()?;
    let mut found = Vec::new();
    let mut open = vec![Path::root()];
    while let Some(path) = open.pop() {
        for key in variables.document.keys(&path).unwrap_or_default() {
            let child = path.join(key);
            let text = child.to_string();
            if text.starts_with(current) {
                found.push(Candidate::new(text, ""));
            } else if current.starts_with(&format!("{text}.")) {
                open.push(child);
            }
            if found.len() >= VARIABLES {
                return Ok(found);
            }
        }
    }
    // If there is only one name, it is taken as typed and its members are offered.
    if let [only] = found.as_slice()
        && let Ok(path) = Path::parse(&only.word)
    {
        let keys = variables.document.keys(&path).unwrap_or_default();
        let below: Vec<Candidate> =
            keys.into_iter().map(|key| Candidate::new(path.join(key).to_string(), "")).collect();
        found.extend(below);
    }
    Ok(found)
}

fn settings(snapshot: &Snapshot) -> Result<Vec<Candidate>, Error> {
    let (constraints, workflow) = (snapshot.constraints()?, snapshot.workflow()?);
    let value = |text: &Option<String>| text.clone().unwrap_or_default();
    let written = constraints.settings.iter();
    let mut found: Vec<Candidate> =
        written.map(|one| Candidate::new(&one.name, value(&one.value))).collect();
    for modifier in workflow.modifiers() {
        if !found.iter().any(|known| known.word == modifier.name()) {
            found.push(Candidate::new(modifier.name(), modifier.unset_text()));
        }
    }
    Ok(found)
}

fn values_of(snapshot: &Snapshot, name: &str) -> Result<Vec<Candidate>, Error> {
    let workflow = snapshot.workflow()?;
    let values = workflow.modifier(name).map(|modifier| modifier.values().to_vec());
    Ok(values.unwrap_or_default().into_iter().map(|value| Candidate::new(value, "")).collect())
}

fn checkpoints(session: &Session<'_>) -> Result<Vec<Candidate>, Failure> {
    let all = session.workspace()?.checkpoints()?;
    let newest = all.checkpoints.iter().rev();
    let about =
        |message: &Option<String>, time: &str| message.clone().unwrap_or_else(|| time.to_owned());
    let candidate = |one: &crate::store::Checkpoint| {
        Candidate::new(one.name.to_string(), about(&one.message, &one.time))
    };
    Ok(newest.map(candidate).collect())
}

fn operations(session: &Session<'_>) -> Result<Vec<Candidate>, Failure> {
    let newest = session.workspace()?.operations(Some(OPERATIONS))?;
    let candidate = |one: crate::store::OperationSummary| {
        let what = if one.command.is_empty() { &one.message } else { &one.command };
        Candidate::new(one.id.to_string(), what.as_str())
    };
    Ok(newest.into_iter().map(candidate).collect())
}
