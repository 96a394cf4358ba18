//! What a station of Docker's is called: as its container. No call of the daemon has that name, so the daemon is asked for it
//! while the container starts.

use super::call::Endpoint;
use crate::live::lab::existing;
use sim::scenario::plan::host::Engine;
use sim::words::interface::OCTETS_MAX;
use std::time::Duration;

/// How long the daemon may take to answer: it waits for this driver meanwhile.
const PATIENCE: Duration = Duration::from_secs(2);

/// An endpoint's container, as the daemon has it.
pub struct Container {
    name: String,
    /// Its project of compose; empty without one.
    project: String,
}

impl Container {
    /// The name for its station.
    pub fn station(&self) -> Option<String> {
        shortened(&self.name, &self.project)
    }

    /// Whether its only network is the endpoint's.
    pub fn has_one_network(&self) -> bool {
        let words = ["ps", "--all", "--format", "{{.Networks}}", "--filter"];
        let networks = existing::ask(Engine::Docker, &words, &format!("name=^/?{}$", self.name), PATIENCE);
        networks.is_ok_and(|networks| !networks.trim().contains(','))
    }
}

/// The container of an endpoint, if the daemon tells it.
pub fn of(endpoint: &Endpoint) -> Option<Container> {
    let rows = format!(
        "{{{{range .Containers}}}}{{{{if eq .EndpointID {:?}}}}}{{{{.Name}}}}{{{{end}}}}{{{{end}}}}",
        endpoint.id
    );
    let format = rows + " {{index .Labels \"com.docker.compose.project\"}}";
    let told = existing::ask(Engine::Docker, &["network", "inspect", "--format", &format], &endpoint.network, PATIENCE)
        .ok()?;
    let (name, project) = told.trim_end_matches('\n').split_once(' ')?;
    Some(Container { name: name.to_owned(), project: project.to_owned() })
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
    use super::shortened;

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
}
