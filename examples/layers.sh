#!/usr/bin/env bash
# A project that is built in three layers by two workers: nine tasks, each verified and merged in
# turn, with a failure, a crash, and a task that is abandoned in the end.
#
#     cargo build && STATEDIR_BIN=target/debug/statedir examples/layers.sh
#
# It works in a temporary directory, or in the one given as its only argument. Every command must
# succeed, except the ones that `refused` expects to be refused; after each of them `check` must
# find nothing.
. "$(dirname "$0")/prelude.sh"
export STATEDIR_ACTOR=lead
export GIT_AUTHOR_NAME=lead GIT_AUTHOR_EMAIL=lead@example.org
export GIT_COMMITTER_NAME=lead GIT_COMMITTER_EMAIL=lead@example.org
git init -q -b main

run() {
    printf '\n$ statedir %s\n' "$*"
    "$bin" "$@"
    "$bin" check --strict > /dev/null
}

# refused CODE ARGS...: the command must end with this exit code.
refused() {
    local expected=$1 code=0
    shift
    printf '\n$ statedir %s\n' "$*"
    "$bin" "$@" 2>&1 || code=$?
    [ "$code" -eq "$expected" ] || { echo "exit code $code, not $expected" >&2; exit 1; }
    "$bin" check --strict > /dev/null
}

# at TASK ARGS...: in the worktree of a task.
at() {
    local task=$1
    shift
    (cd ".worktrees/$task" && run "$@")
}

# work TASK: what a worker does between the start of a task and its verification.
work() {
    (cd ".worktrees/$1" && echo "$1" > "$1.txt" && git add "$1.txt" && git commit -qm "$1: the work")
}

# 1. Nine tasks in three layers.
run init --template execute --goal "Build the task manager" --title "Task manager"
task() { run step add "$3" layer="$2" --id "$1"; }
task L0-001 0-setup "Make the repository"
task L0-002 0-setup "Choose the tools"
task L0-003 0-setup "Set up the tests"
task L1-001 1-foundation "Create the tables"
task L1-002 1-foundation "Write the models"
task L2-001 2-backend "Create a task"
task L2-002 2-backend "List the tasks"
task L2-003 2-backend "Notify the chat"
task L2-004 2-backend "Close a task"
git add . && git commit -qm "The plan"

# 2. The first layer, without worktrees. No worker can run ahead.
for id in L0-001 L0-002 L0-003; do
    run step start "$id"
    run step move "$id" verifying
    run step move "$id" verified
    run step move "$id" merging
    run step move "$id" completed
    [ "$id" = L0-003 ] || refused 1 step start L1-001
done
run status

# 3. Two workers, each in a worktree of its own; what is verified first is merged first.
for id in L1-001 L1-002; do
    run worktree add "$id" --step "$id" --path ".worktrees/$id"
    work "$id"
done
at L1-002 step move L1-002 verifying
at L1-002 step move L1-002 verified
at L1-001 step move L1-001 verifying
refused 1 worktree finish L1-001
run worktree list
run worktree finish --next
at L1-001 step move L1-001 verified
run worktree finish --all
run metrics --by layer

# 4. The third layer. A verification fails; the next attempt is given the reason.
run worktree add L2-001 --step L2-001 --path .worktrees/L2-001
work L2-001
at L2-001 step move L2-001 verifying
at L2-001 step move L2-001 failed --error "test_create_task failed: expected 201 got 422"
at L2-001 step retry L2-001 --note "Add min_length=1 to TaskCreateRequest.title"
at L2-001 brief --for L2-001
at L2-001 step move L2-001 verifying
at L2-001 step move L2-001 verified
run worktree finish --next

# 5. A worker crashes in the middle of a task; somebody else decides how to continue.
STATEDIR_ACTOR=worker-b run step start L2-002
sleep 1
run recover --stale-after 1s
run step take L2-002 --force --why "the machine of worker-b is gone"
run step move L2-002 verifying
run step move L2-002 verified
run step move L2-002 merging
run step move L2-002 completed

# 6. A task that fails five times is abandoned, and its layer stops there.
run step start L2-003
for attempt in 1 2 3 4 5; do
    run step fail L2-003 --error "the chat refuses the token ($attempt)"
    [ "$attempt" = 5 ] || run step retry L2-003
done
refused 1 step retry L2-003
refused 1 step next
refused 1 step start L2-004
run status

# 7. A person leaves it out, and the rest is finished.
run step skip L2-003 --note "done by hand until there is a token"
run step next --claim
run step move L2-004 verifying
run step move L2-004 verified
run step move L2-004 merging
run step move L2-004 completed
run metrics
run status
