//! A scenario's traffic on a live bus: the sources of `ethbus sim`, whose instants are real time here, and raw sockets in the
//! stations. The same seed gives the same sizes, destinations and instants as in virtual time.
//!
//! Sleeps between frames, never spins. Frames that are due before the machine gets to them go out together, late.

mod paced;

use self::paced::{Ask, Paced, Pacer};
use super::offering::Fed;
use super::{Label, blank};
use crate::lab::INTERFACE;
use crate::plane::protocol::{Request, Told};
use link::MacAddr;
use link::clock::{RealtimeNanos, monotonic_nanos};
use link::namespace::Namespace;
use link::packet::{PacketError, SendError};
use link::station::StationSocket;
use medium::{BitInstant, BitRate, BitTimes, Destination, Frame, Octets, StationId};
use say::with_causes;
use sim::figures::stacks::Protocol;
use sim::scenario::plan::host::Host;
use sim::scenario::plan::{Plan, StationPlan};
use sim::traffic::{Arrivals, FurtherTraffic, Source, TrafficError, TrafficSpec, all_sources};
use std::collections::HashMap;
use std::sync::{Arc, RwLock};
use std::time::Duration;

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

impl Offered {
    fn and(self, other: Offered) -> Offered {
        Offered { frames: self.frames + other.frames, refused: self.refused + other.refused }
    }
}

/// Why a station of a lab has no window.
const NO_WINDOW: &str = "a window needs hosts that answer, which `ethbus sim` has";
/// Why nothing is offered in a station.
const OTHER_HOST: &str = "its host is not ethbus's";

/// Why a station of a lab has no stack of `ethbus sim`, and what it has instead.
fn own_program(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Tcp => "TCP connections are `ethbus sim`'s: run `iperf3` in the station",
        Protocol::Ping => "pings are `ethbus sim`'s: run `ping` in the station",
        Protocol::Udp => "UDP datagrams are `ethbus sim`'s: run `iperf3 -u` in the station",
    }
}

/// The stations' addresses, those on other buses too: those of stations that join come later.
type Macs = Arc<RwLock<HashMap<Destination, MacAddr>>>;

/// How frames are offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offering {
    /// As those of a scenario: several go out together rather than wake up for each.
    Scenario,
    /// As those of a table of messages: each at its instant, with the number of its source in its label. They come so
    /// seldom that the thread may be `ahead` of other programs.
    Table {
        /// Under SCHED_FIFO, where that is allowed.
        ahead: bool,
    },
}

/// Stream and sequence number of a frame's label.
type Number = (u32, u64);

/// A station's socket, and the possible addressees of its frames.
#[derive(Debug)]
struct Driver {
    socket: StationSocket,
    station: StationId,
    macs: Macs,
    offered: Offered,
}

impl Driver {
    fn open(name: &str, namespace: &Namespace, station: StationId, macs: &Macs) -> Result<Driver, OfferError> {
        let socket = StationSocket::open_to_send(namespace, INTERFACE)
            .map_err(|source| OfferError::Socket { station: name.to_owned(), source })?;
        Ok(Driver { socket, station, macs: macs.clone(), offered: Offered::default() })
    }

    fn octets(&self, frame: &Frame, (stream, sequence): Number) -> Vec<u8> {
        let known = |to: Destination| self.macs.read().ok()?.get(&to).copied();
        let to = match frame.destination {
            Destination::All => MacAddr::broadcast(),
            // A station that is still to join has no address.
            to => known(to).unwrap_or(MacAddr::from(NOBODY)),
        };
        let mut octets = blank(to, self.socket.mac(), frame.size.get());
        let label = Label { stream, sequence, sent: RealtimeNanos::now() };
        label.write(&mut octets);
        octets
    }

    /// Offers frames under the numbers that come next.
    fn offer(&mut self, frames: &[Frame]) {
        let numbers = (0..).map(|waiting| self.number(waiting));
        let numbered: Vec<(Frame, Number)> = frames.iter().copied().zip(numbers).collect();
        self.offer_numbered(&numbered);
    }

    /// The label of the station's next frame, before which `waiting` others go out.
    fn number(&self, waiting: u64) -> Number {
        (self.station.index() as u32, self.offered.frames + self.offered.refused + waiting)
    }

