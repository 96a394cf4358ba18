//! The cost of the port on this machine: nanoseconds a frame to send, to fan out, and to receive, and the wake-up delay
//! of a reader.
//!
//! ```text
//! cargo run --release -p ethbus-link --example port_cost
//! ```
//!
//! Needs the rights of a live bus, or `unshare -Urn`. Figures are medians over rounds; they depend on the load of the
//! machine.

use std::time::{Duration, Instant};

use link::MacAddr;
use link::clock::{ClockMap, RealtimeNanos, monotonic_nanos, raise_priority, set_timer_slack};
use link::ethtool::disable_offloads;
use link::fanout::{FanOut, make_hub};
use link::namespace::{Namespace, capabilities_missing};
use link::netlink::Netlink;
use link::packet::{Receiver, RingSize, Sender, open_receiver, open_sender, wait_for_stamps};
use link::station::{EXPERIMENTAL_ETHERTYPE, StationSocket};
use link::sysctl::silence_ipv6_everywhere;
use link::wait::Waiter;

type Failure = Box<dyn std::error::Error>;

const STATIONS: usize = 64;
const ROUNDS: usize = 300;

fn main() -> Result<(), Failure> {
    let missing = capabilities_missing()?;
    if !missing.is_empty() {
        println!("SKIPPED: needs {missing:?}");
        return Ok(());
    }
    let start = Instant::now();
    let bus = Namespace::anonymous()?;
    bus.run(silence_ipv6_everywhere)??;
    let mut netlink = Netlink::in_namespace(&bus)?;
    let mut stations = Vec::new();
    for number in 0..STATIONS {
        stations.push(station(&mut netlink, number)?);
    }
    println!("making a station: {} us", start.elapsed().as_micros() / STATIONS as u128);
    let mut receiver = Receiver::new(open_receiver(&bus)?, RingSize::default())?;
    let mut sender = Sender::new(open_sender(&bus)?);
    println!("stamps ready after {:?}", wait_for_stamps(Duration::from_secs(2))?);
    println!("clock map: bracket of {} ns", ClockMap::measure().bracket_nanos());

    let ports: Vec<u32> = stations.iter().map(|(index, ..)| *index).collect();
    let mut kernel = match make_hub(&bus, "hub", &ports) {
        Ok(hub) => Some(FanOut::new(hub, ports.len())?),
        Err(error) => {
            println!("no fan-out in the kernel: {error}");
            None
        }
    };
    for octets in [60, 1514] {
        receiving(&mut receiver, &mut stations[0].1, octets)?;
        for count in [1, 3, 7, 15, 31, 63] {
            batch(&mut sender, &stations[..count], octets);
            if let Some(kernel) = &mut kernel {
                fan_out(kernel, &mut sender, count, octets);
            }
        }
    }
    stamping(&mut receiver, &mut stations[0].1)?;
    set_timer_slack(Duration::ZERO)?;
    println!("priority: {:?}", raise_priority());
    sleeping()?;
    waking(&mut receiver, stations.remove(0).1)
}

/// A station with one interface: its index on the bus, its socket, and its namespace.
fn station(bus: &mut Netlink, number: usize) -> Result<(u32, StationSocket, Namespace), Failure> {
    let namespace = Namespace::anonymous()?;
    namespace.run(silence_ipv6_everywhere)??;
    let mac = MacAddr::new(2, 0, 0, 0, 0, number as u8);
    let pair = bus.create_veth(&format!("port{number}"), &namespace, "eth0", mac)?;
    namespace.run(|| disable_offloads("eth0"))??;
    Netlink::in_namespace(&namespace)?.set_up("eth0")?;
    bus.set_up(pair.bus_index)?;
    let socket = StationSocket::open(&namespace, "eth0", EXPERIMENTAL_ETHERTYPE)?;
    Ok((pair.bus_index, socket, namespace))
}

fn frame(octets: usize) -> Vec<u8> {
    let mut frame = vec![0; octets];
    frame[..12].copy_from_slice(&[2, 0, 0, 0, 0, 0xfe, 2, 0, 0, 0, 0, 0xfd]);
    frame[12..14].copy_from_slice(&0x0801_u16.to_be_bytes());
    frame
}

