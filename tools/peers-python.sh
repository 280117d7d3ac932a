#!/bin/sh
# Installs the peers of the suite python into an environment of their own: Ray, dask.distributed, loky, joblib, scikit-learn, mpi4py and NumPy, from PyPI.
# MPICH and Open MPI, on which mpi4py is measured, come by tools/peers.sh. Safe to run again: what is there stays.
#
# usage: tools/peers-python.sh            prints the environment's interpreter as its last line
set -eu

home=${XDG_CACHE_HOME:-$HOME/.cache}/parvum/peers/python
# Versions change behaviour, so a comparison should meet the same ones on every machine.
packages="ray==2.60.0 distributed==2026.8.0 dask==2026.8.0 loky==3.7.0 joblib==1.6.0 mpi4py==4.1.2 numpy scikit-learn cloudpickle"

fail() {
    printf 'peers-python: %s\n' "$*" >&2
    exit 1
}

if [ ! -e "$home/installed" ]; then
    python=${PYTHON:-python3}
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || fail "$python is no Python of 3.10 or later; set PYTHON"
    rm -rf "$home"
    mkdir -p "${home%/*}"
    "$python" -m venv "$home" || fail "$python cannot make environments (python3-venv)"
    for package in $packages; do
        "$home/bin/pip" install --quiet --disable-pip-version-check "$package" >>"$home/pip.log" 2>&1 ||
            printf 'peers-python: %s did not install (see %s)\n' "$package" "$home/pip.log" >&2
    done
    touch "$home/installed"
fi
printf '%s\n' "$home/bin/python"
