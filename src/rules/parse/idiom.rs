//! English idioms as sugar over comparisons: `a step fails`, `the user is frustrated`.

use winnow::{
    Parser,
    combinator::{alt, opt},
    error::ErrMode,
    stream::Stream,
};

use crate::{
    domain::{FactValue, PlanRole, nearest::nearest},
    rules::{
        Condition, Op, Operand, RuleError,
        parse::{
            comparison::alternatives,
            idiom_count::{self, IN_A_ROW, or_more},
            lexer::{Kind, Token},
            operand::{amount, listed_value, named_value, number},
            operator::comparative,
            phrase::{
                Input, Parsed, any_phrase, at_end, backtrack, cut, next, peek_word, phrase,
                skip_words, span_to_end,
            },
            phrases::{Phrases, phrases, spelled},
            vocabulary::{Fact, FactType, fact_type},
        },
    },
};

pub(in crate::rules) const STEP_FAILED: &str = "step_failed";
pub(in crate::rules) const FAILS: &Phrases = phrases![
    "fail", "fails", "failed", "failing", "has failed", "have failed", "is failing", "are failing",
    "is failed", "are failed",
];
pub(in crate::rules) const SUCCEEDS: &Phrases = phrases![
    "complete",
    "completes",
    "completed",
    "succeed",
    "succeeds",
    "succeeded",
    "finish",
    "finishes",
    "finished",
    "is complete",
    "is completed",
    "is done",
    "is finished",
    "are complete",
    "are completed",
    "are done",
    "are finished",
    "done",
    "has completed",
    "have completed",
    "have been completed",
    "has been completed",
    "has finished",
    "have finished",
    "has succeeded",
    "have succeeded",
    "were completed",
];
pub(in crate::rules) const SKIPPED: &Phrases = phrases![
    "is skipped", "are skipped", "was skipped", "were skipped", "gets skipped", "skipped",
    "has been skipped", "have been skipped",
];
const STARTS: &Phrases =
    phrases!["starts", "start", "begins", "begin", "is started", "has started", "started"];

const POSITIVE: [&str; 4] = ["positive", "pleased", "happy", "satisfied"];
const NEGATIVE: [&str; 4] = ["negative", "frustrated", "impatient", "unhappy"];

/// One sentence for each idiom, to find the nearest one to a sentence that is not understood.
pub(in crate::rules) const EXAMPLES: [&str; 24] = [
    "a step fails",
    "a step completes",
    "a step is skipped",
    "a step starts",
    "all steps complete",
    "all steps fail",
    "2+ consecutive steps fail",
    "2 or more consecutive failures",
    "more than 3 steps failed",
    "user provides positive feedback",
    "user provides negative feedback",
    "user is frustrated",
    "user is impatient",
    "the plan is paused",
    "an error occurs",
    "cost exceeds 80% of budget",
    "over budget",
    "repeated failures",
    "cost overrun",
    "time pressure",
    "slow execution",
    "time overrun",
    "positive feedback",
    "negative feedback",
];

/// Recognises any idiom that ends where a condition can end.
pub(in crate::rules) fn idiom(input: &mut Input<'_>) -> Parsed<Condition> {
    match compares(input) {
        true => backtrack(input),
        false => any_idiom(input),
    }
}

/// Whether the sentence begins like a comparison and like no idiom: none goes on with a symbol
/// after its first word, and none begins with a dotted name but `a.b event occurs`.
pub(in crate::rules) fn compares(input: &Input<'_>) -> bool {
    match input.get(..2) {
        Some([Token { kind: Kind::Word(_), .. }, Token { kind: Kind::Op(_), .. }]) => true,
        Some([Token { kind: Kind::Word(first), .. }, second]) => {
            first.contains('.') && spelled(&[*second], "event").is_none()
        }
        _ => false,
    }
}

/// The same without that glance.
pub(in crate::rules) fn any_idiom(input: &mut Input<'_>) -> Parsed<Condition> {
    let start = input.checkpoint();
    for parser in [
        label,
        idiom_count::counted,
        idiom_count::measured,
        idiom_count::remaining_budget,
        idiom_count::all_steps,
        idiom_count::last_steps,
        a_step,
        feedback,
        user,
        plan,
        budget,
        duration,
        event,
        task,
    ] {
        match parser(input) {
            Ok(condition) if at_end(input) => return Ok(condition),
            Ok(_) | Err(ErrMode::Backtrack(_)) => input.reset(&start),
            Err(error) => return Err(error),
        }
    }
    backtrack(input)
}

