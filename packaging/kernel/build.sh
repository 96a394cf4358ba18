#!/usr/bin/env bash
# Builds the kernel of virtual labs: Debian's source, our configuration, our patches.
# Usage: build.sh [FOLDER]. The kernel is FOLDER/linux-NAME, where NAME is the hash of all that it is made from.
# Beside it is linux-NAME.source: which version of Debian's source it is made from, and with which compiler.
# `build.sh --name` prints that name alone. Prints one line a step; the last line is `kernel: PATH`. Makes nothing if the kernel is there.
set -euo pipefail

own=$(cd "$(dirname "$0")" && pwd)
folder=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/ethbus/kernel}
package=linux-source-6.12

fail() {
    echo "error: $*" >&2
    exit 1
}
name=$(cat "$own/kernel.config" "$own"/patches/*.patch <(echo "$package") | sha256sum | cut -c 1-12)
if [ "${1:-}" = --name ]; then
    echo "linux-$name"
    exit
fi
kernel=$folder/linux-$name
if [ -x "$kernel" ]; then
    echo "kernel: $kernel"
    exit
fi
[ "$(uname -m)" = x86_64 ] || fail "the kernel of virtual labs needs an x86-64 processor, and this is $(uname -m)"
missing=()
for tool in flex:flex bison:bison bc:bc gcc:gcc make:make xz:xz-utils patch:patch; do
    command -v "${tool%%:*}" > /dev/null || missing+=("${tool##*:}")
done
[ ${#missing[@]} -eq 0 ] || fail "the build needs more programs: run \`apt-get install ${missing[*]}\`"

mkdir -p "$folder"
work=$(mktemp -d "$folder/build.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
source=$own/$package.tar.xz
[ -e "$source" ] || source=/usr/src/$package.tar.xz
if [ ! -e "$source" ]; then
    echo "1/4 fetch $package (150 MB)"
    (cd "$work" && apt-get -q download "$package" > fetch.log 2>&1 && dpkg-deb -x "$package"_*.deb fetched) ||
        fail "no $source, and apt cannot fetch it: run \`apt-get install $package\`"
    source=$work/fetched/usr/src/$package.tar.xz
fi
if ls "$work/$package"_*.deb > /dev/null 2>&1; then
    version=$(dpkg-deb -f "$work/$package"_*.deb Version)
else
    version=$(dpkg-query -Wf '${Version}' "$package" 2> /dev/null || echo "of $source")
fi
echo "2/4 unpack $package"
# The folders left out are large, and nothing in them is built for this architecture.
tar -xJf "$source" -C "$work" --exclude='*/drivers/gpu/*/*.[ch]' --exclude='*/sound/*.[ch]' --exclude='*/Documentation/*.rst'
rm -rf "$work/fetched"
cd "$work/$package"
for change in "$own"/patches/*.patch; do
    patch -s -p1 < "$change" || fail "$(basename "$change") does not fit this $package: take the version that ethbus names"
done
echo "3/4 configure"
{
    make ARCH=um tinyconfig
    scripts/kconfig/merge_config.sh -m .config "$own/kernel.config"
    make ARCH=um olddefconfig
} > "$work/configure.log" 2>&1 || fail "the configuration failed: $(tail -n 1 "$work/configure.log")"
for wanted in UML_TIME_TRAVEL_SUPPORT VIRTIO_NET HOSTFS; do
    grep -q "^CONFIG_$wanted=y" .config || fail "this $package has no $wanted for User-Mode Linux"
done
echo "4/4 compile"
# The same user, host and date each time: the kernel's banner is in every station's console.
export KBUILD_BUILD_USER=ethbus KBUILD_BUILD_HOST=ethbus KBUILD_BUILD_TIMESTAMP="Thu Jan  1 00:00:00 UTC 1970"
make ARCH=um -j"$(nproc)" 2> "$work/errors.log" | awk '/^  (CC|AR|LD) / { n++; if (n % 50 == 0) { print "4/4 compile: " n " files"; fflush() } }' ||
    fail "the compiler failed: $(grep -m 1 -i error "$work/errors.log" || tail -n 1 "$work/errors.log")"
strip -o "$work/linux" linux
printf '%s %s\n%s\n' "$package" "$version" "$(gcc --version | sed -n 1p)" > "$kernel.source"
mv "$work/linux" "$kernel"
echo "kernel: $kernel"
