//! The documentation of the language, as `statedir rule --help` prints it.

/// Every idiom, fact, operator, unit and action. Each indented line with an arrow is an example
/// that a test reads with the parser.
pub(crate) const LANGUAGE: &str = r##"
A rule is a condition, an arrow and one or more actions:

    If cost exceeds 80% of budget → set priority to "cost_efficiency"
    If consecutive_failures >= 3 and priority is "quality" -> pause
    When the user is frustrated, immediately seek human guidance
    Pause if 3+ consecutive steps fail

The arrow is `→`, `->`, `=>` or `then`; after `if` and the like a comma or a colon will do. The
condition may begin with if, when, whenever, once, after, on, as soon as, in case, each time, every
time, or with unless, which negates it. Letter case does not matter. Names may be written with
spaces, hyphens or underscores, texts in any quotes, a single word without. Emphasis and backticks
are ignored. A bold title may come first:

    **Budget guard**: if cost > $5 → pause

A rule fires when its condition becomes true: false before an event, true after. It fires again
only after it was false in between. What it sets can fire further rules, each at most once per
event. Of two rules that set the same modifier the later one in the file decides.

FACTS
  consecutive_failures   failed steps since the last success
  failed_steps, completed_steps, skipped_steps, total_steps
  progress               percentage of steps that need no more work
  attempts               attempts at the current step
  failures               failed attempts so far, at any step
  step_failures          failed attempts at one unfinished step, the most of them
  cost, budget           money
  execution_time         duration of the steps so far
  file_operations, web_requests
  task_type              a text such as `legal_tasks`
  plan_status            a status such as PAUSED
  reason                 why a review was rejected, in the `reject` of a gate
  every modifier         priority, user_sentiment (or sentiment), max_execution_time …
  variables.a.b          a value of variables.json; `vars.a.b` is the same
  event.type, event.x    the event and its fields; there is no event before the event

A fact that is missing makes its comparison unknown, and a rule does not fire on what is unknown.

COMPARISONS
  >   above, over, beyond, more than, greater than, longer than, exceeds, goes over, rises above
  >=  ≥, at least, no less than, at or above, reaches, hits, rises to, climbs to
  <   below, under, less than, fewer than, lower than, falls below, drops below
  <=  ≤, at most, no more than, up to, at or below, drops to, falls to
  =   ==, is, are, equals, becomes, changes to, turns, is set to
  !=  ≠, <>, is not, isn't, is no longer, is different from
  is between A and B · is "a" or "b" · is one of ("a", "b") · contains "a" or "b"
  is set, exists · is missing, is not set · does not exceed, is not above …

    If web_requests ≥ 80% of max_web_requests → prefer cached pages
    If progress is between 40% and 60% → checkpoint "half way"
    If priority is "quality" or "comprehensiveness" → raise error_tolerance
    If variables.flags.draft is not set → add directive "write a draft first"
    If event.error contains "timeout" → double max_execution_time

Conditions are joined by `and`, `or`, `not` and parentheses; `and` binds tighter than `or`. On an
ordered scale `<` and `>` follow the scale; `drops to` and `rises to` mean `<=` and `>=` where
there is an order and `=` where there is none.

    If sentiment drops to "impatient" → lower human_review_trigger_level
    If not (cost > $1 or execution time > 5 minutes) → set priority to quality

UNITS
  12, 1,000, two, twenty          numbers
  $0.50, 0.5 USD, 50 cents        money; a plain number compared with money is in dollars
  200s, 5 minutes, 1h 30m, 250ms  durations (ms, s, m, h, d); a plain number is in seconds
  80%, 80 percent, half           percentages; `80% of budget` is a share of another fact

