//! Several buses of one file, and the bridges that join them.
//!
//! Each bus is planned as a scenario of its own. Only here is known what concerns them together: names and addresses that
//! all of them share, and that bridges close no loop.

use super::host::Host;
use super::planner::Planner;
use super::{Plan, ReadError, RunPlan};
use crate::scenario::file::{
    BridgeSection, Reading, Scenario, ScenarioError, SourceText, StationSection, file_text, span, value,
};
use crate::settings::of_bus::{OfBus, PortSection};
use crate::settings::overrides::Overrides;
use crate::settings::values::RunTimeText;
use crate::settings::wrong::{PlanError, Wrong, Wrongs, meant};
use crate::words::interface::station_name;
use crate::words::units::{RunTime, lab_name, many};
use backoff::Generator;
use medium::{BitRate, BitTimes, Config, StationId};
use std::collections::HashMap;
use std::fmt::Display;
use std::hash::Hash;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;
use toml::Spanned;

/// Buses and bridges that can be run together.
#[derive(Clone, Debug)]
pub struct Bridged {
    /// The name of all together.
    pub name: String,
    /// Seed of all together; each bus has one of its own from it.
    pub seed: u64,
    /// How long they run.
    pub run: RunPlan,
    /// The names of buses in the file, in the order of `buses`.
    pub names: Vec<String>,
    /// The buses, in order of their names.
    pub buses: Vec<Plan>,
    /// The bridges, as written.
    pub bridges: Vec<BridgePlan>,
}

/// A bridge of a plan.
#[derive(Clone, Debug)]
pub struct BridgePlan {
    /// Its name.
    pub name: String,
    /// From the last bit of a frame to when its copy is offered.
    pub latency: Duration,
    /// How long a silent station stays learned.
    pub ageing: Duration,
    /// Its ports, in the order in which it names their buses.
    pub ports: Vec<PortPlan>,
}

/// A port of a bridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortPlan {
    /// The number of its bus.
    pub bus: usize,
    /// Its station there.
    pub station: StationId,
}

impl Plan {
    /// The bus called `bus` of a scenario file of several, as a lab of its own.
    ///
    /// # Errors
    /// As [`Plan::read`]; no such bus.
    pub fn read_bus(
        scenario: Option<&Path>,
        bus: &str,
        overrides: &Overrides,
        drawn_seed: u64,
    ) -> Result<Plan, ReadError> {
        match Planned::read(scenario, overrides, drawn_seed)? {
            Planned::One(_) => {
                let what = "the scenario has one bus, and no `[bus.NAME]`: leave it out".to_owned();
                Err(PlanError::option("--bus", what).into())
            }
            Planned::Several(bridged) => Ok(bridged.lab(bus)?),
        }
    }
}

impl Bridged {
    /// The buses of a scenario file, if it has several.
    ///
    /// # Errors
    /// As [`Plan::read`], of a file with several.
    pub fn read(path: &Path, overrides: &Overrides, drawn_seed: u64) -> Result<Option<Bridged>, ReadError> {
        let reading = Reading::of(path, file_text(path)?);
        let has_several = !reading.scenario.bus.is_empty();
        has_several.then(|| Bridged::of_reading(reading, overrides, drawn_seed)).transpose()
    }

    fn of_reading(reading: Reading, overrides: &Overrides, drawn_seed: u64) -> Result<Bridged, ReadError> {
        if !reading.wrongs.is_empty() {
            return Err(ScenarioError::Content(Wrongs::new(reading.wrongs)).into());
        }
        let root = overrides.over(&reading.scenario);
        Ok(Together::new(&root, &reading.source, overrides).plan(drawn_seed)?)
    }

    /// The same with another seed, which is `number` more: one of several independent runs.
    #[must_use]
    pub fn replica(&self, number: u64) -> Bridged {
        let mut replica = Bridged { seed: self.seed.wrapping_add(number), ..self.clone() };
        let buses = replica.buses.iter_mut().zip(&replica.names);
        buses.for_each(|(plan, bus)| plan.medium.seed = seed_of(replica.seed, bus));
        replica
    }

