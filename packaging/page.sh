#!/usr/bin/env bash
# Makes the page: the engine as WebAssembly, style and scripts in one HTML file that opens from disk, without a network.
#
#   packaging/page.sh [FILE]      default: target/page.html

set -euo pipefail
cd "$(dirname "$0")/.."

target=wasm32-unknown-unknown
out=${1:-${CARGO_TARGET_DIR:-target}/page.html}
most=1500000

if [ ! -d "$(rustc --print sysroot)/lib/rustlib/$target/lib" ]; then
    echo "page.sh: the target $target is missing: rustup target add $target" >&2
    exit 3
fi
cargo build --quiet --locked --profile page -p ethbus-page --target "$target"
wasm=${CARGO_TARGET_DIR:-target}/$target/page/page.wasm

# Scripts in the order in which they import each other, as one module.
script() {
    local name
    for name in engine scenario picture charts lessons page; do
        sed -E '/^import /d; s/^export //' "crates/page/page/$name.js" | namespaced "$name"
    done
}

# What page.js calls scenario.get is a function of an object here.
namespaced() {
    if [ "$1" = scenario ]; then
        echo 'const scenario = (() => {'
        cat
        echo 'return { get, set, stations, withStations, spelt, packed, fromAddress }; })();'
    else
        cat
    fi
}

work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
gzip -9 -n -c "$wasm" | base64 -w 0 > "$work/WASM"
cp crates/page/page/page.css "$work/STYLE"
script > "$work/SCRIPT"
awk -v work="$work" '
    match($0, /\/\*(STYLE|WASM|SCRIPT)\*\//) {
        name = substr($0, RSTART + 2, RLENGTH - 4)
        printf "%s", substr($0, 1, RSTART - 1)
        file = work "/" name
        while ((getline line < file) > 0) print line
        print substr($0, RSTART + RLENGTH)
        next
    }
    { print }
' crates/page/page/index.html > "$work/page.html"
size=$(wc -c < "$work/page.html")
if [ "$size" -gt "$most" ]; then
    echo "page.sh: the page has $size octets, and $most are the most" >&2
    exit 1
fi
mkdir -p "$(dirname "$out")"
mv "$work/page.html" "$out"
echo "$out: $size octets"