    fn offer_numbered(&mut self, frames: &[(Frame, Number)]) {
        let batch: Vec<Vec<u8>> = frames.iter().map(|(frame, number)| self.octets(frame, *number)).collect();
        let batch: Vec<&[u8]> = batch.iter().map(Vec::as_slice).collect();
        let mut results: Vec<Result<(), SendError>> = Vec::with_capacity(batch.len());
        self.socket.send_batch(&batch, &mut results);
        let taken = results.iter().filter(|result| result.is_ok()).count() as u64;
        self.offered.frames += taken;
        self.offered.refused += results.len() as u64 - taken;
    }
}

/// A source that always has another frame, with its station's driver.
#[derive(Debug)]
struct Saturated {
    driver: Driver,
    source: Source,
    /// Frames that its station's queue is kept filled to, if it holds twice as many.
    level: u64,
}

/// A scenario's traffic at work. Its sockets keep stations' namespaces alive: stop it before the lab is removed.
#[derive(Debug)]
pub struct Offers {
    saturated: Vec<Saturated>,
    pacer: Option<Pacer>,
    /// The scenario's first instant.
    begin: u64,
    /// Bits in a second of real time.
    rate: BitRate,
    /// Frames that a station's queue holds.
    queue_limit: u64,
    min_frame_size: Octets,
    macs: Macs,
    /// What drivers that are gone have done.
    before: Offered,
}

/// Drivers of a lab's stations that have not begun yet.
#[derive(Debug, Default)]
pub struct Prepared {
    saturated: Vec<Saturated>,
    paced: Option<Paced>,
    macs: Macs,
    /// Stations that offer nothing here though the scenario says so, each with the reason.
    pub left_out: Vec<(String, &'static str)>,
}

impl Prepared {
    /// Opens what the scenario's traffic needs in the stations' namespaces, in order of station.
    ///
    /// # Errors
    /// Traffic that cannot be had, or a socket.
    pub fn new(plan: &Plan, stations: &[Namespace], offering: Offering) -> Result<Prepared, OfferError> {
        let mut prepared = Prepared::default();
        let here = (0..).zip(&plan.stations).map(|(number, it)| (Destination::Station(StationId::new(number)), it.mac));
        let beyond = (0..).zip(plan.beyond.iter()).map(|(number, mac)| (Destination::Beyond(number), *mac));
        let macs = here.chain(beyond).map(|(to, mac)| (to, MacAddr::from(mac.octets()))).collect();
        let (macs, rate) = (Arc::new(RwLock::new(macs)), plan.pace.rate(plan.medium.rate));
        let (mut drivers, mut sources): (Vec<Driver>, Vec<(usize, Source)>) = (Vec::new(), Vec::new());
        for mut source in written(plan)? {
            let station = source.station();
            let StationPlan { name, host, .. } = &plan.stations[station.index()];
            let why = match host {
                _ if source.closed_loop().is_some() => Some(NO_WINDOW),
                _ if let Some((talk, _)) = source.talk() => Some(own_program(talk.protocol())),
                Host::Veth => None,
                Host::Existing(_) | Host::Tap | Host::Interface(_) | Host::Bridge(_) | Host::Vxlan(_) => {
                    Some(OTHER_HOST)
                }
            };
            if let Some(why) = why {
                prepared.left_out.push((name.clone(), why));
            } else if source.is_saturated() {
                let driver = Driver::open(name, &stations[station.index()], station, &macs)?;
                let level = level(&plan.traffic[station.index()], plan.medium.parameters.min_frame_size, rate);
                prepared.saturated.push(Saturated { driver, source, level });
            } else {
                if drivers.last().is_none_or(|driver| driver.station != station) {
                    drivers.push(Driver::open(name, &stations[station.index()], station, &macs)?);
                }
                sources.push((drivers.len() - 1, source));
            }
        }
        prepared.left_out.dedup();
        if !sources.is_empty() {
            prepared.paced = Some(Paced::new(drivers, sources, offering, rate));
        }
        prepared.macs = macs;
        Ok(prepared)
    }

