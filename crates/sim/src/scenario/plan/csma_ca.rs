//! What belongs to CSMA/CA alone: physical layer, RTS, window, retry limits, and who is hidden from whom.

use super::planner::Planner;
use crate::scenario::file::{RetryLimitsText, StationSection, TopologyText, WindowText, value};
use crate::settings::wrong::PlanError;
use crate::traffic::{Arrivals, FurtherTraffic, TrafficSpec};
use crate::words::units::{Length, group};
use medium::{BitRate, Config, CsmaCa, Destination, Method, Octets, Phy, Reach, StationId, Topology};
use std::collections::BTreeSet;

impl Planner<'_> {
    /// The physical layer: 802.11b's at its highest rate unless said otherwise.
    pub(super) fn phy(&self) -> Phy {
        let phy = value(&self.scenario.access.phy).map_or(Phy::Dsss11, |text| text.0);
        let control_rate = self.scenario.access.control_rate.as_ref().map(|rate| rate.get_ref().0);
        if phy == Phy::Dsss11 && control_rate == Some(phy.rate().get()) { Phy::Dsss11Control11 } else { phy }
    }

    /// Refuses a rate of control frames that the physical layer does not have.
    fn check_control_rate(&self) -> Result<(), PlanError> {
        let Some(rate) = &self.scenario.access.control_rate else { return Ok(()) };
        let right = match self.phy() {
            Phy::Dsss11 | Phy::Dsss11Control11 => [1_000_000, 11_000_000].contains(&rate.get_ref().0),
            Phy::Dsss1 | Phy::Fhss1 | Phy::Ofdm(_) => false,
        };
        let what = "it is of `dsss-11`, which sends ACK, RTS and CTS at 1Mbit/s or 11Mbit/s: write one of these, or leave it out";
        if right { Ok(()) } else { Err(self.at("control_rate", rate, what.to_owned())) }
    }

    /// `size` is that of the longest frame that a station offers.
    pub(super) fn csma_ca(
        &self,
        sections: &[StationSection],
        topology: &Topology,
        size: Octets,
    ) -> Result<CsmaCa, PlanError> {
        self.check_control_rate()?;
        let access = &self.scenario.access;
        let standard = CsmaCa::new(self.phy(), size);
        let usual = WindowText(standard.window, standard.most_window);
        let WindowText(window, most_window) = value(&access.window).unwrap_or(usual);
        let usual = RetryLimitsText(standard.short_retry_limit, standard.long_retry_limit);
        let RetryLimitsText(short_retry_limit, long_retry_limit) = value(&access.retry_limits).unwrap_or(usual);
        let rts = value(&access.rts).unwrap_or(false);
        let reach = self.reach(sections, topology)?;
        let capture = self.capture(sections, topology)?;
        Ok(CsmaCa { rts, window, most_window, short_retry_limit, long_retry_limit, reach, capture, ..standard })
    }

    /// Who hears whom, by where they are on the line. A bit time is too coarse for that: positions are in millimetres.
    fn reach(&self, sections: &[StationSection], topology: &Topology) -> Result<Option<Reach>, PlanError> {
        let Some(given) = &self.scenario.access.range else { return Ok(None) };
        let Topology::Bus { .. } = topology else {
            let what = "stations have a range where they stand along a line: write `topology = \"bus:200m\"`";
            return Err(self.at("range", given, what.to_owned()));
        };
        let positions = self.millimetres(sections)?;
        let range = self.in_millimetres(given.get_ref().0, self.rate()?);
        Ok(Some(Reach { range, positions }))
    }

    /// A length in millimetres.
    fn in_millimetres(&self, length: Length, rate: BitRate) -> u64 {
        match length {
            Length::Metres(metres) => (metres * 1000.0).round() as u64,
            Length::BitTimes(bits) => (bits as f64 * self.metres_per_bit(rate) * 1000.0).round() as u64,
        }
    }

    /// Where the stations of a bus are, in millimetres.
    pub(super) fn millimetres(&self, sections: &[StationSection]) -> Result<Vec<u64>, PlanError> {
        let rate = self.rate()?;
        let millimetres = |length: Length| self.in_millimetres(length, rate);
        let end = match value(&self.scenario.medium.topology) {
            Some(TopologyText::Bus(length)) => millimetres(length) as f64,
            Some(TopologyText::Star(_) | TopologyText::Segments) | None => 0.0,
        };
        // Seats are where the last station is.
        let last = self.sections()?.len().saturating_sub(1);
        let place = |(index, section): (usize, &StationSection)| {
            let even = (end * index.min(last) as f64 / last.max(1) as f64).round() as u64;
            section.position.as_ref().map_or(even, |position| millimetres(position.get_ref().0))
        };
        Ok(sections.iter().enumerate().map(place).collect())
    }
}

/// Frames for a station that does not hear their sender: each such pair, up to a number of them.
pub(super) fn range_warnings(
    medium: &Config,
    names: &[&str],
    traffic: &[TrafficSpec],
    further: &FurtherTraffic,
) -> Vec<String> {
    /// Further pairs are counted only.
    const NAMED: usize = 4;
    let Method::CsmaCa(CsmaCa { reach: Some(reach), .. }) = &medium.method else { return Vec::new() };
    let metres = |millimetres: u64| format!("{} m", millimetres as f64 / 1000.0);
    let warning = |&(from, to): &(usize, usize)| {
        let distance = reach.positions[from].abs_diff(reach.positions[to]);
        format!(
            "{} sends to {}, which is {} away, and the range is {}: no frame of it arrives; write another `destination` or a longer range",
            names[from],
            names[to],
            metres(distance),
            metres(reach.range)
        )
    };
    let pairs = out_of_reach(reach, names.len(), traffic, further);
    let more = pairs.len().saturating_sub(NAMED) as u64;
    let more = (more > 0).then(|| format!("{} further destinations are out of range, too", group(more)));
    pairs.iter().take(NAMED).map(warning).chain(more).collect()
}

/// Senders and addressees that do not hear each other. A replay's addressees are those of its file.
fn out_of_reach(
    reach: &Reach,
    stations: usize,
    traffic: &[TrafficSpec],
    further: &FurtherTraffic,
) -> BTreeSet<(usize, usize)> {
    let sends = |spec: &TrafficSpec| !matches!(spec.arrivals, Arrivals::Silent | Arrivals::Replay { .. });
    let sources = traffic.iter().enumerate().chain(further.sources.iter().map(|(station, spec)| (*station, spec)));
    let drawn = sources.filter(|(_, spec)| sends(spec)).flat_map(|(own, spec)| {
        let to = spec.destination.unwrap_or_default();
        to.addressees(own, stations).map(move |addressee| (own, addressee))
    });
    let written = further.frames.iter().filter_map(|scripted| match scripted.frame.destination {
        Destination::Station(to) => Some((scripted.station, to.index())),
        Destination::All | Destination::Nobody | Destination::Beyond(_) => None,
    });
    let station = |number: usize| StationId::new(number as u16);
    drawn.chain(written).filter(|&(from, to)| !reach.joins(station(from), station(to))).collect()
}
