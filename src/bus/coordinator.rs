//! The one thread that reads ports, stamps, feeds the medium, and sends what is due.
//!
//! ```text
//!   now − guard ─── what was stamped before here has been seen: the medium may go up to here
//!   now ─────────── deliveries due before here go out
//! ```
//! Decisions use stamps, never the moment at which this thread happened to wake up.

use super::BusError;
use super::delivery::Delivery;
use super::emulator::Emulator;
use super::overload::{OVERLOAD, Overload};
use super::ports::Ports;
use super::precedence::Precedence;
use super::protocol::{Change, PortState, Request, Setup, Told};
use super::reporter::{Observers, Report};
use super::stamp::Stamp;
use super::timeline::Timeline;
use super::watch::{SoFar, Watch};
use super::writer::Writer;
use crate::configuration::longest_distance;
use crate::event_log::{EmulatorEvent, EmulatorKind};
use crate::fault::FaultName;
use crate::metrics::Delays;
use crate::recording::End;
use crate::results::{EmulatorResults, Snapshot, Start};
use link::clock::{ClockMap, ClockSteps, monotonic_nanos, set_timer_slack};
use link::netlink::{LinkChange, LinkMonitor, MonitorError};
use link::packet::{Received, Receiver, Repair, SendError, StampSource, repair_checksum};
use link::wait::Waiter;
use medium::{BitInstant, BitTimes, Frame, FrameId, Input, Medium, Octets, Output, StationId};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// Frames shorter than this, without FCS, go out padded (802.3, 4.2.3.3).
const MIN_OCTETS: usize = 60;
const FCS: u32 = 4;
/// A sleep ends late, so the last bit before a delivery is spent spinning: as long as sleeps are late, within bounds.
const SHORTEST_SPIN: u64 = 10_000;
const LONGEST_SPIN: u64 = 80_000;
/// How often clocks are compared, the ring's drops are read, and requests are looked for at the latest.
const HOUSEKEEPING: u64 = 50_000_000;
/// The longest guard window; two senders' stamps are in order within 2 us unless one was preempted.
const LONGEST_GUARD: u64 = 10_000;
/// Nothing is due earlier after something happens on the medium, but for what the farthest station has yet to hear:
/// the shortest packet is 576 BT long, and 96 BT after its first bit its deliveries are settled.
const SHORTEST_NOTICE: u64 = 480;
/// Frames taken out of the ring before the medium is looked after again.
const BATCH: usize = 256;
/// Batches in one go: more than the ring holds. Without an end, stations that send faster than this thread reads could keep it
/// from everything else; so what is still in the ring then counts as late.
const BATCHES: usize = 32;

const RING: u64 = 0;
const MONITOR: u64 = 1;
const WAKE: u64 = 2;
const CLOCK: u64 = 3;
const STATIONS: u64 = 4;

/// A frame on its way to the medium, in order of stamp, then station, then reading.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Arrival {
    at: BitInstant,
    station: StationId,
    order: u64,
    frame: ArrivedFrame,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ArrivedFrame {
    octets: Arc<[u8]>,
    /// As the station sent it; more than `octets` if those are cut off.
    length: u32,
}

/// A frame on its way from the medium, in order of due time.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    due: u64,
    order: u64,
    frame: FrameId,
    octets: Arc<[u8]>,
    stations: Vec<StationId>,
}

/// The octets of a frame that the medium has.
#[derive(Debug)]
struct Held {
    serial: u64,
    octets: Arc<[u8]>,
}

/// See the module.
#[derive(Debug)]
pub struct Coordinator {
    medium: Medium,
    timeline: Timeline,
    clocks: ClockMap,
    clock_steps: ClockSteps,
    /// How long a stamp may take to be seen.
    guard: u64,
    /// How long after it happens the medium need not be looked after.
    engine_slack: u64,
    /// Sleeping until then would be too late.
    spin_for_engine: bool,
    /// How long to spin before a delivery.
    spin: u64,
    /// A sleep has ended by time since the last housekeeping.
    slept_in_time: bool,
    ports: Ports,
    receiver: Receiver,
    delivery: Delivery,
    monitor: LinkMonitor,
    waiter: Waiter,
    observers: Observers,
    writer: Writer,
    emulator: Emulator,
    delays: Delays,
    arrivals: BinaryHeap<Reverse<Arrival>>,
    held: Vec<VecDeque<Held>>,
    deliveries: BinaryHeap<Reverse<Due>>,
    order: u64,
    start: Start,
    begin: u64,
    watch: Watch,
    /// The last time that the ring was found empty.
    ring_empty_at: u64,
    next_housekeeping: u64,
    /// Everything due up to here has been run.
    run_to: BitInstant,
    overload: Overload,
    precedence: Precedence,
}

