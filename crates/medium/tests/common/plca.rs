//! The reference model of PLCA: MAC and reconciliation sublayer of every node, one bit time after the other.
//!
//! Slow on purpose, and written independently of the engine: at every instant every machine of every node is run, turns
//! are counted one by one, and the signals at a place are derived anew from the list of all signals. It has no agenda,
//! no lazy count of turns, and no repeated cycle.
//!
//! Where the standard leaves a choice, docs/plca.md and the public types decide.
//!
//! One file above 500 lines because the model is read from top to bottom, without the engine.

#[path = "signal.rs"]
#[allow(dead_code, reason = "signals here are PLCA's own")]
mod signal;

use backoff::Generator;
use medium::{
    BitInstant, BitTimes, Cause, Config, Deed, Destination, Event, Fault, Frame, FrameId, Input, Kind, Method, Octets,
    Plca, PlcaNode, PlcaSettings,
};
use signal::{distances, id};
use std::collections::VecDeque;

#[derive(Clone, Copy, PartialEq, Debug)]
enum What {
    Beacon,
    Commit,
    Frame,
}

/// Parts of an instant: decisions see the bit before, then signals end, then signals begin.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Decisions,
    Ends,
    Begins,
}

struct Signal {
    source: usize,
    what: What,
    begin: u64,
    end: Option<u64>,
    /// Another signal follows it without a gap.
    followed: bool,
    name: FrameId,
    size: Octets,
    destination: Destination,
    bad_fcs: bool,
    cut: bool,
    delimited: bool,
    episode: Option<u64>,
    spoilt: Vec<bool>,
    spoken: Vec<bool>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Mac {
    Idle,
    HandingOver { until: u64 },
    Waiting,
    Transmitting { end: u64 },
    Jamming { end: u64 },
    BackingOff { until: u64 },
}

#[derive(Clone, Copy, PartialEq)]
enum Deference {
    Free,
    Busy { was_transmitting: bool },
    Gap { since: u64, was_transmitting: bool },
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Control {
    Disable,
    Resync,
    Recover,
    SendBeacon { done: u64 },
    Syncing,
    WaitTo { done: u64 },
    EarlyReceive { detected: u64 },
    Commit,
    Yield { done: u64 },
    Receive,
    Transmit,
    Burst { done: u64 },
    Abort,
    Next,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Data {
    Normal,
    WaitIdle,
    Idle,
    Receive,
    Hold { full: u64 },
    Collide { done: u64 },
    DelayPending { done: u64 },
    Pending,
    WaitMac { done: u64 },
    Transmit,
    Flush { done: u64 },
}

struct Queued {
    name: FrameId,
    size: Octets,
    destination: Destination,
    arrived: u64,
}

struct Node {
    own: PlcaNode,
    attached: bool,
    fault: Option<Fault>,
    serial: u64,
    queue: VecDeque<Queued>,
    head_since: u64,
    ready_since: u64,
    begin: u64,
    attempts: u32,
    deferred: bool,
    excess: bool,
    generator: Generator,
    mac: Mac,
    deference: Deference,
    carrier: bool,
    control: Control,
    cur_id: u8,
    active: bool,
    committed: bool,
    bc: u8,
    /// Own turns that are still to be skipped.
    skips: u8,
    command: Option<What>,
    invalid: Option<u64>,
    /// Since when turns are counted one after the other, how many bits of the node's clock had passed by then, and how many
    /// turns were over as the present one began.
    counts: Option<(u64, u64, u64)>,
    /// The last turn of a cycle, or the BEACON, was over then: since when, and how many bits of its clock it was.
    chain: Option<(u64, u64, u64)>,
    data: Data,
    line_begin: u64,
    /// plca_status; and when it falls, while plca_active is false.
    ok: bool,
    hysteresis: Option<u64>,
    busy_cycle: bool,
    signal: Option<usize>,
    search: Search,
}

/// How a node with D-PLCA finds its id: P802.3da D3.0, figures 148-8 and 148-9, one turn after the other.
#[derive(Clone)]
struct Search {
    state: Assigning,
    /// The ages in which each turn was last claimed: ages are numbered, and a claim counts in its own age and the next.
    claims: Vec<Option<u64>>,
    /// The same of turns in which the node received, be it a claim or several signals at once.
    received: Vec<Option<u64>>,
    age: u64,
    cycles: u64,
    aging: bool,
    claim: bool,
    turns: u8,
    last_turn: u8,
    draws: u64,
    /// It sent BEACONs, and has heard none since.
    gave_up: bool,
    /// No coordinator takes away turns up to this one before the next BEACON.
    safe: usize,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Assigning {
    Off,
    Listening {
        until: u64,
    },
    Coordinator,
    /// It sends a BEACON, which it has to hear by then, or hears it.
    Sending {
        until: u64,
    },
    Hearing,
    Learning,
    Follower,
}

impl Search {
    fn new(draws: u64) -> Search {
        let state = Assigning::Off;
        let (claims, received) = (vec![None; 256], vec![None; 256]);
        let (aging, claim, gave_up) = (false, false, false);
        let (age, cycles, turns, last_turn, safe) = (0, 0, 8, 0, 7);
        Search { state, claims, received, age, cycles, aging, claim, turns, last_turn, draws, gave_up, safe }
    }

    /// Begins anew after it sent BEACONs.
    fn given_up(draws: u64) -> Search {
        Search { gave_up: true, ..Search::new(draws) }
    }

    fn is_claimed(&self, id: usize) -> bool {
        self.claims[id].is_some_and(|age| age + 1 >= self.age)
    }

    /// The highest that is claimed.
    fn highest(&self) -> usize {
        (0..256).rfind(|&id| self.is_claimed(id)).unwrap_or(0)
    }

    /// The number of turns that leaves one free after those in which the node received in this age or the four before.
    fn turns(&self) -> usize {
        let is_recent = |id: &usize| self.received[*id].is_some_and(|age| age + 4 >= self.age);
        (0..256).rfind(is_recent).unwrap_or(0) + 2
    }
}

pub struct Model<'a> {
    config: &'a Config,
    queue_limit: usize,
    plca: &'a Plca,
    nodes: Vec<Node>,
    signals: Vec<Signal>,
    gone: Vec<OnAir>,
    distance: Vec<Vec<u64>>,
    episodes: u64,
    now: u64,
    part: Part,
    /// plca_reset of the node that is run.
    reset: bool,
    last_beacon: Option<u64>,
    owner: Option<usize>,
    empty: u64,
    events: Vec<Event>,
}

/// The events of `inputs` (in order of time) before instant `until`.
pub fn run(config: &Config, inputs: &[(u64, Input)], until: u64) -> Vec<Event> {
    run_and_signals(config, inputs, until).0
}

/// A signal as a model has it on its medium: sender, what it is, the frame that it is about, its first bit, the first
/// bit without it, and which places it gets to.
pub type OnAir = (usize, &'static str, FrameId, u64, u64, Vec<bool>);

/// The events, and the signals that have ended.
pub fn run_and_signals(config: &Config, inputs: &[(u64, Input)], until: u64) -> (Vec<Event>, Vec<OnAir>) {
    let Method::Plca(plca) = &config.method else { panic!("a medium of PLCA") };
    // Without a cold start a cycle of the coordinator's turns ends as the model begins.
    let is_on = |own: &PlcaNode| own.settings.enabled && own.settings.node_id != 255;
    let coordinator = plca.nodes.iter().find(|own| is_on(own) && own.settings.node_id == 0);
    let is_cold = plca.cold_start || plca.nodes.iter().any(|own| own.settings.dplca);
    let ended = coordinator.filter(|_| !is_cold).map(|own| own.settings.node_count);
    let nodes = (0..plca.nodes.len()).map(|number| Node {
        own: plca.nodes[number],
        attached: true,
        fault: None,
        serial: 0,
        queue: VecDeque::new(),
        head_since: 0,
        ready_since: 0,
        begin: 0,
        attempts: 0,
        deferred: false,
        excess: false,
        generator: Generator::stream(config.seed, number as u64),
        mac: Mac::Idle,
        deference: Deference::Free,
        carrier: false,
        control: match ended.filter(|_| is_on(&plca.nodes[number])) {
            Some(_) => Control::Resync,
            None => Control::Disable,
        },
        cur_id: ended.filter(|_| is_on(&plca.nodes[number])).unwrap_or(0),
        active: ended.is_some() && is_on(&plca.nodes[number]),
        committed: false,
        bc: 0,
        skips: 0,
        command: None,
        invalid: None,
        counts: None,
        chain: None,
        data: Data::Normal,
        line_begin: 0,
        ok: false,
        hysteresis: None,
        busy_cycle: false,
        signal: None,
        search: Search::new(0),
    });
    let mut model = Model {
        config,
        queue_limit: config.queue_limit,
        plca,
        nodes: nodes.collect(),
        signals: Vec::new(),
        gone: Vec::new(),
        distance: (0..plca.nodes.len()).map(|station| distances(&config.topology, station)).collect(),
        episodes: 0,
        now: 0,
        part: Part::Decisions,
        reset: false,
        last_beacon: None,
        owner: None,
        empty: 0,
        events: Vec::new(),
    };
    let mut inputs = inputs.iter().peekable();
    for now in 0..until {
        model.timers(now);
        while let Some((_, input)) = inputs.next_if(|(at, _)| *at == now) {
            model.input(input);
        }
        model.ends();
        model.begins();
        model.watch();
    }
    model.forget();
    (model.events, model.gone)
}

impl Model<'_> {
    fn emit(&mut self, station: usize, frame: FrameId, kind: Kind) {
        self.events.push(Event { at: BitInstant::new(self.now), station: id(station), frame, kind });
    }

    fn emit_head(&mut self, station: usize, kind: Kind) {
        let frame = self.nodes[station].queue[0].name;
        self.emit(station, frame, kind);
    }

    /// The bits of `signal` that `station` hears in the bit time that begins at `t`.
    fn on(&self, signal: &Signal, station: usize, t: u64) -> bool {
        let way = self.distance[signal.source][station];
        let begin = signal.begin + way + self.plca.phy_on.get();
        let off = if signal.followed { self.plca.phy_on.get() } else { self.plca.phy_off.get() };
        begin <= t && signal.end.is_none_or(|end| t < end + way + off)
    }

    /// What `station` hears in the present part of the instant.
    fn heard(&self, station: usize) -> Vec<&Signal> {
        let now = self.now;
        let is_there = |signal: &&Signal| match self.part {
            Part::Decisions => now > 0 && self.on(signal, station, now - 1),
            Part::Begins => self.on(signal, station, now),
            Part::Ends => {
                let way = self.distance[signal.source][station] + self.plca.phy_on.get();
                // A followed signal is there until the next has begun.
                let stays = signal.followed && signal.end.is_some_and(|end| end + way == now);
                signal.begin + way < now && (self.on(signal, station, now) || stays)
            }
        };
        self.signals.iter().filter(is_there).collect()
    }

    fn sends(&self, station: usize) -> bool {
        matches!(self.nodes[station].mac, Mac::Transmitting { .. } | Mac::Jamming { .. })
    }

    fn tx_en(&self, station: usize) -> bool {
        match self.nodes[station].data {
            Data::Transmit | Data::Flush { .. } => true,
            Data::Normal => self.sends(station),
            _ => false,
        }
    }
}

/// The MAC.
impl Model<'_> {
    fn timers(&mut self, now: u64) {
        (self.now, self.part) = (now, Part::Decisions);
        for station in 0..self.nodes.len() {
            while self.mac_timer(station) {}
            self.settle(station);
        }
    }

    fn gap_over(&mut self, station: usize) {
        let Deference::Gap { since, .. } = self.nodes[station].deference else { return };
        if self.now >= since + self.config.parameters.inter_packet_gap.get() {
            let waits = self.nodes[station].mac == Mac::Waiting;
            let node = &mut self.nodes[station];
            node.deference =
                if !waits && node.carrier { Deference::Busy { was_transmitting: false } } else { Deference::Free };
        }
    }

    /// True if the MAC did something.
    fn mac_timer(&mut self, station: usize) -> bool {
        self.gap_over(station);
        let now = self.now;
        match self.nodes[station].mac {
            Mac::HandingOver { until } if until == now => self.ask(station),
            Mac::Waiting if self.nodes[station].deference == Deference::Free => self.attempt(station),
            Mac::Transmitting { end } if end == now => self.finish(station),
            Mac::Jamming { end } if end == now => self.jam_over(station),
            Mac::BackingOff { until } if until == now => self.ready(station),
            _ => return false,
        }
        true
    }

    fn ready(&mut self, station: usize) {
        let now = self.now;
        let node = &mut self.nodes[station];
        let name = node.queue.front().expect("a frame at the head").name;
        let until = node.head_since + node.own.host_delay.of(self.config.seed, name).get();
        node.ready_since = now.max(until);
        if until > now {
            node.mac = Mac::HandingOver { until };
            return;
        }
        self.ask(station);
    }

    fn ask(&mut self, station: usize) {
        self.nodes[station].mac = Mac::Waiting;
        if self.nodes[station].deference == Deference::Free {
            return self.attempt(station);
        }
        let node = &mut self.nodes[station];
        node.deferred |= node.attempts == 0;
        let attempt = node.attempts + 1;
        self.emit_head(station, Kind::Defer { attempt });
    }

    fn attempt(&mut self, station: usize) {
        let (now, p) = (self.now, self.config.parameters);
        let node = &mut self.nodes[station];
        let excessive_deferral = !node.excess && now - node.ready_since > p.max_defer_time.get();
        node.excess |= excessive_deferral;
        node.attempts += 1;
        (node.begin, node.line_begin) = (now, now);
        node.mac = Mac::Transmitting { end: now + 64 + node.queue[0].size.bit_times().get() };
        let attempt = node.attempts;
        self.emit_head(station, Kind::Attempt { attempt, excessive_deferral, burst: false });
        self.settle(station);
    }

    fn collision(&mut self, station: usize) {
        let (now, p) = (self.now, self.config.parameters);
        let node = &mut self.nodes[station];
        let begin = node.begin;
        node.mac = Mac::Jamming { end: now.max(begin + 64) + p.jam_size.get() };
        node.line_begin = begin;
        let on_line = node.signal.filter(|&signal| self.signals[signal].what == What::Frame);
        let mut episode = 0;
        if let Some(own) = on_line.filter(|_| self.tx_en(station)) {
            let there: Vec<usize> =
                (0..self.signals.len()).filter(|&other| self.on(&self.signals[other], station, now)).collect();
            let known = there.iter().filter_map(|&other| self.signals[other].episode).min();
            episode = self.signals[own].episode.or(known).unwrap_or(self.episodes + 1);
            self.episodes = self.episodes.max(episode);
            there.iter().for_each(|&other| {
                self.signals[other].episode.get_or_insert(episode);
            });
            self.signals[own].cut = true;
        }
        let late = now - begin > p.slot_time.get();
        let attempt = self.nodes[station].attempts;
        self.emit_head(station, Kind::Collision { attempt, late, episode });
    }

    fn finish(&mut self, station: usize) {
        let now = self.now;
        let node = &mut self.nodes[station];
        let head = &node.queue[0];
        let kind = Kind::Transmitted {
            size: head.size,
            attempts: node.attempts,
            deferred: node.deferred,
            access_delay: BitTimes::new(node.line_begin - node.head_since),
            mac_delay: BitTimes::new(now - head.arrived),
            extension: BitTimes::ZERO,
            no_carrier: false,
        };
        node.mac = Mac::Idle;
        self.emit_head(station, kind);
        self.settle(station);
        self.next_frame(station);
    }

    fn next_frame(&mut self, station: usize) {
        let now = self.now;
        let node = &mut self.nodes[station];
        node.queue.pop_front();
        node.mac = Mac::Idle;
        node.new_head(now);
        if !node.attached {
            self.discard_all(station);
        } else if !node.queue.is_empty() {
            self.ready(station);
        }
    }

    fn jam_over(&mut self, station: usize) {
        let (now, p) = (self.now, self.config.parameters);
        let node = &mut self.nodes[station];
        let attempts = node.attempts;
        // The MAC stops sending.
        node.mac = Mac::Idle;
        self.emit_head(station, Kind::JamEnd { attempt: attempts });
        let node = &mut self.nodes[station];
        let word = node.generator.next_u64();
        let exponent = attempts.min(p.backoff_limit);
        let slots = if exponent == 0 { 0 } else { word >> (64 - exponent) };
        if attempts == p.attempt_limit.get() {
            self.emit_head(station, Kind::Discarded { cause: Cause::ExcessiveCollisions, attempts });
            self.next_frame(station);
        } else if !self.nodes[station].attached {
            self.discard_all(station);
        } else {
            self.nodes[station].mac = Mac::BackingOff { until: now + slots * p.slot_time.get() };
            self.emit_head(station, Kind::Backoff { attempt: attempts, slots });
        }
        self.settle(station);
    }

    fn discard_all(&mut self, station: usize) {
        let node = &mut self.nodes[station];
        let mut attempts = node.attempts;
        node.mac = Mac::Idle;
        let now = self.now;
        while let Some(queued) = self.nodes[station].queue.pop_front() {
            self.emit(station, queued.name, Kind::Discarded { cause: Cause::Detached, attempts });
            attempts = 0;
        }
        self.nodes[station].new_head(now);
    }

    fn input(&mut self, input: &Input) {
        match *input {
            Input::Offer { station, frame } => self.offer(station.index(), frame),
            Input::Deed(Deed::Plug { station } | Deed::Add { station, .. }) => {
                self.nodes[station.index()].attached = true;
                self.settle(station.index());
            }
            Input::Deed(Deed::Unplug { station } | Deed::Remove { station }) => {
                let station = station.index();
                self.nodes[station].attached = false;
                let on_line = self.nodes[station].signal.is_some();
                if !(self.sends(station) && on_line) {
                    self.discard_all(station);
                }
                self.settle(station);
            }
            Input::Deed(Deed::Fault { station, fault }) => self.nodes[station.index()].fault = fault,
            Input::Deed(Deed::Plca { station, settings }) => {
                let (now, node) = (self.now, &mut self.nodes[station.index()]);
                let before = std::mem::replace(&mut node.own.settings, settings);
                if settings.dplca {
                    (node.own.settings.node_id, node.own.settings.node_count) = (254, 8);
                }
                if before.dplca != settings.dplca {
                    node.search = Search::new(now);
                }
                self.reset = true;
                self.settle(station.index());
                self.reset = false;
                self.settle(station.index());
            }
            Input::Deed(Deed::Queue { limit }) => self.queue_limit = limit,
            Input::Deed(Deed::Cut(_)) => panic!("cuts are those of the model of CSMA/CD"),
        }
    }

    fn offer(&mut self, station: usize, frame: Frame) {
        let (now, p) = (self.now, self.config.parameters);
        let node = &mut self.nodes[station];
        node.serial += 1;
        let name = FrameId { station: id(station), serial: node.serial };
        let (attached, full) = (node.attached, node.queue.len() >= self.queue_limit);
        self.emit(station, name, Kind::Offered { size: frame.size });
        assert!((18..=p.max_frame_size.get()).contains(&frame.size.get()), "the model takes frames that fit");
        if !attached {
            return self.emit(station, name, Kind::Discarded { cause: Cause::Detached, attempts: 0 });
        }
        if full {
            return self.emit(station, name, Kind::QueueDrop);
        }
        let size = frame.size.max(p.min_frame_size);
        let node = &mut self.nodes[station];
        let queued = Queued { name, size, destination: frame.destination, arrived: now };
        node.queue.push_back(queued);
        if node.queue.len() == 1 {
            node.new_head(now);
            self.gap_over(station);
            self.ready(station);
        }
    }
}

impl Node {
    fn new_head(&mut self, now: u64) {
        self.head_since = now;
        (self.attempts, self.deferred, self.excess) = (0, false, false);
    }
}

/// The three machines of clause 148.
impl Model<'_> {
    /// Runs the machines until none of them changes, and puts their signals on the line.
    fn settle(&mut self, station: usize) {
        let on_line = self.nodes[station].signal.is_some();
        let powered = self.nodes[station].attached || (self.sends(station) && on_line);
        // A frame that is ready as a turn begins is in time for it.
        while self.data(station, powered)
            || self.control(station, powered)
            || self.status(station, powered)
            || self.assign(station, powered, None)
        {}
        let claims = matches!(self.rx(station), Some(What::Commit | What::Frame));
        let node = &mut self.nodes[station];
        node.search.claim |= claims && node.control == Control::Receive;
        self.drive(station);
    }

