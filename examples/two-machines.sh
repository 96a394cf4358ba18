#!/usr/bin/env bash
# A bus that two machines are on: one has ethbus, the other only a kernel. Both are namespaces of this machine here, joined by
# a cable; with two machines, type on the far one what `ethbus up` prints. See docs/ports.md, "Another machine".
#
#     sudo examples/two-machines.sh
set -euo pipefail
program=${ETHBUS:-ethbus}
here=here-$$ far=far-$$ lab=two-$$
folder=$(mktemp -d)

clean_up() {
    ip netns exec "$here" "$program" down --name "$lab" > "$folder/down" 2>&1 || true
    ip netns del "$here"
    ip netns del "$far"
    rm -rf "$folder"
}

ip netns add "$here"
ip netns add "$far"
trap clean_up EXIT

# The cable between the machines.
ip -n "$here" link add eth0 type veth peer name eth0 netns "$far"
ip -n "$here" address add 192.0.2.1/24 dev eth0
ip -n "$far" address add 192.0.2.2/24 dev eth0
for machine in "$here" "$far"; do
    ip -n "$machine" link set lo up
    ip -n "$machine" link set eth0 up
done

cat > "$folder/lab.toml" << 'END'
[[station]]

[[station]]

[[station]]
name = "far"
kind = "vxlan"
remote = "192.0.2.2"
vni = 77
END
ip netns exec "$here" "$program" up --background --name "$lab" --events "$folder/lab.events" "$folder/lab.toml" \
    2>&1 | tee "$folder/told"

# What `up` has printed for the far machine, as it stands.
grep -oE 'ip (link|address) .*' "$folder/told" | while read -r command; do
    echo "far machine: $command"
    ip netns exec "$far" bash -c "$command"
done

echo "The far machine pings st1 over the bus:"
ip netns exec "$far" ping -c 3 -W 2 10.77.0.1
ip netns exec "$here" "$program" down --name "$lab"
echo "What the far machine's frames met:"
"$program" explain "$folder/lab.events" --list | head -n 8
