//! A failed command, as it is reported.

use serde_json::{Value, json};

use crate::{
    adapters::{ChooseError, SideError, git::GitError},
    domain::{ErrorCode, Problem, StateFile},
    text::Place,
    workspace::{self, ErrorKind, FileLocation, OpenedReview},
};

/// The exit code when a state file is to blame.
const DAMAGED: u8 = 4;

/// Why a command failed: kind, hint and exit code in one place.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) code: ErrorCode,
    pub(super) message: String,
    pub(super) hint: Option<String>,
    pub(super) location: Option<Box<Value>>,
    /// Where it is and the line with a caret, for people.
    pub(super) place: Option<String>,
    pub(super) exit: u8,
    /// More for machines, such as the findings of a check.
    pub(super) data: Option<Box<Value>>,
    /// What opening the state found and did before the refusal.
    pub(super) notices: Vec<String>,
}

impl Failure {
    /// Wrong arguments.
    pub(super) fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Usage, message)
    }

    /// A failure with the exit code that follows from its code.
    pub(super) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        let (message, exit) = (message.into(), code.exit_code());
        let (hint, location, place, data) = (None, None, None, None);
        Self { code, message, hint, location, place, exit, data, notices: Vec::new() }
    }

    /// A finding that keeps a command from answering in full.
    pub(super) fn damage(problem: &Problem) -> Self {
        let location = location(problem.file, problem.place);
        let hint = problem.hint.clone();
        let failure = Self::new(problem.code, problem.message.clone());
        Self { hint, location: Some(location), exit: DAMAGED, ..failure }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The failure as the error object of an answer.
    pub(super) fn to_json(&self) -> Value {
        let mut error = json!({ "code": self.code, "message": self.message });
        error["hint"] = json!(self.hint);
        error["location"] = json!(self.location);
        let mut answer = json!({ "ok": false, "error": error });
        if !self.notices.is_empty() {
            answer["notices"] = json!(self.notices);
        }
        if let (Some(Value::Object(data)), Some(members)) =
            (self.data.as_deref(), answer.as_object_mut())
        {
            members.extend(data.clone());
        }
        answer
    }
}

fn location(file: StateFile, place: Option<Place>) -> Box<Value> {
    let (line, column) = (place.map(|place| place.line), place.map(|place| place.column));
    Box::new(json!({ "file": file.name(), "line": line, "column": column }))
}

impl From<workspace::Error> for Failure {
    fn from(error: workspace::Error) -> Self {
        let location = error.location();
        let place = location.as_ref().and_then(|FileLocation { file, place, snippet }| {
            let place = place.as_ref()?;
            let snippet = snippet.as_ref().map(|text| format!("\n{text}")).unwrap_or_default();
            Some(format!("{file}:{place}{snippet}"))
        });
        let location = location.map(|found| self::location(found.file, found.place));
        let data = match (error.kind(), error.opened_review()) {
            (ErrorKind::Moved { since, .. }, _) => Some(Box::new(json!(since))),
            (_, Some(OpenedReview { review, revision })) => {
                Some(Box::new(json!({ "review": review, "revision": revision.as_str() })))
            }
            _ => None,
        };
        Self {
            code: error.code(),
            message: error.to_string(),
            hint: error.hint(),
            location,
            place,
            exit: error.exit_code(),
            data,
            notices: error.notices().to_vec(),
        }
    }
}

impl From<GitError> for Failure {
    fn from(error: GitError) -> Self {
        let error = match error {
            GitError::Store(error) => return workspace::Error::from(error).into(),
            error => error,
        };
        let failure = Self::new(error.code(), error.to_string());
        match error.hint() {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

impl From<SideError> for Failure {
    fn from(error: SideError) -> Self {
        let message = error.to_string();
        match error {
            SideError::Workspace(error) => error.into(),
            SideError::Git(error @ (GitError::NoProgram(_) | GitError::NoRepository(_))) => {
                Self::from(error).hint("`statedir op log` lists what can be compared without git")
            }
            SideError::Git(error) => error.into(),
            SideError::Unknown { .. } => Self::new(ErrorCode::NotFound, message).hint(
                "`statedir op log` lists operations; `@-2` is two before the newest, `working` \
                 the files as they are",
            ),
        }
    }
}

impl From<ChooseError> for Failure {
    fn from(error: ChooseError) -> Self {
        if let ChooseError::Linked { state, .. } = &error {
            let state = std::fs::canonicalize(state).unwrap_or_else(|_| state.clone());
            let hint = format!("`-C {}` uses it on purpose", state.display());
            return Self::new(ErrorCode::Linked, error.to_string()).hint(&hint);
        }
        if matches!(error, ChooseError::Unreadable(_)) {
            return Self::new(ErrorCode::Io, error.to_string());
        }
        let failure = Self::new(ErrorCode::NoState, error.to_string());
        if matches!(error, ChooseError::IsFile(_)) {
            return failure.hint("`-C` takes the directory of a project or of a state");
        }
        failure
            .hint("start one here, for example `statedir init --goal 'Compare three vector databases'`; `-C` chooses another directory")
    }
}

impl From<&clap::Error> for Failure {
    fn from(error: &clap::Error) -> Self {
        let text = error.render().to_string();
        let message = text.trim().trim_start_matches("error: ");
        let message = message.split("\n\n").next().unwrap_or(message).trim();
        Self::usage(message)
    }
}