    fn is_on(&self, station: usize, powered: bool) -> bool {
        let settings = self.nodes[station].own.settings;
        settings.enabled && settings.node_id != PlcaSettings::UNCONFIGURED && powered && !self.reset
    }

    fn crs(&self, station: usize) -> bool {
        !self.heard(station).is_empty()
    }

    /// rx_cmd, where one signal is heard and it is another station's.
    fn rx(&self, station: usize) -> Option<What> {
        match self.heard(station)[..] {
            [one] if one.source != station => Some(one.what),
            _ => None,
        }
    }

    fn receiving(&self, station: usize) -> bool {
        self.heard(station).iter().any(|signal| signal.source != station && signal.what != What::Beacon)
    }

    fn owns(&self, station: usize) -> bool {
        let node = &self.nodes[station];
        let ids = [node.own.settings.node_id];
        let more = node.own.more_ids.iter().filter(|_| !node.own.settings.dplca);
        ids.iter().chain(more).any(|&id| id != 255 && id == node.cur_id)
    }

    fn pending(&self, station: usize) -> bool {
        matches!(self.nodes[station].data, Data::Hold { .. } | Data::Pending | Data::WaitMac { .. })
    }

    /// One transition of the control machine, if there is one.
    fn control(&mut self, station: usize, powered: bool) -> bool {
        let now = self.now;
        let (on, crs, tx_en) = (self.is_on(station, powered), self.crs(station), self.tx_en(station));
        let (rx, receiving, own) = (self.rx(station), self.receiving(station), self.owns(station));
        let pending = self.pending(station);
        let node = &self.nodes[station];
        let settings = node.own.settings;
        let coordinator = settings.node_id == 0;
        let beacon = rx == Some(What::Beacon);
        let invalid = node.invalid.is_some_and(|done| done <= now);
        if !on {
            return self.disable(station);
        }
        let counting = matches!(
            node.control,
            Control::Syncing
                | Control::WaitTo { .. }
                | Control::EarlyReceive { .. }
                | Control::Yield { .. }
                | Control::Receive
        );
        if invalid && counting {
            self.resync(station);
            return true;
        }
        // Turns that follow each other without carrier are counted from the first of them.
        let follows = matches!(node.control, Control::Next) && node.counts.is_some();
        // The cycles of one of several coordinators are one count of its clock, as long as no other signal begins a turn.
        let on = |node: &&Node| {
            let PlcaSettings { enabled, node_id, .. } = node.own.settings;
            enabled && node_id == 0
        };
        let several = self.nodes.iter().filter(on).count() > 1;
        let chain = node.chain.filter(|_| coordinator && node.control == Control::Syncing);
        let (since, ahead, turns) = match (follows, chain) {
            (true, _) => node.counts.expect("it counts"),
            (false, Some((done, since, bits))) => (since + now - done, bits, 0),
            (false, None) => (now, 0, 0),
        };
        let over = since + self.span(station, ahead + (turns + 1) * u64::from(settings.to_timer));
        let early = Control::EarlyReceive { detected: now + self.span(station, self.plca.beacon_detection.get()) };
        let next = match node.control {
            Control::Disable if coordinator => Control::Recover,
            Control::Disable => Control::Resync,
            Control::Resync if coordinator && !crs && !tx_en => {
                Control::SendBeacon { done: now + self.span(station, self.plca.beacon.get()) }
            }
            Control::Resync if !coordinator && crs => early,
            Control::Recover => Control::WaitTo { done: over },
            Control::SendBeacon { done } if done <= now => Control::Syncing,
            Control::Syncing if !crs => Control::WaitTo { done: over },
            Control::WaitTo { .. } if crs => early,
            Control::WaitTo { .. } if own && pending && node.active => Control::Commit,
            Control::WaitTo { done } if own => Control::Yield { done },
            Control::WaitTo { done } if done <= now => Control::Next,
            Control::EarlyReceive { detected } if !crs && !coordinator && detected <= now => Control::Resync,
            Control::EarlyReceive { .. } if !crs && coordinator => Control::Recover,
            Control::EarlyReceive { .. } if !coordinator && !receiving && (beacon || !crs) => Control::Syncing,
            Control::EarlyReceive { .. } if receiving && crs => Control::Receive,
            Control::Commit if tx_en => Control::Transmit,
            Control::Commit if !pending => Control::Abort,
            Control::Yield { done } if done <= now => Control::Next,
            Control::Yield { .. } if crs => early,
            Control::Receive if !crs => Control::Next,
            Control::Transmit if !tx_en && node.bc < settings.burst_count => {
                Control::Burst { done: now + self.span(station, settings.burst_timer.into()) }
            }
            Control::Transmit if !tx_en && !crs => Control::Next,
            Control::Burst { .. } if tx_en => Control::Transmit,
            Control::Burst { done } if done <= now => Control::Abort,
            Control::Abort if !crs => Control::Next,
            Control::Next if (coordinator && node.cur_id >= settings.node_count) || node.cur_id == 255 => {
                Control::Resync
            }
            Control::Next => Control::WaitTo { done: over },
            _ => return false,
        };
        let beacon_bits = self.plca.beacon.get();
        let node = &mut self.nodes[station];
        node.chain = match (node.counts, next) {
            (Some((since, ahead, turns)), Control::Next) => {
                Some((now, since, ahead + (turns + 1) * u64::from(settings.to_timer)))
            }
            (_, Control::SendBeacon { done }) if several => {
                let (_, since, bits) = node.chain.filter(|(at, ..)| *at == now).unwrap_or((now, now, 0));
                Some((done, since, bits + beacon_bits))
            }
            (_, Control::Resync | Control::Syncing) => node.chain,
            _ => None,
        };
        node.counts = match (node.control, next) {
            (_, Control::WaitTo { .. }) => Some((since, ahead, turns)),
            (Control::WaitTo { .. } | Control::Yield { .. }, Control::Next) => {
                node.counts.map(|(since, ahead, turns)| (since, ahead, turns + 1))
            }
            (Control::WaitTo { .. }, Control::Yield { .. }) => node.counts,
            _ => None,
        };
        self.enter(station, next, beacon);
        true
    }

