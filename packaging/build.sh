#!/usr/bin/env bash
# Packages, from a clean clone: Debian packages of the program and of libbackoff, and an archive with a static program.
#
#     packaging/build.sh [FOLDER]      default: target/packages
#
# Needs what the build needs, and dpkg-deb. PROFILE=dev builds faster, for a look at the packages themselves.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=$(realpath -m "${1:-target/packages}")
version=$(awk -F'"' '/^\[workspace.package\]/ { inside = 1 } inside && /^version/ { print $2; exit }' Cargo.toml)
architecture=$(dpkg --print-architecture)
triplet=$(dpkg-architecture -qDEB_HOST_MULTIARCH 2> /dev/null || gcc -print-multiarch)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$out"

# package NAME "DEPENDS" "FIRST LINE" "DESCRIPTION": what stands in $scratch/NAME becomes a package.
package() {
    local name=$1 root=$scratch/$1
    mkdir -p "$root/DEBIAN" "$root/usr/share/doc/$name"
    # Debian has the long one already, and wants it named.
    {
        printf 'Licensed, at your choice, under the Apache License 2.0, which is in\n/usr/share/common-licenses/Apache-2.0, or:\n\n'
        cat LICENSE-MIT
    } > "$root/usr/share/doc/$name/copyright"
    printf '%s (%s) unstable; urgency=medium\n\n  * See https://docs.rs/ethbus and CHANGELOG.md of the source.\n\n -- ethbus maintainers <ethbus@users.noreply.github.com>  %s\n' \
        "$name" "$version" "$(date -Ru -d "@$(git log -1 --format=%ct)")" | gzip -9n > "$root/usr/share/doc/$name/changelog.gz"
    {
        echo "Package: $name"
        echo "Version: $version"
        echo "Architecture: $architecture"
        echo "Maintainer: ethbus maintainers <ethbus@users.noreply.github.com>"
        echo "Section: $5"
        echo "Priority: optional"
        [ -z "$2" ] || echo "Depends: $2"
        [ "$name" != ethbus ] || echo "Recommends: iproute2, iputils-ping, iperf3, tcpdump"
        echo "Installed-Size: $(du -sk "$root" | cut -f1)"
        echo "Description: $3"
        fold -s -w 76 <<< "$4" | sed 's/^/ /; s/ *$//'
    } > "$root/DEBIAN/control"
    find "$root" -type d -exec chmod 755 {} +
    find "$root" -type f -not -perm -100 -exec chmod 644 {} +
    dpkg-deb --root-owner-group --build "$root" "$out/${name}_${version}_${architecture}.deb"
}

profile=${PROFILE:-release}
built=$([ "$profile" = dev ] && echo debug || echo "$profile")
cargo build --profile "$profile" --locked -p ethbus
program=target/$built/ethbus

root=$scratch/ethbus
install -D -m 755 "$program" "$root/usr/bin/ethbus"
strip "$root/usr/bin/ethbus"
"$program" man --out "$root/usr/share/man/man1"
gzip -9n "$root"/usr/share/man/man1/*
install -d "$root/usr/share/bash-completion/completions" "$root/usr/share/zsh/vendor-completions" \
    "$root/usr/share/fish/vendor_completions.d"
"$program" completions bash > "$root/usr/share/bash-completion/completions/ethbus"
"$program" completions zsh > "$root/usr/share/zsh/vendor-completions/_ethbus"
"$program" completions fish > "$root/usr/share/fish/vendor_completions.d/ethbus.fish"
install -D -m 644 packaging/ethbus.apparmor "$root/etc/apparmor.d/ethbus"
install -D -m 644 packaging/ethbus@.service "$root/usr/lib/systemd/system/ethbus@.service"
install -D -m 644 -t "$root/usr/share/doc/ethbus/examples" examples/*.toml
mkdir -p "$root/DEBIAN"
echo /etc/apparmor.d/ethbus > "$root/DEBIAN/conffiles"
cat > "$root/DEBIAN/postinst" <<'END'
#!/bin/sh
set -e
# Only a kernel and an AppArmor that know the rule take the profile; others do not need it.
if [ "$1" = configure ] && command -v apparmor_parser > /dev/null && [ -d /sys/kernel/security/apparmor ]; then
    apparmor_parser -r -W /etc/apparmor.d/ethbus 2> /dev/null || true
fi
END
chmod 755 "$root/DEBIAN/postinst"
package ethbus "libc6" "shared-medium Ethernet on your own machine" \
    "Real frames between network namespaces over one half-duplex bus, and a simulator of it." net

stage=$scratch/stage
PREFIX=/usr DESTDIR=$stage crates/backoff-c/install.sh --prefix /usr --libdir "/usr/lib/$triplet" > "$scratch/log" 2>&1 ||
    { cat "$scratch/log"; exit 1; }
mkdir -p "$scratch/libbackoff0/usr/lib/$triplet" "$scratch/libbackoff0/DEBIAN" "$scratch/libbackoff-dev"
cp -a "$stage/usr" "$scratch/libbackoff-dev/"
for file in "$scratch/libbackoff-dev/usr/lib/$triplet"/libbackoff.so.*; do
    [ -L "$file" ] || chmod 644 "$file"
    mv "$file" "$scratch/libbackoff0/usr/lib/$triplet/"
done
# What links with it needs this package; and the linker's cache has it as soon as it is there.
echo "libbackoff 0 libbackoff0 (>= $version)" > "$scratch/libbackoff0/DEBIAN/shlibs"
echo "activate-noawait ldconfig" > "$scratch/libbackoff0/DEBIAN/triggers"
# As Debian has them, and names for one page as links.
find "$scratch/libbackoff-dev/usr/share/man" -type f -exec gzip -9n {} +
package libbackoff0 "libc6" "backoff of IEEE 802.3 and others, as a C library" \
    "Truncated binary exponential backoff and its relatives, with reproducible draws." libs
package libbackoff-dev "libbackoff0 (= $version)" "backoff of IEEE 802.3 and others: header and static library" \
    "Header, static library, pkg-config file and CMake package of libbackoff." libdevel

# The C library of Debian's libc6-dev comes as an archive too, so that nothing but the kernel is needed where the program runs.
target=$(rustc -vV | sed -n 's/^host: //p')
RUSTFLAGS="-C target-feature=+crt-static" cargo build --profile "$profile" --locked -p ethbus --target "$target"
folder=ethbus-$version-linux-$(uname -m)
install -D -m 755 "target/$target/$built/ethbus" "$scratch/$folder/ethbus"
strip "$scratch/$folder/ethbus"
cp -r README.md LICENSE-MIT LICENSE-APACHE examples docs "$scratch/$folder/"
tar -C "$scratch" --sort=name --owner=0 --group=0 -czf "$out/$folder.tar.gz" "$folder"
install -D "$scratch/$folder/ethbus" packaging/image/ethbus
ls -l "$out"
