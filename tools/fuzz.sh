#!/bin/sh
# Runs the fuzz targets in fuzz/, each for some seconds or so many runs: `./x fuzz 60`, `./x fuzz -runs=10000000 hello`.
# What `cargo fuzz run -s none` does, with stable Rust and nothing to install but a C++ compiler.
set -eu

usage() {
    echo "usage: ./x fuzz SECONDS|-runs=N [TARGET...]" >&2
    exit 2
}

case ${1:-} in
-runs=*[!0-9]* | -runs= | '' ) usage ;;
-runs=*) limit=$1 ;;
*[!0-9]*) usage ;;
*) limit=-max_total_time=$1 ;;
esac
shift

top=$(pwd -P)
host=$(rustc -vV | sed -n 's/^host: //p')
target=${CARGO_TARGET_DIR:-$top/target}/fuzz
# As cargo-fuzz sets it: libFuzzer learns from these which input reached new code.
RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing" \
    cargo build --locked --release --manifest-path fuzz/Cargo.toml --target "$host" --target-dir "$target"
built=$target/$host/release

[ $# -gt 0 ] || set -- $(sed -n 's/^name = "\([a-z]*\)"$/\1/p' fuzz/Cargo.toml)
mkdir -p "$target/found"
for name in "$@"; do
    [ -x "$built/$name" ] || { echo "fuzz: no target $name" >&2; exit 2; }
    mkdir -p "$target/corpus/$name"
    # What is found new stays out of the project; its own corpus is the start.
    if "$built/$name" "$limit" -max_len=4096 -print_final_stats=1 -artifact_prefix="$target/found/$name-" \
        "$target/corpus/$name" "fuzz/corpus/$name" >"$target/$name.log" 2>&1; then
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$target/$name.log")
        rate=$(sed -n 's/^stat::average_exec_per_sec: *//p' "$target/$name.log")
        printf '%-12s %12s runs, %s a second, nothing found\n' "$name" "$runs" "$rate"
    else
        tail -n 40 "$target/$name.log" >&2
        echo "fuzz: $name fails; the input is in $target/found, the whole log is $target/$name.log" >&2
        exit 1
    fi
done
