//! When the cable is cut in a scenario, and where.

use super::{CutPlan, PlanError, Planner};
use crate::scenario::file::{CutSection, DurationText};
use crate::words::cable::Cut;
use medium::{BitInstant, BitTimes, Config};
use toml::Spanned;

impl Planner<'_> {
    /// Each cut is over before the next: a cable has one at a time.
    pub(super) fn cuts(&self, names: &[&str], medium: &Config) -> Result<Vec<CutPlan>, PlanError> {
        let mut cuts: Vec<CutPlan> = Vec::new();
        for section in &self.scenario.cut {
            let cut = self.cut(section, names, medium)?;
            if let Some(before) = cuts.last()
                && before.until.is_none_or(|until| until > cut.from)
            {
                let what = "a cable has one cut at a time: this one begins before the one above it is mended (`until`)";
                return Err(self.at("cut", section, what.to_owned()));
            }
            cuts.push(cut);
        }
        Ok(cuts)
    }

    fn cut(&self, section: &Spanned<CutSection>, names: &[&str], medium: &Config) -> Result<CutPlan, PlanError> {
        let CutSection { between, from, until } = section.get_ref();
        let [one, other] = &between[..] else {
            let what = "a cut is between two stations: write `between = [\"st1\", \"st2\"]`".to_owned();
            return Err(self.at("between", section, what));
        };
        let number = |name: &Spanned<String>| {
            let found = names.iter().position(|known| known == name.get_ref());
            found.ok_or_else(|| self.at("between", name, format!("no station is called `{}`", name.get_ref())))
        };
        let stations = [number(one)?, number(other)?];
        let cut = Cut::between(&medium.topology, [one.get_ref(), other.get_ref()], stations);
        let place = cut.map_err(|what| self.at("between", one, what))?.into();
        let instant = |text: &Spanned<DurationText>| BitInstant::ZERO + BitTimes::within(text.get_ref().0, medium.rate);
        let from_instant = from.as_ref().map_or(BitInstant::ZERO, instant);
        if let Some(until) = until.as_ref().filter(|&until| instant(until) <= from_instant) {
            let what = "a cable is mended after it was cut: write a time above that of `from`".to_owned();
            return Err(self.at("until", until, what));
        }
        Ok(CutPlan { place, from: from_instant, until: until.as_ref().map(instant) })
    }
}