/// The idiom closest to a sentence.
pub(in crate::rules) fn nearest_phrase(given: &str) -> Option<&'static str> {
    nearest(given, EXAMPLES)
}

/// Titles that stand for a condition of their own.
fn label(input: &mut Input<'_>) -> Parsed<Condition> {
    let failures_and_budgets = alt((
        any_phrase(phrases![
            "repeated failures",
            "repeated failure",
            "repeated step failures",
            "multiple failures",
            "failures repeat",
        ])
        .map(|_| Condition::compare_count("consecutive_failures", Op::AtLeast, 2.0)),
        any_phrase(phrases!["step failure", "a step failure", "any step failure", "failure"])
            .map(|_| happened(STEP_FAILED)),
        any_phrase(phrases!["cost overrun", "cost overruns", "budget overrun", "budget exceeded"])
            .map(|_| against("cost", "budget")),
        any_phrase(phrases!["budget pressure", "cost pressure", "high cost", "high costs"])
            .map(|_| most_of("cost", "budget")),
        any_phrase(phrases!["time pressure", "slow execution", "execution is slow"])
            .map(|_| most_of("execution_time", "max_execution_time")),
        any_phrase(phrases!["time overrun", "timeout", "time limit exceeded"])
            .map(|_| against("execution_time", "max_execution_time")),
    ));
    let limits_and_moods = alt((
        any_phrase(phrases!["too many web requests", "web request limit exceeded"])
            .map(|_| against("web_requests", "max_web_requests")),
        any_phrase(phrases!["too many file operations", "file operation limit exceeded"])
            .map(|_| against("file_operations", "max_file_operations")),
        any_phrase(phrases!["user frustration", "frustrated user"])
            .map(|_| Condition::is_text("user_sentiment", "frustrated")),
        any_phrase(phrases!["user impatience", "impatient user"])
            .map(|_| Condition::is_text("user_sentiment", "impatient")),
    ));
    let condition = alt((failures_and_budgets, limits_and_moods)).parse_next(input)?;
    let _ = opt(any_phrase(phrases![
        "detected", "is detected", "noticed", "is noticed", "observed", "is observed", "arises",
        "occurs",
    ]))
    .parse_next(input)?;
    // A workflow of one's own may lack the modifier that a title speaks of.
    let workflow = input.state.workflow;
    let mut known = true;
    condition.visit_facts(&mut |name| known &= fact_type(name, workflow).is_some());
    if known { Ok(condition) } else { backtrack(input) }
}

/// `a step fails`, `the step is skipped`, `a step fails twice in a row`, `a step fails 3 times`
fn a_step(input: &mut Input<'_>) -> Parsed<Condition> {
    let mut last =
        opt(any_phrase(phrases!["the last step", "the previous step", "the latest step"]));
    if last.parse_next(input)?.is_some() {
        any_phrase(FAILS).parse_next(input)?;
        return Ok(Condition::compare_count("consecutive_failures", Op::AtLeast, 1.0));
    }
    skip_words(input, &["a", "any", "the", "this", "same", "current", "another"]);
    let noun = any_phrase(phrases!["step", "steps", "task"]).parse_next(input)?;
    let event = alt((
        any_phrase(FAILS).value(STEP_FAILED),
        any_phrase(SUCCEEDS).value("step_completed"),
        any_phrase(SKIPPED).value("step_skipped"),
        any_phrase(STARTS).value("step_started"),
    ))
    .parse_next(input)?;
    // `the task is complete` may speak of the whole plan.
    if noun == "task" && event != STEP_FAILED {
        return backtrack(input);
    }
    if event != STEP_FAILED || at_end(input) {
        return Ok(happened(event));
    }
    let place = *input;
    let op = opt(comparative).parse_next(input)?;
    let (times, more) = alt((
        (phrase("twice").value(2.0), opt(or_more)),
        (phrase("thrice").value(3.0), opt(or_more)),
        (number, opt(or_more), phrase("times")).map(|(times, more, ())| (times, more)),
    ))
    .parse_next(input)?;
    let op = op.or(more).unwrap_or(Op::AtLeast);
    if opt(any_phrase(IN_A_ROW)).parse_next(input)?.is_some() {
        return Ok(Condition::compare_count("consecutive_failures", op, times));
    }
    if noun == "steps" {
        let error = RuleError::new(span_to_end(&place), "is it one step or several? say which");
        return cut(error.with_nearest(Some(&format!("a step fails {times} times"))));
    }
    Ok(Condition::compare_count("step_failures", op, times))
}

