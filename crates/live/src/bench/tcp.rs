//! TCP over the bus: what the medium delivered of `iperf3`'s streams, by the trace of the run, beside what the simulator
//! gives hosts that take no time.

mod goodput;

use super::bus::{BenchError, Bus, Context, Wanted, rest, run, system};
use super::machine::Meter;
use super::peer::{IPERF3, Peer, PeerError};
use super::row::{Asked, Figure, Row};
use super::yardstick::{Pair, Yardstick};
use goodput::Goodput;
use link::memory::memory_file;
use link::namespace::Namespace;
use medium::{BitRate, BitTimes};
use serde_json::Value;
use sim::figures::results::Results;
use sim::run::transfer::{CEILING, Transfer};
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// How much longer than it measures a client may take.
const PATIENCE: Duration = Duration::from_secs(15);
/// Where its server listens.
const PORT: u16 = 5201;

/// One stream at 10 Mb/s, and its replay.
///
/// # Errors
/// No `iperf3`, a bus that cannot be made, or a trace that cannot be replayed.
pub fn one(context: &Context<'_>, row: &mut Row) -> Result<(), BenchError> {
    recorded(context, row, 1)
}

/// One stream in each of two pairs at 10 Mb/s, and their replay.
///
/// # Errors
/// No `iperf3`, a bus that cannot be made, or a trace that cannot be replayed.
pub fn two(context: &Context<'_>, row: &mut Row) -> Result<(), BenchError> {
    recorded(context, row, 2)
}

fn recorded(context: &Context<'_>, row: &mut Row, pairs: usize) -> Result<(), BenchError> {
    let record = memory_file("record").map_err(system("make a file in memory"))?;
    let wanted = Wanted { record: Some(&record), ..Wanted::ip(2 * pairs, BitRate::MBIT_10) };
    let (streams, results) = on_a_bus(context, row, &wanted, pairs)?;
    let goodput = Goodput::replay(&record)?;
    let senders: Vec<usize> = (0..pairs).map(|pair| 2 * pair).collect();
    let window =
        goodput.common_window(&senders).ok_or_else(|| IPERF3.said("its streams did not run at the same time"))?;
    let shares: Vec<f64> = senders.iter().map(|&sender| goodput.megabits(sender, window)).collect();
    let Hosts { lowest, highest } = Hosts::simulate(pairs, context);
    let figure = Figure::new("goodput, as the medium delivered it", shares.iter().sum(), "Mb/s");
    let figure = figure.asked(Asked::Between(lowest, CEILING));
    // As far below the simulator's least as its own figures are apart; and only if the medium did what it should.
    let spread = if goodput.is_the_same() { highest - lowest } else { 0.0 };
    row.figures.push(figure.explained(spread, CAPTURE));
    row.figures.push(Figure::new("the simulator's hosts, lowest", lowest, "Mb/s"));
    row.figures.push(Figure::new("the simulator's hosts, highest", highest, "Mb/s"));
    tell_retransmits(row, &streams);
    row.figures.push(Figure::new("collisions", results.medium.collision_episodes as f64, ""));
    let list =
        |megabits: &[f64]| megabits.iter().map(|megabits| format!("{megabits:.2}")).collect::<Vec<_>>().join(" and ");
    let said: Vec<f64> = streams.iter().map(Stream::megabits).collect();
    row.notes.push(format!(
        "{} Mb/s in the {:.2} s in which every stream had octets that arrived; iperf3 says {}, each over its own time",
        list(&shares),
        goodput.seconds(window),
        list(&said)
    ));
    row.notes.push(format!("the replay's {} events {}", goodput.events, goodput.verdict()));
    Ok(())
}

/// Why a stream may get less than the simulator's hosts.
const CAPTURE: &str = "the medium did with these arrivals what its replay does, so these hosts offered less: whoever wins \
    once wins again, and a kernel's window may be unluckier than those simulated (docs/live.md)";

/// What hosts that take no time get, whatever their windows.
struct Hosts {
    lowest: f64,
    highest: f64,
}

impl Hosts {
    /// A kernel's window changes during a stream: these are its values, except during the first few frames.
    const WINDOWS: [u64; 6] = [12, 16, 32, 64, 96, 256];
    const SEEDS: u64 = 3;
    /// 30 us.
    const ANSWER: BitTimes = BitTimes::new(300);

    fn simulate(pairs: usize, context: &Context<'_>) -> Hosts {
        let seconds = context.duration.as_secs().max(1);
        let transfers = Hosts::WINDOWS.into_iter().flat_map(|window| {
            let seeds = (0..Hosts::SEEDS).map(|number| context.seed.wrapping_add(number));
            seeds.map(move |seed| Transfer { pairs, seconds, answer: Hosts::ANSWER, window, seed })
        });
        transfers.map(|transfer| transfer.run().megabits).fold(
            Hosts { lowest: f64::INFINITY, highest: 0.0 },
            |Hosts { lowest, highest }, megabits| Hosts {
                lowest: lowest.min(megabits),
                highest: highest.max(megabits),
            },
        )
    }
}

