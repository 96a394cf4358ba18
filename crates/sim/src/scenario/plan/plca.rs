//! PLCA of a plan: the nodes' settings, what belongs to PLCA alone, and what is legal but unwise, with its cost.

use super::planner::Planner;
use crate::scenario::file::{BitTimesText, Given, PlcaSection, StationSection, span, value};
use crate::settings::keys::PLCA;
use crate::settings::overrides::option_at;
use crate::settings::wrong::PlanError;
use crate::words::macphy::{self, FURTHER, NO_CLOCK, Written};
use crate::words::plca::{Segment, number, unwise};
use medium::{BitTimes, Config, Deed, MacPhy, Method, Plca, PlcaNode, PlcaSettings, StationId};
use toml::Spanned;

fn bits(given: &Given<BitTimesText>) -> Option<BitTimes> {
    value(given).map(BitTimes::from)
}

/// The settings with what a section changes.
fn changed(mut settings: PlcaSettings, section: &PlcaSection) -> PlcaSettings {
    settings.enabled = value(&section.enable).unwrap_or(settings.enabled);
    settings.node_id = value(&section.node_id).unwrap_or(settings.node_id);
    settings.node_count = value(&section.node_cnt).unwrap_or(settings.node_count);
    settings.to_timer = value(&section.to_tmr).unwrap_or(settings.to_timer);
    settings.burst_count = value(&section.burst_cnt).unwrap_or(settings.burst_count);
    settings.burst_timer = value(&section.burst_tmr).unwrap_or(settings.burst_timer);
    settings.dplca = value(&section.dplca).unwrap_or(settings.dplca);
    settings.coordinator_role = value(&section.coordinator_role).unwrap_or(settings.coordinator_role);
    settings.aging_cycles = value(&section.aging_cycles).unwrap_or(settings.aging_cycles);
    settings
}

/// The keys of a MAC-PHY in a section.
fn written(section: &PlcaSection) -> Written {
    let number = |given: &Given<u8>| value(given).map(u64::from);
    Written {
        clock: section.spi_clock.as_ref().map(|clock| clock.get_ref().0),
        chunk: number(&section.spi_chunk),
        transfer: number(&section.spi_transfer),
        credits: number(&section.tx_credits),
        threshold: number(&section.tx_threshold),
        cut_through: number(&section.cut_through),
    }
}

