# Sourced by the example scripts: the program under test, and a directory to work in, which is the
# script's only argument or a temporary one.
set -euo pipefail

bin=${STATEDIR_BIN:-statedir}
case $bin in
    */*) bin=$(cd "$(dirname "$bin")" && pwd)/$(basename "$bin") ;;
esac
unset STATEDIR

if [ $# -gt 0 ]; then
    mkdir -p "$1" && cd "$1"
else
    project=$(mktemp -d)
    trap 'rm -rf "$project"' EXIT
    cd "$project"
fi
