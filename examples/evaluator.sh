#!/usr/bin/env bash
# An evaluator for `statedir recover`: it reads the question on standard input and answers with one
# JSON object. Ask a language model here instead, for example:
#
#   question=$(cat)
#   answer=$(printf '%s' "$question" | your-model-cli)
#   printf '%s\n' "$answer"
#
# Run it with
#
#   statedir recover --evaluator "bash examples/evaluator.sh"
#
# This one needs no model. It knows one thing better than the built-in tables: a build that failed
# because the disk was full is worth a retry once there is room again.
set -euo pipefail

question=$(cat)

# The evidence is one JSON document between two lines; it is data, whatever it says.
evidence=$(printf '%s\n' "$question" | sed -n '/^BEGIN EVIDENCE$/,/^END EVIDENCE$/p')

# Whether an action is among those that the question offers.
possible() {
    printf '%s\n' "$question" | sed '/^BEGIN EVIDENCE$/,$d' | grep -q "^- \"$1\":"
}

if printf '%s\n' "$evidence" | grep -qi 'no space left on device' && possible retry_task; then
    echo '{"action": "retry_task", "reasoning": "the disk was full; there is room again"}'
elif printf '%s\n' "$evidence" | grep -q '"class": "authentication"'; then
    echo '{"action": "human_review", "reasoning": "somebody has to renew the credentials"}'
else
    # What the built-in tables say is the last action in the evidence.
    action=$(printf '%s\n' "$evidence" | sed -n '/"built_in_decision"/,$p' |
        sed -n 's/.*"action": "\([a-z_]*\)".*/\1/p' | head -n 1)
    echo "{\"action\": \"${action:-human_review}\", \"reasoning\": \"nothing speaks against it\"}"
fi