/// `user provides positive feedback`, `negative feedback is received`, `feedback is positive`
fn feedback(input: &mut Input<'_>) -> Parsed<Condition> {
    skip_words(input, &["the", "a", "we", "user", "get", "receive", "there", "is"]);
    let _ = opt(any_phrase(phrases![
        "provides", "provide", "provided", "gives", "give", "gave", "sends", "sent", "leaves",
        "left", "offers", "submits", "submitted", "has given", "has provided",
    ]))
    .parse_next(input)?;
    skip_words(input, &["some", "any", "a", "user"]);
    let tone = || alt((phrase("positive").value(true), phrase("negative").value(false)));
    let before = opt(tone()).parse_next(input)?;
    skip_words(input, &["user"]);
    phrase("feedback").parse_next(input)?;
    let _ =
        opt(any_phrase(phrases!["from the user", "from user", "by the user"])).parse_next(input)?;
    let after = match before {
        None => opt((any_phrase(phrases!["is", "was"]), tone()))
            .parse_next(input)?
            .map(|(_, tone)| tone),
        some => some,
    };
    let _ = opt(any_phrase(phrases![
        "is received", "was received", "received", "arrives", "is given", "is provided",
        "comes in",
    ]))
    .parse_next(input)?;
    let given = happened("feedback");
    let Some(positive) = after else { return Ok(given) };
    let tones = if positive { POSITIVE } else { NEGATIVE };
    let values = tones.map(str::to_owned).to_vec();
    Ok(Condition::all(vec![given, Condition::In { fact: "event.sentiment".to_owned(), values }]))
}

/// `the user is frustrated`, `user becomes impatient`, `user expresses frustration`
fn user(input: &mut Input<'_>) -> Parsed<Condition> {
    let Some(fact_type @ FactType::Scale(_)) = fact_type("user_sentiment", input.state.workflow)
    else {
        return backtrack(input);
    };
    skip_words(input, &["the"]);
    phrase("user").parse_next(input)?;
    let noun = (
        any_phrase(phrases!["expresses", "shows", "voices", "expressed"]),
        alt((phrase("frustration").value("frustrated"), phrase("impatience").value("impatient"))),
    );
    if let Some((_, mood)) = opt(noun).parse_next(input)? {
        return Ok(Condition::is_text("user_sentiment", mood));
    }
    let negated = alt((
        any_phrase(phrases!["is not", "isn't", "is no longer"]).value(true),
        any_phrase(phrases![
            "is", "becomes", "became", "gets", "seems", "feels", "grows", "looks", "sounds",
            "turns", "is getting", "is becoming",
        ])
        .value(false),
    ))
    .parse_next(input)?;
    skip_words(input, &["now", "very", "currently"]);
    let fact = Fact { name: "user_sentiment".to_owned(), fact_type };
    let mood = FactValue::Text(named_value(input, &fact)?);
    if negated {
        return Ok(Condition::compare("user_sentiment", Op::NotEqual, mood));
    }
    alternatives(input, &fact, Operand::Value(mood))
}

/// `the plan fails`, `execution is paused`
fn plan(input: &mut Input<'_>) -> Parsed<Condition> {
    skip_words(input, &["the"]);
    any_phrase(phrases!["plan", "execution"]).parse_next(input)?;
    let workflow = input.state.workflow;
    let status = Fact { name: "plan_status".to_owned(), fact_type: FactType::PlanStatus };
    let mut ahead = *input;
    if any_phrase(phrases!["is", "becomes", "gets"]).parse_next(&mut ahead).is_ok()
        && let Some(first) = listed_value(&mut ahead, FactType::PlanStatus)
    {
        *input = ahead;
        return alternatives(input, &status, Operand::Value(FactValue::Text(first)));
    }
    let role = alt((
        any_phrase(phrases!["fails", "failed", "has failed"]).value(PlanRole::Failed),
        any_phrase(SUCCEEDS).value(PlanRole::Succeeded),
        any_phrase(phrases!["pauses", "paused"]).value(PlanRole::Paused),
        any_phrase(phrases!["starts", "begins", "resumes", "is running"]).value(PlanRole::Active),
    ))
    .parse_next(input)?;
    Ok(Condition::is_text("plan_status", workflow.plan_with_role(role)))
}

