//! What each station's host will be in a live lab, and whether the keys of its section fit that.

use super::planner::Planner;
use crate::scenario::file::{PortKind, StationSection, span, value};
use crate::settings::wrong::PlanError;
use crate::words::interface::interface_name;
use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;
use std::ops::Range;
use toml::Spanned;

/// The port that IANA gave VXLAN.
const VXLAN_PORT: u16 = 4789;
/// A VXLAN Network Identifier has 24 bits.
const LARGEST_VNI: u32 = (1 << 24) - 1;
const DEFAULT_VNI: u32 = 1;
/// What a station's interface is called in a namespace that is there already.
const INTERFACE_THERE: &str = "eth0";

/// What a station's host is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    /// A namespace with a kernel's stack.
    Veth,
    /// A namespace that is there already: a container's, or one with a name.
    Existing(Existing),
    /// A program that opens a TAP device.
    Tap,
    /// The hosts behind an existing interface, which is lent to the lab.
    Interface(String),
    /// The hosts behind a bridge: this one, or a new one with the station's name.
    Bridge(Option<String>),
    /// Another machine, through a tunnel.
    Vxlan(Tunnel),
}

/// A namespace that ethbus has not made, and the name of the station's interface in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Existing {
    /// Which namespace.
    pub netns: Netns,
    /// The station's interface there.
    pub interface: String,
}

/// How a namespace is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Netns {
    /// By the name that `ip netns` lists it under.
    Named(String),
    /// By an absolute path, as Docker and CNI have it.
    Path(String),
    /// As that of a process, by its number.
    Process(u32),
    /// As that of a container.
    Container {
        /// What runs it.
        engine: Engine,
        /// Its name or number there.
        name: String,
    },
}

/// A program that runs containers, and tells the process of one by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Docker.
    Docker,
    /// Podman.
    Podman,
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Engine::Docker => "docker",
            Engine::Podman => "podman",
        })
    }
}

impl Netns {
    /// What `netns` says, or what is wrong with it and what would be right.
    fn read(text: &str) -> Result<Netns, &'static str> {
        match text.split_once(':') {
            Some(("pid", number)) => match number.parse() {
                Ok(number) if number > 0 => Ok(Netns::Process(number)),
                Ok(_) | Err(_) => Err("no number of a process: write one from 1 on, like `\"pid:4711\"`"),
            },
            Some(("docker", name)) => Netns::container(Engine::Docker, name),
            Some(("podman", name)) => Netns::container(Engine::Podman, name),
            Some(_) | None if text.starts_with('/') => match text.contains('\0') {
                false => Ok(Netns::Path(text.to_owned())),
                true => Err("no path of a namespace: write one without NUL, like `\"/var/run/netns/web\"`"),
            },
            Some(_) | None if text.is_empty() || text.contains('/') || text == "." || text == ".." => Err(
                "no name of a namespace: write one of `ip netns list`, `\"pid:4711\"`, `\"docker:web\"` or an absolute path",
            ),
            Some(_) | None => Ok(Netns::Named(text.to_owned())),
        }
    }

    /// Names have the letters that Docker and Podman allow, so none is an option to them.
    fn container(engine: Engine, name: &str) -> Result<Netns, &'static str> {
        let begins = name.starts_with(|first: char| first.is_ascii_alphanumeric());
        match begins && name.chars().all(|it| it.is_ascii_alphanumeric() || "_.-".contains(it)) {
            true => Ok(Netns::Container { engine, name: name.to_owned() }),
            false => {
                Err("no name of a container: write one that `docker ps` or `podman ps` has, like `\"docker:web\"`")
            }
        }
    }
}

impl fmt::Display for Netns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Netns::Named(name) | Netns::Path(name) => f.write_str(name),
            Netns::Process(number) => write!(f, "pid:{number}"),
            Netns::Container { engine, name } => write!(f, "{engine}:{name}"),
        }
    }
}

/// What one end of a VXLAN tunnel must know (RFC 7348).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tunnel {
    /// The VXLAN Network Identifier: 24 bits, the same at both ends.
    pub vni: u32,
    /// Where the other end is.
    pub remote: IpAddr,
    /// This end's own address; the kernel takes the one of the route otherwise.
    pub local: Option<IpAddr>,
    /// UDP port, the same at both ends.
    pub port: u16,
}

impl Host {
    /// Whether its frames may come from unknown addresses.
    pub fn is_outside(&self) -> bool {
        *self != Host::Veth
    }
}

