//! A scenario's traffic on a live bus: the sources of `ethbus sim`, whose instants are real time here, and raw sockets in the
//! stations. The same seed gives the same sizes, destinations and instants as in virtual time.
//!
//! Sleeps between frames, never spins. Frames that are due before the machine gets to them go out together, late.

use super::{Label, blank};
use crate::live::lab::INTERFACE;
use link::MacAddr;
use link::clock::{RealtimeNanos, monotonic_nanos};
use link::namespace::Namespace;
use link::packet::{PacketError, SendError};
use link::station::StationSocket;
use medium::{BitInstant, BitRate, Destination, Frame, Octets, StationId};
use sim::scenario::plan::Plan;
use sim::scenario::plan::host::Host;
use sim::traffic::{Arrivals, FurtherTraffic, Source, TrafficError, TrafficSpec, all_sources};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// The shortest sleep: several frames go out together rather than wake up for each.
const SHORTEST_SLEEP: u64 = 500_000;
/// The longest sleep, so that a request to stop need not wait.
const LONGEST_SLEEP: u64 = 20_000_000;
/// Frames in one call of the kernel, so that one station does not keep the others waiting.
const BATCH: usize = 64;
/// An address that no station has, from the range for documentation (RFC 7042, 2.1.2).
const NOBODY: [u8; 6] = [0x00, 0x00, 0x5e, 0x00, 0x53, 0x01];

/// Why a scenario's traffic cannot be offered.
#[derive(Debug, thiserror::Error)]
pub enum OfferError {
    /// A source cannot be made.
    #[error(transparent)]
    Traffic(#[from] TrafficError),
    /// A station's socket cannot be had.
    #[error("cannot offer frames in {station}")]
    Socket {
        /// The station.
        station: String,
        /// What went wrong.
        source: PacketError,
    },
    /// There is no thread to be had.
    #[error("cannot start a thread")]
    Thread(#[source] std::io::Error),
}

/// What drivers have done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offered {
    /// Frames that stations' kernels took.
    pub frames: u64,
    /// Frames that they refused.
    pub refused: u64,
}

/// A station's socket, and whom frames may be for.
#[derive(Debug)]
struct Driver {
    socket: StationSocket,
    station: StationId,
    macs: Arc<[MacAddr]>,
    offered: Offered,
}

impl Driver {
    fn open(
        plan: &Plan,
        namespace: &Namespace,
        station: StationId,
        macs: &Arc<[MacAddr]>,
    ) -> Result<Driver, OfferError> {
        let name = || plan.stations[station.index()].name.clone();
        let socket = StationSocket::open_to_send(namespace, INTERFACE)
            .map_err(|source| OfferError::Socket { station: name(), source })?;
        Ok(Driver { socket, station, macs: macs.clone(), offered: Offered::default() })
    }

    fn octets(&self, frame: &Frame, sequence: u64) -> Vec<u8> {
        let to = match frame.destination {
            Destination::Station(station) => self.macs[station.index()],
            Destination::All => MacAddr::broadcast(),
            Destination::Nobody => MacAddr::from(NOBODY),
        };
        let mut octets = blank(to, self.socket.mac(), frame.size.get());
        let label = Label { stream: self.station.index() as u32, sequence, sent: RealtimeNanos::now() };
        label.write(&mut octets);
        octets
    }

    fn offer(&mut self, frames: &[Frame]) {
        let first = self.offered.frames + self.offered.refused;
        let batch: Vec<Vec<u8>> = (first..).zip(frames).map(|(sequence, frame)| self.octets(frame, sequence)).collect();
        let batch: Vec<&[u8]> = batch.iter().map(Vec::as_slice).collect();
        let mut results: Vec<Result<(), SendError>> = Vec::with_capacity(batch.len());
        self.socket.send_batch(&batch, &mut results);
        let taken = results.iter().filter(|result| result.is_ok()).count() as u64;
        self.offered.frames += taken;
        self.offered.refused += results.len() as u64 - taken;
    }
}

/// Sources whose frames are due at instants of their own, each with the driver of its station.
#[derive(Debug)]
struct Paced {
    drivers: Vec<Driver>,
    /// Each with the number of its driver.
    sources: Vec<(usize, Source)>,
    /// The next frames, by instant in bit times: the source's number, and its frame.
    due: BinaryHeap<Reverse<(BitInstant, usize)>>,
    next: Vec<Option<Frame>>,
    /// Bits in a second of real time.
    rate: BitRate,
}

impl Paced {
    fn new(drivers: Vec<Driver>, sources: Vec<(usize, Source)>, rate: BitRate) -> Paced {
        let next = vec![None; sources.len()];
        let mut paced = Paced { drivers, sources, due: BinaryHeap::new(), next, rate };
        (0..paced.sources.len()).for_each(|source| paced.expect(source));
        paced
    }

