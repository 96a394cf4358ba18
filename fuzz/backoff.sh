#!/bin/sh
# Fuzzes the C functions with clang's libFuzzer and its sanitizers: fuzz/backoff.sh [SECONDS], 60 by default.
# Needs clang and its runtime library (Debian: clang, libclang-rt-14-dev). Exit status 0: nothing found.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
(cd "$root" && cargo build --quiet --release -p ethbus-backoff-c --target-dir "${CARGO_TARGET_DIR:-$root/target}/fuzz")
clang -std=c11 -g -O1 -Wall -Wextra -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
    -I "$root/include" "$here/backoff.c" "${CARGO_TARGET_DIR:-$root/target}/fuzz/release/libbackoff.a" -o "$folder/fuzz"
mkdir "$folder/corpus"
"$folder/fuzz" -max_total_time="${1:-60}" -max_len=1024 -seed=802 -print_final_stats=1 -artifact_prefix="$folder/" \
    "$folder/corpus" >"$folder/log" 2>&1 || {
    cat "$folder/log"
    exit 1
}
tail -8 "$folder/log"
