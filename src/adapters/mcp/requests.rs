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
    use crate::adapters::cli::in_process::request;

    /// The request that a call makes.
    fn called(tool: &str, arguments: Value) -> String {
        let Value::Object(arguments) = arguments else { panic!("{arguments}") };
        match tools::find(tool).unwrap().work(arguments) {
            Ok((Work::Run(request), _)) => format!("{request:?}"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_call_makes_the_request_that_the_command_line_makes() {
        for (tool, arguments, line) in [
            ("brief", json!({}), vec!["brief"]),
            (
                "brief",
                json!({ "max_tokens": 500, "for": 3, "since": "@-2" }),
                vec!["brief", "--max-tokens", "500", "--for", "3", "--since", "@-2"],
            ),
            ("status", json!({}), vec!["status"]),
            ("plan", json!({ "verb": "init", "goal": "g" }), vec!["init", "--goal", "g"]),
            (
                "plan",
                json!({ "verb": "init", "title": "- t", "mode": "SIMULATION", "set": { "a": 1 } }),
                vec!["init", "--title=- t", "--mode", "simulation", "--set", "a=1"],
            ),
            ("plan", json!({ "verb": "resume" }), vec!["resume"]),
            ("plan", json!({ "verb": "check" }), vec!["check"]),
            (
                "plan",
                json!({ "verb": "show", "file": "plan", "section": "S" }),
                vec!["show", "plan", "--section", "S"],
            ),
            ("step", json!({ "verb": "next" }), vec!["step", "next"]),
            ("step", json!({ "verb": "next", "claim": true }), vec!["step", "next", "--claim"]),
            (
                "step",
                json!({ "verb": "show", "step": 3, "resolved": true }),
                vec!["step", "show", "3", "--resolved"],
            ),
            ("step", json!({ "verb": "list" }), vec!["step", "list"]),
            (
                "step",
                json!({ "verb": "list", "status": "FAILED", "limit": "5" }),
                vec!["step", "list", "--status", "FAILED", "--limit", "5"],
            ),
            ("context", json!({ "verb": "show" }), vec!["context", "show"]),
            ("variables", json!({ "verb": "get", "path": "a" }), vec!["var", "get", "a"]),
            ("history", json!({ "verb": "list" }), vec!["history", "list"]),
            ("history", json!({ "verb": "search", "text": "x" }), vec!["history", "search", "x"]),
            ("history", json!({ "verb": "verify" }), vec!["history", "verify"]),
            ("adapt", json!({ "verb": "constraint.list" }), vec!["constraint", "list"]),
            (
                "adapt",
                json!({ "verb": "constraint.get", "name": "n" }),
                vec!["constraint", "get", "n"],
            ),
            ("adapt", json!({ "verb": "directive.list" }), vec!["directive", "list"]),
            ("adapt", json!({ "verb": "rule.list" }), vec!["rule", "list"]),
            ("adapt", json!({ "verb": "rule.check" }), vec!["rule", "check"]),
            (
                "adapt",
                json!({ "verb": "rule.explain", "number": 1, "type": "t", "fields": { "a": 1 } }),
                vec!["rule", "explain", "1", "--event", "t", "a=1"],
            ),
            ("adapt", json!({ "verb": "rule.test", "type": "t" }), vec!["rule", "test", "t"]),
            ("checkpoint", json!({ "verb": "create" }), vec!["checkpoint", "create"]),
            (
                "checkpoint",
                json!({ "verb": "create", "name": "n", "message": "m" }),
                vec!["checkpoint", "create", "n", "--message", "m"],
            ),
            ("checkpoint", json!({ "verb": "list" }), vec!["checkpoint", "list"]),
            ("checkpoint", json!({ "verb": "show", "name": "n" }), vec!["checkpoint", "show", "n"]),
            (
                "checkpoint",
                json!({ "verb": "restore", "name": "n", "only": "plan,context", "rewind": true }),
                vec!["checkpoint", "restore", "n", "--only", "plan,context", "--rewind"],
            ),
            (
                "checkpoint",
                json!({ "verb": "delete", "name": "n" }),
                vec!["checkpoint", "delete", "n"],
            ),
            ("checkpoint", json!({ "verb": "undo" }), vec!["undo"]),
            ("checkpoint", json!({ "verb": "redo" }), vec!["redo"]),
            ("checkpoint", json!({ "verb": "log" }), vec!["op", "log"]),
            ("checkpoint", json!({ "verb": "diff", "from": "@-2" }), vec!["diff", "@-2"]),
            ("checkpoint", json!({ "verb": "recover" }), vec!["recover"]),
            (
                "checkpoint",
                json!({ "verb": "recover", "decide": "retry_task", "step": 2, "apply": true }),
                vec!["recover", "--decide", "retry_task", "--step", "2", "--apply"],
            ),
            ("review", json!({ "verb": "list", "all": true }), vec!["review", "list", "--all"]),
        ] {
            assert_eq!(
                called(tool, arguments),
                format!("{:?}", request(&line).unwrap()),
                "{line:?}"
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
