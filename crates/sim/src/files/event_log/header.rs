//! The first line of a trace: what the run was made from.

use super::binary::Binary;
use super::{Level, joined};
use crate::files::json_lines::{LineReader, ReadError};
use crate::files::programs::Programs;
use crate::words::configuration::WrittenConfig;
use medium::{Config, Place, StationId, Topology};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::io::{self, BufRead, Read};

/// The version of traces.
pub const VERSION: u32 = 2;
const FORMAT: &str = "ethbus trace";

/// The first line of a trace: what the run was made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// What the file is.
    pub format: String,
    /// The format's version.
    pub version: u32,
    /// What of the run the trace has.
    pub level: Level,
    /// The program that wrote it.
    pub program: String,
    /// The lab's or scenario's name; may be empty.
    pub name: String,
    /// What the medium was made from, the seed included.
    pub configuration: WrittenConfig,
    /// The stations' names, in order of station number.
    pub stations: Vec<String>,
    /// The scenario of a run in virtual time, as TOML, options of its command among its keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    /// The trace has everything from this instant on, in bit times, and before it only frames that were not over then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_from_bt: Option<u64>,
    /// The trace proves that it is whole, with lines of the layer `check`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub checked: bool,
    /// What follows the header is no text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binary: Option<Binary>,
    /// With inputs, that of a virtual lab has its programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub programs: Option<Programs>,
    /// The places of stations that join in this file at places of their own.
    #[serde(skip)]
    pub placed: Vec<(StationId, Place)>,
}

/// What headers of every version have.
#[derive(Deserialize)]
struct Identity {
    format: String,
    version: u32,
    #[serde(default)]
    program: String,
}

impl Header {
    /// The header of a trace of events about a medium made from `config`.
    pub fn new(name: &str, config: &Config, stations: &[String]) -> Header {
        Header {
            format: FORMAT.to_owned(),
            version: VERSION,
            level: Level::Events,
            program: concat!("ethbus ", env!("CARGO_PKG_VERSION")).to_owned(),
            name: name.to_owned(),
            configuration: WrittenConfig::from(config),
            stations: stations.to_vec(),
            scenario: None,
            kept_from_bt: None,
            checked: false,
            binary: None,
            programs: None,
            placed: Vec::new(),
        }
    }

    /// The same of a run in virtual time that this scenario gives again.
    pub fn of_scenario(self, scenario: Option<String>) -> Header {
        Header { scenario, ..self }
    }

    /// The same for a trace of another level.
    pub fn at_level(self, level: Level) -> Header {
        Header { level, ..self }
    }

    /// Reads the first line of a trace.
    ///
    /// # Errors
    /// An empty file, another format or version, a configuration that makes no medium, names that are not one each.
    pub fn read<R: BufRead>(lines: &mut LineReader<R>) -> Result<Header, ReadError> {
        if !lines.advance()? {
            return Err(lines.cut_short(format!("the first line of an {FORMAT} is its header")));
        }
        let not_ours =
            |_| lines.wrong(format!("this is no {FORMAT}: the first line of one begins {{\"format\":\"{FORMAT}\""));
        let Identity { format, version, program } = lines.json().map_err(not_ours)?;
        if version < VERSION && ["ethbus event log", "ethbus record"].contains(&format.as_str()) {
            let what = format!(
                "this is an {format} of version {version}, which {program} wrote: this program reads only traces of \
                 version {VERSION}, so read it with that ethbus, or run it again"
            );
            return Err(lines.wrong(what));
        }
        if format != FORMAT {
            return Err(lines.wrong(format!("this is an {format}, where an {FORMAT} is wanted")));
        }
        if version != VERSION {
            let what = format!("version {version} of the format; this program reads version {VERSION}");
            return Err(lines.wrong(what));
        }
        let header: Header = lines.json()?;
        Config::try_from(header.configuration.clone())
            .map_err(|error| lines.wrong(format!("configuration: {error}")))?;
        let (named, stations) = (header.stations.len(), header.configuration.stations());
        // A station that has not joined has no name.
        if !(stations - header.configuration.config().seats..=stations).contains(&named) {
            return Err(lines.wrong(format!("{named} names for {stations} stations: each has one")));
        }
        let mut others = HashSet::new();
        match header.stations.iter().find(|name| !others.insert(name.as_str())) {
            Some(name) => Err(lines.wrong(format!("two stations are called `{name}`: each has a name of its own"))),
            None => Ok(header),
        }
    }

    /// The stations' names, and for each seat where no station has been a text that is no name.
    pub fn seats(&self) -> Vec<String> {
        let (named, all) = (self.stations.len(), self.configuration.stations());
        self.stations.iter().cloned().chain((named..all).map(|seat| format!("+{}", seat + 1))).collect()
    }

    /// The same with the names of those that were there from the beginning: the others have lines of their own.
    pub(in crate::files) fn as_begun(&self) -> Header {
        let mut own = self.clone();
        own.stations.truncate(self.configuration.stations() - self.configuration.config().seats);
        own
    }

    /// Knows the stations that join in the file that this is the first line of: each window has them from its beginning.
    ///
    /// Of a pipe nothing is known before it is read.
    pub(in crate::files) fn look_ahead(&mut self, file: impl FnOnce() -> io::Result<Box<dyn Read>>) {
        let room = self.configuration.stations() - self.stations.len();
        if room > 0 {
            let joined = file().and_then(|file| joined::stations(file, &self.stations)).unwrap_or_default();
            for (seat, (name, place)) in (self.stations.len() as u16..).zip(joined.into_iter().take(room)) {
                self.stations.push(name);
                self.placed.extend(place.map(|place| (StationId::new(seat), place)));
            }
        }
    }

    /// What the medium was made from, events and outputs not kept; stations that join at places of their own are there.
    pub fn config(&self) -> Config {
        let begun = self.begun();
        let place = |topology: Topology, &(seat, place): &(StationId, Place)| {
            topology.with_place(seat, place).ok().flatten().unwrap_or(topology)
        };
        Config { topology: self.placed.iter().fold(begun.topology.clone(), place), ..begun }
    }

    /// The same as it was at the first instant, from which a run can be made again.
    pub fn begun(&self) -> Config {
        Config::try_from(self.configuration.clone()).expect("checked when it was read, or made from a medium's own")
    }
}
