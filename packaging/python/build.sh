#!/usr/bin/env bash
# A wheel for each archive that packaging/build.sh has made: packaging/python/build.sh [FOLDER]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
out=$(realpath -m "${1:-../../target/packages}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for archive in "$out"/ethbus-*-linux-*.tar.gz; do
    name=$(basename "$archive" .tar.gz)
    tree=$scratch/$name
    mkdir -p "$tree/src/ethbus/bin"
    cp -r pyproject.toml README.md src "$tree/"
    tar -xzf "$archive" -O "$name/ethbus" > "$tree/src/ethbus/bin/ethbus"
    chmod 755 "$tree/src/ethbus/bin/ethbus"
    version=${name#ethbus-}
    echo "${version%%-linux-*}" > "$tree/VERSION"
    # A static program asks nothing of the machine's C library: glibc of any age, and musl.
    machine=${name##*-linux-}
    platform=manylinux_2_17_$machine.manylinux2014_$machine.musllinux_1_1_$machine
    python3 -m pip wheel --quiet --no-deps --wheel-dir "$scratch/wheels" --config-settings="--build-option=--plat-name=$platform" "$tree"
done
mv "$scratch"/wheels/*.whl "$out/"
ls -l "$out"/*.whl
