#!/usr/bin/env python3
"""A lab's control socket from Python: unplugs a station, then prints five collisions as they happen.

    sudo ethbus up --detach examples/classroom.toml
    sudo examples/api.py classroom ada
"""
import json
import socket
import sys


class Lab:
    def __init__(self, name, folder="/run/ethbus"):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(f"{folder}/{name}/control.sock")
        self.lines = self.socket.makefile()

    def call(self, method, **params):
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        self.socket.sendall(json.dumps(request).encode() + b"\n")
        answer = json.loads(self.lines.readline())
        if "error" in answer:
            raise RuntimeError(answer["error"]["message"])
        return answer["result"]

    def events(self, **wanted):
        self.call("subscribe", events=wanted)
        for line in self.lines:
            yield from json.loads(line)["params"]["events"]


if __name__ == "__main__":
    name, station = sys.argv[1:]
    lab = Lab(name)
    print(lab.call("version"))
    stations = lab.call("detach", station=station)["stations"]
    print({each["name"]: each["attached"] for each in stations})
    for _, event in zip(range(5), lab.events(kinds=["collision"])):
        print(event)
