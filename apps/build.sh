#!/bin/sh
# Builds the programs of the comparison into OUTDIR, once for every message-passing system found:
#   NAME.parvum     against Parvum's PVM face (PARVUM_INCLUDE, PARVUM_LIB name its folders)
#   NAME.pvm346     against PVM 3.4.6 (Debian: pvm-dev)
#   NAME.openmpi    against Open MPI, NAME.mpich against MPICH (tools/peers.sh, or Debian's)
#   floors          without any
# Same compiler, same flags, same sources for all.
set -eu

[ $# -eq 1 ] || { echo "usage: build.sh OUTDIR" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")"

CC=${CC:-cc}
CFLAGS=${CFLAGS:--O2 -std=c11 -Wall -Wextra}
peers=${XDG_CACHE_HOME:-$HOME/.cache}/parvum/peers
command -v "$CC" >/dev/null || { echo "build.sh: no C compiler; install gcc" >&2; exit 1; }

# build SYSTEM FACE COMPILER FLAGS LIBRARIES
build() {
    system=$1 face=$2 compiler=$3 flags=$4 libraries=$5
    team="common/bench.c common/team_$face.c"
    # shellcheck disable=SC2086 # flags and files are lists of words
    {
        $compiler $CFLAGS $flags -o "$out/ring.$system" "ring_$face.c" common/ring.c $team $libraries -lm
        $compiler $CFLAGS $flags -o "$out/fft.$system" "fft_$face.c" common/fft.c common/fft_core.c $team $libraries -lm
        $compiler $CFLAGS $flags -o "$out/blocked.$system" blocked.c $team $libraries -lm
        [ "$face" != pvm ] || $compiler $CFLAGS $flags -o "$out/start.$system" start_pvm.c $libraries
    }
    echo "built for $system"
}

# shellcheck disable=SC2086
$CC $CFLAGS -o "$out/floors" floors.c floors_links.c common/bench.c -lm
echo "built floors"

if [ -n "${PARVUM_INCLUDE:-}" ] && [ -n "${PARVUM_LIB:-}" ] && [ -f "$PARVUM_INCLUDE/pvm3.h" ]; then
    build parvum pvm "$CC" "-I$PARVUM_INCLUDE" "-L$PARVUM_LIB -lpvm3"
fi

if [ -f /usr/include/pvm3.h ]; then
    # Debian ships the development library as an archive only; the shared one is what programs normally meet.
    real=$(find /usr/lib -name 'libpvm3.so.3' 2>/dev/null | head -n 1)
    build pvm346 pvm "$CC" "" "${real:--lpvm3}"
fi

# The first compiler of a list that exists.
first() {
    for candidate; do
        if command -v "$candidate" >/dev/null 2>&1; then
            echo "$candidate"
            return
        fi
    done
}

openmpi=$(first "$peers/openmpi/bin/mpicc" mpicc.openmpi)
[ -z "$openmpi" ] || build openmpi mpi "$openmpi" "" ""
mpich=$(first "$peers/mpich/bin/mpicc" mpicc.mpich)
[ -z "$mpich" ] || build mpich mpi "$mpich" "" ""
