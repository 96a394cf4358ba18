"""Results of a run, as ethbus reports them; docs/results.md describes them.

Made from the types and tables of crates/sim/src/figures: BLESS=1 cargo test -p ethbus-sim --lib python:: rewrites it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from ._record import Record, Run


@dataclass(frozen=True)
class BridgeResults(Record):
    """One bridge."""

    ageing_s: float
    """How long a silent station stays learned."""

    latency_s: float
    """From the last bit of a frame to when its copy is offered."""

    name: str
    """Its name."""

    ports: list[PortResults]
    """Its ports, in the order in which it names their buses."""


@dataclass(frozen=True)
class ChangeResults(Record):
    """A change to a station or to the cable while the bus runs."""

    change: str
    """The change, like `attach` or `fault deaf`."""

    station: str
    """The station; empty for the cable."""

    unix_ns: int
    """Its latest instant, in nanoseconds since 1970."""


@dataclass(frozen=True)
class ConfigResults(Record):
    """What the medium was made from."""

    duration_s: Optional[float]
    """Measured time of each run, in seconds."""

    longest_distance_bt: int
    """The longest distance between two stations, in bit times."""

    medium: dict[str, Any]
    """The medium's whole configuration: places, and the parameters of 802.3, table 4-2."""

    name: str
    """The lab's name; empty in the demonstration."""

    offered_load: Optional[float]
    """The part of the rate that the stations' frames are to take, from destination address to FCS; none if
    a source waits for the medium, an answer or a file, or the timetable changes what is offered."""

    queue_limit: int
    """Frames that a transmit queue holds."""

    rate_bits_per_second: int
    """Bits per second."""

    replications: Optional[int]
    """Independent runs, seeded one after another from `seed`; counts are of all of them together."""

    topology: str
    """`star`, `bus` or `segments`."""

    traffic: list[str]
    """What the stations offer: one text if all offer the same, else one for each."""

    until: Optional[UntilResults]
    """The metric and half-width of `--until`, at which the run ended; `None` without that option."""

    warmup_s: Optional[float]
    """Warm-up of each run, in seconds."""


@dataclass(frozen=True)
class CrossingResults(Record):
    """Frames for one station that arrived there from another bus."""

    delay_max_ns: int
    """The longest."""

    delay_mean_ns: float
    """From when its host offered the frame to when the addressee had it, on average, in nanoseconds."""

    delay_p50_ns: int
    """The same of half of them at most."""

    delay_p99_ns: int
    """The same of 99 in 100 of them at most."""

    frames: int
    """How many there were."""

    from_: str
    """The bus of their sender."""

    to: str
    """The bus of their addressee."""


@dataclass(frozen=True)
class Cut(Record):
    """Where a cable is cut, as it is written."""

    position_bt: int
    """Stations at this place and beyond it are on the far side."""

    segment: int
    """The segment; 0 on a bus."""


@dataclass(frozen=True)
class DelayResults(Record):
    """A delay, in bit times; none of its figures if there was no frame. Percentiles are at most one part in
    a thousand above the exact ones; those of a station one part in 16."""

    histogram: dict[int, int]
    """Frames in each bin, under the longest delay of the bin; four bins for each doubling, empty ones left
    out."""

    max_bt: Optional[int]
    """The longest."""

    mean_bt: Optional[float]
    """Its mean."""

    p50_bt: Optional[int]
    """Its median."""

    p90_bt: Optional[int]
    """Its 90th percentile."""

    p95_bt: Optional[int]
    """Its 95th percentile."""

    p999_bt: Optional[int]
    """Its 99.9th percentile."""

    p99_bt: Optional[int]
    """Its 99th percentile."""


