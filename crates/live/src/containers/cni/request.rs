//! What a runtime says: a command and its place in the environment, a network on standard input.

use super::answer::{Failure, code};
use super::wishes::Wishes;
use super::{COMMAND, VERSIONS, WITHOUT_CHECK};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::path::PathBuf;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// A station for a container.
    Add,
    /// Its end.
    Del,
    /// Whether a container has what it was given.
    Check,
    /// The end of all stations but those of some containers.
    Gc,
    /// Whether ADD can be served.
    Status,
    /// Which versions of the specification the plugin speaks.
    Version,
}

/// A network, as an administrator writes it in `/etc/cni/net.d`. A member that the plugin does not know is refused; those of
/// the runtime are.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Network {
    /// The version of the specification.
    pub cni_version: String,
    /// Its name.
    pub name: String,
    /// The lab; the network's name if it is left out.
    pub lab: Option<String>,
    /// The lab's scenario: then the plugin brings the lab up with the first container, and down after the last one.
    pub scenario: Option<Map<String, Value>>,
    /// What it says of addresses; see [`Network::ipam`].
    ipam: Option<Ipam>,
    /// What ADD answered, for CHECK and DEL.
    pub prev_result: Option<super::answer::Added>,
    /// Containers that GC leaves alone.
    #[serde(rename = "cni.dev/valid-attachments")]
    pub valid: Vec<Attachment>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl Network {
    /// Which plugin gives addresses, and what it reads; none: the lab gives them.
    pub fn ipam(&self) -> Option<&Ipam> {
        self.ipam.as_ref().filter(|ipam| !ipam.program.is_empty())
    }
}

/// The part of a network that is for an IPAM plugin.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Ipam {
    /// The plugin's program; no plugin if it is empty.
    #[serde(rename = "type")]
    pub program: String,
    /// What it reads.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// An interface of a container.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Attachment {
    /// The container.
    #[serde(rename = "containerID")]
    pub container: String,
    /// The interface's name in it.
    pub ifname: String,
}

/// A request, checked.
#[derive(Clone, Debug)]
pub struct Request {
    /// What is asked for.
    pub command: Command,
    /// The container and the interface's name; empty for commands that are about no container.
    pub attachment: Attachment,
    /// The container's namespace; it may be missing with DEL.
    pub netns: Option<String>,
    /// What the container is to have beside an interface.
    pub wishes: Wishes,
    /// Where plugins are.
    pub path: Vec<PathBuf>,
    /// The network.
    pub network: Network,
}

/// Members that a runtime or a list of plugins may put into a network.
const OF_RUNTIME: [&str; 7] = ["type", "args", "capabilities", "runtimeConfig", "dns", "ipMasq", "disableCheck"];

impl Request {
    /// Reads a request. `variable` reads the environment.
    ///
    /// # Errors
    /// What is missing or wrong, with the specification's code.
    pub fn read(variable: impl Fn(&str) -> Option<String>, input: &[u8]) -> Result<Request, Failure> {
        let command = command(&variable)?;
        let network = network(command, input)?;
        let needed = |name: &str| {
            let value = variable(name).filter(|value| !value.is_empty());
            value.ok_or_else(|| Failure::new(code::ENVIRONMENT, format!("{name} is not set")))
        };
        let is_about_one = matches!(command, Command::Add | Command::Del | Command::Check);
        let attachment = match is_about_one {
            true => Attachment { container: needed("CNI_CONTAINERID")?, ifname: needed("CNI_IFNAME")? },
            false => Attachment { container: String::new(), ifname: String::new() },
        };
        if is_about_one {
            check(&attachment)?;
        }
        let netns = match command {
            Command::Add | Command::Check => Some(needed("CNI_NETNS")?),
            Command::Del => variable("CNI_NETNS").filter(|path| !path.is_empty()),
            // libcni gives every variable the value `dummy` when it asks for versions.
            Command::Gc | Command::Status | Command::Version => None,
        };
        if let Some(path) = netns.as_ref().filter(|path| !path.starts_with('/')) {
            return Err(Failure::new(code::ENVIRONMENT, format!("CNI_NETNS is `{path}`: it is an absolute path")));
        }
        let path = variable("CNI_PATH").unwrap_or_default();
        let path = std::env::split_paths(&path).collect();
        // What ADD refused is no reason to refuse DEL.
        let wishes = match command {
            Command::Add => Wishes::read(&variable("CNI_ARGS").unwrap_or_default(), &network)?,
            Command::Del | Command::Check | Command::Gc | Command::Status | Command::Version => Wishes::default(),
        };
        Ok(Request { command, attachment, netns, wishes, path, network })
    }
}

fn command(variable: &impl Fn(&str) -> Option<String>) -> Result<Command, Failure> {
    let text = variable(COMMAND).unwrap_or_default();
    Ok(match text.as_str() {
        "ADD" => Command::Add,
        "DEL" => Command::Del,
        "CHECK" => Command::Check,
        "GC" => Command::Gc,
        "STATUS" => Command::Status,
        "VERSION" => Command::Version,
        _ => {
            let what = format!("{COMMAND} is `{text}`: it is ADD, DEL, CHECK, GC, STATUS or VERSION");
            return Err(Failure::new(code::ENVIRONMENT, what));
        }
    })
}

/// The specification's characters; the names become those of files.
fn check(attachment: &Attachment) -> Result<(), Failure> {
    let is_right = |text: &str| {
        text.len() <= 128
            && text.starts_with(|it: char| it.is_ascii_alphanumeric())
            && text.chars().all(|it| it.is_ascii_alphanumeric() || "_.-".contains(it))
    };
    for (name, text) in [("CNI_CONTAINERID", &attachment.container), ("CNI_IFNAME", &attachment.ifname)] {
        if !is_right(text) {
            let what = format!("{name} is `{text}`: a letter or digit, then up to 127 letters, digits, `_`, `.`, `-`");
            return Err(Failure::new(code::ENVIRONMENT, what));
        }
    }
    Ok(())
}

