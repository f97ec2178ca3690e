# Completes statedir in bash: put it where bash-completion looks, or source it.
_statedir() {
    local current=${COMP_WORDS[COMP_CWORD]} quoted='' value about
    case $current in
        \"* | \'*) quoted=1 current=${current:1} ;;
        *) current=${current//\\/} ;;
    esac
    # An option and its value are words of their own here: --section = Key
    [[ $current == = ]] && current=''
    COMPREPLY=()
    while IFS=$'\t' read -r value about; do
        [[ $quoted ]] || printf -v value '%q' "$value"
        COMPREPLY+=("$value")
    done < <("${1/#\~/$HOME}" __complete "${COMP_WORDS[@]:1:COMP_CWORD-1}" "$current" 2>/dev/null)
}
complete -o nosort -o bashdefault -o default -F _statedir statedir 2>/dev/null ||
    complete -o bashdefault -o default -F _statedir statedir
