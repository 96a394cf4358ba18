#!/usr/bin/env bash
# Makes the pictures of README and docs, each from a real run.
#
#     docs/pictures.sh [PROGRAM]           the program of the release build if none is named
#
# Needs python3, chromium, and for the windows of other programs xvfb, xdotool, imagemagick, wireshark and gtkwave. What it
# makes is in docs/pictures.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
ethbus=$(realpath "${1:-target/release/ethbus}")
out=docs/pictures
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$out"

# A drawing names the command that made it, so it is made where no path of this machine is in the command: draw NAME COMMAND…
draw() {
    local name=$1
    shift
    (cd "$scratch" && "$ethbus" "$@" "$name" > life)
    cp "$scratch/$name" "$out/$name"
}

# A collision over time and distance.
"$ethbus" sim --stations 2 --topology bus:2000m --frame-size 64 --traffic poisson:0.5 --duration 1s --warmup 0s --seed 3 \
    --events "$scratch/run.events" > "$scratch/table"
draw collision.svg explain run.events --pick collisions=1,station=st1 --svg

# One frame of each other access method: NAME FRAME, and what is run.
life() {
    local name=$1 frame=$2
    shift 2
    "$ethbus" sim "$@" --warmup 0s --events "$scratch/$name.events" > "$scratch/table" 2> "$scratch/warnings"
    draw "$name.svg" explain "$name.events" --frame "$frame" --svg
}
few=(--stations 4 --frame-size 64 --duration 20ms)
life tdma st2#2 --access tdma "${few[@]}" --seed 3 --slots st1,st2,st1,st3,st4 --topology bus:5km --slot 1000bt --guard 300bt --traffic poisson:0.3/slot
life aloha st2#1 --access aloha --population infinite "${few[@]}" --seed 3 --topology bus:500m --traffic poisson:0.15/slot
life slotted-aloha st2#1 --access slotted-aloha --population infinite "${few[@]}" --seed 7 --topology bus:500m --traffic poisson:0.3/slot
life csma st2#1 --access csma --population infinite "${few[@]}" --seed 3 --topology bus:2000m --traffic poisson:0.5/slot
life csma-ca st1#1 examples/hidden.toml --rts on --duration 300ms --seed 3
life plca st3#2 --access plca "${few[@]}" --seed 3 --topology bus:25m --traffic poisson:0.8

# Segments with PLCA that go wrong.
for file in examples/plca/[01]*.toml; do
    scenario=$(basename "$file" .toml)
    "$ethbus" sim "$file" --events "$scratch/plca.events" > "$scratch/table" 2> "$scratch/warnings"
    draw "plca-${scenario%%-*}.svg" explain plca.events --segment --svg
done

# The bus in a browser, and a report, which has its engine from there.
packaging/page.sh "$(dirname "$ethbus")/../page.html" > "$scratch/page"
python3 .ci/browser.py "$(dirname "$ethbus")/../page.html" "$out/page.png"
"$ethbus" sim examples/classroom.toml --events "$scratch/class.trace" > "$scratch/class"
"$ethbus" report "$scratch/class.trace" -o "$scratch/class.html"
python3 .ci/browser.py "$scratch/class.html" "$out/report.png"

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
    --events "$scratch/run.events" > "$scratch/table"
"$ethbus" convert "$scratch/run.events" --to vcd --out "$scratch/run.vcd"
mkdir -p "$scratch/.config/wireshark/profiles" "$scratch/.local/lib/wireshark/plugins"
cp -r examples/wireshark "$scratch/.config/wireshark/profiles/ethbus"
cp examples/wireshark/ethbus.lua "$scratch/.local/lib/wireshark/plugins/"
window wireshark run.pcapng wireshark -C ethbus -r "$scratch/run.pcapng"
cat > "$scratch/all.tcl" <<'END'
set all [list]
for {set i 0} {$i < [gtkwave::getNumFacs]} {incr i} { lappend all [gtkwave::getFacName $i] }
gtkwave::addSignalsFromList $all
gtkwave::/Time/Zoom/Zoom_Full
END
(out=$(realpath "$out") && cd "$scratch" && window gtkwave GTKWave gtkwave --rcvar "hier_max_level 2" --script all.tcl run.vcd)

ls -l "$out"
