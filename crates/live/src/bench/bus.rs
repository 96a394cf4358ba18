//! A live bus for one run of a row, and the operations on it.

use super::machine::{Conditions, Meter};
use super::peer::{Peer, PeerError};
use super::row::Run;
use super::yardstick::YardstickError;
use crate::driver::offering::{Look, Offering, feed};
use crate::driver::sender::{Sender, Spacing, saturating_level};
use crate::lab::{INTERFACE, MakeError, Protocols, Segment};
use crate::plane::protocol::{Outputs, Setup, Told};
use crate::supervisor::{DataPlane, SupervisorError};
use crossbeam_channel::{Receiver, after, select};
use link::memory::memory_file;
use link::signals::Signal;
use link::station::StationSocket;
use medium::{BitRate, Octets};
use sim::figures::results::Results;
use sim::files::event_log::Level;
use sim::files::event_log::binary::ENDING;
use sim::files::output::{LINES, create};
use sim::files::replay::ReplayError;
use sim::scenario::file::Scenario;
use sim::scenario::plan::{Overrides, Plan, PlanError};
use sim::windows::WindowKind;
use sim::windows::capture::Framing;
use sim::words::choices::{FilterChoice, LatencyChoice};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// How long the machine is left alone before a run: namespaces of the one before are still being removed.
const REST: Duration = Duration::from_millis(400);
/// How long stations offer frames before anything is counted.
const WARM_UP: Duration = Duration::from_millis(300);

/// What every row knows.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// How long a measurement takes.
    pub duration: Duration,
    /// Seed of every random draw.
    pub seed: u64,
    /// Interrupts end everything.
    pub interrupts: &'a Receiver<Signal>,
    /// Where the trace of each run goes, if traces are wanted.
    pub logs: Option<&'a Logs>,
}

/// A folder of traces, one a run: `1.jsonl`, `2.jsonl`, in the order in which buses are made.
#[derive(Debug)]
pub struct Logs {
    folder: PathBuf,
    made: AtomicU32,
}

impl Logs {
    /// Logs in a folder that is there.
    pub fn new(folder: &Path) -> Logs {
        Logs { folder: folder.to_owned(), made: AtomicU32::new(0) }
    }

    /// The file of the next run.
    fn next(&self) -> io::Result<(String, File)> {
        let number = 1 + self.made.fetch_add(1, Ordering::Relaxed);
        let path = self.folder.join(format!("{number}.jsonl"));
        let file = create(&path, LINES).map_err(io::Error::other)?;
        Ok((path.display().to_string(), file))
    }
}

impl Context<'_> {
    /// How long a yardstick takes: it measures the machine and not ethbus.
    pub fn short(&self) -> Duration {
        self.duration.min(Duration::from_secs(2))
    }
}

