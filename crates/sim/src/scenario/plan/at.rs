//! The timetable of a scenario: `[[at]]`, and the cuts of `[[cut]]` among them, in order of time; the stations that join by it,
//! and the end that it gives a run.

use super::deed::{Course, LabDeed};
use super::join::Joiner;
use super::planner::Planner;
use super::{CutPlan, RunPlan, StationPlan};
use crate::scenario::file::{AtSection, StationSection};
use crate::settings::wrong::{PlanError, Wrongs};
use crate::traffic::{FurtherTraffic, TrafficSpec};
use medium::{BitInstant, BitRate, BitTimes, Config, Place};
use std::ops::Range;
use toml::Spanned;

/// What is done, and where the file says so.
pub(super) struct Written<'a> {
    at: BitInstant,
    /// What `[[cut]]` does.
    pub cut: Option<Option<Place>>,
    section: Option<&'a Spanned<AtSection>>,
}

impl Planner<'_> {
    /// All that is done, in order of time, `cuts` among it; at one instant in the order in which it is written, cuts first.
    pub(super) fn deeds_in_order(
        &self,
        stations: &[StationPlan],
        traffic: &[TrafficSpec],
        further: &FurtherTraffic,
        medium: &Config,
        cuts: &[CutPlan],
    ) -> Result<Vec<(BitInstant, LabDeed)>, PlanError> {
        let own = Self::all(self.scenario.at.iter().map(|section| {
            let at = self.instant(section, medium.rate)?;
            Ok(Written { at, cut: None, section: Some(section) })
        }))?;
        let mut all: Vec<Written> = cable(cuts).collect();
        all.extend(own);
        all.sort_by_key(|written| written.at);
        let mut course = Course::new(stations, traffic, further.sources.iter().map(|(station, _)| *station));
        let (mut done, mut wrongs) = (Vec::new(), Vec::new());
        for written in &all {
            let deeds = match written.section {
                Some(section) => self.deeds(written.at, section, &course, medium),
                None => Ok(Self::of_cable(written).into_iter().collect()),
            };
            match deeds {
                Ok(deeds) => deeds.into_iter().for_each(|deed| {
                    course.take(&deed);
                    done.push((written.at, deed));
                }),
                Err(PlanError(more)) => wrongs.extend(more.into_vec()),
            }
        }
        if wrongs.is_empty() { Ok(done) } else { Err(PlanError(Wrongs::new(wrongs))) }
    }

    fn instant(&self, section: &Spanned<AtSection>, rate: BitRate) -> Result<BitInstant, PlanError> {
        let missing = "`time` is missing: write when it happens, like `time = \"1s\"`";
        let time = section.get_ref().time.as_ref().ok_or_else(|| self.at("at", section, missing.to_owned()))?;
        Ok(time.get_ref().on_medium(rate))
    }

    /// The stations that join by the timetable and are none of `stations`, each once, in the order in which they come first.
    pub(super) fn joiners(&self, stations: &[StationPlan], rate: BitRate) -> Result<Vec<Joiner<'_>>, PlanError> {
        let sections = self.scenario.at.iter().map(Spanned::get_ref);
        let add = |section: &'_ AtSection| Some(section.time.as_ref()?.get_ref().on_medium(rate));
        let mut adds: Vec<(BitInstant, &Spanned<StationSection>)> =
            sections.filter_map(|section| Some((add(section)?, section.add.as_ref()?))).collect();
        adds.sort_by_key(|(at, _)| *at);
        let mut joiners: Vec<Joiner<'_>> = Vec::new();
        for (_, section) in adds {
            self.check_joiner(section)?;
            let name = self.station_name(stations.len() + joiners.len(), section.get_ref())?;
            let is_known = stations.iter().any(|station| station.name == name);
            if !is_known && joiners.iter().all(|(known, _)| *known != name) {
                joiners.push((name, section));
            }
        }
        Ok(joiners)
    }

    /// Keys that only a station of the first instant has.
    fn check_joiner(&self, section: &Spanned<StationSection>) -> Result<(), PlanError> {
        let own = section.get_ref();
        let keys = ["run", "root", "files", "memory", "source"];
        match keys.iter().find_map(|key| Some((key, own.place_of(key)?))) {
            None => Ok(()),
            Some((key, span)) => {
                let what =
                    "a station that joins has no such key: leave it out, or write a `[[station]]` section".to_owned();
                Err(self.wrong(key, Some(span), what))
            }
        }
    }

    /// The first `[[at]]` section that adds or removes a station, changes its traffic, or ends the run.
    pub(super) fn host_change(&self) -> Option<Range<usize>> {
        let is_one = |section: &AtSection| {
            let AtSection { add, remove, arrivals, until, .. } = section;
            add.is_some() || remove.is_some() || arrivals.is_some() || until.is_some()
        };
        self.scenario.at.iter().find(|section| is_one(section.get_ref())).map(Spanned::span)
    }

    /// The run with the end that the timetable gives it.
    pub(super) fn with_end(
        &self,
        run: RunPlan,
        done: &[(BitInstant, LabDeed)],
        rate: BitRate,
    ) -> Result<RunPlan, PlanError> {
        let bits = |span| BitTimes::within(span, rate);
        let usual = BitInstant::ZERO + bits(run.warmup) + bits(run.duration);
        let end = end(usual, done);
        if end == usual {
            return Ok(run);
        }
        let begin = BitInstant::ZERO + bits(run.warmup);
        let until = self.scenario.at.iter().rev().find_map(|section| section.get_ref().until.as_ref());
        if end <= begin {
            let what = format!(
                "the run ends before anything is measured, since its warm-up takes {:?}: write a later instant, or a shorter `warmup`",
                run.warmup
            );
            return Err(self.wrong("until", until.map(Spanned::span), what));
        }
        let duration = end.since(begin).at(rate);
        if duration > RunPlan::LONGEST {
            let what = "a run measures 1,000 days at most: write an earlier instant".to_owned();
            return Err(self.wrong("until", until.map(Spanned::span), what));
        }
        Ok(RunPlan { duration, ..run })
    }
}

/// When a lab or a run ends that would end at `usual`: what comes after an end is not done.
pub(super) fn end(usual: BitInstant, done: &[(BitInstant, LabDeed)]) -> BitInstant {
    let mut end = usual;
    for (at, deed) in done {
        if *at >= end {
            break;
        }
        if let LabDeed::Until(until) = deed {
            end = (*until).max(*at);
        }
    }
    end
}

/// What `[[cut]]` sections do to the cable: cut at a place, or mended.
fn cable(cuts: &[CutPlan]) -> impl Iterator<Item = Written<'static>> {
    let written = |at, cut| Written { at, cut: Some(cut), section: None };
    cuts.iter().flat_map(move |cut| {
        let mended = cut.until.map(|until| written(until, None));
        [Some(written(cut.from, Some(cut.place))), mended].into_iter().flatten()
    })
}
