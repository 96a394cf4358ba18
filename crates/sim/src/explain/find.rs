//! One pass over a trace: the scene goes on with each entry, and the frames that are wanted take their steps in it.
//!
//! ```text
//!   trace ──► Scene      signals, stations, queues                        crates/sim/src/scene
//!         ├─► Story      steps of a wanted frame, each with its setting
//!         ├─► Segment    with PLCA: what each node did and met            plca/segment.rs
//!         └─► Turns      with PLCA: what was on the line meanwhile        plca/turns.rs
//! ```

use super::attempts::met;
use super::emulated::{self, Emulated};
use super::hearing::Hearing;
use super::plca::Reading as Plca;
use super::scene::Scene;
use super::story::{Sent, Setting, Step, Story, Try, Unheard, What};
use super::{ExplainError, Wanted};
use crate::files::event_log::{EmulatorEvent, Entry, EventLogReader, Header};
use crate::files::json_lines::ReadError;
use crate::scene::Signal;
use crate::words::sentences::frame_name;
use medium::{
    BitInstant, BitTimes, Config, Deed, Destination, Event, Fault, FrameId, Input, Kind, Method, PREAMBLE_AND_SFD,
    Population, StationId,
};
use std::io::BufRead;

/// Reads a trace up to the frame's end, or to its own end where the whole segment matters.
///
/// # Errors
/// A damaged trace, no such frame, or more than one.
pub fn find<R: BufRead>(log: &mut EventLogReader<R>, wanted: Wanted) -> Result<Story, ExplainError> {
    let mut reading = Reading::new(log.header(), wanted);
    let cut_short = reading.read(log)?;
    reading.told(log, cut_short)
}

/// A frame that is wanted, as far as it was read.
#[derive(Debug)]
struct Life {
    story: Story,
    hearing: Hearing,
}

struct Reading {
    wanted: Wanted,
    names: Vec<String>,
    scene: Scene,
    /// How long after a frame's end its receivers may still hear it.
    echo: BitTimes,
    /// The first frame of each station in the trace, and the last.
    offered: Vec<Option<(u64, u64)>>,
    lives: Vec<Life>,
    run: String,
    emulator: Vec<EmulatorEvent>,
    /// Which container a station is, for each that is one and is there, or was as the frame ended.
    containers: Vec<EmulatorEvent>,
    plca: Option<Plca>,
}

impl Reading {
    fn new(header: &Header, wanted: Wanted) -> Reading {
        let scene = Scene::new(header.config());
        Reading {
            wanted,
            names: header.seats(),
            echo: echo(&scene.config),
            offered: vec![None; header.configuration.stations()],
            lives: Vec::new(),
            run: header.name.clone(),
            emulator: Vec::new(),
            containers: Vec::new(),
            plca: Plca::of(header),
            scene,
        }
    }

    /// Reads as far as is needed; why the trace ends too early, if it does.
    fn read<R: BufRead>(&mut self, log: &mut EventLogReader<R>) -> Result<Option<String>, ReadError> {
        loop {
            match log.next_entry() {
                Ok(Some(Entry::Medium(event))) => self.event(&event, log.destination()),
                Ok(Some(Entry::Deed { at, deed })) => self.input(at, &Input::Deed(deed)),
                Ok(Some(Entry::Emulator(event))) => self.emulated(event),
                Ok(None) => return Ok(None),
                Err(error @ ReadError::CutShort { .. }) => return Ok(Some(error.to_string())),
                Err(error) => return Err(error),
            }
            let (one, now) = (matches!(self.wanted, Wanted::Frame(_)), self.scene.now);
            if one && self.plca.is_none() && self.lives.iter().any(|life| self.is_over(life, now)) {
                return Ok(None);
            }
        }
    }

    fn is_over(&self, life: &Life, at: BitInstant) -> bool {
        life.story.end.is_some_and(|end| at > end + self.echo)
    }

    fn emulated(&mut self, event: EmulatorEvent) {
        // The trace tells of a late arrival before the frame itself.
        let is_alive = self.lives.iter().any(|life| life.story.end.is_none());
        if let Some(station) = event.kind.container_of() {
            self.forget_container(station);
            self.containers.push(event);
        } else if is_alive || event.kind.frame().is_some_and(|frame| self.wanted.is(frame)) {
            emulated::keep(&mut self.emulator, event);
        }
    }

    fn forget_container(&mut self, station: StationId) {
        self.containers.retain(|event| event.kind.container_of() != Some(station));
    }

