#!/bin/sh
# Builds libmpifort, MPI's calls for Fortran, into OUTDIR: with the mpi.h of INCLUDE and the libmpi of LIB. It is C, and needs no
# Fortran compiler. Where there is gfortran, it makes the module mpi too, into MODULES.
set -eu

[ $# -eq 4 ] || { echo "usage: build.sh INCLUDE LIB OUTDIR MODULES" >&2; exit 2; }
include=$1 lib=$2 out=$3 modules=$4
here=$(cd "$(dirname "$0")" && pwd)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

objects=
for theme in face functions texts attributes special; do
    # shellcheck disable=SC2086 # flags are a list of words
    ${CC:-cc} ${CFLAGS:--O2} -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror -fPIC -fvisibility=hidden -I "$include" \
        -c "$here/$theme.c" -o "$work/$theme.o"
    objects="$objects $work/$theme.o"
done
# It looks for libmpi beside itself too, so that a program that was linked with a path to it needs no other.
# shellcheck disable=SC2016,SC2086
${CC:-cc} -shared -Wl,-soname,libmpifort.so.12 -Wl,-rpath,'$ORIGIN' -Wl,-z,defs -o "$work/libmpifort.so.12" $objects \
    -L "$lib" -l:libmpi.so.12

# What did not change stays, so that what depends on it is not made again.
cmp -s "$work/libmpifort.so.12" "$out/libmpifort.so.12" || mv "$work/libmpifort.so.12" "$out/libmpifort.so.12"
ln -sf libmpifort.so.12 "$out/libmpifort.so"

if command -v gfortran >/dev/null 2>&1; then
    (cd "$work" && gfortran -I "$here/../include" -fsyntax-only "$here/mpi.f90")
    cmp -s "$work/mpi.mod" "$modules/mpi.mod" || mv "$work/mpi.mod" "$modules/mpi.mod"
fi
