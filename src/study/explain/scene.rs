//! What goes on around the frames asked for, as far as an event log tells: every signal, what each station does, faults
//! and cuts. Who hears, meets and spoils whom is decided by the engine's own rules.

use super::emulated::Emulated;
use super::follow::Follows;
use super::{Collision, Each, Meeting, Setting, Step, Story, Transmission, Unheard, Wanted};
use medium::{BitInstant, BitTimes, Config, Destination, Event, Fault, FrameId, Input, Kind, Place, StationId};
use sim::words::configuration::longest_distance;
use std::collections::VecDeque;

/// What a station is doing, and did last.
#[derive(Clone, Debug)]
pub(super) struct Station {
    pub first: Option<u64>,
    pub offered: u64,
    /// Frames that the MAC is done with, since the log's beginning.
    done: u64,
    /// The last that was at the head of the queue, and when it left it.
    left: Option<(FrameId, BitInstant)>,
    fault: Option<Fault>,
    /// When it was put back on the medium or taken off.
    attached: Vec<(BitInstant, bool)>,
}

impl Station {
    fn new() -> Station {
        Station { first: None, offered: 0, done: 0, left: None, fault: None, attached: Vec::new() }
    }

    /// Frames that were offered before the log begins.
    fn before_the_log(&self) -> u64 {
        self.first.map_or(0, |first| first - 1)
    }

    /// Signals end after what is done to the medium at the same instant.
    fn attached_at(&self, at: BitInstant) -> bool {
        self.attached.iter().rfind(|(changed, _)| *changed <= at).is_none_or(|(_, attached)| *attached)
    }
}

/// Everything that the frames asked for may meet.
#[derive(Debug)]
pub(super) struct Scene {
    config: Config,
    /// How long after a frame's end its story goes on.
    echo: BitTimes,
    pub stations: Vec<Station>,
    /// In order of begin; forgotten from the front when they can meet nothing any more.
    signals: VecDeque<Transmission>,
    cut: Option<(Place, Each)>,
    pub stories: Vec<Story>,
    pub now: BitInstant,
}

impl Scene {
    pub fn new(config: Config, echo: BitTimes) -> Scene {
        let stations = vec![Station::new(); config.topology.stations()];
        let (signals, stories) = (VecDeque::new(), Vec::new());
        Scene { config, echo, stations, signals, cut: None, stories, now: BitInstant::ZERO }
    }
}

impl Follows for Scene {
    fn event(&mut self, event: &Event, wanted: Wanted, destination: Option<Destination>) {
        self.now = event.at;
        let frame = event.frame;
        if wanted.is(frame) && !self.stories.iter().any(|story| story.frame == frame) {
            let offered = matches!(event.kind, Kind::Offered { .. });
            self.stories.push(Story {
                frame,
                destination: destination.filter(|_| offered),
                fault: self.stations[frame.station.index()].fault,
                cut: self.cut.as_ref().map(|(place, _)| *place),
                steps: Vec::new(),
                meetings: Vec::new(),
                emulated: Emulated::default(),
                end: None,
                read_to: event.at,
                cut_short: None,
            });
        }
        let setting = wanted.is(frame).then(|| self.setting(event));
        if let Some(moved) = self.follow(event) {
            for story in &mut self.stories {
                if moved.frame == story.frame { story.own_moved(&moved) } else { story.other_moved(&moved) }
            }
        }
        if let Some(setting) = setting {
            self.add(Step { at: event.at, event: Some(*event), setting });
        }
    }

    fn input(&mut self, at: BitInstant, input: Input) {
        self.now = at;
        let mut whose = None;
        match input {
            Input::Attach { station } | Input::Detach { station } => {
                whose = Some(station);
                let attached = matches!(input, Input::Attach { .. });
                self.stations[station.index()].attached.push((at, attached));
            }
            Input::SetFault { station, fault } => {
                whose = Some(station);
                self.stations[station.index()].fault = fault;
            }
            Input::SetCut { cut } => {
                let beyond = |cut| self.config.topology.beyond(cut).ok().map(|far| (cut, Each::from(far)));
                self.cut = cut.and_then(beyond);
            }
            Input::Offer { .. } | Input::SetPlca { .. } => return,
        }
        let far = self.cut.as_ref().map(|(_, far)| far.clone());
        for story in &mut self.stories {
            let over = story.end.is_some_and(|end| at > end + self.echo);
            let concerns =
                |station| station == story.frame.station || story.destination == Some(Destination::Station(station));
            if !over && whose.is_none_or(concerns) {
                let setting = Setting::Done(input, far.clone());
                story.steps.push(Step { at, event: None, setting });
            }
        }
    }

    fn goes_on(&self) -> bool {
        self.stories.iter().any(|story| story.end.is_none())
    }

    fn is_over(&self) -> bool {
        self.stories.iter().any(|story| story.end.is_some_and(|end| self.now > end + self.echo))
    }
}