impl Coordinator {
    /// Builds the medium and gets ready to move frames.
    ///
    /// # Errors
    /// A configuration that makes no medium; a kernel that refuses a thread, or to wait on a descriptor.
    pub fn new(
        setup: Setup,
        precedence: Precedence,
        receiver: Receiver,
        delivery: Delivery,
        monitor: LinkMonitor,
        observers: Observers,
        writer: Writer,
    ) -> Result<Coordinator, BusError> {
        let config = setup.medium()?;
        let stations = config.topology.stations();
        let mut waiter = Waiter::new().map_err(BusError::link)?;
        waiter.add(&receiver, RING).map_err(BusError::link)?;
        waiter.add(&monitor, MONITOR).map_err(BusError::link)?;
        waiter.add(&*observers.wake, WAKE).map_err(BusError::link)?;
        delivery.filter.watch().map_or(Ok(()), |watch| waiter.add(watch, STATIONS)).map_err(BusError::link)?;
        set_timer_slack(Duration::from_nanos(1)).map_err(BusError::link)?;
        let clock_steps = ClockSteps::watch().map_err(BusError::link)?;
        waiter.add(&clock_steps, CLOCK).map_err(BusError::link)?;
        let clocks = ClockMap::measure();
        let begin = monotonic_nanos();
        let timeline = Timeline::new(begin, setup.pace.rate(config.rate));
        let farthest = longest_distance(&config.topology).get();
        let notice = timeline.span(BitTimes::new(SHORTEST_NOTICE.saturating_sub(farthest)));
        let ports = Ports::new(setup.ports, &config.topology);
        let (way, filter) = (delivery.way(), delivery.filter.choice());
        let emulator = Emulator::new(precedence.name(), setup.pace.time_scale, way, filter);
        Ok(Coordinator {
            medium: Medium::new(config)?,
            timeline,
            clocks,
            clock_steps,
            guard: LONGEST_GUARD.min(notice / 2),
            engine_slack: notice.saturating_sub(SHORTEST_SPIN + LONGEST_GUARD).max(LONGEST_GUARD.min(notice / 2)),
            spin_for_engine: notice < LONGEST_GUARD + SHORTEST_SPIN,
            spin: SHORTEST_SPIN,
            slept_in_time: false,
            ports,
            receiver,
            delivery,
            monitor,
            waiter,
            observers,
            writer,
            emulator,
            delays: Delays::default(),
            arrivals: BinaryHeap::new(),
            held: (0..stations).map(|_| VecDeque::new()).collect(),
            deliveries: BinaryHeap::new(),
            order: 0,
            start: Start { at: BitInstant::ZERO, queued: vec![0; stations] },
            begin,
            watch: Watch::start().map_err(BusError::link)?,
            ring_empty_at: begin,
            next_housekeeping: 0,
            overload: Overload::new(setup.pace.on_overload, begin),
            precedence,
            run_to: BitInstant::ZERO,
        })
    }

    /// Runs until the supervisor says stop.
    ///
    /// # Errors
    /// A kernel that refuses to wait, or to tell of links.
    pub fn run(mut self) -> Result<(), BusError> {
        self.tell(Report::Told(Told::Ready));
        self.overload.awake_by(monotonic_nanos());
        loop {
            self.take_arrivals();
            let now = monotonic_nanos();
            self.keep_up(now);
            self.advance(now);
            self.deliver();
            if now >= self.next_housekeeping {
                self.keep_house(now)?;
            }
            // A request waits for room for its answer: whoever asks is told something, or that nobody answers.
            while !self.observers.reports.is_full()
                && let Ok(request) = self.observers.requests.try_recv()
            {
                self.answer(request)?;
                if request == Request::Stop {
                    self.observers.finish();
                    return Ok(());
                }
            }
            self.sleep()?;
        }
    }