    /// The length of `bits` of a node's own clock, to the nearest bit time.
    fn span(&self, station: usize, bits: u64) -> u64 {
        let rate = 1e6 + f64::from(self.nodes[station].own.clock_ppm);
        (bits as f64 * 1e6 / rate + 0.5).floor() as u64
    }

    /// True if it was on.
    fn disable(&mut self, station: usize) -> bool {
        let node = &mut self.nodes[station];
        let was_on = node.control != Control::Disable;
        (node.control, node.command, node.committed) = (Control::Disable, None, false);
        (node.cur_id, node.active, node.invalid, node.skips) = (0, false, None, 0);
        was_on
    }

    fn resync(&mut self, station: usize) {
        let node = &mut self.nodes[station];
        (node.control, node.active, node.invalid) = (Control::Resync, false, None);
    }

    fn enter(&mut self, station: usize, next: Control, beacon: bool) {
        let now = self.now;
        match next {
            Control::Resync => return self.resync(station),
            Control::SendBeacon { .. } => self.beacon(station),
            Control::Commit => {
                let head = self.nodes[station].queue.front().map(|queued| queued.name);
                let name = head.unwrap_or(FrameId { station: id(station), serial: 0 });
                let turn = self.nodes[station].cur_id.into();
                self.emit(station, name, Kind::Commit { id: turn });
            }
            _ => {}
        }
        let invalid = now + self.span(station, self.plca.invalid_beacon.get());
        let owns = self.owns(station);
        let node = &mut self.nodes[station];
        let from = std::mem::replace(&mut node.control, next);
        match next {
            Control::Next if owns && !matches!(from, Control::Transmit | Control::Abort) => {
                node.skips = node.skips.saturating_sub(1);
            }
            Control::Transmit => node.skips = node.own.skipped_turns,
            _ => {}
        }
        match next {
            Control::Recover => node.active = false,
            Control::SendBeacon { .. } => {
                (node.command, node.active, node.busy_cycle) = (Some(What::Beacon), true, false);
            }
            Control::WaitTo { .. } => node.search.claim = false,
            Control::Syncing => {
                node.search.turns = node.cur_id;
                node.search.gave_up &= !beacon;
                (node.cur_id, node.command, node.active) = (0, None, true);
                node.busy_cycle &= !beacon;
                if beacon {
                    node.invalid = None;
                } else if node.own.settings.node_id != 0 {
                    node.invalid = Some(invalid);
                }
            }
            Control::Commit => {
                (node.command, node.committed, node.bc) = (Some(What::Commit), true, 0);
                node.invalid = None;
            }
            Control::Receive => node.busy_cycle = true,
            Control::Transmit => {
                (node.command, node.busy_cycle) = (None, true);
                node.committed &= node.bc < node.own.settings.burst_count;
            }
            Control::Burst { .. } => (node.bc, node.command) = (node.bc + 1, Some(What::Commit)),
            Control::Abort => (node.command, node.committed) = (None, false),
            Control::Next => {
                let turn = node.cur_id;
                (node.cur_id, node.committed) = (turn.wrapping_add(1), false);
                self.turn_over(station, turn, from == Control::Receive);
            }
            _ => {}
        }
    }

