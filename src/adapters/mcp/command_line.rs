//! The command lines that calls of tools mean.

use super::{
    arguments::{Arguments, usage},
    kind::Shape,
};
use crate::adapters::cli::in_process::CommandAnswer;

/// A part of a pattern.
enum Part<'p> {
    Word(&'p str),
    Option {
        option: &'p str,
        name: &'p str,
    },
    /// An argument by its place.
    Placed {
        name: &'p str,
        is_needed: bool,
        /// What stands there if only a later one is given.
        default: Option<&'p str>,
    },
}

/// The parts of a pattern such as `rule explain <number> --event=type [fields]`.
fn parts(pattern: &str) -> impl Iterator<Item = Part<'_>> {
    pattern.split(' ').map(|word| {
        if let Some(option) = word.strip_prefix("--") {
            let (option, name) = option.split_once('=').unwrap_or((option, option));
            return Part::Option { option, name };
        }
        let Some(name) = word.strip_prefix(['<', '[']) else { return Part::Word(word) };
        let name = name.trim_end_matches(['>', ']']);
        let (name, default) = match name.split_once('=') {
            Some((name, default)) => (name, Some(default)),
            None => (name, None),
        };
        Part::Placed { name, is_needed: word.starts_with('<'), default }
    })
}

/// The names of the arguments in a pattern.
pub(super) fn arguments(pattern: &str) -> impl Iterator<Item = &str> {
    parts(pattern).filter_map(|part| match part {
        Part::Word(_) => None,
        Part::Option { name, .. } | Part::Placed { name, .. } => Some(name),
    })
}

/// The words of the command line; what an argument says can be no option.
///
/// # Errors
/// An argument is missing, is of a wrong kind, or is not one of the pattern's.
pub(super) fn words(
    pattern: &str,
    shapes: &[(&str, Shape)],
    given: &Arguments,
) -> Result<Vec<String>, CommandAnswer> {
    given.refuse_others(&arguments(pattern).collect::<Vec<_>>())?;
    let shape = |name: &str| shapes.iter().find(|(known, _)| *known == name).map(|(_, one)| *one);
    let values = |name: &str| match shape(name) {
        Some(Shape::Object) => given.pairs(name, true),
        Some(Shape::Texts) => given.pairs(name, false),
        Some(Shape::Whole) => given.whole_number(name).map(Vec::from_iter),
        _ => given.text(name).map(Vec::from_iter),
    };
    let (mut words, mut placed, mut absent) = (Vec::new(), Vec::new(), None);
    for part in parts(pattern) {
        match part {
            Part::Word(word) => words.push(word.to_owned()),
            Part::Option { option, name } if matches!(shape(name), Some(Shape::Flag)) => {
                words.extend(given.flag(name)?.then(|| format!("--{option}")));
            }
            Part::Option { option, name } => {
                let option = option.replace('_', "-");
                words.extend(values(name)?.into_iter().map(|value| format!("--{option}={value}")));
            }
            Part::Placed { name, is_needed, default } => {
                let values = values(name)?;
                if values.is_empty() && is_needed {
                    return Err(usage(format!("`{name}` is missing")));
                }
                match values.is_empty() {
                    true => absent = default,
                    false => placed.extend(absent.take().map(str::to_owned)),
                }
                placed.extend(values);
            }
        }
    }
    if !placed.is_empty() {
        words.push("--".to_owned());
    }
    words.extend(placed);
    Ok(words)
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
