#!/usr/bin/env bash
# Counts instructions of saturated runs, of libbackoff from C, of the start of a command, and the memory of a small run, and
# compares them with instructions.txt. Ends with 1 if a row is above by more than a hundredth and compiler and valgrind are those of the file; with
# others it prints the rows only. Takes a minute of a processor.
#
#   cargo build --release -p ethbus-sim --example measured && cargo build && benches/instructions.sh
#   BLESS=1 benches/instructions.sh                        writes instructions.txt anew
#
# Runs are those of the example `measured` as released: `ethbus sim` without its command line, a build of 43 crates instead of
# 170. The start is that of the program for tests, which is there anyway: without optimization, so only its changes count.

set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
measured=${MEASURED:-$target/release/examples/measured}
ethbus=${ETHBUS:-$target/debug/ethbus}
file=benches/instructions.txt
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Name; stations; topology; access method.
rows=(
    "CSMA/CD, star, 10 stations|10|star:0bt|csma-cd"
    "CSMA/CD, star, 50 stations|50|star:0bt|csma-cd"
    "CSMA/CD, 500 m, 50 stations|50|bus:500m|csma-cd"
    "CSMA/CA, star, 10 stations|10|star:0bt|csma-ca"
    "CSMA, star, 10 stations|10|star:0bt|csma"
    "slotted ALOHA, star, 10 stations|10|star:0bt|slotted-aloha"
    "PLCA, 25 m, 8 stations|8|bus:25m|plca"
)

scenario() {
    printf 'stations = %s\n[medium]\ntopology = "%s"\n[access]\nmethod = "%s"\n' "$@"
    printf '[traffic]\nframe_size = 64\n[run]\nwarmup = "0s"\n'
}

# Instructions of a command by callgrind, and the number that its output begins with. Large copies by the same loop in each run:
# else glibc chooses by address between a loop and one instruction.
counted() {
    GLIBC_TUNABLES=glibc.cpu.x86_rep_movsb_threshold=16777216:glibc.cpu.x86_non_temporal_threshold=134217728 valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 |
        awk '/Collected/ { cost = $4 } /^[0-9]+ frames/ { frames = $1 } END { print cost, frames + 0 }'
}

# Instructions a frame from 1 s to 5 s: neither the start counts, nor how all stations begin together.
slope() {
    counted "$measured" "$1" 1s > "$1.short"
    counted "$measured" "$1" 5s > "$1.long"
    awk '{ cost = $1 - cost; frames = $2 - frames } END { printf "%.0f\n", cost / frames }' "$1.short" "$1.long"
}

# Instructions of one operation of each row of `table count`: what the shared library and the loop around it take. Each call of
# the function `measured` is a file of its own.
decisions() {
    cargo build --quiet --release --locked -p ethbus-backoff-c
    cp "$target/release/libbackoff.so" "$scratch/libbackoff.so.1"
    cc -std=c11 -O2 -I include benches/backoff/table.c "$scratch/libbackoff.so.1" -lm -o "$scratch/table"
    LD_LIBRARY_PATH=$scratch valgrind --tool=callgrind --zero-before=measured --dump-after=measured \
        --callgrind-out-file="$scratch/table.%p" "$scratch/table" count 2> "$scratch/table.log" > "$scratch/table.rows"
    awk -v "files=$(ls -v "$scratch"/table.[0-9]*.[0-9]* | tr '\n' ' ')" '
        BEGIN { split(files, file, " ") }
        {
            # A schedule is turned once before its row.
            dump += /^(pair|cancel)_/ ? 2 : 1
            while ((getline line < file[dump]) > 0) if (line ~ /^(totals|summary): /) { split(line, cost, " ") }
            printf "%10.0f  C, %s: instructions an operation\n", cost[2] / $2, $1
        }' "$scratch/table.rows"
}

# The most memory that a command has, which its output says.
resident() {
    "$@" | awk '/^VmHWM/ { print $2 }'
}

for number in "${!rows[@]}"; do
    IFS='|' read -r _ stations topology method <<< "${rows[number]}"
    scenario "$stations" "$topology" "$method" > "$scratch/$number"
    slope "$scratch/$number" > "$scratch/$number.slope" &
done
wait
{
    echo "# $(rustc --version), $(valgrind --version)"
    for number in "${!rows[@]}"; do
        printf '%10s  %s: instructions a frame\n' "$(cat "$scratch/$number.slope")" "${rows[number]%%|*}"
    done
    decisions
    printf '%10s  start of a command: instructions\n' "$(counted "$ethbus" --version | cut -d' ' -f1)"
    printf '%10s  ten stations for a second: KiB of memory\n' "$(resident "$measured" "$scratch/0" 1s)"
} > "$scratch/now"

[ "${BLESS:-}" != 1 ] || cp "$scratch/now" "$file"
# Memory depends on the kernel too: a tenth.
awk 'NR == 1 { held = $0 }
    NR == FNR { count[substr($0, 13)] = $1; next }
    FNR == 1 { is_held = $0 == held; print; next }
    { name = substr($0, 13); most = count[name] * (name ~ /memory/ ? 1.1 : 1.01) }
    { printf "%10s  %s, %+.1f %%\n", $1, name, count[name] ? 100 * ($1 / count[name] - 1) : 0 }
    $1 + 0 == 0 || $1 > most { above = above "\n" name }
    END {
        if (above != "") print (is_held ? "FAILED, too many:" : "more, with another compiler or valgrind:") above
        exit above != "" && is_held
    }' "$file" "$scratch/now"
