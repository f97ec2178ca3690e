#!/usr/bin/env bash
# A ticket from its discovery to a reviewed pull request, by commands only: nine phases, a rejection
# that is routed by its reason, a retry, a question to a person, and both approvals.
#
#     cargo build && STATEDIR_BIN=target/debug/statedir examples/ticket.sh
#
# It works in a temporary directory, or in the one given as its only argument. After every line the
# state is checked.
. "$(dirname "$0")/prelude.sh"
export STATEDIR_ACTOR=agent
state=docs/plan/tickets/7

run() {
    printf '\n$ statedir %s\n' "$*"
    "$bin" -C "$state" "$@"
    "$bin" -C "$state" check --strict >/dev/null
}

# The same, given by a person.
person() {
    run --actor ada "$@"
}

# waits ARGS...: the command is refused, because a person is asked first.
waits() {
    local code=0
    printf '\n$ statedir %s\n' "$*"
    "$bin" -C "$state" "$@" 2>&1 || code=$?
    [ "$code" -eq 1 ] || { echo "exit code $code, not 1" >&2; exit 1; }
    "$bin" -C "$state" check --strict >/dev/null
}

# 1. The ticket: its directory, its phases, its gates.
printf '$ statedir init --template ticket --ticket #7\n'
"$bin" init --template ticket --ticket '#7' --title "Export as CSV" --goal "Ticket 7: export as CSV"
run status

# 2. Up to the first checkpoint.
run step start DISCOVERY
run step done DISCOVERY --output summary="users want to export a table"
run step start PLANNING
run step done PLANNING --output plan_file=docs/plan/tickets/7-plan.md
run step start ANALYSIS
run step done ANALYSIS --note "two risks, both small"
run step start PLAN_CHECKPOINT
waits step done PLAN_CHECKPOINT
run review list

# 3. A person rejects the plan: the reason says which phase is done again.
person review reject r1 --why "Scope too large"
run brief --for PLANNING
run step start PLANNING
run step done PLANNING --output plan_file=docs/plan/tickets/7-plan.md --note "the import is left out"
run step start ANALYSIS
run step done ANALYSIS
run step start PLAN_CHECKPOINT
waits step done PLAN_CHECKPOINT
person review approve r2 --why "good"

# 4. A phase that fails, is tried again with what was learnt, and asks when it has failed too often.
run step start IMPLEMENTATION
run step fail IMPLEMENTATION --error "the build timed out"
run step retry IMPLEMENTATION --note "build the library alone"
run brief --for IMPLEMENTATION
run step fail IMPLEMENTATION --error "test_export failed: expected 201 got 422"
person review approve r3 --why "once more, with min_length=1"
run step retry IMPLEMENTATION --note "min_length=1 for the title"
run step move IMPLEMENTATION BLOCKED --note "waits for the staging server"
run step move IMPLEMENTATION RUNNING
run step done IMPLEMENTATION --output commit=abc1234
run step start LOCAL_REVIEW
run step done LOCAL_REVIEW

# 5. The pull request, and the second checkpoint.
run step start PR_CREATION
run step done PR_CREATION --output pr_url=https://example.org/pull/12
run step start PR_CHECKPOINT
waits step done PR_CHECKPOINT
person review approve r4
run step start CODE_REVIEW
run step done CODE_REVIEW

# 6. What came of it.
run history verify
run status
