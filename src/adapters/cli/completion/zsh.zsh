#compdef statedir
# Completes statedir in zsh: save it as _statedir in a directory of $fpath, or source it.
_statedir() {
    local -a found
    local value about
    while IFS=$'\t' read -r value about; do
        found+=("${value//:/\\:}${about:+:$about}")
    done < <("${(Q)words[1]}" __complete "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)
    if (( $#found )); then
        _describe -V statedir found
    else
        _files
    fi
}
if [[ ${funcstack[1]} == _statedir ]]; then
    _statedir "$@"
else
    compdef _statedir statedir
fi
