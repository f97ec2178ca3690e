//! Idioms that count: `2+ consecutive steps fail`, `more than half of the steps failed`.

use winnow::{
    Parser,
    combinator::{alt, opt},
};

use crate::{
    domain::FactValue,
    rules::{
        Condition, Op, Operand,
        parse::{
            idiom::{FAILS, SKIPPED, SUCCEEDS},
            operand::{amount, number},
            operator::{Relation, Verb, comparative, relation},
            phrase::{Input, Parsed, any_phrase, backtrack, mark, phrase, skip_words},
            phrases::{Phrases, phrases},
        },
    },
};

pub(in crate::rules) const IN_A_ROW: &Phrases = phrases![
    "in a row", "consecutively", "in succession", "one after another", "back to back",
    "in sequence", "straight",
];
const CONSECUTIVE: &Phrases = phrases!["consecutive", "successive", "back to back", "straight"];
/// Failures of any step, several of one among them.
const FAILURES: &Phrases =
    phrases!["failures", "failure", "step failures", "step failure", "errors"];
const FAILED_STEPS: &Phrases = phrases!["failed steps", "failed step", "failing steps"];
const ATTEMPTS: &Phrases = phrases![
    "attempts",
    "attempt",
    "failed attempts",
    "failed attempt",
    "unsuccessful attempts",
    "failed tries",
    "tries",
];
const STEPS: &Phrases = phrases!["steps", "step", "of the steps", "of steps", "tasks"];
const EXIST: &Phrases =
    phrases!["occur", "happen", "occurred", "happened", "exist", "are seen", "in total"];

/// How many, and how exactly.
struct Quantity {
    op: Op,
    amount: Amount,
}

enum Amount {
    Count(f64),
    /// A percentage of all steps.
    Share(f64),
}

/// `2+ consecutive steps fail`, `two or more failures in a row`, `more than 3 steps failed`
pub(in crate::rules) fn counted(input: &mut Input<'_>) -> Parsed<Condition> {
    let _ = opt(any_phrase(phrases![
        "there are", "there is", "there were", "there have been", "we have", "we see",
    ]))
    .parse_next(input)?;
    let quantity = quantity(input)?;
    skip_words(input, &["the"]);
    let consecutive = opt(any_phrase(CONSECUTIVE)).parse_next(input)?.is_some();
    if consecutive {
        alt((
            (any_phrase(STEPS), any_phrase(FAILS)).void(),
            any_phrase(FAILURES).void(),
            any_phrase(FAILED_STEPS).void(),
        ))
        .parse_next(input)?;
        let _ = opt(any_phrase(EXIST)).parse_next(input)?;
        return quantity.compare_with("consecutive_failures", input);
    }
    let fact = alt((steps_that, countable)).parse_next(input)?;
    let row = opt(any_phrase(IN_A_ROW)).parse_next(input)?.is_some();
    let _ = opt(any_phrase(EXIST)).parse_next(input)?;
    match (row, fact) {
        (false, fact) => quantity.compare_with(fact, input),
        (true, "failed_steps" | "failures") => quantity.compare_with("consecutive_failures", input),
        (true, _) => backtrack(input),
    }
}