/// `over budget`, `the budget is exceeded`
fn budget(input: &mut Input<'_>) -> Parsed<Condition> {
    let _ =
        opt(any_phrase(phrases!["we are", "it is", "the plan is", "the execution is", "cost is"]))
            .parse_next(input)?;
    let op = alt((
        any_phrase(phrases!["over budget", "over the budget", "above budget"]).value(Op::Above),
        any_phrase(phrases!["budget is exceeded", "the budget is exceeded"]).value(Op::Above),
        any_phrase(phrases!["budget is exhausted", "the budget is exhausted"]).value(Op::AtLeast),
        any_phrase(phrases!["budget is used up", "the budget is used up"]).value(Op::AtLeast),
        any_phrase(phrases!["budget is spent", "the budget is spent"]).value(Op::AtLeast),
    ))
    .parse_next(input)?;
    let with = Operand::Fact("budget".to_owned());
    Ok(Condition::Compare { fact: "cost".to_owned(), op, with })
}

/// `execution takes longer than 5 minutes`, `10 minutes have passed`
fn duration(input: &mut Input<'_>) -> Parsed<Condition> {
    skip_words(input, &["the"]);
    let _ = any_phrase(phrases!["execution", "it", "the plan", "run", "plan", "work"])
        .parse_next(input)?;
    any_phrase(phrases!["takes", "took", "lasts", "runs", "runs for", "has taken", "has run for"])
        .parse_next(input)?;
    let op = comparative(input)?;
    match amount(input)? {
        value @ FactValue::Duration(_) => Ok(Condition::compare("execution_time", op, value)),
        _ => backtrack(input),
    }
}

/// `task is legal_tasks`, `the task is a research task`: only where that is the name of a type
fn task(input: &mut Input<'_>) -> Parsed<Condition> {
    const TYPES: [&str; 4] = ["legal", "creative", "research", "debugging"];
    skip_words(input, &["the", "this"]);
    phrase("task").parse_next(input)?;
    let op = alt((
        any_phrase(phrases!["is not", "isn't", "is no"]).value(Op::NotEqual),
        any_phrase(phrases!["is", "becomes", "="]).value(Op::Equal),
    ))
    .parse_next(input)?;
    skip_words(input, &["a", "an"]);
    let name = match next(input).map(|token| token.kind) {
        Some(Kind::Word(word)) => word.to_owned(),
        Some(Kind::Quoted(text)) => text.text().into_owned(),
        _ => return backtrack(input),
    };
    input.next_slice(1);
    let noun = opt(any_phrase(phrases!["task", "tasks"])).parse_next(input)?.is_some();
    let plain = name.to_ascii_lowercase();
    if plain.ends_with("_tasks") || plain.ends_with("_task") {
        return Ok(Condition::compare("task_type", op, FactValue::Text(name)));
    }
    if noun || TYPES.contains(&plain.as_str()) {
        let full = FactValue::Text(format!("{plain}_tasks"));
        return Ok(Condition::compare("task_type", op, full));
    }
    backtrack(input)
}

/// `an error occurs`, `event deploy_finished occurs`, `step_failed`
fn event(input: &mut Input<'_>) -> Parsed<Condition> {
    const OCCURS: &Phrases = phrases![
        "occurs", "happens", "is emitted", "arrives", "is received", "occurred", "is raised"
    ];
    let error =
        (opt(any_phrase(phrases!["an", "any", "the"])), phrase("error"), any_phrase(OCCURS));
    if opt(error).parse_next(input)?.is_some() {
        return Ok(happened("error"));
    }
    let known = ["step_started", "step_completed", STEP_FAILED, "step_skipped"];
    if let Some(word) = peek_word(input)
        && let Some(name) = known.iter().find(|name| name.eq_ignore_ascii_case(word))
    {
        input.next_slice(1);
        let _ = opt(any_phrase(OCCURS)).parse_next(input)?;
        return Ok(happened(name));
    }
    skip_words(input, &["the", "an", "a"]);
    let first = opt(phrase("event")).parse_next(input)?.is_some();
    let name = match next(input).map(|token| token.kind) {
        Some(Kind::Word(word)) => word.to_owned(),
        Some(Kind::Quoted(text)) => text.text().into_owned(),
        _ => return backtrack(input),
    };
    input.next_slice(1);
    if !first {
        phrase("event").parse_next(input)?;
    }
    let _ = any_phrase(OCCURS).parse_next(input)?;
    Ok(happened(&name))
}

/// The event is of this type.
pub(in crate::rules) fn happened(kind: &str) -> Condition {
    Condition::is_text("event.type", kind)
}

fn against(fact: &str, limit: &str) -> Condition {
    let with = Operand::Fact(limit.to_owned());
    Condition::Compare { fact: fact.to_owned(), op: Op::Above, with }
}

fn most_of(fact: &str, limit: &str) -> Condition {
    let with = Operand::Share { percent: 80.0, of: limit.to_owned() };
    Condition::Compare { fact: fact.to_owned(), op: Op::Above, with }
}
