//! Pulling a published state: into a new directory, or into a copy that is behind.

use std::{
    collections::BTreeMap,
    io::Write as _,
    path::{Path, PathBuf},
};

use super::{
    Database, FleetError, Membership, Project,
    membership::remember_directory,
    project::{HistoryRange, ProjectFiles},
    publish::{continues, differences, digest, link, tail},
};
use crate::{
    domain::{ErrorCode, FilesByName, StateFile},
    merge::{copy_step_data, merge},
    rules::workflow_or_builtin,
    store::{AppendedView, Directory},
    workspace::{Received, Snapshot, Workspace},
};

/// What a pull made of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Pulled {
    /// A new copy.
    New,
    /// A copy that was behind.
    Updated,
    /// Nothing was published since.
    UpToDate,
    /// Both sides had changed, and are united.
    Merged,
}

/// A published state.
pub(crate) struct Fetched {
    pub(crate) project: Project,
    files: Vec<(String, Vec<u8>)>,
}

/// Reads what is published of a project, apart from its history.
///
/// # Errors
/// There is no such project, nothing was published, or the database holds what no state has.
pub(crate) fn fetch(database: &mut dyn Database, name: &str) -> Result<Fetched, FleetError> {
    let found = database.files(name)?.ok_or_else(|| FleetError::NoProject(name.to_owned()))?;
    let ProjectFiles { project, files } = found;
    let damaged = |why: String| FleetError::Damaged { name: project.name.clone(), why };
    if project.revision.is_empty() {
        return Err(damaged("nothing was published yet".to_owned()));
    }
    // A name from a database is not a path.
    let is_ours = |name: &str| StateFile::REWRITABLE.iter().any(|file| file.name() == name);
    if let Some((name, _)) = files.iter().find(|(name, _)| !is_ours(name)) {
        return Err(damaged(format!("`{}` is not a state file", name.escape_default())));
    }
    Ok(Fetched { project, files })
}

/// Takes a published state over into the workspace's directory.
///
/// # Errors
/// There are changes that were not published (unless they are to be merged), the directory holds
/// another execution, or what the database holds is damaged; then nothing is changed.
pub(crate) fn pull(
    database: &mut dyn Database,
    fetched: &Fetched,
    workspace: &Workspace,
    host: &str,
    united: bool,
) -> Result<Pulled, FleetError> {
    let dir = workspace.directory();
    let is_empty = match fs_err::read_dir(dir) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => true,
        Err(error) => return Err(error.into()),
    };
    let done = match is_empty {
        true => make(database, fetched, workspace, host)?,
        false => update(database, fetched, workspace, host, united)?,
    };
    remember_directory(&fetched.project.id, dir)?;
    Ok(done)
}

impl Fetched {
    fn damaged(&self, why: impl Into<String>) -> FleetError {
        FleetError::Damaged { name: self.project.name.clone(), why: why.into() }
    }

    /// What this machine remembers once it has exactly what is published.
    fn membership(&self, host: &str, history: (u64, String)) -> Membership {
        let project = &self.project;
        let files = self.files.iter().map(|(name, bytes)| (name.clone(), digest(&[bytes])));
        Membership {
            id: project.id.clone(),
            name: project.name.clone(),
            fence: if project.lease.host == host { project.lease.fence } else { 0 },
            revision: project.revision.clone(),
            generation: project.generation,
            files: files.collect(),
            history_length: history.0,
            history_tail: history.1,
            history_chain: project.history_chain.clone(),
            ..Membership::default()
        }
    }

    /// Hands on the published history from an offset on, range by range, each proven.
    fn history(
        &self,
        database: &mut dyn Database,
        from: (u64, String),
        mut sink: impl FnMut(&[u8]) -> Result<(), FleetError>,
    ) -> Result<(), FleetError> {
        let (mut at, mut chain) = from;
        let end = u64::try_from(self.project.history_length).unwrap_or_default();
        while at < end {
            let range = database.range(&self.project.id, self.project.generation, at)?;
            let Some(HistoryRange { bytes, chain: recorded, .. }) =
                range.filter(|range| !range.bytes.is_empty())
            else {
                return Err(self.damaged(format!("its history lacks what begins at byte {at}")));
            };
            chain = link(&chain, &bytes);
            if chain != recorded {
                return Err(self.damaged(format!("its history was changed at byte {at}")));
            }
            at += bytes.len() as u64;
            sink(&bytes)?;
        }
        if at != end || chain != self.project.history_chain {
            return Err(self.damaged("its history is not the one that was published"));
        }
        Ok(())
    }
}

