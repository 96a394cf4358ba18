//! Round-trip times of `ping`, less what the medium itself takes.

use super::bus::{BenchError, Bus, Context, Wanted, run};
use super::machine::Meter;
use super::peer::{PING, Peer, PeerError};
use super::row::{Asked, Figure, Row};
use super::yardstick::{Pair, Yardstick};
use link::namespace::Namespace;
use medium::BitRate;
use std::net::IpAddr;
use std::time::Duration;

/// `ping` without options sends 56 octets: 98 with headers, 102 with FCS, and preamble and SFD before them.
const BITS_ON_THE_WIRE: u64 = 8 * (102 + 8);
/// How far apart echo requests are. With 10 ms between them the way through the kernel is cold each time, as it is for
/// most programs; with 2 ms it is not.
const INTERVAL: Duration = Duration::from_millis(10);
const SHORT_INTERVAL: Duration = Duration::from_millis(2);
/// How much longer than its requests take a ping may take: on a busy machine it sends them later than it should.
const PATIENCE: Duration = Duration::from_secs(30);

/// There and back at 10 Mb/s, beside the same through a veth pair and a kernel bridge.
///
/// # Errors
/// No `ping`, or a bus that cannot be made.
pub fn ping(context: &Context<'_>, row: &mut Row) -> Result<(), BenchError> {
    PING.path()?;
    let mut bus = Bus::start(context, &Wanted::ip(2, BitRate::MBIT_10))?;
    let address = bus.plan.stations[1].addresses[0].address;
    let echo = |bus: &mut Bus, interval, duration| {
        let peer = start(&bus.segment.stations[0], address, interval, duration)?;
        bus.serve(context, peer, duration + PATIENCE)
    };
    // Asks for the address, so that the others need not.
    echo(&mut bus, INTERVAL, 3 * INTERVAL)?;
    bus.plane.restart()?;
    let meter = Meter::start();
    let said = echo(&mut bus, INTERVAL, context.duration)?;
    let (conditions, results) = (meter.stop(), bus.plane.report()?);
    let said_soon = echo(&mut bus, SHORT_INTERVAL, context.short())?;
    drop(bus);
    let ideal = 2.0 * BITS_ON_THE_WIRE as f64 / results.config.rate_bits_per_second as f64 * 1e6;
    let (trips, soon) = (Trips::read(&said)?, Trips::read(&said_soon)?);
    let above = |name: &str, trips: &Trips, part| Figure::new(name, trips.quantile(part) - ideal, "us");
    row.figures.push(above("RTT above the ideal, p50", &trips, 0.5).asked(Asked::AtMost(40.0)));
    row.figures.push(above("RTT above the ideal, p99", &trips, 0.99).asked(Asked::AtMost(250.0)));
    row.figures.push(above("the same, an echo each 2 ms, p50", &soon, 0.5));
    row.figures.push(above("the same, an echo each 2 ms, p99", &soon, 0.99));
    row.notes.push(format!("the ideal is {ideal:.0} us; {} echoes, one each {INTERVAL:?}", trips.count()));
    row.runs.push(run("bus", &results, conditions));
    for yardstick in Yardstick::ALL {
        yardstick_trips(context, row, yardstick)?;
    }
    Ok(())
}

fn yardstick_trips(context: &Context<'_>, row: &mut Row, yardstick: Yardstick) -> Result<(), BenchError> {
    let pair = Pair::make(context, yardstick)?;
    let echo = |interval, duration| {
        let peer = start(&pair.stations[0], pair.address.into(), interval, duration)?;
        pair.serve(context, peer, duration + PATIENCE)
    };
    echo(INTERVAL, 3 * INTERVAL)?;
    let meter = Meter::start();
    let trips = Trips::read(&echo(INTERVAL, context.short())?)?;
    row.runs.push(pair.run(meter));
    let soon = Trips::read(&echo(SHORT_INTERVAL, context.short() / 2)?)?;
    let name = yardstick.name();
    row.figures.push(Figure::new(format!("RTT of a {name}, p50"), trips.quantile(0.5), "us"));
    row.figures.push(Figure::new(format!("RTT of a {name}, p99"), trips.quantile(0.99), "us"));
    row.figures.push(Figure::new(format!("RTT of a {name}, an echo each 2 ms, p50"), soon.quantile(0.5), "us"));
    Ok(())
}

fn start(station: &Namespace, to: IpAddr, interval: Duration, duration: Duration) -> Result<Peer, PeerError> {
    let count = (duration.as_secs_f64() / interval.as_secs_f64()).round().max(1.0).to_string();
    let interval = interval.as_secs_f64().to_string();
    Peer::start(PING, station, &["-n", "-i", &interval, "-c", &count, &to.to_string()])
}

/// Round-trip times in microseconds, the shortest first.
#[derive(Debug)]
struct Trips(Vec<f64>);

impl Trips {
    /// Reads what `ping` says: `64 bytes from 10.77.0.2: icmp_seq=1 ttl=64 time=0.236 ms`.
    fn read(said: &str) -> Result<Trips, PeerError> {
        let time = |line: &str| line.split_once("time=")?.1.strip_suffix(" ms")?.trim().parse::<f64>().ok();
        let mut trips: Vec<f64> = said.lines().filter_map(time).map(|millis| millis * 1e3).collect();
        trips.sort_by(f64::total_cmp);
        if trips.is_empty() { Err(PING.said("no echo came back")) } else { Ok(Trips(trips)) }
    }

    fn count(&self) -> usize {
        self.0.len()
    }

    /// The time that this part of all echoes took at most.
    fn quantile(&self, part: f64) -> f64 {
        let rank = (part * self.0.len() as f64).ceil() as usize;
        self.0[rank.clamp(1, self.0.len()) - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_are_read_from_what_ping_says() {
        let line = |time: &str| format!("64 bytes from 10.77.0.2: icmp_seq=1 ttl=64 time={time} ms\n");
        let said: String = ["0.300", "0.236", "1.25", "12"].map(line).concat();
        let trips = Trips::read(&format!("PING 10.77.0.2\n{said}\n4 packets transmitted\n")).expect("echoes");
        assert_eq!((trips.count(), trips.quantile(0.5), trips.quantile(0.99)), (4, 300.0, 12_000.0));
        assert!(Trips::read("4 packets transmitted, 0 received").is_err());
    }
}