/// The reader's cost, with frames that already wait; and the station's cost of sending them.
fn receiving(receiver: &mut Receiver, socket: &mut StationSocket, octets: usize) -> Result<(), Failure> {
    let frame = frame(octets);
    let frames = vec![frame.as_slice(); 64];
    let (mut results, mut sums) = (Vec::new(), 0_usize);
    let (mut sending, mut reading) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let start = monotonic_nanos();
        socket.send_batch(&frames, &mut results);
        let middle = monotonic_nanos();
        let count = receiver.receive(usize::MAX, |received| sums += received.octets.len());
        reading.push((monotonic_nanos() - middle) / count.max(1) as u64);
        sending.push((middle - start) / 64);
    }
    let dropped = receiver.statistics()?.dropped;
    println!(
        "{octets} octets: station's send {} ns a frame, ring {} ns a frame ({dropped} dropped, {sums} octets)",
        median(&mut sending),
        median(&mut reading),
    );
    Ok(())
}

/// One frame to each of the stations, copied by the kernel.
fn fan_out(kernel: &mut FanOut, sender: &mut Sender, stations: usize, octets: usize) {
    let (frame, ports) = (frame(octets), (0..stations).collect::<Vec<_>>());
    let mut results = Vec::new();
    let mut times: Vec<_> = (0..ROUNDS)
        .map(|_| {
            results.clear();
            let start = monotonic_nanos();
            assert!(kernel.send(sender, &frame, &ports, &mut results), "the hub is there");
            monotonic_nanos() - start
        })
        .collect();
    assert!(results.len() == stations && results.iter().all(Result::is_ok));
    let nanos = median(&mut times);
    println!(
        "{octets} octets to {stations} stations, in the kernel: {nanos} ns, {} ns a frame",
        nanos / stations as u64
    );
}

/// One frame to each of the stations, each sent by itself.
fn batch(sender: &mut Sender, stations: &[(u32, StationSocket, Namespace)], octets: usize) {
    let frame = frame(octets);
    let batch: Vec<_> = stations.iter().map(|(index, ..)| (*index, frame.as_slice())).collect();
    let mut results = Vec::new();
    let mut times: Vec<_> = (0..ROUNDS)
        .map(|_| {
            let start = monotonic_nanos();
            sender.send(&batch, &mut results);
            monotonic_nanos() - start
        })
        .collect();
    assert!(results.iter().all(Result::is_ok));
    let nanos = median(&mut times);
    println!("{octets} octets to {} stations: {nanos} ns, {} ns a frame", batch.len(), nanos / batch.len() as u64);
}

/// The time from the beginning of the sender's call to the frame's stamp.
fn stamping(receiver: &mut Receiver, socket: &mut StationSocket) -> Result<(), Failure> {
    let frame = frame(60);
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let RealtimeNanos(before) = RealtimeNanos::now();
        socket.send(&frame)?;
        receiver.receive(9, |received| times.push(received.stamp.0.saturating_sub(before)));
    }
    println!("stamp after the call's beginning: {}", quantiles(&mut times));
    Ok(())
}

/// How late a wait ends.
fn sleeping() -> Result<(), Failure> {
    let mut waiter = Waiter::new()?;
    let mut times = Vec::new();
    for _ in 0..2000 {
        let end = monotonic_nanos() + 67_000;
        waiter.wait(Some(Duration::from_nanos(67_000)))?.for_each(drop);
        times.push(monotonic_nanos().saturating_sub(end));
    }
    println!("wait of 67 us, late: {}", quantiles(&mut times));
    Ok(())
}

/// From stamp to user space, through epoll.
fn waking(receiver: &mut Receiver, mut socket: StationSocket) -> Result<(), Failure> {
    let mut waiter = Waiter::new()?;
    waiter.add(&*receiver, 0)?;
    let map = ClockMap::measure();
    let mut times = Vec::new();
    std::thread::scope(|scope| {
        let sender = scope.spawn(move || {
            for _ in 0..2000 {
                std::thread::sleep(Duration::from_micros(300));
                socket.send(&frame(60)).expect("the port is up");
            }
        });
        while !sender.is_finished() {
            waiter.wait(Some(Duration::from_millis(20)))?.for_each(drop);
            let now = monotonic_nanos();
            receiver.receive(9, |received| times.push(now.saturating_sub(map.to_monotonic(received.stamp))));
        }
        Ok::<(), Failure>(())
    })?;
    println!("stamp to user space by epoll: {}", quantiles(&mut times));
    Ok(())
}

fn median(times: &mut [u64]) -> u64 {
    times.sort_unstable();
    times[times.len() / 2]
}

fn quantiles(times: &mut [u64]) -> String {
    let middle = median(times);
    format!("p50 {middle} ns, p99 {} ns", times[times.len() * 99 / 100])
}