    /// Lets the medium's time stand still for as long as this thread was late, if that is what overload does.
    ///
    /// Before the medium is run at `now`: it has got no further than to the last time awake.
    fn keep_up(&mut self, now: u64) {
        let behind = self.deliveries.peek().map_or(0, |Reverse(next)| now.saturating_sub(next.due));
        let Some(late) = self.overload.slip(now, behind) else { return };
        let slip = late.min(now.saturating_sub(self.timeline.nanos(self.run_to)));
        self.timeline.slip(now, slip);
        self.emulator.slipped(slip);
        self.note(EmulatorKind::Slip { ns: slip });
        let mut waiting = std::mem::take(&mut self.deliveries).into_vec();
        waiting.iter_mut().for_each(|Reverse(delivery)| delivery.due += slip);
        self.deliveries = waiting.into();
        // What came meanwhile came in the slip.
        let instant = self.timeline.instant(now);
        let mut arrived = std::mem::take(&mut self.arrivals).into_vec();
        arrived.iter_mut().for_each(|Reverse(arrival)| arrival.at = arrival.at.min(instant));
        self.arrivals = arrived.into();
    }

    /// Takes frames out of the ring, and gives each its place in time.
    fn take_arrivals(&mut self) {
        // All of them: the medium must not go past a stamp that still waits in the ring.
        if (0..BATCHES).any(|_| self.take_batch() < BATCH) {
            self.ring_empty_at = monotonic_nanos();
        }
    }

