//! What is wrong with the operation log and the directory it is in, and how that is repaired.

use std::path::PathBuf;

use super::{
    super::{Error, Workspace},
    Fixed,
};
use crate::{
    domain::{ErrorCode, Problem, StateFile},
    store::{LogLoss, StoreError, View},
    text::display::counted,
};

impl Workspace {
    /// What is wrong with the operation log.
    pub(super) fn log_problems(&self, view: &View) -> Vec<Problem> {
        let mut problems = Vec::new();
        match view.log_damage() {
            Some(damage) => problems.push(damaged(damage.message.clone())),
            None => match self.store.log_losses() {
                Ok(losses) => problems.extend(losses.iter().map(lost)),
                Err(error @ StoreError::Damaged { .. }) => {
                    problems.push(damaged(error.to_string()))
                }
                Err(error) => {
                    problems.push(Problem::error(ErrorCode::Io, StateFile::Log, error.to_string()));
                }
            },
        }
        if let Ok(Some(mode)) = self.store.access_of_others() {
            let message = format!("other users can access `.statedir` (mode {mode:04o})");
            let problem = Problem::warning(ErrorCode::Exposed, StateFile::Log, message).fixable();
            problems.push(problem.hint("`statedir check --fix` makes it private again"));
        }
        problems
    }

    /// Repairs what can be repaired without losing anything: a damaged log is kept aside.
    pub(super) fn fix_log(&self) -> Result<Vec<Fixed>, Error> {
        let (_, problems) =
            self.store.read_with(self.options.wait, |view| self.log_problems(view))?;
        let is_fixable =
            |code| problems.iter().any(|problem| problem.code == code && problem.fixable);
        let fixed = |message| Fixed { file: StateFile::Log, message };
        let mut all = Vec::new();
        if is_fixable(ErrorCode::LogDamaged) {
            let kept = self.store.set_damaged_log_aside(self.options.wait, &self.holder())?;
            let message = |kept: PathBuf| {
                fixed(format!("set aside as {}; a new one was started", kept.display()))
            };
            all.extend(kept.map(message));
        }
        if is_fixable(ErrorCode::ImageLost) {
            let count = self.store.restore_images(self.options.wait, &self.holder())?;
            let images = counted(count, "image", "images");
            all.extend((count > 0).then(|| fixed(format!("restored {images} of files"))));
        }
        if is_fixable(ErrorCode::Exposed) {
            self.store.deny_others()?;
            all.push(fixed("made `.statedir` private".to_owned()));
        }
        Ok(all)
    }
}

fn damaged(message: String) -> Problem {
    let problem = Problem::error(ErrorCode::LogDamaged, StateFile::Log, message).fixable();
    problem.hint(
        "the state files are intact; `statedir check --fix` sets the log aside and starts a new one",
    )
}

fn lost(loss: &LogLoss) -> Problem {
    let warning = |code, message| Problem::warning(code, StateFile::Log, message);
    match loss {
        LogLoss::Segment(number) => {
            let message =
                format!("segment {number} is missing; the operations up to its end are lost");
            let problem = warning(ErrorCode::SegmentLost, message);
            problem.hint("`statedir op log` shows how far undo and restore still reach back")
        }
        LogLoss::Image { segment, name, bytes } => {
            let message = format!(
                "the image of `{name}` at the start of segment {segment} is missing or damaged"
            );
            let problem = warning(ErrorCode::ImageLost, message);
            match bytes {
                Some(_) => problem.fixable().hint("`statedir check --fix` restores the image"),
                None => problem.hint(
                    "the state files are intact; `statedir checkpoint create` stores a new image",
                ),
            }
        }
    }
}