@dataclass(frozen=True)
class EmulatorResults(Record):
    """How well the emulator kept time, and what it could not keep. Nothing here is the medium's doing."""

    verdict: Optional[str]
    """`trusted`, or what is to be said against the run: what fell behind by more than the tolerance."""

    deliveries: int
    """copies handed to stations"""

    lateness_p50_ns: int
    """how late a copy was, at the end of the call that handed it over: the median"""

    lateness_p99_ns: int
    """the 99th percentile of it"""

    lateness_max_ns: int
    """the longest of it"""

    lateness_histogram_ns: dict[int, int]
    """copies under the end of their bin in ns; a bin for each doubling from 1024 on, empty ones left out"""

    deliveries_pending: int
    """copies that are not due yet"""

    arrivals_pending: int
    """frames that were read and not yet given to the medium"""

    late_arrivals: int
    """frames whose stamp was before the instant that the medium had reached, at which they count as offered"""

    late_arrival_max_ns: int
    """the latest of these: how long before"""

    slip_ns: int
    """real time for which the medium's clock was stopped, since the machine did not keep up"""

    slips: int
    """how often the clock stopped"""

    paused_ns: int
    """real time for which `ethbus pause` stopped the medium's clock"""

    late_deliveries: int
    """frames with copies more than 1 ms late"""

    steal_ns: Optional[int]
    """time for which a hypervisor gave the processors, all together, to others, in steps of the kernel's
    tick; `null` if unknown"""

    cpu_wait_ns: Optional[int]
    """time for which the data plane was ready to run and others had the processor; `null` likewise"""

    clock_steps: int
    """times that the real-time clock was set"""

    time_scale: float
    """the medium's time as a part of real time, as asked for"""

    ring_drops: int
    """frames lost because the receive ring was full"""

    overload_drops: int
    """copies dropped in place of a stopped clock, with `on_overload = "drop"`"""

    deliveries_to_absent: int
    """copies for a station that was detached, or whose interface was down or gone, when they were due"""

    delivery_failures: int
    """copies that the kernel refused for other reasons"""

    copies_to_detached: int
    """copies not made, because the station was off the medium when the frame was sent"""

    refused_by_mtu: int
    """copies above the MTU of a station's interface, which was lowered"""

    stamped_at_ring: int
    """frames stamped as they entered the ring, a few microseconds late: those of TCP, whose departure time
    is in the place of the stamp"""

    future_stamps: int
    """frames whose stamp was later than their reading, since the clock was set; the reading counts"""

    stale_stamps: int
    """frames whose stamp was more than a second before the ring was last empty, likewise"""

    oversized: int
    """frames longer than the ring's slot, from stations whose offloads are on"""

    checksums_repaired: int
    """frames with a partial checksum that was filled in, from stations whose offloads are on"""

    checksums_left: int
    """frames with a partial checksum that could not be filled in, likewise"""

    vlan_tags_restored: int
    """frames without their VLAN tag, which was put back, likewise"""

    strays: int
    """frames from no station's interface"""

    ports_lost: int
    """times that a station's interface went down or vanished"""

    ports_gone: int
    """interfaces that vanished, as with `ip netns del`"""

    link_changes_missed: int
    """times that the kernel's news of interfaces came faster than ethbus read it"""

    changes: list[ChangeResults]
    """the latest change of each kind to each station and to the cable: `station` (empty for the cable),
    `change` (`plug`, `unplug`, `add`, `remove`, `fault deaf`, `fault none`, `plca`, `cut`, `mend`,
    `queue` …), and `unix_ns`, in nanoseconds since 1970; not there if nothing was changed"""

    fan_out: str
    """who makes copies: the `kernel`, or a `batch` of calls"""

    kernel_copies: int
    """of `deliveries`, those by the kernel: of frames up to 1514 octets without FCS, for three stations or
    more that are equally far"""

    helped_copies: int
    """of `kernel_copies`, those that another processor made at the same time, with more than 64 stations"""

    fan_out_failures: int
    """frames sent one by one, because the interface at which the kernel copies was removed"""

    filter: str
    """`none` or `address` (scenario.md)"""

    filtered: int
    """copies left out by the filter"""

    stations_unfiltered: int
    """stations that hear everything in spite of the filter"""

    reports_skipped: int
    """reports of the data plane that the supervisor did not take in time"""

    inputs_skipped: int
    """inputs not in a trace, because the disk was full or too slow (trace.md)"""

    events_skipped: int
    """events not in a trace, likewise"""

    files_incomplete: int
    """files that are not whole"""

    incomplete_files: list[FileResults]
    """these: `file`, what it `holds`, and how much is known to be `missing`; not there if all are whole"""

    files_kept: int
    """files with the last seconds before a trigger of `--on`, or before `ethbus capture --last` (seeing.md)"""

    kept_files: list[str]
    """their names; not there if there are none"""

    keeps_missed: int
    """triggers without a file: 20 were there, or the one before was being written"""

    latency: str
    """`normal`, or `low` and what the machine granted of it (live.md)"""

    links: list[LinkResults]
    """what the kernel counts between each `station` and the bus, read a moment after the rest; below"""

    priority: str
    """of the data plane: `SCHED_FIFO` while it sleeps most of the time, else `nice -20`; `normal` without
    root"""


