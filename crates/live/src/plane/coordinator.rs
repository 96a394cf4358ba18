//! The one thread that reads ports and stamps, feeds the medium, and sends deliveries on time.
//!
//! ```text
//!   now − guard ─── what was stamped before here has been seen: the medium may go up to here
//!   now ─────────── deliveries due before here go out
//! ```
//! Decisions use stamps, never the moment at which this thread happened to wake up.

mod arrivals;
mod deliveries;
mod pause;
mod upkeep;

use self::arrivals::Arrival;
use self::deliveries::Due;
use self::pause::Pause;
use self::upkeep::HOUSEKEEPING;
use super::BusError;
use super::delivery::Delivery;
use super::discards::Listened;
use super::emulator::Emulator;
use super::messages::Messages;
use super::overload::Overload;
use super::ports::Ports;
use super::precedence::Precedence;
use super::protocol::{Request, Setup, Told};
use super::punctual::Punctual;
use super::reporter::{Observers, Report};
use super::seen::Batch;
use super::timeline::Timeline;
use super::watch::Watch;
use super::writer::Writer;
use super::writer::captures::Captures;
use link::clock::{ClockMap, ClockSteps, monotonic_nanos, set_timer_slack};
use link::netlink::LinkMonitor;
use link::packet::Receiver;
use link::wait::Waiter;
use medium::{BitInstant, BitTimes, Frame, FrameId, Medium, Output, PREAMBLE_AND_SFD, Parameters};
use sim::figures::metrics::Delays;
use sim::figures::snapshot::Start;
use sim::files::event_log::{EmulatorEvent, EmulatorKind};
use sim::files::observer::{Both, Observer};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// A sleep ends late, so the last bit before a delivery is spent spinning: as long as sleeps are late, within bounds.
const SHORTEST_SPIN: u64 = 10_000;
const LONGEST_SPIN: u64 = 80_000;
/// The longest guard window; two senders' stamps are in order within 2 us unless one was preempted.
const LONGEST_GUARD: u64 = 10_000;

const RING: u64 = 0;
const MONITOR: u64 = 1;
const WAKE: u64 = 2;
const CLOCK: u64 = 3;
const STATIONS: u64 = 4;

/// The octets of a frame that the medium has.
#[derive(Debug)]
struct Held {
    serial: u64,
    frame: Frame,
    octets: Arc<[u8]>,
}

/// What the kernel gives a data plane to move frames with.
#[derive(Debug)]
pub struct Sockets {
    /// Where stations' frames come in.
    pub receiver: Receiver,
    /// How frames go out.
    pub delivery: Delivery,
    /// What happens to the ports.
    pub monitor: LinkMonitor,
}

/// See the module.
#[derive(Debug)]
pub struct Coordinator {
    medium: Medium,
    /// Everything due up to here has been run.
    run_to: BitInstant,
    clocks: Clocks,
    wires: Wires,
    frames: Frames,
    rest: Rest,
    effort: Effort,
    figures: Figures,
    emulator: Emulator,
    observers: Observers,
    /// The run's own files, and captures that began later.
    files: Both<Writer, Captures>,
    /// The next notes for viewers.
    seen: Batch,
    /// The next discards for programs in stations.
    discards: Listened,
    /// The medium's clock is stopped, by a user.
    pause: Option<Pause>,
    next_housekeeping: u64,
}

/// Real time, and the medium's time in it.
#[derive(Debug)]
struct Clocks {
    timeline: Timeline,
    map: ClockMap,
    steps: ClockSteps,
    /// When the bus began to run.
    begin: u64,
}

/// What leads to the stations' kernels and back.
#[derive(Debug)]
struct Wires {
    ports: Ports,
    receiver: Receiver,
    /// The last time that the receiver's ring was found empty.
    ring_empty_at: u64,
    delivery: Delivery,
    monitor: LinkMonitor,
}

/// The frames between the ring and the stations.
#[derive(Debug)]
struct Frames {
    /// On their way to the medium.
    arrivals: BinaryHeap<Reverse<Arrival>>,
    /// In the medium: the octets, by station.
    held: Vec<VecDeque<Held>>,
    /// On their way from the medium.
    deliveries: BinaryHeap<Reverse<Due>>,
    /// The number of entries put into both queues so far: it orders those of one instant.
    order: u64,
}

/// How this thread waits for the next thing to do.
#[derive(Debug)]
struct Rest {
    waiter: Waiter,
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
}

