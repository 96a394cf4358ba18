#!/bin/sh
# Builds libbackoff and the C benchmark as a user would, and runs it on one processor.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
(cd "$root" && cargo build --quiet --release -p ethbus-backoff-c --target-dir "$folder/target")
library=$folder/target/release
ln -s libbackoff.so "$library/libbackoff.so.0"
cc -std=c11 -O2 -Wall -Wextra -I "$root/include" "$here/c_bench.c" "$library/libbackoff.so" -o "$folder/c_bench"
LD_LIBRARY_PATH=$library taskset -c "${CPU:-1}" "$folder/c_bench"
