# One program of MPI under Parvum and Debian's MPIs, for scripts that read this file. They set `here` (tools), `bin` (Parvum's commands) and
# `folder` (for the compiled programs).

# compile SOURCE: compiles for each MPI that is here. Their names are in `systems`.
compile() {
    systems=parvum
    "$bin/mpicc" -O2 -o "$folder/parvum" "$1"
    for peer in mpich openmpi; do
        if command -v "mpicc.$peer" >/dev/null && command -v "mpiexec.$peer" >/dev/null; then
            "mpicc.$peer" -O2 -o "$folder/$peer" "$1"
            systems="$systems $peer"
        else
            echo "$(basename "$0" .sh): skipped $peer: install Debian's package ($peer-bin or $peer)" >&2
        fi
    done
}

# launch SYSTEM RANKS [ARGUMENT...]: runs the program that was compiled for this MPI.
launch() {
    system=$1 ranks_of_launch=$2
    shift 2
    case $system in
    parvum) "$bin/mpiexec" -n "$ranks_of_launch" "$folder/parvum" "$@" ;;
    mpich) mpiexec.mpich -n "$ranks_of_launch" "$folder/mpich" "$@" ;;
    openmpi)
        OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
            mpiexec.openmpi --oversubscribe -n "$ranks_of_launch" "$folder/openmpi" "$@"
        ;;
    esac
}
