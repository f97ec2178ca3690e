//! Finds what is wrong with a state: each finding has a place and a hint.

mod duplicate_section;
mod fix;
mod history;
mod log;
mod placeholder;
mod plan;
mod secret;
mod task_list;
mod variables;
mod worktree;

pub(super) use self::{
    fix::{FIX, update_derived},
    secret::mask::{mask, mask_field, mask_json},
};
use std::sync::Arc;

use serde::Serialize;

use super::{
    ConstraintReading, Error, FileSet, Snapshot, Workspace, error::MEND_WORKFLOW, log::checkpoint,
    overview::or_problem,
};
use crate::{
    domain::{
        Constraints, Context, ErrorCode, Plan, Problem, Severity, StateFile, Variables, Workflow,
    },
    history::Verification,
    rules::parse_workflow,
    text::markdown::Document,
};

/// What `check` found and repaired.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Checked {
    /// What is wrong, after the repairs.
    pub findings: Vec<Problem>,
    /// What was repaired.
    pub fixed: Vec<Fixed>,
    /// What of constraints.md is executed, and what is prose.
    pub constraints: ConstraintReading,
    /// The files that these are in.
    #[serde(skip)]
    pub(crate) constraints_in: String,
    /// The revision after the repairs.
    pub revision: String,
    /// What opening the state found and did.
    pub notices: Vec<String>,
}

/// One repair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Fixed {
    /// The file.
    pub file: StateFile,
    /// What was done.
    pub message: String,
}

impl Checked {
    /// Repairs were made, but the state could not be read again.
    fn unread(fixed: Vec<Fixed>, error: &Error) -> Self {
        let notices = vec![format!(
            "the repairs were made, but the state could not be read afterwards: {error}"
        )];
        Self { notices, ..Self::of_repairs(fixed) }
    }

    /// The repairs alone.
    fn of_repairs(fixed: Vec<Fixed>) -> Self {
        Self {
            findings: Vec::new(),
            fixed,
            constraints: ConstraintReading::default(),
            constraints_in: StateFile::Constraints.name().to_owned(),
            revision: String::new(),
            notices: Vec::new(),
        }
    }

    /// How many findings are errors.
    pub fn errors(&self) -> usize {
        self.findings.iter().filter(|problem| problem.severity == Severity::Error).count()
    }
}

impl Workspace {
    /// Finds everything that is wrong; with `fix`, first repairs what is safe. In a dry run, what
    /// would be repaired counts as repaired.
    ///
    /// # Errors
    /// There is no state, or it cannot be opened at all.
    pub fn check(&self, fix: bool, progress: &mut dyn FnMut(u64)) -> Result<Checked, Error> {
        let is_preview = fix && self.options.dry_run;
        let (mut fixed, after) = match fix {
            true if is_preview => self.preview_fix()?,
            true => (self.fix()?, None),
            false => (Vec::new(), None),
        };
        let read = self
            .read_with_evidence(|view| (checkpoint::problems(self, view), self.log_problems(view)));
        let (snapshot, evidence, (checkpoints, log)) = match read {
            Ok(read) => read,
            // The repairs are durable even if the state cannot be read again.
            Err(_) if is_preview && !fixed.is_empty() => return Ok(Checked::of_repairs(fixed)),
            Err(error) if !fixed.is_empty() => return Ok(Checked::unread(fixed, &error)),
            Err(error) => return Err(error),
        };
        let snapshot = match after {
            Some(view) => self.snapshot(self.with_unwritten_files(view)),
            None => snapshot,
        };
        let mut secrets = secret::HistoryScan::default();
        let verified = self.verify_through(&snapshot, evidence, progress, |reader| {
            secret::ScanningReader { reader, scan: &mut secrets }
        });
        let writers = self.writers_of_changed(&verified);
        let mut findings = snapshot.findings(verified, &writers, secrets);
        // A damaged log is also why the history could not be verified.
        findings.retain(|finding| log.iter().all(|problem| problem.message != finding.message));
        let mut of_log = checkpoints;
        of_log.extend(log);
        if is_preview {
            // What is put back in between is not in the preview of the history.
            findings.retain(|one| !(one.fixable && one.file == StateFile::History));
            let repaired = of_log.extract_if(.., |problem| problem.fixable);
            fixed.extend(repaired.map(|Problem { file, message, .. }| Fixed { file, message }));
        }
        findings.extend(of_log);
        findings.extend(self.worktree_problems(&snapshot));
        findings.extend(self.task_list_problems(&snapshot));
        self.hint_at_restore(&mut findings, snapshot.plan().ok().as_deref());
        self.place_in_files(&mut findings)?;
        if !fixed.is_empty() {
            // The repairs are made; a disk failure while reading again does not change that.
            for finding in findings.iter_mut().filter(|finding| finding.code.is_of_disk()) {
                finding.severity = Severity::Warning;
                finding.hint = None;
            }
        }
        findings.sort_by_key(|problem| (problem.severity, problem.file, problem.place));
        Ok(Checked {
            findings,
            fixed,
            constraints: snapshot.constraint_reading().unwrap_or_default(),
            constraints_in: self.sources_of(StateFile::Constraints, snapshot.view()),
            revision: snapshot.revision().as_str().to_owned(),
            notices: super::transact::outcome::pending_notices(snapshot.view().reports()),
        })
    }