impl Fetched {
    /// What a history lacks of the published one, and where that belongs. Ranges that are there
    /// already, behind what was noted as published, came by a pull or a push that was cut off.
    fn missing(
        &self,
        database: &mut dyn Database,
        history: &AppendedView,
        known: &Membership,
    ) -> Result<(u64, Vec<u8>), FleetError> {
        let (mut at, mut missing) = (known.history_length, Vec::new());
        self.history(database, (at, known.history_chain.clone()), |bytes| {
            let end = at + bytes.len() as u64;
            let is_there = missing.is_empty()
                && end <= history.len()
                && history.read_between(at, end).map_err(crate::workspace::Error::from)? == bytes;
            match is_there {
                true => at = end,
                false => missing.extend_from_slice(bytes),
            }
            Ok(())
        })?;
        Ok((at, missing))
    }
}

/// A new copy: complete and verified beside its place before it goes there.
fn make(
    database: &mut dyn Database,
    fetched: &Fetched,
    workspace: &Workspace,
    host: &str,
) -> Result<Pulled, FleetError> {
    let dir = std::path::absolute(workspace.directory())?;
    let parent = dir.parent().map_or_else(|| PathBuf::from("/"), Path::to_owned);
    fs_err::create_dir_all(&parent)?;
    let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let prefix = format!(".{name}.pull-");
    remove_unfinished(&parent, &prefix)?;
    let beside = parent.join(format!("{prefix}{}", std::process::id()));
    let made = (|| {
        fs_err::create_dir(&beside)?;
        let target = Directory::open(&beside)?;
        for (name, bytes) in &fetched.files {
            target.replace(name, bytes)?;
        }
        let mut history = fs_err::File::create_new(beside.join(StateFile::History.name()))?;
        fetched.history(database, (0, String::new()), |bytes| Ok(history.write_all(bytes)?))?;
        history.sync_all()?;
        target.sync()?;
        let copy = workspace.at(beside.clone());
        let verified = copy.verify_history(&mut |_| ())?;
        if !verified.is_intact() {
            return Err(fetched.damaged("its history does not verify"));
        }
        fs_err::rename(&beside, &dir)?;
        Directory::open(&parent)?.sync()?;
        Ok(())
    })();
    if made.is_err() {
        // It was ours alone, and holds nothing that the database has not.
        let _ = fs_err::remove_dir_all(&beside);
    }
    made?;
    // The log begins with what was pulled.
    let snapshot = workspace.adopt_files()?;
    let history = snapshot.view().appended();
    let end = (history.len(), tail(history, history.len())?);
    let mut known = fetched.membership(host, end);
    known.local_revision = snapshot.revision().as_str().to_owned();
    known.save(workspace)?;
    Ok(Pulled::New)
}

/// Removes what pulls to the same place left that were killed: the database has all of it.
fn remove_unfinished(parent: &Path, prefix: &str) -> Result<(), FleetError> {
    let parent = Directory::open(parent)?;
    for name in parent.list()? {
        let pid = name.strip_prefix(prefix).and_then(|pid| pid.parse().ok());
        let Some(pid) = pid.and_then(rustix::process::Pid::from_raw) else { continue };
        let is_gone = rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH);
        if is_gone || pid.as_raw_pid() == std::process::id().cast_signed() {
            parent.remove_all(&name)?;
        }
    }
    Ok(())
}