impl Scene {
    /// Adds what no event tells: who heard nothing of a frame that was transmitted.
    pub fn finish(&mut self) {
        let everyone = || (0..self.config.topology.stations() as u16).map(StationId::new);
        for story in &mut self.stories {
            let own = story.frame.station;
            let Some(Meeting { own: sent, .. }) = story.meetings.last() else { continue };
            let (Some(end), None) = (sent.end, sent.collision) else { continue };
            let addressed = |station: &StationId| match story.destination {
                Some(Destination::Station(addressee)) => *station == addressee && addressee != own,
                Some(Destination::All) => *station != own,
                Some(Destination::Nobody) | None => false,
            };
            let came = |station: StationId| end + self.config.topology.distance(own, station);
            let why = |station: StationId| {
                if !sent.reaches(station) {
                    Some(Unheard::Cut)
                } else if self.now >= came(station) && !self.stations[station.index()].attached_at(came(station)) {
                    Some(Unheard::Detached)
                } else {
                    None
                }
            };
            let mut steps = Vec::new();
            for reason in [Unheard::Cut, Unheard::Detached] {
                let who: Vec<StationId> =
                    everyone().filter(addressed).filter(|&station| why(station) == Some(reason)).collect();
                if let Some(at) = who.iter().map(|&station| came(station)).min() {
                    steps.push(Step { at, event: None, setting: Setting::Unheard(who, reason) });
                }
            }
            story.steps.extend(steps);
            story.steps.sort_by_key(|step| step.at);
        }
    }

    /// What the event takes place among, before it has changed anything.
    fn setting(&self, event: &Event) -> Setting {
        let own = &self.stations[event.frame.station.index()];
        match event.kind {
            Kind::Offered { .. } => Setting::Behind(own.offered.saturating_sub(own.done + own.before_the_log())),
            Kind::Defer { .. } | Kind::Attempt { .. } => self.hears(event.station, event.at),
            Kind::Collision { .. } => {
                let met = |one: &&Transmission| {
                    let here = one.source() != event.station && one.reaches(event.station);
                    here && one.at(event.station, &self.config).sounds(event.at)
                };
                Setting::Meets(self.signals.iter().filter(met).cloned().collect())
            }
            Kind::Fragment { .. } | Kind::Damaged { .. } => self.receives(event),
            Kind::QueueDrop | Kind::JamEnd { .. } | Kind::Backoff { .. } | Kind::Transmitted { .. } => Setting::Alone,
            Kind::Discarded { .. } | Kind::Delivered { .. } | Kind::TooLong { .. } => Setting::Alone,
            Kind::Rts { .. } | Kind::Cts { .. } | Kind::Data { .. } | Kind::Ack | Kind::Duplicate { .. } => {
                Setting::Alone
            }
            Kind::Beacon { .. } | Kind::Commit { .. } | Kind::PlcaStatus { .. } => Setting::Alone,
        }
    }

    /// Signals at the place of `station`, or there until less than a gap ago, as decisions see them: just before `at`.
    fn hears(&self, station: StationId, at: BitInstant) -> Setting {
        let gap = self.config.parameters.inter_packet_gap;
        let here = |one: &&Transmission| one.at(station, &self.config).matters(at, gap);
        let heard = |one: &Transmission| one.reaches(station) && !one.escapes(station);
        let (heard, mut missed): (Vec<_>, Vec<_>) = self.signals.iter().filter(here).cloned().partition(heard);
        // What is over can be missed by nobody.
        missed.retain(|one| one.at(station, &self.config).end.is_none_or(|end| end >= at));
        Setting::Hears { heard, missed }
    }

    /// What was received, which ended at the place of `event` as it says, and what spoilt it there.
    fn receives(&self, event: &Event) -> Setting {
        let here = |one: &Transmission| one.at(event.station, &self.config);
        let of_frame = |one: &&Transmission| one.frame == event.frame && here(one).end == Some(event.at);
        let packet = self.signals.iter().rfind(of_frame).cloned();
        let spoils = |other: &&Transmission| {
            let spoilt = |own: &Transmission| !own.is(other) && here(own).spoilt_by(&here(other));
            other.reaches(event.station) && packet.as_ref().is_some_and(spoilt)
        };
        let spoilt_by = self.signals.iter().filter(spoils).cloned().collect();
        Setting::Receives { packet, spoilt_by }
    }

    /// Keeps up with the event's station; gives a transmission that began or changed.
    fn follow(&mut self, event: &Event) -> Option<Transmission> {
        let Event { at, frame, kind, .. } = *event;
        let station = &mut self.stations[frame.station.index()];
        match kind {
            Kind::Offered { .. } => {
                station.first.get_or_insert(frame.serial);
                station.offered = frame.serial;
                None
            }
            Kind::QueueDrop => {
                station.done += 1;
                None
            }
            Kind::Attempt { attempt, burst, .. } => Some(self.begin(at, frame, attempt, burst)),
            Kind::Collision { episode, .. } => {
                let current = self.current(frame)?;
                current.collision = Some(Collision { at, episode });
                Some(current.clone())
            }
            Kind::JamEnd { .. } => {
                let current = self.current(frame)?;
                current.end = Some(at);
                Some(current.clone())
            }
            Kind::Transmitted { extension, .. } => {
                station.done += 1;
                station.left = Some((frame, at));
                let current = self.current(frame)?;
                (current.end, current.extension) = (Some(at), extension);
                Some(current.clone())
            }
            Kind::Discarded { attempts, .. } => {
                station.done += 1;
                if attempts > 0 {
                    station.left = Some((frame, at));
                }
                None
            }
            Kind::Defer { .. } | Kind::Backoff { .. } => None,
            Kind::Delivered { .. } | Kind::Fragment { .. } | Kind::Damaged { .. } | Kind::TooLong { .. } => None,
            Kind::Rts { .. } | Kind::Cts { .. } | Kind::Data { .. } | Kind::Ack | Kind::Duplicate { .. } => None,
            Kind::Beacon { .. } | Kind::Commit { .. } | Kind::PlcaStatus { .. } => None,
        }
    }