/// Why a row could not be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// The user did not want to wait.
    #[error("interrupted")]
    Interrupted,
    /// A program is missing, or failed.
    #[error(transparent)]
    Peer(#[from] PeerError),
    /// The row's plan is no plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A namespace, link or socket could not be made.
    #[error(transparent)]
    Make(#[from] MakeError),
    /// The data plane failed.
    #[error(transparent)]
    Supervisor(#[from] SupervisorError),
    /// The yardstick could not be made.
    #[error(transparent)]
    Yardstick(#[from] YardstickError),
    /// A station's socket failed.
    #[error("cannot use a station's interface")]
    Station(#[from] link::packet::PacketError),
    /// The trace cannot be replayed.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// The system refused something else.
    #[error("cannot {what}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// A program did not end.
    #[error("{what} did not end within {} seconds", limit.as_secs())]
    Endless {
        /// Which.
        what: &'static str,
        /// How long was waited.
        limit: Duration,
    },
}

/// For use with `map_err`.
pub fn system(what: &'static str) -> impl FnOnce(std::io::Error) -> BenchError {
    move |source| BenchError::System { what, source }
}

/// A bus, its stations, and the data plane that moves their frames. Nothing of it is left when it is dropped.
#[derive(Debug)]
pub struct Bus {
    /// What it was made from.
    pub plan: Plan,
    /// Its stations.
    pub segment: Segment,
    /// What moves the frames.
    pub plane: DataPlane,
    /// Files in memory that are made of it.
    files: Vec<File>,
}

/// What a bus is to be.
#[derive(Debug)]
pub struct Wanted<'a> {
    /// How many stations there are.
    pub stations: usize,
    /// Bits per second.
    pub rate: BitRate,
    /// The protocols of the stations.
    pub protocols: Protocols,
    /// Frames in a transmit queue, if not the usual number.
    pub queue_limit: Option<u64>,
    /// The medium's time as a part of real time.
    pub time_scale: f64,
    /// What is spent on being punctual.
    pub latency: LatencyChoice,
    /// Which copies are left out.
    pub filter: FilterChoice,
    /// Where everything that the medium is given goes, if anywhere.
    pub record: Option<&'a File>,
    /// Which files are made of the run, in memory.
    pub files: Files,
}

/// Files in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Files {
    /// None.
    None,
    /// Every one that can be made of a run.
    Every,
    /// A binary trace.
    BinaryLog,
}

impl Wanted<'_> {
    /// Stations without protocols, and no trace.
    pub fn silent(stations: usize, rate: BitRate) -> Wanted<'static> {
        Wanted {
            stations,
            rate,
            protocols: Protocols::Silent,
            queue_limit: None,
            time_scale: 1.0,
            latency: LatencyChoice::Normal,
            filter: FilterChoice::None,
            record: None,
            files: Files::None,
        }
    }

    /// Stations that speak IPv4, and no trace.
    pub fn ip(stations: usize, rate: BitRate) -> Wanted<'static> {
        Wanted { protocols: Protocols::Ipv4, ..Wanted::silent(stations, rate) }
    }

    /// The plan of it.
    ///
    /// # Errors
    /// Numbers that make no bus.
    pub fn plan(&self, context: &Context<'_>) -> Result<Plan, PlanError> {
        let overrides = Overrides::default()
            .with("stations", self.stations)
            .with("rate", format!("{}bit/s", self.rate.get()))
            .with("time-scale", self.time_scale)
            .with("latency", self.latency.word());
        let mut plan = Plan::new(&Scenario::default(), None, &overrides, context.seed)?;
        plan.filter = self.filter;
        if let Some(limit) = self.queue_limit {
            plan.medium.queue_limit = plan.medium.queue_limit.max(limit as usize);
        }
        Ok(plan)
    }
}

impl Bus {
    /// Makes a bus.
    ///
    /// # Errors
    /// Whatever the kernel refuses.
    pub fn start(context: &Context<'_>, wanted: &Wanted<'_>) -> Result<Bus, BenchError> {
        rest(context, REST)?;
        let plan = wanted.plan(context)?;
        let segment = Segment::make(&plan, wanted.protocols, None, |_| context.interrupts.is_empty());
        let segment = segment.map_err(|error| match error {
            MakeError::Interrupted => BenchError::Interrupted,
            error => error.into(),
        })?;
        let memory = |name: &str| memory_file(name).map_err(system("make a file in memory"));
        let mut log = context.logs.map(Logs::next).transpose().map_err(system("make an event log"))?;
        let mut record = wanted.record.map(File::try_clone).transpose().map_err(system("share a record"))?;
        let mut windows = Vec::new();
        if wanted.files == Files::BinaryLog {
            log = log.or(Some((format!("the bench's event log.{ENDING}"), memory("events")?)));
        }
        if wanted.files == Files::Every {
            log = log.or(Some(("the bench's event log".to_owned(), memory("events")?)));
            record = record.or(Some(memory("record")?));
            for kind in [WindowKind::Pcapng(Framing::Whole.unfiltered()), WindowKind::Perfetto, WindowKind::Vcd] {
                windows.push(((kind, format!("the bench's {kind:?}")), memory("window")?));
            }
        }
        let (windows, of_windows): (Vec<_>, Vec<File>) = windows.into_iter().unzip();
        let record = record.map(|file| ((Level::Inputs, "the bench's inputs".to_owned()), file));
        let log = log.map(|(name, file)| ((Level::Events, name), file));
        let (traces, of_traces): (Vec<_>, Vec<File>) = record.into_iter().chain(log).unzip();
        let outputs = Outputs { traces, windows, keep: None };
        let ports = segment.ports.clone();
        let setup = Setup {
            outputs,
            pace: plan.pace,
            filter: plan.filter,
            ..Setup::new("", &plan.medium, ports, segment.fan_out.indices())
        };
        let files: Vec<File> = of_traces.into_iter().chain(of_windows).collect();
        let plane = DataPlane::start(&setup, &segment, &files)?;
        Ok(Bus { plan, segment, plane, files })
    }

    /// Octets in all files of the run so far.
    ///
    /// # Errors
    /// A file is gone.
    pub fn written(&self) -> io::Result<u64> {
        self.files.iter().try_fold(0, |sum, file| Ok(sum + file.metadata()?.len()))
    }

