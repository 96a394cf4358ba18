//! A virtual lab from its first instant to its last.

use super::bus::{Bus, Due, Intervention};
pub use super::error::LabError;
use super::folder::Folder;
pub use super::image::ImageError;
use super::init;
pub use super::outcome::{KernelEnd, Outcome};
use super::progress::Progress;
use super::setup::{roots, stations, warning};
use kernel::{Kernels, RunError, Stretch, can_confine, files};
use link::process::effective_user;
use medium::{BitInstant, Deed, StationId};
use say::{say, show};
use sim::figures::results::{ConfigResults, ProgramResults, Results};
use sim::figures::snapshot::{Snapshot, Start};
use sim::files::observer::End;
use sim::files::programs::Call;
use sim::run::observer::Observer;
use sim::scenario::plan::{Plan, StationPlan};
use sim::words::configuration::WrittenConfig;
use std::collections::VecDeque;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often kernels are looked for that were killed while others ran, in real time.
const LOOK: Duration = Duration::from_millis(50);

/// How long after a kernel had no room for a line at its console it is tried again.
const BOOTING: u64 = 1_000_000;

/// Octets of the list of programs that a station has begun, at most.
const MOST_BEGUN: u64 = 1 << 16;

/// How a lab is to be run.
#[derive(Debug)]
pub struct Wishes {
    /// The kernel.
    pub kernel: PathBuf,
    /// The end, if it comes before the end of all programs.
    pub until: Option<Duration>,
    /// Virtual seconds that may pass in a real one; as fast as possible if none.
    pub pace: Option<f64>,
    /// What is done to the lab beside what its scenario says, each at its instant.
    pub interventions: Vec<(BitInstant, Intervention)>,
    /// How long a kernel may run without letting time pass.
    pub patience: Duration,
    /// The folder of the consoles, if they are wanted.
    pub consoles: Option<PathBuf>,
    /// Whether the user wants the end.
    pub interrupted: Arc<AtomicBool>,
}

/// What happens next, and when, in nanoseconds.
#[derive(Clone, Copy, Debug)]
enum Turn {
    /// The medium has an event, or a card something to do.
    Step(u64),
    /// The medium gets what a station has sent.
    Sent(u64, usize),
    /// The kernel of a station runs.
    Run(u64, usize),
}

impl Turn {
    /// Its place in the order of turns: at one instant the medium comes first, and then station after station.
    fn place(self) -> (u64, usize) {
        match self {
            Turn::Step(at) => (at, 0),
            Turn::Sent(at, station) | Turn::Run(at, station) => (at, station + 1),
        }
    }
}

/// A lab that runs.
pub(super) struct Lab<'a, O: Observer> {
    plan: &'a Plan,
    folder: Folder,
    /// Where kernels make the files of their memory.
    _memory: Folder,
    /// The folder of the consoles, if they are wanted.
    consoles: Option<PathBuf>,
    kernels: Kernels,
    pub bus: Bus<O>,
    /// The instant, in nanoseconds: everything before it has happened.
    now: u64,
    /// When each station's programs were seen to have ended; 0 if there are none to wait for.
    done: Vec<Option<u64>>,
    /// Whether it is known that a kernel has ended.
    has_ended: Vec<bool>,
    ended: Vec<KernelEnd>,
    /// How many commands from outside have begun in each station.
    commands: Vec<usize>,
    /// How many pieces of standard input their commands have got.
    pieces: Vec<usize>,
    /// Lines for each station's listener that its console had no room for.
    unheard: Vec<VecDeque<String>>,
}

/// Runs a plan's programs in its stations until all have ended.
///
/// # Errors
/// Kernels that do not start, a program that never yields, files that cannot be written.
pub fn run<O: Observer>(plan: &Plan, wishes: &Wishes, observer: O) -> Result<Outcome, LabError<O::Error>>
where
    O::Error: std::error::Error + 'static,
{
    let mut lab = Lab::start(plan, wishes, observer)?;
    let interrupted = lab.until_its_end(wishes);
    show("");
    lab.outcome(interrupted?)
}

/// What a scenario does to the medium, in order of time.
pub(super) fn planned(plan: &Plan) -> Vec<(BitInstant, Deed)> {
    let faults = plan.faults().map(|(station, fault)| {
        (BitInstant::ZERO, Deed::Fault { station: StationId::new(station), fault: Some(fault) })
    });
    let changes = plan.changes.iter().filter_map(|(at, deed)| Some((*at, deed.of_bus()?)));
    faults.chain(changes).collect()
}

