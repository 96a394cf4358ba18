#!/usr/bin/env bash
# The packages of packaging/build.sh for aarch64, made on another architecture with Debian's own Rust and its library for arm64:
#
#     sudo packaging/cross.sh [FOLDER]      default: target/packages
#
# In a folder with Debian unstable, whose Rust is new enough. Needs debootstrap, a Debian mirror and crates.io.
source "$(dirname "$0")/../.ci/common"
out=$(realpath -m "${1:-target/packages}")
needs+=("debootstrap debootstrap") && install_missing
source .ci/root

unstable() {
    fresh_root sid ca-certificates,git
    see_the_network
    inside dpkg --add-architecture arm64
    # A mirror of unstable may be some weeks behind.
    inside apt-get -o Acquire::Check-Valid-Until=false update -qq
    inside env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends cargo rustc libstd-rust-dev:arm64 \
        gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc libc6-dev > "$scratch/apt" 2>&1 || { tail -n 20 "$scratch/apt"; return 1; }
    git bundle create "$root/ethbus.bundle" HEAD 2> "$scratch/bundle"
    inside git clone --quiet -c advice.detachedHead=false /ethbus.bundle /ethbus
}

make_them() {
    inside env TARGET=aarch64-unknown-linux-gnu /ethbus/packaging/build.sh
    mkdir -p "$out"
    cp "$root"/ethbus/target/packages/*arm64.deb "$root"/ethbus/target/packages/*aarch64.tar.gz "$out/"
}

step "Debian unstable" unstable
step "packages for aarch64" make_them
