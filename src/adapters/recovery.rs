//! From a state directory to a recovery decision: state, files, git, an evaluator if one is named.
//! The lock is not held meanwhile.

use std::path::PathBuf;

use serde::Serialize;

use super::{Evaluator, StepStart, Survey, find_named, git, project_root, survey};
use crate::{
    domain::ErrorCode,
    recovery::{RecoveryAction, RecoveryDecision, choose, decide},
    workspace::{DecidedBy, Error, Examined, Outcome, RecoverRequest, Surroundings, Workspace},
};

/// How a decision is to be found.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecoveryOptions {
    pub request: RecoverRequest,
    /// The project's directory; else it is worked out from where the state is.
    pub project: Option<PathBuf>,
    /// The caller's own decision.
    pub own: Option<RecoveryAction>,
    /// A program that decides.
    pub evaluator: Option<Evaluator>,
}

/// A decision with everything that led to it.
#[derive(Clone, Debug)]
pub(crate) struct Recovery {
    /// The evidence.
    pub examined: Examined,
    pub decision: RecoveryDecision,
    /// Who made it.
    pub by: DecidedBy,
    /// The outcome of asking a program.
    pub evaluator: Option<Asked>,
}

/// The outcome of asking a program.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Asked {
    pub program: String,
    /// Whether its decision is the one that counts.
    pub used: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What the built-in tables say.
    pub built_in: RecoveryAction,
}

impl Recovery {
    /// Looks at everything and decides. Writes nothing.
    ///
    /// # Errors
    /// There is no state to look at, or the caller's own decision is not possible.
    pub(crate) fn decide(workspace: &Workspace, options: &RecoveryOptions) -> Result<Self, Error> {
        let mut examined = workspace.examine(&options.request)?;
        look_around(workspace, options, &mut examined);
        let builtin = decide(&examined.evidence);
        if let Some(action) = options.own {
            let reasons = vec![format!("decided by `{}`", workspace.environment().actor())];
            let decision = choose(action, reasons, &examined.evidence).map_err(|why| {
                let message = format!("`{action}` is not possible: {why}");
                let hint = match builtin.reasons.first().filter(|_| builtin.nothing_to_do) {
                    Some(reason) => reason.clone(),
                    None => format!("the evidence says `{}`", builtin.action),
                };
                Error::refused_with(ErrorCode::Impossible, message, hint)
            })?;
            return Ok(Self { examined, decision, by: DecidedBy::Caller, evaluator: None });
        }
        // Where there is nothing to decide, nobody is asked.
        let Some(evaluator) = options.evaluator.as_ref().filter(|_| !builtin.nothing_to_do) else {
            let by = DecidedBy::Statedir;
            return Ok(Self { examined, decision: builtin, by, evaluator: None });
        };
        let mut asked = Asked {
            program: evaluator.program(),
            used: false,
            error: None,
            built_in: builtin.action,
        };
        let state = std::path::absolute(workspace.directory());
        let state = state.unwrap_or_else(|_| workspace.directory().to_owned());
        match evaluator.ask(&state, &examined, &builtin) {
            Ok(verdict) => {
                asked.used = true;
                let by = DecidedBy::Evaluator(verdict.program);
                let decision = verdict.decision;
                Ok(Self { examined, decision, by, evaluator: Some(asked) })
            }
            Err(error) => {
                asked.error = Some(error.to_string());
                let by = DecidedBy::Statedir;
                Ok(Self { examined, decision: builtin, by, evaluator: Some(asked) })
            }
        }
    }

    /// Refuses a decision that cannot be carried out. Writes nothing.
    ///
    /// # Errors
    /// The one of [`Self::carry_out`].
    pub(crate) fn rehearse(&self, workspace: &Workspace) -> Result<(), Error> {
        workspace.rehearse(&self.examined, &self.decision, &self.by)
    }

    /// Carries the decision out as one operation.
    ///
    /// # Errors
    /// The state has moved on since it was looked at, or the lifecycle does not allow it.
    pub(crate) fn carry_out(&self, workspace: &Workspace) -> Result<Outcome, Error> {
        workspace.carry_out(&self.examined, &self.decision, &self.by)
    }
}

/// Looks at the project's files and git.
fn look_around(workspace: &Workspace, options: &RecoveryOptions, examined: &mut Examined) {
    let state = survey::real(workspace.directory());
    let project = options.project.as_deref().map(survey::real);
    let Some(root) = project.or_else(|| project_root(&state)) else { return };
    let since = examined.since.as_deref().and_then(|text| StepStart::new(text, &state));
    // What matters of the files is how far the step at hand is; a failed one has said it itself.
    let names = find_named(&root, &examined.wanted, since);
    let ignored = git::ignored(&root).unwrap_or_default();
    let files = Some(survey(&root, &state, &ignored, since, Survey::default()));
    let git = git::look(&root, &state, examined.since.as_deref());
    examined.add_surroundings(Surroundings { files, git, names });
}
