#!/bin/sh
# Makes the tables of docs/backoff/README.md: C rows through libbackoff.so beside Rust rows, each the fastest of thousands of
# samples of 4,096 operations and their 10th percentile, on one processor. Call: benches/backoff/table.sh [SAMPLES]
# CPU says which processor (1). Take it on a quiet machine; on a busy one the fastest sample is steady as a rule. The columns
# of libuv and libevent need libuv1-dev and libevent-dev.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
samples=${1:-4000}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$root"
cargo build --quiet --release -p ethbus-backoff-c
cp "$target/release/libbackoff.so" "$folder"
ln -s libbackoff.so "$folder/libbackoff.so.1"
cc -std=c11 -O2 -Wall -Wextra -I include "$here/table.c" "$folder/libbackoff.so" -lm -o "$folder/table"
LD_LIBRARY_PATH=$folder taskset -c "${CPU:-1}" "$folder/table" "$samples" >"$folder/c"
taskset -c "${CPU:-1}" cargo bench --quiet -p ethbus-backoff-bench --bench backoff_table -- "$samples" >"$folder/rust"
if cc -std=c11 -O2 -Wall -Wextra "$here/table_loops.c" -luv -levent_core -o "$folder/loops" 2>"$folder/errors"; then
    taskset -c "${CPU:-1}" "$folder/loops" $((samples / 8)) >"$folder/peers"
else
    echo "no column of libuv and libevent: apt-get install libuv1-dev libevent-dev" >&2
    : >"$folder/peers"
fi
grep -v '|' "$folder/c" >"$folder/decisions"
grep -v '|' "$folder/rust" >"$folder/rust decisions"
awk -F '\t' '
    BEGIN {
        print "| one operation, ns | C, fastest | C, 10 % | C, policy read at each call | Rust, fastest | Rust, 10 % | C / Rust | C / ideal |"
        print "|---|---|---|---|---|---|---|---|"
    }
    sub(/^ideal: /, "") { ideal[$1] = $2; next }
    sub(/^policy read at each call: /, "") { each[$1] = $2; next }
    FILENAME ~ /rust decisions$/ && NF == 3 { fastest[$1] = $2; tenth[$1] = $3; if (!($1 in c)) other[++others] = $1; next }
    NF == 3 { c[$1] = $2; c10[$1] = $3; order[++count] = $1 }
    END {
        for (i = 1; i <= count; i++) {
            name = order[i]
            ratio = name in fastest && fastest[name] > 0 ? sprintf("%.2f", c[name] / fastest[name]) : ""
            toward = name in ideal ? sprintf("%.2f", c[name] / ideal[name]) : ""
            print "| " name " | " c[name] " | " c10[name] " | " each[name] " | " fastest[name] " | " tenth[name] " | " ratio " | " toward " |"
        }
        for (i = 1; i <= others; i++)
            print "| " other[i] " | | | | " fastest[other[i]] " | " tenth[other[i]] " | | |"
    }' "$folder/decisions" "$folder/rust decisions"
echo
cat "$folder/c" "$folder/rust" "$folder/peers" | awk -F '[|\t]' '
    BEGIN {
        columns = split("C|Rust|libuv|libevent|hash wheel|tokio-util|heap|buckets", name, "|")
        line = "| job |"; rule = "|---|"
        for (i = 1; i <= columns; i++) { line = line " " name[i] " |"; rule = rule "---|" }
        print line " C / Rust |"; print rule "---|"
    }
    NF >= 4 || (NF == 3 && /octets a value/) { if (!($2 in seen)) { seen[$2] = 1; order[++count] = $2 } fastest[$1, $2] = $3 }
    END {
        for (k = 1; k <= count; k++) {
            line = "| " order[k] " |"
            for (i = 1; i <= columns; i++) line = line " " fastest[name[i], order[k]] " |"
            c = fastest["C", order[k]]; rust = fastest["Rust", order[k]]
            print line " " (c != "" && rust > 0 ? sprintf("%.2f", c / rust) : "") " |"
        }
    }'
