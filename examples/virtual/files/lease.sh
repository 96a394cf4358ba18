#!/bin/sh
# What udhcpc runs when its lease changes.
[ "$1" = bound ] || exit 0
ip address add "$ip/$mask" dev "$interface"
echo "lease $ip at $(cut -d ' ' -f 1 /proc/uptime) s"
