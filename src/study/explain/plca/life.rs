//! The life of one frame on a bus with PLCA, step by step: whose turn it waited for, when it was told to, and when it
//! was on the line.

use super::super::words::wrap;
use super::super::{ExplainError, ToldLife, ToldStep, Wanted};
use super::findings::findings;
use super::segment::{Segment, times};
use super::turns::{self, Stretch, Turns};
use super::{Finding, rows};
use medium::{
    BitInstant, BitTimes, Config, Destination, Event, FrameId, Input, Kind, PREAMBLE_AND_SFD, Plca, StationId,
};
use sim::files::event_log::{Entry, EventLogReader, Header};
use sim::words::sentences::{self, TIED, TOLD_TO_WAIT, frame_name};
use sim::words::units::group;
use std::io::BufRead;
use std::path::Path;

/// After its end, how long the picture goes on.
const AFTER: u64 = 120;
/// Before it, how long the picture has begun.
const BEFORE: u64 = 40;

/// What happened.
#[derive(Clone, Copy, Debug)]
enum What {
    Event(Event),
    /// To its own station, or to the coordinator's.
    Input(Input),
}

/// What is drawn of a life that the log does not see the end of.
const LONGEST: BitTimes = BitTimes::new(4_000);

/// One step.
#[derive(Clone, Copy, Debug)]
struct Step {
    at: BitInstant,
    what: What,
    /// plca_status of its station was OK.
    ok: bool,
    /// Frames before it in its queue, as it was offered.
    behind: u64,
}

/// The life of one frame.
#[derive(Clone, Debug)]
pub struct Life {
    frame: FrameId,
    names: Vec<String>,
    config: Config,
    plca: Plca,
    destination: Option<Destination>,
    steps: Vec<Step>,
    end: Option<BitInstant>,
    read_to: BitInstant,
    /// From the head of the queue to the first bit.
    wait: Option<BitTimes>,
    bound: Option<u64>,
    /// The command that tells the bound.
    theory: String,
    /// What is wrong with its station, or with the whole segment.
    findings: Vec<Finding>,
    pub turns: Turns,
}

/// What a first pass keeps of the bus.
struct Scene {
    ok: Vec<bool>,
    waiting: Vec<u64>,
    steps: Vec<Step>,
    frames: Vec<FrameId>,
    destination: Option<Destination>,
    end: Option<BitInstant>,
    wait: Option<BitTimes>,
    now: BitInstant,
}

/// Finds the frame that is wanted in the log at `events`.
///
/// # Errors
/// A damaged log, no such frame, or more than one.
pub fn find(events: &Path, wanted: Wanted) -> Result<Life, ExplainError> {
    let mut log = super::open(events)?;
    let config = log.header().config();
    let plca = super::of(log.header()).ok_or(ExplainError::Segment)?;
    let names = log.header().stations.clone();
    let scene = Scene::read(&mut log, wanted)?;
    let called = |frames: &[FrameId]| frames.iter().map(|&frame| frame_name(&names, frame)).collect::<Vec<_>>();
    let frame = match (scene.frames.as_slice(), wanted) {
        ([frame], _) => *frame,
        ([], _) => {
            let frame = match wanted {
                Wanted::Frame(frame) => frame_name(&names, frame),
                Wanted::Serial(serial) => serial.to_string(),
            };
            let there = "ask `--list` for those that have ended".to_owned();
            return Err(ExplainError::Absent { frame, there });
        }
        (frames, Wanted::Frame(FrameId { serial, .. }) | Wanted::Serial(serial)) => {
            return Err(ExplainError::Ambiguous { serial, frames: called(frames) });
        }
    };
    let from = scene.steps.first().map_or(BitInstant::ZERO, |step| step.at);
    let last = scene.end.unwrap_or(scene.now).max(scene.steps.last().map_or(from, |step| step.at));
    let last = if scene.end.is_some() { last } else { last.min(from + LONGEST) };
    let (from, to) = (from.get().saturating_sub(BEFORE), last.get() + AFTER);
    let turns = Turns::read(&mut super::open(events)?, BitInstant::new(from), BitInstant::new(to))?;
    let segment = Segment::read(&mut super::open(events)?)?;
    let concerns = |finding: &Finding| finding.stations.contains(&frame.station);
    Ok(Life {
        frame,
        bound: segment.bound(),
        theory: segment.theory().unwrap_or_default(),
        findings: findings(&segment).into_iter().filter(concerns).collect(),
        names,
        config,
        plca,
        destination: scene.destination,
        steps: scene.steps,
        end: scene.end,
        read_to: scene.now,
        wait: scene.wait,
        turns,
    })
}