    fn event(&mut self, event: &Event, destination: Option<Destination>) {
        let Event { at, frame, kind, .. } = *event;
        let destination = destination.filter(|_| matches!(kind, Kind::Offered { .. }));
        if frame.serial > 0 && self.wanted.is(frame) && !self.lives.iter().any(|life| life.story.frame == frame) {
            self.begin(at, frame, destination);
        }
        if let Kind::Offered { .. } = kind {
            let known = &mut self.offered[frame.station.index()];
            *known = Some((known.map_or(frame.serial, |(first, _)| first), frame.serial));
        }
        let echo = self.echo;
        let lives = |life: &&mut Life| life.story.end.is_none_or(|end| at <= end + echo);
        // Decisions see the medium as it was just before.
        for life in self.lives.iter_mut().filter(lives).filter(|life| concerns(&life.story, event)) {
            life.step(event, &self.scene);
        }
        self.scene.event(event, destination);
        for life in self.lives.iter_mut().filter(lives) {
            life.goes_on(event, &self.scene);
        }
        if let Some(plca) = &mut self.plca {
            plca.event(event, &self.scene);
            if let [life] = &self.lives[..]
                && life.story.end == Some(at)
            {
                plca.closes(at + self.echo);
            }
        }
    }

    fn begin(&mut self, at: BitInstant, frame: FrameId, destination: Option<Destination>) {
        let story = Story { run: self.run.clone(), destination, ..Story::new(frame, self.names.clone(), &self.scene) };
        let hearing = Hearing::new(at, frame.station, &self.scene);
        self.lives.push(Life { story, hearing });
        if let Some(plca) = &mut self.plca {
            plca.opens(at);
        }
    }

    fn input(&mut self, at: BitInstant, input: &Input) {
        self.scene.input(at, input);
        if let Input::Deed(Deed::Remove { station }) = *input
            && !self.lives.iter().any(|life| life.story.frame.station == station)
        {
            self.forget_container(station);
        }
        let far = self.scene.signals.beyond_cut().cloned();
        let (echo, detects) = (self.echo, self.scene.config.method == Method::CsmaCd);
        for Life { story, .. } in &mut self.lives {
            let is_there = story.end.is_none_or(|end| detects && at <= end + echo);
            if is_there && is_told(story, input) {
                story.steps.push(Step { at, what: What::Input(*input, far.clone()), setting: Setting::Alone });
            }
        }
        if let Some(plca) = &mut self.plca {
            plca.input(at, *input);
        }
    }

    /// The one frame that was wanted.
    fn told<R: BufRead>(
        mut self,
        log: &mut EventLogReader<R>,
        cut_short: Option<String>,
    ) -> Result<Story, ExplainError> {
        if self.lives.len() > 1 {
            return Err(self.not_one());
        }
        let Some(Life { mut story, .. }) = self.lives.pop() else {
            return Err(self.not_one());
        };
        let (frame, now) = (story.frame, self.scene.now);
        (story.read_to, story.cut_short) = (now, cut_short);
        story.kept_from = BitInstant::new(log.header().kept_from_bt.unwrap_or(0));
        if matches!(self.wanted, Wanted::Frame(_)) && story.end.is_some() && story.cut_short.is_none() {
            emulated::read_on(log, &mut self.emulator, frame, now);
        }
        let lives = (story.steps.first().map(|step| step.at), story.end);
        story.emulated = Emulated::of(frame, lives, self.containers.iter().chain(&self.emulator));
        match self.scene.config.method {
            Method::CsmaCd => unheard(&mut story, &self.scene),
            Method::Plca(_) => {
                story.segment = self.plca.map(|plca| plca.of_frame(&story, &self.scene));
            }
            _ => met(&mut story),
        }
        Ok(story)
    }

    fn not_one(&self) -> ExplainError {
        let mut frames: Vec<FrameId> = self.lives.iter().map(|life| life.story.frame).collect();
        frames.sort_unstable();
        let serial = match self.wanted {
            Wanted::Frame(frame) => {
                let (frame, there) = (frame_name(&self.names, frame), self.there(frame.station));
                return ExplainError::Absent { frame, there };
            }
            Wanted::Serial(serial) => serial,
        };
        if frames.is_empty() {
            let stations = (0..self.offered.len() as u16).map(StationId::new);
            let most = stations.max_by_key(|station| self.offered[station.index()].map_or(0, |(_, last)| last));
            let there = most.map_or(String::new(), |most| self.there(most));
            return ExplainError::Absent { frame: serial.to_string(), there };
        }
        let frames = frames.into_iter().map(|frame| frame_name(&self.names, frame)).collect();
        ExplainError::Ambiguous { serial, frames }
    }

