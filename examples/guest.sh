#!/usr/bin/env bash
# A whole machine with a kernel of its own as a station: a QEMU guest on a TAP device. It pings st1, fetches a file from it, and
# serves one that st2 fetches. Needs Debian's qemu-system-x86, busybox-static and cpio, and the kernel of a
# linux-image-*-cloud-amd64, which is unpacked and not installed. See docs/ports.md.
#
#     apt-get download linux-image-6.1.0-48-cloud-amd64
#     sudo examples/guest.sh linux-image-*.deb
set -euo pipefail
program=${ETHBUS:-ethbus}
package=$(realpath "$1")
lab=guest-$$
folder=$(mktemp -d)
cd "$folder"

clean_up() {
    "$program" down --name "$lab" > down 2>&1 || true
    cd / && rm -rf "$folder"
}
trap clean_up EXIT

# The guest: a kernel, BusyBox, and the modules of its network card, in the order in which they need each other.
modules="virtio_ring virtio virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci failover net_failover virtio_net"
dpkg -x "$package" kernel
mkdir -p root/bin root/m root/proc root/sys root/dev served
cp /bin/busybox root/bin/
for module in $modules; do
    find kernel/lib/modules -name "$module.ko" -exec cp {} root/m/ \;
done
cat > root/init << END
#!/bin/busybox sh
/bin/busybox --install /bin
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
for module in $modules; do insmod /m/\$module.ko; done
ip link set lo up; ip address add 10.77.0.3/16 dev eth0; ip link set eth0 up
ping -c 5 10.77.0.1 && echo "guest: st1 answers"
wget -O /dev/null http://10.77.0.1/file && echo "guest: fetched from st1"
mkdir /www; dd if=/dev/zero of=/www/file bs=1k count=1024; httpd -h /www && echo "guest: serves"
sleep 600
END
chmod +x root/init
(cd root && find . | cpio -o -H newc 2> ../cpio | gzip) > initramfs.gz
dd if=/dev/zero of=served/file bs=1k count=1024 2> dd

printf '[[station]]\n[[station]]\n[[station]]\nname = "vm"\nkind = "tap"\n' > lab.toml
"$program" up --background --name "$lab" lab.toml
"$program" exec --name "$lab" st1 -- busybox httpd -h "$folder/served"
"$program" exec --name "$lab" vm -- qemu-system-x86_64 -accel tcg -m 256 -nographic -no-reboot \
    -kernel kernel/boot/vmlinuz-* -initrd initramfs.gz -append "console=ttyS0 quiet panic=1" \
    -netdev tap,id=n0,ifname=tap0,script=no,downscript=no -device virtio-net-pci,netdev=n0,romfile= \
    < /dev/null > console 2>&1 &

# A guest in software takes half a minute to boot, more on a busy machine.
for _ in $(seq 600); do
    grep -q "guest: serves" console && break
    sleep 0.5
done
grep "guest:\|bytes from\|packet loss" console || { cat console; exit 1; }
"$program" exec --name "$lab" st2 -- busybox wget -O fetched http://10.77.0.3/file
cmp fetched served/file && echo "st2: fetched a megabyte from the guest, octet for octet"
"$program" down --name "$lab"
