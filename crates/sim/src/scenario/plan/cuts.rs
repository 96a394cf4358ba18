//! When the cable is cut in a scenario, and where.

use super::CutPlan;
use super::planner::Planner;
use crate::scenario::file::{CutSection, DurationText};
use crate::settings::wrong::PlanError;
use medium::{BitInstant, BitTimes, Config};
use std::ops::Range;
use toml::Spanned;

impl Planner<'_> {
    /// Each cut is over before the next: a cable has one at a time.
    pub(super) fn cuts(&self, names: &[&str], medium: &Config) -> Result<Vec<CutPlan>, PlanError> {
        let cuts = Self::all(self.scenario.cut.iter().map(|section| self.cut(section, names, medium)))?;
        for (pair, section) in cuts.windows(2).zip(self.scenario.cut.iter().skip(1)) {
            if pair[0].until.is_none_or(|until| until > pair[1].from) {
                let what = "a cable has one cut at a time: this one begins before the one above it is mended (`until`)";
                return Err(self.at("cut", section, what.to_owned()));
            }
        }
        Ok(cuts)
    }

    /// Where a cable is cut or mended later than at the first instant.
    pub(super) fn timed_cut(&self) -> Option<Range<usize>> {
        let sections = self.scenario.cut.iter().map(Spanned::get_ref);
        let timed = |time: &&Spanned<DurationText>| !time.get_ref().0.is_zero();
        let mut times = sections.flat_map(|cut| [cut.from.as_ref().filter(timed), cut.until.as_ref()]).flatten();
        times.next().map(Spanned::span)
    }

    fn cut(&self, section: &Spanned<CutSection>, names: &[&str], medium: &Config) -> Result<CutPlan, PlanError> {
        let CutSection { between, from, until } = section.get_ref();
        let place = self.place_between("between", section, between, names, medium)?;
        let instant = |text: &Spanned<DurationText>| BitInstant::ZERO + BitTimes::within(text.get_ref().0, medium.rate);
        let from_instant = from.as_ref().map_or(BitInstant::ZERO, instant);
        if let Some(until) = until.as_ref().filter(|&until| instant(until) <= from_instant) {
            let what = "a cable is mended after it was cut: write a time above that of `from`".to_owned();
            return Err(self.at("until", until, what));
        }
        Ok(CutPlan { place, from: from_instant, until: until.as_ref().map(instant) })
    }
}

/// The first of the stations' names, for an error after which the user has to choose one.
pub(super) fn some_names(names: &[&str]) -> String {
    const SHOWN: usize = 8;
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > SHOWN { " …" } else { "" };
    format!("{}{more}", shown.join(", "))
}
