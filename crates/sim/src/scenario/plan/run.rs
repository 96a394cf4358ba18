//! A run in virtual time: how long, how often, and what each station offers.

use super::{PlanError, Planner, RunPlan};
use crate::scenario::file::{DurationText, RunSection, StationSection};
use crate::traffic::{Capture, To, TrafficError, TrafficSpec, replays, sources_with};
use crate::words::choices::{Latency, Pace};
use medium::{Config, Fault, Octets};
use std::sync::Arc;
use std::time::Duration;
use toml::Spanned;

impl Planner<'_> {
    pub(super) fn run(&self) -> Result<RunPlan, PlanError> {
        let RunSection { duration, warmup, replications } = &self.scenario.run;
        let (given, default) = (
            |of: &Option<Spanned<_>>| of.as_ref().map(|text: &Spanned<DurationText>| text.get_ref().0),
            RunPlan::DEFAULT,
        );
        let run = RunPlan {
            duration: self.overrides.duration.or(given(duration)).unwrap_or(default.duration),
            warmup: self.overrides.warmup.or(given(warmup)).unwrap_or(default.warmup),
            replications: self.overrides.replications.or(replications.as_ref().map(|n| *n.get_ref())).unwrap_or(1),
        };
        let place = |of: &Option<Spanned<_>>| of.as_ref().map(|text: &Spanned<DurationText>| text.span());
        if run.duration.is_zero() {
            let what = "nothing can be measured in no time: write one above zero, like `100s`".to_owned();
            return Err(self.wrong("duration", place(duration), what));
        }
        if !(1..=RunPlan::MOST_REPLICATIONS).contains(&run.replications) {
            let what = format!("{} runs: write 1 to {}", run.replications, RunPlan::MOST_REPLICATIONS);
            let span = replications.as_ref().map(Spanned::span).filter(|_| self.overrides.replications.is_none());
            return Err(self.wrong("replications", span, what));
        }
        Ok(run)
    }

    /// How a live bus follows real time.
    pub(super) fn pace(&self) -> Result<Pace, PlanError> {
        let section = &self.scenario.emulator;
        let given = section.time_scale.as_ref();
        let time_scale = self.overrides.time_scale.or(given.map(|scale| *scale.get_ref())).unwrap_or(1.0);
        if !(1e-6..=1.0).contains(&time_scale) {
            let place = if self.overrides.time_scale.is_some() { None } else { given.map(Spanned::span) };
            let what = format!("{time_scale}: the medium's time is 0.000001 to 1 of real time");
            return Err(self.wrong("time_scale", place, what));
        }
        Ok(Pace { time_scale, on_overload: section.on_overload.unwrap_or_default(), latency: self.latency()? })
    }

    fn latency(&self) -> Result<Latency, PlanError> {
        /// Longer would keep a processor for nearly every traffic.
        const LONGEST: Duration = Duration::from_millis(10);
        let section = &self.scenario.emulator;
        let choice = self.overrides.latency.or(section.latency).unwrap_or_default();
        let read_on =
            section.read_on.as_ref().map_or(Duration::from_nanos(Latency::READ_ON_NS), |text| text.get_ref().0);
        if read_on > LONGEST {
            let place = section.read_on.as_ref().map(Spanned::span);
            return Err(self.wrong("read_on", place, format!("{read_on:?}: at most {LONGEST:?}")));
        }
        Ok(Latency { choice, read_on_ns: read_on.as_nanos() as u64, processor: section.processor })
    }

    /// What each station offers: its own, or its even part of what is offered together.
    pub(super) fn traffic(
        &self,
        sections: &[StationSection],
        names: &[&str],
        max_frame_size: Octets,
    ) -> Result<Vec<TrafficSpec>, PlanError> {
        let common = &self.scenario.traffic;
        let arrivals = common.arrivals.as_ref().map(|text| text.get_ref().0.clone());
        let arrivals = self.overrides.arrivals.clone().or(arrivals).unwrap_or_default();
        let sharing = sections.iter().filter(|section| section.arrivals.is_none()).count();
        let share = arrivals.split(sharing.max(1));
        let station = |section: &StationSection| {
            let sizes = match (&section.frame_size, &self.overrides.sizes, &common.frame_size) {
                (Some(own), _, _) => Some((own.get_ref().0.clone(), Some(own.span()))),
                (None, Some(sizes), _) => Some((sizes.clone(), None)),
                (None, None, Some(all)) => Some((all.get_ref().0.clone(), Some(all.span()))),
                (None, None, None) => None,
            };
            if let Some((sizes, span)) = &sizes
                && sizes.longest() > max_frame_size
                && section.fault.as_ref().is_none_or(|fault| fault.get_ref().0 != Some(Fault::Babble))
            {
                let what = format!(
                    "{} are above max_frame_size: {max_frame_size} at most (2000 octets for envelope frames, if max_frame_size says so)",
                    sizes.longest()
                );
                return Err(self.wrong("frame_size", span.clone(), what));
            }
            let to = section.destination.as_ref().or(common.destination.as_ref());
            let destination = match to {
                Some(to) => Some(To::read(to.get_ref(), names).map_err(|what| self.at("destination", to, what))?),
                None => None,
            };
            Ok(TrafficSpec {
                arrivals: section.arrivals.as_ref().map_or_else(|| share.clone(), |own| own.get_ref().0.clone()),
                sizes: sizes.map(|(sizes, _)| sizes),
                destination,
            })
        };
        sections.iter().map(station).collect()
    }

    /// Reads the capture files that `traffic` names, and checks that every station can have a source.
    pub(super) fn replays(
        &self,
        sections: &[StationSection],
        traffic: &[TrafficSpec],
        names: &[&str],
        medium: &Config,
    ) -> Result<Arc<[Capture]>, PlanError> {
        let own = |station: usize| sections[station].arrivals.as_ref();
        let common = self.scenario.traffic.arrivals.as_ref().filter(|_| self.overrides.arrivals.is_none());
        let at = |station: Option<usize>, what: String| {
            let span = station.and_then(own).or(common).map(Spanned::span);
            self.wrong("arrivals", span, what)
        };
        let replays = replays(traffic).map_err(|error| at(None, with_reason(&error)))?;
        // The seed changes draws, never whether there is a source.
        sources_with(traffic, &replays, medium.rate, medium.parameters.min_frame_size, 0).map_err(
            |error| match error {
                TrafficError::Range { station, what } => at(Some(station), format!("{}: {what}", names[station])),
                TrafficError::Destination { station, to, problem } => {
                    let to = names.get(to).map_or_else(|| to.to_string(), |name| format!("`{name}`"));
                    at(Some(station), format!("the destination of {}, {to}, is {problem}", names[station]))
                }
                TrafficError::SizesOfReplay { station } => at(
                    Some(station),
                    format!(
                        "{} has frame sizes beside a replay: leave one out, as a replay's sizes are its file's",
                        names[station]
                    ),
                ),
                TrafficError::Replay(error) => at(None, error.to_string()),
            },
        )?;
        Ok(replays.into())
    }
}

/// An error and what led to it, each once.
fn with_reason(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {source}"))
}