impl Scene {
    fn read<R: BufRead>(log: &mut EventLogReader<R>, wanted: Wanted) -> Result<Scene, ExplainError> {
        let stations = log.header().stations.len();
        let mut scene = Scene {
            ok: vec![false; stations],
            waiting: vec![0; stations],
            steps: Vec::new(),
            frames: Vec::new(),
            destination: None,
            end: None,
            wait: None,
            now: BitInstant::ZERO,
        };
        while let Some(entry) = super::next(log)? {
            match entry {
                Entry::Medium(event) => scene.event(&event, wanted, log.destination()),
                Entry::Input { at, input } => scene.input(at, input),
                Entry::Emulator(_) => {}
            }
            let over = scene.end.is_some_and(|end| scene.now > end + BitTimes::new(4_096));
            if over && matches!(wanted, Wanted::Frame(_)) {
                break;
            }
        }
        Ok(scene)
    }

    fn input(&mut self, at: BitInstant, input: Input) {
        self.now = at;
        let station = match input {
            Input::Attach { station } | Input::Detach { station } | Input::SetPlca { station, .. } => station,
            Input::SetFault { .. } | Input::SetCut { .. } | Input::Offer { .. } => return,
        };
        if matches!(input, Input::Detach { .. }) {
            self.ok[station.index()] = false;
        }
        if self.frames.len() == 1 && self.end.is_none() {
            self.push(at, What::Input(input), station, 0);
        }
    }

    fn push(&mut self, at: BitInstant, what: What, station: StationId, behind: u64) {
        self.steps.push(Step { at, what, ok: self.ok[station.index()], behind });
    }

    fn event(&mut self, event: &Event, wanted: Wanted, destination: Option<Destination>) {
        let Event { at, station, frame, kind } = *event;
        self.now = at;
        let own = frame.station;
        let is_frame = frame.serial > 0;
        if is_frame && wanted.is(frame) && !self.frames.contains(&frame) {
            self.frames.push(frame);
            self.destination = destination.filter(|_| matches!(kind, Kind::Offered { .. }));
        }
        let behind = self.waiting[own.index()];
        if is_frame && wanted.is(frame) {
            self.push(at, What::Event(*event), own, behind);
        } else if let (Kind::PlcaStatus { .. }, [wanted], None) = (kind, self.frames.as_slice(), self.end)
            && wanted.station == station
        {
            self.push(at, What::Event(*event), station, behind);
        }
        self.follow(at, frame, kind, is_frame && wanted.is(frame));
    }

    fn follow(&mut self, at: BitInstant, frame: FrameId, kind: Kind, is_wanted: bool) {
        let waiting = &mut self.waiting[frame.station.index()];
        match kind {
            Kind::Offered { .. } => *waiting += 1,
            Kind::PlcaStatus { ok } => self.ok[frame.station.index()] = ok,
            Kind::QueueDrop | Kind::Discarded { .. } | Kind::Transmitted { .. } => {
                *waiting = waiting.saturating_sub(1);
                if is_wanted {
                    self.end = Some(at);
                }
                if let (Kind::Transmitted { access_delay, .. }, true) = (kind, is_wanted) {
                    self.wait = Some(access_delay);
                }
            }
            Kind::Beacon { .. } | Kind::Commit { .. } | Kind::Defer { .. } | Kind::Attempt { .. } => {}
            Kind::Collision { .. } | Kind::JamEnd { .. } => {}
            Kind::Backoff { .. } | Kind::Delivered { .. } | Kind::Fragment { .. } | Kind::Damaged { .. } => {}
            Kind::TooLong { .. } | Kind::Rts { .. } | Kind::Cts { .. } | Kind::Data { .. } => {}
            Kind::Ack | Kind::Duplicate { .. } => {}
        }
    }
}