@dataclass(frozen=True)
class FileResults(Record):
    """A file that was wanted and is not whole."""

    file: str
    """Its name, as the user gave it."""

    holds: str
    """What is in it: `trace`, `capture`, `Perfetto trace`, `VCD`, `table of events` or `last seconds`."""

    missing: int
    """Inputs and events that are known to be missing in it; 0 for a file of another kind."""


@dataclass(frozen=True)
class Intervals(Record):
    """Half-widths of 95 % confidence intervals, each under the name of its metric."""

    method: str
    """Where the samples come from: `batch_means` over the run, or `replications`."""

    samples: int
    """How many samples there are."""

    utilization_frame: Optional[float]
    """Σ 8L / T over successful frames"""

    utilization_wire: Optional[float]
    """the same with preamble and SFD (64 bit)"""

    utilization_total: Optional[float]
    """with a gap of 96 bit too, whatever `inter_packet_gap` says"""

    utilization_payload: Optional[float]
    """Σ 8(L − 18) / T"""

    attempts_per_frame: Optional[float]
    """attempts / F; F: frames that were successful, or discarded after attempt_limit attempts or, at 1000
    Mb/s, after a late collision"""

    discard_fraction: Optional[float]
    """frames discarded after attempt_limit attempts / F"""

    attempts_per_episode: Optional[float]
    """mean number of attempts that collided in an episode and whose stations noticed it; two stations can
    make many in a long episode"""

    same_winner: Optional[float]
    """part of the successful frames whose sender also sent the one before"""

    fairness: Optional[float]
    """Jain's index over successful octets of the stations that had something to send: 1 if all have as
    many, 1/n if one of n has all"""

    access_delay: Optional[dict[str, float]]
    """from the head of the queue to the first bit of the successful attempt"""

    mac_delay: Optional[dict[str, float]]
    """from arrival in the queue to the last bit"""

    throughput: Optional[float]
    """S, frames that got through, a slot or frame time"""

    offered_traffic: Optional[float]
    """G: attempts, a slot or frame time; with `csma` also frames that gave way"""

    backlog: Optional[float]
    """mean number of frames to be sent again, from when their senders know"""

    delay: Optional[float]
    """mean time from a frame's arrival to its last bit, in slots or frame times; `null` if no frame got
    through"""

    goodput_mbps: Optional[float]
    """data of frames that were acknowledged, or sent to a group, in Mb/s"""

    collision_probability: Optional[float]
    """p: the part of the attempts that met another signal"""

    tau: Optional[float]
    """attempts in a slot of the sender's own counter: attempts / (attempts + slots drawn)"""

    longest_waiting_bt: Optional[float]
    """the longest wait, in bit times, of a frame that is not over at the end; not with `csma-ca`"""

    ran_away_slot: Optional[float]
    """in CSV, of `ran_away`: the mean of the slots in which users ran away, if they did"""

    tcp_goodput_mbps: Optional[float]
    """data that receiving programs got, in Mb/s of the medium's time"""


@dataclass(frozen=True)
class LinkResults(Record):
    """What the kernel counts on the way between a station and the bus, since the lab came up."""

    station: str
    """The station's name."""

    offloads: list[str]
    """offloads that were switched on again in the station, in words; only if a frame has shown it"""

    from_station: int
    """frames from the station that got to the bus's end of its link"""

    to_station: int
    """copies that got to the station's end"""

    lost_from_station: int
    """frames that the kernel dropped in between: its backlog was full, or the other end was down"""

    without_carrier: int
    """frames that the station's host dropped while its interface had no carrier (live.md)"""

    lost_to_station: int
    """copies that it dropped in between, likewise"""

    lost_at_tap: int
    """frames that it dropped at the station's TAP device: no program read it in time"""

    lost_outside: int
    """frames that it dropped at the interface or tunnel by which the station leads outside (ports.md): for
    a tunnel, without a way to the other machine"""

    tunnel_round_trip_ns: Optional[int]
    """round trip of a tunnel by the network below it, as it was made (ports.md): the least of three ICMP
    echoes, if all were answered"""


