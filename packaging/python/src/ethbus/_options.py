"""The options of commands, for editors and type checkers: a name of Python has `_` for `-`.

Made from the command line: BLESS=1 cargo test --test house python:: rewrites it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypedDict, Union

Value = Union[str, int, float, "os.PathLike[str]"]


class UpOptions(TypedDict, total=False):
    """Options of `ethbus up`."""

    stations: Value
    """How many stations, 1 to 1024 [default: 4]"""

    capacity: Value
    """How many stations with those that join later [default: 64 more]"""

    frame_size: Value
    """Octets: `64`, `64:7,1518:1`, `uniform:64-1518`"""

    traffic: Value
    """What stations offer: `poisson:0.4`, `periodic:0.4`, `saturated`, … [default: nothing]"""

    access: Value
    """`csma-cd`, `plca`, `csma` or `tdma` [default: csma-cd]"""

    backoff: Value
    """`beb:1024`, `uniform:20`, `rcp:1,10,100,200`, …"""

    persistence: Value
    """Of `csma`: `1`, `non`, or a probability like `0.1` [default: 1]"""

    slot: Value
    """Of `tdma`: how long a slot is, guard time included, `700bt`"""

    guard: Value
    """Of `tdma`: guard time at the end of each slot, `124bt`"""

    slots: Value
    """Of `tdma`: the station of each slot of a frame, `st1,st2,st1`"""

    node_count: Value
    """Of `plca`: turns in a cycle, 1 to 255 [default: stations]"""

    dplca: bool
    """Of `plca`: nodes find their ids by D-PLCA (experimental)"""

    to_timer: Value
    """Of `plca`: how long a turn is, 1 to 255 BT [default: 32]"""

    burst_count: Value
    """Of `plca`: frames that may follow the first of a turn [default: 0]"""

    burst_timer: Value
    """Of `plca`: how long a turn is kept for the next frame, in BT [default: 128]"""

    cold_start: bool
    """Of `plca`: begin as power comes on, before the first BEACON"""

    rate: Value
    """The medium's rate [default: 10M]"""

    topology: Value
    """`star:50bt`, `bus:500m` [default: star:0bt]"""

    duration: Value
    """End when the medium's clock has run so long [default: never]"""

    name: Value
    """The lab's name [default: ethbus]"""

    time_scale: Value
    """Run slower than life: 0.1 is ten times slower"""

    latency: Value
    """How punctual: `normal` or `low` [default: normal]"""

    xdp: bool
    """Stations' interfaces take every native XDP program"""

    link: Value
    """Carrier: `follows` or `always` [default: by topology]"""

    seed: Value
    """Seed of every draw [default: drawn, and printed]"""

    bus: Value
    """The bus of a scenario with several: the lab LAB.NAME"""

    plan: Value
    """Run a table of messages beside its bounds"""

    events: Union[Value, Sequence[Value]]
    """Write all events, for `ethbus explain`"""

    events_level: Union[Value, Sequence[Value]]
    """What the trace has: `events`, `inputs` for `ethbus replay`, or `all`"""

    keep: Value
    """Keep the last seconds of events for `--on` and `ethbus capture --last`"""

    keep_for: Value
    """How much of the bus's time is kept [default: 10s]"""

    on: Value
    """Write the kept seconds when `late_collision`, `slip` … happens"""

    pcapng: Value
    """Write a capture for Wireshark; `-` for a pipe"""

    pcapng_rotate: Value
    """A new capture file every `100MB`, `60s`, or both"""

    metrics: Value
    """Serve metrics for Prometheus: `9610` [default: none]"""

    lend: Union[Value, Sequence[Value]]
    """Lend an interface of this machine to the lab"""

    even_default_route: bool
    """Lend even an interface with a default route"""

    tolerance: Value
    """What a trusted run may be off by [default: 1%]"""

    strict: bool
    """End with 3 if the run is not to be trusted"""

    virtual: bool
    """Stations are kernels in virtual time, as those of `run`"""

    pace: Value
    """Virtual seconds in a real one"""

    consoles: Value
    """The folder that gets each station's console, as NAME.txt"""

    kernel: Value
    """The kernel [default: that of `ethbus kernel build`]"""

    patience: Value
    """How long a station may run while its clock does not move [default: 30s]"""


