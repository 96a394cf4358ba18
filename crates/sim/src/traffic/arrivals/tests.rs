//! Forms of traffic as people write them, and the processes behind.

use super::*;
use backoff::Generator;
use medium::{BitInstant, BitTimes};

#[test]
fn traffic_is_read_as_people_write_it() {
    let times = (Duration::from_millis(1), Duration::from_secs(2));
    let periodic = |phase, jitter| Arrivals::Periodic { every: Every::Load(Load::Rate(0.4)), phase, jitter, frames: 1 };
    let window = Window { frames: 3, reply: None, think: Duration::ZERO, timeout: Window::DEFAULT_TIMEOUT };
    for (text, arrivals) in [
        ("silent", Arrivals::Silent),
        (" saturated ", Arrivals::Saturated),
        ("poisson:0.3/slot", Arrivals::Poisson { load: Load::Slots(0.3) }),
        ("poisson:40%", Arrivals::Poisson { load: Load::Rate(0.4) }),
        ("periodic: 0.4", periodic(None, Duration::ZERO)),
        ("periodic:0.4,phase=0", periodic(Some(Duration::ZERO), Duration::ZERO)),
        ("periodic:0.4, phase=1ms", periodic(Some(times.0), Duration::ZERO)),
        ("periodic:0.4,jitter=1ms", periodic(None, times.0)),
        (
            "periodic:every=2s,jitter=1ms,phase=0",
            Arrivals::Periodic {
                every: Every::Period(times.1),
                phase: Some(Duration::ZERO),
                jitter: times.0,
                frames: 1,
            },
        ),
        ("window:3", Arrivals::Window(window)),
        ("ping", Arrivals::Ping(Ping::default())),
        ("ping:flood, size=1000", Arrivals::Ping(Ping { every: None, size: 1000, ..Ping::default() })),
        (
            "ping:timeout=2s,every=1ms",
            Arrivals::Ping(Ping { every: Some(times.0), timeout: times.1, ..Ping::default() }),
        ),
        ("udp:40%", Arrivals::Udp(Udp { every: Every::Load(Load::Rate(0.4)), size: Udp::DEFAULT_SIZE })),
        ("udp:every=1ms,size=8164", Arrivals::Udp(Udp { every: Every::Period(times.0), size: 8164 })),
        ("tcp", Arrivals::Tcp(Tcp::default())),
        ("tcp:100000, think=2s", Arrivals::Tcp(Tcp { octets: Some(100_000), think: times.1, ..Tcp::default() })),
        (
            "tcp:ack_delay=0,reno=off,mss=536,buffer=8192",
            Arrivals::Tcp(Tcp {
                buffer: 8192,
                mss: Some(536),
                reno: false,
                ack_delay: Duration::ZERO,
                ..Tcp::default()
            }),
        ),
        ("bernoulli:1%", Arrivals::Bernoulli { chance: 0.01 }),
        (
            "window:3,timeout=2s,reply=18,think=1ms",
            Arrivals::Window(Window { reply: Some(18), think: times.0, timeout: times.1, ..window }),
        ),
        ("on_off:0.1", Arrivals::OnOff { load: Load::Rate(0.1), on: Arrivals::DEFAULT_ON, off: Arrivals::DEFAULT_OFF }),
        ("on_off:0.001,off=2s,on=1ms", Arrivals::OnOff { load: Load::Rate(0.001), on: times.0, off: times.1 }),
        ("replay:a:b,c.pcap", Arrivals::Replay { path: "a:b,c.pcap".into() }),
    ] {
        assert_eq!(text.parse(), Ok(arrivals.clone()), "{text}");
        assert_eq!(arrivals.to_string().parse(), Ok(arrivals), "{text}");
    }
}

