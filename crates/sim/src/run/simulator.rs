//! The medium in virtual time: hosts instead of ports, and a loop that jumps to the next instant at which something is
//! due instead of one that sleeps. The engine is the same.

use crate::figures::delays::PackedDelays;
use crate::figures::metrics::{Delays, Sums};
use crate::figures::slotted::{Edge, SlotSums, Slots};
use crate::figures::snapshot::{Snapshot, Start};
use crate::figures::stacks::StackSums;
use crate::figures::tcp::TcpSums;
use crate::run::hosts::Hosts;
use crate::run::observer::Observer;
use crate::scenario::plan::default_address;
use crate::traffic::Source;
use crate::words::interface::Address;
use medium::{BitInstant, BitTimes, Config, ConfigError, Deed, Event, Frame, Host, Input, Medium, StationId};
use std::collections::VecDeque;
use std::sync::Arc;

/// What is done to the medium or to a host while a run lasts.
#[derive(Clone, Debug)]
pub enum Change {
    /// The medium gets an input that is no frame.
    Input(Input),
    /// A station offers what this source has from now on, and nothing else.
    Traffic(Box<Source>),
}

impl Change {
    /// A host offers something else than before.
    fn is_of_host(&self) -> bool {
        matches!(self, Change::Traffic(_) | Change::Input(Input::Deed(Deed::Remove { .. })))
    }
}

/// A medium, the hosts that offer it frames, and what has been measured.
#[derive(Debug)]
pub struct Simulator {
    medium: Medium,
    hosts: Hosts,
    /// What is done, in order of time.
    changes: VecDeque<(BitInstant, Change)>,
    start: Start,
    delays: Delays,
    /// Of a slotted medium.
    slots: Option<Slots>,
}

impl Simulator {
    /// A medium at instant 0, with the usual addresses of stations. `sources` are in order of station, `changes` in order of
    /// time. A change comes before the arrivals of its instant.
    ///
    /// # Errors
    /// A configuration that makes no medium.
    ///
    /// # Panics
    /// If changes are not in order of time: the caller's mistake.
    pub fn new(
        config: Config,
        sources: Vec<Source>,
        changes: Vec<(BitInstant, Change)>,
    ) -> Result<Simulator, ConfigError> {
        let addresses: Vec<Address> = (0..config.topology.stations()).map(default_address).collect();
        Simulator::with_addresses(config, sources, &addresses, changes)
    }

    /// The same with the addresses of the stations and seats, in order.
    ///
    /// # Errors
    /// A configuration that makes no medium.
    ///
    /// # Panics
    /// If changes are not in order of time: the caller's mistake.
    pub fn with_addresses(
        config: Config,
        mut sources: Vec<Source>,
        addresses: &[Address],
        changes: Vec<(BitInstant, Change)>,
    ) -> Result<Simulator, ConfigError> {
        assert!(changes.is_sorted_by_key(|(at, _)| *at), "changes come in order of time");
        let stations = config.topology.stations();
        let first = stations - config.seats;
        // A station that joins there may offer something.
        sources.extend((first..stations).map(|seat| Source::silent(StationId::new(seat as u16))));
        let changing = changes.iter().any(|(_, change)| change.is_of_host());
        let (slots, hosts) = (Slots::of(&config), Hosts::new(&config, addresses, sources, changing));
        Ok(Simulator {
            medium: Medium::new(Config { keep_events: false, keep_outputs: false, ..config })?,
            hosts,
            changes: changes.into(),
            start: Start { at: BitInstant::ZERO, queued: vec![0; stations] },
            delays: Delays::default(),
            slots,
        })
    }

    /// The medium.
    pub fn medium(&self) -> &Medium {
        &self.medium
    }

    /// Moves the delays of all stations together to `whole`, and gives those since the measurement began or they were last
    /// moved.
    pub fn move_batch_to(&mut self, whole: &mut Delays) -> PackedDelays {
        self.delays.move_batch_to(whole)
    }

    /// What was not moved: each station's delays, and how stations contended.
    pub fn delays(&self) -> &Delays {
        &self.delays
    }

    /// Of a slotted medium, the sums up to `at` since the measurement began or they were last taken.
    pub fn take_slots(&mut self, at: BitInstant) -> Option<SlotSums> {
        self.slots.as_mut().map(|slots| slots.take(at))
    }

    /// Of a slotted medium, the bit times spent with 0, 1, 2 … backlogged frames since then, up to where its sums were taken.
    pub fn take_spent(&mut self) -> Vec<u64> {
        self.slots.as_mut().map(Slots::take_spent).unwrap_or_default()
    }

    /// Sums of what each station's stacks have said since the measurement began, by the stations that began to talk; nothing if
    /// there are no stacks.
    pub fn stacks(&self) -> Option<&[StackSums]> {
        self.hosts.stacks()
    }

    /// Those of all TCP connections together; nothing if there are none.
    pub fn all_tcp(&self) -> Option<TcpSums> {
        self.hosts.all_tcp()
    }