class SimOptions(TypedDict, total=False):
    """Options of `ethbus sim`."""

    stations: Value
    """How many stations, 1 to 1024 [default: 4]"""

    frame_size: Value
    """Octets: `64`, `64:7,1518:1`, `uniform:64-1518`"""

    traffic: Value
    """What stations offer: `saturated`, `poisson:0.4`, …"""

    access: Value
    """`csma-cd`, `plca`, `csma`, `csma-ca`, `aloha`, `slotted-aloha`, `tdma` [default: csma-cd]"""

    backoff: Value
    """`beb:1024`, `uniform:20`, `geometric:20`, `rcp:1,10,100,200`, …"""

    control: Value
    """Of `slotted-aloha`, not a backoff: `known`, `estimated`, `estimated:0.3`"""

    capture: Value
    """Of ALOHA, CSMA, CSMA/CA on a bus: a frame so much stronger is received, `10dB`"""

    ack_delay: Value
    """Slots until the sender knows of a collision, without collision detection [default: 0]"""

    population: Value
    """Without collision detection: `stations`, or `infinite` many users [default: stations]"""

    persistence: Value
    """Of `csma`: `1`, `non`, or a probability like `0.1` [default: 1]"""

    phy: Value
    """Of `csma-ca`: `dsss-1`, `dsss-11`, `ofdm-6` … `ofdm-54`, `fhss-1` [default: dsss-11]"""

    rts: Value
    """Of `csma-ca`: RTS and CTS before each frame [default: off]"""

    window: Value
    """Of `csma-ca`: first and largest window, `32:1024` [default: the layer's]"""

    retry_limits: Value
    """Of `csma-ca`: short and long retry limit [default: 7:4]"""

    range: Value
    """Of `csma-ca`: how far stations hear each other, on a bus [default: everywhere]"""

    slot: Value
    """Of `tdma`: how long a slot is, guard time included, `700bt`"""

    guard: Value
    """Of `tdma`: guard time at the end of each slot, `124bt`"""

    slots: Value
    """Of `tdma`: the station of each slot of a frame, `st1,st2,st1`"""

    node_count: Value
    """Of `plca`: turns in a cycle, 1 to 255 [default: stations]"""

    dplca: bool
    """Of `plca`: nodes find their ids by D-PLCA (experimental)"""

    to_timer: Value
    """Of `plca`: how long a turn is, 1 to 255 BT [default: 32]"""

    burst_count: Value
    """Of `plca`: frames that may follow the first of a turn [default: 0]"""

    burst_timer: Value
    """Of `plca`: how long a turn is kept for the next frame, in BT [default: 128]"""

    cold_start: bool
    """Of `plca`: begin as power comes on, before the first BEACON"""

    rate: Value
    """The medium's rate [default: 10M]"""

    topology: Value
    """`star:50bt`, `bus:500m` [default: star:0bt]"""

    bursting: Value
    """Frame bursting, at 1000 Mb/s only [default: on there]"""

    duration: Value
    """How long is measured [default: 100s]"""

    warmup: Value
    """How long the medium runs before [default: 2s]"""

    until: Value
    """End a run when a metric is known this well: `1%`"""

    seed: Value
    """Seed of every random draw [default: 1]"""

    replications: Value
    """Independent runs, taken together [default: 1]"""

    events: Union[Value, Sequence[Value]]
    """Write all events, for `ethbus explain`"""

    events_level: Union[Value, Sequence[Value]]
    """What the trace has: `events`, `inputs` for `ethbus replay`, or `all`"""

    pcapng: Value
    """Write a capture for Wireshark; `-` for a pipe"""

    pcapng_rotate: Value
    """A new capture file every `100MB`, `60s`, or both"""

    watch: bool
    """Draw the bus as it is; `?` tells the keys"""

    frames: Value
    """Write a row for each frame, CSV or Parquet"""

    series: Value
    """Metrics over time, in steps of this"""

    series_out: Value
    """Write the rows of --series to this file, and the results as usual"""

    jobs: Value
    """Threads for runs or buses [default: one for each core]"""

    timing: bool
    """Tell how long each run took, on standard error or in the table"""