    /// A raw-socket driver in each station, for frames of `size` to the next one.
    ///
    /// # Errors
    /// A socket that the kernel refuses.
    pub fn senders(&self, size: Octets, pace: impl Fn(usize) -> Spacing) -> Result<Vec<Sender>, BenchError> {
        let stations = &self.plan.stations;
        let sender = |index: usize| {
            let socket = StationSocket::open_to_send(&self.segment.stations[index], INTERFACE)?;
            let next = &stations[(index + 1) % stations.len()];
            Ok(Sender::new(socket, next.mac, size, index as u32, pace(index), None))
        };
        (0..stations.len()).map(sender).collect()
    }

    /// All stations saturated with frames of `size`.
    ///
    /// # Errors
    /// A socket that the kernel refuses.
    pub fn saturated(&self, size: Octets) -> Result<Offering, BenchError> {
        let level = saturating_level(self.plan.pace.rate(self.plan.medium.rate), size);
        Ok(Offering::asked(self.senders(size, |_| Spacing::Asked)?, level))
    }

    /// Lets senders run, first for a while that does not count, then for as long as a measurement takes. `meanwhile` is
    /// run at the beginning and at the end of what counts.
    ///
    /// # Errors
    /// The data plane is gone, or an interrupt.
    pub fn measure(
        &mut self,
        context: &Context<'_>,
        offering: &mut Offering,
        mut meanwhile: impl FnMut(&Bus),
    ) -> Result<(Results, Conditions), BenchError> {
        self.watch(context, offering, WARM_UP)?;
        self.plane.restart()?;
        let meter = Meter::start();
        meanwhile(self);
        self.watch(context, offering, context.duration)?;
        meanwhile(self);
        Ok((self.plane.report()?, meter.stop()))
    }

    fn watch(&mut self, context: &Context<'_>, offering: &mut Offering, duration: Duration) -> Result<(), BenchError> {
        let look = Look { every: None, show: &mut |_| () };
        match feed(offering, &mut self.plane, duration, context.interrupts, look)? {
            true => Err(BenchError::Interrupted),
            false => Ok(()),
        }
    }

    /// Serves the bus until a program has ended, and gives what it said.
    ///
    /// # Errors
    /// It failed, or did not end within `limit`; the data plane is gone; an interrupt.
    pub fn serve(&mut self, context: &Context<'_>, peer: Peer, limit: Duration) -> Result<String, BenchError> {
        let (end, told) = (Instant::now() + limit, self.plane.told().clone());
        loop {
            select! {
                recv(peer.ended()) -> _ => return Ok(peer.output()?),
                recv(context.interrupts) -> _ => return Err(BenchError::Interrupted),
                recv(told) -> told => match told {
                    // The results will report everything that matters.
                    Ok(Told::Ready | Told::Restarted | Told::Calm | Told::Progress(_) | Told::Queues(_) | Told::Clock(_) | Told::Left | Told::Off(_) | Told::Seen(_) | Told::Discards(_) | Told::Results(_) | Told::Kept(_) | Told::Trouble(_)
                        | Told::Overload { .. } | Told::Port { .. } | Told::Gone(_)) => {}
                    Err(_) => return Err(self.plane.died().into()),
                },
                recv(after(end.saturating_duration_since(Instant::now()))) -> _ => {
                    return Err(BenchError::Endless { what: "a program", limit });
                }
            }
        }
    }
}

/// Waits without anything to serve.
///
/// # Errors
/// Somebody interrupted.
pub fn rest(context: &Context<'_>, duration: Duration) -> Result<(), BenchError> {
    match context.interrupts.recv_timeout(duration) {
        Ok(_) => Err(BenchError::Interrupted),
        Err(_) => Ok(()),
    }
}

/// A run of a bus as a row tells it.
pub fn run(name: impl Into<String>, results: &Results, conditions: Conditions) -> Run {
    Run { name: name.into(), conditions, emulator: results.emulator.clone() }
}

/// How long a run took in real time, in seconds: the medium's time, and the time in which it was stopped.
pub fn real_seconds(results: &Results) -> f64 {
    let slip = results.emulator.as_ref().map_or(0, |emulator| emulator.machine.slip_ns);
    let time_scale = results.emulator.as_ref().map_or(1.0, |emulator| emulator.machine.time_scale);
    results.measured_bit_times as f64 / (results.config.rate_bits_per_second as f64 * time_scale) + slip as f64 / 1e9
}

/// Frames that all stations together transmitted in a real second.
pub fn frames_per_second(results: &Results) -> f64 {
    let frames: u64 = results.stations.iter().map(|station| station.counter("frames_transmitted_ok")).sum();
    frames as f64 / real_seconds(results)
}
