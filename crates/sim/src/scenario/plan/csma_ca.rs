//! What belongs to CSMA/CA alone: physical layer, RTS, window, retry limits, and who is hidden from whom.

use super::{PlanError, Planner};
use crate::scenario::file::{RetryLimitsText, StationSection, TopologyText, WindowText, value};
use crate::words::units::Length;
use medium::{CsmaCa, Octets, Phy, Reach, Topology};

impl Planner<'_> {
    /// The physical layer: 802.11b's at its highest rate unless said otherwise.
    pub(super) fn phy(&self) -> Phy {
        value(&self.scenario.access.phy).map_or(Phy::Dsss11, |text| text.0)
    }

    /// `size` is that of the longest frame that anybody offers.
    pub(super) fn csma_ca(
        &self,
        sections: &[StationSection],
        topology: &Topology,
        size: Octets,
    ) -> Result<CsmaCa, PlanError> {
        let access = &self.scenario.access;
        let standard = CsmaCa::new(self.phy(), size);
        let usual = WindowText(standard.window, standard.most_window);
        let WindowText(window, most_window) = value(&access.window).unwrap_or(usual);
        let usual = RetryLimitsText(standard.short_retry_limit, standard.long_retry_limit);
        let RetryLimitsText(short_retry_limit, long_retry_limit) = value(&access.retry_limits).unwrap_or(usual);
        let rts = value(&access.rts).unwrap_or(false);
        let reach = self.reach(sections, topology)?;
        Ok(CsmaCa { rts, window, most_window, short_retry_limit, long_retry_limit, reach, ..standard })
    }

    /// Who hears whom, by where they are on the line. A bit time is too coarse for that: positions are in millimetres.
    fn reach(&self, sections: &[StationSection], topology: &Topology) -> Result<Option<Reach>, PlanError> {
        let Some(given) = &self.scenario.access.range else { return Ok(None) };
        let Topology::Bus { positions } = topology else {
            let what = "stations have a range where they stand along a line: write `topology = \"bus:200m\"`";
            return Err(self.at("range", given, what.to_owned()));
        };
        let rate = self.rate()?;
        let millimetres = |length: Length| match length {
            Length::Metres(metres) => (metres * 1000.0).round() as u64,
            Length::BitTimes(bits) => (bits as f64 * self.metres_per_bit(rate) * 1000.0).round() as u64,
        };
        let end = match value(&self.scenario.medium.topology) {
            Some(TopologyText::Bus(length)) => millimetres(length) as f64,
            Some(TopologyText::Star(_) | TopologyText::Segments) | None => 0.0,
        };
        let last = positions.len().saturating_sub(1).max(1) as f64;
        let place = |(index, section): (usize, &StationSection)| {
            let even = (end * index as f64 / last).round() as u64;
            section.position.as_ref().map_or(even, |position| millimetres(position.get_ref().0))
        };
        let positions = sections.iter().enumerate().map(place).collect();
        Ok(Some(Reach { range: millimetres(given.get_ref().0), positions }))
    }
}
