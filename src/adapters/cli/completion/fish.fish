# Completes statedir in fish: save it as statedir.fish in ~/.config/fish/completions.
function __statedir_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l found ($words[1] __complete $words[2..-1] "$current" 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path "$current"
    end
end
complete -c statedir -f -a '(__statedir_complete)'
