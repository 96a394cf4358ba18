#!/usr/bin/env bash
# Makes the table "What windows cost" of docs/speed.md: the processor time of a run with each window, and with all at once,
# by that of the run alone. Some million events, of ten saturated stations and of ten with Poisson arrivals. Takes two
# minutes on a machine that does nothing else.
#
#   cargo build --release && benches/windows.sh            the program is target/release/ethbus
#   benches/windows.sh /usr/bin/ethbus                     another one
#
# Processor time is user and system time of all threads. RUNS=20 takes twenty rounds instead of ten; a round has each
# command once, so that a slow hour is the same for all. Files are in memory (/dev/shm); WHERE=/dev/null spares their
# writing, without the row of all at once. Instructions are counted if valgrind is there.

set -euo pipefail
cd "$(dirname "$0")/.."
ethbus=${1:-target/release/ethbus}
rounds=${RUNS:-10}
scratch=$(mktemp -d -p /dev/shm)
trap 'rm -rf "$scratch"' EXIT

# Name; seconds for some million events; options.
loads=(
    "saturated|12|--stations 10 --topology star:0bt --frame-size 64"
    "Poisson 0.4|15|--stations 10 --topology star:0bt --frame-size 64 --traffic poisson:0.4"
)
windows=("" "--pcapng" "--events" "--pcapng --events")

# Options of the windows, each with a file of its own.
files() {
    local option
    for option in $1; do
        printf '%s %s ' "$option" "${WHERE:-$scratch/file$option}"
    done
}

# Processor seconds of a command, user and system.
spent() {
    local TIMEFORMAT='%U %S'
    { time "$@" > "$scratch/out" 2> "$scratch/err"; } 2>&1 | awk '{ print $1 + $2 }'
}

best_and_median() {
    sort -g "$1" | awk '{ all[NR] = $1 } END { print all[1], all[int((NR + 1) / 2)] }'
}

# Instructions of a command, by callgrind.
counted() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 > /dev/null | awk '/Collected/ { print $4 }'
}

echo "| window | load | processor time by the run alone: best | median | instructions by the run alone |"
echo "|---|---|---|---|---|"
for load in "${loads[@]}"; do
    IFS='|' read -r name seconds options <<< "$load"
    read -ra run <<< "$ethbus sim $options --duration ${seconds}s --warmup 0s --format csv"
    rm -f "$scratch"/spent.*
    for _ in $(seq "$rounds"); do
        for number in "${!windows[@]}"; do
            [ -n "${WHERE:-}" ] && [ "$number" = 3 ] && continue
            read -ra own <<< "$(files "${windows[number]}")"
            spent "${run[@]}" "${own[@]}" >> "$scratch/spent.$number"
        done
    done
    read -r best median <<< "$(best_and_median "$scratch/spent.0")"
    # A quarter of the run is enough to count, and takes fifty times as long.
    read -ra short <<< "$ethbus sim $options --duration $((seconds / 4))s --warmup 0s --format csv"
    alone=0
    command -v valgrind > /dev/null && alone=$(counted "${short[@]}")
    echo "| none | $name | $best s | $median s | $alone |"
    for number in "${!windows[@]}"; do
        [ "$number" = 0 ] || [ ! -f "$scratch/spent.$number" ] && continue
        read -ra own <<< "$(files "${windows[number]}")"
        cost=0
        [ "$alone" = 0 ] || cost=$(counted "${short[@]}" "${own[@]}")
        awk -v window="${windows[number]}" -v load="$name" -v own="$(best_and_median "$scratch/spent.$number")" -v best="$best" \
            -v median="$median" -v cost="$cost" -v alone="$alone" 'BEGIN {
                split(own, it, " ")
                by = alone > 0 ? sprintf("%.2f", cost / alone) : "–"
                printf "| %s | %s | %.2f | %.2f | %s |\n", window, load, it[1] / best, it[2] / median, by
            }'
    done
done
