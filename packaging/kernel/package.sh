#!/usr/bin/env bash
# The Debian package of the kernel of virtual labs, and an archive with its complete source beside it (GPL-2, section 3).
#
#     packaging/kernel/package.sh [FOLDER]      default: target/packages
#
# Takes the kernel of build.sh, which builds it if it is not there. Fetches the source that it was built from with apt.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out=$(realpath -m "${1:-target/packages}")
architecture=amd64
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$out"
source packaging/deb.sh

own=packaging/kernel
built() { "$own/build.sh" | tee /dev/stderr | sed -n 's/^kernel: //p'; }
kernel=$(built)
# A kernel in the cache may be older than the note of its source.
if [ ! -e "$kernel.source" ]; then
    rm "$kernel"
    kernel=$(built)
fi
made_from=$(sed -n 1p "$kernel.source")
package=${made_from% *}
source=${made_from#* }

root=$scratch/ethbus-kernel
doc=$root/usr/share/doc/ethbus-kernel
install -D -m 755 "$kernel" "$root/usr/lib/ethbus/$(basename "$kernel")"
install -D -m 644 -t "$doc" "$own/kernel.config" "$own"/patches/*.patch "$kernel.source"
cat > "$doc/copyright" <<END
This is Linux, built as User-Mode Linux from Debian's $package $source with
kernel.config and the patches in this folder. It is a program of its own that
ethbus starts.

Copyright: Linus Torvalds and others; the patches: the ethbus authors.
License: GPL-2, which is in /usr/share/common-licenses/GPL-2.

The complete source is the archive ethbus-kernel_${version}_source.tar, which is
where this package is: Debian's source, configuration, patches and build.sh.
Debian keeps its source at
https://snapshot.debian.org/binary/$package/ too.
Who has got the package without the archive can have it from the maintainers, at
the price of the transfer, for three years from the package's date.
END
mkdir -p "$root/usr/share/lintian/overrides"
echo "ethbus-kernel: executable-in-usr-lib" > "$root/usr/share/lintian/overrides/ethbus-kernel"
libc=$(readelf -W --dyn-syms "$kernel" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
package ethbus-kernel "libc6 (>= ${libc#GLIBC_})" "kernel of virtual labs of ethbus" \
    "User-Mode Linux whose clock is that of a lab in virtual time: ethbus run, ethbus up --virtual." kernel

archive=ethbus-kernel_${version}_source
mkdir "$scratch/$archive"
(cd "$scratch" && apt-get -q download "$package=$source" > fetch.log 2>&1 && dpkg-deb -x "$package"_*.deb fetched) ||
    { echo "packaging/kernel/package.sh: apt cannot fetch $package $source" >&2; tail -n 3 "$scratch/fetch.log" >&2; exit 1; }
mv "$scratch/fetched/usr/src/$package.tar.xz" "$scratch/$archive/"
cp -r "$own/build.sh" "$own/kernel.config" "$own/patches" "$kernel.source" "$scratch/$archive/"
tar -C "$scratch" --sort=name --owner=0 --group=0 -cf "$out/$archive.tar" "$archive"