/// Whether this thread keeps up with real time, and what it does to keep up.
#[derive(Debug)]
struct Effort {
    overload: Overload,
    /// Deliveries have waited for another look, since the thread was stopped after the last one.
    held_back: bool,
    precedence: Precedence,
    punctual: Punctual,
}

/// What results are worked out from, beside the medium's own counts and the emulator's.
#[derive(Debug)]
struct Figures {
    start: Start,
    delays: Delays,
    watch: Watch,
    /// Those of the table that the lab runs.
    messages: Option<Messages>,
}

impl Frames {
    /// The octets of a frame that the medium has.
    fn octets(&self, frame: FrameId) -> Option<Arc<[u8]>> {
        let mut held = self.held[frame.station.index()].iter();
        held.find(|held| held.serial == frame.serial).map(|held| held.octets.clone())
    }
}

impl Coordinator {
    /// Builds the medium, whose time begins at `begin` of the monotonic clock, and gets ready to move frames.
    ///
    /// # Errors
    /// A configuration that makes no medium; a kernel that refuses a thread, or to wait on a descriptor.
    pub fn new(
        setup: Setup,
        begin: u64,
        precedence: Precedence,
        Sockets { receiver, delivery, monitor }: Sockets,
        observers: Observers,
        files: Both<Writer, Captures>,
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
        let timeline = Timeline::new(begin, setup.pace.rate(config.rate));
        let now = monotonic_nanos();
        let farthest = config.topology.longest_distance().get();
        let notice = timeline
            .span(BitTimes::new(shortest_notice(&config.parameters, config.longest_gap()).saturating_sub(farthest)));
        let ports = Ports::new(setup.ports, &config.topology);
        let (way, filter) = (delivery.way(), delivery.filter.choice());
        let emulator = Emulator::new(precedence.name(), setup.pace.time_scale, way, filter);
        Ok(Coordinator {
            medium: Medium::new(config)?,
            run_to: BitInstant::ZERO,
            clocks: Clocks { timeline, map: clocks, steps: clock_steps, begin },
            wires: Wires { ports, receiver, ring_empty_at: now, delivery, monitor },
            frames: Frames {
                arrivals: BinaryHeap::new(),
                held: (0..stations).map(|_| VecDeque::new()).collect(),
                deliveries: BinaryHeap::new(),
                order: 0,
            },
            rest: Rest {
                waiter,
                guard: LONGEST_GUARD.min(notice / 2),
                engine_slack: notice.saturating_sub(SHORTEST_SPIN + LONGEST_GUARD).max(LONGEST_GUARD.min(notice / 2)),
                spin_for_engine: notice < LONGEST_GUARD + SHORTEST_SPIN,
                spin: SHORTEST_SPIN,
                slept_in_time: false,
            },
            effort: Effort {
                overload: Overload::new(setup.pace.on_overload, now),
                held_back: false,
                precedence,
                punctual: Punctual::new(setup.pace.latency),
            },
            figures: Figures {
                start: Start { at: BitInstant::ZERO, queued: vec![0; stations] },
                delays: Delays::default(),
                watch: Watch::start().map_err(BusError::link)?,
                messages: setup.messages.map(Messages::new),
            },
            emulator,
            observers,
            files,
            seen: Batch::default(),
            discards: Listened::default(),
            pause: None,
            next_housekeeping: now + HOUSEKEEPING,
        })
    }

    /// What results say of what is spent on being punctual.
    pub fn say_latency(&mut self, latency: String) {
        self.emulator.counts.latency = latency;
    }

    /// Runs until the supervisor says stop.
    ///
    /// # Errors
    /// A kernel that refuses to wait, or to report links.
    pub fn run(mut self) -> Result<(), BusError> {
        if self.effort.precedence.begin(monotonic_nanos()) {
            // Before the medium is said to run, so that it is ahead of others from the first frame on.
            self.tell(Report::Told(Told::Calm));
        }
        self.tell(Report::Told(Told::Ready));
        self.effort.overload.looked(monotonic_nanos());
        loop {
            // What was stamped before `seen` has been read. A stop of this thread, wherever it comes, lies between two
            // readings of the clock here, and the medium is not run through it.
            let seen = self.take_arrivals();
            let now = monotonic_nanos();
            match self.pause {
                None => self.keep_up(now),
                Some(_) => self.stand_still(now),
            }
            self.advance(seen.unwrap_or(now));
            self.deliver();
            if now >= self.next_housekeeping {
                self.keep_house(now)?;
            }
            self.files.0.look(now);
            let (runs, timeline) = (self.pause.is_none(), &self.clocks.timeline);
            // The time is read anew: since `now`, a client may have got a frame and closed.
            self.files.1.look(now, self.run_to, || runs.then(|| timeline.instant(monotonic_nanos())));
            // A request waits for room for its answer: the client gets an answer, or learns that none comes.
            while !self.observers.reports.is_full()
                && let Ok((request, stream)) = self.observers.requests.try_recv()
            {
                let is_last = request == Request::Stop;
                self.answer(request, stream)?;
                if is_last {
                    self.observers.finish();
                    return Ok(());
                }
            }
            self.sleep()?;
        }
    }