    /// From now on looks out for a backlog that passes `edge`.
    pub fn look_out(&mut self, edge: Edge) {
        self.slots.as_mut().into_iter().for_each(|slots| slots.look_out(edge));
    }

    /// When the channel ran away, if it has.
    pub fn ran_away(&self) -> Option<BitInstant> {
        self.slots.as_ref().and_then(Slots::ran_away)
    }

    /// The longest that a frame has waited at `at` with which the medium is not done.
    pub fn longest_waiting(&mut self, at: BitInstant) -> Option<BitTimes> {
        self.medium.oldest_waiting().map(|since| at.since(since))
    }

    /// Gives the medium an input that is no frame, at instant 0 and before anything else.
    ///
    /// # Errors
    /// What `observer` could not keep.
    pub fn begin_with<O: Observer>(&mut self, input: Input, observer: &mut O) -> Result<(), O::Error> {
        self.give::<_, Observed>(BitInstant::ZERO, input, observer)
    }

    /// A bridge offers `frame` at `at`, after what is done at that instant already.
    ///
    /// # Panics
    /// If the medium has got beyond `at`: the caller's mistake.
    pub fn offer(&mut self, at: BitInstant, station: StationId, frame: Frame) {
        assert!(at >= self.medium.now(), "a frame at {at} after the medium got to {}", self.medium.now());
        let behind = self.changes.partition_point(|(other, _)| *other <= at);
        self.changes.insert(behind, (at, Change::Input(Input::Offer { station, frame })));
    }

    /// Runs everything before `end`.
    ///
    /// # Errors
    /// What `observer` could not keep.
    pub fn run_until<O: Observer>(&mut self, end: BitInstant, observer: &mut O) -> Result<(), O::Error> {
        if observer.is_nothing() {
            self.run_unobserved(end);
            return Ok(());
        }
        let mut slots = self.slots.take();
        let done = match &mut slots {
            None => self.run::<_, Observed>(end, observer),
            Some(slots) => self.run::<_, Observed>(end, &mut Counted { slots, observer }),
        };
        self.slots = slots;
        done
    }

    /// Compiled here and nowhere else, with the engine in it: without slots and with them, since a medium that has none
    /// does not pay for them.
    fn run_unobserved(&mut self, end: BitInstant) {
        let mut slots = self.slots.take();
        let done = match &mut slots {
            None => self.run::<_, Unobserved>(end, &mut ()),
            Some(slots) => self.run::<_, Unobserved>(end, &mut Counted { slots, observer: &mut () }),
        };
        done.unwrap_or_else(|never| match never {});
        self.slots = slots;
    }

    fn run<O: Observer, R: Run>(&mut self, end: BitInstant, observer: &mut O) -> Result<(), O::Error> {
        loop {
            let arrival = self.hosts.next_at().filter(|&at| at < end);
            let first = arrival.unwrap_or(end);
            let next = self.changes.front().map_or(first, |(at, _)| first.min(*at));
            // The medium advances first, so that observers get inputs in order of time; and hosts may act sooner.
            self.advance::<_, R>(next, observer)?;
            if self.hosts.next_at().is_some_and(|at| at < next) {
                continue;
            }
            if let Some((at, change)) = self.changes.pop_front_if(|(at, _)| *at < end && *at <= first) {
                self.change::<_, R>(at, change, observer)?;
            } else if arrival.is_some() {
                self.offer_next::<_, R>(observer)?;
            } else {
                return Ok(());
            }
        }
    }

    /// Counts from zero from `at` on, up to which the medium has been run.
    pub fn begin_measurement(&mut self, at: BitInstant) {
        self.medium.restart_tally();
        self.delays.restart();
        self.hosts.restart();
        self.slots.as_mut().into_iter().for_each(|slots| slots.restart(at));
        self.start = Start::take(&self.medium, at);
    }

    /// What was measured up to `at`.
    pub fn snapshot(&self, at: BitInstant) -> Snapshot {
        Snapshot::take(&self.medium, &self.start, at, &self.delays, None)
    }

    /// The sums so far, after `measured` bit times.
    pub fn sums(&self, measured: BitTimes) -> Sums {
        Sums::of(self.medium.tally(), self.delays.contention(), &self.start.queued, measured.get())
    }

    fn offer_next<O: Observer, R: Run>(&mut self, observer: &mut O) -> Result<(), O::Error> {
        let Some((at, station, frame)) = self.hosts.take_next() else { return Ok(()) };
        let input = Input::Offer { station, frame };
        let Some(octets) = self.hosts.take_octets() else { return self.give::<_, R>(at, input, observer) };
        observer.input(at, &input, Some(&octets))?;
        self.with_hosts(at, observer, |medium, present| R::give(medium, at, input, present))
    }

