#!/usr/bin/env bash
# Makes the tables of docs/speed.md: how fast `ethbus sim` is, what --events costs, how fast a replay is, how much memory
# a run takes, and what windows on a run cost. Takes some four minutes on a machine that does nothing else.
#
#   cargo build --release && benches/speed.sh              the program is target/release/ethbus
#   benches/speed.sh /usr/bin/ethbus                       another one
#
# RUNS=5 takes the median of five instead of three. Instructions are counted if valgrind is there.

set -euo pipefail
cd "$(dirname "$0")/.."
ethbus=${1:-target/release/ethbus}
runs=${RUNS:-3}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Name; seconds that are simulated for a wall time of about one second; options.
rows=(
    "2 stations on a star|400|--stations 2 --topology star:0bt"
    "10 stations|300|--stations 10 --topology star:0bt"
    "50 stations|100|--stations 50 --topology star:0bt"
    "200 stations|30|--stations 200 --topology star:0bt"
    "1,000 stations|20|--stations 1000 --topology star:0bt"
    "10 stations, Poisson 0.4|300|--stations 10 --topology star:0bt --traffic poisson:0.4"
    "10 stations, 50 BT apart|150|--stations 10 --topology star:50bt"
    "50 stations, 50 BT apart|50|--stations 50 --topology star:50bt"
    "10 stations on a bus of 500 m|150|--stations 10 --topology bus:500m"
    "50 stations on a bus of 500 m|50|--stations 50 --topology bus:500m"
    "1,000 stations on a bus of 500 m|3|--stations 1000 --topology bus:500m"
)

# The middle one of the numbers on standard input.
median() {
    sort -g | awk '{ number[NR] = $1 } END { print number[int((NR + 1) / 2)] }'
}

# Wall seconds of a command.
wall() {
    local begin=$EPOCHREALTIME
    "$@" > "$scratch/out" 2> "$scratch/err"
    awk -v begin="$begin" -v end="$EPOCHREALTIME" 'BEGIN { print end - begin }'
}

sim() {
    local seconds=$1
    shift
    "$ethbus" sim "$@" --frame-size 64 --duration "${seconds}s" --warmup 0s --timing --format csv
}

# Successful frames a wall second, as --timing tells it.
frames_a_second() {
    sim "$@" 2>&1 > /dev/null | sed -n 's/^ethbus: .*s: \([0-9,]*\) a second$/\1/p' | tr -d ,
}

# Instructions of one run and its frames, by callgrind.
counted() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null \
        "$ethbus" sim "${@:2}" --frame-size 64 --duration "$1s" --warmup 0s --timing --format csv 2>&1 > /dev/null |
        awk '/Collected/ { cost = $4 } /^ethbus: .* frames in/ { frames = $2; gsub(",", "", frames) } END { print cost, frames }'
}

# Instructions a frame from half a second of the medium to a whole one: neither the start of the program counts, nor how
# all stations begin together.
instructions() {
    local short long
    short=$(counted 0.5 "$@")
    long=$(counted 1 "$@")
    awk -v short="$short" -v long="$long" \
        'BEGIN { split(short, a, " "); split(long, b, " "); printf "%.0f", (b[1] - a[1]) / (b[2] - a[2]) }'
}

# The most memory that a command had, in MB.
resident() {
    local pid size most=0
    "$@" > /dev/null 2>&1 &
    pid=$!
    while size=$(awk '/^VmHWM/ { print $2 }' "/proc/$pid/status" 2> /dev/null) && [ -n "$size" ]; do
        most=$size
        sleep 0.02
    done
    wait "$pid"
    awk -v kb="$most" 'BEGIN { printf "%.1f", kb / 1024 }'
}

# The median time of one command over that of another, in turns.
ratio() {
    local -n one=$1 other=$2
    for _ in $(seq "$runs"); do
        wall "${other[@]}" >> "$scratch/other"
        wall "${one[@]}" >> "$scratch/one"
    done
    awk -v one="$(median < "$scratch/one")" -v other="$(median < "$scratch/other")" 'BEGIN { printf "%.2f", one / other }'
    rm -f "$scratch/one" "$scratch/other"
}

echo "| saturated, 64 octets | M frames a second | instructions a frame | resident memory, MB |"
echo "|---|---|---|---|"
for row in "${rows[@]}"; do
    IFS='|' read -r name seconds options <<< "$row"
    read -ra options <<< "$options"
    speed=$(for _ in $(seq "$runs"); do frames_a_second "$seconds" "${options[@]}"; done | median)
    cost=–
    if command -v valgrind > /dev/null; then
        cost=$(instructions "${options[@]}")
    fi
    memory=$(resident "$ethbus" sim "${options[@]}" --frame-size 64 --duration "${seconds}s" --warmup 0s --format csv)
    awk -v name="$name" -v speed="$speed" -v cost="$cost" -v memory="$memory" \
        'BEGIN { printf "| %s | %.3g | %s | %s |\n", name, speed / 1e6, cost, memory }'
done

echo
echo "| saturated, 64 octets | run with --events by run | replay by run |"
echo "|---|---|---|"
for stations in 2 10 50 1000; do
    seconds=$((stations < 1000 ? 30 : 5))
    plain=("$ethbus" sim --stations "$stations" --topology star:0bt --frame-size 64 --duration "${seconds}s" --warmup 0s)
    with_events=("${plain[@]}" --events "$scratch/events")
    replay=("$ethbus" replay "$scratch/inputs")
    "${plain[@]}" --events "$scratch/inputs" --events-level inputs > /dev/null 2>&1
    printf '| %s stations on a star | %s | %s |\n' "$stations" "$(ratio with_events plain)" "$(ratio replay plain)"
    rm -f "$scratch/events" "$scratch/inputs"
done

# What a window writes goes to memory, where there is room for it: a disk says nothing of the program.
memory=$(mktemp -d -p /dev/shm)
trap 'rm -rf "$scratch" "$memory"' EXIT
echo
echo "| 10 stations on a star, 100 s of 64 octets | by the run | MB | the same octets by cp, by the run |"
echo "|---|---|---|---|"
plain=("$ethbus" sim --stations 10 --topology star:0bt --frame-size 64 --duration 100s --warmup 0s)
with_capture=("${plain[@]}" --pcapng "$memory/run.pcapng")
"${with_capture[@]}" > /dev/null 2>&1
size=$(stat -c %s "$memory/run.pcapng")
copied=(cp "$memory/run.pcapng" "$memory/copy")
copy=$(ratio copied plain)
printf '| --pcapng | %s | %s | %s |\n' "$(ratio with_capture plain)" "$((size / 1000000))" "$copy"