    /// A turn is over: what was claimed and `received` in it is noted, and a node with D-PLCA acts on it.
    fn turn_over(&mut self, station: usize, turn: u8, received: bool) {
        let own = self.nodes[station].own.settings;
        if !own.dplca {
            return;
        }
        let search = &mut self.nodes[station].search;
        if !search.aging {
            return;
        }
        let mut new_age = false;
        if turn == 0 && search.cycles == u64::from(own.aging_cycles) {
            (search.age, search.cycles, new_age) = (search.age + 1, 0, true);
        } else if turn == 0 {
            search.cycles += 1;
        }
        if turn == 0 {
            search.safe = 7.max(search.highest() + 1);
        }
        if received {
            search.received[usize::from(turn)] = Some(search.age);
        }
        if search.claim {
            search.claims[usize::from(turn)] = Some(search.age);
        }
        search.last_turn = turn;
        self.assign(station, true, Some(new_age));
    }

    /// One transition of the machine of D-PLCA, if there is one; `over` as a turn is over, and with it perhaps an age.
    fn assign(&mut self, station: usize, powered: bool, over: Option<bool>) -> bool {
        let own = self.nodes[station].own.settings;
        if !own.dplca {
            return false;
        }
        let (now, on) = (self.now, self.is_on(station, powered));
        let beacon = self.rx(station) == Some(What::Beacon) && self.nodes[station].signal.is_none();
        let echo = matches!(self.heard(station)[..], [one] if one.source == station && one.what == What::Beacon);
        let node = &self.nodes[station];
        let (search, ok) = (node.search.clone(), node.ok);
        let (id, count) = (node.own.settings.node_id, node.own.settings.node_count);
        if !on {
            let was_on = search.state != Assigning::Off;
            self.nodes[station].search = Search::new(search.draws);
            self.take(station, 254, 8);
            return was_on;
        }
        let (is_over, new_age) = (over.is_some(), over == Some(true));
        let last_used = search.is_claimed(usize::from(count) - 1);
        match search.state {
            Assigning::Off => self.listen(station),
            Assigning::Listening { .. } if ok && !search.gave_up => self.learn(station),
            Assigning::Listening { until } if until == now && own.coordinator_role => {
                let search = &mut self.nodes[station].search;
                (search.state, search.aging) = (Assigning::Coordinator, true);
                self.take(station, 0, count);
            }
            Assigning::Listening { until } if until == now => self.listen(station),
            Assigning::Coordinator if node.command == Some(What::Beacon) => {
                let until = now + self.span(station, 68);
                self.nodes[station].search.state = Assigning::Sending { until };
            }
            Assigning::Sending { .. } if echo => self.nodes[station].search.state = Assigning::Hearing,
            Assigning::Sending { until } if until == now => self.give_up(station),
            Assigning::Hearing if !echo => self.nodes[station].search.state = Assigning::Coordinator,
            Assigning::Coordinator if beacon => self.learn(station),
            Assigning::Coordinator if is_over && search.is_claimed(0) => self.give_up(station),
            Assigning::Coordinator if new_age && last_used && count < 255 => self.take(station, 0, count + 1),
            Assigning::Coordinator if new_age && !last_used && count > 8 => {
                let turns = search.turns().clamp(8, count.into());
                self.take(station, 0, turns as u8);
            }
            Assigning::Learning | Assigning::Follower if !ok => {
                self.nodes[station].search = Search::new(search.draws);
                self.take(station, 254, 8);
            }
            Assigning::Learning if new_age => {
                self.nodes[station].search.state = Assigning::Follower;
                self.pick(station);
            }
            Assigning::Follower if is_over => {
                let beyond = search.last_turn == 0 && search.turns <= id;
                if search.is_claimed(id.into()) || beyond || (new_age && usize::from(id) > search.highest()) {
                    self.pick(station);
                }
                return false;
            }
            _ => return false,
        }
        true
    }

