//! The requests of the command line that tools make.

use clap::ValueEnum as _;

use super::arguments::Arguments;
use crate::adapters::cli::{
    commands::{
        brief, check, checkpoint, constraint, context, diff, directive, history, init, op, plan,
        recover, review, rule, show, status, step, undo, var,
    },
    in_process::{CommandAnswer, Request, Verbs, defaults},
};

type Requested = Result<Request, CommandAnswer>;

pub(super) fn brief(args: &Arguments) -> Requested {
    let usual: brief::Args = defaults();
    Ok(Request::Brief(brief::Args {
        max_tokens: args.whole_number("max_tokens")?.unwrap_or(usual.max_tokens),
        step: args.text("for")?,
        since: args.text("since")?,
        ..usual
    }))
}

pub(super) fn status(_: &Arguments) -> Requested {
    Ok(Request::Status(status::Args {}))
}

pub(super) fn init(args: &Arguments) -> Requested {
    let usual: init::Args = defaults();
    let mode = args.parsed("mode", |text| init::ModeArg::from_str(text, true))?;
    Ok(Request::Init(init::Args {
        goal: args.text("goal")?,
        title: args.text("title")?,
        mode: mode.unwrap_or(usual.mode),
        set: args.pairs("set")?,
        ..usual
    }))
}

pub(super) fn resume(_: &Arguments) -> Requested {
    Ok(Request::Resume(plan::ResumeArgs {}))
}

pub(super) fn check(_: &Arguments) -> Requested {
    Ok(Request::Check(check::Args { fix: false, strict: false }))
}

pub(super) fn show(args: &Arguments) -> Requested {
    let file = args.required("file")?;
    Ok(Request::Show(show::Args { file, section: args.text("section")? }))
}

fn step(verb: step::Verb) -> Requested {
    Ok(Request::Step(Verbs { verb }))
}

pub(super) fn step_next(args: &Arguments) -> Requested {
    step(step::Verb::Next { claim: args.flag("claim")? })
}

pub(super) fn step_show(args: &Arguments) -> Requested {
    step(step::Verb::Show { step: args.text("step")?, resolved: args.flag("resolved")? })
}

pub(super) fn step_list(args: &Arguments) -> Requested {
    let limit = args.whole_number("limit")?.unwrap_or(step::LIST_LIMIT);
    step(step::Verb::List {
        status: args.text("status")?,
        claimed_by: args.text("claimed_by")?,
        fields: args.texts("where")?,
        limit,
    })
}

pub(super) fn context_show(args: &Arguments) -> Requested {
    let verb = context::Verb::Show { section: args.text("section")? };
    Ok(Request::Context(Verbs { verb }))
}

pub(super) fn var_get(args: &Arguments) -> Requested {
    Ok(Request::Var(Verbs { verb: var::Verb::Get { path: args.text("path")? } }))
}

fn history(verb: history::Verb) -> Requested {
    Ok(Request::History(Verbs { verb }))
}

pub(super) fn history_list(args: &Arguments) -> Requested {
    let limit = args.whole_number("limit")?.unwrap_or(history::LIST_LIMIT);
    history(history::Verb::List { limit })
}

pub(super) fn history_search(args: &Arguments) -> Requested {
    let limit = args.whole_number("limit")?.unwrap_or(history::SEARCH_LIMIT);
    history(history::Verb::Search { text: args.required("text")?, limit })
}

pub(super) fn history_verify(_: &Arguments) -> Requested {
    history(history::Verb::Verify)
}

fn constraint(verb: constraint::Verb) -> Requested {
    Ok(Request::Constraint(Verbs { verb }))
}

pub(super) fn constraint_list(_: &Arguments) -> Requested {
    constraint(constraint::Verb::List)
}

pub(super) fn constraint_get(args: &Arguments) -> Requested {
    constraint(constraint::Verb::Get { name: args.required("name")? })
}

pub(super) fn directive_list(_: &Arguments) -> Requested {
    Ok(Request::Directive(Verbs { verb: directive::Verb::List }))
}

fn rule(verb: rule::Verb) -> Requested {
    Ok(Request::Rule(Verbs { verb }))
}

pub(super) fn rule_list(_: &Arguments) -> Requested {
    rule(rule::Verb::List)
}

pub(super) fn rule_check(_: &Arguments) -> Requested {
    rule(rule::Verb::Check)
}

pub(super) fn rule_explain(args: &Arguments) -> Requested {
    rule(rule::Verb::Explain {
        rule: args.required_whole("number")?,
        event: args.text("type")?,
        fields: args.pairs("fields")?,
    })
}

pub(super) fn rule_test(args: &Arguments) -> Requested {
    rule(rule::Verb::Test {
        event: args.required("type")?,
        fields: args.pairs("fields")?,
        times: args.whole_number("times")?.unwrap_or(1),
    })
}

fn checkpoint(verb: checkpoint::Verb) -> Requested {
    Ok(Request::Checkpoint(Verbs { verb }))
}

pub(super) fn checkpoint_create(args: &Arguments) -> Requested {
    let (name, message) = (args.text("name")?, args.text("message")?);
    checkpoint(checkpoint::Verb::Create { name, message })
}

pub(super) fn checkpoint_list(args: &Arguments) -> Requested {
    let limit = args.whole_number("limit")?.unwrap_or(checkpoint::LIST_LIMIT);
    checkpoint(checkpoint::Verb::List { limit })
}

pub(super) fn checkpoint_show(args: &Arguments) -> Requested {
    checkpoint(checkpoint::Verb::Show { name: args.required("name")? })
}

