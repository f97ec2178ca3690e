//! Opening and deciding reviews.

use serde_json::json;

use crate::{
    domain::{Decision, ErrorCode, Plan, StateFile},
    workspace::{Answer, Draft, Error},
};

/// Opens a review and notes it in the history.
pub(in super::super) fn open_review(draft: &mut Draft<'_>, text: &str) -> Result<String, Error> {
    let plan = draft.plan()?;
    let mut edit = plan.document.edit();
    let id = plan.open_review(&mut edit, text);
    draft.put(StateFile::Plan, Plan::finish(edit)?);
    let fields = vec![
        ("kind".to_owned(), "review".to_owned()),
        ("review".to_owned(), id.clone()),
        ("decision".to_owned(), "open".to_owned()),
        ("notes".to_owned(), text.to_owned()),
        ("actor".to_owned(), draft.env.actor().to_owned()),
    ];
    draft.log(format!("Review {id} Opened"), fields)?;
    Ok(id)
}

/// Asks a person.
pub(super) fn open(draft: &mut Draft<'_>, text: &str) -> Result<Answer, Error> {
    if text.trim().is_empty() {
        return Err(Error::refused(ErrorCode::BadValue, "a review needs a question"));
    }
    let id = open_review(draft, text)?;
    Ok(Answer::new(format!("review {id} is open: {}", text.trim())).with("review", id))
}

/// Takes a person's decision.
pub(super) fn decide(
    draft: &mut Draft<'_>,
    id: &str,
    approve: bool,
    why: Option<&str>,
) -> Result<Answer, Error> {
    let plan = draft.plan()?;
    let review = plan.review(id)?.clone();
    if review.decision != Decision::Open {
        let message = format!("review {} is already decided", review.id);
        return Err(Error::refused(ErrorCode::Decided, message));
    }
    let actor = draft.env.actor().to_owned();
    let mut edit = plan.document.edit();
    plan.decide_review(&mut edit, &review, approve, &actor, why);
    draft.put(StateFile::Plan, Plan::finish(edit)?);
    let verdict = if approve { "approved" } else { "rejected" };
    let mut fields = vec![
        ("kind".to_owned(), "review".to_owned()),
        ("review".to_owned(), review.id.clone()),
        ("decision".to_owned(), verdict.to_owned()),
        ("question".to_owned(), review.text.clone()),
        ("actor".to_owned(), actor),
    ];
    fields.extend(why.map(|why| ("reason".to_owned(), why.to_owned())));
    let title = if approve { "Approved" } else { "Rejected" };
    draft.log(format!("Review {} {title}", review.id), fields)?;
    Ok(Answer::new(format!("review {} {verdict}", review.id))
        .with("review", review.id)
        .with("decision", json!(verdict)))
}

/// Refuses to go on while a review is open.
pub(in super::super) fn refuse_while_open(plan: &Plan) -> Result<(), Error> {
    let open: Vec<String> =
        plan.open_reviews().map(|review| format!("{} ({})", review.id, review.text)).collect();
    let Some(first) = plan.open_reviews().next() else { return Ok(()) };
    Err(Error::refused_with(
        ErrorCode::ReviewOpen,
        format!("the plan is waiting for a review: {}", open.join(", ")),
        format!(
            "a person decides with `statedir review approve {id}` or `statedir review reject {id}`, \
             or ticks the box in plan.md",
            id = first.id
        ),
    ))
}