    fn draw(&mut self, station: usize, count: usize) -> usize {
        let search = &mut self.nodes[station].search;
        search.draws += 1;
        let stream = Generator::operation(self.config.seed, (1 << 35) + station as u64).next_u64();
        let number = Generator::stream(stream, search.draws).next_u64();
        ((u128::from(number) * count as u128) >> 64) as usize
    }

    fn listen(&mut self, station: usize) {
        let wait = 160 + 4 * self.draw(station, 256) as u64;
        let until = self.now + self.span(station, wait);
        let draws = self.nodes[station].search.draws;
        let gave_up = self.nodes[station].search.gave_up;
        self.nodes[station].search = Search { state: Assigning::Listening { until }, gave_up, ..Search::new(draws) };
        self.take(station, 254, 8);
    }

    /// It sends no more BEACONs, and listens for those of another.
    fn give_up(&mut self, station: usize) {
        self.nodes[station].search = Search::given_up(self.nodes[station].search.draws);
        self.take(station, 254, 8);
    }

    fn learn(&mut self, station: usize) {
        let search = &mut self.nodes[station].search;
        (search.state, search.aging) = (Assigning::Learning, true);
        let count = self.nodes[station].own.settings.node_count;
        self.take(station, 254, count);
    }

    /// A free turn of the cycle: up to the last that is used, or else the present one, or else another that no coordinator
    /// takes away, or else none.
    fn pick(&mut self, station: usize) {
        let search = &self.nodes[station].search;
        let (highest, turns, safe) = (search.highest(), usize::from(search.turns).max(2), search.safe);
        let free: Vec<usize> = (1..turns).filter(|&id| !search.is_claimed(id)).collect();
        let PlcaSettings { node_id: present, node_count: count, .. } = self.nodes[station].own.settings;
        let (below, behind): (Vec<usize>, Vec<usize>) = free.iter().partition(|&&id| id <= highest);
        let behind: Vec<usize> = behind.into_iter().filter(|&id| id <= safe).collect();
        let id = if !below.is_empty() {
            below[self.draw(station, below.len())]
        } else if behind.contains(&usize::from(present)) {
            usize::from(present)
        } else if !behind.is_empty() {
            behind[self.draw(station, behind.len())]
        } else {
            254
        };
        self.take(station, id as u8, count);
    }