pub(super) fn checkpoint_restore(args: &Arguments) -> Requested {
    let files = |text: &str| text.split(',').map(checkpoint::file).collect();
    checkpoint(checkpoint::Verb::Restore(checkpoint::RestoreArgs {
        target: args.required("name")?,
        only: args.parsed("only", files)?.unwrap_or_default(),
        rewind: args.flag("rewind")?,
    }))
}

pub(super) fn checkpoint_delete(args: &Arguments) -> Requested {
    checkpoint(checkpoint::Verb::Delete { name: args.required("name")? })
}

pub(super) fn undo(_: &Arguments) -> Requested {
    Ok(Request::Undo(undo::UndoArgs {}))
}

pub(super) fn redo(_: &Arguments) -> Requested {
    Ok(Request::Redo(undo::RedoArgs {}))
}

pub(super) fn op_log(args: &Arguments) -> Requested {
    let limit = args.whole_number("limit")?.unwrap_or(op::LOG_LIMIT);
    Ok(Request::Op(Verbs { verb: op::Verb::Log { limit } }))
}

pub(super) fn diff(args: &Arguments) -> Requested {
    let (from, to) = (args.text("from")?, args.text("to")?);
    Ok(Request::Diff(diff::Args { from, to, ..defaults() }))
}

/// A program that decides runs only when the user names it, so it is not offered here.
pub(super) fn recover(args: &Arguments) -> Requested {
    Ok(Request::Recover(recover::Args {
        decide: args.parsed("decide", recover::action)?,
        step: args.text("step")?,
        apply: args.flag("apply")?,
        ..defaults()
    }))
}

pub(super) fn review_list(args: &Arguments) -> Requested {
    Ok(Request::Review(Verbs { verb: review::Verb::List { all: args.flag("all")? } }))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::{tools, worker::Work};
    use crate::adapters::{cli::in_process::request, split_words};

    /// The request that a call makes.
    fn called(tool: &str, arguments: Value) -> String {
        let Value::Object(arguments) = arguments else { panic!("{arguments}") };
        match tools::find(tool).unwrap().work(arguments) {
            Ok((Work::Run(request), _)) => format!("{request:?}"),
            other => panic!("{other:?}"),
        }
    }

    /// The tool, its arguments, and the command line that means the same.
    const CALLS: &str = r#"
brief | {} | brief
brief | { "max_tokens": 500, "for": 3, "since": "@-2" } | brief --max-tokens 500 --for 3 --since @-2
status | {} | status
plan | { "verb": "init", "goal": "g" } | init --goal g
plan | { "verb": "init", "title": "- t", "mode": "SIMULATION", "set": { "a": 1 } } | init '--title=- t' --mode simulation --set a=1
plan | { "verb": "resume" } | resume
plan | { "verb": "check" } | check
plan | { "verb": "show", "file": "plan", "section": "S" } | show plan --section S
step | { "verb": "next" } | step next
step | { "verb": "next", "claim": true } | step next --claim
step | { "verb": "show", "step": 3, "resolved": true } | step show 3 --resolved
step | { "verb": "list" } | step list
step | { "verb": "list", "status": "FAILED", "limit": "5" } | step list --status FAILED --limit 5
context | { "verb": "show" } | context show
variables | { "verb": "get", "path": "a" } | var get a
history | { "verb": "list" } | history list
history | { "verb": "search", "text": "x" } | history search x
history | { "verb": "verify" } | history verify
adapt | { "verb": "constraint.list" } | constraint list
adapt | { "verb": "constraint.get", "name": "n" } | constraint get n
adapt | { "verb": "directive.list" } | directive list
adapt | { "verb": "rule.list" } | rule list
adapt | { "verb": "rule.check" } | rule check
adapt | { "verb": "rule.explain", "number": 1, "type": "t", "fields": { "a": 1 } } | rule explain 1 --event t a=1
adapt | { "verb": "rule.test", "type": "t" } | rule test t
checkpoint | { "verb": "create" } | checkpoint create
checkpoint | { "verb": "create", "name": "n", "message": "m" } | checkpoint create n --message m
checkpoint | { "verb": "list" } | checkpoint list
checkpoint | { "verb": "show", "name": "n" } | checkpoint show n
checkpoint | { "verb": "restore", "name": "n", "only": "plan,context", "rewind": true } | checkpoint restore n --only plan,context --rewind
checkpoint | { "verb": "delete", "name": "n" } | checkpoint delete n
checkpoint | { "verb": "undo" } | undo
checkpoint | { "verb": "redo" } | redo
checkpoint | { "verb": "log" } | op log
checkpoint | { "verb": "diff", "from": "@-2" } | diff @-2
checkpoint | { "verb": "recover" } | recover
checkpoint | { "verb": "recover", "decide": "retry_task", "step": 2, "apply": true } | recover --decide retry_task --step 2 --apply
review | { "verb": "list", "all": true } | review list --all
"#;

    #[test]
    fn a_call_makes_the_request_that_the_command_line_makes() {
        for call in CALLS.lines().skip(1) {
            let [tool, arguments, line] =
                call.split(" | ").collect::<Vec<_>>().try_into().expect(call);
            let words = split_words(line).unwrap();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            assert_eq!(
                called(tool, serde_json::from_str(arguments).unwrap()),
                format!("{:?}", request(&words).unwrap()),
                "{call}"
            );
        }
    }

    #[test]
    fn text_is_never_taken_for_an_option_and_keeps_its_kind() {
        let arguments = json!({ "verb": "rule.test", "type": "--help", "times": 2,
            "fields": { "a": "42", "b": 42, "c": "x y", "d": "-" } });
        let line =
            ["rule", "test", "--times=2", "--", "--help", "a=\"42\"", "b=42", "c=x y", "d=-"];
        assert_eq!(called("adapt", arguments), format!("{:?}", request(&line).unwrap()));
    }
}
