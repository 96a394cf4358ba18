#!/usr/bin/env bash
# Eight nodes with PLCA, and the same eight with CSMA/CD, under the same iperf3 and ping, in one table:
#
#   sudo examples/plca/compare.sh [SECONDS]        ETHBUS names the program: ethbus, unless said otherwise
#
# In each lab st2 to st7 send 900 kbit/s of UDP each to st8 (iperf3), and st1 pings st8 every 20 ms: 54 % of the bus. Below
# the live table stands a brake-by-wire sender in virtual time (examples/plca/brake.toml), whose worst wait is shown too.
set -euo pipefail
seconds=${1:-5}
ethbus=${ETHBUS:-ethbus}
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
scratch=$(mktemp -d)
lab=compare-$$
trap '"$ethbus" down "$lab" > "$scratch/down" 2>&1 || true; rm -rf "$scratch"' EXIT

# One method on a live bus: results, pings and what iperf3 received.
live() {
    local method=$1 number address
    "$ethbus" up --name "$lab" --access "$method" --stations 8 --seed 1 --background 2> "$scratch/up" || { cat "$scratch/up" >&2; return 1; }
    address=$("$ethbus" list --format json | python3 -c '
import json, sys
stations = next(one["stations"] for one in json.load(sys.stdin) if one["name"] == sys.argv[1])
print(next(station["addresses"][0] for station in stations if station["name"] == "st8"))' "$lab")
    for number in 2 3 4 5 6 7; do
        "$ethbus" exec --name "$lab" st8 -- iperf3 --server --one-off --port "520$number" > "$scratch/server" 2>&1 &
    done
    sleep 1
    for number in 2 3 4 5 6 7; do
        "$ethbus" exec --name "$lab" "st$number" -- iperf3 --client "$address" --port "520$number" --udp --bitrate 900K \
            --length 400 --time "$seconds" --json > "$scratch/$method.st$number" &
    done
    "$ethbus" exec --name "$lab" st1 -- ping -q -i 0.02 -w "$seconds" "$address" > "$scratch/$method.ping" || true
    wait
    "$ethbus" stats --name "$lab" --format json > "$scratch/$method.live"
    "$ethbus" down "$lab" > "$scratch/down" 2>&1
}

for method in plca csma-cd; do
    live "$method"
    "$ethbus" sim "$here/brake.toml" --access "$method" --seed 1 --format json > "$scratch/$method.brake"
done

python3 - "$scratch" <<'END'
import json, re, sys
from pathlib import Path

scratch = Path(sys.argv[1])


def read(name):
    return json.loads((scratch / name).read_text())


def column(method):
    live, brake = read(f"{method}.live"), read(f"{method}.brake")
    streams = [read(f"{method}.st{number}")["end"]["sum"] for number in range(2, 8)]
    pings = (scratch / f"{method}.ping").read_text()
    replies = re.search(r"(\d+)% packet loss", pings).group(1)
    times = re.search(r"= [\d.]+/([\d.]+)/([\d.]+)/", pings)
    delay, waits = live["medium"]["access_delay"], brake["stations"][0]["access_delay"]
    late = live["emulator"]
    return [
        f"{sum(one['bits_per_second'] * (1 - one['lost_percent'] / 100) for one in streams) / 1e6:.2f} Mbit/s",
        f"{sum(one['lost_packets'] for one in streams)} of {sum(one['packets'] for one in streams)}",
        f"{times.group(1)} / {times.group(2)} ms",
        f"{replies} %",
        f"{delay['p50_bt'] / 10:,.1f} / {delay['p99_bt'] / 10:,.1f} / {delay['max_bt'] / 10:,.1f} us",
        f"{live['medium']['collision_episodes']:,}",
        f"{late['lateness_p50_ns'] / 1e3:,.1f} / {late['lateness_p99_ns'] / 1e3:,.1f} us",
        f"{waits['p50_bt'] / 10:,.1f} / {waits['p99_bt'] / 10:,.1f} / {waits['max_bt'] / 10:,.1f} us",
    ]


rows = [
    "iperf3, all six received",
    "datagrams lost",
    "ping mean / longest",
    "pings lost",
    "wait for the bus, p50 / p99 / longest",
    "frames that met on the line, episodes",
    "emulator late, p50 / p99",
    "brake by wire (sim): wait, p50 / p99 / longest",
]
print(f"{'':48}{'PLCA':>30}{'CSMA/CD':>34}")
for what, plca, csma_cd in zip(rows, column("plca"), column("csma-cd")):
    print(f"{what:48}{plca:>30}{csma_cd:>34}")
END
