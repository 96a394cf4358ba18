#!/usr/bin/env bash
# Makes the page: the engine as WebAssembly, style and scripts in one HTML file that opens from disk, without a network.
#
#   packaging/page.sh [FILE]      default: target/page.html, where the program looks for the engine of its reports

set -euo pipefail
cd "$(dirname "$0")/.."

target=wasm32-unknown-unknown
folder=${CARGO_TARGET_DIR:-target}
out=${1:-$folder/page.html}
most=1500000

if [ ! -d "$(rustc --print sysroot)/lib/rustlib/$target/lib" ]; then
    echo "page.sh: the target $target is missing: rustup target add $target" >&2
    exit 3
fi
cargo rustc --quiet --locked --profile page -p ethbus-page --lib --crate-type cdylib --target "$target"
mkdir -p "$(dirname "$out")"
cargo run --quiet --locked -p ethbus-page --example whole -- "$folder/$target/page/page.wasm" "$out.new"
size=$(wc -c < "$out.new")
if [ "$size" -gt "$most" ]; then
    rm "$out.new"
    echo "page.sh: the page has $size octets, and $most are the most" >&2
    exit 1
fi
mv "$out.new" "$out"
echo "$out: $size octets"
