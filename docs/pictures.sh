#!/usr/bin/env bash
# Makes the pictures of README and docs, each from a real run: docs/pictures.sh [PROGRAM]
#
# Needs root (two of the runs are live), python3, tmux, chromium, and for the windows of other programs xvfb, xdotool,
# imagemagick, wireshark and gtkwave. What it makes stands in docs/pictures.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
ethbus=$(realpath "${1:-target/release/ethbus}")
out=docs/pictures
scratch=$(mktemp -d)
lab=pictures-$$
trap '"$ethbus" down "$lab" > "$scratch/down" 2>&1 || true; rm -rf "$scratch"' EXIT
mkdir -p "$out"

# A collision over time and distance.
"$ethbus" sim --stations 2 --topology bus:2000m --frame-size 64 --traffic poisson:0.5 --duration 1s --warmup 0s --seed 3 \
    --events "$scratch/run.events" > "$scratch/table"
"$ethbus" explain "$scratch/run.events" --pick collisions=1,station=st1 --svg "$out/collision.svg" > "$scratch/life"

# Segments with PLCA that go wrong.
for file in examples/plca/[01]*.toml; do
    scenario=$(basename "$file" .toml)
    "$ethbus" sim "$file" --events "$scratch/plca.events" > "$scratch/table" 2> "$scratch/warnings"
    "$ethbus" explain "$scratch/plca.events" --segment --svg "$out/plca-${scenario%%-*}.svg" > "$scratch/findings"
done

# Utilisation over stations.
"$ethbus" sweep --set stations=2..256*2 --set traffic.frame_size=64,512,1518 --seeds 3 --duration 300ms --warmup 50ms \
    --out "$scratch/runs.csv" 2> "$scratch/sweep"
"$ethbus" plot "$scratch/runs.csv" --x stations --y utilization_total --by traffic.frame_size --log-x \
    --title "Saturated stations on 10 Mb/s" --out "$out/utilization.svg"

# The demonstration, as a terminal shows it: of a run that its own verdict trusts, which a busy machine may not give at once.
for _ in 1 2 3 4 5; do
    "$ethbus" --duration 3s --seed 1 > "$scratch/demonstration" 2> "$scratch/said"
    grep -q '^  verdict  *trusted$' "$scratch/demonstration" && break
done
grep -q '^  verdict  *trusted$' "$scratch/demonstration" || { echo "docs/pictures.sh: this machine is too busy" >&2; exit 1; }

# What a lab is made of, from what a lab tells of itself.
"$ethbus" up --name "$lab" --stations 3 --background 2> "$scratch/up"
"$ethbus" list --format json > "$scratch/list.json"

# The live view, stopped at a collision.
view() { tmux -L "$lab" "$@"; }
view -f /dev/null new-session -d -x 100 -y 30 "NO_COLOR=1 LANG=C.UTF-8 '$ethbus' sim examples/classroom.toml --watch"
sleep 1
view send-keys n
sleep 1
view capture-pane -p > "$scratch/watch"
view kill-server

# The diagram of a report, without the rest of the page.
"$ethbus" sim examples/classroom.toml --events "$scratch/class.events" > "$scratch/class"
"$ethbus" report "$scratch/class.events" -o "$scratch/class.html"
sed 's#</head>#<style>body > :not(section) { display: none !important }</style></head>#' "$scratch/class.html" > "$scratch/diagram.html"
chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$scratch/chromium" \
    --virtual-time-budget=4000 --window-size=1060,790 --screenshot="$PWD/$out/report.png" \
    "file://$scratch/diagram.html" > "$scratch/shot" 2>&1

# The window of a program, as a person sees it: NAME TITLE PROGRAM…
window() {
    local name=$1 title=$2
    shift 2
    HOME=$scratch xvfb-run --auto-servernum --server-args "-screen 0 1400x620x24" bash -c '
        set -euo pipefail
        shot=$1 title=$2
        shift 2
        timeout 120 "$@" &
        for _ in $(seq 60); do
            sleep 1
            id=$(xdotool search --name "$title" | tail -n 1) && [ -n "$id" ] && break
        done
        sleep 8
        xdotool windowsize "$id" 1400 620 windowmove "$id" 0 0
        sleep 3
        import -window root miff:- | convert - -dither None -colors 48 "PNG8:$shot"
        kill %1
        wait || true
    ' bash "$(realpath "$out")/$name.png" "$title" "$@" > "$scratch/$name" 2>&1
}
"$ethbus" sim --stations 4 --topology bus:500m --duration 1ms --warmup 0s --seed 3 --pcapng "$scratch/run.pcapng" \
    --vcd "$scratch/run.vcd" > "$scratch/table"
