//! What the daemon says: the method is the path, its parameters are JSON.

use serde::Deserialize;
use serde_json::{Map, Value};
use sim::settings::options::{self, UP};
use sim::settings::values::MacText;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// The key of the options that a user gives with `-o`.
const GENERIC: &str = "com.docker.network.generic";
/// The key of the ports that a user publishes with `-p`.
const PORTS: &str = "com.docker.network.portmap";
/// The option, of networks alone, that takes a network of which `ethbus up` warns.
const WARNINGS: &str = "warnings";
/// Its only value.
const ACCEPTED: &str = "accept";
/// Options of `ethbus up` that a network has no use for: its stations are containers.
const NOT_FOR_NETWORKS: [&str; 1] = ["stations"];
/// The digits of an identifier that name a lab or a station.
const DIGITS: usize = 11;

/// A call of the daemon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// What the plugin is.
    Activate,
    /// What kind of driver it is.
    Capabilities,
    /// A network begins.
    CreateNetwork {
        /// Its identifier.
        network: String,
        /// Options of `ethbus up` by their long names.
        options: BTreeMap<String, String>,
        /// Whether the user takes it with the warnings of `ethbus up`.
        accepts_warnings: bool,
    },
    /// A network ends.
    DeleteNetwork {
        /// Its identifier.
        network: String,
    },
    /// A container will have an interface.
    CreateEndpoint {
        /// Which interface.
        endpoint: Endpoint,
        /// The MAC address that the user wants.
        mac: Option<String>,
        /// The IPv4 address that the daemon chose.
        ipv4: Option<Ipv4Addr>,
        /// The ports that the user publishes, as with `-p`.
        ports: Option<String>,
    },
    /// The interface is made.
    Join(Endpoint),
    /// The interface goes.
    Leave(Endpoint),
    /// The endpoint is forgotten.
    DeleteEndpoint(Endpoint),
    /// How an endpoint is: the daemon knows all of it.
    Info,
    /// What a bus has no use for: ports, and the daemon's own discovery.
    Nothing,
}

/// A container's interface on a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The network's identifier.
    pub network: String,
    /// Its own.
    pub id: String,
}

impl Endpoint {
    /// What its interface on this machine is called, and its station if the daemon does not tell the container's name.
    pub fn interface(&self) -> String {
        named('c', &self.id)
    }
}

/// What a lab is called whose network says no other name.
pub fn lab_of(network: &str) -> String {
    named('d', network)
}