impl Planner<'_> {
    /// PLCA of all stations: ids in order of stations, and the node count right, unless said otherwise.
    pub(super) fn plca(&self, sections: &[StationSection]) -> Result<Plca, PlanError> {
        let common = &self.scenario.plca;
        let named = [("node-id", span(&common.node_id)), ("more-ids", span(&common.more_ids))];
        if let Some((key, span)) = named.into_iter().find_map(|(key, span)| Some((key, span?))) {
            let what = "ids are each station's own: write `plca.node-id` in its `[[station]]` section".to_owned();
            return Err(self.wrong(key, Some(span), what));
        }
        let right = Plca::right(sections.len());
        let nodes = Self::all(sections.iter().zip(&right.nodes).map(|(section, node)| {
            let settings = changed(node.settings, common);
            let node = PlcaNode { settings, ..*node };
            let mut node = Self::told(node, common);
            node.clock_ppm = section.clock.as_ref().map_or(node.clock_ppm, |clock| clock.get_ref().0);
            let node = Self::told(PlcaNode { settings: changed(settings, &section.plca), ..node }, &section.plca);
            let macphy = self.macphy(&section.plca, common)?;
            self.told_dynamic(self.told_ids(PlcaNode { macphy, ..node }, section)?, section)
        }))?;
        let standard = Plca::new(nodes);
        Ok(Plca {
            delay_line: bits(&common.delay_line).unwrap_or(standard.delay_line),
            status: bits(&common.status_timer).unwrap_or(standard.status),
            invalid_beacon: bits(&common.invalid_beacon_timer).unwrap_or(standard.invalid_beacon),
            phy_on: bits(&common.phy_on).unwrap_or(standard.phy_on),
            cold_start: value(&common.cold_start).unwrap_or(false),
            phy_off: bits(&common.phy_off).or(bits(&common.phy_on)).unwrap_or(standard.phy_off),
            ..standard
        })
    }

    /// The MAC-PHY of a station, if it or all have one.
    fn macphy(&self, section: &PlcaSection, common: &PlcaSection) -> Result<Option<MacPhy>, PlanError> {
        let place = |key: &'static str| {
            let of =
                |section: &PlcaSection| PLCA.iter().find(|it| it.name == key).and_then(|it| section.place_of(it.field));
            of(section).or_else(|| of(common))
        };
        let Some(macphy) = written(section).or(written(common)).macphy() else {
            let key = FURTHER.into_iter().find(|key| place(key).is_some());
            return key.map_or(Ok(None), |key| Err(self.wrong(key, place(key), NO_CLOCK.to_owned())));
        };
        let longest = self.scenario.medium.max_frame_size.as_ref().map_or(1518, |size| size.get_ref().0);
        match macphy::problem(&macphy, longest) {
            Some((key, what)) => Err(self.wrong(key, place(key).or_else(|| place("spi-clock")), what)),
            None => Ok(Some(macphy)),
        }
    }

    /// What chips and host make of it.
    fn told(mut node: PlcaNode, section: &PlcaSection) -> PlcaNode {
        node.collision_detection = value(&section.collision_detection).unwrap_or(node.collision_detection);
        node.heeds_logical_collisions = value(&section.logical_collisions).unwrap_or(node.heeds_logical_collisions);
        node.host_delay = section.host_delay.as_ref().map_or(node.host_delay, |delay| delay.get_ref().0);
        node.skipped_turns = value(&section.skip_turns).unwrap_or(node.skipped_turns);
        node.clock_ppm = section.clock.as_ref().map_or(node.clock_ppm, |clock| clock.get_ref().0);
        node
    }

    fn told_ids(&self, mut node: PlcaNode, section: &StationSection) -> Result<PlcaNode, PlanError> {
        let of_all = [
            ("delay-line", span(&section.plca.delay_line)),
            ("status-timer", span(&section.plca.status_timer)),
            ("invalid-beacon-timer", span(&section.plca.invalid_beacon_timer)),
            ("phy-on", span(&section.plca.phy_on)),
            ("phy-off", span(&section.plca.phy_off)),
            ("cold-start", span(&section.plca.cold_start)),
        ];
        if let Some((key, span)) = of_all.into_iter().find_map(|(key, span)| Some((key, span?))) {
            let what = "it is the same at all stations: write it in a section `[plca]`".to_owned();
            return Err(self.wrong(key, Some(span), what));
        }
        if let Some(more) = &section.plca.more_ids {
            if more.get_ref().len() > node.more_ids.len() {
                let what = format!("a node has up to {} further ids", node.more_ids.len());
                return Err(self.at("more-ids", more, what));
            }
            for (id, given) in node.more_ids.iter_mut().zip(more.get_ref()) {
                *id = number("more-ids", given, 0, "802.3, 30.16.1.1.4")
                    .map_err(|what| self.at("more-ids", more, what))?;
            }
        }
        Ok(node)
    }

    /// With D-PLCA the node finds its id.
    fn told_dynamic(&self, mut node: PlcaNode, section: &StationSection) -> Result<PlcaNode, PlanError> {
        let (own, common) = (&section.plca, &self.scenario.plca);
        if !node.settings.dplca {
            return Ok(node);
        }
        let fixed = [
            ("node-id", span(&own.node_id)),
            ("more-ids", span(&own.more_ids)),
            ("node-cnt", span(&own.node_cnt)),
            ("node-cnt", span(&common.node_cnt)),
        ];
        if let Some((key, span)) = fixed.into_iter().find_map(|(key, span)| Some((key, span?))) {
            let what =
                "with D-PLCA the node finds it: leave it out, or write `plca.dplca = false` in its `[[station]]`";
            return Err(self.wrong(key, Some(span), what.to_owned()));
        }
        node.settings = node.settings.told();
        Ok(node)
    }

    /// What an `[[at]]` section tells the PLCA of `station`: all that it does not say stays as it was at first.
    pub(super) fn set_plca(
        &self,
        section: &Spanned<PlcaSection>,
        station: StationId,
        medium: &Config,
    ) -> Result<Deed, PlanError> {
        let Method::Plca(plca) = &medium.method else {
            let what = "only a bus with PLCA has it: choose `method = \"plca\"` in `[access]`".to_owned();
            return Err(self.at("plca", section, what));
        };
        let node = &plca.nodes[station.index()];
        let own = section.get_ref();
        let settings = changed(node.settings, own);
        let given = own.node_id.is_some() || own.node_cnt.is_some();
        if settings.dplca && given {
            let what = "with D-PLCA the node finds its id and the node count: leave them out".to_owned();
            return Err(self.at("plca", section, what));
        }
        if node.settings.dplca && !settings.dplca && own.node_id.is_none() {
            let what =
                "without D-PLCA the node needs an id: write `plca.node-id` beside `plca.dplca = false`".to_owned();
            return Err(self.at("plca", section, what));
        }
        let settings = settings.told();
        settings.check().map_err(|error| self.at("plca", section, error.to_string()))?;
        Ok(Deed::Plca { station, settings })
    }
}

impl Planner<'_> {
    /// Settings of PLCA in a file whose method is another one: nothing reads them. An option that chooses the method means it.
    pub(super) fn unread_plca(&self, sections: &[StationSection], method: &Method) -> Option<String> {
        let chosen = span(&self.scenario.access.method).is_some_and(|place| option_at(&place).is_some());
        if chosen || matches!(method, Method::Plca(_)) {
            return None;
        }
        let all = sections.iter().map(|section| &section.plca).chain([&self.scenario.plca]);
        let place = all
            .flat_map(|section| PLCA.iter().filter_map(|key| section.place_of(key.field)))
            .min_by_key(|place| place.start)?;
        let line = self.place(Some(place)).map_or_else(String::new, |place| format!(" (line {})", place.line));
        Some(format!(
            "settings of PLCA{line} have no effect: write `method = \"plca\"` in [access], or `--access plca`"
        ))
    }
}

/// What is legal with PLCA but unwise, and what it costs in bit times.
pub(super) fn plca_warnings(medium: &Config, names: &[&str]) -> Vec<String> {
    let Method::Plca(plca) = &medium.method else { return Vec::new() };
    if plca.has_dynamic() {
        let leads =
            |node: &PlcaNode| node.settings.node_id == 0 || node.settings.dplca && node.settings.coordinator_role;
        let none = "no node has id 0, and coordinator-role = false holds for all others: no BEACON ever comes";
        return if plca.nodes.iter().any(leads) { Vec::new() } else { vec![none.to_owned()] };
    }
    let nodes: Vec<(PlcaSettings, &[u8])> = plca.nodes.iter().map(|node| (node.settings, &node.more_ids[..])).collect();
    let round_trip = medium.topology.round_trip() + plca.phy_on;
    unwise(Segment { nodes: &nodes, names, round_trip })
}
