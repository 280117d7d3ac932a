#!/bin/sh
# Builds libfpvm3, PVM's calls for Fortran, static and shared, into OUTDIR: with the pvm3.h of INCLUDE and the libpvm3
# of LIB. It is C, and needs no Fortran compiler.
set -eu

[ $# -eq 3 ] || { echo "usage: build.sh INCLUDE LIB OUTDIR" >&2; exit 2; }
include=$1 lib=$2 out=$3
here=$(dirname "$0")

# Nothing is made again if no source and no compiler has changed since.
stamp=$out/.libfpvm3.made
compilers=$(${CC:-cc} --version 2>/dev/null | head -n 1; :)
is_fresh() {
    [ "$(cat "$stamp" 2>/dev/null)" = "$compilers" ] || return 1
    for source in "$0" "$here"/*.[ch] "$include/pvm3.h"; do [ ! "$source" -nt "$stamp" ] || return 1; done
}
! is_fresh || exit 0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

objects=
for theme in face process machine buffers messages groups; do
    # shellcheck disable=SC2086 # flags are a list of words
    ${CC:-cc} ${CFLAGS:--O2} -std=c11 -D_POSIX_C_SOURCE=200809L -D_DEFAULT_SOURCE -Wall -Wextra -Werror -fPIC \
        -fvisibility=hidden -I "$include" -c "$here/$theme.c" -o "$work/$theme.o"
    objects="$objects $work/$theme.o"
done

# shellcheck disable=SC2086
ar rcsD "$work/libfpvm3.a" $objects
# It looks for libpvm3 beside itself too, so that a program that was linked with a path to it needs no other.
# shellcheck disable=SC2016,SC2086
${CC:-cc} -shared -Wl,-soname,libfpvm3.so.3 -Wl,-rpath,'$ORIGIN' -Wl,-z,defs -o "$work/libfpvm3.so.3" $objects \
    -L "$lib" -lpvm3

# What did not change stays, so that what depends on it is not made again.
for file in libfpvm3.a libfpvm3.so.3; do
    cmp -s "$work/$file" "$out/$file" || mv "$work/$file" "$out/$file"
done
ln -sf libfpvm3.so.3 "$out/libfpvm3.so"
printf '%s\n' "$compilers" >"$stamp"
