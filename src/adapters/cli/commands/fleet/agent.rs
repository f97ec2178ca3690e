//! One process per machine that pushes every joined state as it changes.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime},
};

use super::{host, lease_time};
use crate::{
    adapters::{
        cli::{CliResult, Failure, Session, args::duration},
        fleet::{self, Database, FleetError},
    },
    domain::{ErrorCode, StateFile},
};

/// Push every joined state of this machine as it changes, and send heartbeats
///
/// A change is published within a second. While the database cannot be reached the agent waits and
/// catches up afterwards. A state whose lease was taken by another machine is left alone from then on.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  statedir fleet agent
  statedir fleet agent --once
  statedir fleet agent --for 1h --lease 2m")]
pub(in crate::adapters) struct Args {
    /// Push once and stop
    #[arg(long)]
    once: bool,
    /// Stop after that time
    #[arg(long = "for", value_name = "TIME", value_parser = duration, conflicts_with = "once")]
    time: Option<Duration>,
    /// How long a lease lasts after a heartbeat
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = lease_time)]
    lease: Duration,
}

/// How often the files are looked at.
const LOOK: Duration = Duration::from_millis(250);
/// How long to wait for a database that cannot be reached.
const PAUSE: Duration = Duration::from_secs(2);

/// What is known of a state.
#[derive(Default)]
struct Seen {
    files: Option<Vec<Option<(SystemTime, u64)>>>,
    beat: Option<Instant>,
    /// The last message about it, so that it is printed once.
    reported: Option<String>,
    failed: bool,
}

pub(super) fn run(session: &mut Session<'_>, args: &Args) -> CliResult {
    let host = host(session)?;
    let address = fleet::configured()?;
    let end = args.time.map(|time| Instant::now() + time);
    let mut seen: BTreeMap<PathBuf, Seen> = BTreeMap::new();
    let mut database: Option<Box<dyn Database>> = None;
    loop {
        let mut pause = LOOK;
        if database.is_none() {
            match fleet::open(&address) {
                Ok(opened) => database = Some(opened),
                Err(error @ FleetError::Unreachable(_)) if !args.once => {
                    session.output.note(&error.to_string());
                    pause = PAUSE;
                }
                Err(error) => return Err(error.into()),
            }
        }
        if let Some(open) = &mut database {
            let round = push_changed(session, &mut **open, &host, args, &mut seen);
            match round {
                Err(FleetError::Unreachable(_)) if !args.once => {
                    database = None;
                    pause = PAUSE;
                }
                other => other?,
            }
        }
        if args.once {
            let failed = seen.values().filter(|seen| seen.failed).count();
            if failed > 0 {
                let message = format!("{failed} of {} states could not be published", seen.len());
                return Err(Failure::new(ErrorCode::SomeFailed, message));
            }
            return Ok(0);
        }
        let left = end.map_or(pause, |end| end.saturating_duration_since(Instant::now()));
        if left.is_zero() {
            return Ok(0);
        }
        std::thread::sleep(pause.min(left));
    }
}

fn push_changed(
    session: &mut Session<'_>,
    database: &mut dyn Database,
    host: &str,
    args: &Args,
    seen: &mut BTreeMap<PathBuf, Seen>,
) -> Result<(), FleetError> {
    for (_, dir) in fleet::joined_directories()? {
        let known = seen.entry(dir.clone()).or_default();
        let files = file_stamps(&dir);
        let is_due = known.beat.is_none_or(|beat| beat.elapsed() >= args.lease / 3);
        if known.files.as_ref() == Some(&files) && !is_due {
            continue;
        }
        let Ok(workspace) = session.workspace_in(dir.clone(), None) else { continue };
        match fleet::push(database, &workspace, host, args.lease, false) {
            Ok((member, pushed)) => {
                known.failed = false;
                known.reported = None;
                if pushed {
                    let line =
                        format!("published `{}` at revision {}\n", member.name, member.revision);
                    session.output.stream(line.as_bytes());
                }
            }
            Err(FleetError::Unreachable(why)) => return Err(FleetError::Unreachable(why)),
            Err(error) => {
                known.failed = true;
                let reported = format!("{}: {error}", dir.display());
                if known.reported.as_ref() != Some(&reported) {
                    session.output.note(&reported);
                    known.reported = Some(reported);
                }
            }
        }
        known.files = Some(files);
        known.beat = Some(Instant::now());
    }
    Ok(())
}

/// Times and sizes of the files, which show a change without reading them.
fn file_stamps(dir: &Path) -> Vec<Option<(SystemTime, u64)>> {
    let names = StateFile::REWRITABLE.into_iter().chain([StateFile::History]);
    let stat = |file: StateFile| {
        let found = std::fs::symlink_metadata(dir.join(file.name())).ok()?;
        Some((found.modified().ok()?, found.len()))
    };
    names.map(stat).collect()
}
