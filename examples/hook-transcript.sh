#!/usr/bin/env bash
# A session of an agent as its client reports it to hooks, event by event, with the answer to each.
#
#     cargo build && STATEDIR_BIN=target/debug/statedir examples/hook-transcript.sh
#
# The events are in hook-transcript.jsonl beside this script; their member `expect` says what the
# answer must be, and is not part of the event. It works in a temporary directory, or in the one
# given as its only argument.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/prelude.sh"
unset STATEDIR_ACTOR CLAUDE_PROJECT_DIR

"$bin" init --goal "Compare three vector databases" --set max_web_requests=5
"$bin" step add "Collect benchmarks" --tool WebFetch
"$bin" step next --claim --actor c0ffee00

while IFS= read -r line; do
    [ -n "$line" ] || continue
    event=${line//@PROJECT@/$PWD}
    expected=$(sed -n 's/^{"expect":"\([a-z]*\)".*/\1/p' <<<"$event")
    name=$(sed -n 's/.*"hook_event_name":"\([A-Za-z]*\)".*/\1/p' <<<"$event")
    answer=$("$bin" hook <<<"$event")
    case $answer in
        *'"permissionDecision":"deny"'*) got=deny ;;
        *'"permissionDecision":"ask"'*) got=ask ;;
        *'"decision":"block"'*) got=block ;;
        *'"additionalContext"'*) got=context ;;
        '') got=silent ;;
        *) got=unknown ;;
    esac
    printf '%-18s %-8s %s\n' "$name" "$got" "${answer:0:100}"
    [ "$got" = "$expected" ] || { echo "expected $expected" >&2; exit 1; }
done < "$here/hook-transcript.jsonl"

printf '\nWhat is left of it in the state:\n'
"$bin" history list
"$bin" checkpoint list
