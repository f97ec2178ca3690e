#!/usr/bin/env bash
# A rule that pauses the work when it becomes expensive, and a person who resumes it.
#
#     cargo build && STATEDIR_BIN=target/debug/statedir examples/pause-on-cost.sh
#
# It works in a temporary directory, or in the one given as its only argument.
. "$(dirname "$0")/prelude.sh"
export STATEDIR_ACTOR=${STATEDIR_ACTOR:-worker}

run() {
    printf '\n$ statedir %s\n' "$*"
    "$bin" "$@"
}

# 1. A budget, and what happens at its end: the rule is plain text in constraints.md.
run init --goal "Summarise forty papers" --set max_cost_per_task=1.00
run rule add 'If cost exceeds 90% of budget → pause and add directive "ask before spending more"'
run rule check
for part in one two three; do
    run step add "Summarise part $part"
done

# 2. The first step is cheap enough.
run step next --claim
run step done --cost 0.40

# 3. The second one crosses the line: the step is done, and the plan pauses in the same operation.
run step next --claim
run step done --cost 0.55
"$bin" status | grep -q '^status *PAUSED'
run rule explain 5

# 4. A person looks, raises the budget and resumes the plan.
run status
run constraint set max_cost_per_task 2.00 --actor person
run resume --actor person
run step next --claim
run step done --cost 0.30
run history list
run check
