#!/bin/sh
# Builds libbackoff and installs it: shared and static library, header, backoff.pc, CMake package, man pages.
#
#     crates/backoff-c/install.sh [--prefix /usr/local] [--libdir PREFIX/lib] [--target-dir FOLDER] [--uninstall]
#
# DESTDIR is put before every path, for those who make packages. Building needs cargo; what has been built before, by the
# same user or another, is installed without: `cargo build --release -p ethbus-backoff-c`, then this as root. Needs awk, and a
# C compiler (`cc`, or what CC says) that links the shared library out of the static one.
set -eu
# What is installed is for everybody, whatever the umask of who installs it.
umask 022

usage() {
    sed -n '2,8s/^# \{0,1\}//p' "$0"
    exit "$1"
}

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
prefix=/usr/local
libdir=
target=${CARGO_TARGET_DIR:-$root/target}
uninstall=no
while [ $# -gt 0 ]; do
    case $1 in
        --prefix) prefix=${2:?--prefix asks for a folder}; shift ;;
        --prefix=*) prefix=${1#*=} ;;
        --libdir) libdir=${2:?--libdir asks for a folder}; shift ;;
        --libdir=*) libdir=${1#*=} ;;
        --target-dir) target=${2:?--target-dir asks for a folder}; shift ;;
        --target-dir=*) target=${1#*=} ;;
        --uninstall) uninstall=yes ;;
        -h | --help) usage 0 ;;
        *) echo "install.sh: unknown argument: $1" >&2; usage 2 >&2 ;;
    esac
    shift
