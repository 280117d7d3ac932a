#!/bin/sh
# `./x growth [MOST]`: how a job on one host grows with its tasks: 2, 4, 8 ... MOST tasks [1000]. Parvum goes up to MOST, MPICH and Open MPI
# up to 32 tasks. Prints a table, and draws curves into results/growth.svg, with the figures of `./x simulate` if results has them.
set -eu
most=${1:-1000}
case $most in
*[!0-9]* | '' | 0 | 1) echo "growth: MOST is a number of tasks from 2 on: ./x growth 256" >&2 && exit 2 ;;
esac
here=$(cd "$(dirname "$0")" && pwd -P)
top=$here/..
bin=$top/build/bin
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
. "$here/mpis.sh"
compile "$here/growth/growth.c"
milliseconds() { date +%s%3N; }
counts=
count=2
while [ "$count" -lt "$most" ]; do
    counts="$counts $count"
    count=$((count * 2))
done
for tasks in $counts $most; do
    for system in $systems; do
        [ "$system" = parvum ] || [ "$tasks" -le 32 ] || continue
        # One of the tasks is killed at the end, so the launcher fails.
        launch "$system" "$tasks" "$(milliseconds)" </dev/null >"$folder/said" 2>"$folder/complaints" || :
        ended=$(milliseconds)
        grep -E '^[a-z_]+ [0-9.]+$' "$folder/said" | sed "s/^/$system $tasks /" >>"$folder/figures"
        if ! killed=$(sed -n 's/^killed_at \([0-9]*\).*/\1/p' "$folder/said" | grep .); then
            echo "growth: $system with $tasks tasks failed:" >&2
            head -n 3 "$folder/complaints" >&2
            continue
        fi
        echo "$system $tasks end_ms $((ended - killed))" >>"$folder/figures"
    done
done
mkdir -p "$top/results"
python3 "$here/growth/curves.py" "$folder/figures" "$top/results"
