//! A failed command, as it is reported.

use serde_json::{Value, json};

use crate::{
    adapters::{ChooseError, SideError, git::GitError},
    workspace,
};

/// Why a command failed: kind, hint and exit code in one place.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) code: &'static str,
    pub(super) message: String,
    pub(super) hint: Option<String>,
    pub(super) location: Option<Box<Value>>,
    /// Where it is and the line with a caret, for people.
    pub(super) place: Option<String>,
    pub(super) exit: u8,
    /// More for machines, such as the findings of a check.
    pub(super) data: Option<Box<Value>>,
}

impl Failure {
    /// Wrong arguments.
    pub(super) fn usage(message: impl Into<String>) -> Self {
        Self::new("usage", message, 2)
    }

    /// A refusal at the edge, before the library is called.
    pub(super) fn refused(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, message, 1)
    }

    pub(super) fn new(code: &'static str, message: impl Into<String>, exit: u8) -> Self {
        let message = message.into();
        Self { code, message, hint: None, location: None, place: None, exit, data: None }
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
        if let (Some(Value::Object(data)), Some(members)) =
            (self.data.as_deref(), answer.as_object_mut())
        {
            members.extend(data.clone());
        }
        answer
    }
}

impl From<workspace::Error> for Failure {
    fn from(error: workspace::Error) -> Self {
        let location = error.location();
        let place = location.as_ref().and_then(|(file, place, snippet)| {
            let place = place.as_ref()?;
            let snippet = snippet.as_ref().map(|text| format!("\n{text}")).unwrap_or_default();
            Some(format!("{file}:{place}{snippet}"))
        });
        let location = location.map(|(file, place, _)| {
            let (line, column) = (place.map(|place| place.line), place.map(|place| place.column));
            Box::new(json!({ "file": file.name(), "line": line, "column": column }))
        });
        let data = match &error {
            workspace::Error::Moved { since, .. } => Some(Box::new(json!(since))),
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
        }
    }
}

impl From<GitError> for Failure {
    fn from(error: GitError) -> Self {
        let error = match error {
            GitError::Store(error) => return workspace::Error::from(error).into(),
            error => error,
        };
        let exit = if error.is_temporary() { 3 } else { 1 };
        let failure = Self::new(error.code(), error.to_string(), exit);
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
            SideError::Unknown { .. } => Self::refused("not_found", message).hint(
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
            return Self::refused("linked", error.to_string()).hint(&hint);
        }
        Self::refused("no_state", error.to_string())
            .hint("`statedir init --goal TEXT` starts one here; `-C DIR` chooses another directory")
    }
}

impl From<&clap::Error> for Failure {
    fn from(error: &clap::Error) -> Self {
        let text = error.render().to_string();
        let message = text.trim().trim_start_matches("error: ");
        let message = message.split("\n\n").next().unwrap_or(message).trim();
        Self::usage(message).hint("`--help` after the command shows how it is used")
    }
}