@dataclass(frozen=True)
class MediumResults(Record):
    """Metrics of the medium, under the names of 802.3 and of docs/results.md."""

    backlog_distribution: list[float]
    """The part of the time in which 0, 1, 2 … frames were backlogged; the last of 65,536 places has more,
    too."""

    capture_runs: list[int]
    """Capture: runs of 1, 2, 3 … successful frames of one station in a row; the last of 1,024 places counts
    longer ones, too."""

    ci95: Optional[Intervals]
    """Half-widths of 95 % confidence intervals, where a figure is an estimate; live counts are none."""

    collision_episodes: int
    """Overlaps on the medium."""

    collision_frames: list[int]
    """Frames that got through after 1, 2, 3 … collisions, up to one less than attempt_limit."""

    collision_multiplicity: list[int]
    """Collision episodes of 1, 2, 3 … attempts that noticed the collision."""

    cut: Optional[Cut]
    """Where the cable is cut."""

    episodes_before_success: list[int]
    """Successful frames that came after 0, 1, 2 … collision episodes since the one before; the last of
    1,024 places counts those after more, too."""

    ping: Optional[PingResults]
    """Echo requests, if stations send some."""

    plca: Optional[PlcaResults]
    """Cycles of a bus with PLCA."""

    ran_away: Optional[RanAway]
    """Of infinitely many users: when they ran away, if they did."""

    tcp: Optional[TcpResults]
    """TCP connections, if stations have some."""

    udp: Optional[UdpResults]
    """UDP datagrams, if stations send some."""

    utilization_frame: float
    """Σ 8L / T over successful frames"""

    utilization_wire: float
    """the same with preamble and SFD (64 bit)"""

    utilization_total: float
    """with a gap of 96 bit too, whatever `inter_packet_gap` says"""

    utilization_payload: float
    """Σ 8(L − 18) / T"""

    attempts_per_frame: Optional[float]
    """attempts / F; F: frames that were successful, or discarded after attempt_limit attempts or, at 1000
    Mb/s, after a late collision"""

    discard_fraction: Optional[float]
    """frames discarded after attempt_limit attempts / F"""

    attempts_per_episode: Optional[float]
    """mean number of attempts that collided in an episode and whose stations noticed it; two stations can
    make many in a long episode"""

    same_winner: Optional[float]
    """part of the successful frames whose sender also sent the one before"""

    fairness: Optional[float]
    """Jain's index over successful octets of the stations that had something to send: 1 if all have as
    many, 1/n if one of n has all"""

    access_delay: DelayResults
    """from the head of the queue to the first bit of the successful attempt"""

    mac_delay: DelayResults
    """from arrival in the queue to the last bit"""

    throughput: Optional[float]
    """S, frames that got through, a slot or frame time"""

    offered_traffic: Optional[float]
    """G: attempts, a slot or frame time; with `csma` also frames that gave way"""

    backlog: Optional[float]
    """mean number of frames to be sent again, from when their senders know"""

    delay: Optional[float]
    """mean time from a frame's arrival to its last bit, in slots or frame times; `null` if no frame got
    through"""

    goodput_mbps: Optional[float]
    """data of frames that were acknowledged, or sent to a group, in Mb/s"""

    collision_probability: Optional[float]
    """p: the part of the attempts that met another signal"""

    tau: Optional[float]
    """attempts in a slot of the sender's own counter: attempts / (attempts + slots drawn)"""

    longest_waiting_bt: Optional[int]
    """the longest wait, in bit times, of a frame that is not over at the end; not with `csma-ca`"""


@dataclass(frozen=True)
class MessageResults(Record):
    """A message in a lab, in bit times of the medium."""

    access_bound_bt: Optional[int]
    """The bound of the access delay, likewise."""

    access_max_bt: Optional[int]
    """The longest from the head of the queue to the first bit; like the others, none of no frame."""

    deadline_bt: int
    """The response, at most."""

    frames: int
    """Frames that were sent."""

    lost: int
    """Frames that were not: the queue was full, or attempts were over."""

    message: str
    """Its name."""

    node: str
    """The node that sends it."""

    planned_bound_bt: Optional[int]
    """The bound of the response by the table."""

    release_jitter_bt: int
    """How unevenly the machine released its frames: the jitter in the table, and what the host adds to it."""

    response_bound_bt: Optional[int]
    """The same with releases as uneven as the machine makes them; none of a message without a bound, and of
    all messages where bounds are suspended."""

    response_max_bt: Optional[int]
    """The longest."""

    response_p50_bt: Optional[int]
    """From release to the last bit at the farthest node: the median."""

    response_p99_bt: Optional[int]
    """Its 99th percentile."""

    verdict: str
    """What became of it: `met`, `missed`, `lost`, `above_bound` or, if no frame was sent, `nothing`."""