    /// What `of` warns of in each bus, with the bus's name before it.
    pub fn warnings(&self, of: impl Fn(&Plan) -> Vec<String>) -> Vec<String> {
        let named = self.names.iter().zip(&self.buses);
        named.flat_map(|(name, plan)| of(plan).into_iter().map(move |warning| format!("{name}: {warning}"))).collect()
    }

    /// The names of buses in the order in which their labs come up: the lab that makes a bridge before those that find it.
    pub fn coming_up(&self) -> Vec<&str> {
        let mut order: Vec<usize> = Vec::new();
        while order.len() < self.buses.len() {
            let waits = |bus: usize| {
                let finds = |bridge: &&BridgePlan| bridge.ports[1..].iter().any(|port| port.bus == bus);
                self.bridges.iter().filter(finds).any(|bridge| !order.contains(&bridge.ports[0].bus))
            };
            let next = (0..self.buses.len()).find(|bus| !order.contains(bus) && !waits(*bus));
            order.push(next.expect("bridges close no loop"));
        }
        order.into_iter().map(|bus| self.names[bus].as_str()).collect()
    }

    /// One bus as a lab, where the kernel is the bridge: the lab of the first bus that a bridge joins makes it, and those of
    /// the others find it.
    ///
    /// # Errors
    /// No bus has this name.
    pub fn lab(mut self, bus: &str) -> Result<Plan, PlanError> {
        let Some(number) = self.names.iter().position(|name| name == bus) else {
            let known = self.names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            return Err(PlanError::option("--bus", format!("`{bus}` is no bus of the scenario: it has {known}")));
        };
        let own = |plan: &Plan| plan.stations.len() - plan.medium.ports.len();
        let beyond = self.buses.iter().flat_map(|plan| plan.stations[..own(plan)].iter().map(|station| station.mac));
        let beyond = beyond.collect();
        let mut plan = self.buses.swap_remove(number);
        for bridge in &self.bridges {
            if let Some(place) = bridge.ports.iter().position(|port| port.bus == number) {
                let station = &mut plan.stations[bridge.ports[place].station.index()];
                // A station that makes its bridge gives it its own name.
                station.host = Host::Bridge((place > 0).then(|| bridge.name.clone()));
            }
        }
        // In a lab every station gets every frame.
        plan.medium.ports.clear();
        plan.beyond = beyond;
        lab_name(&plan.name).map_err(|what| PlanError::option("--bus", format!("{what}, with a point between")))?;
        Ok(plan)
    }
}

/// What a scenario file makes.
#[derive(Clone, Debug)]
pub enum Planned {
    /// One bus.
    One(Box<Plan>),
    /// Several.
    Several(Bridged),
}

impl Planned {
    /// Reads a scenario of one bus or several, as [`Plan::read`] does.
    ///
    /// # Errors
    /// As [`Plan::read`].
    pub fn read(scenario: Option<&Path>, overrides: &Overrides, drawn_seed: u64) -> Result<Planned, ReadError> {
        let one = |plan| Planned::One(Box::new(plan));
        let Some(path) = scenario else { return Plan::read(None, overrides, drawn_seed).map(one) };
        Planned::of_text(path, file_text(path)?, overrides, drawn_seed)
    }

    /// The same from `text`, which is the content of the file `path`.
    ///
    /// # Errors
    /// As [`Plan::read`].
    pub fn of_text(path: &Path, text: String, overrides: &Overrides, drawn_seed: u64) -> Result<Planned, ReadError> {
        let reading = Reading::of(path, text);
        match reading.scenario.bus.is_empty() {
            true => Plan::of_reading(reading, overrides, drawn_seed).map(|plan| Planned::One(Box::new(plan))),
            false => Bridged::of_reading(reading, overrides, drawn_seed).map(Planned::Several),
        }
    }
}

/// A file of several buses while it is planned.
struct Together<'a> {
    root: &'a Scenario,
    source: &'a SourceText,
    overrides: &'a Overrides,
    buses: Vec<(&'a str, &'a Spanned<Scenario>)>,
}

/// Names of stations, each with its place.
type Names = Vec<(String, Range<usize>)>;

/// A bridge as it is read, with the numbers of its buses.
struct Read<'a> {
    section: &'a BridgeSection,
    name: &'a Spanned<String>,
    joins: Vec<(usize, Range<usize>)>,
}