class SweepOptions(TypedDict, total=False):
    """Options of `ethbus sweep`."""

    when: Union[Value, Sequence[Value]]
    """Only combinations for which this holds: `stations >= 4`"""

    derive: Union[Value, Sequence[Value]]
    """A key that follows from others"""

    pair: Union[Value, Sequence[Value]]
    """Keys whose values go together, the first with the first"""

    sample: Value
    """A sample of the ranges instead of a grid: `sobol:256`"""

    seeds: Value
    """The number of seeds, or their range: `8`, `1..20`"""

    max_seeds: Value
    """Add seeds until --until holds, at most N"""

    stations: Value
    """How many stations, 1 to 1024 [default: 4]"""

    frame_size: Value
    """Octets: `64`, `64:7,1518:1`, `uniform:64-1518`"""

    traffic: Value
    """What stations offer: `saturated`, `poisson:0.4`, …"""

    access: Value
    """`csma-cd`, `plca`, `csma`, `csma-ca`, `aloha`, `slotted-aloha`, `tdma` [default: csma-cd]"""

    backoff: Value
    """`beb:1024`, `uniform:20`, `geometric:20`, `rcp:1,10,100,200`, …"""

    control: Value
    """Of `slotted-aloha`, not a backoff: `known`, `estimated`, `estimated:0.3`"""

    capture: Value
    """Of ALOHA, CSMA, CSMA/CA on a bus: a frame so much stronger is received, `10dB`"""

    ack_delay: Value
    """Slots until the sender knows of a collision, without collision detection [default: 0]"""

    population: Value
    """Without collision detection: `stations`, or `infinite` many users [default: stations]"""

    persistence: Value
    """Of `csma`: `1`, `non`, or a probability like `0.1` [default: 1]"""

    phy: Value
    """Of `csma-ca`: `dsss-1`, `dsss-11`, `ofdm-6` … `ofdm-54`, `fhss-1` [default: dsss-11]"""

    rts: Value
    """Of `csma-ca`: RTS and CTS before each frame [default: off]"""

    window: Value
    """Of `csma-ca`: first and largest window, `32:1024` [default: the layer's]"""

    retry_limits: Value
    """Of `csma-ca`: short and long retry limit [default: 7:4]"""

    range: Value
    """Of `csma-ca`: how far stations hear each other, on a bus [default: everywhere]"""

    slot: Value
    """Of `tdma`: how long a slot is, guard time included, `700bt`"""

    guard: Value
    """Of `tdma`: guard time at the end of each slot, `124bt`"""

    slots: Value
    """Of `tdma`: the station of each slot of a frame, `st1,st2,st1`"""

    node_count: Value
    """Of `plca`: turns in a cycle, 1 to 255 [default: stations]"""

    dplca: bool
    """Of `plca`: nodes find their ids by D-PLCA (experimental)"""

    to_timer: Value
    """Of `plca`: how long a turn is, 1 to 255 BT [default: 32]"""

    burst_count: Value
    """Of `plca`: frames that may follow the first of a turn [default: 0]"""

    burst_timer: Value
    """Of `plca`: how long a turn is kept for the next frame, in BT [default: 128]"""

    cold_start: bool
    """Of `plca`: begin as power comes on, before the first BEACON"""

    rate: Value
    """The medium's rate [default: 10M]"""

    topology: Value
    """`star:50bt`, `bus:500m` [default: star:0bt]"""

    bursting: Value
    """Frame bursting, at 1000 Mb/s only [default: on there]"""

    duration: Value
    """How long is measured [default: 100s]"""

    warmup: Value
    """How long the medium runs before [default: 2s]"""

    until: Value
    """End a run when a metric is known this well: `1%`"""

    parquet: Value
    """Write the whole table as Parquet too, when it is done"""

    tables: Value
    """More tables in the folder of --out: `stations,series,frames,events`"""

    series: Value
    """Metrics over time, in steps of this"""

    shard: Value
    """Only part i of n of the grid, for `ethbus sweep merge`"""

    rows: Value
    """Only these rows of the grid: `7`, `11..20`"""

    list: bool
    """Print the number, keys and seed of each row, and run nothing"""

    time_limit: Value
    """End a run that takes longer, on the wall clock"""

    jobs: Value
    """Threads for runs or buses [default: one for each core]"""

    timing: bool
    """Tell how long each run took, on standard error or in the table"""


class ExplainOptions(TypedDict, total=False):
    """Options of `ethbus explain`."""

    pick: Value
    """The first frame that matches: `collisions=3`"""

    list: bool
    """List the frames with most collisions instead"""

    segment: bool
    """Say what goes wrong on a segment with PLCA, and why"""

    short: bool
    """Sum the frame's life up in a few lines"""

    svg: Value
    """Draw the frame's collisions over place and time"""


class PlotOptions(TypedDict, total=False):
    """Options of `ethbus plot`."""

    x: Value
    """The column along the x axis, like `stations`"""

    y: Union[Value, Sequence[Value]]
    """The columns along the y axis, of one unit"""

    by: Value
    """A line for each value of this column"""

    versus: Value
    """Draw differences from the line with this value of --by"""

    where: Union[Value, Sequence[Value]]
    """Only rows with this value in this column"""

    log: Union[Value, Sequence[Value]]
    """Logarithmic axes: `x`, `y` or `x,y`"""

    unit: Value
    """The unit of delays"""

    title: Value
    """The title above the figure"""

    range: Union[Value, Sequence[Value]]
    """An axis from one number to another: `x=0..50`, `y=-1..1`"""

    figure: Value
    """Draw a figure of the literature, and no table"""

    seed: Value
    """Seed of every draw"""

    quick: bool
    """Shorter and fewer runs: some seconds, and wider intervals"""


class ReportOptions(TypedDict, total=False):
    """Options of `ethbus report`."""

    at: Value
    """Open the picture here, in bit times [default: where the access method is seen best]"""
