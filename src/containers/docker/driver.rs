//! What each call does. The daemon and the driver may be restarted in any order, and a lab may have been killed: what a call
//! finds missing is made again, and what is to go may have gone.

use super::call::{Call, Endpoint, lab_of};
use super::names;
use super::networks::{Network, Networks, Wanted};
use crate::containers::labs;
use crate::live::control;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io;
use std::net::Ipv4Addr;

/// What the driver knows, all of it on disk.
pub struct Driver {
    networks: Networks,
}

impl Driver {
    /// A driver of these networks.
    pub fn new(networks: Networks) -> Driver {
        Driver { networks }
    }

    /// Does what the daemon asks, and gives its answer.
    pub fn answer(&self, path: &str, body: &[u8]) -> Value {
        let done = Call::read(path, body).and_then(|call| self.act(call));
        done.unwrap_or_else(|error| json!({ "Err": error }))
    }

    fn act(&self, call: Call) -> Result<Value, String> {
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
    fn create(&self, id: &str, mut options: BTreeMap<String, String>, accepts_warnings: bool) -> Result<Value, String> {
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
    fn join(&self, endpoint: &Endpoint) -> Result<Value, String> {
        // What an earlier join left, if the daemon was killed in it.
        self.leave(endpoint)?;
        let mut network = self.network(&endpoint.network)?;
        if !labs::is_up(&network.lab) {
            bring_up(&network)?;
        }
        let wanted = network.endpoints.entry(endpoint.id.clone()).or_default();
        let container = names::of(endpoint);
        // With further networks the ports lead to the container over one of them.
        if let Some(ports) = &wanted.ports
            && container.as_ref().is_none_or(names::Container::has_one_network)
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
        let name = container.and_then(|container| container.station());
        let joined = name.and_then(|name| control::add(&network.lab, section(&name)).ok());
        let joined = joined.map_or_else(|| labs::add(&network.lab, section(&interface)), Ok);
        let joined = joined
            .map_err(|error| labs::with_places(&by_lab(&network.lab, error), "a network made with `-o capacity=N`"))?;
        wanted.station = Some(joined.name.clone());
        if let Err(error) = self.networks.keep(&endpoint.network, &network) {
            let _ = labs::remove(&network.lab, &joined.name);
            return Err(on_disk(error));
        }
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