/// One stream at 100 Mb/s, beside a veth pair and a bridge.
///
/// # Errors
/// No `iperf3`, or a bus that cannot be made.
pub fn at_100(context: &Context<'_>, row: &mut Row) -> Result<(), BenchError> {
    let (streams, results) = on_a_bus(context, row, &Wanted::ip(2, BitRate::MBIT_100), 1)?;
    row.figures.push(Figure::new("goodput", streams[0].megabits(), "Mb/s").asked(Asked::Between(80.0, 10.0 * CEILING)));
    row.figures.push(Figure::new("collisions", results.medium.collision_episodes as f64, ""));
    tell_retransmits(row, &streams);
    for yardstick in Yardstick::ALL {
        let pair = Pair::make(context, yardstick)?;
        let meter = Meter::start();
        let _server = server(context, &pair.stations[1])?;
        let client = client(&pair.stations[0], pair.address.into(), context.short())?;
        let stream = Stream::read(&pair.serve(context, client, context.short() + PATIENCE)?)?;
        row.runs.push(pair.run(meter));
        row.figures.push(Figure::new(format!("goodput of a {}", yardstick.name()), stream.megabits(), "Mb/s"));
    }
    Ok(())
}

/// Streams from every other station to the one after it, all at once.
fn on_a_bus(
    context: &Context<'_>,
    row: &mut Row,
    wanted: &Wanted<'_>,
    pairs: usize,
) -> Result<(Vec<Stream>, Results), BenchError> {
    IPERF3.path()?;
    let mut bus = Bus::start(context, wanted)?;
    let stations = &bus.segment.stations;
    let servers = (0..pairs).map(|pair| server(context, &stations[2 * pair + 1])).collect::<Result<Vec<_>, _>>()?;
    bus.plane.restart()?;
    let meter = Meter::start();
    let start = |pair: usize| {
        let to = bus.plan.stations[2 * pair + 1].addresses[0].address;
        client(&stations[2 * pair], to, context.duration)
    };
    let clients = (0..pairs).map(start).collect::<Result<Vec<_>, _>>()?;
    let mut streams = Vec::new();
    for client in clients {
        streams.push(Stream::read(&bus.serve(context, client, context.duration + PATIENCE)?)?);
    }
    let conditions = meter.stop();
    drop(servers);
    let (results, _) = bus.plane.stop()?;
    row.runs.push(run("bus", &results, conditions));
    Ok((streams, results))
}

/// A server that listens, for one client.
fn server(context: &Context<'_>, station: &Namespace) -> Result<Peer, BenchError> {
    let server = Peer::start(IPERF3, station, &["-s", "-1", "-4"])?;
    let begin = Instant::now();
    while !listens(&server) {
        if begin.elapsed() > PATIENCE {
            return Err(IPERF3.said("its server does not listen").into());
        }
        rest(context, Duration::from_millis(5))?;
    }
    Ok(server)
}

/// Whether a program listens at the port of `iperf3` in a program's station.
fn listens(server: &Peer) -> bool {
    const LISTENING: &str = "0A";
    let sockets = std::fs::read_to_string(format!("/proc/{}/net/tcp", server.pid())).unwrap_or_default();
    let listening = |line: &str| {
        // Number, own address and port, the other's, state.
        let words: Vec<&str> = line.split_whitespace().take(4).collect();
        words.len() == 4 && words[1].ends_with(&format!(":{PORT:04X}")) && words[3] == LISTENING
    };
    sockets.lines().any(listening)
}

fn client(station: &Namespace, to: IpAddr, duration: Duration) -> Result<Peer, PeerError> {
    let seconds = duration.as_secs_f64().round().max(1.0).to_string();
    Peer::start(IPERF3, station, &["-c", &to.to_string(), "-t", &seconds, "-J", "--connect-timeout", "5000"])
}

/// What a client says of its stream.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stream {
    /// Octets that the server's program received.
    octets: f64,
    seconds: f64,
    retransmits: u64,
}

impl Stream {
    /// Reads the client's JSON.
    fn read(said: &str) -> Result<Stream, PeerError> {
        let said: Value = serde_json::from_str(said).map_err(|error| IPERF3.said(error.to_string()))?;
        let number = |of: &str, key: &str| {
            said["end"][of][key].as_f64().ok_or_else(|| IPERF3.said(format!("no end.{of}.{key} in what it says")))
        };
        Ok(Stream {
            octets: number("sum_received", "bytes")?,
            seconds: number("sum_received", "seconds")?,
            retransmits: number("sum_sent", "retransmits")? as u64,
        })
    }

    fn megabits(&self) -> f64 {
        8.0 * self.octets / self.seconds / 1e6
    }
}

fn tell_retransmits(row: &mut Row, streams: &[Stream]) {
    let retransmits: u64 = streams.iter().map(|stream| stream.retransmits).sum();
    row.figures.push(Figure::new("retransmitted segments", retransmits as f64, ""));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goodput_is_what_the_server_received() {
        let said = r#"{"end":{"sum_sent":{"bytes":9,"retransmits":3},"sum_received":{"bytes":2500000,"seconds":2.5}}}"#;
        let stream = Stream::read(said).expect("all is there");
        assert_eq!((stream.megabits(), stream.retransmits), (8.0, 3));
        assert!(Stream::read(r#"{"error":"unable to connect"}"#).is_err());
        assert!(Stream::read("iperf3: error").is_err());
    }
}