    /// Begins; the first instant of `plan` is now.
    ///
    /// # Errors
    /// No thread.
    pub fn begin(self, plan: &Plan) -> Result<Offers, OfferError> {
        let begin = monotonic_nanos();
        Ok(Offers {
            saturated: self.saturated,
            pacer: self.paced.map(|paced| Pacer::start(paced, begin)).transpose()?,
            begin,
            rate: plan.pace.rate(plan.medium.rate),
            queue_limit: plan.medium.queue_limit as u64,
            min_frame_size: plan.medium.parameters.min_frame_size,
            macs: self.macs,
            before: Offered::default(),
        })
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

/// How many frames are kept in a saturated station's queue: those that the medium sends in 10 ms.
fn level(spec: &TrafficSpec, min_frame_size: Octets, rate: BitRate) -> u64 {
    let sizes = spec.sizes.clone().unwrap_or_default();
    let mean = sizes.mean_bit_times(min_frame_size) / 8.0;
    super::sender::saturating_level(rate, Octets::new(mean as u32))
}

/// Makes room in a plan's queues for what saturated stations keep there.
pub fn make_room(plan: &mut Plan) {
    let (least, rate) = (plan.medium.parameters.min_frame_size, plan.pace.rate(plan.medium.rate));
    let levels = plan.traffic.iter().map(|spec| 2 * level(spec, least, rate) as usize);
    plan.medium.queue_limit = levels.max().unwrap_or(0).max(plan.medium.queue_limit);
}

impl Fed for Offers {
    fn asks(&self) -> Option<Request> {
        (!self.saturated.is_empty()).then_some(Request::Queues)
    }

    fn hear(&mut self, told: &Told) {
        if let Told::Queues(queued) = told {
            self.fill(queued);
        }
    }
}

impl Offers {
    /// Fills the queues of saturated stations, whose lengths these are: not so far that they overflow while frames are on
    /// their way to them.
    fn fill(&mut self, queued: &[u64]) {
        let most = (self.queue_limit / 2).max(1);
        for Saturated { driver, source, level } in &mut self.saturated {
            let level = (*level).clamp(1, most);
            let queued = queued.get(driver.station.index()).copied().unwrap_or(level);
            let frames: Vec<Frame> = (queued..level).map(|_| source.next_frame()).collect();
            driver.offer(&frames);
        }
    }

    /// Queues hold this number of frames from now on.
    pub fn limit(&mut self, queue_limit: u64) {
        self.queue_limit = queue_limit;
    }

    /// How far its time has got: real time, which no slip and no pause of the medium stops.
    pub fn now(&self) -> BitInstant {
        let elapsed = Duration::from_nanos(monotonic_nanos().saturating_sub(self.begin));
        BitInstant::ZERO + BitTimes::within(elapsed, self.rate)
    }

    /// A station has joined at this place.
    pub fn knows(&mut self, seat: usize, mac: sim::words::MacAddr) {
        let Ok(mut macs) = self.macs.write() else { return };
        macs.insert(Destination::Station(StationId::new(seat as u16)), MacAddr::from(mac.octets()));
    }

    /// The station of `source`, called `name`, offers what the source has, as `spec` says it, and nothing else, from
    /// `namespace`: nothing if its host is not the lab's.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn set(
        &mut self,
        name: &str,
        mut source: Source,
        spec: &TrafficSpec,
        namespace: Option<Namespace>,
    ) -> Result<(), String> {
        if source.closed_loop().is_some() {
            return Err(NO_WINDOW.to_owned());
        }
        let station = source.station();
        let Some(namespace) = namespace else { return Err(format!("{name}: {OTHER_HOST}")) };
        let driver = Driver::open(name, &namespace, station, &self.macs).map_err(|error| with_causes(&error))?;
        self.silence(station);
        if source.is_saturated() {
            let level = level(spec, self.min_frame_size, self.rate);
            self.saturated.push(Saturated { driver, source, level });
            return Ok(());
        }
        if source.is_silent() {
            return Ok(());
        }
        if self.pacer.is_none() {
            let paced = Paced::new(Vec::new(), Vec::new(), Offering::Scenario, self.rate);
            self.pacer = Some(Pacer::start(paced, self.begin).map_err(|error| with_causes(&error))?);
        }
        if let Some(pacer) = &self.pacer {
            // Its thread ends only when nothing can be asked any more.
            let _ = pacer.ask.send(Ask::Offer(driver, Box::new(source)));
        }
        Ok(())
    }

    /// A station offers nothing from now on.
    pub fn silence(&mut self, station: StationId) {
        let gone = self.saturated.extract_if(.., |saturated| saturated.driver.station == station);
        self.before = gone.fold(self.before, |sum, saturated| sum.and(saturated.driver.offered));
        if let Some(pacer) = &self.pacer {
            let _ = pacer.ask.send(Ask::Silence(station));
        }
    }

    /// Ends it, and tells what it has done.
    pub fn stop(&mut self) -> Offered {
        let paced = self.pacer.take().map(|Pacer { ask, thread }| {
            drop(ask);
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        let saturated = self.saturated.drain(..).map(|saturated| saturated.driver.offered);
        saturated.chain(paced).fold(std::mem::take(&mut self.before), Offered::and)
    }
}

impl Drop for Offers {
    fn drop(&mut self) {
        self.stop();
    }
}