/// The interfaces and namespaces that hosts use so far, with the station that uses each and the place of its key.
#[derive(Debug, Default)]
pub struct Hosts {
    interfaces: HashMap<String, (String, Option<Range<usize>>)>,
    tunnels: HashMap<String, (String, Option<Range<usize>>)>,
    existing: HashMap<String, (String, Option<Range<usize>>)>,
}

/// A station on an interface is called as the interface, unless it has a name.
pub fn default_name(section: &StationSection) -> Option<String> {
    let interface = section.interface.as_ref().filter(|_| value(&section.kind) == Some(PortKind::Interface));
    interface.map(|interface| interface.get_ref().clone())
}

impl Planner<'_> {
    /// One section for each `--lend`.
    pub(super) fn attached_sections(&self) -> Result<Vec<StationSection>, PlanError> {
        let section = |interface: &String| {
            interface_name(interface).map_err(|what| PlanError::option("--lend", what))?;
            let interface = Some(Spanned::new(NOWHERE, interface.clone()));
            Ok(StationSection {
                kind: Some(Spanned::new(NOWHERE, PortKind::Interface)),
                interface,
                ..StationSection::default()
            })
        };
        self.overrides.attach.iter().map(section).collect()
    }

    /// The host of the station `name`, whose section is at `place`.
    pub(super) fn host(
        &self,
        name: &str,
        place: Option<Range<usize>>,
        section: &StationSection,
        hosts: &mut Hosts,
    ) -> Result<Host, PlanError> {
        self.refuse_keys_of_other_kinds(section)?;
        match value(&section.kind).unwrap_or_default() {
            PortKind::Veth => self.namespace(name, section, hosts),
            PortKind::Tap => Ok(Host::Tap),
            PortKind::Interface => self.interface(name, place, section, hosts),
            PortKind::Bridge => self.bridge(name, section, hosts),
            PortKind::Vxlan => self.vxlan(name, place, section, hosts),
        }
    }

    fn refuse_keys_of_other_kinds(&self, section: &StationSection) -> Result<(), PlanError> {
        let keys = [
            ("netns", span(&section.netns), PortKind::Veth),
            ("interface", span(&section.interface).filter(|_| section.netns.is_none()), PortKind::Interface),
            ("bridge", span(&section.bridge), PortKind::Bridge),
            ("remote", span(&section.remote), PortKind::Vxlan),
            ("local", span(&section.local), PortKind::Vxlan),
            ("vni", span(&section.vni), PortKind::Vxlan),
            ("port", span(&section.port), PortKind::Vxlan),
        ];
        let own = value(&section.kind).unwrap_or_default();
        let other = keys.into_iter().find(|(_, span, kind)| span.is_some() && *kind != own);
        let Some((key, span, kind)) = other else { return Ok(()) };
        let value = span.as_ref().and_then(|span| Some(self.source?.text(span))).unwrap_or_default();
        let what = format!(
            "`{1}`: only a station of kind \"{0}\" has it: write `kind = \"{0}\"`, or leave it out",
            kind.word(),
            value.trim_matches(['"', '\''])
        );
        Err(self.wrong(key, span, what))
    }

    /// A station lacks a key that its kind needs: told at its name, or else where its section begins.
    fn lacks(
        &self,
        key: &str,
        name: &str,
        place: Option<Range<usize>>,
        section: &StationSection,
        says: &str,
    ) -> PlanError {
        self.wrong(key, section.name.as_ref().map(Spanned::span).or(place), format!("station {name} is {says}"))
    }

    /// A namespace of the lab's own, or with `netns` one that is there already.
    fn namespace(&self, name: &str, section: &StationSection, hosts: &mut Hosts) -> Result<Host, PlanError> {
        let Some(netns) = &section.netns else { return Ok(Host::Veth) };
        let text = netns.get_ref().as_str();
        let netns_is = Netns::read(text).map_err(|what| self.at("netns", netns, format!("`{text}`: {what}")))?;
        let interface = section.interface.as_ref().map_or(INTERFACE_THERE, |interface| interface.get_ref());
        if let Some(written) = &section.interface {
            interface_name(interface).map_err(|what| self.at("interface", written, what))?;
        }
        self.unique(&mut hosts.existing, format!("{interface} in {text}"), name, "netns", Some(netns.span()))?;
        Ok(Host::Existing(Existing { netns: netns_is, interface: interface.to_owned() }))
    }

    fn interface(
        &self,
        name: &str,
        place: Option<Range<usize>>,
        section: &StationSection,
        hosts: &mut Hosts,
    ) -> Result<Host, PlanError> {
        let Some(interface) = &section.interface else {
            let says = "of kind \"interface\", but does not say which: write `interface = \"eth1\"`";
            return Err(self.lacks("interface", name, place, section, says));
        };
        let (key, span) = self.named_by(interface);
        interface_name(interface.get_ref()).map_err(|what| self.wrong(key, span.clone(), what))?;
        if interface.get_ref() == "lo" {
            let what = "`lo` is the loopback of its network namespace, which the kernel does not move: choose another interface";
            return Err(self.wrong(key, span, what.to_owned()));
        }
        self.unique(&mut hosts.interfaces, interface.get_ref().clone(), name, key, span)?;
        Ok(Host::Interface(interface.get_ref().clone()))
    }

    /// Two stations on one bridge would make a loop, in which every broadcast goes round for ever.
    fn bridge(&self, name: &str, section: &StationSection, hosts: &mut Hosts) -> Result<Host, PlanError> {
        let Some(bridge) = &section.bridge else { return Ok(Host::Bridge(None)) };
        interface_name(bridge.get_ref()).map_err(|what| self.at("bridge", bridge, what))?;
        self.unique(&mut hosts.interfaces, bridge.get_ref().clone(), name, "bridge", Some(bridge.span()))?;
        Ok(Host::Bridge(Some(bridge.get_ref().clone())))
    }

    fn vxlan(
        &self,
        name: &str,
        place: Option<Range<usize>>,
        section: &StationSection,
        hosts: &mut Hosts,
    ) -> Result<Host, PlanError> {
        let Some(remote) = &section.remote else {
            let says = "of kind \"vxlan\", but does not say where it is: write `remote = \"192.0.2.7\"`";
            return Err(self.lacks("remote", name, place, section, says));
        };
        let vni = section.vni.as_ref().map_or(DEFAULT_VNI, |vni| *vni.get_ref());
        if let Some(wrong) = section.vni.as_ref().filter(|_| vni > LARGEST_VNI) {
            return Err(self.at("vni", wrong, format!("{vni} has more than 24 bits: write 0 to {LARGEST_VNI}")));
        }
        let port = section.port.as_ref().map_or(VXLAN_PORT, |port| *port.get_ref());
        if let Some(wrong) = section.port.as_ref().filter(|_| port == 0) {
            return Err(self.at(
                "port",
                wrong,
                format!("0 is no UDP port: write 1 to 65535, or leave it out for {VXLAN_PORT}"),
            ));
        }
        let (remote_address, local) = (remote.get_ref().0, section.local.as_ref().map(|local| local.get_ref().0));
        if let (Some(written), Some(local)) = (&section.local, local)
            && local.is_ipv4() != remote_address.is_ipv4()
        {
            let what =
                format!("`{local}` and `{remote_address}` are of different families: both must be IPv4, or both IPv6");
            return Err(self.at("local", written, what));
        }
        // The kernel tells tunnels of one port apart by this number alone.
        let span = section.vni.as_ref().map_or_else(|| remote.span(), Spanned::span);
        self.unique(&mut hosts.tunnels, format!("{vni} at UDP port {port}"), name, "vni", Some(span))?;
        Ok(Host::Vxlan(Tunnel { vni, remote: remote_address, local, port }))
    }

    /// Which key or option an interface was named by, and where.
    pub(super) fn named_by(&self, interface: &Spanned<String>) -> (&'static str, Option<Range<usize>>) {
        if interface.span() == NOWHERE { ("--lend", None) } else { ("interface", Some(interface.span())) }
    }
}

