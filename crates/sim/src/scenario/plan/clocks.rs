//! The clocks of a plan's stations.

use super::planner::Planner;
use crate::scenario::file::StationSection;
use crate::settings::wrong::PlanError;
use medium::Method;

impl Planner<'_> {
    /// By how much the clock of each station is fast, in parts per million, up to the last one that is off.
    pub(super) fn clocks(&self, sections: &[StationSection], method: &Method) -> Result<Vec<i32>, PlanError> {
        let ppm = |section: &StationSection| section.clock.as_ref().map_or(0, |clock| clock.get_ref().0);
        let last = sections.iter().rposition(|section| ppm(section) != 0);
        let Some(last) = last else { return Ok(Vec::new()) };
        let shares_slots = matches!(method, Method::SlottedAloha(own) if own.control.is_some());
        if let (true, Some(clock)) = (shares_slots, &sections[last].clock) {
            let what = "with `control` all stations share their slots: leave this out, or leave out `control`";
            return Err(self.at("clock", clock, what.to_owned()));
        }
        Ok(sections[..=last].iter().map(ppm).collect())
    }
}
