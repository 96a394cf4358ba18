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

FIELDS = ("kind", "base_ns", "increment_ns", "slot_ns", "ceiling_ns", "cap_ns", "attempt_limit", "multiplier_millionths",
          "priority_percent", "jitter", "jitter_amount", "flags", "intervals_count", "interval", "seed", "stream")
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
    # The intervals are interval, twice that, three times that ...
    for entry in range(vector["intervals_count"]):
        policy.intervals[entry] = vector["interval"] * (entry + 1)
    seed, stream = ctypes.c_uint64(vector["seed"]), ctypes.c_uint64(vector["stream"])
    assert library.backoff_retry_init(ctypes.byref(retry), seed, stream, ctypes.c_uint64(0)) == 0
    found = []
    zero = ctypes.c_uint64(0)
    while len(found) < 12:
        if library.backoff_retry_fail_any(ctypes.byref(retry), ctypes.byref(policy), zero, zero, ctypes.byref(delay)):
            break
        found.append(delay.value)
    return found


def vectors():
    ms = 10**6
    for kind in range(31):
        variants = [{}, {"cap_ns": 700 * ms}, {"ceiling_ns": 900 * ms, "priority_percent": 70}]
        if kind < 7 or kind in (13, 14, 15, 16, 17, 18, 19):
            variants += [{"jitter": jitter, "base_ns": 123456789} for jitter in range(1, 10)]
            variants += [{"multiplier_millionths": 1600000}, {"flags": 1}, {"flags": 2, "jitter": 5}]
        for number, variant in enumerate(variants):
            vector = dict.fromkeys(FIELDS, 0)
            vector.update({"kind": kind, "seed": 42, "stream": number + 1})
            if kind in (9, 10, 11, 12):
                vector.update({"intervals_count": 3, "interval": 10})
            if kind == 30:
                vector.update({"intervals_count": 1, "interval": 7, "ceiling_ns": 5000 * ms})
            vector.update(variant)
            yield vector
    # What came later, so that earlier lines stay where they are.
    for kind, jitter in ((31, 0), (32, 0), (33, 0), (2, 10), (0, 11), (3, 12), (26, 13)):
        variants = [{}, {"cap_ns": 700 * ms}, {"ceiling_ns": 900 * ms, "priority_percent": 70}, {"base_ns": 123456789},
                    {"ceiling_ns": 30000 * ms}, {"flags": 1}, {"flags": 2}, {"jitter_amount": 25, "ceiling_ns": 4000 * ms}]
        for number, variant in enumerate(variants):
            vector = dict.fromkeys(FIELDS, 0)
            vector.update({"kind": kind, "jitter": jitter, "seed": 42, "stream": number + 1})
            vector.update(variant)
            yield vector


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
