"""Announces this station by multicast DNS (RFC 6762) as a host does that boots, and counts the others' announcements."""

import random
import socket
import struct
import subprocess
import time

GROUP, PORT = "224.0.0.251", 5353

shown = subprocess.run(["ip", "-4", "-o", "address", "show", "eth0"], capture_output=True, text=True, check=True)
address = shown.stdout.split()[3].split("/")[0]
name = socket.gethostname()

labels = b"".join(bytes([len(part)]) + part.encode() for part in (name, "local")) + b"\0"
# An answer without a question: type A, class IN with the flag that flushes caches, 120 s.
answer = labels + struct.pack("!HHIH", 1, 0x8001, 120, 4) + socket.inet_aton(address)
announcement = struct.pack("!6H", 0, 0x8400, 0, 1, 0, 0) + answer

heard = set()
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as mdns:
    mdns.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    mdns.bind(("", PORT))
    own = socket.inet_aton(address)
    mdns.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(GROUP) + own)
    mdns.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, own)
    begin = time.monotonic()
    sends = [begin + random.uniform(0.02, 0.12), begin + 1.1]
    while (rest := begin + 3 - time.monotonic()) > 0:
        wait = min(rest, sends[0] - time.monotonic()) if sends else rest
        mdns.settimeout(max(wait, 0.001))
        try:
            heard.add(mdns.recvfrom(9000)[1][0])
        except TimeoutError:
            if sends and time.monotonic() >= sends[0]:
                mdns.sendto(announcement, (GROUP, PORT))
                del sends[0]
print(f"{name} heard {len(heard - {address})} others")
