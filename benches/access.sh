#!/usr/bin/env bash
# Makes the table "Other access methods" of docs/speed.md: frames and slots a second, and instructions of the whole program
# a frame and a slot, of each access method beside CSMA/CD. Takes three minutes on a machine that does nothing else.
#
#   cargo build --release && benches/access.sh             the program is target/release/ethbus
#   benches/access.sh /usr/bin/ethbus                      another one
#
# RUNS=5 takes the median of five instead of three. Instructions are counted if valgrind is there.

set -euo pipefail
cd "$(dirname "$0")/.."
ethbus=${1:-target/release/ethbus}
runs=${RUNS:-3}

# Counted runs are so long that histograms, which grow with the longest delay so far, have done so.
# Name; seconds that are simulated for a wall time of about one second; seconds for counting, twice this for the second
# run; bit times of a slot, or of a frame time; bits a second; options.
rows=(
    "10 stations, \`csma-cd\`|300|4|576|10000000|--stations 10 --topology star:0bt"
    "10 stations, \`csma-ca\`, \`dsss-11\`|800|16|2704|11000000|--access csma-ca --stations 10 --topology star:0bt"
    "10 stations, \`csma-ca\`, \`dsss-11\`, 1 BT apart|200|4|2704|11000000|--access csma-ca --stations 10 --topology star:1bt"
    "50 stations, \`csma-ca\`, \`dsss-11\`|400|8|2704|11000000|--access csma-ca --stations 50 --topology star:0bt"
    "10 stations, \`csma\`, 1-persistent|150|4|576|10000000|--access csma --stations 10 --topology star:0bt"
    "8 stations, \`csma-cd\`|300|4|576|10000000|--stations 8 --topology star:0bt"
    "8 stations, \`csma-cd\`, \`bus:25m\`|100|4|576|10000000|--stations 8 --topology bus:25m"
    "8 stations, \`plca\`|100|4|576|10000000|--access plca --stations 8 --topology star:0bt"
    "8 stations, \`plca\`, \`bus:25m\`|100|4|576|10000000|--access plca --stations 8 --topology bus:25m"
    "8 stations, \`plca\`, \`bus:25m\`, \`burst-cnt\` 3|100|4|576|10000000|--access plca --stations 8 --topology bus:25m --burst-count 3"
    "400 stations, \`slotted-aloha\`, S = 0.3|100|8|576|10000000|--access slotted-aloha --backoff uniform:200 --traffic bernoulli:0.0008 --stations 400 --topology star:0bt"
    "400 stations, \`slotted-aloha\`, saturated|50|4|576|10000000|--access slotted-aloha --backoff uniform:1000 --stations 400 --topology star:0bt"
)

# The middle one of the numbers on standard input.
median() {
    sort -g | awk '{ number[NR] = $1 } END { print number[int((NR + 1) / 2)] }'
}

sim() {
    local seconds=$1
    shift
    "$ethbus" sim "$@" --frame-size 64 --duration "${seconds}s" --warmup 0s --timing --format csv
}

# Successful frames, and how many of them a wall second, as --timing tells it.
timed() {
    sim "$@" 2>&1 > /dev/null |
        sed -n 's/^ethbus: \([0-9,]*\) frames in .*s: \([0-9,]*\) a second$/\1 \2/p' | tr -d ,
}

# Instructions of one run and its frames, by callgrind.
counted() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null \
        "$ethbus" sim "${@:2}" --frame-size 64 --duration "$1s" --warmup 0s --timing --format csv 2>&1 > /dev/null |
        awk '/Collected/ { cost = $4 } /^ethbus: .* frames in/ { frames = $2; gsub(",", "", frames) } END { print cost, frames }'
}

echo "| 64 octets | instructions a frame | a slot | M frames a second | M slots a second |"
echo "|---|---|---|---|---|"
for row in "${rows[@]}"; do
    IFS='|' read -r name seconds short slot rate options <<< "$row"
    read -ra options <<< "$options"
    fastest=$(for _ in $(seq "$runs"); do timed "$seconds" "${options[@]}" | cut -d' ' -f2; done | median)
    frames=$(timed "$seconds" "${options[@]}" | cut -d' ' -f1)
    one="0 0" other="0 0"
    if command -v valgrind > /dev/null; then
        one=$(counted "$short" "${options[@]}")
        other=$(counted "$(awk -v short="$short" 'BEGIN { print 2 * short }')" "${options[@]}")
    fi
    awk -v name="$name" -v speed="$fastest" -v frames="$frames" -v slots="$(awk -v s="$seconds" -v r="$rate" -v l="$slot" 'BEGIN { print s * r / l }')" \
        -v one="$one" -v other="$other" 'BEGIN {
            split(one, a, " "); split(other, b, " ")
            cost = b[2] > a[2] ? (b[1] - a[1]) / (b[2] - a[2]) : 0
            printf "| %s | %.0f | %.0f | %.3g | %.3g |\n", name, cost, cost * frames / slots, speed / 1e6, speed / frames * slots / 1e6
        }'
done