    /// Stops the medium's clock for as long as this thread was late, if that is what overload does.
    ///
    /// Before the medium is run at `now`: it has got no further than to the last look.
    fn keep_up(&mut self, now: u64) {
        let behind = self.frames.deliveries.peek().map_or(0, |Reverse(next)| now.saturating_sub(next.due));
        let slip = self.effort.overload.slip(now, behind);
        self.effort.overload.looked(now);
        let Some(slip) = slip else { return };
        self.emulator.slipped(slip);
        self.note(EmulatorKind::Slip { ns: slip });
        self.stop_clock(now, slip);
    }

    /// No bit went by in the last `slip` nanoseconds before `now`.
    fn stop_clock(&mut self, now: u64, slip: u64) {
        self.clocks.timeline.slip(now, slip);
        let mut waiting = std::mem::take(&mut self.frames.deliveries).into_vec();
        waiting.iter_mut().for_each(|Reverse(delivery)| delivery.due += slip);
        self.frames.deliveries = waiting.into();
        // What came meanwhile came in the slip.
        let instant = self.clocks.timeline.instant(now);
        let mut arrived = std::mem::take(&mut self.frames.arrivals).into_vec();
        arrived.iter_mut().for_each(|Reverse(arrival)| arrival.at = arrival.at.min(instant));
        self.frames.arrivals = arrived.into();
    }

    /// Brings the medium up to the guard window before `seen`: everything stamped before that has been read.
    fn advance(&mut self, seen: u64) {
        let horizon = self.clocks.timeline.instant(seen.saturating_sub(self.rest.guard)).max(self.run_to);
        loop {
            let arrival = self.frames.arrivals.peek().map(|Reverse(arrival)| arrival.at).filter(|&at| at <= horizon);
            let due = self.medium.next_timeout().filter(|&due| due <= horizon);
            match (arrival, due) {
                (Some(at), due) if due.is_none_or(|due| at <= due) => self.offer_next(),
                (_, Some(due)) => self.medium.advance(due + BitTimes::new(1)),
                (Some(_), None) | (None, None) => break,
            }
            self.take_outputs();
        }
        self.run_to = horizon;
    }

    /// Schedules what the medium has settled, and lets go of what it is done with.
    fn take_outputs(&mut self) {
        while let Some(event) = self.medium.poll_event() {
            let Ok(()) = self.files.event(&event);
            self.seen.event(&event);
            self.discards.event(&event, || self.frames.octets(event.frame));
            self.figures.delays.record(&event);
            self.figures.messages.iter_mut().for_each(|messages| messages.event(&event));
        }
        while let Some(output) = self.medium.poll_output() {
            match output {
                Output::Carried { frame, begin, end, damaged } => self.schedule(frame, (begin, end), &damaged),
                Output::Released { frame } => {
                    // Nearly always the one that has waited longest.
                    let held = &mut self.frames.held[frame.station.index()];
                    let place = held.iter().position(|held| held.serial == frame.serial);
                    place.and_then(|place| held.remove(place));
                }
            }
        }
    }

    /// Writes down something that happened to the emulator.
    fn note(&mut self, kind: EmulatorKind) {
        let real_ns = monotonic_nanos() - self.clocks.begin;
        let Ok(()) = self.files.emulator(&EmulatorEvent { at: self.medium.now(), real_ns, kind });
    }

    /// Tells the supervisor if it listens; what it could not take is counted, not waited for.
    fn tell(&mut self, report: Report) {
        if self.observers.reports.try_send(report).is_err() {
            self.emulator.counts.observers.reports_skipped += 1;
        }
    }

