#!/bin/sh
# Builds libmpifort, MPI's calls for Fortran, into OUTDIR: with the mpi.h of INCLUDE and the libmpi of LIB. It is C, and needs no
# Fortran compiler. Where there is gfortran, it makes the modules mpi and mpi_f08 too, into MODULES, from what DESCRIBED, the
# command mpi-described, writes.
set -eu

[ $# -eq 5 ] || { echo "usage: build.sh INCLUDE LIB OUTDIR MODULES DESCRIBED" >&2; exit 2; }
include=$(cd "$1" && pwd) lib=$2 out=$3 modules=$4 described=$(realpath "$5")
here=$(cd "$(dirname "$0")" && pwd)

# Nothing is made again if no source and no compiler has changed since.
stamp=$out/.libmpifort.made
compilers=$(${CC:-cc} --version 2>/dev/null | head -n 1; gfortran --version 2>/dev/null | head -n 1)
is_fresh() {
    [ "$(cat "$stamp" 2>/dev/null)" = "$compilers" ] || return 1
    for source in "$0" "$here"/*.[ch] "$include"/mpi*.h "$described"; do [ ! "$source" -nt "$stamp" ] || return 1; done
}
! is_fresh || exit 0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# compile FILE...: as parts of the library.
objects=
compile() {
    for file in "$@"; do
        object=$work/$(basename "$file" .c).o
        # shellcheck disable=SC2086 # flags are a list of words
        ${CC:-cc} ${CFLAGS:--O2} -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror -fPIC -fvisibility=hidden $binding \
            -I "$include" -I "$here" -c "$file" -o "$object"
        objects="$objects $object"
    done
}

binding=
"$described" functions "$work"
compile "$here/face.c" "$work/functions.c" "$here/texts.c" "$here/attributes.c" "$here/special.c"
if command -v gfortran >/dev/null 2>&1; then
    "$described" fortran "$work"
    # Descriptors of arrays are the compiler's own, and its header lies with it.
    binding="-isystem $(dirname "$(gfortran -print-file-name=include/ISO_Fortran_binding.h)")"
    compile "$here/sections.c" "$work/functions08.c"
    (cd "$work" && gfortran -I "$include" -fsyntax-only mpi.f90 && gfortran -O2 -fPIC -c mpi_f08.f90)
    # The module's operators; its variables are in sections.c.
    objects="$objects $work/mpi_f08.o"
fi
# It looks for libmpi beside itself too, so that a program that was linked with a path to it needs no other.
# shellcheck disable=SC2016,SC2086
${CC:-cc} -shared -Wl,-soname,libmpifort.so.12 -Wl,-rpath,'$ORIGIN' -Wl,-z,defs -o "$work/libmpifort.so.12" $objects \
    -L "$lib" -l:libmpi.so.12

# replace NAME FOLDER: what did not change stays, so that what depends on it is not made again.
replace() {
    cmp -s "$work/$1" "$2/$1" || mv "$work/$1" "$2/$1"
}
replace libmpifort.so.12 "$out"
ln -sf libmpifort.so.12 "$out/libmpifort.so"
for module in mpi.mod mpi_f08.mod; do
    [ ! -f "$work/$module" ] || replace "$module" "$modules"
done
printf '%s\n' "$compilers" >"$stamp"
