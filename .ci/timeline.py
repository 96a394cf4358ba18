#!/usr/bin/env python3
"""Asks a timeline what docs/seeing.md asks it: .ci/timeline.py TRACE LOG

The schema is that of PyPI's `perfetto`, and the queries are those of the page. Perfetto's trace_processor is not run: it is
no part of that package but a download. Its tables are made here from the trace, in SQLite, as its documentation describes
them: slices and instants from begin and end, flows from one slice to the next of the same flow.
"""

import json, re, sqlite3, sys
from collections import Counter
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackDescriptor, TrackEvent

trace = Trace.FromString(open(sys.argv[1], "rb").read())
log = [json.loads(line) for line in open(sys.argv[2], encoding="utf-8")][1:]
of = lambda kind: [event for event in log if event["kind"] == kind]

base = sqlite3.connect(":memory:")
base.executescript(
    "create table track(id, name, parent_id); create table counter(ts, track_id, value); create table flow(slice_out, slice_in);"
    "create table slice(id, ts, dur, track_id, name, arg_set_id)"
)
arguments = {}
base.create_function("extract_arg", 2, lambda id, key: arguments[id].get(key))


def begin(packet, event):
    id = len(slices)
    slices.append([id, packet.timestamp, -1 if event.type == TrackEvent.TYPE_SLICE_BEGIN else 0, event.track_uuid, event.name, id])
    arguments[id] = {}
    return id


slices, open_on, flows, steps = [], {}, {}, []
for packet in trace.packet:
    if packet.HasField("track_descriptor"):
        track = packet.track_descriptor
        base.execute("insert into track values(?, ?, ?)", (track.uuid, track.name, track.parent_uuid))
        assert track.HasField("counter") or track.child_ordering == TrackDescriptor.EXPLICIT, track
        continue
    event = packet.track_event
    if event.type == TrackEvent.TYPE_COUNTER:
        value = event.counter_value if event.HasField("counter_value") else event.double_counter_value
        base.execute("insert into counter values(?, ?, ?)", (packet.timestamp, event.track_uuid, value))
        continue
    if event.type == TrackEvent.TYPE_SLICE_END:
        id = open_on.pop(event.track_uuid)
        slices[id][2] = packet.timestamp - slices[id][1]
    else:
        id = begin(packet, event)
        if event.type == TrackEvent.TYPE_SLICE_BEGIN:
            open_on[event.track_uuid] = id
    for annotation in event.debug_annotations:
        arguments[id]["debug." + annotation.name] = getattr(annotation, annotation.WhichOneof("value"))
    for flow in [*event.flow_ids, *event.terminating_flow_ids]:
        if flow in flows:
            steps.append((flows[flow], id))
        flows[flow] = id
    for flow in event.terminating_flow_ids:
        flows.pop(flow, None)
base.executemany("insert into slice values(?, ?, ?, ?, ?, ?)", slices)
base.executemany("insert into flow values(?, ?)", steps)

page = open("docs/seeing.md", encoding="utf-8").read()
queries = re.findall(r"```sql\n-- (.*?)\n(.*?)```", page, re.S)
told = {title: base.execute(query).fetchall() for title, query in queries}

episodes = [[event["frame"].split("#")[0] for event in of("collision") if event["episode"] == episode] for episode in sorted({event["episode"] for event in of("collision")} - {0})]
expected = {
    "collisions, and how many stations noticed each in the mean": [(len(episodes), sum(map(len, episodes)) / len(episodes))],
    "frames that waited longest for the medium": sorted((event["access_delay"] for event in of("transmitted")), reverse=True)[:10],
    "draws by attempt": Counter(event["attempt"] for event in of("backoff")),
    "who met whom": Counter(pair for stations in episodes for pair in zip(stations, stations[1:])),
    "the longest queue of each station": {event["station"] for event in of("offered")},
}
assert set(told) == set(expected), set(told) ^ set(expected)
for title, rows in told.items():
    want = expected[title]
    match title:
        case "frames that waited longest for the medium":
            rows = [row[1] for row in rows]
        case "draws by attempt":
            rows = {row[0]: row[1] for row in rows}
        case "who met whom":
            rows = {row[:2]: row[2] for row in rows}
        case "the longest queue of each station":
            assert all(longest > 0 for _, longest in rows)
            rows = {row[0] for row in rows}
    assert rows and rows == want, f"{title}: {rows}, and by the log {want}"
    print(f"    {title}: as the log has it")