    fn take(&mut self, station: usize, node_id: u8, node_count: u8) {
        let settings = &mut self.nodes[station].own.settings;
        let before = std::mem::replace(settings, PlcaSettings { node_id, node_count, ..*settings });
        if before != self.nodes[station].own.settings {
            let kind = Kind::PlcaId { id: node_id.into(), turns: node_count.into() };
            self.emit(station, FrameId { station: id(station), serial: 0 }, kind);
        }
    }

    /// The first coordinator that sends BEACONs, as long as it does, reports those after a cycle that was not empty.
    fn beacon(&mut self, station: usize) {
        let sends = |owner: usize| {
            let node = &self.nodes[owner];
            node.attached && node.own.settings.enabled && node.own.settings.node_id == 0
        };
        if self.owner.is_none_or(|owner| owner != station && !sends(owner)) {
            self.owner = Some(station);
        }
        if self.owner != Some(station) {
            return;
        }
        let now = self.now;
        let length = self.last_beacon.replace(now).map(|last| now - last);
        if length.is_some() && !self.nodes[station].busy_cycle {
            self.empty += 1;
            return;
        }
        let empty = std::mem::take(&mut self.empty);
        let length = BitTimes::new(length.unwrap_or(0));
        self.emit(station, FrameId { station: id(station), serial: 0 }, Kind::Beacon { empty, length });
    }