fn named(kind: char, id: &str) -> String {
    std::iter::once(kind).chain(id.chars().take(DIGITS)).collect()
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Body {
    #[serde(rename = "NetworkID")]
    network: String,
    #[serde(rename = "EndpointID")]
    endpoint: String,
    options: Option<Map<String, Value>>,
    interface: Option<Interface>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Interface {
    address: String,
    mac_address: Option<String>,
}

impl Call {
    /// Reads a call.
    ///
    /// # Errors
    /// What is wrong, in a sentence for the user of Docker.
    pub fn read(path: &str, body: &[u8]) -> Result<Call, String> {
        let parsed = || -> Result<Body, String> {
            let body: Body = serde_json::from_slice(body).map_err(|error| format!("the daemon's {path}: {error}"))?;
            is_id("NetworkID", &body.network)?;
            Ok(body)
        };
        let endpoint = |body: &Body| -> Result<Endpoint, String> {
            is_id("EndpointID", &body.endpoint)?;
            Ok(Endpoint { network: body.network.clone(), id: body.endpoint.clone() })
        };
        Ok(match path {
            "/Plugin.Activate" => Call::Activate,
            "/NetworkDriver.GetCapabilities" => Call::Capabilities,
            "/NetworkDriver.CreateNetwork" => {
                let body = parsed()?;
                let mut options = options_of(&body.options.unwrap_or_default())?;
                let accepts_warnings = match options.remove(WARNINGS) {
                    None => false,
                    Some(value) if value == ACCEPTED => true,
                    Some(value) => return Err(format!("-o {WARNINGS}={value}: the only value is `{ACCEPTED}`")),
                };
                Call::CreateNetwork { options, network: body.network, accepts_warnings }
            }
            "/NetworkDriver.DeleteNetwork" => Call::DeleteNetwork { network: parsed()?.network },
            "/NetworkDriver.CreateEndpoint" => {
                let body = parsed()?;
                let interface = body.interface.as_ref();
                let mac = interface.and_then(|interface| interface.mac_address.clone()).filter(|mac| !mac.is_empty());
                if let Some(Err(error)) = mac.as_ref().map(|mac| mac.parse::<MacText>()) {
                    return Err(format!("MacAddress: {error}"));
                }
                let address = interface.map(|interface| &*interface.address).filter(|address| !address.is_empty());
                let ipv4 = address.map(ipv4).transpose()?;
                let ports = body.options.as_ref().and_then(ports);
                Call::CreateEndpoint { endpoint: endpoint(&body)?, mac, ipv4, ports }
            }
            "/NetworkDriver.Join" => Call::Join(endpoint(&parsed()?)?),
            "/NetworkDriver.Leave" => Call::Leave(endpoint(&parsed()?)?),
            "/NetworkDriver.DeleteEndpoint" => Call::DeleteEndpoint(endpoint(&parsed()?)?),
            "/NetworkDriver.EndpointOperInfo" => Call::Info,
            "/NetworkDriver.ProgramExternalConnectivity"
            | "/NetworkDriver.RevokeExternalConnectivity"
            | "/NetworkDriver.DiscoverNew"
            | "/NetworkDriver.DiscoverDelete" => Call::Nothing,
            _ => return Err(format!("{path}: this driver has no such method")),
        })
    }
}

fn ipv4(address: &str) -> Result<Ipv4Addr, String> {
    let (host, _) = address.split_once('/').unwrap_or((address, ""));
    host.parse().map_err(|_| format!("Address: `{address}` is no IPv4 address: it is like `10.9.0.2/16`"))
}

/// The ports that a user publishes, as `docker run -p` has them; none: no ports.
fn ports(options: &Map<String, Value>) -> Option<String> {
    let all = options.get(PORTS)?.as_array()?;
    let one = |mapping: &Value| match &mapping["HostPort"] {
        Value::Null => mapping["Port"].to_string(),
        of_host => format!("{of_host}:{}", mapping["Port"]),
    };
    (!all.is_empty()).then(|| all.iter().map(one).collect::<Vec<_>>().join(", "))
}

/// The daemon's identifiers are hexadecimal; they become names of files, stations and interfaces.
fn is_id(name: &str, id: &str) -> Result<(), String> {
    let is_right = (DIGITS..=128).contains(&id.len()) && id.bytes().all(|octet| octet.is_ascii_alphanumeric());
    if is_right { Ok(()) } else { Err(format!("{name} is `{id}`: it is {DIGITS} to 128 letters and digits")) }
}

/// The user's options: names are those of `ethbus up`, values are checked by the command itself.
fn options_of(all: &Map<String, Value>) -> Result<BTreeMap<String, String>, String> {
    let known: Vec<&str> = options::of(UP).iter().map(|option| option.long).collect();
    let known = known.into_iter().filter(|long| !NOT_FOR_NETWORKS.contains(long));
    let known: Vec<&str> = known.chain([WARNINGS]).collect();
    let given = all.get(GENERIC).and_then(Value::as_object).into_iter().flatten();
    let mut options = BTreeMap::new();
    for (key, value) in given {
        if !known.contains(&key.as_str()) {
            return Err(format!("-o {key}: no such option: this driver knows {}", known.join(", ")));
        }
        let value = value.as_str().ok_or_else(|| format!("-o {key}={value}: the value is a text"))?;
        options.insert(key.clone(), value.to_owned());
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    fn read(method: &str, body: &str) -> Result<Call, String> {
        Call::read(&format!("/NetworkDriver.{method}"), body.replace("ID64", ID).as_bytes())
    }

    #[test]
    fn a_call_is_what_the_daemon_says() {
        let body = r#"{"NetworkID":"ID64","Options":{"com.docker.network.enable_ipv6":false,
            "com.docker.network.generic":{"topology":"bus:500m"}},"IPv4Data":[{"Pool":"10.9.0.0/16"}]}"#;
        let Ok(Call::CreateNetwork { network, options, .. }) = read("CreateNetwork", body) else {
            panic!("no network")
        };
        assert_eq!((network.as_str(), options["topology"].as_str()), (ID, "bus:500m"));
        let body = r#"{"NetworkID":"ID64","EndpointID":"ID64","Interface":{"Address":"10.9.0.2/16","MacAddress":""}}"#;
        let endpoint = Endpoint { network: ID.to_owned(), id: ID.to_owned() };
        assert_eq!(endpoint.interface(), "c0123456789a");
        assert_eq!(
            read("CreateEndpoint", body),
            Ok(Call::CreateEndpoint { endpoint, mac: None, ipv4: Some(Ipv4Addr::new(10, 9, 0, 2)), ports: None })
        );
    }

    #[test]
    fn what_is_wrong_has_its_name() {
        for (method, body, words) in [
            ("CreateNetwork", "{", "EOF"),
            ("CreateNetwork", r#"{"NetworkID":"../x"}"#, "NetworkID is `../x`"),
            ("Join", r#"{"NetworkID":"ID64"}"#, "EndpointID is ``"),
            (
                "CreateEndpoint",
                r#"{"NetworkID":"ID64","EndpointID":"ID64","Interface":{"MacAddress":"not-a-mac"}}"#,
                "MacAddress: `not-a-mac` is no MAC address",
            ),
            (
                "CreateEndpoint",
                r#"{"NetworkID":"ID64","EndpointID":"ID64","Interface":{"MacAddress":"01:00:5e:00:00:01"}}"#,
                "group address",
            ),
            (
                "CreateEndpoint",
                r#"{"NetworkID":"ID64","EndpointID":"ID64","Interface":{"Address":"10.9.0.x/16"}}"#,
                "`10.9.0.x/16` is no IPv4 address",
            ),
            ("Dance", "{}", "no such method"),
            (
                "CreateNetwork",
                r#"{"NetworkID":"ID64","Options":{"com.docker.network.generic":{"raet":"1M"}}}"#,
                "-o raet: no such option: this driver knows",
            ),
            (
                "CreateNetwork",
                r#"{"NetworkID":"ID64","Options":{"com.docker.network.generic":{"stations":"4"}}}"#,
                "-o stations",
            ),
        ] {
            let told = read(method, body).expect_err(words);
            assert!(told.contains(words), "{told}");
        }
    }
}