    /// What is wrong with one file. A long history is read only if that file is the history.
    ///
    /// # Errors
    /// There is no state, or it cannot be opened at all.
    pub(crate) fn check_file(&self, file: StateFile) -> Result<Vec<Problem>, Error> {
        let mut found = Vec::new();
        if file == StateFile::History {
            let (snapshot, evidence, ()) = self.read_with_evidence(|_| ())?;
            let verified = self.verify(&snapshot, evidence, &mut |_| {});
            let writers = self.writers_of_changed(&verified);
            history::check(verified, &writers, &mut found);
        } else {
            self.read()?.findings_but_history(&mut found);
        }
        self.place_in_files(&mut found)?;
        found.retain(|problem| problem.file == file);
        Ok(found)
    }
}

/// How many operations are searched for a readable version of a file.
const MOST_SEARCHED: usize = 100;

impl Workspace {
    /// Adds a hint to each file that cannot be read: the operation that it can be restored from.
    fn hint_at_restore(&self, findings: &mut [Problem], plan: Option<&Plan>) {
        // A plan in another style is not lost.
        let has_sections = plan.is_some_and(|plan| plan.document.section_count() > 1);
        let unmerged = unmerged_files(findings);
        let is_lost = |found: &Problem| match found.code {
            ErrorCode::Unreadable | ErrorCode::BadWorkflow => {
                StateFile::REWRITABLE.contains(&found.file)
            }
            code => code == ErrorCode::NoMetadata && !has_sections,
        };
        let lost =
            findings.iter().filter(|found| is_lost(found) && !unmerged.contains(&found.file));
        let lost: Vec<StateFile> = lost.map(|found| found.file).collect();
        if lost.is_empty() || matches!(self.files, FileSet::Adopted(_)) {
            return;
        }
        let operations = self.store.operations(Some(MOST_SEARCHED)).unwrap_or_default();
        for file in lost {
            let readable = operations.iter().find(|operation| {
                let files = self.store.files_at(operation.id.as_str()).unwrap_or_default();
                files.get(file.name()).is_some_and(|bytes| is_readable(file, bytes))
            });
            let Some(operation) = readable else { continue };
            let name = file.name().split('.').next().unwrap_or_default();
            for found in findings.iter_mut().filter(|found| found.file == file && is_lost(found)) {
                found.hint = Some(format!(
                    "`statedir restore {} --only {name}` brings back what it held; `statedir diff` \
                     shows what was edited since",
                    operation.id
                ));
            }
        }
    }
}

fn is_readable(file: StateFile, bytes: &[u8]) -> bool {
    let document = || Document::from_bytes(bytes.to_vec());
    match file {
        StateFile::Plan => {
            document().is_ok_and(|document| Plan::read(document).metadata_section().is_some())
        }
        StateFile::Variables => Variables::parse(bytes.to_vec()).is_ok(),
        StateFile::Workflow => {
            std::str::from_utf8(bytes).is_ok_and(|text| parse_workflow(text).is_ok())
        }
        _ => document().is_ok(),
    }
}

/// The files, as far as they can be read.
struct ParsedFiles {
    plan: Option<Arc<Plan>>,
    context: Option<Context>,
    variables: Option<Variables>,
    constraints: Option<Constraints>,
}

impl Snapshot {
    /// Everything that is wrong with the files.
    fn findings(
        &self,
        verified: Result<Verification, Error>,
        writers: &history::Writers,
        secrets: secret::HistoryScan,
    ) -> Vec<Problem> {
        let mut found = Vec::new();
        self.findings_but_history(&mut found);
        found.extend(secrets.finish());
        history::check(verified, writers, &mut found);
        found
    }

    /// What is wrong with the files other than the history.
    fn findings_but_history(&self, found: &mut Vec<Problem>) {
        found.extend(self.conflict_problems());
        let files = ParsedFiles {
            plan: or_problem(self.plan(), found),
            context: or_problem(self.context(), found),
            variables: or_problem(self.variables(), found),
            constraints: or_problem(self.constraints(), found),
        };
        let workflow = or_problem(self.workflow(), found);
        // The hint of other commands is to run this one.
        for bad in found.iter_mut().filter(|found| found.code == ErrorCode::BadWorkflow) {
            bad.hint = Some(MEND_WORKFLOW.to_owned());
        }
        hint_at_merge(found);
        if let (Some(plan), Some(workflow)) = (&files.plan, &workflow) {
            plan::check(plan, workflow, found);
            plan::check_metadata(plan, found);
        }
        if let (Some(plan), Some(variables)) = (&files.plan, &files.variables) {
            variables::check(plan, variables, found);
            let workflow = workflow.as_deref().unwrap_or_else(|| Workflow::builtin());
            variables::check_references(&files, plan, variables, workflow, found);
        }
        if let (Some(constraints), Some(workflow)) = (&files.constraints, &workflow) {
            plan::check_settings(constraints, workflow, found);
        }
        if let Ok(lines) = self.rule_lines() {
            found.extend(lines.iter().filter_map(super::RuleLine::problem));
        }
        duplicate_section::check(&files, found);
        placeholder::check(&files, found);
        secret::check(self, found);
    }
}

/// Adds a hint to files with conflict markers: they need a merge, because undo would drop one side.
fn hint_at_merge(found: &mut [Problem]) {
    let unmerged = unmerged_files(found);
    let is_unmerged = |problem: &&mut Problem| {
        problem.code != ErrorCode::Unmerged && unmerged.contains(&problem.file)
    };
    for problem in found.iter_mut().filter(is_unmerged) {
        problem.hint = Some(
            "`statedir merge --resolve` merges both sides by meaning; if no merge is in progress, \
             `statedir diff` shows what was edited"
                .to_owned(),
        );
    }
}

/// The files with conflict markers.
fn unmerged_files(found: &[Problem]) -> Vec<StateFile> {
    let unmerged = found.iter().filter(|problem| problem.code == ErrorCode::Unmerged);
    unmerged.map(|problem| problem.file).collect()
}