    /// Which frames of a station the trace has: from the first to the last.
    fn there(&self, station: StationId) -> String {
        let own = &self.names[station.index()];
        match self.offered[station.index()] {
            None => format!("{own} offered none in it"),
            Some((first, last)) if first == last => format!("of {own} it has {own}#{first} only"),
            Some((first, last)) => format!("of {own} it has {own}#{first} to {own}#{last}"),
        }
    }
}

/// Until then every receiver has heard the end of a frame, and every sender that collided with it has finished the jam.
fn echo(config: &Config) -> BitTimes {
    match config.method {
        Method::CsmaCd => {
            let longest = config.topology.longest_distance();
            longest + longest + PREAMBLE_AND_SFD * 2 + config.parameters.jam_size
        }
        // Its last bit may be in the delay line until then.
        Method::Plca(_) => BitTimes::new(4_096),
        _ => config.topology.round_trip(),
    }
}

/// An event is a step of the frame: its own, or plca_status of its station.
fn concerns(story: &Story, event: &Event) -> bool {
    let is_status = matches!(event.kind, Kind::PlcaStatus { .. }) && event.station == story.frame.station;
    event.frame == story.frame || (is_status && story.end.is_none())
}

/// Whether the frame's life has a step for this deed.
fn is_told(story: &Story, input: &Input) -> bool {
    let concerns = |station| station == story.frame.station || story.destination == Some(Destination::Station(station));
    // With PLCA every node may be the coordinator, and faults are not told.
    let is_plca = matches!(story.config.method, Method::Plca(_));
    match *input {
        Input::Deed(Deed::Plug { station } | Deed::Unplug { station }) => is_plca || concerns(station),
        Input::Deed(Deed::Add { station, .. } | Deed::Remove { station }) => is_plca || concerns(station),
        Input::Deed(Deed::Fault { station, .. }) => !is_plca && concerns(station),
        Input::Deed(Deed::Plca { .. }) => is_plca,
        Input::Deed(Deed::Cut(_)) => !is_plca,
        Input::Offer { .. } | Input::Deed(_) => false,
    }
}

impl Life {
    /// An event of the frame, before it has changed anything.
    fn step(&mut self, event: &Event, scene: &Scene) {
        let Event { at, kind, .. } = *event;
        self.comes_to_the_head(&kind, scene);
        let setting = self.setting(event, scene);
        self.story.steps.push(Step { at, what: What::Event(*event), setting });
        match kind {
            Kind::Attempt { attempt, .. } => {
                let (parts, others, met) = (Vec::new(), Vec::new(), Vec::new());
                self.story.tries.push(Try { attempt, parts, others, met });
            }
            Kind::Backoff { slots, .. } => self.hearing.backs_off(self.story.frame, at, slots, scene),
            Kind::Transmitted { .. } | Kind::Discarded { .. } | Kind::QueueDrop => self.story.end = Some(at),
            _ => {}
        }
    }

    /// A frame that waited behind others is at the head of its queue by now.
    fn comes_to_the_head(&mut self, kind: &Kind, scene: &Scene) {
        let last = self.story.steps.iter().rfind(|step| step.event().is_some());
        let waited = last.is_some_and(|last| matches!(last.setting, Setting::Behind(1..)));
        let begins = matches!(kind, Kind::Defer { .. } | Kind::Attempt { .. } | Kind::Backoff { .. });
        let is_plca = matches!(scene.config.method, Method::Plca(_));
        let left = scene.left[self.story.frame.station.index()];
        if let (true, true, false, Some((before, at))) = (waited, begins, is_plca, left) {
            self.hearing.comes_to_the_head(at);
            self.story.steps.push(Step { at, what: What::After(before), setting: Setting::Alone });
        }
    }

    /// What the event takes place among, before it has changed anything.
    fn setting(&mut self, event: &Event, scene: &Scene) -> Setting {
        let (station, at) = (event.frame.station, event.at);
        if let Kind::Offered { .. } = event.kind {
            let ahead =
                if scene.config.population() == Population::Infinite { 0 } else { scene.stations.get(station).queue() };
            return Setting::Behind(ahead as u64);
        }
        match scene.config.method {
            Method::CsmaCd => match event.kind {
                Kind::Defer { .. } | Kind::Attempt { .. } => hears(event, scene),
                Kind::Collision { .. } => meets(event, scene),
                Kind::Fragment { .. } | Kind::Damaged { .. } => receives(event, scene),
                _ => Setting::Alone,
            },
            Method::Plca(_) => Setting::Status { ok: scene.ok[station.index()] },
            _ => self.hearing.setting(event.frame, &event.kind, at, scene),
        }
    }