/// Tells the whole life: step by step, drawn, and in short.
pub fn tell(life: &Life, header: &Header) -> String {
    let of = if header.name.is_empty() { String::new() } else { format!(" of `{}`", header.name) };
    let mut text = format!(
        "Frame {}{of}\n{}, PLCA, {} stations, seed {}; 1 BT is {}\n\n",
        life.name(life.frame),
        life.config.rate,
        life.names.len(),
        life.config.seed,
        sentences::real(BitTimes::new(1), life.config.rate)
    );
    text += &life.told_steps();
    text += &rows::rows(&life.turns);
    text += &life.in_short();
    text.replace(TIED, " ")
}

/// The life as data.
pub fn data(life: &Life) -> ToldLife {
    let told = |step: &Step| {
        let kind = match step.what {
            What::Event(event) => event.kind.name(),
            What::Input(_) => "input",
        };
        ToldStep::new(step.at, kind, &life.words(step))
    };
    ToldLife::new(&life.names, life.frame, life.steps.iter().map(told).collect())
}

impl Life {
    /// The heading of its picture.
    pub fn title(&self) -> String {
        let wait = self
            .wait
            .map_or(String::new(), |wait| format!(": {} from the head of its queue to its first bit", self.span(wait)));
        format!("Frame {}{wait}", self.name(self.frame)).replace(TIED, " ")
    }

    /// It was on the line, or waited.
    pub fn has_a_picture(&self) -> bool {
        !self.turns.stretches.is_empty()
    }

    fn name(&self, frame: FrameId) -> String {
        frame_name(&self.names, frame)
    }

    fn span(&self, span: BitTimes) -> String {
        sentences::span(span, self.config.rate)
    }

    fn told_steps(&self) -> String {
        let begin = self.steps.first().map_or(BitInstant::ZERO, |step| step.at);
        let mut text = format!("{:>16}{:>12}\n", "t in BT", "since then");
        for step in &self.steps {
            let head = format!("{:>16}{:>12}", group(step.at.get()), group(step.at.since(begin).get()));
            text += &wrap(&head, 30, &self.words(step));
        }
        text
    }

    fn words(&self, step: &Step) -> String {
        match step.what {
            What::Event(event) => self.event(step, &event),
            What::Input(input) => self.input(&input),
        }
    }

    fn input(&self, input: &Input) -> String {
        match *input {
            Input::Attach { station } => format!("{} is put back on the medium.", self.names[station.index()]),
            Input::Detach { station } => {
                let coordinator = self.plca.nodes[station.index()].settings.node_id == 0;
                let more = if coordinator { ": the coordinator is lost, and no BEACON comes" } else { "" };
                format!("{} is taken off the medium{more}.", self.names[station.index()])
            }
            Input::SetPlca { station, .. } => {
                format!("PLCA of {} is told settings, and reset.", self.names[station.index()])
            }
            Input::SetFault { .. } | Input::SetCut { .. } | Input::Offer { .. } => String::new(),
        }
    }