    fn take_batch(&mut self) -> usize {
        let Coordinator {
            receiver, ports, clocks, timeline, emulator, arrivals, order, ring_empty_at, delivery, ..
        } = self;
        receiver.receive(BATCH, |received: Received<'_>| {
            let Some(station) = ports.station(received.ifindex) else {
                emulator.counts.strays += 1;
                return;
            };
            emulator.counts.stamped_at_ring += u64::from(received.stamp_source == StampSource::Ring);
            emulator.counts.vlan_tags_restored += u64::from(received.vlan_restored);
            emulator.counts.oversized += u64::from(received.truncated);
            delivery.filter.sent(station, received.octets);
            let mut octets: Arc<[u8]> = received.octets.into();
            if received.partial_checksum && !received.truncated {
                let octets = Arc::get_mut(&mut octets).expect("nobody else has it yet");
                match repair_checksum(octets) {
                    Repair::Repaired | Repair::NotNeeded => emulator.counts.checksums_repaired += 1,
                    Repair::Unknown => emulator.counts.checksums_left += 1,
                }
            }
            let now = monotonic_nanos();
            let stamp = Stamp::read(clocks.to_monotonic(received.stamp), now, *ring_empty_at);
            emulator.counts.future_stamps += u64::from(stamp == Stamp::Future);
            emulator.counts.stale_stamps += u64::from(stamp == Stamp::Stale);
            *order += 1;
            arrivals.push(Reverse(Arrival {
                at: timeline.instant(stamp.or(now)),
                station,
                order: *order,
                frame: ArrivedFrame { octets, length: received.original_len as u32 },
            }));
        })
    }

    /// Brings the medium up to the guard window.
    fn advance(&mut self, now: u64) {
        let horizon = self.timeline.instant(now.saturating_sub(self.guard));
        loop {
            let arrival = self.arrivals.peek().map(|Reverse(arrival)| arrival.at).filter(|&at| at <= horizon);
            let due = self.medium.next_timeout().filter(|&due| due <= horizon);
            match (arrival, due) {
                (Some(at), due) if due.is_none_or(|due| at <= due) => self.offer_next(),
                (_, Some(due)) => self.medium.handle_input(due, Input::Timeout),
                (Some(_), None) | (None, None) => break,
            }
            self.take_outputs();
        }
        self.run_to = horizon;
    }

    fn offer_next(&mut self) {
        let Some(Reverse(Arrival { at, station, frame, .. })) = self.arrivals.pop() else { return };
        let now = self.medium.now().max(at);
        if now > at {
            let (late, frame) = (self.timeline.span(now - at), self.medium.next_frame_id(station));
            self.emulator.arrived_late(late);
            self.note(EmulatorKind::LateArrival { frame, ns: late });
        }
        let tagged = matches!(frame.octets.get(12..14), Some([0x81, 0x00] | [0x88, 0xa8]));
        self.ports.learn(station, &frame.octets);
        let destination = self.ports.destination(station, &frame.octets);
        let FrameId { serial, .. } = self.medium.next_frame_id(station);
        let size = Octets::new(frame.length.saturating_add(FCS));
        let input = Input::Offer { station, frame: Frame { size, destination, tagged } };
        self.writer.input(now, input, Some(&frame.octets));
        self.held[station.index()].push_back(Held { serial, octets: frame.octets });
        self.medium.handle_input(now, input);
    }

    /// Schedules what the medium has settled, and lets go of what it is done with.
    fn take_outputs(&mut self) {
        while let Some(event) = self.medium.poll_event() {
            self.writer.event(&event);
            self.delays.record(&event);
        }
        while let Some(output) = self.medium.poll_output() {
            match output {
                Output::Carried { frame, end, damaged } => self.schedule(frame, end, &damaged),
                Output::Released { frame } => {
                    // Nearly always the one that has waited longest.
                    let held = &mut self.held[frame.station.index()];
                    let place = held.iter().position(|held| held.serial == frame.serial);
                    place.and_then(|place| held.remove(place));
                }
            }
        }
    }

    fn schedule(&mut self, frame: FrameId, end: BitInstant, damaged: &[StationId]) {
        let held = self.held[frame.station.index()].iter().find(|held| held.serial == frame.serial);
        let octets = held.expect("a frame is released only after it was carried").octets.clone();
        for hearers in self.ports.hearers(frame.station) {
            let hears = |station: &StationId| self.medium.attached(*station) && !damaged.contains(station);
            self.order += 1;
            self.deliveries.push(Reverse(Due {
                due: self.timeline.nanos(end + hearers.distance),
                order: self.order,
                frame,
                octets: octets.clone(),
                stations: hearers.stations.iter().copied().filter(hears).collect(),
            }));
        }
    }

    /// Sends every frame that is due.
    fn deliver(&mut self) {
        let mut gone = Vec::new();
        while let Some(Reverse(delivery)) = self.deliveries.peek().filter(|Reverse(next)| next.due <= monotonic_nanos())
        {
            let (ns, copies, frame) =
                (monotonic_nanos() - delivery.due, delivery.stations.len() as u64, delivery.frame);
            if self.overload.drops(ns) {
                self.emulator.counts.overload_drops += copies;
                self.deliveries.pop();
                self.note(EmulatorKind::OverloadDrop { frame, ns, copies });
                continue;
            }
            let mut padded = [0_u8; MIN_OCTETS];
            let octets = pad(&delivery.octets, &mut padded);
            // Whoever was taken off meanwhile receives nothing whose last bit comes while it is off.
            let here = |station: &StationId| self.medium.attached(*station);
            let mut stations: Vec<StationId> = delivery.stations.iter().copied().filter(here).collect();
            self.emulator.counts.filtered += self.delivery.filter.leave_out(octets, &mut stations);
            let results = self.delivery.send(octets, &stations, &self.ports, &mut self.emulator.counts);
            let (due, late) = (delivery.due, monotonic_nanos() - delivery.due);
            let mut refused = Vec::new();
            for (result, station) in results.iter().zip(stations) {
                let absent = match result {
                    Ok(()) => {
                        self.emulator.delivered(late);
                        continue;
                    }
                    Err(SendError::NoInterface | SendError::Down | SendError::Dropped) => true,
                    Err(_) => false,
                };
                let EmulatorResults { deliveries_to_absent, delivery_failures, .. } = &mut self.emulator.counts;
                *(if absent { deliveries_to_absent } else { delivery_failures }) += 1;
                refused.push(EmulatorKind::Refused { station, frame, absent });
                if *result == Err(SendError::NoInterface) {
                    gone.push(station);
                }
            }
            self.deliveries.pop();
            let copies = (results.len() - refused.len()) as u64;
            if late > OVERLOAD && copies > 0 {
                self.emulator.counts.late_deliveries += 1;
                self.note(EmulatorKind::LateDelivery { frame, ns: late, copies });
            }
            refused.into_iter().for_each(|refused| self.note(refused));
            // So late that the medium's time has to wait: that is decided before the next one goes out.
            if self.overload.slip(due, late).is_some() {
                break;
            }
        }
        for station in gone {
            self.change_port(station, PortState::Gone);
        }
    }

    fn keep_house(&mut self, now: u64) -> Result<(), BusError> {
        self.next_housekeeping = now + HOUSEKEEPING;
        if !self.slept_in_time {
            // Nothing tells how late sleeps are when there are none: less spinning, until there are.
            self.spin = (self.spin * 3 / 4).max(SHORTEST_SPIN);
        }
        self.slept_in_time = false;
        if self.precedence.look(now) {
            self.tell(Report::Told(Told::Calm));
        }
        self.emulator.counts.priority = self.precedence.name();
        self.refresh_clocks()?;
        self.look()?;
        self.tell_troubles();
        if let Some(told) = self.overload.tell(now, &self.emulator.counts) {
            self.tell(Report::Told(told));
        }
        self.watch_links()
    }

    fn refresh_clocks(&mut self) -> Result<(), BusError> {
        let (stepped, before) = (self.clock_steps.stepped().map_err(BusError::link)?, self.clocks);
        self.clocks.refresh();
        if stepped {
            self.emulator.counts.clock_steps += 1;
            self.note(EmulatorKind::ClockStep { ns: self.clocks.moved_since(&before) });
        }
        Ok(())
    }

    /// Counts and notes what nobody tells of.
    fn look(&mut self) -> Result<(), BusError> {
        let ring_drops = self.receiver.statistics().map_err(BusError::link)?.dropped;
        self.count_lost();
        let (counts, mut events) = (&mut self.emulator.counts, Vec::new());
        let so_far = SoFar { ring_drops, record_skipped: counts.record_skipped };
        self.watch.look(so_far, counts, &mut events);
        events.into_iter().for_each(|kind| self.note(kind));
        Ok(())
    }

    fn count_lost(&mut self) {
        let counts = &mut self.emulator.counts;
        (counts.record_skipped, counts.events_skipped, counts.files_incomplete) = self.writer.lost();
    }

    /// Writes down something that happened to the emulator.
    fn note(&mut self, kind: EmulatorKind) {
        let real_ns = monotonic_nanos() - self.begin;
        self.writer.emulator(EmulatorEvent { at: self.medium.now(), real_ns, kind });
    }

    fn tell_troubles(&mut self) {
        while let Some(what) = self.writer.trouble() {
            self.tell(Report::Told(Told::Trouble(what)));
        }
    }

    /// A station whose interface went down or vanished is taken off; the bus goes on for the others.
    fn watch_links(&mut self) -> Result<(), BusError> {
        self.delivery.filter.look(&mut self.emulator.counts).map_err(BusError::link)?;
        let changes = match self.monitor.poll() {
            // The monitor will tell how each interface is. One that vanished unseen shows when a delivery to it fails.
            Err(MonitorError::Overrun) => {
                self.emulator.counts.link_changes_missed += 1;
                return Ok(());
            }
            changes => changes.map_err(BusError::link)?,
        };
        for change in changes {
            let (index, state) = match change {
                LinkChange::Up { index } => (index, PortState::Up),
                LinkChange::Down { index } => (index, PortState::Down),
                LinkChange::Gone { index } => (index, PortState::Gone),
            };
            if let Some(station) = self.ports.station(index) {
                self.change_port(station, state);
            }
        }
        Ok(())
    }

    fn change_port(&mut self, station: StationId, state: PortState) {
        let attached = self.ports.note(station, state);
        if attached == self.medium.attached(station) {
            return;
        }
        self.emulator.counts.ports_lost += u64::from(matches!(state, PortState::Down | PortState::Gone));
        self.apply(if attached { Input::Attach { station } } else { Input::Detach { station } });
        self.note(EmulatorKind::Port { station, state });
        let station = self.ports.name(station).to_owned();
        self.tell(Report::Told(Told::Port { station, state }));
    }

    /// Gives the medium an input that is no frame, now.
    fn apply(&mut self, input: Input) {
        let now = self.timeline.instant(monotonic_nanos().saturating_sub(self.guard));
        let now = now.max(self.medium.now());
        self.writer.input(now, input, None);
        self.medium.handle_input(now, input);
        self.take_outputs();
    }

    fn change(&mut self, station: StationId, change: Change) {
        match change {
            Change::Attach => self.change_port(station, PortState::Attached),
            Change::Detach => self.change_port(station, PortState::Detached),
            Change::Fault(fault) => {
                self.apply(Input::SetFault { station, fault: fault.map(|FaultName(fault)| fault) });
            }
        }
    }

    fn answer(&mut self, request: Request) -> Result<(), BusError> {
        let now = self.timeline.instant(monotonic_nanos());
        match request {
            Request::Restart => {
                self.look()?;
                self.medium.restart_tally();
                self.emulator.restart();
                self.delays.restart();
                self.start = Start::take(&self.medium, now);
                self.tell(Report::Told(Told::Restarted));
            }
            Request::Change { station, change } => {
                assert!(usize::from(station) < self.held.len(), "the supervisor knows how many stations there are");
                self.change(StationId::new(station), change);
            }
            // The supervisor knows the cable.
            Request::Cable(cut) => self.apply(Input::SetCut { cut: cut.map(Into::into) }),
            Request::Progress => {
                let stations = (0..self.held.len() as u16).map(StationId::new);
                let finished = stations.map(|station| self.medium.finished(station)).collect();
                self.tell(Report::Told(Told::Progress(finished)));
            }
            Request::Report | Request::Stop => {
                self.look()?;
                if request == Request::Stop {
                    self.writer.finish(End { run_to: self.run_to.get(), t: now.get() });
                    self.count_lost();
                    self.tell_troubles();
                }
                let copies = |Reverse(delivery): &Reverse<Due>| delivery.stations.len() as u64;
                self.emulator.counts.deliveries_pending = self.deliveries.iter().map(copies).sum();
                self.emulator.counts.arrivals_pending = self.arrivals.len() as u64;
                let snapshot =
                    Snapshot::take(&self.medium, &self.start, now, &self.delays, Some(self.emulator.results()));
                self.tell(Report::Snapshot(Box::new(snapshot)));
            }
            Request::Trespass => trespass(),
            Request::Panic if cfg!(debug_assertions) => panic!("asked to panic \u{1b}[31m"),
            Request::Panic => {}
        }
        Ok(())
    }

    /// Tells the supervisor if it listens; what it could not take is counted, not waited for.
    fn tell(&mut self, report: Report) {
        if self.observers.reports.try_send(report).is_err() {
            self.emulator.counts.reports_skipped += 1;
        }
    }

    /// Waits for the next thing to do: sleeps, and spins the last bit before a delivery.
    fn sleep(&mut self) -> Result<(), BusError> {
        let delivery = self.deliveries.peek().map(|Reverse(delivery)| delivery.due);
        let arrival = self.arrivals.peek().map(|Reverse(arrival)| arrival.at);
        let engine = [arrival, self.medium.next_timeout()].into_iter().flatten().min();
        let engine = engine.map(|instant| self.timeline.nanos(instant) + self.engine_slack);
        let spin_until = if self.spin_for_engine { [delivery, engine].into_iter().flatten().min() } else { delivery };
        let wake = [delivery.map(|due| due.saturating_sub(self.spin)), engine, Some(self.next_housekeeping)];
        let wake = wake.into_iter().flatten().min().unwrap_or(self.next_housekeeping);
        let now = monotonic_nanos();
        self.overload.awake_by(wake.max(now));
        if let Some(until) = spin_until.filter(|&until| until <= now + self.spin) {
            while monotonic_nanos() < until.min(engine.unwrap_or(until)) {
                std::hint::spin_loop();
            }
            return Ok(());
        }
        if wake > now {
            let timeout = Duration::from_nanos(wake - now);
            let tokens: Vec<u64> = self.waiter.wait(Some(timeout)).map_err(BusError::link)?.collect();
            let awake = monotonic_nanos();
            self.precedence.slept(awake - now);
            if tokens.is_empty() {
                self.slept_in_time = true;
                // Follows twice the usual lateness, a sixteenth of the way each time.
                let wanted = (2 * awake.saturating_sub(wake)).clamp(SHORTEST_SPIN, LONGEST_SPIN);
                self.spin = (self.spin * 15 + wanted) / 16;
            }
            if tokens.contains(&MONITOR) || tokens.contains(&STATIONS) {
                self.watch_links()?;
            }
            if tokens.contains(&CLOCK) {
                self.refresh_clocks()?;
            }
            if tokens.contains(&WAKE) {
                self.observers.wake.clear().map_err(BusError::link)?;
            }
        }
        Ok(())
    }
}

/// Makes a system call that a running bus has no use for. Only builds for tests do.
fn trespass() {
    if cfg!(debug_assertions) {
        // Nobody sees how it ends, for this process ends first.
        let _ = std::os::unix::net::UnixDatagram::unbound();
    }
}

/// The octets as they go onto the medium: at least as many as a frame without FCS must have.
fn pad<'a>(octets: &'a [u8], padded: &'a mut [u8; MIN_OCTETS]) -> &'a [u8] {
    if octets.len() >= MIN_OCTETS {
        return octets;
    }
    padded[..octets.len()].copy_from_slice(octets);
    padded
}
