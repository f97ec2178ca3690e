use super::{
    args::{MoveArgs, ResultArgs, ShapeArgs, each, select, selected, step_number},
    view,
};
use crate::{
    adapters::cli::{CliResult, Session, pairs},
    workspace::{Change, StepResult},
};

/// Add, start, finish and look at steps
#[derive(Clone, Debug, clap::Subcommand)]
#[command(
    defer = true,
    after_help = "\
Examples:
  statedir step add \"Fetch the pages\" --tool WebFetch --input url={{file_paths.start}}
  statedir step next --claim
  statedir step done 1 --output pages=12 --cost 0.02
  statedir step fail 2 --error \"timeout after 30s\"
  statedir step retry 2"
)]
pub(in crate::adapters) enum Verb {
    /// Add a step at the end of the plan, or after another
    #[command(after_help = "\
Examples:
  statedir step add \"Fetch the pages\" --tool WebFetch --cost 0.02 --time 30s
  statedir step add \"Write the summary\" --depends-on 1,2 --output summary=\"one page\"
  statedir step add \"Tell finance\" owner=ada --description - < notes.md
  statedir step add \"Create the tables\" layer=1-foundation --id L1-002")]
    Add {
        /// What to do, in one line; - reads standard input
        title: String,
        #[command(flatten)]
        shape: Box<ShapeArgs>,
        /// A field of your own
        #[arg(value_name = "KEY=VALUE", value_parser = pairs::pair)]
        set: Vec<(String, String)>,
        /// Its id, such as L2-003; generated if absent
        #[arg(long, value_name = "ID")]
        id: Option<String>,
        /// Insert it after this step and renumber the following ones; 0 puts it first
        #[arg(long, value_name = "STEP")]
        after: Option<String>,
        /// Insert it before this step
        #[arg(long, value_name = "STEP", conflicts_with = "after")]
        before: Option<String>,
    },
    /// Start a step that is pending
    #[command(
        after_help = "Examples:\n  statedir step start 1\n  statedir step start k3f9 --actor agent-b"
    )]
    Start {
        /// Number or id; the next ready step if absent
        step: Option<String>,
        /// Further steps, by number: all of them start in one operation
        #[arg(value_name = "NUMBER", value_parser = step_number)]
        further: Vec<u32>,
    },
    /// Complete a running step
    #[command(
        visible_alias = "complete",
        after_help = "\
Examples:
  statedir step done
  statedir step done 2 3
  statedir step done 3 --output rows=42 --cost 0.02 --time 12s --note \"two pages were empty\""
    )]
    Done(Box<ResultArgs>),
    /// Record that a running step failed; the answer says what kind of error it was
    #[command(after_help = "Examples:\n  statedir step fail 3 --error \"HTTP 503\" --cost 0.01")]
    Fail(Box<ResultArgs>),
    /// Skip a step
    #[command(after_help = "Examples:\n  statedir step skip 4 --note \"not needed any more\"")]
    Skip(Box<ResultArgs>),
    /// Start a failed step again
    #[command(
        after_help = "Examples:\n  statedir step retry 3\n  statedir step retry 3 --note \"Add min_length=1 to the title\""
    )]
    Retry {
        /// Number or id; the failed step if there is only one
        step: Option<String>,
        /// What to do differently; `brief --for` passes it on
        #[arg(long, value_name = "TEXT", visible_alias = "feedback")]
        note: Option<String>,
    },
    /// Reopen a step: set it back to PENDING
    #[command(
        after_help = "Examples:\n  statedir step reset 3 --note \"the process died\"\n  statedir step reset 3 --fresh\n  statedir step reset 1 --dependents"
    )]
    Reset {
        /// Number or id; the running or failed step if there is only one
        step: Option<String>,
        /// Why
        #[arg(long, value_name = "TEXT", visible_alias = "why")]
        note: Option<String>,
        /// Even if somebody else holds it
        #[arg(long)]
        force: bool,
        /// As if it had never been tried: clear its attempts and failures, close its review
        #[arg(long)]
        fresh: bool,
        /// Also reopen every step that depends on it
        #[arg(long)]
        dependents: bool,
    },
    /// Move a step to any status that the lifecycle allows: VERIFYING, MERGING, BLOCKED
    ///
    /// The statuses are those of workflow.yaml; a move that is not allowed is refused, and the
    /// message lists those that are. Nobody holds a step whose status has the role `waiting`, and
    /// what depends on it waits.
    #[command(
        after_help = "Examples:\n  statedir step move 3 VERIFYING\n  statedir step move 3 BLOCKED --note \"waits for the API key\""
    )]
    Move(Box<MoveArgs>),
    /// Take over a running step whose holder is gone; its attempt continues
    ///
    /// A claim is stale when its session has ended, its process is gone, or it has been silent for
    /// as long as workflow.yaml says (stale_after, 1h). While the holder is at work this is refused
    /// unless --force is given; --why records the reason in the history.
    #[command(
        after_help = "Examples:\n  statedir step take 3\n  statedir step take 3 --force --why \"the laptop was lost\""
    )]
    Take {
        /// Number or id; if absent, the only step that somebody else holds
        step: Option<String>,
        /// Even while its holder is at work
        #[arg(long, requires = "why")]
        force: bool,
        /// Why, for the history
        #[arg(long, value_name = "TEXT", visible_alias = "note")]
        why: Option<String>,
    },
    /// Change the fields of a step; a new description replaces the prose, and "" clears it
    #[command(after_help = "\
