//! What each call does. The daemon and the driver may be restarted in any order, and a lab may have been killed: what a call
//! finds missing is made again, and what is to go may have gone. Containers that went without a call are found by asking the
//! daemon: as the driver starts, whenever a container joins, and now and then.

use super::call::{Call, Endpoint, lab_of};
use super::names;
use super::networks::{Network, Networks, Wanted};
use crate::containers::labs;
use crate::control;
use crate::control::request::Control;
use crate::lab::inventory::{Inventory, Labels};
use say::{say, with_causes};
use serde_json::{Value, json};
use sim::files::event_log::Container;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;

/// How long after an answer the daemon is first asked who is on a network: it may hold its locks until it has the answer.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
/// How long at most until the daemon is asked again.
const LONGEST_PAUSE: Duration = Duration::from_secs(8);

/// What the driver knows: what must last is on disk.
pub struct Driver {
    networks: Networks,
    /// Networks of which the daemon is to be asked.
    unknown: BTreeSet<String>,
    /// How long until then.
    pause: Duration,
    /// The user knows that the daemon does not answer.
    has_complained: bool,
}

impl Driver {
    /// A driver of these networks.
    pub fn new(networks: Networks) -> Driver {
        let unknown = networks.ids().into_iter().collect();
        Driver { networks, unknown, pause: FIRST_PAUSE, has_complained: false }
    }

    /// How long the next call is waited for before [`Driver::ask_daemon`].
    pub fn pause(&self) -> Duration {
        if self.unknown.is_empty() { LONGEST_PAUSE } else { self.pause }
    }

    /// Asks the daemon of each network that is not known: containers that have gone leave, and the others get their labels.
    pub fn ask_daemon(&mut self) {
        if self.unknown.is_empty() {
            // Of containers that ended with a killed daemon, the next daemon says nothing.
            let ids = self.networks.ids().into_iter();
            self.unknown = ids.filter(|id| self.network(id).is_ok_and(|network| network.has_stations())).collect();
        }
        for id in std::mem::take(&mut self.unknown) {
            let done = self.ask(&id).is_some_and(|told| {
                let followed = self.follow(&id, &told).map_err(|what| say(&format!("ethbus: {what}\n")));
                followed.is_ok() && told.is_complete()
            });
            if !done && self.networks.get(&id).is_ok_and(|network| network.is_some()) {
                self.unknown.insert(id);
            }
        }
        self.pause = (2 * self.pause).min(LONGEST_PAUSE);
    }

    /// Who is on a network, if the daemon tells; says once why it does not.
    fn ask(&mut self, id: &str) -> Option<names::Network> {
        match names::Network::ask(id) {
            Ok(told) => {
                self.has_complained = false;
                Some(told)
            }
            Err(error) => {
                if !std::mem::replace(&mut self.has_complained, true) {
                    say(&format!(
                        "ethbus: {}: containers have no names until it answers. If another daemon asks, give this driver its DOCKER_HOST\n",
                        with_causes(&error)
                    ));
                }
                None
            }
        }
    }

    /// Has stations leave whose containers have gone, and labels the others.
    fn follow(&mut self, id: &str, told: &names::Network) -> Result<(), String> {
        let Some(network) = self.networks.get(id).map_err(on_disk)? else { return Ok(()) };
        let stations = network.endpoints.iter().filter(|(_, wanted)| wanted.station.is_some());
        for (endpoint, _) in stations.filter(|(endpoint, _)| !told.containers.contains_key(*endpoint)) {
            self.delete_endpoint(&Endpoint { network: id.to_owned(), id: endpoint.clone() })?;
        }
        self.label(id, told)
    }

    fn label(&self, id: &str, told: &names::Network) -> Result<(), String> {
        let Some(network) = self.networks.get(id).map_err(on_disk)? else { return Ok(()) };
        let Ok(content) = Inventory::of_running(&network.lab) else { return Ok(()) };
        let Labels { network: known, containers } = &content.labels;
        let own = (known.as_ref() != Some(&told.name)).then(|| (None, told.name.clone(), None));
        let station = |(endpoint, wanted): (String, Wanted)| Some((wanted.station?, told.container(&endpoint)?));
        let stations = network.endpoints.into_iter().filter_map(station);
        let news = stations.filter(|(station, container)| containers.get(station) != Some(container));
        let news = news.map(|(station, Container { name, id })| (Some(station), name.clone(), Some(id.clone())));
        own.into_iter().chain(news).try_for_each(|(station, name, id)| {
            let labelled = control::results(&network.lab, &Control::Label { station, name, id });
            labelled.map(|_| ()).map_err(|error| by_lab(&network.lab, error))
        })
    }