@dataclass(frozen=True)
class PingResults(Record):
    """What the echo requests of a station, or of all stations, came to."""

    lost: int
    """requests without a reply within `timeout`"""

    received: int
    """replies that arrived in time"""

    rtt_max_bt: Optional[int]
    """the longest round trip"""

    rtt_mean_bt: Optional[float]
    """mean time from sending a request until the last frame of its reply arrives"""

    rtt_p50_bt: Optional[int]
    """median round trip, like the 99th percentile at most one part in 128 above the exact one"""

    rtt_p99_bt: Optional[int]
    """99th percentile of the round trips"""

    sent: int
    """echo requests that programs sent"""


@dataclass(frozen=True)
class PlanResults(Record):
    """What a lab that runs a table of messages comes to."""

    messages: list[MessageResults]
    """Each message, in order of the table."""

    other_frames: int
    """Frames on the bus that are none of the table's."""

    suspended: Optional[str]
    """Why no bound holds for what was measured: `noise`, `plca_status` or `other_frames`; none if all do."""


@dataclass(frozen=True)
class PlcaResults(Record):
    """Cycles of a bus, from BEACON to BEACON, in bit times."""

    access_delay_bound_bt: Optional[int]
    """The bound of `access_delay` at every node, for frames of up to that length; none if PLCA is not right
    at every node, where a signal takes time, and after noise."""

    cycle_max_bt: int
    """The longest."""

    cycle_mean_bt: Optional[float]
    """How long they were on average; none if there was none."""

    cycle_min_bt: int
    """The shortest."""

    cycles: int
    """How many ended."""

    empty_cycles: int
    """How many of them had no frame."""

    frame_max_octets: Optional[int]
    """Octets of the longest frame that was sent; none of no frames."""

    noise_until_bt: Optional[int]
    """Up to when noise, or a deaf receiver, was at some node, in the time measured; none if it never was.
    The bound holds for frames that come later, and what is measured has others too."""

    silences: int
    """Times in which nothing was on the line for longer than 255 turns: no coordinator sent BEACONs."""


@dataclass(frozen=True)
class PlcaStation(Record):
    """One node."""

    aging_cycles: int
    """aging_cycles of D-PLCA; left out if there are 32."""

    burst_cnt: int
    """aPLCAMaxBurstCount."""

    burst_tmr: int
    """aPLCABurstTimer, in bit times."""

    coordinator_role: bool
    """aDPLCACoordinatorRoleAllowed; left out if it is."""

    counters: dict[str, int]
    """What it counted."""

    dplca: bool
    """aDPLCAAdminState: it finds its id by D-PLCA."""

    enabled: bool
    """PLCA is on."""

    node_cnt: int
    """aPLCANodeCount."""

    node_id: int
    """aPLCALocalNodeID; 255 is none."""

    noise_until_bt: Optional[int]
    """Up to when noise was at its place, or its receiver was deaf, in the time measured; none if it never
    was."""

    status: bool
    """plca_status: BEACONs are sent or seen."""

    to_tmr: int
    """aPLCATransmitOpportunityTimer, in bit times."""


@dataclass(frozen=True)
class PortResults(Record):
    """One port of a bridge, while it was measured."""

    bus: str
    """Its bus."""

    dropped: int
    """Frames for this port that its full queue dropped."""

    flooded: int
    """Of these, forwarded to all other ports: for a group, or for an address that was not learned."""

    forwarded: int
    """Of these, forwarded to the one port behind which the addressee was learned."""

    highest_queue: int
    """The most frames that its queue held."""

    received: int
    """Frames that arrived here whole, each of which is in one of the next three counts."""

    filtered: int
    """copies left out by the filter"""


@dataclass(frozen=True)
class ProgramResults(Record):
    """How a program of a virtual lab ended."""

    code: Optional[int]
    """Its exit code; nothing while it has not ended."""

    command: str
    """The command that was run."""

    station: str
    """Its station."""