/// A copy that is there.
fn update(
    database: &mut dyn Database,
    fetched: &Fetched,
    workspace: &Workspace,
    host: &str,
    united: bool,
) -> Result<Pulled, FleetError> {
    let project = &fetched.project;
    let directory = workspace.directory().display().to_string();
    let snapshot = match workspace.adopt_files() {
        Err(error) if error.code() == ErrorCode::NoState => {
            return Err(FleetError::NotEmpty { directory });
        }
        adopted => adopted?,
    };
    let here = snapshot.overview()?.execution_id.unwrap_or_default();
    if here != project.id {
        return Err(FleetError::OtherState { directory, found: here });
    }
    let mut known = Membership::find(workspace)?.unwrap_or_default();
    if known.revision.is_empty() {
        // Whoever made this copy did not get to note what it is.
        known.generation = project.generation;
    }
    let history = snapshot.view().appended();
    let found = differences(&snapshot, &known);
    let mut names: Vec<String> =
        found.changed.into_iter().map(|(name, _)| name).chain(found.removed).collect();
    let base = known.history_length;
    let continues = continues(history, &known)?;
    if history.len() != base || !continues {
        names.push(StateFile::History.name().to_owned());
    }
    let is_behind = known.revision != project.revision;
    if names.is_empty() && !is_behind {
        let fence = if project.lease.host == host { project.lease.fence } else { known.fence };
        Membership { fence, ..known }.save(workspace)?;
        return Ok(Pulled::UpToDate);
    }
    let refused = |names: &[String]| {
        let (name, files) = (project.name.clone(), names.join(", "));
        FleetError::Unpublished { name, directory: directory.clone(), files }
    };
    if !is_behind {
        return if united { Ok(Pulled::UpToDate) } else { Err(refused(&names)) };
    }
    if known.generation != project.generation || !continues {
        if !names.is_empty() && !united {
            return Err(refused(&names));
        }
        let message = format!(
            "the published history of `{}` was replaced: pull it into another directory",
            project.name
        );
        return Err(FleetError::Merge(message));
    }
    let (at, theirs) = fetched.missing(database, history, &known)?;
    let has_all = theirs.is_empty() && history.len() == at;
    if !names.is_empty() && has_all && published_files(&snapshot, fetched).is_empty() {
        // It was pulled or pushed from here before, and that was not noted.
        let mut next = fetched.membership(host, (at, tail(history, at)?));
        (next.fleet, next.with_secrets) = (known.fleet, known.with_secrets);
        next.local_revision = snapshot.revision().as_str().to_owned();
        next.save(workspace)?;
        return Ok(Pulled::UpToDate);
    }
    if !names.is_empty() && !united {
        return Err(refused(&names));
    }
    let files = match names.is_empty() {
        true => published_files(&snapshot, fetched),
        false => united_files(&snapshot, fetched, &base_files(workspace, &known))?,
    };
    let merged = !names.is_empty();
    let verb = if merged { "merged" } else { "pulled" };
    let message = format!("{verb} `{}` at revision {}", project.name, project.revision);
    let added = (!theirs.is_empty()).then_some((at, theirs));
    let outcome =
        workspace.receive(snapshot.revision(), Received { files, history: added, message })?;
    let snapshot = workspace.read()?;
    let length = u64::try_from(project.history_length).unwrap_or_default();
    let end = (length, tail(snapshot.view().appended(), length)?);
    let mut next = fetched.membership(host, end);
    (next.fleet, next.with_secrets) = (known.fleet, known.with_secrets);
    next.local_revision = outcome.revision.as_str().to_owned();
    next.save(workspace)?;
    Ok(if merged { Pulled::Merged } else { Pulled::Updated })
}

/// The files that become what is published.
fn published_files(snapshot: &Snapshot, fetched: &Fetched) -> BTreeMap<StateFile, Option<Vec<u8>>> {
    let theirs: BTreeMap<&str, &Vec<u8>> =
        fetched.files.iter().map(|(name, bytes)| (name.as_str(), bytes)).collect();
    let mut files = BTreeMap::new();
    for file in StateFile::REWRITABLE {
        let (here, there) = (snapshot.view().bytes(file.name()), theirs.get(file.name()));
        if here != there.map(|bytes| bytes.as_slice()) {
            files.insert(file, there.map(|bytes| bytes.to_vec()));
        }
    }
    files
}

/// What was published when this machine last agreed with the database.
fn base_files(workspace: &Workspace, known: &Membership) -> FilesByName {
    // Without a base more is a conflict, and nothing is lost.
    workspace.store().files_at(&known.local_revision).unwrap_or_default()
}

/// Both sides united by meaning; what both changed differently stands there as a conflict.
fn united_files(
    snapshot: &Snapshot,
    fetched: &Fetched,
    base: &FilesByName,
) -> Result<BTreeMap<StateFile, Option<Vec<u8>>>, FleetError> {
    let theirs = |name: &str| {
        fetched.files.iter().find(|(known, _)| known == name).map(|(_, bytes)| bytes.as_slice())
    };
    let workflow = workflow_or_builtin(snapshot.view().bytes(StateFile::Workflow.name()));
    let mut files = BTreeMap::new();
    let mut plan = snapshot.view().bytes(StateFile::Plan.name()).map(<[u8]>::to_vec);
    for file in StateFile::REWRITABLE {
        let name = file.name();
        let ours = snapshot.view().bytes(name);
        let merged = merge(file, base.get(name).map(Vec::as_slice), ours, theirs(name), &workflow)
            .map_err(|error| FleetError::Merge(error.to_string()))?;
        let mut bytes = merged.map(|merged| merged.bytes);
        if file == StateFile::Plan {
            plan.clone_from(&bytes);
        }
        if let (StateFile::Variables, Some(found), Some(plan)) = (file, &mut bytes, &plan) {
            *found = copy_step_data(std::mem::take(found), plan.clone());
        }
        if bytes.as_deref() != ours {
            files.insert(file, bytes);
        }
    }
    Ok(files)
}