IDIOMS
  2+ consecutive steps fail, two failures in a row     consecutive_failures >= 2
  more than 3 steps failed                             failed_steps > 3
  half of the steps are completed                      completed_steps >= 50% of total_steps
  a step fails, completes, starts, is skipped          event.type = "step_failed" …
  a step fails 3 times, 3 attempts, 3 failed attempts  step_failures >= 3
  the error mentions "timeout"                         event.error contains "timeout"
  3 failures                                           failures >= 3
  the last step failed, the last 3 steps failed        consecutive_failures >= 1, >= 3
  all steps complete                                   progress >= 100%
  user provides positive (negative) feedback           a feedback event with such a sentiment
  the user is frustrated                               user_sentiment = "frustrated"
  the plan is paused, the plan fails                   plan_status = "PAUSED" …
  over budget                                          cost > budget
  20% of the budget is left                            cost >= 80% of budget
  10 minutes have passed                               execution_time >= 600s
  an error occurs, event deployed occurs               event.type = "error" …

A count on its own means at least that many. Titles that are conditions by themselves:

    **Repeated Failures** → set human_review_trigger_level="low", error_tolerance="strict"
    **Cost Overrun** → set priority to "cost_efficiency"
    **Budget Pressure** → prefer lower-cost tools
    **Time Pressure** → set priority to "speed_and_clarity"
    **Slow Execution** → prefer faster tools
    **Time Overrun** → require human review
    **Positive Feedback** → set user_sentiment to "pleased"
    **Negative Feedback** → lower user_sentiment
    **User Frustration** → ask a human
    **Step Failure** → checkpoint
    **Too Many Web Requests** → avoid the web for the next 3 steps

They mean consecutive_failures >= 2, cost > budget, cost > 80% of budget, execution_time > 80% of
max_execution_time (both pressures), execution_time > max_execution_time, and so on: `rule check`
prints the meaning of each.

ACTIONS, separated by `,` `;` `.` or `and`
  set M to V, set M = V, M = V, change M to V; reset M sets the default, unset M no value
  raise M, lower M [by N]            up or down an ordered scale, as far as it goes
  raise M by 5, by $1, by 10%        quantities; also increase, decrease, reduce, double, halve
  increase M to V                    the same as set
  add directive "text" [for the next N steps]
  require human review [because …]   also seek human guidance, ask a human, escalate
  pause [because …]
  checkpoint ["name"]                also create a checkpoint
  advise "text" [for the next N steps]

    If cost > $2 → set max_cost_per_task to $3, reduce max_web_requests by 2 and pause
    If a step fails twice in a row → escalate, checkpoint "before retry"
    If the user is impatient → for the next 2 steps, give short answers

Anything else in plain prose is advice, passed on to the agent word for word. A clause that begins
like an action and is not one is an error, never advice; write `advise "…"` if advice is meant.
Only what is understood in full is executed: actions with a condition of their own (if, when, after,
once, unless, on, in case, whether, depending, …), a negation, a choice (`or`) or a list of words
are advice as a whole, and none of them is executed.
"##;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        domain::Workflow,
        rules::{Condition, Rule},
    };

    #[test]
    fn every_example_is_understood() {
        let indented = LANGUAGE.lines().filter(|line| line.starts_with("    "));
        let mut count = 0;
        for line in indented {
            Rule::parse(line.trim()).unwrap_or_else(|error| panic!("{line}: {error}"));
            count += 1;
        }
        assert!(count > 20);
    }

    #[test]
    fn every_idiom_with_its_full_meaning_means_it() {
        let idioms = LANGUAGE.split("IDIOMS").nth(1).unwrap().split("\n\n").next().unwrap();
        let mut count = 0;
        for line in idioms.lines().filter(|line| line.len() > 55 && !line.contains('…')) {
            let (phrases, meaning) = line.split_at(55);
            let Ok(meaning) = Condition::parse(meaning.trim(), Workflow::builtin()) else {
                continue;
            };
            for phrase in phrases.split(", ") {
                let parsed = Condition::parse(phrase.trim(), Workflow::builtin());
                assert_eq!(parsed.as_ref(), Ok(&meaning), "{phrase}");
                count += 1;
            }
        }
        assert!(count >= 8, "{count}");
    }

    #[test]
    fn every_fact_and_every_modifier_is_documented() {
        for (fact, ..) in crate::domain::facts::BUILTIN {
            assert!(LANGUAGE.contains(fact), "{fact}");
        }
    }
}