@dataclass(frozen=True)
class RanAway(Record):
    """When the backlog of infinitely many users got out of hand."""

    slots: list[int]
    """Of each run that ran away, the slot in which the backlog passed that for the last time."""

    unstable_backlog: int
    """Above how many backlogged frames more come than get through."""


@dataclass(frozen=True)
class StationResults(Record):
    """One station."""

    attached: bool
    """Whether it is on the medium."""

    collision_frames: list[int]
    """Frames that got through after 1, 2, 3 … collisions, up to one less than attempt_limit."""

    fault: Optional[str]
    """What is wrong with it, if somebody made it faulty."""

    name: str
    """Its name."""

    ping: Optional[PingResults]
    """The echo requests that it sends, if it does."""

    plca: Optional[PlcaStation]
    """Its PLCA, on a bus that has it."""

    queued: int
    """Frames in its transmit queue at the end, the one being sent included."""

    queued_at_start: int
    """Frames in its transmit queue at the start of the measurement."""

    tcp: Optional[TcpResults]
    """The TCP connections over which it sends, if it has some."""

    udp: Optional[UdpResults]
    """The UDP datagrams that it sends, if it does."""

    access_delay: Optional[DelayResults]
    """from the head of the queue to the first bit of the successful attempt"""

    mac_delay: Optional[DelayResults]
    """from arrival in the queue to the last bit"""

    offered: int
    """frames that the host handed over"""

    queue_drops: int
    """of these, frames that found the transmit queue full"""

    frames_transmitted_ok: int
    """frames sent whole"""

    single_collision_frames: int
    """frames sent after exactly one collision"""

    multiple_collision_frames: int
    """frames sent after more than one collision"""

    deferred_transmissions: int
    """frames that had to wait before their first attempt, and then met no collision"""

    late_collisions: int
    """late collisions"""

    excessive_collisions: int
    """frames discarded after attempt_limit attempts"""

    late_collision_discards: int
    """at 1000 Mb/s: frames discarded after a late collision"""

    excessive_deferrals: int
    """attempts that began after a wait of more than `max_defer_time_bt`"""

    carrier_sense_errors: int
    """frames sent without collision and without carrier sense"""

    internal_mac_transmit_errors: int
    """`too_short`, `too_long` and `detached` together"""

    too_short: int
    """frames not sent: without a whole header"""

    too_long: int
    """frames not sent: above max_frame_size"""

    detached: int
    """frames discarded because the station was off the medium"""

    octets_transmitted_ok: int
    """data and padding of the frames sent whole, without addresses, type and FCS"""

    frames_received_ok: int
    """frames received whole that were for this station or for a group"""

    octets_received_ok: int
    """their data and padding"""

    fcs_errors: int
    """frames for it with a bad FCS, of whole octets"""

    alignment_errors: int
    """frames for it with a bad FCS, of no whole number of octets"""

    frame_too_long_errors: int
    """frames for it above max_frame_size"""

    attempts: int
    """attempts to send, first ones included"""

    collisions: int
    """attempts that collided"""

    fragments_received: int
    """frames for it that ended below min_frame_size"""

    delivered: int
    """frames of the station that an addressee received whole, a group frame once for each"""


@dataclass(frozen=True)
class TcpResults(Record):
    """What the TCP connections of a station, or of all stations, came to."""

    broken: int
    """connections that a reset ended"""

    retransmissions: int
    """segments with data that had been handed over before"""

    rtt_max_bt: Optional[int]
    """the longest round trip"""

    rtt_mean_bt: Optional[float]
    """mean time from handing a segment over until its acknowledgement arrives, one at a time, of those sent
    once"""

    segments: int
    """segments with data that stacks handed over"""

    transfer_mean_bt: Optional[float]
    """mean time from the opening of the connection until the receiver knows that this was the last octet"""

    transfers: int
    """transfers whose last octet has been read"""

    goodput_mbps: float
    """data that receiving programs got, in Mb/s of the medium's time"""


@dataclass(frozen=True)
class UdpResults(Record):
    """What the UDP datagrams of a station, or of all stations, came to."""

    delay_max_bt: Optional[int]
    """the longest delay"""

    delay_mean_bt: Optional[float]
    """mean time from sending a datagram until its last frame arrives"""

    delay_p50_bt: Optional[int]
    """median delay, like the 99th percentile at most one part in 128 above the exact one"""

    delay_p99_bt: Optional[int]
    """99th percentile of the delays"""

    lost: int
    """datagrams that had not arrived when a later one did"""

    received: int
    """datagrams that receiving programs got, all their fragments"""

    sent: int
    """datagrams that programs sent"""

    goodput_mbps: float
    """data of datagrams that receiving programs got, in Mb/s of the medium's time"""