    /// The daemon is to be asked of a network, once it has its answer.
    fn ask_soon(&mut self, network: &str) {
        self.unknown.insert(network.to_owned());
        self.pause = FIRST_PAUSE;
    }

    /// Does what the daemon asks, and gives its answer.
    pub fn answer(&mut self, path: &str, body: &[u8]) -> Value {
        let done = Call::read(path, body).and_then(|call| self.act(call));
        done.unwrap_or_else(|error| json!({ "Err": error }))
    }

    fn act(&mut self, call: Call) -> Result<Value, String> {
        match call {
            Call::Activate => Ok(json!({ "Implements": ["NetworkDriver"] })),
            Call::Capabilities => Ok(json!({ "Scope": "local", "ConnectivityScope": "local" })),
            Call::CreateNetwork { network, options, accepts_warnings } => {
                self.create(&network, options, accepts_warnings)
            }
            Call::DeleteNetwork { network } => self.delete(&network),
            Call::CreateEndpoint { endpoint, mac, ipv4, ports } => self.create_endpoint(&endpoint, mac, ipv4, ports),
            Call::Join(endpoint) => self.join(&endpoint),
            Call::Leave(endpoint) => self.leave(&endpoint),
            Call::DeleteEndpoint(endpoint) => self.delete_endpoint(&endpoint),
            Call::Info => Ok(json!({ "Value": {} })),
            Call::Nothing => Ok(json!({})),
        }
    }

    fn network(&self, id: &str) -> Result<Network, String> {
        let network = self.networks.get(id).map_err(on_disk)?;
        network.ok_or_else(|| format!("the driver knows no network {id}: remove it, and create it again"))
    }

    /// The daemon passes no warning on to its user, so a network of which `ethbus up` warns is refused until the user takes it.
    fn create(
        &mut self,
        id: &str,
        mut options: BTreeMap<String, String>,
        accepts_warnings: bool,
    ) -> Result<Value, String> {
        let lab = options.remove("name").unwrap_or_else(|| lab_of(id));
        let network = Network { lab, options, endpoints: BTreeMap::new() };
        let warnings = bring_up(&network)?;
        let kept = match warnings.as_str() {
            _ if accepts_warnings => Ok(()),
            "" => Ok(()),
            warnings => Err(format!("{warnings}; `-o warnings=accept` makes the network as it is")),
        };
        let kept = kept.and_then(|()| self.networks.keep(id, &network).map_err(on_disk));
        if kept.is_err() {
            // The first error is the one to tell.
            let _ = control::down(&network.lab);
        }
        self.ask_soon(id);
        kept.map(|()| json!({}))
    }

    fn delete(&self, id: &str) -> Result<Value, String> {
        let Some(network) = self.networks.get(id).map_err(on_disk)? else { return Ok(json!({})) };
        if labs::is_up(&network.lab) {
            control::down(&network.lab).map_err(|error| by_lab(&network.lab, error))?;
        }
        self.networks.forget(id).map_err(on_disk)?;
        Ok(json!({}))
    }

    /// Without a wish, a container has the MAC address that Docker's own bridge would give it. It belongs to the IPv4 address,
    /// so that neighbours who know a container still reach it after a restart.
    fn create_endpoint(
        &self,
        endpoint: &Endpoint,
        mac: Option<String>,
        ipv4: Option<Ipv4Addr>,
        ports: Option<String>,
    ) -> Result<Value, String> {
        let mut network = self.network(&endpoint.network)?;
        let own = ipv4.filter(|_| mac.is_none()).map(|address| {
            let [a, b, c, d] = address.octets();
            format!("02:42:{a:02x}:{b:02x}:{c:02x}:{d:02x}")
        });
        let answer = own.as_ref().map_or_else(|| json!({}), |own| json!({ "MacAddress": own }));
        network.endpoints.insert(endpoint.id.clone(), Wanted { mac: mac.or(own), ports, station: None });
        self.networks.keep(&endpoint.network, &network).map_err(on_disk)?;
        Ok(json!({ "Interface": answer }))
    }

