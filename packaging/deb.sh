# A Debian package from a folder. Sourced by scripts that have set $scratch, $out and $architecture, in the clone's folder.

version=$(awk -F'"' '/^\[workspace.package\]/ { inside = 1 } inside && /^version/ { print $2; exit }' Cargo.toml)
# libbackoff counts by itself, since its interface is frozen.
backoff_version=$(awk -F'"' '/^version/ { print $2; exit }' crates/backoff-c/Cargo.toml)

# package NAME "DEPENDS" "FIRST LINE" "DESCRIPTION" SECTION: what is in $scratch/NAME becomes a package of $version.
package() {
    local name=$1 root=$scratch/$1
    mkdir -p "$root/DEBIAN" "$root/usr/share/doc/$name"
    # Debian has the long one already, and wants it named.
    [ -e "$root/usr/share/doc/$name/copyright" ] || {
        printf 'Licensed, at your choice, under the Apache License 2.0, which is in\n/usr/share/common-licenses/Apache-2.0, or:\n\n'
        cat LICENSE-MIT
    } > "$root/usr/share/doc/$name/copyright"
    printf '%s (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md of the source.\n\n -- ethbus maintainers <ethbus@users.noreply.github.com>  %s\n' \
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
        [ "$name" != ethbus ] || [ "$architecture" != amd64 ] || echo "Suggests: ethbus-kernel"
        [ "$name" != ethbus-kernel ] || echo "Enhances: ethbus"
        echo "Installed-Size: $(du -sk "$root" | cut -f1)"
        echo "Description: $3"
        fold -s -w 76 <<< "$4" | sed 's/^/ /; s/ *$//'
    } > "$root/DEBIAN/control"
    find "$root" -type d -exec chmod 755 {} +
    find "$root" -type f -not -perm -100 -exec chmod 644 {} +
    dpkg-deb --root-owner-group --build "$root" "$out/${name}_${version}_${architecture}.deb"
}