    fn expect(&mut self, source: usize) {
        if let Some((at, frame)) = self.sources[source].1.next_arrival() {
            self.next[source] = Some(frame);
            self.due.push(Reverse((at, source)));
        }
    }

    /// Offers the frames that are due `elapsed` nanoseconds after the beginning; returns when, after the beginning, the
    /// next one is due.
    fn offer_due(&mut self, elapsed: u64) -> Option<u64> {
        let mut batch: Vec<Frame> = Vec::new();
        let mut driver = 0;
        while let Some(&Reverse((at, source))) = self.due.peek() {
            let due = at.since(BitInstant::ZERO).at(self.rate).as_nanos() as u64;
            let own = self.sources[source].0;
            if !batch.is_empty() && (own != driver || batch.len() == BATCH || due > elapsed) {
                self.drivers[driver].offer(&batch);
                batch.clear();
            }
            if due > elapsed {
                return Some(due);
            }
            self.due.pop();
            driver = own;
            batch.extend(self.next[source].take());
            self.expect(source);
        }
        if !batch.is_empty() {
            self.drivers[driver].offer(&batch);
        }
        None
    }

    fn run(&mut self, begin: u64, go_on: impl Fn() -> bool) {
        while go_on() {
            let elapsed = monotonic_nanos().saturating_sub(begin);
            let Some(due) = self.offer_due(elapsed) else { return };
            let elapsed = monotonic_nanos().saturating_sub(begin);
            let sleep = due.saturating_sub(elapsed).clamp(SHORTEST_SLEEP, LONGEST_SLEEP);
            std::thread::sleep(Duration::from_nanos(sleep));
        }
    }
}

/// A source that always has another frame, with its station's driver.
#[derive(Debug)]
struct Saturated {
    driver: Driver,
    source: Source,
    /// Frames that its station's queue is kept filled to.
    level: u64,
}

/// A scenario's traffic at work. Its sockets keep stations' namespaces alive: stop it before the lab is removed.
#[derive(Debug)]
pub struct Offers {
    saturated: Vec<Saturated>,
    go_on: Arc<AtomicBool>,
    paced: Option<JoinHandle<Vec<Driver>>>,
}

/// Drivers of a lab's stations that have not begun yet.
#[derive(Debug, Default)]
pub struct Prepared {
    saturated: Vec<Saturated>,
    paced: Option<Paced>,
    /// Stations that offer nothing here though the scenario says so, each with the reason.
    pub left_out: Vec<(String, &'static str)>,
}

impl Prepared {
    /// Opens what the scenario's traffic needs in the stations' namespaces, in order of station.
    ///
    /// # Errors
    /// Traffic that cannot be had, or a socket.
    pub fn new(plan: &Plan, stations: &[Namespace]) -> Result<Prepared, OfferError> {
        let mut prepared = Prepared::default();
        let macs: Arc<[MacAddr]> = plan.stations.iter().map(|station| MacAddr::from(station.mac.octets())).collect();
        let rate = plan.pace.rate(plan.medium.rate);
        let (mut drivers, mut sources): (Vec<Driver>, Vec<(usize, Source)>) = (Vec::new(), Vec::new());
        for mut source in written(plan)? {
            let station = source.station();
            let name = || plan.stations[station.index()].name.clone();
            let why = match plan.stations[station.index()].host {
                _ if source.closed_loop().is_some() => Some("a window needs hosts that answer, which `ethbus sim` has"),
                _ if source.connection().is_some() => {
                    Some("TCP connections are `ethbus sim`'s: run `iperf3` in the station")
                }
                Host::Veth => None,
                Host::Existing(_) | Host::Tap | Host::Interface(_) | Host::Bridge(_) | Host::Vxlan(_) => {
                    Some("its host is not ethbus's")
                }
            };
            if let Some(why) = why {
                prepared.left_out.push((name(), why));
            } else if source.is_saturated() {
                let driver = Driver::open(plan, &stations[station.index()], station, &macs)?;
                let level = level(plan, station);
                prepared.saturated.push(Saturated { driver, source, level });
            } else {
                if drivers.last().is_none_or(|driver| driver.station != station) {
                    drivers.push(Driver::open(plan, &stations[station.index()], station, &macs)?);
                }
                sources.push((drivers.len() - 1, source));
            }
        }
        prepared.left_out.dedup();
        if !sources.is_empty() {
            prepared.paced = Some(Paced::new(drivers, sources, rate));
        }
        Ok(prepared)
    }