/// `more than $5 is spent`, `80% of the budget is used`, `10 minutes have passed`
pub(in crate::rules) fn measured(input: &mut Input<'_>) -> Parsed<Condition> {
    let is_rest = opt(any_phrase(phrases!["only", "just"])).parse_next(input)?.is_some();
    let op = opt(comparative).parse_next(input)?;
    let amount = amount(input)?;
    let op = match (op, opt(or_more).parse_next(input)?) {
        (Some(op), None) | (None, Some(op)) => Some(op),
        (None, None) => None,
        (Some(_), Some(_)) => return backtrack(input),
    };
    let at_least = op.unwrap_or(Op::AtLeast);
    let passed = phrases![
        "pass", "passes", "passed", "have passed", "has passed", "elapse", "elapsed",
        "have elapsed", "go by", "have gone by",
    ];
    let spent = phrases![
        "is spent", "are spent", "spent", "was spent", "has been spent", "have been spent",
        "is used", "used", "has been used", "is consumed", "has been consumed", "is gone",
    ];
    let left = phrases!["is left", "remains", "remain", "is remaining", "left", "remaining"];
    match amount {
        // `only 5 minutes have passed` says the contrary.
        FactValue::Duration(_) | FactValue::Money(_) if is_rest => backtrack(input),
        FactValue::Duration(_) => {
            any_phrase_in(passed, input)?;
            Ok(Condition::compare("execution_time", at_least, amount))
        }
        FactValue::Money(_) => {
            any_phrase_in(spent, input)?;
            Ok(Condition::compare("cost", at_least, amount))
        }
        FactValue::Percent(percent) => {
            alt((phrase("of"), phrase("the"))).parse_next(input)?;
            skip_words(input, &["the", "our", "total"]);
            phrase("budget").parse_next(input)?;
            if any_phrase_in(left, input).is_ok() {
                // It only gets less: `20% is left` is when no more is.
                return Ok(left_of_budget(op.unwrap_or(Op::AtMost), percent));
            }
            if is_rest {
                return backtrack(input);
            }
            any_phrase_in(spent, input)?;
            let with = Operand::Share { percent, of: "budget".to_owned() };
            Ok(Condition::Compare { fact: "cost".to_owned(), op: at_least, with })
        }
        _ => backtrack(input),
    }
}

/// `the remaining budget is below 20%`, `budget left <= 20%`
pub(in crate::rules) fn remaining_budget(input: &mut Input<'_>) -> Parsed<Condition> {
    skip_words(input, &["the", "our"]);
    any_phrase(phrases!["remaining budget", "budget left", "budget remaining"])
        .parse_next(input)?;
    let op = match relation(input)? {
        Relation { verb: Verb::Compare(op), negated: false } => op,
        Relation { verb: Verb::FallsTo, negated: false } => Op::AtMost,
        _ => return backtrack(input),
    };
    match amount(input)? {
        FactValue::Percent(percent) => Ok(left_of_budget(op, percent)),
        _ => backtrack(input),
    }
}

/// So much of the budget is left, as what was spent.
fn left_of_budget(op: Op, percent: f64) -> Condition {
    let with = Operand::Share { percent: 100.0 - percent, of: "budget".to_owned() };
    Condition::Compare { fact: "cost".to_owned(), op: op.mirrored(), with }
}

/// `the last 3 steps failed`, `the last three steps have all failed`
pub(in crate::rules) fn last_steps(input: &mut Input<'_>) -> Parsed<Condition> {
    any_phrase(phrases!["the last", "the previous", "the latest"]).parse_next(input)?;
    let count = number(input)?;
    any_phrase(phrases!["steps"]).parse_next(input)?;
    let _ = opt(any_phrase(phrases!["all", "have all"])).parse_next(input)?;
    any_phrase(FAILS).parse_next(input)?;
    Ok(Condition::compare_count("consecutive_failures", Op::AtLeast, count))
}

/// `all steps complete`, `every step failed`
pub(in crate::rules) fn all_steps(input: &mut Input<'_>) -> Parsed<Condition> {
    any_phrase(phrases!["all", "all the", "all of the", "every"]).parse_next(input)?;
    any_phrase(phrases!["steps", "step", "tasks"]).parse_next(input)?;
    if opt(any_phrase(FAILS)).parse_next(input)?.is_some() {
        let with = Operand::Fact("total_steps".to_owned());
        return Ok(Condition::all(vec![
            Condition::Compare { fact: "failed_steps".to_owned(), op: Op::AtLeast, with },
            Condition::compare_count("total_steps", Op::Above, 0.0),
        ]));
    }
    any_phrase(SUCCEEDS).parse_next(input)?;
    Ok(Condition::compare("progress", Op::AtLeast, FactValue::Percent(100.0)))
}