done
case $prefix in
    /*) ;;
    *) echo "install.sh: --prefix must be an absolute path: $prefix" >&2; exit 2 ;;
esac
libdir=${libdir:-$prefix/lib}
lib=${DESTDIR:-}$libdir
include=${DESTDIR:-}$prefix/include
man=${DESTDIR:-}$prefix/share/man/man3
licenses=${DESTDIR:-}$prefix/share/licenses/libbackoff

header=$root/include/backoff.h
number() { sed -n "s/^#define BACKOFF_VERSION_$1 //p" "$header"; }
version=$(number MAJOR).$(number MINOR).$(number PATCH)
abi=$(sed -n 's/^#define BACKOFF_ABI //p' "$header")
soname=libbackoff.so.$abi
real=libbackoff.so.$abi.$(number MINOR).$(number PATCH)
headers="backoff.h backoff_limits.h backoff_schedule.h backoff_presets.h backoff_one.h backoff.hpp"

# Tells the loader what has changed where it looks: in the system's own folders, not in a stage or a prefix elsewhere.
refresh() {
    case $libdir in
    /lib | /lib/* | /usr/lib | /usr/lib/* | /usr/local/lib | /usr/local/lib/* | /lib64 | /usr/lib64) ;;
    *) return 0 ;;
    esac
    if [ -z "${DESTDIR:-}" ] && [ "$(id -u)" = 0 ] && command -v ldconfig >/dev/null 2>&1; then
        ldconfig
    fi
}

if [ $uninstall = yes ]; then
    rm -f "$lib/$real" "$lib/$soname" "$lib/libbackoff.so" "$lib/libbackoff.a" "$lib/pkgconfig/backoff.pc" \
        "$lib/cmake/backoff/backoff-config.cmake" "$lib/cmake/backoff/backoff-config-version.cmake" \
        "$man/backoff.3" "$man"/backoff_*.3 "$licenses/LICENSE-MIT" "$licenses/LICENSE-APACHE"
    for file in $headers; do rm -f "$include/$file"; done
    rmdir "$lib/cmake/backoff" "$lib/cmake" "$lib/pkgconfig" 2>/dev/null || true
    # The system's own folders stay, even if they are empty.
    case ${DESTDIR:-}$prefix in
    /usr | /usr/local) rmdir "$licenses" 2>/dev/null || true ;;
    *) for folder in "$licenses" "$man" "$include" "$lib"; do rmdir -p "$folder" 2>/dev/null || true; done ;;
    esac
    refresh
    exit 0
fi

built=$target/release
if command -v cargo >/dev/null 2>&1; then
    (cd "$root" && cargo build --quiet --release --package ethbus-backoff-c --target-dir "$target")
elif [ ! -f "$built/libbackoff.so" ] || [ ! -f "$built/libbackoff.a" ]; then
    echo "install.sh: no cargo here, and nothing built in $built: build first," >&2
    echo "    cargo build --release -p ethbus-backoff-c" >&2
    exit 1
fi

# rustc cannot give symbols a version; a C compiler can, out of the static library. A library without versions must not be
# installed: programs that were linked with one that has them would end in the loader. Hardened as cargo's own is; and
# without a page of padding between code and data.
link_with_versions() {
    # shellcheck disable=SC2046 # one argument for each function
    "${CC:-cc}" -shared -nostdlib -o "$1" -Wl,--gc-sections -Wl,-soname,"$soname" \
        -Wl,-z,relro,-z,now -Wl,--eh-frame-hdr -Wl,-z,noseparate-code -Wl,--hash-style=gnu \
        -Wl,--version-script="$here/backoff.map" \
        $(sed -n 's/^ *\(backoff_[a-z0-9_]*\);$/-Wl,-u,\1/p' "$here/backoff.map") \
        "$built/libbackoff.a"
}

# Linked before anything is written where it is to lie.
linked=$(mktemp -d)
trap 'rm -rf "$linked"' EXIT
if ! link_with_versions "$linked/$real" 2>"$linked/said"; then
    cat "$linked/said" >&2
    echo "install.sh: ${CC:-cc} cannot link the shared library with the versions of its functions; nothing is installed." >&2
    echo "    Install a C compiler for this system, or name one: CC=clang $0" >&2
    exit 1
fi

mkdir -p "$licenses"
mkdir -p "$lib/pkgconfig" "$lib/cmake/backoff" "$include" "$man"
strip --strip-unneeded "$linked/$real" 2>/dev/null || true
install -m 755 "$linked/$real" "$lib/$real"
# A file of before version 1.0, which ldconfig would prefer.
rm -f "$lib/libbackoff.so.1.2.0"
ln -sf "$real" "$lib/$soname"
ln -sf "$soname" "$lib/libbackoff.so"
install -m 644 "$built/libbackoff.a" "$lib/libbackoff.a"
strip --strip-debug "$lib/libbackoff.a" 2>/dev/null || true
for file in $headers; do install -m 644 "$root/include/$file" "$include/$file"; done
install -m 644 "$root/LICENSE-MIT" "$root/LICENSE-APACHE" "$licenses"

# Paths in backoff.pc: blanks as pkg-config wants them, and relative to the file where the library lies in the prefix.
escape() {
    printf '%s' "$1" | sed -e 's/[\\&|]/\\&/g'
}
blanks() {
    printf '%s' "$1" | sed -e 's/ /\\ /g'
}
pc_prefix=$(blanks "$prefix")
pc_libdir=$(blanks "$libdir")
case $libdir in
    "$prefix"/*) pc_libdir='${prefix}'$(blanks "${libdir#"$prefix"}") ;;
esac
fill() {
    sed -e "s|@PC_PREFIX@|$(escape "$pc_prefix")|g" -e "s|@PC_LIBDIR@|$(escape "$pc_libdir")|g" \
        -e "s|@PREFIX@|$(escape "$prefix")|g" -e "s|@LIBDIR@|$(escape "$libdir")|g" -e "s|@VERSION@|$version|g" \
        -e "s|@SONAME@|$soname|g" -e "s|@REAL@|$real|g" "$here/$1" >"$2"
    chmod 644 "$2"
}
fill backoff.pc.in "$lib/pkgconfig/backoff.pc"
fill backoff-config.cmake.in "$lib/cmake/backoff/backoff-config.cmake"
fill backoff-config-version.cmake.in "$lib/cmake/backoff/backoff-config-version.cmake"
for file in backoff.h backoff_limits.h backoff_schedule.h backoff_presets.h; do
    awk -v folder="$man" -v version="$version" -v header="$file" -f "$here/man.awk" "$root/include/$file"
done
chmod 644 "$man"/backoff.3 "$man"/backoff_*.3
refresh