Examples:
  statedir step set 3 title=\"Read the papers\" --tool Read
  statedir step set 3 --input limit=20 --depends-on 1 owner=ada
  statedir step set 3 --description \"Only the first two pages.\"")]
    Set {
        /// Number or id
        step: String,
        #[command(flatten)]
        shape: Box<ShapeArgs>,
        /// title, or a field of your own
        #[arg(value_name = "KEY=VALUE", value_parser = pairs::pair)]
        set: Vec<(String, String)>,
    },
    /// Move a step to another place and renumber those between
    #[command(
        after_help = "Examples:\n  statedir step reorder 5 --after 2\n  statedir step reorder 5 --before 1\n  statedir step reorder 5 --after 0"
    )]
    Reorder {
        /// Number or id
        step: String,
        /// Put it after this step; 0 puts it first
        #[arg(long, value_name = "STEP", required_unless_present = "before")]
        after: Option<String>,
        /// Put it before this step
        #[arg(long, value_name = "STEP", conflicts_with = "after")]
        before: Option<String>,
    },
    /// Remove a step from the plan (`undo` restores it)
    #[command(after_help = "Examples:\n  statedir step remove 5")]
    Remove {
        /// Number or id
        step: String,
        /// Even if somebody else holds it
        #[arg(long)]
        force: bool,
    },
    /// Show one step
    #[command(after_help = "\
Examples:
  statedir step show 3
  statedir step show k3f9 --resolved --json")]
    Show {
        /// Number or id; the current step if absent
        step: Option<String>,
        /// Resolve the {{references}} in its inputs; fails if one cannot be resolved
        #[arg(long)]
        resolved: bool,
    },
    /// List the steps, who is working on them, since when, and whether they still are
    #[command(after_help = "\
Examples:
  statedir step list
  statedir step list --status FAILED --limit 100
  statedir step list --status RUNNING --claimed-by agent-b
  statedir step list --where layer=2-backend")]
    List {
        /// Only steps with this status
        #[arg(long)]
        status: Option<String>,
        /// Only steps that this actor or session claimed
        #[arg(long, value_name = "NAME")]
        claimed_by: Option<String>,
        /// Only steps whose field has this value
        #[arg(long = "where", value_name = "KEY=VALUE", value_parser = pairs::pair)]
        fields: Vec<(String, String)>,
        /// The most to list
        #[arg(long, default_value_t = 50)]
        limit: usize,
    },
    /// Show the next step that is ready, or start it with --claim
    #[command(
        after_help = "Examples:\n  statedir step next\n  statedir step next --claim --actor agent-b"
    )]
    Next {
        /// Start it, so that no other agent gets it
        #[arg(long)]
        claim: bool,
    },
}

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, verb: Verb) -> CliResult {
    let change = match verb {
        Verb::Add { title, shape, set, id, after, before } => {
            let mut shape = shape.shape()?;
            shape.id = id;
            shape.title = Some(pairs::text(title)?);
            shape.set = pairs::texts(&set)?;
            shape.after = selected(after.as_deref())?;
            shape.before = selected(before.as_deref())?;
            Change::StepAdd(Box::new(shape))
        }
        Verb::Set { step, shape, set } => {
            let mut shape = shape.shape()?;
            shape.step = Some(select(&step)?);
            shape.set = pairs::texts(&set)?;
            Change::StepSet(Box::new(shape))
        }
        Verb::Start { step, further } if further.is_empty() => {
            let step = selected(step.as_deref())?;
            return view::begin(session, Change::StepStart { step });
        }
        Verb::Start { step, further } => {
            let steps = each(step.as_deref(), &further)?.into_iter();
            let starts: Vec<Change> = steps.map(|step| Change::StepStart { step }).collect();
            return session.apply(&starts);
        }
        Verb::Next { claim: true } => {
            return view::begin(session, Change::StepStart { step: None });
        }
        Verb::Done(results) => return finish(session, *results, Change::StepDone),
        Verb::Fail(results) => return finish(session, *results, Change::StepFail),
        Verb::Skip(results) => return finish(session, *results, Change::StepSkip),
        Verb::Retry { step, note } => {
            let note = pairs::optional_text(note)?;
            let step = selected(step.as_deref())?;
            return view::begin(session, Change::StepRetry { step, note });
        }
        Verb::Reset { step, note, force, fresh, dependents } => {
            let (step, note) = (selected(step.as_deref())?, pairs::optional_text(note)?);
            Change::StepReset { step, note, force, fresh, dependents }
        }
        Verb::Move(wanted) => Change::StepMove(wanted.step_move()?),
        Verb::Take { step, force, why } => {
            let why = pairs::optional_text(why)?;
            let step = selected(step.as_deref())?;
            return view::begin(session, Change::StepTake { step, force, why });
        }
        Verb::Reorder { step, after, before } => Change::StepReorder {
            step: select(&step)?,
            after: selected(after.as_deref())?,
            before: selected(before.as_deref())?,
        },
        Verb::Remove { step, force } => Change::StepRemove { step: select(&step)?, force },
        Verb::Show { step, resolved } => {
            return view::show(session, step.as_deref(), resolved);
        }
        Verb::List { status, claimed_by, fields, limit } => {
            let filter = view::Filter { status, claimed_by, fields };
            return view::list(session, &filter, limit);
        }
        Verb::Next { claim: false } => return view::next(session),
    };
    session.apply(&[change])
}

/// Ends one step, or several in one operation.
fn finish(
    session: &mut Session<'_>,
    results: ResultArgs,
    change: fn(Box<StepResult>) -> Change,
) -> CliResult {
    let results = results.results()?.into_iter();
    let changes: Vec<Change> = results.map(|result| change(Box::new(result))).collect();
    session.apply(&changes)
}
