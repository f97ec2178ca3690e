//! The commands, one file each, in folders by subject.

mod agent;
mod directory;
mod files;
#[cfg(feature = "fleet")]
pub(in crate::adapters) mod fleet;
mod log;
mod recovery;
pub(in crate::adapters) mod reference;
mod repository;
mod steps;
mod view;

pub(in crate::adapters) use self::agent::{hook, mcp, memory, setup};
pub(in crate::adapters) use self::directory::{adopt, archive, check, gc, init, migrate, trust};
pub(in crate::adapters) use self::files::{
    apply, constraint, context, directive, event, history, rule, turn, var,
};
pub(in crate::adapters) use self::log::{checkpoint, diff, op, undo};
pub(in crate::adapters) use self::recovery::{recover, scan};
pub(in crate::adapters) use self::repository::{commit, git, merge, review_notes, worktree};
pub(in crate::adapters) use self::steps::{plan, review, step};
pub(in crate::adapters) use self::view::{
    board, brief, graph, metrics, report, show, state, status, watch, web,
};

use super::{
    CliResult, Session,
    args::{Arguments, Command},
    output::Output,
};
use crate::store::Cancellation;

/// Runs the command that was parsed.
pub(super) fn run(parsed: Arguments, command: String, output: &mut Output) -> CliResult {
    let mut session = Session {
        global: parsed.global,
        command,
        client: None,
        via: None,
        event_session: None,
        cancellation: Cancellation::default(),
        output,
    };
    let result = dispatch(parsed.command, &mut session);
    result.map_err(|failure| session.explain(failure))
}

/// Runs a command in a session.
pub(super) fn dispatch(command: Command, session: &mut Session<'_>) -> CliResult {
    match command {
        Command::Init(args) => init::run(session, args),
        Command::Adopt(args) => adopt::run(session, &args),
        Command::Status(args) => status::run(session, &args),
        Command::Brief(args) => brief::run(session, &args),
        Command::Show(args) => show::run(session, &args),
        Command::State(args) => state::run(session, &args),
        Command::Import(args) => init::import(session, &args),
        Command::Metrics(args) => metrics::run(session, &args),
        Command::Report(args) => report::run(session, &args),
        Command::Plan(args) => plan::run(session, &args),
        Command::Step(args) => step::run(session, args),
        Command::Context(args) => context::run(session, args),
        Command::Var(args) => var::run(session, args),
        Command::History(args) => history::run(session, args),
        Command::Turn(args) => turn::run(session, args),
        Command::Memory(args) => memory::run(session, &args),
        Command::Constraint(args) => constraint::run(session, args),
        Command::Directive(args) => directive::run(session, args),
        Command::Rule(args) => rule::run(session, args),
        Command::Event(args) => event::run(session, args),
        Command::Review(args) => review::run(session, args),
        Command::Pause(args) => plan::pause(session, args),
        Command::Resume(_) => plan::resume(session),
        Command::Apply(args) => apply::run(session, &args),
        Command::Migrate(_) => migrate::run(session),
        Command::Check(args) => check::run(session, &args),
        Command::Recover(args) => recover::run(session, &args),
        Command::Scan(args) => scan::run(session, &args),
        Command::Checkpoint(args) => checkpoint::run(session, args),
        Command::Restore(args) => checkpoint::restore(session, args),
        Command::Undo(_) => undo::undo(session),
        Command::Redo(_) => undo::redo(session),
        Command::Op(args) => op::run(session, args),
        Command::Diff(args) => diff::run(session, &args),
        Command::Merge(args) => merge::run(session, &args),
        Command::MergeDriver(args) => merge::drive_merge(session, &args),
        Command::Git(args) => git::run(session, args),
        Command::Commit(args) => commit::run(session, args),
        Command::Worktree(args) => worktree::run(session, args),
        Command::ReviewNotes(args) => review_notes::run(session, &args),
        Command::Trust(args) => trust::run(session, &args),
        Command::Gc(args) => gc::run(session, &args),
        Command::Archive(args) => archive::run(session, args),
        Command::Watch(args) => watch::run(session, &args),
        #[cfg(feature = "fleet")]
        Command::Fleet(args) => fleet::run(session, args),
        Command::Board(args) => board::run(session, &args),
        Command::Web(args) => web::run(session, &args),
        Command::Setup(args) => setup::run(session, args),
        Command::Hook(args) => hook::run(session, &args),
        Command::Mcp(args) => mcp::run(session, &args),
        Command::Schema(args) => reference::schema(session, &args),
        Command::Completions(args) => reference::completions(session, &args),
        Command::Man(args) => reference::man(session, &args),
    }
}