    fn event(&self, step: &Step, event: &Event) -> String {
        let station = &self.names[self.frame.station.index()];
        match event.kind {
            Kind::Offered { size } => self.offered(step, size.get()),
            Kind::Defer { attempt } => self.defers(step, attempt),
            Kind::Attempt { attempt, .. } => self.attempts(step, attempt),
            Kind::Commit { id } => self.takes_its_turn(step, id),
            Kind::Collision { episode: 0, .. } => self.is_told_to_wait(step),
            Kind::Collision { .. } => self.collides(step, event),
            Kind::JamEnd { .. } if step.ok && self.on_line(step, true).is_none() => {
                sentences::jam_into_nothing(&self.config.parameters, self.config.rate)
            }
            Kind::Backoff { attempt, slots } => {
                let drawn = sentences::backoff(attempt, slots, event.at, &self.config);
                let more = if step.ok { " After it PLCA holds the MAC back with carrier until its turn." } else { "" };
                drawn + more
            }
            Kind::Transmitted { size, .. } => {
                let told = sentences::transmitted(&event.kind, station, self.config.rate);
                let delay = self.wait.zip(self.head()).map(|(wait, head)| head + wait);
                let end = delay.map(|begin| begin + PREAMBLE_AND_SFD + size.bit_times());
                let line = end.filter(|&end| end > event.at && step.ok).map_or(String::new(), |end| {
                    format!(" The last bit leaves the delay line at t = {}, and ESD follows it.", group(end.get()))
                });
                told + &line
            }
            Kind::PlcaStatus { ok: true } => {
                format!("plca_status of {station} is OK: it hears BEACONs, and takes turns.")
            }
            Kind::PlcaStatus { ok: false } => {
                format!("plca_status of {station} falls: from now on its MAC hears the line itself, plain CSMA/CD.")
            }
            Kind::QueueDrop | Kind::JamEnd { .. } | Kind::Discarded { .. } | Kind::Delivered { .. } => {
                self.plain(event)
            }
            Kind::Fragment { .. } | Kind::Damaged { .. } | Kind::TooLong { .. } => self.plain(event),
            Kind::Beacon { .. } => String::new(),
            // Of other methods.
            Kind::Rts { .. } | Kind::Cts { .. } | Kind::Data { .. } | Kind::Ack | Kind::Duplicate { .. } => {
                String::new()
            }
        }
    }

    fn plain(&self, event: &Event) -> String {
        let station = &self.names[event.station.index()];
        sentences::sentence(&event.kind, event.at, station, &self.config)
    }

    /// When it came to the head of its queue, as its wait and its first turn say.
    fn head(&self) -> Option<BitInstant> {
        let after = |step: &&Step| match step.what {
            What::Event(event) => {
                matches!(event.kind, Kind::Defer { .. } | Kind::Attempt { .. })
                    || (matches!(event.kind, Kind::Offered { .. }) && step.behind == 0)
            }
            What::Input(_) => false,
        };
        self.steps.iter().find(after).map(|step| step.at)
    }

    fn offered(&self, step: &Step, size: u32) -> String {
        let station = &self.names[self.frame.station.index()];
        let whom = match self.destination {
            Some(Destination::Station(to)) => format!(" for {}", self.names[to.index()]),
            Some(Destination::All) => " for all stations".to_owned(),
            Some(Destination::Nobody) => " for an address that no station has".to_owned(),
            None => String::new(),
        };
        let queue = match step.behind {
            0 => "No other frame is before it.".to_owned(),
            1 => format!("It waits behind 1 frame of {station} itself."),
            ahead => format!("It waits behind {} frames of {station} itself.", group(ahead)),
        };
        format!("The host of {station} hands the frame{whom} to its MAC: {size} octets. {queue}")
    }

    /// What is on the line at the instant of `step`, of its own station or of another one.
    fn on_line(&self, step: &Step, own: bool) -> Option<&Stretch> {
        let there = |one: &&Stretch| {
            matches!(one.what, turns::What::Commit | turns::What::Frame | turns::What::Jam)
                && (one.row == self.frame.station.index()) == own
                && (one.from..=one.to).contains(&step.at)
        };
        // What begins now says more than what ends.
        self.turns.stretches.iter().filter(there).max_by_key(|one| one.from)
    }

    fn whose_turn(&self, step: &Step) -> Option<String> {
        let one = self.on_line(step, false)?;
        let frame = one.frame.filter(|frame| frame.serial > 0).map_or("COMMIT".to_owned(), |frame| self.name(frame));
        Some(match one.id {
            Some(id) => format!("{frame}, in the turn of id {id}"),
            None => frame,
        })
    }