@dataclass(frozen=True)
class UntilResults(Record):
    """What a run was to know of a metric, and what it knows."""

    asked: float
    """The half-width of its 95 % interval that was asked for, as a part of the metric."""

    half_width: Optional[float]
    """The half-width at the end, as a part of the metric; `None` if the metric is 0 or has no interval."""

    metric: str
    """The metric, under the name of its column."""

    reached: bool
    """Whether the half-width reached `asked`, which ended the run; otherwise `duration` did."""


@dataclass(frozen=True)
class Results(Run):
    """What happened on a bus."""

    config: ConfigResults
    """What the medium was made from."""

    emulator: Optional[EmulatorResults]
    """The emulator itself; nothing for a run in virtual time."""

    measured_bit_times: int
    """How long was measured."""

    medium: MediumResults
    """The medium as a whole."""

    plan: Optional[PlanResults]
    """The messages of the table that a lab runs, with their bounds."""

    programs: list[ProgramResults]
    """The programs that a virtual lab waits for, in order of stations."""

    seed: int
    """Seed of every random draw."""

    stations: list[StationResults]
    """Each station, in order of station number."""

    version: int
    """Version of this schema."""


@dataclass(frozen=True)
class BridgedResults(Record):
    """What happened on several buses."""

    bridges: list[BridgeResults]
    """Each bridge, as written."""

    buses: dict[str, Results]
    """Each bus, by its name."""

    crossings: list[CrossingResults]
    """Frames that crossed, by the buses that they went from and to."""

    name: str
    """The name of all buses together."""

    seed: int
    """Seed of all buses together."""

    version: int
    """Version of the results' schema."""


LABELS: dict[str, tuple[str, str]] = {
    "utilization_frame": ("Utilization, frames", "part of the rate"),
    "utilization_wire": ("Utilization, with preambles", "part of the rate"),
    "utilization_total": ("Utilization, with preambles and gaps", "part of the rate"),
    "utilization_payload": ("Utilization, payload", "part of the rate"),
    "attempts_per_frame": ("Attempts per frame", ""),
    "discard_fraction": ("Discarded frames", "part of frames"),
    "attempts_per_episode": ("Attempts per episode", ""),
    "same_winner": ("Same winner as before", "part of frames"),
    "fairness": ("Fairness, Jain's index", ""),
    "access_delay_mean_bt": ("Access delay, mean", "BT"),
    "access_delay_p50_bt": ("Access delay, median", "BT"),
    "access_delay_p90_bt": ("Access delay, 90 % quantile", "BT"),
    "access_delay_p95_bt": ("Access delay, 95 % quantile", "BT"),
    "access_delay_p99_bt": ("Access delay, 99 % quantile", "BT"),
    "access_delay_p999_bt": ("Access delay, 99.9 % quantile", "BT"),
    "access_delay_max_bt": ("Access delay, longest", "BT"),
    "mac_delay_mean_bt": ("MAC delay, mean", "BT"),
    "mac_delay_p50_bt": ("MAC delay, median", "BT"),
    "mac_delay_p90_bt": ("MAC delay, 90 % quantile", "BT"),
    "mac_delay_p95_bt": ("MAC delay, 95 % quantile", "BT"),
    "mac_delay_p99_bt": ("MAC delay, 99 % quantile", "BT"),
    "mac_delay_p999_bt": ("MAC delay, 99.9 % quantile", "BT"),
    "mac_delay_max_bt": ("MAC delay, longest", "BT"),
    "throughput": ("Throughput", ""),
    "offered_traffic": ("Offered traffic", ""),
    "backlog": ("Backlog", ""),
    "delay": ("Delay", ""),
    "goodput_mbps": ("Goodput", "Mb/s"),
    "collision_probability": ("Collision probability", ""),
    "tau": ("Tau", ""),
    "longest_waiting_bt": ("Longest waiting", "BT"),
    "ran_away_slot": ("Ran away slot", ""),
}
"""Label and unit of each metric, under the name of its column in CSV."""