    /// Has the station join. Its interface is in this machine's namespace, where the daemon takes it from.
    fn join(&mut self, endpoint: &Endpoint) -> Result<Value, String> {
        // What an earlier join left, if the daemon was killed in it; and containers that went while no driver was there.
        self.leave(endpoint)?;
        let told = self.ask(&endpoint.network);
        if let Some(told) = &told {
            self.follow(&endpoint.network, told)?;
        }
        let mut network = self.network(&endpoint.network)?;
        if !labs::is_up(&network.lab) {
            bring_up(&network)?;
        }
        let wanted = network.endpoints.entry(endpoint.id.clone()).or_default().clone();
        // With further networks the ports lead to the container over one of them.
        if let Some(ports) = &wanted.ports
            && told.as_ref().is_none_or(|told| told.is_only_one_of(endpoint))
        {
            return Err(format!(
                "-p {ports}: no port of this machine leads to a bus: leave `-p` out, or give the container a network of Docker's own too"
            ));
        }
        let (interface, netns) = (endpoint.interface(), format!("/proc/{}/ns/net", std::process::id()));
        let section = |name: &str| {
            let section = [("name", name), ("netns", &*netns), ("interface", &*interface)];
            let section = section.into_iter().chain([("ipv4", "none"), ("ipv6", "none")]);
            let section = section.chain(wanted.mac.as_deref().map(|mac| ("mac", mac)));
            section.map(|(key, value)| (key.to_owned(), json!(value))).collect()
        };
        // The container's name may be another station's, or no station's.
        let name = told.as_ref().and_then(|told| told.station(endpoint));
        let joined = name.and_then(|name| control::add(&network.lab, section(&name)).ok());
        let joined = joined.map_or_else(|| labs::add(&network.lab, section(&interface)), Ok);
        let joined = joined
            .map_err(|error| labs::with_places(&by_lab(&network.lab, error), "a network made with `-o capacity=N`"))?;
        network.endpoints.insert(endpoint.id.clone(), Wanted { station: Some(joined.name.clone()), ..wanted });
        if let Err(error) = self.networks.keep(&endpoint.network, &network) {
            let _ = labs::remove(&network.lab, &joined.name);
            return Err(on_disk(error));
        }
        self.ask_soon(&endpoint.network);
        let interface = json!({ "SrcName": joined.interface, "DstPrefix": "eth" });
        Ok(json!({ "InterfaceName": interface, "DisableGatewayService": true }))
    }

    fn leave(&self, endpoint: &Endpoint) -> Result<Value, String> {
        let Some(mut network) = self.networks.get(&endpoint.network).map_err(on_disk)? else { return Ok(json!({})) };
        let lab = network.lab.clone();
        if let Some(station) = network.endpoints.get_mut(&endpoint.id).and_then(|wanted| wanted.station.take()) {
            labs::remove(&lab, &station).map_err(|error| by_lab(&lab, error))?;
            self.networks.keep(&endpoint.network, &network).map_err(on_disk)?;
        }
        Ok(json!({}))
    }

    fn delete_endpoint(&self, endpoint: &Endpoint) -> Result<Value, String> {
        self.leave(endpoint)?;
        if let Some(mut network) = self.networks.get(&endpoint.network).map_err(on_disk)? {
            network.endpoints.remove(&endpoint.id);
            self.networks.keep(&endpoint.network, &network).map_err(on_disk)?;
        }
        Ok(json!({}))
    }
}

fn on_disk(error: io::Error) -> String {
    format!("what the driver keeps about networks: {error}")
}

fn by_lab(lab: &str, error: io::Error) -> String {
    format!("lab {lab}: {error}")
}

/// Brings a network's lab up, and gives its warnings.
fn bring_up(network: &Network) -> Result<String, String> {
    let mut arguments = vec!["--stations=0".to_owned()];
    if !network.options.contains_key("capacity") {
        arguments.push(format!("--capacity={}", labs::PLACES));
    }
    for (key, value) in &network.options {
        // An option without a value is switched on.
        let is_on = value.is_empty();
        arguments.push(if is_on { format!("--{key}") } else { format!("--{key}={value}") });
    }
    labs::bring_up(&network.lab, &arguments).map_err(|error| format!("`ethbus up`: {error}"))?
}
