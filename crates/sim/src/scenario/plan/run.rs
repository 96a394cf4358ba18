//! A run in virtual time: how long, how often, and what each station offers.

use super::cuts::some_names;
use super::planner::Planner;
use super::{LabDeed, Plan, RunPlan, StationPlan, protocols};
use crate::figures::stacks::Protocol;
use crate::scenario::file::{DurationText, Given, RunTimeText, SourceSection, StationSection, span, value};
use crate::settings::overrides::option_at;
use crate::settings::wrong::{PlanError, Wrong};
use crate::traffic::{Arrivals, Capture, FurtherTraffic, TrafficError, TrafficSpec, all_sources, replays};
use crate::words::choices::{Latency, Pace};
use crate::words::prose::with_causes;
use crate::words::units::RunTime;
use medium::{BitInstant, BitRate, BitTimes, Config, Deed, Fault, Method, Octets};
use std::sync::Arc;
use std::time::Duration;
use toml::Spanned;

/// Sources beside a station's first, each with the number of its station.
type FurtherSources = Vec<(usize, TrafficSpec)>;

impl Plan {
    /// Refuses a processor that this machine does not have.
    pub(super) fn check_processor(&self) -> Result<(), PlanError> {
        let Some(number) = self.pace.latency.processor else { return Ok(()) };
        // Numbers and ranges, like `0-3,6`. A system without this file is not asked.
        let Ok(online) = std::fs::read_to_string("/sys/devices/system/cpu/online") else { return Ok(()) };
        let is_in = |range: &str| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let ends = (first.parse::<usize>(), last.parse::<usize>());
            matches!(ends, (Ok(first), Ok(last)) if (first..=last).contains(&number))
        };
        if online.trim().split(',').any(is_in) {
            return Ok(());
        }
        let what = format!("there is no processor {number}: this machine has the processors {}", online.trim());
        Err(Wrong { place: self.processor_place.clone(), name: "processor".to_owned(), what }.into())
    }
}

