#!/usr/bin/env bash
# Packages, from a clean clone: Debian packages of the program, of libbackoff and of the kernel of virtual labs with its source;
# an archive with the program. The program is static, so that it needs nothing but a kernel, of whatever distribution.
#
#     packaging/build.sh [FOLDER]      default: target/packages
#
# Needs what the build needs, and dpkg-deb and readelf. PROFILE=dev builds faster, for a look at the packages themselves.
# TARGET=aarch64-unknown-linux-gnu makes them for another architecture, with its C compiler (Debian: gcc-aarch64-linux-gnu) and
# Rust's library for it (rustup target add); packaging/cross.sh has both from Debian.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=$(realpath -m "${1:-target/packages}")
host=$(rustc -vV | sed -n 's/^host: //p')
target=${TARGET:-$host}
machine=${target%%-*}
case $machine in
    x86_64) architecture=amd64 ;;
    aarch64) architecture=arm64 ;;
    *) echo "packaging/build.sh: no Debian name is known for $machine: add it here" >&2; exit 1 ;;
esac
triplet=$machine-linux-gnu
tools=
if [ "$target" != "$host" ]; then
    tools=$triplet-
    linker=CARGO_TARGET_$(tr 'a-z-' 'A-Z_' <<< "$target")_LINKER
    export "$linker=${tools}gcc" CC="${tools}gcc"
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$out"

source packaging/deb.sh