    /// Begins; the scenario's first instant is now.
    ///
    /// # Errors
    /// No thread.
    pub fn begin(self) -> Result<Offers, OfferError> {
        let go_on = Arc::new(AtomicBool::new(true));
        let paced = self.paced.map(|mut paced| {
            let go_on = go_on.clone();
            let begin = monotonic_nanos();
            let run = move || {
                paced.run(begin, || go_on.load(Ordering::Relaxed));
                paced.drivers
            };
            std::thread::Builder::new().name("traffic".to_owned()).spawn(run)
        });
        Ok(Offers { saturated: self.saturated, go_on, paced: paced.transpose().map_err(OfferError::Thread)? })
    }
}

/// The sources that the scenario writes down: its default, which is saturated, is not for labs.
fn written(plan: &Plan) -> Result<Vec<Source>, TrafficError> {
    let silent = TrafficSpec { arrivals: Arrivals::Silent, ..TrafficSpec::default() };
    let first = plan.traffic.iter().zip(&plan.has_traffic);
    let first: Vec<TrafficSpec> = first.map(|(spec, has)| if *has { spec } else { &silent }.clone()).collect();
    let is_silent = |spec: &TrafficSpec| spec.arrivals == Arrivals::Silent;
    if first.iter().all(is_silent) && plan.further == FurtherTraffic::default() {
        return Ok(Vec::new());
    }
    let all = all_sources(&first, &plan.further, &plan.replays, &plan.medium, plan.medium.seed)?;
    Ok(all.into_iter().filter(|source| !source.is_silent()).collect())
}

/// How many frames are kept in a saturated station's queue: those that the medium sends in 10 ms, or fewer, so that the
/// queue does not overflow while frames are on their way to it.
fn level(plan: &Plan, station: StationId) -> u64 {
    let sizes = plan.traffic[station.index()].sizes.clone().unwrap_or_default();
    let mean = sizes.mean_bit_times(plan.medium.parameters.min_frame_size) / 8.0;
    let wanted = super::sender::saturating_level(plan.pace.rate(plan.medium.rate), Octets::new(mean as u32));
    wanted.clamp(1, (plan.medium.queue_limit as u64 / 2).max(1))
}

impl Offers {
    /// Whether the caller must say how full queues are: see [`Offers::fill`].
    pub fn ask_for_queues(&self) -> bool {
        !self.saturated.is_empty()
    }

    /// Fills the queues of saturated stations, whose lengths these are.
    pub fn fill(&mut self, queued: &[u64]) {
        for Saturated { driver, source, level } in &mut self.saturated {
            let queued = queued.get(driver.station.index()).copied().unwrap_or(*level);
            let frames: Vec<Frame> = (queued..*level).map(|_| source.next_frame()).collect();
            driver.offer(&frames);
        }
    }

    /// Ends it, and tells what it has done.
    pub fn stop(&mut self) -> Offered {
        self.go_on.store(false, Ordering::Relaxed);
        let paced = self.paced.take();
        let paced = paced.map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        let saturated = self.saturated.drain(..).map(|saturated| saturated.driver);
        let all = saturated.chain(paced.into_iter().flatten()).map(|driver| driver.offered);
        all.fold(Offered::default(), |sum, one| Offered {
            frames: sum.frames + one.frames,
            refused: sum.refused + one.refused,
        })
    }
}

impl Drop for Offers {
    fn drop(&mut self) {
        self.stop();
    }
}