    /// The event has happened, to the frame or to another one: signals began, changed or ended.
    fn goes_on(&mut self, event: &Event, scene: &Scene) {
        for &number in scene.signals.changed() {
            let Some(signal) = scene.signals.get(number) else {
                self.story.withdraw(number);
                continue;
            };
            let sent = Sent::new((number, signal));
            if !scene.config.detects_collisions() {
                self.hearing.hears(self.story.frame, &sent, scene);
            }
            self.story.signal(sent, scene);
        }
        self.story.happens(event, scene);
    }
}

/// CSMA/CD: signals at the station's place, or there until less than a gap ago, as decisions see them just before `at`.
fn hears(event: &Event, scene: &Scene) -> Setting {
    let (station, at, config) = (event.station, event.at, &scene.config);
    let gap_end = |end| config.gap_end(station, end);
    let here = |one: &(u64, &Signal)| one.1.at(station, config).matters(at, gap_end);
    let (heard, mut missed): (Vec<Sent>, Vec<Sent>) =
        scene.signals.numbered().filter(here).map(Sent::new).partition(|one| one.is_heard(station, config));
    // A station misses neither a signal of its own nor one that is over.
    missed.retain(|one| one.source != station && one.at(station, config).end.is_none_or(|end| end >= at));
    Setting::Hears { heard, missed }
}

/// CSMA/CD: signals at the place of a sender that notices a collision.
fn meets(event: &Event, scene: &Scene) -> Setting {
    let (station, config) = (event.station, &scene.config);
    let here = |(_, one): &(u64, &Signal)| {
        one.source != station && one.reaches(station, config) && one.at(station, config).sounds(event.at)
    };
    Setting::Meets(scene.signals.numbered().filter(here).map(Sent::new).collect())
}

/// CSMA/CD: what was received, which ended at the place of `event` as it says, and what spoilt it there.
fn receives(event: &Event, scene: &Scene) -> Setting {
    let here = |one: &Signal| one.at(event.station, &scene.config);
    let of_frame = |(_, one): &(u64, &Signal)| one.frame == event.frame && here(one).end == Some(event.at);
    let packet = scene.signals.numbered().rfind(of_frame).map(Sent::new);
    let spoils = |&(number, other): &(u64, &Signal)| {
        let spoilt = |own: &Sent| own.number != number && here(own).spoilt_by(&here(other));
        other.reaches(event.station, &scene.config) && packet.as_ref().is_some_and(spoilt)
    };
    let spoilt_by = scene.signals.numbered().filter(spoils).map(Sent::new).collect();
    let is_noise = |fault: &Fault| matches!(fault, Fault::BitErrors(_));
    let noise = scene.signals.fault(event.station).filter(is_noise);
    Setting::Receives { packet, spoilt_by, noise }
}

/// CSMA/CD: adds what no event tells: which stations heard nothing of a frame that was transmitted.
fn unheard(story: &mut Story, scene: &Scene) {
    let (own, config) = (story.frame.station, &scene.config);
    let Some(sent) = story.tries.last().and_then(Try::own) else { return };
    let (Some(end), None) = (sent.end, sent.collision) else { return };
    let addressed = |station: &StationId| match story.destination {
        Some(Destination::Station(addressee)) => *station == addressee && addressee != own,
        Some(Destination::All) => *station != own,
        Some(Destination::Nobody | Destination::Beyond(_)) | None => false,
    };
    let came = |station: StationId| end + config.way(own, sent.begin, station);
    let why = |station: StationId| {
        if !sent.reaches(station, config) {
            Some(Unheard::Cut)
        } else if scene.now >= came(station) && !scene.is_attached(station, came(station)) {
            Some(Unheard::Detached)
        } else {
            None
        }
    };
    let mut steps = Vec::new();
    for reason in [Unheard::Cut, Unheard::Detached] {
        let stations = (0..config.topology.stations() as u16).map(StationId::new);
        let who: Vec<StationId> = stations.filter(addressed).filter(|&station| why(station) == Some(reason)).collect();
        if let Some(at) = who.iter().map(|&station| came(station)).min() {
            steps.push(Step { at, what: What::Unheard(who, reason), setting: Setting::Alone });
        }
    }
    story.steps.extend(steps);
    story.steps.sort_by_key(|step| step.at);
}
