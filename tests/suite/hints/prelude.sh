# Functions for the states in scenes.txt.

STATE=workspace/state

# A state of so many steps.
steps() {
    statedir init --goal 'Compare three vector databases'
    for n in $(seq "$1"); do statedir step add "Do part $n"; done
}

failed() {
    statedir step start "$1" || statedir step retry "$1"
    statedir step fail "$1" --error 'mypy: 12 errors'
}

finished() {
    statedir step start "$1"
    statedir step done "$1"
}

# A repository with a state of two steps.
repository() {
    git init --quiet --initial-branch=main
    steps 2
    git add -A
    git commit -qm 'a state'
}

# Two branches that say different things, in the middle of their merge, with or without the driver.
conflict() {
    repository
    if [ "$1" = driver ]; then
        statedir git install
    else
        rm -f "$STATE/.gitattributes"
    fi
    git add -A
    git commit -qm attributes || true
    git checkout -qb side
    statedir plan set owner=ada
    statedir context set 'There it is so.' --section 'Current Understanding'
    git commit -qam there
    git checkout -q main
    statedir plan set owner=bob
    statedir context set 'Here it is so.' --section 'Current Understanding'
    git commit -qam here
    git merge side || true
}

# A byte in the middle of the newest record of the log is another one.
garble() {
    log=$(ls "$STATE"/.statedir/log/*.log | tail -n 1)
    size=$(wc -c < "$log")
    printf '\377\377\377' | dd of="$log" bs=1 seek=$((size / 2)) conv=notrunc status=none
}

# What a client tells the hook: an event, or a tool with the file or the command it is about.
event() {
    case $1 in
        SessionStart) body='"hook_event_name":"SessionStart","source":"startup"' ;;
        # So many tasks of the agent's own list, or one of them with its status.
        List)
            body='"hook_event_name":"PostToolUse","tool_name":"TodoWrite","tool_input":{"todos":['
            for n in $(seq "$2"); do body="$body{\"content\":\"Task $n\",\"status\":\"pending\"},"; done
            body="${body%,}]}" ;;
        Task) body="\"hook_event_name\":\"PostToolUse\",\"tool_name\":\"TodoWrite\",\"tool_input\":{\"todos\":[{\"content\":\"$2\",\"status\":\"$3\"}]}" ;;
        Stop) body='"hook_event_name":"Stop","stop_hook_active":false' ;;
        PreToolUse | PostToolUse)
            body="\"hook_event_name\":\"$1\",\"tool_name\":\"$2\",\"tool_response\":{},\"tool_input\":{\"file_path\":\"$PWD/${3-}\",\"url\":\"https://example.org\"}" ;;
        Bash) body="\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"$2\"}" ;;
        *) body="\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"$1\",\"tool_input\":{\"file_path\":\"$PWD/$2\"}" ;;
    esac
    printf '{"session_id":"s1","cwd":"%s",%s}' "$PWD" "$body"
}