#[test]
fn wrong_traffic_is_named_with_what_would_be_right() {
    for (text, right) in [
        ("", "write `saturated`"),
        ("poisson", "write `saturated`"),
        ("poison:0.4", "`poisson:0.4`"),
        ("replay:", "`replay:FILE`"),
        ("poisson:saturated", "like `0.4`"),
        ("poisson:0", "like `0.4`"),
        ("poisson:11", "write up to `10` or `1000%`, or `saturated`"),
        ("140%", "write `poisson:140%` or `periodic:140%`"),
        ("bernoulli:1500%", "is no chance"),
        ("periodic:0.4s", "like `0.4`"),
        ("on_off:0.4,on=0s", "above zero"),
        ("on_off:0.4,on=10ms,on=1ms", "comes twice"),
        ("on_off:0.4,upon=10ms", "write `on=10ms`"),
        ("on_off:0.4,on", "is no duration"),
        ("periodic:0.4,phase", "is no duration"),
        ("periodic:0.4,phase=1ms,phase=1ms", "`phase` comes twice"),
        (
            "periodic:0.4,fase=1ms",
            "`fase=1ms` is no option of a periodic source: write `phase=1ms`, `jitter=1ms` or `frames=3`",
        ),
        ("periodic:0.4,frames=0", "0 frames of one release: write 1 to 1000"),
        ("periodic:0.4,frames=x", "`x` is no number of frames"),
        ("periodic:every=0s", "above zero"),
        ("periodic:every=10x", "is no duration"),
        ("periodic:0.4,jitter=1ms,jitter=1ms", "`jitter` comes twice"),
        ("tcp:", "like `tcp:100000`"),
        ("ping:flood,every=1s", "`flood` has no interval: leave `flood` or `every` out"),
        ("ping:every=0", "`0`"),
        ("ping:size=8165", "`size=8165`: write 0 to 8164 octets of data, like `size=56`"),
        ("ping:size=+1", "`size=+1` is no number of octets: write `size=56`"),
        ("ping:rate=1", "`rate=1` is no option of a ping: write `flood`, `every=10ms`, `size=56` or `timeout=1s`"),
        ("udp", "`udp` is no traffic"),
        ("udp:", "write the offered part of the medium's rate"),
        ("udp:11", "the most that can be offered"),
        ("udp:0.1,size=15", "`size=15`: write 16 to 8164 octets of data, like `size=1470`"),
        ("udp:0.1,rate=1", "`rate=1` is no option of UDP traffic: write `size=1470`"),
        ("tcp:1MB", "`1MB` is no transfer: write its octets, like `tcp:100000`, or `tcp` alone"),
        ("tcp:0", "write one or more, or `tcp` for one without end"),
        ("tcp:5,window=4", "`window=4` is no option of a TCP connection: write `buffer=65535`"),
        ("tcp:buffer=535", "`buffer=535`: write 536 to 1048576 octets"),
        ("tcp:buffer=1048577", "`buffer=1048577`: write 536 to 1048576 octets"),
        ("tcp:buffer=4294967296", "`buffer=4294967296` is no number of octets: write `buffer=65535`"),
        ("tcp:mss=47", "`mss=47`: write 48 to 1460 octets"),
        ("tcp:mss=1461", "`mss=1461`: write 48 to 1460 octets"),
        ("tcp:reno=cubic", "`reno=cubic`: write `on` or `off`"),
        ("tcp:ack_delay=501ms", "`ack_delay=501ms`: write up to 500ms"),
        ("tcp:think=1s", "a transfer without end has no pause after it"),
        ("tcp:5,mss=536,mss=536", "`mss` comes twice"),
        ("window:", "like `window:4`"),
        ("bernoulli:2", "2 is no chance"),
        ("window:0", "0 is no window: write 1 to 65536 frames"),
        ("window:+4", "`+4` is no window"),
        ("window:4,reply=17", "17 octets are no frame"),
        ("window:4,reply=", "like `reply=64`"),
        ("window:4,timeout=0", "`timeout` is no time at all"),
        ("window:4,wait=1s", "`wait=1s` is no option of a window: write `reply=64`"),
        ("on_off:0.4,on=1ms,off=1s", "a load of 400.4 while on"),
    ] {
        let error = text.parse::<Arrivals>().expect_err(text);
        assert!(error.contains(right), "{text}: {error}");
    }
}

/// Every arrival is within the jitter after its release, in order, and the releases do not drift.
#[test]
fn jitter_follows_the_release() {
    for jitter in [1, 99, 250] {
        let mut process = Process::periodic(100.0, Some(7.0), BitTimes::new(jitter), 1, Generator::new(jitter));
        let (mut last, mut moved) = (BitInstant::ZERO, 0);
        for release in (0..1000).map(|number| 7 + 100 * number) {
            let arrival = process.next().expect("time goes on");
            assert!((release..=release + jitter).contains(&arrival.get()) && arrival >= last, "{arrival:?}");
            (last, moved) = (arrival, moved + u64::from(arrival.get() != release));
        }
        assert!(moved > 400, "{moved} of 1000 with a jitter of {jitter} BT");
    }
}

/// The frames of one release come together, late by the same jitter; the next release is a whole interval later.
#[test]
fn the_frames_of_a_release_arrive_together() {
    let mut process = Process::periodic(1000.0, Some(7.0), BitTimes::new(99), 3, Generator::new(1));
    for release in (0..100).map(|number| 7 + 1000 * number) {
        let [one, other, last] = [(); 3].map(|()| process.next().expect("time goes on").get());
        assert!((release..=release + 99).contains(&one) && one == other && other == last, "{one} {other} {last}");
    }
    let text = "periodic:0.4,phase=1ms,jitter=1ms,frames=3";
    assert_eq!(text.parse::<Arrivals>().expect("traffic").to_string(), text);
}