fn network(command: Command, input: &[u8]) -> Result<Network, Failure> {
    let network: Network = serde_json::from_slice(input)
        .map_err(|error| Failure::new(code::DECODE, format!("standard input: {error}")))?;
    if !VERSIONS.contains(&network.cni_version.as_str()) {
        let what = format!("cniVersion is `{}`: this plugin speaks {}", network.cni_version, VERSIONS.join(", "));
        return Err(Failure::new(code::VERSION, what));
    }
    if command == Command::Version {
        return Ok(network);
    }
    if command == Command::Check && WITHOUT_CHECK.contains(&network.cni_version.as_str()) {
        return Err(Failure::new(code::VERSION, format!("cniVersion {} has no CHECK", network.cni_version)));
    }
    let unknown = |key: &&String| !OF_RUNTIME.contains(&key.as_str()) && !key.starts_with("cni.dev/");
    if let Some(key) = network.rest.keys().find(unknown) {
        let what = format!("`{key}` is no key of this plugin: it knows `lab`, `scenario` and `ipam`");
        return Err(Failure::new(code::CONFIG, what));
    }
    let is_name = !network.name.is_empty()
        && network.name.starts_with(|it: char| it.is_ascii_alphanumeric())
        && network.name.chars().all(|it| it.is_ascii_alphanumeric() || "_.-".contains(it));
    if !is_name || network.name.len() > 128 {
        let what = format!("name is `{}`: a letter or digit, then letters, digits, `_`, `.`, `-`", network.name);
        return Err(Failure::new(code::CONFIG, what));
    }
    Ok(network)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(command: &str, more: &[(&str, &str)], network: &str) -> Result<Request, Failure> {
        let variable = |name: &str| match name {
            COMMAND => Some(command.to_owned()),
            _ => more.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned()),
        };
        Request::read(variable, network.as_bytes())
    }

    const PLACE: [(&str, &str); 3] =
        [("CNI_CONTAINERID", "0a1b"), ("CNI_IFNAME", "eth0"), ("CNI_NETNS", "/var/run/netns/x")];
    const NETWORK: &str = r#"{"cniVersion":"1.1.0","name":"t1s","type":"ethbus","scenario":{"stations":0},
        "ipam":{"type":"host-local","subnet":"10.9.0.0/16"}}"#;

    /// podman 4.3 takes no network whose plugin refuses this.
    #[test]
    fn a_question_for_versions_is_about_no_container() {
        let dummies = ["CNI_CONTAINERID", "CNI_IFNAME", "CNI_NETNS", "CNI_PATH"].map(|name| (name, "dummy"));
        let request = read("VERSION", &dummies, r#"{"cniVersion":"1.0.0"}"#).expect("a question");
        assert_eq!((request.netns, request.attachment.container.as_str()), (None, ""));
    }

    #[test]
    fn a_request_is_what_the_specification_says() {
        let args = ("CNI_ARGS", "IgnoreUnknown=1;K8S_POD_NAME=web-0");
        let request = read("ADD", &[&PLACE[..], &[args]].concat(), NETWORK).expect("a request");
        assert_eq!((request.command, request.wishes.pod.as_deref()), (Command::Add, Some("web-0")));
        assert_eq!(request.attachment, Attachment { container: "0a1b".to_owned(), ifname: "eth0".to_owned() });
        assert_eq!(request.network.ipam().expect("ipam").program, "host-local");
        assert!(read("DEL", &PLACE[..2], NETWORK).expect("no namespace").netns.is_none());
        let gc =
            NETWORK.replace("\"type\":\"ethbus\"", r#""cni.dev/valid-attachments":[{"containerID":"a","ifname":"b"}]"#);
        assert_eq!(read("GC", &[], &gc).expect("gc").network.valid.len(), 1);
    }

    #[test]
    fn what_is_wrong_has_its_code_and_its_name() {
        for (command, more, network, code, words) in [
            ("PUT", &PLACE[..], NETWORK, code::ENVIRONMENT, "CNI_COMMAND is `PUT`"),
            ("ADD", &PLACE[1..], NETWORK, code::ENVIRONMENT, "CNI_CONTAINERID is not set"),
            ("ADD", &PLACE[..2], NETWORK, code::ENVIRONMENT, "CNI_NETNS is not set"),
            ("DEL", &[("CNI_CONTAINERID", "../x"), PLACE[1]], NETWORK, code::ENVIRONMENT, "CNI_CONTAINERID is `../x`"),
            ("ADD", &PLACE[..], "{", code::DECODE, "standard input: EOF"),
            ("ADD", &PLACE[..], r#"{"cniVersion":"2.0.0"}"#, code::VERSION, "0.4.0, 1.0.0, 1.1.0"),
            ("CHECK", &PLACE[..], r#"{"cniVersion":"0.3.1","name":"a"}"#, code::VERSION, "0.3.1 has no CHECK"),
            ("ADD", &PLACE[..], r#"{"cniVersion":"1.0.0","name":"a","mtu":9}"#, code::CONFIG, "`mtu` is no key"),
            ("ADD", &PLACE[..], r#"{"cniVersion":"1.0.0","name":"/"}"#, code::CONFIG, "name is `/`"),
        ] {
            let failure = read(command, more, network).expect_err(words);
            assert_eq!(failure.code, code, "{failure:?}");
            assert!(failure.msg.contains(words), "{failure:?}");
        }
    }
}