    /// One transition of the data machine, if there is one.
    fn data(&mut self, station: usize, powered: bool) -> bool {
        let now = self.now;
        let (on, crs, receiving) = (self.is_on(station, powered), self.crs(station), self.receiving(station));
        let sends = self.sends(station);
        let (pending_done, line_full) = (self.plca.pending.get(), self.plca.delay_line.get());
        let (done, full) = (now + self.span(station, pending_done), now + self.span(station, line_full));
        let committed_done = now + self.span(station, self.plca.commit.get());
        let node = &self.nodes[station];
        let ok = on && node.ok;
        let delayed = node.line_begin > node.begin;
        if !ok {
            let left = node.data != Data::Normal;
            self.nodes[station].data = Data::Normal;
            return left;
        }
        let end = node.signal.map_or(0, |signal| {
            let signal = &self.signals[signal];
            signal.begin + 64 + signal.size.bit_times().get()
        });
        let next = match node.data {
            Data::Normal if !crs && !sends => Data::Idle,
            Data::WaitIdle if crs && sends && node.committed => Data::Transmit,
            Data::WaitIdle if crs && sends => Data::Collide { done },
            Data::WaitIdle if !crs && !node.committed => Data::Idle,
            Data::Idle if sends => Data::Hold { full },
            Data::Idle if receiving && node.command.is_none() => Data::Receive,
            Data::Receive if sends => Data::Collide { done },
            Data::Receive if !receiving => Data::Idle,
            Data::Hold { full } if receiving || full <= now => Data::Collide { done },
            Data::Hold { .. } if node.committed => Data::Transmit,
            Data::Collide { done } if !sends => Data::DelayPending { done },
            Data::DelayPending { done } if done <= now => Data::Pending,
            Data::Pending if node.committed => Data::WaitMac { done: committed_done },
            Data::WaitMac { .. } if sends => Data::Transmit,
            Data::WaitMac { done } if done <= now => Data::WaitIdle,
            Data::Transmit if !sends && delayed => Data::Flush { done: end },
            Data::Transmit if !sends => Data::WaitIdle,
            Data::Flush { done } if done <= now => Data::WaitIdle,
            _ => return false,
        };
        let node = &mut self.nodes[station];
        node.data = next;
        if next == Data::Transmit {
            node.line_begin = now;
        }
        if matches!(next, Data::Collide { .. }) && node.own.heeds_logical_collisions {
            self.collision(station);
        }
        true
    }

    /// One transition of the status machine, if there is one.
    fn status(&mut self, station: usize, powered: bool) -> bool {
        let now = self.now;
        let on = self.is_on(station, powered);
        let status = self.span(station, self.plca.status.get());
        let node = &mut self.nodes[station];
        let was = node.ok;
        if !on || (node.hysteresis.is_some_and(|end| end <= now) && !node.active) {
            (node.ok, node.hysteresis) = (false, None);
        } else if node.active {
            (node.ok, node.hysteresis) = (true, None);
        } else if was && node.hysteresis.is_none() {
            node.hysteresis = Some(now + status);
        }
        let ok = node.ok;
        if ok != was {
            self.emit(station, FrameId { station: id(station), serial: 0 }, Kind::PlcaStatus { ok });
        }
        ok != was
    }

