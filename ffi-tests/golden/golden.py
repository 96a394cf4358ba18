#!/usr/bin/env python3
"""Holds libbackoff to golden.json, through ctypes; with BLESS=1 writes it. Call: golden.py libbackoff.so

Each line of the file is one vector: a policy (fields as in struct backoff_policy, 0 where not named), a seed and a stream,
and the delays of the first failures that backoff_retry_init and backoff_retry_fail_any give for them, all at time 0. A port
in any language can check itself against it: the last line of each operation that gives up has fewer delays.
"""
import ctypes
import json
import os
import sys

FIELDS = ("kind", "base_ns", "increment_ns", "slot_ns", "ceiling_ns", "cap_ns", "elapsed_limit_ns", "attempt_limit",
          "multiplier_millionths", "priority_percent", "jitter", "jitter_amount", "flags", "intervals_count", "intervals",
          "seed", "stream")
WHERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden.json")


class Policy(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32), ("kind", ctypes.c_uint32), ("base_ns", ctypes.c_uint64),
        ("increment_ns", ctypes.c_uint64), ("slot_ns", ctypes.c_uint64), ("ceiling_ns", ctypes.c_uint64),
        ("cap_ns", ctypes.c_uint64), ("elapsed_limit_ns", ctypes.c_uint64), ("attempt_limit", ctypes.c_uint64),
        ("multiplier_percent", ctypes.c_uint32), ("priority_percent", ctypes.c_uint32), ("jitter", ctypes.c_uint32),
        ("jitter_amount", ctypes.c_uint32), ("slot_base", ctypes.c_uint32), ("slot_limit", ctypes.c_uint32),
        ("intervals_count", ctypes.c_uint32), ("reserved", ctypes.c_uint32), ("intervals", ctypes.c_uint32 * 16),
        ("multiplier_millionths", ctypes.c_uint32), ("flags", ctypes.c_uint32),
    ]


class Retry(ctypes.Structure):
    _fields_ = [("words", ctypes.c_uint64 * 5)]


def delays(library, vector):
    policy, retry, delay = Policy(), Retry(), ctypes.c_uint64()
    policy.size = ctypes.sizeof(Policy)
    for field in FIELDS[:-3]:
        setattr(policy, field, vector[field])
    policy.flags |= 8  # BACKOFF_FLAG_IGNORE_UNUSED: some vectors have fields that their kind does not use
    policy.intervals[:4] = vector["intervals"]
    seed, stream = ctypes.c_uint64(vector["seed"]), ctypes.c_uint64(vector["stream"])
    assert library.backoff_retry_init(ctypes.byref(retry), seed, stream, ctypes.c_uint64(0)) == 0
    found = []
    zero = ctypes.c_uint64(0)
    while len(found) < 12:
        if library.backoff_retry_fail_any(ctypes.byref(retry), ctypes.byref(policy), zero, zero, ctypes.byref(delay)):
            break
        found.append(delay.value)
    return found


MS = 10**6
SECOND = 1000 * MS