    fn defers(&self, step: &Step, attempt: u32) -> String {
        let why = match (step.ok, self.whose_turn(step)) {
            (true, Some(other)) => format!("PLCA tells it of carrier, that of {other}"),
            (true, None) => "PLCA holds it back, or the gap after the last carrier is not over".to_owned(),
            (false, _) => "it hears carrier on the line, or the gap after it is not over".to_owned(),
        };
        format!("The MAC is ready for attempt {attempt}, but defers (4.2.3.2.1): {why}.")
    }

    fn attempts(&self, step: &Step, attempt: u32) -> String {
        let station = &self.names[self.frame.station.index()];
        if !step.ok {
            return format!("Attempt {attempt}: plca_status is FAIL, and {station} sends by CSMA/CD alone.");
        }
        if self.on_line(step, true).is_some() {
            return format!("Attempt {attempt}: the MAC sends, in its own turn. The first bit is on the line.");
        }
        format!(
            "Attempt {attempt}: the MAC begins to send, into the delay line (148.4.5, HOLD). Nothing is on the line before its \
             turn; the delay line holds {}.",
            self.span(self.plca.delay_line)
        )
    }

    fn takes_its_turn(&self, step: &Step, id: u32) -> String {
        let station = &self.names[self.frame.station.index()];
        let sends = self.steps.iter().any(|one| {
            let event = match one.what {
                What::Event(event) => event,
                What::Input(_) => return false,
            };
            matches!(event.kind, Kind::Attempt { .. })
                && event.at <= step.at
                && event.at + self.plca.delay_line >= step.at
        });
        let then = if sends {
            "its bits leave the delay line: this is the first on the line"
        } else {
            "COMMIT goes out until its MAC sends"
        };
        format!("The turn of id {id}, {station}, begins (curID = {id}). It takes it: {then} (148.4.4, COMMIT).")
    }

    fn is_told_to_wait(&self, step: &Step) -> String {
        let why = match self.whose_turn(step) {
            Some(other) => format!("{other} comes before its own turn"),
            None => format!("The delay line of {} is full, and its turn has not come", self.span(self.plca.delay_line)),
        };
        format!("{TOLD_TO_WAIT} {why}: the MAC jams into nothing and backs off (148.4.5, COLLIDE).")
    }

    fn collides(&self, step: &Step, event: &Event) -> String {
        let more = match (step.ok, self.whose_turn(step)) {
            (true, Some(other)) => format!(" The other is {other}."),
            (true, None) => " The turn is its own.".to_owned(),
            (false, _) => " plca_status is FAIL: this is CSMA/CD alone.".to_owned(),
        };
        self.plain(event) + &more
    }

    fn in_short(&self) -> String {
        let count = |is: fn(&Kind) -> bool| {
            let of = |step: &&Step| matches!(step.what, What::Event(event) if is(&event.kind));
            self.steps.iter().filter(of).count()
        };
        let told = count(|kind| matches!(kind, Kind::Collision { episode: 0, .. }));
        let met = count(|kind| matches!(kind, Kind::Collision { episode: 1.., .. }));
        let mut text = format!(
            "In short: told to wait for its turn {}, met others on the line {}.",
            times(told as u64),
            times(met as u64)
        );
        if let Some(wait) = self.wait {
            text += &format!(" From the head of its queue to its first bit it waited {}", self.span(wait));
            text += &match self.bound {
                Some(bound) if self.findings.is_empty() => {
                    let late = if wait.get() > bound { ", for a frame that comes while turns go round" } else { "" };
                    format!("; the bound{late} is {} BT (`{}`).", group(bound), self.theory)
                }
                _ => ".".to_owned(),
            };
        }
        if self.end.is_none() {
            let since = self.steps.first().map_or(BitTimes::ZERO, |step| self.read_to.since(step.at));
            text += &format!(" The log ends {} after it was offered, and it was not sent.", self.span(since));
        }
        let mut told = wrap("", 0, &text);
        for finding in &self.findings {
            told += &wrap("", 0, &format!("{} {}", finding.cause, finding.mend));
        }
        format!("\n{told}")
    }
}
