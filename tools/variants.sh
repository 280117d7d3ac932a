#!/bin/sh
# Builds the engine and PVM's library by other compilers and options, for the table of compilers of
# `parvum compare --suite overhead`: build/variants/NAME/libparvum.so.0 and libpvm3.so.3.
#
# usage: variants.sh BUILD TARGET [NAME...]     all that this machine can build, or these
set -eu

build=$1
target=$2
shift 2

say() { printf '==> %s\n' "$*" >&2; }

# NAME, then what differs from `cargo build --release`, as variables. The lab knows the names (lab/src/suites/overhead/compilers.rs).
variants() {
    cat <<'LIST'
shipped
o0 CARGO_PROFILE_RELEASE_OPT_LEVEL=0
o1 CARGO_PROFILE_RELEASE_OPT_LEVEL=1
o2 CARGO_PROFILE_RELEASE_OPT_LEVEL=2
os CARGO_PROFILE_RELEASE_OPT_LEVEL=s
nolto CARGO_PROFILE_RELEASE_LTO=off
fatlto CARGO_PROFILE_RELEASE_LTO=fat CARGO_PROFILE_RELEASE_CODEGEN_UNITS=1
native RUSTFLAGS=-Ctarget-cpu=native
debian RUSTC=/usr/bin/rustc
LIST
}

# What was asked for and is not known.
for asked; do
    variants | grep -q "^$asked\( \|$\)" || {
        say "no variant is called $asked; there are: $(variants | cut -d ' ' -f 1 | tr '\n' ' ')"
        exit 1
    }
done

variants | while read -r name settings; do
    if [ $# -gt 0 ]; then
        wanted=no
        for asked; do [ "$asked" != "$name" ] || wanted=yes; done
        [ $wanted = yes ] || continue
    fi
    if [ "$name" = debian ] && [ ! -x /usr/bin/rustc ]; then
        say "$name: left out; Debian's compiler is not installed (apt-get install rustc-web)"
        continue
    fi
    # shellcheck disable=SC2086 # a list of settings
    env CARGO_TARGET_DIR="$target/variants/$name" $settings \
        cargo build --release --locked --quiet --package parvum-runtime --package parvum-pvm </dev/null
    mkdir -p "$build/variants/$name"
    # Both, for an interface takes the engine that lies beside it. Replaced, not changed: a task may have them in use.
    for library in parvum.so.0 pvm3.so.3; do
        file=$build/variants/$name/lib$library
        cp "$target/variants/$name/release/lib${library%.[0-9]}" "$file.new"
        mv "$file.new" "$file"
    done
    code=$(size "$build/variants/$name/libparvum.so.0" | awk 'NR == 2 { print int($1 / 1024) }')
    say "$name: $code KiB of code in the engine${settings:+ ($settings)}"
done
