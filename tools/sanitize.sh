#!/bin/sh
# Runs tests under Miri and ThreadSanitizer, with Rust's nightly toolchain: `./x sanitize`, `./x sanitize miri`, `./x sanitize threads`.
#
# Miri interprets unit tests of the pure crates and of the rings on heap memory: undefined behaviour fails a test. ThreadSanitizer watches
# unit tests of structures that threads share, and programs in C whose threads call PVM, on libraries that are instrumented too.
# A part that cannot run here prints `skipped` and why.
set -eu

usage() {
    echo "usage: ./x sanitize [miri|threads]" >&2
    exit 2
}
[ $# -le 1 ] || usage
what=${1:-all}
case $what in
miri | threads | all) ;;
*) usage ;;
esac

top=$(pwd -P)
target=${CARGO_TARGET_DIR:-$top/target}
host=$(rustc -vV | sed -n 's/^host: //p')
logs=$target/sanitize
passed=0 failed=0 skipped=0
mkdir -p "$logs"

# has COMPONENT: whether nightly has it, after rustup has tried to install it.
has() {
    rustup component list --toolchain nightly --installed 2>/dev/null | grep -q "^$1" ||
        rustup component add --toolchain nightly "$1" >/dev/null 2>&1
}

skip() {
    echo "skipped: $1: $2"
    skipped=$((skipped + 1))
}

# wrong NAME LOG: shows the end of the log.
wrong() {
    failed=$((failed + 1))
    tail -n 60 "$2"
    echo "sanitize: $1 fails; the whole log is $2"
}

# count NAME LOG STATUS: adds what libtest has counted.
count() {
    good=$(awk '/^test result: / { n += $4 } END { print n + 0 }' "$2")
    passed=$((passed + good))
    # Undefined behaviour ends the program before libtest counts, so each failure counts as one.
    if [ "$3" -eq 0 ]; then printf '%-28s %4s tests, nothing found\n' "$1" "$good"; else wrong "$1" "$2"; fi
}

# --- Miri ------------------------------------------------------------------------------------------------------------

# Addresses as numbers are for crates that describe the program's memory so; the others keep each pointer's provenance.
provenance=strict

# miri CRATE [ARGUMENT...]: unit tests of the crate, as libtest's arguments say.
miri() {
    crate=$1
    shift
    log=$logs/miri-$crate.log status=0
    # Properties are tried with few cases, and keep no files.
    PROPTEST_CASES=4 PROPTEST_DISABLE_FAILURE_PERSISTENCE=true CARGO_TARGET_DIR="$logs/miri" \
        MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-$provenance-provenance" \
        cargo +nightly miri test --locked --lib --package "$crate" -- "$@" >"$log" 2>&1 </dev/null || status=$?
    count "miri $crate" "$log" $status
}

run_miri() {
    miri parvum-seed
    miri parvum-wire
    miri parvum-transport gather:: own::
    miri parvum-stream
    miri parvum-api pointers::
    # The rest of the crate maps memory, and Miri has no kernel.
    miri parvum-shm ring:: share:: fill::
    # Tests with few rounds. The simulations take hours.
    miri parvum-consistency keys:: claims:: diff::tests::diff_contains moving:: check_2 check_6 check_7 --skip never_both
    miri parvum-collectives plans::ways plans::hosts operators::tests::real operators::tests::identity operators::tests::values \
        operators::tests::bytes tests::deaths::scatter_serves
    provenance=permissive
    miri parvum-datatypes --skip random_types --skip distributed_arrays --skip many_items --skip follow_the_type_map \
        --skip signatures --skip at_even_distances --skip a_million --skip two_to_the_31
}

# --- ThreadSanitizer -------------------------------------------------------------------------------------------------

# instrumented COMMAND [ARGUMENT...]: cargo with the sanitizer in all crates and in the standard library.
instrumented() {
    command=$1
    shift
    RUSTFLAGS="-Zsanitizer=thread" CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=line-tables-only CARGO_TARGET_DIR="$logs/threads" \
        cargo +nightly "$command" -Zbuild-std --target "$host" --locked --lib "$@"
}

# threads CRATE [ARGUMENT...]: unit tests of the crate. One at a time: the sanitizer does not see rustix unmap memory, and would take the
# mapping of another test at the same address for shared.
threads() {
    crate=$1
    shift
    log=$logs/threads-$crate.log status=0
    instrumented test --package "$crate" -- --test-threads=1 "$@" >"$log" 2>&1 </dev/null || status=$?
    count "threads $crate" "$log" $status
}

# program SOURCE: a program in C, as one task, on the instrumented libraries.
program() {
    name=$(basename "$1" .c)
    log=$logs/program-$name.log dir=$(mktemp -d)
    "${CC:-cc}" -fsanitize=thread -g -std=c11 -Itests/programs/include -Iinterfaces/pvm/include "$1" tools/sanitize.c \
        -o "$logs/programs/$name" -L"$logs/lib" -lpvm3 -lgpvm3 -pthread
    # A report ends the program with 66, as any other failure does.
    if LD_LIBRARY_PATH=$logs/lib PARVUM_DIR=$dir TSAN_OPTIONS=exitcode=66 \
        "$target/debug/parvum" run -n 1 "$logs/programs/$name" >"$log" 2>&1 </dev/null; then
        passed=$((passed + 1))
        printf '%-28s      nothing found\n' "threads $name.c"
    else
        wrong "threads $name.c" "$log"
    fi
    PARVUM_DIR=$dir "$target/debug/parvum" down >/dev/null 2>&1 || :
    rm -rf "$dir"
}

run_threads() {
    for crate in shm sync segment control service; do threads parvum-$crate; done
    threads parvum-consistency keys:: claims::
    if ! echo 'int main(void) { return 0; }' | "${CC:-cc}" -fsanitize=thread -x c - -o /dev/null 2>/dev/null; then
        skip programs "the C compiler has no ThreadSanitizer"
        return
    fi
    log=$logs/threads-build.log
    # The command and the daemon of `./x test`; what runs in the program's process is instrumented.
    if ! { cargo build --locked --workspace --all-targets &&
        instrumented build --package parvum-runtime --package parvum-pvm; } >"$log" 2>&1 </dev/null; then
        wrong "the build of the instrumented libraries" "$log"
        return
    fi
    mkdir -p "$logs/lib" "$logs/programs"
    for name in libparvum.so libparvum.so.0; do ln -sf "$logs/threads/$host/debug/libparvum.so" "$logs/lib/$name"; done
    for name in libpvm3.so libpvm3.so.3 libgpvm3.so; do ln -sf "$logs/threads/$host/debug/libpvm3.so" "$logs/lib/$name"; done
    for source in threads threads_waiting; do program tests/programs/pvm/$source.c; done
}

if ! command -v rustup >/dev/null 2>&1 || ! cargo +nightly --version >/dev/null 2>&1; then
    skip sanitize "rustup has no nightly toolchain here (rustup toolchain install nightly)"
elif ! has rust-src; then
    skip sanitize "the nightly toolchain has no rust-src, and rustup could not install it"
else
    if [ "$what" != threads ]; then
        if has miri; then run_miri; else skip miri "the nightly toolchain has no miri, and rustup could not install it"; fi
    fi
    if [ "$what" != miri ]; then run_threads; fi
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