    /// Gives the medium an input that is no frame, and tells the station's host of a cable that is pulled or put back.
    fn change<O: Observer, R: Run>(
        &mut self,
        at: BitInstant,
        change: Change,
        observer: &mut O,
    ) -> Result<(), O::Error> {
        let input = match change {
            Change::Input(input) => input,
            Change::Traffic(source) => {
                self.hosts.change(*source);
                return Ok(());
            }
        };
        if let Input::Deed(Deed::Remove { station }) = input {
            self.hosts.change(Source::silent(station));
        }
        if let Some((station, false)) = input.plugs() {
            self.hosts.unplug(station);
        }
        self.give::<_, R>(at, input, observer)?;
        if let Some((station, true)) = input.plugs() {
            self.hosts.plug(at, station);
        }
        Ok(())
    }

    fn give<O: Observer, R: Run>(&mut self, at: BitInstant, input: Input, observer: &mut O) -> Result<(), O::Error> {
        observer.input(at, &input, None)?;
        self.with_hosts(at, observer, |medium, present| R::give(medium, at, input, present))
    }

    /// Runs everything before `limit`, or less if a host does something before.
    fn advance<O: Observer, R: Run>(&mut self, limit: BitInstant, observer: &mut O) -> Result<(), O::Error> {
        self.with_hosts(limit, observer, |medium, present| R::until(medium, limit, present))
    }

    /// Has the medium do something while the stations' hosts and the observer are there.
    fn with_hosts<O: Observer>(
        &mut self,
        limit: BitInstant,
        observer: &mut O,
        act: impl FnOnce(&mut Medium, &mut Present<'_, O>),
    ) -> Result<(), O::Error> {
        let Simulator { medium, hosts, delays, .. } = self;
        let mut present = Present { hosts, delays, observer, limit, interrupted: false, failed: None };
        act(medium, &mut present);
        present.failed.map_or(Ok(()), Err)
    }
}

/// How the medium is compiled that runs for a host.
trait Run {
    fn until<H: Host>(medium: &mut Medium, limit: BitInstant, host: &mut H);
    fn give<H: Host>(medium: &mut Medium, at: BitInstant, input: Input, host: &mut H);
}

/// For this type of host.
enum Unobserved {}

impl Run for Unobserved {
    fn until<H: Host>(medium: &mut Medium, limit: BitInstant, host: &mut H) {
        medium.run_until_for(limit, host);
    }

    fn give<H: Host>(medium: &mut Medium, at: BitInstant, input: Input, host: &mut H) {
        medium.give_for(at, input, host);
    }
}

/// For any host.
enum Observed {}

impl Run for Observed {
    fn until<H: Host>(medium: &mut Medium, limit: BitInstant, host: &mut H) {
        medium.run_until(limit, host);
    }

    fn give<H: Host>(medium: &mut Medium, at: BitInstant, input: Input, host: &mut H) {
        medium.give(at, input, host);
    }
}

/// An observer of a slotted medium, whose slots are counted too.
struct Counted<'a, O> {
    slots: &'a mut Slots,
    observer: &'a mut O,
}

impl<O: Observer> Observer for Counted<'_, O> {
    type Error = O::Error;

    fn input(&mut self, at: BitInstant, input: &Input, octets: Option<&Arc<[u8]>>) -> Result<(), O::Error> {
        self.slots.input(at, input);
        self.observer.input(at, input, octets)
    }

    // Inlined where the kind of the event is known, this function is a few instructions.
    #[inline(always)]
    fn event(&mut self, event: &Event) -> Result<(), O::Error> {
        self.slots.record(event);
        self.observer.event(event)
    }
}

/// The hosts, the delays and the observer while the medium runs.
struct Present<'a, O: Observer> {
    hosts: &'a mut Hosts,
    delays: &'a mut Delays,
    observer: &'a mut O,
    /// How far the medium is to run.
    limit: BitInstant,
    /// A host does something before that.
    interrupted: bool,
    /// What the observer could not keep, which ends the run.
    failed: Option<O::Error>,
}

impl<O: Observer> Host for Present<'_, O> {
    fn feeds(&self) -> bool {
        true
    }

    // Inlined where the kind of the event is known, this function is a few instructions.
    #[inline(always)]
    fn event(&mut self, event: &Event) {
        self.delays.record(event);
        self.interrupted |= self.hosts.learn(event, self.limit);
        if self.failed.is_none()
            && let Err(error) = self.observer.event(event)
        {
            self.failed = Some(error);
        }
    }

    #[inline]
    fn next_frame(&mut self, at: BitInstant, station: StationId) -> Option<Frame> {
        if self.failed.is_some() {
            return None;
        }
        let Some(frame) = self.hosts.next_frame(at, station) else {
            self.interrupted |= self.hosts.pause() && self.hosts.next_at().is_some_and(|next| next < self.limit);
            return None;
        };
        self.failed = self.observer.input(at, &Input::Offer { station, frame }, None).err();
        Some(frame)
    }

    #[inline]
    fn stops(&self) -> bool {
        self.interrupted || self.failed.is_some()
    }
}
