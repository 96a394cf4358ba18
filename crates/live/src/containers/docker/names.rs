//! Who is on a network, as the daemon has it: no call of the daemon has the name of a network or a container, so the daemon is
//! asked, and may answer later.

use super::call::Endpoint;
use crate::lab::existing::{self, ExistingError};
use sim::files::event_log::Container;
use sim::scenario::plan::host::Engine;
use sim::words::interface::OCTETS_MAX;
use std::collections::BTreeMap;
use std::time::Duration;

/// How long the daemon may take to answer: it waits for this driver meanwhile.
const PATIENCE: Duration = Duration::from_secs(2);
/// How the identifier of a container begins that the daemon does not tell yet: the endpoint's own comes after it.
const ID_TO_COME: &str = "ep-";
/// A line for the network, and one for each container: its endpoint, identifier and name.
const FORMAT: &str = "{{.Name}} {{index .Labels \"com.docker.compose.project\"}}\n\
                      {{range $id, $it := .Containers}}{{$it.EndpointID}} {{$id}} {{$it.Name}}\n{{end}}";

/// A network, as the daemon has it.
#[derive(Debug, PartialEq, Eq)]
pub struct Network {
    /// Its name.
    pub name: String,
    /// Its project of compose; empty without one.
    project: String,
    /// Its containers that run, by their endpoints.
    pub containers: BTreeMap<String, Container>,
}

impl Network {
    /// Asks the daemon.
    ///
    /// # Errors
    /// It does not answer, or knows no such network.
    pub fn ask(id: &str) -> Result<Network, ExistingError> {
        let told = existing::ask(Engine::Docker, &["network", "inspect", "--format", FORMAT], id, PATIENCE)?;
        Ok(Network::read(&told))
    }

    fn read(told: &str) -> Network {
        let (first, rest) = told.split_once('\n').unwrap_or((told, ""));
        let (name, project) = first.split_once(' ').unwrap_or((first, ""));
        let containers = rest.lines().filter_map(|line| {
            let mut words = line.splitn(3, ' ').map(str::to_owned);
            let (endpoint, id, name) = (words.next()?, words.next()?, words.next()?);
            Some((endpoint, Container { name, id }))
        });
        Network { name: name.to_owned(), project: project.to_owned(), containers: containers.collect() }
    }

    /// The name for the station of an endpoint.
    pub fn station(&self, endpoint: &Endpoint) -> Option<String> {
        shortened(&self.containers.get(&endpoint.id)?.name, &self.project)
    }

    /// The container of an endpoint, once the daemon tells its identifier.
    pub fn container(&self, endpoint: &str) -> Option<&Container> {
        self.containers.get(endpoint).filter(|container| !container.id.starts_with(ID_TO_COME))
    }

    /// Whether the daemon tells the identifiers of all.
    pub fn is_complete(&self) -> bool {
        !self.containers.values().any(|container| container.id.starts_with(ID_TO_COME))
    }

    /// Whether the only network of an endpoint's container is this one; also of one that the daemon does not tell.
    pub fn is_only_one_of(&self, endpoint: &Endpoint) -> bool {
        let Some(container) = self.containers.get(&endpoint.id) else { return true };
        let words = ["ps", "--all", "--format", "{{.Networks}}", "--filter"];
        let networks = existing::ask(Engine::Docker, &words, &format!("name=^/?{}$", container.name), PATIENCE);
        networks.is_ok_and(|networks| !networks.trim().contains(','))
    }
}

/// A container's name as a station's. Of one that is too long, the project of compose in front of it is left out, and then
/// its begin: its end is what tells containers of one application apart.
fn shortened(container: &str, project: &str) -> Option<String> {
    if !container.is_ascii() || container.is_empty() {
        return None;
    }
    let own =
        if container.len() <= OCTETS_MAX { container } else { container.strip_prefix(project).unwrap_or(container) };
    let own = &own[own.len().saturating_sub(OCTETS_MAX)..];
    let own = own.trim_start_matches(|it: char| !it.is_ascii_alphanumeric());
    (!own.is_empty()).then(|| own.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_too_long_keeps_its_end() {
        for (container, project, name) in [
            ("web", "", Some("web")),
            ("shop_web_1", "shop", Some("shop_web_1")),
            ("my-little-shop_web_1", "my-little-shop", Some("web_1")),
            ("a-rather-long-name.of-one", "", Some("ong-name.of-one")),
            ("shop-and-more_of-it-all_web_1", "shop", Some("of-it-all_web_1")),
            ("", "shop", None),
        ] {
            assert_eq!(shortened(container, project).as_deref(), name, "{container}");
        }
    }

    /// As `docker network inspect` answers with the format of this file.
    #[test]
    fn a_network_has_containers_by_their_endpoints() {
        let told = Network::read("bus1 shop\n1e2 c1f9 shop_web_1\n3e4 c2f9 db\n\n");
        let station = |endpoint: &str| told.station(&Endpoint { network: "n".to_owned(), id: endpoint.to_owned() });
        assert_eq!((told.name.as_str(), told.project.as_str(), told.containers.len()), ("bus1", "shop", 2));
        assert_eq!(station("1e2").as_deref(), Some("shop_web_1"));
        assert_eq!(told.containers["3e4"], Container { name: "db".to_owned(), id: "c2f9".to_owned() });
        assert_eq!(station("5e6"), None);
        let early = Network::read("bus1 \n1e2 ep-1e2 web\n");
        assert!(told.is_complete() && !early.is_complete());
        assert!(told.container("1e2").is_some() && early.container("1e2").is_none());
        assert_eq!(Network::read("bus1 \n\n").containers, BTreeMap::new());
    }
}
