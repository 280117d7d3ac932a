#!/bin/sh
# Runs the test suite of mpi4py, as its authors ship it, on PyPI's MPICH and on Parvum with the same wheel, and on both again by the
# standard's binary interface, with an mpi4py that is compiled for it; says how many tests passed on each, and which fail on Parvum alone.
#
# usage: tools/mpi4py.sh [RANKS ...]        (1 2 4); MPI4PY_SUITE="-i test_cco" chooses modules, as the suite's own options do
#
# `./x mpi4py` builds first. The release, the wheel's environment and the output of each run lie in ~/.cache/parvum/peers/mpi4py.
set -eu
export LC_ALL=C

cd "$(dirname "$0")/.."
build=$(pwd -P)/build
peers=${XDG_CACHE_HOME:-$HOME/.cache}/parvum/peers
home=$peers/mpi4py
version=4.1.2
limit=3600

say() { printf '%s\n' "$*"; }
fail() {
    printf 'mpi4py: %s\n' "$*" >&2
    exit 2
}

[ -x "$build/bin/mpiexec" ] || fail "$build has no mpiexec: ./x build"
[ -x "$peers/mpich/bin/mpiexec" ] && [ -e "$home/wheel/installed" ] || fail "PyPI's mpich and mpi4py are not installed: ./x peers"

# An mpi4py for the standard's binary interface: there is no wheel of that kind.
compile() {
    [ ! -e "$home/abi/installed" ] || return 0
    say "mpi4py: compiling $version for libmpi_abi.so.1"
    rm -rf "$home/abi"
    python3 -m venv "$home/abi" || fail "python3 cannot make environments (python3-venv)"
    MPICC=$build/bin/mpicc_abi CFLAGS=-O1 "$home/abi/bin/pip" install --quiet --disable-pip-version-check \
        --no-binary mpi4py "mpi4py==$version" numpy || fail "pip could not compile it"
    touch "$home/abi/installed"
}

suite() {
    [ ! -f "$home/mpi4py-$version/test/main.py" ] || return 0
    (cd "$home" && wheel/bin/pip download --quiet --disable-pip-version-check --no-deps --no-binary mpi4py "mpi4py==$version" &&
        tar xf "mpi4py-$version.tar.gz") || fail "pip could not fetch its source"
}

# run SYSTEM RANKS: the output goes to $home/SYSTEM-RANKS.txt.
run() {
    case $1 in
    mpich*) prefix=$peers/mpich ;;
    *) prefix=$build ;;
    esac
    case $1 in
    *-abi) python=abi ;;
    *) python=wheel ;;
    esac
    PARVUM_DIR=$home/machine-$1-$2 TMPDIR=$home/files-$1-$2
    export PARVUM_DIR TMPDIR
    mkdir -p "$TMPDIR"
    # shellcheck disable=SC2086 # several words
    (cd "$home/mpi4py-$version" && LD_LIBRARY_PATH=$prefix/lib timeout -k 10 $limit "$prefix/bin/mpiexec" -n "$2" \
        "$home/$python/bin/python" test/main.py ${MPI4PY_SUITE:-} >"$home/$1-$2.txt" 2>&1) || :
    [ "$prefix" != "$build" ] || "$build/bin/parvum" down >/dev/null 2>&1 || :
    rm -rf "$TMPDIR"
}

# What failed in a run, each once, whichever ranks say so; nothing else is in an output that is whole.
failed() {
    grep -aq '^Ran ' "$home/$1-$2.txt" || say "the suite did not end: see $home/$1-$2.txt"
    grep -aE '^(FAIL|ERROR): ' "$home/$1-$2.txt" | sort -u || :
}

# As the first rank that is done says it.
told() {
    ran=$(grep -aoE '^Ran [0-9]+ tests? in [0-9.]+s' "$home/$1-$2.txt" | head -n 1)
    how=$(grep -aE '^(OK|FAILED)' "$home/$1-$2.txt" | head -n 1)
    printf '%-11s %5s  %s: %s\n' "$1" "$2" "${ran:-nothing}" "${how:-no end}"
}

compile
suite
[ $# -gt 0 ] || set -- 1 2 4
bad=0
say 'system      ranks'
for ranks; do
    for kind in '' -abi; do
        for system in mpich parvum; do
            run $system$kind "$ranks"
            told $system$kind "$ranks"
        done
        failed mpich$kind "$ranks" >"$home/theirs"
        failed parvum$kind "$ranks" >"$home/ours"
        alone=$(comm -13 "$home/theirs" "$home/ours")
        [ -z "$alone" ] || {
            bad=1
            say "fails on parvum$kind alone, with $ranks ranks:"
            say "$alone"
        }
    done
done
exit $bad