impl Planner<'_> {
    /// How long a run is, and how often it is repeated; `slot` is that of its method.
    pub(super) fn run(&self, slot: BitTimes, rate: BitRate) -> Result<RunPlan, PlanError> {
        let (given, default) = (&self.scenario.run, RunPlan::DEFAULT);
        let time = |name, key: &Given<RunTimeText>, usual| {
            let Some(given) = value(key).map(|text| text.0) else { return Ok(usual) };
            let time = match given {
                RunTime::Time(time) => Some(time),
                RunTime::Slots(slots) => slot.get().checked_mul(slots).map(|bits| BitTimes::new(bits).at(rate)),
            };
            time.filter(|time| *time <= RunPlan::LONGEST).ok_or_else(|| {
                let what = format!("`{given}`, a slot taking {slot} here: write up to 1,000 days");
                self.wrong(name, span(key), what)
            })
        };
        let run = RunPlan {
            duration: time("duration", &given.duration, default.duration)?,
            warmup: time("warmup", &given.warmup, default.warmup)?,
            replications: value(&given.replications).unwrap_or(1),
            until: value(&given.until).map(|text| text.0),
        };
        if run.duration.is_zero() {
            let what = "`0s`: nothing can be measured in no time: write one above zero, like `100s`".to_owned();
            return Err(self.wrong("duration", span(&given.duration), what));
        }
        Ok(run)
    }

    /// An early end is one run's, and its metric one that the medium has.
    pub(super) fn check_until(&self, run: &RunPlan, method: &Method) -> Result<(), PlanError> {
        let Some(until) = run.until_known() else { return Ok(()) };
        let what = if run.replications > 1 {
            format!(
                "`{until}` ends one run, and {} were asked for: leave replications out, or write a longer duration in place of it",
                run.replications
            )
        } else if until.needs_slots() && *method == Method::CsmaCd {
            format!("CSMA/CD has no `{}`: name another metric, like `access_delay_mean_bt`", until.metric)
        } else {
            return Ok(());
        };
        Err(self.wrong("until", span(&self.scenario.run.until), what))
    }

    /// Only infinitely many users run away, and only TCP connections have goodput of TCP.
    pub(super) fn check_end(
        &self,
        run: &RunPlan,
        endless: bool,
        traffic: &[TrafficSpec],
        further: &FurtherTraffic,
    ) -> Result<(), PlanError> {
        let Some(until) = &run.until else { return Ok(()) };
        let what = if until.is_collapse() && !endless {
            "`collapse`: only infinitely many users of ALOHA run away: write `--access slotted-aloha --population infinite --traffic poisson:0.3/slot`, or leave it out".to_owned()
        } else if until.needs_connections() && !protocols(traffic, further).any(|it| it == Protocol::Tcp) {
            format!("`{until}`: no station has a TCP connection: write `--traffic tcp`, or name another metric")
        } else {
            return Ok(());
        };
        Err(self.wrong("until", span(&self.scenario.run.until), what))
    }

    /// Infinitely many users offer the same all along: when they run away follows from it.
    pub(super) fn check_endless(&self, endless: bool, done: &[(BitInstant, LabDeed)]) -> Result<(), PlanError> {
        let changes =
            |deed: &LabDeed| matches!(deed, LabDeed::Traffic(_) | LabDeed::Join(_) | LabDeed::Bus(Deed::Remove { .. }));
        if !endless || !done.iter().any(|(_, deed)| changes(deed)) {
            return Ok(());
        }
        let what = "infinitely many users offer the same from the beginning to the end: leave `population` out, or `arrivals`, `add` and `remove`";
        Err(self.wrong("at", self.scenario.at.first().map(Spanned::span), what.to_owned()))
    }

    /// How a live bus follows real time.
    pub(super) fn pace(&self) -> Result<Pace, PlanError> {
        let section = &self.scenario.emulator;
        let time_scale = value(&section.time_scale).unwrap_or(1.0);
        let on_overload = value(&section.on_overload).unwrap_or_default();
        Ok(Pace { time_scale, on_overload, latency: self.latency()? })
    }

    fn latency(&self) -> Result<Latency, PlanError> {
        /// Longer would keep a processor for nearly every traffic.
        const LONGEST: Duration = Duration::from_millis(10);
        let section = &self.scenario.emulator;
        let choice = value(&section.latency).unwrap_or_default();
        let read_on = value(&section.read_on).map_or(Duration::from_nanos(Latency::READ_ON_NS), |text| text.0);
        if read_on > LONGEST {
            return Err(self.wrong("read_on", span(&section.read_on), format!("{read_on:?}: at most {LONGEST:?}")));
        }
        Ok(Latency { choice, read_on_ns: read_on.as_nanos() as u64, processor: value(&section.processor) })
    }

    /// What each station offers, its own or its even part of what is offered together; and the sources that stations have
    /// beside their first.
    pub(super) fn traffic(
        &self,
        sections: &[StationSection],
        names: &[&str],
        max_frame_size: Octets,
    ) -> Result<(Vec<TrafficSpec>, FurtherSources), PlanError> {
        let share = self.share(sections);
        let stations = sections.iter().map(|section| self.station_sources(section, &share, names, max_frame_size));
        let (mut first, mut further) = (Vec::with_capacity(sections.len()), Vec::new());
        for (station, sources) in Self::all(stations)?.into_iter().enumerate() {
            let mut sources = sources.into_iter();
            first.extend(sources.next());
            further.extend(sources.map(|source| (station, source)));
        }
        Ok((first, further))
    }

    /// What each station offers that says nothing else.
    fn share(&self, sections: &[StationSection]) -> Arrivals {
        let arrivals = self.scenario.traffic.arrivals.as_ref().map(|text| text.get_ref().0.clone());
        // A user who writes frames down wants these, and no others by default.
        let default = if self.scenario.frame.is_empty() { Arrivals::Saturated } else { Arrivals::Silent };
        let shares = |section: &&StationSection| section.arrivals.is_none() && section.source.is_empty();
        arrivals.unwrap_or(default).split(sections.iter().filter(shares).count().max(1))
    }

    /// What one station offers: its share of what is offered together, its own, or several sources; at least one.
    fn station_sources(
        &self,
        section: &StationSection,
        share: &Arrivals,
        names: &[&str],
        max_frame_size: Octets,
    ) -> Result<Vec<TrafficSpec>, PlanError> {
        let babbles = section.fault.as_ref().is_some_and(|fault| fault.get_ref().0 == Some(Fault::Babble));
        let longest = if babbles { Octets::new(u32::MAX) } else { max_frame_size };
        if section.source.is_empty() {
            let arrivals = section.arrivals.as_ref().map_or_else(|| share.clone(), |own| own.get_ref().0.clone());
            let common = self.scenario.traffic.phase.as_ref().filter(|_| section.arrivals.is_none());
            let phase = section.phase.as_ref().or(common).cloned();
            let own = SourceSection { phase, ..SourceSection::default() };
            return Ok(vec![self.source(arrivals, &own, section, names, longest)?]);
        }
        if let Some(arrivals) = &section.arrivals {
            let what = format!(
                "`{}` stands beside [[station.source]] sections: move it into one of its own",
                arrivals.get_ref().0
            );
            return Err(self.at("arrivals", arrivals, what));
        }
        if let Some(phase) = &section.phase {
            let what = "a phase is that of one source here: move it into its [[station.source]] section".to_owned();
            return Err(self.at("phase", phase, what));
        }
        Self::all(section.source.iter().map(|own| {
            let Some(arrivals) = &own.get_ref().arrivals else {
                let what = "`arrivals` is missing: write when its frames arrive, like `arrivals = \"poisson:0.1\"`";
                return Err(self.at("source", own, what.to_owned()));
            };
            self.source(arrivals.get_ref().0.clone(), own.get_ref(), section, names, longest)
        }))
    }

    /// What a station that joins offers: its own, or what the stations share if these offer the same together.
    pub(super) fn first_source(
        &self,
        section: &StationSection,
        names: &[&str],
        max_frame_size: Octets,
    ) -> Result<TrafficSpec, PlanError> {
        let sections = self.sections()?;
        let sources = self.station_sources(section, &self.share(&sections), names, max_frame_size)?;
        Ok(sources.into_iter().next().expect("one at least"))
    }

    /// One source: what its own section, that of its station, the command line or `[traffic]` says, in this order.
    pub(super) fn source(
        &self,
        arrivals: Arrivals,
        own: &SourceSection,
        station: &StationSection,
        names: &[&str],
        longest: Octets,
    ) -> Result<TrafficSpec, PlanError> {
        let common = &self.scenario.traffic;
        let sizes = own.frame_size.as_ref().or(station.frame_size.as_ref()).or(common.frame_size.as_ref());
        if let Some(given) = sizes.filter(|given| given.get_ref().0.longest() > longest) {
            let sizes = &given.get_ref().0;
            let what = format!(
                "`{sizes}`: {} are above `max_frame_size` of {longest}: write less, or raise that, to 2000 at most",
                sizes.longest()
            );
            return Err(self.at("frame_size", given, what));
        }
        let to = own.destination.as_ref().or(station.destination.as_ref()).or(common.destination.as_ref());
        let read = |to: &Spanned<String>| {
            let read = self.whom(to.get_ref(), names);
            read.map_err(|what| self.at("destination", to, format!("{what}: {}", some_names(names))))
        };
        let to = to.map(read);
        let arrivals = self.with_phase(arrivals, own.phase.as_ref())?;
        Ok(TrafficSpec { arrivals, sizes: sizes.map(|given| given.get_ref().0.clone()), destination: to.transpose()? })
    }

    /// Periodic arrivals whose first one comes at `phase`.
    fn with_phase(&self, arrivals: Arrivals, phase: Option<&Spanned<DurationText>>) -> Result<Arrivals, PlanError> {
        let Some(phase) = phase else { return Ok(arrivals) };
        match arrivals {
            Arrivals::Periodic { every, phase: None, jitter, frames } => {
                Ok(Arrivals::Periodic { every, phase: Some(phase.get_ref().0), jitter, frames })
            }
            Arrivals::Periodic { phase: Some(_), .. } => Err(self.at(
                "phase",
                phase,
                format!("`{:?}`: `arrivals` has a phase too: leave one out", phase.get_ref().0),
            )),
            // The command line took the place of the arrivals that the file has a phase for.
            other if self.arrivals_are_an_option() => Ok(other),
            other => {
                let what = format!("`{other}` has no phase: leave it out, or write `arrivals = \"periodic:0.1\"`");
                Err(self.at("phase", phase, what))
            }
        }
    }

    /// Whether the command line says what all stations offer.
    fn arrivals_are_an_option(&self) -> bool {
        span(&self.scenario.traffic.arrivals).is_some_and(|place| option_at(&place).is_some())
    }

    /// Reads the capture files that `traffic` names, and checks that every station can have a source.
    pub(super) fn replays(
        &self,
        sections: &[StationSection],
        traffic: &[TrafficSpec],
        further: &FurtherTraffic,
        stations: &[StationPlan],
        medium: &Config,
    ) -> Result<Arc<[Capture]>, PlanError> {
        let names: Vec<&str> = stations.iter().map(|station| station.name.as_str()).collect();
        let own = |station: usize| {
            let sources = sections[station].source.iter().find_map(|source| source.get_ref().arrivals.as_ref());
            sections[station].arrivals.as_ref().or(sources)
        };
        let common = self.scenario.traffic.arrivals.as_ref();
        let at = |station: Option<usize>, what: String| {
            let span = station.and_then(own).or(common).map(Spanned::span);
            self.wrong("arrivals", span, what)
        };
        let replays = replays(traffic).map_err(|error| {
            let is_its =
                |spec: &TrafficSpec| matches!(&spec.arrivals, Arrivals::Replay { path } if path == error.path());
            at(traffic.iter().position(is_its), with_causes(&error))
        })?;
        // The seed changes draws, never whether there is a source.
        let sources = all_sources(traffic, further, &replays, medium, 0).map_err(|error| match error {
            TrafficError::Range { station, what } => at(Some(station), format!("{}: {what}", names[station])),
            TrafficError::Destination { station, to, problem } => {
                let to = names.get(to).map_or_else(|| to.to_string(), |name| format!("`{name}`"));
                let given = sections[station].destination.as_ref().or(self.scenario.traffic.destination.as_ref());
                let what = format!("for {}, {to} is {problem}", names[station]);
                self.wrong("destination", given.map(Spanned::span), what)
            }
            TrafficError::SizesOfReplay { station } => at(
                Some(station),
                format!(
                    "{} has frame sizes beside a replay: leave one out, as a replay's sizes are its file's",
                    names[station]
                ),
            ),
            TrafficError::ReplayBesides { station } => at(
                Some(station),
                format!("{} has a replay, which is a station's only source: leave its others out", names[station]),
            ),
            TrafficError::Replay(error) => at(None, error.to_string()),
        })?;
        let talks = sources.iter().filter_map(|source| Some((source.station(), source.talk()?)));
        let mut ends = talks.flat_map(|(own, (talk, peer))| [own, peer].map(|end| (end.index(), talk.protocol())));
        if let Some((station, protocol)) = ends.find(|(end, _)| stations[*end].address().ipv4 == [0; 4]) {
            let noun = protocol.noun();
            let what = format!(
                "{} has {noun}, which needs an IPv4 address: leave `ipv4` out, or write one like `10.77.0.1/16`",
                names[station]
            );
            let span = sections[station].ipv4.as_ref().map(Spanned::span);
            return Err(self.wrong("ipv4", span.or_else(|| self.section_at(station)), what));
        }
        Ok(replays.into())
    }
}