impl Quantity {
    fn compare_with(self, fact: &str, input: &Input<'_>) -> Parsed<Condition> {
        match self.amount {
            Amount::Count(count) => Ok(Condition::compare_count(fact, self.op, count)),
            Amount::Share(percent) if fact.ends_with("_steps") => {
                let with = Operand::Share { percent, of: "total_steps".to_owned() };
                Ok(Condition::Compare { fact: fact.to_owned(), op: self.op, with })
            }
            Amount::Share(_) => backtrack(input),
        }
    }
}

/// A count on its own means at least that many: the condition stays true when there are more.
fn quantity(input: &mut Input<'_>) -> Parsed<Quantity> {
    let before = opt(comparative).parse_next(input)?;
    if before.is_none() && opt(any_phrase(phrases!["no", "none"])).parse_next(input)?.is_some() {
        return Ok(Quantity { op: Op::Equal, amount: Amount::Count(0.0) });
    }
    let amount =
        alt((percentage.map(Amount::Share), number.map(Amount::Count))).parse_next(input)?;
    let after = opt(or_more).parse_next(input)?;
    let (none, negative) = match &amount {
        Amount::Count(count) => (*count == 0.0, *count < 0.0),
        Amount::Share(percent) => (*percent == 0.0, *percent < 0.0),
    };
    let op = match (before, after) {
        _ if negative => return backtrack(input),
        (Some(op), None) | (None, Some(op)) => op,
        (None, None) if none => Op::Equal,
        (None, None) => Op::AtLeast,
        (Some(_), Some(_)) => return backtrack(input),
    };
    if matches!(amount, Amount::Share(_)) {
        let _ = opt(phrase("of")).parse_next(input)?;
    }
    Ok(Quantity { op, amount })
}

fn percentage(input: &mut Input<'_>) -> Parsed<f64> {
    match amount(input)? {
        FactValue::Percent(percent) => Ok(percent),
        _ => backtrack(input),
    }
}

pub(in crate::rules) fn or_more(input: &mut Input<'_>) -> Parsed<Op> {
    alt((
        mark('+').value(Op::AtLeast),
        any_phrase(phrases!["or more", "or greater", "or higher", "and more"]).value(Op::AtLeast),
        any_phrase(phrases!["or fewer", "or less", "or lower"]).value(Op::AtMost),
    ))
    .parse_next(input)
}

/// `steps fail`, `steps in a row fail`, `steps are skipped`
fn steps_that(input: &mut Input<'_>) -> Parsed<&'static str> {
    any_phrase(STEPS).parse_next(input)?;
    if opt(any_phrase(IN_A_ROW)).parse_next(input)?.is_some() {
        any_phrase(FAILS).parse_next(input)?;
        return Ok("consecutive_failures");
    }
    alt((
        any_phrase(FAILS).value("failed_steps"),
        any_phrase(SUCCEEDS).value("completed_steps"),
        any_phrase(SKIPPED).value("skipped_steps"),
    ))
    .parse_next(input)
}

fn countable(input: &mut Input<'_>) -> Parsed<&'static str> {
    let thing = alt((
        any_phrase(FAILED_STEPS).value("failed_steps"),
        any_phrase(FAILURES).value("failures"),
        any_phrase(phrases!["completed steps", "finished steps"]).value("completed_steps"),
        any_phrase(phrases!["skipped steps"]).value("skipped_steps"),
        any_phrase(phrases!["file operations", "file operation"]).value("file_operations"),
        any_phrase(phrases!["web requests", "web request"]).value("web_requests"),
        any_phrase(ATTEMPTS).value("step_failures"),
    ))
    .parse_next(input)?;
    let _ = opt(any_phrase(phrases![
        "are made", "were made", "have been made", "are used", "were used", "have been used",
        "made", "used", "happen",
    ]))
    .parse_next(input)?;
    Ok(thing)
}

fn any_phrase_in(phrases: &'static Phrases, input: &mut Input<'_>) -> Parsed<()> {
    any_phrase(phrases).void().parse_next(input)
}
