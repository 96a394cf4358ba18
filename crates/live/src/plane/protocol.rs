//! What supervisor and data plane say to each other. One JSON object a message.

use super::discards::Discards;
use super::filter::Watched;
use super::messages::MessageSetup;
use super::seen::Seen;
use medium::{BitRate, BitTimes, Config, ConfigError, Deed, Place};
use serde::{Deserialize, Serialize};
use sim::figures::results::check::is_plain;
use sim::figures::results::{ConfigResults, Results};
use sim::files::event_log::{Container, Header, Level};
use sim::files::keep::Triggers;
use sim::windows::capture::Wish;
use sim::windows::{Known, WindowKind};
use sim::words::choices::{FilterChoice, LinkChoice, Pace, PortState};
use sim::words::configuration::WrittenConfig;

/// The first message, with the descriptors.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Setup {
    /// The supervisor's process number.
    pub supervisor: i32,
    /// The lab's name; empty in the demonstration.
    pub name: String,
    /// What the medium is made from.
    pub configuration: WrittenConfig,
    /// The stations' ports, in order of station number.
    pub ports: Vec<Port>,
    /// The interfaces behind which the kernel copies frames; the memory of each comes with the descriptors.
    pub hubs: Vec<u32>,
    /// To which stations frames are copied.
    pub filter: FilterChoice,
    /// The monitor of stations' interfaces comes with the descriptors: there is a filter, or may be one later.
    pub watched: bool,
    /// What is written while the medium runs.
    pub outputs: Outputs,
    /// How the medium's time follows real time.
    pub pace: Pace,
    /// The supervisor keeps the processors from sleeping deeply.
    pub awake: bool,
    /// The table of messages that the lab runs.
    #[serde(default)]
    pub messages: Option<MessageSetup>,
}

/// Files that the data plane writes, under the names that errors give them. Their descriptors come with the setup, in
/// this order.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Outputs {
    /// Traces.
    pub traces: Vec<(Level, String)>,
    /// Files for other tools.
    #[serde(default)]
    pub windows: Vec<(WindowKind, String)>,
    /// The last seconds, on a trigger.
    #[serde(default)]
    pub keep: Option<KeepSetup>,
}

/// The last seconds, and what has them written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KeepSetup {
    /// The files' name, before they have a number.
    pub place: String,
    /// How much of the bus's time, in nanoseconds.
    pub span_ns: u64,
    /// The triggers.
    pub on: Triggers,
}

impl KeepSetup {
    /// The span in bit times.
    pub fn span(&self, rate: BitRate) -> BitTimes {
        let bits = u128::from(self.span_ns) * u128::from(rate.get()) / 1_000_000_000;
        BitTimes::new(u64::try_from(bits).unwrap_or(u64::MAX))
    }
}

/// A trace of the last seconds, which is in the outbox unless it failed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Kept {
    /// The trigger; none if a client asked.
    pub why: Option<String>,
    /// How many events and inputs it has.
    pub facts: u64,
    /// The time of which it has everything.
    pub span_bt: u64,
    /// Why it is not there.
    pub failed: Option<String>,
}

impl Kept {
    /// One that is not there.
    pub fn failed(why: Option<String>, failed: String) -> Kept {
        Kept { why, failed: Some(failed), ..Kept::default() }
    }
}

/// A station's port: the bus's end of its link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Port {
    /// The station's name.
    pub name: String,
    /// The interface's index in the bus's namespace.
    pub index: u32,
    /// The station's MAC address.
    pub mac: [u8; 6],
    /// Hosts with other addresses may be behind it.
    #[serde(default)]
    pub outside: bool,
    /// Where the station's interface can be watched, if it may be filtered.
    #[serde(default)]
    pub watched: Option<Watched>,
}

impl Port {
    /// That of a kernel in virtual time, which leads to no interface.
    pub fn of_kernel(name: &str, mac: [u8; 6]) -> Port {
        Port { name: name.to_owned(), index: 0, mac, outside: false, watched: None }
    }
}

impl Setup {
    /// What is said of a plan whose ports, and hubs if it has any, have been made.
    pub fn new(name: &str, config: &Config, ports: Vec<Port>, hubs: Vec<u32>) -> Setup {
        Setup {
            supervisor: std::process::id() as i32,
            name: name.to_owned(),
            configuration: WrittenConfig::from(config),
            ports,
            hubs,
            filter: FilterChoice::default(),
            watched: false,
            outputs: Outputs::default(),
            pace: Pace::default(),
            awake: false,
            messages: None,
        }
    }

    /// The medium's configuration, outputs kept.
    ///
    /// # Errors
    /// A value that is out of its range; never from a supervisor that checked its plan.
    pub fn medium(&self) -> Result<Config, ConfigError> {
        let config = Config::try_from(self.configuration.clone())?;
        let stations = config.topology.stations() - config.seats;
        assert_eq!(stations, self.ports.len(), "the supervisor makes one port for each station");
        Ok(Config { keep_events: true, keep_outputs: true, ..config })
    }

