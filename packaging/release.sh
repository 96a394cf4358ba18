#!/usr/bin/env bash
# The whole of a release in one folder, from a clean clone:
#
#     packaging/release.sh [FOLDER]      default: target/release-VERSION
#
# Archives and Debian packages for this architecture, libbackoff's source and packages, the wheel, the page, the notes, a
# list of what is in the program (SPDX 2.3), and checksums. `sudo packaging/cross.sh FOLDER` first adds those for aarch64.
# Needs what packaging/build.sh, packaging/page.sh and packaging/python/build.sh need, and cargo-sbom
# (0.10.0 of crates.io).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source packaging/deb.sh
out=$(realpath -m "${1:-target/release-$version}")
epoch=$(git log -1 --format=%ct)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
[ -z "$(git status --porcelain --untracked-files=no)" ] || { echo "release.sh: the clone has changes that are not committed" >&2; exit 1; }
mkdir -p "$out"

# The same octets for the same commit.
archive() {
    tar -C "$scratch" --sort=name --owner=0 --group=0 --mtime="@$epoch" -c "$1" | gzip -9n > "$out/$1.tar.gz"
}

# libbackoff alone: its two crates, the headers, and the crates that they use, so that it builds without a network.
libbackoff_source() {
    local name=libbackoff-$backoff_version tree=$scratch/libbackoff-$backoff_version
    mkdir "$tree"
    git archive HEAD crates/backoff crates/backoff-c include ffi-tests/examples LICENSE-MIT LICENSE-APACHE docs/backoff |
        tar -x -C "$tree" --exclude crates/backoff/retry --exclude crates/backoff/tests
    cp docs/backoff/README.md "$tree/README.md"
    # What tests need is not needed here.
    sed -i '/^\[dev-dependencies\]/,$d' "$tree/crates/backoff/Cargo.toml"
    {
        printf '[workspace]\nresolver = "3"\nmembers = ["crates/backoff", "crates/backoff-c"]\n\n'
        awk '/^\[/ { inside = /^\[(workspace\.(package|lints)|profile\.release)/ } inside' Cargo.toml
    } > "$tree/Cargo.toml"
    cp Cargo.lock "$tree/"
    (
        cd "$tree"
        mkdir .cargo
        cargo vendor --quiet --versioned-dirs vendor > .cargo/config.toml
        CARGO_TARGET_DIR=$scratch/libbackoff-target cargo build --release --quiet --offline --locked -p ethbus-backoff-c
    )
    archive "$name"
}

# What the programs were made from: each crate with its version, licence and checksum.
list_of_parts() {
    local package
    for package in ethbus ethbus-verify ethbus-backoff-c; do
        cargo sbom --cargo-package "$package" --output-format spdx_json_2_3 > "$out/$package-$version.spdx.json"
    done
}

# A section of a page, from its heading on.
section() {
    awk -v head="## $1" 'index($0, head) == 1 { inside = 1; print; next } /^## / { inside = 0 } inside' "$2"
}

# What this version is, and how it is installed. Where the pages have links, the notes have paths: packages have them too.
notes() {
    local notes=$out/ethbus-$version-notes.md
    { section "$version" CHANGELOG.md && echo && section Install README.md; } | sed -E 's/\[[^]]*\]\(([^)]*)\)/\1/g' > "$notes"
    [ "$(grep -c '^## ' "$notes")" -eq 2 ] || { echo "release.sh: no section of $version in CHANGELOG.md, or Install in README.md" >&2; exit 1; }
}

packaging/build.sh "$out"
packaging/python/build.sh "$out"
packaging/page.sh "$out/ethbus-$version-page.html"
libbackoff_source
list_of_parts
notes
cp LICENSE-MIT LICENSE-APACHE "$out/"
(cd "$out" && rm -f SHA256SUMS && sha256sum -- * > "$scratch/sums" && mv "$scratch/sums" SHA256SUMS)
ls -l "$out"