    /// Begins and ends signals, as the machines of `station` request.
    fn drive(&mut self, station: usize) {
        let now = self.now;
        let tx_en = self.tx_en(station);
        let node = &self.nodes[station];
        let want = if tx_en { Some(What::Frame) } else { node.command };
        let is = node.signal.map(|signal| self.signals[signal].what);
        if want == is {
            return;
        }
        let mut begin = now;
        if let Some(old) = node.signal {
            let esd = self.plca.end_delimiter.get();
            let old = &mut self.signals[old];
            let delimited = old.what == What::Frame && old.delimited && !old.cut;
            begin = now + if delimited { esd } else { 0 };
            // The code after ESD may be over before it has begun: one bit of it is heard all the same.
            begin = begin.max(old.begin + 1);
            (old.end, old.followed) = (Some(begin), want.is_some());
        }
        let signal = want.map(|what| {
            let node = &self.nodes[station];
            let places = self.nodes.len();
            let queued = node.queue.front();
            let normal = node.data == Data::Normal;
            let lost = what == What::Frame && normal && node.begin < now;
            self.signals.push(Signal {
                source: station,
                what,
                begin,
                end: None,
                followed: false,
                name: queued.map_or(FrameId { station: id(station), serial: 0 }, |queued| queued.name),
                size: queued.map_or(Octets::new(0), |queued| queued.size),
                destination: queued.map_or(Destination::Nobody, |queued| queued.destination),
                bad_fcs: lost || node.fault == Some(Fault::BadFcs),
                cut: false,
                delimited: !normal,
                episode: None,
                spoilt: vec![false; places],
                spoken: vec![false; places],
            });
            self.signals.len() - 1
        });
        self.nodes[station].signal = signal;
    }
}

/// Reception.
impl Model<'_> {
    fn ends(&mut self) {
        self.part = Part::Ends;
        let now = self.now;
        for station in 0..self.nodes.len() {
            for index in 0..self.signals.len() {
                let signal = &self.signals[index];
                let way = self.distance[signal.source][station] + self.plca.phy_off.get();
                if signal.end.is_some_and(|end| end + way == now) && signal.what == What::Frame {
                    self.receive(station, index);
                }
            }
        }
        (0..self.nodes.len()).for_each(|station| self.settle(station));
    }

    fn receive(&mut self, station: usize, index: usize) {
        let signal = &self.signals[index];
        let addressed = match signal.destination {
            Destination::Station(to) => to == id(station),
            Destination::All => true,
            Destination::Nobody | Destination::Beyond(_) => false,
        };
        if !addressed || signal.source == station || !self.nodes[station].attached {
            return;
        }
        let bits = (signal.end.expect("it has ended") - signal.begin).saturating_sub(64);
        let least = u64::from(self.config.parameters.min_frame_size.get()) * 8;
        let whole = signal.size.bit_times();
        let kind = match () {
            () if signal.cut && signal.spoken[station] => return,
            () if signal.cut && bits < least => Kind::Fragment { bits: BitTimes::new(bits) },
            // Bits after the frame's own last bit are counted in octets.
            () if signal.cut && bits >= whole.get() + self.config.parameters.jam_size.get() => {
                Kind::Damaged { bits: BitTimes::new(bits / 8 * 8) }
            }
            () if signal.cut => Kind::Damaged { bits: BitTimes::new(bits) },
            () if signal.spoilt[station] || signal.bad_fcs => Kind::Damaged { bits: whole },
            () => Kind::Delivered { size: signal.size },
        };
        let name = signal.name;
        self.emit(station, name, kind);
    }

    fn begins(&mut self) {
        self.part = Part::Begins;
        let now = self.now;
        for station in 0..self.nodes.len() {
            let there: Vec<usize> =
                (0..self.signals.len()).filter(|&index| self.on(&self.signals[index], station, now)).collect();
            if there.len() > 1 {
                let speaks = there.iter().any(|&index| self.signals[index].source == station);
                for &index in &there {
                    self.signals[index].spoilt[station] = true;
                    self.signals[index].spoken[station] |= speaks;
                }
            }
        }
        for station in 0..self.nodes.len() {
            let heard: Vec<usize> = self.heard(station).iter().map(|signal| signal.source).collect();
            let meets = heard.len() > 1 && heard.contains(&station);
            let sends = matches!(self.nodes[station].mac, Mac::Transmitting { .. });
            let begins_now = self
                .signals
                .iter()
                .any(|signal| signal.begin + self.distance[signal.source][station] + self.plca.phy_on.get() == now);
            let detects = self.nodes[station].own.collision_detection;
            if meets && sends && begins_now && detects && self.tx_en(station) {
                self.collision(station);
            }
            self.settle(station);
        }
    }

    fn forget(&mut self) {
        let places = self.nodes.len();
        for one in self.signals.drain(..) {
            let what = match one.what {
                What::Beacon => "BEACON",
                What::Commit => "COMMIT",
                What::Frame => "frame",
            };
            let ended = one.end.map(|end| (one.source, what, one.name, one.begin, end, vec![true; places]));
            self.gone.extend(ended);
        }
    }

    /// One turn of the process Deference, with CARRIER_STATUS for carrier.
    fn watch(&mut self) {
        let now = self.now;
        let part_1 = self.config.parameters.inter_packet_gap_part_1.get();
        for station in 0..self.nodes.len() {
            let crs = self.crs(station);
            let commit = self.rx(station) == Some(What::Commit);
            let transmitting = self.sends(station);
            self.gap_over(station);
            let node = &mut self.nodes[station];
            let carrier = match node.data {
                Data::Normal => crs,
                Data::Receive => node.skips > 0 || crs && !commit,
                Data::WaitIdle | Data::Idle => node.skips > 0,
                Data::WaitMac { .. } => false,
                _ => true,
            };
            node.carrier = carrier;
            node.deference = match node.deference {
                Deference::Free if carrier => Deference::Busy { was_transmitting: transmitting },
                Deference::Busy { was_transmitting } if carrier => {
                    Deference::Busy { was_transmitting: was_transmitting || transmitting }
                }
                Deference::Busy { was_transmitting } => Deference::Gap { since: now, was_transmitting },
                Deference::Gap { since, was_transmitting: false } if carrier && now < since + part_1 => {
                    Deference::Busy { was_transmitting: false }
                }
                same @ (Deference::Free | Deference::Gap { .. }) => same,
            };
        }
        let farthest = self.distance.iter().flatten().max().copied().unwrap_or(0) + self.plca.phy_off.get();
        // Signals that have ended everywhere are dropped; signals are named by their place in the list.
        if self.signals.len() > 3 && self.signals.iter().all(|one| one.end.is_some_and(|end| end + farthest < now)) {
            self.forget();
        }
    }
}