# What the kinds and the presets of backoff_presets.h say, in the order of the first lines of the file.
POLICIES = (
    {"kind": 0}, {"kind": 1}, {"kind": 2}, {"kind": 3}, {"kind": 4}, {"kind": 5}, {"kind": 6},
    {"kind": 8, "attempt_limit": 16}, {"kind": 8},
    {"kind": 9, "intervals_count": 3, "intervals": [10, 20, 30, 0]},
    {"kind": 10, "intervals_count": 3, "intervals": [10, 20, 30, 0]},
    {"kind": 11, "intervals_count": 3, "intervals": [10, 20, 30, 0]},
    {"kind": 12, "intervals_count": 3, "intervals": [10, 20, 30, 0]},
    {"kind": 3, "base_ns": 500 * MS, "ceiling_ns": 4 * SECOND, "elapsed_limit_ns": 32 * SECOND},
    {"kind": 3, "base_ns": 500 * MS, "elapsed_limit_ns": 32 * SECOND},
    {"kind": 3, "base_ns": 500 * MS, "ceiling_ns": 60 * SECOND, "elapsed_limit_ns": 900 * SECOND,
     "multiplier_millionths": 1500000, "jitter": 5, "jitter_amount": 50},
    {"kind": 3, "base_ns": SECOND, "attempt_limit": 6, "jitter": 6, "jitter_amount": 1000},
    {"kind": 3, "base_ns": 400 * MS, "multiplier_millionths": 4000000, "jitter": 3},
    {"kind": 3},
    {"kind": 3, "base_ns": SECOND, "ceiling_ns": 120 * SECOND, "multiplier_millionths": 1600000, "jitter": 5,
     "jitter_amount": 20, "flags": 2},
    {"kind": 0, "base_ns": 50 * MS, "ceiling_ns": 20 * SECOND, "attempt_limit": 3, "flags": 4},
    {"kind": 0, "base_ns": SECOND, "ceiling_ns": 20 * SECOND, "attempt_limit": 3, "flags": 4},
    {"kind": 0, "base_ns": 25 * MS, "ceiling_ns": 20 * SECOND, "attempt_limit": 4, "flags": 4},
    {"kind": 0, "base_ns": SECOND, "ceiling_ns": 20 * SECOND, "attempt_limit": 3},
    {"kind": 3, "base_ns": 5 * MS, "ceiling_ns": 1000 * SECOND},
    {"kind": 3, "base_ns": 10 * SECOND, "ceiling_ns": 300 * SECOND},
    {"kind": 3, "base_ns": SECOND, "ceiling_ns": 60 * SECOND},
    {"kind": 3, "base_ns": 8 * MS, "ceiling_ns": 8 * MS << 20, "jitter": 8},
    {"kind": 9, "slot_ns": 320000, "attempt_limit": 6, "intervals_count": 3, "intervals": [8, 16, 32, 0]},
    {"kind": 3, "base_ns": 2 * SECOND, "attempt_limit": 6, "jitter": 9, "jitter_amount": 50},
    {"kind": 7, "intervals_count": 1, "intervals": [7, 0, 0, 0], "ceiling_ns": 5 * SECOND},
)
# What came later, so that earlier lines stay where they are.
LATER = (
    {"kind": 3, "base_ns": SECOND, "ceiling_ns": 3600 * SECOND, "jitter": 12, "jitter_amount": 10},
    {"kind": 3, "base_ns": SECOND, "jitter": 11, "jitter_amount": 10},
    {"kind": 3, "jitter": 13}, {"kind": 2, "jitter": 10}, {"kind": 0, "jitter": 11}, {"kind": 3, "jitter": 12},
    {"kind": 3, "base_ns": SECOND, "ceiling_ns": 60 * SECOND, "jitter": 13},
    {"kind": 3, "jitter": 14, "jitter_amount": 20}, {"kind": 5, "jitter": 15},
)


def changed(policy, stream, change):
    vector = {field: [0] * 4 if field == "intervals" else 0 for field in FIELDS}
    vector.update({**policy, "seed": 42, "stream": stream})
    if "jitter" in change:
        vector["jitter_amount"] = 0
    vector["flags"] |= change.get("flags", 0)
    vector.update({field: value for field, value in change.items() if field != "flags"})
    return vector


def vectors():
    for number, policy in enumerate(POLICIES):
        changes = [{}, {"cap_ns": 700 * MS}, {"ceiling_ns": 900 * MS, "priority_percent": 70}]
        if number < 7 or 13 <= number < 20:
            changes += [{"jitter": jitter, "base_ns": 123456789} for jitter in range(1, 10)]
            changes += [{"multiplier_millionths": 1600000}, {"flags": 1}, {"flags": 2, "jitter": 5}]
        for stream, change in enumerate(changes, 1):
            vector = changed(policy, stream, change)
            if number in (13, 14):
                vector["elapsed_limit_ns"] = 64 * vector["base_ns"]
            yield vector
    for policy in LATER:
        changes = [{}, {"cap_ns": 700 * MS}, {"ceiling_ns": 900 * MS, "priority_percent": 70}, {"base_ns": 123456789},
                   {"ceiling_ns": 30 * SECOND}, {"flags": 1}, {"flags": 2}, {"jitter_amount": 25, "ceiling_ns": 4 * SECOND}]
        for stream, change in enumerate(changes, 1):
            yield changed(policy, stream, change)


def main():
    library = ctypes.CDLL(os.path.abspath(sys.argv[1]))
    if os.environ.get("BLESS"):
        lines = [json.dumps({**vector, "delays_ns": delays(library, vector)}) for vector in vectors()]
        with open(WHERE, "w", encoding="ascii") as file:
            file.write("[\n" + ",\n".join(lines) + "\n]\n")
    with open(WHERE, encoding="ascii") as file:
        golden = json.load(file)
    for vector in golden:
        found = delays(library, vector)
        assert found == vector["delays_ns"], f"{vector}: {found}"
    print(f"{len(golden)} vectors")


main()