mkdir -p "$scratch/.config/wireshark/profiles"
cp -r examples/wireshark "$scratch/.config/wireshark/profiles/ethbus"
window wireshark run.pcapng wireshark -C ethbus -r "$scratch/run.pcapng"
cat > "$scratch/all.tcl" <<'END'
set all [list]
for {set i 0} {$i < [gtkwave::getNumFacs]} {incr i} { lappend all [gtkwave::getFacName $i] }
gtkwave::addSignalsFromList $all
gtkwave::/Time/Zoom/Zoom_Full
END
(out=$(realpath "$out") && cd "$scratch" && window gtkwave GTKWave gtkwave --rcvar "hier_max_level 2" --script all.tcl run.vcd)

python3 - "$scratch" "$out" "$lab" <<'END'
import json, sys
from html import escape
from pathlib import Path

scratch, out, lab = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
FONT = 'font-family="Noto Sans, DejaVu Sans, Liberation Sans, Helvetica, Arial, sans-serif"'
MONO = 'font-family="DejaVu Sans Mono, Liberation Mono, Menlo, Consolas, monospace"'
STYLE = (
    "<style>.paper{fill:#fff}.ink{fill:#1f2328}.faint{fill:#59636e}.line{stroke:#59636e;fill:none;stroke-width:1.5}"
    ".box{fill:#eef3f9;stroke:#2f6db3}.bus{stroke:#c96a12;stroke-width:6;fill:none}"
    "@media (prefers-color-scheme: dark){.paper{fill:#0d1117}.ink{fill:#e6edf3}.faint{fill:#9aa4af}.line{stroke:#9aa4af}"
    ".box{fill:#152033;stroke:#6ea8e8}.bus{stroke:#f0a050}}</style>"
)


def picture(name, width, height, font, body):
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'{font} font-size="13">\n{STYLE}\n<rect class="paper" width="{width}" height="{height}"/>\n'
    )
    (out / name).write_text(head + body + "</svg>\n", encoding="utf-8")


def text(x, y, words, kind="ink", anchor="start", more=""):
    return f'<text class="{kind}" x="{x}" y="{y}" text-anchor="{anchor}"{more}>{escape(words)}</text>\n'


# The table up to the hints, which name paths of the machine that this ran on.
shown = (scratch / "demonstration").read_text(encoding="utf-8").split("\nNext:")[0].rstrip("\n").split("\n")
lines = ["$ sudo ethbus --duration 3s --seed 1", ""] + shown
body = "".join(
    text(20, 30 + 18 * number, line, "faint" if number == 0 else "ink", more=' xml:space="preserve"')
    for number, line in enumerate(lines)
)
picture("demonstration.svg", 720, 44 + 18 * len(lines), MONO, body)

shown = (scratch / "watch").read_text(encoding="utf-8").rstrip("\n").split("\n")
lines = ["$ ethbus sim examples/classroom.toml --watch", ""] + shown
body = "".join(
    text(20, 30 + 18 * number, line, "faint" if number == 0 else "ink", more=' xml:space="preserve"')
    for number, line in enumerate(lines)
)
picture("watch.svg", 860, 44 + 18 * len(lines), MONO, body)

labs = json.loads((scratch / "list.json").read_text(encoding="utf-8"))
labs = labs["labs"] if isinstance(labs, dict) else labs
stations = next(one for one in labs if one["name"] == lab)["stations"]
wide, body = 800, ""
step = (wide - 60) / len(stations)
for number, station in enumerate(stations):
    x = 30 + step * number
    middle = x + (step - 20) / 2
    body += f'<rect class="box" x="{x:.0f}" y="24" width="{step - 20:.0f}" height="128" rx="8"/>\n'
    body += text(middle, 48, f"{station['name']}: a network namespace", anchor="middle")
    body += text(middle, 72, "any program, a stack of its own", "faint", "middle")
    addresses = station.get("addresses") or [address for address in (station.get("ipv4"), station.get("ipv6")) if address]
    for line, address in enumerate(addresses[:2]):
        body += text(middle, 96 + 18 * line, address, "faint", "middle")
    body += text(middle, 140, f"eth0, {station['mac']}", "faint", "middle")
    body += f'<path class="line" d="M{middle:.0f} 152V204"/>\n'
    body += text(middle + 8, 182, "veth pair", "faint")
body += '<rect class="box" x="30" y="204" width="740" height="116" rx="8"/>\n'
body += text(50, 228, "the bus's namespace: one socket on all ports")
body += '<path class="bus" d="M50 258H750"/>\n'
body += text(50, 286, "the data plane: stamps each frame, runs the medium (defer, collide, jam, back off), and hands")
body += text(50, 304, "each copy over when its last bit is due; it has no rights and no files but those it was given")
body += '<path class="line" d="M400 320V352"/>\n'
body += '<rect class="box" x="30" y="352" width="740" height="44" rx="8"/>\n'
body += text(400, 379, "the supervisor: makes it all, answers `ethbus stats`, removes it all", anchor="middle")
picture("lab.svg", wide, 416, FONT, body)
END
ls -l "$out"