impl<'a> Together<'a> {
    fn new(root: &'a Scenario, source: &'a SourceText, overrides: &'a Overrides) -> Together<'a> {
        let buses = root.bus.iter().map(|(name, bus)| (name.as_str(), bus)).collect();
        Together { root, source, overrides, buses }
    }

    fn wrong(&self, name: &str, span: Option<Range<usize>>, what: String) -> PlanError {
        Wrong { place: span.map(|span| self.source.place(span)), name: name.to_owned(), what }.into()
    }

    fn plan(&self, drawn_seed: u64) -> Result<Bridged, PlanError> {
        let bridges = Planner::all(self.root.bridge.iter().map(|bridge| self.bridge(bridge)))?;
        self.check_loops(&bridges)?;
        let name = value(&self.root.name).unwrap_or_else(|| super::DEFAULT_NAME.to_owned());
        let seed = value(&self.root.seed).unwrap_or(drawn_seed);
        let mut of_buses = self.of_buses(&bridges);
        let everyone = self.everyone(&of_buses, &bridges)?;
        of_buses.iter_mut().for_each(|(of_bus, _)| of_bus.everyone.clone_from(&everyone));
        let run = self.run()?;
        let plans = self.buses.iter().zip(of_buses).map(|((bus, scenario), (of_bus, _))| {
            let overrides = self.overrides.of_bus(of_bus);
            let named = Some(Spanned::new(scenario.span(), bus_lab_name(&name, bus)));
            let run = self.root.run.clone();
            let scenario = Scenario { name: named, run, ..scenario.get_ref().clone() };
            let planner = |scenario| Planner::new(scenario, Some(self.source), &overrides, &[]);
            let mut plan = planner(&scenario).plan(drawn_seed)?;
            planner(&scenario).check_offers_of_ports(&plan)?;
            plan.medium.seed = seed_of(seed, bus);
            Ok(plan)
        });
        let buses: Vec<Plan> = Planner::all(plans)?;
        self.check_addresses(&buses)?;
        let bridges = bridges.iter().map(|bridge| bridge.plan(&buses)).collect();
        let names = self.buses.iter().map(|(name, _)| (*name).to_owned()).collect();
        let bridged = Bridged { name, seed, run, names, buses, bridges };
        self.check_latencies(&bridged)?;
        Ok(bridged)
    }

    /// A bridge that joins buses of the file, each once.
    fn bridge(&self, section: &'a Spanned<BridgeSection>) -> Result<Read<'a>, PlanError> {
        let missing = |what: &str| self.wrong("bridge", Some(section.span()), what.to_owned());
        let BridgeSection { name, joins, .. } = section.get_ref();
        let name = name.as_ref().ok_or_else(|| missing("it has no name: write one, like `name = \"sw\"`"))?;
        station_name(name.get_ref()).map_err(|what| self.wrong("name", Some(name.span()), what))?;
        let known = || self.buses.iter().map(|(bus, _)| *bus);
        let mut numbers: Vec<(usize, Range<usize>)> = Vec::new();
        for bus in joins {
            let wrong = |what| self.wrong("joins", Some(bus.span()), what);
            let text = bus.get_ref();
            let Some(number) = known().position(|known| known == text) else {
                let near = meant(text, known()).map_or_else(String::new, |near| format!("did you mean `{near}`? "));
                let known = known().map(|bus| format!("`{bus}`")).collect::<Vec<_>>().join(", ");
                return Err(wrong(format!("`{text}` is no bus of this file: {near}Known here: {known}")));
            };
            if numbers.iter().any(|(other, _)| *other == number) {
                return Err(wrong(format!("`{text}` is there twice: a bridge has one port on each of its buses")));
            }
            numbers.push((number, bus.span()));
        }
        if numbers.len() < 2 {
            return Err(missing("a bridge joins two buses or more: write them, like `joins = [\"front\", \"rear\"]`"));
        }
        let latency = section.get_ref().latency.as_ref();
        if let Some(zero) = latency.filter(|latency| latency.get_ref().0.is_zero()) {
            let what = "`0`: a bridge that stores a frame takes time to forward it: write one, like `\"50us\"`";
            return Err(self.wrong("latency", Some(zero.span()), what.to_owned()));
        }
        Ok(Read { section: section.get_ref(), name, joins: numbers })
    }

    /// A frame for all would go round in a loop for ever.
    fn check_loops(&self, bridges: &[Read<'_>]) -> Result<(), PlanError> {
        let mut reached: Vec<usize> = (0..self.buses.len()).collect();
        for bridge in bridges {
            for (number, (bus, span)) in bridge.joins.iter().enumerate() {
                let (from, to) = (reached[*bus], reached[bridge.joins[0].0]);
                if number > 0 && from == to {
                    let what = format!(
                        "`{}` closes a loop: other bridges join {} to it already, bridges have no spanning tree here, and a frame for all would go round for ever: leave it out",
                        self.buses[*bus].0, self.buses[bridge.joins[0].0].0
                    );
                    return Err(self.wrong("joins", Some(span.clone()), what));
                }
                reached.iter_mut().filter(|reached| **reached == from).for_each(|reached| *reached = to);
            }
        }
        Ok(())
    }

    /// What each bus is among the others, and the names of its own stations.
    fn of_buses(&self, bridges: &[Read<'_>]) -> Vec<(OfBus, Names)> {
        let mut before = 0;
        let of_bus = |(number, (bus, scenario)): (usize, &(&str, &Spanned<Scenario>))| {
            let here = bridges.iter().filter(|bridge| bridge.joins.iter().any(|(joined, _)| *joined == number));
            let port = |bridge: &Read<'_>| PortSection {
                name: bridge.name.clone(),
                queue: value(&bridge.section.queue).unwrap_or(Config::DEFAULT_QUEUE_LIMIT),
            };
            let ports: Vec<PortSection> = here.map(port).collect();
            let of_bus = OfBus { name: (*bus).to_owned(), ports, everyone: Vec::new(), before };
            let overrides = self.overrides.of_bus(of_bus.clone());
            let planner = Planner::new(scenario.get_ref(), Some(self.source), &overrides, &[]);
            // What is wrong with sections or names is said when the bus is planned.
            let sections = planner.sections().unwrap_or_default();
            let own = sections.len().saturating_sub(of_bus.ports.len());
            let name = |(index, section): (usize, &StationSection)| {
                let at = span(&section.name).unwrap_or_else(|| scenario.span());
                Some((planner.station_name(index, section).ok()?, at))
            };
            let names = sections[..own].iter().enumerate().filter_map(name).collect();
            before += sections.len();
            (of_bus, names)
        };
        self.buses.iter().enumerate().map(of_bus).collect()
    }

    /// The names of all stations, each of which is one station's or one bridge's.
    fn everyone(&self, of_buses: &[(OfBus, Names)], bridges: &[Read<'_>]) -> Result<Vec<String>, PlanError> {
        let mut taken: HashMap<&str, String> = HashMap::new();
        let bridges = bridges.iter().map(|bridge| (bridge.name.get_ref(), bridge.name.span(), "a bridge".to_owned()));
        let stations = of_buses.iter().flat_map(|(of_bus, names)| {
            names.iter().map(|(name, span)| (name, span.clone(), format!("a station of `{}`", of_bus.name)))
        });
        for (name, span, owner) in bridges.chain(stations) {
            if let Some(other) = taken.insert(name, owner) {
                let what = format!("`{name}` is the name of {other} too: each name is one station's in all buses");
                return Err(self.wrong("name", Some(span), what));
            }
        }
        let names = of_buses.iter().flat_map(|(_, names)| names.iter().map(|(name, _)| name.clone()));
        let everyone: Vec<String> = names.collect();
        if everyone.len() + taken.len() > usize::from(u16::MAX) {
            let what =
                format!("{}: all buses together have up to {}", many(everyone.len() as u64, "station"), u16::MAX);
            return Err(self.wrong("bus", None, what));
        }
        Ok(everyone)
    }

    /// How long all buses run.
    fn run(&self) -> Result<RunPlan, PlanError> {
        let none = Overrides::default();
        let planner = Planner::new(self.root, Some(self.source), &none, &[]);
        let run = planner.run(BitTimes::new(1), BitRate::MBIT_10)?;
        let section = &self.root.run;
        for (key, given) in [("duration", &section.duration), ("warmup", &section.warmup)] {
            if let Some(RunTimeText(slots @ RunTime::Slots(_))) = value(given) {
                let what = format!("`{slots}`: each bus has slots of its own: write a time, like `\"10s\"`");
                return Err(planner.wrong(key, span(given), what));
            }
        }
        if run.until_collapse() {
            let what = "`collapse`: users of one bus run away, and the others' do not: name a metric".to_owned();
            return Err(planner.wrong("until", span(&section.until), what));
        }
        Ok(run)
    }

    /// An address is one station's in all buses.
    fn check_addresses(&self, buses: &[Plan]) -> Result<(), PlanError> {
        let (mut macs, mut addresses) = (HashMap::new(), HashMap::new());
        for (number, plan) in buses.iter().enumerate() {
            let sections = &self.buses[number].1.get_ref().station;
            for (index, station) in plan.stations.iter().enumerate() {
                let at = || sections.get(index).map_or_else(|| self.buses[number].1.span(), Spanned::span);
                let owner = format!("{} on `{}`", station.name, self.buses[number].0);
                self.unique_in_all(&mut macs, "mac", station.mac, &owner, at)?;
                for network in &station.addresses {
                    let key = if network.address.is_ipv4() { "ipv4" } else { "ipv6" };
                    self.unique_in_all(&mut addresses, key, network.address, &owner, at)?;
                }
            }
        }
        Ok(())
    }

    fn unique_in_all<T: Hash + Eq + Display + Copy>(
        &self,
        taken: &mut HashMap<T, String>,
        key: &str,
        address: T,
        owner: &str,
        at: impl Fn() -> Range<usize>,
    ) -> Result<(), PlanError> {
        let Some(other) = taken.insert(address, owner.to_owned()) else { return Ok(()) };
        let what =
            format!("`{address}` of {owner} is that of {other} too: each needs its own, since bridges join them");
        Err(self.wrong(key, Some(at()), what))
    }

    /// Buses run alone for the shortest latency, so it has a bit time of each of them at least.
    fn check_latencies(&self, bridged: &Bridged) -> Result<(), PlanError> {
        for (bridge, section) in bridged.bridges.iter().zip(&self.root.bridge) {
            let short =
                |port: &&PortPlan| BitTimes::within(bridge.latency, bridged.buses[port.bus].medium.rate).get() == 0;
            if let Some(port) = bridge.ports.iter().find(short) {
                let bit = BitTimes::new(1).at(bridged.buses[port.bus].medium.rate);
                let what = format!(
                    "`{:?}` is shorter than a bit of `{}`, {bit:?}: write that or more",
                    bridge.latency, bridged.names[port.bus]
                );
                return Err(self.wrong("latency", span(&section.get_ref().latency), what));
            }
        }
        Ok(())
    }
}

impl Read<'_> {
    fn plan(&self, buses: &[Plan]) -> BridgePlan {
        let port = |(bus, _): &(usize, Range<usize>)| {
            let own = |station: &super::StationPlan| station.name == *self.name.get_ref();
            let index = buses[*bus].stations.iter().position(own).expect("every bridge is a station of its buses");
            PortPlan { bus: *bus, station: StationId::new(index as u16) }
        };
        BridgePlan {
            name: self.name.get_ref().clone(),
            latency: value(&self.section.latency).map_or(BridgePlan::LATENCY, |text| text.0),
            ageing: value(&self.section.ageing).map_or(BridgePlan::AGEING, |text| text.0),
            ports: self.joins.iter().map(port).collect(),
        }
    }
}

impl BridgePlan {
    /// Unless said otherwise. A switch with a processor or SPI in its path takes some tens of microseconds.
    pub const LATENCY: Duration = Duration::from_micros(50);
    /// Unless said otherwise: 802.1Q, table 8-6.
    pub const AGEING: Duration = Duration::from_secs(300);
}

/// What the lab of a bus is called, of all buses called `name`.
pub fn bus_lab_name(name: &str, bus: &str) -> String {
    format!("{name}.{bus}")
}

/// The seed of a bus: it depends on the bus's own name, so that another bus leaves its draws as they were.
fn seed_of(seed: u64, bus: &str) -> u64 {
    /// The streams of buses; those of stations are below.
    const BUSES: u64 = 1 << 63;
    let number =
        bus.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, b| (hash ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
    Generator::stream(seed, BUSES | number).next_u64()
}
