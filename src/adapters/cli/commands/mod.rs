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

pub(in crate::adapters) use self::{
    agent::*, directory::*, files::*, log::*, recovery::*, repository::*, steps::*, view::*,
};

use std::ffi::OsStr;

use clap::Subcommand;

use super::{
    CliResult, Session,
    args::{Arguments, Verbs},
    output::Output,
};

/// Runs the command that was parsed.
pub(super) fn run(parsed: Arguments, command: String, output: &mut Output) -> CliResult {
    let mut session = Session::new(parsed.global, command, output);
    let result = dispatch(parsed.command, &mut session);
    result.map_err(|failure| session.explain(failure))
}

/// What adds the arguments or verbs of a command to it.
pub(super) type Describe = fn(clap::Command) -> clap::Command;

/// Generates, from the list of commands, the enum for the parser, the lookup of a command by its
/// name (describing all of them to clap takes longer than most of them run), and the dispatch.
macro_rules! commands {
    (|$session:ident, $given:ident| $($(#[$option:meta])* $(if $feature:literal,)?
        $name:literal $(| $alias:literal)? => $variant:ident($args:ty): $run:expr,)*) => {
        #[derive(Clone, Debug, Subcommand)]
        #[command(defer = true)]
        pub(in crate::adapters) enum Command {
            $($(#[cfg(feature = $feature)])? $(#[$option])*
            #[command(name = $name $(, visible_alias = $alias)?)]
            $variant($args),)*
        }

        /// The command that a word names, not described yet, and what describes it.
        pub(super) fn named(word: &OsStr) -> Option<(clap::Command, Describe)> {
            $($(#[cfg(feature = $feature)])? {
                if word == $name $(|| word == $alias)? {
                    let command = clap::Command::new($name) $(.visible_alias($alias))?;
                    return Some((command, <$args as clap::Args>::augment_args));
                }
            })*
            None
        }

        /// Runs a command in a session.
        #[allow(unused_variables, reason = "some commands have no arguments")]
        pub(super) fn dispatch(command: Command, $session: &mut Session<'_>) -> CliResult {
            match command {
                $($(#[cfg(feature = $feature)])? Command::$variant($given) => $run,)*
            }
        }
    };
}

commands! {
    |session, args|
    "init" => Init(init::Args): init::run(session, args),
    "adopt" => Adopt(adopt::Args): adopt::run(session, &args),
    "status" => Status(status::Args): status::run(session, &args),
    "brief" => Brief(brief::Args): brief::run(session, &args),
    "show" => Show(show::Args): show::run(session, &args),
    "state" => State(state::Args): state::run(session, &args),
    "import" => Import(init::ImportArgs): init::import(session, &args),
    "metrics" => Metrics(metrics::Args): metrics::run(session, &args),
    "report" => Report(report::Args): report::run(session, &args),
    "plan" => Plan(Verbs<plan::Verb>): plan::run(session, &args.verb),
    "step" => Step(Verbs<step::Verb>): step::run(session, args.verb),
    "context" => Context(Verbs<context::Verb>): context::run(session, args.verb),
    "var" | "variables" => Var(Verbs<var::Verb>): var::run(session, args.verb),
    "history" => History(Verbs<history::Verb>): history::run(session, args.verb),
    "turn" => Turn(Verbs<turn::Verb>): turn::run(session, args.verb),
    "memory" => Memory(memory::Args): memory::run(session, &args),
    "constraint" | "constraints" => Constraint(Verbs<constraint::Verb>): constraint::run(session, args.verb),
    "directive" => Directive(Verbs<directive::Verb>): directive::run(session, args.verb),
    "rule" => Rule(Verbs<rule::Verb>): rule::run(session, args.verb),
    "event" => Event(Verbs<event::Verb>): event::run(session, args.verb),
    "review" => Review(Verbs<review::Verb>): review::run(session, args.verb),
    "pause" => Pause(plan::PauseArgs): plan::pause(session, args),
    "resume" => Resume(plan::ResumeArgs): plan::resume(session),
    "apply" => Apply(apply::Args): apply::run(session, &args),
    "check" => Check(check::Args): check::run(session, &args),
    "migrate" => Migrate(migrate::Args): migrate::run(session),
    "recover" => Recover(recover::Args): recover::run(session, &args),
    "scan" => Scan(scan::Args): scan::run(session, &args),
    "checkpoint" => Checkpoint(Verbs<checkpoint::Verb>): checkpoint::run(session, args.verb),
    "restore" => Restore(checkpoint::RestoreArgs): checkpoint::restore(session, args),
    "undo" => Undo(undo::UndoArgs): undo::undo(session),
    "redo" => Redo(undo::RedoArgs): undo::redo(session),
    "op" => Op(Verbs<op::Verb>): op::run(session, args.verb),
    "diff" => Diff(diff::Args): diff::run(session, &args),
    "merge" => Merge(merge::Args): merge::run(session, &args),
    #[command(hide = true)]
    "merge-driver" => MergeDriver(merge::DriverArgs): merge::drive_merge(session, &args),
    "git" => Git(Verbs<git::Verb>): git::run(session, args.verb),
    "commit" => Commit(commit::Args): commit::run(session, args),
    "worktree" => Worktree(Verbs<worktree::Verb>): worktree::run(session, args.verb),
    "review-notes" => ReviewNotes(review_notes::Args): review_notes::run(session, &args),
    "trust" => Trust(trust::Args): trust::run(session, &args),
    "gc" => Gc(gc::Args): gc::run(session, &args),
    "archive" => Archive(archive::Args): archive::run(session, args),
    "watch" => Watch(watch::Args): watch::run(session, &args),
    if "fleet", "fleet" => Fleet(Verbs<fleet::Verb>): fleet::run(session, args.verb),
    "board" => Board(board::Args): board::run(session, &args),
    "web" => Web(web::Args): web::run(session, &args),
    "hook" => Hook(hook::Args): hook::run(session, &args),
    "setup" => Setup(setup::Args): setup::run(session, args),
    "mcp" => Mcp(mcp::Args): mcp::run(session, &args),
    "schema" => Schema(reference::SchemaArgs): reference::schema(session, &args),
    "completions" => Completions(reference::CompletionsArgs): reference::completions(session, &args),
    "man" => Man(reference::ManArgs): reference::man(session, &args),
}