    /// The configuration as results tell it.
    pub fn config_results(&self) -> ConfigResults {
        ConfigResults::new(&self.configuration, &self.name)
    }

    /// What windows know of the bus, which begins at `epoch`, in nanoseconds since 1970.
    ///
    /// # Errors
    /// As [`Setup::medium`].
    pub fn known(&self, epoch: u64) -> Result<Known, ConfigError> {
        let known = Known::of(Header::new(&self.name, &self.medium()?, &self.names()));
        Ok(Known { epoch: Some(epoch), ..known.with_macs(self.ports.iter().map(|port| port.mac)) })
    }

    /// The stations' names, in order of station number.
    pub fn names(&self) -> Vec<String> {
        self.ports.iter().map(|port| port.name.clone()).collect()
    }
}

/// What the supervisor asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// Count from zero from now on.
    Restart,
    /// Tell how many frames of each station the medium is done with.
    Progress,
    /// Tell how many frames each station's queue holds.
    Queues,
    /// Tell how far the medium has got.
    Clock,
    /// Tell the results so far.
    Report,
    /// Whether a viewer watches the bus.
    Watch(bool),
    /// Whether programs of a station listen for its discards.
    Discards(u16, bool),
    /// Begin a capture. The stream that it goes to comes with the request, and the answer, which says there that it has begun.
    Capture(Wish, String),
    /// Begin a command in a station of a virtual lab: its number, a line of a shell, and whether the client sends its input.
    /// The stream that gets what it prints comes with the request.
    Command(u16, String, bool),
    /// Write the last seconds.
    Keep,
    /// Tell the results, and end.
    Stop,
    /// Make a system call that is not allowed, so that a test can see what happens then. Nothing in release builds.
    Trespass,
    /// Panic, likewise.
    Panic,
    /// Do something to the bus: not a station that joins.
    Deed(Deed),
    /// A station joins at a seat, or joins again.
    Join {
        /// Its number.
        station: u16,
        /// Its port.
        port: Port,
        /// Where it is from now on, if its seat is elsewhere.
        place: Option<Place>,
    },
    /// Stop the medium's clock.
    Pause,
    /// Start it again.
    Resume,
    /// Let the stopped clock go on for this number of bit times, or up to the next event.
    Step(Option<u64>),
    /// Frames are copied to these stations from now on.
    Filter(FilterChoice),
    /// The supervisor has interfaces of stations that are off the medium lose their carrier from now on, or keep it.
    Link(LinkChoice),
    /// Which container a station is; for traces, windows and results alone.
    Container(u16, Container),
    /// What a station offers is another thing from now on, as it is written; for traces and results alone.
    Traffic(u16, String),
}

/// What the data plane tells.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Told {
    /// The medium runs.
    Ready,
    /// It counts from zero.
    Restarted,
    /// Frames of each station, since the medium began, that were transmitted, dropped or discarded.
    Progress(Vec<u64>),
    /// Frames in each station's queue.
    Queues(Vec<u64>),
    /// The data plane sleeps most of the time: it can have SCHED_FIFO, which it cannot take itself.
    Calm,
    /// The bit instant at which the medium gets what it is asked for now.
    Clock(u64),
    /// The station that was to leave has left.
    Left,
    /// The results so far.
    Results(Box<Results>),
    /// What happened on the bus, for those who watch it.
    Seen(Seen),
    /// Frames of a station that the medium gave up, for programs that listen.
    Discards(Discards),
    /// The last seconds were written, or could not be.
    Kept(Kept),
    /// What the user is to know: a file that is not written any further, or what a station leaves to hardware.
    Trouble(String),
    /// The machine did not keep up in the last second.
    Overload {
        /// How long the medium's time was stopped, in nanoseconds.
        slip_ns: u64,
        /// How many deliveries were dropped.
        drops: u64,
    },
    /// A station is off the medium, or back on it.
    Port {
        /// The station's name.
        station: String,
        /// The state of the port now.
        state: PortState,
    },
    /// The interface of a station is no more; its name.
    Gone(String),
    /// A station that a user takes off the medium is off it; its name.
    Off(String),
}

impl Told {
    /// Reads one line; `None` if it makes no sense, or is unsafe to use.
    pub fn read(line: &[u8]) -> Option<Told> {
        let told: Told = serde_json::from_slice(line).ok()?;
        let believable = match &told {
            Told::Results(results) => results.check().is_ok(),
            Told::Trouble(text) | Told::Port { station: text, .. } | Told::Gone(text) | Told::Off(text) => {
                is_plain(text)
            }
            Told::Kept(kept) => [&kept.why, &kept.failed].into_iter().flatten().all(|text| is_plain(text)),
            Told::Ready
            | Told::Restarted
            | Told::Calm
            | Told::Progress(_)
            | Told::Queues(_)
            | Told::Clock(_)
            | Told::Left
            | Told::Seen(_)
            | Told::Discards(_)
            | Told::Overload { .. } => true,
        };
        believable.then_some(told)
    }
}
