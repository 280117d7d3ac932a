#!/bin/sh
# Builds the programs of the comparison into OUTDIR, once for every message-passing system found:
#   NAME.parvum     against Parvum's PVM face (PARVUM_INCLUDE, PARVUM_LIB name its folders)
#   NAME.engine     against Parvum's engine itself; NAME.nx, NAME.cmmd against those interfaces of Parvum's
#   NAME.tmk        against Parvum's TreadMarks; NAME.hybrid against it and PVM
#   NAME.pvm346     against PVM 3.4.6 (Debian: pvm-dev)
#   NAME.openmpi    against Open MPI, NAME.mpich against MPICH (tools/peers.sh, or Debian's)
#   NAME.openmpi4   against Debian's Open MPI, NAME.mpich4 against Debian's MPICH
#   floors, refuse, busy, from-cold, sockets.sockets, npb.alone  without any
# Same compiler, same flags, same sources for all.
set -eu

[ $# -eq 1 ] || { echo "usage: build.sh OUTDIR" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")"

# headers INTERFACE...: the options for Parvum's headers. In the sources each interface has a folder; an installed Parvum has one for all.
headers() {
    [ -d ../interfaces ] || { echo "-I$PARVUM_INCLUDE"; return; }
    for interface; do printf '%s ' "-I../interfaces/$interface/include"; done
    echo "-I../crates/engine/runtime/include -I../crates/engine/api/include"
}

# The folder of parvum.h alone: programs of other systems use their own headers.
clock=../crates/engine/runtime/include
if [ ! -d ../interfaces ] && [ -n "${PARVUM_INCLUDE:-}" ]; then
    clock=$out/.headers
    mkdir -p "$clock"
    cmp -s "$PARVUM_INCLUDE/parvum.h" "$clock/parvum.h" || cp "$PARVUM_INCLUDE/parvum.h" "$clock/parvum.h"
fi

# `./x env` has compilers find Parvum's headers and libraries; the others' programs want their own.
unset C_INCLUDE_PATH CPLUS_INCLUDE_PATH CPATH LIBRARY_PATH

CC=${CC:-cc}
CFLAGS=${CFLAGS:--O2 -std=c11 -Wall -Wextra}
peers=${XDG_CACHE_HOME:-$HOME/.cache}/parvum/peers
command -v "$CC" >/dev/null || { echo "build.sh: no C compiler; install gcc" >&2; exit 1; }

# The newest of what every program depends on: headers, and this script.
newest=build.sh
for header in *.h */*.h ../interfaces/*/include/*.h ../crates/engine/*/include/*.h ${PARVUM_INCLUDE:+"$PARVUM_INCLUDE"/*.h}; do
    [ ! "$header" -nt "$newest" ] || newest=$header
done
mkdir -p "$out/.made"

# make PROGRAM COMMAND...: runs the command, which makes the program, unless the last such command was the same and no source is newer.
make() {
    program=$1
    shift
    made=$out/.made/$program
    if [ -x "$out/$program" ] && [ "$out/$program" -nt "$newest" ] && [ "$(cat "$made" 2>/dev/null)" = "$*" ]; then
        for word; do
            case $word in
            *.c) [ ! "$word" -nt "$out/$program" ] || break ;;
            esac
            word=
        done
        [ -n "$word" ] || return 0
    fi
    "$@"
    printf '%s\n' "$*" >"$made"
}

# compile OUTPUT SOURCE... with the compiler, flags and libraries of the system at hand
compile() {
    output=$1
    shift
    # shellcheck disable=SC2086 # flags are lists of words
    make "$output.$system" $compiler $CFLAGS $flags -o "$out/$output.$system" "$@" $libraries -lm
}

# measured FACE TEAM...: the programs that send messages, over an interface
measured() {
    face=$1
    shift
    compile ring "ring/ring_$face.c" ring/ring.c common/series.c common/bench.c "$@"
    compile loggp ring/loggp.c "ring/ring_$face.c" common/series.c common/bench.c "$@"
    counted "$face" "$@"
    tailed "$face" "$@"
    [ "$face" != mpi ] || set -- "$@" rate/rate_windows_mpi.c
    compile rate "rate/rate_$face.c" rate/rate.c common/series.c common/bench.c "$@"
    compile rate-1024 -DRATE_WINDOW=1024 "rate/rate_$face.c" rate/rate.c common/series.c common/bench.c "$@"
    compile pairs "rate/rate_$face.c" rate/pairs.c common/series.c common/bench.c "$@"
}

# counted FACE TEAM...: the program that counts instructions
counted() {
    face=$1
    shift
    compile counted ring/counted.c "ring/ring_$face.c" common/counter.c common/bench.c "$@"
}

# tailed FACE TEAM...: the program of the slow messages
tailed() {
    face=$1
    shift
    compile tail "ring/ring_$face.c" tail/tail.c common/histogram.c common/bench.c "$@"
}

# shared FORM FILE...: the programs that are compared by shared memory and by messages
shared() {
    form=$1
    shift
    for name in sort mandelbrot network; do
        compile $name "-I$clock" "shared/${name}_$form.c" shared/${name}_core.c shared/share.c common/bench.c "$@"
    done
}

# npb FACE: LU, SP and BT of the NAS benchmarks, which share one kernel
npb() {
    kernel= layer=npb/layers/layer_$1.c
    [ "$1" != pvm ] || layer="$layer teams/tasks_pvm.c"
    for part in npb options report classes problem grid rhs lu sp solve bt bt_line verify traffic; do kernel="$kernel npb/$part.c"; done
    # shellcheck disable=SC2086 # lists of files
    compile npb -O3 -march=native $kernel common/bench.c $layer
}

# grouped FACE FILE...: the program of group operations, for interfaces that have them
grouped() {
    face=$1
    shift
    compile group "group/group_$face.c" group/group.c common/series.c common/bench.c "$@"
}

# only_mpi TEAM: the programs of what MPI alone has
only_mpi() {
    compile rate-blocking rate/rate_blocking_mpi.c rate/rate.c rate/rate_windows_mpi.c common/series.c common/bench.c "$1"
    compile tail-load -DTAIL_LOAD ring/ring_mpi.c tail/tail.c tail/load_mpi.c common/histogram.c common/bench.c "$1"
    compile guidelines guidelines/guidelines_mpi.c guidelines/list.c common/bench.c "$1"
    compile arrival arrival/arrival_mpi.c arrival/clocks.c common/bench.c "$1"
    compile vector mpi/vector_mpi.c common/series.c common/bench.c "$1"
    compile window mpi/window_mpi.c common/series.c common/bench.c "$1"
    compile halves mpi/halves_mpi.c common/bench.c "$1"
    compile threads mpi/threads_mpi.c common/series.c common/bench.c "$1" -pthread
    compile both-send lessons/both_send_mpi.c common/bench.c "$1"
}

team_pvm="teams/team_pvm.c teams/tasks_pvm.c"

# build SYSTEM FACE COMPILER FLAGS LIBRARIES
# shellcheck disable=SC2086 # the team is a list of files
build() {
    system=$1 face=$2 compiler=$3 flags=$4 libraries=$5
    team=teams/team_$face.c
    [ "$face" != pvm ] || team=$team_pvm
    measured "$face" $team
    compile overlap "overlap/overlap_$face.c" overlap/overlap.c common/bench.c $team
    case $face in
    pvm) grouped pvm group/group_calls_pvm.c $team ;;
    mpi) grouped mpi "$team" && only_mpi "$team" ;;
    esac
    compile fft "fft/fft_$face.c" fft/fft.c fft/fft_core.c common/bench.c $team
    compile blocked job/blocked.c common/bench.c $team
    compile growth growth/growth.c teams/together.c common/bench.c $team
    compile spawn "spawn/spawn_$face.c" spawn/spawn.c common/bench.c $team
    compile job "job/job_$face.c"
    [ "$face" != pvm ] || compile start spawn/start_pvm.c
    [ "$face" != pvm ] || compile pvmtime pvmtime/pvmtime.c pvmtime/pvmtime_main.c common/bench.c
    shared pass shared/share_pass.c teams/together.c "shared/share_$face.c" $team
    npb "$face"
    echo "built for $system"
}

# shellcheck disable=SC2086
make floors $CC $CFLAGS -o "$out/floors" floors/floors.c floors/floors_cores.c floors/floors_links.c common/bench.c -lm
# shellcheck disable=SC2086
make refuse $CC $CFLAGS -o "$out/refuse" job/refuse.c
# shellcheck disable=SC2086
make busy $CC $CFLAGS -o "$out/busy" job/busy.c common/bench.c -lm
cp job/from_cold.sh "$out/from-cold"
# shellcheck disable=SC2086
make sockets.sockets $CC $CFLAGS -o "$out/sockets.sockets" floors/sockets.c common/bench.c -pthread -lm
system=alone compiler=$CC flags="" libraries=""
npb alone
echo "built floors"

# together SYSTEM LIBRARY: an interface of Parvum's whose programs `parvum run -n N` starts
together() {
    system=$1
    library=$2
    [ -e "$PARVUM_LIB/lib$library.so" ] || return 0
    compiler=$CC flags=$(headers "$system")
    libraries="-L$PARVUM_LIB -l$library -l:libparvum.so.0"
    compile ring "ring/ring_$system.c" ring/ring.c common/series.c common/bench.c "teams/team_$system.c"
    compile fft "fft/fft_$system.c" fft/fft.c fft/fft_core.c common/bench.c "teams/team_$system.c"
    counted "$system" "teams/team_$system.c"
    tailed "$system" "teams/team_$system.c"
    ledgered "$system" "teams/team_$system.c"
    [ "$system" != nx ] || grouped nx teams/team_nx.c
    [ "$system" != nx ] || compile overlap overlap/overlap_nx.c overlap/overlap.c common/bench.c teams/team_nx.c
    [ "$system" != nx ] || compile pairs rate/rate_nx.c rate/pairs.c common/series.c common/bench.c teams/team_nx.c
    echo "built for Parvum's $system"
}

# ledgered FACE TEAM...: the programs that read Parvum's ledger
ledgered() {
    face=$1
    shift
    compile token "token/token_$face.c" token/token.c common/ledger.c common/series.c common/bench.c "$@"
    compile exchange "exchange/exchange_$face.c" exchange/exchange.c common/ledger.c common/series.c common/bench.c "$@"
}

# shellcheck disable=SC2086 # the team is a list of files
if [ -n "${PARVUM_INCLUDE:-}" ] && [ -n "${PARVUM_LIB:-}" ] && [ -f "$PARVUM_INCLUDE/pvm3.h" ]; then
    build parvum pvm "$CC" "-I$PARVUM_INCLUDE" "-L$PARVUM_LIB -lpvm3"
    flags="-I$PARVUM_INCLUDE $(headers)"
    system=parvum libraries="-L$PARVUM_LIB -lpvm3 -l:libparvum.so.0"
    ledgered pvm teams/pass_pvm.c $team_pvm
    system=engine
    measured engine teams/engine.c $team_pvm
    compile fft fft/fft_engine.c fft/fft.c fft/fft_core.c common/bench.c teams/engine.c $team_pvm
    ledgered engine teams/engine.c $team_pvm
    compile job job/job_engine.c
    echo "built for Parvum's engine"
    if [ -e "$PARVUM_LIB/libcontainers.so" ]; then
        system=containers flags="-I$PARVUM_INCLUDE $(headers containers)"
        libraries="-L$PARVUM_LIB -lcontainers -lpvm3"
        calls="ring/ring.c common/series.c common/bench.c teams/containers.c $team_pvm"
        compile ring ring/ring_containers.c $calls
        compile rpc ring/rpc_containers.c $calls
        counted containers teams/containers.c $team_pvm
        compile fft fft/fft_containers.c fft/fft.c fft/fft_core.c common/bench.c teams/containers.c $team_pvm
        echo "built for Parvum's containers"
    fi
    if [ -e "$PARVUM_LIB/libTmk.so" ]; then
        treadmarks=$(headers treadmarks)
        system=tmk flags=$treadmarks libraries="-L$PARVUM_LIB -lTmk"
        shared tmk shared/share_tmk.c
        system=hybrid flags="$treadmarks -I$PARVUM_INCLUDE -DHYBRID" libraries="-L$PARVUM_LIB -lTmk -lpvm3"
        shared tmk shared/share_tmk.c shared/share_pvm.c
        echo "built for Parvum's TreadMarks, alone and with PVM"
    fi
    together nx nx
    together cmmd cmmd
fi

if [ -f /usr/include/pvm3.h ]; then
    # Debian ships the development library as an archive only; the shared one is what programs normally meet.
    real=$(find /usr/lib -name 'libpvm3.so.3' 2>/dev/null | head -n 1)
    group_library=$(find /usr/lib -name 'libgpvm3.so.3' 2>/dev/null | head -n 1)
    build pvm346 pvm "$CC" "" "${group_library:--lgpvm3} ${real:--lpvm3}"
fi

# The first compiler of a list that exists, and has its header: Debian's wrapper of Open MPI comes without.
first() {
    for candidate; do
        if command -v "$candidate" >/dev/null 2>&1 && "$candidate" -E ring/ring_mpi.c >/dev/null 2>&1; then
            echo "$candidate"
            return
        fi
    done
}

# mpi SYSTEM COMPILER...
mpi() {
    name=$1
    shift
    compiler=$(first "$@")
    [ -z "$compiler" ] || build "$name" mpi "$compiler" "" ""
}

mpi openmpi "$peers/openmpi/bin/mpicc" mpicc.openmpi
mpi mpich "$peers/mpich/bin/mpicc" mpicc.mpich
mpi openmpi4 mpicc.openmpi
mpi mpich4 mpicc.mpich

# Programs in Python: NAME.python over Parvum's package, NAME.ray ... over the peers that tools/peers-python.sh has installed. Each is a script that
# starts one of python/, with the interpreter of that environment.
python_home=$peers/python
python_program() {
    script=$out/$1.$2
    shift 2
    {
        printf '#!/bin/sh\n'
        printf 'exec'
        for word; do printf " '%s'" "$word"; done
        printf ' "$@"\n'
    } >"$script"
    chmod +x "$script"
}
if [ -e "$python_home/installed" ]; then
    top=$(cd .. && pwd)
    interpreter=$python_home/bin/python
    python_program pyring python env "PYTHONPATH=$top/build/python" "$interpreter" "$top/apps/python/ring_parvum.py"
    for system in multiprocessing ray dask; do
        python_program pyring $system "$interpreter" "$top/apps/python/ring_$system.py"
    done
    for mpi in mpich openmpi; do
        python_program pyring mpi4py$mpi env "LD_LIBRARY_PATH=$peers/$mpi/lib" MPI4PY_MPIABI=$mpi OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
            "$peers/$mpi/bin/mpiexec" -n 2 "$interpreter" "$top/apps/python/ring_mpi4py.py" --name $mpi
    done
    for name in tasks joblib; do
        python_program py$name python env "PYTHONPATH=$top/build/python" "$interpreter" "$top/apps/python/${name}_any.py" --system parvum
        for system in multiprocessing loky ray dask; do
            python_program py$name $system "$interpreter" "$top/apps/python/${name}_any.py" --system $system
        done
    done
    echo "built for Python's systems"
fi
