#!/usr/bin/env bash
# A research task from goal to finish, as an agent would drive it: one command at a time.
#
#     cargo build && STATEDIR_BIN=target/debug/statedir examples/research.sh
#
# It works in a temporary directory, or in the one given as its only argument. Every command must
# succeed, except the ones that `refused` expects to be refused.
. "$(dirname "$0")/prelude.sh"
export STATEDIR_ACTOR=${STATEDIR_ACTOR:-researcher}

run() {
    printf '\n$ statedir %s\n' "$*"
    "$bin" "$@"
}

# refused CODE ARGS...: the command must end with this exit code.
refused() {
    local expected=$1 code=0
    shift
    run "$@" 2>&1 || code=$?
    [ "$code" -eq "$expected" ] || { echo "exit code $code, not $expected" >&2; exit 1; }
}

# 1. The goal, with a budget.
run init --goal "Recommend a vector database for 5M documents" --title "Vector database" \
    --set priority=comprehensiveness --set max_cost_per_task=1.50

# 2. How to behave, for good and for a while.
run directive add "Cite a source for every number"
run directive add "prefer sources from this year" --for-steps 2

# 3. The plan: one step alone, the rest together, as one operation.
run step add "Choose candidates" --tool WebFetch --output candidates="names of three products" \
    --cost 0.05 --time 60s
run apply - <<'CHANGES'
[
  {"op": "step.add", "title": "Collect benchmarks", "tool": "WebFetch", "depends_on": [1], "cost": 0.2},
  {"op": "step.add", "title": "Read the licences", "tool": "Read", "depends_on": [1]},
  {"op": "step.add", "title": "Ask the vendors", "depends_on": [1]},
  {"op": "step.add", "title": "Write the recommendation", "tool": "Write", "depends_on": [2, 3],
   "input": {"path": "{{file_paths.report}}"}},
  {"op": "var.set", "path": "file_paths.report", "value": "workspace/recommendation.md"}
]
CHANGES
run step list

# 4. The first step. Nothing that depends on it can be started before.
refused 1 step start 5
run step next --claim
run step done --output candidates='["qdrant","milvus","pgvector"]' --cost 0.04 --time 48s

# 5. A step that fails, and is tried again.
run step start 2
run var append extracted_data.urls_processed https://example.org/benchmarks
run step fail 2 --error "the page timed out after 30s" --cost 0.01 --time 30s
run step retry 2
run var merge - <<'METRICS'
{"extracted_data": {"key_metrics": {"qdrant": {"p95_ms": 12}, "milvus": {"p95_ms": 15}, "pgvector": {"p95_ms": 41}}}}
METRICS
run step done 2 --output best=qdrant --cost 0.18 --time 95s --note "second source used"
run context add "qdrant answers in 12 ms (p95) at 5M documents"

# 6. Look before the leap; then take a mistake back.
run step skip 4 --note "the documentation answers it" --dry-run
run step skip 4 --note "the documentation answers it"
run context set --section "Current Understanding" "pgvector is fast enough."
run undo

# 7. A person rewords the plan in an editor. Nothing is lost, and it shows in the log.
plan=workspace/state/plan.md
sed 's/Read the licences/Read the licences, twice/' "$plan" > plan.new && mv plan.new "$plan"
run diff
run step start 3
run step done 3 --output licence=Apache-2.0 --time 20s
run op log --limit 3

# 8. Only change what has not changed meanwhile.
refused 3 var set extracted_data.flags.ready true --if-match 000000000000

# 9. The last step, the reason for the decision, and the proof that all is well.
run step next --claim
run context add --section "Decision Rationale" "qdrant: fastest of three, free licence"
run step done --output report=workspace/recommendation.md --cost 0.1 --time 120s
run history verify
run check --strict
run status
