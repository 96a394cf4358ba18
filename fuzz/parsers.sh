#!/bin/sh
# Fuzzes everything that reads what others have written, with libFuzzer on stable Rust, without a sanitizer:
#     fuzz/parsers.sh [SECONDS [TARGET]]        SECONDS for all targets together, 60 by default
# Exit status 0: nothing found. What was found stays in fuzz/artifacts/TARGET; mend it, and make the input a test.
# The flags are those of `TARGET=NAME cargo fuzz run -s none parsers`, which works as well; this needs a C++ compiler and
# nothing installed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
host=$(rustc -vV | sed -n 's/^host: //p')
targets=${2:-$(sed -n 's/^targets!(\(.*\));$/\1/p' "$here/targets/main.rs")}
build=${CARGO_TARGET_DIR:-$here/target}/fuzz-parsers
export RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares"
# With --target, build scripts and macros are built without these flags.
cargo build --quiet --locked --release --manifest-path "$here/Cargo.toml" --target "$host" --target-dir "$build"
count=$(echo "$targets" | wc -w)
seconds=$((${1:-60} / count))
[ "$seconds" -gt 0 ] || seconds=1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for target in $targets; do
    mkdir -p "$folder/$target" "$here/artifacts/$target"
    TMPDIR=$folder TARGET=$target "$build/$host/release/parsers" \
        -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=4096 -seed=802 \
        -print_final_stats=1 -artifact_prefix="$here/artifacts/$target/" "$folder/$target" "$here/corpus/$target" \
        > "$folder/log" 2>&1 || {
        tail -40 "$folder/log"
        echo "$target: FAILED; the input is in fuzz/artifacts/$target"
        exit 1
    }
    rmdir "$here/artifacts/$target"
    echo "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$folder/log") inputs," \
        "$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$folder/log" | tail -1) edges"
done
rmdir "$here/artifacts" 2> "$folder/log" || true