/// The place of what no file says.
const NOWHERE: Range<usize> = usize::MAX..usize::MAX;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::file::Scenario;
    use crate::scenario::plan::{Overrides, Plan};
    use std::path::Path;

    fn plan(text: &str, attach: &[&str]) -> Result<Plan, String> {
        let (scenario, source) =
            Scenario::from_text(Path::new("lab.toml"), text.to_owned()).map_err(|e| format!("{e}"))?;
        let attach = attach.iter().map(|&name| name.to_owned()).collect();
        let overrides = Overrides::default().lending(attach);
        Plan::new(&scenario, Some(&source), &overrides, 1).map_err(|error| error.to_string())
    }

    fn hosts(text: &str, attach: &[&str]) -> Vec<(String, Host)> {
        let plan = plan(text, attach).expect(text);
        plan.stations.into_iter().map(|station| (station.name, station.host)).collect()
    }

    #[test]
    fn attached_interfaces_come_after_the_other_stations_and_give_them_their_names() {
        let interface = |name: &str| (name.to_owned(), Host::Interface(name.to_owned()));
        let expected =
            [("st1".to_owned(), Host::Veth), ("st2".to_owned(), Host::Veth), interface("eth1"), interface("tap7")];
        assert_eq!(hosts("stations = 2", &["eth1", "tap7"]), expected);
        assert_eq!(hosts("[[station]]\nkind = 'interface'\ninterface = 'eth1'", &[]), [interface("eth1")]);
    }

    #[test]
    fn a_namespace_that_is_there_is_found_by_its_name_or_by_a_process() {
        let existing = |netns, interface: &str| Host::Existing(Existing { netns, interface: interface.to_owned() });
        let text = "[[station]]\nnetns = 'web'\n[[station]]\nnetns = 'pid:12'\ninterface = 'bus0'\n\
                    [[station]]\nnetns = 'docker:web'\n[[station]]\nnetns = 'podman:a.b-c'";
        let container = |engine, name: &str| Netns::Container { engine, name: name.to_owned() };
        let expected = [
            ("st1".to_owned(), existing(Netns::Named("web".to_owned()), "eth0")),
            ("st2".to_owned(), existing(Netns::Process(12), "bus0")),
            ("st3".to_owned(), existing(container(Engine::Docker, "web"), "eth0")),
            ("st4".to_owned(), existing(container(Engine::Podman, "a.b-c"), "eth0")),
        ];
        assert_eq!(hosts(text, &[]), expected);
    }

    #[test]
    fn a_tunnel_has_defaults_for_all_but_the_other_machine() {
        let remote = "192.0.2.7".parse().expect("an address");
        let tunnel = Tunnel { vni: 1, remote, local: None, port: 4789 };
        assert_eq!(
            hosts("[[station]]\nkind = 'vxlan'\nremote = '192.0.2.7'", &[]),
            [("st1".to_owned(), Host::Vxlan(tunnel))]
        );
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_place_and_what_would_be_right() {
        let vxlan = "[[station]]\nkind = 'vxlan'\nremote = '192.0.2.7'\n";
        for (text, attach, words) in [
            ("[[station]]\nkind = 'interface'\nname = 'a'", vec![], ["lab.toml:3", "interface = \"eth1\""]),
            ("[[station]]\ninterface = 'eth1'", vec![], ["lab.toml:2", "kind = \"interface\""]),
            ("[[station]]\nkind = 'tap'\nnetns = 'web'", vec![], ["lab.toml:3", "kind = \"veth\""]),
            ("[[station]]\nnetns = 'pid:web'", vec![], ["lab.toml:2:9: netns: `pid:web`", "pid:4711"]),
            ("[[station]]\nnetns = '../web'", vec![], ["lab.toml:2", "ip netns list"]),
            ("[[station]]\nnetns = 'docker:--help'", vec![], ["lab.toml:2:9: netns: `docker:--help`", "docker:web"]),
            ("[[station]]\nnetns = 'podman:'", vec![], ["lab.toml:2", "podman ps"]),
            (
                "[[station]]\nnetns = 'web'\ninterface = 'no such/name'",
                vec![],
                ["lab.toml:3", "cannot name an interface"],
            ),
            ("[[station]]\nnetns = 'a'\n[[station]]\nnetns = 'a'", vec![], ["lab.toml:4", "eth0 in a"]),
            ("[[station]]\nkind = 'bridge'\nvni = 3", vec![], ["lab.toml:3", "kind = \"vxlan\""]),
            ("[[station]]\nkind = 'vxlan'\nname = 'a'", vec![], ["lab.toml:3", "remote = \"192.0.2.7\""]),
            (&format!("{vxlan}vni = 16777216"), vec![], ["lab.toml:4", "0 to 16777215"]),
            (&format!("{vxlan}port = 0"), vec![], ["lab.toml:4", "1 to 65535"]),
            (&format!("{vxlan}local = 'fd00::1'"), vec![], ["lab.toml:4", "both IPv6"]),
            (&format!("{vxlan}local = '224.0.0.1'"), vec![], ["lab.toml:4", "a group of machines"]),
            (&format!("{vxlan}{vxlan}"), vec![], ["lab.toml:6", "each needs its own"]),
            ("stations = 1", vec!["eth1", "eth1"], ["name", "each needs its own"]),
            ("stations = 1", vec!["lo"], ["--lend", "loopback"]),
            ("stations = 1", vec!["no such/name"], ["--lend", "cannot name an interface"]),
            ("stations = 1024", vec!["eth1"], ["--lend", "1025"]),
            (
                "[[station]]\nkind = 'bridge'\nbridge = 'b'\n[[station]]\nkind = 'bridge'\nbridge = 'b'",
                vec![],
                ["lab.toml:6", "each needs its own"],
            ),
        ] {
            let error = plan(text, &attach).expect_err(text);
            words.iter().for_each(|word| assert!(error.contains(word), "no `{word}` in {error}"));
        }
    }
}
