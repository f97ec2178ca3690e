//! Asking a program how to continue: a language model behind a script, or any other.
//!
//! It runs only because the user names it: as an argument vector, without the lock, with a time
//! limit and hardly any environment. Whatever it answers is checked; state text in the question
//! is data.

mod answer;
mod prompt;
mod words;

use std::{path::Path, process::Command, time::Duration};

pub(crate) use self::words::split_words;
use super::process::{self, ProcessError};
use crate::{
    recovery::{Evidence, RecoveryAction, RecoveryDecision, choose},
    workspace::Examined,
};

/// The most that an answer may be.
const MOST_BYTES: usize = 64 << 10;

/// The variables that a program is given, besides `STATEDIR`.
const KEPT: [&str; 4] = ["PATH", "HOME", "LANG", "TMPDIR"];

/// A program that decides.
#[derive(Clone, Debug)]
pub(crate) struct Evaluator {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// How long it may take.
    pub limit: Duration,
}

/// Why a program did not decide.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EvaluatorError {
    /// It could not be run to its end.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// Its answer is not what was asked for.
    #[error("{0}")]
    Answer(String),
    /// It decided something that cannot be done.
    #[error("it decided `{action}`, which is not possible: {why}")]
    Impossible {
        /// What it decided.
        action: RecoveryAction,
        why: String,
    },
}

/// What a program decided.
#[derive(Clone, Debug)]
pub(crate) struct EvaluatorDecision {
    pub decision: RecoveryDecision,
    /// The program's name.
    pub program: String,
}

impl Evaluator {
    /// The program's name, for the record.
    pub(crate) fn program(&self) -> String {
        self.argv.first().cloned().unwrap_or_default()
    }

    /// Asks.
    ///
    /// # Errors
    /// The program fails, takes too long, or answers something that is no possible decision.
    pub(crate) fn ask(
        &self,
        state: &Path,
        examined: &Examined,
        builtin: &RecoveryDecision,
    ) -> Result<EvaluatorDecision, EvaluatorError> {
        let (program, arguments) = self
            .argv
            .split_first()
            .ok_or_else(|| EvaluatorError::Answer("no program was named".to_owned()))?;
        let mut command = Command::new(program);
        command.args(arguments).env_clear().env("STATEDIR", state);
        for name in KEPT {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        let question = prompt::prompt(examined, builtin);
        let output = process::run(command, question.into_bytes(), self.limit, MOST_BYTES)?;
        self.verdict(&output, &examined.evidence)
    }

    fn verdict(
        &self,
        output: &[u8],
        evidence: &Evidence,
    ) -> Result<EvaluatorDecision, EvaluatorError> {
        let answer = answer::read(output).map_err(EvaluatorError::Answer)?;
        let action = answer.action;
        let decision = choose(action, vec![answer.reasoning], evidence)
            .map_err(|why| EvaluatorError::Impossible { action, why })?;
        Ok(EvaluatorDecision { decision, program: self.program() })
    }
}
