//! One bus of several while it is planned: the bridges that are stations of it, and the stations of other buses.

use super::Plan;
use super::planner::Planner;
use crate::scenario::file::{StationSection, span};
use crate::settings::of_bus::PortSection;
use crate::settings::values::ArrivalsText;
use crate::settings::wrong::PlanError;
use crate::traffic::{Arrivals, To};
use medium::Method;
use toml::Spanned;

/// What a bus needs to know of others while it is planned.
impl Planner<'_> {
    /// One bus, and no bridge; or the bus of several that is planned.
    pub(super) fn one_bus(&self) -> Result<(), PlanError> {
        if let Some(bus) = self.scenario.bus.values().next() {
            let what = "a file of several buses is for `ethbus sim`, `ethbus check`, and `ethbus up --background`, which makes a lab of each, or with `--bus NAME` of one: write one bus, without `[bus.NAME]`";
            return Err(self.at("bus", bus, what.to_owned()));
        }
        match self.scenario.bridge.first() {
            Some(bridge) => {
                let what = "it joins buses, and this file has one alone: write `[bus.NAME]` for each bus".to_owned();
                Err(self.at("bridge", bridge, what))
            }
            None => Ok(()),
        }
    }

    /// Whom frames are for: a word, a station of this bus, or one of another bus.
    pub(super) fn whom(&self, text: &str, names: &[&str]) -> Result<To, String> {
        To::read(text, names).or_else(|what| {
            let beyond = self.overrides.of_bus.everyone.iter().position(|name| name == text.trim());
            beyond.map(|number| To::Beyond(number as u16)).ok_or(what)
        })
    }

    /// Bridges are the last stations of a bus; a section of such a station says where it is.
    pub(super) fn add_ports(&self, sections: &mut Vec<StationSection>) -> Result<(), PlanError> {
        let ports = &self.overrides.of_bus.ports;
        let named = |section: &StationSection, port: &PortSection| {
            section.name.as_ref().is_some_and(|name| name.get_ref() == port.name.get_ref())
        };
        let written = sections.iter().rev().take_while(|section| ports.iter().any(|port| named(section, port))).count();
        let mut own = sections.split_off(sections.len() - written);
        if let Some(early) = sections.iter().find_map(|section| ports.iter().find(|port| named(section, port))) {
            let name = early.name.get_ref();
            let at = sections.iter().find_map(|section| section.name.as_ref().filter(|given| given.get_ref() == name));
            let what = format!("`{name}` is a bridge: write its section behind those of the bus's own stations");
            return Err(self.wrong("name", at.map(Spanned::span), what));
        }
        for port in ports {
            let given = own.iter().position(|section| named(section, port)).map(|index| own.swap_remove(index));
            let mut section = given.unwrap_or_default();
            let offers = span(&section.arrivals).or_else(|| section.source.first().map(Spanned::span));
            if let Some(at) = offers {
                let what = "a bridge offers what it forwards and nothing else: leave it out".to_owned();
                return Err(self.wrong("arrivals", Some(at), what));
            }
            section.name.get_or_insert_with(|| port.name.clone());
            section.arrivals = Some(Spanned::new(port.name.span(), ArrivalsText(Arrivals::Silent)));
            sections.push(section);
        }
        Ok(())
    }

    /// A bridge offers what it forwards and nothing else.
    pub(super) fn check_offers_of_ports(&self, plan: &Plan) -> Result<(), PlanError> {
        let Plan { further, changes, medium, .. } = plan;
        let is_port = |station: usize| medium.port_stations().any(|port| port.index() == station);
        let wrong = |key, at, what: &str| Err(self.wrong(key, at, format!("{what}: name another station")));
        if let Some(number) = further.frames.iter().position(|frame| is_port(frame.station)) {
            let at = self.scenario.frame[number].get_ref().station.as_ref();
            return wrong("station", at.map(Spanned::span), "a bridge offers what it forwards and nothing else");
        }
        let mut offers = changes.iter().filter_map(|(_, deed)| deed.traffic());
        if offers.any(|traffic| is_port(traffic.station)) {
            let at = self.scenario.at.iter().find(|at| {
                let named = at.get_ref().station.as_ref();
                at.get_ref().arrivals.is_some() && named.is_some_and(|name| self.is_named_port(name.get_ref()))
            });
            return wrong("at", at.map(Spanned::span), "a bridge offers what it forwards and nothing else");
        }
        Ok(())
    }

    fn is_named_port(&self, name: &str) -> bool {
        self.overrides.of_bus.ports.iter().any(|port| port.name.get_ref() == name)
    }

    /// The queues of the ports, which a bus of 802.3 can have.
    pub(super) fn ports(&self, method: &Method, seats: usize) -> Result<Vec<usize>, PlanError> {
        let ports = &self.overrides.of_bus.ports;
        let Some(first) = ports.first() else { return Ok(Vec::new()) };
        let name = first.name.get_ref();
        if !matches!(method, Method::CsmaCd | Method::Plca(_)) {
            let what = format!("the bridge `{name}` forwards frames of 802.3: write `csma-cd` or `plca`");
            return Err(self.wrong("method", span(&self.scenario.access.method), what));
        }
        if seats > 0 {
            let what =
                format!("no station joins a bus with a bridge, and `{name}` is one: leave `capacity` and `add` out");
            let at = span(&self.scenario.capacity).or_else(|| self.scenario.at.first().map(Spanned::span));
            return Err(self.wrong("capacity", at, what));
        }
        Ok(ports.iter().map(|port| port.queue).collect())
    }
}
