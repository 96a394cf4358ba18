#!/bin/sh
# Builds libbackoff and installs it: shared and static library, header, backoff.pc, CMake package, man pages.
#
#     crates/backoff-c/install.sh [--prefix /usr/local] [--libdir PREFIX/lib] [--target-dir FOLDER] [--uninstall]
#
# DESTDIR is put before every path, for those who make packages. Needs cargo, and an awk for the man pages.
set -eu

usage() {
    sed -n '2,6s/^# \{0,1\}//p' "$0"
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

header=$root/include/backoff.h
number() { sed -n "s/^#define BACKOFF_VERSION_$1 //p" "$header"; }
version=$(number MAJOR).$(number MINOR).$(number PATCH)
soname=libbackoff.so.$(number MAJOR)
real=libbackoff.so.$version

if [ $uninstall = yes ]; then
    rm -f "$lib/$real" "$lib/$soname" "$lib/libbackoff.so" "$lib/libbackoff.a" "$lib/pkgconfig/backoff.pc" \
        "$lib/cmake/backoff/backoff-config.cmake" "$lib/cmake/backoff/backoff-config-version.cmake" \
        "$include/backoff.h" "$man/backoff.3" "$man"/backoff_*.3
    rmdir "$lib/cmake/backoff" 2>/dev/null || true
    exit 0
fi

(cd "$root" && cargo build --quiet --release --package ethbus-backoff-c --target-dir "$target")
built=$target/release

mkdir -p "$lib/pkgconfig" "$lib/cmake/backoff" "$include" "$man"
install -m 755 "$built/libbackoff.so" "$lib/$real"
strip --strip-unneeded "$lib/$real" 2>/dev/null || true
ln -sf "$real" "$lib/$soname"
ln -sf "$soname" "$lib/libbackoff.so"
install -m 644 "$built/libbackoff.a" "$lib/libbackoff.a"
strip --strip-debug "$lib/libbackoff.a" 2>/dev/null || true
install -m 644 "$header" "$include/backoff.h"

fill() {
    sed -e "s|@PREFIX@|$prefix|g" -e "s|@LIBDIR@|$libdir|g" -e "s|@VERSION@|$version|g" \
        -e "s|@SONAME@|$soname|g" "$here/$1" >"$2"
    chmod 644 "$2"
}
fill backoff.pc.in "$lib/pkgconfig/backoff.pc"
fill backoff-config.cmake.in "$lib/cmake/backoff/backoff-config.cmake"
fill backoff-config-version.cmake.in "$lib/cmake/backoff/backoff-config-version.cmake"
awk -v folder="$man" -v version="$version" -f "$here/man.awk" "$header"