    /// Waits for the next thing to do: sleeps, and spins the last bit before a delivery.
    ///
    /// It also spins where a sleep would most likely end too late: before a delivery, or before the medium settles what is
    /// to be delivered, since a late look takes of a delivery's notice.
    fn sleep(&mut self) -> Result<(), BusError> {
        if let Some(pause) = &self.pause {
            let (now, wake) = (monotonic_nanos(), pause.next_look());
            self.effort.overload.want(wake);
            return if wake > now { self.wait_until(now, wake) } else { Ok(()) };
        }
        let delivery = self.frames.deliveries.peek().map(|Reverse(delivery)| delivery.due);
        let arrival = self.frames.arrivals.peek().map(|Reverse(arrival)| arrival.at);
        let engine = [arrival, self.medium.next_timeout()].into_iter().flatten().min();
        let engine = engine.map(|instant| self.clocks.timeline.nanos(instant));
        let settled = engine.map(|instant| instant + self.rest.guard);
        let engine = engine.map(|instant| instant + self.rest.engine_slack);
        let spin_until =
            if self.rest.spin_for_engine { [delivery, engine].into_iter().flatten().min() } else { delivery };
        let wake = [delivery.map(|due| due.saturating_sub(self.rest.spin)), engine, Some(self.next_housekeeping)];
        let wake = wake.into_iter().flatten().min().unwrap_or(self.next_housekeeping);
        let now = monotonic_nanos();
        self.effort.overload.want(wake);
        // The spin is twice what a sleep is usually late by.
        let (spin, punctual) = (self.rest.spin, &mut self.effort.punctual);
        let mut awake = |until: u64| punctual.stays_awake(until.saturating_sub(now), spin / 2);
        let settled = settled.filter(|&settled| delivery.is_none_or(|due| settled < due) && awake(settled));
        if let Some(until) = settled.or_else(|| spin_until.filter(|&until| until <= now + spin || awake(wake))) {
            while monotonic_nanos() < until.min(engine.unwrap_or(until)) {
                std::hint::spin_loop();
            }
            return Ok(());
        }
        if wake > now && !self.read_on(now, wake) {
            self.wait_until(now, wake)?;
        }
        Ok(())
    }

    /// Sleeps from `now` until `wake`, or until something comes.
    fn wait_until(&mut self, now: u64, wake: u64) -> Result<(), BusError> {
        let timeout = Duration::from_nanos(wake - now);
        let tokens: Vec<u64> = self.rest.waiter.wait(Some(timeout)).map_err(BusError::link)?.collect();
        let awake = monotonic_nanos();
        self.effort.precedence.slept(awake - now);
        if tokens.is_empty() {
            self.rest.slept_in_time = true;
            // Follows twice the usual lateness, a sixteenth of the way each time.
            let wanted = (2 * awake.saturating_sub(wake)).clamp(SHORTEST_SPIN, LONGEST_SPIN);
            self.rest.spin = (self.rest.spin * 15 + wanted) / 16;
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
        Ok(())
    }

    /// Reads the ring for a while instead of sleeping, if a frame came just now; whether it did.
    fn read_on(&mut self, now: u64, wake: u64) -> bool {
        let Some(until) = self.effort.punctual.until(now) else { return false };
        let (until, mut at) = (until.min(wake), now);
        while at < until && !self.wires.receiver.waits() {
            std::hint::spin_loop();
            at = monotonic_nanos();
        }
        self.effort.punctual.spent(at - now);
        true
    }
}

/// How many bit times before a delivery is due the medium gives it out, where no other station is away from the sender.
///
/// The shortest packet has preamble, SFD and min_frame_size; its deliveries are settled the longest gap after its
/// first bit. With clocks that are right that is 480 BT where min_frame_size is 64 octets, and 112 BT where it is 18.
fn shortest_notice(parameters: &Parameters, gap: BitTimes) -> u64 {
    let packet = PREAMBLE_AND_SFD + parameters.min_frame_size.bit_times();
    packet.get().saturating_sub(gap.get())
}

#[cfg(test)]
mod tests {
    use super::*;
    use medium::{BitRate, Octets};

    #[test]
    fn notice_of_a_delivery_follows_from_the_shortest_packet() {
        let mut parameters = Parameters::at(BitRate::MBIT_10);
        assert_eq!(shortest_notice(&parameters, parameters.inter_packet_gap), 480);
        parameters.min_frame_size = Octets::new(18);
        assert_eq!(shortest_notice(&parameters, parameters.inter_packet_gap), 112);
        parameters.inter_packet_gap = BitTimes::new(400);
        assert_eq!(shortest_notice(&parameters, parameters.inter_packet_gap), 0);
    }
}