    /// The signal of a frame that is being sent.
    fn current(&mut self, frame: FrameId) -> Option<&mut Transmission> {
        self.signals.iter_mut().rfind(|one| one.frame == frame && one.end.is_none())
    }

    fn begin(&mut self, at: BitInstant, frame: FrameId, attempt: u32, burst: bool) -> Transmission {
        self.forget(at);
        let gap = if burst { self.config.parameters.inter_packet_gap } else { BitTimes::ZERO };
        let deaf = |station: &Station| station.fault == Some(Fault::Deaf);
        let any_deaf = self.stations.iter().any(deaf);
        let begun = Transmission {
            frame,
            called: None,
            bare: false,
            attempt,
            begin: at,
            burst,
            preamble: at + gap,
            collision: None,
            end: None,
            extension: BitTimes::ZERO,
            fault: self.stations[frame.station.index()].fault,
            parted: self.cut.as_ref().map(|(_, far)| far.clone()),
            deaf: any_deaf.then(|| self.stations.iter().map(deaf).collect()),
        };
        self.signals.push_back(begun.clone());
        begun
    }

    /// Forgets signals that have passed every place, with the gap after them, before any that has not began.
    fn forget(&mut self, now: BitInstant) {
        let longest = longest_distance(&self.config.topology);
        let gap = self.config.parameters.inter_packet_gap;
        let passed = |one: &Transmission, by: BitInstant| one.end.is_some_and(|end| end + longest + gap < by);
        let limit = self.signals.iter().find(|one| !passed(one, now)).map_or(now, |one| one.begin);
        while self.signals.front().is_some_and(|one| passed(one, limit)) {
            self.signals.pop_front();
        }
    }

    /// Adds a step to its story, and whom it shows that the frame has met.
    fn add(&mut self, step: Step) {
        let Some(Event { at, frame, kind, .. }) = step.event else { return };
        let left = self.stations[frame.station.index()].left;
        let Some(story) = self.stories.iter_mut().find(|story| story.frame == frame) else { return };
        let last = story.steps.iter().rfind(|step| step.event.is_some());
        let waited_behind = last.is_some_and(|last| matches!(last.setting, Setting::Behind(1..)));
        if let (Kind::Defer { .. } | Kind::Attempt { .. }, true, Some((before, since))) = (&kind, waited_behind, left) {
            story.steps.push(Step { at: since, event: None, setting: Setting::After(before) });
        }
        if matches!(kind, Kind::Transmitted { .. } | Kind::Discarded { .. } | Kind::QueueDrop) {
            story.end = Some(at);
        }
        if let Setting::Meets(met) | Setting::Receives { spoilt_by: met, .. } = &step.setting {
            story.meet(met);
        }
        story.steps.push(step);
    }
}

impl Story {
    fn own_moved(&mut self, moved: &Transmission) {
        match self.meetings.last_mut().filter(|meeting| meeting.own.is(moved)) {
            Some(meeting) => meeting.own = moved.clone(),
            None => self.meetings.push(Meeting { own: moved.clone(), others: Vec::new() }),
        }
    }

    /// Somebody else began to send, collided or ended: a party of the last meeting, or of one before.
    fn other_moved(&mut self, moved: &Transmission) {
        for meeting in self.meetings.iter_mut().rev().take(2) {
            let episode = |one: &Transmission| one.collision.map(|collision| collision.episode);
            let party = episode(&meeting.own).is_some() && episode(&meeting.own) == episode(moved);
            match meeting.others.iter_mut().find(|other| other.is(moved)) {
                Some(other) => *other = moved.clone(),
                None if party => meeting.others.push(moved.clone()),
                None => {}
            }
        }
        // A decision in the very bit time of its end may come before it in the log, and has seen it going on.
        for step in self.steps.iter_mut().filter(|step| moved.end == Some(step.at)) {
            let Setting::Hears { heard, .. } = &mut step.setting else { continue };
            heard.iter_mut().filter(|one| one.is(moved)).for_each(|one| *one = moved.clone());
        }
    }

    /// These were met in the last attempt.
    fn meet(&mut self, met: &[Transmission]) {
        let Some(meeting) = self.meetings.last_mut() else { return };
        for other in met {
            if !meeting.others.iter().any(|known| known.is(other)) {
                meeting.others.push(other.clone());
            }
        }
    }
}
