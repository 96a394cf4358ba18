//! What a runtime asks for beside an interface: in `CNI_ARGS`, and in the network's members `args`, `runtimeConfig`,
//! `capabilities`, `dns` and `ipMasq`. What is not met is refused, so that no runtime takes it for done.

use super::answer::{Failure, code};
use super::request::Network;
use serde_json::{Map, Value};
use sim::settings::values::MacText;

/// Keys of `CNI_ARGS` that are met (`IP` by the IPAM plugin), or that say who the container is.
const ARGS: [&str; 7] =
    ["IgnoreUnknown", "MAC", "IP", "K8S_POD_NAME", "K8S_POD_NAMESPACE", "K8S_POD_UID", "K8S_POD_INFRA_CONTAINER_ID"];
/// Capabilities that are met here.
const OWN: [&str; 1] = ["mac"];
/// Capabilities that an IPAM plugin meets.
const OF_IPAM: [&str; 2] = ["ips", "ipRanges"];

/// What a container is to have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    /// The pod's name in Kubernetes: that of the station, if it is free.
    pub pod: Option<String>,
    /// The interface's MAC address.
    pub mac: Option<String>,
    /// Name servers, instead of those of the IPAM plugin; they are handed on.
    pub dns: Option<Value>,
}

impl Wishes {
    /// Reads the wishes of the runtime; `args` is `CNI_ARGS`.
    ///
    /// # Errors
    /// What is not met, by its name.
    pub fn read(args: &str, network: &Network) -> Result<Wishes, Failure> {
        let args = environment(args)?;
        let arg = |key: &str| args.iter().rev().find(|(name, _)| *name == key).map(|(_, value)| (*value).to_owned());
        let has_ipam = network.ipam().is_some();
        if arg("IP").is_some() && !has_ipam {
            return Err(Failure::new(code::ENVIRONMENT, format!("CNI_ARGS: IP: {WITHOUT_IPAM}")));
        }
        if network.prev_result.is_some() {
            let what = "prevResult: ethbus makes the interface, so it is the first plugin of its list";
            return Err(Failure::new(code::CONFIG, what));
        }
        if network.rest.get("ipMasq").is_some_and(|it| *it != Value::Bool(false)) {
            let what = "ipMasq: no router is on the bus, so no address is translated: leave `ipMasq` out";
            return Err(Failure::new(code::CONFIG, what));
        }
        let own = |key: &str| object(network, key);
        let (capabilities, runtime) = (own("capabilities")?, own("runtimeConfig")?);
        known("capabilities", &capabilities, &[&OWN[..], &OF_IPAM].concat(), has_ipam)?;
        known("runtimeConfig", &runtime, &[&OWN[..], &OF_IPAM].concat(), has_ipam)?;
        let args = own("args")?.remove("cni").unwrap_or_default();
        let args = args.as_object().cloned().unwrap_or_default();
        // Labels say who the container is.
        known("args.cni", &args, &["mac", "ips", "labels"], has_ipam)?;
        let dns = own("dns")?;
        let mac = [("runtimeConfig.mac", &runtime), ("args.cni.mac", &args)];
        let mac = mac.into_iter().find_map(|(place, of)| Some((place, of.get("mac")?)));
        let mac = mac.map(|(place, mac)| (place, mac.as_str().map_or_else(|| mac.to_string(), str::to_owned)));
        let mac = mac.or_else(|| Some(("CNI_ARGS: MAC", arg("MAC")?)));
        if let Some((place, Err(error))) = mac.as_ref().map(|(place, mac)| (place, mac.parse::<MacText>())) {
            return Err(Failure::new(code::CONFIG, format!("{place}: {error}")));
        }
        let dns = (!dns.is_empty()).then_some(Value::Object(dns));
        Ok(Wishes { pod: arg("K8S_POD_NAME"), mac: mac.map(|(_, mac)| mac), dns })
    }
}

/// Why an address cannot be chosen.
const WITHOUT_IPAM: &str = "the lab gives addresses: give the network an `ipam` that takes wishes";

/// The pairs of `CNI_ARGS`, whose keys are known, or may be unknown.
fn environment(args: &str) -> Result<Vec<(&str, &str)>, Failure> {
    let pairs = args.split(';').filter(|pair| !pair.is_empty());
    let pairs = pairs.map(|pair| {
        pair.split_once('=').ok_or_else(|| {
            Failure::new(code::ENVIRONMENT, format!("CNI_ARGS: `{pair}`: it is pairs like `KEY=VALUE;KEY=VALUE`"))
        })
    });
    let pairs = pairs.collect::<Result<Vec<_>, _>>()?;
    let ignores = pairs.iter().any(|(key, value)| {
        *key == "IgnoreUnknown" && matches!(value.to_ascii_lowercase().as_str(), "1" | "t" | "true")
    });
    match pairs.iter().find(|(key, _)| !ignores && !ARGS.contains(key)) {
        Some((key, _)) => {
            let what = format!(
                "CNI_ARGS: `{key}` is unknown: this plugin knows {}, and IgnoreUnknown=1",
                ARGS[1..].join(", ")
            );
            Err(Failure::new(code::ENVIRONMENT, what))
        }
        None => Ok(pairs),
    }
}

