#!/bin/sh
# `./x table [ROUNDS [RANKS [multiple] [ROW...]]]`: one plain MPI program under Parvum, MPICH and Open MPI in turns, without the lab. Prints the median
# of each figure in microseconds, and the median over the rounds of the best peer's time in terms of Parvum's. `multiple`: the program asks
# for MPI_THREAD_MULTIPLE. ROW: only these figures.
set -eu
rounds=${1:-5} ranks=${2:-2}
[ $# -lt 2 ] && shift $# || shift 2
case $rounds$ranks in
*[!0-9]*) echo "table: ROUNDS and RANKS are numbers: ./x table 5 2" >&2 && exit 2 ;;
esac
here=$(cd "$(dirname "$0")" && pwd -P)
bin=$here/../build/bin
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
. "$here/mpis.sh"
compile "$here/table/table.c"
round=0
while [ "$round" -lt "$rounds" ]; do
    round=$((round + 1))
    for system in $systems; do
        launch "$system" "$ranks" "$@" </dev/null | sed "s/^/$round $system /"
    done
done >"$folder/figures"
python3 - "$folder/figures" <<'PY'
import collections, statistics, sys
figures = collections.defaultdict(lambda: collections.defaultdict(dict))
for line in open(sys.argv[1]):
    turn, system, name, value = line.split()
    figures[name][system][turn] = float(value)
if not figures:
    sys.exit("table: no figure has that name; ./x table 1 prints all names")
systems = list(next(iter(figures.values())))
print(f"{'us':18}" + "".join(f"{system:>10}" for system in systems) + "   best peer / parvum")
for name, of in figures.items():
    row = "".join(f"{statistics.median(of[system].values()):10.3f}" for system in systems)
    peers = [of[system] for system in systems if system != "parvum"]
    ratios = [min(peer[turn] for peer in peers) / of["parvum"][turn] for turn in of["parvum"]] if peers else []
    print(f"{name:18}{row}" + (f"{statistics.median(ratios):12.2f}" if ratios else ""))
PY
