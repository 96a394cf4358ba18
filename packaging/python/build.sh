#!/usr/bin/env bash
# A wheel with the static program that packaging/build.sh has made: packaging/python/build.sh [FOLDER]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
out=$(realpath -m "${1:-../../target/packages}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp -r pyproject.toml src "$scratch/"
install -D -m 755 ../image/ethbus "$scratch/src/ethbus/bin/ethbus"
python3 -m pip wheel --no-deps --wheel-dir "$out" "$scratch"
