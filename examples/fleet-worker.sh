#!/usr/bin/env bash
# A worker of a fleet: claims a project that nobody works on, gets it onto this machine, does its next
# step, publishes the result and releases the project; until nothing is active any more. Start as many
# as you like, on as many machines as you like, and kill them whenever you like.
#
#   STATEDIR_FLEET=postgres://worker@db.example/fleet STATEDIR_HOST=build7 examples/fleet-worker.sh
#
# WORK is the command that does a step, in place of an agent; LEASE how long a claim lasts; ACKNOWLEDGED
# a file that gets a line for every push that was accepted.
set -u
lease=${LEASE:-5m}
work=${WORK:-true}

while :; do
    claimed=$(statedir fleet claim --next --where status=active --for "$lease")
    name=$(printf '%s\n' "$claimed" | sed -n 's/^claimed `\(.*\)` for .*/\1/p')
    if [ -z "$name" ]; then
        # Everything is finished, or others have it.
        left=$(statedir fleet list --status active) || { sleep 1; continue; }
        [ "$left" = "no projects" ] && exit 0
        sleep 0.2
        continue
    fi
    state="$name/state"
    # An earlier copy may hold work that was not published: it is published now, or merged.
    if ! statedir fleet pull "$name" "$state"; then
        statedir -C "$state" fleet push --for "$lease" || statedir fleet pull "$name" "$state" --merge ||
            { rm -rf "$state"; statedir fleet pull "$name" "$state"; } || continue
    fi
    statedir -C "$state" merge --list | grep -q '^no conflicts' ||
        statedir -C "$state" merge --take theirs --all
    # A step that a dead worker had started is started again.
    statedir -C "$state" recover --decide restart_task --apply --stale-after 1ms
    if statedir -C "$state" step next --claim; then
        $work && statedir -C "$state" step done --output done_by="${STATEDIR_HOST:-here}"
    fi
    # If the answer was lost on its way, the second push says whether the first was accepted.
    if published=$(statedir -C "$state" fleet push --for "$lease" ||
        statedir -C "$state" fleet push --for "$lease"); then
        revision=$(printf '%s\n' "$published" | sed -n 's/.* at revision //p')
        [ -n "$revision" ] && [ -n "${ACKNOWLEDGED:-}" ] && echo "$name $revision" >> "$ACKNOWLEDGED"
        statedir fleet release "$name"
    fi
done