impl<'a, O: Observer> Lab<'a, O>
where
    O::Error: std::error::Error + 'static,
{
    /// Starts the kernels of a plan; all wait to be switched on.
    ///
    /// # Errors
    /// A root file system that lacks something, kernels that do not start.
    pub fn start(plan: &'a Plan, wishes: &Wishes, observer: O) -> Result<Lab<'a, O>, LabError<O::Error>> {
        let temporary = |source| LabError::Write { path: std::env::temp_dir(), source };
        let folder = Folder::new().map_err(temporary)?;
        let memory = Folder::of_memory(&folder.path).map_err(temporary)?;
        let roots = roots(plan, &folder.path, &wishes.interrupted)?;
        warning(plan, effective_user(), can_confine()).iter().for_each(|line| say(line));
        let stations = stations(plan, wishes, &folder.path, &roots)?;
        let macs = plan.stations.iter().map(|station| station.mac.octets());
        let planned = planned(plan).into_iter().map(|(at, deed)| (at, Intervention::Deed(deed)));
        let mut interventions: Vec<(BitInstant, Intervention)> =
            planned.chain(wishes.interventions.iter().cloned()).collect();
        interventions.sort_by_key(|(at, _)| *at);
        let bus = Bus::new(&plan.medium, macs, interventions.into(), observer, wishes.interrupted.clone())?;
        let clock_cost = plan.clock_cost.as_nanos() as u64;
        let folders = (folder.path.as_path(), memory.path.as_path());
        let kernels = Kernels::start(&wishes.kernel, folders, clock_cost, wishes.patience, stations)?;
        let is_awaited = |station: &StationPlan| station.kernel.programs.iter().any(|it| !it.is_service);
        let done = plan.stations.iter().map(|station| (!is_awaited(station)).then_some(0)).collect();
        let has_ended = vec![false; plan.stations.len()];
        let (commands, unheard) = (vec![0; plan.stations.len()], vec![VecDeque::new(); plan.stations.len()]);
        let pieces = commands.clone();
        let ended = Vec::new();
        let (consoles, _memory) = (wishes.consoles.clone(), memory);
        Ok(Lab {
            plan,
            folder,
            _memory,
            consoles,
            kernels,
            bus,
            now: 0,
            done,
            has_ended,
            ended,
            commands,
            pieces,
            unheard,
        })
    }

    /// Runs to the end; gives whether the user wanted it.
    fn until_its_end(&mut self, wishes: &Wishes) -> Result<bool, LabError<O::Error>> {
        let until = wishes.until.map_or(u64::MAX, |until| until.as_nanos() as u64);
        let (begin, mut look) = (Instant::now(), LOOK);
        let mut progress = Progress::new(self.plan.stations.len());
        loop {
            if wishes.until.is_none()
                && let Some((end, last)) = self.end()
                && self.turn().is_none_or(|turn| turn.place() > (end, last + 1))
            {
                self.now = end;
                return Ok(false);
            }
            let Some(next) = self.next() else { return Ok(false) };
            if next >= until {
                self.now = until;
                return Ok(false);
            }
            if wishes.interrupted.load(Ordering::Relaxed) {
                return Ok(true);
            }
            if begin.elapsed() >= look {
                look = begin.elapsed() + LOOK;
                self.look_for_ended();
                self.show_progress(&mut progress);
            }
            wishes.pace.into_iter().for_each(|pace| keep_pace(begin, next, pace));
            if !self.go_on(u64::MAX)? {
                return Ok(true);
            }
        }
    }

    /// Shows how fast the lab is, if it is time.
    pub fn show_progress(&self, progress: &mut Progress) {
        let name = |station: usize| self.plan.stations[station].name.as_str();
        let line = progress.line(self.now, |station| self.kernels.took(station), name);
        line.into_iter().for_each(|line| show(&line));
    }

    /// The instant, in nanoseconds.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// When something happens next: not before now.
    pub fn next(&self) -> Option<u64> {
        self.turn().map(|turn| turn.place().0.max(self.now))
    }

    /// What happens next.
    fn turn(&self) -> Option<Turn> {
        let step = self.bus.next().map(Turn::Step);
        let sent = self.bus.next_sent().map(|(at, station)| Turn::Sent(at, station));
        let run = self.kernels.next().map(|(at, station)| Turn::Run(at, station));
        // The first of those that have the same place.
        step.into_iter().chain(sent).chain(run).min_by_key(|turn| turn.place())
    }

    /// When the last of all programs ended, and where; nothing if some still run.
    fn end(&self) -> Option<(u64, usize)> {
        let ends: Option<Vec<_>> = self.done.iter().zip(0..).map(|(done, station)| Some(((*done)?, station))).collect();
        ends?.into_iter().max()
    }

    /// It becomes `instant`, before which nothing happens.
    pub fn pass_to(&mut self, instant: u64) {
        self.now = self.now.max(instant.min(self.next().unwrap_or(instant)));
    }

    /// The first instant at which something unforeseen can still be done to all kernels.
    pub fn open(&self) -> u64 {
        self.now.max(self.kernels.free_until())
    }

    /// Does what happens next; whether it could: a kernel that does not let time pass was interrupted otherwise. A kernel
    /// gets no further than to `limit`. What happens is the same for every limit.
    ///
    /// # Errors
    /// A program that never yields, files that cannot be written.
    pub fn go_on(&mut self, limit: u64) -> Result<bool, LabError<O::Error>> {
        let turn = self.turn();
        self.now = self.next().unwrap_or(self.now);
        let could = match turn {
            Some(Turn::Run(_, first)) => self.run_kernels(first, limit)?,
            Some(Turn::Sent(..)) => {
                self.bus.take_sent();
                true
            }
            Some(Turn::Step(_)) => {
                self.step(self.now)?;
                true
            }
            None => true,
        };
        self.bus.check().map_err(LabError::Observer)?;
        Ok(could)
    }

    /// Runs the kernel that comes first, and with it all that nothing else reaches before; whether they could.
    fn run_kernels(&mut self, first: usize, limit: u64) -> Result<bool, LabError<O::Error>> {
        let requests: Vec<u64> = self.kernels.requests().map(|it| it.unwrap_or(u64::MAX)).collect();
        let reaches = self.bus.reaches(&requests);
        let stretch = |station: usize| {
            // What happens at the first instant happens in one run.
            let least = if station == first { self.now + 1 } else { 0 };
            let (from, limit) = (requests[station].max(self.now), reaches[station].max(least).min(limit));
            (station == first || from < limit).then_some(Stretch { station, from, limit })
        };
        let stretches: Vec<Stretch> = (0..requests.len()).filter_map(stretch).collect();
        match self.kernels.run(&stretches, &mut self.bus) {
            Err(RunError::Interrupted) => return Ok(false),
            other => other.map_err(|error| self.explained(error))?,
        }
        for Stretch { station, from, .. } in stretches {
            self.look_at(station, from.max(self.kernels.told(station)));
        }
        Ok(true)
    }

    /// What the medium has to do at `now`; no kernel has got further.
    fn step(&mut self, now: u64) -> Result<(), LabError<O::Error>> {
        self.bus.run_to(now);
        while let Some(due) = self.bus.take_due(now) {
            match due {
                Due::Receive { station, octets } => {
                    self.kernels.receive(station, now, &octets).map_err(LabError::Run)?;
                }
                Due::Done { station, head } => {
                    self.kernels.done(station, now, head).map_err(LabError::Run)?;
                    // Frames that wait in the station's ring have room now.
                    self.bus.offer(station, now);
                }
                Due::Call { station, call } => self.call(station, call)?,
                Due::CallAgain { station } => self.talk(station)?,
            }
        }
        Ok(())
    }

    /// Has a station begin a command, or a command read something.
    fn call(&mut self, station: usize, call: Call) -> Result<(), LabError<O::Error>> {
        let (line, written) = match call {
            Call::Begin { command, has_input } => {
                self.commands[station] += 1;
                let number = self.commands[station];
                (init::begin_line(number, has_input), Some((init::command_file(number), command.into_bytes())))
            }
            Call::Input { command, octets } if octets.is_empty() => (init::end_of_input_line(command), None),
            Call::Input { command, octets } => {
                self.pieces[station] += 1;
                let piece = self.pieces[station];
                (init::input_line(command, piece), Some((init::piece_file(piece), octets)))
            }
        };
        if let Some((name, octets)) = written {
            let path = self.file(station, &name);
            files::write(&path, &octets).map_err(|source| LabError::Write { path, source })?;
        }
        self.unheard[station].push_back(line);
        self.talk(station)
    }

    /// Has a station's listener read what it has not read yet, as far as its console has room.
    fn talk(&mut self, station: usize) -> Result<(), LabError<O::Error>> {
        while let Some(line) = self.unheard[station].front() {
            if !self.kernels.tell(station, self.now, line).map_err(LabError::Run)? {
                if self.kernels.is_alive(station) {
                    // It boots, and its console is not there yet; or the console is full.
                    self.bus.put_off(self.now + BOOTING, Due::CallAgain { station });
                }
                return Ok(());
            }
            self.unheard[station].pop_front();
        }
        Ok(())
    }

    /// How many commands from outside have begun in a station; they are numbered from 1.
    pub fn commands(&self, station: usize) -> usize {
        self.commands[station]
    }

    /// A file of a station's own folder.
    pub fn file(&self, station: usize, name: &str) -> PathBuf {
        self.folder.path.join(init::own(station)).join(name)
    }

    /// Whether a station's kernel has ended.
    pub fn has_ended(&self, station: usize) -> bool {
        self.has_ended[station]
    }

    /// Notes kernels that were killed while they waited.
    pub fn look_for_ended(&mut self) {
        self.kernels.look_for_ended();
        (0..self.has_ended.len()).for_each(|station| self.look_at(station, self.now));
    }

    /// Notes that a station's programs or its kernel have ended, at `now` if so.
    fn look_at(&mut self, station: usize, now: u64) {
        if !self.kernels.is_alive(station) && !self.has_ended[station] {
            let status = self.kernels.end_of(station);
            self.has_ended[station] = true;
            self.done[station].get_or_insert(now);
            self.ended.push(KernelEnd { station: self.plan.stations[station].name.clone(), at_ns: now, status });
        }
        if self.done[station].is_none() && self.file(station, init::DONE).symlink_metadata().is_ok() {
            self.done[station] = Some(now);
        }
    }

    fn explained(&self, error: RunError) -> LabError<O::Error> {
        let RunError::NeverYields { station, .. } = &error else { return LabError::Run(error) };
        let number = self.plan.stations.iter().position(|it| it.name == *station).unwrap_or_default();
        let begun = files::read(&self.file(number, init::BEGUN), 0, MOST_BEGUN).unwrap_or_default();
        let programs = String::from_utf8_lossy(&begun).lines().map(str::to_owned).collect();
        LabError::NeverYields { why: error, programs }
    }

    /// A station that wrote no files leaves no folder beside its console.
    fn remove_empty_outs(&self) {
        for (consoles, station) in self.consoles.iter().flat_map(|it| self.plan.stations.iter().map(move |of| (it, of)))
        {
            // One with files in it is not removed. The station's own link to it is not asked: the station can change that.
            let _ = fs::remove_dir(consoles.join(&station.name));
        }
    }

    /// Counters and metrics so far. Nothing runs for them: a run is the same whether they are asked for or not.
    pub fn results(&self) -> Results {
        let names = self.plan.station_names();
        let start = Start { at: BitInstant::ZERO, queued: vec![0; names.len()] };
        let at = self.bus.end_at(self.now);
        let snapshot = Snapshot::take(self.bus.medium(), &start, at, self.bus.delays(), None);
        let config = ConfigResults::new(&WrittenConfig::from(&self.plan.medium), &self.plan.name);
        let results = Results::new(config, self.plan.medium.seed, &names, &snapshot);
        Results { programs: self.programs(), ..results }
    }

    /// How the programs ended that the lab waits for.
    fn programs(&self) -> Vec<ProgramResults> {
        let mut programs = Vec::new();
        for (number, station) in self.plan.stations.iter().enumerate() {
            for (program, what) in station.kernel.programs.iter().enumerate().filter(|(_, it)| !it.is_service) {
                let code = init::code_in(&self.file(number, &format!("{program}.exit")));
                programs.push(ProgramResults { station: station.name.clone(), command: what.command.clone(), code });
            }
        }
        programs
    }

    /// Kernels that have ended since the last look.
    pub fn take_ended(&mut self) -> Vec<KernelEnd> {
        std::mem::take(&mut self.ended)
    }

    /// Ends the files, and tells what there was.
    pub fn outcome(mut self, interrupted: bool) -> Result<Outcome, LabError<O::Error>> {
        let end = self.now;
        let at = self.bus.end_at(end);
        self.bus.advance(at);
        let run_to = at.get().saturating_sub(1);
        self.bus.check().and_then(|observer| observer.end(End { t: at.get(), run_to })).map_err(LabError::Observer)?;
        let results = self.results();
        self.remove_empty_outs();
        Ok(Outcome { ended: self.ended, end, runs: self.kernels.runs(), interrupted, results })
    }
}

/// Sleeps until `pace` virtual seconds a real one lead to `next`.
fn keep_pace(begin: Instant, next: u64, pace: f64) {
    let wanted = Duration::from_secs_f64(next as f64 / 1e9 / pace);
    std::thread::sleep(wanted.saturating_sub(begin.elapsed()));
}