/// A member of the network that is an object; an empty one if it is left out.
fn object(network: &Network, key: &str) -> Result<Map<String, Value>, Failure> {
    match network.rest.get(key) {
        None | Some(Value::Null) => Ok(Map::new()),
        Some(Value::Object(members)) => Ok(members.clone()),
        Some(other) => Err(Failure::new(code::CONFIG, format!("{key} is `{other}`: it is an object"))),
    }
}

/// Refuses wishes in `place` that are not met.
fn known(place: &str, asked: &Map<String, Value>, met: &[&str], has_ipam: bool) -> Result<(), Failure> {
    let is_asked = |value: &Value| match value {
        Value::Null | Value::Bool(false) => false,
        Value::Array(all) => !all.is_empty(),
        Value::Object(members) => !members.is_empty(),
        Value::Bool(true) | Value::Number(_) | Value::String(_) => true,
    };
    for (key, _) in asked.iter().filter(|(_, value)| is_asked(value)) {
        if !met.contains(&key.as_str()) {
            let what = format!("{place}.{key}: this plugin meets {}", met.join(", "));
            return Err(Failure::new(code::CONFIG, what));
        }
        if OF_IPAM.contains(&key.as_str()) && !has_ipam {
            return Err(Failure::new(code::CONFIG, format!("{place}.{key}: {WITHOUT_IPAM}")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(args: &str, members: &str) -> Result<Wishes, Failure> {
        let ipam = if members.contains("ipam") { "" } else { r#","ipam":{"type":"host-local"}"# };
        let network = format!(r#"{{"cniVersion":"1.0.0","name":"a"{members}{ipam}}}"#);
        Wishes::read(args, &serde_json::from_str(&network).expect("a network"))
    }

    /// The order is that of the plugin `tuning` of containernetworking.
    #[test]
    fn a_mac_address_is_met_from_each_of_its_three_places() {
        let [environment, args, runtime] = ["02:00:00:00:00:01", "02:00:00:00:00:02", "02:00:00:00:00:03"];
        let environment_args = format!("IgnoreUnknown=1;MAC={environment};OTHER=x");
        let members = format!(r#","args":{{"cni":{{"mac":"{args}"}}}}"#);
        let both = format!(r#"{members},"runtimeConfig":{{"mac":"{runtime}"}},"capabilities":{{"mac":true}}"#);
        for (members, mac) in [("", environment), (&members, args), (&both, runtime)] {
            let wishes = read(&environment_args, members).expect("a MAC address");
            assert_eq!(wishes.mac.as_deref(), Some(mac));
        }
        let dns = read("", r#","dns":{"nameservers":["10.1.0.1"]}"#).expect("name servers").dns;
        assert_eq!(dns.expect("name servers")["nameservers"][0], "10.1.0.1");
        let by_ipam = r#","capabilities":{"ips":true},"runtimeConfig":{"ips":["10.9.0.7/24"],"portMappings":[]}"#;
        assert_eq!(read("IP=10.9.0.7", by_ipam), Ok(Wishes::default()));
    }

    #[test]
    fn what_is_not_met_is_refused_by_its_name() {
        for (args, members, words) in [
            ("COLOUR=red", "", "CNI_ARGS: `COLOUR` is unknown"),
            ("IgnoreUnknown=0;COLOUR=red", "", "CNI_ARGS: `COLOUR` is unknown"),
            ("MAC", "", "`MAC`: it is pairs"),
            ("MAC=not-a-mac", "", "CNI_ARGS: MAC: `not-a-mac` is no MAC address"),
            ("IP=10.9.0.7", r#","ipam":{}"#, "CNI_ARGS: IP: the lab gives addresses"),
            ("", r#","args":{"cni":{"mac":"01:00:5e:00:00:01"}}"#, "args.cni.mac: `01:00:5e:00:00:01` is no station's"),
            ("", r#","args":{"cni":{"colour":"red"}}"#, "args.cni.colour"),
            ("", r#","runtimeConfig":{"mac":7}"#, "runtimeConfig.mac: `7` is no MAC address"),
            ("", r#","runtimeConfig":{"portMappings":[{"hostPort":8089}]}"#, "runtimeConfig.portMappings"),
            ("", r#","capabilities":{"bandwidth":true}"#, "capabilities.bandwidth: this plugin meets mac"),
            ("", r#","ipam":{},"capabilities":{"ips":true}"#, "capabilities.ips: the lab gives addresses"),
            ("", r#","ipMasq":true"#, "ipMasq: no router"),
            ("", r#","dns":"10.1.0.1""#, "dns is `\"10.1.0.1\"`: it is an object"),
            ("", r#","prevResult":{"cniVersion":"1.0.0"}"#, "prevResult: ethbus makes the interface"),
        ] {
            let failure = read(args, members).expect_err(words);
            assert!(failure.msg.contains(words), "{failure:?}");
        }
    }
}