# What goes into a package without dependencies may be linked to nothing.
needs_nothing() {
    local needed
    needed=$(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
    [ -z "$needed" ] || { echo "packaging/build.sh: $1 needs $needed: add its package to Depends" >&2; exit 1; }
}

# README and all that it names.
pages() {
    install -d "$1"
    git ls-files -z README.md ARCHITECTURE.md CHANGELOG.md CONTRIBUTING.md crates/device/README.md docs examples |
        xargs -0 cp --parents -t "$1"
}

profile=${PROFILE:-release}
built=$([ "$profile" = dev ] && echo debug || echo "$profile")
# Packages write Parquet; a source build does so with the same feature (docs/sweep.md has its price).
# The C library of Debian's libc6-dev comes as an archive too. What the build script made is beside: man pages and completions.
made=$(RUSTFLAGS="-C target-feature=+crt-static" cargo build --profile "$profile" --locked -p ethbus -p ethbus-verify --features ethbus/parquet --target "$target" \
    --message-format=json-render-diagnostics | sed -n 's/.*"out_dir":"\([^"]*\/ethbus-[0-9a-f]*\/out\)".*/\1/p')
program=$scratch/program
"${tools}strip" -o "$program" "target/$target/$built/ethbus"
needs_nothing "$program"
verify=$scratch/verify
"${tools}strip" -o "$verify" "target/$target/$built/ethbus-verify"
needs_nothing "$verify"

root=$scratch/ethbus
install -D -m 755 "$program" "$root/usr/bin/ethbus"
install -D -m 755 "$verify" "$root/usr/bin/ethbus-verify"
install -D -m 644 -t "$root/usr/share/man/man1" "$made"/man/*
{
    printf '.TH ethbus-verify 1\n.SH NAME\nethbus-verify \\- hold the trace of a run of ethbus against the standard\n.SH DESCRIPTION\n.nf\n'
    sed 's/\\/\\e/g; s/-/\\-/g; s/^\./\\\&./' crates/verify/src/usage.txt
} > "$root/usr/share/man/man1/ethbus-verify.1"
gzip -9n "$root"/usr/share/man/man1/*
install -D -m 644 "$made/completions/ethbus.bash" "$root/usr/share/bash-completion/completions/ethbus"
install -D -m 644 -t "$root/usr/share/zsh/vendor-completions" "$made/completions/_ethbus"
install -D -m 644 -t "$root/usr/share/fish/vendor_completions.d" "$made/completions/ethbus.fish"
install -D -m 644 packaging/ethbus@.service "$root/usr/lib/systemd/system/ethbus@.service"
install -D -m 644 packaging/ethbus-docker.service "$root/usr/lib/systemd/system/ethbus-docker.service"
install -D -m 644 packaging/ethbus.apparmor "$root/usr/share/ethbus/apparmor"
# What reports have their engine from; it is a page to try by itself.
packaging/page.sh "$scratch/page.html" > /dev/null
install -D -m 644 "$scratch/page.html" "$root/usr/share/ethbus/page.html"
# Where Debian's Wireshark looks for programs that capture.
install -d "$root/usr/lib/$triplet/wireshark/extcap"
ln -s ../../../../bin/ethbus "$root/usr/lib/$triplet/wireshark/extcap/ethbus"
# Where Debian's Wireshark looks for dissectors.
install -D -m 644 -t "$root/usr/lib/$triplet/wireshark/plugins" examples/wireshark/ethbus.lua
# The pages that the man pages name, and the files that the pages name.
pages "$root/usr/share/doc/ethbus"
install -d "$root/usr/share/lintian/overrides"
printf 'ethbus: statically-linked-binary [usr/bin/%s]\n' ethbus ethbus-verify > "$root/usr/share/lintian/overrides/ethbus"
mkdir -p "$root/DEBIAN"
cat > "$root/DEBIAN/postinst" <<'END'
#!/bin/sh
set -e
# Only an AppArmor of version 4 knows the rule, and refuses nothing without it; an older one would complain at each start.
if [ "$1" = configure ] && [ -e /etc/apparmor.d/abi/4.0 ]; then
    cp /usr/share/ethbus/apparmor /etc/apparmor.d/ethbus
    if [ -d /sys/kernel/security/apparmor ] && command -v apparmor_parser > /dev/null; then
        apparmor_parser -r -W /etc/apparmor.d/ethbus || true
    fi
fi
END
cat > "$root/DEBIAN/prerm" <<'END'
#!/bin/sh
set -e
if [ "$1" = remove ] && [ -e /etc/apparmor.d/ethbus ]; then
    if [ -d /sys/kernel/security/apparmor ] && command -v apparmor_parser > /dev/null; then
        apparmor_parser -R /etc/apparmor.d/ethbus || true
    fi
    rm -f /etc/apparmor.d/ethbus
fi
END
chmod 755 "$root/DEBIAN/postinst" "$root/DEBIAN/prerm"
package ethbus "" "shared-medium Ethernet on your own machine" \
    "Real frames between network namespaces over one half-duplex bus, and a simulator of it." net

# Built here for the target, so that the script that installs it finds nothing to build, and strips with the target's tool.
cargo build --release --locked -p ethbus-backoff-c --target "$target"
stage=$scratch/stage
mkdir "$scratch/tools"
ln -s "$(type -P true)" "$scratch/tools/cargo"
ln -s "$(command -v "${tools}strip")" "$scratch/tools/strip"
PATH=$scratch/tools:$PATH DESTDIR=$stage crates/backoff-c/install.sh --prefix /usr --libdir "/usr/lib/$triplet" \
    --target-dir "target/$target" > "$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
mkdir -p "$scratch/libbackoff1/usr/lib/$triplet" "$scratch/libbackoff1/DEBIAN" "$scratch/libbackoff-dev"
cp -a "$stage/usr" "$scratch/libbackoff-dev/"
for file in "$scratch/libbackoff-dev/usr/lib/$triplet"/libbackoff.so.*; do
    [ -L "$file" ] || chmod 644 "$file"
    mv "$file" "$scratch/libbackoff1/usr/lib/$triplet/"
done
install -D -m 644 -t "$scratch/libbackoff-dev/usr/share/doc/libbackoff-dev" docs/backoff/*.md
sed -i 's#(\.\./\.\./include/#(/usr/include/#' "$scratch/libbackoff-dev/usr/share/doc/libbackoff-dev"/*.md
program_version=$version version=$backoff_version
# What links with it needs this package; and the linker's cache has it as soon as it is there.
echo "libbackoff 1 libbackoff1 (>= $version)" > "$scratch/libbackoff1/DEBIAN/shlibs"
echo "activate-noawait ldconfig" > "$scratch/libbackoff1/DEBIAN/triggers"
# As Debian has them, and names for one page as links.
find "$scratch/libbackoff-dev/usr/share/man" -type f -exec gzip -9n {} +
needs_nothing "$scratch/libbackoff1/usr/lib/$triplet"/libbackoff.so.*.*
package libbackoff1 "" "backoff of IEEE 802.3 and others, as a C library" \
    "Truncated binary exponential backoff and its relatives, with reproducible draws." libs
package libbackoff-dev "libbackoff1 (= $version)" "backoff of IEEE 802.3 and others: headers and static library" \
    "Headers, static library, pkg-config file and CMake package of libbackoff." libdevel
version=$program_version

if [ "$architecture" = amd64 ]; then packaging/kernel/package.sh "$out"; fi

folder=ethbus-$version-linux-$machine
install -D -m 755 "$program" "$scratch/$folder/ethbus"
install -D -m 755 "$verify" "$scratch/$folder/ethbus-verify"
pages "$scratch/$folder"
cp LICENSE-MIT LICENSE-APACHE "$scratch/$folder/"
tar -C "$scratch" --sort=name --owner=0 --group=0 -czf "$out/$folder.tar.gz" "$folder"
if [ "$target" = "$host" ]; then install -D "$program" packaging/image/ethbus; fi
ls -l "$out"
